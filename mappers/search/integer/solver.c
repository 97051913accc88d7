/*
 * An installed solver, run as a child process on an MPS file: a licence binds only who links, any solver will
 * do, and a time limit can be enforced from outside.
 *
 * Of each solver two things are known: its arguments, and how its files say what was found. The file is read
 * in whole; what does not parse is an error.
 */
#include "mappers/search/integer/solver.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 512, LINE_BYTES = 512 };

/* The files of one run, in a folder of its own. */
struct run {
    char folder[PATH_BYTES], model[PATH_BYTES + 16], solution[PATH_BYTES + 16], log[PATH_BYTES + 16],
        options[PATH_BYTES + 16];
    char limit[32], time_option[48], file_option[PATH_BYTES + 48];
    const char *arguments[16];
};

typedef void make_arguments(struct run *run);
/* Values of the columns into `values`, all 0 before; a file that is not there is NULL. */
typedef enum pim_solver_outcome read_solution(FILE *solution, FILE *log, int64_t *values, uint32_t count);

/* --- the files that solvers write --- */

static bool log_says(FILE *log, const char *text)
{
    char line[LINE_BYTES];
    bool found = false;
    if (log)
        rewind(log);
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, text) != NULL;
    return found;
}

/* Sets a column; numbers that no column can have are passed over. */
static void set_value(unsigned long column, const char *number, int64_t *values, uint32_t count)
{
    double value = strtod(number, NULL);
    if (column < count && fabs(value) < 9e15)
        values[column] = (int64_t)llround(value);
}

/* "C12 3": a value of a column; everything else is no value. */
static void read_value(const char *name, const char *number, int64_t *values, uint32_t count)
{
    char *end;
    if (name[0] != 'C' || !isdigit((unsigned char)name[1]))
        return;
    unsigned long column = strtoul(name + 1, &end, 10);
    if (*end == '\0')
        set_value(column, number, values, count);
}

/* cbc: "Optimal - objective value 12", then lines of number, name, value, reduced cost. */
static enum pim_solver_outcome read_cbc(FILE *file, FILE *log, int64_t *values, uint32_t count)
{
    char line[LINE_BYTES], name[64], number[64];
    enum pim_solver_outcome outcome = PIM_SOLVER_UNKNOWN;
    (void)log;
    if (!file)
        return outcome;
    if (fgets(line, sizeof line, file)) {
        if (strncmp(line, "Optimal", 7) == 0)
            outcome = PIM_SOLVER_OPTIMAL;
        else if (strncmp(line, "Infeasible", 10) == 0 || strncmp(line, "Integer infeasible", 18) == 0)
            outcome = PIM_SOLVER_INFEASIBLE;
        else if (strncmp(line, "Stopped", 7) == 0 && !strstr(line, "no integer solution"))
            outcome = PIM_SOLVER_FEASIBLE;
    }
    while (fgets(line, sizeof line, file))
        if (sscanf(line, " %*d %63s %63s", name, number) == 2)
            read_value(name, number, values, count);
    return outcome;
}

static void arguments_cbc(struct run *run)
{
    const char *const arguments[] = {"cbc", run->model, "ratioGap", "0",        "allowableGap", "0",
                                     "sec", run->limit, "solve",    "solution", run->solution,  NULL};
    memcpy(run->arguments, arguments, sizeof arguments);
}

/* glpsol: "s mip rows columns status objective", "j column value". */
static enum pim_solver_outcome read_glpsol(FILE *file, FILE *log, int64_t *values, uint32_t count)
{
    char line[LINE_BYTES], number[64];
    enum pim_solver_outcome outcome = log_says(log, "HAS NO") ? PIM_SOLVER_INFEASIBLE : PIM_SOLVER_UNKNOWN;
    if (!file)
        return outcome;
    while (fgets(line, sizeof line, file)) {
        char status;
        uint32_t column;
        if (sscanf(line, "s mip %*d %*d %c", &status) == 1)
            outcome = status == 'o'   ? PIM_SOLVER_OPTIMAL
                      : status == 'f' ? PIM_SOLVER_FEASIBLE
                      : status == 'n' ? PIM_SOLVER_INFEASIBLE
                                      : outcome;
        if (sscanf(line, "j %" SCNu32 " %63s", &column, number) == 2 && column >= 1)
            set_value(column - 1, number, values, count);
    }
    return outcome;
}

static void arguments_glpsol(struct run *run)
{
    const char *const arguments[] = {"glpsol",   "--freemps", run->model,    "--tmlim",
                                     run->limit, "--write",   run->solution, NULL};
    memcpy(run->arguments, arguments, sizeof arguments);
}

/* HiGHS and Gurobi: lines of name and value; what the solution is worth stands in the log. */
static enum pim_solver_outcome read_names(FILE *file, FILE *log, int64_t *values, uint32_t count)
{
    char line[LINE_BYTES], name[64], number[64];
    bool some = false, rows = false;
    while (file && fgets(line, sizeof line, file)) {
        rows = rows || strncmp(line, "# Rows", 6) == 0;
        if (!rows && line[0] != '#' && sscanf(line, "%63s %63s", name, number) == 2) {
            read_value(name, number, values, count);
            some = some || name[0] == 'C';
        }
    }
    if (log_says(log, "nfeasible") && !some)
        return PIM_SOLVER_INFEASIBLE;
    if (!some)
        return PIM_SOLVER_UNKNOWN;
    bool optimal = log_says(log, "Optimal solution found") || log_says(log, "Status            Optimal");
    return optimal ? PIM_SOLVER_OPTIMAL : PIM_SOLVER_FEASIBLE;
}

static void arguments_highs(struct run *run)
{
    const char *const arguments[] = {"highs",       "--options_file", run->options, "--solution_file",
                                     run->solution, run->model,       NULL};
    memcpy(run->arguments, arguments, sizeof arguments);
}

static void arguments_gurobi(struct run *run)
{
    (void)snprintf(run->time_option, sizeof run->time_option, "TimeLimit=%s", run->limit);
    (void)snprintf(run->file_option, sizeof run->file_option, "ResultFile=%s", run->solution);
    const char *const arguments[] = {"gurobi_cl",      "MIPGap=0", run->time_option,
                                     run->file_option, run->model, NULL};
    memcpy(run->arguments, arguments, sizeof arguments);
}

static const struct solver {
    const char *name;
    make_arguments *arguments;
    read_solution *read;
} solvers[] = {{"cbc", arguments_cbc, read_cbc},
               {"highs", arguments_highs, read_names},
               {"gurobi_cl", arguments_gurobi, read_names},
               {"glpsol", arguments_glpsol, read_glpsol}};

enum { SOLVERS = sizeof solvers / sizeof solvers[0] };

enum pim_solver_outcome pim_solver_read(const char *name, FILE *solution, FILE *log, int64_t *values,
                                        uint32_t count)
{
    for (unsigned i = 0; i < SOLVERS; i++)
        if (strcmp(name, solvers[i].name) == 0)
            return solvers[i].read(solution, log, values, count);
    return PIM_SOLVER_UNKNOWN;
}

/* --- finding and running it --- */

static bool executable(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_BYTES + 64];
    for (const char *at = path ? path : "/usr/bin:/bin"; at;
         at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        size_t length = strcspn(at, ":");
        if (length == 0 || length > PATH_BYTES)
            continue;
        (void)snprintf(file, sizeof file, "%.*s/%s", (int)length, at, name);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

bool pim_solver_installed(const char *name)
{
    for (unsigned i = 0; i < SOLVERS; i++)
        if ((!name || strcmp(name, solvers[i].name) == 0) && executable(solvers[i].name))
            return true;
    return false;
}

static enum pim_status find_solver(const char *name, const char *instead, const struct solver **solver,
                                   struct pim_error *error)
{
    bool known = name == NULL;
    for (unsigned i = 0; i < SOLVERS; i++) {
        if (name && strcmp(name, solvers[i].name) != 0)
            continue;
        known = true;
        *solver = &solvers[i];
        if (executable(solvers[i].name))
            return PIM_OK;
    }
    if (!known)
        return pim_fail(error, PIM_BAD_INPUT, "solver %s is not known: cbc, highs, gurobi_cl and glpsol are",
                        name);
    return pim_fail(error, PIM_BAD_INPUT,
                    "no %s in the PATH: install one (Debian: apt install coinor-cbc, or glpk-utils)%s%s%s",
                    name ? name : "integer programming solver (cbc, highs, gurobi_cl, glpsol)",
                    instead ? ", or use " : "", instead ? instead : "", instead ? ", which needs none" : "");
}

static bool make_files(struct run *run, struct pim_mps *mps, uint32_t seconds)
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(run->folder, sizeof run->folder, "%s/pimsim-ilp-XXXXXX",
                          folder && *folder ? folder : "/tmp");
    if (length < 0 || (size_t)length >= sizeof run->folder || !mkdtemp(run->folder))
        return false;
    (void)snprintf(run->model, sizeof run->model, "%s/model.mps", run->folder);
    (void)snprintf(run->solution, sizeof run->solution, "%s/model.sol", run->folder);
    (void)snprintf(run->log, sizeof run->log, "%s/log", run->folder);
    (void)snprintf(run->options, sizeof run->options, "%s/options", run->folder);
    (void)snprintf(run->limit, sizeof run->limit, "%" PRIu32, seconds);
    FILE *model = fopen(run->model, "w"), *options = fopen(run->options, "w");
    bool done = model && options && pim_mps_write(mps, model) &&
                fprintf(options, "mip_rel_gap = 0\ntime_limit = %s\n", run->limit) > 0;
    if (model && fclose(model) != 0)
        done = false;
    if (options && fclose(options) != 0)
        done = false;
    return done;
}

static void remove_files(const struct run *run)
{
    if (run->model[0] == '\0')
        return;
    (void)unlink(run->model);
    (void)unlink(run->solution);
    (void)unlink(run->log);
    (void)unlink(run->options);
    (void)rmdir(run->folder);
}

/* --- the whole --- */

enum pim_status pim_solver_run(const char *name, struct pim_mps *mps, const struct pim_solver_limit *limit,
                               const char *instead, struct pim_solver_answer *answer, struct pim_error *error)
{
    struct run run = {0};
    const struct solver *solver = NULL;
    *answer = (struct pim_solver_answer){.outcome = PIM_SOLVER_UNKNOWN};
    if (find_solver(name, instead, &solver, error) != PIM_OK)
        return error->status;
    answer->solver = solver->name;
    answer->values = calloc((size_t)mps->column_count + 1, sizeof *answer->values);
    if (!answer->values || mps->out_of_memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for an integer programme");
    enum pim_status status = PIM_OK;
    if (!make_files(&run, mps, limit->seconds))
        status = pim_fail(error, PIM_BAD_INPUT, "the files for %s cannot be written in %s: %s", solver->name,
                          run.folder, strerror(errno));
    else {
        solver->arguments(&run);
        int ended;
        const bool ran = pim_child_run(run.arguments, run.log, limit, &ended, &answer->stopped);
        if (!answer->stopped && !(ran && WIFEXITED(ended) && WEXITSTATUS(ended) != 127))
            status = pim_fail(error, PIM_BAD_INPUT, "%s does not run, or ended by a signal", solver->name);
    }
    if (status == PIM_OK) {
        FILE *found = fopen(run.solution, "r"), *log = fopen(run.log, "r");
        answer->outcome = pim_solver_read(solver->name, found, log, answer->values, mps->column_count);
        if (found)
            (void)fclose(found);
        if (log)
            (void)fclose(log);
    }
    remove_files(&run);
    return status;
}

void pim_solver_answer_terminate(struct pim_solver_answer *answer)
{
    free(answer->values);
    *answer = (struct pim_solver_answer){.outcome = PIM_SOLVER_UNKNOWN};
}
