#include "traces/layout.h"

#include <assert.h>

#define ADDRESS_MAX (UINT64_C(1) << 60)

/* Channels of a pixel (BHWC) or of the tensor (BCHW) with padding. */
static uint64_t padded_channels(const struct pim_layout *layout)
{
    uint64_t groups = ((uint64_t)layout->channels + layout->group - 1) / layout->group;
    return groups * layout->group;
}

uint64_t pim_layout_bytes(const struct pim_layout *layout)
{
    return layout->batches * padded_channels(layout) * layout->rows * layout->columns * layout->element_bytes;
}

/* *product x factor stays at most ADDRESS_MAX. */
static bool multiply(uint64_t *product, uint64_t factor)
{
    if (*product > ADDRESS_MAX / factor)
        return false;
    *product *= factor;
    return true;
}

enum pim_status pim_layout_check(const struct pim_layout *layout, struct pim_error *error)
{
    const struct {
        const char *name;
        uint32_t value, most;
    } sizes[] = {{"batches", layout->batches, PIM_LAYOUT_EXTENT_MAX},
                 {"channels", layout->channels, PIM_LAYOUT_EXTENT_MAX},
                 {"rows", layout->rows, PIM_LAYOUT_EXTENT_MAX},
                 {"columns", layout->columns, PIM_LAYOUT_EXTENT_MAX},
                 {"channels of a group", layout->group, PIM_LAYOUT_EXTENT_MAX},
                 {"bytes of an element", layout->element_bytes, PIM_LAYOUT_ELEMENT_MAX}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].value == 0 || sizes[i].value > sizes[i].most)
            return pim_fail(error, PIM_BAD_INPUT, "tensor: %u %s: allowed are 1 to %u", sizes[i].value,
                            sizes[i].name, sizes[i].most);
    uint64_t bytes = padded_channels(layout);
    if (!multiply(&bytes, layout->batches) || !multiply(&bytes, layout->rows) ||
        !multiply(&bytes, layout->columns) || !multiply(&bytes, layout->element_bytes) ||
        layout->address > ADDRESS_MAX - bytes)
        return pim_fail(error, PIM_BAD_INPUT, "tensor: it ends above 2^60 bytes");
    return PIM_OK;
}

enum pim_status pim_layout_check_window(const struct pim_layout *layout,
                                        const struct pim_layout_window *window, struct pim_error *error)
{
    const struct {
        const char *name;
        struct pim_layout_range range;
        uint32_t extent;
    } ranges[] = {{"batches", window->batches, layout->batches},
                  {"channels", window->channels, layout->channels},
                  {"rows", window->rows, layout->rows},
                  {"columns", window->columns, layout->columns}};
    for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const struct pim_layout_range *range = &ranges[i].range;
        if (range->count == 0 || range->first >= ranges[i].extent ||
            range->count > ranges[i].extent - range->first)
            return pim_fail(error, PIM_BAD_INPUT,
                            "window: %u %s from %u on: the tensor has %u, and at least one is needed",
                            range->count, ranges[i].name, range->first, ranges[i].extent);
    }
    return PIM_OK;
}

/* Distances in bytes of neighbours along each axis. */
struct strides {
    uint64_t channel, column, row, group, batch;
};

static struct strides strides_of(const struct pim_layout *layout)
{
    struct strides s = {.channel = layout->element_bytes};
    s.column = s.channel * (layout->order == PIM_LAYOUT_BHWC ? padded_channels(layout) : layout->group);
    s.row = s.column * layout->columns;
    s.group = layout->order == PIM_LAYOUT_BHWC ? s.channel * layout->group : s.row * layout->rows;
    s.batch = padded_channels(layout) * layout->rows * layout->columns * layout->element_bytes;
    return s;
}

uint64_t pim_layout_locate(const struct pim_layout *layout, uint32_t batch, uint32_t channel, uint32_t row,
                           uint32_t column)
{
    const struct strides s = strides_of(layout);
    return layout->address + batch * s.batch + channel / layout->group * s.group +
           channel % layout->group * s.channel + row * s.row + column * s.column;
}

/* One more axis outside of those so far; `stride` is not below what they span. */
static void add_dimension(struct pim_layout_cursor *cursor, uint64_t stride, uint64_t count)
{
    if (count == 1)
        return;
    if (cursor->dimensions == 0 && stride == cursor->bytes) {
        cursor->bytes *= count;
        return;
    }
    if (cursor->dimensions > 0) {
        uint64_t inner = cursor->dimension[cursor->dimensions - 1].stride;
        uint64_t inner_count = cursor->dimension[cursor->dimensions - 1].count;
        if (stride == inner * inner_count) {
            cursor->dimension[cursor->dimensions - 1].count *= count;
            return;
        }
    }
    assert(cursor->dimensions < PIM_LAYOUT_DIMENSIONS);
    cursor->dimension[cursor->dimensions].stride = stride;
    cursor->dimension[cursor->dimensions].count = count;
    cursor->dimension[cursor->dimensions].done = 0;
    cursor->dimensions++;
}

/*
 * The next box: channels whose addresses form one pattern. In BHWC all of them do. Of groups, the whole ones
 * do, and a part of a group (at either end of the window) is a box of its own. Only when the window has one
 * box for each batch are the batches part of it; else they follow one another, which keeps addresses rising.
 */
static bool next_box(struct pim_layout_cursor *cursor)
{
    const struct pim_layout *layout = cursor->layout;
    const struct pim_layout_window *window = &cursor->window;
    const struct strides s = strides_of(layout);
    if (cursor->channel == cursor->channel_end) {
        cursor->channel = window->channels.first;
        cursor->batch++;
    }
    if (cursor->batch >= cursor->batch_end)
        return false;
    const uint32_t first = cursor->channel, left = cursor->channel_end - first, group = layout->group;
    const bool grouped = layout->order == PIM_LAYOUT_BCHW;
    uint32_t in_group = left, groups = 1;
    if (grouped && first % group == 0 && left >= group) {
        in_group = group;
        groups = left / group;
    } else if (grouped && left > group - first % group) {
        in_group = group - first % group;
    }
    cursor->address =
        pim_layout_locate(layout, cursor->batch, first, window->rows.first, window->columns.first);
    cursor->bytes = (uint64_t)in_group * s.channel;
    cursor->dimensions = 0;
    add_dimension(cursor, s.column, window->columns.count);
    add_dimension(cursor, s.row, window->rows.count);
    add_dimension(cursor, s.group, groups);
    cursor->channel += in_group * groups;
    if (in_group * groups == window->channels.count) {
        add_dimension(cursor, s.batch, cursor->batch_end - cursor->batch);
        cursor->batch = cursor->batch_end;
    }
    return true;
}

void pim_layout_first(struct pim_layout_cursor *cursor, const struct pim_layout *layout,
                      const struct pim_layout_window *window)
{
    *cursor = (struct pim_layout_cursor){.layout = layout,
                                         .window = *window,
                                         .batch = window->batches.first,
                                         .batch_end = window->batches.first + window->batches.count,
                                         .channel = window->channels.first,
                                         .channel_end = window->channels.first + window->channels.count};
}

bool pim_layout_next(struct pim_layout_cursor *cursor, struct pim_layout_burst *burst)
{
    if (cursor->bytes == 0 && !next_box(cursor))
        return false;
    *burst = (struct pim_layout_burst){cursor->address, cursor->bytes, 0, 1};
    if (cursor->dimensions > 0) {
        burst->stride = cursor->dimension[0].stride;
        burst->count = cursor->dimension[0].count;
    }
    /* An odometer over the axes outside of the burst. */
    unsigned i = 1;
    for (; i < cursor->dimensions; i++) {
        cursor->address += cursor->dimension[i].stride;
        if (++cursor->dimension[i].done < cursor->dimension[i].count)
            return true;
        cursor->address -= cursor->dimension[i].stride * cursor->dimension[i].count;
        cursor->dimension[i].done = 0;
    }
    cursor->bytes = 0;
    return true;
}

void pim_layout_count(const struct pim_layout *layout, const struct pim_layout_window *window,
                      uint32_t access_bytes, uint32_t row_bytes, struct pim_layout_cost *cost)
{
    struct pim_layout_cursor cursor;
    struct pim_layout_burst burst;
    uint64_t next_access = 0, next_row = 0; /* those below are counted */
    *cost = (struct pim_layout_cost){0};
    pim_layout_first(&cursor, layout, window);
    while (pim_layout_next(&cursor, &burst)) {
        cost->bursts++;
        cost->pieces += burst.count;
        cost->bytes += burst.bytes * burst.count;
        for (uint64_t i = 0; i < burst.count; i++) {
            const uint64_t first = burst.address + i * burst.stride, last = first + burst.bytes - 1;
            const uint64_t access = first / access_bytes > next_access ? first / access_bytes : next_access;
            const uint64_t row = first / row_bytes > next_row ? first / row_bytes : next_row;
            cost->accesses += last / access_bytes + 1 - access;
            cost->rows += last / row_bytes + 1 - row;
            next_access = last / access_bytes + 1;
            next_row = last / row_bytes + 1;
        }
    }
}
