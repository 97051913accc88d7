#include "tools/command/run/replay.h"

#include "models/system/configure.h"

#include <inttypes.h>
#include <string.h>

/* "FROM:TO" in cycles; an absent end means without limit. */
static enum pim_status parse_window(const char *text, struct pim_system_options *options,
                                    struct pim_error *error)
{
    options->timeline_begin = 0;
    options->timeline_end = UINT64_MAX;
    if (!text)
        return PIM_OK;
    char from[24];
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof from)
        return pim_fail(error, PIM_USAGE, "--timeline-window %s: FROM:TO in cycles is expected", text);
    memcpy(from, text, (size_t)(colon - text));
    from[colon - text] = '\0';
    if (*from && pim_parse_unsigned("--timeline-window", from, 0, UINT64_MAX, &options->timeline_begin,
                                    error) != PIM_OK)
        return error->status;
    if (colon[1] && pim_parse_unsigned("--timeline-window", colon + 1, options->timeline_begin, UINT64_MAX,
                                       &options->timeline_end, error) != PIM_OK)
        return error->status;
    if (options->until_cycle != PIM_UNTIL_END && options->timeline_begin >= options->until_cycle)
        return pim_fail(error, PIM_USAGE,
                        "--timeline-window %s begins where the run has been stopped (--until %" PRIu64
                        "): nothing would be in it",
                        text, options->until_cycle);
    return PIM_OK;
}

/* Options that say more of another one, which is not there. */
static enum pim_status check_alone(const struct replay_options *options, struct pim_error *error)
{
    if (options->mapper && !options->network)
        return pim_fail(error, PIM_USAGE, "--mapper WORDS belongs to --network FILE");
    if (!options->timeline && (options->timeline_window || options->timeline_units))
        return pim_fail(error, PIM_USAGE, "--timeline-%s belongs to --timeline FILE",
                        options->timeline_window ? "window" : "units");
    return PIM_OK;
}

enum pim_status replay_run(const char *path, const struct common_options *common,
                           const struct replay_options *options, struct replay *replay,
                           struct pim_error *error)
{
    *replay = (struct replay){.path = path};
    struct pim_system_options system = {.until_cycle = options->until,
                                        .timeline = options->timeline,
                                        .timeline_units = options->timeline_units,
                                        .quiet = common->quiet};
    struct pim_hardware hardware;
    if (check_alone(options, error) != PIM_OK ||
        parse_window(options->timeline_window, &system, error) != PIM_OK ||
        pim_trace_open(path, &replay->trace, error) != PIM_OK)
        return error->status;
    static const char *const fidelities[] = {NULL, "ideal", "analytic", "flit"}; /* as REPLAY_FIDELITIES */
    const struct pim_hardware_sources sources = {.files = common->hardware.items,
                                                 .file_count = common->hardware.count,
                                                 .sets = common->sets.items,
                                                 .set_count = common->sets.count,
                                                 .fidelity = fidelities[options->fidelity],
                                                 .purpose = options->network ? PIM_TO_MAP : PIM_TO_REPLAY};
    if (pim_configure_replay(replay->trace, path, &sources, &replay->configuration, &hardware, error) !=
            PIM_OK ||
        (options->network && replay_map(options, replay, error) != PIM_OK) ||
        pim_configure_differences(replay->trace, replay->configuration, replay->differs,
                                  sizeof replay->differs, error) != PIM_OK)
        return error->status;
    if (pim_system_create(&hardware, replay->trace, &system, &replay->system, error) != PIM_OK ||
        pim_system_run(replay->system, error) != PIM_OK)
        return error->status;
    return pim_system_collect(replay->system, &replay->result, error);
}

struct pim_report_inputs replay_inputs(const struct replay *replay, bool reproducible)
{
    struct pim_report_inputs inputs = {.trace_name = replay->path,
                                       .config_hash = pim_configuration_hash(replay->configuration),
                                       .configuration = replay->configuration,
                                       .estimate_differs = replay->differs[0] ? replay->differs : NULL,
                                       .reproducible = reproducible};
    pim_host_usage(&inputs.cpu_seconds, &inputs.peak_memory_bytes);
    return inputs;
}

void replay_terminate(struct replay *replay)
{
    pim_run_result_terminate(&replay->result);
    pim_system_destroy(replay->system);
    pim_configuration_destroy(replay->configuration);
    pim_trace_close(replay->trace);
}
