/*
 * Bursts cut into runs: maximal sequences of column accesses of one burst in one row.
 *
 * Every column that a piece overlaps is accessed, in rising order; a column in which one piece ends and the
 * next begins is accessed once (the port's column register still holds it). Pieces whose gaps are narrower
 * than a column therefore touch the same columns as one contiguous piece. The number of accesses in a row is
 * counted in closed form, never column by column.
 */
#ifndef PIMSIM_MODELS_DRAM_BURST_H
#define PIMSIM_MODELS_DRAM_BURST_H

#include <stdbool.h>
#include <stdint.h>

struct pim_run {
    uint64_t row;
    uint64_t columns; /* accesses, at least 1 */
};

/* Where in the burst the next run begins. Private to burst.c. */
struct pim_run_cursor {
    uint64_t address, bytes, stride,
        count;       /* bytes: of a piece, in 64 bits because a dense burst is made one piece */
    uint64_t piece;  /* whose columns come next; == count at the end */
    uint64_t column; /* next column, counted through all rows */
    uint32_t port_bytes, columns_per_row;
};

struct pim_burst;

/* `burst` must not be empty, its pieces must not overlap (pim_bank_check_burst). */
void pim_run_first(struct pim_run_cursor *cursor, const struct pim_burst *burst, uint32_t port_bytes,
                   uint32_t columns_per_row);

/* Gives the next run; false at the end of the burst. */
bool pim_run_next(struct pim_run_cursor *cursor, struct pim_run *run);

#endif
