/* Names of what units account, for reports. */
#include "models/unit/result.h"
#include "sim/names.h"

PIM_NAMES(pim_wait_name, PIM_WAIT_MAP)

const char *pim_share_name(unsigned share)
{
    static const char *const names[] = {"matrix", "vector", "memory", "network", "waiting"};
    return share < PIM_SHARES ? names[share] : NULL;
}

const char *pim_class_name(unsigned class)
{
    static const char *const names[] = {"pe", "acu", "dram", "noc"};
    return class < PIM_CLASSES ? names[class] : NULL;
}
