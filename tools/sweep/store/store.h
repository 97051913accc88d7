/*
 * Results of a sweep in an SQLite file. docs/sweeps.md has the tables.
 *
 * Invariants
 * 1. A point is in the file whole or not at all: one transaction each. The file is in WAL mode, so whatever
 *    ends the process leaves all points that were added before; one that writes does not wait for readers.
 * 2. The file holds the points of one sweep (tools/sweep/specification/identity.h); nothing else is ever
 *    written into it, and no file that is not ours is ever written to.
 * 3. One process writes at a time: it holds a lock (flock) on the file.
 * 4. The format has a number (user_version). An older file is brought up by the steps it lacks when it is
 *    opened for writing, a newer one is refused.
 * 5. At a clean end one plain file is left, without a log beside it: it is readable where nobody can write.
 * 6. Every point has a checksum. What is exported is what was written; a file that was damaged is refused.
 * 7. The content does not depend on the order in which points were added, but for times and hosts.
 */
#ifndef PIMSIM_TOOLS_SWEEP_STORE_STORE_H
#define PIMSIM_TOOLS_SWEEP_STORE_STORE_H

#include "sim/status.h"
#include "tools/sweep/result.h"
#include "tools/sweep/sweep.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pim_store;

enum pim_store_mode {
    PIM_STORE_NEW,    /* refuses a file that holds results */
    PIM_STORE_RESUME, /* goes on with the results of the same sweep, or begins when there are none */
    PIM_STORE_FORCE   /* throws the results of any sweep away and begins */
};

/*
 * Opens `path` to write results of `sweep`, which is prepared; `points` is how many of its numbers the
 * constraints admit; of a sweep whose identity leaves it open the file takes it over. PIM_BAD_INPUT: the file
 * is no results file, is of a newer pimsim, holds results
 * (PIM_STORE_NEW) or those of another sweep (PIM_STORE_RESUME); PIM_IO: it cannot be written, or another
 * process does so. A file that is refused is as it was before. *store is NULL after a failure.
 */
enum pim_status pim_store_create(const char *path, enum pim_store_mode mode, const struct pim_sweep *sweep,
                                 uint64_t points, struct pim_store **store, struct pim_error *error);

/* Opens results that are there to add to them. PIM_BAD_INPUT and PIM_IO as above, and when there are none. */
enum pim_status pim_store_open_to_add(const char *path, struct pim_store **store, struct pim_error *error);

/* Opens `path` to read results. */
enum pim_status pim_store_open(const char *path, struct pim_store **store, struct pim_error *error);

void pim_store_close(struct pim_store *store); /* NULL is allowed */

/* Whether the point is there; one that failed counts only with `failed`. Cheap. */
enum pim_status pim_store_has(struct pim_store *store, uint64_t point, bool failed, bool *there,
                              struct pim_error *error);

/* The settings and statistics of a point that is there, its status (PIM_BAD_INPUT for whatever failed) and
 * its message. The caller terminates *result in any case. PIM_BAD_INPUT when it is not what was written. */
enum pim_status pim_store_read(struct pim_store *store, uint64_t point, struct pim_sweep_result *result,
                               struct pim_error *error);

/* Where and when a point ran. */
struct pim_store_host {
    const char *name;
    int64_t finished; /* seconds since 1970 */
};

/*
 * Adds a point, or replaces one that failed. One that is there already stays; the result must be equal to it
 * but for times, else PIM_INTERNAL: simulations are deterministic, so something outside the sweep's identity
 * had an influence.
 */
enum pim_status pim_store_add(struct pim_store *store, const struct pim_sweep_result *result,
                              const struct pim_store_host *host, struct pim_error *error);

/* Bundles the additions up to pim_store_end(): all of them are kept, or none when the process ends before. */
enum pim_status pim_store_begin(struct pim_store *store, struct pim_error *error);
enum pim_status pim_store_end(struct pim_store *store, bool keep, struct pim_error *error);

/* Says that `threads` threads begin to work now, for the time left that `--status` shows. */
enum pim_status pim_store_start_session(struct pim_store *store, uint64_t threads, struct pim_error *error);

struct pim_store_progress {
    uint64_t points, done, failed;
    uint64_t stopped;        /* of those that are done: before their end (--until) */
    uint64_t session_points; /* points added since the session began */
    int64_t session_seconds; /* between its beginning and now, or its last point when nothing runs */
    uint64_t threads;        /* of the last session; 0: there was none */
    bool running;            /* a process holds the file open for writing */
};
enum pim_status pim_store_progress(struct pim_store *store, struct pim_store_progress *progress,
                                   struct pim_error *error);

/* For people: the progress, the axes and the first failures. */
enum pim_status pim_store_print_status(struct pim_store *store, FILE *file, struct pim_error *error);

enum pim_store_format { PIM_STORE_CSV, PIM_STORE_JSON };

/*
 * Writes all points in the order of their numbers: what they are, status, hashes, statistics in the order in
 * which they first stand. With `costs` also times and hosts, which differ from run to run; without, equal
 * sweeps give equal bytes.
 */
enum pim_status pim_store_export(struct pim_store *store, enum pim_store_format format, bool costs,
                                 FILE *file, struct pim_error *error);

/* The text under which a prepared sweep is stored (pim_sweep::identity), owned by the store. */
const char *pim_store_identity(const struct pim_store *store);

/* The name that its specification gave the sweep; "": none. The caller frees *name. */
enum pim_status pim_store_name(const struct pim_store *store, char **name, struct pim_error *error);

#endif
