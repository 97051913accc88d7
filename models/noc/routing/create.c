/* Creation of a routing: which virtual channels are for what, and the express links by direction. */
#include "models/noc/noc.h"
#include "models/noc/routing/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *pim_noc_routing_name(unsigned kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_NOC_ROUTING_MAP(X)
#undef X
    };
    return kind < PIM_NOC_ROUTINGS ? names[kind] : "unknown";
}

/* --- checks --- */

static enum pim_status check_classes(const struct pim_noc_routing_configuration *configuration,
                                     struct pim_error *error)
{
    uint32_t channels = configuration->virtual_channels;
    if (channels < 1 || channels > PIM_NOC_VC_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT, "virtual channels are %" PRIu32 ": allowed are 1 to %d",
                        channels, PIM_NOC_VC_LIMIT);
    if (configuration->classes > PIM_NOC_CLASS_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "there are %" PRIu32 " classes of traffic: allowed are up to %d",
                        configuration->classes, PIM_NOC_CLASS_LIMIT);
    for (uint32_t c = 0; c < configuration->classes; c++) {
        struct pim_noc_vc_range range = configuration->class[c];
        if (range.count < 1 || range.first >= channels || range.count > channels - range.first)
            return pim_fail(error, PIM_BAD_INPUT,
                            "class %" PRIu32 " of traffic has %" PRIu32 " virtual channels from %" PRIu32
                            " on: there are 0 to %" PRIu32,
                            c, range.count, range.first, channels - 1);
    }
    return PIM_OK;
}

static bool overlap_in_part(struct pim_noc_vc_range a, struct pim_noc_vc_range b)
{
    bool apart = a.first + a.count <= b.first || b.first + b.count <= a.first;
    return !apart && (a.first != b.first || a.count != b.count);
}

/* Which routings a topology has. */
static enum pim_status check_topology(enum pim_noc_routing_kind kind, const struct pim_noc_topology *topology,
                                      struct pim_error *error)
{
    const char *allowed = NULL;
    if (topology->kind == PIM_NOC_FAT_TREE && kind != PIM_NOC_MINIMAL && kind != PIM_NOC_D_MOD_K)
        allowed = "minimal and d_mod_k";
    else if (topology->kind == PIM_NOC_CONCENTRATED_MESH && kind != PIM_NOC_MINIMAL && kind != PIM_NOC_XY)
        allowed = "minimal and xy";
    else if (topology->kind > PIM_NOC_TORUS && topology->kind != PIM_NOC_FAT_TREE &&
             topology->kind != PIM_NOC_CONCENTRATED_MESH && kind != PIM_NOC_MINIMAL)
        allowed = "minimal";
    else if (topology->kind <= PIM_NOC_TORUS && kind >= PIM_NOC_MINIMAL)
        allowed = "all but minimal and d_mod_k";
    else if (topology->dimensions > 2 && kind != PIM_NOC_XY)
        allowed = "xy, with several layers";
    if (!allowed)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "routing %s is not defined on a %s: allowed %s %s",
                    pim_noc_routing_name((unsigned)kind), pim_noc_topology_name((unsigned)topology->kind),
                    strchr(allowed, ' ') ? "are" : "is", allowed);
}

static enum pim_status check_kind(const struct pim_noc_routing_configuration *configuration,
                                  const struct pim_noc_routing *routing, struct pim_error *error)
{
    enum pim_noc_routing_kind kind = configuration->kind;
    if ((unsigned)kind >= PIM_NOC_ROUTINGS)
        return pim_fail(error, PIM_BAD_INPUT, "the routing is unknown");
    if (check_topology(kind, routing->topology, error) != PIM_OK)
        return error->status;
    bool of_mesh = kind == PIM_NOC_O1TURN || kind == PIM_NOC_WEST_FIRST || kind == PIM_NOC_ODD_EVEN ||
                   kind == PIM_NOC_ROMM;
    if (of_mesh && (routing->wraps[0] || routing->wraps[1]))
        return pim_fail(error, PIM_BAD_INPUT,
                        "routing %s is defined on a mesh: on a torus allowed are xy, yx, minimal_adaptive, "
                        "valiant and table",
                        pim_noc_routing_name((unsigned)kind));
    for (uint32_t a = 0; kind == PIM_NOC_MINIMAL_ADAPTIVE && a < routing->classes; a++)
        for (uint32_t b = 0; b < a; b++)
            if (overlap_in_part(routing->class[a], routing -> class[b]))
                return pim_fail(error, PIM_BAD_INPUT,
                                "classes %" PRIu32 " and %" PRIu32
                                " of traffic share some of their virtual channels: with minimal_adaptive "
                                "they share all or none",
                                b, a);
    bool ordered = kind == PIM_NOC_XY || kind == PIM_NOC_YX;
    bool ring = routing->wraps[0] || routing->wraps[1] || routing->wraps[2];
    if (configuration->partition != PIM_NOC_DATELINE && (!ordered || !ring))
        return pim_fail(error, PIM_BAD_INPUT,
                        "the partitions coordinate and balanced of the virtual channels go with the routings "
                        "xy and yx on a torus with a ring of 3 routers or more");
    if ((kind == PIM_NOC_TABLE) != (configuration->table != NULL))
        return pim_fail(error, PIM_BAD_INPUT, "a table goes with routing table, and with no other");
    return PIM_OK;
}

/* --- virtual channels --- */

static uint32_t mask_of(uint32_t first, uint32_t count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* Part `part` of `parts` of a range, nearly equal; all of it when it is too small for a part each. */
static uint32_t part_of(struct pim_noc_vc_range range, uint32_t part, uint32_t parts)
{
    if (range.count < parts)
        return mask_of(range.first, range.count);
    uint32_t begin = range.count * part / parts, end = range.count * (part + 1) / parts;
    return mask_of(range.first + begin, end - begin);
}

static void divide_channels(struct pim_noc_routing *routing, uint32_t class)
{
    struct pim_noc_vc_range range = routing->class[class];
    uint32_t all = mask_of(range.first, range.count), datelines = routing->datelines;
    bool two =
        routing->kind == PIM_NOC_O1TURN || routing->kind == PIM_NOC_VALIANT || routing->kind == PIM_NOC_ROMM;
    routing->all[class] = routing->adaptive[class] = all;
    if (routing->kind == PIM_NOC_MINIMAL_ADAPTIVE && range.count > datelines) {
        routing->has_escape[class] = true;
        routing->adaptive[class] = mask_of(range.first + datelines, range.count - datelines);
        range.count = datelines; /* divided below */
    }
    uint32_t parts = two ? 2 * datelines : datelines;
    for (unsigned phase = 0; phase < NOC_PHASES; phase++) {
        uint32_t *part = routing->part[class][phase];
        for (uint32_t d = 0; d < NOC_DATELINES; d++) {
            uint32_t number = (two ? phase * datelines : 0) + (d < datelines ? d : 0);
            part[d] = part_of(range, number, parts);
        }
        part[2] = part[0] | part[1];
    }
    if (routing->topology->kind ==
        PIM_NOC_DRAGONFLY) { /* one channel before a link between groups, one behind */
        routing->part[class][0][0] = mask_of(range.first, 1);
        routing->part[class][0][1] = mask_of(range.first + (range.count > 1), 1);
    }
    if (routing->partition == PIM_NOC_DATELINE || range.count < 2)
        return;
    /* of an odd number both parts use the channel in the middle */
    routing->part[class][0][0] = mask_of(range.first, range.count - range.count / 2);
    routing->part[class][0][1] = mask_of(range.first + range.count / 2, range.count - range.count / 2);
}

/* --- express links --- */

struct sorted_shortcut {
    uint32_t place; /* 4 * router + grid port */
    struct noc_shortcut shortcut;
};

static int compare_shortcuts(const void *a, const void *b)
{
    const struct sorted_shortcut *first = a, *second = b;
    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    if (first->shortcut.span != second->shortcut.span)
        return first->shortcut.span > second->shortcut.span ? -1 : 1;
    return first->shortcut.port < second->shortcut.port ? -1 : first->shortcut.port > second->shortcut.port;
}

/* How many links of the grid a link stands for on the way to higher (0) or lower (1) coordinates, on a ring
 * both ways around; 0: it does not lead there. */
static uint32_t shortcut_span(const struct pim_noc_routing *routing, const struct pim_noc_link *link,
                              unsigned direction)
{
    const struct pim_noc_topology *topology = routing->topology;
    const uint16_t *coordinate = topology->coordinate[link->dimension];
    uint32_t from = coordinate[direction ? link->to : link->from];
    uint32_t to = coordinate[direction ? link->from : link->to];
    if (to > from)
        return to - from;
    return routing->wraps[link->dimension] ? to + topology->side[link->dimension] - from : 0;
}

static enum pim_status collect_shortcuts(struct pim_noc_routing *routing, struct pim_error *error)
{
    const struct pim_noc_topology *topology = routing->topology;
    uint32_t count = 0, places = PIM_NOC_GRID_PORTS * topology->routers;
    for (uint32_t i = 0; i < topology->links; i++)
        count += topology->link[i].express && topology->link[i].dimension < 2 ? 2 : 0;
    if (count == 0)
        return PIM_OK;
    struct sorted_shortcut *sorted = malloc(count * sizeof *sorted);
    routing->shortcut = malloc(count * sizeof *routing->shortcut);
    routing->first_shortcut = calloc((size_t)places + 1, sizeof *routing->first_shortcut);
    if (!sorted || !routing->shortcut || !routing->first_shortcut) {
        free(sorted);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " express links", count);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < topology->links; i++) {
        const struct pim_noc_link *link = &topology->link[i];
        if (!link->express || link->dimension > 1)
            continue;
        for (unsigned direction = 0; direction < 2; direction++) {
            uint32_t span = shortcut_span(routing, link, direction);
            if (span > 0)
                sorted[at++] = (struct sorted_shortcut){.place = PIM_NOC_GRID_PORTS * link->from +
                                                                 2U * link->dimension + direction,
                                                        .shortcut = {link->from_port, (uint16_t)span}};
        }
    }
    count = at;
    qsort(sorted, count, sizeof *sorted, compare_shortcuts);
    at = 0;
    for (uint32_t place = 0; place < places; place++) {
        routing->first_shortcut[place] = at;
        for (; at < count && sorted[at].place == place; at++)
            routing->shortcut[at] = sorted[at].shortcut;
    }
    routing->first_shortcut[places] = count;
    free(sorted);
    return PIM_OK;
}

/* --- create and destroy --- */

static enum pim_status fill(struct pim_noc_routing *routing,
                            const struct pim_noc_routing_configuration *configuration,
                            struct pim_error *error)
{
    const struct pim_noc_topology *topology = routing->topology;
    bool torus = topology->kind == PIM_NOC_TORUS;
    routing->kind = configuration->kind;
    routing->seed = configuration->seed;
    routing->partition = configuration->partition;
    routing->numbered_draws = configuration->numbered_draws;
    routing->virtual_channels = configuration->virtual_channels;
    routing->datelines = 1;
    for (unsigned d = 0; d < topology->dimensions; d++) {
        routing->wraps[d] = torus && topology->side[d] > 2;
        routing->datelines = routing->wraps[d] ? 2 : routing->datelines;
    }
    routing->classes = configuration->classes ? configuration->classes : 1;
    routing->class[0] = (struct pim_noc_vc_range){0, configuration->virtual_channels};
    for (uint32_t c = 0; c < configuration->classes; c++)
        routing->class[c] = configuration->class[c];
    if (check_kind(configuration, routing, error) != PIM_OK)
        return error->status;
    for (uint32_t c = 0; c < routing->classes; c++)
        divide_channels(routing, c);
    if (routing->kind == PIM_NOC_TABLE)
        return noc_routing_take_table(routing, configuration->table, error);
    return collect_shortcuts(routing, error);
}

enum pim_status pim_noc_routing_create(const struct pim_noc_routing_configuration *configuration,
                                       const struct pim_noc_topology *topology,
                                       struct pim_noc_routing **result, struct pim_error *error)
{
    *result = NULL;
    if (check_classes(configuration, error) != PIM_OK)
        return error->status;
    struct pim_noc_routing *routing = calloc(1, sizeof *routing);
    if (!routing)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the routing");
    routing->topology = topology;
    if (fill(routing, configuration, error) != PIM_OK) {
        pim_noc_routing_destroy(routing);
        return error->status;
    }
    *result = routing;
    return PIM_OK;
}

void pim_noc_routing_destroy(struct pim_noc_routing *routing)
{
    if (!routing)
        return;
    free(routing->shortcut);
    free(routing->first_shortcut);
    free(routing->table);
    free(routing);
}

/* --- questions --- */

bool pim_noc_routing_is_minimal(const struct pim_noc_routing *routing)
{
    return routing->kind != PIM_NOC_VALIANT && routing->kind != PIM_NOC_TABLE;
}

bool pim_noc_routing_is_adaptive(const struct pim_noc_routing *routing)
{
    return routing->kind == PIM_NOC_WEST_FIRST || routing->kind == PIM_NOC_ODD_EVEN ||
           routing->kind == PIM_NOC_MINIMAL_ADAPTIVE;
}

const struct pim_noc_topology *pim_noc_routing_topology(const struct pim_noc_routing *routing)
{
    return routing->topology;
}
