/* The summary for people. */
#include "models/system/report/report.h"
#include "models/system/report/results.h"
#include "models/system/report/steps.h"
#include "sim/output/output.h"
#include "sim/try.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8, STEP_WIDTH = 16 };

static const char *energy_text(double picojoules, char text[PIM_REAL_CHARACTERS])
{
    pim_format_energy(text, picojoules);
    return text;
}

/* The parts of a memory on channels that the standard has figures for, and why the others are missing. */
static void print_memory_energy(const struct pim_dram_energy *energy, FILE *file)
{
    char reason[PIM_DRAM_ENERGY_REASON], text[PIM_REAL_CHARACTERS];
    fputs("  memory on channels\n", file);
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_background_active; part++) {
        pim_dram_energy_reason(energy, part, reason);
        fprintf(file, "    %-11s ", pim_dram_energy_part_text(part));
        if (reason[0] != '\0')
            fprintf(file, "       n/a  (%s)\n", reason);
        else
            fprintf(file, "%13s\n", energy_text(pim_dram_energy_of_part(energy, part), text));
    }
}

static void print_energy(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    struct pim_energy_component components[PIM_ENERGY_COMPONENTS_MOST];
    const double total = result->energy.total;
    const uint32_t count = pim_energy_components(system, &result->energy, components);
    char reason[PIM_DRAM_ENERGY_REASON] = "", text[PIM_REAL_CHARACTERS], share[PIM_REAL_CHARACTERS];
    if (result->on_channels)
        pim_dram_energy_reason(&result->memory_energy, PIM_DRAM_ENERGY_total, reason);
    if (isnan(total))
        fprintf(file, "\nenergy        n/a%s%s%s\n", reason[0] ? "  (memory: " : "", reason,
                reason[0] ? ")" : "");
    else
        fprintf(file, "\nenergy        %s\n", energy_text(total, text));
    for (uint32_t i = 0; i < count; i++)
        if (isnan(components[i].picojoules))
            fprintf(file, "  %-13s        n/a  (%s)\n", components[i].name,
                    components[i].of_memory && reason[0]
                        ? "a part of the memory's is missing"
                        : "its energy is 0 in the configuration: not modelled");
        else if (isnan(total))
            fprintf(file, "  %-13s %13s\n", components[i].name, energy_text(components[i].picojoules, text));
        else
            fprintf(file, "  %-13s %13s  %7s\n", components[i].name,
                    energy_text(components[i].picojoules, text),
                    pim_format_share(share, components[i].picojoules, total));
    if (result->on_channels)
        print_memory_energy(&result->memory_energy, file);
}

/* Phases of the same step ("query") summed over stages, blocks and layers. */
struct group {
    const char *name;
    uint64_t phases, cycles, estimate;
};

static int by_cycles(const void *a, const void *b)
{
    const struct group *first = a, *second = b;
    if (first->cycles != second->cycles)
        return first->cycles < second->cycles ? 1 : -1;
    return strcmp(first->name, second->name);
}

static int by_name(const void *a, const void *b)
{
    const struct group *first = a, *second = b;
    return strcmp(first->name, second->name);
}

/* Groups of the same name become one; returns how many there are then. */
static size_t merge(struct group *groups, size_t count)
{
    size_t merged = 0;
    qsort(groups, count, sizeof groups[0], by_name);
    for (size_t i = 0; i < count; i++) {
        if (merged == 0 || strcmp(groups[merged - 1].name, groups[i].name) != 0) {
            groups[merged++] = groups[i];
            continue;
        }
        groups[merged - 1].phases += groups[i].phases;
        groups[merged - 1].cycles += groups[i].cycles;
        groups[merged - 1].estimate += groups[i].estimate;
    }
    return merged;
}

/* Ends a line, with the estimate where it is one of this hardware and of all that was run. */
static void end_line(FILE *file, bool estimates, const char *before, int width, uint64_t cycles)
{
    if (estimates)
        fprintf(file, "%s%*" PRIu64, before, width, cycles);
    fputc('\n', file);
}

static void print_steps(const struct group *groups, size_t count, bool estimates, double whole, FILE *file)
{
    const size_t shown = count < 2 * SHOWN ? count : 2 * SHOWN;
    int width = STEP_WIDTH;
    for (size_t i = 0; i < shown; i++)
        if (strlen(groups[i].name) > (size_t)width)
            width = (int)strlen(groups[i].name);
    fprintf(file, "\nsteps by time (by how much each moves the end of the work)\n");
    fprintf(file, "  %-*s %8s %14s %8s%s\n", width, "step", "phases", "cycles", "share",
            estimates ? "       estimate" : "");
    for (size_t i = 0; i < shown; i++) {
        char share[PIM_REAL_CHARACTERS];
        fprintf(file, "  %-*s %8" PRIu64 " %14" PRIu64 " %8s", width, groups[i].name, groups[i].phases,
                groups[i].cycles, pim_format_share(share, (double)groups[i].cycles, whole));
        end_line(file, estimates, " ", 14, groups[i].estimate);
    }
    if (count > shown)
        fprintf(file, "  (%zu shorter steps are not shown)\n", count - shown);
}

static enum pim_status print_phases(const struct pim_system *system, const struct pim_run_result *result,
                                    bool estimates, FILE *file, struct pim_error *error)
{
    struct group *groups = calloc((size_t)system->phase_count + 1, sizeof *groups);
    PIM_NEED_MEMORY(groups, error, "no memory for the steps of %" PRIu32 " phases", system->phase_count);
    uint64_t frontier = 0;
    for (uint32_t i = 0; i < system->phase_count; i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(system->trace, i);
        const uint64_t end = pim_system_cycles(system, system->phases[i].end);
        groups[i] = (struct group){pim_step_name(phase->name), 1, pim_phase_advance(end, &frontier),
                                   phase->estimate_cycles};
    }
    const size_t count = merge(groups, system->phase_count);
    qsort(groups, count, sizeof groups[0], by_cycles);
    print_steps(groups, count, estimates, (double)result->cycles, file);
    free(groups);
    return PIM_OK;
}

static void print_longest(const struct pim_system *system, bool estimates, FILE *file)
{
    struct {
        uint32_t phase;
        uint64_t cycles;
    } shown[SHOWN];
    unsigned count = 0;
    uint64_t frontier = 0;
    for (uint32_t i = 0; i < system->phase_count; i++) {
        const uint64_t cycles =
            pim_phase_advance(pim_system_cycles(system, system->phases[i].end), &frontier);
        unsigned place = count < SHOWN ? count++ : SHOWN;
        for (; place > 0 && shown[place - 1].cycles < cycles; place--)
            if (place < SHOWN)
                shown[place] = shown[place - 1];
        if (place < SHOWN) {
            shown[place].phase = i;
            shown[place].cycles = cycles;
        }
    }
    fprintf(file, "\nlongest phases\n");
    for (unsigned i = 0; i < count; i++) {
        const struct pim_trace_phase *phase = pim_trace_phase(system->trace, shown[i].phase);
        fprintf(file, "  %-36s %12" PRIu64 " cycles", phase->name, shown[i].cycles);
        end_line(file, estimates, ", estimate ", 12, phase->estimate_cycles);
    }
}

static void print_engines(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const char *const *names = system->hardware.family->engines;
    static const unsigned engines[PIM_CLASSES] = {1u << PIM_ENGINE_MATRIX, 1u << PIM_ENGINE_VECTOR,
                                                  1u << PIM_ENGINE_MEMORY,
                                                  1u << PIM_ENGINE_SEND | 1u << PIM_ENGINE_RECEIVE};
    double whole = (double)result->end * result->unit_count;
    fprintf(file, "\nengines (mean of all units, share of the run)\n  %-10s %7s %8s %7s   stalled for\n",
            "engine", "busy", "stalled", "idle");
    for (unsigned class = 0; class < PIM_CLASSES; class ++) {
        double busy = 0, stall = 0, idle = 0, waits[PIM_WAITS] = {0}, causes = 0;
        unsigned shown = 0;
        for (uint32_t unit = 0; unit < result->unit_count; unit++) {
            const struct pim_unit_result *one = &result->units[unit];
            busy += (double)one->busy[class];
            stall += (double)one->stall[class];
            idle += (double)one->idle[class];
            for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
                for (unsigned cause = 0; cause < PIM_WAITS && (engines[class] >> engine & 1); cause++) {
                    waits[cause] += (double)one->wait[engine][cause];
                    causes += (double)one->wait[engine][cause];
                }
        }
        char share[3][PIM_REAL_CHARACTERS];
        fprintf(file, "  %-10s %7s %8s %7s", names[class], pim_format_share(share[0], busy, whole),
                pim_format_share(share[1], stall, whole), pim_format_share(share[2], idle, whole));
        for (unsigned cause = 0; cause < PIM_WAITS; cause++)
            if (causes > 0 && waits[cause] >= 0.005 * causes)
                fprintf(file, "%s %s %.0f %%", shown++ == 0 ? "  " : "", pim_wait_name(cause),
                        100 * waits[cause] / causes);
        fprintf(file, "\n");
    }
    if (system->hardware.family->print_memory)
        system->hardware.family->print_memory(system, result, file);
}

static int by_busy_cycles(const void *a, const void *b)
{
    const struct pim_noc_link_use *first = a, *second = b;
    if (first->busy_cycles != second->busy_cycles)
        return first->busy_cycles < second->busy_cycles ? 1 : -1;
    return first->from != second->from ? (first->from < second->from ? -1 : 1)
                                       : (first->to < second->to ? -1 : 1);
}

static void print_network(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_histogram *latency = &system->packet_latency;
    fprintf(file, "\nnetwork: %" PRIu64 " packets, %" PRIu64 " flits, %" PRIu64 " flit-hops\n",
            system->packets, result->noc.flits_delivered, result->noc.flit_hops);
    if (latency->count)
        fprintf(file, "  packet latency %.1f cycles on average, p99 %" PRIu64 "; %.2f routers on average\n",
                pim_histogram_mean(latency), pim_histogram_quantile(latency, 990),
                (double)system->hops / (double)system->packets);
    struct pim_noc_link_use *links = malloc((result->link_count + 1) * sizeof *links);
    if (!links || result->link_count == 0 || result->network_cycles == 0) {
        free(links);
        return;
    }
    memcpy(links, result->links, result->link_count * sizeof *links);
    qsort(links, result->link_count, sizeof *links, by_busy_cycles);
    uint32_t width = system->hardware.noc.width;
    char share[PIM_REAL_CHARACTERS];
    fprintf(file, "  busiest links:");
    for (uint32_t i = 0; i < 4 && i < result->link_count && links[i].flits > 0; i++)
        fprintf(file, "%s (%" PRIu32 ",%" PRIu32 ")->(%" PRIu32 ",%" PRIu32 ") %s", i ? "," : "",
                links[i].from % width, links[i].from / width, links[i].to % width, links[i].to / width,
                pim_format_share(share, (double)links[i].busy_cycles, (double)result->network_cycles));
    fprintf(file, "%s\n", links[0].flits > 0 ? "" : " none");
    free(links);
}

/* Messages by what they are for, where a trace says it. */
static void print_messages(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    for (unsigned kind = PIM_MESSAGE_PLAIN + 1; kind < PIM_MESSAGES && result->messages; kind++) {
        const struct pim_message_sum *sum = &result->messages[kind];
        if (sum->messages > 0)
            fprintf(file,
                    "  %-9s %" PRIu64 " messages, %" PRIu64 " bytes, %" PRIu64
                    " cycles from the start to the end of their sends\n",
                    pim_message_name(kind), sum->messages, sum->bytes, pim_system_cycles(system, sum->time));
    }
}

static void print_host(const struct pim_report_inputs *inputs, const struct pim_run_result *result,
                       FILE *file)
{
    char seconds[PIM_REAL_CHARACTERS];
    pim_format_cpu_seconds(seconds, inputs->cpu_seconds);
    fprintf(file, "\nsimulated in %s, %" PRIu64 " events, %.1f MB\n", seconds, result->events,
            (double)inputs->peak_memory_bytes / 1e6);
}

enum pim_status pim_report_text(const struct pim_system *system, const struct pim_run_result *result,
                                const struct pim_report_inputs *inputs, FILE *file, struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(system->trace);
    static const char *const fidelities[] = {"ideal", "analytic", "flit"};
    const struct pim_hardware_family *family = system->hardware.family;
    const bool estimates = pim_report_has_estimates(system, result, inputs);
    const char *interconnect = family->interconnect ? family->interconnect(&system->hardware) : NULL;
    if (!interconnect)
        interconnect = fidelities[system->hardware.noc.fidelity];
    fprintf(file, "%s", description->family);
    const char *const made_of[] = {description->network, description->mapping};
    for (unsigned i = 0; i < 2; i++)
        if (*made_of[i] != '\0')
            fprintf(file, ", %s", made_of[i]);
    fprintf(file, " on %" PRIu32 " x %" PRIu32 " %s, network: %s\n", system->hardware.width,
            system->hardware.height, family->plural, interconnect);
    if (!result->complete)
        fprintf(file, "STOPPED BEFORE THE END: figures cover the first %" PRIu64 " cycles only\n",
                result->cycles);
    fprintf(file, "cycles        %" PRIu64 " of the logic clock\ntime          %.3f us\n", result->cycles,
            (double)result->time_ps * 1e-6);
    fprintf(file,
            "work          %" PRIu64 " MACs (network %" PRIu64 ", padding %" PRIu64 "), %" PRIu64
            " instructions\n",
            result->actions.macs, description->macs, description->padding_macs, result->instructions);
    if (!pim_trace_is_estimated(system->trace))
        fprintf(file, "estimates     none in the trace\n");
    else if (inputs->estimate_differs)
        fprintf(file, "estimates     of another hardware (%s), not shown\n", inputs->estimate_differs);
    else if (!result->complete)
        fprintf(file, "estimates     of the whole trace, not shown\n");
    PIM_TRY(print_phases(system, result, estimates, file, error));
    print_longest(system, estimates, file);
    print_engines(system, result, file);
    family->print(system, result, file);
    print_network(system, result, file);
    print_messages(system, result, file);
    print_energy(system, result, file);
    if (system->timeline_left_out > 0)
        fprintf(file,
                "\ntimeline: %" PRIu64
                " slices beyond its size limit are left out; choose fewer units or a window\n",
                system->timeline_left_out);
    if (!inputs->reproducible)
        print_host(inputs, result, file);
    return PIM_OK;
}
