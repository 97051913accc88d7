/* The replay: time points, edges, what networks and nodes ask for; see internal.h for the order in a time
 * point. */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- services for the networks --- */

static void time_point(struct conflict_replay *replay);

static void point_of_kernel(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    time_point(context);
}

void conflict_want_point(struct conflict_replay *replay)
{
    if (replay->point_due)
        return;
    replay->point_due = true;
    if (replay->kernel)
        pim_kernel_schedule(replay->kernel, 0, PIM_PHASE_UNIT, point_of_kernel, replay);
}

static void end_transfer(struct conflict_replay *replay, uint32_t transfer)
{
    conflict_mark(&replay->ended, transfer);
    replay->landed[transfer]++;
}

static void transfer_ended(struct pim_kernel *kernel, void *context)
{
    const struct conflict_owner *owner = context;
    (void)kernel;
    end_transfer(owner->replay, owner->index);
    conflict_want_point(owner->replay);
}

void conflict_abort(struct conflict_replay *replay, enum pim_status status, const char *text)
{
    if (replay->status != PIM_OK)
        return;
    replay->status = status;
    if (replay->nodes.failed)
        replay->nodes.failed(replay->nodes.context, status, text);
    else if (text)
        (void)pim_fail(replay->error, status, "%s", text);
    if (replay->kernel)
        pim_kernel_stop(replay->kernel);
}

/* `span` from now. Fails the run when it is beyond the end of time. */
static bool find_end(struct conflict_replay *replay, pim_time span, pim_time *end)
{
    *end = pim_conflict_after(replay->arithmetic, conflict_now(replay), span);
    if (*end != PIM_TIME_NEVER)
        return true;
    conflict_abort(replay, PIM_BAD_INPUT,
                   "the run takes longer than instants can count: exact arithmetic ends at 9223 s");
    *end = conflict_now(replay);
    return false;
}

static void note_end(struct conflict_replay *replay, pim_time end, uint32_t who)
{
    if (!conflict_agenda_add(&replay->agenda, end, who))
        conflict_abort(replay, PIM_NO_MEMORY, "no memory for what is to end");
}

pim_time conflict_schedule_step(struct conflict_replay *replay, uint32_t node, pim_time span)
{
    pim_time end;
    if (find_end(replay, span, &end))
        note_end(replay, end, replay->transfers + node);
    return end;
}

pim_time conflict_schedule_end(struct conflict_replay *replay, uint32_t transfer, pim_time span)
{
    pim_time end;
    if (!find_end(replay, span, &end))
        return end;
    if (replay->kernel)
        pim_kernel_schedule_at(replay->kernel, end, PIM_PHASE_NETWORK, transfer_ended,
                               &replay->owner_of_transfer[transfer]);
    else
        note_end(replay, end, transfer);
    return end;
}

enum pim_status conflict_make_transfers(struct conflict_replay *replay, uint32_t transfers,
                                        struct pim_error *error)
{
    replay->transfers = transfers;
    bool marks = conflict_marks_initialize(&replay->ended, transfers);
    replay->owner_of_transfer = calloc((size_t)transfers + 1, sizeof *replay->owner_of_transfer);
    replay->landed = calloc((size_t)transfers + 1, sizeof *replay->landed);
    if (!marks || !replay->owner_of_transfer || !replay->landed)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " transfers", transfers);
    for (uint32_t i = 0; i < transfers; i++)
        replay->owner_of_transfer[i] = (struct conflict_owner){replay, i};
    return PIM_OK;
}

void conflict_leave(struct conflict_replay *replay, uint32_t e)
{
    struct pim_conflict_task *task = &replay->result->task[e];
    if (replay->edge[e].sent++ == 0)
        task->first_start = conflict_now(replay);
    assert(replay->edge[e].sent <= replay->edge[e].produced);
    conflict_mark(&replay->marked, replay->graph->edge[e].source);
    if (replay->nodes.left)
        replay->nodes.left(replay->nodes.context, e);
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
    result->task[e].last_end = conflict_now(replay);
    conflict_mark(&replay->marked, replay->graph->edge[e].destination);
    if (replay->nodes.arrived)
        replay->nodes.arrived(replay->nodes.context, e, hops);
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
                                             .start = conflict_now(replay),
                                             .end = end,
                                             .links = links,
                                             .hops = hops};
    interval.kind = kind == PIM_INTERVAL_HOP ? PIM_INTERVAL_HOP : PIM_INTERVAL_TRANSFER;
    replay->options->record(replay->options->record_context, &interval);
}

/* --- time points --- */

static void time_point(struct conflict_replay *replay)
{
    replay->point_due = false;
    replay->result->time_points++;
    replay->network->finish(replay);
    bool again = true;
    while (again && replay->status == PIM_OK) {
        struct conflict_taking taking = {0};
        for (uint32_t node; conflict_take(&replay->marked, &taking, &node);)
            replay->nodes.look(replay->nodes.context, node);
        again = replay->network->arbitrate(replay);
    }
    if (replay->options->check && replay->status == PIM_OK &&
        conflict_check_edges(replay, replay->error) != PIM_OK)
        conflict_abort(replay, PIM_INTERNAL, NULL);
}

void conflict_next_point(struct conflict_replay *replay)
{
    while (conflict_agenda_next(&replay->agenda) == replay->now) {
        uint32_t who = conflict_agenda_take(&replay->agenda);
        replay->ends++;
        if (who < replay->transfers)
            end_transfer(replay, who);
        else
            conflict_mark(&replay->marked, who - replay->transfers);
    }
    time_point(replay);
}

bool conflict_explain(const struct conflict_replay *replay, uint32_t e, char *text, size_t size)
{
    const struct conflict_edge *edge = &replay->edge[e];
    if (edge->produced == edge->sent)
        return false;
    if (!conflict_sendable(edge))
        (void)snprintf(text, size, "its part of the destination's input buffer is full (%" PRIu32 " packets)",
                       edge->capacity_in);
    else
        replay->network->explain(replay, e, text, size);
    return true;
}

/* --- set-up --- */

pim_time pim_conflict_hop(const struct pim_conflict_options *options, uint64_t bits)
{
    pim_time span = pim_conflict_instant(options->arithmetic, (double)bits / options->bandwidth_gbps);
    if (options->switching != PIM_SWITCHING_SAF)
        return span;
    return pim_conflict_after(options->arithmetic, span,
                              pim_conflict_instant(options->arithmetic, options->router_delay_ns));
}

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
        edge->hop = pim_conflict_hop(options, task->bits);
        if (edge->hop == PIM_TIME_NEVER || edge->hop == 0)
            return pim_fail(error, PIM_BAD_INPUT,
                            "edge %" PRIu32 ": a packet of %" PRIu64
                            " bits at %g Gb/s takes a time that exact "
                            "arithmetic cannot count",
                            e, task->bits, options->bandwidth_gbps);
        if (conflict_check_buffers(replay, e, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

/* How packets are carried. */
static const struct conflict_network *network_of(const struct pim_conflict_options *options)
{
    if (options->switching == PIM_SWITCHING_WORMHOLE)
        return &conflict_carried;
    if (options->switching == PIM_SWITCHING_PATH_HOLD)
        return &conflict_path_hold;
    return options->routing == PIM_CONFLICT_TABLE ? &conflict_saf_table : &conflict_saf;
}

enum pim_status conflict_replay_initialize(struct conflict_replay *replay, struct pim_error *error)
{
    size_t nodes = replay->graph->nodes, edges = replay->graph->edges;
    replay->network = network_of(replay->options);
    replay->arithmetic = replay->options->arithmetic;
    replay->over = PIM_TIME_NEVER;
    if (conflict_check_options(replay->graph, replay->options, error) != PIM_OK ||
        conflict_check_placement(replay->graph, replay->placement, &replay->options->mesh, error) != PIM_OK)
        return error->status;
    replay->edge = calloc(edges + 1, sizeof *replay->edge);
    replay->asked = calloc(edges + 1, sizeof *replay->asked);
    bool marks = conflict_marks_initialize(&replay->marked, nodes);
    marks &= conflict_marks_initialize(&replay->asking, edges);
    if (!replay->edge || !replay->asked || !marks)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a graph of %zu nodes and %zu edges", nodes,
                        edges);
    for (uint32_t n = 0; n < nodes; n++)
        conflict_mark(&replay->marked, n); /* all nodes are looked at when the run begins */
    if (make_edges(replay, error) != PIM_OK || conflict_result_initialize(replay, error) != PIM_OK)
        return error->status;
    return replay->network->create(replay, error);
}

void conflict_replay_terminate(struct conflict_replay *replay)
{
    if (replay->network)
        replay->network->destroy(replay);
    conflict_agenda_terminate(&replay->agenda);
    free(replay->edge);
    free(replay->owner_of_transfer);
    conflict_marks_terminate(&replay->marked);
    conflict_marks_terminate(&replay->asking);
    conflict_marks_terminate(&replay->ended);
    free(replay->asked);
    free(replay->landed);
    free(replay->link_index);
}
