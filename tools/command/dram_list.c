#include "tools/command/dram_list.h"

#include "sim/arena.h"
#include "sim/csv.h"
#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLE, OP, ADDRESS, BYTES, COLUMNS };
#define CYCLE_MAX (UINT64_C(1) << 62)
#define BYTES_MAX (UINT64_C(1) << 30)

void dram_list_terminate(struct dram_list *list)
{
    free(list->items);
    *list = (struct dram_list){NULL, 0};
}

/* The present row as a request; `before` is the cycle of the row before. */
static enum pim_status read_row(const struct pim_csv_reader *reader, bool has_bytes, uint64_t before,
                                const struct pim_dram_configuration *configuration,
                                struct pim_dram_request *request, struct pim_error *error)
{
    uint64_t capacity = configuration->mapping.capacity;
    uint64_t bytes = configuration->specification.organization.access_bytes;
    const char *op = pim_csv_text(reader, OP);
    if (pim_csv_count(reader, CYCLE, 0, CYCLE_MAX, &request->cycle, error) != PIM_OK)
        return error->status;
    if (request->cycle < before)
        return pim_csv_refuse(reader, CYCLE,
                              "the list must not go back in time: allowed are cycles from the one "
                              "of the row before on",
                              error);
    if (strcmp(op, "R") != 0 && strcmp(op, "W") != 0)
        return pim_csv_refuse(reader, OP, "allowed are R and W", error);
    if (pim_csv_count(reader, ADDRESS, 0, UINT64_MAX, &request->address, error) != PIM_OK)
        return error->status;
    if (request->address >= capacity) {
        char rule[96];
        (void)snprintf(rule, sizeof rule, "an address beyond the capacity of %" PRIu64 " bytes", capacity);
        return pim_csv_refuse(reader, ADDRESS, rule, error);
    }
    if (has_bytes && pim_csv_count(reader, BYTES, 1, BYTES_MAX, &bytes, error) != PIM_OK)
        return error->status;
    if (has_bytes && bytes > capacity - request->address)
        return pim_csv_refuse(reader, BYTES, "the request must end within the capacity", error);
    if (!has_bytes) /* the whole column access that holds the address */
        bytes -= request->address & (bytes - 1);
    request->bytes = (uint32_t)bytes;
    request->write = op[0] == 'W';
    return PIM_OK;
}

/* The header, with or without bytes. */
static enum pim_status check_header(const struct pim_csv_reader *reader, const char *path, bool *has_bytes,
                                    struct pim_error *error)
{
    static const char *const names[COLUMNS] = {"cycle", "op", "address", "bytes"};
    size_t count = pim_csv_columns(reader);
    *has_bytes = count == COLUMNS;
    bool good = count == COLUMNS || count == BYTES;
    for (size_t i = 0; good && i < count; i++) {
        size_t column = 0;
        struct pim_error ignored = {PIM_OK, ""};
        good = pim_csv_column(reader, names[i], &column, &ignored) == PIM_OK && column == i;
    }
    return good ? PIM_OK
                : pim_fail(error, PIM_BAD_INPUT,
                           "%s:1: the header must be cycle,op,address or cycle,op,address,bytes", path);
}

enum pim_status dram_list_read(struct dram_list *list, const char *path,
                               const struct pim_dram_configuration *configuration, struct pim_error *error)
{
    *list = (struct dram_list){NULL, 0};
    struct pim_csv_reader *reader;
    if (pim_csv_open(&reader, path, NULL, 0, error) != PIM_OK)
        return error->status;
    bool has_bytes = false, more = true;
    size_t capacity = 0;
    uint64_t before = 0;
    enum pim_status status = check_header(reader, path, &has_bytes, error);
    while (status == PIM_OK && (status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        struct pim_dram_request *grown =
            pim_array_grow(list->items, &capacity, list->count + 1, sizeof *list->items);
        if (!grown) {
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the requests of %s", path);
            break;
        }
        list->items = grown;
        status = read_row(reader, has_bytes, before, configuration, &list->items[list->count], error);
        before = list->items[list->count].cycle;
        list->count++;
    }
    pim_csv_close(reader);
    if (status != PIM_OK)
        dram_list_terminate(list);
    return status;
}

/* The next column of the same row, around its end. */
static uint64_t next_in_row(const struct pim_dram_configuration *configuration, uint64_t address)
{
    struct pim_dram_location location = pim_dram_locate(&configuration->mapping, address);
    location.column = (location.column + 1) & (configuration->specification.organization.columns - 1);
    return pim_dram_address(&configuration->mapping, &location);
}

/* The remainder by `count`, which is taken off. */
static uint32_t digit(uint64_t *number, uint32_t count)
{
    uint32_t value = (uint32_t)(*number % count);
    *number /= count;
    return value;
}

/* The i-th place of an interleaved stream. */
static uint64_t interleaved(const struct pim_dram_configuration *configuration, uint64_t i)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    uint32_t channel = digit(&i, o->channels), pseudo = digit(&i, o->pseudo_channels);
    uint32_t group = digit(&i, o->bank_groups), column = digit(&i, o->columns);
    uint32_t bank = digit(&i, o->banks), rank = digit(&i, o->ranks);
    const struct pim_dram_location location = {
        channel, ((pseudo * o->ranks + rank) * o->bank_groups + group) * o->banks + bank,
        (uint32_t)(i % o->rows), column};
    return pim_dram_address(&configuration->mapping, &location);
}

enum pim_status dram_list_generate(struct dram_list *list, const struct dram_stream *stream,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_error *error)
{
    uint32_t access = configuration->specification.organization.access_bytes;
    uint64_t places = configuration->mapping.capacity / access;
    size_t capacity = 0;
    *list = (struct dram_list){NULL, 0};
    if (stream->count <= SIZE_MAX / sizeof *list->items)
        list->items = pim_array_grow(NULL, &capacity, (size_t)stream->count, sizeof *list->items);
    if (!list->items)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %llu requests",
                        (unsigned long long)stream->count);
    struct pim_random random;
    pim_random_initialize(&random, stream->seed);
    const uint64_t near = pim_random_threshold(stream->locality), read = pim_random_threshold(stream->reads);
    const uint64_t step = stream->pattern == DRAM_STRIDED ? stream->stride : access;
    uint64_t address = 0;
    for (uint64_t i = 0; i < stream->count; i++) {
        bool same_row = stream->pattern == DRAM_MIXED && i > 0 && pim_random_chance(&random, near);
        if (stream->pattern == DRAM_RANDOM || (stream->pattern == DRAM_MIXED && !same_row))
            address = pim_random_below(&random, places) * access;
        else if (same_row)
            address = next_in_row(configuration, address);
        else if (stream->pattern == DRAM_INTERLEAVED)
            address = interleaved(configuration, i);
        else if (i > 0)
            address = (address + step) % configuration->mapping.capacity;
        list->items[i] = (struct pim_dram_request){(uint64_t)((double)i / stream->rate), address,
                                                   access - (uint32_t)(address & (access - 1)),
                                                   !pim_random_chance(&random, read)};
    }
    list->count = (size_t)stream->count;
    return PIM_OK;
}
