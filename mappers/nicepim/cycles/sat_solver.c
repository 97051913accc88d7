/*
 * Installed solvers, run as child processes on a file in DIMACS form. All of them answer in the form of the
 * SAT competitions: a line "s SATISFIABLE" or "s UNSATISFIABLE", and the literals of the model on lines
 * "v". They are limited in steps, not in seconds, so that the answer is the same on every machine.
 */
#include "mappers/nicepim/cycles/sat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

static enum pim_status run(const struct sat_solver *solver, const struct question *question, uint64_t limit,
                           struct pim_error *error)
{
    char name[32], quiet[8], option[64], number[32], formula[PATH_BYTES + 16];
    char *arguments[8];
    size_t count = 0;
    (void)snprintf(name, sizeof name, "%s", solver->name);
    (void)snprintf(formula, sizeof formula, "%s", question->formula);
    (void)snprintf(number, sizeof number, "%" PRIu64, limit * solver->limit_factor);
    arguments[count++] = name;
    if (solver->quiet) {
        (void)snprintf(quiet, sizeof quiet, "%s", solver->quiet);
        arguments[count++] = quiet;
    }
    bool joined = solver->limit_option[strlen(solver->limit_option) - 1] == '=';
    (void)snprintf(option, sizeof option, "%s%s", solver->limit_option, joined ? number : "");
    arguments[count++] = option;
    if (!joined)
        arguments[count++] = number;
    arguments[count++] = formula;
    arguments[count] = NULL;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a child process");
    pid_t child;
    int failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(&actions, 1, question->answer,
                                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (failure == 0)
        failure = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (failure == 0)
        failure = posix_spawnp(&child, name, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        return pim_fail(error, PIM_IO, "the solver %s could not be started: %s", name, strerror(failure));
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return pim_fail(error, PIM_IO, "the solver %s was lost: %s", name, strerror(errno));
    }
    return PIM_OK;
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
                        uint64_t conflict_limit, enum sat_answer *answer, bool *value,
                        struct pim_error *error)
{
    struct question question;
    *answer = SAT_UNKNOWN;
    if (make_folder(&question, error) != PIM_OK)
        return error->status;
    enum pim_status status = write_formula(question.formula, formula, error);
    if (status == PIM_OK)
        status = run(solver, &question, conflict_limit, error);
    if (status == PIM_OK)
        status = read_answer(&question, formula, answer, value, error);
    remove_folder(&question);
    return status;
}
