/*
 * The hardware as the mapper sees it: keys of cores and crossbars, turned into logical arrays and cycles of
 * the cores' clock.
 *
 * A weight of weight_bits in cells of cell_bits has ceil(weight_bits / cell_bits) slices, twice as many when
 * its sign is held differentially. Slices in neighbouring columns make a logical array narrower; slices in
 * arrays of their own make logical arrays fewer (paper, section III-A, PIMFU).
 */
#include "mappers/machine/cores.h"

#include "models/cost/read.h"
#include "sim/integer.h"

#include <assert.h>
#include <inttypes.h>

static uint32_t value(const struct pim_configuration *configuration, const char *key)
{
    int64_t number = pim_configuration_integer(configuration, key);
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static uint32_t narrow(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static enum pim_status read_crossbars(const struct pim_configuration *c, struct pim_core_architecture *a,
                                      struct pim_error *error)
{
    uint32_t cell = value(c, "crossbar.cell_bits"), weight = value(c, "crossbar.weight_bits");
    assert(cell != 0 && weight != 0);
    uint32_t slices = (weight + cell - 1) / cell;
    if (pim_configuration_choice(c, "crossbar.sign") == 1)
        slices *= 2;
    bool own_arrays = pim_configuration_choice(c, "crossbar.weight_slicing") == 1;
    assert(slices != 0);
    uint64_t arrays = (uint64_t)value(c, "crossbar.count_x") * value(c, "crossbar.count_y");
    a->array_rows = value(c, "crossbar.rows");
    a->array_columns = value(c, "crossbar.columns");
    if (own_arrays)
        arrays /= slices;
    else
        a->array_columns /= slices;
    a->arrays = narrow(arrays);
    a->arrays_per_group_step = value(c, "crossbar.management_arrays");
    if (a->array_columns == 0)
        return pim_configuration_fail(c, error, "crossbar.columns",
                                      "a weight takes %" PRIu32 " columns: so many at least are needed",
                                      slices);
    if (a->arrays == 0)
        return pim_configuration_fail(c, error, "crossbar.count_x",
                                      "a core needs at least the %" PRIu32 " arrays of a weight's slices",
                                      slices);
    if (a->arrays_per_group_step > a->arrays)
        return pim_configuration_fail(
            c, error, "crossbar.management_arrays",
            "a core has %" PRIu32 " logical arrays: the smallest group does not fit", a->arrays);
    struct pim_crossbar_configuration crossbar;
    struct pim_crossbar_cost cost;
    if (pim_cost_read_crossbar(c, &crossbar, error) != PIM_OK)
        return error->status;
    pim_crossbar_cost_of(&crossbar, &cost);
    a->mvm_cycles = cost.mvm_cycles;
    a->write_row_cycles = crossbar.write_row_cycles;
    return PIM_OK;
}

/* Widths and latencies between cores, in cycles of the cores' clock. */
static void read_connections(const struct pim_configuration *c, struct pim_core_architecture *a)
{
    static const char *const stages[] = {"noc.routing_delay", "noc.vc_allocation_delay",
                                         "noc.switch_allocation_delay", "noc.switch_traversal_delay",
                                         "noc.link_latency"};
    uint64_t logic = a->logic_khz = (uint64_t)pim_configuration_integer(c, "clock.logic_khz");
    uint64_t network = a->network_khz = (uint64_t)pim_configuration_integer(c, "clock.network_khz");
    a->connection = (enum pim_core_connection)pim_configuration_choice(c, "interconnect.kind");
    a->chip_link_bytes_per_cycle = value(c, "chips.link_bytes_per_cycle");
    a->chip_link_cycles = value(c, "chips.link_cycles");
    a->link_bytes_per_cycle = value(c, "interconnect.bytes_per_cycle");
    a->packet_bytes = value(c, "interconnect.packet_bytes");
    if (a->connection != PIM_CORE_MESH)
        return;
    a->flit_bits = value(c, "noc.flit_bits");
    a->buffer_flits = value(c, "noc.buffer_flits");
    uint64_t hop = 0;
    for (unsigned i = 0; i < sizeof stages / sizeof stages[0]; i++)
        hop += value(c, stages[i]);
    a->hop_cycles = narrow((hop * logic + network - 1) / network);
}

enum pim_status pim_core_architecture_read(const struct pim_configuration *c,
                                           const struct pim_machine_network *network,
                                           struct pim_core_architecture *a, struct pim_error *error)
{
    if (pim_configuration_choice(c, "array.kind") != 1)
        return pim_configuration_fail(c, error, "array.kind",
                                      "this hardware has no cores with crossbars: PIMCOMP needs \"core\"");
    if (pim_cost_check_mapped(c, error) != PIM_OK)
        return error->status;
    uint32_t chips_x = value(c, "chips.width"), chips_y = value(c, "chips.height");
    *a = (struct pim_core_architecture){
        .width = value(c, "array.width"),
        .height = value(c, "array.height"),
        .network = *network,
        .in_order = pim_configuration_choice(c, "core.issue") == 0,
        .synchronous = pim_configuration_choice(c, "core.communication") == 0,
        .window = value(c, "core.window"),
        .element_bytes = 2,
        .local_memory_bytes = (uint64_t)pim_configuration_integer(c, "core.local_memory_bytes"),
        .local_bytes_per_cycle = value(c, "core.local_bytes_per_cycle"),
        .local_read_cycles = value(c, "core.local_read_cycles"),
        .local_write_cycles = value(c, "core.local_write_cycles"),
        .vector_lanes = narrow((uint64_t)value(c, "core.vector_units") * value(c, "core.vector_lanes")),
        .vector_cycles = value(c, "core.vector_cycles"),
        .global_memory_bytes = (uint64_t)pim_configuration_integer(c, "global_memory.bytes"),
        .global_bytes_per_cycle = value(c, "global_memory.bytes_per_cycle"),
        .global_read_cycles = value(c, "global_memory.read_cycles"),
        .global_write_cycles = value(c, "global_memory.write_cycles"),
        .local_pipelined = pim_configuration_boolean(c, "core.local_pipelined"),
        .global_pipelined = pim_configuration_boolean(c, "global_memory.pipelined"),
        .vector_pipelined = pim_configuration_boolean(c, "core.vector_pipelined"),
    };
    if (a->width % chips_x != 0)
        return pim_configuration_fail(c, error, "chips.width",
                                      "%" PRIu32 " does not divide array.width %" PRIu32, chips_x, a->width);
    if (a->height % chips_y != 0)
        return pim_configuration_fail(c, error, "chips.height",
                                      "%" PRIu32 " does not divide array.height %" PRIu32, chips_y,
                                      a->height);
    a->cores = a->width * a->height;
    a->chip_width = a->width / chips_x;
    a->chip_height = a->height / chips_y;
    read_connections(c, a);
    return read_crossbars(c, a, error);
}
