/* See products.h. */
#include "mappers/pimcomp/kernels/products.h"

#include "traces/instruction.h"

enum { BYTES = 2 }; /* of an element */

/* `count` elements from `from` on, a step of elements apart, to `to` and on. */
static void copy(pim_core_product_sink *sink, void *context, uint64_t to, uint64_t to_step, uint64_t from,
                 uint64_t from_step, uint64_t count)
{
    const struct pim_core_product_step step = {.to = to,
                                               .from = from,
                                               .bytes = BYTES,
                                               .copies = count,
                                               .to_stride = to_step * BYTES,
                                               .from_stride = from_step * BYTES};
    sink(context, &step);
}

static void combine(pim_core_product_sink *sink, void *context, uint8_t operation, uint64_t to,
                    uint64_t second, uint64_t elements)
{
    const struct pim_core_product_step step = {
        .to = to, .from = to, .second = second, .operation = operation, .elements = elements};
    sink(context, &step);
}

void pim_core_product_turn(uint32_t columns, uint32_t inner, uint64_t to, uint64_t from,
                           pim_core_product_sink *sink, void *context)
{
    if (inner <= columns) {
        for (uint64_t k = 0; k < inner; k++)
            copy(sink, context, to + k * columns * BYTES, 1, from + k * BYTES, inner, columns);
        return;
    }
    for (uint64_t n = 0; n < columns; n++)
        copy(sink, context, to + n * BYTES, columns, from + n * inner * BYTES, 1, inner);
}

void pim_core_product_row(const struct pim_core_product_tile *t, pim_core_product_sink *sink, void *context)
{
    uint64_t columns = t->columns, inner = t->inner;
    if (inner <= columns) {
        for (uint64_t k = 0; k < inner; k++)
            copy(sink, context, t->work + k * columns * BYTES, 1, t->row + k * BYTES, 0, columns);
    } else {
        for (uint64_t n = 0; n < columns; n++)
            copy(sink, context, t->work + n * BYTES, columns, t->row, 1, inner);
    }
    combine(sink, context, PIM_LOCAL_MULTIPLY, t->work, t->tile, inner * columns);
    for (uint64_t left = inner; left > 1; left -= left / 2)
        combine(sink, context, PIM_LOCAL_ADD, t->work, t->work + (left - left / 2) * columns * BYTES,
                left / 2 * columns);
    if (!t->first) {
        combine(sink, context, PIM_LOCAL_ADD, t->result, t->work, columns);
        return;
    }
    const struct pim_core_product_step whole = {
        .to = t->result, .from = t->work, .bytes = columns * BYTES, .copies = 1};
    sink(context, &whole);
}
