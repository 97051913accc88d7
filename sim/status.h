/*
 * Errors as values.
 *
 * A function that can fail because of its input returns `enum pim_status` and takes, as its last parameter, a
 * `struct pim_error *` (never NULL) that receives a message: what is wrong, where, and what would be right. A
 * bug of our own is an assert.
 *
 *     if (width == 0)
 *         return pim_fail(error, PIM_BAD_INPUT, "%s:%d: noc.width is 0: allowed are 1 to 1024", file, line);
 *
 * A caller that knows more about the place adds it in front and passes the status on:
 *
 *     return pim_fail_in(error, "phase 3 of unit 17");      ->  "phase 3 of unit 17: <message>"
 */
#ifndef PIMSIM_SIM_STATUS_H
#define PIMSIM_SIM_STATUS_H

/* X(name, exit code of the pimsim command, text) */
#define PIM_STATUS_MAP(X)                                                                                    \
    X(PIM_OK, 0, "done")                                                                                     \
    X(PIM_BAD_INPUT, 1, "bad input")                                                                         \
    X(PIM_NO_MEMORY, 1, "out of memory")                                                                     \
    X(PIM_IO, 1, "input or output failed")                                                                   \
    X(PIM_USAGE, 2, "wrong usage")                                                                           \
    X(PIM_DEADLOCK, 3, "deadlock")                                                                           \
    X(PIM_INTERNAL, 4, "internal error")

enum pim_status {
#define X(name, code, text) name,
    PIM_STATUS_MAP(X)
#undef X
};

struct pim_error {
    enum pim_status status;
    char text[2048]; /* without a final newline; "" while status is PIM_OK */
};

#if defined(__GNUC__)
#define PIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define PIM_NOINLINE __attribute__((noinline))
#ifdef PIMSIM_SANITIZED /* copies with a check at each access take minutes to compile */
#define PIM_ALWAYS_INLINE inline
#else
#define PIM_ALWAYS_INLINE inline __attribute__((always_inline))
#endif
#define PIM_PREFETCH(address) __builtin_prefetch(address, 1)
#define PIM_LIKELY(x) __builtin_expect(!!(x), 1)
#define PIM_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define PIM_PRINTF(text, first)
#define PIM_NOINLINE
#define PIM_ALWAYS_INLINE inline
#define PIM_PREFETCH(address) ((void)(address))
#define PIM_LIKELY(x) (x)
#define PIM_UNLIKELY(x) (x)
#endif

/* Sets status and message (a longer message is cut) and returns `status`, which must not be PIM_OK. */
enum pim_status pim_fail(struct pim_error *error, enum pim_status status, const char *format, ...)
    PIM_PRINTF(3, 4);

/* Puts "<context>: " in front of the message that is there and returns its status. */
enum pim_status pim_fail_in(struct pim_error *error, const char *format, ...) PIM_PRINTF(2, 3);

#if defined(__clang_analyzer__)
/* The static analyser sees one file at a time: this tells it that a failure is never PIM_OK. */
static inline enum pim_status pim_not_ok(struct pim_error *error, enum pim_status returned,
                                         enum pim_status status)
{
    error->status = status;
    return returned == status ? returned : status;
}
#define pim_fail(error, status, ...) pim_not_ok(error, pim_fail(error, status, __VA_ARGS__), status)
#define pim_fail_in(error, ...) pim_not_ok(error, pim_fail_in(error, __VA_ARGS__), PIM_BAD_INPUT)
#endif

/* The exit code of the pimsim command, and a short text, for a status. */
int pim_status_exit_code(enum pim_status status);
const char *pim_status_text(enum pim_status status);

#endif
