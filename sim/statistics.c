#include "sim/statistics.h"

#include "sim/arena.h"
#include "sim/csv.h"
#include "sim/output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of the tree of names: either a statistic or a group of nodes below it. Nodes are numbered; 0 is the
 * root, so it can also stand for "none" as child and sibling. */
struct node {
    const char *name; /* whole name from the root */
    size_t length;
    const char *part;                /* its last part */
    struct pim_statistic *statistic; /* NULL: a group */
    uint32_t first_child, last_child, next_sibling;
};

/* A statistic and the value that lives in the registry, if it does. */
struct entry {
    struct pim_statistic statistic;
    union {
        uint64_t counter;
        struct pim_histogram histogram;
        struct pim_average average;
        double real;
    } owned;
    bool owns_buckets;
};

struct pim_statistics {
    struct pim_arena arena; /* names, entries */
    struct node *nodes;
    size_t node_count, node_capacity;
    struct entry **entries; /* in order of registration */
    size_t entry_count, entry_capacity;
    uint32_t *table; /* open addressing: node numbers, 0 is empty; a power of two */
    size_t table_size;
};

enum { LONGEST_NAME = 255, DEEPEST_NAME = 16, FIRST_TABLE_SIZE = 256 };

struct pim_statistics *pim_statistics_create(void)
{
    size_t one = 0, table_size = 0;
    struct pim_statistics *statistics = pim_array_require(NULL, &one, 1, sizeof *statistics);
    *statistics = (struct pim_statistics){0};
    pim_arena_initialize(&statistics->arena, 0);
    statistics->nodes = pim_array_require(NULL, &statistics->node_capacity, 64, sizeof *statistics->nodes);
    statistics->nodes[0] = (struct node){.name = "", .part = ""};
    statistics->node_count = 1;
    statistics->table = pim_array_require(NULL, &table_size, FIRST_TABLE_SIZE, sizeof *statistics->table);
    statistics->table_size = FIRST_TABLE_SIZE;
    memset(statistics->table, 0, FIRST_TABLE_SIZE * sizeof *statistics->table);
    return statistics;
}

void pim_statistics_destroy(struct pim_statistics *statistics)
{
    if (!statistics)
        return;
    for (size_t i = 0; i < statistics->entry_count; i++) {
        if (statistics->entries[i]->owns_buckets)
            pim_histogram_terminate(&statistics->entries[i]->owned.histogram);
    }
    free(statistics->entries);
    free(statistics->nodes);
    free(statistics->table);
    pim_arena_terminate(&statistics->arena);
    free(statistics);
}

/* --- names --- */

/* FNV-1a, 64 bits. */
static uint64_t hash_name(const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3U;
    return hash;
}

/* The place in the table of a name: of its node, or the empty one where it would go. */
static size_t table_place(const struct pim_statistics *statistics, const char *name, size_t length)
{
    size_t place = (size_t)hash_name(name, length) & (statistics->table_size - 1);
    while (statistics->table[place]) {
        const struct node *node = &statistics->nodes[statistics->table[place]];
        if (node->length == length && memcmp(node->name, name, length) == 0)
            break;
        place = (place + 1) & (statistics->table_size - 1);
    }
    return place;
}

static void grow_table(struct pim_statistics *statistics)
{
    size_t doubled = 0;
    free(statistics->table);
    statistics->table =
        pim_array_require(NULL, &doubled, statistics->table_size * 2, sizeof *statistics->table);
    statistics->table_size *= 2;
    memset(statistics->table, 0, statistics->table_size * sizeof *statistics->table);
    for (uint32_t i = 1; i < statistics->node_count; i++) {
        const struct node *node = &statistics->nodes[i];
        statistics->table[table_place(statistics, node->name, node->length)] = i;
    }
}

_Noreturn static void refuse_name(const char *name, const char *reason)
{
    (void)fprintf(stderr, "pimsim: internal error: statistic '%s' %s\n", name, reason);
    abort();
}

static void check_name(const char *name)
{
    size_t length = strlen(name);
    unsigned parts = 1;
    if (length == 0 || length > LONGEST_NAME || name[0] == '.' || name[length - 1] == '.' ||
        strstr(name, ".."))
        refuse_name(name, "is empty, too long, or has an empty part");
    for (const char *at = name; *at; at++) {
        parts += *at == '.';
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= '0' && *at <= '9') && *at != '_' && *at != '.')
            refuse_name(name, "has a character other than a-z, 0-9, '_' and '.'");
    }
    if (parts > DEEPEST_NAME)
        refuse_name(name, "has more than 16 parts");
}

static uint32_t add_node(struct pim_statistics *statistics, uint32_t parent, const char *name,
                         size_t part_start)
{
    if (statistics->node_count >= statistics->table_size / 2)
        grow_table(statistics);
    statistics->nodes = pim_array_require(statistics->nodes, &statistics->node_capacity,
                                          statistics->node_count + 1, sizeof *statistics->nodes);
    uint32_t index = (uint32_t)statistics->node_count++;
    statistics->nodes[index] = (struct node){.name = name, .length = strlen(name), .part = name + part_start};
    struct node *above = &statistics->nodes[parent];
    if (above->first_child)
        statistics->nodes[above->last_child].next_sibling = index;
    else
        above->first_child = index;
    above->last_child = index;
    statistics->table[table_place(statistics, name, strlen(name))] = index;
    return index;
}

/* Puts a name into the tree, with the groups above it; the node that carries it is new. */
static uint32_t enter_name(struct pim_statistics *statistics, const char *name)
{
    check_name(name);
    uint32_t parent = 0;
    size_t part_start = 0;
    for (;;) {
        size_t end = part_start + strcspn(name + part_start, ".");
        uint32_t found = statistics->table[table_place(statistics, name, end)];
        bool last = name[end] == '\0';
        if (found && statistics->nodes[found].statistic)
            refuse_name(name, last ? "is registered twice" : "lies below another statistic");
        if (found && last)
            refuse_name(name, "is also a group of other statistics");
        if (!found) {
            char *copy = pim_arena_require(&statistics->arena, end + 1, 1);
            memcpy(copy, name, end);
            copy[end] = '\0';
            found = add_node(statistics, parent, copy, part_start);
        }
        if (last)
            return found;
        parent = found;
        part_start = end + 1;
    }
}

/* --- registration --- */

static struct entry *enter(struct pim_statistics *statistics, enum pim_statistic_kind kind, const char *name,
                           const char *unit, const char *description)
{
    if (strpbrk(unit, "\r\n") || strpbrk(description, "\r\n"))
        refuse_name(name, "has a unit or description of more than one line");
    uint32_t node = enter_name(statistics, name);
    struct entry *entry = PIM_ARENA_NEW(&statistics->arena, struct entry);
    entry->statistic.name = statistics->nodes[node].name;
    entry->statistic.unit = pim_arena_copy_text(&statistics->arena, unit);
    entry->statistic.description = pim_arena_copy_text(&statistics->arena, description);
    entry->statistic.kind = kind;
    statistics->nodes[node].statistic = &entry->statistic;
    statistics->entries = pim_array_require(statistics->entries, &statistics->entry_capacity,
                                            statistics->entry_count + 1, sizeof *statistics->entries);
    statistics->entries[statistics->entry_count++] = entry;
    return entry;
}

uint64_t *pim_statistics_counter(struct pim_statistics *statistics, const char *name, const char *unit,
                                 const char *description)
{
    struct entry *entry = enter(statistics, PIM_STATISTIC_COUNTER, name, unit, description);
    entry->statistic.value.counter = &entry->owned.counter;
    return &entry->owned.counter;
}

struct pim_histogram *pim_statistics_histogram(struct pim_statistics *statistics, const char *name,
                                               const char *unit, const char *description, unsigned exact_bits,
                                               uint64_t largest)
{
    struct entry *entry = enter(statistics, PIM_STATISTIC_HISTOGRAM, name, unit, description);
    pim_histogram_initialize(&entry->owned.histogram, exact_bits, largest);
    entry->owns_buckets = true;
    entry->statistic.value.histogram = &entry->owned.histogram;
    return &entry->owned.histogram;
}

struct pim_average *pim_statistics_average(struct pim_statistics *statistics, const char *name,
                                           const char *unit, const char *description)
{
    struct entry *entry = enter(statistics, PIM_STATISTIC_AVERAGE, name, unit, description);
    entry->statistic.value.average = &entry->owned.average;
    return &entry->owned.average;
}

double *pim_statistics_real(struct pim_statistics *statistics, const char *name, const char *unit,
                            const char *description)
{
    struct entry *entry = enter(statistics, PIM_STATISTIC_REAL, name, unit, description);
    entry->owned.real = 0; /* all-zero bytes need not be 0.0 by the standard */
    entry->statistic.value.real = &entry->owned.real;
    return &entry->owned.real;
}

void pim_statistics_counter_at(struct pim_statistics *statistics, const uint64_t *value, const char *name,
                               const char *unit, const char *description)
{
    enter(statistics, PIM_STATISTIC_COUNTER, name, unit, description)->statistic.value.counter = value;
}

void pim_statistics_histogram_at(struct pim_statistics *statistics, const struct pim_histogram *value,
                                 const char *name, const char *unit, const char *description)
{
    enter(statistics, PIM_STATISTIC_HISTOGRAM, name, unit, description)->statistic.value.histogram = value;
}

void pim_statistics_average_at(struct pim_statistics *statistics, struct pim_average *value, const char *name,
                               const char *unit, const char *description)
{
    enter(statistics, PIM_STATISTIC_AVERAGE, name, unit, description)->statistic.value.average = value;
}

void pim_statistics_real_at(struct pim_statistics *statistics, const double *value, const char *name,
                            const char *unit, const char *description)
{
    enter(statistics, PIM_STATISTIC_REAL, name, unit, description)->statistic.value.real = value;
}

/* --- looking up --- */

size_t pim_statistics_count(const struct pim_statistics *statistics)
{
    return statistics->entry_count;
}

const struct pim_statistic *pim_statistics_get(const struct pim_statistics *statistics, size_t index)
{
    assert(index < statistics->entry_count);
    return &statistics->entries[index]->statistic;
}

const struct pim_statistic *pim_statistics_find(const struct pim_statistics *statistics, const char *name)
{
    uint32_t node = statistics->table[table_place(statistics, name, strlen(name))];
    return node ? statistics->nodes[node].statistic : NULL;
}

const char *pim_statistic_kind_name(enum pim_statistic_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_STATISTIC_MAP(X)
#undef X
    };
    assert(kind < PIM_STATISTIC_KINDS);
    return names[kind];
}

void pim_statistics_advance(struct pim_statistics *statistics, uint64_t now)
{
    for (size_t i = 0; i < statistics->entry_count; i++) {
        if (statistics->entries[i]->statistic.kind == PIM_STATISTIC_AVERAGE)
            pim_average_advance(statistics->entries[i]->statistic.value.average, now);
    }
}

/* --- outputs --- */

/* One number of a statistic. */
struct number {
    const char *part; /* "p99"; NULL for the statistic itself */
    bool plain_count; /* its unit is 1, whatever the statistic's is */
    bool is_real;
    uint64_t integer;
    double real; /* NaN: no value */
};

enum { MOST_NUMBERS = 8 };

static struct number integer_number(const char *part, uint64_t value)
{
    return (struct number){.part = part, .integer = value};
}

static struct number real_number(const char *part, double value)
{
    return (struct number){.part = part, .is_real = true, .real = value};
}

static size_t histogram_numbers(const struct pim_histogram *histogram, struct number numbers[MOST_NUMBERS])
{
    static const struct {
        const char *part;
        unsigned per_mille;
    } quantiles[] = {{"p50", 500}, {"p95", 950}, {"p99", 990}};
    size_t count = 0;
    bool empty = histogram->count == 0;
    const struct number none = {.is_real = true, .real = (double)NAN};
    numbers[count++] = (struct number){.part = "count", .plain_count = true, .integer = histogram->count};
    numbers[count++] = histogram->sum.high ? real_number("sum", pim_sum_real(&histogram->sum))
                                           : integer_number("sum", histogram->sum.low);
    numbers[count] = empty ? none : integer_number(NULL, histogram->minimum);
    numbers[count++].part = "minimum";
    numbers[count] = empty ? none : integer_number(NULL, histogram->maximum);
    numbers[count++].part = "maximum";
    numbers[count++] = real_number("mean", pim_histogram_mean(histogram));
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        numbers[count] =
            empty ? none : integer_number(NULL, pim_histogram_quantile(histogram, quantiles[i].per_mille));
        numbers[count++].part = quantiles[i].part;
    }
    return count;
}

/* What a statistic has to say: one number, or several with a name each. */
static size_t numbers_of(const struct pim_statistic *statistic, struct number numbers[MOST_NUMBERS])
{
    switch (statistic->kind) {
    case PIM_STATISTIC_COUNTER:
        numbers[0] = integer_number(NULL, *statistic->value.counter);
        return 1;
    case PIM_STATISTIC_HISTOGRAM:
        return histogram_numbers(statistic->value.histogram, numbers);
    case PIM_STATISTIC_AVERAGE:
        numbers[0] = real_number("mean", pim_average_mean(statistic->value.average));
        numbers[1] = integer_number("maximum", statistic->value.average->maximum);
        return 2;
    case PIM_STATISTIC_REAL:
        numbers[0] = real_number(NULL, *statistic->value.real);
        return 1;
    case PIM_STATISTIC_KINDS:
        break;
    }
    assert(statistic->kind < PIM_STATISTIC_KINDS);
    return 0;
}

enum { NAME_CHARACTERS = LONGEST_NAME + 16, TEXT_DIGITS = 12 };

static size_t number_name(char buffer[NAME_CHARACTERS], const struct pim_statistic *statistic,
                          const struct number *number)
{
    int length = snprintf(buffer, NAME_CHARACTERS, "%s%s%s", statistic->name, number->part ? "." : "",
                          number->part ? number->part : "");
    return (size_t)length;
}

static size_t number_text(char buffer[PIM_REAL_CHARACTERS], const struct number *number)
{
    if (!number->is_real)
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "%" PRIu64, number->integer);
    else if (isnan(number->real))
        (void)snprintf(buffer, PIM_REAL_CHARACTERS, "n/a");
    else
        pim_format_real(buffer, number->real, TEXT_DIGITS);
    return strlen(buffer);
}

static const char *number_unit(const struct pim_statistic *statistic, const struct number *number)
{
    return number->plain_count ? "1" : statistic->unit;
}

void pim_statistics_write_text(const struct pim_statistics *statistics, FILE *file)
{
    struct number numbers[MOST_NUMBERS];
    char name[NAME_CHARACTERS], value[PIM_REAL_CHARACTERS];
    size_t name_width = 0, value_width = 0;
    /* The first round measures, the second prints. */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < statistics->entry_count; i++) {
            const struct pim_statistic *statistic = &statistics->entries[i]->statistic;
            size_t count = numbers_of(statistic, numbers);
            for (size_t j = 0; j < count; j++) {
                size_t name_length = number_name(name, statistic, &numbers[j]);
                size_t value_length = number_text(value, &numbers[j]);
                if (round == 1) {
                    (void)fprintf(file, "%-*s %*s # %s [%s]\n", (int)name_width, name, (int)value_width,
                                  value, statistic->description, number_unit(statistic, &numbers[j]));
                    continue;
                }
                name_width = name_length > name_width ? name_length : name_width;
                value_width = value_length > value_width ? value_length : value_width;
            }
        }
    }
}

void pim_statistics_write_csv(const struct pim_statistics *statistics, FILE *file)
{
    static const char *const header[] = {"name", "value", "unit", "description"};
    struct pim_csv_writer writer;
    struct number numbers[MOST_NUMBERS];
    char name[NAME_CHARACTERS];
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (size_t i = 0; i < statistics->entry_count; i++) {
        const struct pim_statistic *statistic = &statistics->entries[i]->statistic;
        size_t count = numbers_of(statistic, numbers);
        for (size_t j = 0; j < count; j++) {
            (void)number_name(name, statistic, &numbers[j]);
            pim_csv_put_text(&writer, name);
            if (numbers[j].is_real)
                pim_csv_put_real(&writer, numbers[j].real);
            else
                pim_csv_put_count(&writer, numbers[j].integer);
            pim_csv_put_text(&writer, number_unit(statistic, &numbers[j]));
            pim_csv_put_text(&writer, statistic->description);
            pim_csv_end_row(&writer);
        }
    }
}

static void put_number(struct pim_json *json, const char *key, const struct number *number)
{
    if (number->is_real)
        pim_json_put_real(json, key, number->real);
    else
        pim_json_put_count(json, key, number->integer);
}

typedef void leaf_writer(struct pim_json *json, const char *key, const struct pim_statistic *statistic);

static void put_values(struct pim_json *json, const char *key, const struct pim_statistic *statistic)
{
    struct number numbers[MOST_NUMBERS];
    size_t count = numbers_of(statistic, numbers);
    if (!numbers[0].part) {
        put_number(json, key, &numbers[0]);
        return;
    }
    pim_json_begin_object(json, key);
    for (size_t i = 0; i < count; i++)
        put_number(json, numbers[i].part, &numbers[i]);
    pim_json_end(json);
}

static void put_description(struct pim_json *json, const char *key, const struct pim_statistic *statistic)
{
    pim_json_begin_object(json, key);
    pim_json_put_text(json, "kind", pim_statistic_kind_name(statistic->kind));
    pim_json_put_text(json, "unit", statistic->unit);
    pim_json_put_text(json, "description", statistic->description);
    pim_json_end(json);
}

/* The nodes below `parent`; as deep as names have parts, at most DEEPEST_NAME. */
static void put_children(const struct pim_statistics *statistics, uint32_t parent, struct pim_json *json,
                         leaf_writer *put_leaf)
{
    for (uint32_t i = statistics->nodes[parent].first_child; i; i = statistics->nodes[i].next_sibling) {
        const struct node *node = &statistics->nodes[i];
        if (node->statistic) {
            put_leaf(json, node->part, node->statistic);
            continue;
        }
        pim_json_begin_object(json, node->part);
        put_children(statistics, i, json, put_leaf);
        pim_json_end(json);
    }
}

void pim_statistics_write_json(const struct pim_statistics *statistics, struct pim_json *json)
{
    put_children(statistics, 0, json, put_values);
}

void pim_statistics_describe_json(const struct pim_statistics *statistics, struct pim_json *json)
{
    put_children(statistics, 0, json, put_description);
}
