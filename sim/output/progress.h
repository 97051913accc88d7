/*
 * A progress bar for people: on a terminal, on standard error, one line that is rewritten about ten times a
 * second and erased at the end. In a pipe, with `quiet`, or on a terminal that cannot rewrite a line
 * (TERM=dumb) nothing is printed at all.
 *
 * Cheap to call from a hot loop: pim_progress_update compares one number. The clock is read only when the
 * work done has reached the amount that, at the speed seen so far, takes some tens of milliseconds.
 *
 * It is the only service that looks at the wall clock, and nothing of it flows back into a simulation.
 */
#ifndef PIMSIM_SIM_OUTPUT_PROGRESS_H
#define PIMSIM_SIM_OUTPUT_PROGRESS_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Monotone nanoseconds; tests pass their own. */
typedef uint64_t pim_progress_clock(void *context);

struct pim_progress {
    uint64_t next;     /* look at the clock when this much is done; UINT64_MAX: never */
    uint64_t total;    /* 0: not known */
    uint64_t done;     /* at the last look */
    uint64_t started;  /* ns */
    uint64_t looked;   /* ns of the last look */
    uint64_t printed;  /* ns of the last line */
    size_t line_width; /* characters that stand on the line now */
    FILE *stream;
    pim_progress_clock *clock;
    void *clock_context;
    char label[32];
};

/* Starts a bar for `total` pieces of work (0: not known, then no percentage). A longer label is cut. */
void pim_progress_start(struct pim_progress *progress, const char *label, uint64_t total, bool quiet);

/* The same on any stream, which is taken for a terminal. `clock` NULL is the system's. */
void pim_progress_start_on(struct pim_progress *progress, const char *label, uint64_t total, FILE *stream,
                           pim_progress_clock *clock, void *clock_context);

/* The slow part of pim_progress_update. */
void pim_progress_look(struct pim_progress *progress, uint64_t done);

/* `done` pieces are done, counted from 0; it never falls. */
static inline void pim_progress_update(struct pim_progress *progress, uint64_t done)
{
    if (PIM_UNLIKELY(done >= progress->next))
        pim_progress_look(progress, done);
}

/* Erases the line; the progress may be started again. */
void pim_progress_finish(struct pim_progress *progress);

/* The line for a state, at most `size` - 1 characters; exposed for tests. Returns its length. */
size_t pim_progress_line(char *buffer, size_t size, const char *label, uint64_t done, uint64_t total,
                         uint64_t elapsed_ns);

#endif
