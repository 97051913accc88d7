#include "mappers/nicepim/space/partition.h"

#include <string.h>

struct pim_span pim_span_of(uint32_t length, uint32_t parts, uint32_t index)
{
    uint32_t size = length / parts, longer = length % parts;
    uint32_t from = index * size + (index < longer ? index : longer);
    return (struct pim_span){from, from + size + (index < longer ? 1 : 0)};
}

/* Digits of a place in the mixed radix of the parts, the first loop of the order most significant. */
static void digits(const struct pim_cut *cut, const uint32_t *radix, uint32_t place,
                   uint32_t digit[PIM_LOOPS])
{
    for (size_t i = PIM_LOOPS; i-- > 0;) {
        uint8_t loop = cut->order[i];
        digit[loop] = place % radix[loop];
        place /= radix[loop];
    }
}

void pim_cut_place(const struct pim_cut *cut, uint32_t row, uint32_t column, uint32_t part[PIM_LOOPS])
{
    uint32_t high[PIM_LOOPS], wide[PIM_LOOPS];
    digits(cut, cut->high, row, high);
    digits(cut, cut->wide, column, wide);
    for (size_t loop = 0; loop < PIM_LOOPS; loop++)
        part[loop] = high[loop] * cut->wide[loop] + wide[loop];
}

/* Rows (or columns) of the input that outputs [span) read, clipped to it. */
static struct pim_span window(struct pim_span span, uint32_t stride, uint32_t kernel, uint32_t pad,
                              uint32_t size)
{
    if (span.from == span.to)
        return (struct pim_span){0, 0};
    int64_t from = (int64_t)span.from * stride - pad;
    int64_t to = ((int64_t)span.to - 1) * stride + kernel - pad;
    from = from < 0 ? 0 : from > size ? size : from;
    to = to < from ? from : to > size ? size : to;
    return (struct pim_span){(uint32_t)from, (uint32_t)to};
}

/* Each loop counts `unit` of it for a part more; the last loop of the order varies fastest. */
static void number_side(const struct pim_cut *cut, const uint32_t *parts, const uint32_t unit[PIM_LOOPS],
                        uint32_t *number)
{
    uint32_t count = 1;
    number[0] = 0;
    for (size_t i = PIM_LOOPS; i-- > 0;) {
        const uint32_t loop = cut->order[i], of_one = count;
        for (uint32_t part = 1; part < parts[loop]; part++, count += of_one) {
            for (uint32_t k = 0; k < of_one; k++)
                number[count + k] = number[k] + part * unit[loop];
        }
    }
}

void pim_cut_number(const struct pim_cut *cut, struct pim_cut_numbers *numbers)
{
    uint32_t high[PIM_LOOPS], wide[PIM_LOOPS], unit = 1;
    for (size_t loop = PIM_LOOPS; loop-- > 0;) {
        wide[loop] = unit;
        high[loop] = unit * cut->wide[loop];
        unit *= cut->high[loop] * cut->wide[loop];
    }
    number_side(cut, cut->high, high, numbers->row);
    number_side(cut, cut->wide, wide, numbers->column);
}

void pim_cut_part(const struct pim_conv *layer, const struct pim_cut *cut, uint32_t row, uint32_t column,
                  struct pim_part *part)
{
    bool empty = false;
    pim_cut_place(cut, row, column, part->index);
    for (size_t loop = 0; loop < PIM_LOOPS; loop++) {
        part->loop[loop] =
            pim_span_of(layer->length[loop], cut->high[loop] * cut->wide[loop], part->index[loop]);
        empty = empty || part->loop[loop].from == part->loop[loop].to;
    }
    part->box[0] = part->loop[PIM_LOOP_B];
    part->box[1] = part->loop[PIM_LOOP_C];
    part->box[2] = window(part->loop[PIM_LOOP_P], layer->stride_height, layer->kernel_height, layer->pad_top,
                          layer->height);
    part->box[3] = window(part->loop[PIM_LOOP_Q], layer->stride_width, layer->kernel_width, layer->pad_left,
                          layer->width);
    if (empty)
        memset(part->box, 0, sizeof part->box);
}

static uint64_t length(struct pim_span span)
{
    return span.to - span.from;
}

uint64_t pim_part_inputs(const struct pim_part *part)
{
    return length(part->box[0]) * length(part->box[1]) * length(part->box[2]) * length(part->box[3]);
}

uint64_t pim_part_macs(const struct pim_conv *layer, const struct pim_part *part)
{
    uint64_t macs = (uint64_t)layer->kernel_height * layer->kernel_width;
    for (size_t loop = 0; loop < PIM_LOOPS; loop++)
        macs *= length(part->loop[loop]);
    return macs;
}

uint64_t pim_part_weights(const struct pim_conv *layer, const struct pim_part *part)
{
    return pim_part_macs(layer, part) == 0 ? 0
                                           : length(part->loop[PIM_LOOP_K]) * length(part->loop[PIM_LOOP_C]) *
                                                 layer->kernel_height * layer->kernel_width;
}

uint64_t pim_part_outputs(const struct pim_part *part)
{
    return length(part->loop[PIM_LOOP_C]) == 0
               ? 0
               : length(part->loop[PIM_LOOP_B]) * length(part->loop[PIM_LOOP_P]) *
                     length(part->loop[PIM_LOOP_Q]) * length(part->loop[PIM_LOOP_K]);
}

/* --- sharing --- */

static bool same_span(struct pim_span a, struct pim_span b)
{
    return a.from == b.from && a.to == b.to;
}

static bool same(const struct pim_part *a, const struct pim_part *b, enum pim_shared shared)
{
    if (shared == PIM_SHARED_INPUTS)
        return same_span(a->box[0], b->box[0]) && same_span(a->box[1], b->box[1]) &&
               same_span(a->box[2], b->box[2]) && same_span(a->box[3], b->box[3]);
    if (shared == PIM_SHARED_WEIGHTS)
        return a->index[PIM_LOOP_K] == b->index[PIM_LOOP_K] && a->index[PIM_LOOP_C] == b->index[PIM_LOOP_C];
    return a->index[PIM_LOOP_B] == b->index[PIM_LOOP_B] && a->index[PIM_LOOP_P] == b->index[PIM_LOOP_P] &&
           a->index[PIM_LOOP_Q] == b->index[PIM_LOOP_Q] && a->index[PIM_LOOP_K] == b->index[PIM_LOOP_K];
}

/* A node works when all of its loops have a length. */
static bool works(const struct pim_part *part)
{
    for (size_t loop = 0; loop < PIM_LOOPS; loop++) {
        if (length(part->loop[loop]) == 0)
            return false;
    }
    return true;
}

uint32_t pim_cut_groups(const struct pim_part *parts, uint32_t nodes, enum pim_shared shared, uint32_t *set)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        set[i] = UINT32_MAX;
        if (!works(&parts[i]) || (shared == PIM_SHARED_INPUTS && pim_part_inputs(&parts[i]) == 0))
            continue;
        for (uint32_t j = 0; j < i && set[i] == UINT32_MAX; j++) {
            if (set[j] != UINT32_MAX && same(&parts[i], &parts[j], shared))
                set[i] = set[j];
        }
        if (set[i] == UINT32_MAX)
            set[i] = groups++;
    }
    return groups;
}

/* --- all cuts --- */

struct walk {
    const uint32_t *limit;
    pim_cut_visit *visit;
    void *context;
    struct pim_cut cut;
    uint32_t bound[PIM_LOOPS]; /* bound_to() of each loop */
};

/* The loops, a bit for each, that are cut along a side along which this one is cut. */
static uint32_t bound_to(const struct pim_cut *cut, size_t loop)
{
    uint32_t bound = 0;
    for (size_t other = 0; other < PIM_LOOPS; other++) {
        if ((cut->high[loop] > 1 && cut->high[other] > 1) || (cut->wide[loop] > 1 && cut->wide[other] > 1))
            bound |= 1u << other;
    }
    return bound;
}

/*
 * Places the loops of `left`, a bit for each, from place `at` of the order on. Only the order of loops that
 * are cut along the same side matters; others may change places. An order is the first of those that mean the
 * same when no loop could move forward, past loops that do not bind it, over a higher one: `behind` are the
 * loops that could, if they came now.
 */
static bool walk_orders(struct walk *walk, size_t at, uint32_t left, uint32_t behind)
{
    if (at == PIM_LOOPS)
        return walk->visit(walk->context, &walk->cut);
    for (size_t loop = 0; loop < PIM_LOOPS; loop++) {
        if (!((left & ~behind) >> loop & 1))
            continue;
        const uint32_t lower = (1u << loop) - 1;
        walk->cut.order[at] = (uint8_t)loop;
        if (!walk_orders(walk, at + 1, left & ~(1u << loop), (behind | lower) & ~walk->bound[loop]))
            return false;
    }
    return true;
}

static bool walk_all_orders(struct walk *walk)
{
    for (size_t loop = 0; loop < PIM_LOOPS; loop++)
        walk->bound[loop] = bound_to(&walk->cut, loop);
    return walk_orders(walk, 0, (1u << PIM_LOOPS) - 1, 0);
}

static bool walk_wide(struct walk *walk, size_t loop, uint32_t rest)
{
    if (loop == PIM_LOOPS)
        return rest != 1 || walk_all_orders(walk);
    for (uint32_t parts = 1; parts <= rest; parts++) {
        walk->cut.wide[loop] = parts;
        if (rest % parts == 0 && (uint64_t)walk->cut.high[loop] * parts <= walk->limit[loop] &&
            !walk_wide(walk, loop + 1, rest / parts))
            return false;
    }
    return true;
}

static bool walk_high(struct walk *walk, size_t loop, uint32_t rest, uint32_t width)
{
    if (loop == PIM_LOOPS)
        return rest != 1 || walk_wide(walk, 0, width);
    for (uint32_t parts = 1; parts <= rest; parts++) {
        walk->cut.high[loop] = parts;
        if (rest % parts == 0 && parts <= walk->limit[loop] &&
            !walk_high(walk, loop + 1, rest / parts, width))
            return false;
    }
    return true;
}

void pim_cuts_walk(uint32_t height, uint32_t width, const uint32_t limit[PIM_LOOPS], pim_cut_visit *visit,
                   void *context)
{
    struct walk walk = {.limit = limit, .visit = visit, .context = context};
    (void)walk_high(&walk, 0, height, width);
}
