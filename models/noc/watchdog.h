/*
 * Says that a network is stuck, and who waits for whom. For every network that pim_noc_get_waiting() knows.
 */
#ifndef PIMSIM_MODELS_NOC_WATCHDOG_H
#define PIMSIM_MODELS_NOC_WATCHDOG_H

#include "models/noc/noc.h"

/* What a waiting packet waits for: an index of another item, or one of these. */
enum {
    PIM_NOC_WAITS_FOR_NOBODY = -1,  /* it can go on by itself, or has just begun a stage */
    PIM_NOC_WAITS_FOR_TERMINAL = -2 /* the terminal behind its output takes no flit */
};

/*
 * The item that `items[index]` waits for:
 *  - no flit in the buffer: the part of the same packet upstream;
 *  - no credit: the packet at the front of the virtual channel downstream that it has;
 *  - no virtual channel: another packet of its router that has one there; else who is at the front of one
 *    there.
 */
int pim_noc_waits_for(const struct pim_noc_waiting *items, size_t count, size_t index);

/*
 * Follows that relation from each item until one comes up again. Writes the indices of the circle, in the
 * order in which each waits for the next, to `circle` (room for `count`) and returns how many there are; 0
 * when nobody waits in a circle. Of several circles the first one found.
 */
size_t pim_noc_find_circle(const struct pim_noc_waiting *items, size_t count, size_t *circle);

/*
 * Ends a run that cannot go on. PIM_DEADLOCK, with how many packets are left, and the circle (or, when there
 * is none, those that wait), one item a line.
 */
enum pim_status pim_noc_report_stuck(const struct pim_noc *noc, struct pim_error *error);

/* Text of one item, for such a report. */
struct pim_noc_waiting_text {
    char text[200];
};
struct pim_noc_waiting_text pim_noc_describe_waiting(const struct pim_noc_waiting *item);

/* What the watchdog saw at its last look; all 0 at first. */
struct pim_noc_watchdog {
    uint64_t checked, delivered, flits;
    bool under_way;
};

/*
 * After `cycle` has been done: whether the network is stuck although packets are under way. It is when
 * nothing will happen in it by itself any more; and with `step_every_cycle`, where something is always
 * done, when no flit moved and no packet arrived between two looks, PIM_NOC_WATCHDOG_CYCLES apart. PIM_OK
 * or pim_noc_report_stuck(). Costs next to nothing.
 */
#define PIM_NOC_WATCHDOG_CYCLES UINT64_C(100000)
enum pim_status pim_noc_watch(struct pim_noc_watchdog *watchdog, const struct pim_noc *noc, uint64_t cycle,
                              struct pim_error *error);

#endif
