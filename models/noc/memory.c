/* Memory for the big arrays of a network. */
#include "models/noc/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *obtain(size_t count, size_t size)
{
    void *items = NULL;
    if (size != 0 && count > (SIZE_MAX - NOC_LINE) / size)
        return NULL;
    size_t bytes = count * size + (count * size == 0), huge = bytes / NOC_HUGE_PAGE * NOC_HUGE_PAGE;
    if (posix_memalign(&items, huge ? (size_t)NOC_HUGE_PAGE : (size_t)NOC_LINE, bytes) != 0)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (huge)
        (void)madvise(items, huge, MADV_HUGEPAGE); /* a wish: without it the results are the same */
#endif
    memset(items, 0, bytes);
    return items;
}

void *pim_noc_allocate(size_t count, size_t size, bool *failed)
{
    void *items = obtain(count, size);
    *failed |= !items;
    return items;
}
