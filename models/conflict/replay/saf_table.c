/*
 * Store and forward by behaviour tables: every router works through its own list strictly in order. An
 * operation is done as soon as it is the next one, its packet is in the router and its link is free. There is
 * nothing to arbitrate.
 *
 * Fetchers, links and buffers are those of saf.c. An operation towards the PE takes no time; when it comes up
 * behind the nodes' turn in a time point, the nodes are looked at once more.
 */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct saf_table {
    struct conflict_plan plan;
    bool *here;        /* by operation: its packet is in its router */
    uint32_t *current; /* by link number: the operation that it serves; CONFLICT_NONE: idle */
    uint32_t *stored;  /* by directed link: packets on it or in the buffer behind it */
    bool *fetching;    /* by edge */
    uint32_t *queue;   /* routers to look at, each at most once */
    bool *queued;
    uint32_t head, waiting, routers;
    bool delivered;
};

static void destroy(struct conflict_replay *replay)
{
    struct saf_table *state = replay->state;
    if (!state)
        return;
    conflict_plan_terminate(&state->plan);
    free(state->here);
    free(state->current);
    free(state->stored);
    free(state->fetching);
    free(state->queue);
    free(state->queued);
    free(state);
    replay->state = NULL;
}

static enum pim_status create(struct conflict_replay *replay, struct pim_error *error)
{
    struct saf_table *state = replay->state = calloc(1, sizeof *state);
    if (!state)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    if (conflict_plan_create(&state->plan, replay, error) != PIM_OK)
        return error->status;
    state->routers = pim_conflict_routers(&replay->options->mesh);
    uint32_t links = state->routers * PIM_DIRECTIONS;
    state->here = calloc((size_t)state->plan.first[state->routers] + 1, sizeof *state->here);
    state->current = malloc(((size_t)links + 1) * sizeof *state->current);
    state->stored = calloc(links, sizeof *state->stored);
    state->fetching = calloc((size_t)replay->graph->edges + 1, sizeof *state->fetching);
    state->queue = calloc(state->routers, sizeof *state->queue);
    state->queued = calloc(state->routers, sizeof *state->queued);
    if (!state->here || !state->current || !state->stored || !state->fetching || !state->queue ||
        !state->queued)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", links);
    for (uint32_t link = 0; link < links; link++)
        state->current[link] = CONFLICT_NONE;
    return conflict_make_transfers(replay, links, error);
}

static void look_at(struct saf_table *state, uint32_t router)
{
    if (state->queued[router])
        return;
    state->queued[router] = true;
    state->queue[(state->head + state->waiting++) % state->routers] = router;
}

/* The packet of an operation has left the router: its place there, or the fetcher, is free for the next. */
static void vacate(struct conflict_replay *replay, struct saf_table *state, uint32_t at)
{
    uint32_t router = state->plan.router[at];
    unsigned from = state->plan.operation[at].from;
    if (from == PIM_PORT_PE) {
        state->fetching[state->plan.operation[at].task] = false;
        conflict_mark(&replay->asking, state->plan.operation[at].task);
        return;
    }
    uint32_t neighbour = pim_conflict_neighbour(&replay->options->mesh, router, from);
    state->stored[neighbour * PIM_DIRECTIONS + pim_conflict_opposite(from)]--;
    look_at(state, neighbour);
}

static void cross(struct conflict_replay *replay, struct saf_table *state, uint32_t at, uint32_t link,
                  uint32_t resource)
{
    uint32_t e = state->plan.operation[at].task;
    struct pim_conflict_link *result = conflict_link(replay, resource);
    state->current[resource] = at;
    state->stored[link]++;
    pim_time end = conflict_schedule_end(replay, resource, replay->edge[e].hop);
    conflict_hold(replay, result, replay->graph->edge[e].bits, end);
    conflict_record(replay, PIM_INTERVAL_HOP, e, state->plan.number[at], end, &link, 1);
}

/* Does what router `router` can do now. */
static void execute(struct conflict_replay *replay, struct saf_table *state, uint32_t router)
{
    struct conflict_plan *plan = &state->plan;
    uint32_t room = replay->options->router_packets;
    for (;;) {
        uint32_t at = plan->first[router] + plan->counter[router];
        if (at == plan->first[router + 1] || !state->here[at])
            return;
        const struct pim_operation *operation = &plan->operation[at];
        if (operation->to == PIM_PORT_PE) {
            vacate(replay, state, at);
            conflict_arrive(replay, operation->task, plan->depth[at]);
            state->delivered = true;
        } else {
            uint32_t link = router * PIM_DIRECTIONS + operation->to,
                     resource = conflict_resource(replay, link);
            if (state->current[resource] != CONFLICT_NONE || (room > 0 && state->stored[link] >= room))
                return;
            cross(replay, state, at, link, resource);
        }
        plan->counter[router]++;
    }
}

static void execute_all(struct conflict_replay *replay, struct saf_table *state)
{
    while (state->waiting > 0) {
        uint32_t router = state->queue[state->head];
        state->head = (state->head + 1) % state->routers;
        state->waiting--;
        state->queued[router] = false;
        execute(replay, state, router);
    }
}

static void finish_one(struct conflict_replay *replay, struct saf_table *state, uint32_t resource)
{
    uint32_t at = state->current[resource], next = state->plan.next[at];
    state->current[resource] = CONFLICT_NONE;
    vacate(replay, state, at);
    state->here[next] = true;
    look_at(state, state->plan.router[at]);
    look_at(state, state->plan.router[next]);
}

static void finish(struct conflict_replay *replay)
{
    struct saf_table *state = replay->state;
    struct conflict_taking taking = {0};
    for (uint32_t resource; conflict_take(&replay->ended, &taking, &resource);)
        finish_one(replay, state, resource);
    execute_all(replay, state);
}

static bool arbitrate(struct conflict_replay *replay)
{
    struct saf_table *state = replay->state;
    state->delivered = false;
    struct conflict_taking taking = {0};
    for (uint32_t e; conflict_take(&replay->asking, &taking, &e);) {
        if (!conflict_sendable(&replay->edge[e]) || state->fetching[e])
            continue;
        uint32_t at = state->plan.packet[state->plan.first_packet[e] + replay->edge[e].sent];
        state->fetching[e] = true;
        state->here[at] = true;
        conflict_leave(replay, e);
        look_at(state, state->plan.router[at]);
    }
    execute_all(replay, state);
    return state->delivered;
}

static void explain(const struct conflict_replay *replay, uint32_t e, char *text, size_t size)
{
    const struct saf_table *state = replay->state;
    const struct conflict_plan *plan = &state->plan;
    uint32_t packet = replay->edge[e].sent - (state->fetching[e] ? 1 : 0);
    uint32_t router = plan->router[plan->packet[plan->first_packet[e] + packet]];
    uint32_t at = plan->first[router] + plan->counter[router];
    if (at == plan->first[router + 1])
        (void)snprintf(text, size, "router %" PRIu32 " has done all of its table", router);
    else
        (void)snprintf(text, size, "router %" PRIu32 " %s edge %" PRIu32 " from %s to %s, by its table",
                       router, state->here[at] ? "has no room to send" : "waits for",
                       plan->operation[at].task, pim_port_name(plan->operation[at].from),
                       pim_port_name(plan->operation[at].to));
}

const struct conflict_network conflict_saf_table = {create, destroy, finish, arbitrate, explain};
