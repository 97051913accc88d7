/* Graphs of tiles on the network of the hardware: what the conflict mapper judges mappings by. */
#include "tools/library/tiles.h"

#include "tools/library/worms.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill_dependences(const struct pim_tile_graph *tiles, struct pim_task_graph *graph)
{
    for (uint32_t e = 0; e < tiles->edges; e++) {
        uint32_t steps = tiles->node[tiles->edge[e].destination].steps;
        for (uint32_t s = 0; s < steps; s++)
            pim_tile_dependence(tiles, e, s, &graph->need[graph->edge[e].first + s],
                                &graph->drop[graph->edge[e].first + s]);
    }
}

enum pim_status pim_tiles_task_graph(const struct pim_tile_graph *tiles, struct pim_task_graph **graph,
                                     struct pim_error *error)
{
    struct pim_task_graph *made = *graph = NULL;
    if (tiles->nodes > PIM_TASK_NODES || tiles->edges > PIM_TASK_EDGES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " nodes and %" PRIu32 " edges: at most %d and %d can be replayed",
                        tiles->nodes, tiles->edges, PIM_TASK_NODES, PIM_TASK_EDGES);
    made = pim_task_graph_create(tiles->name, tiles->nodes, tiles->edges);
    if (made) {
        free(made->latency_ns);
        made->latency_ns = calloc((size_t)tiles->nodes + 1, sizeof *made->latency_ns);
        made->latencies = tiles->nodes;
    }
    if (!made || !made->latency_ns) {
        pim_task_graph_destroy(made);
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a graph of %" PRIu32 " nodes", tiles->nodes);
    }
    for (uint32_t n = 0; n < tiles->nodes; n++) {
        made->node[n].steps = tiles->node[n].steps;
        made->node[n].latencies = 1;
        made->node[n].first_latency = n;
        made->latency_ns[n] = tiles->node[n].latency_ns;
    }
    for (uint32_t e = 0; e < tiles->edges; e++) {
        const struct pim_tile_edge *edge = &tiles->edge[e];
        made->edge[e].source = edge->source;
        made->edge[e].destination = edge->destination;
        made->edge[e].packets = edge->packets;
        made->edge[e].bits = edge->bits;
    }
    enum pim_status status = pim_task_graph_connect(made, error);
    if (status == PIM_OK) {
        fill_dependences(tiles, made);
        status = pim_task_graph_finish(made, error);
    }
    if (status == PIM_OK)
        *graph = made;
    else
        pim_task_graph_destroy(made);
    return status;
}

struct replay {
    struct pim_task_graph *graph;
    struct pim_conflict_options options;
    bool works_tables; /* routers that store and forward work the tables that `options` make */
    uint32_t images;
    const struct pim_hardware *worms; /* whose network carries the packets; NULL: that of models/conflict */
    enum pim_noc_fidelity fidelity;   /* of that network */
};

static void destroy(void *context)
{
    struct replay *replay = context;
    if (replay)
        pim_task_graph_destroy(replay->graph);
    free(replay);
}

/* Flits of worms that are replayed one by one, of all images, in millions. */
#define EXACT_MILLIONS 16
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const uint64_t exact_flits = EXACT_MILLIONS * UINT64_C(1000000);

/* Whether the cheaper fidelity knows the network. */
static bool is_plain(const struct pim_noc_configuration *noc)
{
    struct pim_noc_configuration analytic = *noc;
    struct pim_error unused;
    analytic.fidelity = PIM_NOC_ANALYTIC;
    return noc->fidelity == PIM_NOC_FLIT && pim_noc_configuration_check(&analytic, &unused) == PIM_OK;
}

static enum pim_status create(void *context, const struct pim_tile_graph *tiles, uint32_t images, void **out,
                              struct pim_error *error)
{
    const struct pim_hardware *hardware = context;
    const struct pim_conflict_options *options = &hardware->tiles.options;
    struct replay *replay = *out = calloc(1, sizeof *replay);
    if (!replay)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a replay");
    replay->options = *options;
    replay->images = images;
    /* Behaviour tables come from a run on paths that are looked for among idle links. */
    if (options->routing == PIM_CONFLICT_TABLE) {
        replay->works_tables = options->switching == PIM_SWITCHING_SAF;
        replay->options.routing = PIM_CONFLICT_ADAPTIVE;
        replay->options.switching = PIM_SWITCHING_PATH_HOLD;
    }
    if (pim_tiles_task_graph(tiles, &replay->graph, error) != PIM_OK) {
        destroy(replay);
        *out = NULL;
        return error->status;
    }
    if (options->switching != PIM_SWITCHING_WORMHOLE)
        return PIM_OK;
    replay->worms = hardware;
    replay->fidelity = hardware->noc.fidelity;
    if (pim_worms_flits(hardware, replay->graph) > exact_flits / images && is_plain(&hardware->noc))
        replay->fidelity = PIM_NOC_ANALYTIC;
    return PIM_OK;
}

static const char *differs(const void *context)
{
    const struct replay *replay = context;
    if (!replay->worms || replay->fidelity == replay->worms->noc.fidelity)
        return NULL;
    return "worms whole, as with noc.fidelity \"analytic\": they have more than " TEXT(
        EXACT_MILLIONS) " million flits";
}

static enum pim_status replay_worms(const struct replay *replay, const uint32_t *place,
                                    struct pim_conflict_options *options, struct pim_conflict_result *result,
                                    struct pim_error *error)
{
    struct pim_worms *worms;
    enum pim_status status =
        pim_worms_create(replay->worms, replay->fidelity, replay->graph, place, &worms, error);
    if (status == PIM_OK) {
        options->carrier = pim_worms_carrier(worms);
        status = pim_conflict_run(replay->graph, place, options, result, error);
    }
    pim_worms_destroy(worms);
    return status;
}

/* Limits and what is recorded are in `options`. */
static enum pim_status replay_images(const struct replay *replay, const uint32_t *place,
                                     const struct pim_conflict_options *options,
                                     struct pim_conflict_result *result, struct pim_error *error)
{
    struct pim_conflict_options planned = replay->options, worked = *options;
    struct pim_behaviour table;
    *result = (struct pim_conflict_result){0};
    if (replay->worms)
        return replay_worms(replay, place, &worked, result, error);
    if (!replay->works_tables)
        return pim_conflict_run(replay->graph, place, options, result, error);
    if (pim_behaviour_initialize(&table, &planned.mesh, error) != PIM_OK)
        return error->status;
    planned.images = options->images;
    planned.stop = options->stop;
    planned.stop_context = options->stop_context;
    planned.make_table = &table;
    worked.switching = PIM_SWITCHING_SAF;
    worked.routing = PIM_CONFLICT_TABLE;
    worked.table = &table;
    enum pim_status status = pim_conflict_run(replay->graph, place, &planned, result, error);
    if (status == PIM_OK && !result->stopped) {
        pim_conflict_result_terminate(result);
        status = pim_conflict_run(replay->graph, place, &worked, result, error);
    }
    pim_behaviour_terminate(&table);
    return status;
}

/* The end of `images` images, each its share. */
static enum pim_status run_images(const struct replay *replay, const uint32_t *place, uint32_t images,
                                  const struct pim_tile_limits *limits, double *end_ns,
                                  struct pim_error *error)
{
    struct pim_conflict_options options = replay->options;
    struct pim_conflict_result result;
    *end_ns = nan("");
    if (limits->stop && limits->stop(limits->stop_context)) /* before the graph is made ready */
        return PIM_OK;
    options.images = images;
    options.limit_ns = images == 1 && isfinite(limits->latency_ns) ? limits->latency_ns : 0;
    options.stop = limits->stop;
    options.stop_context = limits->stop_context;
    enum pim_status status = replay_images(replay, place, &options, &result, error);
    *end_ns = status != PIM_OK || result.stopped ? nan("")
              : result.given_up                  ? HUGE_VAL
                                                 : result.end_ns / images;
    pim_conflict_result_terminate(&result);
    return status;
}

static enum pim_status run(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                           double *latency_ns, double *interval_ns, struct pim_error *error)
{
    const struct replay *replay = context;
    enum pim_status status = run_images(replay, place, 1, limits, latency_ns, error);
    if (interval_ns)
        *interval_ns = *latency_ns;
    if (status == PIM_OK && interval_ns && replay->images > 1 && isfinite(*latency_ns))
        status = run_images(replay, place, replay->images, limits, interval_ns, error);
    return status;
}

struct listener {
    const struct replay *replay;
    pim_tile_end *told;
    void *context;
};

static void hear(void *context, const struct pim_conflict_interval *interval)
{
    const struct listener *listener = context;
    const struct replay *replay = listener->replay;
    if (interval->kind == PIM_INTERVAL_STEP &&
        interval->index + 1 == replay->graph->node[interval->task].steps)
        listener->told(listener->context, interval->image, interval->task,
                       pim_conflict_ns(replay->options.arithmetic, interval->end));
}

static enum pim_status ends(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                            pim_tile_end *told, void *told_context, bool *complete, struct pim_error *error)
{
    const struct replay *replay = context;
    struct listener listener = {replay, told, told_context};
    struct pim_conflict_options options = replay->options;
    struct pim_conflict_result result;
    options.images = replay->images;
    options.stop = limits->stop;
    options.stop_context = limits->stop_context;
    options.record = hear;
    options.record_context = &listener;
    enum pim_status status = replay_images(replay, place, &options, &result, error);
    *complete = status == PIM_OK && !result.stopped;
    pim_conflict_result_terminate(&result);
    return status;
}

static enum pim_status tables(void *context, const uint32_t *place, const struct pim_tile_limits *limits,
                              struct pim_trace_writer *writer, struct pim_error *error)
{
    const struct replay *replay = context;
    struct pim_conflict_options options = replay->options;
    struct pim_conflict_result result;
    struct pim_behaviour table;
    options.images = replay->images;
    options.stop = limits->stop;
    options.stop_context = limits->stop_context;
    if (pim_behaviour_initialize(&table, &options.mesh, error) != PIM_OK)
        return error->status;
    options.make_table = &table;
    enum pim_status status = pim_conflict_run(replay->graph, place, &options, &result, error);
    if (status == PIM_OK && result.stopped)
        status = pim_fail(error, PIM_BAD_INPUT,
                          "it was stopped: behaviour tables are those of a whole run, and there is no trace "
                          "without them");
    if (status == PIM_OK)
        status = pim_behaviour_put(&table, writer, error);
    pim_conflict_result_terminate(&result);
    pim_behaviour_terminate(&table);
    return status;
}

const struct pim_mapper_tiles pim_tiles_simulator = {create, differs, run, ends, tables, destroy};
