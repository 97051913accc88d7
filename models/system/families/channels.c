/* Channels of memories whose banks compute. */
#include "models/channel/channel.h"

#include "models/system/family.h"
#include "models/system/hardware/channel_hardware.h"
#include "models/system/report/json_rows.h"
#include "models/system/report/results.h"
#include "sim/output/output.h"

#include <inttypes.h>

static const struct pim_energy_row shown[] = {
    {"dram", "banks", offsetof(struct pim_energy, dram)},
    {"interconnect", "interface", offsetof(struct pim_energy, interconnect)},
    {NULL, NULL, 0}};
static const struct pim_energy_row beyond[] = {
    {"interconnect", "interconnect", offsetof(struct pim_energy, interconnect)}, {NULL, NULL, 0}};

static enum pim_status initialize(struct pim_units *units, struct pim_kernel *kernel,
                                  const struct pim_hardware *hardware, const struct pim_trace *trace,
                                  struct pim_error *error)
{
    return pim_channels_initialize((struct pim_channels *)units, kernel, &hardware->channels, trace, error);
}

static const char *interconnect(const struct pim_hardware *hardware)
{
    return hardware->height > 1 ? "links and a bus between stacks" : "links";
}

/* Channels send over links and buses of their own. */
static bool has_routers(const struct pim_hardware *hardware)
{
    (void)hardware;
    return false;
}

static void print(const struct pim_system *system, const struct pim_run_result *result, FILE *file)
{
    const struct pim_channels *channels = pim_system_channels(system);
    const struct pim_actions *actions = &result->actions;
    uint64_t cycles = result->end / channels->configuration.period;
    bool dram = channels->configuration.memory.has_banks;
    char share[PIM_REAL_CHARACTERS];
    fprintf(file,
            "\nbanks: %" PRIu64 " %s, %.3f Gbit read and written\nmessages: %" PRIu64
            " bytes; the bus between stacks was in use for %s of the time\n",
            dram ? actions->dram_activates : actions->crossbar_steps,
            dram ? "activations" : "steps of crossbars", (double)actions->dram_bits * 1e-9,
            result->bytes_sent, pim_format_share(share, (double)channels->bus_cycles, (double)cycles));
}

static void put(struct pim_json *json, const struct pim_system *system, const struct pim_run_result *result)
{
    const struct pim_channels *channels = pim_system_channels(system);
#include "models/system/families/channels.def"
}

const struct pim_hardware_family pim_hardware_channels = {
    .plural = "channels",
    .units = &pim_channel_family,
    .size = sizeof(struct pim_channels),
    .initialize = initialize,
    .read = pim_channel_hardware_read,
    .slice_cycles = 1048576, /* channels do less still than cores */
    .engines = {"banks", "transposer", "row moves", "messages"},
    .shown = shown,
    .beyond = beyond,
    .interconnect = interconnect,
    .has_routers = has_routers,
    .print = print,
    .put = put};
