/* Keeps the notes of an emission for the check: nodes' own in their order, and where results lie. */
#ifndef PIMSIM_MAPPERS_NICEPIM_CHECK_RECORD_H
#define PIMSIM_MAPPERS_NICEPIM_CHECK_RECORD_H

#include "mappers/nicepim/map/program/notes.h"
#include "sim/status.h"

struct nice_recorded {
    uint64_t sequence;
    struct nice_note note;
};

struct nice_notes {
    struct nice_recorded *items; /* from malloc */
    size_t count, capacity;
};

struct nice_record {
    uint32_t nodes;
    struct nice_notes *node;
    bool failed; /* memory ran out */
};

bool nice_record_initialize(struct nice_record *record, uint32_t nodes);
void nice_record_terminate(struct nice_record *record);

/* A nice_observer's function; the context is the record. */
void nice_record_see(void *context, uint32_t node, uint64_t sequence, const struct nice_note *note);

#endif
