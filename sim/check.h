/*
 * Three levels of statements about our own code. Bad input is never one of them: that is a status.
 *
 *  1. pim_check(condition, text): cheap, and what it guards against would otherwise be a wrong number that
 *     looks right (an event in the past, a delay that overflows, a value that is cut when it is stored).
 *     Stays in every build.
 *  2. assert(condition): gone with NDEBUG, that is in release builds.
 *  3. if (PIM_DEEP_CHECKS) ...: whole structures are walked. Compiled in every build, executed where the
 *     build was configured with -DPIMSIM_DEEP_CHECKS=ON. docs/building.md has what each level costs.
 *
 * All of them end the process by abort() after a line with file, line and text.
 */
#ifndef PIMSIM_SIM_CHECK_H
#define PIMSIM_SIM_CHECK_H

#include "sim/status.h"

#include <stddef.h>
#include <stdint.h>

/* Traces are read and written as they lie in memory, and sizes of files and tables are counted in size_t. */
_Static_assert(sizeof(size_t) == 8, "pimsim needs a 64-bit machine");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pimsim needs a little-endian machine"
#endif

#if defined(PIMSIM_DEEP_CHECKS)
enum { PIM_DEEP_CHECKS = 1 };
#else
enum { PIM_DEEP_CHECKS = 0 };
#endif

#if defined(__GNUC__)
#define PIM_COLD __attribute__((cold, noinline))
#else
#define PIM_COLD
#endif

/* "pimsim: internal error: FILE:LINE: TEXT" on standard error, then abort(). The one function where a
 * debugger stops for all failed checks. */
_Noreturn void pim_check_failed(const char *file, int line, const char *text) PIM_COLD;

#define pim_check(condition, text)                                                                           \
    (PIM_LIKELY(condition) ? (void)0 : pim_check_failed(__FILE__, __LINE__, (text)))

/* A value that is stored in fewer bits: of an instruction, of a record of a file. */
static inline uint32_t pim_narrow_32(uint64_t value)
{
    pim_check(value <= UINT32_MAX, "a value does not fit 32 bits");
    return (uint32_t)value;
}

static inline uint16_t pim_narrow_16(uint64_t value)
{
    pim_check(value <= UINT16_MAX, "a value does not fit 16 bits");
    return (uint16_t)value;
}

#endif
