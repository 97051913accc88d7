/* `pimsim dram --check-commands`: a log of commands of a file against every constraint. */
#include "sim/csv.h"
#include "tools/command/dram_log.h"

#include <inttypes.h>

struct violations {
    FILE *out; /* NULL: collect for JSON */
    struct pim_json *json;
    uint64_t shown, most;
};

static void describe(const struct pim_dram_violation *violation, char *text, size_t size)
{
    const struct pim_dram_constraint *constraint = violation->constraint;
    if (!constraint) {
        (void)snprintf(text, size, "%s", violation->rule);
        return;
    }
    uint64_t distance = violation->command.cycle - violation->previous;
    (void)snprintf(text, size,
                   "%s (%s): %" PRIu64 " cycles after the command of cycle %" PRIu64 ", at least %" PRIu32
                   " are required",
                   constraint->text, pim_dram_scope_text(constraint->scope), distance, violation->previous,
                   constraint->cycles);
}

static void report(void *context, const struct pim_dram_violation *violation)
{
    struct violations *violations = context;
    char text[256];
    if (violations->shown++ >= violations->most)
        return;
    describe(violation, text, sizeof text);
    const struct pim_dram_logged *command = &violation->command;
    if (!violations->json) {
        fprintf(violations->out,
                "line %" PRIu64 ": %s in cycle %" PRIu64 ", channel %" PRId64 ", rank %" PRId64
                ", bank group %" PRId64 ", bank %" PRId64 ": %s\n",
                violation->number + 2, pim_dram_command_text(command->command), command->cycle,
                command->channel, command->rank, command->bank_group, command->bank, text);
        return;
    }
    pim_json_begin_object(violations->json, NULL);
    pim_json_put_count(violations->json, "line", violation->number + 2);
    pim_json_put_count(violations->json, "cycle", command->cycle);
    pim_json_put_text(violations->json, "command", pim_dram_command_text(command->command));
    pim_json_put_text(violations->json, "rule", violation->constraint ? violation->constraint->text : text);
    pim_json_put_text(violations->json, "text", text);
    pim_json_end(violations->json);
}

static enum pim_status read_command(const struct pim_csv_reader *reader, struct pim_dram_logged *command,
                                    struct pim_error *error)
{
    *command = (struct pim_dram_logged){.command = pim_dram_command_parse(pim_csv_text(reader, 1))};
    if (command->command == PIM_DRAM_COMMANDS)
        return pim_csv_refuse(reader, 1, "allowed are ACT, PRE, PREA, RD, WR, RDA, WRA, REF, REFpb, ACT2",
                              error);
    if (pim_csv_count(reader, 0, 0, UINT64_C(1) << 62, &command->cycle, error) != PIM_OK)
        return error->status;
    int64_t *const places[] = {&command->channel, &command->rank, &command->bank_group,
                               &command->bank,    &command->row,  &command->column};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (pim_csv_integer(reader, i + 2, -1, INT64_C(1) << 40, places[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

static enum pim_status check_rows(struct pim_dram_check *check, struct pim_csv_reader *reader,
                                  struct pim_error *error)
{
    bool more = true;
    enum pim_status status;
    while ((status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        struct pim_dram_logged command;
        status = read_command(reader, &command, error);
        if (status == PIM_OK)
            status = pim_dram_check_command(check, &command, error);
        if (status != PIM_OK)
            break;
    }
    return status == PIM_OK ? pim_dram_check_end(check, error) : status;
}

enum pim_status dram_check_file(const struct pim_dram_configuration *configuration, const char *path,
                                uint64_t shown, unsigned format, FILE *out, uint64_t *violations,
                                struct pim_error *error)
{
    struct violations list = {.out = out, .json = format == 1 ? pim_json_create() : NULL, .most = shown};
    struct pim_csv_reader *reader = NULL;
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration->specification, &configuration->policy, report, &list);
    if (list.json)
        pim_json_begin_array(list.json, "violation_list");
    enum pim_status status = check && (list.json || format != 1)
                                 ? pim_csv_open(&reader, path, dram_log_columns, DRAM_LOG_COLUMNS, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check");
    if (status == PIM_OK)
        status = check_rows(check, reader, error);
    if (status == PIM_OK && list.json) {
        pim_json_end(list.json);
        pim_json_put_count(list.json, "commands", pim_dram_check_commands(check));
        pim_json_put_count(list.json, "violations", pim_dram_check_violations(check));
        status = pim_json_write(list.json, out, error);
    } else if (status == PIM_OK) {
        fprintf(out, "%" PRIu64 " commands, %" PRIu64 " violations\n", pim_dram_check_commands(check),
                pim_dram_check_violations(check));
    }
    *violations = check ? pim_dram_check_violations(check) : 0;
    if (reader)
        pim_csv_close(reader);
    pim_dram_check_destroy(check);
    pim_json_destroy(list.json);
    return status;
}
