/* Commands as text, and which of them must be there. */
#include "models/dram/standard/commands.h"

#include "models/dram/standard/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum effect {
    OPENS = 1 << 0,
    REOPENS = 1 << 1,
    COMPLETES = 1 << 2,
    CLOSES = 1 << 3,
    READS = 1 << 4,
    WRITES = 1 << 5,
    CLOCKS_READS = 1 << 6,
    CLOCKS_WRITES = 1 << 7,
    REFRESHES = 1 << 8
};

static const struct {
    const char *word;
    enum effect effect;
} effects[] = {{"opens", OPENS},
               {"reopens", REOPENS},
               {"completes", COMPLETES},
               {"closes", CLOSES},
               {"reads", READS},
               {"writes", WRITES},
               {"clocks_reads", CLOCKS_READS},
               {"clocks_writes", CLOCKS_WRITES},
               {"refreshes", REFRESHES}};

enum reach { BANK, SAME_BANK, RANK };
static const char *const reaches[] = {"bank", "same_bank", "rank"};

/* What a command of each kind does, and to what. */
static const struct {
    unsigned effects;
    enum reach reach;
} kinds[PIM_DRAM_COMMANDS] = {
    [PIM_DRAM_ACT] = {OPENS, BANK},           [PIM_DRAM_PRE] = {CLOSES, BANK},
    [PIM_DRAM_PREA] = {CLOSES, RANK},         [PIM_DRAM_RD] = {READS, BANK},
    [PIM_DRAM_WR] = {WRITES, BANK},           [PIM_DRAM_RDA] = {READS | CLOSES, BANK},
    [PIM_DRAM_WRA] = {WRITES | CLOSES, BANK}, [PIM_DRAM_REF] = {REFRESHES, RANK},
    [PIM_DRAM_REFPB] = {REFRESHES, BANK},     [PIM_DRAM_REFSB] = {REFRESHES, SAME_BANK},
    [PIM_DRAM_ACT2] = {REOPENS, BANK},        [PIM_DRAM_ACT_SECOND] = {COMPLETES, BANK},
    [PIM_DRAM_CAS_RD] = {CLOCKS_READS, BANK}, [PIM_DRAM_CAS_WR] = {CLOCKS_WRITES, BANK}};

/* What a row says before its kind is known. */
struct description {
    struct pim_dram_command_row row;
    unsigned effects;
    unsigned reach;
};

enum pim_dram_command pim_dram_command_named(const struct pim_dram_specification *specification,
                                             const char *name)
{
    unsigned command = 0;
    while (command < PIM_DRAM_COMMANDS && !(specification->command[command].exists &&
                                            strcmp(name, specification->command[command].name) == 0))
        command++;
    return (enum pim_dram_command)command;
}

void pim_dram_command_names(const struct pim_dram_specification *specification, uint32_t set,
                            char text[PIM_DRAM_NAMES_MOST])
{
    size_t length = 0;
    text[0] = '\0';
    uint32_t there = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        there |= (uint32_t)specification->command[i].exists << i;
    set &= there;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++) {
        if (!(set >> i & 1))
            continue;
        const char *joint = length == 0 ? "" : set >> i >> 1 ? ", " : " and ";
        length += (size_t)snprintf(text + length, PIM_DRAM_NAMES_MOST - length, "%s%s", joint,
                                   specification->command[i].name);
    }
}

/* --- text --- */

/* "cycles 2", "cycles activate_cycles", "cycles tname". */
static enum pim_status read_cycles(struct pim_dram_reader *reader,
                                   const struct pim_dram_specification *specification,
                                   struct pim_dram_term *term)
{
    static const char right[] =
        "behind cycles comes a number from 1 to 16, a key of dram.* in cycles, or a name "
        "of dram.timings";
    *term = (struct pim_dram_term){0};
    if (!pim_dram_take_word(reader, ""))
        return pim_dram_refuse(reader, right);
    if (pim_dram_number_of(reader->word, PIM_DRAM_COMMAND_CYCLES_MAX, &term->cycles) && term->cycles > 0)
        return PIM_OK;
    if (pim_dram_time_named(specification, reader->word, term))
        return PIM_OK;
    return pim_dram_refuse_word(reader, right);
}

/* An effect, which is reader->word, and what it reaches. */
static enum pim_status read_effect(struct pim_dram_reader *reader, struct description *description)
{
    size_t effect = 0;
    unsigned reach = 0;
    while (effect < COUNT(effects) && strcmp(reader->word, effects[effect].word) != 0)
        effect++;
    if (effect == COUNT(effects))
        return pim_dram_refuse_word(reader,
                                    "no effect: opens, reopens, completes, closes, reads, writes, "
                                    "clocks_reads, clocks_writes and refreshes are; and there are cycles "
                                    "and either_edge");
    if (description->effects & effects[effect].effect)
        return pim_dram_refuse_word(reader, "stands twice");
    if (!pim_dram_take_word(reader, ""))
        return pim_dram_refuse(reader, "behind an effect comes bank, same_bank or rank");
    while (reach < COUNT(reaches) && strcmp(reader->word, reaches[reach]) != 0)
        reach++;
    if (reach == COUNT(reaches) || (description->effects && reach != description->reach))
        return pim_dram_refuse_word(reader, reach == COUNT(reaches)
                                                ? "behind an effect comes bank, same_bank or rank"
                                                : "all effects of a command are on the same");
    description->effects |= effects[effect].effect;
    description->reach = reach;
    return PIM_OK;
}

static enum pim_status read_clauses(struct pim_dram_reader *reader,
                                    const struct pim_dram_specification *specification,
                                    struct description *description)
{
    do {
        if (!pim_dram_take_word(reader, ""))
            return pim_dram_refuse(reader, "what the command does is missing: ACT: opens bank, cycles 2");
        enum pim_status status = PIM_OK;
        if (strcmp(reader->word, "cycles") == 0)
            status = read_cycles(reader, specification, &description->row.cycles);
        else if (strcmp(reader->word, "either_edge") == 0)
            description->row.either_edge = true;
        else
            status = read_effect(reader, description);
        if (status != PIM_OK)
            return status;
    } while (pim_dram_take(reader, ","));
    return pim_dram_row_ends(reader)
               ? PIM_OK
               : pim_dram_refuse(reader, "behind an effect comes a comma or the end of the row");
}

static enum pim_status place_row(struct pim_dram_reader *reader, struct pim_dram_specification *specification,
                                 const struct description *description)
{
    unsigned kind = 0;
    while (kind < PIM_DRAM_COMMANDS &&
           (kinds[kind].effects != description->effects || kinds[kind].reach != description->reach))
        kind++;
    (void)snprintf(reader->word, sizeof reader->word, "%s", description->row.name);
    if (kind == PIM_DRAM_COMMANDS)
        return pim_dram_refuse_word(reader,
                                    "no controller here issues a command that does this: the effects of "
                                    "configs/dram/commands/jedec.commands are possible");
    const enum pim_dram_command named = pim_dram_command_named(specification, description->row.name);
    struct pim_dram_command_row *row = &specification->command[kind];
    if (named != PIM_DRAM_COMMANDS && named != kind)
        return pim_dram_refuse_word(reader, "the name of another command");
    if (row->exists && (row->own || reader->file))
        return pim_dram_refuse_word(reader, "there is a command that does this already");
    const bool in_rows = kind != PIM_DRAM_ACT_SECOND && kind != PIM_DRAM_CAS_RD && kind != PIM_DRAM_CAS_WR;
    if (in_rows && (strchr(description->row.name, '-') || isdigit((unsigned char)description->row.name[0])))
        return pim_dram_refuse_word(
            reader, "a name that rows of constraints use has letters, digits and _, and no digit first");
    if (description->row.either_edge && kind != PIM_DRAM_PRE && kind != PIM_DRAM_PREA)
        return pim_dram_refuse_word(reader, "either_edge is for commands that close a bank or a rank alone");
    *row = description->row;
    return PIM_OK;
}

/* `without NAME` */
static enum pim_status take_out(struct pim_dram_reader *reader, struct pim_dram_specification *specification)
{
    if (!pim_dram_take_word(reader, "-"))
        return pim_dram_refuse(reader, "behind without comes the name of a command");
    const enum pim_dram_command command = pim_dram_command_named(specification, reader->word);
    if (command == PIM_DRAM_COMMANDS)
        return pim_dram_refuse_word(reader, "no command that stands before this row");
    if (!pim_dram_row_ends(reader))
        return pim_dram_refuse(reader, "behind the name comes the end of the row");
    specification->command[command].exists = false;
    return PIM_OK;
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct pim_dram_reader *reader);

static enum pim_status add_jedec(struct pim_dram_specification *specification, struct pim_dram_reader *outer)
{
    struct pim_dram_reader reader = {
        .at = pim_dram_jedec_commands, .file = true, .what = "jedec: row", .error = outer->error};
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (specification->command[i].exists)
            return pim_dram_refuse_word(outer, "stands first, and once");
    return add_rows(specification, &reader);
}

static enum pim_status add_row(struct pim_dram_specification *specification, struct pim_dram_reader *reader)
{
    struct description description = {.row = {.exists = true, .own = !reader->file, .cycles = {.cycles = 1}}};
    if (!pim_dram_take(reader, ":"))
        return pim_dram_refuse(reader,
                               "behind the name of a command comes a colon; the word jedec alone stands "
                               "for the built-in commands");
    if (strlen(reader->word) > PIM_DRAM_NAME_MOST)
        return pim_dram_refuse_word(reader, "a name has at most 16 characters");
    (void)snprintf(description.row.name, sizeof description.row.name, "%.16s", reader->word);
    if (read_clauses(reader, specification, &description) != PIM_OK)
        return reader->error->status;
    return place_row(reader, specification, &description);
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct pim_dram_reader *reader)
{
    while (pim_dram_next_row(reader)) {
        enum pim_status status;
        if (!pim_dram_take_word(reader, "-"))
            return pim_dram_refuse(reader, "a row begins with the name of a command: ACT: opens bank");
        if (!reader->file && strcmp(reader->word, "jedec") == 0 && pim_dram_row_ends(reader))
            status = add_jedec(specification, reader);
        else if (strcmp(reader->word, "without") == 0 && *reader->at != ':')
            status = take_out(reader, specification);
        else
            status = add_row(specification, reader);
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

enum pim_status pim_dram_commands_parse(struct pim_dram_specification *specification, const char *text,
                                        struct pim_error *error)
{
    static const enum pim_dram_command always[] = {PIM_DRAM_ACT, PIM_DRAM_PRE, PIM_DRAM_RD, PIM_DRAM_WR};
    struct pim_dram_reader reader = {.at = text, .what = "row", .error = error};
    memset(specification->command, 0, sizeof specification->command);
    if (add_rows(specification, &reader) != PIM_OK)
        return error->status;
    for (size_t i = 0; i < COUNT(always); i++)
        if (!specification->command[always[i]].exists)
            return pim_fail(
                error, PIM_BAD_INPUT,
                "no command %s bank: commands that open, close, read and write a bank must be there",
                i == 0   ? "opens"
                : i == 1 ? "closes"
                : i == 2 ? "reads"
                         : "writes");
    return PIM_OK;
}

enum pim_status pim_dram_commands_needed(const struct pim_dram_specification *specification,
                                         enum pim_dram_refreshing refreshing, bool closing,
                                         struct pim_error *error)
{
    const struct {
        bool needed;
        enum pim_dram_command command;
        const char *by;
    } needs[] = {{refreshing == PIM_DRAM_ALL_BANKS, PIM_DRAM_REF, "dram.refresh_mode = \"all_bank\""},
                 {refreshing == PIM_DRAM_ALL_BANKS, PIM_DRAM_PREA, "dram.refresh_mode = \"all_bank\""},
                 {refreshing == PIM_DRAM_PER_BANK, PIM_DRAM_REFPB, "dram.refresh_mode = \"per_bank\""},
                 {refreshing == PIM_DRAM_SAME_BANK, PIM_DRAM_REFSB, "dram.refresh_mode = \"same_bank\""},
                 {closing, PIM_DRAM_RDA, "dram.page = \"closed\""},
                 {closing, PIM_DRAM_WRA, "dram.page = \"closed\""},
                 {specification->parameter[PIM_DRAM_T_AA] > 0, PIM_DRAM_ACT2, "dram.taa above 0"},
                 {specification->parameter[PIM_DRAM_T_AAD] > 0, PIM_DRAM_ACT_SECOND, "dram.taad above 0"},
                 {specification->write_clock, PIM_DRAM_CAS_RD, "dram.write_clock"},
                 {specification->write_clock, PIM_DRAM_CAS_WR, "dram.write_clock"}};
    for (size_t i = 0; i < COUNT(needs); i++) {
        const unsigned kind = needs[i].command;
        if (!needs[i].needed || specification->command[kind].exists)
            continue;
        char what[64] = "";
        size_t length = 0;
        for (size_t j = 0; j < COUNT(effects); j++)
            if (kinds[kind].effects & effects[j].effect)
                length += (size_t)snprintf(what + length, sizeof what - length, "%s%s %s", length ? ", " : "",
                                           effects[j].word, reaches[kinds[kind].reach]);
        return pim_fail(error, PIM_BAD_INPUT,
                        "dram.commands: %s needs a command `%s`, which this standard has not", needs[i].by,
                        what);
    }
    return PIM_OK;
}

bool pim_dram_time_named(const struct pim_dram_specification *specification, const char *word,
                         struct pim_dram_term *term)
{
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
        if (strcmp(word, pim_dram_parameter_key((enum pim_dram_parameter)i)) == 0) {
            term->parameter = (uint8_t)i;
            return true;
        }
    for (unsigned i = 0; i < specification->timings; i++)
        if (strcmp(word, specification->timing[i].name) == 0) {
            term->cycles = specification->timing[i].cycles;
            return true;
        }
    return false;
}
