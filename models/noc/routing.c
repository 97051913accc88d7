/*
 * The rules of routing, in one router at a time.
 *
 * Every routing is made of steps in one dimension (noc_step_towards). Dimension-order routings take the step
 * of the first dimension in which there is a way to go, adaptive ones choose among both. What stands between
 * them and a deadlock is which virtual channels a step may use:
 *
 *  - a ring of a torus has a dateline between its last and its first router: a packet that has yet to cross
 *    it uses other virtual channels than one that has not, or no longer, to cross it;
 *  - the two phases of valiant and romm, and the two orders of o1turn, have virtual channels of their own;
 *  - minimal_adaptive keeps its first virtual channels (one, on a torus two) as escape channels.
 */
#include "models/noc/routing_internal.h"

#include "sim/random.h"

#include <assert.h>

/* --- one step --- */

bool noc_step_towards(const struct pim_noc_routing *routing, uint32_t router, uint32_t target,
                      unsigned dimension, bool lower, struct noc_step *step)
{
    const struct pim_noc_topology *topology = routing->topology;
    const uint16_t *coordinate = dimension ? topology->row : topology->column;
    uint32_t at = coordinate[router], to = coordinate[target];
    if (at == to)
        return false;
    uint32_t distance = at < to ? to - at : at - to;
    bool back = to < at; /* without wrapping */
    step->dateline = 2;
    if (routing->wraps[dimension]) {
        uint32_t around = (dimension ? topology->height : topology->width) - distance;
        bool straight = distance < around || (distance == around && back == lower);
        if (!straight) {
            back = !back;
            distance = around;
        }
        step->dateline = straight; /* the other way round crosses the dateline */
    }
    step->port = (uint16_t)(2 * dimension + back);
    step->distance = (uint16_t)distance;
    return true;
}

/* The port for a step: an express link that does not lead too far, the longest, or the grid's. */
static uint16_t best_port(const struct pim_noc_routing *routing, uint32_t router, const struct noc_step *step)
{
    if (!routing->shortcut)
        return step->port;
    const uint32_t *first = &routing->first_shortcut[4 * (size_t)router + step->port];
    for (uint32_t i = first[0]; i < first[1]; i++)
        if (routing->shortcut[i].span <= step->distance)
            return routing->shortcut[i].port;
    return step->port;
}

static bool ties_to_lower(const struct pim_noc_packet_state *state, unsigned dimension)
{
    return state->tie >> (2U * state->phase + dimension) & 1;
}

static uint32_t destination_router(const struct pim_noc_routing *routing,
                                   const struct pim_noc_packet_state *state)
{
    uint32_t concentration = routing->topology->concentration;
    return concentration == 1 ? state->destination : state->destination / concentration;
}

/* --- dimension order --- */

/* The next step towards `target`, columns before rows with `y_first`; false at the target. */
static bool ordered_step(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                         uint32_t router, uint32_t target, bool y_first, struct noc_step *step)
{
    unsigned first = y_first;
    return noc_step_towards(routing, router, target, first, ties_to_lower(state, first), step) ||
           noc_step_towards(routing, router, target, !first, ties_to_lower(state, !first), step);
}

static unsigned route_ordered(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                              uint32_t router, uint32_t target, bool y_first, unsigned part,
                              struct pim_noc_candidate *candidate)
{
    struct noc_step step;
    if (!ordered_step(routing, state, router, target, y_first, &step)) {
        assert(false && "a packet in its intermediate router goes on in phase 1");
        return 0;
    }
    candidate->port = best_port(routing, router, &step);
    candidate->vcs = routing->part[state->class][part][step.dateline];
    candidate->escape = candidate->empty = false;
    return 1;
}

/* --- adaptive --- */

/* Steps that a turn model allows: bit 0 the row's, bit 1 the column's. `x` and `y` say whether there is one.
 */
static unsigned west_first_choice(bool x, bool y, const struct noc_step *along_row)
{
    if (x && along_row->port == 1)
        return 1; /* west, and nothing else before */
    return (unsigned)x | (unsigned)y << 1;
}

/*
 * G.-M. Chiu, "The Odd-Even Turn Model for Adaptive Routing", IEEE Transactions on Parallel and Distributed
 * Systems 11(7), 2000, algorithm ROUTE: no turn from east to north or south in an even column, no turn from
 * north or south to west in an odd one.
 */
static unsigned odd_even_choice(const struct pim_noc_routing *routing,
                                const struct pim_noc_packet_state *state, uint32_t router, uint32_t target,
                                bool x, bool y, const struct noc_step *along_row)
{
    bool odd = routing->topology->column[router] & 1, odd_target = routing->topology->column[target] & 1;
    if (!x || !y)
        return (unsigned)x | (unsigned)y << 1;
    if (along_row->port == 1)
        return odd ? 1 : 3; /* west; the turn back to it is allowed in even columns */
    bool in_source_column = !(state->moved & 1);
    unsigned choice = odd || in_source_column ? 2 : 0;
    if (odd_target || along_row->distance != 1)
        choice |= 1;
    return choice;
}

static unsigned route_adaptive(const struct pim_noc_routing *routing,
                               const struct pim_noc_packet_state *state, uint32_t router, uint32_t target,
                               struct pim_noc_candidate *candidates)
{
    struct noc_step step[2] = {{0}};
    bool x = noc_step_towards(routing, router, target, 0, ties_to_lower(state, 0), &step[0]);
    bool y = noc_step_towards(routing, router, target, 1, ties_to_lower(state, 1), &step[1]);
    unsigned choice = routing->kind == PIM_NOC_WEST_FIRST ? west_first_choice(x, y, &step[0])
                      : routing->kind == PIM_NOC_ODD_EVEN
                          ? odd_even_choice(routing, state, router, target, x, y, &step[0])
                          : (unsigned)x | (unsigned)y << 1;
    unsigned class = state->class, count = 0;
    bool with_escape = routing->has_escape[class];
    for (unsigned dimension = 0; dimension < 2; dimension++)
        if (choice >> dimension & 1)
            candidates[count++] = (struct pim_noc_candidate){
                .vcs = routing->adaptive[class], .port = step[dimension].port, .empty = with_escape};
    if (with_escape) {
        const struct noc_step *first = x ? &step[0] : &step[1];
        candidates[count++] = (struct pim_noc_candidate){
            .vcs = routing->part[class][0][first->dateline], .port = first->port, .escape = true};
    }
    return count;
}

/* --- a router --- */

unsigned pim_noc_route(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                       uint32_t router, uint32_t input_port,
                       struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT])
{
    (void)input_port;
    uint32_t target = destination_router(routing, state);
    bool two_phases = routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM;
    if (two_phases && state->phase == 0)
        target = state->intermediate;
    else if (router == target) {
        candidates[0] = (struct pim_noc_candidate){
            .vcs = routing->all[state->class],
            .port = (uint16_t)pim_noc_node_port(routing->topology, state->destination)};
        return 1;
    }
    switch (routing->kind) {
    case PIM_NOC_XY:
    case PIM_NOC_YX:
        return route_ordered(routing, state, router, target, routing->kind == PIM_NOC_YX, 0, candidates);
    case PIM_NOC_O1TURN:
        return route_ordered(routing, state, router, target, state->y_first, state->y_first, candidates);
    case PIM_NOC_VALIANT:
    case PIM_NOC_ROMM:
        return route_ordered(routing, state, router, target, false, state->phase, candidates);
    case PIM_NOC_TABLE:
        candidates[0] = (struct pim_noc_candidate){
            .vcs = routing->all[state->class],
            .port = routing->table[(size_t)router * routing->topology->routers + target]};
        return 1;
    case PIM_NOC_WEST_FIRST:
    case PIM_NOC_ODD_EVEN:
    case PIM_NOC_MINIMAL_ADAPTIVE:
    case PIM_NOC_ROUTINGS:
    default:
        return route_adaptive(routing, state, router, target, candidates);
    }
}

void pim_noc_packet_advance(const struct pim_noc_routing *routing, struct pim_noc_packet_state *state,
                            uint32_t router, uint32_t port)
{
    uint32_t number = pim_noc_output_link(routing->topology, router, port);
    assert(number != PIM_NOC_NONE && "a packet leaves a router by a link");
    const struct pim_noc_link *link = &routing->topology->link[number];
    if (link->dimension < 2)
        state->moved |= (uint8_t)(1U << link->dimension);
    if (state->phase == 0 && link->to == state->intermediate)
        state->phase = 1;
}

/* --- the start --- */

/* Random integer between two coordinates, both included. */
static uint32_t between(struct pim_random *random, uint32_t a, uint32_t b)
{
    return (uint32_t)pim_random_between(random, a < b ? a : b, a < b ? b : a);
}

static uint32_t draw_intermediate(const struct pim_noc_routing *routing, struct pim_random *random,
                                  uint32_t from, uint32_t to)
{
    const struct pim_noc_topology *topology = routing->topology;
    if (routing->kind == PIM_NOC_VALIANT)
        return (uint32_t)pim_random_below(random, topology->routers);
    uint32_t column = between(random, topology->column[from], topology->column[to]);
    uint32_t row = between(random, topology->row[from], topology->row[to]);
    return row * topology->width + column;
}

void pim_noc_packet_start(const struct pim_noc_routing *routing, uint64_t number, uint32_t source,
                          uint32_t destination, uint32_t class, struct pim_noc_packet_state *state)
{
    *state = (struct pim_noc_packet_state){
        .source = source, .destination = destination, .intermediate = PIM_NOC_NONE, .class = (uint8_t) class};
    bool two_phases = routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM;
    bool ties = (routing->wraps[0] && routing->topology->width % 2 == 0) ||
                (routing->wraps[1] && routing->topology->height % 2 == 0);
    if (!ties && !two_phases && routing->kind != PIM_NOC_O1TURN)
        return;
    uint64_t mixed = routing->seed;
    struct pim_random random;
    pim_random_initialize(&random, pim_splitmix64(&mixed) ^ number);
    uint64_t bits = pim_random_next(&random);
    state->tie = (uint8_t)(ties ? bits >> 60 : 0);
    state->y_first = routing->kind == PIM_NOC_O1TURN && (bits & 1);
    if (two_phases) {
        uint32_t from = pim_noc_node_router(routing->topology, source);
        state->intermediate =
            draw_intermediate(routing, &random, from, pim_noc_node_router(routing->topology, destination));
        state->phase = state->intermediate == from;
    }
}
