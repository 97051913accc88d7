/* The figures of a run as rows "name,value,unit,description", through the statistics registry. */
#include "models/system/report.h"

#include <inttypes.h>
#include <stdio.h>

static void count(struct pim_statistics *statistics, const char *name, const char *unit, const char *text,
                  uint64_t value)
{
    *pim_statistics_counter(statistics, name, unit, text) = value;
}

static void real(struct pim_statistics *statistics, const char *name, const char *unit, const char *text,
                 double value)
{
    *pim_statistics_real(statistics, name, unit, text) = value;
}

static void add_totals(struct pim_statistics *statistics, const struct pim_system *system,
                       const struct pim_run_result *result)
{
    count(statistics, "complete", "", "1: the trace ran to its end", result->complete);
    count(statistics, "cycles", "logic cycles", "from the start to the end of the last phase",
          result->cycles);
    real(statistics, "time_ns", "ns", "the same as time", (double)result->time_ps / 1000.0);
    real(statistics, "energy_pj.total", "pJ", "energy of all components", result->energy.total);
#define X(member, text)                                                                                      \
    real(statistics, "energy_pj." #member, "pJ", "energy of " text, result->energy.member);
    PIM_ENERGY_MAP(X)
#undef X
    if (system->hardware.has_cores) {
#define X(member, text)                                                                                      \
    real(statistics, "energy_pj." #member, "pJ", "energy of " text, result->energy.member);
        PIM_CORE_ENERGY_MAP(X)
#undef X
    }
    real(statistics, "energy_pj.static", "pJ", "static power times time", result->energy.standing);
    const struct pim_bank_counters *dram = &result->dram;
    count(statistics, "dram.row_hits", "accesses", "column accesses to an open row", dram->row_hits);
    count(statistics, "dram.row_misses", "accesses", "column accesses that opened a row", dram->row_misses);
    count(statistics, "dram.row_conflicts", "accesses", "column accesses that closed another row first",
          dram->row_conflicts);
    count(statistics, "dram.activates", "commands", "ACT commands", dram->activates);
    count(statistics, "dram.reads", "accesses", "column reads", dram->reads);
    count(statistics, "dram.writes", "accesses", "column writes", dram->writes);
    count(statistics, "dram.refreshes", "commands", "REF commands", dram->refreshes);
    count(statistics, "noc.packets", "packets", "payload packets delivered", system->packets);
    count(statistics, "noc.flits", "flits", "flits delivered", result->noc.flits_delivered);
    count(statistics, "noc.flit_hops", "flits", "flits times routers traversed", result->noc.flit_hops);
    pim_statistics_histogram_at(statistics, &system->packet_latency, "noc.packet_latency", "network cycles",
                                "from creation to arrival of the tail of payload packets");
    count(statistics, "work.macs", "MACs", "multiply-accumulates executed", result->actions.macs);
    count(statistics, "work.instructions", "instructions", "instructions executed", result->instructions);
    count(statistics, "work.bytes_sent", "bytes", "payload sent", result->bytes_sent);
    count(statistics, "work.bytes_received", "bytes", "payload received", result->bytes_received);
    count(statistics, "simulator.events", "events", "events of the kernel", result->events);
}

/* Messages of nodes by what they are for. */
static void add_messages(struct pim_statistics *statistics, const struct pim_system *system)
{
    char name[64];
    for (unsigned kind = 0; kind < PIM_MESSAGES && !system->hardware.has_cores; kind++) {
        const struct pim_message_sum *sum = &system->array.sent[kind];
        (void)snprintf(name, sizeof name, "messages.%s.count", pim_message_name(kind));
        count(statistics, name, "messages", "messages of this kind that have left", sum->messages);
        (void)snprintf(name, sizeof name, "messages.%s.bytes", pim_message_name(kind));
        count(statistics, name, "bytes", "payload of these", sum->bytes);
        (void)snprintf(name, sizeof name, "messages.%s.cycles", pim_message_name(kind));
        count(statistics, name, "logic cycles", "from the start to the end of their sends, added up",
              pim_system_cycles(system, sum->time));
    }
}

static void add_units(struct pim_statistics *statistics, const struct pim_system *system,
                      const struct pim_run_result *result)
{
    char name[96];
    for (uint32_t unit = 0; unit < result->unit_count; unit++)
        for (unsigned class = 0; class < PIM_CLASSES; class ++) {
            const struct pim_unit_result *one = &result->units[unit];
            (void)snprintf(name, sizeof name, "unit%" PRIu32 ".%s.busy", unit, pim_class_name(class));
            count(statistics, name, "logic cycles", "engine worked",
                  pim_system_cycles(system, one->busy[class]));
            (void)snprintf(name, sizeof name, "unit%" PRIu32 ".%s.stalled", unit, pim_class_name(class));
            count(statistics, name, "logic cycles", "engine waited with work in its queue",
                  pim_system_cycles(system, one->stall[class]));
        }
}

static void add_phases(struct pim_statistics *statistics, const struct pim_system *system)
{
    char name[96];
    for (uint32_t phase = 0; phase < system->phase_count; phase++) {
        const struct pim_trace_phase *source = pim_trace_phase(system->trace, phase);
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".cycles", phase);
        count(statistics, name, "logic cycles", source->name,
              pim_system_cycles(system, system->phases[phase].end - system->phases[phase].start));
        (void)snprintf(name, sizeof name, "phase%" PRIu32 ".estimate", phase);
        count(statistics, name, "logic cycles", source->name, source->estimate_cycles);
    }
}

void pim_report_csv(const struct pim_system *system, const struct pim_run_result *result,
                    const struct pim_report_inputs *inputs, FILE *file)
{
    (void)inputs;
    struct pim_statistics *statistics = pim_statistics_create();
    add_totals(statistics, system, result);
    add_messages(statistics, system);
    add_phases(statistics, system);
    add_units(statistics, system, result);
    pim_statistics_write_csv(statistics, file);
    pim_statistics_destroy(statistics);
}
