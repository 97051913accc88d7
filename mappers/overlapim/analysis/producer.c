#include "mappers/overlapim/analysis/producer.h"

void pim_axis_initialize(struct pim_axis *axis, const struct pim_nest *nest,
                         const struct pim_strides *strides, unsigned dimension)
{
    axis->digits = 0;
    for (uint32_t i = 0; i < nest->cut; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        if (loop->dimension != dimension)
            continue;
        uint32_t digit = axis->digits++;
        axis->count[digit] = loop->count;
        axis->tile[digit] = strides->tile[i];
        axis->weight[digit] = strides->time[i];
    }
    uint64_t behind = 0;
    for (uint32_t digit = axis->digits; digit-- > 0;) {
        axis->behind[digit] = behind;
        behind += (axis->count[digit] - 1) * axis->weight[digit];
    }
}

uint64_t pim_axis_step(const struct pim_axis *axis, int64_t element)
{
    uint64_t step = 0, rest = (uint64_t)element;
    for (uint32_t digit = 0; digit < axis->digits; digit++) {
        step += rest / axis->tile[digit] * axis->weight[digit];
        rest %= axis->tile[digit];
    }
    return step;
}

uint64_t pim_axis_last(const struct pim_axis *axis, struct pim_interval range)
{
    uint64_t most = 0, before = 0; /* steps of the digits of the last element so far */
    uint64_t low = (uint64_t)range.first, high = (uint64_t)range.last;
    bool apart = false; /* the first element is smaller in a digit before */
    for (uint32_t digit = 0; digit < axis->digits; digit++) {
        uint64_t low_digit = low / axis->tile[digit], high_digit = high / axis->tile[digit];
        low %= axis->tile[digit];
        high %= axis->tile[digit];
        /* one iteration less here, and the digits behind run through: inside when not below the first */
        if (high_digit > 0 && (apart || high_digit > low_digit)) {
            uint64_t step = before + (high_digit - 1) * axis->weight[digit] + axis->behind[digit];
            most = step > most ? step : most;
        }
        before += high_digit * axis->weight[digit];
        apart = apart || high_digit > low_digit;
    }
    return before > most ? before : most;
}

void pim_producer_initialize(struct pim_producer *producer, const struct pim_workload *workload,
                             const struct pim_nest *nest, const struct pim_strides *strides)
{
    producer->workload = workload;
    producer->nest = nest;
    producer->strides = strides;
    for (unsigned need = 0; need < 4; need++)
        pim_axis_initialize(&producer->axis[need], nest, strides,
                            pim_need_dimension((enum pim_need_axis)need));
}

/* Rows or columns before the pooling that an interval behind it reads; empty when all are padding. */
static struct pim_interval pooled(const struct pim_producer *producer, const struct pim_link *link,
                                  unsigned axis, int64_t first, int64_t last)
{
    int64_t size = producer->workload->size[PIM_P + axis];
    if (link->pool_kernel > 0) {
        first = first * link->pool_stride - link->pool_padding;
        last = last * link->pool_stride - link->pool_padding + link->pool_kernel - 1;
    }
    return (struct pim_interval){first < 0 ? 0 : first, last >= size ? size - 1 : last};
}

struct unflattening {
    const struct pim_producer *producer;
    const struct pim_link *link;
    struct pim_flat_box *boxes;
    unsigned count;
    int64_t rows, columns; /* behind the pooling */
};

static void add_box(struct unflattening *u, struct pim_interval channel, struct pim_interval row,
                    struct pim_interval column)
{
    if (pim_range_empty(channel) || pim_range_empty(row) || pim_range_empty(column))
        return;
    struct pim_flat_box box = {channel, pooled(u->producer, u->link, 0, row.first, row.last),
                               pooled(u->producer, u->link, 1, column.first, column.last)};
    if (!pim_range_empty(box.row) && !pim_range_empty(box.column))
        u->boxes[u->count++] = box;
}

/* Positions first to last of one map: a part of a row, whole rows, a part of a row. */
static void add_positions(struct unflattening *u, int64_t channel, int64_t first, int64_t last)
{
    struct pim_interval one = {channel, channel};
    int64_t top = first / u->columns, bottom = last / u->columns;
    int64_t left = first % u->columns, right = last % u->columns;
    if (top == bottom) {
        add_box(u, one, (struct pim_interval){top, top}, (struct pim_interval){left, right});
        return;
    }
    struct pim_interval whole = {0, u->columns - 1};
    if (left > 0)
        add_box(u, one, (struct pim_interval){top, top}, (struct pim_interval){left, u->columns - 1});
    add_box(u, one, (struct pim_interval){left > 0 ? top + 1 : top, right < whole.last ? bottom - 1 : bottom},
            whole);
    if (right < whole.last)
        add_box(u, one, (struct pim_interval){bottom, bottom}, (struct pim_interval){0, right});
}

unsigned pim_producer_unflatten(const struct pim_producer *producer, const struct pim_link *link,
                                struct pim_interval flat, struct pim_flat_box boxes[PIM_FLAT_BOXES])
{
    struct unflattening u = {.producer = producer,
                             .link = link,
                             .boxes = boxes,
                             .rows = pim_link_pooled(link, producer->workload, 0),
                             .columns = pim_link_pooled(link, producer->workload, 1)};
    int64_t map = u.rows * u.columns;
    int64_t head = flat.first / map, tail = flat.last / map;
    if (head == tail) {
        add_positions(&u, head, flat.first % map, flat.last % map);
        return u.count;
    }
    /* the ends of an interval over several channels: from somewhere to the end of the map, whole channels,
     * from the start to somewhere; a part of two rows is at most two boxes there */
    struct pim_interval rows = {0, u.rows - 1}, columns = {0, u.columns - 1};
    bool whole_head = flat.first % map == 0, whole_tail = flat.last % map == map - 1;
    if (!whole_head)
        add_positions(&u, head, flat.first % map, map - 1);
    add_box(&u, (struct pim_interval){whole_head ? head : head + 1, whole_tail ? tail : tail - 1}, rows,
            columns);
    if (!whole_tail)
        add_positions(&u, tail, 0, flat.last % map);
    return u.count;
}

uint64_t pim_producer_last(const struct pim_producer *producer, const struct pim_link *link,
                           enum pim_need_axis need, struct pim_interval range)
{
    if (need != PIM_NEED_FLAT)
        return pim_axis_last(&producer->axis[need], range);
    struct pim_flat_box boxes[PIM_FLAT_BOXES];
    unsigned count = pim_producer_unflatten(producer, link, range, boxes);
    uint64_t most = 0;
    for (unsigned b = 0; b < count; b++) {
        uint64_t step = pim_axis_last(&producer->axis[PIM_NEED_K], boxes[b].channel) +
                        pim_axis_last(&producer->axis[PIM_NEED_P], boxes[b].row) +
                        pim_axis_last(&producer->axis[PIM_NEED_Q], boxes[b].column);
        most = step > most ? step : most;
    }
    return most;
}
