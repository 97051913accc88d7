#include "tests/unit/noc_oracle/net.h"

#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int power(int base, int exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* x with its digit `place` to base k replaced, and that digit. */
static int digit(int x, int k, int place)
{
    return x / power(k, place) % k;
}

static int with_digit(int x, int k, int place, int value)
{
    return x + (value - digit(x, k, place)) * power(k, place);
}

void net_link(struct net *net, int from, int from_port, int to, int to_port, uint32_t latency)
{
    net->out[from * PORTS + from_port] = (struct end){to, to_port, NONE, latency, net->is->link_bits};
    net->in[to * PORTS + to_port] = (struct end){from, from_port, NONE, latency, net->is->link_bits};
}

static void link_both_ways(struct net *net, int a, int a_port, int b, int b_port, uint32_t latency)
{
    net_link(net, a, a_port, b, b_port, latency);
    net_link(net, b, b_port, a, a_port, latency);
}

static void node_enters(struct net *net, int node, int router, int port)
{
    net->enter[node] = (struct end){router, port, NONE, 1, net->is->terminal_bits};
    net->in[router * PORTS + port] = (struct end){NONE, NONE, node, 1, net->is->terminal_bits};
}

static void node_leaves(struct net *net, int node, int router, int port)
{
    net->leave[node] = (struct end){router, port, NONE, 1, net->is->terminal_bits};
    net->out[router * PORTS + port] = (struct end){NONE, NONE, node, 1, net->is->terminal_bits};
}

static void add_node(struct net *net, int node, int router, int port)
{
    node_enters(net, node, router, port);
    node_leaves(net, node, router, port);
}

static void allocate(struct net *net, int routers, int nodes, int ports)
{
    net->routers = routers;
    net->nodes = nodes;
    net->ports = zeros((size_t)routers, sizeof *net->ports);
    net->out = zeros((size_t)routers * PORTS, sizeof *net->out);
    net->in = zeros((size_t)routers * PORTS, sizeof *net->in);
    net->enter = zeros((size_t)nodes, sizeof *net->enter);
    net->leave = zeros((size_t)nodes, sizeof *net->leave);
    for (int i = 0; i < routers * PORTS; i++)
        net->out[i].router = net->out[i].node = net->in[i].router = net->in[i].node = NONE;
    for (int router = 0; router < routers; router++)
        net->ports[router] = ports;
}

static void build_grid(struct net *net)
{
    const struct pim_noc_configuration *is = net->is;
    int layers = is->depth > 1 ? (int)is->depth : 1,
        terminals = is->concentration > 1 ? (int)is->concentration : 1;
    net->dimensions = layers > 1 ? 3 : 2;
    net->side[0] = (int)is->width;
    net->side[1] = (int)is->height / layers;
    net->side[2] = layers;
    int routers = net->side[0] * net->side[1] * net->side[2];
    allocate(net, routers, routers * terminals, 2 * net->dimensions + terminals);
    for (int router = 0; router < routers; router++) {
        for (int d = 0, step = 1; d < net->dimensions; step *= net->side[d++]) {
            int at = router / step % net->side[d];
            if (at + 1 < net->side[d])
                link_both_ways(net, router, 2 * d, router + step, 2 * d + 1, is->link_latency);
            else if (is->topology == PIM_NOC_TORUS && net->side[d] > 2)
                link_both_ways(net, router, 2 * d, router - at * step, 2 * d + 1, is->link_latency);
        }
        for (int i = 0; i < terminals; i++)
            add_node(net, router * terminals + i, router, 2 * net->dimensions + i);
    }
    net->express = 2 * net->dimensions + terminals;
    net_add_express(net);
}

static void build_fat_tree(struct net *net)
{
    int k = net->radix, n = net->levels, row = power(k, n - 1);
    allocate(net, n * row, row * k, 2 * k);
    for (int pos = 0; pos < row; pos++) {
        net->ports[pos] = k;
        for (int level = 0; level + 1 < n; level++)
            for (int q = 0; q < k; q++) {
                int place = n - 2 - level;
                link_both_ways(net, level * row + pos, q, (level + 1) * row + with_digit(pos, k, place, q),
                               k + digit(pos, k, place), net->is->link_latency);
            }
        for (int port = 0; port < k; port++)
            add_node(net, k * pos + port, (n - 1) * row + pos, port);
    }
}

static void build_butterfly(struct net *net)
{
    int k = net->radix, n = net->levels, row = power(k, n - 1);
    allocate(net, n * row, row * k, k);
    for (int pos = 0; pos < row; pos++) {
        for (int stage = 0; stage + 1 < n; stage++)
            for (int q = 0; q < k; q++) {
                int place = n - 2 - stage;
                net_link(net, stage * row + pos, q, (stage + 1) * row + with_digit(pos, k, place, q),
                         digit(pos, k, place), net->is->link_latency);
            }
        for (int port = 0; port < k; port++) {
            node_enters(net, k * pos + port, pos, port);
            node_leaves(net, k * pos + port, (n - 1) * row + pos, port);
        }
    }
}

static void build_quad_tree(struct net *net)
{
    int k = net->radix, routers = 0;
    for (int level = 0; level < net->levels; level++)
        routers += power(k, level);
    allocate(net, routers, power(k, net->levels), k + 1);
    for (int level = 0, first = 0; level < net->levels; first += power(k, level++))
        for (int pos = 0; pos < power(k, level); pos++)
            for (int q = 0; q < k; q++) {
                if (level + 1 == net->levels)
                    add_node(net, k * pos + q, first + pos, q);
                else
                    link_both_ways(net, first + pos, q, first + power(k, level) + k * pos + q, k,
                                   net->is->link_latency);
            }
}

/* The terminal of a node in a grid of k x k routers, each with a rectangle of the grid of nodes. */
static void add_rectangles(struct net *net)
{
    int width = (int)net->is->width, xr = width / net->radix, yr = (int)net->is->height / net->radix;
    for (int node = 0; node < net->nodes; node++) {
        int x = node % width, y = node / width;
        add_node(net, node, x / xr + net->radix * (y / yr), xr * (y % yr) + x % xr);
    }
}

/* Among the 2 (k - 1) neighbours of `at` in a flattened butterfly, by their numbers. */
static int flat_rank(int k, int at, int neighbour)
{
    int rank = 0;
    for (int other = 0; other < neighbour; other++)
        rank += other != at && (other % k == at % k || other / k == at / k);
    return rank;
}

static void build_flattened_butterfly(struct net *net)
{
    int k = net->radix, xr = (int)net->is->width / k, yr = (int)net->is->height / k, c = xr * yr;
    allocate(net, k * k, c * k * k, c + 2 * (k - 1));
    add_rectangles(net);
    for (int from = 0; from < k * k; from++)
        for (int i = 0; i < k; i++) {
            int x = from % k, y = from / k, in_row = i + k * y, in_column = x + k * i;
            uint32_t dx = net->is->latency_by_length ? (uint32_t)(xr * abs(i - x)) : 1;
            uint32_t dy = net->is->latency_by_length ? (uint32_t)(yr * abs(i - y)) : 1;
            if (i != x)
                net_link(net, from, c + i - (i > x), in_row, c + flat_rank(k, in_row, from),
                         dx * net->is->link_latency);
            if (i != y)
                net_link(net, from, c + k - 1 + i - (i > y), in_column, c + flat_rank(k, in_column, from),
                         dy * net->is->link_latency);
        }
}

static void build_concentrated_mesh(struct net *net)
{
    int k = net->radix, half = k / 2;
    uint32_t length = net->is->latency_by_length ? net->is->link_latency : 0;
    uint32_t near = length ? 2 * length : net->is->link_latency;
    uint32_t far = length ? (uint32_t)k * length : net->is->link_latency;
    allocate(net, k * k, 4 * k * k, 8);
    add_rectangles(net);
    for (int y = 0; y < k; y++)
        for (int x = 0; x < k; x++) {
            int at = x + k * y, along_x = at + (x < half ? half : -half);
            int along_y = at + k * (y < half ? half : -half);
            if (x + 1 < k)
                link_both_ways(net, at, 4, at + 1, 5, near);
            if (y + 1 < k)
                link_both_ways(net, at, 6, at + k, 7, near);
            if (y == 0)
                net_link(net, at, 7, along_x, 7, far);
            if (y == k - 1)
                net_link(net, at, 6, along_x, 6, far);
            if (x == 0)
                net_link(net, at, 5, along_y, 5, far);
            if (x == k - 1)
                net_link(net, at, 4, along_y, 4, far);
        }
}

static void build_dragonfly(struct net *net)
{
    int p = net->radix, a = 2 * p, groups = a * p + 1;
    allocate(net, a * groups, a * p * groups, p + a - 1 + p);
    for (int router = 0; router < net->routers; router++) {
        int group = router / a, index = router % a;
        for (int port = 0; port < p; port++)
            add_node(net, p * router + port, router, port);
        for (int other = 0; other < a; other++)
            if (other != index)
                net_link(net, router, p + other - (other > index), group * a + other,
                         p + index - (index > other), net->is->link_latency);
        for (int port = 0; port < p; port++) {
            int link = index * p + port, to = link < group ? link : link + 1;
            int back = group < to ? group : group - 1;
            net_link(net, router, p + a - 1 + port, to * a + back / p, p + a - 1 + back % p,
                     net->is->global_latency);
        }
    }
}

/* --- a network from a file --- */

enum { FILE_ROUTERS = 64, FILE_NODES = 256 };

struct file {
    int at[FILE_NODES], latency[FILE_ROUTERS][FILE_ROUTERS], routers, nodes;
};

static void read_line(struct file *file, char *line, int otherwise)
{
    char *rest = line, *word = strtok_r(line, " \t\n", &rest);
    int from = NONE, to = NONE;
    for (; word; word = strtok_r(NULL, " \t\n", &rest)) {
        bool router = strcmp(word, "router") == 0, node = strcmp(word, "node") == 0;
        if (!router && !node) { /* a latency */
            file->latency[from][to] = atoi(word);
            continue;
        }
        int number = atoi(strtok_r(NULL, " \t\n", &rest));
        if (node) {
            file->at[number] = from;
            file->nodes = number >= file->nodes ? number + 1 : file->nodes;
            continue;
        }
        file->routers = number >= file->routers ? number + 1 : file->routers;
        if (from == NONE) {
            from = number;
            continue;
        }
        to = number;
        if (file->latency[from][to] == 0)
            file->latency[from][to] = otherwise;
        if (file->latency[to][from] == 0)
            file->latency[to][from] = otherwise;
    }
}

/* Dijkstra: the router before each on its shortest way from `start`. */
static void shortest(const struct file *file, int start, int *before)
{
    int distance[FILE_ROUTERS], settled[FILE_ROUTERS] = {0};
    for (int i = 0; i < file->routers; i++)
        distance[i] = INT32_MAX;
    distance[start] = 0;
    for (int count = 0; count < file->routers; count++) {
        int near = NONE;
        for (int i = 0; i < file->routers; i++)
            if (!settled[i] && (near == NONE || distance[i] < distance[near]))
                near = i;
        settled[near] = 1;
        for (int i = 0; i < file->routers; i++) {
            int length = file->latency[near][i];
            if (length == 0 || distance[near] == INT32_MAX || distance[near] + length >= distance[i])
                continue;
            distance[i] = distance[near] + length;
            before[i] = near;
        }
    }
}

static void build_file(struct net *net)
{
    struct file *file = zeros(1, sizeof *file);
    FILE *text = fopen(net->is->network_file, "r");
    ck_assert(text != NULL);
    for (char line[1024]; fgets(line, sizeof line, text);)
        read_line(file, line, (int)net->is->link_latency);
    fclose(text);
    int routers = file->routers, port_to[FILE_ROUTERS][FILE_ROUTERS];
    allocate(net, routers, file->nodes, 0);
    for (int node = 0; node < file->nodes; node++)
        add_node(net, node, file->at[node], net->ports[file->at[node]]++);
    for (int a = 0; a < routers; a++)
        for (int b = 0; b < routers; b++)
            if (file->latency[a][b])
                port_to[a][b] = net->ports[a]++;
    net->next = zeros((size_t)routers * (size_t)routers, sizeof *net->next);
    for (int a = 0; a < routers; a++) {
        int before[FILE_ROUTERS] = {0};
        shortest(file, a, before);
        for (int b = 0; b < routers; b++) {
            if (file->latency[a][b])
                net_link(net, a, port_to[a][b], b, port_to[b][a], (uint32_t)file->latency[a][b]);
            int step = b;
            while (step != a && before[step] != a)
                step = before[step];
            net->next[a * routers + b] = a == b ? NONE : port_to[a][step];
        }
    }
    free(file);
}

/* --- what is drawn --- */

static void create_draws(struct net *net)
{
    const struct pim_noc_configuration *is = net->is;
    struct pim_noc_topology_configuration shape;
    bool table = is->routing == PIM_NOC_TABLE; /* draws nothing */
    struct pim_noc_routing_configuration routing = {.kind = table ? PIM_NOC_XY : is->routing,
                                                    .virtual_channels = is->virtual_channels,
                                                    .classes = is->classes,
                                                    .seed = is->seed,
                                                    .partition = is->partition,
                                                    .numbered_draws = is->numbered_draws};
    pim_noc_topology_configuration_initialize(&shape);
    shape.kind = is->topology;
    shape.width = is->width;
    shape.height = is->height;
    shape.depth = is->depth;
    shape.radix = is->radix;
    shape.levels = is->levels;
    shape.concentration = is->concentration;
    shape.global_latency = is->global_latency;
    shape.network_file = is->network_file;
    for (uint32_t class = 0, first = 0; class < is->classes; first += is->class_channels[class ++])
        routing.class[class] = (struct pim_noc_vc_range){is->message_classes ? is->class_first[class] : first,
                                                         is->class_channels[class]};
    struct pim_error error = {0};
    if (pim_noc_topology_create(&shape, &net->topology, &error) != PIM_OK ||
        pim_noc_routing_create(&routing, net->topology, &net->routing, &error) != PIM_OK)
        ck_abort_msg("%s", error.text);
}

void net_create(struct net *net, const struct pim_noc_configuration *configuration)
{
    static void (*const build[PIM_NOC_TOPOLOGIES])(struct net *) = {
        [PIM_NOC_MESH] = build_grid,
        [PIM_NOC_TORUS] = build_grid,
        [PIM_NOC_FAT_TREE] = build_fat_tree,
        [PIM_NOC_QUAD_TREE] = build_quad_tree,
        [PIM_NOC_BUTTERFLY] = build_butterfly,
        [PIM_NOC_FLATTENED_BUTTERFLY] = build_flattened_butterfly,
        [PIM_NOC_CONCENTRATED_MESH] = build_concentrated_mesh,
        [PIM_NOC_DRAGONFLY] = build_dragonfly,
        [PIM_NOC_FILE] = build_file};
    *net = (struct net){
        .is = configuration, .radix = (int)configuration->radix, .levels = (int)configuration->levels};
    build[configuration->topology](net);
    net_change_links(net);
    if (configuration->routing == PIM_NOC_TABLE)
        net_read_table(net);
    create_draws(net);
}

void net_destroy(struct net *net)
{
    pim_noc_routing_destroy(net->routing);
    pim_noc_topology_destroy(net->topology);
    free(net->ports);
    free(net->out);
    free(net->in);
    free(net->enter);
    free(net->leave);
    free(net->next);
}
