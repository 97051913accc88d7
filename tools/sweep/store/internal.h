/* What the files of the store share; nobody else includes this. */
#ifndef PIMSIM_TOOLS_SWEEP_STORE_INTERNAL_H
#define PIMSIM_TOOLS_SWEEP_STORE_INTERNAL_H

#include "tools/sweep/specification/grow.h"
#include "tools/sweep/store/store.h"

#include <sqlite3.h>

enum {
    PIM_STORE_APPLICATION = 0x50494d53, /* "PIMS", in the header of the file */
    PIM_STORE_VERSION = 3,
    PIM_STORE_SEALED = 3, /* from this version on points have checksums */
    PIM_STORE_PARTS = 3
};

struct pim_store {
    sqlite3 *database;
    char *path;
    int lock;     /* file descriptor that holds the lock; -1 when reading */
    bool running; /* when reading: another process held the lock at the opening */
    char *identity;
    sqlite3_stmt *has, *add_point, *add_setting, *add_configuration, *add_statistic, *find_statistic,
        *add_value;
    sqlite3_stmt *parts[PIM_STORE_PARTS], *stored, *set_checksum; /* of check.c */
    int64_t version;                                              /* of the file */
    bool logged;                                                  /* it is in WAL mode, and ours to tidy up */
};

/* Sets "<path>: <what SQLite says>" and returns PIM_IO. */
enum pim_status pim_store_fail(const struct pim_store *store, struct pim_error *error);

/* Runs SQL without results. */
enum pim_status pim_store_execute(const struct pim_store *store, const char *sql, struct pim_error *error);

enum pim_status pim_store_prepare(const struct pim_store *store, const char *sql, sqlite3_stmt **statement,
                                  struct pim_error *error);

/* The first column of the first row as an integer. */
enum pim_status pim_store_integer(const struct pim_store *store, const char *sql, int64_t *value,
                                  struct pim_error *error);

/* A row of the table `sweep`. */
enum pim_status pim_store_put(const struct pim_store *store, const char *name, int64_t value,
                              const char *text, struct pim_error *error);
/* Its text, which the caller frees; NULL when there is none. */
enum pim_status pim_store_get(const struct pim_store *store, const char *name, char **text,
                              struct pim_error *error);

/* Brings the tables from version `from` to PIM_STORE_VERSION. */
enum pim_status pim_store_migrate(const struct pim_store *store, int64_t from, struct pim_error *error);

/* --- checksums, check.c --- */

/* Of all that the file holds of a point. */
enum pim_status pim_store_checksum(struct pim_store *store, int64_t point, int64_t *sum,
                                   struct pim_error *error);

/* Writes the checksum of a point that was added; takes that of one away which is about to go. */
enum pim_status pim_store_seal(struct pim_store *store, int64_t point, struct pim_error *error);
enum pim_status pim_store_unseal(struct pim_store *store, int64_t point, struct pim_error *error);

/* Writes the checksum of what is said of the sweep; and with those of all points. */
enum pim_status pim_store_seal_sweep(const struct pim_store *store, struct pim_error *error);
enum pim_status pim_store_seal_all(struct pim_store *store, struct pim_error *error);

/* PIM_BAD_INPUT when a point is not what was written. `total` gathers what check_sweep() then holds against
 * what the file says of all. */
enum pim_status pim_store_check_point(struct pim_store *store, int64_t point, uint64_t *total,
                                      struct pim_error *error);
/* PIM_BAD_INPUT when the tables and indices of SQLite are not in order. */
enum pim_status pim_store_check_file(const struct pim_store *store, struct pim_error *error);
enum pim_status pim_store_check_sweep(struct pim_store *store, uint64_t total, struct pim_error *error);

/* Gives the points, which are those of the sweep that `growth` begins with, their numbers in `sweep`; all or
 * nothing. `points`: how many the constraints admit now. */
enum pim_status pim_store_grow(struct pim_store *store, const struct pim_growth *growth,
                               const struct pim_sweep *sweep, uint64_t points, struct pim_error *error);

#endif
