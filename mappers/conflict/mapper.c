#include "mappers/mappers.h"

#include "mappers/conflict/emit.h"
#include "mappers/conflict/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pim_option rows[] = {
    PIM_CHOICE_ROW("preset", struct pim_conflict_choices, preset, "PRESET", "code|fixed",
                   "Times as the authors' code has them, or without its two errors"),
    PIM_CHOICE_ROW("mapping", struct pim_conflict_choices, mapping, "NAME",
                   "row-major|snake|boustrophedon|heuristic|node-group|groups|capped-groups|nsga2",
                   "How nodes are placed"),
    PIM_CHOICE_ROW("fitness", struct pim_conflict_choices, fitness, "WHAT",
                   "cost|bottleneck|simulation|mlp|mlp-conflicts|gcn",
                   "What a search judges mappings by; the last three are learned: --train or --weights"),
    PIM_COUNT_ROW("population", struct pim_conflict_choices, population, "N", 2, 65536,
                  "Mappings that survive"),
    PIM_COUNT_ROW("generations", struct pim_mapper_search, steps, "N", 0, 1000000, "Generations of a search"),
    PIM_COUNT_ROW("finalists", struct pim_conflict_choices, finalists, "N", 0, 65536,
                  "Mappings of the last population that are simulated, the fastest is taken; 0: none",
                  .standard = "as many as 20 million packets make, 16 to 200; of worms none, or 16"),
    PIM_COUNT_ROW("refine", struct pim_conflict_choices, refinement, "N", 0, 1000000,
                  "Simulations of local moves on the fastest of these; 0: none",
                  .standard = "as many as 20 million packets make, 200 to 4000; of worms none"),
    PIM_COUNT_ROW("searches", struct pim_conflict_choices, searches, "N", 1, 1024,
                  "Searches with seeds of their own, local moves begin at the fastest of all",
                  .standard =
                      "as many as have finalists of 80 million packets, 1 to 32; with --refine 0 one"),
    PIM_COUNT_ROW("group", struct pim_conflict_choices, group, "N", 0, 65536,
                  "Nodes of a capped group; 0: a sixteenth of all"),
    PIM_COUNT_ROW("batch", struct pim_conflict_choices, images, "IMAGES", 1, 65535,
                  "Images behind each other"),
    PIM_FILE_ROW("log", struct pim_conflict_choices, log,
                 "Writes the cost, bottleneck and latency of every finalist (CSV)"),
    PIM_FILE_ROW(
        "train", struct pim_conflict_choices, train,
        "Trains estimators on populations drawn for it, judges them on others, writes their weights"),
    PIM_TEXT_ROW("weights", struct pim_conflict_choices, weights, "FILE",
                 "Takes estimators that --train wrote for the same graph and hardware"),
    PIM_FLAG_ROW("judge", struct pim_conflict_choices, judge,
                 "Judges the estimators of --weights on populations that --seed draws"),
    PIM_COUNT_ROW("populations", struct pim_conflict_choices, populations, "N", 1, 1000,
                  "Populations of each of the three sorts, for --train (a fifth is held out) and --judge"),
    PIM_COUNT_ROW("epochs", struct pim_conflict_choices, epochs, "N", 0, 1000000, "Epochs of a training"),
    PIM_TEXT_ROW("graph", struct pim_conflict_choices, graph, "PREFIX",
                 "Writes PREFIX.nodes.csv and so on, the graph, and PREFIX.mappings.json, for pimsim tasks"),
    PIM_SEED_ROW("Seed of the search"),
    PIM_THREADS_ROW("Threads of the search; 0: one for each processor. Results do not depend on it"),
    PIM_SECONDS_ROW("Of the search; then the best so far is taken", .standard = "no limit"),
};

static const struct pim_conflict_choices defaults = {.search = {.seed = 1, .steps = 300},
                                                     .mapping = PIM_TILE_NODE_GROUP,
                                                     .population = 200,
                                                     .finalists = PIM_CONFLICT_BY_SIZE,
                                                     .refinement = PIM_CONFLICT_BY_SIZE,
                                                     .searches = PIM_CONFLICT_BY_SIZE,
                                                     .populations = 5,
                                                     .epochs = 60,
                                                     .images = 1};

/* "recorded:cifar-vgg8" and so on; which there are, the plan says. */
static bool knows(const char *name)
{
    static const char prefix[] = "recorded:";
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Options that do nothing are refused; threads change no result, and are taken everywhere. */
static enum pim_status accept(const void *options, bool writes, struct pim_error *error)
{
    const struct pim_conflict_choices *choices = options;
    const bool pattern = choices->mapping <= PIM_TILE_BOUSTROPHEDON;
    const bool learned = choices->fitness > PIM_TILE_BY_SIMULATION;
    const bool draws = choices->train || choices->judge; /* populations */
    const bool capped = choices->mapping == PIM_TILE_CAPPED_GROUPS || choices->mapping == PIM_TILE_NSGA2;
    const bool none = choices->finalists == 0 && choices->fitness != PIM_TILE_BY_SIMULATION;
    const struct pim_option_refusal refusals[] = {
        {pattern, "fitness finalists refine searches log", "is for a search: --mapping names a pattern"},
        {pattern && !draws, "seed population generations",
         "is for a search, --train and --judge: --mapping names a pattern"},
        {!capped, "group", "is for --mapping capped-groups and nsga2"},
        {!draws, "populations", "is for --train and --judge"},
        {!choices->train, "epochs", "is for --train"},
        {choices->weights && !choices->judge && (pattern || !learned), "weights",
         "does nothing: neither --judge nor the --fitness of a search asks for estimators"},
        {choices->train != NULL, "judge", "does nothing: --train judges what it has trained"},
        {none, "log", "does nothing: --finalists 0 leaves no finalists"},
        {choices->finalists == 0, "searches", "does nothing: --finalists 0 leaves one search"}};
    (void)writes;
    if (choices->train && choices->weights)
        return pim_fail(error, PIM_USAGE, "--train makes weights, --weights takes them: one of the two");
    if (choices->finalists == 0 && choices->refinement > 0 && choices->refinement != PIM_CONFLICT_BY_SIZE)
        return pim_fail(error, PIM_USAGE, "--refine begins at finalists, and --finalists 0 leaves none");
    if (choices->judge && !choices->train && !choices->weights)
        return pim_fail(error, PIM_USAGE,
                        "--judge needs --weights FILE (--train judges what it has trained by itself)");
    if (learned && !choices->train && !choices->weights)
        return pim_fail(error, PIM_USAGE, "--fitness %s is learned: it needs --weights FILE, or --train FILE",
                        pim_tile_fitness_name(choices->fitness));
    return pim_option_refuse(&pim_conflict_mapper.options, options, refusals,
                             sizeof refusals / sizeof refusals[0], error);
}

static void terminate(void *plan)
{
    pim_conflict_plan_terminate(plan);
}

static enum pim_status make(const struct pim_mapper_inputs *inputs, const void *options, void *plan,
                            struct pim_error *error)
{
    return pim_conflict_plan_make(inputs, options, plan, error);
}

static enum pim_status estimate(void *plan, struct pim_mapper_estimate *estimate, struct pim_error *error)
{
    const struct pim_conflict_plan *made = plan;
    (void)error;
    memset(estimate, 0, sizeof *estimate);
    estimate->cycles = pim_tile_estimate_cycles(&made->estimate);
    return PIM_OK;
}

static void foresee(const struct pim_mapper_inputs *inputs, const void *options, struct pim_mapper_job *job)
{
    const struct pim_conflict_choices *choices = options;
    if (inputs->network)
        (void)snprintf(job->network, sizeof job->network, "%s", inputs->network->name);
    pim_conflict_name_mapping(choices, job->mapping, sizeof job->mapping);
}

static enum pim_status describe(void *plan, struct pim_trace_description *description,
                                struct pim_error *error)
{
    const struct pim_conflict_plan *made = plan;
    const struct pim_tile_graph *tiles = &made->tiles;
    uint64_t macs = 0, weights = 0;
    (void)error;
    for (uint32_t n = 0; n < tiles->nodes; n++) {
        macs += tiles->node[n].macs * tiles->node[n].steps * made->choices->images;
        weights += tiles->node[n].arrays > 0 ? tiles->node[n].macs : 0;
    }
    *description = (struct pim_trace_description){.family = "conflict",
                                                  .network = tiles->name,
                                                  .mapping = made->mapping,
                                                  .configuration = made->inputs->configuration_text,
                                                  .width = made->machine.width,
                                                  .height = made->machine.height,
                                                  .units = made->machine.width * made->machine.height,
                                                  .macs = macs,
                                                  .weight_bytes = (weights * made->machine.bits + 7) / 8};
    return PIM_OK;
}

/* Every packet has an operation in each router of its way: known before all images are replayed for them. */
static enum pim_status check_tables(const struct pim_conflict_plan *plan, struct pim_error *error)
{
    const struct pim_tile_graph *tiles = &plan->tiles;
    const struct pim_grid grid = {plan->machine.width, plan->machine.height};
    uint64_t least = 0, images = plan->choices->images;
    for (uint32_t e = 0; e < tiles->edges; e++) {
        const struct pim_tile_edge *edge = &tiles->edge[e];
        least += edge->packets * ((uint64_t)pim_grid_distance(&grid, plan->place[edge->source],
                                                              plan->place[edge->destination]) +
                                  1);
    }
    if (least <= PIM_TRACE_BEHAVIOURS / images)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "an image needs %" PRIu64 " operations of routers or more, and the behaviour tables of a "
                    "trace hold %d: %" PRIu64 " images at most, not %" PRIu64,
                    least, PIM_TRACE_BEHAVIOURS, PIM_TRACE_BEHAVIOURS / least, images);
}

/* A stop that ended the search is no stop of the trace: the second Ctrl-C ends the program. */
static enum pim_status emit(void *plan, struct pim_trace_writer *writer, struct pim_error *error)
{
    const struct pim_conflict_plan *made = plan;
    const struct pim_mapper_search *asked = &made->choices->search;
    bool stopped = asked->stop && asked->stop(asked->context);
    const struct pim_tile_limits limits = {HUGE_VAL, stopped ? NULL : asked->stop, asked->context};
    bool tables = made->machine.tables && made->replay;
    if (tables && check_tables(made, error) != PIM_OK)
        return error->status;
    if (pim_tile_emit(&made->tiles, made->place, (uint32_t)made->choices->images, &made->estimate, &limits,
                      writer, error) != PIM_OK)
        return error->status;
    return tables ? made->inputs->tiles->tables(made->replay, made->place, &limits, writer, error) : PIM_OK;
}

static enum pim_status print(void *plan, FILE *file, struct pim_error *error)
{
    return pim_conflict_print(plan, file, error);
}

static enum pim_status write_json(void *plan, FILE *file, struct pim_error *error)
{
    return pim_conflict_write_json(plan, file, error);
}

const struct pim_mapper pim_conflict_mapper = {
    .name = "conflict",
    .summary = "Networks on a mesh of crossbar tiles",
    .description = "Maps a network onto a mesh of crossbar tiles, with conflicts of communication in mind. "
                   "--network recorded:NAME is a network of the paper's authors: cifar- or imagenet- and "
                   "alexnet, vgg8, resnet18 or vgg16.",
    .transformers = PIM_TRANSFORMERS_RECOGNISED,
    .stops = true,
    .knows = knows,
    .options = {rows, sizeof rows / sizeof rows[0], sizeof(struct pim_conflict_choices), &defaults},
    .accept = accept,
    .plan_size = sizeof(struct pim_conflict_plan),
    .plan = make,
    .terminate = terminate,
    .estimate = estimate,
    .foresee = foresee,
    .describe = describe,
    .emit = emit,
    .print = print,
    .write_json = write_json,
};
