/*
 * Configuration: the values of one schema, read from libconfig files and from the command line.
 *
 * A schema is a table of keys (path, type, default, range, unit, text). It is the only place where a key is
 * described: reading, checking, `pimsim config` and the reference page in docs all work from it.
 *
 * Invariants
 * 1. Every value lies in the range its key allows; a value out of range, of another type or of an unknown key
 *    is refused with file, line, key, what was found, what is allowed and, for an unknown key, the nearest
 *    valid one.
 * 2. Every value has an origin: the default of the schema, a file and line, or the command line. The later of
 *    two values wins; what a file says itself wins over what it includes. A key given twice in one file is
 *    refused.
 * 3. Integers are read as written: decimal or hexadecimal, up to 64 bits, with or without the suffix L.
 *    (libconfig 1.5 alone would wrap a literal beyond 32 bits silently.)
 * 4. Two keys `x` and `x_ns`, one of which has no value of its own (fallback ""), say the same in cycles and
 *    in ns: the later of the two takes the other's value away, and both in one file are refused.
 * 5. The canonical text (pim_configuration_write) reads back to the same values and the same hash.
 *
 * docs/configuration.md describes the file format for users. Every function that takes a `path` asserts that
 * it is a key of the schema; the typed getters assert its type too, and that the key has a value
 * (pim_configuration_complete returned PIM_OK, or it has a default).
 */
#ifndef PIMSIM_SIM_CONFIGURATION_CONFIGURATION_H
#define PIMSIM_SIM_CONFIGURATION_CONFIGURATION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pim_key_type {
    PIM_KEY_INTEGER,
    PIM_KEY_REAL, /* an integer literal is a real number too; NaN and infinities are refused */
    PIM_KEY_BOOLEAN,
    PIM_KEY_CHOICE, /* in a file in quotes: routing = "xy"; */
    PIM_KEY_TEXT,   /* UTF-8 without control characters, at most PIM_CONFIGURATION_TEXT_LIMIT bytes */
    PIM_KEY_INTEGER_LIST
};

#define PIM_CONFIGURATION_TEXT_LIMIT 4096u     /* bytes of one text value */
#define PIM_CONFIGURATION_LIST_LIMIT 4096u     /* elements of one list */
#define PIM_CONFIGURATION_FILE_LIMIT 16777216u /* bytes of one file together with all it includes: 16 MiB */
#define PIM_CONFIGURATION_INCLUDE_DEPTH 10u    /* files that include one another */
#define PIM_CONFIGURATION_INCLUDE_LIMIT 256u   /* files included by one, directly or not */

struct pim_key {
    const char *path; /* "noc.link_bits" */
    enum pim_key_type type;
    const char
        *fallback; /* default as in a file ("64", "true", "xy", "[2, 2, 6, 2]"); NULL: required; "": see 4 */
    double minimum, maximum; /* INTEGER, REAL, elements of a list; both ends allowed; integers up to +-2^53 */
    const char *choices;     /* CHOICE: "xy|yx|o1turn"; else NULL */
    const char *unit;        /* "bits", "cycles", "MHz", "pJ/bit", "" */
    const char *text;        /* one or two sentences for the reference page */
};

/* Rows of a table of keys. */
#define PIM_KEY_OF_INTEGER(path, fallback, low, high, unit, text)                                            \
    {                                                                                                        \
        path, PIM_KEY_INTEGER, fallback, low, high, NULL, unit, text                                         \
    }
#define PIM_KEY_OF_REAL(path, fallback, low, high, unit, text)                                               \
    {                                                                                                        \
        path, PIM_KEY_REAL, fallback, low, high, NULL, unit, text                                            \
    }
#define PIM_KEY_OF_BOOLEAN(path, fallback, text)                                                             \
    {                                                                                                        \
        path, PIM_KEY_BOOLEAN, fallback, 0, 0, NULL, "", text                                                \
    }
#define PIM_KEY_OF_CHOICE(path, fallback, choices, text)                                                     \
    {                                                                                                        \
        path, PIM_KEY_CHOICE, fallback, 0, 0, choices, "", text                                              \
    }
#define PIM_KEY_OF_TEXT(path, fallback, text)                                                                \
    {                                                                                                        \
        path, PIM_KEY_TEXT, fallback, 0, 0, NULL, "", text                                                   \
    }
#define PIM_KEY_OF_LIST(path, fallback, low, high, unit, text)                                               \
    {                                                                                                        \
        path, PIM_KEY_INTEGER_LIST, fallback, low, high, NULL, unit, text                                    \
    }

struct pim_schema {
    const char *name; /* "hardware" */
    const char *text; /* a paragraph for the reference page */
    const struct pim_key *keys;
    size_t count;
    const struct pim_schema *inner; /* whose keys stand in a text of this one; NULL: there is none */
    const char *place;              /* that text's key, in words for messages */
};

struct pim_configuration;

/*
 * Makes a configuration that holds the defaults of `schema`, which must outlive it. PIM_NO_MEMORY, or
 * PIM_INTERNAL when a default is not allowed by its own key: a mistake in the schema. The caller owns
 * *configuration; it is NULL after a failure.
 */
enum pim_status pim_configuration_create(const struct pim_schema *schema,
                                         struct pim_configuration **configuration, struct pim_error *error);
void pim_configuration_destroy(struct pim_configuration *configuration); /* NULL is allowed */

/*
 * Reads a libconfig file, with the files it includes (paths relative to the including file). PIM_IO: a file
 * cannot be read; PIM_BAD_INPUT: its content is refused. After a failure some of the values may have been
 * taken over: the configuration is good for destroy only.
 */
enum pim_status pim_configuration_read_file(struct pim_configuration *configuration, const char *path,
                                            struct pim_error *error);

/*
 * Reads libconfig text of `size` bytes (no final NUL needed). `name` stands for the file name in origins and
 * messages and is copied. A text cannot include files: it may come from a trace that a stranger wrote.
 */
enum pim_status pim_configuration_read_text(struct pim_configuration *configuration, const char *name,
                                            const char *text, size_t size, struct pim_error *error);

/*
 * Sets one value: "noc.link_bits=32". Texts and choices need no quotes here. The origin is "command line".
 */
enum pim_status pim_configuration_set(struct pim_configuration *configuration, const char *assignment,
                                      struct pim_error *error);

/* PIM_BAD_INPUT names every required key that has no value. */
enum pim_status pim_configuration_complete(struct pim_configuration *configuration, struct pim_error *error);

int64_t pim_configuration_integer(const struct pim_configuration *configuration, const char *path);
/* The same of a key whose schema bounds it to 0 .. UINT32_MAX. */
uint32_t pim_configuration_count(const struct pim_configuration *configuration, const char *path);
double pim_configuration_real(const struct pim_configuration *configuration, const char *path);
bool pim_configuration_boolean(const struct pim_configuration *configuration, const char *path);
/* Owned by the configuration, valid until the key is set again. Never NULL. */
const char *pim_configuration_text(const struct pim_configuration *configuration, const char *path);
/* The index of the value in the `choices` of its key. */
unsigned pim_configuration_choice(const struct pim_configuration *configuration, const char *path);
/* Returns the number of elements; *values is owned by the configuration and valid until the key is set again
 * (NULL when empty). */
size_t pim_configuration_list(const struct pim_configuration *configuration, const char *path,
                              const int64_t **values);

/* True when a file or the command line set the key, false while it has its default or, being required, no
 * value. */
bool pim_configuration_given(const struct pim_configuration *configuration, const char *path);
/* True when the key has a value, its default included: false for a required key that nothing set, and for
 * that one of two keys of invariant 4 which does not hold. */
bool pim_configuration_holds(const struct pim_configuration *configuration, const char *path);
/* True when `path` was set behind `other`: defaults come first, then the files in the order in which they
 * are applied (what a file includes before the file), then the command line. Settings of one file are of one
 * time, and those of the command line. */
bool pim_configuration_later(const struct pim_configuration *configuration, const char *path,
                             const char *other);

/* True when `path` was given beside or behind the `other` value that rules it out: set behind it, or both on
 * the command line. False when `other` came later, and when one file says both: it describes more than it
 * uses. */
bool pim_configuration_in_spite(const struct pim_configuration *configuration, const char *path,
                                const char *other);

/* True when the paths are of two keys of the schema that say the same in cycles and in ns (invariant 4). */
bool pim_configuration_same_quantity(const struct pim_schema *schema, const char *one, const char *other);

/*
 * The canonical libconfig text: every key that has a value, in the order of the schema. With origins each
 * line ends in a comment that names unit and origin. The caller frees it; NULL when memory runs out.
 */
char *pim_configuration_write(const struct pim_configuration *configuration, bool with_origins);

/* XXH64 (seed 0) of the canonical text without origins: equal for equal values, wherever they came from. 0
 * when memory runs out. */
uint64_t pim_configuration_hash(const struct pim_configuration *configuration);

/* "an integer from 1 to 64 bits": what a key allows, for messages and reference pages. Cut when it is longer
 * than the buffer. */
void pim_key_describe(const struct pim_key *key, char *buffer, size_t size);

/* The value of a key that has one, for messages: choices and texts in quotes, "[...]" for a list that is not
 * empty. Cut when it is longer than the buffer. */
void pim_configuration_show(const struct pim_configuration *configuration, const char *path, char *buffer,
                            size_t size);

/* Copies choice number `index` of a CHOICE; false when there are not so many. */
bool pim_key_choice(const struct pim_key *key, unsigned index, char *buffer, size_t size);

const struct pim_schema *pim_configuration_schema(const struct pim_configuration *configuration);

/*
 * For checks that look at several keys: sets "<origin>: <path>: <message>", where the origin is "file:line",
 * "command line" or "default", and returns PIM_BAD_INPUT.
 */
enum pim_status pim_configuration_fail(const struct pim_configuration *configuration, struct pim_error *error,
                                       const char *path, const char *format, ...) PIM_PRINTF(4, 5);

#endif
