/* Vectors and products: kernels.h. */
#include "mappers/pimcomp/kernels/kernels.h"

void pim_core_emit_addition(struct pim_core_emitter *emitter, uint32_t core, uint64_t to, uint64_t from,
                            uint64_t elements)
{
    pim_core_emit_vector(emitter, core, (struct pim_core_vector){.operation = PIM_LOCAL_ADD}, to, to, from,
                         elements);
}

void pim_core_emit_vectors(struct pim_core_emitter *emitter, uint32_t core, struct pim_core_vector operation,
                           uint64_t to, uint64_t from, uint64_t elements, uint64_t count)
{
    if (operation.operation != PIM_LOCAL_NORMALIZE) {
        elements *= count;
        count = 1;
    }
    for (uint64_t i = 0, bytes = elements * PIM_CORE_ELEMENT_BYTES; i < count; i++)
        pim_core_emit_vector(emitter, core, operation, to + i * bytes, from + i * bytes, 0, elements);
}

void pim_core_emit_afters(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                          uint64_t address, uint64_t channels, uint64_t pixels)
{
    for (uint32_t i = 0; i < layer->afters; i++)
        pim_core_emit_vectors(emitter, core, layer->after[i], address, address, channels, pixels);
}

struct pim_core_vector pim_core_pooling_of(const struct pim_core_layer *layer)
{
    return (struct pim_core_vector){.operation = layer->average ? PIM_LOCAL_ADD : PIM_LOCAL_MAXIMUM};
}

void pim_core_emit_mean(struct pim_core_emitter *emitter, uint32_t core, const struct pim_core_layer *layer,
                        uint64_t address, uint32_t positions, uint64_t elements)
{
    if (layer->average && !layer->total && positions > 1)
        pim_core_emit_vector(
            emitter, core,
            (struct pim_core_vector){.operation = PIM_LOCAL_DIVIDE, .immediate = (int32_t)positions}, address,
            address, 0, elements);
}

/* --- products --- */

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
