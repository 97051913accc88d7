/* The message of a public function. */
#ifndef PIMSIM_MODELS_SYSTEM_MESSAGE_H
#define PIMSIM_MODELS_SYSTEM_MESSAGE_H

#include "sim/status.h"

#include <stddef.h>

/* Hands the message to the caller, cut to the buffer ("" on success), and returns the status. */
int pim_hand_out(const struct pim_error *error, char *message, size_t message_size);

#endif
