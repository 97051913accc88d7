/* The insides of a tile, shared by the files of this folder. Rules: tile.h. */
#ifndef PIMSIM_MODELS_TILE_TILE_INTERNAL_H
#define PIMSIM_MODELS_TILE_TILE_INTERNAL_H

#include "models/tile/tile.h"

/* An input of a unit. Packets are counted from the beginning of the run. */
struct pim_tile_input {
    uint32_t edge;
    uint64_t needed;  /* packets that the next step needs to have come */
    uint64_t freed;   /* that have left when it has ended */
    uint64_t dropped; /* that have left */
};

/* Packets up to `until` were made in a phase that is over. */
struct pim_tile_span {
    uint64_t until;
    struct pim_phase_result *phase;
};

/* Both ends of an edge, and its packets that are under way. */
struct pim_tiles_edge {
    struct pim_instruction output, input; /* as declared; opcode 0 where there is none yet */
    uint32_t source, destination;
    uint64_t waited; /* of the counters of the network: ticks waited before a transfer, as seen last */
    uint32_t span;   /* of the source: of the oldest packet that is under way */
    pim_time *left;  /* ring: when they left */
    uint32_t room;   /* of it, a power of two or 0 */
    uint32_t sent, arrived;
};

struct pim_tile {
    struct pim_unit unit; /* first */
    struct pim_tiles *tiles;
    struct pim_tile_input *input;
    uint32_t inputs, outputs; /* declared so far by the program that runs */
    uint32_t *output;         /* their edges */
    uint64_t taken;           /* instructions that are complete */
    struct pim_instruction step;
    bool armed;   /* `step` is there */
    bool running; /* and has started */
    pim_time started, end;
    uint64_t steps;
    uint32_t under_way; /* packets of this source */
    struct pim_tile_span *span;
    uint32_t spans, span_room;
};

static inline struct pim_tile *pim_tile_at(const struct pim_tiles *tiles, uint32_t id)
{
    return (struct pim_tile *)tiles->units.first + id;
}

/* edges.c: reads the declarations that every program begins with; the graph, the edges, and room for the
 * inputs and outputs of each unit. */
enum pim_status pim_tiles_read_edges(struct pim_tiles *tiles, struct pim_error *error);

/* unit.c: the phase that made the oldest packet of an edge that has not arrived. */
struct pim_phase_result *pim_tile_phase_of(const struct pim_tile *source, struct pim_tiles_edge *edge);

/* unit.c: calls of the network (struct pim_conflict_nodes); `context` is the tiles. */
void pim_tile_look(void *context, uint32_t unit);
void pim_tile_left(void *context, uint32_t edge);
void pim_tile_arrived(void *context, uint32_t edge, uint32_t hops);

#endif
