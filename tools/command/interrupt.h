/*
 * Ctrl-C while a search goes on: a request to stop, not an end of the process. Without a handler and without
 * global state: the signal is held back between begin and end, and asked for. Once taken it is held back no
 * longer: a second Ctrl-C ends the process. Where SIGINT is ignored it stays ignored.
 */
#ifndef PIMSIM_TOOLS_COMMAND_INTERRUPT_H
#define PIMSIM_TOOLS_COMMAND_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

struct interrupt {
    atomic_bool taken;
};

/* Holds SIGINT back, in the threads that are started from now on too. */
void interrupt_begin(struct interrupt *interrupt);

/* Whether SIGINT has come since then; between begin and end, from any thread. `context` is the interrupt. */
bool interrupt_asked(void *context);

/* Takes a SIGINT that came, and lets later ones through. */
void interrupt_end(void);

#endif
