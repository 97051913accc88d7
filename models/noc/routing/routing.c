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
#include "models/noc/routing/internal.h"

#include "sim/random.h"

#include <assert.h>

/* --- one step --- */

bool noc_step_towards(const struct pim_noc_routing *routing, uint32_t router, uint32_t target,
                      unsigned dimension, bool lower, struct noc_step *step)
{
    const struct pim_noc_topology *topology = routing->topology;
    const uint16_t *coordinate = topology->coordinate[dimension];
    uint32_t at = coordinate[router], to = coordinate[target];
    if (at == to)
        return false;
    uint32_t distance = at < to ? to - at : at - to;
    bool back = to < at; /* without wrapping */
    step->dateline = 2;
    if (routing->wraps[dimension]) {
        uint32_t around = topology->side[dimension] - distance;
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
    return state->tie >> (dimension < 2 ? 2U * state->phase + dimension : 4) & 1;
}

static uint32_t destination_router(const struct pim_noc_routing *routing,
                                   const struct pim_noc_packet_state *state)
{
    return pim_noc_node_router(routing->topology, state->destination);
}

/* --- dimension order --- */

/* The next step towards `target`, columns before rows with `y_first`; false at the target. */
static bool ordered_step(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                         uint32_t router, uint32_t target, bool y_first, struct noc_step *step)
{
    unsigned first = y_first;
    return noc_step_towards(routing, router, target, first, ties_to_lower(state, first), step) ||
           noc_step_towards(routing, router, target, !first, ties_to_lower(state, !first), step) ||
           (routing->topology->dimensions > 2 &&
            noc_step_towards(routing, router, target, 2, ties_to_lower(state, 2), step));
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
    if (routing->partition != PIM_NOC_DATELINE && step.dateline < 2)
        step.dateline = state->partition >> step.port / 2 & 1;
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

/* --- topologies with a table of ways --- */

/* The way up in a fat tree: all ports do. */
static uint32_t up_port(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                        uint32_t router)
{
    const struct pim_noc_topology *topology = routing->topology;
    uint32_t k = topology->radix, level = router / (topology->nodes / k), power = 1;
    for (uint32_t l = topology->levels - 1; l > level; l--)
        power *= k;
    uint32_t digits = routing->kind == PIM_NOC_D_MOD_K ? state->destination : state->intermediate;
    return k + digits / power % k;
}

/* The channel of a dragonfly: the first one of the class before a link between groups, the second on it and
 * behind it. */
static uint32_t dragonfly_vcs(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                              uint32_t router, uint32_t port)
{
    const struct pim_noc_topology *topology = routing->topology;
    uint32_t group_routers = 2 * topology->radix, first_global = 3 * topology->radix - 1;
    uint32_t from = pim_noc_node_source(topology, state->source) / group_routers;
    bool crossed = from != router / group_routers || port >= first_global;
    return routing->part[state->class][0][crossed];
}

static unsigned route_by_table(const struct pim_noc_routing *routing,
                               const struct pim_noc_packet_state *state, uint32_t router,
                               struct pim_noc_candidate *candidates)
{
    const struct pim_noc_topology *topology = routing->topology;
    const uint8_t *ways = routing->kind == PIM_NOC_XY ? topology->second_way : topology->way;
    uint32_t port = ways[(size_t)router * topology->nodes + state->destination];
    if (port == PIM_NOC_ANY_UP)
        port = up_port(routing, state, router);
    uint32_t vcs = topology->kind == PIM_NOC_DRAGONFLY ? dragonfly_vcs(routing, state, router, port)
                                                       : routing->all[state->class];
    candidates[0] = (struct pim_noc_candidate){.vcs = vcs, .port = (uint16_t)port};
    return 1;
}

unsigned pim_noc_route(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                       uint32_t router, uint32_t input_port,
                       struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT])
{
    (void)input_port;
    if (routing->topology->way)
        return route_by_table(routing, state, router, candidates);
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
    case PIM_NOC_MINIMAL:
    case PIM_NOC_D_MOD_K:
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

uint8_t noc_partition(const struct pim_noc_routing *routing, const struct pim_noc_packet_state *state,
                      uint32_t from, uint32_t to, unsigned draws)
{
    const struct pim_noc_topology *topology = routing->topology;
    unsigned parts = 0;
    for (unsigned dimension = 0; dimension < topology->dimensions; dimension++) {
        const uint16_t *coordinate = topology->coordinate[dimension];
        uint32_t middle = (topology->side[dimension] - 1) / 2;
        uint32_t at = coordinate[from], goal = coordinate[to];
        struct noc_step step;
        if (!noc_step_towards(routing, from, to, dimension, ties_to_lower(state, dimension), &step))
            continue;
        bool second = at > goal, back = step.port & 1;
        if (routing->partition == PIM_NOC_BALANCED) {
            bool wraps = back ? at < goal : at > goal;
            bool passes = back ? goal <= middle && middle < at : at <= middle && middle < goal;
            second = wraps || (!passes && (draws >> dimension & 1));
        }
        parts |= (unsigned)second << dimension;
    }
    return (uint8_t)parts;
}

/* Ties and draws of a packet of a torus: from random bits, or from its number. */
static void draw_on_rings(const struct pim_noc_routing *routing, uint64_t number, uint64_t bits,
                          struct pim_noc_packet_state *state)
{
    unsigned draws = (unsigned)(bits >> 56) & 7;
    state->tie = (uint8_t)(bits >> 60 | (bits >> 55 & 16));
    if (routing
            ->numbered_draws) { /* of each dimension: bit 0 at a tie to higher coordinates, bit 1 the part */
        unsigned lower = (number & 1 ? 0U : 1U) | (number & 4 ? 0U : 2U);
        state->tie = (uint8_t)(lower | lower << 2 | (number & 16 ? 0U : 16U));
        draws = (unsigned)(number >> 1 & 1) | (unsigned)(number >> 2 & 2) | (unsigned)(number >> 3 & 4);
    }
    if (routing->partition != PIM_NOC_DATELINE)
        state->partition =
            noc_partition(routing, state, pim_noc_node_router(routing->topology, state->source),
                          destination_router(routing, state), draws);
}

/* The stream of a packet, and its first number. */
static uint64_t start_draws(const struct pim_noc_routing *routing, uint64_t number, struct pim_random *random)
{
    uint64_t mixed = routing->seed;
    pim_random_initialize(random, pim_splitmix64(&mixed) ^ number);
    return pim_random_next(random);
}

/* A packet of a topology with a table of ways. A dragonfly's terminal injects on a channel that is drawn. */
static void start_by_table(const struct pim_noc_routing *routing, uint64_t number,
                           struct pim_noc_packet_state *state)
{
    enum pim_noc_topology_kind kind = routing->topology->kind;
    bool drawn = kind == PIM_NOC_FAT_TREE && routing->kind == PIM_NOC_MINIMAL;
    if (!drawn && kind != PIM_NOC_DRAGONFLY)
        return;
    struct pim_random random;
    uint64_t bits = start_draws(routing, number, &random);
    state->intermediate = (uint32_t)bits;
    if (kind != PIM_NOC_DRAGONFLY)
        return;
    struct pim_noc_vc_range range = routing->class[state->class];
    uint64_t draw = routing->numbered_draws ? number : bits >> 32;
    state->injection_vcs = UINT32_C(1) << (range.first + draw % range.count);
}

void pim_noc_packet_start(const struct pim_noc_routing *routing, uint64_t number, uint32_t source,
                          uint32_t destination, uint32_t class, struct pim_noc_packet_state *state)
{
    *state = (struct pim_noc_packet_state){
        .source = source, .destination = destination, .intermediate = PIM_NOC_NONE, .class = (uint8_t) class};
    state->injection_vcs = routing->all[class];
    if (routing->topology->way) {
        start_by_table(routing, number, state);
        return;
    }
    bool two_phases = routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM;
    bool ties = false;
    for (unsigned d = 0; d < routing->topology->dimensions; d++)
        ties |= routing->wraps[d] && routing->topology->side[d] % 2 == 0;
    ties |= routing->partition != PIM_NOC_DATELINE;
    if (!ties && !two_phases && routing->kind != PIM_NOC_O1TURN)
        return;
    struct pim_random random;
    uint64_t bits = start_draws(routing, number, &random);
    if (ties)
        draw_on_rings(routing, number, bits, state);
    state->y_first = routing->kind == PIM_NOC_O1TURN && (bits & 1);
    if (two_phases) {
        uint32_t from = pim_noc_node_router(routing->topology, source);
        state->intermediate =
            draw_intermediate(routing, &random, from, pim_noc_node_router(routing->topology, destination));
        state->phase = state->intermediate == from;
    }
}
