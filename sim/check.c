#include "sim/check.h"

#include <stdio.h>
#include <stdlib.h>

void pim_check_failed(const char *file, int line, const char *text)
{
    (void)fprintf(stderr, "pimsim: internal error: %s:%d: %s\n", file, line, text);
    abort();
}
