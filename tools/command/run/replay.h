/* What `run` and `validate` share: open a trace, make its hardware, replay it, collect the result. */
#ifndef PIMSIM_TOOLS_COMMAND_RUN_REPLAY_H
#define PIMSIM_TOOLS_COMMAND_RUN_REPLAY_H

#include "models/system/report/report.h"
#include "models/system/system.h"
#include "tools/command/options.h"

struct replay_options {
    uint64_t until;
    const char *timeline, *timeline_units, *timeline_window;
    unsigned fidelity;            /* index in REPLAY_FIDELITIES; the first means "as configured" */
    const char *network, *mapper; /* mapped anew for the hardware of the replay; NULL: the trace as it is */
};

#define REPLAY_DEFAULTS                                                                                      \
    {                                                                                                        \
        .until = PIM_UNTIL_END                                                                               \
    }
#define REPLAY_FIDELITIES "configured|ideal|analytic|flit"
#define OPTIONS_REPLAY(replay)                                                                               \
    {.name = "until",                                                                                        \
     .kind = OPTION_UNSIGNED,                                                                                \
     .target = &(replay).until,                                                                              \
     .argument = "CYCLE",                                                                                    \
     .help = "Stops at the start of this cycle of the logic clock",                                          \
     .maximum = UINT64_MAX},                                                                                 \
        {.name = "noc",                                                                                      \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(replay).fidelity,                                                                       \
         .argument = "FIDELITY",                                                                             \
         .choices = REPLAY_FIDELITIES,                                                                       \
         .help = "How exactly the network is simulated; configured: as noc.fidelity says"},                  \
        {.name = "network",                                                                                  \
         .letter = 'n',                                                                                      \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(replay).network,                                                                        \
         .argument = "FILE",                                                                                 \
         .help = "Maps this network anew for the hardware that is simulated, and replays that: estimates "   \
                 "are then of this hardware"},                                                               \
        {.name = "mapper",                                                                                   \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(replay).mapper,                                                                         \
         .argument = "WORDS",                                                                                \
         .help = "With --network: the mapper with its options, as behind pimsim map, \"allspark "            \
                 "--partition head\"",                                                                       \
         .standard = "the mapper of the trace"},                                                             \
        {.name = "timeline",                                                                                 \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(replay).timeline,                                                                       \
         .argument = "FILE",                                                                                 \
         .writes = WRITES_TIMELINE,                                                                          \
         .help = "Writes a timeline that opens in Perfetto"},                                                \
        {.name = "timeline-units",                                                                           \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(replay).timeline_units,                                                                 \
         .argument = "LIST",                                                                                 \
         .help = "Units of the timeline, as 0-3,17",                                                         \
         .standard = "the first and the last"},                                                              \
    {                                                                                                        \
        .name = "timeline-window", .kind = OPTION_TEXT, .target = &(replay).timeline_window,                 \
        .argument = "FROM:TO", .help = "Logic cycles of the timeline", .standard = "all"                     \
    }

struct replay {
    struct pim_trace *trace;
    struct pim_configuration *configuration;
    struct pim_system *system;
    struct pim_run_result result;
    const char *path;
    char differs[1024]; /* what of the hardware the estimates were not made for; empty: nothing */
};

/* Runs; replay_terminate is needed in every case. */
enum pim_status replay_run(const char *path, const struct common_options *common,
                           const struct replay_options *options, struct replay *replay,
                           struct pim_error *error);
struct pim_report_inputs replay_inputs(const struct replay *replay, bool reproducible);
/* With options->network: the trace of `replay` becomes that of the network, mapped for its configuration. */
enum pim_status replay_map(const struct replay_options *options, struct replay *replay,
                           struct pim_error *error);
void replay_terminate(struct replay *replay);

#endif
