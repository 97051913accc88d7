/*
 * Any bytes as what an integer programming solver wrote: a line with the solver's name, then the solution,
 * then, behind a line of four dashes, the log. Whatever a file claims, only values of the columns that there
 * are get set, and none that does not fit 53 bits; what is no solver's file says nothing.
 */
#include "mappers/search/integer/solver.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COLUMNS = 8 };

/* A part of the input as a file; NULL: it is empty. */
static FILE *open_part(const char *text, size_t size)
{
    return size > 0 ? fmemopen((void *)(uintptr_t)text, size, "r") : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"cbc", "highs", "gurobi_cl", "glpsol"};
    static const char dashes[] = "\n----\n";
    char *text = strndup((const char *)data, size); /* ends at a zero byte, as lines of a file do */
    if (!text)
        return 0;
    size_t length = strlen(text), name = strcspn(text, "\n"), begin = name < length ? name + 1 : length;
    const char *split = strstr(text + begin, dashes);
    size_t end = split ? (size_t)(split - text) + 1 : length;
    size_t log = split ? end + sizeof dashes - 2 : length;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t values[COLUMNS + 1] = {[COLUMNS] = 7};
        if (strncmp(text, names[i], name) != 0)
            continue;
        FILE *solution = open_part(text + begin, end - begin), *said = open_part(text + log, length - log);
        enum pim_solver_outcome outcome = pim_solver_read(names[i], solution, said, values, COLUMNS);
        if (values[COLUMNS] != 7 || (unsigned)outcome > PIM_SOLVER_UNKNOWN)
            abort();
        for (unsigned column = 0; column < COLUMNS; column++)
            if (values[column] > INT64_C(9000000000000000) || values[column] < -INT64_C(9000000000000000))
                abort();
        if (!solution && outcome != PIM_SOLVER_UNKNOWN && outcome != PIM_SOLVER_INFEASIBLE)
            abort();
        if (solution)
            (void)fclose(solution);
        if (said)
            (void)fclose(said);
    }
    free(text);
    return 0;
}
