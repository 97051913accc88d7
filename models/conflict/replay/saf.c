/*
 * Switching mode saf: store and forward. A packet crosses one link at a time, bits / bandwidth (+ router
 * delay) each, is stored whole behind it, then asks for the next. A directed link (half duplex: both
 * directions together) serves one packet at a time.
 *
 * The router of the paper's figure 7: the fetcher takes a packet of an edge from the node's output buffer
 * when it is free of the one before, which it is when that has crossed its first link, and when the
 * destination has room, which is reserved then; the data buffers hold what has come from each direction; the
 * comparator is the arbiter of a link; the transfer unit is the link's busy time.
 *
 * Packets of an edge are alike and go the same way in order, so a packet is no object here: a flow, one hop
 * of an edge, counts what waits. Only edges of which something has changed are looked at (replay->asking),
 * and of the flows over a link those that wait.
 */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct flow {
    uint32_t edge;
    uint32_t place;   /* among the flows over its link */
    uint32_t waiting; /* packets stored in front of the link */
    uint32_t fresh;   /* of those, asked since the link was last arbitrated */
    uint32_t moved;   /* packets granted so far */
};

/* fifo: a request in the queue of its link. */
struct request {
    uint32_t flow, next;
};

struct resource {
    uint32_t first, flows; /* flow_of[first ...]: the flows over it, in the order of edges */
    uint32_t first_word;   /* waiting[first_word ...]: a bit for each of them */
    uint32_t fresh;        /* of all of them */
    uint32_t current;      /* the flow it serves; CONFLICT_NONE: idle */
    uint32_t turn;         /* round robin: place of the flow that is asked first */
    uint32_t head, tail;   /* fifo: requests */
};

struct saf {
    struct flow *flow;
    uint32_t *first_flow; /* by edge, and one more for the end */
    uint32_t *links;      /* by flow: the directed link that it crosses */
    uint32_t *flow_of;
    struct resource *resource;   /* by link number */
    uint64_t *waiting;           /* flows of which a packet waits */
    struct conflict_marks dirty; /* resources to arbitrate */
    uint32_t resources;
    uint32_t *stored;        /* by directed link: packets on it or in the buffer behind it */
    bool *fetching;          /* by edge: a packet has not crossed its first link yet */
    pim_time *span;          /* by edge, ideal: over the whole path */
    struct request *request; /* fifo: pool */
    size_t request_room;
    uint32_t requests, free_request;
};

/* --- set-up --- */

static void destroy(struct conflict_replay *replay)
{
    struct saf *state = replay->state;
    if (!state)
        return;
    free(state->flow);
    free(state->first_flow);
    free(state->links);
    free(state->flow_of);
    free(state->resource);
    free(state->waiting);
    conflict_marks_terminate(&state->dirty);
    free(state->stored);
    free(state->fetching);
    free(state->span);
    free(state->request);
    free(state);
    replay->state = NULL;
}

static uint32_t hops_of(const struct saf *state, uint32_t e)
{
    return state->first_flow[e + 1] - state->first_flow[e];
}

/* The flows of every edge along its path, and the list of flows of every link. */
static bool make_flows(struct conflict_replay *replay, struct saf *state)
{
    const struct pim_conflict_mesh *mesh = &replay->options->mesh;
    const struct pim_task_graph *graph = replay->graph;
    uint64_t total = 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        state->first_flow[e] = (uint32_t)total;
        total += pim_conflict_distance(mesh, replay->placement[graph->edge[e].source],
                                       replay->placement[graph->edge[e].destination]);
        if (total >= UINT32_MAX)
            return false;
    }
    state->first_flow[graph->edges] = (uint32_t)total;
    state->flow = calloc(total + 1, sizeof *state->flow);
    state->flow_of = calloc(total + 1, sizeof *state->flow_of);
    state->links = calloc(total + 1, sizeof *state->links);
    if (!state->flow || !state->flow_of || !state->links)
        return false;
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t *links = &state->links[state->first_flow[e]];
        uint32_t hops = pim_conflict_straight(mesh, replay->placement[graph->edge[e].source],
                                              replay->placement[graph->edge[e].destination],
                                              replay->options->routing == PIM_CONFLICT_YX, links);
        for (uint32_t i = 0; i < hops; i++) {
            state->flow[state->first_flow[e] + i] = (struct flow){.edge = e};
            state->resource[conflict_resource(replay, links[i])].flows++;
        }
    }
    uint32_t place = 0, words = 0;
    for (uint32_t r = 0; r < state->resources; r++) {
        state->resource[r].first = place;
        state->resource[r].first_word = words;
        place += state->resource[r].flows;
        words += (state->resource[r].flows + 63) / 64;
        state->resource[r].flows = 0;
    }
    for (uint32_t f = 0; f < total; f++) { /* in the order of edges */
        struct resource *resource = &state->resource[conflict_resource(replay, state->links[f])];
        state->flow[f].place = resource->flows;
        state->flow_of[resource->first + resource->flows++] = f;
    }
    state->waiting = calloc((size_t)words + 1, sizeof *state->waiting);
    return state->waiting != NULL;
}

static enum pim_status create(struct conflict_replay *replay, struct pim_error *error)
{
    size_t edges = replay->graph->edges;
    struct saf *state = replay->state = calloc(1, sizeof *state);
    bool complete = state != NULL;
    if (complete) {
        state->resources = pim_conflict_routers(&replay->options->mesh) * PIM_DIRECTIONS;
        state->free_request = CONFLICT_NONE;
        state->first_flow = calloc(edges + 1, sizeof *state->first_flow);
        state->resource = calloc(state->resources, sizeof *state->resource);
        state->stored = calloc(state->resources, sizeof *state->stored);
        state->fetching = calloc(edges + 1, sizeof *state->fetching);
        state->span = calloc(edges + 1, sizeof *state->span);
        complete = conflict_marks_initialize(&state->dirty, state->resources) && state->first_flow &&
                   state->resource && state->stored && state->fetching && state->span &&
                   make_flows(replay, state);
    }
    if (!complete)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %zu edges", edges);
    for (uint32_t r = 0; r < state->resources; r++)
        state->resource[r].current = state->resource[r].head = state->resource[r].tail = CONFLICT_NONE;
    for (uint32_t e = 0; e < edges; e++)
        state->span[e] = conflict_path_span(replay, e, hops_of(state, e));
    return conflict_make_transfers(replay, replay->options->ideal ? (uint32_t)edges : state->resources,
                                   error);
}

/* --- requests --- */

static void queue_request(struct conflict_replay *replay, struct saf *state, struct resource *resource,
                          uint32_t f)
{
    uint32_t place = state->free_request;
    if (place != CONFLICT_NONE) {
        state->free_request = state->request[place].next;
    } else {
        if (state->requests == state->request_room) {
            size_t room = state->request_room ? 2 * state->request_room : 256;
            struct request *grown = realloc(state->request, room * sizeof *grown);
            if (!grown) {
                conflict_abort(replay, PIM_NO_MEMORY, "out of memory for requests of links");
                return;
            }
            state->request = grown;
            state->request_room = room;
        }
        place = state->requests++;
    }
    state->request[place] = (struct request){f, CONFLICT_NONE};
    if (resource->head == CONFLICT_NONE)
        resource->head = place;
    else
        state->request[resource->tail].next = place;
    resource->tail = place;
}

/* A packet is stored in front of the link of flow `f` and asks for it. Waiting is the sum of grants less the
 * sum of requests. */
static void ask(struct conflict_replay *replay, struct saf *state, uint32_t f)
{
    struct flow *flow = &state->flow[f];
    uint32_t r = conflict_resource(replay, state->links[f]);
    struct resource *resource = &state->resource[r];
    if (flow->waiting++ == 0)
        conflict_set(&state->waiting[resource->first_word], flow->place);
    flow->fresh++;
    resource->fresh++;
    replay->result->asking++;
    replay->result->task[flow->edge].wait_fixed -= conflict_now_fixed(replay);
    conflict_link(replay, r)->wait_fixed -= conflict_now_fixed(replay);
    if (replay->options->arbiter == PIM_CONFLICT_FIFO)
        queue_request(replay, state, resource, f);
    conflict_mark(&state->dirty, r);
}

/* --- rule 1: packets that have crossed a link --- */

static void finish_one(struct conflict_replay *replay, struct saf *state, uint32_t r)
{
    uint32_t f = state->resource[r].current;
    uint32_t e = state->flow[f].edge, hop = f - state->first_flow[e];
    state->resource[r].current = CONFLICT_NONE;
    conflict_mark(&state->dirty, r);
    if (hop == 0) {
        state->fetching[e] = false;
        conflict_mark(&replay->asking, e);
    } else {
        uint32_t before = state->links[f - 1]; /* its buffer has room again */
        state->stored[before]--;
        conflict_mark(&state->dirty, conflict_resource(replay, before));
    }
    if (f + 1 < state->first_flow[e + 1]) {
        ask(replay, state, f + 1);
    } else {
        state->stored[state->links[f]]--;
        conflict_arrive(replay, e, hop + 1);
    }
}

static void finish(struct conflict_replay *replay)
{
    struct saf *state = replay->state;
    struct conflict_taking taking = {0};
    for (uint32_t index; conflict_take(&replay->ended, &taking, &index);) {
        if (!replay->options->ideal)
            finish_one(replay, state, index);
        else
            for (; replay->landed[index] > 0; replay->landed[index]--)
                conflict_arrive(replay, index, hops_of(state, index));
    }
}

/* --- rule 4: fetchers, then links --- */

static void fetch(struct conflict_replay *replay, struct saf *state, uint32_t e)
{
    uint32_t packet = replay->edge[e].sent;
    conflict_leave(replay, e);
    if (!replay->options->ideal) {
        state->fetching[e] = true;
        ask(replay, state, state->first_flow[e]);
        return;
    }
    pim_time end = conflict_schedule_end(replay, e, state->span[e]);
    for (uint32_t f = state->first_flow[e]; f < state->first_flow[e + 1]; f++)
        conflict_hold(replay, conflict_link(replay, conflict_resource(replay, state->links[f])),
                      replay->graph->edge[e].bits, end);
    conflict_record(replay, PIM_INTERVAL_TRANSFER, e, packet, end, &state->links[state->first_flow[e]],
                    hops_of(state, e));
}

/* Whether there is room behind a directed link. */
static bool has_room(const struct conflict_replay *replay, const struct saf *state, uint32_t link)
{
    uint32_t room = replay->options->router_packets;
    return room == 0 || state->stored[link] < room;
}

/* The first of the places from `place` on, and below `end`, whose flow waits; `end` when none does. */
static uint32_t next_waiting(const struct saf *state, const struct resource *resource, uint32_t place,
                             uint32_t end)
{
    const uint64_t *waiting = &state->waiting[resource->first_word];
    while (place < end) {
        uint64_t bits = waiting[place / 64] >> (place % 64);
        if (bits) {
            place += pim_lowest_bit(bits);
            return place < end ? place : end;
        }
        place = (place / 64 + 1) * 64;
    }
    return end;
}

/* The first place from `place` on, and below `end`, whose flow can be served; CONFLICT_NONE: none. */
static uint32_t next_served(const struct conflict_replay *replay, const struct saf *state,
                            const struct resource *resource, uint32_t place, uint32_t end)
{
    for (;; place++) {
        place = next_waiting(state, resource, place, end);
        if (place == end)
            return CONFLICT_NONE;
        if (has_room(replay, state, state->links[state->flow_of[resource->first + place]]))
            return place;
    }
}

/* balance: the place of the flow with the highest priority. */
static uint32_t choose_balanced(const struct conflict_replay *replay, const struct saf *state,
                                const struct resource *resource)
{
    uint32_t best = CONFLICT_NONE, best_edge = CONFLICT_NONE;
    for (uint32_t place = next_served(replay, state, resource, 0, resource->flows); place != CONFLICT_NONE;
         place = next_served(replay, state, resource, place + 1, resource->flows)) {
        uint32_t e = state->flow[state->flow_of[resource->first + place]].edge;
        if (best == CONFLICT_NONE || conflict_goes_first(replay, e, best_edge)) {
            best = place;
            best_edge = e;
        }
    }
    return best;
}

/* The place in the list of `resource` of the flow to serve; CONFLICT_NONE when none can be. */
static uint32_t choose(const struct conflict_replay *replay, const struct saf *state,
                       const struct resource *resource)
{
    if (replay->options->arbiter == PIM_CONFLICT_BALANCE)
        return choose_balanced(replay, state, resource);
    uint32_t turn = replay->options->arbiter == PIM_CONFLICT_ROUND_ROBIN ? resource->turn : 0;
    uint32_t place = next_served(replay, state, resource, turn, resource->flows);
    return place == CONFLICT_NONE ? next_served(replay, state, resource, 0, turn) : place;
}

/* fifo: the flow of the oldest request that can be served; the request leaves the queue. */
static uint32_t choose_oldest(const struct conflict_replay *replay, struct saf *state,
                              struct resource *resource)
{
    uint32_t before = CONFLICT_NONE;
    for (uint32_t at = resource->head; at != CONFLICT_NONE; before = at, at = state->request[at].next) {
        uint32_t f = state->request[at].flow;
        if (!has_room(replay, state, state->links[f]))
            continue;
        if (before == CONFLICT_NONE)
            resource->head = state->request[at].next;
        else
            state->request[before].next = state->request[at].next;
        if (resource->tail == at)
            resource->tail = before;
        state->request[at].next = state->free_request;
        state->free_request = at;
        return f;
    }
    return CONFLICT_NONE;
}

static void grant(struct conflict_replay *replay, struct saf *state, uint32_t r, uint32_t f)
{
    struct flow *flow = &state->flow[f];
    struct pim_conflict_link *link = conflict_link(replay, r);
    state->resource[r].current = f;
    if (flow->fresh == flow->waiting) { /* the packet has not waited */
        flow->fresh--;
        state->resource[r].fresh--;
    }
    if (--flow->waiting == 0)
        state->waiting[state->resource[r].first_word + flow->place / 64] &=
            ~(UINT64_C(1) << (flow->place % 64));
    replay->result->asking--;
    state->stored[state->links[f]]++;
    replay->result->task[flow->edge].wait_fixed += conflict_now_fixed(replay);
    link->wait_fixed += conflict_now_fixed(replay);
    pim_time end = conflict_schedule_end(replay, r, replay->edge[flow->edge].hop);
    conflict_hold(replay, link, replay->graph->edge[flow->edge].bits, end);
    conflict_record(replay, PIM_INTERVAL_HOP, flow->edge, flow->moved++, end, &state->links[f], 1);
}

/* What asked for a link and was not granted it has to wait. */
static void make_wait(struct conflict_replay *replay, struct saf *state, uint32_t r)
{
    struct resource *resource = &state->resource[r];
    if (resource->fresh == 0)
        return;
    conflict_wait(replay, conflict_link(replay, r), resource->fresh);
    resource->fresh = 0;
    for (uint32_t place = next_waiting(state, resource, 0, resource->flows); place < resource->flows;
         place = next_waiting(state, resource, place + 1, resource->flows))
        state->flow[state->flow_of[resource->first + place]].fresh = 0;
}

static void arbitrate_link(struct conflict_replay *replay, struct saf *state, uint32_t r)
{
    struct resource *resource = &state->resource[r];
    if (resource->current == CONFLICT_NONE) {
        if (replay->options->arbiter == PIM_CONFLICT_FIFO) {
            uint32_t f = choose_oldest(replay, state, resource);
            if (f != CONFLICT_NONE)
                grant(replay, state, r, f);
        } else {
            uint32_t place = choose(replay, state, resource);
            if (place != CONFLICT_NONE) {
                resource->turn = (place + 1) % resource->flows;
                grant(replay, state, r, state->flow_of[resource->first + place]);
            }
        }
    }
    make_wait(replay, state, r);
}

static bool arbitrate(struct conflict_replay *replay)
{
    struct saf *state = replay->state;
    struct conflict_taking asking = {0}, dirty = {0};
    for (uint32_t e; conflict_take(&replay->asking, &asking, &e);)
        while (conflict_sendable(&replay->edge[e]) && !state->fetching[e])
            fetch(replay, state, e);
    for (uint32_t r; conflict_take(&state->dirty, &dirty, &r);)
        arbitrate_link(replay, state, r);
    return false;
}

static void explain(const struct conflict_replay *replay, uint32_t e, char *text, size_t size)
{
    const struct saf *state = replay->state;
    for (uint32_t f = state->first_flow[e]; f < state->first_flow[e + 1]; f++) {
        if (state->flow[f].waiting == 0)
            continue;
        uint32_t link = state->links[f];
        (void)snprintf(text, size,
                       "a packet waits in router %" PRIu32 " to go %s (%" PRIu32 " stored beyond)",
                       link / PIM_DIRECTIONS, pim_port_name(link % PIM_DIRECTIONS), state->stored[link]);
        return;
    }
    (void)snprintf(text, size, "the fetcher is busy");
}

const struct conflict_network conflict_saf = {create, destroy, finish, arbitrate, explain};
