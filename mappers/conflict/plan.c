/* The network becomes a graph, the graph is placed; see plan.h. */
#include "mappers/conflict/plan.h"

#include "mappers/conflict/files.h"
#include "mappers/search/workers.h"
#include "sim/output/csv.h"
#include "sim/output/output.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a search calls. */
struct search {
    struct pim_conflict_plan *plan;
    struct pim_output *log;
    struct pim_csv_writer writer;
};

/* --- the graph --- */

static enum pim_status make_graph(struct pim_conflict_plan *plan, struct pim_error *error)
{
    const struct pim_mapper_inputs *inputs = plan->inputs;
    const struct pim_tile_hardware hardware =
        pim_tile_hardware_of(&plan->machine, plan->choices->preset == 0 ? PIM_TILE_CODE : PIM_TILE_FIXED);
    const char *name = inputs->network ? inputs->network->name : strchr(inputs->known, ':') + 1;
    struct pim_tile_layer *layers = NULL;
    uint32_t count = 0;
    if (!inputs->network && !pim_tile_layers_named(name, &plan->arena, &layers, &count))
        return pim_fail(error, PIM_BAD_INPUT,
                        "recorded:%s is not a network of the paper's authors: recorded:cifar- and "
                        "recorded:imagenet- have alexnet, vgg8, resnet18 and vgg16",
                        name);
    if (inputs->network &&
        pim_tile_layers_of(&inputs->network->graph, &plan->arena, &layers, &count, error) != PIM_OK)
        return error->status;
    return pim_tile_graph_make(&plan->tiles, name, layers, count, &hardware, &plan->arena, error);
}

/* --- the mapping --- */

static void tell_progress(void *context, uint64_t steps, double best)
{
    const struct search *search = context;
    const struct pim_mapper_search *asked = &search->plan->choices->search;
    (void)best;
    asked->progress(asked->context, "mapping", steps, asked->steps);
}

static bool asked_to_stop(void *context)
{
    const struct search *search = context;
    const struct pim_mapper_search *asked = &search->plan->choices->search;
    return asked->stop(asked->context);
}

static void log_finalist(void *context, const struct pim_tile_finalist *finalist)
{
    struct search *search = context;
    pim_csv_put_count(&search->writer, finalist->rank);
    pim_csv_put_count(&search->writer, finalist->cost);
    pim_csv_put_count(&search->writer, finalist->bottleneck);
    pim_csv_put_real(&search->writer, finalist->latency_ns);
    pim_csv_put_real(&search->writer, finalist->interval_ns);
    pim_csv_end_row(&search->writer);
}

static enum pim_status open_log(struct search *search, struct pim_error *error)
{
    static const char *const header[] = {"rank", "cost_bit_hops", "bottleneck_bit_hops", "latency_ns",
                                         "interval_ns"};
    if (!search->plan->choices->log)
        return PIM_OK;
    if (pim_output_open(&search->log, search->plan->choices->log, error) != PIM_OK)
        return error->status;
    pim_csv_start(&search->writer, pim_output_file(search->log), header, sizeof header / sizeof header[0]);
    return PIM_OK;
}

/* A mapping on which the graph stands still is the worst of all, not an error. */
static enum pim_status simulate(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                                double *latency_ns, double *interval_ns, struct pim_error *error)
{
    const struct search *search = context;
    const struct pim_conflict_plan *plan = search->plan;
    assert(plan->inputs->tiles != NULL); /* there is a replay */
    enum pim_status status =
        plan->inputs->tiles->run(plan->replay, place, limits, latency_ns, interval_ns, error);
    if (status != PIM_DEADLOCK)
        return status;
    *latency_ns = HUGE_VAL;
    if (interval_ns)
        *interval_ns = HUGE_VAL;
    return PIM_OK;
}

/* Where packets are worms a replay takes as long as a run, so that a search is given none by itself: the
 * mapping that is taken is replayed for the estimate. */
static bool replays_often(const struct pim_conflict_plan *plan)
{
    const struct pim_conflict_choices *choices = plan->choices;
    const bool asked = (choices->finalists != PIM_CONFLICT_BY_SIZE && choices->finalists > 0) ||
                       (choices->refinement != PIM_CONFLICT_BY_SIZE && choices->refinement > 0) ||
                       choices->searches != PIM_CONFLICT_BY_SIZE ||
                       choices->fitness == PIM_TILE_BY_SIMULATION || choices->log;
    return plan->replay && (!plan->machine.worms || asked);
}

/* Whether an image gets through at all: buffers that are too small stop it wherever nodes stand. */
static enum pim_status try_to_run(const struct pim_conflict_plan *plan, struct pim_error *error)
{
    double latency;
    const struct pim_grid grid = {plan->machine.width, plan->machine.height};
    const struct pim_mapper_search *asked = &plan->choices->search;
    const struct pim_tile_limits limits = {HUGE_VAL, asked->stop, asked->context};
    if (!replays_often(plan) || plan->tiles.nodes > pim_grid_cells(&grid))
        return PIM_OK;
    assert(plan->inputs->tiles != NULL);
    pim_tile_pattern(PIM_TILE_ROW_MAJOR, &grid, plan->tiles.nodes, plan->place);
    return plan->inputs->tiles->run(plan->replay, plan->place, &limits, &latency, NULL, error);
}

/* What the estimate is made of: all images on the network of the hardware. */
static enum pim_status estimate(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                                double *interval_ns, struct pim_error *error)
{
    struct pim_conflict_plan *plan = ((struct search *)context)->plan;
    const struct pim_mapper_tiles *tiles = plan->inputs->tiles;
    const uint32_t images = (uint32_t)plan->choices->images;
    assert(tiles != NULL); /* there is somebody who replays */
    enum pim_status status = pim_tile_estimate_make(&plan->estimate, &plan->tiles, place, &plan->machine,
                                                    images, tiles, plan->replay, limits, error);
    *interval_ns = status == PIM_DEADLOCK ? HUGE_VAL : pim_tile_estimate_interval(&plan->estimate);
    return status == PIM_DEADLOCK ? PIM_OK : status;
}

/* As many simulations as so many packets make: they take about as long for any network. */
static uint32_t simulations(const struct pim_conflict_plan *plan, uint64_t asked, uint64_t least,
                            uint64_t most)
{
    enum { PACKETS = 20000000 };
    uint64_t packets = 0;
    if (!replays_often(plan))
        return 0;
    if (asked != PIM_CONFLICT_BY_SIZE)
        return (uint32_t)asked;
    if (plan->machine.worms)
        return (uint32_t)least;
    for (uint32_t e = 0; e < plan->tiles.edges; e++)
        packets += plan->tiles.edge[e].packets;
    if (plan->machine.stores && plan->machine.tables) /* a run makes the tables, one works them */
        packets *= 2;
    uint64_t count = packets > 0 ? PACKETS / packets : most;
    return (uint32_t)(count < least ? least : count > most ? most : count);
}

/* As many searches as have finalists of four times so many packets; one where scores take long. */
static uint32_t searches(const struct pim_conflict_plan *plan)
{
    enum { SEARCHES = 32, TIMES = 4 };
    const struct pim_conflict_choices *choices = plan->choices;
    if (choices->searches != PIM_CONFLICT_BY_SIZE)
        return (uint32_t)choices->searches;
    uint32_t all = simulations(plan, PIM_CONFLICT_BY_SIZE, 0, UINT32_MAX),
             finalists = simulations(plan, choices->finalists, 16, 200);
    if ((choices->fitness != PIM_TILE_BY_COST && choices->fitness != PIM_TILE_BY_SIMULATION) ||
        choices->mapping == PIM_TILE_NSGA2 || choices->refinement == 0 || finalists == 0)
        return 1;
    uint64_t count = (uint64_t)TIMES * all / finalists;
    return count < 1 ? 1 : count > SEARCHES ? SEARCHES : (uint32_t)count;
}

static struct pim_tile_mapping_options options_of(struct search *search)
{
    const struct pim_conflict_plan *plan = search->plan;
    const struct pim_conflict_choices *choices = plan->choices;
    bool learned = choices->fitness > PIM_TILE_BY_SIMULATION;
    return (struct pim_tile_mapping_options){
        .mapping = (enum pim_tile_mapping)choices->mapping,
        .fitness = (enum pim_tile_fitness)choices->fitness,
        .grid = {plan->machine.width, plan->machine.height},
        .population = (uint32_t)choices->population,
        .generations = (uint32_t)choices->search.steps,
        .group_most = (uint32_t)choices->group,
        .finalists = simulations(plan, choices->finalists, 16, 200),
        .refinement = simulations(plan, choices->refinement, plan->machine.worms ? 0 : 200, 4000),
        .searches = searches(plan),
        .images = (uint32_t)choices->images,
        .seed = choices->search.seed,
        .threads = pim_workers_wanted(choices->search.threads),
        .seconds = (double)choices->search.seconds,
        .stop = choices->search.stop ? asked_to_stop : NULL,
        .stop_context = search,
        .finalist = search->log ? log_finalist : NULL,
        .finalist_context = search,
        .progress = choices->search.progress ? tell_progress : NULL,
        .progress_context = search,
        .simulate = replays_often(plan) ? simulate : NULL,
        .simulate_context = search,
        .judge = plan->inputs->tiles ? estimate : NULL,
        .judge_context = search,
        .estimator = learned ? &plan->study.weights.estimator[choices->fitness - PIM_TILE_BY_MLP] : NULL,
        .setting = learned ? &plan->study.setting : NULL};
}

/* Estimators, where one of the options asks for them. */
static enum pim_status make_study(struct search *search, struct pim_error *error)
{
    struct pim_conflict_plan *plan = search->plan;
    const struct pim_conflict_choices *choices = plan->choices;
    const struct pim_tile_study_options study = {
        .identity = {&plan->tiles, plan->inputs->configuration_text, (uint32_t)choices->images},
        .directed = plan->machine.stores,
        .train = choices->train,
        .weights = choices->weights,
        .judge = choices->judge,
        .populations = (uint32_t)choices->populations,
        .epochs = (uint32_t)choices->epochs};
    const struct pim_tile_mapping_options mapping = options_of(search);
    if (!choices->train && !choices->weights)
        return PIM_OK;
    if (plan->machine.worms && (choices->train || choices->judge))
        return pim_fail(error, PIM_BAD_INPUT,
                        "estimators learn thousands of simulated latencies, and a replay of tile.switching "
                        "\"wormhole\" takes as long as a run: train and judge with path_hold or saf");
    plan->studied = true;
    return pim_tile_study_make(&plan->study, &study, &mapping, error);
}

/* A mapping on which the images stand still is none: who waits for what is said. */
static enum pim_status map(struct search *search, struct pim_error *error)
{
    struct pim_conflict_plan *plan = search->plan;
    const struct pim_tile_mapping_options options = options_of(search);
    const struct pim_tile_limits limits = {HUGE_VAL, options.stop, options.stop_context};
    double latency, interval;
    enum pim_status status = pim_tile_map(&plan->tiles, &options, plan->place, &plan->result, error);
    if (status != PIM_OK || (!isinf(plan->result.latency_ns) && !isinf(plan->result.interval_ns)))
        return status;
    assert(plan->inputs->tiles != NULL);
    return plan->inputs->tiles->run(plan->replay, plan->place, &limits, &latency, &interval, error);
}

static enum pim_status make_mapping(struct pim_conflict_plan *plan, struct pim_error *error)
{
    const struct pim_mapper_inputs *inputs = plan->inputs;
    struct search search = {.plan = plan};
    plan->place = calloc((size_t)plan->tiles.nodes + 1, sizeof *plan->place);
    if (!plan->place)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " nodes", plan->tiles.nodes);
    const uint32_t images = (uint32_t)plan->choices->images;
    if (inputs->tiles &&
        inputs->tiles->create(inputs->simulator, &plan->tiles, images, &plan->replay, error) != PIM_OK)
        return error->status;
    if (try_to_run(plan, error) != PIM_OK || make_study(&search, error) != PIM_OK ||
        open_log(&search, error) != PIM_OK)
        return error->status;
    enum pim_status status = map(&search, error);
    if (status == PIM_OK && search.log)
        return pim_output_commit(search.log, error);
    pim_output_abandon(search.log);
    return status;
}

/* Where nothing was replayed there are tables of the right size, and no estimate. */
static enum pim_status complete_estimate(struct pim_conflict_plan *plan, struct pim_error *error)
{
    const struct pim_tile_limits limits = {.latency_ns = HUGE_VAL};
    if (plan->estimate.graph)
        return PIM_OK;
    return pim_tile_estimate_make(&plan->estimate, &plan->tiles, plan->place, &plan->machine,
                                  (uint32_t)plan->choices->images, NULL, NULL, &limits, error);
}

static enum pim_status write_files(const struct pim_conflict_plan *plan, struct pim_error *error)
{
    const char *prefix = plan->choices->graph;
    if (!prefix)
        return PIM_OK;
    if (pim_tile_graph_write(&plan->tiles, prefix, error) != PIM_OK)
        return error->status;
    return pim_tile_mapping_write(&plan->tiles, pim_tile_mapping_name(plan->choices->mapping),
                                  plan->machine.width, plan->place, prefix, error);
}

void pim_conflict_name_mapping(const struct pim_conflict_choices *choices, char *text, size_t size)
{
    const bool searched = choices->mapping > PIM_TILE_BOUSTROPHEDON;
    (void)snprintf(text, size, "%s%s%s, %" PRIu64 " image%s, preset %s",
                   pim_tile_mapping_name(choices->mapping), searched ? " by " : "",
                   searched ? pim_tile_fitness_name(choices->fitness) : "", choices->images,
                   choices->images > 1 ? "s" : "", choices->preset ? "fixed" : "code");
}

enum pim_status pim_conflict_plan_make(const struct pim_mapper_inputs *inputs,
                                       const struct pim_conflict_choices *choices,
                                       struct pim_conflict_plan *plan, struct pim_error *error)
{
    *plan = (struct pim_conflict_plan){.inputs = inputs, .choices = choices};
    pim_arena_initialize(&plan->arena, 0);
    if (pim_machine_tiles_read(inputs->configuration, &plan->machine, error) != PIM_OK ||
        make_graph(plan, error) != PIM_OK || make_mapping(plan, error) != PIM_OK ||
        complete_estimate(plan, error) != PIM_OK)
        return error->status;
    pim_conflict_name_mapping(choices, plan->mapping, sizeof plan->mapping);
    return write_files(plan, error);
}

void pim_conflict_plan_terminate(struct pim_conflict_plan *plan)
{
    if (plan->replay)
        plan->inputs->tiles->destroy(plan->replay);
    pim_tile_estimate_terminate(&plan->estimate);
    pim_tile_study_terminate(&plan->study);
    free(plan->place);
    pim_arena_terminate(&plan->arena);
}
