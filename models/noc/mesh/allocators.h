/*
 * Matchings: which head gets which virtual channel downstream, and which
 * virtual channel of an input gets the crossbar.
 *
 * Every choice is a round-robin arbiter: the first candidate at or after a
 * pointer, cyclically (bits.h). Pointers start at 0. islip: in each iteration
 * every unmatched output offers itself to the first unmatched requester at or
 * after its pointer, then every input accepts the first offer at or after its
 * pointer; pointers move behind the partner, only on an acceptance, and only in
 * the first iteration. separable_input_first: every input picks one output,
 * then every output picks one of the inputs that picked it; both pointers move
 * behind the partner for each match.
 */
#ifndef PIMSIM_MODELS_NOC_MESH_ALLOCATORS_H
#define PIMSIM_MODELS_NOC_MESH_ALLOCATORS_H

#include "models/noc/internal.h"
#include "models/noc/mesh/mesh.h"

/* What the allocator of the virtual channels of one output port needs to know.
 */
struct noc_heads {
    struct noc_input *inputs;
    struct noc_output *outputs;
    const uint8_t *next_row; /* as in struct noc_mesh */
    const uint32_t *allowed; /* by row of the inputs: virtual channels that the head may take; NULL: all */
    unsigned port, shift;
    uint32_t free; /* virtual channels of the output port; not empty */
};

struct noc_match {
    uint8_t row;    /* of the inputs */
    uint8_t output; /* row of the outputs */
};

/* The first member of `set`, virtual channels of the output port, at or after
 * the head's pointer: the row of the outputs. */
static PIM_ALWAYS_INLINE unsigned pim_noc_choose(const struct noc_heads *heads, unsigned row, uint32_t set)
{
    unsigned pointer = heads->inputs[row].accept, first = heads->port << heads->shift;
    unsigned from = pointer - first; /* wraps around when the pointer is before this port */
    return first + pim_noc_first_from(set, from & (0U - (unsigned)(from >> heads->shift == 0)));
}

/* The free virtual channels that a head may take. */
static inline uint32_t pim_noc_open(const struct noc_heads *heads, unsigned row)
{
    return heads->allowed ? heads->free & heads->allowed[row] : heads->free;
}

/* Moves both pointers behind the partner. */
static PIM_ALWAYS_INLINE void pim_noc_point_behind(const struct noc_heads *heads, struct noc_match match)
{
    heads->outputs[match.output].grant = heads->next_row[match.row];
    heads->inputs[match.row].accept = heads->next_row[match.output];
}

/* The only head that asks gets its first choice from every allocator. */
static PIM_ALWAYS_INLINE struct noc_match pim_noc_match_head(const struct noc_heads *heads, unsigned row)
{
    struct noc_match match = {(uint8_t)row, (uint8_t)pim_noc_choose(heads, row, heads->free)};
    pim_noc_point_behind(heads, match);
    return match;
}

/* Several heads, in `asking` (ascending), each of which asks for every free
 * virtual channel that it may take; there is one. Returns the number of matches, at most one for each virtual
 * channel. */
unsigned pim_noc_match_heads(const struct pim_noc_configuration *configuration, struct noc_heads heads,
                             const uint8_t *asking, unsigned count, struct noc_match *matches);

/* What the crossbar inputs ask for. */
struct noc_requests {
    uint32_t asking;                      /* crossbar inputs */
    uint32_t wanting[NOC_PORTS];          /* by output port: crossbar inputs that ask for
                                   it; 0: none */
    uint8_t normal[NOC_CROSSBAR];         /* output ports; of members of `asking`, like
                                   the next two */
    uint8_t speculative[NOC_CROSSBAR];    /* output ports, with lower priority */
    uint8_t row[NOC_CROSSBAR][NOC_PORTS]; /* by output port: the row of the inputs that asks */
};

/* Moves the pointers of a crossbar input and an output port, `row` and
 * `column`, behind their partners. */
static PIM_ALWAYS_INLINE void pim_noc_point_switch(struct noc_switch *arbiter, unsigned rows, unsigned row,
                                                   unsigned column)
{
    static const uint8_t next_column[NOC_PORTS] = {1, 2, 3, 4, 0};
    arbiter->grant[column] = (uint8_t)(row + 1 == rows ? 0 : row + 1);
    arbiter->crossbar[row].accept = next_column[column];
}

/* The switch: at most one match a crossbar input and an output port, in
 * columns[row]; returns the set of crossbar inputs matched. */
uint32_t pim_noc_match_switch(const struct pim_noc_configuration *configuration, struct noc_switch *arbiter,
                              const struct noc_requests *requests, uint8_t columns[NOC_CROSSBAR]);

#endif
