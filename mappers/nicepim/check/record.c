#include "mappers/nicepim/check/record.h"

#include "sim/arena.h"

#include <stdlib.h>

bool nice_record_initialize(struct nice_record *record, uint32_t nodes)
{
    *record = (struct nice_record){.nodes = nodes, .node = calloc(nodes, sizeof *record->node)};
    return record->node != NULL;
}

void nice_record_terminate(struct nice_record *record)
{
    for (uint32_t i = 0; record->node && i < record->nodes; i++)
        free(record->node[i].items);
    free(record->node);
    *record = (struct nice_record){0};
}

void nice_record_see(void *context, uint32_t node, uint64_t sequence, const struct nice_note *note)
{
    struct nice_record *record = context;
    struct nice_notes *notes = &record->node[node];
    struct nice_recorded *items =
        pim_array_grow(notes->items, &notes->capacity, notes->count + 1, sizeof *items);
    if (!items) {
        record->failed = true;
        return;
    }
    notes->items = items;
    items[notes->count++] = (struct nice_recorded){sequence, *note};
}
