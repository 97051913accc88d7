#include "tools/command/dram/tensor.h"

#include "tools/command/options.h"

#include <stdio.h>
#include <string.h>

enum { AXES = 4, REQUEST_BYTES_MAX = 1 << 30 };

static const char *const axes[AXES] = {"batches", "channels", "rows", "columns"};

/* Cuts "a,b,c" or "a,b,c,d" into fields from `fields[AXES - count]` on; 0: neither three nor four. */
static unsigned cut(const char *text, char fields[AXES][48])
{
    unsigned commas = 0;
    for (const char *at = text; *at; at++)
        commas += *at == ',';
    if (commas != 2 && commas != 3)
        return 0;
    for (unsigned i = AXES - 1 - commas; i < AXES; i++) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof fields[i])
            return 0;
        memcpy(fields[i], text, length);
        fields[i][length] = '\0';
        text += length + (text[length] == ',');
    }
    return commas + 1;
}

static enum pim_status parse_extents(const char *text, uint32_t extents[AXES], struct pim_error *error)
{
    char fields[AXES][48];
    unsigned count = cut(text, fields);
    if (count == 0)
        return pim_fail(error, PIM_USAGE,
                        "--tensor: found %.60s, allowed is CHANNELS,ROWS,COLUMNS or "
                        "BATCHES,CHANNELS,ROWS,COLUMNS",
                        text);
    for (unsigned i = 0; i < AXES; i++) {
        uint64_t value = 1;
        if (i >= AXES - count &&
            pim_parse_unsigned("--tensor", fields[i], 1, PIM_LAYOUT_EXTENT_MAX, &value, error) != PIM_OK)
            return error->status;
        extents[i] = (uint32_t)value;
    }
    return PIM_OK;
}

/* FIRST:COUNT */
static enum pim_status parse_range(char *text, struct pim_layout_range *range, struct pim_error *error)
{
    char *colon = strchr(text, ':');
    uint64_t first = 0, count = 0;
    if (!colon)
        return pim_fail(error, PIM_USAGE, "--window: found %.40s, allowed is FIRST:COUNT", text);
    *colon = '\0';
    if (pim_parse_unsigned("--window", text, 0, PIM_LAYOUT_EXTENT_MAX, &first, error) != PIM_OK ||
        pim_parse_unsigned("--window", colon + 1, 1, PIM_LAYOUT_EXTENT_MAX, &count, error) != PIM_OK)
        return error->status;
    *range = (struct pim_layout_range){(uint32_t)first, (uint32_t)count};
    return PIM_OK;
}

static enum pim_status parse_window(const char *text, const uint32_t extents[AXES],
                                    struct pim_layout_range ranges[AXES], struct pim_error *error)
{
    char fields[AXES][48];
    for (unsigned i = 0; i < AXES; i++)
        ranges[i] = (struct pim_layout_range){0, extents[i]};
    if (!text)
        return PIM_OK;
    unsigned count = cut(text, fields);
    if (count == 0)
        return pim_fail(
            error, PIM_USAGE,
            "--window: found %.60s, allowed are three or four FIRST:COUNT, of [%s,] %s, %s and %s", text,
            axes[0], axes[1], axes[2], axes[3]);
    for (unsigned i = AXES - count; i < AXES; i++)
        if (parse_range(fields[i], &ranges[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

enum pim_status dram_tensor_parse(const struct dram_tensor *tensor, struct pim_layout *layout,
                                  struct pim_layout_window *window, struct pim_error *error)
{
    uint32_t extents[AXES];
    struct pim_layout_range ranges[AXES];
    if (parse_extents(tensor->extents, extents, error) != PIM_OK ||
        parse_window(tensor->window, extents, ranges, error) != PIM_OK)
        return error->status;
    *layout = (struct pim_layout){.order = tensor->layout == 1 ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW,
                                  .batches = extents[0],
                                  .channels = extents[1],
                                  .rows = extents[2],
                                  .columns = extents[3],
                                  .group = tensor->layout == DRAM_LAYOUT_BCHW_G ? (uint32_t)tensor->group : 1,
                                  .element_bytes = (uint32_t)tensor->element_bytes,
                                  .address = tensor->address};
    *window = (struct pim_layout_window){ranges[0], ranges[1], ranges[2], ranges[3]};
    if (pim_layout_check(layout, error) != PIM_OK || pim_layout_check_window(layout, window, error) != PIM_OK)
        return error->status;
    return PIM_OK;
}

enum pim_status dram_tensor_start(struct dram_tensor_walk *walk, const struct dram_tensor *tensor,
                                  const struct pim_dram_configuration *configuration,
                                  struct pim_layout_cost *cost, struct pim_error *error)
{
    const struct pim_dram_organization *organization = &configuration->specification.organization;
    struct pim_layout *layout = &walk->layout;
    struct pim_layout_window window = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    *walk = (struct dram_tensor_walk){.access = organization->access_bytes, .write = tensor->write};
    if (dram_tensor_parse(tensor, layout, &window, error) != PIM_OK)
        return error->status;
    if (layout->address + pim_layout_bytes(layout) > configuration->mapping.capacity)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--tensor: it ends in byte %llu, and the memory has %llu: give a smaller tensor or "
                        "--address",
                        (unsigned long long)(layout->address + pim_layout_bytes(layout)),
                        (unsigned long long)configuration->mapping.capacity);
    pim_layout_first(&walk->cursor, layout, &window);
    pim_layout_count(layout, &window, organization->access_bytes,
                     organization->access_bytes * organization->columns, cost);
    return PIM_OK;
}

/* The accesses of the next piece that the pieces before have not made. */
static bool next_piece(struct dram_tensor_walk *walk)
{
    while (walk->at == walk->end) {
        if (walk->piece == walk->burst.count) {
            if (!pim_layout_next(&walk->cursor, &walk->burst))
                return false;
            walk->piece = 0;
        }
        const uint64_t address = walk->burst.address + walk->piece++ * walk->burst.stride;
        const uint64_t first = address / walk->access;
        const uint64_t end = (address + walk->burst.bytes - 1) / walk->access + 1;
        walk->at = first > walk->end ? first : walk->end;
        walk->end = end > walk->at ? end : walk->at;
    }
    return true;
}

bool dram_tensor_next(struct dram_tensor_walk *walk, struct pim_dram_request *request)
{
    if (!next_piece(walk))
        return false;
    const uint64_t most = REQUEST_BYTES_MAX / walk->access, left = walk->end - walk->at;
    const uint64_t count = left < most ? left : most;
    *request =
        (struct pim_dram_request){0, walk->at * walk->access, (uint32_t)(count * walk->access), walk->write};
    walk->at += count;
    return true;
}
