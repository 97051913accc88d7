/* What is fixed for each layer of an estimate, and the estimate of a finished layout: estimate.h. */
#include "mappers/pimcomp/cost/estimate.h"

#include "mappers/machine/core_times.h"
#include "mappers/pimcomp/kernels/kernels.h"
#include "sim/integer.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* A message between cores of a chip: a third of its width and height, and both ends at the local memory. */
static uint64_t message_cycles(const struct pim_core_architecture *a, uint64_t elements)
{
    uint64_t hops = a->connection == PIM_CORE_MESH ? ((uint64_t)a->chip_width + a->chip_height) / 3 + 1 : 1;
    uint64_t link = pim_time_link(a, elements * a->element_bytes);
    return pim_time_reads(a, elements) + pim_time_read_latency(a) + hops * a->hop_cycles + link +
           pim_time_write_latency(a);
}

/* Between layers: cores of different chips, when there are several. */
static uint64_t pixel_cycles(const struct pim_core_architecture *a, uint64_t elements)
{
    uint64_t cycles = message_cycles(a, elements);
    if (a->chip_width != a->width || a->chip_height != a->height)
        cycles +=
            a->chip_link_cycles + pim_divide_up(elements * a->element_bytes, a->chip_link_bytes_per_cycle);
    return cycles;
}

/* Loads: a window of a row reads `stride` columns that the one before it did not; the rows that windows of
 * the row above read already stay in the local memory. */
static void price_loads(const struct pim_core_layer *layer, uint32_t element_bytes,
                        struct pim_core_cost *cost)
{
    uint64_t pixel = (uint64_t)layer->source[0].channels * element_bytes;
    uint64_t down = layer->sliding.kernel[0], right = layer->sliding.kernel[1],
             across = layer->source[0].width;
    uint64_t rows = layer->sliding.stride[0] < down ? layer->sliding.stride[0] : down;
    uint64_t columns = layer->sliding.stride[1] < right ? layer->sliding.stride[1] : right;
    cost->new_bytes = pim_divide_up(rows * across * pixel, layer->width);
    cost->row_bytes = across * pixel;
    cost->window_bytes = (right < across ? right : across) * pixel;
    cost->column_bytes = columns * pixel;
    cost->kernel_rows = (uint32_t)down;
    cost->fresh_rows = (uint32_t)rows;
    cost->row = layer->width;
}

/* MVMs read a row of the map where it lies; a group whose inputs are in several rows needs a copy of them. */
static void price_copies(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                         const struct pim_core_partition_layer *p, struct pim_core_cost *cost)
{
    if (p->bundle) { /* every bundle, gathered from all positions of the kernel (throughput/input.c) */
        uint32_t positions = layer->sliding.kernel[0] * layer->sliding.kernel[1];
        uint64_t bundles = pim_divide_up(layer->source[0].channels, p->bundle);
        uint64_t rows = bundles * layer->sliding.kernel[0];
        cost->copies = rows < positions ? (uint32_t)rows : positions;
        cost->copy_beats =
            bundles * positions * (pim_time_reads(a, p->bundle) + pim_time_writes(a, p->bundle));
        return;
    }
    uint32_t stretch = layer->sliding.kernel[1] * layer->source[0].channels;
    if (layer->sliding.dilation[1] != 1)
        stretch = layer->source[0].channels;
    for (uint32_t g = 0; g < p->groups; g++)
        if (p->group[g].row / stretch != (p->group[g].row + p->group[g].rows - 1) / stretch)
            cost->copies =
                layer->sliding.kernel[0] > 1 ? 2 : 1; /* rows that lie on both sides of the ring's end */
    if (cost->copies)
        cost->copy_beats = pim_time_reads(a, layer->rows) + pim_time_writes(a, layer->rows);
}

static void price_matrix(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                         const struct pim_core_partition_layer *p, struct pim_core_cost *cost)
{
    uint64_t columns = 0;
    cost->matrix = true;
    cost->groups = p->groups;
    for (uint32_t g = 0; g < p->groups; g++) {
        uint64_t outputs = (uint64_t)p->group[g].columns * p->group[g].folds;
        cost->mvm_beats += pim_time_reads(a, p->group[g].rows) + pim_time_writes(a, outputs);
        columns += outputs;
    }
    uint64_t mean = pim_divide_up(columns, p->groups);
    cost->sum_elements = mean;
    cost->input_beats = pim_time_reads(a, p->group[0].rows);
    cost->trip = cost->input_beats + pim_time_read_latency(a) +
                 pim_time_writes(a, (uint64_t)p->group[0].columns * p->group[0].folds) +
                 pim_time_write_latency(a);
    cost->bias = layer->bias;
    cost->afters = layer->afters;
    cost->add_beats = 2 * pim_time_reads(a, mean) + pim_time_writes(a, mean);
    cost->add_cycles = pim_time_vector(a, mean, 2);
    cost->sum_beats = pim_time_reads(a, mean);
    cost->sum_cycles = message_cycles(a, mean);
    uint64_t read = pim_time_reads(a, layer->channels), write = pim_time_writes(a, layer->channels);
    cost->finish_beats = read + (layer->bias ? 2 * read + write : 0) + layer->afters * (read + write);
    cost->finish_cycles = (layer->bias ? pim_time_vector(a, layer->channels, 2) : 0) +
                          layer->afters * pim_time_vector(a, layer->channels, 1);
    uint64_t positions = (uint64_t)layer->sliding.kernel[0] * layer->sliding.kernel[1];
    cost->position_groups = p->bundle ? p->groups : (uint32_t)pim_divide_up(p->groups, positions);
    cost->pointwise = positions == 1 || p->bundle;
    price_loads(layer, a->element_bytes, cost);
    price_copies(a, layer, p, cost);
}

/* Pooling and element layers: operations of one window. */
static void price_vector(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                         struct pim_core_cost *cost)
{
    uint64_t operations = layer->kind == PIM_CORE_ELEMENT && layer->sources > 1;
    uint64_t singles = layer->afters;
    if (layer->kind == PIM_CORE_POOLING) {
        operations = (uint64_t)layer->sliding.kernel[0] * layer->sliding.kernel[1] - 1;
        singles += layer->average && !layer->total;
    } else if (layer->kind == PIM_CORE_ELEMENT && layer->sources == 1) {
        singles++;
    }
    uint64_t read = pim_time_reads(a, layer->channels), write = pim_time_writes(a, layer->channels);
    uint64_t copies = layer->kind == PIM_CORE_MOVE; /* of the whole pixel */
    if (layer->kind == PIM_CORE_PRODUCT) { /* for each of `inner`: a multiplication, an addition, a copy */
        operations = 2 * (uint64_t)layer->product.inner;
        copies = layer->product.inner;
    }
    cost->finish_beats = operations * (2 * read + write) + (singles + copies) * (read + write) + read;
    cost->finish_cycles = operations * pim_time_vector(a, layer->channels, 2) +
                          singles * pim_time_vector(a, layer->channels, 1);
    cost->buffer_bytes =
        (uint64_t)layer->windows * layer->channels * a->element_bytes *
        (layer->kind == PIM_CORE_POOLING ? 2 * (uint64_t)layer->sliding.kernel[1] + 2 : layer->sources);
    for (uint32_t s = 0; s < layer->sources; s++)
        cost->new_bytes += pim_divide_up((uint64_t)layer->source[s].height * layer->source[s].width *
                                             layer->source[s].channels * a->element_bytes,
                                         layer->windows);
}

static uint32_t covering(uint32_t kernel, uint32_t stride)
{
    return kernel <= stride ? 1 : (kernel + stride - 1) / stride;
}

/* Pixels of a source before the first window is complete, and windows that read one of them. */
static enum pim_status find_reach(const struct pim_core_layer *layer, struct pim_arena *arena,
                                  struct pim_core_cost *cost, struct pim_error *error)
{
    for (uint32_t s = 0; s < layer->sources; s++)
        cost->sources += layer->source[s].parts;
    struct pim_core_reach *reach = PIM_ARENA_ARRAY(arena, struct pim_core_reach, cost->sources);
    PIM_NEED_MEMORY(reach, error, "no memory for the sources of layer %s", layer->name);
    cost->source = reach;
    bool slides = layer->kind == PIM_CORE_MATRIX || layer->kind == PIM_CORE_POOLING;
    for (uint32_t s = 0; s < layer->sources; s++) {
        const struct pim_core_source *source = &layer->source[s];
        uint64_t total = (uint64_t)source->height * source->width, first = 1;
        uint32_t rows = 1, columns = 1;
        if (slides) {
            const struct pim_sliding *sliding = &layer->sliding;
            uint64_t lines = (uint64_t)(sliding->kernel[0] - 1) * sliding->dilation[0];
            uint64_t pixels = (uint64_t)(sliding->kernel[1] - 1) * sliding->dilation[1] + 1;
            lines = lines > sliding->pad_before[0] ? lines - sliding->pad_before[0] : 0;
            pixels = pixels > sliding->pad_before[1] ? pixels - sliding->pad_before[1] : 1;
            first = lines * source->width + pixels;
            rows = covering(sliding->kernel[0], sliding->stride[0]);
            columns = covering(sliding->kernel[1], sliding->stride[1]);
        } else if (layer->kind == PIM_CORE_MOVE) {
            first = pim_core_moves_reach(layer, s);
        } else if (layer->kind == PIM_CORE_PRODUCT && s == 1) {
            first = total / layer->product.branches;
        }
        bool sent = layer->kind == PIM_CORE_MATRIX || rows * columns > 1 || s > 0;
        for (uint32_t p = 0; p < source->parts; p++)
            *reach++ = (struct pim_core_reach){.layer = source->part[p].layer,
                                               .first = first < total ? first : total,
                                               .total = total,
                                               .rows = rows < layer->height ? rows : layer->height,
                                               .columns = columns < layer->width ? columns : layer->width,
                                               .sent = sent};
    }
    return PIM_OK;
}

/* Cores chip by chip; within a chip row by row, every second one backwards. */
static void place_cores(struct pim_core_costs *costs)
{
    const struct pim_core_architecture *a = costs->architecture;
    uint32_t next = 0;
    costs->chips = 0;
    for (uint32_t top = 0; top < a->height; top += a->chip_height)
        for (uint32_t left = 0; left < a->width; left += a->chip_width, costs->chips++)
            for (uint32_t y = 0; y < a->chip_height; y++)
                for (uint32_t x = 0; x < a->chip_width; x++, next++) {
                    costs->walk[next] = (top + y) * a->width + left + (y % 2 ? a->chip_width - 1 - x : x);
                    costs->chip[costs->walk[next]] = costs->chips;
                    costs->position[costs->walk[next]] = (struct pim_core_position){
                        costs->walk[next] % a->width, costs->walk[next] / a->width};
                }
}

enum pim_status pim_core_costs_prepare(const struct pim_core_mapping *mapping, struct pim_arena *arena,
                                       struct pim_core_costs *costs, struct pim_error *error)
{
    const struct pim_core_architecture *a = mapping->architecture;
    const struct pim_core_network *network = mapping->network;
    const struct pim_core_partition *partition = mapping->partition;
    *costs = (struct pim_core_costs){
        .architecture = a, .network = network, .partition = partition, .mode = mapping->mode};
    costs->layer = PIM_ARENA_ARRAY(arena, struct pim_core_cost, network->count);
    costs->chip = PIM_ARENA_ARRAY(arena, uint32_t, a->cores);
    costs->walk = PIM_ARENA_ARRAY(arena, uint32_t, a->cores);
    costs->position = PIM_ARENA_ARRAY(arena, struct pim_core_position, a->cores);
    PIM_NEED_MEMORY(costs->layer && costs->chip && costs->walk && costs->position, error,
                    "no memory to estimate %" PRIu32 " layers", network->count);
    place_cores(costs);
    costs->load_cycles = a->local_pipelined ? 1 : a->local_write_cycles;
    costs->memory_cycles = a->global_pipelined ? 1 : a->global_read_cycles;
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_layer *layer = &network->layer[i];
        struct pim_core_cost *cost = &costs->layer[i];
        cost->windows = layer->windows;
        cost->channels = layer->channels;
        cost->pixel_bytes = (uint64_t)layer->channels * a->element_bytes;
        cost->chain = pim_chain_form_of(a, layer, partition->layer[i].groups);
        cost->pixel_cycles = pixel_cycles(a, layer->channels);
        if (layer->kind == PIM_CORE_MATRIX) {
            price_matrix(a, layer, &partition->layer[i], cost);
            uint64_t round = a->mvm_cycles + pim_divide_up(cost->mvm_beats, cost->groups) + cost->add_cycles +
                             cost->finish_cycles + cost->pixel_cycles;
            costs->room++;
            costs->round_cycles = round > costs->round_cycles ? round : costs->round_cycles;
        } else if (layer->kind != PIM_CORE_INPUT) {
            price_vector(a, layer, cost);
            cost->load_beats = pim_divide_up(cost->new_bytes * costs->load_cycles, a->local_bytes_per_cycle);
        }
        PIM_TRY(find_reach(layer, arena, cost, error));
    }
    return PIM_OK;
}

/* --- the estimate of a finished layout --- */

/* Portions of all cores: counted by replica, each core's layers together. By position of the walk. */
struct gathering {
    uint32_t *position; /* of each core */
    uint32_t *at;       /* by position: its portion of the layer at work, or PIM_NONE */
    uint32_t *count;    /* by position: portions */
    uint32_t *seen;
    uint32_t room; /* portion number i of position p is portion[p * room + i], until gaps are closed */
    struct pim_core_portions all;
};

/* Adds the replicas of a layer to the portions of the cores. */
static void gather_layer(const struct pim_core_mapping *mapping, uint32_t layer, struct gathering *g)
{
    const struct pim_core_layout_layer *l = &mapping->layout->layer[layer];
    uint32_t groups = mapping->partition->layer[layer].groups, room = g->room, links = g->all.links;
    for (uint32_t p = 0; p < mapping->architecture->cores; p++)
        g->at[p] = g->seen[p] = PIM_NONE;
    for (uint32_t r = 0; r < l->replicas; r++) {
        uint32_t home = g->position[l->core[(size_t)r * groups]];
        for (uint32_t n = 0; n < groups; n++) {
            uint32_t p = g->position[l->core[(size_t)r * groups + n]];
            if (g->at[p] == PIM_NONE) {
                g->at[p] = g->count[p]++;
                g->all.portion[(size_t)p * room + g->at[p]] = (struct pim_core_portion){.layer = layer};
            }
            struct pim_core_portion *here = &g->all.portion[(size_t)p * room + g->at[p]];
            here->groups++;
            here->contributor_groups += p != home;
            if (g->seen[p] == r)
                continue;
            g->seen[p] = r; /* the position's first group of this replica */
            here->replicas++;
            here->homes += p == home;
            here->sums_out += p != home;
            g->all.portion[(size_t)home * room + g->at[home]].sums_in += p != home;
            if (p != home) {
                g->all.link[g->all.links++] = (struct pim_core_link){layer, home, p, 0};
            }
        }
    }
    for (uint32_t i = links; i < g->all.links; i++) { /* by now all homes are counted */
        struct pim_core_link *link = &g->all.link[i];
        link->span = g->all.portion[(size_t)link->home * room + g->at[link->home]].homes;
        if (i == links || link->home != link[-1].home || link->contributor != link[-1].contributor)
            g->all.portion[(size_t)link->contributor * room + g->at[link->contributor]].span += link->span;
    }
}

static enum pim_status make_gathering(const struct pim_core_mapping *mapping,
                                      const struct pim_core_costs *costs, struct pim_arena *arena,
                                      struct gathering *g, struct pim_error *error)
{
    uint32_t cores = mapping->architecture->cores;
    size_t links = 1;
    for (uint32_t i = 0; i < mapping->network->count; i++)
        links += (size_t)mapping->layout->layer[i].replicas * mapping->partition->layer[i].groups;
    *g = (struct gathering){
        .position = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .at = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .count = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .seen = PIM_ARENA_ARRAY(arena, uint32_t, cores),
        .all.first = PIM_ARENA_ARRAY(arena, uint32_t, (size_t)cores + 1),
        .room = costs->room,
        .all.portion = PIM_ARENA_ARRAY(arena, struct pim_core_portion, (size_t)cores * costs->room + 1),
        .all.link = PIM_ARENA_ARRAY(arena, struct pim_core_link, links)};
    PIM_NEED_MEMORY(g->position && g->at && g->count && g->seen && g->all.first && g->all.portion &&
                        g->all.link,
                    error, "no memory to estimate a layout on %" PRIu32 " cores", cores);
    for (uint32_t p = 0; p < cores; p++)
        g->position[costs->walk[p]] = p;
    return PIM_OK;
}

enum pim_status pim_core_estimate_layout(const struct pim_core_mapping *mapping,
                                         struct pim_core_estimate *estimate, struct pim_error *error)
{
    struct pim_arena arena;
    struct pim_core_costs costs;
    struct pim_core_evaluation evaluation;
    struct gathering g;
    uint32_t cores = mapping->architecture->cores, next = 0;
    pim_arena_initialize(&arena, 0);
    enum pim_status status = pim_core_costs_prepare(mapping, &arena, &costs, error);
    if (status == PIM_OK)
        status = make_gathering(mapping, &costs, &arena, &g, error);
    if (status == PIM_OK)
        status = pim_core_evaluation_make(&costs, &arena, &evaluation, error);
    if (status == PIM_OK) {
        for (uint32_t i = 0; i < mapping->network->count; i++) {
            evaluation.replicas[i] = mapping->layout->layer[i].replicas;
            gather_layer(mapping, i, &g);
        }
        for (uint32_t p = 0; p < cores; p++) { /* close the gaps */
            g.all.first[p] = next;
            for (uint32_t i = 0; i < g.count[p]; i++)
                g.all.portion[next++] = g.all.portion[(size_t)p * g.room + i];
        }
        g.all.first[cores] = next;
        pim_core_evaluate(&costs, &evaluation, &g.all);
        *estimate = evaluation.result;
    }
    pim_arena_terminate(&arena);
    return status;
}
