/*
 * XXH64, compiled in: the streaming state has a known size then, so that it can lie inside other structs, and
 * no release of the shared library can change it under us.
 */
#ifndef PIMSIM_TRACES_FILE_HASH_H
#define PIMSIM_TRACES_FILE_HASH_H

/* GCC 12 at -O3 takes a pointer that is only compared for an access before a short array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stddef.h>
#include <stdint.h>

/*
 * XXH64 of `size` bytes with seed 0: what the trace format calls the hash of these bytes. `bytes` is never
 * NULL.
 */
uint64_t pim_hash_bytes(const void *bytes, size_t size);

/* Goes on with a hash that XXH64_reset(state, 0) began. */
void pim_hash_update(XXH64_state_t *state, const void *bytes, size_t size);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
