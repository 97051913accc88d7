/* `pimsim dram --check-commands`: a log of commands of a file against every constraint. */
#include "models/dram/standard/commands.h"
#include "sim/output/csv.h"
#include "tools/command/dram/log.h"
#include "tools/command/dram/words.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

struct violations {
    FILE *out; /* NULL: collect for JSON */
    struct pim_json *json;
    uint64_t shown, most;
    uint64_t line; /* of the file, from 1; behind the last one at the end */
    const struct pim_dram_specification *specification;
};

static void describe(const struct pim_dram_violation *violation, char *text, size_t size)
{
    const struct pim_dram_constraint *constraint = violation->constraint;
    if (!constraint) {
        (void)snprintf(text, size, "%s", violation->rule);
        return;
    }
    const uint64_t cycle = violation->command.cycle, previous = violation->previous;
    const bool back = cycle < previous; /* a log that goes back in time */
    (void)snprintf(text, size,
                   "%s (%s): %" PRIu64 " cycles %s the command of cycle %" PRIu64 ", at least %" PRIu32
                   " %sare required",
                   constraint->text, pim_dram_scope_text(constraint->scope),
                   back ? previous - cycle : cycle - previous, back ? "before" : "after", previous,
                   constraint->cycles, back ? "after it " : "");
}

/* What the standard calls a command; another tool's log may have one that it does not have. */
static const char *name_of(const struct violations *violations, const struct pim_dram_logged *command)
{
    const struct pim_dram_command_row *row = &violations->specification->command[command->command];
    return row->exists ? row->name : pim_dram_command_text(command->command);
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
                violations->line, name_of(violations, command), command->cycle, command->channel,
                command->rank, command->bank_group, command->bank, text);
        return;
    }
    pim_json_begin_object(violations->json, NULL);
    pim_json_put_count(violations->json, "line", violations->line);
    pim_json_put_count(violations->json, "cycle", command->cycle);
    pim_json_put_text(violations->json, "command", name_of(violations, command));
    pim_json_put_text(violations->json, "rule", violation->constraint ? violation->constraint->text : text);
    pim_json_put_text(violations->json, "text", text);
    pim_json_end(violations->json);
}

static enum pim_status read_command(const struct pim_csv_reader *reader,
                                    const struct pim_dram_specification *specification,
                                    struct pim_dram_logged *command, struct pim_error *error)
{
    *command =
        (struct pim_dram_logged){.command = pim_dram_command_named(specification, pim_csv_text(reader, 1))};
    if (command->command == PIM_DRAM_COMMANDS) {
        char names[PIM_DRAM_NAMES_MOST], right[PIM_DRAM_NAMES_MOST + 16];
        pim_dram_command_names(specification, UINT32_MAX, names);
        (void)snprintf(right, sizeof right, "allowed are %s", names);
        return pim_csv_refuse(reader, 1, right, error);
    }
    if (pim_csv_count(reader, 0, 0, UINT64_C(1) << 62, &command->cycle, error) != PIM_OK)
        return error->status;
    int64_t *const places[] = {&command->channel, &command->rank, &command->bank_group,
                               &command->bank,    &command->row,  &command->column};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (pim_csv_integer(reader, i + 2, -1, INT64_C(1) << 40, places[i], error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

/* Commands as other tools call them. */
static const struct {
    const char *name;
    enum pim_dram_command command;
} ramulator_names[] = {{"ACT", PIM_DRAM_ACT},
                       {"ACT1", PIM_DRAM_ACT},
                       {"ACT-1", PIM_DRAM_ACT},
                       {"ACT2", PIM_DRAM_ACT_SECOND},
                       {"ACT-2", PIM_DRAM_ACT_SECOND},
                       {"PRE", PIM_DRAM_PRE},
                       {"PREpb", PIM_DRAM_PRE},
                       {"PREA", PIM_DRAM_PREA},
                       {"PREab", PIM_DRAM_PREA},
                       {"RD", PIM_DRAM_RD},
                       {"WR", PIM_DRAM_WR},
                       {"RDA", PIM_DRAM_RDA},
                       {"WRA", PIM_DRAM_WRA},
                       {"REF", PIM_DRAM_REF},
                       {"REFab", PIM_DRAM_REF},
                       {"REFpb", PIM_DRAM_REFPB},
                       {"CASRD", PIM_DRAM_CAS_RD},
                       {"CAS_RD", PIM_DRAM_CAS_RD},
                       {"CASWR", PIM_DRAM_CAS_WR},
                       {"CAS_WR", PIM_DRAM_CAS_WR}},
  dramsim3_names[] = {{"activate", PIM_DRAM_ACT}, {"precharge", PIM_DRAM_PRE},     {"read", PIM_DRAM_RD},
                      {"read_p", PIM_DRAM_RDA},   {"write", PIM_DRAM_WR},          {"write_p", PIM_DRAM_WRA},
                      {"refresh", PIM_DRAM_REF},  {"refresh_bank", PIM_DRAM_REFPB}};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A number of a log, or -1, which in hexadecimal is -0x1. */
static enum pim_status read_place(const struct dram_words *words, size_t word, int64_t *place,
                                  struct pim_error *error)
{
    uint64_t value = 0;
    if (word < words->count &&
        (strcmp(words->word[word], "-1") == 0 || strcmp(words->word[word], "-0x1") == 0)) {
        *place = -1;
        return PIM_OK;
    }
    if (dram_words_number(words, word, 10, UINT64_C(1) << 40, &value, error) != PIM_OK)
        return error->status;
    *place = (int64_t)value;
    return PIM_OK;
}

/* What a command to a rank or a bank does not have is -1, whatever stands in the log. */
static void strip(struct pim_dram_logged *command)
{
    const enum pim_dram_command kind = command->command;
    if (kind == PIM_DRAM_PREA || kind == PIM_DRAM_REF)
        command->bank_group = command->bank = -1;
    if (kind == PIM_DRAM_PREA || kind == PIM_DRAM_REF || kind == PIM_DRAM_PRE || kind == PIM_DRAM_REFPB)
        command->row = command->column = -1;
}

/*
 * DRAMsim3: cycle, command, channel, rank, bank group, bank, row, column. A log is of one channel; refreshes
 * and the precharges before them do not say which, and have that of the command before: `*channel`. A memory
 * of one channel is whichever the log is of: `single`.
 */
static enum pim_status read_dramsim3(struct dram_words *words, bool single, int64_t *channel,
                                     struct pim_dram_logged *command, struct pim_error *error)
{
    size_t name = 0;
    if (words->count != 8)
        return dram_words_refuse(words, words->count,
                                 "a line is cycle, command, channel, rank, bank group, bank, row, column",
                                 error);
    while (name < COUNT(dramsim3_names) && strcmp(words->word[1], dramsim3_names[name].name) != 0)
        name++;
    if (name == COUNT(dramsim3_names))
        return dram_words_refuse(
            words, 1,
            "no command of DRAMsim3 that is modelled here: activate, precharge, read, read_p, "
            "write, write_p, refresh and refresh_bank are",
            error);
    *command = (struct pim_dram_logged){.command = dramsim3_names[name].command};
    int64_t *const places[] = {&command->channel, &command->rank, &command->bank_group,
                               &command->bank,    &command->row,  &command->column};
    if (dram_words_number(words, 0, 10, UINT64_C(1) << 62, &command->cycle, error) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < COUNT(places); i++)
        if (read_place(words, i + 2, places[i], error) != PIM_OK)
            return error->status;
    if (single && command->channel >= 0 && *channel >= 0 && command->channel != *channel)
        return dram_words_refuse(words, 2, "a log of one channel, that of the lines before, is expected",
                                 error);
    if (!single && command->channel < 0 && *channel < 0)
        return dram_words_refuse(words, 2,
                                 "no channel, and no command before has one: which of several is unknown "
                                 "(a log of one channel is checked with dram.channels=1)",
                                 error);
    if (command->channel >= 0)
        *channel = command->channel;
    command->channel = single ? 0 : *channel;
    strip(command);
    return PIM_OK;
}

/* The columns of Ramulator's log: which of them are what. */
enum level { CHANNEL, PSEUDO, STACK, RANK, GROUP, BANK, ROW, COLUMN, OTHER, LEVELS };
struct ramulator_log {
    const struct pim_dram_organization *organization;
    enum level level[DRAM_WORDS_MAX]; /* of the words behind cycle and command */
    size_t count;
    bool stacks; /* one of them is Sid */
};

/* The header, "clock,command,Channel,Rank,...,type,source". */
static enum pim_status read_levels(struct dram_words *words, struct ramulator_log *log,
                                   struct pim_error *error)
{
    static const char *const names[LEVELS] = {"channel",   "pseudochannel", "sid", "rank",
                                              "bankgroup", "bank",          "row", "column"};
    bool more;
    bool seen[LEVELS] = {false};
    if (dram_words_next(words, true, &more, error) != PIM_OK)
        return error->status;
    if (!more)
        return pim_fail(error, PIM_BAD_INPUT, "%s: is empty: the header clock,command,Channel,... is needed",
                        words->path);
    if (words->count < 3 || strcasecmp(words->word[0], "clock") != 0)
        return dram_words_refuse(words, 0, "the header is clock,command,Channel,...,type,source", error);
    log->count = words->count;
    for (size_t i = 2; i < words->count; i++) {
        enum level level = CHANNEL;
        while (level < OTHER && strcasecmp(words->word[i], names[level]) != 0)
            level++;
        if (level == OTHER && strcasecmp(words->word[i], "type") != 0 &&
            strcasecmp(words->word[i], "source") != 0)
            return dram_words_refuse(
                words, i,
                "a level that is not modelled here: Channel, PseudoChannel, Sid, Rank, BankGroup, "
                "Bank, Row and Column are",
                error);
        if (seen[level] && level != OTHER)
            return dram_words_refuse(words, i, "a level stands twice", error);
        seen[level] = true;
        log->level[i] = level;
    }
    log->stacks = seen[STACK];
    return seen[CHANNEL] && seen[BANK] && seen[ROW] && seen[COLUMN]
               ? PIM_OK
               : dram_words_refuse(words, 0, "the header names Channel, Bank, Row and Column", error);
}

static enum pim_status read_ramulator(const struct dram_words *words, const struct ramulator_log *log,
                                      struct pim_dram_logged *command, struct pim_error *error)
{
    size_t name = 0;
    int64_t place[LEVELS] = {0};
    if (words->count != log->count)
        return dram_words_refuse(words, words->count, "as many words as the header has", error);
    while (name < COUNT(ramulator_names) && strcmp(words->word[1], ramulator_names[name].name) != 0)
        name++;
    if (name == COUNT(ramulator_names))
        return dram_words_refuse(words, 1, "no command of Ramulator that is modelled here", error);
    *command = (struct pim_dram_logged){.command = ramulator_names[name].command};
    if (dram_words_number(words, 0, 10, UINT64_C(1) << 62, &command->cycle, error) != PIM_OK)
        return error->status;
    for (size_t i = 2; i < words->count; i++)
        if (log->level[i] != OTHER && read_place(words, i, &place[log->level[i]], error) != PIM_OK)
            return error->status;
    const struct pim_dram_organization *o = log->organization;
    if (place[STACK] >= o->stack_ids)
        return dram_words_refuse(words, 1, "a stack identifier (Sid) below dram.stack_ids", error);
    if (log->stacks && o->stack_ids > 1 && place[GROUP] >= pim_dram_groups_per_stack(o))
        return dram_words_refuse(words, 1, "a bank group of a stack identifier (Sid)", error);
    const int64_t pseudo = place[PSEUDO] < 0 ? 0 : place[PSEUDO], rank = place[RANK] < 0 ? 0 : place[RANK];
    command->channel = place[CHANNEL];
    command->rank = pseudo * o->ranks + rank;
    command->bank_group =
        place[STACK] > 0 ? place[STACK] * pim_dram_groups_per_stack(o) + place[GROUP] : place[GROUP];
    command->bank = place[BANK];
    command->row = place[ROW];
    command->column = place[COLUMN];
    strip(command);
    return PIM_OK;
}

/* Every command of a log of another tool. */
static enum pim_status check_lines(struct pim_dram_check *check, struct violations *list, const char *path,
                                   enum dram_log_format format,
                                   const struct pim_dram_configuration *configuration,
                                   struct pim_error *error)
{
    struct dram_words words;
    struct ramulator_log log = {.organization = &configuration->specification.organization};
    const bool single = log.organization->channels == 1;
    int64_t channel = -1;
    bool more = true;
    enum pim_status status = dram_words_open(&words, path, error);
    const bool ramulator = format == DRAM_LOG_RAMULATOR;
    if (status == PIM_OK && ramulator)
        status = read_levels(&words, &log, error);
    while (status == PIM_OK && (status = dram_words_next(&words, ramulator, &more, error)) == PIM_OK &&
           more) {
        struct pim_dram_logged command;
        status = ramulator ? read_ramulator(&words, &log, &command, error)
                           : read_dramsim3(&words, single, &channel, &command, error);
        list->line = words.line;
        if (status == PIM_OK)
            status = pim_dram_check_command(check, &command, error);
    }
    dram_words_close(&words);
    list->line++;
    return status == PIM_OK ? pim_dram_check_end(check, error) : status;
}

static enum pim_status check_rows(struct pim_dram_check *check, struct violations *list,
                                  struct pim_csv_reader *reader, struct pim_error *error)
{
    bool more = true;
    enum pim_status status;
    while ((status = pim_csv_next(reader, &more, error)) == PIM_OK && more) {
        struct pim_dram_logged command;
        status = read_command(reader, list->specification, &command, error);
        list->line = pim_csv_line(reader);
        if (status == PIM_OK)
            status = pim_dram_check_command(check, &command, error);
        if (status != PIM_OK)
            break;
    }
    list->line++;
    return status == PIM_OK ? pim_dram_check_end(check, error) : status;
}

enum pim_status dram_check_file(const struct pim_dram_configuration *configuration, const char *path,
                                enum dram_log_format log_format, uint64_t shown, unsigned format, FILE *out,
                                uint64_t *violations, struct pim_error *error)
{
    struct violations list = {.out = out,
                              .json = format == 1 ? pim_json_create() : NULL,
                              .most = shown,
                              .line = 1,
                              .specification = &configuration->specification};
    struct pim_csv_reader *reader = NULL;
    struct pim_dram_check *check =
        pim_dram_check_create(&configuration->specification, &configuration->policy, report, &list);
    if (list.json)
        pim_json_begin_array(list.json, "violation_list");
    enum pim_status status = check && (list.json || format != 1)
                                 ? PIM_OK
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check");
    if (status == PIM_OK && log_format != DRAM_LOG_CSV)
        status = check_lines(check, &list, path, log_format, configuration, error);
    else if (status == PIM_OK &&
             (status = pim_csv_open(&reader, path, dram_log_columns, DRAM_LOG_COLUMNS, error)) == PIM_OK)
        status = check_rows(check, &list, reader, error);
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
