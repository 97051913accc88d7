/*
 * pimsim-bench overlap: the overlap analysis of two 3x3 convolutions, by the number of data spaces: lock step
 * in closed form, transformation from the distribution of ready steps and by sorting, and beside them the
 * comparison of all data spaces with all data spaces.
 */
#include "tools/bench/bench.h"

#include "mappers/overlapim/analysis/overlap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, LATENCY = 7 };

static void fail(const struct pim_error *error)
{
    fprintf(stderr, "pimsim-bench: %s\n", error->text);
    exit(EXIT_FAILURE);
}

static void add_loop(struct pim_nest *nest, unsigned dimension, uint32_t count, bool spatial)
{
    nest->loop[nest->loops++] =
        (struct pim_nest_loop){.dimension = (uint8_t)dimension, .spatial = spatial, .count = count};
}

/* side x side positions in `channels` / banks steps each of `banks` banks: side^2 x channels data spaces. */
static void make(struct pim_overlap_layer layers[LAYERS], struct pim_link *link, uint32_t side,
                 uint32_t channels, uint32_t banks)
{
    struct pim_error error = {PIM_OK, ""};
    for (uint32_t i = 0; i < LAYERS; i++) {
        struct pim_overlap_layer *layer = &layers[i];
        pim_overlap_layer_initialize(layer);
        (void)snprintf(layer->name, sizeof layer->name, "layer%" PRIu32, i);
        layer->workload.size[PIM_K] = layer->workload.size[PIM_C] = channels;
        layer->workload.size[PIM_P] = layer->workload.size[PIM_Q] = side;
        layer->workload.size[PIM_R] = layer->workload.size[PIM_S] = 3;
        layer->workload.padding[0] = layer->workload.padding[1] = 1;
        layer->latency = LATENCY - i;
        add_loop(&layer->nest, PIM_K, banks, true);
        add_loop(&layer->nest, i == 0 ? PIM_P : PIM_Q, side, false);
        add_loop(&layer->nest, PIM_K, channels / banks, false);
        add_loop(&layer->nest, i == 0 ? PIM_Q : PIM_P, side, false);
        layer->nest.cut = layer->nest.loops;
        add_loop(&layer->nest, PIM_C, channels, false);
        add_loop(&layer->nest, PIM_R, 3, false);
        add_loop(&layer->nest, PIM_S, 3, false);
        layer->links = i;
        layer->link = link;
        if (pim_overlap_layer_derive(layers, i, &error) != PIM_OK)
            fail(&error);
    }
}

struct figures {
    double lockstep_ns, transformed_ns, sorted_ns, exhaustive_ns;
    uint64_t data_spaces, lockstep, transformed;
};

static void measure_lists(struct pim_overlap_layer *layers, const struct pim_schedule *schedules,
                          struct pim_overlap *overlap, bool exhaustive, struct figures *figures)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_ready *list = NULL;
    double start = bench_cpu_ns();
    if (pim_overlap_list(overlap, &list, &error) != PIM_OK)
        fail(&error);
    pim_overlap_sort(list, overlap->data_spaces);
    uint64_t rows = pim_overlap_rows_end(overlap, list);
    figures->sorted_ns = bench_cpu_ns() - start;
    if (exhaustive) {
        start = bench_cpu_ns();
        if (pim_overlap_exhaustive(layers, 1, schedules, list, overlap->data_spaces, &error) != PIM_OK)
            fail(&error);
        pim_overlap_sort(list, overlap->data_spaces);
        figures->exhaustive_ns = bench_cpu_ns() - start;
    }
    if (rows != figures->transformed || pim_overlap_rows_end(overlap, list) != rows) {
        fprintf(stderr, "pimsim-bench: two ways to one latency differ\n");
        exit(EXIT_FAILURE);
    }
    free(list);
}

static struct figures measure(uint32_t side, uint32_t channels, uint32_t banks, uint64_t repeats, bool lists,
                              bool exhaustive)
{
    struct pim_overlap_layer layers[LAYERS];
    struct pim_link link = {.transfer = 3};
    struct pim_error error = {PIM_OK, ""};
    struct figures figures = {0};
    make(layers, &link, side, channels, banks);
    struct pim_schedule schedules[LAYERS] = {{.latency = LATENCY, .end = pim_overlap_sequential(&layers[0])}};
    struct pim_overlap overlap;
    double start = bench_cpu_ns();
    for (uint64_t i = 0; i < repeats; i++) { /* from the nests, nothing kept */
        if (pim_overlap_initialize(&overlap, layers, 1, schedules, &error) != PIM_OK ||
            pim_overlap_lockstep(&overlap, &figures.lockstep, &error) != PIM_OK)
            fail(&error);
        pim_overlap_terminate(&overlap);
    }
    figures.lockstep_ns = (bench_cpu_ns() - start) / (double)repeats;
    start = bench_cpu_ns();
    for (uint64_t i = 0; i < repeats; i++) {
        if (pim_overlap_initialize(&overlap, layers, 1, schedules, &error) != PIM_OK ||
            pim_overlap_transformed(&overlap, &figures.transformed, &error) != PIM_OK)
            fail(&error);
        pim_overlap_terminate(&overlap);
    }
    figures.transformed_ns = (bench_cpu_ns() - start) / (double)repeats;
    if (pim_overlap_initialize(&overlap, layers, 1, schedules, &error) != PIM_OK)
        fail(&error);
    figures.data_spaces = overlap.data_spaces;
    if (lists)
        measure_lists(layers, schedules, &overlap, exhaustive, &figures);
    pim_overlap_terminate(&overlap);
    return figures;
}

int bench_overlap(int count, char **arguments)
{
    uint64_t repeats = 20;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--repeats") == 0 && i + 1 < count) {
            if (!bench_count("--repeats", arguments[++i], 1, 1000000, &repeats))
                return 2;
        } else {
            printf("usage: pimsim-bench overlap [--repeats N]\n");
            return strcmp(arguments[i], "--help") == 0 ? 0 : 2;
        }
    }
    static const struct {
        uint32_t side, channels, banks;
        bool lists, exhaustive;
    } rows[] = {{10, 10, 5, true, true},     {25, 16, 8, true, true},     {50, 40, 20, true, false},
                {100, 100, 20, true, false}, {250, 160, 16, true, false}, {500, 400, 40, false, false}};
    printf("%12s %16s %16s %16s %16s %10s\n", "data spaces", "lock step us", "transformed us", "sorted us",
           "all pairs us", "speedup");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct figures figures = measure(rows[i].side, rows[i].channels, rows[i].banks, repeats,
                                         rows[i].lists, rows[i].exhaustive);
        printf("%12" PRIu64 " %16.1f %16.1f", figures.data_spaces, figures.lockstep_ns / 1e3,
               figures.transformed_ns / 1e3);
        if (rows[i].lists)
            printf(" %16.0f", figures.sorted_ns / 1e3);
        if (rows[i].exhaustive)
            printf(" %16.0f %9.0fx", figures.exhaustive_ns / 1e3,
                   figures.exhaustive_ns / figures.transformed_ns);
        printf("\n");
    }
    return 0;
}
