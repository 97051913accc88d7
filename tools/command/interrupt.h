/*
 * Ctrl-C while a search goes on: a request to stop, not an end of the process. Without a handler and without
 * global state: the signal is held back between begin and end, and asked for. Once taken it is held back no
 * longer: a second Ctrl-C ends the process. Where SIGINT is ignored it stays ignored.
 */
#ifndef PIMSIM_TOOLS_COMMAND_INTERRUPT_H
#define PIMSIM_TOOLS_COMMAND_INTERRUPT_H

#include <stdbool.h>

/* Holds SIGINT back, in the threads that are started from now on too. */
void interrupt_begin(void);

/* Whether SIGINT has come since then; between begin and end, always from the same thread. */
bool interrupt_asked(void);

/* Takes a SIGINT that came, and lets later ones through. */
void interrupt_end(void);

#endif
