/*
 * The walk through the hardware schema, with some values of each key: whether a key that is refused by name
 * does nothing in a file, and whether one that is taken changes results. How a value is tried is the test's.
 */
#ifndef PIMSIM_TESTS_UNIT_SYSTEM_KEY_WALK_H
#define PIMSIM_TESTS_UNIT_SYSTEM_KEY_WALK_H

#include "include/pimsim/pimsim.h"
#include "tests/unit/system/key_values.h"

enum { KEY_MESSAGE = 2048 };

/* What one trial gave: its results without what is said of the inputs; or what was wrong. */
struct key_outcome {
    char *results; /* NULL: refused */
    char message[KEY_MESSAGE];
};

/* A key, or those of a group, on machines whose names begin so. */
struct key_exception {
    const char *key, *machines, *reason;
};

/* What is tried on one machine, and what of it is known. */
struct key_trial {
    const char *name;
    const void *machine;
    struct key_outcome (*given)(const void *machine, const char *set); /* as by --set; NULL: without it */
    struct key_outcome (*in_file)(const void *machine, const char *set);
    const struct key_exception *silent; /* taken, and nothing shows it, or refused whatever the value */
    const struct key_exception *never;  /* not taken in a file, whatever the value */
    size_t silent_count, never_count;
    bool clocks_are_read; /* that of a memory without a use may be refused: other keys do not go with it */
    const char *base;     /* results without a further value */
};

enum key_verdict { KEY_REFUSED, KEY_WRONGLY_REFUSED, KEY_NEVER_TAKEN, KEY_CHANGES, KEY_LIMITED, KEY_NOTHING };

/* What is wrong with a verdict; NULL: nothing. */
const char *key_verdict_fault(enum key_verdict verdict);

/* Of a key that is refused by name. */
enum key_verdict key_check_refused(const struct key_trial *trial, const struct pim_key *key);

/* Of one that is not. */
enum key_verdict key_check_taken(const struct key_trial *trial, const struct pim_key *key);

/* The results of a simulation that was run, as text; `estimate`, when there is one, is part of them. */
char *key_results_of(struct pimsim_simulation *simulation, const uint64_t *estimate);

#endif
