#include "mappers/network/onnx/names.h"

#include <string.h>
#include <xxhash.h>

enum { FIRST_SLOTS = 64 };

/* Where `name` is, or the free slot in which it would be. The table is never full. */
static uint32_t slot_of(const struct pim_onnx_names *names, const char *name)
{
    uint32_t at = (uint32_t)XXH64(name, strlen(name), 0) & (names->slots - 1);
    while (names->name[at] && strcmp(names->name[at], name) != 0)
        at = (at + 1) & (names->slots - 1);
    return at;
}

uint32_t pim_onnx_names_find(const struct pim_onnx_names *names, const char *name)
{
    if (names->used == 0)
        return UINT32_MAX;
    uint32_t at = slot_of(names, name);
    return names->name[at] ? names->number[at] : UINT32_MAX;
}

static void grow(struct pim_onnx_names *names)
{
    struct pim_onnx_names larger = {.arena = names->arena,
                                    .slots = names->slots ? names->slots * 2 : FIRST_SLOTS};
    larger.name =
        pim_arena_require_array(names->arena, larger.slots, sizeof *larger.name, _Alignof(const char *));
    larger.number =
        pim_arena_require_array(names->arena, larger.slots, sizeof *larger.number, _Alignof(uint32_t));
    for (uint32_t i = 0; i < names->slots; i++)
        if (names->name[i])
            pim_onnx_names_put(&larger, names->name[i], names->number[i]);
    *names = larger;
}

void pim_onnx_names_put(struct pim_onnx_names *names, const char *name, uint32_t number)
{
    if (names->used >= names->slots / 4 * 3)
        grow(names);
    uint32_t at = slot_of(names, name);
    if (!names->name[at]) {
        names->name[at] = name;
        names->used++;
    }
    names->number[at] = number;
}
