/* Estimates, chromosomes and the genetic algorithm. */
#include "mappers/pimcomp/layout/chromosome.h"
#include "mappers/pimcomp/layout/genetic.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/refine.h"
#include "mappers/pimcomp/searches.h"
#include "mappers/search/workers.h"
#include "tests/unit/pimcomp/cases.h"

#include <string.h>

/* Fig. 7 of the paper: two layers of one array group each, a quarter and a half of a core, two cores. */
static void figure_7(struct core_case *c, uint32_t kernel)
{
    core_case_begin(c);
    c->architecture = core_architecture(2, 1, 4, 64, 16);
    uint32_t x = core_case_image(c, 4, 32, 32);
    x = core_case_convolution(c, "layer1", x, 4, kernel, 1, kernel / 2);
    (void)core_case_convolution(c, "layer2", x, 32, kernel, 1, kernel / 2);
    core_case_lower(c);
}

static struct pim_core_estimate estimate(const struct core_case *c)
{
    struct pim_core_estimate result;
    struct pim_error error;
    ck_assert_msg(pim_core_estimate_layout(&c->mapping, &result, &error) == PIM_OK, "%s", error.text);
    return result;
}

/* Gives layer `layer` the replicas whose groups (one each) lie on `core`. */
static void set_layer(struct core_case *c, uint32_t layer, uint32_t replicas, const uint32_t *core)
{
    c->layout.layer[layer].replicas = replicas;
    c->layout.layer[layer].core = PIM_ARENA_ARRAY(&c->arena, uint32_t, replicas);
    memcpy(c->layout.layer[layer].core, core, replicas * sizeof *core);
}

START_TEST(high_throughput_rewards_clusters)
{
    struct core_case c;
    figure_7(&c, 3);
    c.architecture.global_bytes_per_cycle = 1; /* the global memory holds the round back */
    c.architecture.mvm_cycles = 16;
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDING_IKK_O_1, pim_core_layout_first);
    ck_assert_uint_eq(c.partition.layer[1].arrays, 1);
    ck_assert_uint_eq(c.partition.layer[2].arrays, 2);
    set_layer(&c, 1, 4, (uint32_t[]){0, 0, 1, 1});
    set_layer(&c, 2, 2, (uint32_t[]){0, 1});
    struct pim_core_estimate mixed = estimate(&c);
    set_layer(&c, 1, 4, (uint32_t[]){0, 0, 0, 0});
    set_layer(&c, 2, 2, (uint32_t[]){1, 1});
    struct pim_core_estimate clustered = estimate(&c);
    ck_assert_uint_lt(clustered.cycles, mixed.cycles);
    core_case_end(&c);
}
END_TEST

/* By hand: 1024 steps of one window where compute is all that counts, half as many with twice the replicas.
 * */
START_TEST(high_throughput_follows_the_steps)
{
    struct core_case c;
    figure_7(&c, 1);
    c.architecture.mvm_cycles = 100000;
    core_case_map(&c, PIM_CORE_HIGH_THROUGHPUT, PIM_UNFOLDING_IKK_O_1, pim_core_layout_first);
    struct pim_core_estimate one = estimate(&c);
    ck_assert_uint_ge(one.cycles, 1024 * 100000);
    ck_assert_uint_le(one.cycles, 1024 * 101000);
    set_layer(&c, 1, 2, (uint32_t[]){0, 1});
    ck_assert_uint_ge(estimate(&c).cycles, 1024 * 100000); /* layer 2 still has 1024 */
    set_layer(&c, 2, 2, (uint32_t[]){0, 1});
    struct pim_core_estimate two = estimate(&c);
    ck_assert_uint_ge(two.cycles, 512 * 100000);
    ck_assert_uint_le(two.cycles, 512 * 101000);
    core_case_end(&c);
}
END_TEST

/* Layer 2 reads what layer 1 makes: in one core with it, half of the pixels stay. */
START_TEST(low_latency_follows_rounds_and_replicas)
{
    struct core_case c;
    figure_7(&c, 3);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDING_IKK_O_1, pim_core_layout_first);
    struct pim_core_estimate one = estimate(&c);
    ck_assert_uint_ge(one.cycles, 1024 * c.architecture.mvm_cycles);
    ck_assert_uint_le(one.cycles, 2 * 1024 * c.architecture.mvm_cycles);
    set_layer(&c, 1, 2, (uint32_t[]){0, 1});
    set_layer(&c, 2, 2, (uint32_t[]){0, 1});
    struct pim_core_estimate two = estimate(&c);
    ck_assert_uint_lt(two.cycles, one.cycles * 2 / 3);
    ck_assert_uint_ge(two.cycles, 512 * c.architecture.mvm_cycles);
    core_case_end(&c);
}
END_TEST

/* Space, workshop and the chromosome of one replica each, for the mapping of a case. */
static void begin_genes(struct core_case *c, uint32_t max_layers_in_core, struct pim_gene_space *space,
                        struct pim_gene_workshop *workshop, struct pim_chromosome *first)
{
    struct pim_error error;
    ck_assert_int_eq(pim_gene_space_make(&c->mapping, max_layers_in_core, &c->arena, space, &error), PIM_OK);
    ck_assert_int_eq(pim_gene_workshop_make(space, &c->arena, workshop, &error), PIM_OK);
    ck_assert_int_eq(pim_chromosome_make(space, &c->arena, first, &error), PIM_OK);
    ck_assert(pim_chromosome_first(space, first));
}

/* Invariants 1 to 3 of layout/chromosome.h. */
static bool is_legal(const struct pim_gene_space *space, const struct pim_chromosome *c)
{
    const struct pim_core_architecture *a = space->architecture;
    uint64_t genes = 0, groups = 0;
    for (uint32_t p = 0; p < a->cores; p++) {
        uint64_t used = 0;
        const uint32_t *gene = c->gene + (size_t)p * space->slots;
        for (uint32_t s = 0; s < space->slots; s++) {
            uint32_t layer = gene[s] / PIM_GENE_LAYER;
            used += gene[s] ? (uint64_t)(gene[s] % PIM_GENE_LAYER) * space->size[layer] : 0;
            genes += gene[s] % PIM_GENE_LAYER;
            for (uint32_t t = 0; t < s; t++)
                if (gene[s] && gene[t] && gene[t] / PIM_GENE_LAYER == layer)
                    return false;
        }
        if (used + c->vacant[p] != a->arrays)
            return false;
    }
    for (uint32_t m = 0; m < space->matrices; m++) {
        uint32_t layer = space->matrix[m], replica = space->partition->layer[layer].groups;
        groups += c->groups[layer];
        if (c->groups[layer] == 0 || c->groups[layer] % replica != 0 ||
            c->groups[layer] / replica > space->network->layer[layer].windows)
            return false;
    }
    return genes == groups;
}

/* Random mutations stay legal, the layout of a chromosome is valid, and it weighs what the chromosome
 * weighs. */
START_TEST(mutations_are_legal)
{
    struct core_case c;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome x, y;
    struct pim_random random;
    struct pim_error error;
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, NULL);
    begin_genes(&c, 4, &space, &workshop, &x);
    ck_assert_int_eq(pim_chromosome_make(&space, &c.arena, &y, &error), PIM_OK);
    pim_random_initialize(&random, 77);
    unsigned changed = 0;
    for (unsigned n = 0; n < 2400; n++) {
        changed += pim_chromosome_mutate(&space, &workshop, &x, &random);
        ck_assert_msg(is_legal(&space, &x), "mutation %u of seed 77", n);
        if (n % 100 != 0)
            continue;
        pim_chromosome_weigh(&space, &workshop, &x);
        ck_assert_int_eq(pim_chromosome_layout(&space, &x, NULL, &c.arena, &c.layout, &error), PIM_OK);
        ck_assert_msg(pim_core_layout_check(&c.mapping, &error) == PIM_OK, "%s", error.text);
        ck_assert_uint_eq(estimate(&c).cycles, x.cycles);
        ck_assert(pim_chromosome_from_layout(&space, &c.layout, &y)); /* and back */
        ck_assert(is_legal(&space, &y));
        pim_chromosome_weigh(&space, &workshop, &y);
        ck_assert_uint_eq(y.cycles, x.cycles);
        ck_assert_uint_eq(y.spread, x.spread);
        ck_assert_mem_eq(y.vacant, x.vacant, c.architecture.cores * sizeof *x.vacant);
        ck_assert_mem_eq(y.groups, x.groups, c.network.count * sizeof *x.groups);
    }
    ck_assert_uint_gt(changed, 400);
    core_case_end(&c);
}
END_TEST

/* Whether a layer has the same groups on every core in two chromosomes. */
static bool same_groups(const struct pim_gene_space *space, const struct pim_chromosome *x,
                        const struct pim_chromosome *y, uint32_t layer)
{
    for (uint32_t p = 0; p < space->architecture->cores; p++) {
        uint32_t groups[2] = {0, 0};
        for (uint32_t s = 0; s < space->slots; s++) {
            const uint32_t a = x->gene[p * space->slots + s], b = y->gene[p * space->slots + s];
            groups[0] += a / PIM_GENE_LAYER == layer ? a % PIM_GENE_LAYER : 0;
            groups[1] += b / PIM_GENE_LAYER == layer ? b % PIM_GENE_LAYER : 0;
        }
        if (groups[0] != groups[1])
            return false;
    }
    return true;
}

/* What a mutant does not change stays as it is in the layout of its parent, however that was laid. */
START_TEST(mutants_inherit_the_replicas_of_a_layout)
{
    struct core_case c;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome x, y;
    struct pim_random random;
    struct pim_error error;
    struct pim_core_layout again, anew;
    unsigned others = 0, unchanged = 0;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, NULL);
    begin_genes(&c, 4, &space, &workshop, &x);
    ck_assert_int_eq(pim_chromosome_make(&space, &c.arena, &y, &error), PIM_OK);
    ck_assert_int_eq(pim_chromosome_layout(&space, &x, NULL, &c.arena, &c.layout, &error), PIM_OK);
    pim_random_initialize(&random, 78);
    for (unsigned n = 0; n < 400; n++) {
        const struct pim_core_layout parent = c.layout;
        pim_chromosome_copy(&space, &y, &x);
        (void)pim_chromosome_mutate(&space, &workshop, &x, &random);
        ck_assert_int_eq(pim_chromosome_layout(&space, &x, &parent, &c.arena, &c.layout, &error), PIM_OK);
        ck_assert_msg(pim_core_layout_check(&c.mapping, &error) == PIM_OK, "%s", error.text);
        for (uint32_t m = 0; m < space.matrices; m++) {
            const uint32_t layer = space.matrix[m];
            if (!same_groups(&space, &x, &y, layer))
                continue;
            unchanged++;
            ck_assert_uint_eq(c.layout.layer[layer].replicas, parent.layer[layer].replicas);
            ck_assert_mem_eq(c.layout.layer[layer].core, parent.layer[layer].core,
                             x.groups[layer] * sizeof(uint32_t));
        }
        ck_assert(pim_chromosome_from_layout(&space, &c.layout, &y));
        ck_assert_mem_eq(y.vacant, x.vacant, c.architecture.cores * sizeof *x.vacant);
        ck_assert_mem_eq(y.groups, x.groups, c.network.count * sizeof *x.groups);
        ck_assert_int_eq(pim_chromosome_layout(&space, &y, &c.layout, &c.arena, &again, &error), PIM_OK);
        ck_assert(pim_core_layouts_equal(&c.mapping, &again, &c.layout));
        ck_assert_int_eq(pim_chromosome_layout(&space, &y, NULL, &c.arena, &anew, &error), PIM_OK);
        others += !pim_core_layouts_equal(&c.mapping, &anew, &c.layout);
    }
    ck_assert_uint_gt(others, 50); /* what is laid anew is another one */
    ck_assert_uint_gt(unchanged, 100);
    core_case_end(&c);
}
END_TEST

static struct pim_core_search_result search(struct core_case *c, unsigned threads, uint64_t seed)
{
    struct pim_core_search_options options;
    struct pim_core_search_result result;
    struct pim_error error;
    options = pim_core_search_preset(PIM_PRESET_FAST);
    options.generations = 60;
    options.threads = threads;
    options.seed = seed;
    ck_assert_msg(pim_core_layout_search(&c->mapping, &options, &c->arena, &c->layout, &result, &error) ==
                      PIM_OK,
                  "%s", error.text);
    ck_assert_msg(pim_core_layout_check(&c->mapping, &error) == PIM_OK, "%s", error.text);
    ck_assert(result.searched);
    return result;
}

/* A search that is given a layout to start with is never behind it. */
START_TEST(starts_are_in_the_population)
{
    struct core_case c;
    struct pim_core_search_options options;
    struct pim_core_search_result result;
    struct pim_core_layout start;
    struct pim_error error;
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, NULL);
    (void)search(&c, 1, 5);
    start = c.layout;
    uint64_t found = estimate(&c).cycles;
    options = pim_core_search_preset(PIM_PRESET_FAST);
    options.generations = 1;
    options.starts = 1;
    options.start = &start;
    ck_assert_int_eq(pim_core_layout_search(&c.mapping, &options, &c.arena, &c.layout, &result, &error),
                     PIM_OK);
    ck_assert_uint_eq(result.first.cycles, found);
    ck_assert_uint_le(estimate(&c).cycles, found);
    core_case_end(&c);
}
END_TEST

static bool same_layout(const struct core_case *c, const struct pim_core_layout *a,
                        const struct pim_core_layout *b)
{
    for (uint32_t i = 0; i < c->network.count; i++) {
        size_t groups = (size_t)a->layer[i].replicas * c->partition.layer[i].groups;
        if (a->layer[i].replicas != b->layer[i].replicas ||
            (groups && memcmp(a->layer[i].core, b->layer[i].core, groups * sizeof(uint32_t)) != 0))
            return false;
    }
    return true;
}

START_TEST(search_gains_and_does_not_depend_on_threads)
{
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    struct core_case c;
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, NULL);
    struct pim_core_search_result one = search(&c, 1, 3);
    struct pim_core_layout first = c.layout;
    ck_assert_uint_lt(2 * one.best.cycles, one.first.cycles);
    ck_assert_uint_eq(estimate(&c).cycles, one.best.cycles);
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        struct pim_core_search_result more = search(&c, threads, 3);
        ck_assert_uint_eq(more.best.cycles, one.best.cycles);
        ck_assert_uint_eq(more.generations, one.generations);
        ck_assert(same_layout(&c, &first, &c.layout));
    }
    (void)search(&c, 1, 4);
    ck_assert(!same_layout(&c, &first, &c.layout));
    core_case_end(&c);
}
END_TEST

START_TEST(search_is_better_than_balance)
{
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    struct core_case c;
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, pim_core_layout_balance);
    uint64_t balance = estimate(&c).cycles;
    ck_assert_uint_lt(search(&c, 1, 1).best.cycles, balance);
    core_case_end(&c);
}
END_TEST

/* A large budget has what "fast" finds with the same seed, from one replica each and from the rules. */
START_TEST(a_large_budget_has_all_of_the_small_one)
{
    enum { GENERATIONS = 12 };
    static struct pim_core_searches fast, large;
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    struct pim_core_search_options options;
    struct core_case c;
    struct pim_error error;
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, NULL);
    options = pim_core_search_preset(PIM_PRESET_FAST);
    options.generations = GENERATIONS;
    ck_assert_int_eq(pim_core_searches_run(&c.mapping, &options, 0, &c.arena, &fast, &error), PIM_OK);
    ck_assert_uint_eq(fast.brief, 2);
    ck_assert_uint_eq(fast.count, 2);
    options = pim_core_search_preset(PIM_PRESET_DEFAULT);
    options.generations = 2 * GENERATIONS;
    options.runners_up = 3;
    ck_assert_int_eq(pim_core_searches_run(&c.mapping, &options, 3, &c.arena, &large, &error), PIM_OK);
    ck_assert_uint_eq(large.brief, 2);
    ck_assert_uint_eq(large.count, 2 * 3 + 2);
    ck_assert_uint_gt(pim_core_searches_sum(&large).evaluations, pim_core_searches_sum(&fast).evaluations);
    options.generations = GENERATIONS;
    ck_assert_int_eq(pim_core_searches_run(&c.mapping, &options, 3, &c.arena, &large, &error), PIM_OK);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert(same_layout(&c, &fast.found[i].layout, &large.found[i].layout));
    core_case_end(&c);
}
END_TEST

/* What the refinement finds is faster than what it began with, is what its own timing says, and does not
 * depend on threads. */
START_TEST(refinement_gains_and_does_not_depend_on_threads)
{
    static struct pim_core_profile profile[2];
    enum pim_core_mode mode = _i ? PIM_CORE_LOW_LATENCY : PIM_CORE_HIGH_THROUGHPUT;
    const struct pim_refine_options refine = {.timed = 100, .seed = 3, .max_layers_in_core = 8};
    struct core_case c;
    struct pim_error error = {0};
    core_case_small(&c);
    core_case_map(&c, mode, PIM_UNFOLDINGS, pim_core_layout_first);
    memset(profile, 0, sizeof profile);
    for (unsigned n = 0; n < 2; n++) {
        struct pim_workers *workers;
        ck_assert_int_eq(pim_workers_create(&workers, 1 + 2 * n, &error), PIM_OK);
        const struct pim_core_profile_options options = {.mapping = &c.mapping, .workers = workers};
        pim_core_profile_add(&options, &profile[n], "first", false, &c.layout);
        ck_assert_msg(pim_core_profile_time(&options, &profile[n], 0, 0, &error) == PIM_OK, "%s", error.text);
        uint32_t found = profile[n].count;
        ck_assert_msg(pim_core_refine(&options, &refine, &c.arena, &profile[n], &error) == PIM_OK, "%s",
                      error.text);
        ck_assert_uint_gt(profile[n].count, found);
        uint64_t cycles = profile[n].candidate[found].estimate;
        ck_assert_uint_lt(2 * cycles, profile[n].candidate[0].estimate);
        ck_assert_int_eq(pim_core_profile_time(&options, &profile[n], found, found, &error), PIM_OK);
        ck_assert_uint_eq(profile[n].candidate[found].estimate, cycles);
        pim_workers_destroy(workers);
    }
    ck_assert_uint_eq(profile[0].timed, profile[1].timed);
    for (uint32_t i = 0; i < profile[0].count; i++)
        ck_assert(same_layout(&c, &profile[0].candidate[i].layout, &profile[1].candidate[i].layout));
    core_case_end(&c);
}
END_TEST

/* A chain from a layout that is not by the rule of chromosomes ends at one that is not by it, either: some
 * replicas are those that it began with. (Its first layout is made the slowest, so that a mutant takes its
 * place.) */
START_TEST(refinement_starts_from_the_layout_itself)
{
    static struct pim_core_profile profile;
    struct core_case c;
    struct pim_gene_space space;
    struct pim_gene_workshop workshop;
    struct pim_chromosome x;
    struct pim_random random;
    struct pim_error error = {0};
    struct pim_workers *workers;
    unsigned inherited = 0;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, NULL);
    begin_genes(&c, 8, &space, &workshop, &x);
    ck_assert_int_eq(pim_chromosome_layout(&space, &x, NULL, &c.arena, &c.layout, &error), PIM_OK);
    pim_random_initialize(&random, 78);
    for (unsigned n = 0; n < 200; n++) {
        const struct pim_core_layout parent = c.layout;
        (void)pim_chromosome_mutate(&space, &workshop, &x, &random);
        ck_assert_int_eq(pim_chromosome_layout(&space, &x, &parent, &c.arena, &c.layout, &error), PIM_OK);
    }
    ck_assert_int_eq(pim_workers_create(&workers, 1, &error), PIM_OK);
    const struct pim_core_profile_options options = {.mapping = &c.mapping, .workers = workers};
    for (uint64_t seed = 1; seed <= PIM_CASES(8); seed++) {
        const struct pim_refine_options refine = {.timed = 16, .seed = seed, .max_layers_in_core = 8};
        struct pim_core_layout anew;
        memset(&profile, 0, sizeof profile);
        pim_core_profile_add(&options, &profile, "mixed", false, &c.layout);
        ck_assert_int_eq(pim_core_profile_time(&options, &profile, 0, 0, &error), PIM_OK);
        profile.candidate[0].estimate = UINT64_MAX / 2;
        ck_assert_int_eq(pim_core_refine(&options, &refine, &c.arena, &profile, &error), PIM_OK);
        const struct pim_core_layout *found = &profile.candidate[profile.count - 1].layout;
        ck_assert(!same_layout(&c, found, &c.layout));
        ck_assert(pim_chromosome_from_layout(&space, found, &x));
        ck_assert_int_eq(pim_chromosome_layout(&space, &x, NULL, &c.arena, &anew, &error), PIM_OK);
        inherited += !same_layout(&c, found, &anew);
    }
    ck_assert_uint_gt(inherited, 0);
    pim_workers_destroy(workers);
    core_case_end(&c);
}
END_TEST

static bool stops_after(void *context)
{
    unsigned *turns = context;
    *turns -= *turns > 0;
    return *turns == 0;
}

/* Behind the end one candidate is timed, the preferred one, or all until one can be scheduled; the others are
 * left out, nothing is refined or simulated, and the plan is told. */
START_TEST(timing_ends_with_what_can_be_scheduled)
{
    static struct pim_core_profile profile;
    static const struct {
        unsigned turns, timed; /* of those, the refinement has one that nobody needs */
        uint64_t local_bytes;
        bool ends;
    } cases[] = {{1, 1, 0, true}, {3, 2, 0, true}, {1, 3, 64, false}, {0, 3, 0, false}};
    const struct pim_refine_options refine = {.timed = 16, .seed = 1, .max_layers_in_core = 8};
    struct core_case c;
    struct pim_error error = {0};
    struct pim_workers *workers;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, pim_core_layout_first);
    if (cases[_i].local_bytes > 0)
        c.architecture.local_memory_bytes = cases[_i].local_bytes;
    ck_assert_int_eq(pim_workers_create(&workers, 1, &error), PIM_OK);
    unsigned turns = cases[_i].turns;
    struct pim_search_limit limit;
    pim_search_limit_begin(&limit, 0, turns > 0 ? stops_after : NULL, &turns);
    const struct pim_core_profile_options options = {
        .mapping = &c.mapping, .workers = workers, .limit = &limit};
    memset(&profile, 0, sizeof profile);
    for (unsigned i = 0; i < 3; i++)
        pim_core_profile_add(&options, &profile, "first", false, &c.layout);
    const enum pim_status status = pim_core_profile_time(&options, &profile, 0, 2, &error);
    ck_assert_int_eq(status, cases[_i].local_bytes > 0 ? PIM_BAD_INPUT : PIM_OK);
    ck_assert_uint_eq(profile.timed, cases[_i].timed);
    ck_assert_int_eq(profile.cut_short, cases[_i].ends);
    if (cases[_i].turns == 1 && status == PIM_OK) {
        ck_assert(profile.candidate[0].left_out && profile.candidate[1].left_out);
        ck_assert_uint_gt(profile.candidate[2].estimate, 0);
    }
    if (cases[_i].ends) {
        ck_assert_int_eq(pim_search_limit_end(&limit), PIM_SEARCH_STOPPED);
        ck_assert(pim_core_refine(&options, &refine, &c.arena, &profile, &error) == PIM_OK);
        ck_assert_uint_eq(profile.count, 3);
        ck_assert_uint_eq(profile.timed, cases[_i].timed);
        ck_assert(pim_core_profile_run(&options, 4, &profile, &error) == PIM_OK);
        ck_assert_uint_gt(profile.candidate[profile.taken].estimate, 0);
    }
    pim_workers_destroy(workers);
    core_case_end(&c);
}
END_TEST

START_TEST(options_are_checked)
{
    struct core_case c;
    struct pim_core_search_options options;
    struct pim_core_search_result result;
    struct pim_error error;
    core_case_small(&c);
    core_case_map(&c, PIM_CORE_LOW_LATENCY, PIM_UNFOLDINGS, NULL);
    options = pim_core_search_preset(PIM_PRESET_PAPER);
    ck_assert_uint_eq(options.population, 200);
    ck_assert_uint_eq(options.generations, 1000);
    options.population = 4;
    ck_assert_int_eq(pim_core_layout_search(&c.mapping, &options, &c.arena, &c.layout, &result, &error),
                     PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "population of 4"));
    core_case_end(&c);
}
END_TEST

Suite *search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *t = tcase_create("search");
    tcase_add_test(t, high_throughput_rewards_clusters);
    tcase_add_test(t, high_throughput_follows_the_steps);
    tcase_add_test(t, low_latency_follows_rounds_and_replicas);
    tcase_add_loop_test(t, mutations_are_legal, 0, 2);
    tcase_add_test(t, mutants_inherit_the_replicas_of_a_layout);
    tcase_add_test(t, refinement_starts_from_the_layout_itself);
    tcase_add_loop_test(t, starts_are_in_the_population, 0, 2);
    tcase_add_loop_test(t, search_gains_and_does_not_depend_on_threads, 0, 2);
    tcase_add_loop_test(t, search_is_better_than_balance, 0, 2);
    tcase_add_loop_test(t, a_large_budget_has_all_of_the_small_one, 0, 2);
    tcase_add_loop_test(t, refinement_gains_and_does_not_depend_on_threads, 0, 2);
    tcase_add_loop_test(t, timing_ends_with_what_can_be_scheduled, 0, 4);
    tcase_add_test(t, options_are_checked);
    suite_add_tcase(suite, t);
    return suite;
}
