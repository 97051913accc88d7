/* What a key, a figure or a message means. */
#ifndef PIMSIM_TOOLS_COMMAND_EXPLAIN_H
#define PIMSIM_TOOLS_COMMAND_EXPLAIN_H

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

/* What the figures of the text of `pimsim run` mean, in its order. */
void explain_run(FILE *file);

#endif
