/*
 * The sequencer of a channel: issues the row and column commands of microprograms on banks, each as early as
 * the constraints of the specification allow.
 *
 * Rules, in the order in which hardware applies them:
 *  1. A bank works its steps in order. The commands of a step: ACT, ACT2, PRE (AAP); ACT, RD ..., PRE (READ);
 *     ACT, WR ..., PRE (WRITE). Cycle 0 is the first in which a command may issue.
 *  2. A command issues in the first cycle in which every constraint of the table holds (models/dram), its bus
 *     is free (one row and one column command a cycle with split buses, else one command), and, for WR, the
 *     data of its slot are there: their last cycle is before tCWL has passed.
 *  3. Of several commands that could issue in a cycle on one bus: REF, then column commands, ACT2, PRE, ACT;
 *     then the bank that has done fewer steps; then the bank of the lower number. So banks take turns.
 *  4. Refresh (all banks of a rank): from the cycle on in which one is due, no step begins in the rank; when
 *     its banks are closed, REF. Refreshes are due every tREFI cycles and are not postponed. Compute rows are
 *     refreshed like any other.
 *  5. The end is the first cycle in which every bank could be activated again: the last PRE and its tRP.
 *
 * The sequencer goes from command to command. Without a log, runs of equal steps and repetitions of programs
 * are cut short: when the relative state of the channel repeats (who is where in its step, and how long ago
 * everything was that a constraint can still see), whole periods are skipped. The state is complete, so the
 * cycles are the same.
 */
#ifndef PIMSIM_MODELS_BITSERIAL_SEQUENCER_H
#define PIMSIM_MODELS_BITSERIAL_SEQUENCER_H

#include "models/bitserial/program.h"
#include "models/dram/channel/channel.h"

/* What a bank works. Slots of the buffer are numbered through the channel. */
struct pim_bitserial_work {
    uint32_t bank; /* in the channel: rank x banks of a rank + bank group x banks of a group + bank */
    const struct pim_bitserial_program *program;
    uint64_t repeat;     /* times, one after another */
    uint32_t first_slot; /* of the program's slot 0 */
};

struct pim_bitserial_schedule {
    const struct pim_dram_specification *specification; /* checked */
    bool refresh;
    bool stepped;                          /* no shortcut */
    const struct pim_bitserial_work *work; /* one a bank, in the order in which they take turns */
    uint32_t work_count;
    uint32_t slots;
    uint16_t channel; /* in the records of the log */
    /* For each slot the cycle in which its data are there, or UINT64_MAX: a READ of this run brings them.
     * NULL: all are brought by this run. After the run: the cycle in which they were. */
    uint64_t *slot_ready;
    /* Called for each command, in rising cycles. NULL: no log. */
    void (*log)(void *context, const struct pim_dram_record *record);
    void *context;
};

struct pim_bitserial_timing {
    uint64_t cycles;    /* rule 5 */
    uint64_t last_data; /* end of the last data of a READ or WRITE; 0 without */
    uint64_t steps;     /* of all banks */
    uint64_t issued;    /* commands that were not skipped as part of a period */
    uint64_t commands[PIM_DRAM_COMMANDS];
};

/* PIM_NO_MEMORY, or PIM_BAD_INPUT when a run is longer than 2^62 cycles. */
enum pim_status pim_bitserial_sequence(const struct pim_bitserial_schedule *schedule,
                                       struct pim_bitserial_timing *timing, struct pim_error *error);

/* The bank that takes turn `index`: bank groups first, so that neighbours are in different groups. */
uint32_t pim_bitserial_bank_in_turn(const struct pim_dram_organization *organization, uint32_t index);

#endif
