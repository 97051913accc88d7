/* `pimsim bitserial`: what its files share. */
#ifndef PIMSIM_TOOLS_COMMAND_BITSERIAL_RUN_H
#define PIMSIM_TOOLS_COMMAND_BITSERIAL_RUN_H

#include "models/bitserial/reram.h"
#include "models/bitserial/transfer.h"
#include "models/dram/standard/schema.h"

#include <stdio.h>

/* The operations of the model, and a move of rows. */
#define BITSERIAL_OPERATION_NAMES "add|subtract|multiply|copy|transpose|reduce|move"
enum { BITSERIAL_MOVE = PIM_BITSERIAL_OPERATIONS };
#define BITSERIAL_REACH_NAMES "column|bank|channel|stack"
enum bitserial_technology { BITSERIAL_DRAM, BITSERIAL_RERAM };

/* What is asked for, as one line of results names it. */
struct bitserial_task {
    const char *memory; /* name of the configuration */
    unsigned technology;
    unsigned operation; /* enum pim_bitserial_kind, or BITSERIAL_MOVE */
    bool ignore_limits;
    struct pim_bitserial_request request;
    struct pim_bitserial_transfer transfer;
    /* ReRAM */
    struct pim_reram_specification reram;
    uint32_t exponent, mantissa; /* of a floating-point number; mantissa 0: an integer */
};

struct bitserial_outcome {
    struct pim_bitserial_cost cost;              /* of an operation */
    struct pim_bitserial_transfer_cost transfer; /* of a move */
    uint64_t sets, resets, nors, searches;       /* ReRAM */
    double nanoseconds;
    bool checked; /* --verify */
    uint64_t violations;
};

enum pim_status bitserial_report_write(const struct bitserial_task *task,
                                       const struct bitserial_outcome *outcome, unsigned format, FILE *file,
                                       struct pim_error *error);

/* The microprogram of an operation as text, a step a line. */
enum pim_status bitserial_program_write(const struct bitserial_task *task,
                                        const struct pim_dram_configuration *configuration, FILE *file,
                                        struct pim_error *error);

/* Functional mode: reads numbers (`a` or `a,b`, a column of the bank a row of the file), runs the operation
 * on bits, writes `column,result`. */
enum pim_status bitserial_values_run(const struct bitserial_task *task,
                                     const struct pim_dram_configuration *configuration, const char *path,
                                     FILE *file, struct pim_error *error);

#endif
