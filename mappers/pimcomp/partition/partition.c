/*
 * Layer partitioning (paper, section V): weight matrices to array groups.
 *
 * The canonical weight matrix has rows (row of the kernel, column of the kernel, channel). An unfolding
 * (H, W, P) of Table IV cuts these rows into P matrices of H rows, none of which shares a row block with
 * another, and puts `folds` of them side by side:
 *
 *     (I K^2, O, 1)  one matrix of all rows                 (I, O K^2, 1)  K^2 folds of I rows
 *     (I K, O, K)    a matrix for each row of the kernel    (I K, O K, 1)  K folds of I K rows
 *     (I, O, K^2)    a matrix for each kernel position
 *
 * Blocks on the diagonal: the groups of a convolution are blocks of I K^2 / G rows and O / G columns. As many
 * of them as have room in the rows of an array make a bundle, which is a matrix for itself.
 *
 * A matrix is cut into row blocks of array_rows; each is a group of ceil(folds * O / array_columns) arrays. A
 * group that would be wider than a core is cut into parts of equal columns as far as that goes.
 */
#include "mappers/pimcomp/partition/partition.h"
#include "sim/integer.h"
#include "sim/names.h"
#include "sim/try.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { CORES_MOST = 256 * 256 }; /* array.width times array.height, at most */

PIM_NAMES(pim_unfolding_name, PIM_UNFOLDING_MAP)

/* How an unfolding cuts the rows of a layer. */
struct shape {
    uint32_t matrices, rows; /* P and H */
    uint32_t folds;          /* W / O */
    uint32_t blocks;         /* row blocks of a matrix */
    uint32_t columns;        /* of a matrix without its folds */
    uint32_t parts;          /* column parts of a block; 0: a column with its folds is wider than a core */
    uint32_t part_columns;   /* of all parts but perhaps the last */
    uint32_t bundled;        /* blocks on the diagonal: those of a bundle, but perhaps the last; else 0 */
    uint64_t groups, arrays;
};

/* Arrays that a group of `columns` columns and `folds` folds occupies. */
static uint64_t group_arrays(const struct pim_core_architecture *a, uint64_t columns, uint64_t folds)
{
    uint64_t step = a->arrays_per_group_step;
    return pim_divide_up(pim_divide_up(columns * folds, a->array_columns), step) * step;
}

/* Columns of a core: of whole management steps. */
static uint64_t core_columns(const struct pim_core_architecture *a)
{
    return (uint64_t)a->arrays / a->arrays_per_group_step * a->arrays_per_group_step * a->array_columns;
}

/* Row blocks and column parts of one matrix. */
static void cut_matrix(const struct pim_core_architecture *a, struct shape *s)
{
    uint64_t most = core_columns(a) / s->folds;
    s->blocks = (uint32_t)pim_divide_up(s->rows, a->array_rows);
    if (most == 0)
        return;
    s->parts = (uint32_t)pim_divide_up(s->columns, most);
    s->part_columns = (uint32_t)pim_divide_up(s->columns, s->parts);
    if (s->parts > 1 && s->folds == 1) { /* whole arrays in all parts but the last */
        uint64_t whole = pim_divide_up(s->part_columns, a->array_columns) * a->array_columns;
        s->part_columns = whole <= most ? (uint32_t)whole : s->part_columns;
        s->parts = (uint32_t)pim_divide_up(s->columns, s->part_columns);
    }
}

/* As many blocks as there is room for in the rows of an array and the columns of a core, the same number in
 * all bundles as far as that goes. */
static struct shape bundle_shape(const struct pim_core_layer *layer, const struct pim_core_architecture *a)
{
    uint32_t rows = layer->rows / layer->blocks, columns = layer->channels / layer->blocks;
    uint64_t most = a->array_rows / rows, wide = core_columns(a) / columns;
    most = wide < most ? wide : most;
    most = most < 1 ? 1 : most;
    struct shape s = {.folds = 1};
    s.matrices = (uint32_t)pim_divide_up(layer->blocks, most);
    s.bundled = (uint32_t)pim_divide_up(layer->blocks, s.matrices);
    s.matrices = (uint32_t)pim_divide_up(layer->blocks, s.bundled);
    s.rows = s.bundled * rows;
    s.columns = s.bundled * columns;
    cut_matrix(a, &s);
    return s;
}

/* Blocks of bundle `m`. */
static uint32_t blocks_of(const struct pim_core_layer *layer, const struct shape *s, uint32_t m)
{
    uint32_t left = layer->blocks - m * s->bundled;
    return left < s->bundled ? left : s->bundled;
}

static void count_groups(const struct pim_core_layer *layer, const struct pim_core_architecture *a,
                         struct shape *s)
{
    uint64_t blocks = (uint64_t)s->matrices * s->blocks, full = blocks;
    uint32_t last = s->columns - (s->parts - 1) * s->part_columns;
    s->groups = blocks * s->parts;
    s->arrays = blocks * (s->parts - 1) * group_arrays(a, s->part_columns, s->folds);
    if (s->bundled > 1) { /* one row block, and one part */
        full--;
        s->arrays += group_arrays(
            a, (uint64_t)blocks_of(layer, s, s->matrices - 1) * (layer->channels / layer->blocks), 1);
    }
    s->arrays += full * group_arrays(a, last, s->folds);
}

static struct shape shape_of(const struct pim_core_layer *layer, const struct pim_core_architecture *a,
                             enum pim_unfolding unfolding)
{
    uint32_t across = layer->sliding.kernel[1], down = layer->sliding.kernel[0];
    struct shape s = {.matrices = 1, .folds = 1, .columns = layer->channels};
    switch (unfolding) {
    case PIM_UNFOLDING_I_O_KK:
        s.matrices = across * down;
        break;
    case PIM_UNFOLDING_I_OKK_1:
        s.folds = across * down;
        break;
    case PIM_UNFOLDING_IK_O_K:
        s.matrices = down;
        break;
    case PIM_UNFOLDING_IK_OK_1:
        s.folds = down;
        break;
    case PIM_UNFOLDING_BLOCKS:
        s = bundle_shape(layer, a);
        break;
    case PIM_UNFOLDING_IKK_O_1:
    case PIM_UNFOLDINGS:
        break;
    }
    if (!s.bundled) {
        s.rows = layer->rows / (s.matrices * s.folds);
        cut_matrix(a, &s);
    }
    if (s.parts > 0)
        count_groups(layer, a, &s);
    return s;
}

/*
 * Table IV for one layer. The map that a kernel passes over is counted with its padding: that keeps the
 * table's order of the computation cycles.
 */
struct price {
    uint64_t cycles; /* MVMs one after another */
    uint64_t arrays; /* of a replica: what is saved makes replicas, and so cycles */
    uint64_t cells;  /* that hold weights or zeros between groups of a convolution */
    uint64_t load, memory;
};

/* Cells of a replica: weights, and the zeros between groups that are not in blocks. */
static uint64_t cells_of(const struct pim_core_layer *layer, enum pim_unfolding unfolding)
{
    uint64_t cells = (uint64_t)layer->rows * layer->channels;
    return unfolding == PIM_UNFOLDING_BLOCKS ? cells / layer->blocks : cells;
}

static struct price price_of(const struct pim_core_layer *layer, const struct shape *s,
                             enum pim_unfolding unfolding)
{
    const struct pim_core_source *source = &layer->source[0];
    uint64_t channels = source->channels, outputs = layer->channels;
    uint64_t down = layer->sliding.kernel[0], across = layer->sliding.kernel[1];
    uint64_t in_rows = (uint64_t)source->height + layer->sliding.pad_before[0] + layer->sliding.pad_after[0];
    uint64_t in_columns =
        (uint64_t)source->width + layer->sliding.pad_before[1] + layer->sliding.pad_after[1];
    uint64_t windows = layer->windows, lines = in_rows * layer->width;
    uint64_t cycles = windows, load = lines * across * channels, memory = down * across * channels;
    switch (unfolding) {
    case PIM_UNFOLDING_I_O_KK:
        memory += down * across * outputs;
        break;
    case PIM_UNFOLDING_I_OKK_1:
        cycles = in_rows * in_columns;
        load = cycles * channels;
        memory = channels + down * across * outputs;
        break;
    case PIM_UNFOLDING_IK_O_K:
        memory += down * outputs;
        break;
    case PIM_UNFOLDING_IK_OK_1:
        cycles = lines;
        memory = across * channels + down * outputs;
        break;
    case PIM_UNFOLDING_IKK_O_1:
    case PIM_UNFOLDING_BLOCKS:
    case PIM_UNFOLDINGS:
        load = windows * down * across * channels;
        memory += outputs;
        break;
    }
    return (struct price){.cycles = cycles,
                          .arrays = s->arrays,
                          .cells = cells_of(layer, unfolding),
                          .load = load,
                          .memory = memory};
}

static bool cheaper(const struct price *a, const struct price *b, enum pim_core_mode mode)
{
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles;
    if (a->arrays != b->arrays)
        return a->arrays < b->arrays;
    if (a->cells != b->cells)
        return a->cells < b->cells;
    if (mode == PIM_CORE_HIGH_THROUGHPUT && a->load != b->load)
        return a->load < b->load;
    return a->memory < b->memory;
}

/* The greedy choice of section V-B; of equal ones blocks on the diagonal, then the usual (I K^2, O, 1). */
static enum pim_unfolding choose(const struct pim_core_layer *layer, const struct pim_core_architecture *a,
                                 enum pim_core_mode mode)
{
    enum pim_unfolding best = layer->blocks > 1 ? PIM_UNFOLDING_BLOCKS : PIM_UNFOLDING_IKK_O_1;
    struct shape shape = shape_of(layer, a, best);
    struct price least = price_of(layer, &shape, best);
    for (unsigned u = 0; u < PIM_UNFOLDINGS; u++) {
        enum pim_unfolding unfolding = (enum pim_unfolding)u;
        shape = shape_of(layer, a, unfolding);
        struct price price = price_of(layer, &shape, unfolding);
        if (shape.parts != 0 && cheaper(&price, &least, mode)) {
            best = unfolding;
            least = price;
        }
    }
    return best;
}

static void fill_groups(const struct pim_core_layer *layer, uint32_t index,
                        const struct pim_core_architecture *a, const struct shape *s,
                        struct pim_trace_array_group *group)
{
    for (uint32_t m = 0; m < s->matrices; m++) {
        uint32_t height = s->rows, width = s->columns, blocks = s->bundled ? blocks_of(layer, s, m) : 0;
        if (blocks) {
            height = blocks * (layer->rows / layer->blocks);
            width = blocks * (layer->channels / layer->blocks);
        }
        for (uint32_t b = 0; b < s->blocks; b++)
            for (uint32_t p = 0; p < s->parts; p++) {
                uint32_t row = b * a->array_rows, column = p * s->part_columns;
                uint32_t rows = height - row < a->array_rows ? height - row : a->array_rows;
                uint32_t columns = width - column < s->part_columns ? width - column : s->part_columns;
                *group++ = (struct pim_trace_array_group){
                    .layer = index,
                    .arrays = (uint32_t)group_arrays(a, columns, s->folds),
                    .row = m * s->rows + row,
                    .rows = rows,
                    .column = (blocks ? m * s->columns : 0) + column,
                    .columns = columns,
                    .folds = s->folds,
                    .fold_stride = s->folds > 1 ? s->rows : 0,
                    .blocks = blocks > 1 ? blocks : 0,
                };
            }
    }
}

static enum pim_status partition_layer(const struct pim_core_layer *layer, uint32_t index,
                                       const struct pim_core_architecture *a, enum pim_unfolding unfolding,
                                       const struct shape *shape, struct pim_arena *arena,
                                       struct pim_core_partition_layer *result, struct pim_error *error)
{
    const struct shape s = *shape;
    if (s.parts == 0)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "layer %s: with unfolding %s an output channel takes %" PRIu32 " columns of weights, more "
            "than the %" PRIu64 " of a core",
            layer->name, pim_unfolding_name(unfolding), s.folds, (uint64_t)a->arrays * a->array_columns);
    if (s.groups > PIM_TRACE_ARRAY_GROUPS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "layer %s needs %" PRIu64 " array groups: at most %d are possible", layer->name,
                        s.groups, PIM_TRACE_ARRAY_GROUPS);
    struct pim_trace_array_group *group = PIM_ARENA_ARRAY(arena, struct pim_trace_array_group, s.groups);
    PIM_NEED_MEMORY(group, error, "no memory for %" PRIu64 " array groups", s.groups);
    fill_groups(layer, index, a, &s, group);
    *result =
        (struct pim_core_partition_layer){.unfolding = unfolding,
                                          .groups = (uint32_t)s.groups,
                                          .group = group,
                                          .arrays = s.arrays > UINT32_MAX ? UINT32_MAX : (uint32_t)s.arrays};
    if (s.bundled && layer->rows > layer->source[0].channels)
        result->bundle = s.bundled * (layer->source[0].channels / layer->blocks);
    return PIM_OK;
}

struct pim_core_stretch pim_core_stretch_at(const struct pim_core_layer *layer,
                                            const struct pim_core_partition_layer *part, uint32_t row,
                                            uint32_t end)
{
    uint32_t channels = layer->source[0].channels, positions = layer->rows / channels;
    uint32_t bundle = part->bundle ? part->bundle : channels;
    uint32_t first = row / (positions * bundle) * bundle; /* channel of the bundle */
    uint32_t width = channels - first < bundle ? channels - first : bundle;
    uint32_t place = row - positions * first, channel = place % width, most = width - channel;
    return (struct pim_core_stretch){.position = place / width,
                                     .channel = first + channel,
                                     .channels = end - row < most ? end - row : most};
}

uint32_t pim_core_partition_least_cores(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        const struct pim_core_partition *partition, struct pim_arena *arena)
{
    uint64_t groups = 0;
    uint32_t cores = 0;
    for (uint32_t i = 0; i < network->count; i++)
        groups += partition->layer[i].groups;
    uint64_t *of_size = PIM_ARENA_ARRAY(arena, uint64_t, (size_t)architecture->arrays + 1);
    uint32_t *vacant = PIM_ARENA_ARRAY(arena, uint32_t, groups + 1);
    if (!of_size || !vacant)
        return 0;
    for (uint32_t i = 0; i < network->count; i++)
        for (uint32_t g = 0; g < partition->layer[i].groups; g++)
            of_size[partition->layer[i].group[g].arrays]++;
    for (uint32_t size = architecture->arrays; size > 0; size--) {
        uint32_t core = 0; /* those before it have no room for this size */
        for (uint64_t g = 0; g < of_size[size]; g++) {
            while (core < cores && vacant[core] < size)
                core++;
            if (core == cores)
                vacant[cores++] = architecture->arrays;
            vacant[core] -= size;
        }
    }
    return cores;
}

struct pim_core_remedy pim_core_partition_remedy(const struct pim_core_network *network,
                                                 const struct pim_core_architecture *architecture,
                                                 const struct pim_core_partition *partition,
                                                 struct pim_arena *arena)
{
    struct pim_core_remedy remedy = {""};
    uint32_t cores = pim_core_partition_least_cores(network, architecture, partition, arena);
    if (cores > 0 && cores <= CORES_MOST)
        (void)snprintf(remedy.text, sizeof remedy.text, "; %" PRIu32 " cores would do", cores);
    return remedy;
}

enum pim_status pim_core_partition_make(const struct pim_core_network *network,
                                        const struct pim_core_architecture *architecture,
                                        enum pim_core_mode mode, enum pim_unfolding forced,
                                        struct pim_arena *arena, struct pim_core_partition *partition,
                                        struct pim_error *error)
{
    *partition = (struct pim_core_partition){
        .layer = PIM_ARENA_ARRAY(arena, struct pim_core_partition_layer, network->count)};
    PIM_NEED_MEMORY(partition->layer, error, "no memory to partition %" PRIu32 " layers", network->count);
    for (uint32_t i = 0; i < network->count; i++) {
        const struct pim_core_layer *layer = &network->layer[i];
        if (layer->kind != PIM_CORE_MATRIX)
            continue;
        enum pim_unfolding unfolding = forced == PIM_UNFOLDINGS ? choose(layer, architecture, mode) : forced;
        if (unfolding == PIM_UNFOLDING_BLOCKS && layer->blocks <= 1)
            unfolding = PIM_UNFOLDING_IKK_O_1; /* one block: the same matrix */
        struct shape shape = shape_of(layer, architecture, unfolding);
        partition->larger = shape.parts != 0 && shape.groups > PIM_TRACE_ARRAY_GROUPS;
        PIM_TRY(
            partition_layer(layer, i, architecture, unfolding, &shape, arena, &partition->layer[i], error));
        partition->arrays += partition->layer[i].arrays;
        uint64_t cells = cells_of(layer, unfolding);
        partition->weights += cells;
        partition->macs += cells * layer->windows;
    }
    uint64_t have = (uint64_t)architecture->cores * architecture->arrays;
    partition->larger = partition->arrays > have;
    if (partition->larger)
        return pim_fail(error, PIM_BAD_INPUT,
                        "network %s does not fit: one replica of each layer takes %" PRIu64
                        " arrays of %" PRIu32 " x %" PRIu32 " weights, the %" PRIu32 " cores have %" PRIu64
                        ": %" PRIu64 " arrays are missing%s",
                        network->name, partition->arrays, architecture->array_rows,
                        architecture->array_columns, architecture->cores, have, partition->arrays - have,
                        pim_core_partition_remedy(network, architecture, partition, arena).text);
    return PIM_OK;
}
