#include "models/cost/read.h"

#include "models/cost/bank_keys.h"

#include <math.h>

static uint64_t large(const struct pim_configuration *configuration, const char *path)
{
    return (uint64_t)pim_configuration_integer(configuration, path); /* the schema allows no negative value */
}

enum pim_status pim_cost_read_pe(const struct pim_configuration *configuration,
                                 struct pim_pe_configuration *pe, struct pim_error *error)
{
    pe->dataflow = (enum pim_pe_dataflow)pim_configuration_choice(configuration, "pe.style");
    pe->rows = pim_configuration_count(configuration, "pe.rows");
    pe->columns = pim_configuration_count(configuration, "pe.columns");
    pe->pipeline_depth = pim_configuration_count(configuration, "pe.pipeline_depth");
    pe->double_buffered = pe->dataflow != PIM_PE_OUTPUT_STATIONARY &&
                          pim_configuration_boolean(configuration, "pe.double_buffered");
    pe->drain_outputs = false;
    pe->folds =
        pim_configuration_choice(configuration, "pe.fold") == 0 ? PIM_PE_FOLDS_PADDED : PIM_PE_FOLDS_TRIMMED;
    pe->weight_load = (enum pim_pe_weight_load)pim_configuration_choice(configuration, "pe.weight_load");
    pe->input_port_bytes = pim_configuration_count(configuration, "pe.input_port_bytes");
    pe->weight_port_bytes = pim_configuration_count(configuration, "pe.weight_port_bytes");
    pe->output_port_bytes = pim_configuration_count(configuration, "pe.output_port_bytes");
    pe->accumulator_bits = pim_configuration_count(configuration, "pe.accumulator_bits");
    return pim_pe_check_configuration(pe, error) == PIM_OK ? PIM_OK : pim_fail_in(error, "pe");
}

enum pim_status pim_cost_read_acu(const struct pim_configuration *configuration,
                                  struct pim_acu_configuration *acu, struct pim_error *error)
{
    pim_acu_configuration_assumed(acu, pim_configuration_count(configuration, "acu.elements_per_cycle"));
    for (unsigned operation = 0; operation < PIM_VECTORS; operation++)
        acu->operation[operation].depth = pim_configuration_count(configuration, "acu.pipeline_depth");
    return pim_acu_check_configuration(acu, error) == PIM_OK ? PIM_OK : pim_fail_in(error, "acu");
}

/* A time of a bank in cycles of its clock: `cycles` says it, or else `ns`. What is too long for 32 bits
 * becomes UINT32_MAX, which the check of the bank refuses. */
static uint32_t bank_time(const struct pim_configuration *configuration, const char *cycles, const char *ns,
                          uint64_t (*rounded)(uint64_t picoseconds, uint64_t clock_khz))
{
    if (pim_configuration_holds(configuration, cycles))
        return pim_configuration_count(configuration, cycles);
    const uint64_t count = rounded((uint64_t)llround(pim_configuration_real(configuration, ns) * 1000),
                                   (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz"));
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

enum pim_status pim_cost_read_bank(const struct pim_configuration *configuration,
                                   struct pim_bank_rules *rules, struct pim_error *error)
{
    struct pim_bank_timing timing = {.burst_cycles =
                                         pim_configuration_count(configuration, "dram.burst_cycles")};
#define X(name, fallback, most_ns, most_cycles, text)                                                        \
    timing.name = bank_time(configuration, "dram." #name, "dram." #name "_ns", pim_dram_cycles);
    PIM_BANK_DISTANCE_MAP(X)
#undef X
    if (pim_configuration_boolean(configuration, "dram.refresh")) {
        timing.trefi = bank_time(configuration, "dram.trefi", "dram.trefi_ns", pim_dram_refresh_interval);
        if (timing.trefi == 0)
            return pim_configuration_fail(
                configuration, error,
                pim_configuration_holds(configuration, "dram.trefi") ? "dram.trefi" : "dram.trefi_ns",
                "shorter than a memory cycle: write dram.refresh = false for a memory without refresh");
    }
    struct pim_bank_organization organization = {
        .banks = pim_configuration_count(configuration, "dram.banks"),
        .rows = pim_configuration_count(configuration, "dram.rows"),
        .row_bytes = pim_configuration_count(configuration, "dram.row_bytes"),
        .column_bytes = pim_configuration_count(configuration, "dram.column_bytes"),
        .closed_page = pim_configuration_choice(configuration, "dram.page") == 1,
        .interleaved = pim_configuration_count(configuration, "dram.interleaved_banks")};
    if (organization.interleaved == 3)
        return pim_configuration_fail(configuration, error, "dram.interleaved_banks", "1, 2 or 4 is allowed");
    if (pim_bank_check_configuration(&timing, &organization, error) != PIM_OK)
        return pim_fail_in(error, "dram (cycles of clock.memory_khz)");
    pim_bank_rules_initialize(rules, &timing, &organization);
    return PIM_OK;
}

struct pim_energy_configuration pim_cost_read_energy(const struct pim_configuration *configuration)
{
    return (struct pim_energy_configuration){
        .mac_pj = pim_configuration_real(configuration, "energy.mac_pj"),
        .sram_pj_per_bit = pim_configuration_real(configuration, "energy.sram_pj_per_bit"),
        .acu_pj_per_operation = pim_configuration_real(configuration, "energy.acu_pj_per_operation"),
        .dram_pj_per_bit = pim_configuration_real(configuration, "energy.dram_pj_per_bit"),
        .dram_activate_pj = pim_configuration_real(configuration, "energy.dram_activate_pj"),
        .noc_pj_per_bit_hop = pim_configuration_real(configuration, "energy.noc_pj_per_bit_hop"),
        .static_mw_per_node = pim_configuration_real(configuration, "energy.static_mw_per_node")};
}

static uint32_t given_or(uint64_t given, uint64_t rule, uint32_t most)
{
    return (uint32_t)(given > 0 ? given : rule < most ? rule : most);
}

struct pim_transfer_sizes pim_cost_read_sizes(const struct pim_configuration *configuration)
{
    uint64_t row = large(configuration, "dram.row_bytes") * large(configuration, "dram.banks");
    return (struct pim_transfer_sizes){
        .turn_bytes = given_or(large(configuration, "dram.arbitration_bytes"), row, PIM_TURN_BYTES_MAX),
        .packet_bytes = given_or(large(configuration, "network_interface.packet_bytes"),
                                 PIM_ROWS_OF_A_PACKET * row, PIM_PACKET_BYTES_MAX)};
}

/* A time in ns as cycles of the logic, rounded up; one that is a whole number of cycles but for the rounding
 * of reals is that many. */
static double logic_cycles(const struct pim_configuration *configuration, const char *key)
{
    double khz = (double)pim_configuration_integer(configuration, "clock.logic_khz");
    double cycles = pim_configuration_real(configuration, key) * khz * 1e-6;
    double whole = nearbyint(cycles);
    return fabs(cycles - whole) < 1e-6 ? whole : ceil(cycles);
}

enum pim_status pim_cost_read_crossbar(const struct pim_configuration *configuration,
                                       struct pim_crossbar_configuration *crossbar, struct pim_error *error)
{
    uint64_t arrays = large(configuration, "crossbar.count_x") * large(configuration, "crossbar.count_y");
    double read = logic_cycles(configuration, "crossbar.read_ns");
    double write = logic_cycles(configuration, "crossbar.write_row_ns");
    const double most = (double)(UINT32_MAX / 16);
    if (read > 8 * most)
        return pim_configuration_fail(configuration, error, "crossbar.read_ns", "is more than 2^31 cycles");
    if (write > most)
        return pim_configuration_fail(configuration, error, "crossbar.write_row_ns",
                                      "is more than 2^28 cycles");
    *crossbar = (struct pim_crossbar_configuration){
        .arrays = arrays < UINT32_MAX ? (uint32_t)arrays : UINT32_MAX,
        .rows = pim_configuration_count(configuration, "crossbar.rows"),
        .columns = pim_configuration_count(configuration, "crossbar.columns"),
        .cell_bits = pim_configuration_count(configuration, "crossbar.cell_bits"),
        .weight_bits = pim_configuration_count(configuration, "crossbar.weight_bits"),
        .input_bits = pim_configuration_count(configuration, "crossbar.input_bits"),
        .slices_in_arrays = pim_configuration_choice(configuration, "crossbar.weight_slicing") == 1,
        .differential = pim_configuration_choice(configuration, "crossbar.sign") == 1,
        .management_arrays = pim_configuration_count(configuration, "crossbar.management_arrays"),
        .pipelined = pim_configuration_boolean(configuration, "crossbar.pipelined"),
        .floor_division = pim_configuration_boolean(configuration, "crossbar.floor_division"),
        .dac_bits = pim_configuration_count(configuration, "crossbar.dac_bits"),
        .dac_count = pim_configuration_count(configuration, "crossbar.dac_count"),
        .adc_count = pim_configuration_count(configuration, "crossbar.adc_count"),
        .input_buffer_cycles = pim_configuration_count(configuration, "crossbar.input_buffer_cycles"),
        .dac_cycles = pim_configuration_count(configuration, "crossbar.dac_cycles"),
        .read_cycles = (uint32_t)read,
        .write_row_cycles = (uint32_t)write,
        .sample_hold_cycles = pim_configuration_count(configuration, "crossbar.sample_hold_cycles"),
        .adc_cycles = pim_configuration_count(configuration, "crossbar.adc_cycles"),
        .shift_add_cycles = pim_configuration_count(configuration, "crossbar.shift_add_cycles"),
        .output_buffer_cycles = pim_configuration_count(configuration, "crossbar.output_buffer_cycles"),
    };
    if (pim_crossbar_check(crossbar, error) != PIM_OK)
        return pim_fail_in(error, "crossbar");
    return PIM_OK;
}
