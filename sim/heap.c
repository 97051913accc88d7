#include "sim/heap.h"

#include <errno.h>
#include <stddef.h>

/* Of jemalloc (mallctl(3)); without it there is no such function. */
extern int mallctl(const char *name, void *old, size_t *old_length, void *new, size_t new_length)
    __attribute__((weak));

bool pim_heap_reserve(unsigned thread)
{
    unsigned own = 0;
    size_t length = sizeof own;
    if (!mallctl || mallctl("thread.arena", &own, &length, NULL, 0) != 0)
        return true;
    /* Going to an arena makes it. Beyond the last one (EFAULT) threads share those that are there. */
    if (mallctl("thread.arena", NULL, NULL, &thread, sizeof thread) == EAGAIN)
        return false;
    (void)mallctl("thread.arena", NULL, NULL, &own, sizeof own);
    return true;
}
