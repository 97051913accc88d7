/*
 * Matchings: which head gets which virtual channel downstream, and which virtual channel of an input gets the
 * crossbar.
 *
 * Every choice is a round-robin arbiter: the first candidate at or after a pointer, cyclically (bits.h).
 * Pointers start at 0. islip: in each iteration every unmatched output offers itself to the first unmatched
 * requester at or after its pointer, then every input accepts the first offer at or after its pointer;
 * pointers move behind the partner, only on an acceptance, and only in the first iteration.
 * separable_input_first: every input picks one output, then every output picks one of the inputs that picked
 * it; both pointers move behind the partner for each match.
 */
#ifndef PIMSIM_MODELS_NOC_ALLOCATORS_H
#define PIMSIM_MODELS_NOC_ALLOCATORS_H

#include "models/noc/internal.h"

enum { NOC_HEADS_LIMIT = NOC_PORTS * PIM_NOC_VC_LIMIT };

struct noc_match {
    uint8_t row;       /* input port * virtual channels + virtual channel */
    uint8_t output_vc; /* of the output port that was asked for */
};

/*
 * Virtual channels of output port `port`: matches the heads in `rows` (ascending, count >= 1), each of which
 * asks for every member of `free` (not empty). `inputs` are the router's rows, `outputs` the port's columns.
 * Returns the number of matches.
 */
unsigned pim_noc_match_heads(const struct pim_noc_configuration *configuration, struct noc_input *inputs,
                             struct noc_output *outputs, unsigned port, const uint8_t *rows, unsigned count,
                             uint32_t free, struct noc_match *matches);

/* What each row asks the switch for; rows that are not in `asking` are not initialised. */
struct noc_requests {
    uint32_t asking;                 /* rows */
    uint8_t normal[NOC_ROWS];        /* columns */
    uint8_t speculative[NOC_ROWS];   /* columns, with lower priority */
    uint8_t vc[NOC_ROWS][NOC_PORTS]; /* the virtual channel that asks */
};

/* The switch: at most one match a row and a column, in columns[row]; returns the set of rows matched. */
uint32_t pim_noc_match_switch(const struct pim_noc_configuration *configuration, struct noc_switch *arbiter,
                              const struct noc_requests *requests, uint8_t columns[NOC_ROWS]);

#endif
