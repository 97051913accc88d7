#include "tools/systems/terms.h"

#include "mappers/conflict/graph.h"
#include "mappers/machine/tiles.h"
#include "mappers/overlapim/machine.h"
#include "models/system/read.h"
#include "tools/systems/area.h"

#include <math.h>

enum { REFERENCE_NM = 28, BITS_OF_BYTE = 8 };

/* In the order of the values of array.kind. */
enum kind { KIND_NODE, KIND_CORE, KIND_CHANNEL, KIND_TILE };

static double key(const struct pim_configuration *configuration, const char *path)
{
    return (double)pim_configuration_integer(configuration, path);
}

static double units(const struct pim_configuration *configuration)
{
    return key(configuration, "array.width") * key(configuration, "array.height");
}

static double logic_hz(const struct pim_configuration *configuration)
{
    return 1000.0 * key(configuration, "clock.logic_khz");
}

static enum pim_status of_nodes(const struct pim_system_row *row,
                                const struct pim_configuration *configuration,
                                const struct pim_hardware *hardware, struct pim_system_terms *terms,
                                struct pim_error *error)
{
    struct pim_area_system system;
    struct pim_area areas[PIM_AREA_READINGS];
    double nodes = units(configuration);
    terms->peak_macs =
        nodes * key(configuration, "pe.rows") * key(configuration, "pe.columns") * logic_hz(configuration);
    terms->weight_bytes =
        nodes * (double)hardware->node.bank.capacity_bytes; /* private, or a share of channels */
    terms->buffer_bytes =
        nodes * (key(configuration, "buffers.input_bytes") + key(configuration, "buffers.weight_bytes") +
                 key(configuration, "buffers.output_bytes"));
    if (row->area_mm2 > 0 || !pim_area_is_known(configuration))
        return PIM_OK;
    if (pim_area_read(configuration, row->bits, &system, areas, error) != PIM_OK)
        return error->status;
    double grown = row->technology_nm > 0 ? row->technology_nm / REFERENCE_NM : 1;
    terms->area_28nm_mm2 = areas[PIM_AREA_MID].total;
    terms->area_mm2 = areas[PIM_AREA_MID].total * grown * grown;
    terms->area_low_mm2 = areas[PIM_AREA_LOW].total * grown * grown;
    terms->area_high_mm2 = areas[PIM_AREA_HIGH].total * grown * grown;
    return PIM_OK;
}

static void of_cores(const struct pim_configuration *configuration, const struct pim_hardware *hardware,
                     struct pim_system_terms *terms)
{
    const struct pim_crossbar_configuration *crossbar = &hardware->cores.crossbar;
    struct pim_crossbar_cost cost;
    double cores = units(configuration);
    pim_crossbar_cost_of(crossbar, &cost);
    double weights = cores * cost.logical_arrays * cost.logical_rows * cost.logical_columns;
    terms->peak_macs = weights / (double)cost.mvm_cycles * logic_hz(configuration);
    terms->weight_bytes =
        cores * crossbar->arrays * crossbar->rows * crossbar->columns * crossbar->cell_bits / BITS_OF_BYTE;
    terms->buffer_bytes = cores * (double)hardware->cores.local_bytes;
}

static enum pim_status of_channels(const struct pim_configuration *configuration,
                                   struct pim_system_terms *terms, struct pim_error *error)
{
    struct pim_machine machine;
    if (pim_machine_read(configuration, &machine, error) != PIM_OK)
        return error->status;
    double columns = units(configuration) * machine.banks * machine.columns;
    uint64_t cycles =
        pim_machine_multiply(&machine, machine.banks) + pim_machine_add(&machine, machine.banks);
    terms->peak_macs = columns / (double)cycles * logic_hz(configuration);
    terms->weight_bytes = columns * machine.rows / BITS_OF_BYTE;
    return PIM_OK;
}

/* All crossbars of a tile full. */
static enum pim_status of_tiles(const struct pim_configuration *configuration, struct pim_system_terms *terms,
                                struct pim_error *error)
{
    struct pim_machine_tiles machine;
    if (pim_machine_tiles_read(configuration, &machine, error) != PIM_OK)
        return error->status;
    const struct pim_tile_hardware hardware = pim_tile_hardware_of(&machine, PIM_TILE_FIXED);
    double weights = units(configuration) * machine.rows_of_crossbars * machine.columns_of_crossbars *
                     machine.crossbar_rows * machine.crossbar_columns;
    terms->peak_macs = weights / pim_tile_full_step_ns(&hardware) * 1e9;
    terms->weight_bytes = weights * machine.bits / BITS_OF_BYTE;
    terms->buffer_bytes = units(configuration) * key(configuration, "tile.input_buffer_bits") / BITS_OF_BYTE;
    return PIM_OK;
}

enum pim_status pim_system_terms_of(const struct pim_system_row *row,
                                    const struct pim_configuration *configuration,
                                    struct pim_system_terms *terms, struct pim_error *error)
{
    struct pim_hardware hardware;
#define X(member, key, text) terms->member = (double)NAN;
    PIM_SYSTEM_TERM_MAP(X)
#undef X
    if (pim_hardware_read(configuration, &hardware, error) != PIM_OK)
        return error->status;
    if (row->technology_nm > 0)
        terms->technology_nm = row->technology_nm;
    if (row->area_mm2 > 0)
        terms->area_mm2 = terms->area_low_mm2 = terms->area_high_mm2 = row->area_mm2;
    enum kind kind = (enum kind)pim_configuration_choice(configuration, "array.kind");
    enum pim_status status = PIM_OK;
    if (kind == KIND_NODE)
        status = of_nodes(row, configuration, &hardware, terms, error);
    else if (kind == KIND_CORE)
        of_cores(configuration, &hardware, terms);
    else if (kind == KIND_TILE)
        status = of_tiles(configuration, terms, error);
    else
        status = of_channels(configuration, terms, error);
    double shrink = REFERENCE_NM / terms->technology_nm;
    if (isnan(terms->area_28nm_mm2))
        terms->area_28nm_mm2 = terms->area_mm2 * shrink * shrink;
    return status;
}

double pim_system_energy_factor(double technology_nm)
{
    return REFERENCE_NM / technology_nm;
}
