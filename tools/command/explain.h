/* What a key, a figure or a message means. */
#ifndef PIMSIM_TOOLS_COMMAND_EXPLAIN_H
#define PIMSIM_TOOLS_COMMAND_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A row of the tables in the reference pages, from which these are made when pimsim is built. */
struct explained_figure {
    const char *name; /* "units[].busy_cycles.pe" */
    const char *unit; /* with its clock: "logic cycles" */
    const char *definition;
    const char *page, *heading;
};
extern const struct explained_figure explained_figures[];
extern const size_t explained_figure_count;

/* A message or a subject: what happened, and what helps. */
struct explained_message {
    const char *parts; /* what such a message contains, alternatives between bars: "deadlock|waits for" */
    const char *meaning, *help;
};
extern const struct explained_message explained_codes[]; /* `parts` is the number */
extern const size_t explained_code_count;

/* The message that `wanted` is, has in it, or (five letters and more) is a part of; NULL: none. */
const struct explained_message *explained_message_of(const char *wanted);

/* Whether a text has a word in it, in upper or lower case. */
bool explained_contains(const char *text, const char *word);

/* What the figures of the text of `pimsim run` mean, in its order. */
void explain_run(FILE *file);

#endif
