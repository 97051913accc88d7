/*
 * What the timing of a bank must be, what follows from it, and times turned into cycles.
 */
#include "models/cost/bank_rules.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>

enum { PICOSECONDS_PER_MILLISECOND = 1000000000 };

uint64_t pim_dram_cycles(uint64_t picoseconds, uint64_t clock_khz)
{
    assert(picoseconds <= UINT64_C(1000000000000) && clock_khz >= 1 && clock_khz <= 10000000);
    /* A clock of 1 kHz has one cycle in a millisecond. */
    uint64_t product = picoseconds * clock_khz;
    return product / PICOSECONDS_PER_MILLISECOND + (product % PICOSECONDS_PER_MILLISECOND != 0);
}

uint64_t pim_dram_refresh_interval(uint64_t picoseconds, uint64_t clock_khz)
{
    assert(picoseconds <= UINT64_C(1000000000000) && clock_khz >= 1 && clock_khz <= 10000000);
    return picoseconds * clock_khz / PICOSECONDS_PER_MILLISECOND;
}

static enum pim_status check_ranges(const struct pim_bank_timing *t, struct pim_error *error)
{
    const struct {
        const char *name;
        uint32_t cycles, least;
    } parameters[] = {
        {"trcd", t->trcd, 1}, {"trp", t->trp, 1},   {"tras", t->tras, 1},
        {"trc", t->trc, 1},   {"tcl", t->tcl, 1},   {"tcwl", t->tcwl, 1},
        {"tccd", t->tccd, 1}, {"twr", t->twr, 1},   {"trtp", t->trtp, 1},
        {"twtr", t->twtr, 1}, {"trtw", t->trtw, 0}, {"burst_cycles", t->burst_cycles, 1},
        {"trrd", t->trrd, 0},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        if (parameters[i].cycles < parameters[i].least || parameters[i].cycles > PIM_BANK_CYCLES_MAX)
            return pim_fail(
                error, PIM_BAD_INPUT, "DRAM timing %s is %" PRIu32 " cycles: allowed are %" PRIu32 " to %d",
                parameters[i].name, parameters[i].cycles, parameters[i].least, PIM_BANK_CYCLES_MAX);
    }
    return PIM_OK;
}

/*
 * Cycles that may pass between a refresh that is due and its REF: an upper bound. Of interleaved banks each
 * may have a row under way, all of whose columns are still served.
 */
static uint64_t cycles_before_refresh(const struct pim_bank_timing *t,
                                      const struct pim_bank_organization *organization)
{
    uint64_t step = t->tccd > t->burst_cycles ? t->tccd : t->burst_cycles;
    uint64_t turn = (uint64_t)t->tcl + t->tcwl + t->tccd + t->twtr + t->trtw + t->burst_cycles;
    uint64_t row = organization->row_bytes / organization->column_bytes * step;
    uint64_t bank = (uint64_t)t->trcd + t->trp + t->trc + t->twr + t->trtp;
    return bank + turn + (organization->interleaved > 1 ? organization->interleaved * (row + turn) : 0);
}

uint64_t pim_bank_refresh_interval_least(const struct pim_bank_timing *timing,
                                         const struct pim_bank_organization *organization)
{
    /* An upper bound of what may lie between a due refresh and the first ACT after it; it also leaves room
     * for one access. */
    return cycles_before_refresh(timing, organization) + timing->trfc + 1;
}

static enum pim_status check_timing(const struct pim_bank_timing *t,
                                    const struct pim_bank_organization *organization, struct pim_error *error)
{
    enum pim_status status = check_ranges(t, error);
    if (status != PIM_OK)
        return status;
    if (t->tras > t->trc)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM timing tras (%" PRIu32 " cycles) is longer than trc (%" PRIu32
                        "): a row cycle holds tras and trp, so trc is usually tras + trp = %" PRIu64,
                        t->tras, t->trc, (uint64_t)t->tras + t->trp);
    if (t->trcd > t->tras)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM timing trcd (%" PRIu32 " cycles) is longer than tras (%" PRIu32
                        "): a row cannot be closed before it may be read",
                        t->trcd, t->tras);
    if (t->trefi == 0)
        return PIM_OK;
    if (t->trfc == 0 || t->trfc > PIM_BANK_CYCLES_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM timing trfc is %" PRIu32
                        " cycles while trefi asks for refreshes: allowed are 1 to %d",
                        t->trfc, PIM_BANK_CYCLES_MAX);
    const uint64_t least = pim_bank_refresh_interval_least(t, organization);
    if (t->trefi < least)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "DRAM timing trefi is %" PRIu32 " cycles: refreshes would leave no time for an access, "
            "it must be more than %" PRIu64 " (the sum of trfc and the other timings%s), or 0 for no refresh",
            t->trefi, least - 1, organization->interleaved > 1 ? ", and a row of each interleaved bank" : "");
    if (t->trefi > PIM_BANK_REFRESH_INTERVAL_MAX)
        return pim_fail(error, PIM_BAD_INPUT, "DRAM timing trefi is %" PRIu32 " cycles: allowed are 0 to %d",
                        t->trefi, PIM_BANK_REFRESH_INTERVAL_MAX);
    return PIM_OK;
}

static uint32_t interleaved_of(const struct pim_bank_organization *organization)
{
    return organization->interleaved > 1 ? organization->interleaved : 1;
}

enum pim_status pim_bank_check_configuration(const struct pim_bank_timing *timing,
                                             const struct pim_bank_organization *organization,
                                             struct pim_error *error)
{
    const struct pim_bank_organization *o = organization;
    if (o->banks == 0)
        return pim_fail(error, PIM_BAD_INPUT, "DRAM banks in lock-step are 0: at least 1 is needed");
    if (o->rows == 0)
        return pim_fail(error, PIM_BAD_INPUT, "DRAM rows of a bank are 0: at least 1 is needed");
    if (o->column_bytes == 0 || o->row_bytes == 0 || o->row_bytes % o->column_bytes != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM row of %" PRIu32 " bytes and column of %" PRIu32
                        " bytes: a row must be a multiple of a column, and neither 0",
                        o->row_bytes, o->column_bytes);
    uint64_t port_bytes = (uint64_t)o->banks * o->column_bytes;
    if (port_bytes > PIM_BANK_PORT_BYTES_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM port of %" PRIu32 " banks x %" PRIu32 " bytes of a column is %" PRIu64
                        " bytes wide: allowed are up to %d",
                        o->banks, o->column_bytes, port_bytes, PIM_BANK_PORT_BYTES_MAX);
    if (o->interleaved == 3 || o->interleaved > PIM_BANK_INTERLEAVED_MAX)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM interleaved banks are %" PRIu32 ": allowed are 1, 2 and 4", o->interleaved);
    uint64_t bank_bytes = (uint64_t)o->rows * o->row_bytes, banks = (uint64_t)o->banks * interleaved_of(o);
    if (bank_bytes > PIM_BANK_CAPACITY_MAX / banks)
        return pim_fail(error, PIM_BAD_INPUT,
                        "DRAM of %" PRIu64 " banks x %" PRIu32 " rows x %" PRIu32
                        " bytes: allowed are up to %" PRIu64 " bytes behind one port",
                        banks, o->rows, o->row_bytes, PIM_BANK_CAPACITY_MAX);
    return check_timing(timing, o, error);
}

void pim_bank_rules_initialize(struct pim_bank_rules *rules, const struct pim_bank_timing *timing,
                               const struct pim_bank_organization *organization)
{
    const struct pim_bank_timing *t = timing;
    uint32_t step = t->tccd > t->burst_cycles ? t->tccd : t->burst_cycles;
    uint32_t to_write = t->tcl + t->burst_cycles + t->trtw;
    uint32_t read_to_write = to_write > t->tcwl ? to_write - t->tcwl : 0;
    uint32_t write_to_read = t->tcwl + t->burst_cycles + t->twtr;
    *rules = (struct pim_bank_rules){
        .timing = *timing,
        .organization = *organization,
        .column_step = step,
        .read_to_write = read_to_write > step ? read_to_write : step,
        .write_to_read = write_to_read > step ? write_to_read : step,
        .write_to_precharge = t->tcwl + t->burst_cycles + t->twr,
        .read_to_data_end = t->tcl + t->burst_cycles,
        .write_to_data_end = t->tcwl + t->burst_cycles,
        .port_bytes = organization->banks * organization->column_bytes,
        .columns_per_row = organization->row_bytes / organization->column_bytes,
        .interleaved = interleaved_of(organization),
        .capacity_bytes = (uint64_t)interleaved_of(organization) * organization->banks * organization->rows *
                          organization->row_bytes,
    };
}
