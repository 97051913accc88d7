/*
 * Which bytes of its core's local memory an instruction reads and writes, from traces/opcodes.def: one place
 * for checks and models.
 *
 * Bytes come as pieces at equal distances. What orders instructions (docs/trace-format.md, "Local memory") is
 * the bounding range of the pieces.
 */
#ifndef PIMSIM_TRACES_LOCAL_H
#define PIMSIM_TRACES_LOCAL_H

#include "traces/instruction.h"

#include <stdbool.h>
#include <stdint.h>

enum { PIM_LOCAL_READS = 2 };

/* `count` pieces of `bytes`, which start `stride` apart. Nothing is accessed when `bytes` is 0. */
struct pim_local_pieces {
    uint64_t address, bytes, count, stride;
};

struct pim_local_access {
    struct pim_local_pieces read[PIM_LOCAL_READS]; /* source and second source, in this order */
    struct pim_local_pieces write;
};

/* What a valid instruction of a unit with a local memory reads and writes; nothing for those that do not
 * touch it. Addresses of messages are taken as they are: up to 2^62. */
void pim_local_access_of(const struct pim_instruction *instruction, struct pim_local_access *access);

/* The bounding ranges of the same, nothing where begin == end: 0 and 1 are reads, PIM_LOCAL_READS is what it
 * writes. */
struct pim_local_span {
    uint64_t begin, end;
};
enum { PIM_LOCAL_SPANS = PIM_LOCAL_READS + 1 };
void pim_local_spans_of(const struct pim_instruction *instruction,
                        struct pim_local_span spans[PIM_LOCAL_SPANS]);

/* How a part of an instruction is called in messages: 0 and 1 are its reads, PIM_LOCAL_READS what it writes;
 * NULL when it has none. */
const char *pim_local_part_name(unsigned opcode, unsigned part);

/* The end of what a valid instruction of a node touches of the node's memory, and one of a core of the global
 * memory; 0 when it touches nothing. */
uint64_t pim_node_end(const struct pim_instruction *instruction);
uint64_t pim_global_end(const struct pim_instruction *instruction);

/* The address behind the last piece; `address` itself when there is nothing. */
static inline uint64_t pim_local_end(const struct pim_local_pieces *pieces)
{
    return pieces->bytes == 0 ? pieces->address
                              : pieces->address + (pieces->count - 1) * pieces->stride + pieces->bytes;
}

/* Whether the bounding ranges of two lists of pieces have a byte in common. */
static inline bool pim_local_meet(const struct pim_local_pieces *a, const struct pim_local_pieces *b)
{
    return a->address < pim_local_end(b) && b->address < pim_local_end(a);
}

/* Whether a byte is in a piece of both lists. The pieces of `b` must not overlap each other. O(a->count). */
bool pim_local_share_bytes(const struct pim_local_pieces *a, const struct pim_local_pieces *b);

#endif
