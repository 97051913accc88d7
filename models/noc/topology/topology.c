/*
 * Building a topology: count the ports, lay out the links router by router in the order of their ports, then
 * tell links apart by what the configuration says of them.
 */
#include "models/noc/topology/topology.h"

#include "models/noc/noc.h"
#include "models/noc/topology/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *pim_noc_topology_name(unsigned kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_NOC_TOPOLOGY_MAP(X)
#undef X
    };
    return kind < PIM_NOC_TOPOLOGIES ? names[kind] : "unknown";
}

void pim_noc_topology_configuration_initialize(struct pim_noc_topology_configuration *configuration)
{
    *configuration = (struct pim_noc_topology_configuration){.kind = PIM_NOC_MESH,
                                                             .width = 8,
                                                             .height = 8,
                                                             .concentration = 1,
                                                             .depth = 1,
                                                             .link_latency = 1,
                                                             .link_bits = {0, 1}};
}

/* --- checks --- */

static enum pim_status check_range(const char *what, uint32_t value, uint32_t minimum, uint32_t maximum,
                                   struct pim_error *error)
{
    if (value >= minimum && value <= maximum)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu32 ": allowed are %" PRIu32 " to %" PRIu32, what,
                    value, minimum, maximum);
}

static enum pim_status check_bits(struct pim_noc_bits bits, struct pim_error *error)
{
    if (check_range("bits per cycle", bits.numerator, 0, PIM_NOC_LINK_BITS_LIMIT, error) != PIM_OK)
        return error->status;
    return check_range("the denominator of bits per cycle", bits.denominator, 1, PIM_NOC_LINK_BITS_LIMIT,
                       error);
}

static enum pim_status check_sides(const struct pim_noc_topology_configuration *configuration,
                                   struct pim_error *error)
{
    if ((unsigned)configuration->kind >= PIM_NOC_TOPOLOGIES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the topology is unknown: allowed are mesh, torus, fat_tree, "
                        "quad_tree, butterfly, flattened_butterfly, concentrated_mesh, "
                        "dragonfly and file");
    if (check_range("width", configuration->width, 1, PIM_NOC_SIDE_LIMIT, error) != PIM_OK ||
        check_range("height", configuration->height, 1, PIM_NOC_SIDE_LIMIT, error) != PIM_OK ||
        check_range("concentration", configuration->concentration, 1, PIM_NOC_CONCENTRATION_LIMIT, error) !=
            PIM_OK ||
        check_range("link latency", configuration->link_latency, 1, PIM_NOC_LINK_LATENCY_LIMIT, error) !=
            PIM_OK)
        return error->status;
    if (configuration->depth == 0 || configuration->height % configuration->depth != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "depth is %" PRIu32 ": the layers must divide the height, which is %" PRIu32,
                        configuration->depth, configuration->height);
    return check_bits(configuration->link_bits, error);
}

/* An entry that names routers of the network and says nothing out of range of a link. */
static enum pim_status check_entry(const struct pim_noc_topology_configuration *configuration,
                                   const struct pim_noc_link_entry *entry, struct pim_error *error)
{
    uint32_t routers = configuration->width * configuration->height;
    if (check_range("the router it comes from", entry->from, 0, routers - 1, error) != PIM_OK ||
        check_range("the router it leads to", entry->to, 0, routers - 1, error) != PIM_OK ||
        check_range("its latency", entry->latency, 0, PIM_NOC_LINK_LATENCY_LIMIT, error) != PIM_OK)
        return error->status;
    return entry->bits.denominator ? check_bits(entry->bits, error) : PIM_OK;
}

/* --- the grid --- */

/* The neighbour behind a grid port, PIM_NOC_NONE at the rim; whether the link there wraps. */
static uint32_t grid_neighbour(const struct pim_noc_topology *topology, uint32_t router, unsigned port,
                               bool *wraps)
{
    bool back = port & 1;
    uint32_t side = topology->side[port / 2], at = topology->coordinate[port / 2][router];
    uint32_t stride = port < 2 ? 1 : topology->side[0] * (port < 4 ? 1 : topology->side[1]);
    uint32_t last = back ? 0 : side - 1;
    *wraps = false;
    if (at != last)
        return back ? router - stride : router + stride;
    if (topology->kind != PIM_NOC_TORUS || side < 3)
        return PIM_NOC_NONE;
    *wraps = true;
    return back ? router + (side - 1) * stride : router - (side - 1) * stride;
}

static void put_link(struct pim_noc_topology *topology, const struct pim_noc_link *link)
{
    uint32_t number = topology->links++;
    topology->link[number] = *link;
    topology->output_link[topology->first_port[link->from] + link->from_port] = number;
    topology->input_link[topology->first_port[link->to] + link->to_port] = number;
}

static void put_grid_links(struct pim_noc_topology *topology,
                           const struct pim_noc_topology_configuration *configuration, uint32_t router)
{
    for (unsigned port = 0; port < topology->grid_ports; port++) {
        bool wraps;
        uint32_t neighbour = grid_neighbour(topology, router, port, &wraps);
        if (neighbour == PIM_NOC_NONE)
            continue;
        put_link(topology, &(struct pim_noc_link){.from = router,
                                                  .to = neighbour,
                                                  .from_port = (uint16_t)port,
                                                  .to_port = (uint16_t)(port ^ 1U),
                                                  .latency = configuration->link_latency,
                                                  .bits = configuration->link_bits,
                                                  .dimension = (uint8_t)(port / 2),
                                                  .direction = (uint8_t)(port & 1U),
                                                  .wraps = wraps});
    }
}

/* --- express links --- */

/* Dimension 0 or 1 of an express link along a row or column, else 3. */
static struct pim_noc_link express_link(const struct pim_noc_topology *topology,
                                        const struct pim_noc_topology_configuration *configuration,
                                        const struct pim_noc_link_entry *entry)
{
    uint32_t from = entry->from, to = entry->to;
    unsigned dimension = topology->row[from] == topology->row[to]         ? 0
                         : topology->column[from] == topology->column[to] ? 1
                                                                          : 3;
    return (struct pim_noc_link){.from = from,
                                 .to = to,
                                 .latency = entry->latency ? entry->latency : configuration->link_latency,
                                 .bits = entry->bits.denominator ? entry->bits : configuration->link_bits,
                                 .dimension = (uint8_t)dimension,
                                 .direction = to < from,
                                 .express = true};
}

static enum pim_status check_express(const struct pim_noc_topology *topology,
                                     const struct pim_noc_topology_configuration *configuration,
                                     uint32_t number, struct pim_error *error)
{
    const struct pim_noc_link_entry *entry = &configuration->express[number];
    if (check_entry(configuration, entry, error) != PIM_OK)
        return error->status;
    if (entry->from == entry->to)
        return pim_fail(error, PIM_BAD_INPUT, "it leads from router %" PRIu32 " to itself", entry->from);
    for (unsigned port = 0; port < topology->grid_ports; port++) {
        bool wraps;
        if (grid_neighbour(topology, entry->from, port, &wraps) == entry->to)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the %s has a link %" PRIu32 "->%" PRIu32
                            " already: noc.links gives it another latency or width",
                            pim_noc_topology_name((unsigned)configuration->kind), entry->from, entry->to);
    }
    return PIM_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct pim_noc_link_entry *const *first = a, *const *second = b;
    if ((*first)->from != (*second)->from)
        return (*first)->from < (*second)->from ? -1 : 1;
    return (*first)->to < (*second)->to ? -1 : (*first)->to > (*second)->to;
}

/* Refuses two entries for the same link. */
static enum pim_status check_doubles(const struct pim_noc_link_entry *entries, uint32_t count,
                                     const char *what, struct pim_error *error)
{
    if (count < 2)
        return PIM_OK;
    const struct pim_noc_link_entry **sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &entries[i];
    qsort(sorted, count, sizeof *sorted, compare_entries);
    enum pim_status status = PIM_OK;
    for (uint32_t i = 1; i < count && status == PIM_OK; i++)
        if (compare_entries(&sorted[i - 1], &sorted[i]) == 0)
            status = pim_fail(error, PIM_BAD_INPUT, "two %ss are given for %" PRIu32 "->%" PRIu32, what,
                              sorted[i]->from, sorted[i]->to);
    free(sorted);
    return status;
}

/* Counts express links by router; `leaving` and `arriving` are by router and zero before. */
static enum pim_status count_express(const struct pim_noc_topology *topology,
                                     const struct pim_noc_topology_configuration *configuration,
                                     uint32_t *leaving, uint32_t *arriving, struct pim_error *error)
{
    for (uint32_t i = 0; i < configuration->express_count; i++) {
        const struct pim_noc_link_entry *entry = &configuration->express[i];
        if (check_express(topology, configuration, i, error) != PIM_OK)
            return pim_fail_in(error, "express link %" PRIu32 " (%" PRIu32 "->%" PRIu32 ")", i, entry->from,
                               entry->to);
        if (++leaving[entry->from] > PIM_NOC_EXPRESS_LIMIT || ++arriving[entry->to] > PIM_NOC_EXPRESS_LIMIT)
            return pim_fail(error, PIM_BAD_INPUT,
                            "express link %" PRIu32 " (%" PRIu32 "->%" PRIu32
                            "): at most %d may leave a router, and as many arrive",
                            i, entry->from, entry->to, PIM_NOC_EXPRESS_LIMIT);
    }
    return check_doubles(configuration->express, configuration->express_count, "express link", error);
}

/* --- assembly --- */

static enum pim_status no_memory(const struct pim_noc_topology *topology, struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for a %s of %" PRIu32 " x %" PRIu32 " routers",
                    pim_noc_topology_name((unsigned)topology->kind), topology->width, topology->height);
}

static enum pim_status allocate(struct pim_noc_topology *topology, const uint32_t *leaving,
                                const uint32_t *arriving, uint32_t express, struct pim_error *error)
{
    uint32_t ports = 0;
    for (uint32_t r = 0; r < topology->routers; r++) {
        uint32_t more = leaving[r] > arriving[r] ? leaving[r] : arriving[r];
        uint32_t of_router = topology->grid_ports + topology->concentration + more;
        topology->first_port[r] = ports;
        topology->most_ports = of_router > topology->most_ports ? of_router : topology->most_ports;
        ports += of_router;
    }
    topology->first_port[topology->routers] = ports;
    topology->output_link = malloc(((size_t)ports + 1) * sizeof *topology->output_link);
    topology->input_link = malloc(((size_t)ports + 1) * sizeof *topology->input_link);
    topology->link =
        calloc((size_t)topology->routers * topology->grid_ports + express + 1, sizeof *topology->link);
    if (!topology->output_link || !topology->input_link || !topology->link)
        return no_memory(topology, error);
    memset(topology->output_link, 0xff, ports * sizeof *topology->output_link); /* PIM_NOC_NONE */
    memset(topology->input_link, 0xff, ports * sizeof *topology->input_link);
    return PIM_OK;
}

/* Lays out all links. `leaving`: express links by the router they leave; `express` has room for all of them
 * and holds them sorted by it afterwards. */
static void put_links(struct pim_noc_topology *topology,
                      const struct pim_noc_topology_configuration *configuration,
                      struct pim_noc_link *express, uint32_t *leaving, uint32_t *arriving)
{
    uint32_t base = topology->grid_ports + topology->concentration;
    uint32_t *next = leaving; /* of the express links, sorted by router they leave */
    for (uint32_t r = 0, sum = 0; r < topology->routers; r++) {
        uint32_t of_router = leaving[r];
        next[r] = sum;
        sum += of_router;
        arriving[r] = 0;
    }
    for (uint32_t i = 0; i < configuration->express_count; i++) {
        struct pim_noc_link link = express_link(topology, configuration, &configuration->express[i]);
        link.to_port = (uint16_t)(base + arriving[link.to]++);
        express[next[link.from]++] = link;
    }
    for (uint32_t r = 0, at = 0; r < topology->routers; r++) {
        put_grid_links(topology, configuration, r);
        for (uint32_t port = base; at < next[r]; at++, port++) {
            express[at].from_port = (uint16_t)port;
            put_link(topology, &express[at]);
        }
    }
}

static enum pim_status apply_overrides(struct pim_noc_topology *topology,
                                       const struct pim_noc_topology_configuration *configuration,
                                       struct pim_error *error)
{
    for (uint32_t i = 0; i < configuration->override_count; i++) {
        const struct pim_noc_link_entry *entry = &configuration->overrides[i];
        if (check_entry(configuration, entry, error) != PIM_OK)
            return pim_fail_in(error, "link override %" PRIu32 " (%" PRIu32 "->%" PRIu32 ")", i, entry->from,
                               entry->to);
        uint32_t number = pim_noc_find_link(topology, entry->from, entry->to);
        if (number == PIM_NOC_NONE)
            return pim_fail(error, PIM_BAD_INPUT,
                            "link override %" PRIu32 ": no link leads from router %" PRIu32
                            " to router %" PRIu32,
                            i, entry->from, entry->to);
        if (entry->latency)
            topology->link[number].latency = entry->latency;
        if (entry->bits.denominator)
            topology->link[number].bits = entry->bits;
    }
    return check_doubles(configuration->overrides, configuration->override_count, "link override", error);
}

/* `scratch`: by router, twice, zero. */
static enum pim_status build(struct pim_noc_topology *topology,
                             const struct pim_noc_topology_configuration *configuration, uint32_t *scratch,
                             struct pim_error *error)
{
    uint32_t *leaving = scratch, *arriving = scratch + topology->routers;
    for (uint32_t r = 0; r < topology->routers; r++)
        for (uint32_t d = 0, rest = r; d < topology->dimensions; rest /= topology->side[d++])
            topology->coordinate[d][r] = (uint16_t)(rest % topology->side[d]);
    if (topology->dimensions > 2 && configuration->express_count > 0)
        return pim_fail(error, PIM_BAD_INPUT, "express links go with one layer of routers");
    if (count_express(topology, configuration, leaving, arriving, error) != PIM_OK ||
        allocate(topology, leaving, arriving, configuration->express_count, error) != PIM_OK)
        return error->status;
    struct pim_noc_link *express = calloc((size_t)configuration->express_count + 1, sizeof *express);
    if (!express)
        return no_memory(topology, error);
    put_links(topology, configuration, express, leaving, arriving);
    free(express);
    if (noc_place_terminals(topology, error) != PIM_OK)
        return error->status;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        uint32_t router = node / topology->concentration;
        uint32_t port = topology->grid_ports + node % topology->concentration;
        noc_put_terminal(topology, node, router, port, router, port);
    }
    return apply_overrides(topology, configuration, error);
}

enum pim_status noc_place_terminals(struct pim_noc_topology *topology, struct pim_error *error)
{
    size_t ports = topology->first_port[topology->routers];
    topology->terminal = calloc((size_t)topology->nodes + 1, sizeof *topology->terminal);
    topology->output_node = malloc((ports + 1) * sizeof *topology->output_node);
    topology->input_node = malloc((ports + 1) * sizeof *topology->input_node);
    if (!topology->terminal || !topology->output_node || !topology->input_node)
        return no_memory(topology, error);
    memset(topology->output_node, 0xff, ports * sizeof *topology->output_node); /* PIM_NOC_NONE */
    memset(topology->input_node, 0xff, ports * sizeof *topology->input_node);
    return PIM_OK;
}

void noc_put_terminal(struct pim_noc_topology *topology, uint32_t node, uint32_t input_router,
                      uint32_t input_port, uint32_t output_router, uint32_t output_port)
{
    topology->terminal[node] =
        (struct pim_noc_terminal){input_router, output_router, (uint16_t)input_port, (uint16_t)output_port};
    topology->input_node[topology->first_port[input_router] + input_port] = node;
    topology->output_node[topology->first_port[output_router] + output_port] = node;
}

static enum pim_status create_grid(struct pim_noc_topology *topology,
                                   const struct pim_noc_topology_configuration *configuration,
                                   struct pim_error *error)
{
    topology->routers = topology->width * topology->height;
    topology->nodes = topology->routers * topology->concentration;
    topology->dimensions = configuration->depth > 1 ? 3 : 2;
    topology->grid_ports = 2 * topology->dimensions;
    topology->side[0] = topology->width;
    topology->side[1] = topology->height / configuration->depth;
    topology->side[2] = configuration->depth;
    uint32_t *scratch = calloc((size_t)topology->routers * 2, sizeof *scratch);
    topology->first_port = calloc((size_t)topology->routers + 1, sizeof *topology->first_port);
    bool room = scratch && topology->first_port;
    for (unsigned d = 0; d < topology->dimensions; d++) {
        topology->coordinate[d] = calloc(topology->routers, sizeof *topology->coordinate[d]);
        room &= topology->coordinate[d] != NULL;
    }
    topology->column = topology->coordinate[0];
    topology->row = topology->coordinate[1];
    enum pim_status status =
        room ? build(topology, configuration, scratch, error) : no_memory(topology, error);
    free(scratch);
    return status;
}

enum pim_status pim_noc_topology_create(const struct pim_noc_topology_configuration *configuration,
                                        struct pim_noc_topology **result, struct pim_error *error)
{
    *result = NULL;
    if (check_sides(configuration, error) != PIM_OK)
        return error->status;
    struct pim_noc_topology *topology = calloc(1, sizeof *topology);
    if (!topology)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a topology");
    topology->kind = configuration->kind;
    topology->width = configuration->width;
    topology->height = configuration->height;
    topology->concentration = configuration->concentration;
    bool grid = topology->kind == PIM_NOC_MESH || topology->kind == PIM_NOC_TORUS;
    enum pim_status status =
        grid ? create_grid(topology, configuration, error) : noc_create_other(topology, configuration, error);
    if (status != PIM_OK) {
        pim_noc_topology_destroy(topology);
        return status;
    }
    *result = topology;
    return PIM_OK;
}

void pim_noc_topology_destroy(struct pim_noc_topology *topology)
{
    if (!topology)
        return;
    free(topology->link);
    free(topology->first_port);
    free(topology->output_link);
    free(topology->input_link);
    free(topology->terminal);
    free(topology->output_node);
    free(topology->input_node);
    free(topology->way);
    free(topology->second_way);
    for (unsigned d = 0; d < PIM_NOC_DIMENSION_LIMIT; d++)
        free(topology->coordinate[d]);
    free(topology);
}

/* --- questions --- */

uint32_t pim_noc_find_link(const struct pim_noc_topology *topology, uint32_t from, uint32_t to)
{
    if (from >= topology->routers || to >= topology->routers)
        return PIM_NOC_NONE;
    for (uint32_t i = topology->first_port[from]; i < topology->first_port[from + 1]; i++) {
        uint32_t link = topology->output_link[i];
        if (link != PIM_NOC_NONE && topology->link[link].to == to)
            return link;
    }
    return PIM_NOC_NONE;
}

static uint32_t side_distance(const struct pim_noc_topology *topology, uint32_t side, uint32_t a, uint32_t b)
{
    uint32_t straight = a < b ? b - a : a - b;
    return topology->kind == PIM_NOC_TORUS && side - straight < straight ? side - straight : straight;
}

uint32_t pim_noc_distance(const struct pim_noc_topology *topology, uint32_t from, uint32_t to)
{
    assert(from < topology->routers && to < topology->routers);
    uint32_t sum = 0;
    for (unsigned d = 0; d < topology->dimensions; d++)
        sum += side_distance(topology, topology->side[d], topology->coordinate[d][from],
                             topology->coordinate[d][to]);
    return sum;
}
