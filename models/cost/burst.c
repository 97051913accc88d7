/*
 * Bursts cut into runs. All counting is in whole columns of the port (`port_bytes` = banks in lock-step x
 * column_bytes) through all rows: column c lies in row c / columns_per_row.
 *
 * Invariant: cursor->column is never less than the first column of cursor->piece, and never beyond its last.
 */
#include "models/cost/burst.h"

#include <assert.h>

/* Sum of floor((start + i * stride) / divisor) for i = 0 to count - 1, by Euclid's algorithm: O(log divisor).
 * The result must be below 2^64; so are all intermediate ones then. */
static uint64_t floor_sum(uint64_t start, uint64_t stride, uint64_t count, uint64_t divisor)
{
    uint64_t sum = 0;
    while (count > 0) {
        /* count * (count - 1) is even, but may exceed 64 bits before it is halved. */
        uint64_t pairs = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
        sum += pairs * (stride / divisor) + count * (start / divisor);
        stride %= divisor;
        start %= divisor;
        uint64_t last = start + stride * count;
        if (last < divisor)
            break;
        /* Points below the line, counted along the other axis. */
        uint64_t swapped = divisor;
        count = last / divisor;
        start = last % divisor;
        divisor = stride;
        stride = swapped;
    }
    return sum;
}

static uint64_t first_column(const struct pim_run_cursor *cursor, uint64_t piece)
{
    return (cursor->address + piece * cursor->stride) / cursor->port_bytes;
}

static uint64_t last_column(const struct pim_run_cursor *cursor, uint64_t piece)
{
    return (cursor->address + piece * cursor->stride + cursor->bytes - 1) / cursor->port_bytes;
}

/* Column accesses of `count` whole pieces from `piece` on. */
static uint64_t columns_of_pieces(const struct pim_run_cursor *cursor, uint64_t piece, uint64_t count)
{
    if (count == 0)
        return 0;
    if (cursor->stride % cursor->port_bytes == 0) /* all pieces lie alike */
        return count * (last_column(cursor, piece) - first_column(cursor, piece) + 1);
    /* Relative to the first piece's column, so that the sums stay small. */
    uint64_t start = (cursor->address + piece * cursor->stride) % cursor->port_bytes;
    return floor_sum(start + cursor->bytes - 1, cursor->stride, count, cursor->port_bytes) -
           floor_sum(start, cursor->stride, count, cursor->port_bytes) + count;
}

void pim_run_first(struct pim_run_cursor *cursor, const struct pim_burst *burst, uint32_t port_bytes,
                   uint32_t columns_per_row)
{
    assert(burst->count > 0 && burst->bytes > 0 && (burst->count == 1 || burst->stride >= burst->bytes));
    *cursor = (struct pim_run_cursor){.address = burst->address,
                                      .bytes = burst->bytes,
                                      .stride = burst->stride,
                                      .count = burst->count,
                                      .column = burst->address / port_bytes,
                                      .port_bytes = port_bytes,
                                      .columns_per_row = columns_per_row};
    /* Gaps of at most port_bytes - 1 skip no column: the same columns as one contiguous piece. */
    if (burst->count > 1 && burst->stride - burst->bytes < port_bytes) {
        cursor->bytes += (uint64_t)(burst->count - 1) * burst->stride;
        cursor->count = 1;
    }
}

bool pim_run_next(struct pim_run_cursor *cursor, struct pim_run *run)
{
    if (cursor->piece == cursor->count)
        return false;
    uint64_t row = cursor->column / cursor->columns_per_row;
    uint64_t row_end = (row + 1) * cursor->columns_per_row; /* first column of the next row */
    run->row = row;
    uint64_t last = last_column(cursor, cursor->piece);
    if (last >= row_end) { /* the piece goes on in the next row */
        run->columns = row_end - cursor->column;
        cursor->column = row_end;
        return true;
    }
    run->columns = last - cursor->column + 1;
    cursor->piece++;
    if (cursor->piece < cursor->count) {
        /* Pieces that end in this row: address + piece * stride + bytes <= end of the row. */
        uint64_t end = row_end * cursor->port_bytes;
        uint64_t begin = cursor->address + cursor->piece * cursor->stride + cursor->bytes;
        uint64_t whole = begin <= end ? (end - begin) / cursor->stride + 1 : 0;
        if (whole > cursor->count - cursor->piece)
            whole = cursor->count - cursor->piece;
        run->columns += columns_of_pieces(cursor, cursor->piece, whole);
        cursor->piece += whole;
    }
    if (cursor->piece < cursor->count) {
        cursor->column = first_column(cursor, cursor->piece);
        if (cursor->column < row_end) { /* the next piece begins in this row and ends in a later one */
            run->columns += row_end - cursor->column;
            cursor->column = row_end;
        }
    }
    return true;
}

bool pim_burst_part(const struct pim_burst *burst, struct pim_part_cursor *cursor, uint32_t limit,
                    uint32_t port_bytes, uint32_t columns_per_row, struct pim_burst *part)
{
    uint64_t row_bytes = (uint64_t)port_bytes * columns_per_row;
    part->address = burst->address + (uint64_t)cursor->piece * burst->stride + cursor->offset;
    part->stride = burst->stride;
    part->write = burst->write;
    if (burst->bytes > limit) {
        uint32_t rest = burst->bytes - cursor->offset;
        uint64_t row_rest = row_bytes - part->address % row_bytes;
        uint32_t beyond_column = (uint32_t)((part->address + limit) % port_bytes);
        part->bytes = rest < limit ? rest : limit;
        if (row_rest < part->bytes)
            part->bytes = (uint32_t)row_rest;
        else if (rest > limit && beyond_column < limit)
            part->bytes = limit - beyond_column;
        part->count = 1;
        cursor->offset += part->bytes;
        if (cursor->offset == burst->bytes) {
            cursor->offset = 0;
            cursor->piece++;
        }
    } else {
        uint32_t pieces = limit / burst->bytes;
        uint32_t rest = burst->count - cursor->piece;
        part->bytes = burst->bytes;
        part->count = rest < pieces ? rest : pieces;
        cursor->piece += part->count;
    }
    return cursor->piece == burst->count;
}
