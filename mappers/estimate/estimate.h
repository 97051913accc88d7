/*
 * Closed-form costs of a node's engines: what mappers compare and traces carry, held against cycles by
 * `pimsim validate`.
 *
 * All results are cycles of the logic clock, rounded up. The forms assume what a closed form can: no
 * contention in the network, one client of the memory at a time, and work that is limited by its slowest
 * engine. docs/models/estimate.md derives each of them.
 */
#ifndef PIMSIM_MAPPERS_ESTIMATE_ESTIMATE_H
#define PIMSIM_MAPPERS_ESTIMATE_ESTIMATE_H

#include "mappers/machine/nodes.h"

#include <stdbool.h>
#include <stdint.h>

/* What is in use by turns lies anywhere: a run never finds its row open. */
#define PIM_ANYWHERE UINT64_MAX

/* Memory: `bytes` in one run: columns, a change of row each row_bytes, and refresh. The row it begins in was
 * left open as far as the `among` bytes that are in use by turns do not fill a row; a stream begins
 * anywhere. */
uint64_t pim_estimate_run(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t among,
                          bool write);
uint64_t pim_estimate_stream(const struct pim_estimate_hardware *hardware, uint64_t bytes, bool write);

/*
 * Memory: `pieces` pieces of `bytes`, `pitch` bytes apart, in `bursts` bursts. A burst opens a row as a run
 * does, and so does each row it reaches. Those of the second form begin anywhere.
 */
uint64_t pim_estimate_bursts(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t pitch,
                             uint64_t pieces, uint64_t bursts, uint64_t among, bool write);
uint64_t pim_estimate_pieces(const struct pim_estimate_hardware *hardware, uint64_t bytes, uint64_t pitch,
                             uint64_t pieces, uint64_t bursts, bool write);

/* Memory: most bytes of a packet before the other side has its turn at the port, where turns are shorter than
 * a row (dram.arbitration_bytes; docs/models/node.md) and so open rows again; else UINT64_MAX. */
uint64_t pim_estimate_turn(const struct pim_estimate_hardware *hardware);

/* Memory: so many columns in so many rows; a row that is opened serves one column at least. */
uint64_t pim_estimate_columns(const struct pim_estimate_hardware *hardware, uint64_t columns, uint64_t rows,
                              bool write);

/*
 * Memory: so many columns in `rows` rows beyond the one in which they begin, each the next of the one before
 * but `away` of them (at most `rows`), which are anywhere. Accesses before went to some place among `among`
 * bytes that are in use by turns: as far as these fill a row, the first row has to be opened.
 */
uint64_t pim_estimate_near(const struct pim_estimate_hardware *hardware, uint64_t columns, uint64_t rows,
                           uint64_t away, uint64_t among, bool write);

/* Memory: from a request to its data in an open row. */
uint64_t pim_estimate_latency(const struct pim_estimate_hardware *hardware);

/* Memory: from a request to its first data in a closed row. */
uint64_t pim_estimate_access(const struct pim_estimate_hardware *hardware);

/* Memory: `bytes` at the peak of the port, one column after another and nothing besides. */
uint64_t pim_estimate_peak(const struct pim_estimate_hardware *hardware, uint64_t bytes);

/* Memory: `turns` changes of the port from reading to writing and back. */
uint64_t pim_estimate_turns(const struct pim_estimate_hardware *hardware, uint64_t turns);

/* PE array: cycles of `work` rows of folds at the pace of the buffer ports. */
uint64_t pim_estimate_pace(const struct pim_estimate_hardware *hardware, uint64_t work);

/* ACU: `rows` vectors of `elements`, with `passes` over the data. */
uint64_t pim_estimate_vector(const struct pim_estimate_hardware *hardware, uint64_t rows, uint64_t elements,
                             unsigned passes);

/* PE array: output[m][n] += input[m][k] * weight[k][n] in one instruction. */
uint64_t pim_estimate_matrix(const struct pim_estimate_hardware *hardware, uint64_t m, uint64_t n,
                             uint64_t k);

/* Network: cycles of its clock as logic cycles. */
uint64_t pim_estimate_network(const struct pim_estimate_hardware *hardware, uint64_t cycles);

/* Network: so many bytes over one link, one message after another. */
uint64_t pim_estimate_link(const struct pim_estimate_hardware *hardware, uint64_t bytes);

/* Network: so many flits over one link, of any packets. */
uint64_t pim_estimate_flits(const struct pim_estimate_hardware *hardware, uint64_t flits);

/* Network: bytes and flits of one packet over one link, which shallow buffers hold up; and from its first
 * flit, which has passed the link, to its last. */
uint64_t pim_estimate_worm(const struct pim_estimate_hardware *hardware, uint64_t bytes);
uint64_t pim_estimate_worm_flits(const struct pim_estimate_hardware *hardware, uint64_t flits);
uint64_t pim_estimate_tail(const struct pim_estimate_hardware *hardware, uint64_t bytes);

/* Network: what a flit takes through so many routers. */
uint64_t pim_estimate_hops(const struct pim_estimate_hardware *hardware, uint64_t routers);

/* Network: zero-load latency of one flit through so many routers, at least one, terminals included. */
uint64_t pim_estimate_zero_load(const struct pim_estimate_hardware *hardware, unsigned routers);

/*
 * Network: a cyclic dataflow of nodes - 1 rounds, in each of which every one of `nodes` nodes in a line sends
 * at most `bytes` to its successor and the last one to the first. A round ends when its message is written to
 * memory; the next one forwards it.
 */
uint64_t pim_estimate_ring(const struct pim_estimate_hardware *hardware, uint64_t bytes, unsigned nodes);

/* Memory: what of it the port is at work, of each node. */
uint64_t pim_estimate_ring_port(const struct pim_estimate_hardware *hardware, uint64_t bytes, unsigned nodes);

/* How a matrix product is cut into tiles that fit the buffers. */
struct pim_tiling {
    uint32_t m, n, k; /* largest tile: m x n outputs, depth k of the operands */
    uint32_t right;   /* columns of a tile of the right operand: n, or fewer where n is a whole row */
    bool resident;    /* all of k of a row block stays in the input buffer while n advances */
    /*
     * full_rows: 0 where an output tile holds whole rows; else tiles are stored as they come, and a second
     * pass takes so many whole rows at a time from memory through the output buffer.
     */
    uint32_t pass_rows;
};

struct pim_matrix_estimate {
    uint64_t compute; /* PE array, all tiles */
    uint64_t memory;  /* loads and stores */
    uint64_t vector;  /* ACU, all tiles */
    uint64_t total;   /* the slowest of them, plus what the first load and the last result add */
    uint64_t instructions;
};

/* output[m][n] = f(input[m][k] * right[k][n]), `count` times one after another. */
struct pim_matrix_shape {
    uint32_t m, n, k;
    uint32_t count;
    /*
     * Parts of k that tiles do not reach across: the width of the widest, how many are so wide, and how many
     * others share the rest evenly. One of width k when the input is in one piece.
     */
    uint32_t segment, segments, narrower;
    bool full_rows;         /* the ACU works on whole output rows (softmax) */
    unsigned vector_passes; /* of the ACU over each output */
    bool residual;          /* each output tile is loaded once more, to be added by the ACU */
    /*
     * Bytes from one row of an operand in memory to the next; right_pitch 0: its tiles lie one after another.
     */
    uint32_t input_pitch, right_pitch, output_pitch;
    bool right_columns;   /* the right operand is stored transposed: n rows of k */
    uint32_t right_block; /* tiles do not reach across a multiple of it in n; 0: no limit */
    /* Bytes among which input and results lie, and those with the right operand; 0: all lie anywhere. The
       choice of tiles does not see it, but whether whole rows go in one pass or two. */
    uint64_t among, right_among;
    /* n of a tile that is not the whole is a multiple of it, or divides it; 0: any n is good */
    uint32_t grain;
};

/*
 * Chooses the tiling with the least estimate, and gives the estimate of all `count` products. Returns false
 * when not even the smallest tile fits the buffers.
 */
bool pim_estimate_tiling(const struct pim_estimate_hardware *hardware, const struct pim_matrix_shape *shape,
                         struct pim_tiling *tiling, struct pim_matrix_estimate *estimate);

/*
 * A depthwise convolution with `taps` weights a channel. A tile has `tokens` outputs of each of `channels`
 * channels: the weights of the channels lie in the input buffer, the tokens' neighbours (taps x tokens x
 * channels) in the weight buffer, and each channel is one product of 1 x taps x tokens.
 */
struct pim_depthwise_shape {
    uint32_t channels, taps;
    uint32_t sequences, tokens; /* of so many tokens each; a tile does not reach across them */
    uint32_t pitch;             /* bytes from a token to the next of a sequence */
    uint32_t
        line; /* zeros, which lie elsewhere, are loaded at the ends of every so many tokens; 0: nowhere */
};

struct pim_depthwise_tiling {
    uint32_t tokens, channels;
};

/*
 * The tile with the least estimate of those that leave half of each buffer to the next one, or fill it where
 * no such tile is possible: channels as a column of the memory port has bytes, or twice as many, and so on up
 * to all; then as many tokens as fit. The estimate is that of all tiles, each of which is added to what lies
 * where it goes. False when no tile fits the buffers.
 */
bool pim_estimate_depthwise(const struct pim_estimate_hardware *hardware,
                            const struct pim_depthwise_shape *shape, struct pim_depthwise_tiling *tiling,
                            struct pim_matrix_estimate *estimate);

#endif
