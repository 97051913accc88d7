/* The figures of a run as rows "name,value,unit,description" (docs/statistics.md). */
#include "models/system/report.h"
#include "sim/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

static void add_totals(struct pim_csv_writer *rows, const struct pim_system *system,
                       const struct pim_run_result *result)
{
    count(rows, "complete", "", "1: the trace ran to its end", result->complete);
    count(rows, "cycles", "logic cycles", "from the start to the end of the last phase", result->cycles);
    real(rows, "time_ns", "ns", "the same as time", (double)result->time_ps / 1000.0);
    real(rows, "energy_pj.total", "pJ", "energy of all components", result->energy.total);
#define X(member, text) real(rows, "energy_pj." #member, "pJ", "energy of " text, result->energy.member);
    PIM_ENERGY_MAP(X)
#undef X
    for (const struct pim_energy_row *row = system->hardware.family->beyond; row->key; row++) {
        char name[64], text[64];
        (void)snprintf(name, sizeof name, "energy_pj.%s", row->key);
        (void)snprintf(text, sizeof text, "energy of %s", row->text);
        real(rows, name, "pJ", text, pim_energy_of_row(&result->energy, row));
    }
    real(rows, "energy_pj.static", "pJ", "static power times time", result->energy.standing);
    const struct pim_bank_counters *dram = &result->dram;
    count(rows, "dram.row_hits", "accesses", "column accesses to an open row", dram->row_hits);
    count(rows, "dram.row_misses", "accesses", "column accesses that opened a row", dram->row_misses);
    count(rows, "dram.row_conflicts", "accesses", "column accesses that closed another row first",
          dram->row_conflicts);
    count(rows, "dram.activates", "commands", "ACT commands", dram->activates);
    count(rows, "dram.reads", "accesses", "column reads", dram->reads);
    count(rows, "dram.writes", "accesses", "column writes", dram->writes);
    count(rows, "dram.refreshes", "commands", "REF commands", dram->refreshes);
    count(rows, "noc.packets", "packets", "payload packets delivered", system->packets);
    count(rows, "noc.flits", "flits", "flits delivered", result->noc.flits_delivered);
    count(rows, "noc.flit_hops", "flits", "flits times routers traversed", result->noc.flit_hops);
    add_latency(rows, &system->packet_latency);
    count(rows, "work.macs", "MACs", "multiply-accumulates executed", result->actions.macs);
    count(rows, "work.instructions", "instructions", "instructions executed", result->instructions);
    count(rows, "work.bytes_sent", "bytes", "payload sent", result->bytes_sent);
    count(rows, "work.bytes_received", "bytes", "payload received", result->bytes_received);
    count(rows, "simulator.events", "events", "events of the kernel", result->events);
}

/* Messages of nodes by what they are for. */
static void add_messages(struct pim_csv_writer *rows, const struct pim_system *system)
{
    char name[64];
    const struct pim_node_array *nodes = pim_system_nodes(system);
    for (unsigned kind = 0; kind < PIM_MESSAGES && nodes; kind++) {
        const struct pim_message_sum *sum = &nodes->sent[kind];
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
                  pim_system_cycles(system, one->stall[class]));
        }
}

static void add_phases(struct pim_csv_writer *rows, const struct pim_system *system)
{
    char name[96];
    for (uint32_t phase = 0; phase < system->phase_count; phase++) {
        const struct pim_trace_phase *source = pim_trace_phase(system->trace, phase);
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".cycles", phase);
        count(rows, name, "logic cycles", source->name,
              pim_system_cycles(system, system->phases[phase].end - system->phases[phase].start));
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".estimate", phase);
        count(rows, name, "logic cycles", source->name, source->estimate_cycles);
    }
}

void pim_report_csv(const struct pim_system *system, const struct pim_run_result *result,
                    const struct pim_report_inputs *inputs, FILE *file)
{
    (void)inputs;
    static const char *const header[] = {"name", "value", "unit", "description"};
    struct pim_csv_writer rows;
    pim_csv_start(&rows, file, header, sizeof header / sizeof header[0]);
    add_totals(&rows, system, result);
    add_messages(&rows, system);
    add_phases(&rows, system);
    add_units(&rows, system, result);
}
