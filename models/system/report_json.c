/* The JSON of a run. Keys are a contract: see docs/reference/run-json.md before changing one. */
#include "models/system/report.h"

#include "include/pimsim/pimsim.h"
#include "models/system/steps.h"
#include "sim/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_hash(struct pim_json *json, const char *key, uint64_t hash)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
    pim_json_put_text(json, key, text);
}

static void put_cycles(struct pim_json *json, const char *key, const struct pim_system *system, pim_time time)
{
    pim_json_put_count(json, key, pim_system_cycles(system, time));
}

/* Reals of an empty set are null, not a number that looks right. */
static void put_mean(struct pim_json *json, const char *key, double sum, uint64_t count)
{
    if (count == 0)
        pim_json_put_null(json, key);
    else
        pim_json_put_real(json, key, sum / (double)count);
}

static void put_energy(struct pim_json *json, const char *key, const struct pim_system *system,
                       const struct pim_energy *energy)
{
    pim_json_begin_object(json, key);
    pim_json_put_real(json, "total", energy->total);
    for (const struct pim_energy_row *row = system->hardware.family->beyond; row->key; row++)
        pim_json_put_real(json, row->key, pim_energy_of_row(energy, row));
#define X(member, text) pim_json_put_real(json, #member, energy->member);
    PIM_ENERGY_MAP(X)
#undef X
    pim_json_put_real(json, "static", energy->standing);
    pim_json_end(json);
}

/* Energy of a unit or a phase, which stood for `time` (of a phase: the sum over its units). */
static void put_work_energy(struct pim_json *json, const struct pim_system *system,
                            const struct pim_actions *actions, pim_time time)
{
    struct pim_energy energy;
    pim_energy_of(&system->hardware.energy, actions, 1,
                  (double)time * 1e9 / (double)system->hardware.ticks_per_second, &energy);
    put_energy(json, "energy_pj", system, &energy);
}

static void put_shares(struct pim_json *json, const char *key, const struct pim_system *system,
                       const pim_time *share)
{
    pim_json_begin_object(json, key);
    for (unsigned i = 0; i < PIM_SHARES; i++)
        put_cycles(json, pim_share_name(i), system, share[i]);
    pim_json_end(json);
}

/* `frontier`: the latest end of the phases before, in cycles; moves on. */
static void put_phase(struct pim_json *json, const struct pim_system *system, uint32_t index,
                      uint64_t *frontier)
{
    const struct pim_phase_result *phase = &system->phases[index];
    const struct pim_trace_phase *source = pim_trace_phase(system->trace, index);
    uint64_t start = pim_system_cycles(system, phase->start), end = pim_system_cycles(system, phase->end);
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", source->name);
    pim_json_put_count(json, "start_cycle", start);
    pim_json_put_count(json, "end_cycle", end);
    pim_json_put_count(json, "cycles", end - start);
    pim_json_put_count(json, "exclusive_cycles", pim_phase_advance(end, frontier));
    pim_json_put_count(json, "estimate_cycles", source->estimate_cycles);
    pim_json_put_count(json, "units", phase->units);
    pim_json_put_count(json, "unit_cycles_mean", pim_phase_mean_cycles(system, index));
    put_cycles(json, "unit_cycles_maximum", system, phase->time_maximum);
    put_shares(json, "unit_cycles_by", system, phase->share);
    put_work_energy(json, system, &phase->actions, phase->time_sum);
    pim_json_end(json);
}

static void put_classes(struct pim_json *json, const char *key, const struct pim_system *system,
                        const pim_time *times)
{
    pim_json_begin_object(json, key);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        put_cycles(json, pim_class_name(class), system, times[class]);
    pim_json_end(json);
}

static void put_unit(struct pim_json *json, const struct pim_system *system, uint32_t id,
                     const struct pim_unit_result *unit)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_count(json, "id", id);
    pim_json_put_count(json, "x", id % system->hardware.width);
    pim_json_put_count(json, "y", id / system->hardware.width);
    put_classes(json, "busy_cycles", system, unit->busy);
    put_classes(json, "stall_cycles", system, unit->stall);
    put_classes(json, "idle_cycles", system, unit->idle);
    put_shares(json, "cycles_by", system, unit->share);
    pim_json_begin_object(json, "stall_causes");
    for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++) {
        pim_json_begin_object(json, pim_engine_name(engine));
        for (unsigned cause = 0; cause < PIM_WAITS; cause++)
            put_cycles(json, pim_wait_name(cause), system, unit->wait[engine][cause]);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_begin_object(json, "buffer_peak_bytes");
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        pim_json_put_count(json, pim_buffer_name(buffer), unit->buffer_high_water[buffer]);
    pim_json_end(json);
    pim_json_put_count(json, "instructions", unit->instructions);
    put_work_energy(json, system, &unit->actions, pim_system_end(system));
    pim_json_end(json);
}

static void put_links(struct pim_json *json, const struct pim_run_result *result)
{
    pim_json_begin_array(json, "links");
    for (uint32_t i = 0; i < result->link_count; i++) {
        const struct pim_noc_link_use *link = &result->links[i];
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "from", link->from);
        pim_json_put_count(json, "to", link->to);
        pim_json_put_count(json, "flits", link->flits);
        put_mean(json, "utilization", (double)link->busy_cycles, result->network_cycles);
        if (link->blocked_cycles == UINT64_MAX)
            pim_json_put_null(json, "blocked_cycles");
        else
            pim_json_put_count(json, "blocked_cycles", link->blocked_cycles);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_memory(struct pim_json *json, const struct pim_run_result *result)
{
    const struct pim_bank_counters *dram = &result->dram;
    pim_json_begin_object(json, "dram");
    pim_json_put_count(json, "row_hits", dram->row_hits);
    pim_json_put_count(json, "row_misses", dram->row_misses);
    pim_json_put_count(json, "row_conflicts", dram->row_conflicts);
    pim_json_put_count(json, "activates", dram->activates);
    pim_json_put_count(json, "precharges", dram->precharges);
    pim_json_put_count(json, "reads", dram->reads);
    pim_json_put_count(json, "writes", dram->writes);
    pim_json_put_count(json, "refreshes", dram->refreshes);
    pim_json_put_count(json, "bytes_read", dram->bytes_read);
    pim_json_put_count(json, "bytes_written", dram->bytes_written);
    /* Cycles of the memory clock, summed over the nodes, in which the port had a burst and ... */
    pim_json_put_count(json, "data_cycles", dram->data_cycles);             /* moved data */
    pim_json_put_count(json, "row_cycles", dram->row_cycles);               /* waited for a row */
    pim_json_put_count(json, "refresh_cycles", dram->refresh_cycles);       /* waited for a refresh */
    pim_json_put_count(json, "turnaround_cycles", dram->turnaround_cycles); /* waited for the bus to turn */
    pim_json_end(json);
}

static void put_quantile(struct pim_json *json, const char *key, const struct pim_histogram *histogram,
                         unsigned per_mille)
{
    if (histogram->count == 0)
        pim_json_put_null(json, key);
    else
        pim_json_put_count(json, key, pim_histogram_quantile(histogram, per_mille));
}

static void put_network(struct pim_json *json, const struct pim_system *system,
                        const struct pim_run_result *result)
{
    const struct pim_histogram *latency = &system->packet_latency;
    pim_json_begin_object(json, "noc");
    pim_json_put_count(json, "packets", system->packets);
    pim_json_put_count(json, "control_packets", result->noc.packets_delivered - system->packets);
    pim_json_put_count(json, "flits", result->noc.flits_delivered);
    pim_json_put_count(json, "flit_hops", result->noc.flit_hops);
    put_mean(json, "average_packet_latency", pim_sum_real(&latency->sum), latency->count);
    put_quantile(json, "p50_packet_latency", latency, 500);
    put_quantile(json, "p95_packet_latency", latency, 950);
    put_quantile(json, "p99_packet_latency", latency, 990);
    put_mean(json, "average_hops", (double)system->hops, system->packets);
    const struct pim_node_array *nodes = pim_system_nodes(system);
    pim_json_put_count(json, "receive_queue_maximum", nodes ? nodes->receive_queue_high_water : 0);
    pim_json_end(json);
}

/* What only cores do. */
static void put_cores(struct pim_json *json, const struct pim_cores *cores,
                      const struct pim_run_result *result)
{
    const struct pim_actions *actions = &result->actions;
    pim_json_begin_object(json, "cores");
    pim_json_put_count(json, "mvm_cycles", cores->cost.mvm_cycles);
    pim_json_put_count(json, "array_mvms", actions->crossbar_mvms);
    pim_json_put_count(json, "vector_operations", actions->vector_operations);
    pim_json_put_count(json, "local_memory_bits", actions->local_bits);
    pim_json_put_count(json, "global_memory_bits", actions->global_bits);
    pim_json_put_count(json, "interconnect_bits", actions->interconnect_bits);
    pim_json_put_count(json, "chip_link_bits", actions->chip_link_bits);
    pim_json_end(json);
}

static void put_work(struct pim_json *json, const struct pim_system *system,
                     const struct pim_run_result *result)
{
    const struct pim_trace_description *description = pim_trace_description(system->trace);
    pim_json_begin_object(json, "work");
    pim_json_put_count(json, "instructions", result->instructions);
    pim_json_put_count(json, "macs", result->actions.macs);
    pim_json_put_count(json, "network_macs", description->macs);
    pim_json_put_count(json, "padding_macs", description->padding_macs);
    pim_json_put_count(json, "bytes_loaded", result->bytes_loaded);
    pim_json_put_count(json, "bytes_stored", result->bytes_stored);
    pim_json_put_count(json, "bytes_sent", result->bytes_sent);
    pim_json_put_count(json, "bytes_received", result->bytes_received);
    pim_json_end(json);
}

/* Messages of nodes by what they are for. */
static void put_messages(struct pim_json *json, const struct pim_system *system,
                         const struct pim_node_array *nodes)
{
    pim_json_begin_object(json, "messages");
    for (unsigned kind = 0; kind < PIM_MESSAGES; kind++) {
        const struct pim_message_sum *sum = &nodes->sent[kind];
        pim_json_begin_object(json, pim_message_name(kind));
        pim_json_put_count(json, "count", sum->messages);
        pim_json_put_count(json, "bytes", sum->bytes);
        pim_json_put_count(json, "cycles", pim_system_cycles(system, sum->time));
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_simulator(struct pim_json *json, const struct pim_run_result *result,
                          const struct pim_report_inputs *inputs)
{
    pim_json_begin_object(json, "simulator");
    pim_json_put_text(json, "version", pimsim_version());
    pim_json_put_count(json, "events", result->events);
    if (inputs->reproducible) {
        pim_json_put_null(json, "cpu_seconds");
        pim_json_put_null(json, "peak_memory_bytes");
    } else {
        pim_json_put_real(json, "cpu_seconds", inputs->cpu_seconds);
        pim_json_put_count(json, "peak_memory_bytes", inputs->peak_memory_bytes);
    }
    pim_json_end(json);
}

static void put_inputs(struct pim_json *json, const struct pim_system *system,
                       const struct pim_report_inputs *inputs)
{
    const struct pim_trace_description *description = pim_trace_description(system->trace);
    pim_json_begin_object(json, "inputs");
    pim_json_put_text(json, "family", description->family);
    pim_json_put_text(json, "network", description->network);
    pim_json_put_text(json, "mapping", description->mapping);
    put_hash(json, "trace_hash", pim_trace_hash(system->trace));
    put_hash(json, "config_hash", inputs->config_hash);
    char *configuration =
        inputs->configuration ? pim_configuration_write(inputs->configuration, false) : NULL;
    if (configuration)
        pim_json_put_text(json, "configuration", configuration);
    else
        pim_json_put_null(json, "configuration");
    free(configuration);
    if (inputs->estimate_differs)
        pim_json_put_text(json, "estimate_differs", inputs->estimate_differs);
    pim_json_put_count(json, "seed", inputs->seed);
    pim_json_end(json);
}

enum pim_status pim_report_json(const struct pim_system *system, const struct pim_run_result *result,
                                const struct pim_report_inputs *inputs, FILE *file, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    pim_json_put_boolean(json, "complete", result->complete);
    pim_json_put_count(json, "cycles", result->cycles);
    pim_json_put_real(json, "time_ns", (double)result->time_ps / 1000.0);
    put_energy(json, "energy_pj", system, &result->energy);
    uint64_t frontier = 0;
    pim_json_begin_array(json, "phases");
    for (uint32_t phase = 0; phase < system->phase_count; phase++)
        put_phase(json, system, phase, &frontier);
    pim_json_end(json);
    pim_json_begin_array(json, "units");
    for (uint32_t unit = 0; unit < result->unit_count; unit++)
        put_unit(json, system, unit, &result->units[unit]);
    pim_json_end(json);
    put_links(json, result);
    put_memory(json, result);
    put_network(json, system, result);
    put_work(json, system, result);
    if (pim_system_nodes(system))
        put_messages(json, system, pim_system_nodes(system));
    if (pim_system_cores(system))
        put_cores(json, pim_system_cores(system), result);
    put_simulator(json, result, inputs);
    put_inputs(json, system, inputs);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
