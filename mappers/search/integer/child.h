/* An installed solver as a child process, which ends when it is to stop or does not keep to its time. */
#ifndef PIMSIM_MAPPERS_SEARCH_INTEGER_CHILD_H
#define PIMSIM_MAPPERS_SEARCH_INTEGER_CHILD_H

#include <stdbool.h>
#include <stdint.h>

/* How long a solver may work. */
struct pim_solver_limit {
    uint32_t seconds; /* 0: as long as it takes */
    /* Asked now and then, until its time is over; true: its best so far is taken. NULL: never. */
    bool (*stop)(void *context);
    void *context;
};

/*
 * Runs a program of the PATH: `arguments` end with NULL, its name is the first; `output` gets what it says.
 * SIGINT reaches it, also where this thread holds it back. False: it could not be started or was lost, errno
 * says why; else *status is that of waitpid(). *stopped: it was asked to end before its time was over.
 */
bool pim_child_run(const char *const *arguments, const char *output, const struct pim_solver_limit *limit,
                   int *status, bool *stopped);

#endif
