/* Constraint rows and named timings as text. */
#include "models/dram/standard/rows.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SET(name) (UINT32_C(1) << PIM_DRAM_##name)
#define ACTIVATES (SET(ACT) | SET(ACT2))
#define COLUMNS (SET(RD) | SET(RDA) | SET(WR) | SET(WRA))
#define OF_RANKS (SET(PREA) | SET(REF))

enum { WORD_MOST = 32 };

struct reader {
    const char *at;
    bool file; /* ends of lines end rows, and there are comments */
    unsigned row;
    const char *what; /* "row", "timing" */
    char word[WORD_MOST + 1];
    struct pim_error *error;
};

static enum pim_status refuse(const struct reader *reader, const char *right)
{
    return pim_fail(reader->error, PIM_BAD_INPUT, "%s %u, at '%.20s': %s", reader->what, reader->row,
                    reader->at[0] ? reader->at : "the end", right);
}

static bool ends(const struct reader *reader)
{
    return *reader->at == '\0' || *reader->at == ';' || (reader->file && *reader->at == '\n');
}

static void skip_blanks(struct reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t')
        reader->at++;
    while (reader->file && *reader->at == '#')
        reader->at += strcspn(reader->at, "\n");
}

/* To the next row that is not empty; false: there is none. */
static bool next_row(struct reader *reader)
{
    skip_blanks(reader);
    while (*reader->at != '\0' && ends(reader)) {
        reader->at++;
        skip_blanks(reader);
    }
    reader->row++;
    return *reader->at != '\0';
}

/* Takes these characters if they come next. */
static bool take(struct reader *reader, const char *text)
{
    skip_blanks(reader);
    if (strncmp(reader->at, text, strlen(text)) != 0)
        return false;
    reader->at += strlen(text);
    skip_blanks(reader);
    return true;
}

/* Takes a word of letters, digits and _ into reader->word; false: none comes next, or one too long. */
static bool take_word(struct reader *reader)
{
    size_t length = 0;
    skip_blanks(reader);
    while (isalnum((unsigned char)reader->at[length]) || reader->at[length] == '_')
        length++;
    if (length == 0 || length > WORD_MOST)
        return false;
    memcpy(reader->word, reader->at, length);
    reader->word[length] = '\0';
    reader->at += length;
    skip_blanks(reader);
    return true;
}

/* The word was the wrong one: the message shows it. */
static enum pim_status refuse_word(struct reader *reader, const char *right)
{
    return pim_fail(reader->error, PIM_BAD_INPUT, "%s %u: '%s': %s", reader->what, reader->row, reader->word,
                    right);
}

/* A number of at most `most` from the word. */
static bool number_of(const char *word, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    for (const char *c = word; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        value = value * 10 + (uint64_t)(*c - '0');
        if (value > most)
            return false;
    }
    *number = (uint32_t)value;
    return true;
}

/* --- rows --- */

static enum pim_status read_scope(struct reader *reader, struct pim_dram_row *row)
{
    static const char *const names[] = {"bank", "group", "rank", "other_rank", "pseudo", "channel"};
    for (unsigned i = 0; i < COUNT(names); i++)
        if (strcmp(reader->word, names[i]) == 0) {
            row->scope = (enum pim_dram_scope)i;
            return PIM_OK;
        }
    return refuse_word(reader, "no scope: bank, group, rank, other_rank, pseudo and channel are");
}

static enum pim_status read_commands(struct reader *reader, uint32_t *set)
{
    const uint32_t not_here = SET(ACT_SECOND) | SET(CAS_RD) | SET(CAS_WR);
    *set = 0;
    while (take_word(reader)) {
        const enum pim_dram_command command = pim_dram_command_parse(reader->word);
        if (command == PIM_DRAM_COMMANDS || (not_here >> command & 1))
            return refuse_word(reader, "no command of rows: ACT, ACT2, PRE, PREA, RD, RDA, WR, WRA, REF, "
                                       "REFpb and REFsb are");
        if (*set >> command & 1)
            return refuse_word(reader, "stands twice");
        *set |= UINT32_C(1) << command;
    }
    return *set ? PIM_OK : refuse(reader, "a command is missing");
}

static bool is_mixed(uint32_t set)
{
    return ((set & ACTIVATES) && (set & ~ACTIVATES)) || ((set & COLUMNS) && (set & ~COLUMNS));
}

static bool lacks_twin(uint32_t set)
{
    return !(set & SET(RD)) != !(set & SET(RDA)) || !(set & SET(WR)) != !(set & SET(WRA));
}

/* What the controller would not honour. */
static enum pim_status check_row(const struct reader *reader, const struct pim_dram_row *row)
{
    const char *wrong = NULL;
    if (is_mixed(row->previous) || is_mixed(row->next))
        wrong = "activations, column commands and others hold the bus for times of their own: a row for each "
                "of the three";
    else if (lacks_twin(row->next))
        wrong = "RD and RDA, WR and WRA stand together as later commands: the controller treats them alike";
    else if (((row->previous | row->next) & OF_RANKS) && row->scope < PIM_DRAM_SCOPE_RANK)
        wrong = "PREA and REF are commands to a rank: the scope must be rank or wider";
    else if (row->window > 1 && (row->window != 4 || row->scope != PIM_DRAM_SCOPE_RANK ||
                                 ((row->previous | row->next) & ~ACTIVATES)))
        wrong = "a count is 4, of activations of a rank: rank: 4 ACT -> ACT >= distance";
    return wrong ? pim_fail(reader->error, PIM_BAD_INPUT, "%s %u: %s", reader->what, reader->row, wrong)
                 : PIM_OK;
}

static enum pim_status read_term(struct reader *reader, const struct pim_dram_specification *specification,
                                 struct pim_dram_row *row, bool minus)
{
    if (!take_word(reader))
        return refuse(reader, "a timing or a number is missing");
    if (row->terms == PIM_DRAM_TERMS_MAX)
        return refuse_word(reader, "a distance has at most 6 terms");
    struct pim_dram_term *term = &row->term[row->terms++];
    *term = (struct pim_dram_term){.minus = minus};
    if (number_of(reader->word, PIM_DRAM_CYCLES_MAX, &term->cycles))
        return PIM_OK;
    for (unsigned i = 1; i < PIM_DRAM_PARAMETERS; i++)
        if (strcmp(reader->word, pim_dram_parameter_key((enum pim_dram_parameter)i)) == 0) {
            term->parameter = (uint8_t)i;
            return PIM_OK;
        }
    for (unsigned i = 0; i < specification->timings; i++)
        if (strcmp(reader->word, specification->timing[i].name) == 0) {
            term->cycles = specification->timing[i].cycles;
            return PIM_OK;
        }
    return refuse_word(reader, "no timing: the keys of dram.* in cycles are, the names of dram.timings, and "
                               "numbers up to 1048576");
}

static enum pim_status read_distance(struct reader *reader,
                                     const struct pim_dram_specification *specification,
                                     struct pim_dram_row *row)
{
    const char *begin = reader->at;
    bool minus = false, more = true;
    while (more) {
        if (read_term(reader, specification, row, minus) != PIM_OK)
            return reader->error->status;
        minus = take(reader, "-");
        more = minus || take(reader, "+");
    }
    if (!ends(reader))
        return refuse(reader, "behind a term comes +, - or the end of the row");
    size_t length = (size_t)(reader->at - begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t'))
        length--;
    (void)snprintf(row->text, sizeof row->text, "%.*s", (int)length, begin);
    return PIM_OK;
}

/* A row, whose scope is reader->word. */
static enum pim_status read_row(struct reader *reader, const struct pim_dram_specification *specification,
                                struct pim_dram_row *row)
{
    uint32_t count = 1;
    *row = (struct pim_dram_row){.window = 1};
    if (read_scope(reader, row) != PIM_OK)
        return reader->error->status;
    if (isdigit((unsigned char)*reader->at)) {
        if (!take_word(reader) || !number_of(reader->word, 255, &count) || count == 0)
            return refuse(reader, "a count is 4");
        row->window = (uint8_t)count;
    }
    if (read_commands(reader, &row->previous) != PIM_OK)
        return reader->error->status;
    if (!take(reader, "->"))
        return refuse(reader, "behind the commands comes ->");
    if (read_commands(reader, &row->next) != PIM_OK)
        return reader->error->status;
    if (!take(reader, ">="))
        return refuse(reader, "behind the commands comes >=");
    if (read_distance(reader, specification, row) != PIM_OK)
        return reader->error->status;
    return check_row(reader, row);
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct reader *reader);

static enum pim_status add_jedec(struct pim_dram_specification *specification, struct reader *outer)
{
    struct reader reader = {
        .at = pim_dram_jedec_rows, .file = true, .what = "jedec: row", .error = outer->error};
    if (specification->standard)
        return refuse_word(outer, "stands twice");
    specification->standard = true;
    return add_rows(specification, &reader);
}

static enum pim_status add_rows(struct pim_dram_specification *specification, struct reader *reader)
{
    while (next_row(reader)) {
        if (!take_word(reader))
            return refuse(reader, "a row begins with its scope: bank: ACT -> PRE >= tras");
        if (!reader->file && strcmp(reader->word, "jedec") == 0 && ends(reader)) {
            if (add_jedec(specification, reader) != PIM_OK)
                return reader->error->status;
            continue;
        }
        if (!take(reader, ":"))
            return refuse(reader, "behind a scope comes a colon; the word jedec alone stands for the "
                                  "built-in rows");
        if (specification->rows == PIM_DRAM_ROWS_MAX)
            return refuse(reader, "too many rows: at most 120 with those of jedec");
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
    struct reader reader = {.at = rows, .what = "row", .error = error};
    specification->rows = 0;
    specification->standard = false;
    if (add_rows(specification, &reader) != PIM_OK)
        return error->status;
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
static enum pim_status read_cycles(struct reader *reader, uint32_t clock_ps, uint32_t *cycles)
{
    static const char right[] =
        "a time is a number of cycles (12) or of ns with at most 3 decimals (7.5 ns), "
        "up to 1048576 cycles";
    uint32_t whole = 0, thousandths = 0;
    bool point = false;
    if (!take_word(reader) || !number_of(reader->word, 1000000000, &whole))
        return refuse(reader, right);
    if (*reader->at == '.') {
        point = true;
        reader->at++;
        if (!take_word(reader) || strlen(reader->word) > 3 || !number_of(reader->word, 999, &thousandths))
            return refuse(reader, right);
        for (size_t i = strlen(reader->word); i < 3; i++)
            thousandths *= 10;
    }
    uint64_t value = whole;
    if (!ends(reader) && take_word(reader)) {
        if (strcmp(reader->word, "ns") != 0)
            return refuse_word(reader, right);
        value = ((uint64_t)whole * 1000 + thousandths + clock_ps - 1) / clock_ps;
    } else if (point) {
        return refuse(reader, right);
    }
    if (value > PIM_DRAM_CYCLES_MAX || !ends(reader))
        return refuse(reader, right);
    *cycles = (uint32_t)value;
    return PIM_OK;
}

enum pim_status pim_dram_timings_parse(struct pim_dram_specification *specification, const char *timings,
                                       struct pim_error *error)
{
    struct reader reader = {.at = timings, .what = "timing", .error = error};
    assert(specification->clock_ps > 0);
    specification->timings = 0;
    while (next_row(&reader)) {
        if (!take_word(&reader) || isdigit((unsigned char)reader.word[0]))
            return refuse(&reader, "a timing is name = cycles, or name = time ns");
        if (is_known(specification, reader.word))
            return refuse_word(&reader, "this name is taken");
        if (specification->timings == PIM_DRAM_TIMINGS_MAX)
            return refuse_word(&reader, "at most 32 timings");
        struct pim_dram_timing *timing = &specification->timing[specification->timings];
        (void)snprintf(timing->name, sizeof timing->name, "%s", reader.word);
        if (!take(&reader, "="))
            return refuse(&reader, "behind a name comes =");
        if (read_cycles(&reader, specification->clock_ps, &timing->cycles) != PIM_OK)
            return error->status;
        specification->timings++;
    }
    return PIM_OK;
}
