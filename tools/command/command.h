/*
 * The subcommands of pimsim. Each lives in a file of its own and is one row of the table in main.c.
 *
 * A command's function receives its own words: arguments[0] is "pimsim run", the rest is what stood behind
 * it. It returns the exit code: 0 done, 1 bad input, 2 wrong usage, 3 deadlock, 4 internal error.
 */
#ifndef PIMSIM_TOOLS_COMMAND_COMMAND_H
#define PIMSIM_TOOLS_COMMAND_COMMAND_H

#include "sim/status.h"

#include <stddef.h>

struct command {
    const char *name;
    const char *help; /* one line */
    int (*run)(int argument_count, char **arguments);
};

int command_area(int argument_count, char **arguments);
int command_compare(int argument_count, char **arguments);
int command_cycles(int argument_count, char **arguments);
int command_config(int argument_count, char **arguments);
int command_trace(int argument_count, char **arguments);
int command_network(int argument_count, char **arguments);
int command_map(int argument_count, char **arguments);
int command_noc(int argument_count, char **arguments);
int command_tasks(int argument_count, char **arguments);
int command_report(int argument_count, char **arguments);
int command_explain(int argument_count, char **arguments);
int command_run(int argument_count, char **arguments);
int command_sweep(int argument_count, char **arguments);
int command_systems(int argument_count, char **arguments);
int command_tune(int argument_count, char **arguments);
int command_validate(int argument_count, char **arguments);
int command_dram(int argument_count, char **arguments);
int command_overlap(int argument_count, char **arguments);
int command_bitserial(int argument_count, char **arguments);

/* Prints "<words>: <message>" on standard error and returns the exit code that belongs to the status. `words`
 * is arguments[0]. */
int command_fail(const char *words, const struct pim_error *error);

/*
 * Dispatches on arguments[1]: calls the row of that name with arguments[0] = "<words> <name>" and returns its
 * exit code. Without a name, with `help` or --help it prints the table; an unknown name is refused with the
 * nearest one (exit code 2). For commands with commands of their own ("pimsim config show") as well as for
 * pimsim itself. `about` is the sentence above the table.
 */
int command_dispatch(const struct command *table, size_t count, const char *about, int argument_count,
                     char **arguments);

/* Flushes standard output and returns `code`, or 1 with a message when something written did not arrive (a
 * full disk). main() does it last; a command that keeps other results until then may do it earlier. */
int command_finish(const char *words, int code);

/* How most commands end: command_fail() unless the status is PIM_OK, then command_finish(). */
int command_end(const char *words, enum pim_status status, const struct pim_error *error);

#endif
