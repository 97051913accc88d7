/* Constraint rows and named timings as text. */
#include "models/dram/standard/rows.h"

#include "models/dram/standard/commands.h"
#include "models/dram/standard/reader.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define ACTIVATES (SET(ACT) | SET(ACT2))
#define OF_RANKS (SET(PREA) | SET(REF))

/* --- rows --- */

static enum pim_status read_scope(struct pim_dram_reader *reader, struct pim_dram_row *row)
{
    static const char *const names[] = {"bank", "group",      "stack",  "other_stack",
                                        "rank", "other_rank", "pseudo", "channel"};
    for (unsigned i = 0; i < COUNT(names); i++)
        if (strcmp(reader->word, names[i]) == 0) {
            row->scope = (enum pim_dram_scope)i;
            return PIM_OK;
        }
    return pim_dram_refuse_word(reader,
                                "no scope: bank, group, stack, other_stack, rank, other_rank, pseudo and "
                                "channel are");
}

/* The command of a word: jedec's rows name the commands of jedec, others those of the standard. */
static enum pim_dram_command command_of(const struct pim_dram_reader *reader,
                                        const struct pim_dram_specification *specification)
{
    return reader->file ? pim_dram_command_parse(reader->word)
                        : pim_dram_command_named(specification, reader->word);
}

static enum pim_status read_commands(struct pim_dram_reader *reader,
                                     const struct pim_dram_specification *specification, uint32_t *set)
{
    const uint32_t not_here = SET(ACT_SECOND) | SET(CAS_RD) | SET(CAS_WR);
    *set = 0;
    while (pim_dram_take_word(reader, "")) {
        const enum pim_dram_command command = command_of(reader, specification);
        if (command == PIM_DRAM_COMMANDS || (not_here >> command & 1)) {
            char names[PIM_DRAM_NAMES_MOST], right[PIM_DRAM_NAMES_MOST + 32];
            pim_dram_command_names(specification, ~not_here, names);
            (void)snprintf(right, sizeof right, "no command of rows: %s are", names);
            return pim_dram_refuse_word(reader, right);
        }
        if (*set >> command & 1)
            return pim_dram_refuse_word(reader, "stands twice");
        *set |= UINT32_C(1) << command;
    }
    return *set ? PIM_OK : pim_dram_refuse(reader, "a command is missing");
}

/* One of two commands that the controller treats alike, where the standard has both. */
static bool lacks_twin(const struct pim_dram_specification *specification, uint32_t set)
{
    static const enum pim_dram_command twins[][2] = {{PIM_DRAM_RD, PIM_DRAM_RDA},
                                                     {PIM_DRAM_WR, PIM_DRAM_WRA}};
    for (size_t i = 0; i < COUNT(twins); i++)
        if (specification->command[twins[i][0]].exists && specification->command[twins[i][1]].exists &&
            (set >> twins[i][0] & 1) != (set >> twins[i][1] & 1))
            return true;
    return false;
}

/* What the controller would not honour. */
static enum pim_status check_row(const struct pim_dram_reader *reader,
                                 const struct pim_dram_specification *specification,
                                 const struct pim_dram_row *row)
{
    const char *wrong = NULL;
    if (lacks_twin(specification, row->next))
        wrong = "RD and RDA, WR and WRA stand together as later commands: the controller treats them alike";
    else if (((row->previous | row->next) & OF_RANKS) && row->scope < PIM_DRAM_SCOPE_RANK)
        wrong = "PREA and REF are commands to a rank: the scope must be rank or wider";
    else if (((row->previous | row->next) & SET(REFSB)) &&
             (row->scope == PIM_DRAM_SCOPE_STACK || row->scope == PIM_DRAM_SCOPE_OTHER_STACK))
        wrong = "REFsb is of bank groups of all stack identifiers: the scope is no stack";
    else if (row->window > 1 && (row->window != 4 || row->scope != PIM_DRAM_SCOPE_RANK ||
                                 ((row->previous | row->next) & ~ACTIVATES)))
        wrong = "a count is 4, of activations of a rank: rank: 4 ACT -> ACT >= distance";
    return wrong ? pim_fail(reader->error, PIM_BAD_INPUT, "%s %u: %s", reader->what, reader->row, wrong)
                 : PIM_OK;
}

static enum pim_status read_term(struct pim_dram_reader *reader,
                                 const struct pim_dram_specification *specification, struct pim_dram_row *row,
                                 bool minus)
{
    if (!pim_dram_take_word(reader, ""))
        return pim_dram_refuse(reader, "a timing or a number is missing");
    if (row->terms == PIM_DRAM_TERMS_MAX)
        return pim_dram_refuse_word(reader, "a distance has at most 6 terms");
    struct pim_dram_term *term = &row->term[row->terms++];
    *term = (struct pim_dram_term){.minus = minus};
    if (pim_dram_number_of(reader->word, PIM_DRAM_CYCLES_MAX, &term->cycles))
        return PIM_OK;
    if (pim_dram_time_named(specification, reader->word, term))
        return PIM_OK;
    return pim_dram_refuse_word(reader,
                                "no timing: the keys of dram.* in cycles are, the names of dram.timings, and "
                                "numbers up to 1048576");
}

static enum pim_status read_distance(struct pim_dram_reader *reader,
                                     const struct pim_dram_specification *specification,
                                     struct pim_dram_row *row)
{
    const char *begin = reader->at;
    bool minus = false, more = true;
    while (more) {
        if (read_term(reader, specification, row, minus) != PIM_OK)
            return reader->error->status;
        minus = pim_dram_take(reader, "-");
        more = minus || pim_dram_take(reader, "+");
    }
    if (!pim_dram_row_ends(reader))
        return pim_dram_refuse(reader, "behind a term comes +, - or the end of the row");
    size_t length = (size_t)(reader->at - begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t'))
        length--;
    (void)snprintf(row->text, sizeof row->text, "%.*s", (int)length, begin);
    return PIM_OK;
}

/* The part of a row before its distance; its scope is reader->word. */
static enum pim_status read_pair(struct pim_dram_reader *reader,
                                 const struct pim_dram_specification *specification, struct pim_dram_row *row)
{
    uint32_t count = 1;
    *row = (struct pim_dram_row){.window = 1};
    if (!pim_dram_take(reader, ":"))
        return pim_dram_refuse(reader, "behind a scope comes a colon; the word jedec alone stands for the "
                                       "built-in rows");
    if (read_scope(reader, row) != PIM_OK)
        return reader->error->status;
    if (isdigit((unsigned char)*reader->at)) {
        if (!pim_dram_take_word(reader, "") || !pim_dram_number_of(reader->word, 255, &count) || count == 0)
            return pim_dram_refuse(reader, "a count is 4");
        row->window = (uint8_t)count;
    }
    if (read_commands(reader, specification, &row->previous) != PIM_OK)
        return reader->error->status;
    if (!pim_dram_take(reader, "->"))
        return pim_dram_refuse(reader, "behind the commands comes ->");
    return read_commands(reader, specification, &row->next);
}

/* A row, whose scope is reader->word. */
static enum pim_status read_row(struct pim_dram_reader *reader,
                                const struct pim_dram_specification *specification, struct pim_dram_row *row)
{
    if (read_pair(reader, specification, row) != PIM_OK)
        return reader->error->status;
    if (!pim_dram_take(reader, ">="))
        return pim_dram_refuse(reader, "behind the commands comes >=");
    if (read_distance(reader, specification, row) != PIM_OK)
        return reader->error->status;
    return check_row(reader, specification, row);
}

/* Is a row about the scope and commands of a built-in one, as far as the standard has these? */
static bool is_about(const struct pim_dram_specification *specification, const struct pim_dram_row *built_in,
                     const struct pim_dram_row *row)
{
    uint32_t known = 0;
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        known |= (uint32_t)specification->command[i].exists << i;
    return row->scope == built_in->scope && row->window == built_in->window &&
           row->previous == (built_in->previous & known) && row->next == (built_in->next & known);
}

static bool has_distance_of(const struct pim_dram_row *row, const struct pim_dram_row *other)
{
    bool same = row->terms == other->terms;
    for (unsigned i = 0; same && i < row->terms; i++)
        same = row->term[i].cycles == other->term[i].cycles && row->term[i].minus == other->term[i].minus &&
               row->term[i].parameter == other->term[i].parameter;
    return same;
}

/* A row of one's own that says what a built-in one said that was taken out is that one again. */
static void put_back(struct pim_dram_specification *specification)
{
    for (unsigned i = 0; i < specification->rows; i++)
        for (unsigned j = 0; j < specification->taken && specification->row[i].own; j++) {
            struct pim_dram_row *taken = &specification->taken_row[j];
            if (!is_about(specification, taken, &specification->row[i]) ||
                !has_distance_of(&specification->row[i], taken))
                continue;
            specification->row[i] = *taken;
            *taken = specification->taken_row[--specification->taken];
        }
}

/* Behind the word `without`: takes out a built-in row. */
static enum pim_status take_row_out(struct pim_dram_specification *specification,
                                    struct pim_dram_reader *reader)
{
    struct pim_dram_row like;
    if (!pim_dram_take_word(reader, ""))
        return pim_dram_refuse(reader, "behind without comes a row of jedec: without rank: PRE -> REF");
    if (read_pair(reader, specification, &like) != PIM_OK)
        return reader->error->status;
    if (!pim_dram_row_ends(reader))
        return pim_dram_refuse(reader, "behind the commands of a row that is taken out comes its end");
    unsigned found = 0;
    while (found < specification->rows &&
           (specification->row[found].own || !is_about(specification, &specification->row[found], &like)))
        found++;
    if (found == specification->rows)
        return pim_fail(reader->error, PIM_BAD_INPUT,
                        "%s %u: without: jedec, which must stand before it, has no such row: give the scope "
                        "and all commands of one of configs/dram/constraints/jedec.rows",
                        reader->what, reader->row);
    if (specification->taken == PIM_DRAM_TAKEN_MAX)
        return pim_fail(reader->error, PIM_BAD_INPUT, "%s %u: without: at most %d rows", reader->what,
                        reader->row, PIM_DRAM_TAKEN_MAX);
    struct pim_dram_row *row = &specification->row[found];
    specification->taken_row[specification->taken++] = *row;
    memmove(row, row + 1, (specification->rows - found - 1) * sizeof *row);
    specification->rows--;
    return PIM_OK;
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct pim_dram_reader *reader);

static enum pim_status add_jedec(struct pim_dram_specification *specification, struct pim_dram_reader *outer)
{
    struct pim_dram_reader reader = {
        .at = pim_dram_jedec_rows, .file = true, .what = "jedec: row", .error = outer->error};
    if (specification->standard)
        return pim_dram_refuse_word(outer, "stands twice");
    specification->standard = true;
    return add_rows(specification, &reader);
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct pim_dram_reader *reader)
{
    while (pim_dram_next_row(reader)) {
        if (!pim_dram_take_word(reader, ""))
            return pim_dram_refuse(reader, "a row begins with its scope: bank: ACT -> PRE >= tras");
        if (!reader->file && strcmp(reader->word, "jedec") == 0 && pim_dram_row_ends(reader)) {
            if (add_jedec(specification, reader) != PIM_OK)
                return reader->error->status;
            continue;
        }
        if (!reader->file && strcmp(reader->word, "without") == 0) {
            if (take_row_out(specification, reader) != PIM_OK)
                return reader->error->status;
            continue;
        }
        if (specification->rows == PIM_DRAM_ROWS_MAX)
            return pim_dram_refuse(reader, "too many rows: at most 120 with those of jedec");
        struct pim_dram_row *row = &specification->row[specification->rows];
        if (read_row(reader, specification, row) != PIM_OK)
            return reader->error->status;
        row->own = !reader->file;
        specification->rows++;
    }
    return PIM_OK;
}

enum pim_status pim_dram_rows_parse(struct pim_dram_specification *specification, const char *rows,
                                    struct pim_error *error)
{
    struct pim_dram_reader reader = {.at = rows, .what = "row", .error = error};
    specification->rows = specification->taken = 0;
    specification->standard = false;
    if (add_rows(specification, &reader) != PIM_OK)
        return error->status;
    put_back(specification);
    return specification->standard ? PIM_OK
                                   : pim_fail(error, PIM_BAD_INPUT,
                                              "the word jedec is missing: rows are added to the built-in "
                                              "ones, of which those whose timings are 0 do not hold");
}

/* --- timings --- */

static bool is_known(const struct pim_dram_specification *specification, const char *name)
{
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
        if (strcmp(name, pim_dram_parameter_key((enum pim_dram_parameter)i)) == 0)
            return true;
    for (unsigned i = 0; i < specification->timings; i++)
        if (strcmp(name, specification->timing[i].name) == 0)
            return true;
    return false;
}

/* "12" or "7.5 ns", of at most PIM_DRAM_CYCLES_MAX cycles. */
static enum pim_status read_cycles(struct pim_dram_reader *reader, uint32_t clock_ps, uint32_t *cycles)
{
    static const char right[] =
        "a time is a number of cycles (12) or of ns with at most 3 decimals (7.5 ns), "
        "up to 1048576 cycles";
    uint32_t whole = 0, thousandths = 0;
    bool point = false;
    if (!pim_dram_take_word(reader, "") || !pim_dram_number_of(reader->word, 1000000000, &whole))
        return pim_dram_refuse(reader, right);
    if (*reader->at == '.') {
        point = true;
        reader->at++;
        if (!pim_dram_take_word(reader, "") || strlen(reader->word) > 3 ||
            !pim_dram_number_of(reader->word, 999, &thousandths))
            return pim_dram_refuse(reader, right);
        for (size_t i = strlen(reader->word); i < 3; i++)
            thousandths *= 10;
    }
    uint64_t value = whole;
    if (!pim_dram_row_ends(reader) && pim_dram_take_word(reader, "")) {
        if (strcmp(reader->word, "ns") != 0)
            return pim_dram_refuse_word(reader, right);
        value = ((uint64_t)whole * 1000 + thousandths + clock_ps - 1) / clock_ps;
    } else if (point) {
        return pim_dram_refuse(reader, right);
    }
    if (value > PIM_DRAM_CYCLES_MAX || !pim_dram_row_ends(reader))
        return pim_dram_refuse(reader, right);
    *cycles = (uint32_t)value;
    return PIM_OK;
}

enum pim_status pim_dram_timings_parse(struct pim_dram_specification *specification, const char *timings,
                                       struct pim_error *error)
{
    struct pim_dram_reader reader = {.at = timings, .what = "timing", .error = error};
    assert(specification->clock_ps > 0);
    specification->timings = 0;
    while (pim_dram_next_row(&reader)) {
        if (!pim_dram_take_word(&reader, "") || isdigit((unsigned char)reader.word[0]))
            return pim_dram_refuse(&reader, "a timing is name = cycles, or name = time ns");
        if (is_known(specification, reader.word))
            return pim_dram_refuse_word(&reader, "this name is taken");
        if (specification->timings == PIM_DRAM_TIMINGS_MAX)
            return pim_dram_refuse_word(&reader, "at most 32 timings");
        struct pim_dram_timing *timing = &specification->timing[specification->timings];
        (void)snprintf(timing->name, sizeof timing->name, "%s", reader.word);
        if (!pim_dram_take(&reader, "="))
            return pim_dram_refuse(&reader, "behind a name comes =");
        if (read_cycles(&reader, specification->clock_ps, &timing->cycles) != PIM_OK)
            return error->status;
        specification->timings++;
    }
    return PIM_OK;
}
