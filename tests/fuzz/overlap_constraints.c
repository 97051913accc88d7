/*
 * Any bytes as constraints of the overlap mapper, for a network of three layers. What is refused must have a
 * message; what is accepted gives samples that cover their layers and hold to the pins.
 */
#include "mappers/overlapim/constraints.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LAYERS = 3, SAMPLES = 8 };

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

/* A pinned factor is that of the nest, but where the loops further in leave fewer iterations. */
static void check_sample(const struct pim_mapping_space *space, const struct pim_nest *nest)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_strides strides;
    require(pim_nest_derive(&space->workload, nest, &strides, &error) == PIM_OK, "a sample", &error);
    require(strides.steps * strides.banks <= space->data_spaces, "too many data spaces", &error);
    uint64_t groups = 1, lanes = 1;
    for (uint32_t i = nest->cut; i < nest->loops; i++) {
        const struct pim_nest_loop *loop = &nest->loop[i];
        int reduced = loop->dimension == PIM_C || loop->dimension == PIM_R || loop->dimension == PIM_S;
        if (loop->spatial)
            *(reduced ? &lanes : &groups) *= loop->count;
    }
    while ((lanes & (lanes - 1)) != 0)
        lanes++;
    require(groups * lanes <= space->instances[PIM_SLOT_COLUMNS], "columns for trees", &error);
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        uint64_t pinned = space->factor[PIM_SLOT_INSIDE][d], count = 1;
        for (uint32_t i = nest->cut; i < nest->loops; i++)
            if (!nest->loop[i].spatial && nest->loop[i].dimension == d)
                count *= nest->loop[i].count;
        require(pinned == 0 || count == pinned, "a pin does not hold", &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t sizes[LAYERS][PIM_DIMENSIONS] = {
        {1, 64, 3, 28, 28, 3, 3}, {1, 61, 64, 14, 14, 1, 1}, {197, 10, 61, 1, 1, 1, 1}};
    struct pim_mapped_layer layer[LAYERS] = {{.name = "conv1"}, {.name = "stage1.conv"}, {.name = "fc"}};
    struct pim_mapping_space spaces[LAYERS];
    struct pim_error error = {PIM_OK, ""};
    const struct pim_mapped_layers layers = {.count = LAYERS, .layer = layer};
    for (unsigned i = 0; i < LAYERS; i++) {
        pim_workload_initialize(&layer[i].workload);
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            layer[i].workload.size[d] = sizes[i][d];
        pim_mapping_space_initialize(&spaces[i], &layer[i].workload, 2, 8, 256, 4096);
    }
    if (pim_constraints_parse("fuzz", (const char *)data, size, &layers, spaces, &error) != PIM_OK) {
        require(error.status == PIM_BAD_INPUT && error.text[0] != '\0', "refused without a message", &error);
        return 0;
    }
    for (unsigned i = 0; i < LAYERS; i++) {
        struct pim_random random;
        struct pim_nest nest;
        pim_random_initialize(&random, i);
        for (unsigned draw = 0; draw < SAMPLES; draw++)
            if (pim_mapping_space_sample(&spaces[i], &random, &nest))
                check_sample(&spaces[i], &nest);
    }
    return 0;
}
