/* The figures of a run as rows "name,value,unit,description" (docs/statistics.md). */
#include "sim/output/csv.h"
#include "models/system/family.h"
#include "models/system/report/report.h"
#include "models/system/report/steps.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void describe(struct pim_csv_writer *rows, const char *unit, const char *text)
{
    pim_csv_put_text(rows, unit);
    pim_csv_put_text(rows, text);
    pim_csv_end_row(rows);
}

static void count(struct pim_csv_writer *rows, const char *name, const char *unit, const char *text,
                  uint64_t value)
{
    pim_csv_put_text(rows, name);
    pim_csv_put_count(rows, value);
    describe(rows, unit, text);
}

static void real(struct pim_csv_writer *rows, const char *name, const char *unit, const char *text,
                 double value)
{
    pim_csv_put_text(rows, name);
    pim_csv_put_real(rows, value);
    describe(rows, unit, text);
}

/* A number of a histogram, which has none while it is empty. */
static void part(struct pim_csv_writer *rows, const struct pim_histogram *histogram, const char *name,
                 const char *unit, const char *text, uint64_t value)
{
    if (histogram->count == 0)
        real(rows, name, unit, text, (double)NAN);
    else
        count(rows, name, unit, text, value);
}

static void add_latency(struct pim_csv_writer *rows, const struct pim_histogram *latency)
{
    static const struct {
        const char *name;
        unsigned per_mille;
    } quantiles[] = {
        {"noc.packet_latency.p50", 500}, {"noc.packet_latency.p95", 950}, {"noc.packet_latency.p99", 990}};
    static const char *const unit = "network cycles",
                             *const text = "from creation to arrival of the tail of payload packets";
    count(rows, "noc.packet_latency.count", "1", text, latency->count);
    if (latency->sum.high)
        real(rows, "noc.packet_latency.sum", unit, text, pim_sum_real(&latency->sum));
    else
        count(rows, "noc.packet_latency.sum", unit, text, latency->sum.low);
    part(rows, latency, "noc.packet_latency.minimum", unit, text, latency->minimum);
    part(rows, latency, "noc.packet_latency.maximum", unit, text, latency->maximum);
    real(rows, "noc.packet_latency.mean", unit, text, pim_histogram_mean(latency));
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
        part(rows, latency, quantiles[i].name, unit, text,
             pim_histogram_quantile(latency, quantiles[i].per_mille));
}

/* A row of the table of figures that is in the CSV too. */
struct total {
    int rank;     /* its place */
    size_t place; /* among all */
    char name[40];
    char text[64];
    const char *unit;
    bool is_real;
    uint64_t count;
    double real;
};

struct totals {
    struct total list[64];
    size_t count;
    char group[24]; /* the object that is open, with a point */
};

static struct total *add_total(struct totals *totals, int rank, const char *key, const char *unit,
                               const char *text)
{
    assert(totals->count < sizeof totals->list / sizeof totals->list[0]);
    struct total *total = &totals->list[totals->count++];
    *total = (struct total){.rank = rank, .place = totals->count, .unit = unit};
    (void)snprintf(total->text, sizeof total->text, "%s", text);
    (void)snprintf(total->name, sizeof total->name, "%s%s", totals->group, key);
    return total;
}

static void add_count(struct totals *totals, int rank, const char *key, const char *unit, const char *text,
                      uint64_t value)
{
    add_total(totals, rank, key, unit, text)->count = value;
}

static void add_real(struct totals *totals, int rank, const char *key, const char *unit, const char *text,
                     double value)
{
    struct total *total = add_total(totals, rank, key, unit, text);
    total->is_real = true;
    total->real = value;
}

/* Rows of one rank keep their order. */
static int by_rank(const void *a, const void *b)
{
    const struct total *first = a, *second = b;
    return first->rank != second->rank ? (first->rank < second->rank ? -1 : 1)
                                       : (first->place < second->place ? -1 : 1);
}

/* The components that the family has beyond those of nodes. */
static void add_beyond(struct totals *totals, const struct pim_system *system,
                       const struct pim_energy *energy)
{
    enum { RANK = 10 }; /* behind those of nodes */
    for (const struct pim_energy_row *row = system->hardware.family->beyond; row->key; row++) {
        char text[64];
        (void)snprintf(text, sizeof text, "energy of %s", row->text);
        add_real(totals, RANK, row->key, "pJ", text, pim_energy_of_row(energy, row));
    }
}

static void collect_totals(struct totals *totals, const struct pim_system *system,
                           const struct pim_run_result *result, const struct pim_report_inputs *inputs)
{
#define OBJECT(page, key) (void)snprintf(totals->group, sizeof totals->group, "%s.", key);
#define OBJECT_END totals->group[0] = '\0';
#define BEYOND_CSV(energy) add_beyond(totals, system, &(energy));
#define ONLY(condition) if (condition) {
#define ONLY_END }
#define FLAG(page, key, unit, definition, value, rank, csv_unit, csv_text)                                   \
    add_count(totals, rank, key, csv_unit, csv_text, value);
#define COUNT_CSV(page, key, unit, definition, value, rank, csv_unit, csv_text)                              \
    add_count(totals, rank, key, csv_unit, csv_text, value);
#define REAL_CSV(page, key, unit, definition, value, rank, csv_unit, csv_text)                               \
    add_real(totals, rank, key, csv_unit, csv_text, value);
#include "models/system/results.def"
    qsort(totals->list, totals->count, sizeof totals->list[0], by_rank);
}

static void add_totals(struct pim_csv_writer *rows, const struct pim_system *system,
                       const struct pim_run_result *result, const struct pim_report_inputs *inputs)
{
    enum { LATENCY = 39 }; /* the ranks behind the histogram of latencies are greater */
    struct totals totals = {.count = 0};
    collect_totals(&totals, system, result, inputs);
    for (size_t i = 0; i < totals.count; i++) {
        const struct total *total = &totals.list[i];
        if (total->rank > LATENCY && (i == 0 || total[-1].rank < LATENCY))
            add_latency(rows, &system->packet_latency);
        if (total->is_real)
            real(rows, total->name, total->unit, total->text, total->real);
        else
            count(rows, total->name, total->unit, total->text, total->count);
    }
}

/* Messages by what they are for. */
static void add_messages(struct pim_csv_writer *rows, const struct pim_system *system,
                         const struct pim_run_result *result)
{
    char name[64];
    for (unsigned kind = 0; kind < PIM_MESSAGES && result->messages; kind++) {
        const struct pim_message_sum *sum = &result->messages[kind];
        (void)snprintf(name, sizeof name, "messages.%s.count", pim_message_name(kind));
        count(rows, name, "messages", "messages of this kind that have left", sum->messages);
        (void)snprintf(name, sizeof name, "messages.%s.bytes", pim_message_name(kind));
        count(rows, name, "bytes", "payload of these", sum->bytes);
        (void)snprintf(name, sizeof name, "messages.%s.cycles", pim_message_name(kind));
        count(rows, name, "logic cycles", "from the start to the end of their sends, added up",
              pim_system_cycles(system, sum->time));
    }
}

static void add_units(struct pim_csv_writer *rows, const struct pim_system *system,
                      const struct pim_run_result *result)
{
    char name[96];
    for (uint32_t unit = 0; unit < result->unit_count; unit++)
        for (unsigned class = 0; class < PIM_CLASSES; class ++) {
            const struct pim_unit_result *one = &result->units[unit];
            (void)snprintf(name, sizeof name, "unit%" PRIu32 ".%s.busy", unit, pim_class_name(class));
            count(rows, name, "logic cycles", "engine worked", pim_system_cycles(system, one->busy[class]));
            (void)snprintf(name, sizeof name, "unit%" PRIu32 ".%s.stalled", unit, pim_class_name(class));
            count(rows, name, "logic cycles", "engine waited with work in its queue",
                  pim_system_part_cycles(system, one->busy[class], one->stall[class]));
        }
}

static void add_phases(struct pim_csv_writer *rows, const struct pim_system *system, bool estimates)
{
    char name[96];
    uint64_t frontier = 0;
    for (uint32_t phase = 0; phase < system->phase_count; phase++) {
        const struct pim_trace_phase *source = pim_trace_phase(system->trace, phase);
        const uint64_t start = pim_system_cycles(system, system->phases[phase].start);
        const uint64_t end = pim_system_cycles(system, system->phases[phase].end);
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".cycles", phase);
        count(rows, name, "logic cycles", source->name, end - start);
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".exclusive", phase);
        count(rows, name, "logic cycles", source->name, pim_phase_advance(end, &frontier));
        if (!estimates)
            continue;
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".estimate", phase);
        count(rows, name, "logic cycles", source->name, source->estimate_cycles);
        if (!source->has_equations)
            continue;
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".equations", phase);
        count(rows, name, "logic cycles", source->name, pim_trace_phase_equations(source));
    }
}

void pim_report_csv(const struct pim_system *system, const struct pim_run_result *result,
                    const struct pim_report_inputs *inputs, FILE *file)
{
    static const char *const header[] = {"name", "value", "unit", "description"};
    struct pim_csv_writer rows;
    pim_csv_start(&rows, file, header, sizeof header / sizeof header[0]);
    add_totals(&rows, system, result, inputs);
    add_messages(&rows, system, result);
    add_phases(&rows, system, pim_report_has_estimates(system, result, inputs));
    add_units(&rows, system, result);
}
