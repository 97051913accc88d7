#include "mappers/mappers.h"

#include "sim/nearest.h"

#include <string.h>

static const struct pim_mapper *const table[] = {
#define MAPPER(name, library) &pim_##name##_mapper,
#include "mappers/mappers.def"
};

const struct pim_mapper *pim_mapper_at(size_t index)
{
    return index < sizeof table / sizeof table[0] ? table[index] : NULL;
}

enum pim_status pim_mapper_find(const char *name, const struct pim_mapper **mapper, struct pim_error *error)
{
    struct pim_nearest nearest = {.wanted = name};
    for (size_t i = 0; (*mapper = pim_mapper_at(i)) != NULL; i++) {
        if (strcmp((*mapper)->name, name) == 0)
            return PIM_OK;
        (void)pim_nearest_offer(&nearest, (*mapper)->name);
    }
    return pim_fail(error, PIM_USAGE, "there is no mapper %.60s%s%s", name,
                    PIM_NEAREST(nearest, "; the nearest is "));
}
