/* pimsim overlap: the overlap analysis of a case or a mapping. */
#include "mappers/overlapim/analysis/case/case.h"
#include "tools/command/command.h"
#include "tools/command/options.h"

#include <stdio.h>

int command_overlap(int argument_count, char **arguments)
{
    struct pim_case_options options = {0};
    unsigned format = 0;
    const struct option_rule rules[] = {
        OPTION_FORMAT(format, "text|json"),
        RULE_FLAG("exhaustive", options.exhaustive,
                  "Finds every ready time by comparing all data spaces as well; a difference is an error"),
        RULE_FLAG("summary", options.summary, "No lists of data spaces, steps and rows")};
    struct text_list files = {0};
    const struct option_usage usage = OPTION_USAGE(
        "CASE",
        "Analyses how layers overlap: when each data space of a layer has its inputs, and what the latency "
        "is "
        "in sequence, in lock step, per bank and transformed. CASE is a JSON file or a mapping (text).",
        rules, 1, 1);
    options_parse(&usage, argument_count, arguments, &files);
    options.json = format == 1;
    struct pim_error error = {PIM_OK, ""};
    struct pim_case kase;
    enum pim_status status = pim_case_read(files.items[0], &kase, &error);
    if (status == PIM_OK) {
        status = pim_case_report(&kase, &options, stdout, &error);
        pim_case_terminate(&kase);
    }
    text_list_terminate(&files);
    return command_end(arguments[0], status, &error);
}
