/*
 * XXH64, compiled in: the streaming state has a known size then, so that it can lie inside other structs, and no release of the shared
 * library can change it under us.
 */
#ifndef PIMSIM_TRACES_HASH_H
#define PIMSIM_TRACES_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#endif
