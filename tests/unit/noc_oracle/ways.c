#include "tests/unit/noc_oracle/net.h"

#include "tests/unit/test_main.h"

#include <stdlib.h>

static int divide(int x, int k, int times)
{
    return times == 0 ? x : divide(x / k, k, times - 1);
}

static uint32_t channels(int first, int count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

static void class_range(const struct net *net, int class, int *first, int *count)
{
    const struct pim_noc_configuration *is = net->is;
    *first = 0;
    *count = (int)is->virtual_channels;
    if (is->classes == 0)
        return;
    for (int i = 0; i < class; i++)
        *first += (int)is->class_channels[i];
    if (is->message_classes)
        *first = (int)is->class_first[class];
    *count = (int)is->class_channels[class];
}

uint32_t net_class(const struct net *net, int class)
{
    int first, count;
    class_range(net, class, &first, &count);
    return channels(first, count);
}

/* --- grids --- */

static int coordinate(const struct net *net, int router, int dimension)
{
    for (int d = 0; d < dimension; d++)
        router /= net->side[d];
    return router % net->side[dimension];
}

static bool is_ring(const struct net *net, int dimension)
{
    return net->is->topology == PIM_NOC_TORUS && net->side[dimension] > 2;
}

/* Whether a shortest way leads to lower coordinates. */
static bool goes_lower(const struct net *net, const struct journey *journey, int d, int at, int to)
{
    if (!is_ring(net, d))
        return to < at;
    int ahead = (to - at + net->side[d]) % net->side[d];
    return 2 * ahead == net->side[d] ? journey->lower[journey->phase][d] : 2 * ahead > net->side[d];
}

static bool will_wrap(bool lower, int at, int to)
{
    return lower ? at < to : at > to;
}

static bool splits_phases(const struct net *net)
{
    return net->is->routing == PIM_NOC_VALIANT || net->is->routing == PIM_NOC_ROMM ||
           net->is->routing == PIM_NOC_O1TURN;
}

/* Part `which` of two nearly equal ones. */
static void halve(int which, int *first, int *count)
{
    int low = *count / 2;
    *first += which ? low : 0;
    *count = which ? *count - low : low;
}

static bool has_rings(const struct net *net)
{
    return is_ring(net, 0) || is_ring(net, 1) || (net->dimensions == 3 && is_ring(net, 2));
}

/* Channels on the way along dimension d. */
static uint32_t grid_channels(const struct net *net, const struct journey *journey, int d, int at, int to)
{
    int first, count, parts = 1;
    bool torus = has_rings(net);
    class_range(net, journey->class, &first, &count);
    if (splits_phases(net))
        parts *= 2;
    if (torus && net->is->partition == PIM_NOC_DATELINE)
        parts *= 2;
    if (count < parts)
        return channels(first, count);
    if (splits_phases(net))
        halve(net->is->routing == PIM_NOC_O1TURN ? journey->y_first : journey->phase, &first, &count);
    if (!is_ring(net, d))
        return channels(first, count);
    if (net->is->partition == PIM_NOC_DATELINE) {
        bool wraps = will_wrap(goes_lower(net, journey, d, at, to), at, to);
        halve(!wraps, &first, &count);
        return channels(first, count);
    }
    int half = count / 2; /* the one in the middle of an odd number belongs to both */
    return journey->part ? channels(first + half, count - half) : channels(first, count - half);
}

static int target_router(const struct net *net, const struct journey *journey)
{
    return journey->phase == 0 && journey->intermediate != NONE ? journey->intermediate
                                                                : net->leave[journey->destination].router;
}

/* The dimension that dimension order corrects next, or NONE. */
static int next_dimension(const struct net *net, const struct journey *journey, int router)
{
    int target = target_router(net, journey);
    bool backwards = net->is->routing == PIM_NOC_YX || journey->y_first;
    for (int i = 0; i < net->dimensions; i++) {
        int d = backwards ? net->dimensions - 1 - i : i;
        if (coordinate(net, router, d) != coordinate(net, target, d))
            return d;
    }
    return NONE;
}

static bool takes_express(enum pim_noc_routing_kind routing)
{
    return routing == PIM_NOC_XY || routing == PIM_NOC_YX || routing == PIM_NOC_O1TURN ||
           routing == PIM_NOC_VALIANT || routing == PIM_NOC_ROMM;
}

/* Steps along dimension d from one coordinate to another, or those of the other way around a ring. */
static int steps(const struct net *net, int d, bool lower, int at, int to)
{
    int ahead = lower ? at - to : to - at;
    return ahead < 0 && is_ring(net, d) ? ahead + net->side[d] : ahead;
}

/* Whether two routers differ in dimension d alone. */
static bool in_line(const struct net *net, int from, int to, int d)
{
    for (int other = 0; other < net->dimensions; other++)
        if (other != d && coordinate(net, from, other) != coordinate(net, to, other))
            return false;
    return true;
}

/* The output of the link that goes furthest along dimension d without passing the target. */
static int furthest(const struct net *net, const struct journey *journey, int router, int d, bool lower)
{
    int at = coordinate(net, router, d), most = 1, port = 2 * d + lower;
    int left = steps(net, d, lower, at, coordinate(net, target_router(net, journey), d));
    for (int i = net->express; i < net->ports[router] && takes_express(net->is->routing); i++) {
        int to = net->out[router * PORTS + i].router;
        if (to == NONE || !in_line(net, router, to, d))
            continue;
        int length = steps(net, d, lower, at, coordinate(net, to, d));
        if (length > most && length <= left) {
            most = length;
            port = i;
        }
    }
    return port;
}

static struct way dimension_order(const struct net *net, const struct journey *journey, int router)
{
    int d = next_dimension(net, journey, router);
    int at = coordinate(net, router, d), to = coordinate(net, target_router(net, journey), d);
    bool lower = goes_lower(net, journey, d, at, to);
    return (struct way){.port = furthest(net, journey, router, d, lower),
                        .channels = grid_channels(net, journey, d, at, to)};
}

/* The part of `coordinate` and `balanced` is chosen where a packet enters a dimension. */
static void enter_dimension(const struct net *net, struct journey *journey, int router)
{
    int d = next_dimension(net, journey, router);
    if (d == NONE || d == journey->dimension)
        return;
    int at = coordinate(net, router, d), to = coordinate(net, target_router(net, journey), d);
    bool lower = goes_lower(net, journey, d, at, to);
    int middle = (net->side[d] - 1) / 2;
    journey->dimension = d;
    if (net->is->partition == PIM_NOC_COORDINATE)
        journey->part = at > to;
    else if (is_ring(net, d) && will_wrap(lower, at, to))
        journey->part = 1;
    else if (lower ? to <= middle && middle < at : at <= middle && middle < to)
        journey->part = 0;
    else
        journey->part = journey->second[d];
}

static int adaptive(const struct net *net, const struct journey *journey, int router, struct way *ways)
{
    int x = coordinate(net, router, 0), y = coordinate(net, router, 1), count = 0, first, channel_count;
    int target = target_router(net, journey), to_x = coordinate(net, target, 0),
        to_y = coordinate(net, target, 1);
    int row = goes_lower(net, journey, 0, x, to_x), column = 2 + goes_lower(net, journey, 1, y, to_y);
    uint32_t all = net_class(net, journey->class);
    bool may_x = x != to_x, may_y = y != to_y;
    class_range(net, journey->class, &first, &channel_count);
    if (net->is->routing == PIM_NOC_WEST_FIRST) {
        may_y = may_y && to_x >= x;
    } else if (net->is->routing == PIM_NOC_ODD_EVEN && may_x && to_x > x) {
        int source_x = coordinate(net, net->enter[journey->source].router, 0);
        bool both = may_y;
        may_y = may_y && (x % 2 == 1 || x == source_x);
        may_x = !both || to_x % 2 == 1 || to_x - x != 1;
    } else if (net->is->routing == PIM_NOC_ODD_EVEN && may_x) {
        may_y = may_y && x % 2 == 0;
    }
    if (may_x)
        ways[count++] = (struct way){.port = row, .channels = all};
    if (may_y)
        ways[count++] = (struct way){.port = column, .channels = all};
    int escapes = has_rings(net) ? 2 : 1;
    if (net->is->routing != PIM_NOC_MINIMAL_ADAPTIVE || channel_count <= escapes)
        return count;
    for (int i = 0; i < count; i++) {
        ways[i].channels = channels(first + escapes, channel_count - escapes);
        ways[i].empty = true;
    }
    struct way escape = dimension_order(net, journey, router);
    int d = escape.port / 2, at = d ? y : x, to = d ? to_y : to_x;
    bool wraps = is_ring(net, d) && will_wrap(escape.port % 2, at, to);
    escape.channels = is_ring(net, d) ? channels(first + !wraps, 1) : channels(first, escapes);
    escape.escape = true;
    ways[count++] = escape;
    return count;
}

/* --- the other topologies: an output port --- */

static int way_in_fat_tree(const struct net *net, const struct journey *journey, int router)
{
    int k = net->radix, n = net->levels, row = net->nodes / k, level = router / row, pos = router % row;
    int down = divide(journey->destination, k, n - 1 - level) % k;
    if (divide(journey->destination, k, n - level) == divide(pos, k, n - 1 - level))
        return down;
    if (net->is->routing == PIM_NOC_D_MOD_K)
        return k + down;
    struct pim_noc_candidate candidates[PIM_NOC_CANDIDATE_LIMIT]; /* a port up that is drawn: any */
    unsigned count = pim_noc_route(net->routing, &journey->drawn, (uint32_t)router, 0, candidates);
    if (count != 1 || candidates[0].port < k || candidates[0].port >= 2 * k)
        ck_abort_msg("a packet is not sent up in a fat tree");
    return candidates[0].port;
}

static int way_in_quad_tree(const struct net *net, const struct journey *journey, int router)
{
    int k = net->radix, level = 0, first = 0, size = 1;
    for (; router >= first + size; level++, size *= k)
        first += size;
    int below = divide(journey->destination, k, net->levels - level);
    return below == router - first ? divide(journey->destination, k, net->levels - 1 - level) % k : k;
}

static int way_in_butterfly(const struct net *net, const struct journey *journey, int router)
{
    int stage = router / (net->nodes / net->radix);
    return divide(journey->destination, net->radix, net->levels - 1 - stage) % net->radix;
}

static int way_in_flat(const struct net *net, int router, int target)
{
    int k = net->radix, c = net->nodes / (k * k), x = target % k, y = target / k;
    if (x != router % k)
        return c + x - (x > router % k);
    return c + k - 1 + y - (y > router / k);
}

static int way_in_concentrated_mesh(const struct net *net, int router, int target)
{
    int k = net->radix, x = router % k, y = router / k, dx = target % k - x, dy = target / k - y;
    bool express = net->is->routing == PIM_NOC_MINIMAL;
    if (dx) {
        if (express && abs(dx) > k / 2 - 1 && (y == 0 || y == k - 1))
            return y == 0 ? 7 : 6;
        return dx > 0 ? 4 : 5;
    }
    if (express && abs(dy) > k / 2 - 1 && (x == 0 || x == k - 1))
        return x == 0 ? 5 : 4;
    return dy > 0 ? 6 : 7;
}

static int way_in_dragonfly(const struct net *net, int router, int target)
{
    int p = net->radix, a = 2 * p, group = router / a, goal = target / a;
    int link = goal < group ? goal : goal - 1;
    int local = goal == group ? target % a : link / p, index = router % a;
    if (local != index)
        return p + local - (local > index);
    return p + a - 1 + link % p;
}

static int way_on(const struct net *net, const struct journey *journey, int router, int target)
{
    enum pim_noc_topology_kind kind = net->is->topology;
    if (kind == PIM_NOC_FAT_TREE)
        return way_in_fat_tree(net, journey, router);
    if (kind == PIM_NOC_QUAD_TREE)
        return way_in_quad_tree(net, journey, router);
    if (kind == PIM_NOC_BUTTERFLY)
        return way_in_butterfly(net, journey, router);
    if (kind == PIM_NOC_FLATTENED_BUTTERFLY)
        return way_in_flat(net, router, target);
    if (kind == PIM_NOC_CONCENTRATED_MESH)
        return way_in_concentrated_mesh(net, router, target);
    if (kind == PIM_NOC_DRAGONFLY)
        return way_in_dragonfly(net, router, target);
    return net->next[router * net->routers + target];
}

static bool is_global(const struct net *net, int port)
{
    return net->is->topology == PIM_NOC_DRAGONFLY && port >= 3 * net->radix - 1;
}

/* --- packets --- */

void journey_start(const struct net *net, struct journey *journey, int number, int source, int destination,
                   int class)
{
    *journey = (struct journey){.source = source,
                                .destination = destination,
                                .number = number,
                                .class = class,
                                .intermediate = NONE,
                                .dimension = NONE};
    struct pim_noc_packet_state *drawn = &journey->drawn;
    pim_noc_packet_start(net->routing, (uint64_t)number, (uint32_t)source, (uint32_t)destination,
                         (uint32_t) class, drawn);
    bool numbered = net->is->numbered_draws;
    for (int d = 0; d < net->dimensions; d++) {
        for (int phase = 0; phase < 2; phase++) {
            int bit = d < 2 ? 2 * phase + d : 4;
            journey->lower[phase][d] = numbered ? !(number >> (2 * d) & 1) : drawn->tie >> bit & 1;
        }
        journey->second[d] = numbered ? number >> (2 * d + 1) & 1 : drawn->partition >> d & 1;
    }
    journey->y_first = net->is->routing == PIM_NOC_O1TURN && drawn->y_first;
    if (net->is->routing == PIM_NOC_VALIANT || net->is->routing == PIM_NOC_ROMM)
        journey->intermediate = (int)drawn->intermediate;
    journey->injection = net_class(net, class);
    if (net->is->topology == PIM_NOC_DRAGONFLY) {
        int first, count;
        class_range(net, class, &first, &count);
        journey->injection = numbered ? channels(first + number % count, 1) : drawn->injection_vcs;
    }
}

void journey_arrive(const struct net *net, struct journey *journey, int router)
{
    if (router == journey->intermediate) {
        journey->phase = 1;
        journey->dimension = NONE;
    }
    if (net->dimensions && net->is->routing != PIM_NOC_TABLE)
        enter_dimension(net, journey, router);
}

int journey_ways(const struct net *net, const struct journey *journey, int router, struct way *ways)
{
    int target = target_router(net, journey), first, count;
    const struct end *leave = &net->leave[journey->destination];
    enum pim_noc_routing_kind routing = net->is->routing;
    class_range(net, journey->class, &first, &count);
    *ways = (struct way){.port = leave->port, .channels = channels(first, count)};
    if (net->is->topology == PIM_NOC_DRAGONFLY && count > 1)
        ways->channels = channels(first + journey->crossed, 1);
    if (router == leave->router && target == router)
        return 1;
    if (routing == PIM_NOC_TABLE) {
        ways->port = net->next[router * net->routers + target];
        return 1;
    }
    if (net->dimensions &&
        (routing == PIM_NOC_WEST_FIRST || routing == PIM_NOC_ODD_EVEN || routing == PIM_NOC_MINIMAL_ADAPTIVE))
        return adaptive(net, journey, router, ways);
    if (net->dimensions) {
        *ways = dimension_order(net, journey, router);
        return 1;
    }
    ways->port = way_on(net, journey, router, target);
    if (is_global(net, ways->port) && count > 1)
        ways->channels = channels(first + 1, 1);
    return 1;
}

void journey_leave(const struct net *net, struct journey *journey, int router, int port)
{
    journey->crossed = journey->crossed || is_global(net, port);
    if (net->is->topology == PIM_NOC_FAT_TREE && net->out[router * PORTS + port].router != NONE)
        pim_noc_packet_advance(net->routing, &journey->drawn, (uint32_t)router, (uint32_t)port);
}
