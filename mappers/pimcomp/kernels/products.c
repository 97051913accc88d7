/* See products.h. */
#include "mappers/pimcomp/kernels/products.h"

#include "mappers/pimcomp/kernels/vectors.h"

enum { BYTES = PIM_CORE_ELEMENT_BYTES };

/* `count` elements from `from` on, a step of elements apart, to `to` and on. */
static void copy(struct pim_core_emitter *emitter, uint32_t core, uint64_t to, uint64_t to_step,
                 uint64_t from, uint64_t from_step, uint64_t count)
{
    pim_core_emit_copy(emitter, core, to, from, BYTES, count, to_step * BYTES, from_step * BYTES);
}

void pim_core_product_turn(struct pim_core_emitter *emitter, uint32_t core, uint32_t columns, uint32_t inner,
                           uint64_t to, uint64_t from)
{
    if (inner <= columns) {
        for (uint64_t k = 0; k < inner; k++)
            copy(emitter, core, to + k * columns * BYTES, 1, from + k * BYTES, inner, columns);
        return;
    }
    for (uint64_t n = 0; n < columns; n++)
        copy(emitter, core, to + n * BYTES, columns, from + n * inner * BYTES, 1, inner);
}

void pim_core_product_row(struct pim_core_emitter *emitter, uint32_t core,
                          const struct pim_core_product_tile *t)
{
    uint64_t columns = t->columns, inner = t->inner;
    if (inner <= columns) {
        for (uint64_t k = 0; k < inner; k++)
            copy(emitter, core, t->work + k * columns * BYTES, 1, t->row + k * BYTES, 0, columns);
    } else {
        for (uint64_t n = 0; n < columns; n++)
            copy(emitter, core, t->work + n * BYTES, columns, t->row, 1, inner);
    }
    pim_core_emit_vector(emitter, core, (struct pim_core_vector){.operation = PIM_LOCAL_MULTIPLY}, t->work,
                         t->work, t->tile, inner * columns);
    for (uint64_t left = inner; left > 1; left -= left / 2)
        pim_core_emit_addition(emitter, core, t->work, t->work + (left - left / 2) * columns * BYTES,
                               left / 2 * columns);
    if (t->first)
        copy(emitter, core, t->result, 1, t->work, 1, columns);
    else
        pim_core_emit_addition(emitter, core, t->result, t->work, columns);
}
