#include "mappers/nicepim/space/layout.h"

struct counter {
    uint64_t data_bits, port_bits, page_bits;
    uint64_t next_word, next_page; /* the first that is not counted yet; intervals come in ascending order */
    bool started;
    struct pim_bursts bursts;
};

/* Counts the words of the elements [from, to). */
static void count(struct counter *counter, uint64_t from, uint64_t to)
{
    if (from == to)
        return;
    uint64_t first = from * counter->data_bits / counter->port_bits;
    uint64_t last = (to * counter->data_bits - 1) / counter->port_bits;
    uint64_t first_page = from * counter->data_bits / counter->page_bits;
    uint64_t last_page = (to * counter->data_bits - 1) / counter->page_bits;
    if (!counter->started || first > counter->next_word)
        counter->bursts.runs++;
    if (!counter->started || first >= counter->next_word)
        counter->bursts.accesses += last - first + 1;
    else if (last >= counter->next_word)
        counter->bursts.accesses += last - counter->next_word + 1;
    if (!counter->started || first_page >= counter->next_page)
        counter->bursts.pages += last_page - first_page + 1;
    else if (last_page >= counter->next_page)
        counter->bursts.pages += last_page - counter->next_page + 1;
    counter->started = true;
    counter->next_word = last + 1 > counter->next_word ? last + 1 : counter->next_word;
    counter->next_page = last_page + 1 > counter->next_page ? last_page + 1 : counter->next_page;
}

/* Columns of one row of `stride` elements each, of which [low, high) are read: one interval if all are. */
static void count_columns(struct counter *counter, uint64_t row, struct pim_span columns, uint64_t stride,
                          uint64_t low, uint64_t high)
{
    if (low == 0 && high == stride) {
        count(counter, row + columns.from * stride, row + columns.to * stride);
        return;
    }
    for (uint64_t w = columns.from; w < columns.to; w++)
        count(counter, row + w * stride + low, row + w * stride + high);
}

struct pim_bursts pim_map_layout_bursts(const struct pim_map_shape *shape,
                                        const struct pim_map_layout *layout, const struct pim_span window[4],
                                        uint32_t data_bits, uint32_t port_bits, uint64_t page_bits)
{
    struct counter counter = {.data_bits = data_bits, .port_bits = port_bits, .page_bits = page_bits};
    uint64_t g = layout->group, groups = (shape->channels + g - 1) / g;
    bool by_rows = layout->order == PIM_LAYOUT_BHWC;
    uint64_t stride = by_rows ? groups * g : g; /* elements of a column */
    for (uint64_t b = window[0].from; b < window[0].to; b++) {
        uint64_t first = by_rows ? 0 : window[1].from / g;
        uint64_t last = by_rows || window[1].from == window[1].to ? first : (window[1].to - 1) / g;
        for (uint64_t group = first; group <= last && window[1].from < window[1].to; group++) {
            uint64_t base = by_rows ? 0 : group * g;
            uint64_t low = window[1].from > base ? window[1].from - base : 0;
            uint64_t high = window[1].to - base < stride ? window[1].to - base : stride;
            for (uint64_t h = window[2].from; h < window[2].to; h++) {
                uint64_t planes = by_rows ? b : b * groups + group;
                uint64_t row = (planes * shape->height + h) * shape->width * stride;
                count_columns(&counter, row, window[3], stride, low, high);
            }
        }
    }
    return counter.bursts;
}

uint64_t pim_map_layout_bytes(const struct pim_map_shape *shape, const struct pim_map_layout *layout,
                              uint32_t data_bits)
{
    uint64_t g = layout->group, channels = (shape->channels + g - 1) / g * g;
    return (channels * shape->batches * shape->height * shape->width * data_bits + 7) / 8;
}
