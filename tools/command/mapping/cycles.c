/* pimsim cycles: Hamilton cycles for all sharing sets of a case at once (NicePIM's Data-Scheduler). */
#include "mappers/nicepim/cycles/cycles.h"
#include "mappers/search/problem.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/interrupt.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CASE_BYTES = 1 << 26, FORMAT_TEXT = 0, METHOD_TOURS = 1 };

/* Options of --method cycles. */
enum { SEARCHES = 3 };
static const char *const searching[SEARCHES] = {"steps", "solver", "conflicts"};

struct request {
    const char *output;
    const char *searches[SEARCHES]; /* those that are given */
    unsigned format, method;
    uint64_t seconds;
    struct pim_cycles_options options;
};

/* --- results --- */

static void put_nodes(struct pim_json *json, const struct pim_sharing *sharing)
{
    pim_json_begin_array(json, "sets");
    for (size_t s = 0; s < sharing->set_count; s++) {
        pim_json_begin_array(json, NULL);
        for (size_t i = sharing->start[s]; i < sharing->start[s + 1]; i++) {
            pim_json_begin_array(json, NULL);
            pim_json_put_count(json, NULL, sharing->node[i] / sharing->columns);
            pim_json_put_count(json, NULL, sharing->node[i] % sharing->columns);
            pim_json_end(json);
        }
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_bounds(struct pim_json *json, const struct pim_cycles *cycles)
{
    pim_json_put_boolean(json, "max_load_proved", cycles->max_load == cycles->load_bound);
    pim_json_put_count(json, "max_load_lower_bound", cycles->load_bound);
    pim_json_put_text(json, "max_load_proof", pim_cycles_proof_name(cycles->load_proof));
    pim_json_put_boolean(json, "hops_proved",
                         cycles->max_load == cycles->load_bound && cycles->hops == cycles->hops_bound);
    pim_json_put_count(json, "hops_lower_bound", cycles->hops_bound);
    pim_json_put_text(json, "hops_proof", pim_cycles_proof_name(cycles->hops_proof));
}

static enum pim_status write_json(FILE *file, const struct request *request,
                                  const struct pim_sharing *sharing, const struct pim_cycles *cycles,
                                  const char *early, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the result");
    pim_json_put_count(json, "rows", sharing->rows);
    pim_json_put_count(json, "cols", sharing->columns);
    pim_json_begin_array(json, "weights");
    for (size_t s = 0; s < sharing->set_count; s++)
        pim_json_put_count(json, NULL, sharing->weight[s]);
    pim_json_end(json);
    put_nodes(json, sharing);
    pim_json_put_text(json, "method", request->method == METHOD_TOURS ? "tours" : "cycles");
    pim_json_put_count(json, "max_load", cycles->max_load);
    pim_json_put_count(json, "hops", cycles->hops);
    if (request->method != METHOD_TOURS)
        put_bounds(json, cycles);
    pim_search_put_early(early, json);
    pim_json_begin_array(json, "cycles");
    for (size_t s = 0; s < sharing->set_count; s++) {
        pim_json_begin_array(json, NULL);
        for (size_t i = sharing->start[s]; i < sharing->start[s + 1]; i++)
            pim_json_put_count(json, NULL, cycles->order[i]);
        pim_json_end(json);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* "2, proved (count)" or "2, at least 1 (trivial)". */
static void write_figure(FILE *file, const char *name, uint64_t value, uint64_t bound, bool known,
                         enum pim_cycles_proof proof)
{
    fprintf(file, "%-14s %" PRIu64, name, value);
    if (known && value == bound)
        fprintf(file, ", proved (%s)\n", pim_cycles_proof_name(proof));
    else if (known)
        fprintf(file, ", at least %" PRIu64 " (%s)\n", bound, pim_cycles_proof_name(proof));
    else
        fprintf(file, "\n");
}

static void write_text(FILE *file, const struct request *request, const struct pim_sharing *sharing,
                       const struct pim_cycles *cycles, const char *early)
{
    bool known = request->method != METHOD_TOURS;
    fprintf(file, "%-14s %" PRIu32 " x %" PRIu32 "\n", "nodes", sharing->rows, sharing->columns);
    fprintf(file, "%-14s %zu\n", "sharing sets", sharing->set_count);
    write_figure(file, "maximal load", cycles->max_load, cycles->load_bound, known, cycles->load_proof);
    /* Hops are bounded for this load only: while less load may exist, nothing is proved of them. */
    write_figure(file, "hops", cycles->hops, cycles->hops_bound, known, cycles->hops_proof);
    pim_search_print_early("search         ", early, "\n", file);
    for (size_t s = 0; s < sharing->set_count; s++) {
        fprintf(file, "cycle %zu:", s);
        for (size_t i = sharing->start[s]; i < sharing->start[s + 1]; i++) {
            uint32_t node = sharing->node[sharing->start[s] + cycles->order[i]];
            fprintf(file, " %" PRIu32 ":%" PRIu32, node / sharing->columns, node % sharing->columns);
        }
        fprintf(file, "\n");
    }
}

static enum pim_status write_result(const struct request *request, const struct pim_sharing *sharing,
                                    const struct pim_cycles *cycles, const char *early,
                                    struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, request->output, error) != PIM_OK)
        return error->status;
    if (request->format == FORMAT_TEXT) {
        write_text(pim_output_file(output), request, sharing, cycles, early);
    } else if (write_json(pim_output_file(output), request, sharing, cycles, early, error) != PIM_OK) {
        pim_output_abandon(output);
        return error->status;
    }
    return pim_output_commit(output, error);
}

/* --- command --- */

/* Until the time is over, or Ctrl-C. */
static enum pim_status search(const struct request *request, const struct pim_sharing *sharing,
                              struct pim_cycles *cycles, const char **early, struct pim_error *error)
{
    struct interrupt interrupt;
    struct pim_search_limit limit;
    struct pim_cycles_options options = request->options;
    options.stop = pim_search_limit_over;
    options.stop_context = &limit;
    interrupt_begin(&interrupt);
    pim_search_limit_begin(&limit, (double)request->seconds, interrupt_asked, &interrupt);
    enum pim_status status = request->method == METHOD_TOURS
                                 ? pim_cycles_shortest_tours(sharing, &options, cycles, error)
                                 : pim_cycles_solve(sharing, &options, cycles, error);
    interrupt_end();
    *early = pim_search_limit_cause(&limit);
    return status;
}

static enum pim_status solve(const struct request *request, const char *path, struct pim_error *error)
{
    json_t *root;
    struct pim_sharing sharing;
    struct pim_cycles cycles;
    const char *early;
    for (int i = 0; i < SEARCHES; i++)
        if (request->searches[i] && request->method == METHOD_TOURS)
            return pim_fail(error, PIM_USAGE,
                            "--%s is for --method cycles: the tour of a set is searched alone", searching[i]);
    if (request->searches[2] && strcmp(request->options.solver, "none") == 0)
        return pim_fail(error, PIM_USAGE, "--conflicts is for a solver: with --solver none there is none");
    if (pim_json_read(path, CASE_BYTES, &root, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_sharing_read(root, &sharing, error);
    json_decref(root);
    if (status != PIM_OK)
        return pim_fail_in(error, "%s", path);
    status = search(request, &sharing, &cycles, &early, error);
    if (status == PIM_OK) {
        status = write_result(request, &sharing, &cycles, early, error);
        pim_cycles_terminate(&cycles);
    }
    pim_sharing_terminate(&sharing);
    return status;
}

int command_cycles(int argument_count, char **arguments)
{
    struct request request = {.output = "-", .options = pim_cycles_defaults()};
    struct option_rule rules[] = {
        OPTION_OUTPUT(request.output, WRITES_TEXT, "Where the result goes"),
        OPTION_FORMAT(request.format, "text|json"),
        RULE_CHOICE("method", request.method, "METHOD", "cycles|tours",
                    "Least load, then least hops, of all sets at once (cycles), or each set alone on its "
                    "shortest tour (tours)"),
        RULE_UNSIGNED("seed", request.options.seed, "N", 0, UINT64_MAX, "Seed of the annealing"),
        RULE_UNSIGNED("steps", request.options.steps, "N", 0, 1000000000000,
                      "Moves of the annealing altogether"),
        RULE_TEXT("solver", request.options.solver, "NAME",
                  "Who proves what the bounds leave open; auto: the first that is installed",
                  .choices = "auto|cadical|kissat|picosat|none"),
        RULE_UNSIGNED("conflicts", request.options.conflict_limit, "N", 1, 1000000000000,
                      "Limit of the solver for each question"),
        RULE_UNSIGNED("time-limit", request.seconds, "SECONDS", 1, 86400,
                      "Of the search, which then, as on Ctrl-C, takes the best so far",
                      .standard = "no limit"),
    };
    const struct option_usage usage =
        OPTION_USAGE("CASE",
                     "Finds Hamilton cycles of all sharing sets of a case (JSON: rows, cols, "
                     "sets, weights) that load no link of the mesh more than necessary.",
                     rules, 1, 1);
    struct text_list files = {0};
    for (int i = 0; i < SEARCHES; i++)
        options_watch(rules, sizeof rules / sizeof rules[0], searching[i], &request.searches[i]);
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    enum pim_status status = solve(&request, files.items[0], &error);
    text_list_terminate(&files);
    return command_end(arguments[0], status, &error);
}
