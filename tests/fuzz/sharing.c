/*
 * Any bytes as a case of `pimsim cycles`. What is refused must have a message; what is accepted must give
 * cycles through every member once, whose load and hops are not below the bounds.
 */
#include "mappers/nicepim/cycles/cycles.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sharing sharing;
    struct pim_cycles cycles;
    json_t *root;
    if (pim_json_parse("fuzz.json", (const char *)data, size, &root, &error) != PIM_OK)
        return 0;
    if (pim_sharing_read(root, &sharing, &error) != PIM_OK) {
        require(error.text[0] != '\0', "refused without a message", &error);
        json_decref(root);
        return 0;
    }
    struct pim_cycles_options options = pim_cycles_defaults();
    options.steps = 2000;
    options.solver = "none";
    if (sharing.start[sharing.set_count] <= 200) {
        require(pim_cycles_solve(&sharing, &options, &cycles, &error) == PIM_OK, "failed", &error);
        require(pim_cycles_check(&sharing, cycles.order, &error) == PIM_OK, "no cycles", &error);
        require(cycles.max_load >= cycles.load_bound && cycles.hops >= cycles.hops_bound, "below a bound",
                &error);
        pim_cycles_terminate(&cycles);
    }
    pim_sharing_terminate(&sharing);
    json_decref(root);
    return 0;
}
