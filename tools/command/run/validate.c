/*
 * pimsim validate: the mapper's estimate of every phase, and what the equations of its publication say where
 * it has some, beside simulated cycles; and what the simulator attributes the difference to.
 *
 * The simulated time of a phase is by how much it moves the end of the work (models/system/report/steps.h).
 * The parts beside it are those of the unit that left the phase last; what it waited for other units shows as
 * waiting, and what the phase took less than that unit, because units drift apart, as overlap.
 */
#include "models/system/report/steps.h"
#include "sim/output/csv.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/run/replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

/*
 * One line: a phase, a step over all its phases, or the whole run. Cycles of the logic clock, means over
 * units.
 */
struct line {
    const char *name;
    uint64_t phases;
    bool estimated; /* the trace has an estimate: else that of every line is 0, and says nothing */
    double estimate, simulated;
    double parts[PIM_ESTIMATE_PARTS];
    /* of the phases for which the published equations have terms: how many, what they say, what it took */
    uint64_t equation_phases;
    double terms[PIM_EQUATION_TERMS], equations, equations_simulated;
    double share[PIM_SHARES];
    double overlap; /* of the last unit's time with phases before */
    double contention, rows, refresh, turnaround, buffer, peer;
};

/* NaN: nothing was simulated. */
static double percent_above(double said, double simulated)
{
    return simulated > 0 ? 100.0 * (said - simulated) / simulated : (double)NAN;
}

/* NaN: there is none. */
static double error_percent(const struct line *line)
{
    return line->estimated ? percent_above(line->estimate, line->simulated) : (double)NAN;
}

/* A mapper that was stopped has no estimate to give, nor has who writes a trace by hand. */
static void mark_estimated(struct line *lines, size_t count, bool estimated)
{
    for (size_t i = 0; i < count; i++)
        lines[i].estimated = estimated;
}

/* What the equations say, `simulated` in mind. */
static void set_equations(struct line *line, const struct pim_trace_phase *phase)
{
    if (!phase->has_equations)
        return;
    line->equation_phases = 1;
    line->equations = (double)pim_trace_phase_equations(phase);
    line->equations_simulated = line->simulated;
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        line->terms[term] = (double)phase->equation_terms[term];
}

/* `frontier`: the latest end of the phases before, in cycles; moved on. */
static struct line phase_line(const struct pim_system *system, uint32_t index, uint64_t *frontier)
{
    const struct pim_phase_result *result = &system->phases[index];
    const struct pim_trace_phase *phase = pim_trace_phase(system->trace, index);
    struct line line = {.name = phase->name, .phases = 1, .estimate = (double)phase->estimate_cycles};
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        line.parts[part] = (double)phase->estimate_parts[part];
    if (!pim_system_banks(system)) /* what the port waited for is known of private banks alone */
        line.rows = line.refresh = line.turnaround = (double)NAN;
    if (result->units == 0) {
        set_equations(&line, phase);
        return line;
    }
    double unit = (double)result->units * (double)system->hardware.node.logic_period;
    double period = (double)system->hardware.node.logic_period;
    line.simulated = (double)pim_phase_advance(pim_system_cycles(system, result->end), frontier);
    for (unsigned share = 0; share < PIM_SHARES; share++)
        line.share[share] = (double)result->last_share[share] / period;
    set_equations(&line, phase);
    line.overlap = (double)result->last_time / period - line.simulated;
    line.contention = (double)result->noc_contention / unit;
    line.rows += (double)result->dram_row / unit;
    line.refresh += (double)result->dram_refresh / unit;
    line.turnaround += (double)result->dram_turnaround / unit;
    line.buffer = (double)result->wait[PIM_WAIT_BUFFER] / unit;
    line.peer = (double)result->wait[PIM_WAIT_PEER] / unit;
    return line;
}

static void add(struct line *sum, const struct line *line)
{
    sum->phases += line->phases;
    sum->estimate += line->estimate;
    sum->simulated += line->simulated;
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        sum->parts[part] += line->parts[part];
    sum->equation_phases += line->equation_phases;
    sum->equations += line->equations;
    sum->equations_simulated += line->equations_simulated;
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        sum->terms[term] += line->terms[term];
    for (unsigned share = 0; share < PIM_SHARES; share++)
        sum->share[share] += line->share[share];
    sum->overlap += line->overlap;
    sum->contention += line->contention;
    sum->rows += line->rows;
    sum->refresh += line->refresh;
    sum->turnaround += line->turnaround;
    sum->buffer += line->buffer;
    sum->peer += line->peer;
}

/* Everything that is printed: lines of all phases, of steps, and the total. */
struct comparison {
    struct line *phases, *steps;
    size_t phase_count, step_count;
    const char *differs; /* what of the hardware the estimates were not made for; empty: nothing */
    struct line total;   /* estimate and simulated of the whole run, attribution summed over phases */
};

static enum pim_status compare(const struct replay *replay, struct comparison *comparison,
                               struct pim_error *error)
{
    uint32_t count = replay->system->phase_count;
    *comparison = (struct comparison){.phase_count = count, .differs = replay->differs};
    comparison->phases = calloc((size_t)count + 1, sizeof(struct line));
    comparison->steps = calloc((size_t)count + 1, sizeof(struct line));
    if (!comparison->phases || !comparison->steps)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " phases", count);
    uint64_t frontier = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct line line = phase_line(replay->system, i, &frontier);
        const char *step = pim_step_name(line.name);
        size_t at = 0;
        while (at < comparison->step_count && strcmp(comparison->steps[at].name, step) != 0)
            at++;
        if (at == comparison->step_count)
            comparison->steps[comparison->step_count++].name = step;
        add(&comparison->steps[at], &line);
        add(&comparison->total, &line);
        comparison->phases[i] = line;
    }
    comparison->total.name = "total";
    comparison->total.simulated = (double)replay->result.cycles;
    const bool estimated = pim_trace_is_estimated(replay->system->trace);
    mark_estimated(comparison->phases, comparison->phase_count, estimated);
    mark_estimated(comparison->steps, comparison->step_count, estimated);
    mark_estimated(&comparison->total, 1, estimated);
    return PIM_OK;
}

/* --- text --- */

/* `equations`: with the column of what the published equations say. */
static void print_header(FILE *file, bool equations)
{
    fprintf(file, "%-32s %12s %12s %8s", "", "estimate", "simulated", "error");
    if (equations)
        fprintf(file, " %12s %8s", "equations", "error");
    fprintf(file, " | %10s %10s %10s %10s %10s %10s | %10s %10s %10s %10s %10s\n", "matrix", "vector",
            "memory", "network", "waiting", "overlap", "contention", "rows", "refresh", "buffer", "peer");
}

static void print_cycles(FILE *file, bool known, double cycles)
{
    if (known)
        fprintf(file, " %12.0f", cycles);
    else
        fprintf(file, " %12s", "-");
}

/* A dash for NaN. */
static void print_lost(FILE *file, double cycles)
{
    if (isnan(cycles))
        fprintf(file, " %10s", "-");
    else
        fprintf(file, " %10.0f", cycles);
}

static void print_percent(FILE *file, double percent)
{
    if (isnan(percent))
        fprintf(file, " %8s", "-");
    else
        fprintf(file, " %+7.1f%%", percent);
}

static void print_line(FILE *file, const struct line *line, bool equations)
{
    fprintf(file, "%-32s", line->name);
    print_cycles(file, line->estimated, line->estimate);
    print_cycles(file, true, line->simulated);
    print_percent(file, error_percent(line));
    if (equations) {
        const bool said = line->equation_phases > 0;
        print_cycles(file, said, line->equations);
        print_percent(file, said ? percent_above(line->equations, line->simulated) : (double)NAN);
    }
    fprintf(file, " | %10.0f %10.0f %10.0f %10.0f %10.0f %10.0f |", line->share[PIM_SHARE_MATRIX],
            line->share[PIM_SHARE_VECTOR], line->share[PIM_SHARE_MEMORY], line->share[PIM_SHARE_NETWORK],
            line->share[PIM_SHARE_WAITING], round(-line->overlap) + 0.0); /* + 0: no -0 */
    const double lost[] = {line->contention, line->rows + line->turnaround, line->refresh, line->buffer,
                           line->peer};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        print_lost(file, lost[i]);
    fprintf(file, "\n");
}

static int by_difference(const void *a, const void *b)
{
    const struct line *first = a, *second = b;
    double x = fabs(first->estimate - first->simulated), y = fabs(second->estimate - second->simulated);
    if (x > y || x < y)
        return x < y ? 1 : -1;
    return strcmp(first->name, second->name);
}

/* Where the simulation spent what the estimate has not: the parts of both, side by side. */
static void print_parts(FILE *file, const struct line *total)
{
    if (total->estimated) {
        fprintf(file, "\nestimate by part (cycles):");
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            fprintf(file, "  %s %.0f", pim_estimate_part_name(part), total->parts[part]);
    }
    fprintf(file, "\nsimulated by part (cycles):");
    for (unsigned share = 0; share < PIM_SHARES; share++)
        fprintf(file, "  %s %.0f", pim_share_name(share), total->share[share]);
    fprintf(file, "\n");
}

enum { PERCENT_TEXT = 48 };

/* "+0.24 %", or "-" for NaN. */
static const char *percent_text(double percent, char text[PERCENT_TEXT])
{
    if (isnan(percent))
        (void)snprintf(text, PERCENT_TEXT, "-");
    else
        (void)snprintf(text, PERCENT_TEXT, "%+.2f %%", percent);
    return text;
}

/* The published equations over the run, and over the phases that they have terms for. */
static void print_equations(FILE *file, const struct line *total)
{
    char whole[PERCENT_TEXT], known[PERCENT_TEXT];
    fprintf(file,
            "published equations: %.0f cycles, %s of the run; %" PRIu64 " of %" PRIu64
            " phases have terms in them, %.0f simulated cycles: %s\n",
            total->equations, percent_text(percent_above(total->equations, total->simulated), whole),
            total->equation_phases, total->phases, total->equations_simulated,
            percent_text(percent_above(total->equations, total->equations_simulated), known));
    fprintf(file, "equations by term (cycles):");
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        fprintf(file, "  %s %.0f", pim_equation_term_name(term), total->terms[term]);
    fprintf(file, "\n");
}

static void write_text(FILE *file, struct comparison *comparison, bool all)
{
    fprintf(file, "cycles of the logic clock; phases tile the run: a phase lasts from the end of all before "
                  "it to its own. Right of the first\n"
                  "bar its time in the unit that left it last; right of the second bar time lost, mean per "
                  "unit: packets beyond their zero-load latency, DRAM rows and bus\n"
                  "turnaround, refresh, engines waiting for buffer space, network engines waiting for their "
                  "partner\n\n");
    if (comparison->differs[0])
        fprintf(
            file,
            "THE ESTIMATES ARE OF ANOTHER HARDWARE, that of the trace (%s): --network FILE, with the options "
            "that its mapper had in --mapper WORDS, maps the network anew for this one\n\n",
            comparison->differs);
    const bool equations = comparison->total.equation_phases > 0;
    print_header(file, equations);
    for (size_t i = 0; i < comparison->step_count; i++)
        print_line(file, &comparison->steps[i], equations);
    print_line(file, &comparison->total, equations);
    print_parts(file, &comparison->total);
    if (equations)
        print_equations(file, &comparison->total);
    size_t shown = all                            ? comparison->phase_count
                   : comparison->phase_count < 10 ? comparison->phase_count
                                                  : 10;
    if (!all)
        qsort(comparison->phases, comparison->phase_count, sizeof(struct line), by_difference);
    fprintf(file, "\n%s\n", all ? "all phases" : "phases that differ most (--phases lists all)");
    print_header(file, equations);
    for (size_t i = 0; i < shown; i++)
        print_line(file, &comparison->phases[i], equations);
    char percent[PERCENT_TEXT];
    if (comparison->total.estimated)
        fprintf(file, "\ntotal: estimate %.0f, simulated %.0f cycles, error %s\n", comparison->total.estimate,
                comparison->total.simulated, percent_text(error_percent(&comparison->total), percent));
    else
        fprintf(file, "\ntotal: the trace has no estimate, simulated %.0f cycles\n",
                comparison->total.simulated);
}

/* --- JSON and CSV --- */

#define LOSSES(X)                                                                                            \
    X(contention, "noc_contention")                                                                          \
    X(rows, "dram_rows")                                                                                     \
    X(turnaround, "dram_turnaround")                                                                         \
    X(refresh, "dram_refresh")                                                                               \
    X(buffer, "buffer_stall")                                                                                \
    X(peer, "peer_wait")

static void put_equations(struct pim_json *json, const struct line *line)
{
    if (line->equation_phases == 0) {
        pim_json_put_null(json, "equation_cycles");
        return;
    }
    pim_json_put_real(json, "equation_cycles", line->equations);
    pim_json_put_real(json, "equation_error_percent", percent_above(line->equations, line->simulated));
    pim_json_put_count(json, "equation_phases", line->equation_phases);
    pim_json_put_real(json, "equation_simulated_cycles", line->equations_simulated);
    pim_json_begin_object(json, "equation_by");
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        pim_json_put_real(json, pim_equation_term_name(term), line->terms[term]);
    pim_json_end(json);
}

/* Figures of an estimate are null where there is none, as NaN are written. */
static void put_line(struct pim_json *json, const char *key, const struct line *line)
{
    pim_json_begin_object(json, key);
    pim_json_put_text(json, "name", line->name);
    pim_json_put_count(json, "phases", line->phases);
    pim_json_put_real(json, "estimate_cycles", line->estimated ? line->estimate : (double)NAN);
    pim_json_put_real(json, "simulated_cycles", line->simulated);
    pim_json_put_real(json, "error_percent", error_percent(line));
    pim_json_begin_object(json, "estimate_by");
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        pim_json_put_real(json, pim_estimate_part_name(part),
                          line->estimated ? line->parts[part] : (double)NAN);
    pim_json_end(json);
    put_equations(json, line);
    pim_json_begin_object(json, "simulated_by");
    for (unsigned share = 0; share < PIM_SHARES; share++)
        pim_json_put_real(json, pim_share_name(share), line->share[share]);
    pim_json_put_real(json, "overlap", 0 - line->overlap);
    pim_json_end(json);
    pim_json_begin_object(json, "lost");
#define X(member, text) pim_json_put_real(json, text, line->member);
    LOSSES(X)
#undef X
    pim_json_end(json);
    pim_json_end(json);
}

static enum pim_status write_json(FILE *file, const struct comparison *comparison, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the report");
    if (comparison->differs[0])
        pim_json_put_text(json, "estimate_differs", comparison->differs);
    put_line(json, "total", &comparison->total);
    pim_json_begin_array(json, "steps");
    for (size_t i = 0; i < comparison->step_count; i++)
        put_line(json, NULL, &comparison->steps[i]);
    pim_json_end(json);
    pim_json_begin_array(json, "phases");
    for (size_t i = 0; i < comparison->phase_count; i++)
        put_line(json, NULL, &comparison->phases[i]);
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* Nothing for NaN. */
static void write_csv_figure(FILE *file, double figure)
{
    if (!isnan(figure))
        fprintf(file, "%.17g", figure);
}

static void write_csv_line(FILE *file, const struct line *line)
{
    fprintf(file, "%s,", line->name);
    write_csv_figure(file, line->estimated ? line->estimate : (double)NAN);
    fprintf(file, ",%.17g,", line->simulated);
    write_csv_figure(file, error_percent(line));
    for (unsigned share = 0; share < PIM_SHARES; share++)
        fprintf(file, ",%.17g", line->share[share]);
    fprintf(file, ",%.17g", 0 - line->overlap);
#define X(member, text)                                                                                      \
    fprintf(file, ",");                                                                                      \
    write_csv_figure(file, line->member);
    LOSSES(X)
#undef X
    if (line->equation_phases > 0)
        fprintf(file, ",%.17g", line->equations);
    else
        fprintf(file, ",");
    fprintf(file, "\n");
}

static void write_csv(FILE *file, const struct comparison *comparison)
{
    fprintf(
        file,
        "phase,estimate_cycles,simulated_cycles,error_percent,matrix,vector,memory,network,waiting,overlap");
#define X(member, text) fprintf(file, ",%s", text);
    LOSSES(X)
#undef X
    fprintf(file, ",equation_cycles\n");
    for (size_t i = 0; i < comparison->phase_count; i++)
        write_csv_line(file, &comparison->phases[i]);
    write_csv_line(file, &comparison->total);
}

/* --- warnings --- */

/* By what factor estimate and simulation differ. */
static double factor(const struct line *line)
{
    double more = fmax(line->estimate, line->simulated), less = fmin(line->estimate, line->simulated);
    return less > 0 ? more / less : more > 0 ? HUGE_VAL : 1;
}

/* Says where the factor is more than 2: in the whole run, or in phases that are at least a hundredth of it.
 */
static void warn(const char *program, const struct comparison *comparison)
{
    const double allowed = 2, share = 0.01;
    double run = comparison->total.simulated, cycles = 0;
    const struct line *worst = NULL;
    size_t count = 0;
    if (comparison->differs[0])
        fprintf(stderr, "%s: warning: the estimates are of another hardware, that of the trace (%s)\n",
                program, comparison->differs);
    if (!comparison->total.estimated && run > 0)
        fprintf(stderr, "%s: warning: the trace has no estimate\n", program);
    if (!comparison->total.estimated)
        return;
    if (factor(&comparison->total) > allowed)
        fprintf(stderr, "%s: warning: the estimate of the run is off by a factor of %.1f\n", program,
                factor(&comparison->total));
    for (size_t i = 0; i < comparison->phase_count; i++) {
        const struct line *line = &comparison->phases[i];
        if (fmax(line->estimate, line->simulated) < share * run || factor(line) <= allowed)
            continue;
        count++;
        cycles += line->simulated;
        if (!worst || by_difference(line, worst) < 0)
            worst = line;
    }
    if (worst)
        fprintf(
            stderr,
            "%s: warning: %zu of %zu phases (%.1f %% of the run) have estimates that are off by more than a "
            "factor of 2; the farthest: %s, estimate %.0f, simulated %.0f cycles\n",
            program, count, comparison->phase_count, run > 0 ? 100 * cycles / run : 0.0, worst->name,
            worst->estimate, worst->simulated);
}

static enum pim_status write_comparison(const char *path, unsigned format, bool all,
                                        struct comparison *comparison, struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    FILE *file = pim_output_file(output);
    if (format == FORMAT_JSON && write_json(file, comparison, error) != PIM_OK) {
        pim_output_blame(output, error);
        pim_output_abandon(output);
        return error->status;
    }
    if (format == FORMAT_CSV)
        write_csv(file, comparison);
    if (format == FORMAT_TEXT)
        write_text(file, comparison, all);
    return pim_output_commit(output, error);
}

int command_validate(int argument_count, char **arguments)
{
    struct common_options common = {0};
    struct replay_options options = REPLAY_DEFAULTS;
    unsigned format = FORMAT_TEXT;
    bool all = false;
    const char *path = "-";
    const struct option_rule rules[] = {
        OPTIONS_COMMON(common),
        OPTIONS_REPLAY(options),
        {.name = "stats",
         .kind = OPTION_TEXT,
         .target = &path,
         .argument = "FILE",
         .writes = WRITES_TEXT,
         .help = "Where to write the results"},
        OPTION_FORMAT(format, "text|json|csv"),
        {.name = "phases", .kind = OPTION_FLAG, .target = &all, .help = "Lists every phase in its order"},
    };
    const struct option_usage usage = OPTION_USAGE(
        "TRACE", "Replays a trace and holds the mapper's estimate of every phase against cycles.", rules, 1,
        1);
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    struct replay replay = {0};
    struct comparison comparison = {0};
    enum pim_status status =
        all && format != FORMAT_TEXT
            ? pim_fail(&error, PIM_USAGE, "--phases is for --format text: JSON and CSV have all phases")
            : replay_run(files.items[0], &common, &options, &replay, &error);
    if (status == PIM_OK && !replay.result.complete)
        status = pim_fail(&error, PIM_USAGE,
                          "the run stopped before the end of the trace: estimates cover all of it");
    if (status == PIM_OK)
        status = compare(&replay, &comparison, &error);
    if (status == PIM_OK)
        status = write_comparison(path, format, all, &comparison, &error);
    if (status == PIM_OK && !common.quiet)
        warn(arguments[0], &comparison);
    replay_terminate(&replay);
    free(comparison.phases);
    free(comparison.steps);
    text_list_terminate(&files);
    common_terminate(&common);
    return command_end(arguments[0], status, &error);
}
