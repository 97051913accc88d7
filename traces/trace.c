#include "traces/trace.h"

#include <stddef.h>

const char *pim_estimate_part_name(unsigned part)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_ESTIMATE_MAP(X)
#undef X
    };
    return part < PIM_ESTIMATE_PARTS ? names[part] : NULL;
}
