/* What the files of this folder share: a plan on its way into a trace. */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_EMIT_EMISSION_H
#define PIMSIM_MAPPERS_OVERLAPIM_EMIT_EMISSION_H

#include "mappers/overlapim/emit/real.h"
#include "mappers/overlapim/plan.h"
#include "traces/file/writer.h"

struct pim_emission {
    const struct pim_overlapim_plan *plan;
    const struct pim_layer_mapping *mappings;
    struct pim_trace_writer *writer;
    const struct pim_messages *messages;
    uint64_t *received;         /* by flow: messages that the channel which is being written has got */
    struct pim_column_use *use; /* by layer */
    struct pim_real *real;      /* by layer */
    struct pim_error *error;
};

/* Receives that an instruction that works on rows comes behind: all others of a row are behind these. */
enum { PIM_EMISSION_AWAITED = 16, PIM_EMISSION_AWAITED_AT_ONCE = PIM_DEPENDENCIES - 1 };

/* A layer on a channel. */
struct pim_emission_program {
    struct pim_emission *emission;
    uint32_t layer, channel, unit;
    uint64_t at;                            /* instructions of this phase so far */
    uint64_t ordered;                       /* number of the latest one that works on rows, from 1; 0: none */
    uint64_t received;                      /* of the latest receive */
    uint64_t awaited[PIM_EMISSION_AWAITED]; /* numbers of receives that the next ones come behind */
    uint32_t awaits;                        /* so many */
};

uint32_t pim_emission_unit(const struct pim_emission *emission, uint32_t layer, uint32_t channel);
uint32_t pim_emission_banks(const struct pim_emission *emission, uint32_t layer); /* of a channel */
uint32_t pim_emission_channels(const struct pim_emission *emission, uint32_t layer);
enum pim_status pim_emission_put(const struct pim_emission *emission, uint32_t unit,
                                 const struct pim_instruction *instruction);

/* The row at which words of a layer that are not named otherwise begin. */
uint32_t pim_emission_row(const struct pim_emission *emission, uint32_t layer, uint32_t word);

/* Rows of each of `banks` banks that one instruction may move from `from` to the landing of `to`, with half
 * of a bank for what comes meanwhile. */
uint64_t pim_emission_rows_at_once(const struct pim_emission *emission, uint32_t from, uint32_t to,
                                   uint32_t banks);

/* The distance from the next instruction back to number `number`; 0: none, or too far to name. */
uint16_t pim_emission_distance(const struct pim_emission_program *program, uint64_t number);

/* Appends an instruction that works on rows: behind the one before it, and behind two receives. */
enum pim_status pim_emission_ordered(struct pim_emission_program *program,
                                     struct pim_instruction *instruction);

/* Of `rows` rows that are moved, those that the next instruction moves, behind two receives: as many are left
 * that others come behind the other receives. */
uint64_t pim_emission_rows_of_part(const struct pim_emission_program *program, uint64_t rows);

/* `count` operations on rows that stand for others, from row `first` on; banks are set by the caller. */
struct pim_instruction pim_emission_operation(unsigned operation, uint64_t count, uint64_t bits,
                                              uint64_t size, uint32_t word, uint32_t first);
/* Appends them, on all banks of the layer; none when there are none. */
enum pim_status pim_emission_compute(struct pim_emission_program *program, unsigned operation, uint64_t count,
                                     uint64_t bits, uint64_t size);

/* --- flows.c --- */

/* Receives what row `row` needs of a producer and this channel has not got, before `moved` rows are moved. */
enum pim_status pim_emission_receives(struct pim_emission_program *program, uint64_t row, uint32_t link,
                                      uint64_t moved);
enum pim_status pim_emission_sends(struct pim_emission_program *program, uint64_t rows);

/* A message of a flow from a unit to another, in as many instructions as its rows need, behind the
 * instruction `after` back; 0: behind none. */
enum pim_status pim_emission_message(struct pim_emission_program *program, const struct pim_layer_flow *flow,
                                     bool send, uint32_t from, uint32_t to,
                                     const struct pim_layer_message *message, uint16_t after);

#endif
