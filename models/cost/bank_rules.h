/*
 * The timing rules of a DRAM bank, or of several banks in lock-step behind one port: JEDEC's parameters, what
 * is derived from them, and what must hold. models/cost/bank.h applies them; estimates add them up.
 */
#ifndef PIMSIM_MODELS_COST_BANK_RULES_H
#define PIMSIM_MODELS_COST_BANK_RULES_H

#include "sim/status.h"

#include <stdbool.h>
#include <stdint.h>

/* JEDEC's parameters in cycles, 1 to PIM_BANK_CYCLES_MAX. trtw, trrd and trefi may be 0, trfc if trefi is. */
struct pim_bank_timing {
    uint32_t trcd; /* ACT -> RD, WR */
    uint32_t trp;  /* PRE -> ACT, REF */
    uint32_t tras; /* ACT -> PRE */
    uint32_t trc;  /* ACT -> ACT, REF; at least tras */
    uint32_t trrd; /* ACT -> ACT of another of the interleaved banks */
    uint32_t tcl;  /* RD -> first data */
    uint32_t tcwl; /* WR -> first data */
    uint32_t tccd; /* RD -> RD, WR -> WR */
    uint32_t twr;  /* end of write data -> PRE */
    uint32_t trtp; /* RD -> PRE */
    uint32_t twtr; /* end of write data -> RD */
    uint32_t
        trtw; /* empty data cycles between read data and write data: RD -> WR = tcl + burst + trtw - tcwl */
    uint32_t trfc;         /* REF -> ACT, REF */
    uint32_t trefi;        /* due refreshes are this far apart; 0: no refresh */
    uint32_t burst_cycles; /* data cycles of one column access */
};

struct pim_bank_organization {
    uint32_t banks;        /* in lock-step: each command goes to all of them */
    uint32_t rows;         /* of one bank */
    uint32_t row_bytes;    /* of one bank; a multiple of column_bytes */
    uint32_t column_bytes; /* of one bank; the port moves banks * column_bytes with a column access */
    bool closed_page;      /* the last column access of a run in a row closes it (automatic precharge) */
    uint32_t interleaved;  /* 1, 2 or 4 such banks, or groups in lock-step: row by row in turn; 0 is 1 */
};

/* Bounds that keep all sums inside 64 bits. */
enum {
    PIM_BANK_CYCLES_MAX = 1 << 20,
    PIM_BANK_REFRESH_INTERVAL_MAX = 1 << 30,
    PIM_BANK_REFRESH_NS_MAX = 1000000000,
    PIM_BANK_PORT_BYTES_MAX = 1 << 20,
    PIM_BANK_INTERLEAVED_MAX = 4
};
#define PIM_BANK_CAPACITY_MAX (UINT64_C(1) << 40) /* bytes behind one port */

/* Timing and organisation, checked, with every derived distance. Shared read-only by all banks of a kind;
 * must outlive them. */
struct pim_bank_rules {
    struct pim_bank_timing timing;
    struct pim_bank_organization organization;
    uint32_t column_step;        /* RD -> RD, WR -> WR: max(tccd, burst) */
    uint32_t read_to_write;      /* RD -> WR */
    uint32_t write_to_read;      /* WR -> RD */
    uint32_t write_to_precharge; /* WR -> PRE */
    uint32_t read_to_data_end;   /* RD -> its data have passed the port */
    uint32_t write_to_data_end;  /* WR -> its data have passed the port */
    uint32_t port_bytes;         /* moved by one column access */
    uint32_t columns_per_row;
    uint32_t interleaved; /* banks, or groups in lock-step, that take turns row by row */
    uint64_t capacity_bytes;
};

/* Cycles of a clock of `clock_khz` that cover `picoseconds`, rounded up: a minimum distance must not become
 * shorter. `picoseconds` at most 10^12 (one second), `clock_khz` 1 to 10^7. */
uint64_t pim_dram_cycles(uint64_t picoseconds, uint64_t clock_khz);

/* The same rounded down, for tREFI: it is a longest distance, cells must not wait longer for their refresh.
 * */
uint64_t pim_dram_refresh_interval(uint64_t picoseconds, uint64_t clock_khz);

/* The shortest trefi that leaves time for an access between refreshes. Bytes of a column are not 0. */
uint64_t pim_bank_refresh_interval_least(const struct pim_bank_timing *timing,
                                         const struct pim_bank_organization *organization);

/* Refuses impossible timings and organisations; the message names the parameter and what would be right. */
enum pim_status pim_bank_check_configuration(const struct pim_bank_timing *timing,
                                             const struct pim_bank_organization *organization,
                                             struct pim_error *error);

/* Derives the distances. Timing and organisation must have passed pim_bank_check_configuration. */
void pim_bank_rules_initialize(struct pim_bank_rules *rules, const struct pim_bank_timing *timing,
                               const struct pim_bank_organization *organization);

#endif
