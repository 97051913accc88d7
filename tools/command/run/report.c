/*
 * pimsim report: results as one page with charts, readable without a network. What the page shows is in
 * tools/report; here the files become its data, and the page is written whole or not at all.
 */
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/report/page.h"
#include "tools/report/results.h"

#include <stdio.h>

static enum pim_status write_report(const struct text_list *files, const char *path, struct pim_error *error)
{
    struct pim_output *output;
    if (!path)
        return pim_fail(error, PIM_USAGE, "--output FILE is needed");
    if (pim_page_check_template(error) != PIM_OK)
        return error->status;
    json_t *report = pim_page_create();
    if (!report)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a report");
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < files->count && status == PIM_OK; i++)
        status = pim_page_add_file(report, files->items[i], error);
    if (status == PIM_OK)
        status = pim_output_open(&output, path, error);
    if (status == PIM_OK) {
        status = pim_page_write(report, pim_output_file(output), error);
        if (status == PIM_OK)
            status = pim_output_commit(output, error);
        else
            pim_output_abandon(output);
    }
    json_decref(report);
    return status;
}

int command_report(int argument_count, char **arguments)
{
    const char *output = NULL;
    const struct option_rule rules[] = {
        OPTION_OUTPUT(output, WRITES_TEXT, "The page to write (HTML); - is standard output")};
    const struct option_usage usage =
        OPTION_USAGE("RESULT...",
                     "Makes one page with charts of results: of runs (JSON of `pimsim run "
                     "--stats FILE --format json`), of "
                     "`pimsim validate --format json`, and of sweeps (SQLite).",
                     rules, 1, SIZE_MAX);
    struct text_list files = {0};
    options_parse(&usage, argument_count, arguments, &files);
    struct pim_error error = {0};
    enum pim_status status = write_report(&files, output, &error);
    text_list_terminate(&files);
    return command_end(arguments[0], status, &error);
}
