#include "tools/command/dram/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Some bytes of a block in the file. */
static bool move(struct dram_blocks *blocks, const struct dram_block *block, size_t offset, void *bytes,
                 size_t size, bool out)
{
    const off_t at = (off_t)(block->place * sizeof(struct dram_payload) + offset);
    if (blocks->failed != 0)
        return false;
    errno = 0;
    if (fseeko(blocks->file, at, SEEK_SET) != 0 ||
        (out ? fwrite(bytes, size, 1, blocks->file) : fread(bytes, size, 1, blocks->file)) != 1)
        blocks->failed = errno != 0 ? errno : EIO;
    return blocks->failed == 0;
}

static enum pim_status refuse(const struct dram_blocks *blocks, struct pim_error *error)
{
    return pim_fail(error, PIM_IO, "the temporary file of requests under way failed: %s",
                    strerror(blocks->failed));
}

/* The oldest block in memory goes to the file; those in memory are the newest ones. */
static struct dram_payload *put_away(struct dram_blocks *blocks)
{
    struct dram_block *block = blocks->newest;
    for (unsigned i = 1; i < DRAM_BLOCKS_KEPT; i++)
        block = block->before;
    if (!blocks->file && !(blocks->file = tmpfile())) {
        blocks->failed = errno;
        return NULL;
    }
    if (block->place == UINT64_MAX)
        block->place = blocks->places++;
    if (!move(blocks, block, 0, block->payload, sizeof *block->payload, true))
        return NULL;
    struct dram_payload *payload = block->payload;
    block->payload = NULL;
    return payload;
}

static struct dram_payload *take_payload(struct dram_blocks *blocks)
{
    if (blocks->free_count > 0)
        return blocks->free[--blocks->free_count];
    if (blocks->made == DRAM_BLOCKS_KEPT)
        return put_away(blocks);
    struct dram_payload *payload = calloc(1, sizeof *payload);
    blocks->made += payload != NULL;
    return payload;
}

struct dram_block *dram_blocks_add(struct dram_blocks *blocks, uint64_t first, struct pim_error *error)
{
    struct dram_block *block = blocks->spare;
    if (block)
        blocks->spare = block->next;
    else if ((block = calloc(1, sizeof *block)) != NULL)
        block->place = UINT64_MAX;
    struct dram_payload *payload = block ? take_payload(blocks) : NULL;
    if (!payload) {
        free(block);
        (void)(blocks->failed ? refuse(blocks, error)
                              : pim_fail(error, PIM_NO_MEMORY, "out of memory for %d requests", DRAM_BLOCK));
        return NULL;
    }
    *block = (struct dram_block){
        .before = blocks->newest, .first = first, .payload = payload, .place = block->place};
    for (size_t i = 0; i < DRAM_BLOCK; i++)
        payload->results[i] = (struct dram_result){UINT64_MAX, 0};
    if (blocks->newest)
        blocks->newest->next = block;
    else
        blocks->oldest = block;
    blocks->newest = block;
    return block;
}

void dram_blocks_served(struct dram_blocks *blocks, uint64_t request, uint64_t first_command,
                        uint64_t completed)
{
    struct dram_block *block = blocks->newest;
    while (request < block->first)
        block = block->before;
    const size_t i = (size_t)(request - block->first);
    const size_t offset = offsetof(struct dram_payload, results) + i * sizeof(struct dram_result);
    struct dram_result read = {0, 0}, *result = block->payload ? &block->payload->results[i] : &read;
    if (!block->payload && !move(blocks, block, offset, &read, sizeof read, false))
        return;
    if (first_command < result->first_command)
        result->first_command = first_command;
    if (completed > result->completed)
        result->completed = completed;
    block->served++;
    if (!block->payload)
        (void)move(blocks, block, offset, &read, sizeof read, true);
}

/* A block that is done with leaves the list. */
static void remove_block(struct dram_blocks *blocks, struct dram_block *block)
{
    *(block->before ? &block->before->next : &blocks->oldest) = block->next;
    *(block->next ? &block->next->before : &blocks->newest) = block->before;
    if (block->payload)
        blocks->free[blocks->free_count++] = block->payload;
    block->payload = NULL;
    block->next = blocks->spare;
    blocks->spare = block;
}

/* What a block holds, from the file if it is there. */
static const struct dram_payload *payload_of(struct dram_blocks *blocks, const struct dram_block *block,
                                             struct pim_error *error)
{
    if (block->payload)
        return block->payload;
    if (!blocks->read && !(blocks->read = malloc(sizeof *blocks->read))) {
        (void)pim_fail(error, PIM_NO_MEMORY, "out of memory for %d requests", DRAM_BLOCK);
        return NULL;
    }
    if (move(blocks, block, 0, blocks->read, sizeof *blocks->read, false))
        return blocks->read;
    (void)refuse(blocks, error);
    return NULL;
}

enum pim_status dram_blocks_retire(struct dram_blocks *blocks, void *context,
                                   enum pim_status (*take)(void *context, const struct dram_block *block,
                                                           const struct dram_payload *payload,
                                                           struct pim_error *error),
                                   struct pim_error *error)
{
    if (blocks->failed)
        return refuse(blocks, error);
    for (struct dram_block *block = blocks->oldest, *next; block; block = next) {
        next = block->next;
        if (block->served < block->accesses) {
            if (blocks->ordered)
                break;
            continue;
        }
        const struct dram_payload *payload = payload_of(blocks, block, error);
        if (!payload || take(context, block, payload, error) != PIM_OK)
            return error->status;
        remove_block(blocks, block);
    }
    return PIM_OK;
}

static void destroy(struct dram_block *block)
{
    while (block) {
        struct dram_block *next = block->next;
        free(block->payload);
        free(block);
        block = next;
    }
}

void dram_blocks_terminate(struct dram_blocks *blocks)
{
    destroy(blocks->oldest);
    destroy(blocks->spare);
    for (size_t i = 0; i < blocks->free_count; i++)
        free(blocks->free[i]);
    free(blocks->read);
    if (blocks->file)
        (void)fclose(blocks->file);
    *blocks = (struct dram_blocks){0};
}
