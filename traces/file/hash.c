#include "traces/file/hash.h"

#include <assert.h>

uint64_t pim_hash_bytes(const void *bytes, size_t size)
{
    assert(bytes);
    return XXH64(bytes, size, 0);
}

void pim_hash_update(XXH64_state_t *state, const void *bytes, size_t size)
{
    assert(bytes);
    (void)XXH64_update(state, bytes, size);
}
