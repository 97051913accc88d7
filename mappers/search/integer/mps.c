/* Free MPS: sections NAME, ROWS, COLUMNS (by columns, integers between markers), RHS, BOUNDS, ENDATA. */
#include "mappers/search/integer/mps.h"

#include <inttypes.h>
#include <stdlib.h>

/* Room for one more of `size` bytes; NULL when memory is out. */
static void *room(struct pim_mps *mps, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (mps->out_of_memory || count < *capacity)
        return mps->out_of_memory ? NULL : items;
    uint32_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(items, larger * size);
    if (grown)
        *capacity = larger;
    else
        mps->out_of_memory = true;
    return grown;
}

uint32_t pim_mps_column(struct pim_mps *mps, int64_t objective, int64_t lower, int64_t upper)
{
    void *items = room(mps, mps->columns, mps->column_count, &mps->column_room, sizeof *mps->columns);
    if (!items)
        return 0;
    mps->columns = items;
    mps->columns[mps->column_count] = (struct pim_mps_column){objective, lower, upper};
    return mps->column_count++;
}

uint32_t pim_mps_row(struct pim_mps *mps, enum pim_mps_sense sense, int64_t right)
{
    void *items = room(mps, mps->rows, mps->row_count, &mps->row_room, sizeof *mps->rows);
    if (!items)
        return 0;
    mps->rows = items;
    mps->rows[mps->row_count] = (struct pim_mps_row){sense, right};
    return mps->row_count++;
}

void pim_mps_entry(struct pim_mps *mps, uint32_t row, uint32_t column, int64_t value)
{
    if (value == 0)
        return;
    void *items = room(mps, mps->entries, mps->entry_count, &mps->entry_room, sizeof *mps->entries);
    if (!items)
        return;
    mps->entries = items;
    mps->entries[mps->entry_count++] = (struct pim_mps_entry){column, row, value};
}

void pim_mps_terminate(struct pim_mps *mps)
{
    free(mps->columns);
    free(mps->rows);
    free(mps->entries);
    *mps = (struct pim_mps){0};
}

static int compare(const void *left, const void *right)
{
    const struct pim_mps_entry *a = left, *b = right;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void write_columns(const struct pim_mps *mps, FILE *file)
{
    uint32_t entry = 0;
    fputs("COLUMNS\n M1 'MARKER' 'INTORG'\n", file);
    for (uint32_t i = 0; i < mps->column_count; i++) {
        fprintf(file, " C%" PRIu32 " cost %" PRId64 "\n", i, mps->columns[i].objective);
        for (; entry < mps->entry_count && mps->entries[entry].column == i; entry++)
            fprintf(file, " C%" PRIu32 " R%" PRIu32 " %" PRId64 "\n", i, mps->entries[entry].row,
                    mps->entries[entry].value);
    }
    fputs(" M2 'MARKER' 'INTEND'\n", file);
}

bool pim_mps_write(struct pim_mps *mps, FILE *file)
{
    static const char senses[] = {'L', 'G', 'E'};
    if (mps->entry_count > 0)
        qsort(mps->entries, mps->entry_count, sizeof *mps->entries, compare);
    fputs("NAME schedule FREE\nROWS\n N cost\n", file);
    for (uint32_t i = 0; i < mps->row_count; i++)
        fprintf(file, " %c R%" PRIu32 "\n", senses[mps->rows[i].sense], i);
    write_columns(mps, file);
    fputs("RHS\n", file);
    for (uint32_t i = 0; i < mps->row_count; i++)
        if (mps->rows[i].right != 0)
            fprintf(file, " RHS R%" PRIu32 " %" PRId64 "\n", i, mps->rows[i].right);
    fputs("BOUNDS\n", file);
    for (uint32_t i = 0; i < mps->column_count; i++) {
        fprintf(file, " LO BOUND C%" PRIu32 " %" PRId64 "\n", i, mps->columns[i].lower);
        if (mps->columns[i].upper != INT64_MAX)
            fprintf(file, " UP BOUND C%" PRIu32 " %" PRId64 "\n", i, mps->columns[i].upper);
        else
            fprintf(file, " PL BOUND C%" PRIu32 "\n", i);
    }
    fputs("ENDATA\n", file);
    return !ferror(file);
}
