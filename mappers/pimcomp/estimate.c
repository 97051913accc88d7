/* What is fixed for each layer of an estimate, and the estimate of a finished layout: estimate.h. */
#include "mappers/pimcomp/estimate.h"
#include "mappers/pimcomp/moves.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    assert(b != 0);
    return (a + b - 1) / b;
}

/* Cycles that a read (write) keeps the port of the local memory. */
static uint64_t port_cycles(const struct pim_core_architecture *a, uint64_t elements, uint32_t beat_cycles)
{
    uint64_t beats = divide_up(elements * a->element_bytes, a->local_bytes_per_cycle);
    return a->local_pipelined ? beats : beats * beat_cycles;
}

static uint64_t reads(const struct pim_core_architecture *a, uint64_t elements)
{
    return port_cycles(a, elements, a->local_read_cycles);
}

static uint64_t writes(const struct pim_core_architecture *a, uint64_t elements)
{
    return port_cycles(a, elements, a->local_write_cycles);
}

/* Latencies beside that. */
static uint64_t read_latency(const struct pim_core_architecture *a)
{
    return a->local_pipelined ? a->local_read_cycles : 0;
}

static uint64_t write_latency(const struct pim_core_architecture *a)
{
    return a->local_pipelined ? a->local_write_cycles : 0;
}

/* The vector engine works an instruction from its first read to its write. */
static uint64_t vector_cycles(const struct pim_core_architecture *a, uint64_t elements, unsigned operands)
{
    uint64_t beats = divide_up(elements, a->vector_lanes);
    uint64_t work = a->vector_pipelined ? a->vector_cycles + beats : a->vector_cycles * beats;
    return operands * (reads(a, elements) + read_latency(a)) + work + writes(a, elements) + write_latency(a);
}

/* A message between cores of a chip: a third of its width and height, and both ends at the local memory. */
static uint64_t message_cycles(const struct pim_core_architecture *a, uint64_t elements)
{
    uint64_t hops = a->connection == PIM_CORE_MESH ? ((uint64_t)a->chip_width + a->chip_height) / 3 + 1 : 1;
    uint64_t link = divide_up(elements * a->element_bytes, a->link_bytes_per_cycle);
    return reads(a, elements) + read_latency(a) + hops * a->hop_cycles + link + write_latency(a);
}

/* Between layers: cores of different chips, when there are several. */
static uint64_t pixel_cycles(const struct pim_core_architecture *a, uint64_t elements)
{
    uint64_t cycles = message_cycles(a, elements);
    if (a->chip_width != a->width || a->chip_height != a->height)
        cycles += a->chip_link_cycles + divide_up(elements * a->element_bytes, a->chip_link_bytes_per_cycle);
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
    cost->new_bytes = divide_up(rows * across * pixel, layer->width);
    cost->first_bytes = (down - rows) * across * pixel;
    cost->window_bytes = down * (right < across ? right : across) * pixel;
    cost->column_bytes = down * columns * pixel;
    cost->row = layer->width;
    cost->pointwise = layer->rows == layer->source[0].channels;
}

/* MVMs read a row of the map where it lies; a group whose inputs are in several rows needs a copy of them. */
static void price_copies(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                         const struct pim_core_partition_layer *p, struct pim_core_cost *cost)
{
    uint32_t stretch = layer->sliding.kernel[1] * layer->source[0].channels;
    if (layer->sliding.dilation[1] != 1)
        stretch = layer->source[0].channels;
    for (uint32_t g = 0; g < p->groups; g++)
        if (p->group[g].row / stretch != (p->group[g].row + p->group[g].rows - 1) / stretch)
            cost->copies = layer->sliding.kernel[0];
    if (cost->copies)
        cost->copy_beats = reads(a, layer->rows) + writes(a, layer->rows);
}

static void price_matrix(const struct pim_core_architecture *a, const struct pim_core_layer *layer,
                         const struct pim_core_partition_layer *p, struct pim_core_cost *cost)
{
    uint64_t columns = 0;
    cost->matrix = true;
    cost->groups = p->groups;
    for (uint32_t g = 0; g < p->groups; g++) {
        uint64_t outputs = (uint64_t)p->group[g].columns * p->group[g].folds;
        cost->mvm_beats += reads(a, p->group[g].rows) + writes(a, outputs);
        columns += outputs;
    }
    uint64_t mean = divide_up(columns, p->groups);
    cost->add_beats = 2 * reads(a, mean) + writes(a, mean);
    cost->add_cycles = vector_cycles(a, mean, 2);
    cost->sum_beats = reads(a, mean);
    cost->sum_cycles = message_cycles(a, mean);
    uint64_t read = reads(a, layer->channels), write = writes(a, layer->channels);
    cost->finish_beats = read + (layer->bias ? 2 * read + write : 0) + layer->afters * (read + write);
    cost->finish_cycles = (layer->bias ? vector_cycles(a, layer->channels, 2) : 0) +
                          layer->afters * vector_cycles(a, layer->channels, 1);
    cost->finish_operations = 1u + (layer->bias ? 1u : 0u) + layer->afters;
    cost->position_groups =
        (uint32_t)divide_up(p->groups, (uint64_t)layer->sliding.kernel[0] * layer->sliding.kernel[1]);
    uint32_t pixels =
        (uint32_t)divide_up(p->group[0].rows, layer->source[0].channels); /* of a group's input */
    cost->gathers = pixels < 2 ? 0 : 2;
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
    uint64_t read = reads(a, layer->channels), write = writes(a, layer->channels);
    uint64_t copies = layer->kind == PIM_CORE_MOVE; /* of the whole pixel */
    if (layer->kind == PIM_CORE_PRODUCT) {          /* for each of `inner`: a multiplication, an addition */
        operations = 2 * (uint64_t)layer->product.inner;
        copies = layer->product.inner;
    }
    cost->finish_beats = operations * (2 * read + write) + (singles + copies) * (read + write) + read;
    cost->finish_cycles =
        operations * vector_cycles(a, layer->channels, 2) + singles * vector_cycles(a, layer->channels, 1);
    for (uint32_t s = 0; s < layer->sources; s++)
        cost->new_bytes += divide_up((uint64_t)layer->source[s].height * layer->source[s].width *
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
    if (!reach)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the sources of layer %s", layer->name);
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

static void place_chips(struct pim_core_costs *costs)
{
    const struct pim_core_architecture *a = costs->architecture;
    assert(a->chip_width != 0 && a->chip_height != 0);
    uint32_t across = a->width / a->chip_width;
    costs->chips = across * (a->height / a->chip_height);
    for (uint32_t core = 0; core < a->cores; core++)
        costs->chip[core] = core / a->width / a->chip_height * across + core % a->width / a->chip_width;
}

enum pim_status pim_core_costs_prepare(const struct pim_core_architecture *a,
                                       const struct pim_core_network *network,
                                       const struct pim_core_partition *partition, enum pim_core_mode mode,
                                       struct pim_arena *arena, struct pim_core_costs *costs,
                                       struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    uint64_t cycles = 0, port = 0, bytes = 0;
    *costs =
        (struct pim_core_costs){.architecture = a, .network = network, .partition = partition, .mode = mode};
    costs->layer = PIM_ARENA_ARRAY(arena, struct pim_core_cost, network->count);
    costs->chip = PIM_ARENA_ARRAY(arena, uint32_t, a->cores);
    if (!costs->layer || !costs->chip)
        return pim_fail(error, PIM_NO_MEMORY, "no memory to estimate %" PRIu32 " layers", network->count);
    place_chips(costs);
    costs->load_cycles = a->local_pipelined ? 1 : a->local_write_cycles;
    costs->memory_cycles = a->global_pipelined ? 1 : a->global_read_cycles;
    for (uint32_t i = 0; i < network->count && status == PIM_OK; i++) {
        const struct pim_core_layer *layer = &network->layer[i];
        struct pim_core_cost *cost = &costs->layer[i];
        cost->windows = layer->windows;
        cost->pixel_bytes = (uint64_t)layer->channels * a->element_bytes;
        cost->pixel_beats = reads(a, layer->channels);
        cost->pixel_cycles = pixel_cycles(a, layer->channels);
        if (layer->kind == PIM_CORE_MATRIX) {
            price_matrix(a, layer, &partition->layer[i], cost);
            uint64_t round = a->mvm_cycles + divide_up(cost->mvm_beats, cost->groups) + cost->add_cycles +
                             cost->finish_cycles + cost->pixel_cycles;
            costs->round_cycles = round > costs->round_cycles ? round : costs->round_cycles;
        } else if (layer->kind != PIM_CORE_INPUT) {
            price_vector(a, layer, cost);
            cycles += layer->windows * cost->finish_cycles;
            port += layer->windows * (cost->finish_beats + divide_up(cost->new_bytes * costs->load_cycles,
                                                                     a->local_bytes_per_cycle));
            bytes += layer->windows * (cost->new_bytes + cost->pixel_bytes);
        }
        status = find_reach(layer, arena, cost, error);
    }
    costs->base_cycles = divide_up(cycles > port ? cycles : port, a->cores);
    costs->base_bytes = divide_up(bytes, costs->chips);
    return status;
}

/* --- the estimate of a finished layout --- */

/* Shares of all cores: counted by replica, each core's layers together. */
struct gathering {
    uint32_t *at;    /* by core: its share of the layer at work, or PIM_NONE */
    uint32_t *count; /* by core: shares */
};

/* Adds the replicas of a layer to the shares of the cores; share number i of core c is share[c * room + i].
 * */
static void gather_layer(const struct pim_core_mapping *mapping, uint32_t layer, uint32_t room,
                         struct pim_core_share *share, struct gathering *gathering, uint32_t *seen)
{
    const struct pim_core_layout_layer *l = &mapping->layout->layer[layer];
    uint32_t groups = mapping->partition->layer[layer].groups;
    for (uint32_t core = 0; core < mapping->architecture->cores; core++) {
        gathering->at[core] = PIM_NONE;
        seen[core] = PIM_NONE;
    }
    for (uint32_t r = 0; r < l->replicas; r++) {
        uint32_t home = l->core[(size_t)r * groups];
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t core = l->core[(size_t)r * groups + g];
            if (gathering->at[core] == PIM_NONE) {
                gathering->at[core] = gathering->count[core]++;
                share[(size_t)core * room + gathering->at[core]] = (struct pim_core_share){.layer = layer};
            }
            struct pim_core_share *here = &share[(size_t)core * room + gathering->at[core]];
            here->groups++;
            if (seen[core] == r)
                continue;
            seen[core] = r; /* the core's first group of this replica */
            here->lanes++;
            here->homes += core == home;
            here->sums_out += core != home;
            share[(size_t)home * room + gathering->at[home]].sums_in += core != home;
        }
    }
}

enum pim_status pim_core_estimate_layout(const struct pim_core_mapping *mapping,
                                         struct pim_core_estimate *estimate, struct pim_error *error)
{
    struct pim_arena arena;
    struct pim_core_costs costs;
    struct pim_core_weighing weighing;
    uint32_t cores = mapping->architecture->cores, room = 0, next = 0;
    pim_arena_initialize(&arena, 0);
    for (uint32_t i = 0; i < mapping->network->count; i++)
        room += mapping->layout->layer[i].replicas != 0;
    struct pim_core_share *share = PIM_ARENA_ARRAY(&arena, struct pim_core_share, (size_t)cores * room);
    uint32_t *first = PIM_ARENA_ARRAY(&arena, uint32_t, (size_t)cores + 1);
    uint32_t *seen = PIM_ARENA_ARRAY(&arena, uint32_t, cores);
    struct gathering gathering = {PIM_ARENA_ARRAY(&arena, uint32_t, cores),
                                  PIM_ARENA_ARRAY(&arena, uint32_t, cores)};
    enum pim_status status = PIM_NO_MEMORY;
    if (!share || !first || !seen || !gathering.at || !gathering.count)
        (void)pim_fail(error, PIM_NO_MEMORY, "no memory to estimate a layout on %" PRIu32 " cores", cores);
    else
        status = pim_core_costs_prepare(mapping->architecture, mapping->network, mapping->partition,
                                        mapping->mode, &arena, &costs, error);
    if (status == PIM_OK)
        status = pim_core_weighing_make(&costs, &arena, &weighing, error);
    if (status == PIM_OK) {
        for (uint32_t i = 0; i < mapping->network->count; i++) {
            weighing.replicas[i] = mapping->layout->layer[i].replicas;
            gather_layer(mapping, i, room, share, &gathering, seen);
        }
        for (uint32_t core = 0; core < cores; core++) { /* close the gaps */
            first[core] = next;
            for (uint32_t i = 0; i < gathering.count[core]; i++)
                share[next++] = share[(size_t)core * room + i];
        }
        first[cores] = next;
        pim_core_weigh(&costs, &weighing, share, first);
        *estimate = weighing.result;
    }
    pim_arena_terminate(&arena);
    return status;
}
