#include "tools/command/dram/list.h"

#include "sim/arena.h"
#include "sim/output/csv.h"
#include "sim/random.h"
#include "tools/command/dram/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLE, OP, ADDRESS, BYTES, COLUMNS };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define CYCLE_MAX (UINT64_C(1) << 62)
#define BYTES_MAX (UINT64_C(1) << 30)
#define BEYOND "an address beyond the capacity of %" PRIu64 " bytes"

struct dram_source {
    const struct pim_dram_configuration *configuration;
    /* The next request; `*more` is false behind the last one. */
    enum pim_status (*next)(struct dram_source *source, struct pim_dram_request *request, bool *more,
                            struct pim_error *error);
    uint64_t before; /* cycle of the request before */
    struct pim_csv_reader *csv;
    bool has_bytes;
    struct dram_words words;
    const struct dram_list *list;
    size_t taken; /* of the list */
    struct dram_tensor_walk walk;
    struct dram_stream stream;
    struct pim_random random;
    uint64_t near, read, made, address; /* of the stream */
};

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
        (void)snprintf(rule, sizeof rule, BEYOND, capacity);
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

static enum pim_status next_row(struct dram_source *source, struct pim_dram_request *request, bool *more,
                                struct pim_error *error)
{
    if (pim_csv_next(source->csv, more, error) != PIM_OK)
        return error->status;
    return *more ? read_row(source->csv, source->has_bytes, source->before, source->configuration, request,
                            error)
                 : PIM_OK;
}

/* The whole column access that holds an address of the present line, in `cycle`. */
static enum pim_status take_address(struct dram_source *source, size_t word, uint64_t address, uint64_t cycle,
                                    bool write, struct pim_dram_request *request, struct pim_error *error)
{
    const uint64_t access = source->configuration->specification.organization.access_bytes;
    if (address >= source->configuration->mapping.capacity) {
        char rule[96];
        (void)snprintf(rule, sizeof rule, BEYOND, source->configuration->mapping.capacity);
        return dram_words_refuse(&source->words, word, rule, error);
    }
    *request =
        (struct pim_dram_request){cycle, address, (uint32_t)(access - (address & (access - 1))), write};
    return PIM_OK;
}

/* What DRAMsim3 calls reads and writes; words of other meanings it takes for reads. */
static const char *const dramsim3_reads[] = {"READ", "read", "P_MEM_RD", "P_FETCH"};
static const char *const dramsim3_writes[] = {"WRITE", "write", "P_MEM_WR", "BOFF"};

static bool is_one_of(const char *word, const char *const *names, size_t count)
{
    while (count > 0 && strcmp(word, names[count - 1]) != 0)
        count--;
    return count > 0;
}

static enum pim_status next_dramsim3(struct dram_source *source, struct pim_dram_request *request, bool *more,
                                     struct pim_error *error)
{
    struct dram_words *words = &source->words;
    uint64_t address, cycle;
    if (dram_words_next(words, false, more, error) != PIM_OK || !*more)
        return *more ? error->status : PIM_OK;
    if (words->count != 3)
        return dram_words_refuse(words, words->count, "a line is ADDRESS, READ or WRITE, and CYCLE", error);
    const bool write = is_one_of(words->word[1], dramsim3_writes, COUNT(dramsim3_writes));
    if (!write && !is_one_of(words->word[1], dramsim3_reads, COUNT(dramsim3_reads)))
        return dram_words_refuse(words, 1, "allowed are READ, P_MEM_RD and P_FETCH, WRITE, P_MEM_WR and BOFF",
                                 error);
    if (dram_words_number(words, 0, 16, UINT64_MAX, &address, error) != PIM_OK ||
        dram_words_number(words, 2, 10, CYCLE_MAX, &cycle, error) != PIM_OK)
        return error->status;
    if (cycle < source->before)
        return dram_words_refuse(words, 2, "the list must not go back in time", error);
    return take_address(source, 0, address, cycle, write, request, error);
}

/*
 * Places of all levels: channel, rank, bank group, bank, row, column, where ranks are numbered through the
 * pseudo-channels; 7 words: pseudo-channel and rank; 5 words: without bank groups. `first` is the word of the
 * channel. Stack identifiers are a level more (HBM3: Sid, and no rank), which no word names.
 */
static enum pim_status read_places(struct dram_source *source, size_t first, uint64_t *address,
                                   struct pim_error *error)
{
    const struct pim_dram_organization *o = &source->configuration->specification.organization;
    struct dram_words *words = &source->words;
    const size_t given = words->count - first;
    const bool pseudo = given == 7, grouped = given >= 6;
    if (words->gap)
        return dram_words_refuse(words, 0, "an empty place: a number stands before and behind each comma",
                                 error);
    if (o->stack_ids > 1)
        return dram_words_refuse(words, 0,
                                 "with dram.stack_ids above 1 a list of places does not say which of them is "
                                 "the stack identifier (Sid): give addresses, as LD and ST",
                                 error);
    if (given < 5 || given > 7 || (!grouped && o->bank_groups > 1))
        return dram_words_refuse(
            words, words->count,
            "places are channel, [pseudo-channel,] rank, [bank group,] bank, row and column", error);
    uint64_t channel, other = 0, rank, group = 0, bank, row, column;
    const struct {
        bool given;
        uint64_t *value, count;
    } places[] = {{true, &channel, o->channels},
                  {pseudo, &other, o->pseudo_channels},
                  {true, &rank, pseudo ? o->ranks : pim_dram_ranks(o)},
                  {grouped, &group, o->bank_groups},
                  {true, &bank, o->banks},
                  {true, &row, o->rows},
                  {true, &column, o->columns}};
    for (size_t i = 0, word = first; i < sizeof places / sizeof places[0]; i++)
        if (places[i].given &&
            dram_words_number(words, word++, 10, places[i].count - 1, places[i].value, error) != PIM_OK)
            return error->status;
    const struct pim_dram_location location = {
        (uint32_t)channel, (uint32_t)(((other * o->ranks + rank) * o->bank_groups + group) * o->banks + bank),
        (uint32_t)row, (uint32_t)column};
    *address = pim_dram_address(&source->configuration->mapping, &location);
    return PIM_OK;
}

static enum pim_status next_ramulator(struct dram_source *source, struct pim_dram_request *request,
                                      bool *more, struct pim_error *error)
{
    static const char *const kinds[] = {"LD", "ST", "R", "W"};
    struct dram_words *words = &source->words;
    uint64_t address = 0;
    unsigned kind = 0;
    if (dram_words_next(words, true, more, error) != PIM_OK || !*more)
        return *more ? error->status : PIM_OK;
    while (kind < 4 && strcmp(words->word[0], kinds[kind]) != 0)
        kind++;
    if (kind == 4)
        return dram_words_refuse(words, 0, "allowed are LD and ST with an address, R and W with places",
                                 error);
    if (kind < 2 && words->count != 2)
        return dram_words_refuse(words, words->count, "a line is LD or ST, and an address", error);
    if ((kind < 2 ? dram_words_number(words, 1, 10, UINT64_MAX, &address, error)
                  : read_places(source, 1, &address, error)) != PIM_OK)
        return error->status;
    return take_address(source, 1, address, 0, kind & 1, request, error);
}

static enum pim_status next_of_tensor(struct dram_source *source, struct pim_dram_request *request,
                                      bool *more, struct pim_error *error)
{
    (void)error;
    *more = dram_tensor_next(&source->walk, request);
    return PIM_OK;
}

static enum pim_status next_item(struct dram_source *source, struct pim_dram_request *request, bool *more,
                                 struct pim_error *error)
{
    (void)error;
    *more = source->taken < source->list->count;
    if (*more)
        *request = source->list->items[source->taken++];
    return PIM_OK;
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

static enum pim_status next_made(struct dram_source *source, struct pim_dram_request *request, bool *more,
                                 struct pim_error *error)
{
    (void)error;
    const struct pim_dram_configuration *configuration = source->configuration;
    const struct dram_stream *stream = &source->stream;
    const uint32_t access = configuration->specification.organization.access_bytes;
    const uint64_t places = configuration->mapping.capacity / access, i = source->made;
    const uint64_t step = stream->pattern == DRAM_STRIDED ? stream->stride : access;
    *more = i < stream->count;
    if (!*more)
        return PIM_OK;
    const bool same_row =
        stream->pattern == DRAM_MIXED && i > 0 && pim_random_chance(&source->random, source->near);
    if (stream->pattern == DRAM_RANDOM || (stream->pattern == DRAM_MIXED && !same_row))
        source->address = pim_random_below(&source->random, places) * access;
    else if (same_row)
        source->address = next_in_row(configuration, source->address);
    else if (stream->pattern == DRAM_INTERLEAVED)
        source->address = interleaved(configuration, i);
    else if (i > 0)
        source->address = (source->address + step) % configuration->mapping.capacity;
    *request = (struct pim_dram_request){(uint64_t)((double)i / stream->rate), source->address,
                                         access - (uint32_t)(source->address & (access - 1)),
                                         !pim_random_chance(&source->random, source->read)};
    source->made++;
    return PIM_OK;
}

static enum pim_status create(struct dram_source **source, const struct pim_dram_configuration *configuration,
                              struct pim_error *error)
{
    *source = calloc(1, sizeof **source);
    if (!*source)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a list of requests");
    (*source)->configuration = configuration;
    return PIM_OK;
}

void dram_source_close(struct dram_source *source)
{
    if (!source)
        return;
    if (source->csv)
        pim_csv_close(source->csv);
    dram_words_close(&source->words);
    free(source);
}

enum pim_status dram_source_open(struct dram_source **source, const char *path, enum dram_list_format format,
                                 const struct pim_dram_configuration *configuration, struct pim_error *error)
{
    if (create(source, configuration, error) != PIM_OK)
        return error->status;
    struct dram_source *made = *source;
    enum pim_status status;
    if (format == DRAM_LIST_CSV) {
        made->next = next_row;
        status = pim_csv_open(&made->csv, path, NULL, 0, error);
        if (status == PIM_OK)
            status = check_header(made->csv, path, &made->has_bytes, error);
    } else {
        made->next = format == DRAM_LIST_RAMULATOR ? next_ramulator : next_dramsim3;
        status = dram_words_open(&made->words, path, error);
    }
    if (status != PIM_OK) {
        dram_source_close(made);
        *source = NULL;
    }
    return status;
}

enum pim_status dram_source_generate(struct dram_source **source, const struct dram_stream *stream,
                                     const struct pim_dram_configuration *configuration,
                                     struct pim_error *error)
{
    *source = NULL;
    if ((double)stream->count / stream->rate > (double)CYCLE_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--rate: %g requests a cycle: the last of %" PRIu64
                        " comes in cycle %.3g, and allowed "
                        "are cycles up to %" PRIu64,
                        stream->rate, stream->count, (double)stream->count / stream->rate, CYCLE_MAX);
    if (create(source, configuration, error) != PIM_OK)
        return error->status;
    struct dram_source *made = *source;
    made->next = next_made;
    made->stream = *stream;
    made->near = pim_random_threshold(stream->locality);
    made->read = pim_random_threshold(stream->reads);
    pim_random_initialize(&made->random, stream->seed);
    return PIM_OK;
}

enum pim_status dram_source_tensor(struct dram_source **source, const struct dram_tensor *tensor,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_layout_cost *cost, struct pim_error *error)
{
    if (create(source, configuration, error) != PIM_OK)
        return error->status;
    (*source)->next = next_of_tensor;
    if (dram_tensor_start(&(*source)->walk, tensor, configuration, cost, error) == PIM_OK)
        return PIM_OK;
    dram_source_close(*source);
    *source = NULL;
    return error->status;
}

enum pim_status dram_source_items(struct dram_source **source, const struct dram_list *list,
                                  struct pim_error *error)
{
    if (create(source, NULL, error) != PIM_OK)
        return error->status;
    (*source)->next = next_item;
    (*source)->list = list;
    return PIM_OK;
}

enum pim_status dram_source_next(struct dram_source *source, struct pim_dram_request *requests, size_t room,
                                 size_t *count, struct pim_error *error)
{
    bool more = true;
    for (*count = 0; *count < room; ++*count) {
        if (source->next(source, &requests[*count], &more, error) != PIM_OK)
            return error->status;
        if (!more)
            break;
        source->before = requests[*count].cycle;
    }
    return PIM_OK;
}

/* All that a source has; closes it. */
static enum pim_status read_all(struct dram_list *list, struct dram_source *source, struct pim_error *error)
{
    enum { PART = 1024 };
    size_t capacity = 0, count = 1;
    enum pim_status status = PIM_OK;
    while (status == PIM_OK && count > 0) {
        struct pim_dram_request *grown =
            pim_array_grow(list->items, &capacity, list->count + PART, sizeof *list->items);
        if (!grown) {
            status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu requests", list->count + PART);
            break;
        }
        list->items = grown;
        status = dram_source_next(source, &list->items[list->count], PART, &count, error);
        list->count += count;
    }
    dram_source_close(source);
    if (status != PIM_OK)
        dram_list_terminate(list);
    return status;
}

enum pim_status dram_list_read(struct dram_list *list, const char *path,
                               const struct pim_dram_configuration *configuration, struct pim_error *error)
{
    struct dram_source *source;
    *list = (struct dram_list){NULL, 0};
    if (dram_source_open(&source, path, DRAM_LIST_CSV, configuration, error) != PIM_OK)
        return error->status;
    return read_all(list, source, error);
}

enum pim_status dram_list_generate(struct dram_list *list, const struct dram_stream *stream,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_error *error)
{
    struct dram_source *source;
    *list = (struct dram_list){NULL, 0};
    if (dram_source_generate(&source, stream, configuration, error) != PIM_OK)
        return error->status;
    return read_all(list, source, error);
}
