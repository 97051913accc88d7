/*
 * The options of a mapper as data: a table of rows, each of which names a member of the mapper's own plain
 * structure of options. The command line, sweeps and libpimsim read the same table; none of them knows a
 * mapper.
 *
 * The structure begins with a uint64_t, 0 by default: bit i says that row i was given, be it with the value
 * that it has by default. So a table has at most PIM_OPTIONS_MOST rows.
 */
#ifndef PIMSIM_MAPPERS_OPTION_H
#define PIMSIM_MAPPERS_OPTION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIM_OPTIONS_MOST = 64 };

enum pim_option_kind {
    PIM_OPTION_FLAG,   /* bool */
    PIM_OPTION_TEXT,   /* const char *, borrowed; NULL: not given */
    PIM_OPTION_CHOICE, /* unsigned, the index in `choices` ("json|csv|text") */
    PIM_OPTION_COUNT,  /* uint64_t in [minimum, maximum] */
    PIM_OPTION_REAL    /* double in [real_minimum, real_maximum], finite */
};

struct pim_option {
    const char *name; /* "seed": --seed */
    char letter;      /* 'p': -p; 0: none */
    enum pim_option_kind kind;
    size_t offset;        /* of the member that it sets */
    const char *argument; /* "FILE"; NULL of a flag */
    const char *help;     /* what it does; what is allowed and the default are shown behind it */
    const char *standard; /* the default in words; NULL: the value before the options are read; "": none */
    const char *choices;  /* of a text they are for help alone */
    uint64_t minimum, maximum;
    double real_minimum, real_maximum;
    bool writes; /* the text is the path of a file that the mapper writes, whole or not at all */
    bool prints; /* nothing but the plan for people shows it */
};

struct pim_option_table {
    const struct pim_option *rows;
    size_t count;
    size_t size;          /* of the structure of options */
    const void *defaults; /* `size` bytes: options that are not given */
};

/* Rows of a table, by member of `structure`; members may stand behind the text, as .standard = "16". */
#define PIM_FLAG_ROW(option, structure, member, ...)                                                         \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_FLAG, .offset = offsetof(structure, member), .help = __VA_ARGS__  \
    }
#define PIM_PRINT_ROW(option, structure, member, ...)                                                        \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_FLAG, .offset = offsetof(structure, member), .prints = true,      \
        .help = __VA_ARGS__                                                                                  \
    }
#define PIM_TEXT_ROW(option, structure, member, value, ...)                                                  \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_TEXT, .offset = offsetof(structure, member), .argument = value,   \
        .help = __VA_ARGS__                                                                                  \
    }
#define PIM_FILE_ROW(option, structure, member, ...)                                                         \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_TEXT, .offset = offsetof(structure, member), .argument = "FILE",  \
        .writes = true, .help = __VA_ARGS__                                                                  \
    }
#define PIM_CHOICE_ROW(option, structure, member, value, list, ...)                                          \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_CHOICE, .offset = offsetof(structure, member), .argument = value, \
        .choices = list, .help = __VA_ARGS__                                                                 \
    }
#define PIM_COUNT_ROW(option, structure, member, value, least, most, ...)                                    \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_COUNT, .offset = offsetof(structure, member), .argument = value,  \
        .minimum = least, .maximum = most, .help = __VA_ARGS__                                               \
    }
#define PIM_REAL_ROW(option, structure, member, value, least, most, ...)                                     \
    {                                                                                                        \
        .name = option, .kind = PIM_OPTION_REAL, .offset = offsetof(structure, member), .argument = value,   \
        .real_minimum = least, .real_maximum = most, .help = __VA_ARGS__                                     \
    }

/* The row of an option, by its name or by the beginning of one name alone (as on a command line). PIM_USAGE
 * names the nearest one; `mapper` is the name for messages. */
enum pim_status pim_option_find(const struct pim_option_table *table, const char *mapper, const char *name,
                                const struct pim_option **row, struct pim_error *error);

/* Sets an option of the table in `options`; `text` is NULL of a flag, and is borrowed otherwise. PIM_USAGE
 * names the option and what it allows. */
enum pim_status pim_option_set(const struct pim_option_table *table, const struct pim_option *row,
                               const char *text, void *options, struct pim_error *error);

/* Notes that an option of the table was given, for who sets its member otherwise. */
void pim_option_mark(const struct pim_option_table *table, const struct pim_option *row, void *options);

/* Options that do nothing beside others. */
struct pim_option_refusal {
    bool refused;      /* they do nothing here */
    const char *names; /* rows of the table, separated by blanks */
    const char *why;   /* "is for --mode ht" */
};

/* PIM_USAGE names the first option that was given and does nothing, and says why. */
enum pim_status pim_option_refuse(const struct pim_option_table *table, const void *options,
                                  const struct pim_option_refusal *refusals, size_t count,
                                  struct pim_error *error);

/* "name=value", or "name" of a flag. */
enum pim_status pim_option_assign(const struct pim_option_table *table, const char *mapper, const char *text,
                                  void *options, struct pim_error *error);

#endif
