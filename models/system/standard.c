#include "models/system/standard.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum pim_status pim_standard_read(const struct pim_configuration *configuration, const char *preset,
                                  const char *values, struct pim_dram_configuration *dram,
                                  struct pim_error *error)
{
    const char *text = pim_configuration_text(configuration, values);
    struct pim_configuration *read;
    enum pim_status status = pim_configuration_create(&pim_dram_schema, &read, error);
    if (status != PIM_OK)
        return status;
    status = pim_dram_preset_read(read, pim_configuration_text(configuration, preset), error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(read, values, text, strlen(text), error);
    if (status == PIM_OK)
        status = pim_configuration_complete(read, error);
    if (status == PIM_OK)
        status = pim_dram_configure(read, dram, error);
    pim_configuration_destroy(read);
    if (status == PIM_USAGE)
        return pim_configuration_fail(configuration, error, preset, "%s", error->text);
    return status == PIM_OK ? PIM_OK : pim_fail_in(error, "%s", preset);
}

static const uint64_t khz_ps = UINT64_C(1000000000);

/* Is a clock of `khz` that of a period in whole ps, which may be off by half a percent? */
static bool is_clock(uint64_t khz, uint32_t clock_ps)
{
    enum { PERMILLE = 5 };
    const uint64_t product = khz * clock_ps;
    return (product > khz_ps ? product - khz_ps : khz_ps - product) <= khz_ps / 1000 * PERMILLE;
}

/* The roundest clock of a period, which goes together with other round ones. */
static uint64_t clock_of(uint32_t clock_ps)
{
    const uint64_t exact = (khz_ps + clock_ps / 2) / clock_ps;
    for (uint64_t step = khz_ps; step > 1; step /= 10) {
        const uint64_t khz = (exact + step / 2) / step * step;
        if (is_clock(khz, clock_ps))
            return khz;
    }
    return exact;
}

/* A cycle of the controller is one of clock.memory_khz; the standard gives its period in whole ps. */
static enum pim_status check_clock(const struct pim_configuration *configuration, const char *standard,
                                   uint32_t clock_ps, struct pim_error *error)
{
    const uint64_t khz = (uint64_t)pim_configuration_integer(configuration, "clock.memory_khz");
    assert(clock_ps > 0);
    if (is_clock(khz, clock_ps))
        return PIM_OK;
    return pim_configuration_fail(configuration, error, "clock.memory_khz",
                                  "%" PRIu64 " kHz, but a cycle of %s lasts %" PRIu32 " ps: give %" PRIu64
                                  ", or another dram.clock_ps in %s_values",
                                  khz, standard, clock_ps, clock_of(clock_ps), standard);
}

enum pim_status pim_standard_read_nodes(const struct pim_configuration *configuration,
                                        struct pim_node_configuration *node, struct pim_error *error)
{
    struct pim_node_channels *channels = &node->channels;
    *channels = (struct pim_node_channels){.nodes = 0};
    if (*pim_configuration_text(configuration, "dram.standard") == '\0') {
        static const char *const only[] = {"dram.standard_values", "dram.nodes", "dram.accesses"};
        if (*pim_configuration_text(configuration, only[0]) != '\0' ||
            pim_configuration_integer(configuration, only[1]) != 1 ||
            pim_configuration_integer(configuration, only[2]) != 0)
            return pim_configuration_fail(configuration, error, "dram.standard",
                                          "is empty: dram.standard_values, dram.nodes and dram.accesses are "
                                          "for nodes on the channels of a standard");
        return PIM_OK;
    }
    if (pim_standard_read(configuration, "dram.standard", "dram.standard_values", &channels->dram, error) !=
            PIM_OK ||
        check_clock(configuration, "dram.standard", channels->dram.specification.clock_ps, error) != PIM_OK)
        return error->status;
    channels->nodes = pim_configuration_count(configuration, "dram.nodes");
    channels->accesses = pim_configuration_count(configuration, "dram.accesses");
    const struct pim_dram_organization *o = &channels->dram.specification.organization;
    const uint32_t *parameter = channels->dram.specification.parameter;
    const uint64_t row_bytes = (uint64_t)o->columns * o->access_bytes;
    /* Shares begin with a row. */
    const uint64_t share = channels->dram.mapping.capacity / channels->nodes / row_bytes * row_bytes;
    if (share == 0)
        return pim_configuration_fail(configuration, error, "dram.nodes",
                                      "%" PRIu32 " nodes share %" PRIu64 " bytes: less than a row for each",
                                      channels->nodes, channels->dram.mapping.capacity);
    const uint32_t step = parameter[PIM_DRAM_T_B] > parameter[PIM_DRAM_T_CCD_S] ? parameter[PIM_DRAM_T_B]
                                                                                : parameter[PIM_DRAM_T_CCD_S];
    node->bank = (struct pim_bank_rules){.port_bytes = o->access_bytes,
                                         .columns_per_row = o->columns,
                                         .column_step = step,
                                         .capacity_bytes = share};
    return PIM_OK;
}

enum pim_status pim_standard_read_cores(const struct pim_configuration *configuration,
                                        struct pim_cores_configuration *cores, struct pim_error *error)
{
    static const char standard[] = "global_memory.standard", values[] = "global_memory.standard_values";
    cores->on_channels = *pim_configuration_text(configuration, standard) != '\0';
    if (!cores->on_channels) {
        if (*pim_configuration_text(configuration, values) == '\0')
            return PIM_OK;
        return pim_configuration_fail(configuration, error, standard, "is empty: %s is for channels", values);
    }
    if (cores->nn)
        return pim_configuration_fail(configuration, error, standard,
                                      "is not for core.timing = \"pimsim_nn\", whose memory is a port");
    if (pim_standard_read(configuration, standard, values, &cores->dram, error) != PIM_OK ||
        check_clock(configuration, standard, cores->dram.specification.clock_ps, error) != PIM_OK)
        return error->status;
    if (cores->global_bytes > cores->dram.mapping.capacity)
        return pim_configuration_fail(configuration, error, "global_memory.bytes",
                                      "%" PRIu64 ", but global_memory.standard holds %" PRIu64
                                      " bytes: give that or less, or more channels",
                                      cores->global_bytes, cores->dram.mapping.capacity);
    return PIM_OK;
}
