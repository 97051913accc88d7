/*
 * Which receive an arrow of a timeline leads to: messages match by source, destination and tag, and among
 * those that are alike the n-th that is sent is the n-th that is received.
 */
#ifndef PIMSIM_MODELS_SYSTEM_REPORT_ARROWS_H
#define PIMSIM_MODELS_SYSTEM_REPORT_ARROWS_H

#include "traces/instruction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages that are alike. */
struct pim_arrow {
    uint32_t source, destination, tag;
    uint32_t sent, received;
};

struct pim_arrows {
    struct pim_arrow *arrow;
    size_t count, capacity;
    uint32_t *table; /* open addressing: places in `arrow` plus 1, 0 is empty; a power of two */
    size_t table_size;
};

/* An end of a message. */
struct pim_arrow_end {
    bool sends;
    uint32_t source, destination, tag;
};

/* What `instruction` of `unit` is an end of; false: of no message. */
bool pim_message_end_of(const struct pim_instruction *instruction, uint32_t unit, struct pim_arrow_end *end);

/* The number of the next message of that kind at this end: the same at both ends of a message, never 0.
 * Zeroed memory is an empty table. */
uint64_t pim_arrows_next(struct pim_arrows *arrows, const struct pim_arrow_end *end);
void pim_arrows_terminate(struct pim_arrows *arrows);

#endif
