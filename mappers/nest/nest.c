#include "mappers/nest/nest.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[PIM_DIMENSIONS] = {"N", "K", "C", "P", "Q", "R", "S"};

const char *pim_dimension_name(unsigned dimension)
{
    return dimension < PIM_DIMENSIONS ? names[dimension] : NULL;
}

unsigned pim_dimension_find(const char *name)
{
    unsigned d = 0;
    while (d < PIM_DIMENSIONS && strcmp(names[d], name) != 0)
        d++;
    return d;
}

void pim_workload_initialize(struct pim_workload *workload)
{
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        workload->size[d] = 1;
    for (unsigned axis = 0; axis < 2; axis++) {
        workload->stride[axis] = workload->dilation[axis] = 1;
        workload->padding[axis] = 0;
    }
    workload->groups = 1;
}

static enum pim_status check_field(const char *name, uint64_t value, uint32_t least, struct pim_error *error)
{
    if (value >= least && value <= PIM_NEST_EXTENT)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ": allowed are %" PRIu32 " to %d", name, value,
                    least, PIM_NEST_EXTENT);
}

enum pim_status pim_workload_check(const struct pim_workload *workload, struct pim_error *error)
{
    uint64_t products = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (check_field(names[d], workload->size[d], 1, error) != PIM_OK)
            return error->status;
        if (products > UINT64_MAX / 4 / workload->size[d])
            return pim_fail(error, PIM_BAD_INPUT, "the layer has more than 2^62 multiplications");
        products *= workload->size[d];
    }
    for (unsigned axis = 0; axis < 2; axis++) {
        if (check_field("stride", workload->stride[axis], 1, error) != PIM_OK ||
            check_field("padding", workload->padding[axis], 0, error) != PIM_OK ||
            check_field("dilation", workload->dilation[axis], 1, error) != PIM_OK)
            return error->status;
    }
    if (workload->groups == 0 || workload->size[PIM_K] % workload->groups != 0)
        return pim_fail(error, PIM_BAD_INPUT, "groups is %" PRIu32 ": it must divide K, which is %" PRIu32,
                        workload->groups, workload->size[PIM_K]);
    return check_field("input channels", (uint64_t)workload->groups * workload->size[PIM_C], 1, error);
}

uint64_t pim_workload_products(const struct pim_workload *workload)
{
    uint64_t products = 1;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        products *= workload->size[d];
    return products;
}

static bool reduced(unsigned dimension)
{
    return dimension == PIM_C || dimension == PIM_R || dimension == PIM_S;
}

/* The largest weighted sum of digits of an element of [0, size): steps until a dimension is through. */
static uint64_t reduction_steps(const struct pim_nest *nest, const struct pim_strides *strides,
                                unsigned dimension, uint32_t size)
{
    uint64_t most = 0, before = 0, rest = size - 1;
    for (uint32_t i = 0; i < nest->loops; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (loop->dimension != dimension)
            continue;
        uint64_t digit = rest / strides->tile[i];
        rest %= strides->tile[i];
        if (digit > 0) { /* one less here, and everything behind runs through */
            uint64_t sum = before + (digit - 1) * strides->time[i];
            for (uint32_t j = i + 1; j < nest->loops; j++) {
                if (nest->loop[j].dimension == dimension)
                    sum += (nest->loop[j].count - 1) * strides->time[j];
            }
            most = sum > most ? sum : most;
        }
        before += digit * strides->time[i];
    }
    return before > most ? before : most;
}

static enum pim_status derive_tiles(const struct pim_workload *workload, const struct pim_nest *nest,
                                    struct pim_strides *strides, struct pim_error *error)
{
    uint64_t covered[PIM_DIMENSIONS];
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        covered[d] = strides->extent[d] = 1;
    for (uint32_t i = nest->loops; i-- > 0;) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        unsigned d = loop->dimension;
        if (d >= PIM_DIMENSIONS || loop->count == 0 || loop->count > PIM_NEST_EXTENT)
            return pim_fail(error, PIM_BAD_INPUT,
                            "loop %" PRIu32 " of the nest: dimension or count (%" PRIu32 ") out of range", i,
                            loop->count);
        if ((loop->count - 1) * covered[d] >= workload->size[d])
            return pim_fail(error, PIM_BAD_INPUT,
                            "loop %" PRIu32 " of the nest, %s %" PRIu32 " over tiles of %" PRIu64
                            ": its last iterations do not exist, %s has %" PRIu32,
                            i, names[d], loop->count, covered[d], names[d], workload->size[d]);
        strides->tile[i] = covered[d];
        covered[d] *= loop->count; /* below size + tile, so below 2^25 */
        if (i >= nest->cut)
            strides->extent[d] = covered[d] < workload->size[d] ? (uint32_t)covered[d] : workload->size[d];
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (covered[d] < workload->size[d])
            return pim_fail(error, PIM_BAD_INPUT,
                            "the nest does not cover its layer: its loops over %s make %" PRIu64
                            " of %" PRIu32,
                            names[d], covered[d], workload->size[d]);
    }
    return PIM_OK;
}

enum pim_status pim_nest_derive(const struct pim_workload *workload, const struct pim_nest *nest,
                                struct pim_strides *strides, struct pim_error *error)
{
    memset(strides, 0, sizeof *strides);
    if (nest->loops > PIM_NEST_LOOPS || nest->cut > nest->loops)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a nest of %" PRIu32 " loops cut behind loop %" PRIu32 ": at most %d loops, the cut "
                        "among them",
                        nest->loops, nest->cut, PIM_NEST_LOOPS);
    if (derive_tiles(workload, nest, strides, error) != PIM_OK)
        return error->status;
    strides->steps = strides->banks = 1;
    for (uint32_t i = nest->cut; i-- > 0;) {
        uint64_t *total = nest->loop[i].spatial ? &strides->banks : &strides->steps;
        *(nest->loop[i].spatial ? &strides->space[i] : &strides->time[i]) = *total;
        *total *= nest->loop[i].count;
        if (strides->steps > PIM_NEST_STEPS / strides->banks)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the nest has more than 2^40 data spaces (steps x banks) before the cut");
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (reduced(d))
            strides->tail += reduction_steps(nest, strides, d, workload->size[d]);
    }
    return PIM_OK;
}

bool pim_nest_data_space(const struct pim_workload *workload, const struct pim_nest *nest,
                         const struct pim_strides *strides, uint64_t bank, uint64_t step,
                         struct pim_interval box[PIM_DIMENSIONS])
{
    bool exists = true;
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        box[d].first = 0;
    for (uint32_t i = 0; i < nest->cut; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        uint64_t index =
            loop->spatial ? bank / strides->space[i] % loop->count : step / strides->time[i] % loop->count;
        box[loop->dimension].first += (int64_t)(index * strides->tile[i]);
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        int64_t last = workload->size[d] - 1;
        box[d].last = box[d].first + strides->extent[d] - 1;
        if (box[d].last > last)
            box[d].last = last;
        exists = exists && !pim_range_empty(box[d]);
    }
    return exists;
}

static uint64_t saturating(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

struct pim_footprint pim_nest_footprint(const struct pim_workload *workload,
                                        const uint32_t extent[PIM_DIMENSIONS])
{
    uint64_t window[2];
    for (unsigned axis = 0; axis < 2; axis++)
        window[axis] = (uint64_t)(extent[PIM_P + axis] - 1) * workload->stride[axis] +
                       (uint64_t)(extent[PIM_R + axis] - 1) * workload->dilation[axis] + 1;
    /* a tile of K touches the input channels of the groups it reaches into, at least one */
    uint64_t per_group = workload->size[PIM_K] / workload->groups;
    uint64_t groups = workload->groups == 1 ? 1 : (extent[PIM_K] + per_group - 1) / per_group;
    struct pim_footprint result = {
        .weights = (uint64_t)extent[PIM_K] * extent[PIM_C] * extent[PIM_R] * extent[PIM_S],
        .inputs =
            saturating(saturating(extent[PIM_N] * groups, extent[PIM_C]), saturating(window[0], window[1])),
        .outputs = (uint64_t)extent[PIM_N] * extent[PIM_K] * extent[PIM_P] * extent[PIM_Q]};
    return result;
}
