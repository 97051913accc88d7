/* Rows as words of 64 columns; activations, copies and the buffer on them. */
#include "models/bitserial/execute.h"

#include "sim/random.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pim_bitserial_bits {
    uint32_t data_rows, columns, words; /* words: of 64 columns, a row */
    uint64_t *sense;                    /* the sense amplifiers: one row */
    uint64_t *buffer;                   /* slots */
    uint64_t *compute;                  /* compute rows */
    uint64_t data[];
};

struct pim_bitserial_bits *pim_bitserial_bits_create(uint32_t data_rows, uint32_t columns)
{
    assert(columns > 0 && columns % 64 == 0);
    uint32_t words = columns / 64;
    uint64_t rows = (uint64_t)data_rows + PIM_BITSERIAL_WORDLINES + PIM_BITSERIAL_SLOTS_MAX + 1;
    if (rows > (SIZE_MAX - sizeof(struct pim_bitserial_bits)) / sizeof(uint64_t) / words)
        return NULL;
    struct pim_bitserial_bits *bits = calloc(1, sizeof *bits + (size_t)rows * words * sizeof(uint64_t));
    if (!bits)
        return NULL;
    bits->data_rows = data_rows;
    bits->columns = columns;
    bits->words = words;
    bits->compute = &bits->data[(size_t)data_rows * words];
    bits->buffer = &bits->compute[(size_t)PIM_BITSERIAL_WORDLINES * words];
    bits->sense = &bits->buffer[(size_t)PIM_BITSERIAL_SLOTS_MAX * words];
    uint64_t pattern = 1;
    for (size_t i = 0; i < (size_t)PIM_BITSERIAL_WORDLINES * words; i++)
        bits->compute[i] = pim_splitmix64(&pattern);
    memset(&bits->compute[(size_t)PIM_BITSERIAL_Z * words], 0, words * sizeof(uint64_t));
    memset(&bits->compute[(size_t)PIM_BITSERIAL_O * words], 0xff, words * sizeof(uint64_t));
    return bits;
}

void pim_bitserial_bits_destroy(struct pim_bitserial_bits *bits)
{
    free(bits);
}

static uint64_t *data_row(struct pim_bitserial_bits *bits, uint32_t row)
{
    assert(row < bits->data_rows);
    return &bits->data[(size_t)row * bits->words];
}

bool pim_bitserial_bit(const struct pim_bitserial_bits *bits, uint32_t row, uint32_t column)
{
    assert(row < bits->data_rows && column < bits->columns);
    return bits->data[(size_t)row * bits->words + column / 64] >> column % 64 & 1;
}

static void put(uint64_t *row, uint32_t column, uint64_t value)
{
    row[column / 64] = (row[column / 64] & ~(UINT64_C(1) << column % 64)) | value << column % 64;
}

void pim_bitserial_set_bit(struct pim_bitserial_bits *bits, uint32_t row, uint32_t column, bool value)
{
    assert(column < bits->columns);
    put(data_row(bits, row), column, value);
}

uint64_t pim_bitserial_number(const struct pim_bitserial_bits *bits, uint32_t first, uint32_t count,
                              uint32_t column)
{
    uint64_t value = 0;
    for (uint32_t j = 0; j < count; j++)
        value |= (uint64_t)pim_bitserial_bit(bits, first + j, column) << j;
    return value;
}

void pim_bitserial_set_number(struct pim_bitserial_bits *bits, uint32_t first, uint32_t count,
                              uint32_t column, uint64_t value)
{
    for (uint32_t j = 0; j < count; j++)
        pim_bitserial_set_bit(bits, first + j, column, value >> j & 1);
}

/* The rows that an address opens, as pointers; `flip` is all ones for a negated word line. */
struct opened_row {
    uint64_t *words;
    uint64_t flip;
};

static unsigned open_rows(struct pim_bitserial_bits *bits, uint32_t row,
                          struct opened_row opened[PIM_BITSERIAL_WORDLINES])
{
    if (!(row & PIM_BITSERIAL_RESERVED)) {
        opened[0] = (struct opened_row){data_row(bits, row), 0};
        return 1;
    }
    struct pim_bitserial_opened set =
        pim_bitserial_opens((enum pim_bitserial_address)(row & ~PIM_BITSERIAL_RESERVED));
    unsigned count = 0;
    for (unsigned line = 0; line < PIM_BITSERIAL_WORDLINES; line++)
        if ((set.rows | set.negated) >> line & 1)
            opened[count++] = (struct opened_row){&bits->compute[(size_t)line * bits->words],
                                                  set.negated >> line & 1 ? UINT64_MAX : 0};
    return count;
}

/* The majority of one, three or five bits, for 64 columns at once. */
static uint64_t majority(const uint64_t *v, unsigned count)
{
    if (count == 1)
        return v[0];
    uint64_t two = (v[0] & v[1]) | (v[0] & v[2]) | (v[1] & v[2]); /* at least two of the first three */
    if (count == 3)
        return two;
    uint64_t one = v[0] | v[1] | v[2], three = v[0] & v[1] & v[2];
    return (one & v[3] & v[4]) | (two & (v[3] | v[4])) | three;
}

static void activate_closed(struct pim_bitserial_bits *bits, uint32_t row)
{
    struct opened_row opened[PIM_BITSERIAL_WORDLINES];
    unsigned count = open_rows(bits, row, opened);
    assert(count == 1 || count == 3 || count == 5);
    for (uint32_t w = 0; w < bits->words; w++) {
        uint64_t values[5] = {0};
        for (unsigned i = 0; i < count; i++)
            values[i] = opened[i].words[w] ^ opened[i].flip;
        bits->sense[w] = majority(values, count);
        for (unsigned i = 0; i < count; i++)
            opened[i].words[w] = bits->sense[w] ^ opened[i].flip;
    }
}

static void activate_open(struct pim_bitserial_bits *bits, uint32_t row)
{
    struct opened_row opened[PIM_BITSERIAL_WORDLINES];
    unsigned count = open_rows(bits, row, opened);
    for (unsigned i = 0; i < count; i++)
        for (uint32_t w = 0; w < bits->words; w++)
            opened[i].words[w] = bits->sense[w] ^ opened[i].flip;
}

static uint64_t slot_bit(const struct pim_bitserial_bits *bits, uint32_t slot, uint32_t column)
{
    return bits->buffer[(size_t)slot * bits->words + column / 64] >> column % 64 & 1;
}

/* The bit that a write puts into `column`. Columns beyond the end of a shifted row are 0. */
static uint64_t written_bit(const struct pim_bitserial_bits *bits, const struct pim_bitserial_step *step,
                            uint32_t slots, uint32_t column)
{
    if (step->kind == PIM_BITSERIAL_STEP_WRITE)
        return column + step->shift < bits->columns ? slot_bit(bits, step->second, column + step->shift) : 0;
    uint64_t place = (uint64_t)column * slots + step->shift; /* a word has as many bits as there are slots */
    return slot_bit(bits, (uint32_t)(place / bits->columns), (uint32_t)(place % bits->columns));
}

static void move(struct pim_bitserial_bits *bits, const struct pim_bitserial_step *step, uint32_t slots,
                 uint32_t access_bits)
{
    bool read = step->kind == PIM_BITSERIAL_STEP_READ;
    uint64_t *row = data_row(bits, step->row);
    assert(step->second < PIM_BITSERIAL_SLOTS_MAX);
    uint64_t *slot = &bits->buffer[(size_t)step->second * bits->words];
    for (uint32_t i = 0; i < step->accesses; i++) {
        uint32_t first = (step->first_access + i * step->access_step) * access_bits;
        assert(first + access_bits <= bits->columns);
        if (read)
            memcpy(&slot[first / 64], &row[first / 64], access_bits / 8);
        else
            for (uint32_t column = first; column < first + access_bits; column++)
                put(row, column, written_bit(bits, step, slots, column));
    }
}

void pim_bitserial_execute(struct pim_bitserial_bits *bits, const struct pim_bitserial_program *program,
                           uint32_t access_bits)
{
    assert(access_bits % 64 == 0 && access_bits > 0 && program->slots <= PIM_BITSERIAL_SLOTS_MAX);
    for (size_t i = 0; i < program->count; i++) {
        const struct pim_bitserial_step *step = &program->steps[i];
        if (step->kind == PIM_BITSERIAL_STEP_AAP) {
            activate_closed(bits, step->row);
            activate_open(bits, step->second);
        } else {
            move(bits, step, program->slots, access_bits);
        }
    }
}
