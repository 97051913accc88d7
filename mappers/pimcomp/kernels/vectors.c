/* See vectors.h. */
#include "mappers/pimcomp/kernels/vectors.h"

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
