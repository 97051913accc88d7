/*
 * Traffic patterns as BookSim 2 defines them (traffic.cpp; facts F13, F42 of docs/models/noc.md's source):
 * node = x + width * y; uniform traffic includes the node itself; tornado moves both coordinates by ceil(k /
 * 2) - 1, neighbour by 1, modulo the side; asymmetric sends to one of the two nodes (source mod N / 2) + {0,
 * N / 2}. On a rectangle each coordinate has its own side, in three dimensions there are three; transpose
 * exchanges the halves of a node's number there.
 */
#include "models/traffic/traffic.h"
#include "sim/names.h"

#include <assert.h>
#include <inttypes.h>

PIM_NAMES(pim_pattern_name, PIM_PATTERN_MAP)

static bool power_of_two(uint32_t value)
{
    return (value & (value - 1)) == 0;
}

uint32_t pim_pattern_halves(uint32_t nodes)
{
    uint32_t side = 1;
    while (side < nodes / side)
        side *= 2;
    return side * side == nodes ? side : 0;
}

/* What a node's number is divided by into the two parts that transpose exchanges; 0: it has no such parts. */
static uint32_t transposed_side(const struct pim_noc_configuration *noc)
{
    if (noc->depth > 1)
        return pim_pattern_halves(pim_noc_nodes(noc));
    return pim_noc_columns(noc) == noc->height ? noc->height : 0;
}

enum pim_status pim_pattern_check(const struct pim_noc_configuration *noc,
                                  const struct pim_traffic_class *class, struct pim_error *error)
{
    uint32_t nodes = pim_noc_nodes(noc);
    const char *name = pim_pattern_name(class->pattern);
    switch (class->pattern) {
    case PIM_PATTERN_TRANSPOSE:
        if (transposed_side(noc) == 0)
            return noc->depth > 1
                       ? pim_fail(error, PIM_BAD_INPUT,
                                  "%s traffic in three dimensions needs an even power of two of nodes (16, "
                                  "64, ..), not %" PRIu32,
                                  name, nodes)
                       : pim_fail(error, PIM_BAD_INPUT,
                                  "%s traffic needs a square, not %" PRIu32 " x %" PRIu32 " nodes", name,
                                  pim_noc_columns(noc), noc->height);
        break;
    case PIM_PATTERN_BIT_COMPLEMENT:
    case PIM_PATTERN_BIT_REVERSE:
    case PIM_PATTERN_SHUFFLE:
        if (!power_of_two(nodes))
            return pim_fail(error, PIM_BAD_INPUT, "%s traffic needs a power of two of nodes, not %" PRIu32,
                            name, nodes);
        break;
    case PIM_PATTERN_ASYMMETRIC:
        if (nodes % 2 != 0)
            return pim_fail(error, PIM_BAD_INPUT, "%s traffic needs an even number of nodes, not %" PRIu32,
                            name, nodes);
        break;
    case PIM_PATTERN_HOTSPOT:
        if (class->hotspots == 0)
            return pim_fail(error, PIM_BAD_INPUT, "%s traffic needs hotspots: give their nodes", name);
        for (uint32_t i = 0; i < class->hotspots; i++)
            if (class->hotspot[i] >= nodes)
                return pim_fail(error, PIM_BAD_INPUT,
                                "hotspot %" PRIu32 " does not exist: nodes are 0 to %" PRIu32,
                                class->hotspot[i], nodes - 1);
        break;
    case PIM_PATTERN_UNIFORM:
    case PIM_PATTERN_TORNADO:
    case PIM_PATTERN_NEIGHBOR:
    case PIM_PATTERNS:
        break;
    }
    return PIM_OK;
}

static uint32_t reverse_bits(uint32_t value, uint32_t nodes)
{
    uint32_t reversed = 0;
    for (uint32_t bit = nodes >> 1; bit; bit >>= 1, value >>= 1)
        if (value & 1)
            reversed |= bit;
    return reversed;
}

/* The coordinate of the source that counts in steps of `stride` up to `side`, moved: halfway around (tornado)
 * or to the next one. */
static uint32_t moved(uint32_t source, uint32_t stride, uint32_t side, bool halfway)
{
    return (source / stride % side + (halfway ? (side + 1) / 2 - 1 : 1)) % side * stride;
}

static uint32_t moved_in_all(const struct pim_noc_configuration *noc, uint32_t source, bool halfway)
{
    uint32_t columns = pim_noc_columns(noc), rows = noc->height / noc->depth;
    return moved(source, 1, columns, halfway) + moved(source, columns, rows, halfway) +
           (noc->depth > 1 ? moved(source, columns * rows, noc->depth, halfway) : 0);
}

uint32_t pim_pattern_destination(const struct pim_noc_configuration *noc,
                                 const struct pim_traffic_class *class, uint32_t source,
                                 struct pim_random *random)
{
    uint32_t nodes = pim_noc_nodes(noc), side;
    switch (class->pattern) {
    case PIM_PATTERN_TRANSPOSE:
        side = transposed_side(noc);
        assert(side > 0); /* pim_pattern_check */
        return source / side + side * (source % side);
    case PIM_PATTERN_BIT_COMPLEMENT:
        return source ^ (nodes - 1);
    case PIM_PATTERN_BIT_REVERSE:
        return reverse_bits(source, nodes);
    case PIM_PATTERN_SHUFFLE:
        return nodes == 1 ? 0 : (source << 1 & (nodes - 1)) | (source & nodes >> 1 ? 1u : 0u);
    case PIM_PATTERN_TORNADO:
        return moved_in_all(noc, source, true);
    case PIM_PATTERN_NEIGHBOR:
        return moved_in_all(noc, source, false);
    case PIM_PATTERN_HOTSPOT:
        return class->hotspot[pim_random_below(random, class->hotspots)];
    case PIM_PATTERN_ASYMMETRIC:
        return source % (nodes / 2) + (uint32_t)pim_random_below(random, 2) * (nodes / 2);
    case PIM_PATTERN_UNIFORM:
    case PIM_PATTERNS:
        break;
    }
    return (uint32_t)pim_random_below(random, nodes);
}
