/* The section of published equations as bytes; see sections.h. */
#include "traces/file/sections.h"

#include <inttypes.h>
#include <stdlib.h>

static uint32_t count_of(const struct pim_trace_phase *phase, uint32_t phases)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < phases; i++)
        count += phase[i].has_equations;
    return count;
}

bool pim_equations_exist(const struct pim_trace_phase *phase, uint32_t phases)
{
    return count_of(phase, phases) > 0;
}

uint8_t *pim_equations_encode(const struct pim_trace_phase *phase, uint32_t phases, uint64_t *bytes)
{
    const uint32_t count = count_of(phase, phases);
    *bytes = PIM_EQUATIONS_SIZE + (uint64_t)count * PIM_EQUATION_SIZE;
    uint8_t *data = malloc(*bytes);
    if (!data)
        return NULL;
    pim_put_u32(data, count);
    pim_put_u32(data + 4, PIM_EQUATION_TERMS);
    uint8_t *place = data + PIM_EQUATIONS_SIZE;
    for (uint32_t i = 0; i < phases; i++) {
        if (!phase[i].has_equations)
            continue;
        pim_put_u32(place, i);
        pim_put_u32(place + 4, 0);
        for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
            pim_put_u64(place + 8 + 8 * term, phase[i].equation_terms[term]);
        place += PIM_EQUATION_SIZE;
    }
    return data;
}

/* The entry at `place`; `least`: the first phase that may have it. */
static enum pim_status decode_entry(const uint8_t *data, size_t place, uint32_t least,
                                    struct pim_trace_phase *phase, uint32_t phases, struct pim_error *error)
{
    const uint32_t number = pim_get_u32(data + place), reserved = pim_get_u32(data + place + 4);
    if (number < least || number >= phases)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: phase %" PRIu32 ": phases must ascend, below %" PRIu32,
                        place, number, phases);
    if (reserved != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: a reserved word is %" PRIu32 ", not 0", place + 4,
                        reserved);
    phase[number].has_equations = true;
    for (unsigned term = 0; term < PIM_EQUATION_TERMS; term++)
        phase[number].equation_terms[term] = pim_get_u64(data + place + 8 + 8 * term);
    return PIM_OK;
}

enum pim_status pim_equations_decode(const uint8_t *data, size_t bytes, struct pim_trace_phase *phase,
                                     uint32_t phases, struct pim_error *error)
{
    if (bytes < PIM_EQUATIONS_SIZE)
        return pim_fail(error, PIM_BAD_INPUT, "at byte 0 of the section: %d bytes are needed, %zu are there",
                        PIM_EQUATIONS_SIZE, bytes);
    const uint32_t count = pim_get_u32(data), terms = pim_get_u32(data + 4);
    if (terms != PIM_EQUATION_TERMS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 4 of the section: equations have %" PRIu32 " terms, not %d", terms,
                        PIM_EQUATION_TERMS);
    if (count == 0 || bytes != PIM_EQUATIONS_SIZE + (uint64_t)count * PIM_EQUATION_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: %" PRIu32
                        " phases are not what %zu bytes hold; without any the section must be left out",
                        count, bytes);
    uint32_t least = 0;
    for (uint32_t i = 0; i < count; i++) {
        const size_t place = PIM_EQUATIONS_SIZE + (size_t)i * PIM_EQUATION_SIZE;
        if (decode_entry(data, place, least, phase, phases, error) != PIM_OK)
            return error->status;
        least = pim_get_u32(data + place) + 1;
    }
    return PIM_OK;
}
