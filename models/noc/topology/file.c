/*
 * Any network, from a file in the form of BookSim's anynet:
 *
 *     router 0 node 0 node 1 router 1 2 router 3
 *
 * Router 0 has the terminals 0 and 1, a link to router 1 that takes 2 cycles and one to router 3 that takes
 * the network's link latency. Every link has one back, whose latency is that of its own mention, or the
 * network's. Ports of a router: its terminals by number, then its neighbours by number. Packets take the
 * shortest way by latency: of the routers not settled the nearest, the lowest of equals, and to a neighbour
 * only the first of equal ways.
 */
#include "models/noc/topology/internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTERS = 4096, NODES = 16384, NEIGHBOURS = PIM_NOC_PORT_LIMIT, NO_ROUTER = UINT16_MAX };

struct neighbour {
    uint32_t router, latency; /* 0: the network's */
};

struct place {
    uint32_t nodes, neighbours;
    struct neighbour neighbour[NEIGHBOURS]; /* by ascending router */
    bool mentioned;
};

struct plan {
    struct place *place; /* by router */
    uint16_t *of_node;   /* router, or NO_ROUTER */
    uint32_t routers, nodes;
    const char *path;
    unsigned line;
    FILE *file;
    int next; /* character, or EOF */
};

/* --- words --- */

static void advance(struct plan *plan)
{
    plan->line += plan->next == '\n';
    plan->next = fgetc(plan->file);
}

static enum pim_status refuse(const struct plan *plan, struct pim_error *error, const char *what)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s:%u: %s", plan->path, plan->line, what);
}

/* Vertical tabs and form feeds too. */
static void skip_blanks(struct plan *plan)
{
    while (plan->next != '\n' && plan->next != EOF && isspace(plan->next))
        advance(plan);
}

/* The next word of the line, "" at its end. */
static enum pim_status read_word(struct plan *plan, char word[16], struct pim_error *error)
{
    size_t length = 0;
    skip_blanks(plan);
    while (plan->next != EOF && !isspace(plan->next)) {
        if (length + 1 >= 16)
            return refuse(plan, error, "a word is longer than 15 letters");
        word[length++] = (char)plan->next;
        advance(plan);
    }
    word[length] = '\0';
    return PIM_OK;
}

static enum pim_status read_number(struct plan *plan, const char *what, uint32_t least, uint32_t most,
                                   uint32_t *number, struct pim_error *error)
{
    char word[16], *end;
    if (read_word(plan, word, error) != PIM_OK)
        return error->status;
    unsigned long value = isdigit((unsigned char)word[0]) ? strtoul(word, &end, 10) : ULONG_MAX;
    if (value < least || value > most || *end != '\0')
        return pim_fail(error, PIM_BAD_INPUT, "%s:%u: the %s is '%s': allowed are %" PRIu32 " to %" PRIu32,
                        plan->path, plan->line, what, word, least, most);
    *number = (uint32_t)value;
    return PIM_OK;
}

/* --- routers --- */

/* Makes a link if there is none yet; a latency of 0 is none that is given. */
static enum pim_status join(struct plan *plan, uint32_t from, uint32_t to, uint32_t latency,
                            struct pim_error *error)
{
    struct place *place = &plan->place[from];
    uint32_t at = 0;
    while (at < place->neighbours && place->neighbour[at].router < to)
        at++;
    if (at == place->neighbours || place->neighbour[at].router != to) {
        if (place->neighbours == NEIGHBOURS)
            return refuse(plan, error, "a router has more neighbours than ports");
        memmove(&place->neighbour[at + 1], &place->neighbour[at],
                (place->neighbours - at) * sizeof *place->neighbour);
        place->neighbour[at] = (struct neighbour){to, 0};
        place->neighbours++;
    }
    uint32_t *given = &place->neighbour[at].latency;
    if (latency && *given && *given != latency)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s:%u: link %" PRIu32 "->%" PRIu32 " has a latency of %" PRIu32
                        " already: it cannot have %" PRIu32 " as well",
                        plan->path, plan->line, from, to, *given, latency);
    if (latency)
        *given = latency;
    plan->routers = to >= plan->routers ? to + 1 : plan->routers;
    return PIM_OK;
}

static enum pim_status read_neighbour(struct plan *plan, uint32_t router, struct pim_error *error)
{
    uint32_t other = 0, latency = 0;
    if (read_number(plan, "number of a router", 0, ROUTERS - 1, &other, error) != PIM_OK)
        return error->status;
    skip_blanks(plan);
    if (plan->next != EOF && isdigit(plan->next) &&
        read_number(plan, "latency of a link", 1, PIM_NOC_LINK_LATENCY_LIMIT, &latency, error) != PIM_OK)
        return error->status;
    if (other == router)
        return refuse(plan, error, "a router is linked to itself");
    if (join(plan, router, other, latency, error) != PIM_OK)
        return error->status;
    return join(plan, other, router, 0, error);
}

static enum pim_status read_node(struct plan *plan, uint32_t router, struct pim_error *error)
{
    uint32_t node = 0;
    if (read_number(plan, "number of a node", 0, NODES - 1, &node, error) != PIM_OK)
        return error->status;
    if (plan->of_node[node] != NO_ROUTER)
        return refuse(plan, error, "a node is given twice");
    plan->of_node[node] = (uint16_t)router;
    plan->place[router].nodes++;
    plan->nodes = node >= plan->nodes ? node + 1 : plan->nodes;
    return PIM_OK;
}

static enum pim_status read_line(struct plan *plan, struct pim_error *error)
{
    char word[16];
    uint32_t router = 0;
    if (read_word(plan, word, error) != PIM_OK)
        return error->status;
    if (word[0] == '\0')
        return PIM_OK; /* an empty line */
    if (strcmp(word, "router") != 0)
        return refuse(plan, error, "a line begins with \"router NUMBER\"");
    if (read_number(plan, "number of a router", 0, ROUTERS - 1, &router, error) != PIM_OK)
        return error->status;
    plan->routers = router >= plan->routers ? router + 1 : plan->routers;
    plan->place[router].mentioned = true;
    for (;;) {
        if (read_word(plan, word, error) != PIM_OK)
            return error->status;
        enum pim_status status = PIM_OK;
        if (word[0] == '\0')
            return PIM_OK;
        if (strcmp(word, "router") == 0)
            status = read_neighbour(plan, router, error);
        else if (strcmp(word, "node") == 0)
            status = read_node(plan, router, error);
        else
            return refuse(plan, error, "\"node NUMBER\" or \"router NUMBER [LATENCY]\" is expected");
        if (status != PIM_OK)
            return status;
    }
}

static enum pim_status check_numbers(struct plan *plan, struct pim_error *error)
{
    if (plan->nodes == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: there is no node", plan->path);
    for (uint32_t node = 0; node < plan->nodes; node++)
        if (plan->of_node[node] == NO_ROUTER)
            return pim_fail(error, PIM_BAD_INPUT, "%s: node %" PRIu32 " sits at no router", plan->path, node);
    for (uint32_t router = 0; router < plan->routers; router++) {
        const struct place *place = &plan->place[router];
        if (!place->mentioned && place->neighbours == 0)
            return pim_fail(error, PIM_BAD_INPUT, "%s: there is no router %" PRIu32, plan->path, router);
        if (place->nodes + place->neighbours > PIM_NOC_PORT_LIMIT)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: router %" PRIu32 " has %" PRIu32 " nodes and neighbours: allowed are %d",
                            plan->path, router, place->nodes + place->neighbours, (int)PIM_NOC_PORT_LIMIT);
    }
    return PIM_OK;
}

static enum pim_status read_plan(struct plan *plan, struct pim_error *error)
{
    plan->place = calloc(ROUTERS, sizeof *plan->place);
    plan->of_node = malloc(NODES * sizeof *plan->of_node);
    plan->file = fopen(plan->path, "rb");
    if (!plan->place || !plan->of_node)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", plan->path);
    if (!plan->file)
        return pim_fail(error, PIM_IO, "cannot open %s", plan->path);
    memset(plan->of_node, 0xff, NODES * sizeof *plan->of_node);
    plan->line = 1;
    plan->next = fgetc(plan->file);
    while (plan->next != EOF) {
        if (read_line(plan, error) != PIM_OK)
            return error->status;
        if (plan->next == '\n')
            advance(plan);
    }
    if (ferror(plan->file))
        return pim_fail(error, PIM_IO, "cannot read %s", plan->path);
    return check_numbers(plan, error);
}

/* --- shortest ways --- */

struct search {
    uint32_t *distance; /* by router */
    uint16_t *first;    /* port of the first hop */
    uint32_t *heap;     /* routers that were reached and not settled, the nearest first */
    uint32_t *place;    /* of a router in the heap */
    uint32_t count;
};

static uint32_t latency_of(const struct neighbour *neighbour, uint32_t fallback)
{
    return neighbour->latency ? neighbour->latency : fallback;
}

static bool is_nearer(const struct search *search, uint32_t a, uint32_t b)
{
    return search->distance[a] < search->distance[b] || (search->distance[a] == search->distance[b] && a < b);
}

static void put(struct search *search, uint32_t place, uint32_t router)
{
    search->heap[place] = router;
    search->place[router] = place;
}

/* A router whose distance became less, or that was not there. */
static void rise(struct search *search, uint32_t place, uint32_t router)
{
    for (; place > 0 && is_nearer(search, router, search->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put(search, place, search->heap[(place - 1) / 2]);
    put(search, place, router);
}

static uint32_t take_nearest(struct search *search)
{
    const uint32_t nearest = search->heap[0], last = search->heap[--search->count];
    uint32_t place = 0, child;
    for (; (child = 2 * place + 1) < search->count; place = child) {
        if (child + 1 < search->count && is_nearer(search, search->heap[child + 1], search->heap[child]))
            child++;
        if (!is_nearer(search, search->heap[child], last))
            break;
        put(search, place, search->heap[child]);
    }
    put(search, place, last);
    return nearest;
}

/* Latencies are 1 and more, so a router that was settled is not reached in less. */
static void search_from(const struct plan *plan, uint32_t source, uint32_t fallback, struct search *search)
{
    for (uint32_t r = 0; r < plan->routers; r++)
        search->distance[r] = UINT32_MAX;
    search->distance[source] = search->count = 0;
    rise(search, search->count++, source);
    while (search->count > 0) {
        const uint32_t best = take_nearest(search);
        const struct place *place = &plan->place[best];
        for (uint32_t i = 0; i < place->neighbours; i++) {
            uint32_t to = place->neighbour[i].router;
            uint32_t distance = search->distance[best] + latency_of(&place->neighbour[i], fallback);
            if (distance >= search->distance[to])
                continue;
            const bool reached = search->distance[to] != UINT32_MAX;
            search->distance[to] = distance;
            search->first[to] = best == source ? (uint16_t)(place->nodes + i) : search->first[best];
            rise(search, reached ? search->place[to] : search->count++, to);
        }
    }
}

static enum pim_status fill_ways(const struct plan *plan, struct pim_noc_topology *topology,
                                 uint32_t fallback, struct pim_error *error)
{
    struct search search = {.distance = calloc(plan->routers, sizeof *search.distance),
                            .first = calloc(plan->routers, sizeof *search.first),
                            .heap = calloc(plan->routers, sizeof *search.heap),
                            .place = calloc(plan->routers, sizeof *search.place)};
    enum pim_status status = PIM_OK;
    if (!search.distance || !search.first || !search.heap || !search.place)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for the ways of %s", plan->path);
    for (uint32_t router = 0; router < plan->routers && status == PIM_OK; router++) {
        search_from(plan, router, fallback, &search);
        for (uint32_t node = 0; node < plan->nodes && status == PIM_OK; node++) {
            uint32_t to = plan->of_node[node];
            uint32_t port = to == router ? topology->terminal[node].output_port : search.first[to];
            topology->way[(size_t)router * plan->nodes + node] = (uint8_t)port;
            if (search.distance[to] == UINT32_MAX)
                status = pim_fail(error, PIM_BAD_INPUT,
                                  "%s: no way leads from router %" PRIu32 " to node %" PRIu32, plan->path,
                                  router, node);
        }
    }
    free(search.distance);
    free(search.first);
    free(search.heap);
    free(search.place);
    return status;
}

/* --- layout --- */

/* The input port of `to` behind the link from `from`: links lead both ways. */
static uint32_t port_from(const struct plan *plan, uint32_t to, uint32_t from)
{
    const struct place *place = &plan->place[to];
    uint32_t i = 0;
    while (place->neighbour[i].router != from)
        i++;
    return place->nodes + i;
}

static enum pim_status lay_out(struct plan *plan, struct noc_layout *layout,
                               const struct pim_noc_topology_configuration *configuration,
                               struct pim_error *error)
{
    struct pim_noc_topology *topology = layout->topology;
    topology->routers = plan->routers;
    topology->nodes = plan->nodes;
    uint32_t *ports = calloc(plan->routers, sizeof *ports);
    if (!ports)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", plan->path);
    for (uint32_t r = 0; r < plan->routers; r++)
        ports[r] = plan->place[r].nodes + plan->place[r].neighbours;
    enum pim_status status = noc_layout_start(layout, topology, configuration->link_bits, 0, ports, error);
    memset(ports, 0, plan->routers * sizeof *ports); /* from here on: the next terminal's */
    for (uint32_t node = 0; node < plan->nodes && status == PIM_OK; node++) {
        uint32_t router = plan->of_node[node], port = ports[router]++;
        noc_put_terminal(topology, node, router, port, router, port);
    }
    free(ports);
    for (uint32_t r = 0; r < plan->routers && status == PIM_OK; r++)
        for (uint32_t i = 0; i < plan->place[r].neighbours; i++) {
            const struct neighbour *neighbour = &plan->place[r].neighbour[i];
            noc_layout_link(layout, r, plan->place[r].nodes + i, neighbour->router,
                            port_from(plan, neighbour->router, r),
                            latency_of(neighbour, configuration->link_latency));
        }
    return status == PIM_OK ? fill_ways(plan, topology, configuration->link_latency, error) : status;
}

static void close_plan(struct plan *plan)
{
    if (plan->file)
        (void)fclose(plan->file);
    free(plan->place);
    free(plan->of_node);
}

enum pim_status pim_noc_file_nodes(const char *path, uint32_t *nodes, struct pim_error *error)
{
    struct plan plan = {.path = path};
    enum pim_status status = read_plan(&plan, error);
    *nodes = plan.nodes;
    close_plan(&plan);
    return status;
}

enum pim_status noc_create_from_file(struct noc_layout *layout,
                                     const struct pim_noc_topology_configuration *configuration,
                                     struct pim_error *error)
{
    struct plan plan = {.path = configuration->network_file};
    enum pim_status status = read_plan(&plan, error);
    if (status == PIM_OK)
        status = lay_out(&plan, layout, configuration, error);
    close_plan(&plan);
    return status;
}
