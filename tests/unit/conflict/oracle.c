#include "tests/unit/conflict/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTERS = 64, EDGES = 64, NODES = 64, PACKETS = 4096 };

struct packet {
    uint32_t edge, at, hops; /* at: links crossed so far, or being crossed */
    uint32_t path[ROUTERS + 1];
    double end;
    bool moving, done;
    uint64_t number;
};

struct oracle {
    const struct pim_task_graph *graph;
    const uint32_t *placement;
    const struct pim_conflict_options *options;
    double now, node_end[NODES], last;
    uint32_t step[NODES]; /* over all images */
    bool running[NODES], look[NODES];
    uint32_t produced[EDGES], sent[EDGES], arrived[EDGES], dropped[EDGES];
    struct packet packet[PACKETS];
    uint32_t packets;
    uint32_t neighbour[ROUTERS][4], neighbours[ROUTERS]; /* over idle links, in the order of the search */
    struct oracle_result result;
};

/* --- links --- */

static bool saf(const struct oracle *o)
{
    return o->options->switching == PIM_SWITCHING_SAF;
}

static bool same_link(const struct oracle *o, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    bool both_ways = !saf(o) || o->options->half_duplex;
    return (a == c && b == d) || (both_ways && a == d && b == c);
}

static bool link_busy(const struct oracle *o, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < o->packets && !o->options->ideal; i++) {
        const struct packet *p = &o->packet[i];
        if (!p->moving)
            continue;
        uint32_t first = saf(o) ? p->at : 0, end = saf(o) ? p->at + 1 : p->hops;
        for (uint32_t k = first; k < end; k++)
            if (same_link(o, p->path[k], p->path[k + 1], from, to))
                return true;
    }
    return false;
}

static void unlist(struct oracle *o, uint32_t a, uint32_t b)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->neighbours[a]; i++)
        if (o->neighbour[a][i] != b)
            o->neighbour[a][kept++] = o->neighbour[a][i];
    o->neighbours[a] = kept;
}

static void list(struct oracle *o, uint32_t a, uint32_t b)
{
    o->neighbour[a][o->neighbours[a]++] = b;
    if (o->options->detour.tie_break != PIM_TIE_STATELESS)
        return;
    uint32_t sorted[4], count = 0, width = o->options->mesh.width;
    const uint32_t order[4] = {a - 1, a + 1, a - width, a + width};
    for (int k = 0; k < 4; k++)
        for (uint32_t i = 0; i < o->neighbours[a]; i++)
            if (o->neighbour[a][i] == order[k] && (count == 0 || sorted[count - 1] != order[k]))
                sorted[count++] = order[k];
    memcpy(o->neighbour[a], sorted, count * sizeof sorted[0]);
}

static void make_lists(struct oracle *o)
{
    uint32_t width = o->options->mesh.width, height = o->options->mesh.height;
    for (uint32_t r = 0; r < height; r++)
        for (uint32_t c = 0; c + 1 < width; c++) {
            list(o, r * width + c, r * width + c + 1);
            list(o, r * width + c + 1, r * width + c);
        }
    for (uint32_t c = 0; c < width; c++)
        for (uint32_t r = 0; r + 1 < height; r++) {
            list(o, r * width + c, (r + 1) * width + c);
            list(o, (r + 1) * width + c, r * width + c);
        }
}

/* --- paths --- */

static uint32_t straight(const struct oracle *o, uint32_t e, uint32_t *path)
{
    uint32_t width = o->options->mesh.width, at = o->placement[o->graph->edge[e].source], hops = 0;
    uint32_t to = o->placement[o->graph->edge[e].destination];
    bool rows_first = o->options->routing == PIM_CONFLICT_YX;
    path[0] = at;
    while (at != to) {
        bool row_done = at / width == to / width, column_done = at % width == to % width;
        if (rows_first ? !row_done : column_done)
            at = at / width < to / width ? at + width : at - width;
        else
            at = at % width < to % width ? at + 1 : at - 1;
        path[++hops] = at;
    }
    return hops;
}

static uint32_t searched(const struct oracle *o, uint32_t e, uint32_t *path)
{
    uint32_t from = o->placement[o->graph->edge[e].source], to = o->placement[o->graph->edge[e].destination],
             width = o->options->mesh.width;
    uint32_t parent[ROUTERS], queue[ROUTERS], head = 0, tail = 0, hops = 0;
    bool seen[ROUTERS] = {false};
    queue[tail++] = from;
    seen[from] = true;
    while (head < tail) {
        uint32_t u = queue[head++];
        for (uint32_t i = 0; i < o->neighbours[u]; i++) {
            uint32_t v = o->neighbour[u][i];
            if (!seen[v]) {
                seen[v] = true;
                parent[v] = u;
                queue[tail++] = v;
            }
        }
    }
    if (!seen[to])
        return 0;
    for (uint32_t v = to; v != from; v = parent[v])
        hops++;
    uint32_t at = to;
    for (uint32_t i = hops; i > 0; i--, at = parent[at])
        path[i] = at;
    path[0] = from;
    const struct pim_detour *detour = &o->options->detour;
    int shortest = abs((int)(from / width) - (int)(to / width)) +
                   abs((int)(from % width) - (int)(to % width)) + detour->count_routers;
    double limit =
        floor(fmax((double)detour->detour_milli / 1000.0 * shortest + 1e-9, shortest + (int)detour->slack));
    return hops + (detour->count_routers ? 1 : 0) <= limit ? hops : 0;
}

/* --- rules --- */

static bool before(const struct oracle *o, uint32_t a, uint32_t b)
{
    if (o->options->arbiter == PIM_CONFLICT_BALANCE) {
        double left = (double)o->arrived[a] / (o->graph->edge[a].packets * o->options->images);
        double right = (double)o->arrived[b] / (o->graph->edge[b].packets * o->options->images);
        if (left < right || left > right)
            return left < right;
    }
    return a < b;
}

static void arrive(struct oracle *o, struct packet *p)
{
    p->done = true;
    o->arrived[p->edge]++;
    o->look[o->graph->edge[p->edge].destination] = true;
    o->result.packets++;
    o->result.hops += p->hops;
}

static void finish_packet(struct oracle *o, struct packet *p)
{
    p->moving = false;
    if (saf(o) && !o->options->ideal) {
        if (++p->at == p->hops)
            arrive(o, p);
        return;
    }
    arrive(o, p);
    if (o->options->routing != PIM_CONFLICT_ADAPTIVE || o->options->ideal)
        return;
    for (uint32_t i = 0; i < p->hops; i++) {
        uint32_t k = o->options->detour.tie_break == PIM_TIE_RELEASE_BACKWARD ? p->hops - 1 - i : i;
        list(o, p->path[k], p->path[k + 1]);
        list(o, p->path[k + 1], p->path[k]);
    }
}

static void finish(struct oracle *o)
{
    for (uint32_t e = 0; e < o->graph->edges; e++)
        for (uint32_t i = 0; i < o->packets; i++)
            if (o->packet[i].edge == e && o->packet[i].moving && o->packet[i].end <= o->now)
                finish_packet(o, &o->packet[i]);
}

static bool may_start(const struct oracle *o, uint32_t n)
{
    const struct pim_task_node *node = &o->graph->node[n];
    uint32_t image = o->step[n] / node->steps, step = o->step[n] % node->steps;
    if (image == o->options->images)
        return false;
    for (uint32_t e = 0; e < o->graph->edges; e++) {
        const struct pim_task_edge *edge = &o->graph->edge[e];
        if (edge->destination == n &&
            o->arrived[e] < image * edge->packets + o->graph->need[edge->first + step])
            return false;
        if (edge->source == n && (o->produced[e] - o->sent[e] + 1) * edge->bits > o->options->output_bits)
            return false;
    }
    return true;
}

static void update_nodes(struct oracle *o)
{
    for (uint32_t n = 0; n < o->graph->nodes; n++) {
        const struct pim_task_node *node = &o->graph->node[n];
        bool ended = o->running[n] && o->node_end[n] <= o->now;
        if (!o->look[n] && !ended)
            continue;
        o->look[n] = false;
        uint32_t step = o->step[n] % node->steps;
        for (uint32_t e = 0; ended && e < o->graph->edges; e++) {
            o->dropped[e] +=
                o->graph->edge[e].destination == n ? o->graph->drop[o->graph->edge[e].first + step] : 0;
            o->produced[e] += o->graph->edge[e].source == n;
        }
        o->step[n] += ended;
        o->running[n] = o->running[n] && !ended;
        if (o->running[n] || !may_start(o, n))
            continue;
        step = o->step[n] % node->steps;
        o->running[n] = true;
        o->node_end[n] =
            o->now + o->graph->latency_ns[node->first_latency + (node->latencies == 1 ? 0 : step)];
        o->last = fmax(o->last, o->node_end[n]);
    }
}

static double hop_time(const struct oracle *o, uint32_t e)
{
    return (double)o->graph->edge[e].bits / o->options->bandwidth_gbps;
}

static double path_time(const struct oracle *o, uint32_t e, uint32_t hops)
{
    double time = 0;
    for (uint32_t i = 0; i < hops; i++)
        time += hop_time(o, e);
    return time;
}

static bool sendable(const struct oracle *o, uint32_t e)
{
    const struct pim_task_edge *edge = &o->graph->edge[e];
    uint64_t held = (uint64_t)(o->sent[e] - o->dropped[e]);
    return o->produced[e] > o->sent[e] &&
           (held + 1) * edge->bits * o->graph->node[edge->destination].ins <= o->options->input_bits;
}

/* Whether a packet of the edge has not arrived, or, with `first_link`, not crossed its first link. */
static bool under_way(const struct oracle *o, uint32_t e, bool first_link)
{
    for (uint32_t i = 0; i < o->packets; i++)
        if (o->packet[i].edge == e && !o->packet[i].done && (!first_link || o->packet[i].at == 0))
            return true;
    return false;
}

static struct packet *send(struct oracle *o, uint32_t e, const uint32_t *path, uint32_t hops)
{
    if (o->packets == PACKETS)
        abort();
    struct packet *p = &o->packet[o->packets];
    *p = (struct packet){.edge = e, .hops = hops, .number = o->packets++};
    memcpy(p->path, path, (hops + 1) * sizeof *path);
    o->sent[e]++;
    o->look[o->graph->edge[e].source] = true;
    return p;
}

static void start_path(struct oracle *o, uint32_t e)
{
    uint32_t path[ROUTERS + 1];
    bool adaptive = o->options->routing == PIM_CONFLICT_ADAPTIVE;
    uint32_t hops = adaptive ? searched(o, e, path) : straight(o, e, path);
    if (hops == 0)
        return;
    for (uint32_t i = 0; i < hops; i++)
        if (link_busy(o, path[i], path[i + 1]))
            return;
    struct packet *p = send(o, e, path, hops);
    p->moving = true;
    p->end = o->now + path_time(o, e, hops);
    for (uint32_t i = 0; i < hops && adaptive && !o->options->ideal; i++) {
        unlist(o, path[i], path[i + 1]);
        unlist(o, path[i + 1], path[i]);
    }
}

static void start_paths(struct oracle *o)
{
    bool asked[EDGES] = {false};
    for (;;) {
        uint32_t best = EDGES;
        for (uint32_t e = 0; e < o->graph->edges; e++)
            if (!asked[e] && sendable(o, e) && !under_way(o, e, false) &&
                (best == EDGES || before(o, e, best)))
                best = e;
        if (best == EDGES)
            return;
        asked[best] = true;
        start_path(o, best);
    }
}

/* Every packet that waits at a link which is idle and which no packet of higher priority wants starts. */
static void start_hops(struct oracle *o)
{
    for (;;) {
        struct packet *best = NULL;
        for (uint32_t i = 0; i < o->packets; i++) {
            struct packet *p = &o->packet[i];
            if (p->done || p->moving || link_busy(o, p->path[p->at], p->path[p->at + 1]))
                continue;
            if (!best || (p->edge == best->edge ? p->number < best->number : before(o, p->edge, best->edge)))
                best = p;
        }
        if (!best)
            return;
        best->moving = true;
        best->end = o->now + hop_time(o, best->edge);
    }
}

static void start_transfers(struct oracle *o)
{
    if (!saf(o)) {
        start_paths(o);
        return;
    }
    for (uint32_t e = 0; e < o->graph->edges; e++)
        while (sendable(o, e) && (o->options->ideal || !under_way(o, e, true))) {
            uint32_t path[ROUTERS + 1], hops = straight(o, e, path);
            struct packet *p = send(o, e, path, hops);
            p->moving = o->options->ideal;
            p->end = o->now + path_time(o, e, hops);
        }
    if (!o->options->ideal)
        start_hops(o);
}

static bool next_time(struct oracle *o)
{
    double next = HUGE_VAL;
    for (uint32_t i = 0; i < o->packets; i++)
        if (o->packet[i].moving)
            next = fmin(next, o->packet[i].end);
    for (uint32_t n = 0; n < o->graph->nodes; n++)
        if (o->running[n])
            next = fmin(next, o->node_end[n]);
    o->now = next;
    return isfinite(next);
}

struct oracle_result oracle_run(const struct pim_task_graph *graph, const uint32_t *placement,
                                const struct pim_conflict_options *options)
{
    struct oracle *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    o->graph = graph;
    o->placement = placement;
    o->options = options;
    make_lists(o);
    for (uint32_t n = 0; n < graph->nodes; n++)
        o->look[n] = true;
    do {
        o->result.time_points++;
        finish(o);
        update_nodes(o);
        start_transfers(o);
    } while (next_time(o));
    o->result.end_ns = o->last;
    for (uint32_t n = 0; n < graph->nodes; n++)
        o->result.deadlock |= o->step[n] < graph->node[n].steps * options->images;
    struct oracle_result result = o->result;
    free(o);
    return result;
}
