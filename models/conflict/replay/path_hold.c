/*
 * Switching mode path_hold: a transfer holds every link of its path, both directions, from its start to its
 * end, hops x bits / bandwidth later. One packet of an edge is on its way at a time. A transfer that finds a
 * link busy waits; it holds nothing meanwhile, so there is no deadlock in the network.
 *
 * Also the ideal network, in which links are never busy.
 *
 * An arbiter looks at an edge only when something has changed for it (replay->asking): a step or a transfer
 * of it has ended, or, on straight paths, the link that was busy is free. Nothing else can start its next
 * packet, and being refused again leaves no trace.
 */
#include "models/conflict/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct transfer {
    bool flying, waiting; /* waiting: asked and was refused, since ready_fixed */
    uint64_t number;      /* fifo: of its place in the queue, from 1; 0: it is not there */
    uint32_t hops;        /* of the path that is held; with straight paths always */
    uint32_t *links;      /* directed links of the path */
    uint32_t *held;       /* the same as undirected links */
    uint32_t blame;       /* the link it first waited for; CONFLICT_NONE: none in particular */
    uint64_t ready_fixed;
    uint32_t waits_for;   /* straight paths: the busy link that refused it; CONFLICT_NONE: none */
    uint32_t next_waiter; /* of that link */
    uint64_t *reached;    /* adaptive: the routers that a failed search reached, a bit each */
    uint32_t limit;       /* adaptive */
    pim_time span;        /* of a straight path */
};

struct path_hold {
    struct transfer *transfer; /* by edge */
    uint8_t *busy;             /* by undirected link */
    uint32_t *first_waiter;    /* by undirected link: edges on straight paths that it has refused */
    struct conflict_adaptive *adaptive;
    struct conflict_plan plan;
    uint64_t *freed;   /* adaptive: routers at the ends of links that are freed now */
    uint64_t *reached; /* adaptive: of all edges */
    uint64_t *refused; /* adaptive: edges whose search failed, and would again */
    uint64_t joined;   /* fifo: the number of the edge that joined the queue last */
    uint32_t turn;     /* round robin: the edge that is asked first */
};

/* --- set-up --- */

static void destroy(struct conflict_replay *replay)
{
    struct path_hold *state = replay->state;
    if (!state)
        return;
    for (uint32_t e = 0; state->transfer && e < replay->graph->edges; e++) {
        free(state->transfer[e].links);
        free(state->transfer[e].held);
    }
    free(state->transfer);
    free(state->busy);
    free(state->first_waiter);
    free(state->freed);
    free(state->reached);
    free(state->refused);
    conflict_adaptive_destroy(state->adaptive);
    conflict_plan_terminate(&state->plan);
    free(state);
    replay->state = NULL;
}

static void hold(const struct conflict_replay *replay, struct transfer *transfer)
{
    for (uint32_t i = 0; i < transfer->hops; i++)
        transfer->held[i] = pim_conflict_undirected(&replay->options->mesh, transfer->links[i]);
}

static bool make_transfer(struct conflict_replay *replay, struct path_hold *state, uint32_t e)
{
    const struct pim_conflict_options *options = replay->options;
    struct transfer *transfer = &state->transfer[e];
    uint32_t from = replay->placement[replay->graph->edge[e].source],
             to = replay->placement[replay->graph->edge[e].destination];
    bool straight = options->routing == PIM_CONFLICT_XY || options->routing == PIM_CONFLICT_YX;
    uint32_t room = pim_conflict_distance(&options->mesh, from, to);
    transfer->waits_for = CONFLICT_NONE;
    transfer->limit = conflict_adaptive_limit(&options->mesh, &options->detour, from, to);
    if (options->routing == PIM_CONFLICT_ADAPTIVE)
        room = transfer->limit;
    else if (options->routing == PIM_CONFLICT_TABLE)
        room = pim_conflict_routers(&options->mesh);
    transfer->links = calloc((size_t)room + 1, sizeof *transfer->links);
    transfer->held = calloc((size_t)room + 1, sizeof *transfer->held);
    if (!transfer->links || !transfer->held)
        return false;
    if (straight) {
        transfer->hops = pim_conflict_straight(&options->mesh, from, to, options->routing == PIM_CONFLICT_YX,
                                               transfer->links);
        hold(replay, transfer);
        transfer->span = conflict_path_span(replay, e, transfer->hops);
    }
    return true;
}

static uint32_t router_words(const struct conflict_replay *replay)
{
    return (pim_conflict_routers(&replay->options->mesh) + 63) / 64;
}

static bool make_adaptive(const struct conflict_replay *replay, struct path_hold *state)
{
    size_t words = router_words(replay), edges = replay->graph->edges;
    state->adaptive = conflict_adaptive_create(&replay->options->mesh, replay->options->detour.tie_break);
    state->freed = calloc(words, sizeof *state->freed);
    state->reached = calloc(edges * words + 1, sizeof *state->reached);
    state->refused = calloc(edges / 64 + 1, sizeof *state->refused);
    if (!state->adaptive || !state->freed || !state->reached || !state->refused)
        return false;
    for (uint32_t e = 0; e < edges; e++)
        state->transfer[e].reached = state->reached + e * words;
    return true;
}

static enum pim_status create(struct conflict_replay *replay, struct pim_error *error)
{
    uint32_t edges = replay->graph->edges;
    struct path_hold *state = replay->state = calloc(1, sizeof *state);
    bool complete = state != NULL;
    if (complete) {
        state->transfer = calloc((size_t)edges + 1, sizeof *state->transfer);
        state->busy = calloc((size_t)pim_conflict_routers(&replay->options->mesh) * PIM_DIRECTIONS, 1);
        size_t links = (size_t)pim_conflict_routers(&replay->options->mesh) * PIM_DIRECTIONS;
        state->first_waiter = malloc(links * sizeof *state->first_waiter);
        complete = state->transfer && state->busy && state->first_waiter;
        for (size_t i = 0; complete && i < links; i++)
            state->first_waiter[i] = CONFLICT_NONE;
    }
    for (uint32_t e = 0; complete && e < edges; e++)
        complete = make_transfer(replay, state, e);
    if (complete && replay->options->routing == PIM_CONFLICT_ADAPTIVE)
        complete = make_adaptive(replay, state);
    if (!complete)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " edges", edges);
    if (replay->options->routing == PIM_CONFLICT_TABLE &&
        conflict_plan_create(&state->plan, replay, error) != PIM_OK)
        return error->status;
    return conflict_make_transfers(replay, edges, error);
}

/* --- rule 1: transfers that have ended, in the order of the edges --- */

/* The edges that it has refused ask again. */
static void free_link(struct conflict_replay *replay, struct path_hold *state, uint32_t link)
{
    state->busy[link] = 0;
    for (uint32_t e = state->first_waiter[link]; e != CONFLICT_NONE; e = state->transfer[e].next_waiter) {
        conflict_mark(&replay->asking, e);
        state->transfer[e].waits_for = CONFLICT_NONE;
    }
    state->first_waiter[link] = CONFLICT_NONE;
}

static void finish_one(struct conflict_replay *replay, struct path_hold *state, uint32_t e)
{
    struct transfer *transfer = &state->transfer[e];
    transfer->flying = false;
    conflict_mark(&replay->asking, e);
    conflict_arrive(replay, e, transfer->hops);
    if (replay->options->ideal)
        return;
    for (uint32_t i = 0; i < transfer->hops; i++)
        free_link(replay, state, transfer->held[i]);
    if (!state->adaptive)
        return;
    conflict_adaptive_release(state->adaptive, transfer->links, transfer->hops);
    for (uint32_t i = 0; i < transfer->hops; i++) {
        uint32_t router = transfer->links[i] / PIM_DIRECTIONS;
        conflict_set(state->freed, router);
        conflict_set(state->freed, pim_conflict_neighbour(&replay->options->mesh, router,
                                                          transfer->links[i] % PIM_DIRECTIONS));
    }
}

/* A search that failed fails again until a link is freed at a router that it reached: any path would have to
 * leave these by such a link, and links that were taken since only make paths longer. */
static void ask_again(struct conflict_replay *replay, struct path_hold *state)
{
    uint32_t words = router_words(replay);
    for (uint32_t word = 0; word <= replay->graph->edges / 64; word++) {
        for (uint64_t bits = state->refused[word]; bits; bits &= bits - 1) {
            uint32_t e = word * 64 + pim_lowest_bit(bits), i = 0;
            while (i < words && (state->transfer[e].reached[i] & state->freed[i]) == 0)
                i++;
            if (i == words)
                continue;
            state->refused[word] ^= bits & (~bits + 1);
            conflict_mark(&replay->asking, e);
        }
    }
    memset(state->freed, 0, words * sizeof *state->freed);
}

static bool refused(const struct path_hold *state, uint32_t e)
{
    return state->adaptive && state->refused[e / 64] >> (e % 64) & 1;
}

static void finish(struct conflict_replay *replay)
{
    struct path_hold *state = replay->state;
    struct conflict_taking taking = {0};
    for (uint32_t e; conflict_take(&replay->ended, &taking, &e);)
        finish_one(replay, state, e);
    if (taking.word > 0 && state->adaptive)
        ask_again(replay, state);
}

/* --- rule 4: arbitration --- */

/* The path of the next packet as its table operations say; they must be next in all their routers. */
static bool find_planned(struct conflict_replay *replay, struct path_hold *state, uint32_t e)
{
    struct transfer *transfer = &state->transfer[e];
    const struct conflict_plan *plan = &state->plan;
    transfer->hops = 0;
    uint32_t at = plan->packet[plan->first_packet[e] + replay->edge[e].sent];
    for (; at != CONFLICT_NONE; at = plan->next[at]) {
        uint32_t router = plan->router[at];
        if (plan->first[router] + plan->counter[router] != at)
            return false;
        if (plan->operation[at].to != PIM_PORT_PE)
            transfer->links[transfer->hops++] = router * PIM_DIRECTIONS + plan->operation[at].to;
    }
    hold(replay, transfer);
    return true;
}

static void advance_plan(struct conflict_plan *plan, uint32_t at)
{
    for (; at != CONFLICT_NONE; at = plan->next[at])
        plan->counter[plan->router[at]]++;
}

/* Finds the path of the next packet; false when it has to wait, with the busy link in *busy if there is one.
 */
static bool find_path(struct conflict_replay *replay, struct path_hold *state, uint32_t e, uint32_t *busy)
{
    struct transfer *transfer = &state->transfer[e];
    *busy = CONFLICT_NONE;
    if (replay->options->routing == PIM_CONFLICT_ADAPTIVE) {
        if (refused(state, e))
            return false;
        const struct pim_task_edge *edge = &replay->graph->edge[e];
        transfer->hops =
            conflict_adaptive_search(state->adaptive, replay->placement[edge->source],
                                     replay->placement[edge->destination], transfer->limit, transfer->links);
        if (transfer->hops == 0) {
            conflict_set(state->refused, e);
            memset(transfer->reached, 0, router_words(replay) * sizeof *transfer->reached);
            conflict_adaptive_reached(state->adaptive, transfer->reached);
            return false;
        }
        hold(replay, transfer);
        return true;
    }
    if (replay->options->routing == PIM_CONFLICT_TABLE && !find_planned(replay, state, e))
        return false;
    for (uint32_t i = 0; i < transfer->hops; i++) {
        if (state->busy[transfer->held[i]]) {
            *busy = transfer->held[i];
            return false;
        }
    }
    return true;
}

static void account(struct conflict_replay *replay, const struct transfer *transfer, uint32_t e, pim_time end)
{
    uint64_t bits = replay->graph->edge[e].bits;
    for (uint32_t i = 0; i < transfer->hops; i++)
        conflict_hold(replay, conflict_link(replay, transfer->held[i]), transfer->hops * bits, end);
    if (!transfer->waiting)
        return;
    uint64_t waited = conflict_now_fixed(replay) - transfer->ready_fixed;
    replay->result->task[e].wait_fixed += waited;
    if (transfer->blame != CONFLICT_NONE) {
        conflict_wait(replay, conflict_link(replay, transfer->blame), 1);
        conflict_link(replay, transfer->blame)->wait_fixed += waited;
    }
}

static void start(struct conflict_replay *replay, struct path_hold *state, uint32_t e)
{
    struct transfer *transfer = &state->transfer[e];
    const struct pim_conflict_options *options = replay->options;
    bool straight = options->routing == PIM_CONFLICT_XY || options->routing == PIM_CONFLICT_YX;
    if (!options->ideal) {
        for (uint32_t i = 0; i < transfer->hops; i++)
            state->busy[transfer->held[i]] = 1;
        if (state->adaptive)
            conflict_adaptive_take(state->adaptive, transfer->links, transfer->hops);
    }
    uint32_t packet = replay->edge[e].sent;
    if (options->routing == PIM_CONFLICT_TABLE)
        advance_plan(&state->plan, state->plan.packet[state->plan.first_packet[e] + packet]);
    pim_time end = conflict_schedule_end(
        replay, e, straight ? transfer->span : conflict_path_span(replay, e, transfer->hops));
    account(replay, transfer, e, end);
    transfer->flying = true;
    transfer->waiting = false;
    transfer->number = 0;
    conflict_leave(replay, e);
    conflict_record(replay, PIM_INTERVAL_TRANSFER, e, packet, end, transfer->links, transfer->hops);
    if (options->make_table && pim_behaviour_append(options->make_table, e, transfer->links, transfer->hops,
                                                    replay->error) != PIM_OK)
        conflict_abort(replay, replay->error->status, NULL);
}

static bool ready(const struct conflict_replay *replay, const struct path_hold *state, uint32_t e)
{
    return !state->transfer[e].flying && conflict_sendable(&replay->edge[e]);
}

/* Asks for one edge that is ready; true when it was granted, else with the busy link if there is one. */
static bool ask(struct conflict_replay *replay, struct path_hold *state, uint32_t e, uint32_t *busy)
{
    struct transfer *transfer = &state->transfer[e];
    if (find_path(replay, state, e, busy)) {
        start(replay, state, e);
        return true;
    }
    if (!transfer->waiting) {
        transfer->waiting = true;
        transfer->ready_fixed = conflict_now_fixed(replay);
        transfer->blame = *busy;
    }
    return false;
}

/* Asks for an edge in whose favour something may have changed; it stays among those that ask where nobody
 * tells when the reason of a refusal is gone. */
static bool look_at(struct conflict_replay *replay, struct path_hold *state, uint32_t e)
{
    uint32_t busy;
    struct transfer *transfer = &state->transfer[e];
    if (transfer->waits_for != CONFLICT_NONE || !ready(replay, state, e))
        return false;
    if (ask(replay, state, e, &busy))
        return true;
    if (refused(state, e))
        return false;
    if (busy == CONFLICT_NONE || replay->options->routing == PIM_CONFLICT_TABLE) {
        conflict_mark(&replay->asking, e);
        return false;
    }
    transfer->waits_for = busy;
    transfer->next_waiter = state->first_waiter[busy];
    state->first_waiter[busy] = e;
    return false;
}

/* fifo: who has asked longest. */
static bool came_first(const struct conflict_replay *replay, uint32_t a, uint32_t b)
{
    const struct path_hold *state = replay->state;
    return state->transfer[a].number < state->transfer[b].number;
}

/* round robin: in turns from the edge that is asked first. */
static bool comes_first_in_turn(const struct conflict_replay *replay, uint32_t a, uint32_t b)
{
    const struct path_hold *state = replay->state;
    bool a_again = a < state->turn, b_again = b < state->turn;
    return a_again != b_again ? b_again : a < b;
}

static conflict_order *order_of(const struct pim_conflict_options *options)
{
    switch (options->arbiter) {
    case PIM_CONFLICT_BALANCE:
        return conflict_goes_first;
    case PIM_CONFLICT_ROUND_ROBIN:
        return comes_first_in_turn;
    case PIM_CONFLICT_FIFO:
        return came_first;
    case PIM_CONFLICT_FIXED:
    case PIM_CONFLICT_ARBITERS:
    default:
        return NULL;
    }
}

/* fifo: edges that have become ready join the queue, in the order of their numbers. */
static void join_queue(struct conflict_replay *replay, struct path_hold *state, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct transfer *transfer = &state->transfer[replay->asked[i]];
        if (transfer->number == 0 && ready(replay, state, replay->asked[i]))
            transfer->number = ++state->joined;
    }
}

/* One pass over the edges that ask, in the order of the arbiter. */
static bool serve(struct conflict_replay *replay, struct path_hold *state)
{
    conflict_order *before = order_of(replay->options);
    uint32_t count = conflict_take_asking(replay), turn = state->turn;
    bool granted = false;
    join_queue(replay, state, count);
    conflict_sort_asked(replay, before, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t e = replay->asked[i];
        if (!look_at(replay, state, e))
            continue;
        granted = true;
        turn = e + 1 < replay->graph->edges ? e + 1 : 0;
    }
    state->turn = turn;
    return granted;
}

static bool arbitrate(struct conflict_replay *replay)
{
    struct path_hold *state = replay->state;
    bool granted = serve(replay, state);
    /* With tables a grant may bring another packet's operations to the heads of their lists. */
    while (granted && replay->options->routing == PIM_CONFLICT_TABLE)
        granted = serve(replay, state);
    return false;
}

static void explain(const struct conflict_replay *replay, uint32_t e, char *text, size_t size)
{
    const struct path_hold *state = replay->state;
    if (replay->options->routing != PIM_CONFLICT_TABLE) {
        (void)snprintf(text, size, "no path is free");
        return;
    }
    const struct conflict_plan *plan = &state->plan;
    for (uint32_t at = plan->packet[plan->first_packet[e] + replay->edge[e].sent]; at != CONFLICT_NONE;
         at = plan->next[at]) {
        uint32_t router = plan->router[at], head = plan->first[router] + plan->counter[router];
        if (head != at) {
            (void)snprintf(text, size, "router %" PRIu32 " serves edge %" PRIu32 " first, by its table",
                           router, plan->operation[head].task);
            return;
        }
    }
    (void)snprintf(text, size, "a link of its path is busy");
}

const struct conflict_network conflict_path_hold = {create, destroy, finish, arbitrate, explain};
