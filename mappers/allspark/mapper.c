#include "mappers/mappers.h"

#include "mappers/allspark/allspark.h"
#include "mappers/allspark/check/check_values.h"
#include "mappers/allspark/plan/file.h"
#include "mappers/machine/nodes.h"
#include "mappers/search/problem.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The options, as a user gives them. */
struct choices {
    struct pim_mapper_search search;
    const char *partition, *plan, *solver;
    uint64_t ring, chunks, batch;
    unsigned scheduler, exchange, copies, prefetch;
    bool check;
};

enum { SCHEDULER_EXACT, SCHEDULER_ILP };
enum { COPIES_AUTO, COPIES_ONE, COPIES_BEST };

static const struct pim_option rows[] = {
    {.name = "partition",
     .letter = 'p',
     .kind = PIM_OPTION_TEXT,
     .offset = offsetof(struct choices, partition),
     .argument = "SCHEME",
     .help = "How a branch is split over nodes: auto, branch (B), patch (P), head (AH), u,v for all stages, "
             "or u,v:u,v:... for each stage; u,v*layers+u,v for temporal layers that differ"},
    PIM_COUNT_ROW("ring", struct choices, ring, "NODES", 0, 256,
                  "Nodes over which weights are spread; 1: those of a branch, as in the paper; 0: the best"),
    PIM_CHOICE_ROW("copies", struct choices, copies, "NUMBER", "auto|one|best",
                   "Copies of the weights that a branch keeps: one, as in the paper, or as many as are best; "
                   "auto: best without --ring, else one"),
    PIM_COUNT_ROW("chunks", struct choices, chunks, "NUMBER", 0, PIM_CHUNKS,
                  "Pieces in which the weights of a phase go round; 0: the best"),
    PIM_COUNT_ROW("batch", struct choices, batch, "IMAGES", 1, PIM_BATCH,
                  "Images that are worked together, phase by phase, with weights shared once for all",
                  .standard = "as the file of --plan says, else 1"),
    PIM_CHOICE_ROW("exchange", struct choices, exchange, "FORM", "auto|direct|gather",
                   "How branches give to each other: from node to node, or as in the paper over the "
                   "top-left nodes of their sub-arrays; auto: as the file of --plan says, else direct"),
    PIM_CHOICE_ROW(
        "prefetch", struct choices, prefetch, "WHETHER", "auto|off|on",
        "The next piece of weights goes round while one is multiplied, and takes a second place in "
        "memory: beyond the paper; auto: as the file of --plan says, else off"),
    PIM_TEXT_ROW("plan", struct choices, plan, "FILE",
                 "Takes the plan of this file, as --format json writes it"),
    PIM_CHOICE_ROW("scheduler", struct choices, scheduler, "METHOD", "exact|ilp",
                   "How the best plan is found: by pimsim, or by an integer programming solver"),
    PIM_TEXT_ROW("solver", struct choices, solver, "NAME", "The solver for --scheduler ilp",
                 .choices = "cbc|highs|gurobi_cl|glpsol", .standard = "the first that is installed"),
    PIM_SECONDS_ROW("Of the search, which then, as on Ctrl-C, takes the best schedule so far",
                    .standard = "no limit, and 600 of a solver"),
    PIM_FLAG_ROW(
        "check-values", struct choices, check,
        "Executes the programs with numbers and compares them with a direct evaluation of the network"),
};

static const struct choices defaults = {.partition = "auto"};

/* A plan with what its traces and reports carry. */
struct made {
    struct pim_plan_file file; /* of --plan */
    struct pim_allspark_plan plan;
    struct pim_plan_result result;
    const char *configuration;
    const struct pim_mapper_search *search;
    bool planned, estimated, check;
    char network[256], mapping[256];
};

static enum pim_status accept(const void *options, bool writes, struct pim_error *error)
{
    const struct choices *choices = options;
    const struct pim_option_refusal refusals[] = {
        {choices->scheduler != SCHEDULER_ILP, "solver", "is for --scheduler ilp"}};
    (void)writes;
    if (choices->plan && strcmp(choices->partition, "auto") != 0)
        return pim_fail(error, PIM_USAGE, "--plan and --partition: one of them alone");
    if (choices->copies == COPIES_BEST && choices->ring)
        return pim_fail(error, PIM_USAGE, "--copies best and --ring: one of them alone");
    return pim_option_refuse(&pim_allspark_mapper.options, options, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

/* A scheme by its name, or partitions. */
static enum pim_status parse_partition(const char *text, struct pim_allspark_options *options,
                                       struct pim_error *error)
{
    static const struct {
        const char *name;
        enum pim_allspark_scheme scheme;
    } names[] = {{"auto", PIM_ALLSPARK_AUTOMATIC}, {"B", PIM_ALLSPARK_BRANCH},
                 {"branch", PIM_ALLSPARK_BRANCH},  {"P", PIM_ALLSPARK_PATCH},
                 {"patch", PIM_ALLSPARK_PATCH},    {"AH", PIM_ALLSPARK_HEAD},
                 {"head", PIM_ALLSPARK_HEAD}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i].name) == 0) {
            options->scheme = names[i].scheme;
            return PIM_OK;
        }
    return pim_plan_parse(text, options, error);
}

/* Options that ask for what the file of --plan states of every layer are refused. */
static enum pim_status accept_beside(const void *given, const struct pim_allspark_options *options,
                                     struct pim_error *error)
{
    bool rings = true, chunks = true;
    for (uint32_t stage = 0; stage < options->explicit_count; stage++)
        for (uint32_t i = 0; i < options->lists[stage]; i++) {
            rings = rings && options->list[stage][i].ring > 0;
            chunks = chunks && options->list[stage][i].chunks > 0;
        }
    const struct pim_option_refusal refusals[] = {
        {rings, "ring copies", "does nothing: the file of --plan states the rings of all layers"},
        {chunks, "chunks", "does nothing: the file of --plan states the chunks of all layers"},
        {rings && chunks, "scheduler solver time-limit",
         "does nothing: the file of --plan states rings and chunks, nothing is left to search"}};
    return pim_option_refuse(&pim_allspark_mapper.options, given, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

/* A search under way, and when it is to end. */
struct told {
    const struct pim_mapper_search *search;
    struct pim_search_limit limit;
};

static void progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct told *told = context;
    if (told->search->progress)
        told->search->progress(told->search->context, what, done, total);
}

static bool stop(void *context)
{
    struct told *told = context;
    return pim_search_limit_over(&told->limit);
}

static void terminate(void *plan)
{
    struct made *made = plan;
    if (made->planned)
        pim_allspark_plan_terminate(&made->plan);
    pim_plan_close(&made->file);
}

static enum pim_status make(const struct pim_mapper_inputs *inputs, const void *given, void *plan,
                            struct pim_error *error)
{
    const struct choices *choices = given;
    struct made *made = plan;
    struct told told = {.search = &choices->search};
    made->search = &choices->search;
    made->check = choices->check;
    struct pim_allspark_options options = {.ring = (uint32_t)choices->ring,
                                           .copies = choices->copies == COPIES_BEST ||
                                                     (choices->copies == COPIES_AUTO && choices->ring == 0),
                                           .chunks = (uint32_t)choices->chunks,
                                           .batch = (uint32_t)choices->batch,
                                           .exchange = (enum pim_allspark_exchange)choices->exchange,
                                           .prefetch = (enum pim_allspark_prefetch)choices->prefetch,
                                           .ilp = choices->scheduler == SCHEDULER_ILP,
                                           .solver = choices->solver,
                                           .solver_seconds = (uint32_t)choices->search.seconds,
                                           .watch = {progress, stop, &told}};
    PIM_TRY(pim_machine_nodes_check(inputs->configuration, error));
    PIM_TRY(choices->plan ? pim_plan_read(&made->file, choices->plan, &options, error)
                          : parse_partition(choices->partition, &options, error));
    if (choices->plan)
        PIM_TRY(accept_beside(given, &options, error));
    /* A solver counts its seconds itself. */
    pim_search_limit_begin(&told.limit, options.ilp ? 0 : (double)choices->search.seconds,
                           choices->search.stop, choices->search.context);
    PIM_TRY(pim_allspark_plan(inputs->network, inputs->nodes, &options, &made->plan, error));
    made->planned = true;
    made->configuration = inputs->configuration_text;
    /* Of a plan in a file: what was asked for when that was made. */
    made->result = (struct pim_plan_result){.plan = &made->plan,
                                            .solve_seconds = pim_search_seconds() - told.limit.begin,
                                            .scheduler = options.ilp ? "ilp" : "exact",
                                            .partition = choices->plan ? pim_plan_label(&made->file)
                                                                       : choices->partition};
    if (made->plan.stopped)
        made->result.ended_early = pim_search_end_cause(pim_search_limit_end(&told.limit));
    pim_plan_space(&options, &made->result);
    return choices->plan ? pim_plan_check(&made->file, &made->plan, error) : PIM_OK;
}

static enum pim_status estimate(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error)
{
    struct made *made = plan;
    if (!made->estimated &&
        pim_allspark_estimate(&made->plan, &made->result.cycles, made->result.parts, error) != PIM_OK)
        return error->status;
    made->estimated = true;
    estimate->cycles = made->result.cycles;
    memcpy(estimate->parts, made->result.parts, sizeof estimate->parts);
    return PIM_OK;
}

static void name_network(const struct pim_network *network, char *text, size_t size)
{
    (void)snprintf(text, size, "%s %" PRIu32 "x%" PRIu32, network->name, network->transformer->image,
                   network->transformer->image);
}

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    const struct choices *choices = options;
    if (!inputs->network->transformer)
        return; /* the plan says what is wrong with it */
    name_network(inputs->network, job->network, sizeof job->network);
    job->macs[0] = (choices->batch ? choices->batch : 1) * inputs->network->graph.macs;
}

static enum pim_status describe(void *plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    struct made *made = plan;
    const struct pim_allspark_plan *p = &made->plan;
    const struct pim_network *source = p->network;
    const char *exchange = p->exchange == PIM_ALLSPARK_GATHER ? ", gather, transfer, scatter" : "";
    char batch[32] = "";
    (void)error;
    name_network(source, made->network, sizeof made->network);
    if (p->batch > 1)
        (void)snprintf(batch, sizeof batch, ", batch of %" PRIu32, p->batch);
    (void)snprintf(made->mapping, sizeof made->mapping, "partition %s%s%s%s", made->result.partition, batch,
                   exchange, p->prefetch ? ", prefetch of weights" : "");
    uint64_t executed = pim_allspark_macs(p), mapped = p->batch * source->graph.macs;
    *description = (struct pim_trace_description){.family = "allspark",
                                                  .network = made->network,
                                                  .mapping = made->mapping,
                                                  .configuration = made->configuration,
                                                  .width = p->hardware.width,
                                                  .height = p->hardware.height,
                                                  .units = p->hardware.width * p->hardware.height,
                                                  .macs = mapped,
                                                  .padding_macs = executed - mapped,
                                                  .weight_bytes = pim_allspark_weight_bytes(p)};
    return PIM_OK;
}

static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_allspark_emit(&made->plan, writer, error);
}

static bool checks(const void *plan)
{
    const struct made *made = plan;
    return made->check;
}

/* Takes a Ctrl-C, which ends no check: the next one ends the program. */
static void progress_of_check(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct told *told = context;
    progress(context, what, done, total);
    if (told->search->stop)
        (void)told->search->stop(told->search->context);
}

static enum pim_status check(void *plan, const char *path, struct pim_error *error)
{
    struct made *made = plan;
    struct told told = {.search = made->search};
    const struct pim_schedule_watch watch = {progress_of_check, NULL, &told};
    struct pim_allspark_check values;
    struct pim_trace *trace;
    PIM_TRY(pim_trace_open(path, &trace, error));
    enum pim_status status = pim_allspark_check_values(&made->plan, trace, &watch, &values, error);
    pim_trace_close(trace);
    made->result.checked_elements = values.elements;
    if (status == PIM_BAD_INPUT || status == PIM_DEADLOCK)
        return pim_fail_in(error, "the check of values: the mapper is wrong");
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "the check of values");
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    (void)error;
    pim_plan_print(&made->result, file);
    return PIM_OK;
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    const struct made *made = plan;
    return pim_plan_write_json(&made->result, file, error);
}

const struct pim_mapper pim_allspark_mapper = {
    .name = "allspark",
    .summary = "Vision transformers on DRAM-PIM nodes",
    .description = "Maps a vision transformer onto an array of DRAM-PIM nodes as Allspark does.",
    .transformers = PIM_TRANSFORMERS_ALONE,
    .stops = true,
    .turn_bytes = 128, /* of fewer, loads beside a ring change rows far more often than estimated */
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct choices), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct made),
    .plan = make,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .describe = describe,
    .emit = emit,
    .checks = checks,
    .check = check,
    .print = print,
    .write_json = write_json,
};
