#include "tools/library/rough.h"

#include "models/system/family.h"

/* Ways of packets through the network: docs/models/estimate.md. */
static const char *rough_ways(const struct pim_noc_configuration *noc)
{
    if (noc->link_list[0] != '\0')
        return "noc.links";
    if (noc->express_list[0] != '\0')
        return "noc.express_links";
    switch (noc->topology) {
    case PIM_NOC_QUAD_TREE:
    case PIM_NOC_BUTTERFLY:
    case PIM_NOC_DRAGONFLY:
    case PIM_NOC_FILE:
        return "noc.topology";
    case PIM_NOC_FLATTENED_BUTTERFLY:
    case PIM_NOC_CONCENTRATED_MESH:
        return noc->latency_by_length && noc->link_latency > 1 ? "noc.latency_by_length" : NULL;
    case PIM_NOC_MESH:
    case PIM_NOC_TORUS:
    case PIM_NOC_FAT_TREE:
    case PIM_NOC_TOPOLOGIES:
        break;
    }
    return noc->routing == PIM_NOC_VALIANT && (noc->topology == PIM_NOC_TORUS || noc->concentration > 1)
               ? "noc.routing"
               : NULL;
}

const char *pim_rough_key(const struct pim_mapper *mapper, const struct pim_hardware *hardware)
{
    const struct pim_unit_family *units = hardware->family->units;
    const uint32_t turn = hardware->node.arbitration_bytes;
    const bool cores = units == &pim_core_family;
    if (hardware->width * hardware->height == 1 ||
        (units != &pim_node_family && (!cores || hardware->cores.interconnect != PIM_INTERCONNECT_MESH)))
        return NULL;
    const char *ways = rough_ways(&hardware->noc);
    if (ways)
        return ways;
    if (cores && hardware->noc.concentration > 1)
        return "noc.concentration";
    return turn > 0 && turn < mapper->turn_bytes ? "dram.arbitration_bytes" : NULL;
}
