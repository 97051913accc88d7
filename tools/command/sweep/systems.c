/*
 * pimsim systems: networks on several systems, each a hardware with its mapper, as one sweep over sources.
 * The list is tools/systems/list.h, the runs and the file of results are those of a sweep; here are the
 * options.
 */
#include "tools/command/sweep/systems.h"

#include "mappers/network/descriptor/descriptor.h"
#include "tools/command/command.h"
#include "tools/command/sweep/sweep.h"
#include "tools/sweep/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_NAME "systems.cfg"

struct request {
    struct sweep_request sweep;
    struct text_list networks, dimensions;
    const char *from, *names;
    bool list;
};

/* The list that comes with pimsim: beside the program's build or installation, or here. */
static enum pim_status find_list(char path[SWEEP_PATH_BYTES], struct pim_error *error)
{
    static const char *const places[] = {"/../../configs/" LIST_NAME, "/../share/pimsim/configs/" LIST_NAME};
    char program[SWEEP_PATH_BYTES];
    char *slash = strrchr(sweep_program(program), '/') ? strrchr(program, '/') : program;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int length = snprintf(path, SWEEP_PATH_BYTES, "%s%s", program, places[i]);
        if (length > 0 && length < SWEEP_PATH_BYTES && access(path, R_OK) == 0)
            return PIM_OK;
    }
    (void)snprintf(path, SWEEP_PATH_BYTES, "configs/" LIST_NAME);
    if (access(path, R_OK) == 0)
        return PIM_OK;
    return pim_fail(error, PIM_USAGE,
                    "the list of systems is neither beside the program nor in configs: --from FILE names it");
}

/* --dim, for mappers that read ONNX files. */
static enum pim_status add_dimensions(const struct request *request, struct pim_systems *systems,
                                      struct pim_error *error)
{
    for (size_t d = 0; d < request->dimensions.count; d++)
        for (size_t i = 0; i < systems->count; i++) {
            const char *mapper = systems->rows[i].mapper, *dimension = request->dimensions.items[d];
            size_t size = strlen(mapper) + strlen(dimension) + sizeof " --dim ";
            char *words = malloc(size);
            if (!words)
                return pim_fail(error, PIM_NO_MEMORY, "out of memory for a list of systems");
            (void)snprintf(words, size, "%s --dim %s", mapper, dimension);
            free(systems->rows[i].mapper);
            systems->rows[i].mapper = words;
        }
    return PIM_OK;
}

static enum pim_status read_list(const struct request *request, struct pim_systems *systems,
                                 struct pim_error *error)
{
    char path[SWEEP_PATH_BYTES];
    if (!request->from && find_list(path, error) != PIM_OK)
        return error->status;
    if (pim_systems_read(request->from ? request->from : path, systems, error) != PIM_OK)
        return error->status;
    return request->names ? pim_systems_choose(systems, request->names, error) : PIM_OK;
}

/* A network that can be read for no system is refused before anything runs: the reason is the file's. */
static enum pim_status check_networks(const struct pim_sweep *sweep, struct pim_error *error)
{
    const size_t systems = sweep->systems.count;
    for (size_t first = 0; first < sweep->source_count; first += systems) {
        struct pim_error reason = {PIM_OK, ""}, other = {PIM_OK, ""};
        bool readable = false;
        for (size_t i = 0; i < systems && !readable; i++) {
            const struct pim_sweep_point point = {.number = first + i, .source = first + i};
            struct pim_network *network = NULL;
            readable =
                pim_sweep_read_network(sweep, &point, true, &network, i == 0 ? &reason : &other) == PIM_OK;
            pim_network_destroy(network);
        }
        if (!readable)
            return pim_fail(error, reason.status, "%s", reason.text);
    }
    return PIM_OK;
}

static enum pim_status define(const struct request *request, struct pim_sweep *sweep, struct pim_error *error)
{
    static const char *const fidelities[] = {NULL, "ideal", "analytic", "flit"};
    enum pim_status status = add_dimensions(request, &sweep->systems, error);
    for (size_t n = 0; n < request->networks.count; n++)
        for (size_t i = 0; status == PIM_OK && i < sweep->systems.count; i++)
            status = pim_sweep_add_system(sweep, request->networks.items[n], i, error);
    for (size_t i = 0; i < request->sweep.common.sets.count && status == PIM_OK; i++)
        status = pim_sweep_add_set(sweep, request->sweep.common.sets.items[i], error);
    if (request->sweep.fidelity > 0)
        sweep->fidelity = fidelities[request->sweep.fidelity];
    if (status != PIM_OK || pim_sweep_prepare(sweep, error) != PIM_OK)
        return error->status;
    return check_networks(sweep, error);
}

static enum pim_status run(const struct request *request, struct pim_error *error)
{
    struct pim_sweep sweep;
    pim_sweep_initialize(&sweep);
    enum pim_status status = read_list(request, &sweep.systems, error);
    if (status == PIM_OK && request->list) {
        systems_print_list(&sweep.systems, stdout);
    } else if (status == PIM_OK) {
        if (request->networks.count == 0)
            status = pim_fail(error, PIM_USAGE, "--network FILE is needed");
        else
            status = define(request, &sweep, error);
        if (status == PIM_OK)
            status = sweep_run(&request->sweep, &sweep, error);
        if (status == PIM_OK)
            status = systems_print_results(request->sweep.output, stdout, error);
    }
    pim_sweep_terminate(&sweep);
    return status;
}

int command_systems(int argument_count, char **arguments)
{
    struct request request = {.sweep = {.refusals = true}};
    struct sweep_request *sweep = &request.sweep;
    struct option_rule rules[] = {
        {.name = "network",
         .letter = 'n',
         .kind = OPTION_LIST,
         .target = &request.networks,
         .argument = "FILE",
         .help = "The network: a descriptor as in configs/networks, an ONNX file, or a layer table of "
                 "SCALE-Sim (.csv); may be repeated"},
        RULE_TEXT("systems", request.names, "LIST", "Names from the list, as allspark,pimcomp-a-*",
                  .standard = "all of them"),
        RULE_TEXT("from", request.from, "FILE", "Another list of systems than the one that comes along"),
        RULE_FLAG("list", request.list, "Prints the systems and runs none"),
        {.name = "dim",
         .kind = OPTION_LIST,
         .target = &request.dimensions,
         .argument = "NAME=SIZE",
         .help = "A size that an ONNX network leaves open"},
        OPTION_OUTPUT(sweep->output, WRITES_RESULTS, "The results (SQLite, as those of a sweep)"),
        OPTION_JOBS(sweep->threads, SWEEP_THREADS_MOST, "Systems that run"),
        RULE_UNSIGNED("time-limit", sweep->seconds, "SECONDS", 1, 10000000,
                      "Begins no further system after this time", .standard = "no limit"),
        RULE_FLAG("resume", sweep->resume, "Runs what is missing in FILE, also systems that were added"),
        RULE_FLAG("retry", sweep->retry, "The same, and systems that failed run again"),
        RULE_FLAG("force", sweep->force, "Throws the results in FILE away, if there are any"),
        RULE_TEXT("cache", sweep->cache, "FOLDER", "Where traces that mappers make are kept",
                  .standard = "FILE.traces"),
        RULE_CHOICE("noc", sweep->fidelity, "FIDELITY", SWEEP_FIDELITIES,
                    "How exactly the network is simulated; configured: as noc.fidelity says"),
        OPTION_SET(sweep->common),
        OPTION_QUIET(sweep->common),
    };
    const struct option_usage usage = OPTION_USAGE(
        "",
        "Maps one network onto several systems, each a hardware with its mapper, runs the traces, and brings "
        "the results to comparable terms. `pimsim report FILE` makes a page of them.",
        rules, 0, 0);
    const char *given[sizeof rules / sizeof rules[0]] = {NULL};
    options_watch_all(rules, sizeof rules / sizeof rules[0], given);
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    enum pim_status status =
        request.list ? options_alone(given, sizeof given / sizeof given[0], "list", "systems|from", &error)
                     : PIM_OK;
    if (status == PIM_OK)
        status = run(&request, &error);
    text_list_terminate(&request.networks);
    text_list_terminate(&request.dimensions);
    common_terminate(&sweep->common);
    return command_end(arguments[0], status, &error);
}
