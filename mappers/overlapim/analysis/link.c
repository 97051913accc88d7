#include "mappers/overlapim/analysis/link.h"
#include "sim/names.h"

#include <inttypes.h>

unsigned pim_need_dimension(enum pim_need_axis need)
{
    static const unsigned dimension[] = {PIM_N, PIM_K, PIM_P, PIM_Q};
    return dimension[need];
}

PIM_NAMES(pim_link_role_name, PIM_LINK_ROLE_MAP)

uint32_t pim_link_pooled(const struct pim_link *link, const struct pim_workload *producer, unsigned axis)
{
    uint32_t size = producer->size[PIM_P + axis];
    if (link->pool_kernel == 0)
        return size;
    return (size + 2 * link->pool_padding - link->pool_kernel) / link->pool_stride + 1;
}

static enum pim_status check_pool(const struct pim_link *link, const struct pim_workload *producer,
                                  struct pim_error *error)
{
    if (link->pool_kernel == 0)
        return PIM_OK;
    if (link->pool_kernel > PIM_NEST_EXTENT || link->pool_stride == 0 ||
        link->pool_stride > PIM_NEST_EXTENT || link->pool_padding >= link->pool_kernel)
        return pim_fail(error, PIM_BAD_INPUT,
                        "pool [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]: kernel and stride must be 1 to %d, "
                        "the padding below the kernel",
                        link->pool_kernel, link->pool_stride, link->pool_padding, PIM_NEST_EXTENT);
    for (unsigned axis = 0; axis < 2; axis++) {
        if (producer->size[PIM_P + axis] + 2 * link->pool_padding < link->pool_kernel)
            return pim_fail(error, PIM_BAD_INPUT,
                            "pool: the kernel of %" PRIu32 " is larger than the output of the producer",
                            link->pool_kernel);
    }
    return PIM_OK;
}

/* Both operands of a matrix product come from matrices: one position. */
static enum pim_status check_operand(const struct pim_link *link, const struct pim_workload *producer,
                                     const struct pim_workload *consumer, struct pim_error *error)
{
    uint32_t columns = consumer->size[PIM_K] / consumer->groups;
    bool rows = link->role == PIM_LINK_ROWS;
    uint64_t batch = rows ? columns : consumer->size[PIM_C];
    uint64_t channels = rows ? (uint64_t)consumer->groups * consumer->size[PIM_C] : consumer->size[PIM_K];
    if (producer->size[PIM_P] != 1 || producer->size[PIM_Q] != 1 || link->flatten || link->pool_kernel)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a second operand must come from a matrix product (P = Q = 1, no pooling)");
    if (producer->size[PIM_N] != batch || producer->size[PIM_K] != channels)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a second operand of %" PRIu64 " x %" PRIu64 " is needed, the producer makes %" PRIu32
                        " x %" PRIu32,
                        batch, channels, producer->size[PIM_N], producer->size[PIM_K]);
    return PIM_OK;
}

enum pim_status pim_link_check(const struct pim_link *link, const struct pim_workload *producer,
                               const struct pim_workload *consumer, struct pim_error *error)
{
    if (link->role == PIM_LINK_WHOLE)
        return PIM_OK;
    if (link->role != PIM_LINK_INPUT)
        return check_operand(link, producer, consumer, error);
    if (check_pool(link, producer, error) != PIM_OK)
        return error->status;
    if (producer->size[PIM_N] != consumer->size[PIM_N])
        return pim_fail(error, PIM_BAD_INPUT, "N is %" PRIu32 " in the producer and %" PRIu32 " behind it",
                        producer->size[PIM_N], consumer->size[PIM_N]);
    uint64_t made = producer->size[PIM_K];
    uint64_t read = (uint64_t)consumer->groups * consumer->size[PIM_C];
    if (link->flatten) {
        uint64_t positions =
            (uint64_t)pim_link_pooled(link, producer, 0) * pim_link_pooled(link, producer, 1);
        if (positions > PIM_NEST_EXTENT || made * positions > PIM_NEST_EXTENT)
            return pim_fail(error, PIM_BAD_INPUT, "flatten: more than %d inputs", PIM_NEST_EXTENT);
        made *= positions;
    }
    bool part = !link->flatten && link->first_channel <= read && made <= read - link->first_channel;
    if (made == read ? link->first_channel != 0 : !part)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the producer makes %" PRIu64 " channels%s from channel %" PRIu32
                        ", its consumer reads %" PRIu64,
                        made, link->flatten ? " (flattened)" : "", link->first_channel, read);
    return PIM_OK;
}

bool pim_link_has(const struct pim_link *link, enum pim_need_axis need)
{
    if (need == PIM_NEED_N)
        return true;
    return (need == PIM_NEED_FLAT) == link->flatten;
}

static unsigned bit(unsigned dimension)
{
    return 1U << dimension;
}

unsigned pim_link_depends(const struct pim_link *link, const struct pim_workload *consumer,
                          enum pim_need_axis need)
{
    unsigned group = consumer->groups > 1 ? bit(PIM_K) : 0;
    if (link->role == PIM_LINK_WHOLE)
        return 0;
    if (link->role == PIM_LINK_ROWS)
        return need == PIM_NEED_N ? bit(PIM_K) : need == PIM_NEED_K ? bit(PIM_C) | group : 0;
    if (link->role == PIM_LINK_COLUMNS)
        return need == PIM_NEED_N ? bit(PIM_C) : need == PIM_NEED_K ? bit(PIM_K) : 0;
    switch (need) {
    case PIM_NEED_N:
        return bit(PIM_N);
    case PIM_NEED_K:
    case PIM_NEED_FLAT:
        return bit(PIM_C) | group;
    case PIM_NEED_P:
        return bit(PIM_P) | bit(PIM_R);
    case PIM_NEED_Q:
        return bit(PIM_Q) | bit(PIM_S);
    case PIM_NEEDS:
        break;
    }
    return 0;
}

static struct pim_interval clip(struct pim_interval range, int64_t size)
{
    return (struct pim_interval){range.first < 0 ? 0 : range.first,
                                 range.last >= size ? size - 1 : range.last};
}

/* Rows or columns before the pooling; an empty range stays as it is. */
static struct pim_interval unpool(const struct pim_link *link, const struct pim_workload *producer,
                                  unsigned axis, struct pim_interval range)
{
    range = clip(range, pim_link_pooled(link, producer, axis));
    if (link->pool_kernel == 0 || pim_range_empty(range))
        return range;
    range.first = range.first * link->pool_stride - link->pool_padding;
    range.last = range.last * link->pool_stride - link->pool_padding + link->pool_kernel - 1;
    return clip(range, producer->size[PIM_P + axis]);
}

static struct pim_interval window(const struct pim_link *link, const struct pim_workload *producer,
                                  const struct pim_workload *consumer,
                                  const struct pim_interval box[PIM_DIMENSIONS], unsigned axis)
{
    int64_t stride = consumer->stride[axis], dilation = consumer->dilation[axis];
    int64_t padding = consumer->padding[axis];
    struct pim_interval out = box[PIM_P + axis], kernel = box[PIM_R + axis];
    struct pim_interval in = {out.first * stride + kernel.first * dilation - padding,
                              out.last * stride + kernel.last * dilation - padding};
    return unpool(link, producer, axis, in);
}

/* Input channels of the groups that K reaches into, as a hull. */
static struct pim_interval channels(const struct pim_workload *consumer,
                                    const struct pim_interval box[PIM_DIMENSIONS])
{
    int64_t per_group = consumer->size[PIM_K] / consumer->groups, size = consumer->size[PIM_C];
    struct pim_interval result = box[PIM_C];
    if (consumer->groups > 1) {
        result.first += box[PIM_K].first / per_group * size;
        result.last += box[PIM_K].last / per_group * size;
    }
    return result;
}

/* Columns of the second operand within a group; all of them when K reaches over a border. */
static struct pim_interval columns(const struct pim_workload *consumer,
                                   const struct pim_interval box[PIM_DIMENSIONS])
{
    int64_t per_group = consumer->size[PIM_K] / consumer->groups;
    if (box[PIM_K].first / per_group != box[PIM_K].last / per_group)
        return (struct pim_interval){0, per_group - 1};
    return (struct pim_interval){box[PIM_K].first % per_group, box[PIM_K].last % per_group};
}

static struct pim_interval shifted(struct pim_interval range, const struct pim_link *link, int64_t size)
{
    range.first -= link->first_channel;
    range.last -= link->first_channel;
    return clip(range, size);
}

struct pim_interval pim_link_range(const struct pim_link *link, const struct pim_workload *producer,
                                   const struct pim_workload *consumer,
                                   const struct pim_interval box[PIM_DIMENSIONS], enum pim_need_axis need)
{
    if (need == PIM_NEED_FLAT)
        return channels(consumer, box);
    struct pim_interval whole = {0, (int64_t)producer->size[pim_need_dimension(need)] - 1};
    if (pim_link_depends(link, consumer, need) == 0)
        return whole;
    if (need == PIM_NEED_N)
        return link->role == PIM_LINK_INPUT  ? box[PIM_N]
               : link->role == PIM_LINK_ROWS ? columns(consumer, box)
                                             : box[PIM_C];
    if (need == PIM_NEED_K)
        return link->role == PIM_LINK_COLUMNS ? box[PIM_K]
                                              : shifted(channels(consumer, box), link, whole.last + 1);
    return window(link, producer, consumer, box, need == PIM_NEED_Q);
}

static void points_of_window(const struct pim_link *link, const struct pim_workload *producer,
                             const struct pim_workload *consumer,
                             const struct pim_interval box[PIM_DIMENSIONS], unsigned axis,
                             void (*visit)(void *context, struct pim_interval range), void *context)
{
    struct pim_interval point[PIM_DIMENSIONS], out = box[PIM_P + axis], kernel = box[PIM_R + axis];
    for (int64_t p = out.first; p <= out.last; p++) {
        for (int64_t r = kernel.first; r <= kernel.last; r++) {
            point[PIM_P + axis] = (struct pim_interval){p, p};
            point[PIM_R + axis] = (struct pim_interval){r, r};
            struct pim_interval range = window(link, producer, consumer, point, axis);
            if (!pim_range_empty(range))
                visit(context, range);
        }
    }
}

void pim_link_points(const struct pim_link *link, const struct pim_workload *producer,
                     const struct pim_workload *consumer, const struct pim_interval box[PIM_DIMENSIONS],
                     enum pim_need_axis need, void (*visit)(void *context, struct pim_interval range),
                     void *context)
{
    bool windows = link->role == PIM_LINK_INPUT;
    if (windows && (need == PIM_NEED_P || need == PIM_NEED_Q)) {
        points_of_window(link, producer, consumer, box, need == PIM_NEED_Q, visit, context);
        return;
    }
    if (windows && consumer->groups > 1 && (need == PIM_NEED_K || need == PIM_NEED_FLAT)) {
        int64_t per_group = consumer->size[PIM_K] / consumer->groups;
        for (int64_t g = box[PIM_K].first / per_group; g <= box[PIM_K].last / per_group; g++) {
            struct pim_interval one[PIM_DIMENSIONS];
            one[PIM_C] = box[PIM_C];
            one[PIM_K] = (struct pim_interval){g * per_group, g * per_group};
            struct pim_interval range = pim_link_range(link, producer, consumer, one, need);
            if (!pim_range_empty(range))
                visit(context, range);
        }
        return;
    }
    struct pim_interval range = pim_link_range(link, producer, consumer, box, need);
    if (!pim_range_empty(range))
        visit(context, range);
}
