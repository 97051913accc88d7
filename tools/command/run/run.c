/* pimsim run: replays a trace. */
#include "models/system/report/report.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/explain.h"
#include "tools/command/run/replay.h"

#include <stdio.h>

struct request {
    struct common_options common;
    struct replay_options replay;
    const char *stats;
    unsigned format;
    bool reproducible, explain;
};

/*
 * With --stats the chosen format goes to its file, and the text summary to the screen unless that is the same
 * place.
 */
static enum pim_status write_reports(const struct request *request, const struct replay *replay,
                                     struct pim_error *error)
{
    struct pim_report_inputs inputs = replay_inputs(replay, request->reproducible);
    if (request->explain && request->format != PIM_REPORT_TEXT)
        return pim_fail(error, PIM_USAGE,
                        "--explain goes with the text: pimsim explain NAME tells of single figures");
    if (!request->stats) {
        enum pim_status status = pim_report_write(replay->system, &replay->result, &inputs,
                                                  (enum pim_report_format)request->format, stdout, error);
        if (status == PIM_OK && request->explain)
            explain_run(stdout);
        return status;
    }
    struct pim_output *output;
    if (pim_output_open(&output, request->stats, error) != PIM_OK)
        return error->status;
    if (pim_report_write(replay->system, &replay->result, &inputs, (enum pim_report_format)request->format,
                         pim_output_file(output), error) != PIM_OK) {
        pim_output_blame(output, error);
        pim_output_abandon(output);
        return error->status;
    }
    if (request->explain)
        explain_run(pim_output_file(output));
    return pim_output_commit(output, error);
}

int command_run(int argument_count, char **arguments)
{
    struct request request = {.replay = REPLAY_DEFAULTS, .format = PIM_REPORT_TEXT};
    const struct option_rule rules[] = {
        OPTIONS_COMMON(request.common),
        OPTIONS_REPLAY(request.replay),
        {.name = "stats",
         .kind = OPTION_TEXT,
         .target = &request.stats,
         .argument = "FILE",
         .writes = WRITES_TEXT,
         .help = "Writes the results to FILE (- is standard output) in the chosen format"},
        OPTION_FORMAT(request.format, "text|json|csv"),
        {.name = "reproducible",
         .kind = OPTION_FLAG,
         .target = &request.reproducible,
         .help = "Leaves out what differs from run to run: host seconds and memory"},
        {.name = "explain",
         .kind = OPTION_FLAG,
         .target = &request.explain,
         .help = "Says behind the text what its figures mean"},
    };
    const struct option_usage usage = OPTION_USAGE(
        "TRACE", "Replays a trace and tells cycles, energy, and where the time went.", rules, 1, 1);
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    struct replay replay;
    enum pim_status status = replay_run(files.items[0], &request.common, &request.replay, &replay, &error);
    if (status == PIM_OK)
        status = write_reports(&request, &replay, &error);
    replay_terminate(&replay);
    text_list_terminate(&files);
    common_terminate(&request.common);
    return command_end(arguments[0], status, &error);
}
