/*
 * Moves of rows between columns, banks, channels and stacks: READ on one side, WRITE on the other, both real
 * commands of their channels.
 *
 * Rules:
 *  1. Rows are read one after another; a row may be written as soon as all of its data are at the other side.
 *  2. column: the same bank writes the row back, moved by some columns. bank: another bank of the channel
 *     writes it; the channel's data bus carries both ways. The controller's buffer has room for all rows
 *     under way.
 *  3. channel: the row crosses a link of `link_bytes` a cycle while it is read: it has arrived in max(read,
 *     arrival of the row before + bytes / link_bytes). stack: the same on a bus of `bus_bytes` a cycle that
 *     all pairs share, in turn row by row.
 *  4. Pairs: `pairs` such moves at once. column, bank: in one channel, on banks of their own. channel, stack:
 *     each between two channels of its own; those of one stack and of the other run alike.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_TRANSFER_H
#define PIMSIM_MODELS_BITSERIAL_TRANSFER_H

#include "models/bitserial/operation.h"

/* X(enumerator, text) */
#define PIM_BITSERIAL_REACH_MAP(X)                                                                           \
    X(COLUMN, "column")                                                                                      \
    X(BANK, "bank")                                                                                          \
    X(CHANNEL, "channel")                                                                                    \
    X(STACK, "stack")

enum pim_bitserial_reach {
#define X(name, text) PIM_BITSERIAL_REACH_##name,
    PIM_BITSERIAL_REACH_MAP(X)
#undef X
        PIM_BITSERIAL_REACHES
};

struct pim_bitserial_transfer {
    enum pim_bitserial_reach reach;
    uint32_t rows;  /* moved, from data row 0 on, to data row `rows` on (column) or 0 on */
    uint32_t shift; /* column: columns towards column 0 */
    uint32_t pairs;
    uint32_t link_bytes; /* a cycle; Fast-OverlaPIM's 16 */
    uint32_t bus_bytes;  /* a cycle; Fast-OverlaPIM's 256 GB/s at 1 GHz: 256 */
    bool refresh, stepped;
    void (*log)(void *context, const struct pim_dram_record *record); /* channel 0 reads, channel 1 writes */
    void *context;
};

struct pim_bitserial_transfer_cost {
    uint64_t cycles;                      /* until the last bank could be activated again */
    uint64_t bytes;                       /* moved by all pairs */
    uint64_t commands[PIM_DRAM_COMMANDS]; /* of all pairs */
    /* Bytes over bandwidth as the paper's model has it: what a channel reads and writes at 16 bytes a cycle,
     * and the bus. */
    uint64_t paper_cycles;
    struct pim_dram_energy energy; /* as for operations; links and bus are not modelled */
};

const char *pim_bitserial_reach_text(enum pim_bitserial_reach reach);

enum pim_status pim_bitserial_move(const struct pim_dram_specification *specification,
                                   const struct pim_dram_energy_parameters *energy,
                                   const struct pim_bitserial_transfer *transfer,
                                   struct pim_bitserial_transfer_cost *cost, struct pim_error *error);

#endif
