/* The nodes of a task graph: steps with what they need and free, and the run of a whole graph. */
#include "models/conflict/internal.h"

#include "sim/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct node {
    uint32_t image, step; /* the one that runs, or the next */
    bool running;
    pim_time end;
};

struct run {
    struct conflict_replay replay;
    struct node *node;
    pim_time *span;      /* of each latency of the graph */
    uint64_t nodes_left; /* with steps left */
    pim_time *image_start, *image_end;
};

/* --- rules 2 and 3: nodes --- */

static void end_step(struct run *run, uint32_t n)
{
    struct conflict_replay *replay = &run->replay;
    const struct pim_task_node *node = &replay->graph->node[n];
    struct node *state = &run->node[n];
    state->running = false;
    for (uint32_t k = 0; k < node->ins; k++) {
        uint32_t e = replay->graph->in[node->first_in + k];
        replay->edge[e].dropped += replay->graph->drop[replay->graph->edge[e].first + state->step];
        conflict_mark(&replay->asking, e);
    }
    for (uint32_t k = 0; k < node->outs; k++) {
        uint32_t e = replay->graph->out[node->first_out + k];
        replay->edge[e].produced++;
        conflict_mark(&replay->asking, e);
    }
    if (state->end > run->image_end[state->image])
        run->image_end[state->image] = state->end;
    if (++state->step == node->steps) {
        state->step = 0;
        run->nodes_left -= ++state->image == replay->options->images;
        if (run->nodes_left == 0)
            replay->over = state->end;
    }
}

/* The incoming edge that lacks packets for the next step, or the outgoing one without room; CONFLICT_NONE:
 * the step may start. */
static uint32_t obstacle(const struct run *run, uint32_t n)
{
    const struct conflict_replay *replay = &run->replay;
    const struct pim_task_node *node = &replay->graph->node[n];
    const struct node *state = &run->node[n];
    for (uint32_t k = 0; k < node->ins; k++) {
        uint32_t e = replay->graph->in[node->first_in + k];
        const struct pim_task_edge *edge = &replay->graph->edge[e];
        if (replay->edge[e].arrived <
            state->image * edge->packets + replay->graph->need[edge->first + state->step])
            return e;
    }
    for (uint32_t k = 0; k < node->outs; k++) {
        uint32_t e = replay->graph->out[node->first_out + k];
        if (replay->edge[e].produced - replay->edge[e].sent >= replay->edge[e].capacity_out)
            return e;
    }
    return CONFLICT_NONE;
}

/* The time of the next step; perturbed when that is asked for, by a draw that depends on seed, node, image
 * and step alone. */
static pim_time step_span(const struct run *run, uint32_t n)
{
    const struct conflict_replay *replay = &run->replay;
    const struct pim_task_node *node = &replay->graph->node[n];
    const struct node *state = &run->node[n];
    size_t place = node->first_latency + (node->latencies == 1 ? 0 : state->step);
    uint32_t milli = replay->options->perturb_milli;
    if (milli == 0)
        return run->span[place];
    uint64_t draw = replay->options->seed;
    draw = pim_splitmix64(&draw) ^ ((uint64_t)n << 32 | state->image);
    draw = pim_splitmix64(&draw) ^ state->step;
    double unit = (double)(pim_splitmix64(&draw) >> 11) * 0x1p-53;
    double factor = 1.0 + (double)milli / 1000.0 * (2.0 * unit - 1.0);
    return pim_conflict_instant(replay->arithmetic, replay->graph->latency_ns[place] * factor);
}

static void start_step(struct run *run, uint32_t n)
{
    struct conflict_replay *replay = &run->replay;
    struct node *state = &run->node[n];
    struct pim_conflict_node_result *result = &replay->result->node[n];
    pim_time now = conflict_now(replay), span = step_span(run, n);
    state->running = true;
    state->end = conflict_schedule_step(replay, n, span);
    if (result->steps++ == 0)
        result->first_start = now;
    result->last_end = state->end;
    result->busy_ns += pim_conflict_ns(replay->arithmetic, span);
    if (now < run->image_start[state->image])
        run->image_start[state->image] = now;
    if (state->end > replay->result->end)
        replay->result->end = state->end;
    if (replay->options->record) {
        struct pim_conflict_interval interval = {.kind = PIM_INTERVAL_STEP,
                                                 .task = n,
                                                 .image = state->image,
                                                 .index = state->step,
                                                 .start = now,
                                                 .end = state->end};
        replay->options->record(replay->options->record_context, &interval);
    }
}

static void look_at(void *context, uint32_t n)
{
    struct run *run = context;
    const struct conflict_replay *replay = &run->replay;
    struct node *state = &run->node[n];
    if (state->running && state->end <= conflict_now(replay))
        end_step(run, n);
    if (!state->running && state->image < replay->options->images && obstacle(run, n) == CONFLICT_NONE)
        start_step(run, n);
}

/* --- deadlock --- */

static bool work_left(void *context)
{
    const struct run *run = context;
    return run->nodes_left > 0;
}

static void report_edge(const struct conflict_replay *replay, uint32_t e, struct pim_idle_report *report)
{
    const struct conflict_edge *edge = &replay->edge[e];
    const struct pim_task_edge *task = &replay->graph->edge[e];
    char text[160];
    if (conflict_explain(replay, e, text, sizeof text))
        pim_idle_report_line(report,
                             "edge %" PRIu32 " (node %" PRIu32 " to %" PRIu32 "): %" PRIu32
                             " packets wait to be sent: %s",
                             e, task->source, task->destination, edge->produced - edge->sent, text);
}

static void report_work(void *context, struct pim_idle_report *report)
{
    const struct run *run = context;
    const struct conflict_replay *replay = &run->replay;
    for (uint32_t n = 0; n < replay->graph->nodes; n++) {
        const struct node *state = &run->node[n];
        if (state->image == replay->options->images)
            continue;
        uint32_t e = obstacle(run, n);
        if (e == CONFLICT_NONE)
            continue;
        const struct pim_task_edge *edge = &replay->graph->edge[e];
        if (edge->source == n)
            pim_idle_report_line(report,
                                 "node %" PRIu32 " image %" PRIu32 " step %" PRIu32
                                 ": its output buffer for node %" PRIu32 " is full (%" PRIu32 " packets)",
                                 n, state->image, state->step, edge->destination,
                                 replay->edge[e].capacity_out);
        else
            pim_idle_report_line(
                report,
                "node %" PRIu32 " image %" PRIu32 " step %" PRIu32 ": waits for packet %" PRIu32
                " of %" PRIu32 " of node %" PRIu32 ", has %" PRIu32,
                n, state->image, state->step, replay->graph->need[edge->first + state->step], edge->packets,
                edge->source, replay->edge[e].arrived - state->image * edge->packets);
    }
    for (uint32_t e = 0; e < replay->graph->edges; e++)
        report_edge(replay, e, report);
}

/* --- the life of a run --- */

static enum pim_status make_nodes(struct run *run, struct pim_error *error)
{
    const struct conflict_replay *replay = &run->replay;
    const struct pim_task_graph *graph = replay->graph;
    size_t nodes = graph->nodes, images = replay->options->images;
    run->node = calloc(nodes + 1, sizeof *run->node);
    run->span = calloc(graph->latencies + 1, sizeof *run->span);
    run->image_start = calloc(images + 1, sizeof *run->image_start);
    run->image_end = calloc(images + 1, sizeof *run->image_end);
    if (!run->node || !run->span || !run->image_start || !run->image_end)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a graph of %zu nodes", nodes);
    for (size_t i = 0; i < graph->latencies; i++) {
        run->span[i] = pim_conflict_instant(replay->arithmetic, graph->latency_ns[i]);
        if (run->span[i] == PIM_TIME_NEVER || run->span[i] == 0)
            return pim_fail(error, PIM_BAD_INPUT, "a step takes %g ns, which exact arithmetic cannot count",
                            graph->latency_ns[i]);
    }
    for (uint32_t m = 0; m < images; m++)
        run->image_start[m] = PIM_TIME_NEVER;
    run->nodes_left = nodes;
    return PIM_OK;
}

static void finish(struct run *run)
{
    const struct conflict_replay *replay = &run->replay;
    struct pim_conflict_result *result = replay->result;
    result->events = replay->ends + result->time_points;
    result->end_ns = pim_conflict_ns(replay->arithmetic, result->end);
    for (uint32_t m = 0; m < result->images; m++) {
        bool begun = run->image_start[m] != PIM_TIME_NEVER;
        result->image_start_ns[m] =
            begun ? pim_conflict_ns(replay->arithmetic, run->image_start[m]) : (double)NAN;
        result->image_end_ns[m] = pim_conflict_ns(replay->arithmetic, run->image_end[m]);
    }
}

static void nothing(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    (void)context;
}

/* A kernel at the end of what was scheduled says who waits for what. */
static enum pim_status check_idle(struct run *run, struct pim_error *error)
{
    struct pim_pending_work work = {work_left, report_work, run, NULL};
    if (run->nodes_left == 0)
        return PIM_OK;
    struct pim_kernel *kernel = pim_kernel_create();
    if (!kernel)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the kernel");
    pim_kernel_add_pending_work(kernel, &work);
    pim_kernel_schedule_at(kernel, run->replay.now, PIM_PHASE_UNIT, nothing, NULL);
    (void)pim_kernel_run(kernel, PIM_TIME_NEVER);
    (void)pim_kernel_check_idle(kernel, error);
    pim_kernel_destroy(kernel);
    return pim_fail_in(error, "deadlock after %.3f ns",
                       pim_conflict_ns(run->replay.arithmetic, run->replay.now));
}

/* Asked now and then, as a time point takes less than the question. */
static bool asked_to_stop(const struct conflict_replay *replay)
{
    const struct pim_conflict_options *options = replay->options;
    return options->stop && replay->result->time_points % 1024 == 0 && options->stop(options->stop_context);
}

/* --- packets that another network carries --- */

static void send_packet(void *context, uint32_t e)
{
    const struct conflict_replay *replay = &((struct run *)context)->replay;
    replay->options->carrier->send(replay->options->carrier->context, replay->now, e);
}

static pim_time carrier_next(const struct conflict_replay *replay)
{
    const struct pim_conflict_carrier *carrier = replay->options->carrier;
    return carrier ? carrier->next(carrier->context) : PIM_TIME_NEVER;
}

/* On to the next instant with a time point, as in most instants a carrier tells nothing; false: there is none
 * up to `until`. */
static bool advance(struct conflict_replay *replay, pim_time until)
{
    const struct pim_conflict_carrier *carrier = replay->options->carrier;
    for (;;) {
        pim_time carried = carrier_next(replay), ends = conflict_agenda_next(&replay->agenda);
        pim_time next = carried < ends ? carried : ends;
        if (next > until)
            return false;
        replay->now = next;
        if (carried == next)
            carrier->step(carrier->context, next, replay);
        if (replay->point_due || ends == next)
            return true;
    }
}

static enum pim_status execute(struct run *run, struct pim_error *error)
{
    struct conflict_replay *replay = &run->replay;
    double limit = replay->options->limit_ns;
    pim_time until = limit > 0 && limit <= PIM_CONFLICT_NS_MAXIMUM
                         ? pim_conflict_instant(replay->arithmetic, limit)
                         : PIM_TIME_NEVER - 1;
    conflict_next_point(replay);
    while (replay->status == PIM_OK && advance(replay, until)) {
        conflict_next_point(replay);
        if (replay->options->carrier && run->nodes_left == 0)
            break; /* what nobody needs is not followed to its end */
        if (run->nodes_left > 0 && asked_to_stop(replay)) {
            replay->result->stopped = true;
            break;
        }
    }
    if (replay->status != PIM_OK)
        return replay->status;
    replay->result->given_up =
        replay->result->stopped ||
        (run->nodes_left > 0 &&
         (carrier_next(replay) != PIM_TIME_NEVER || conflict_agenda_next(&replay->agenda) != PIM_TIME_NEVER));
    finish(run);
    return replay->result->given_up ? PIM_OK : check_idle(run, error);
}

enum pim_status pim_conflict_run(const struct pim_task_graph *graph, const uint32_t *placement,
                                 const struct pim_conflict_options *options,
                                 struct pim_conflict_result *result, struct pim_error *error)
{
    struct run run = {
        .replay = {
            .graph = graph, .options = options, .placement = placement, .result = result, .error = error}};
    struct conflict_replay *replay = &run.replay;
    *result = (struct pim_conflict_result){0};
    if (options->switching == PIM_SWITCHING_WORMHOLE && !options->carrier)
        return pim_fail(error, PIM_BAD_INPUT,
                        "there is no network that carries worms here: map the network with `pimsim map "
                        "conflict`, and run the trace with tile.switching = \"wormhole\"");
    replay->nodes =
        (struct pim_conflict_nodes){.noun = "node", .context = &run, .look = look_at, .send = send_packet};
    enum pim_status status = conflict_replay_initialize(replay, error);
    if (status == PIM_OK)
        status = make_nodes(&run, error);
    if (status == PIM_OK)
        status = execute(&run, error);
    conflict_replay_terminate(replay);
    free(run.node);
    free(run.span);
    free(run.image_start);
    free(run.image_end);
    return status;
}
