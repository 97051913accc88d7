#include "models/cost/read.h"

#include "models/cost/bank_keys.h"
#include "sim/try.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PICOSECONDS_OF_A_KHZ = 1000000000 }; /* of one cycle */

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

/* A time of a bank in cycles of its clock: `cycles` says it, or else `ns`. */
static uint64_t bank_time(const struct pim_configuration *configuration, const char *cycles, const char *ns,
                          uint64_t (*rounded)(uint64_t picoseconds, uint64_t clock_khz))
{
    if (pim_configuration_holds(configuration, cycles))
        return pim_configuration_count(configuration, cycles);
    return rounded((uint64_t)llround(pim_configuration_real(configuration, ns) * 1000),
                   large(configuration, "clock.memory_khz"));
}

/* A refresh that takes so long that nothing fits between two, refused at its own key when that was set behind
 * the interval and the clock, and a shorter one would do. PIM_OK: the interval or the clock is to say so. */
static enum pim_status refuse_long_refresh(const struct pim_configuration *configuration, uint64_t interval,
                                           uint64_t least, uint32_t trfc, struct pim_error *error)
{
    static const char cycles[] = "dram.trfc", ns[] = "dram.trfc_ns", clock[] = "clock.memory_khz";
    const bool counted = pim_configuration_holds(configuration, cycles);
    const char *key = counted ? cycles : ns;
    const uint64_t khz = large(configuration, clock), others = least - trfc;
    if (interval <= others || !pim_configuration_later(configuration, key, clock) ||
        !pim_configuration_later(configuration, key, "dram.trefi") ||
        !pim_configuration_later(configuration, key, "dram.trefi_ns"))
        return PIM_OK;
    const uint64_t picoseconds = (interval - others) * PICOSECONDS_OF_A_KHZ / khz;
    char most[64];
    if (counted)
        (void)snprintf(most, sizeof most, "%s = %" PRIu64, cycles, interval - others);
    else
        (void)snprintf(most, sizeof most, "%s = %.13g", ns, (double)picoseconds / 1000);
    return pim_configuration_fail(
        configuration, error, key,
        "a refresh of %" PRIu32 " cycles of clock.memory_khz = %" PRIu64
        " leaves no time for an access until the next one, %" PRIu64
        " cycles behind it (%s): at most %s is allowed, or give at least "
        "dram.trefi = %" PRIu64 ", or dram.refresh = false",
        trfc, khz, interval,
        pim_configuration_holds(configuration, "dram.trefi") ? "dram.trefi" : "dram.trefi_ns", most, least);
}

/* What does not leave time between refreshes is refused at the key that says it: a refresh that was made
 * longer, the interval, or the clock that makes so few cycles of its default. */
static enum pim_status read_refreshes(const struct pim_configuration *configuration,
                                      const struct pim_bank_organization *organization,
                                      struct pim_bank_timing *timing, struct pim_error *error)
{
    static const char cycles[] = "dram.trefi", ns[] = "dram.trefi_ns", clock[] = "clock.memory_khz";
    const uint64_t interval = bank_time(configuration, cycles, ns, pim_dram_refresh_interval);
    const uint64_t least = pim_bank_refresh_interval_least(timing, organization);
    const uint64_t khz = large(configuration, clock), most = PIM_BANK_REFRESH_INTERVAL_MAX;
    timing->trefi = (uint32_t)interval;
    if (interval >= least && interval <= most)
        return PIM_OK;
    if (interval < least && least <= most)
        PIM_TRY(refuse_long_refresh(configuration, interval, least, timing->trfc, error));
    if (pim_configuration_holds(configuration, cycles) || least > most)
        return pim_configuration_fail(
            configuration, error, pim_configuration_holds(configuration, cycles) ? cycles : ns,
            "%" PRIu64 " cycles leave no time for an access between refreshes: at least %" PRIu64
            " are needed (the sum of dram.trfc and the other times)%s, or dram.refresh = false",
            interval, least,
            least > most ? ", but allowed are up to 2^30: shorter times, or rows of fewer columns" : "");
    const char *key = pim_configuration_given(configuration, ns) ? ns : clock;
    const double given = pim_configuration_real(configuration, ns);
    if (interval > most)
        return pim_configuration_fail(configuration, error, key,
                                      "dram.trefi_ns = %.13g are %" PRIu64
                                      " cycles of clock.memory_khz = %" PRIu64 ": allowed are up to %" PRIu64,
                                      given, interval, khz, most);
    char enough[64];
    const uint64_t picoseconds = (least * PICOSECONDS_OF_A_KHZ + khz - 1) / khz; /* below 2^61 */
    if (picoseconds > UINT64_C(1000) * PIM_BANK_REFRESH_NS_MAX)
        (void)snprintf(enough, sizeof enough, "%s = %" PRIu64, cycles, least);
    else
        (void)snprintf(enough, sizeof enough, "%s = %.13g", ns, (double)picoseconds / 1000);
    return pim_configuration_fail(
        configuration, error, key,
        "dram.trefi_ns = %.13g are %" PRIu64 " cycles of clock.memory_khz = %" PRIu64
        ", which leave no time for an access between refreshes: at least %" PRIu64
        " cycles are needed (the sum of dram.trfc and the other times), as of %s, or "
        "a faster clock, or dram.refresh = false",
        given, interval, khz, least, enough);
}

enum pim_status pim_cost_check_mapped(const struct pim_configuration *configuration, struct pim_error *error)
{
    static const struct {
        const char *key, *estimated;
    } standards[] = {{"dram.standard", "private banks"},
                     {"global_memory.standard", "ports"}}; /* node|core|... */
    const unsigned kind = pim_configuration_choice(configuration, "array.kind");
    if (kind >= 2 || *pim_configuration_text(configuration, standards[kind].key) == '\0')
        return PIM_OK;
    return pim_configuration_fail(configuration, error, standards[kind].key,
                                  "mappers estimate %s: map without it, and run the trace with --set %s=...",
                                  standards[kind].estimated, standards[kind].key);
}

enum pim_status pim_cost_read_bank(const struct pim_configuration *configuration,
                                   struct pim_bank_rules *rules, struct pim_error *error)
{
    struct pim_bank_timing timing = {.burst_cycles =
                                         pim_configuration_count(configuration, "dram.burst_cycles")};
#define X(name, fallback, most_ns, most_cycles, text)                                                        \
    timing.name = (uint32_t)bank_time(configuration, "dram." #name, "dram." #name "_ns", pim_dram_cycles);
    PIM_BANK_DISTANCE_MAP(X)
#undef X
    struct pim_bank_organization organization = {
        .banks = pim_configuration_count(configuration, "dram.banks"),
        .rows = pim_configuration_count(configuration, "dram.rows"),
        .row_bytes = pim_configuration_count(configuration, "dram.row_bytes"),
        .column_bytes = pim_configuration_count(configuration, "dram.column_bytes"),
        .closed_page = pim_configuration_choice(configuration, "dram.page") == 1,
        .interleaved = pim_configuration_count(configuration, "dram.interleaved_banks")};
    if (organization.interleaved == 3)
        return pim_configuration_fail(configuration, error, "dram.interleaved_banks", "1, 2 or 4 is allowed");
    if (pim_configuration_boolean(configuration, "dram.refresh") &&
        read_refreshes(configuration, &organization, &timing, error) != PIM_OK)
        return error->status;
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
static enum pim_status read_logic_cycles(const struct pim_configuration *configuration, const char *key,
                                         uint32_t *cycles, struct pim_error *error)
{
    const double ns = pim_configuration_real(configuration, key);
    const uint64_t khz = large(configuration, "clock.logic_khz"), most = UINT32_MAX / 16;
    const double exact = ns * (double)khz * 1e-6, whole = nearbyint(exact);
    const double count = fabs(exact - whole) < 1e-6 ? whole : ceil(exact);
    if (count > (double)most)
        return pim_configuration_fail(configuration, error, key,
                                      "%.13g ns are %.0f cycles of clock.logic_khz = %" PRIu64
                                      ": allowed are up to %" PRIu64,
                                      ns, count, khz, most);
    *cycles = (uint32_t)count;
    return PIM_OK;
}

enum pim_status pim_cost_read_crossbar(const struct pim_configuration *configuration,
                                       struct pim_crossbar_configuration *crossbar, struct pim_error *error)
{
    uint64_t arrays = large(configuration, "crossbar.count_x") * large(configuration, "crossbar.count_y");
    uint32_t read = 0, write = 0;
    if (read_logic_cycles(configuration, "crossbar.read_ns", &read, error) != PIM_OK ||
        read_logic_cycles(configuration, "crossbar.write_row_ns", &write, error) != PIM_OK)
        return error->status;
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
        .read_cycles = read,
        .write_row_cycles = write,
        .sample_hold_cycles = pim_configuration_count(configuration, "crossbar.sample_hold_cycles"),
        .adc_cycles = pim_configuration_count(configuration, "crossbar.adc_cycles"),
        .shift_add_cycles = pim_configuration_count(configuration, "crossbar.shift_add_cycles"),
        .output_buffer_cycles = pim_configuration_count(configuration, "crossbar.output_buffer_cycles"),
    };
    if (pim_crossbar_check(crossbar, error) != PIM_OK)
        return pim_fail_in(error, "crossbar");
    return PIM_OK;
}
