/* The replay: nodes, time points, checks of the options, the life of a run; see internal.h for the order in a
 * time point. */
#include "models/conflict/internal.h"

#include "sim/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- services for the networks --- */

static void time_point(struct pim_kernel *kernel, void *context);

/* There is a time point at the present instant: once for all that ends now. */
static void want_point(struct conflict_replay *replay)
{
    if (replay->point_due)
        return;
    replay->point_due = true;
    pim_kernel_schedule(replay->kernel, 0, PIM_PHASE_UNIT, time_point, replay);
}

static void transfer_ended(struct pim_kernel *kernel, void *context)
{
    const struct conflict_owner *owner = context;
    (void)kernel;
    conflict_set(owner->replay->ended, owner->index);
    owner->replay->landed[owner->index]++;
    want_point(owner->replay);
}

static void step_ended(struct pim_kernel *kernel, void *context)
{
    const struct conflict_owner *owner = context;
    (void)kernel;
    conflict_set(owner->replay->marked, owner->index);
    want_point(owner->replay);
}

void conflict_abort(struct conflict_replay *replay, enum pim_status status, const char *text)
{
    if (replay->status != PIM_OK)
        return;
    replay->status = status;
    if (text)
        (void)pim_fail(replay->error, status, "%s", text);
    pim_kernel_stop(replay->kernel);
}

static pim_time schedule(struct conflict_replay *replay, pim_time span, enum pim_phase phase,
                         pim_handler *handler, struct conflict_owner *owner)
{
    pim_time end = pim_conflict_after(replay->arithmetic, pim_kernel_now(replay->kernel), span);
    if (end == PIM_TIME_NEVER) {
        conflict_abort(replay, PIM_BAD_INPUT,
                       "the run takes longer than instants can count: exact arithmetic ends at 34 s");
        return pim_kernel_now(replay->kernel);
    }
    pim_kernel_schedule_at(replay->kernel, end, phase, handler, owner);
    return end;
}

pim_time conflict_schedule_end(struct conflict_replay *replay, uint32_t transfer, pim_time span)
{
    return schedule(replay, span, PIM_PHASE_NETWORK, transfer_ended, &replay->owner_of_transfer[transfer]);
}

enum pim_status conflict_make_transfers(struct conflict_replay *replay, uint32_t transfers,
                                        struct pim_error *error)
{
    replay->transfers = transfers;
    replay->ended = calloc((size_t)transfers / 64 + 1, sizeof *replay->ended);
    replay->owner_of_transfer = calloc((size_t)transfers + 1, sizeof *replay->owner_of_transfer);
    replay->landed = calloc((size_t)transfers + 1, sizeof *replay->landed);
    if (!replay->ended || !replay->owner_of_transfer || !replay->landed)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " transfers", transfers);
    for (uint32_t i = 0; i < transfers; i++)
        replay->owner_of_transfer[i] = (struct conflict_owner){replay, i};
    return PIM_OK;
}

void conflict_leave(struct conflict_replay *replay, uint32_t e)
{
    struct pim_conflict_task *task = &replay->result->task[e];
    if (replay->edge[e].sent++ == 0)
        task->first_start = pim_kernel_now(replay->kernel);
    assert(replay->edge[e].sent <= replay->edge[e].produced);
    conflict_set(replay->marked, replay->graph->edge[e].source);
}

/* Of two edges the one of which less has arrived, as a share of its total: done_a / total_a < done_b /
 * total_b. Ties: the lower edge. */
static bool goes_first(const struct conflict_replay *replay, uint32_t a, uint32_t b)
{
    uint64_t left = (uint64_t)replay->edge[a].arrived * replay->edge[b].total;
    uint64_t right = (uint64_t)replay->edge[b].arrived * replay->edge[a].total;
    return left != right ? left < right : a < b;
}

static void sink(struct conflict_replay *replay, uint32_t e)
{
    uint32_t place = replay->rank_of[e];
    for (; place + 1 < replay->graph->edges && goes_first(replay, replay->rank[place + 1], e); place++) {
        replay->rank[place] = replay->rank[place + 1];
        replay->rank_of[replay->rank[place]] = place;
    }
    replay->rank[place] = e;
    replay->rank_of[e] = place;
}

void conflict_arrive(struct conflict_replay *replay, uint32_t e, uint32_t hops)
{
    struct pim_conflict_result *result = replay->result;
    uint64_t bits = replay->graph->edge[e].bits;
    replay->edge[e].arrived++;
    assert(replay->edge[e].arrived <= replay->edge[e].sent);
    result->packets++;
    result->bit_hops += hops * bits;
    result->task[e].packets++;
    result->task[e].bits += bits;
    result->task[e].hops += hops;
    result->task[e].last_end = pim_kernel_now(replay->kernel);
    conflict_set(replay->marked, replay->graph->edge[e].destination);
    sink(replay, e);
}

pim_time conflict_path_span(const struct conflict_replay *replay, uint32_t e, uint32_t hops)
{
    pim_time span = 0;
    for (uint32_t i = 0; i < hops; i++)
        span = pim_conflict_after(replay->arithmetic, span, replay->edge[e].hop);
    return span;
}

void conflict_record(struct conflict_replay *replay, int kind, uint32_t e, uint32_t packet, pim_time end,
                     const uint32_t *links, uint32_t hops)
{
    if (!replay->options->record)
        return;
    uint32_t packets = replay->graph->edge[e].packets;
    struct pim_conflict_interval interval = {.task = e,
                                             .image = packet / packets,
                                             .index = packet % packets,
                                             .start = pim_kernel_now(replay->kernel),
                                             .end = end,
                                             .links = links,
                                             .hops = hops};
    interval.kind = kind == PIM_INTERVAL_HOP ? PIM_INTERVAL_HOP : PIM_INTERVAL_TRANSFER;
    replay->options->record(replay->options->record_context, &interval);
}

/* --- rules 2 and 3: nodes --- */

static void end_step(struct conflict_replay *replay, uint32_t n)
{
    const struct pim_task_node *node = &replay->graph->node[n];
    struct conflict_node *state = &replay->node[n];
    state->running = false;
    for (uint32_t k = 0; k < node->ins; k++) {
        uint32_t e = replay->graph->in[node->first_in + k];
        replay->edge[e].dropped += replay->graph->drop[replay->graph->edge[e].first + state->step];
        conflict_set(replay->asking, e);
    }
    for (uint32_t k = 0; k < node->outs; k++) {
        uint32_t e = replay->graph->out[node->first_out + k];
        replay->edge[e].produced++;
        conflict_set(replay->asking, e);
    }
    if (state->end > replay->image_end[state->image])
        replay->image_end[state->image] = state->end;
    if (++state->step == node->steps) {
        state->step = 0;
        replay->nodes_left -= ++state->image == replay->options->images;
    }
}

/* The incoming edge that lacks packets for the next step, or the outgoing one without room; CONFLICT_NONE:
 * the step may start. */
static uint32_t obstacle(const struct conflict_replay *replay, uint32_t n)
{
    const struct pim_task_node *node = &replay->graph->node[n];
    const struct conflict_node *state = &replay->node[n];
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
static pim_time step_span(const struct conflict_replay *replay, uint32_t n)
{
    const struct pim_task_node *node = &replay->graph->node[n];
    const struct conflict_node *state = &replay->node[n];
    size_t place = node->first_latency + (node->latencies == 1 ? 0 : state->step);
    uint32_t milli = replay->options->perturb_milli;
    if (milli == 0)
        return replay->span[place];
    uint64_t draw = replay->options->seed;
    draw = pim_splitmix64(&draw) ^ ((uint64_t)n << 32 | state->image);
    draw = pim_splitmix64(&draw) ^ state->step;
    double unit = (double)(pim_splitmix64(&draw) >> 11) * 0x1p-53;
    double factor = 1.0 + (double)milli / 1000.0 * (2.0 * unit - 1.0);
    return pim_conflict_instant(replay->arithmetic, replay->graph->latency_ns[place] * factor);
}

static void start_step(struct conflict_replay *replay, uint32_t n)
{
    struct conflict_node *state = &replay->node[n];
    struct pim_conflict_node_result *result = &replay->result->node[n];
    pim_time now = pim_kernel_now(replay->kernel), span = step_span(replay, n);
    state->running = true;
    state->end = schedule(replay, span, PIM_PHASE_ENGINE, step_ended, &replay->owner_of_node[n]);
    if (result->steps++ == 0)
        result->first_start = now;
    result->last_end = state->end;
    result->busy_ns += pim_conflict_ns(replay->arithmetic, span);
    if (now < replay->image_start[state->image])
        replay->image_start[state->image] = now;
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

static void look_at(struct conflict_replay *replay, uint32_t n)
{
    struct conflict_node *state = &replay->node[n];
    if (state->running && state->end <= pim_kernel_now(replay->kernel))
        end_step(replay, n);
    if (!state->running && state->image < replay->options->images && obstacle(replay, n) == CONFLICT_NONE)
        start_step(replay, n);
}

static void time_point(struct pim_kernel *kernel, void *context)
{
    struct conflict_replay *replay = context;
    (void)kernel;
    replay->point_due = false;
    replay->result->time_points++;
    replay->network->finish(replay);
    bool again = true;
    while (again && replay->status == PIM_OK) {
        for (uint32_t word = 0; word <= replay->graph->nodes / 64; word++) {
            uint64_t bits = replay->marked[word];
            replay->marked[word] = 0;
            for (; bits; bits &= bits - 1)
                look_at(replay, word * 64 + pim_lowest_bit(bits));
        }
        again = replay->network->arbitrate(replay);
    }
    if (replay->options->check && replay->status == PIM_OK &&
        conflict_check_edges(replay, replay->error) != PIM_OK)
        conflict_abort(replay, PIM_INTERNAL, NULL);
}

/* --- deadlock --- */

static bool work_left(void *context)
{
    const struct conflict_replay *replay = context;
    return replay->nodes_left > 0;
}

static void report_edge(const struct conflict_replay *replay, uint32_t e, struct pim_idle_report *report)
{
    const struct conflict_edge *edge = &replay->edge[e];
    const struct pim_task_edge *task = &replay->graph->edge[e];
    char text[160];
    if (edge->produced == edge->sent)
        return;
    if (!conflict_sendable(edge))
        (void)snprintf(text, sizeof text,
                       "its part of the destination's input buffer is full (%" PRIu32 " packets)",
                       edge->capacity_in);
    else
        replay->network->explain(replay, e, text, sizeof text);
    pim_idle_report_line(
        report, "edge %" PRIu32 " (node %" PRIu32 " to %" PRIu32 "): %" PRIu32 " packets wait to be sent: %s",
        e, task->source, task->destination, edge->produced - edge->sent, text);
}

static void report_work(void *context, struct pim_idle_report *report)
{
    const struct conflict_replay *replay = context;
    for (uint32_t n = 0; n < replay->graph->nodes; n++) {
        const struct conflict_node *state = &replay->node[n];
        if (state->image == replay->options->images)
            continue;
        uint32_t e = obstacle(replay, n);
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

/* --- set-up --- */

static enum pim_status make_edges(struct conflict_replay *replay, struct pim_error *error)
{
    const struct pim_conflict_options *options = replay->options;
    for (uint32_t e = 0; e < replay->graph->edges; e++) {
        const struct pim_task_edge *task = &replay->graph->edge[e];
        struct conflict_edge *edge = &replay->edge[e];
        uint64_t part = options->input_bits / replay->graph->node[task->destination].ins / task->bits;
        uint64_t room = options->output_bits / task->bits;
        edge->total = task->packets * options->images;
        edge->capacity_in = part > UINT32_MAX ? UINT32_MAX : (uint32_t)part;
        edge->capacity_out = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
        edge->hop = pim_conflict_instant(replay->arithmetic, (double)task->bits / options->bandwidth_gbps);
        if (options->switching == PIM_SWITCHING_SAF)
            edge->hop =
                pim_conflict_after(replay->arithmetic, edge->hop,
                                   pim_conflict_instant(replay->arithmetic, options->router_delay_ns));
        if (edge->hop == PIM_TIME_NEVER || edge->hop == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "edge %" PRIu32 ": a packet of %" PRIu64
                            " bits at %g Gb/s takes a time that exact "
                            "arithmetic cannot count",
                            e, task->bits, options->bandwidth_gbps);
        replay->rank[e] = replay->rank_of[e] = e;
        if (conflict_check_buffers(replay, e, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status make_nodes(struct conflict_replay *replay, struct pim_error *error)
{
    for (size_t i = 0; i < replay->graph->latencies; i++) {
        replay->span[i] = pim_conflict_instant(replay->arithmetic, replay->graph->latency_ns[i]);
        if (replay->span[i] == PIM_TIME_NEVER || replay->span[i] == 0)
            return pim_fail(error, PIM_BAD_INPUT, "a step takes %g ns, which exact arithmetic cannot count",
                            replay->graph->latency_ns[i]);
    }
    for (uint32_t n = 0; n < replay->graph->nodes; n++) {
        replay->owner_of_node[n] = (struct conflict_owner){replay, n};
        conflict_set(replay->marked, n); /* all nodes are looked at when the run begins */
    }
    for (uint32_t m = 0; m < replay->options->images; m++)
        replay->image_start[m] = PIM_TIME_NEVER;
    replay->nodes_left = replay->graph->nodes;
    return PIM_OK;
}

static enum pim_status create(struct conflict_replay *replay, struct pim_error *error)
{
    size_t nodes = replay->graph->nodes, edges = replay->graph->edges, images = replay->options->images;
    replay->kernel = pim_kernel_create();
    replay->node = calloc(nodes + 1, sizeof *replay->node);
    replay->edge = calloc(edges + 1, sizeof *replay->edge);
    replay->span = calloc(replay->graph->latencies + 1, sizeof *replay->span);
    replay->owner_of_node = calloc(nodes + 1, sizeof *replay->owner_of_node);
    replay->marked = calloc(nodes / 64 + 1, sizeof *replay->marked);
    replay->asking = calloc(edges / 64 + 1, sizeof *replay->asking);
    replay->rank = calloc(edges + 1, sizeof *replay->rank);
    replay->rank_of = calloc(edges + 1, sizeof *replay->rank_of);
    replay->image_start = calloc(images, sizeof *replay->image_start);
    replay->image_end = calloc(images, sizeof *replay->image_end);
    if (!replay->kernel || !replay->node || !replay->edge || !replay->span || !replay->owner_of_node ||
        !replay->marked || !replay->asking || !replay->rank || !replay->rank_of || !replay->image_start ||
        !replay->image_end)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a graph of %zu nodes and %zu edges", nodes,
                        edges);
    replay->work = (struct pim_pending_work){work_left, report_work, replay, NULL};
    pim_kernel_add_pending_work(replay->kernel, &replay->work);
    if (make_nodes(replay, error) != PIM_OK || make_edges(replay, error) != PIM_OK ||
        conflict_result_initialize(replay, error) != PIM_OK)
        return error->status;
    return replay->network->create(replay, error);
}

static void destroy(struct conflict_replay *replay)
{
    replay->network->destroy(replay);
    pim_kernel_destroy(replay->kernel);
    free(replay->node);
    free(replay->edge);
    free(replay->span);
    free(replay->owner_of_node);
    free(replay->owner_of_transfer);
    free(replay->marked);
    free(replay->asking);
    free(replay->ended);
    free(replay->landed);
    free(replay->rank);
    free(replay->rank_of);
    free(replay->link_index);
    free(replay->image_start);
    free(replay->image_end);
}

static enum pim_status run(struct conflict_replay *replay, struct pim_error *error)
{
    want_point(replay);
    (void)pim_kernel_run(replay->kernel, PIM_TIME_NEVER);
    if (replay->status != PIM_OK)
        return replay->status;
    conflict_result_finish(replay);
    if (pim_kernel_check_idle(replay->kernel, error) != PIM_OK)
        return pim_fail_in(error, "deadlock after %.3f ns",
                           pim_conflict_ns(replay->arithmetic, pim_kernel_now(replay->kernel)));
    return PIM_OK;
}

enum pim_status pim_conflict_run(const struct pim_task_graph *graph, const uint32_t *placement,
                                 const struct pim_conflict_options *options,
                                 struct pim_conflict_result *result, struct pim_error *error)
{
    *result = (struct pim_conflict_result){0};
    if (conflict_check_options(graph, options, error) != PIM_OK ||
        conflict_check_placement(graph, placement, &options->mesh, error) != PIM_OK)
        return error->status;
    bool saf = options->switching == PIM_SWITCHING_SAF;
    struct conflict_replay replay = {.graph = graph,
                                     .options = options,
                                     .placement = placement,
                                     .result = result,
                                     .arithmetic = options->arithmetic,
                                     .error = error};
    replay.network = saf ? (options->routing == PIM_CONFLICT_TABLE ? &conflict_saf_table : &conflict_saf)
                         : &conflict_path_hold;
    enum pim_status status = create(&replay, error);
    if (status == PIM_OK)
        status = run(&replay, error);
    destroy(&replay);
    return status;
}
