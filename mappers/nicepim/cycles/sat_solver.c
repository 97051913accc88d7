/*
 * Installed solvers, run as child processes on a file in DIMACS form. All of them answer in the form of the
 * SAT competitions: a line "s SATISFIABLE" or "s UNSATISFIABLE", and the literals of the model on lines
 * "v". They are limited in steps, not in seconds, so that the answer is the same on every machine.
 */
#include "mappers/nicepim/cycles/sat.h"
#include "mappers/search/integer/child.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512, LINE_BYTES = 4096 };

struct sat_solver {
    const char *name;
    const char *quiet;
    const char *limit_option; /* a "=" at its end: one word with the number */
    uint64_t limit_factor;    /* of the conflicts asked for */
};

/* In the order of preference. */
static const struct sat_solver solvers[] = {
    {"cadical", "-q", "-c", 1},
    {"kissat", "-q", "--conflicts=", 1},
    {"picosat", NULL, "-l", 20}, /* it limits decisions */
};

/* --- which are there --- */

static bool installed(const char *name)
{
    const char *folders = getenv("PATH");
    char path[PATH_BYTES];
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, name);
        if (written > 0 && (size_t)written < sizeof path && access(path, X_OK) == 0)
            return true;
        folders += length;
        folders += *folders == ':';
    }
    return false;
}

enum pim_status sat_find(const char *name, const struct sat_solver **solver, struct pim_error *error)
{
    *solver = NULL;
    if (strcmp(name, "none") == 0)
        return PIM_OK;
    bool any = strcmp(name, "auto") == 0;
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        if (!any && strcmp(name, solvers[i].name) != 0)
            continue;
        if (installed(solvers[i].name)) {
            *solver = &solvers[i];
            return PIM_OK;
        }
        if (!any)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the solver %s is not installed: it is in no folder of PATH", name);
    }
    if (any)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT,
                    "no solver %s is known: choose auto, none, cadical, kissat or picosat", name);
}

/* --- one question --- */

struct question {
    char folder[PATH_BYTES], formula[PATH_BYTES + 16], answer[PATH_BYTES + 16];
};

static enum pim_status make_folder(struct question *question, struct pim_error *error)
{
    const char *base = getenv("TMPDIR");
    (void)snprintf(question->folder, sizeof question->folder, "%s/pimsim-sat-XXXXXX",
                   base && *base && strlen(base) < PATH_BYTES / 2 ? base : "/tmp");
    if (!mkdtemp(question->folder))
        return pim_fail(error, PIM_IO, "%s: no folder for the solver's files: %s", question->folder,
                        strerror(errno));
    (void)snprintf(question->formula, sizeof question->formula, "%s/cycles.cnf", question->folder);
    (void)snprintf(question->answer, sizeof question->answer, "%s/answer", question->folder);
    return PIM_OK;
}

static void remove_folder(const struct question *question)
{
    (void)unlink(question->formula);
    (void)unlink(question->answer);
    (void)rmdir(question->folder);
}

static enum pim_status write_formula(const char *path, const struct formula *formula, struct pim_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    fprintf(file, "p cnf %" PRId32 " %zu\n", formula->variables, formula->clauses);
    for (size_t i = 0; i < formula->count; i++)
        fprintf(file, formula->literal[i] == 0 ? "0\n" : "%" PRId32 " ", formula->literal[i]);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return pim_fail(error, PIM_IO, "%s: writing failed: %s", path, strerror(errno));
    return PIM_OK;
}

/* One that is stopped mostly has no answer; what it wrote is read: the cycles are evaluated anew. */
static enum pim_status run(const struct sat_solver *solver, const struct question *question,
                           const struct pim_cycles_options *asked, struct pim_error *error)
{
    const struct pim_solver_limit limit = {.stop = asked->stop, .context = asked->stop_context};
    const char *arguments[8];
    char number[32], joined[64];
    size_t count = 0;
    int status;
    bool stopped;
    (void)snprintf(number, sizeof number, "%" PRIu64, asked->conflict_limit * solver->limit_factor);
    (void)snprintf(joined, sizeof joined, "%s%s", solver->limit_option, number);
    arguments[count++] = solver->name;
    if (solver->quiet)
        arguments[count++] = solver->quiet;
    const bool join = solver->limit_option[strlen(solver->limit_option) - 1] == '=';
    arguments[count++] = join ? joined : solver->limit_option;
    if (!join)
        arguments[count++] = number;
    arguments[count++] = question->formula;
    arguments[count] = NULL;
    if (pim_child_run(arguments, question->answer, &limit, &status, &stopped))
        return PIM_OK;
    return pim_fail(error, PIM_IO, "the solver %s could not be started, or was lost: %s", solver->name,
                    strerror(errno));
}

/* Sets the variables that a line "v 1 -2 3 0" names; those that no variable has are passed over. */
static void read_values(const char *text, const struct formula *formula, bool *value)
{
    for (;;) {
        char *end;
        long literal = strtol(text, &end, 10);
        if (end == text)
            return;
        long variable = literal < 0 ? -literal : literal;
        if (variable > 0 && variable <= formula->variables)
            value[variable] = literal > 0;
        text = end;
    }
}

static enum pim_status read_answer(const struct question *question, const struct formula *formula,
                                   enum sat_answer *answer, bool *value, struct pim_error *error)
{
    FILE *file = fopen(question->answer, "r");
    char line[LINE_BYTES];
    if (!file)
        return pim_fail(error, PIM_IO, "%s: %s", question->answer, strerror(errno));
    memset(value, 0, ((size_t)formula->variables + 1) * sizeof *value);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "s SATISFIABLE", 13) == 0)
            *answer = SAT_FOUND;
        else if (strncmp(line, "s UNSATISFIABLE", 15) == 0)
            *answer = SAT_NONE;
        else if (strncmp(line, "v ", 2) == 0)
            read_values(line + 2, formula, value);
    }
    (void)fclose(file);
    return PIM_OK;
}

enum pim_status sat_ask(const struct sat_solver *solver, const struct formula *formula,
                        const struct pim_cycles_options *asked, enum sat_answer *answer, bool *value,
                        struct pim_error *error)
{
    struct question question;
    *answer = SAT_UNKNOWN;
    if (make_folder(&question, error) != PIM_OK)
        return error->status;
    enum pim_status status = write_formula(question.formula, formula, error);
    if (status == PIM_OK)
        status = run(solver, &question, asked, error);
    if (status == PIM_OK)
        status = read_answer(&question, formula, answer, value, error);
    remove_folder(&question);
    return status;
}
