/*
 * What the tests of the Allspark front-end share: small networks and hardware, and a plan with its trace.
 *
 * Networks are chosen so that shares are uneven: 17 tokens of a ViT with class token, heads that the columns
 * do not divide, windows that do not divide the map, and stages whose merge inputs are no multiple of their
 * channels.
 */
#ifndef PIMSIM_TESTS_UNIT_ALLSPARK_SCENARIO_H
#define PIMSIM_TESTS_UNIT_ALLSPARK_SCENARIO_H

#include "mappers/allspark/allspark.h"
#include "mappers/allspark/check/standing.h"
#include "tests/unit/test_main.h"
#include "traces/file/reader.h"

enum small_network {
    SMALL_SWIN,       /* 4 windows of 16 tokens, then 1; heads 3 and 6 */
    SMALL_PADDED,     /* 9 windows of which 5 are padded, then 4 */
    SMALL_VIT,        /* 16 patches and a class token, heads 3 */
    SMALL_PLAIN,      /* a ViT without class token and classifier */
    SMALL_ODD,        /* merge inputs 32 for 20 channels: pieces of the columns are uneven */
    SMALL_NARROW,     /* merge inputs 4 for 24 channels in 12 heads: most columns have no piece */
    SMALL_PVT,        /* 100 tokens, of which 81 make 9 keys; then 25 and a class token */
    SMALL_KEYS,       /* one key for 64 tokens, then 4 for 16, then 4 and a class token */
    SMALL_SHIFTED,    /* 3 x 3 windows of 25 tokens, shifted by 2 */
    SMALL_TWINS,      /* 4 windows of 16 tokens, keys of 3 x 3 of them; then one window and no reduction */
    SMALL_ODD_TWINS,  /* windows, global, windows, and more windows than the map fills; then one block */
    SMALL_CUT_TWINS,  /* 9 windows and 36 keys of 2 x 2 tokens; then 4 windows, padded, and no reduction */
    SMALL_CSWIN,      /* stripes of 8 x 2 with 2 of 4 heads; then one global block */
    SMALL_ODD_CSWIN,  /* 3 stripes of 4 on 10 lines, 3 of 6 heads; 2 of 3 on 5; then one block */
    SMALL_FOCAL,      /* 4 x 4 windows of 9 tokens, of which 7 are padded; then 2 x 2 */
    SMALL_NEAR_FOCAL, /* 2 x 2 windows of 4 tokens: the region has tokens twice; then one, mostly zeros */
    SMALL_NETWORKS,
    SMALL_FAR_FOCAL =
        SMALL_NETWORKS, /* 5 x 5 windows of 4 tokens: all around, and nearly the whole map pooled */
    SMALL_DESCRIPTORS
};

extern const char *const small_network_names[SMALL_DESCRIPTORS];

struct pim_network *small_network(enum small_network which);
/* A descriptor of configs/networks, with `override` ("network.image=640") unless it is NULL. */
struct pim_network *real_network(const char *name, const char *override);

/* width x height nodes with buffers of a few hundred bytes, so that every product has many tiles. */
struct pim_estimate_hardware small_hardware(uint32_t width, uint32_t height);
/* As configs/hardware/allspark-16x16.cfg. */
struct pim_estimate_hardware real_hardware(uint32_t width, uint32_t height);

struct pim_allspark_options fixed(enum pim_allspark_scheme scheme, uint32_t ring);
/* One partition for all stages; weights go round in one piece. */
struct pim_allspark_options partition(uint32_t u, uint32_t v, uint32_t ring);
/* The same; a branch has u / ring copies of its weights. */
struct pim_allspark_options copied(uint32_t u, uint32_t v, uint32_t ring);
/* One u, v for each of the first `count` stages. */
struct pim_allspark_options partitions(uint32_t count, uint32_t uv[][2], uint32_t ring);

/* A plan and the trace it makes. */
struct scenario {
    struct pim_network *network;
    struct pim_allspark_plan plan;
    struct pim_trace *trace;
    char name[160];
};

/* False when the plan is refused: *error says why. The network belongs to the scenario then and before. */
bool scenario_make(struct scenario *scenario, struct pim_network *network,
                   const struct pim_estimate_hardware *hardware, const struct pim_allspark_options *options,
                   struct pim_error *error);
void scenario_end(struct scenario *scenario);

/* `pimsim trace check` for the hardware of the plan. */
void scenario_check(const struct scenario *scenario);

/* The check of values: every stage must end with what the network computes (check/check_values.h). */
void scenario_prove(struct scenario *scenario);

/* The estimate of a plan without the phases between branches: partitions are chosen before branches are
   placed. */
uint64_t cycles_of(const struct pim_allspark_plan *plan);

Suite *layout_suite(void);
Suite *plan_suite(void);
Suite *dataflow_suite(void);
Suite *dataflow_long_suite(void);
Suite *volumes_suite(void);
Suite *real_suite(void);
Suite *exchange_suite(void);
Suite *relay_suite(void);
Suite *equations_suite(void);
Suite *values_suite(void);
Suite *optimum_suite(void);
Suite *others_suite(void); /* long */
Suite *optimum_long_suite(void);

#endif
