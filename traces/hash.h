/*
 * XXH64, compiled in: the streaming state has a known size then, so that it can lie inside other structs, and no release of the shared
 * library can change it under us.
 */
#ifndef PIMSIM_TRACES_HASH_H
#define PIMSIM_TRACES_HASH_H

/* GCC 12 at -O3 takes a pointer that is only compared for an access before a short array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
