/* Memories of the functional executor (execute.h): sparse, and every byte knows whether it was written. */
#include "mappers/verify/execute_internal.h"
#include "sim/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Room in the table of pages for the page of `address`. */
static bool make_room(struct pim_execute_memory *memory, size_t page)
{
    size_t before = memory->pages;
    struct pim_execute_page **grown =
        pim_array_grow(memory->page, &memory->pages, page + 1, sizeof *memory->page);
    if (!grown)
        return false;
    memory->page = grown;
    for (size_t i = before; i < memory->pages; i++)
        grown[i] = NULL;
    return true;
}

static enum pim_status check_range(struct pim_execute_memory *memory, uint64_t address, size_t count,
                                   struct pim_error *error)
{
    if (count > memory->limit || address > memory->limit - count)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%zu bytes at %" PRIu64 " of the %s memory: it has %" PRIu64 " bytes", count, address,
                        memory->name, memory->limit);
    if (memory->end < address + count)
        memory->end = address + count;
    return PIM_OK;
}

enum pim_status pim_execute_store(struct pim_execute_memory *memory, uint64_t address, const uint8_t *bytes,
                                  size_t count, struct pim_error *error)
{
    if (check_range(memory, address, count, error) != PIM_OK)
        return error->status;
    while (count > 0) {
        size_t page = (size_t)(address / PIM_EXECUTE_PAGE), offset = (size_t)(address % PIM_EXECUTE_PAGE);
        size_t part = PIM_EXECUTE_PAGE - offset < count ? PIM_EXECUTE_PAGE - offset : count;
        if (page >= memory->pages && !make_room(memory, page))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the %s memory", memory->name);
        if (!memory->page[page] && !(memory->page[page] = calloc(1, sizeof **memory->page)))
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the %s memory", memory->name);
        memcpy(memory->page[page]->byte + offset, bytes, part);
        memset(memory->page[page]->written + offset, true, part);
        address += part;
        bytes += part;
        count -= part;
    }
    return PIM_OK;
}

enum pim_status pim_execute_load(struct pim_execute_memory *memory, uint64_t address, uint8_t *bytes,
                                 size_t count, struct pim_error *error)
{
    if (check_range(memory, address, count, error) != PIM_OK)
        return error->status;
    while (count > 0) {
        size_t page = (size_t)(address / PIM_EXECUTE_PAGE), offset = (size_t)(address % PIM_EXECUTE_PAGE);
        size_t part = PIM_EXECUTE_PAGE - offset < count ? PIM_EXECUTE_PAGE - offset : count;
        const struct pim_execute_page *found = page < memory->pages ? memory->page[page] : NULL;
        const bool *missing = found ? memchr(found->written + offset, false, part) : NULL;
        if (!found || missing)
            return pim_fail(
                error, PIM_BAD_INPUT, "byte %" PRIu64 " of the %s memory is read, and nothing has written it",
                missing ? address + (uint64_t)(missing - (found->written + offset)) : address, memory->name);
        memcpy(bytes, found->byte + offset, part);
        address += part;
        bytes += part;
        count -= part;
    }
    return PIM_OK;
}

void pim_execute_memory_terminate(struct pim_execute_memory *memory)
{
    for (size_t i = 0; i < memory->pages; i++)
        free(memory->page[i]);
    free(memory->page);
}
