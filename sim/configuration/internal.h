/*
 * What the files of the configuration share. Beside them the readers of specifications of sweeps and of lists
 * of systems include this, for the scanner and the parser: they read the same syntax.
 */
#ifndef PIMSIM_SIM_CONFIGURATION_INTERNAL_H
#define PIMSIM_SIM_CONFIGURATION_INTERNAL_H

#include "sim/configuration/configuration.h"

#include <libconfig.h>
#include <stdio.h>

enum {
    PATH_LIMIT = 255,          /* bytes of a key's path */
    DEPTH_LIMIT = 16,          /* groups inside one another */
    SETTING_LIMIT = 4096,      /* settings of one file: libconfig looks for duplicates one by one */
    ELEMENT_LIMIT = 65536,     /* list elements of one file: libconfig spends about 100 bytes on each */
    NUMBER_LIMIT = 64,         /* characters of a number */
    INCLUDE_PATH_LIMIT = 1024, /* bytes of the path of an included file */
    ASSIGNMENT_LIMIT = 65536   /* bytes of a --set */
};

enum pim_origin { PIM_ORIGIN_NONE, PIM_ORIGIN_DEFAULT, PIM_ORIGIN_FILE, PIM_ORIGIN_COMMAND_LINE };

struct pim_value {
    enum pim_origin origin;
    unsigned line;    /* FILE */
    const char *file; /* FILE; one of the configuration's names */
    size_t text;      /* FILE; its number in the order in which texts are applied */
    size_t count;     /* elements of a list */
    union {
        int64_t integer;
        double real;
        bool boolean;
        unsigned choice;
        char *text;
        int64_t *list;
    } as;
};

struct pim_configuration {
    const struct pim_schema *schema;
    struct pim_value *values; /* one for each key; origin NONE: no value */
    char **names;             /* files and texts read, for the origins */
    size_t name_count;
    size_t texts; /* applied so far */
};

/* --- configuration.c --- */

/* The index of the key `path`, or the number of keys when there is none. */
size_t pim_configuration_find(const struct pim_schema *schema, const char *path);

/* The index of the key that says the same quantity as key `index`, in ns or in cycles; the number of keys
 * when there is none. */
size_t pim_configuration_twin(const struct pim_schema *schema, size_t index);

/* Whether the schema gives the key a value of its own. */
bool pim_configuration_has_default(const struct pim_key *key);

/* Writes "file:line", "command line" or "default". */
void pim_configuration_origin(const struct pim_value *value, char *buffer, size_t size);

/* --- read.c --- */

/* Gives key number `key` the value `text`, written as on the command line (texts and choices may lack their
 * quotes). */
enum pim_status pim_configuration_assign(struct pim_configuration *configuration, size_t key,
                                         const char *text, enum pim_origin origin, struct pim_error *error);

/* Parses the defaults of keys that are no lists as one text. What of it is not a value that its key allows is
 * left without one. */
void pim_configuration_take_plain_defaults(struct pim_configuration *configuration);

/* --- source.c: one file or text, prepared for libconfig --- */

struct pim_include {
    char *path;    /* as written */
    char *prefix;  /* path of the group it stands in, "" at the top */
    unsigned line; /* of the including file */
};

struct pim_source {
    const char *name; /* of the file or text, not owned */
    bool numbered;    /* a place is "name:line", else "name" alone */
    bool may_include;
    const char *text; /* as read, not owned */
    size_t size;
    char *clean; /* the text for libconfig: no comments, no @include, the same lines, integers with suffix */
    struct pim_include *includes;
    size_t include_count;
    struct pim_setting_place {
        char *path;
        unsigned line;
    } * settings; /* every setting, groups included, in order */
    size_t setting_count;
};

/* Scans source->text and fills what follows it. The caller terminates the source in any case. */
enum pim_status pim_source_scan(struct pim_source *source, struct pim_error *error);
void pim_source_terminate(struct pim_source *source);

/* Lets libconfig parse a scanned source. On success the caller destroys *parsed. */
enum pim_status pim_source_parse(const struct pim_source *source, config_t *parsed, struct pim_error *error);

/* Sets "<name>:<line>: <message>" and returns PIM_BAD_INPUT. */
enum pim_status pim_source_fail(const struct pim_source *source, unsigned line, struct pim_error *error,
                                const char *format, ...) PIM_PRINTF(4, 5);

/* --- value.c: from a libconfig setting to a value that its key allows --- */

/* `place` ("file:line", "command line") begins every message. On success the old value is released and
 * `value` is overwritten but for its origin, which is the caller's. */
enum pim_status pim_value_read(const struct pim_key *key, const config_setting_t *setting, const char *place,
                               struct pim_value *value, struct pim_error *error);
void pim_value_release(const struct pim_key *key, struct pim_value *value);

/* The shortest text that reads back to the same number, with a point or an exponent: "18.0", "2.5e-07".
 * Independent of the locale. */
void pim_value_format_real(double value, char buffer[static 40]);

/* Copies at most size-1 bytes of a stranger's text for a message: what cannot be printed becomes '?', a cut
 * ends in "...". */
void pim_quote(const char *text, size_t length, char *buffer, size_t size);

#endif
