/* What an option is: a row of the table of a command (tools/command/options.h). */
#ifndef PIMSIM_TOOLS_COMMAND_OPTION_RULES_H
#define PIMSIM_TOOLS_COMMAND_OPTION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts borrowed from the command line, in their order; all zero is an empty list. */
struct text_list {
    const char **items;
    size_t count;
};

enum option_kind {
    OPTION_FLAG,     /* target: bool */
    OPTION_TEXT,     /* target: const char * */
    OPTION_LIST,     /* target: struct text_list; the option may be repeated */
    OPTION_CHOICE,   /* target: unsigned, the index in `choices` ("json|csv|text") */
    OPTION_UNSIGNED, /* target: uint64_t in [minimum, maximum]; decimal or 0x */
    OPTION_REAL      /* target: double in [real_minimum, real_maximum], finite */
};

/* What an option's file gets. An option that writes says so here: tools/command/guard.h rests on it. */
enum option_writes {
    WRITES_NOTHING, /* reads, or is no file */
    WRITES_TEXT,
    WRITES_TRACE,
    WRITES_TIMELINE,
    WRITES_NETWORK, /* ONNX */
    WRITES_RESULTS  /* the database of a sweep, which goes on with what it finds there */
};

struct option_rule {
    const char *name; /* "output": --output */
    char letter;      /* 'o': -o; 0: none */
    enum option_kind kind;
    void *target;
    const char *argument; /* "FILE"; NULL for a flag */
    const char *help;     /* what it does; what is allowed and the default are shown behind it */
    const char *standard; /* the default in words; NULL: the value before the options are read; "": none */
    const char *choices;  /* of a text they are for help alone */
    uint64_t minimum, maximum;
    double real_minimum, real_maximum;
    enum option_writes writes;
    const char **given; /* gets the option's name when it is given; NULL: nobody asks */
};

struct option_usage {
    const char *arguments; /* "TRACE", "FILE...", "" */
    const char *help;      /* a sentence or more */
    const struct option_rule *rules;
    size_t rule_count;
    size_t least, most; /* how many arguments that are no options; SIZE_MAX: any number */
};

#endif
