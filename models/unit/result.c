/* Names of what units account, for reports. */
#include "models/unit/result.h"

const char *pim_wait_name(unsigned wait)
{
    static const char *const names[] = {
#define X(name, text) text,
        PIM_WAIT_MAP(X)
#undef X
    };
    return wait < PIM_WAITS ? names[wait] : NULL;
}

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
