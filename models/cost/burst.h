/*
 * Bursts, which a memory port is asked for: column by column, and cut into runs, maximal sequences of column
 * accesses of one burst in one row.
 *
 * Every column that a piece overlaps is accessed, in rising order; a column in which one piece ends and the
 * next begins is accessed once (the port's column register still holds it). Pieces whose gaps are narrower
 * than a column therefore touch the same columns as one contiguous piece. The number of accesses in a row is
 * counted in closed form, never column by column.
 */
#ifndef PIMSIM_MODELS_COST_BURST_H
#define PIMSIM_MODELS_COST_BURST_H

#include <stdbool.h>
#include <stdint.h>

/* `count` pieces of `bytes`, each `stride` bytes after the start of the one before. */
struct pim_burst {
    uint64_t address; /* in the bank's own address space, from 0 */
    uint32_t bytes;
    uint32_t stride; /* not less than bytes; ignored when count is 1 */
    uint32_t count;
    bool write;
};

/* Where in a burst the next column stands, column by column; starts as {0}. */
struct pim_burst_cursor {
    uint32_t piece;       /* of the burst, */
    uint64_t column;      /* and its next column, counted through the memory */
    uint64_t next_column; /* behind the last one that was taken */
    bool started;         /* column is one of piece */
};

/* Stands the cursor at the next column of `port_bytes`; false: there is none left. */
static inline bool pim_burst_find_column(const struct pim_burst *burst, struct pim_burst_cursor *cursor,
                                         uint32_t port_bytes)
{
    for (; cursor->piece < burst->count; cursor->piece++, cursor->started = false) {
        const uint64_t begin = burst->address + (uint64_t)cursor->piece * burst->stride;
        const uint64_t first = begin / port_bytes, last = (begin + burst->bytes - 1) / port_bytes;
        if (!cursor->started) {
            /* A column in which the piece before has ended was accessed for that one. */
            cursor->column = first < cursor->next_column ? cursor->next_column : first;
            cursor->started = true;
        }
        if (cursor->column <= last)
            return true;
    }
    return false;
}

/* That column is taken. */
static inline void pim_burst_next_column(struct pim_burst_cursor *cursor)
{
    cursor->next_column = ++cursor->column;
}

/* Pieces without gaps between them become one piece. */
static inline void pim_burst_join(struct pim_burst *burst)
{
    uint64_t bytes = (uint64_t)burst->bytes * burst->count;
    if (burst->count > 1 && burst->stride == burst->bytes && bytes <= UINT32_MAX) {
        burst->bytes = (uint32_t)bytes;
        burst->count = 1;
    }
}

/* Where the next part of a burst begins; starts as {0}. */
struct pim_part_cursor {
    uint32_t piece, offset; /* offset: bytes of the piece already taken */
};

/*
 * Cuts the next part of at most `limit` bytes off a burst; true when that was the last. A longer piece is cut
 * at the end of the row if the part reaches it, else at the end of a column; shorter pieces are taken whole,
 * as many as fit.
 */
bool pim_burst_part(const struct pim_burst *burst, struct pim_part_cursor *cursor, uint32_t limit,
                    uint32_t port_bytes, uint32_t columns_per_row, struct pim_burst *part);

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

/* `burst` must not be empty, its pieces must not overlap (pim_bank_check_burst). */
void pim_run_first(struct pim_run_cursor *cursor, const struct pim_burst *burst, uint32_t port_bytes,
                   uint32_t columns_per_row);

/* Gives the next run; false at the end of the burst. */
bool pim_run_next(struct pim_run_cursor *cursor, struct pim_run *run);

#endif
