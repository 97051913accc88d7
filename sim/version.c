/*
 * The version of the library. PIMSIM_VERSION is the build's, taken from the numbers in the public header.
 */
#include "include/pimsim/pimsim.h"

const char *pimsim_version(void)
{
    return PIMSIM_VERSION;
}
