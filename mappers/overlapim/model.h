/*
 * The PIM performance model: what a step of a mapped layer costs, and what it needs of the memory.
 *
 * In a step every column of a bank multiplies its operands (temporal loops behind the cut, one product after
 * another), adds what it reduces itself, and groups of columns that reduce together are summed through the
 * controller. Inputs are written into their rows when the step reads others than the step before; sums that
 * banks share are moved and added; finished outputs are read, transposed on the way, and wait for their
 * consumers.
 *
 * Costs are averages over the steps of a layer, rounded up: loads and stores happen in some of them.
 */
#ifndef PIMSIM_MAPPERS_OVERLAPIM_MODEL_H
#define PIMSIM_MAPPERS_OVERLAPIM_MODEL_H

#include "mappers/nest/space.h"
#include "mappers/overlapim/layers.h"
#include "mappers/overlapim/machine.h"

/* Levels of the loops of a nest that this mapper makes. */
enum pim_nest_level { PIM_LEVEL_MEMORY, PIM_LEVEL_CHANNEL, PIM_LEVEL_BANK, PIM_LEVEL_COLUMN };

/* Ticks of an average step, by what they are spent on. X(member, text) */
#define PIM_STEP_PARTS(X)                                                                                    \
    X(multiply, "multiplication")                                                                            \
    X(add, "addition in columns")                                                                            \
    X(reduce_move, "moves of the reduction between columns")                                                 \
    X(reduce_add, "additions of the reduction between columns")                                              \
    X(input, "writing inputs")                                                                               \
    X(partial, "partial sums between banks and channels")                                                    \
    X(output, "reading and transposing outputs")                                                             \
    X(refresh, "refreshes")

struct pim_step_cost {
#define X(member, text) uint64_t member;
    PIM_STEP_PARTS(X)
#undef X
    uint64_t total;
    uint64_t rows;     /* that a column needs, weights of all steps included */
    uint64_t load;     /* ticks of writing the inputs of a step that reads others than the step before */
    uint64_t loads;    /* such steps */
    uint64_t store;    /* ticks of partial sums, of what follows them, and of outputs, when they are final */
    uint64_t channels; /* that the layer uses */
    uint64_t banks;    /* of a channel */
    uint64_t stores;   /* steps after which outputs are final */
    uint64_t sent;     /* rows of outputs of a bank in all of them */
    uint64_t transfer; /* from the end of such a step until its outputs are at another channel of the stack */
};

/* What a nest's shape says about the column level and the banks around it. */
struct pim_column_use {
    uint64_t lanes;         /* columns of a bank at work */
    uint64_t products;      /* one after another in a column */
    uint64_t outputs;       /* of them, different outputs */
    uint64_t width;         /* columns that reduce together */
    uint64_t banks, shared; /* banks at work, and of them those that reduce together */
    uint64_t channels;
    uint64_t weights, inputs; /* words of a column in a step */
    uint64_t resident;        /* words of weights of a column in all steps */
    uint64_t input_loads;     /* steps that read other inputs than the step before */
    uint64_t weight_loads;    /* steps that use other weights than the step before */
    uint64_t output_stores;   /* steps after which outputs are final */
    uint64_t open;            /* output tiles that have begun and are not final, at most */
    bool carried;             /* sums go on from step to step */
};

void pim_column_use(const struct pim_mapped_layer *layer, const struct pim_nest *nest,
                    const struct pim_strides *strides, struct pim_column_use *use);

/* Of the loads and stores of a layer, those of data spaces that exist: a transformed layer fills its rows
 * with them, one in a row at most; where factors do not divide it has fewer rows than steps. */
void pim_column_use_existing(const struct pim_mapped_layer *layer, const struct pim_nest *nest,
                             const struct pim_strides *strides, struct pim_column_use *use);

/* False, with the rows needed in cost->rows, when a column has not enough rows. */
bool pim_step_cost(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                   const struct pim_mapping_space *space, const struct pim_nest *nest,
                   const struct pim_strides *strides, struct pim_step_cost *cost);

/*
 * What passing a producer's outputs to a consumer takes. They are sent where the consumer waits for them: in
 * as many messages as the one has steps that store outputs, or the other has steps, whichever is fewer. They
 * come as whole rows, shared out over the consumer's channels, and are written into its banks between its
 * steps. Writing begins with the first row: for a consumer that waits, it is over with the message.
 */
struct pim_handover {
    uint64_t message; /* from the end of the producer's step until it is there */
    uint64_t sent;    /* of that, until the next message may follow it out of the producer's channels */
    uint64_t writing; /* of all messages, what takes the consumer's banks, an average step */
    uint64_t ready;   /* from the end of the producer's step until a step with its writing may begin */
    uint64_t bus;     /* of the message, what takes the bus between stacks */
    uint64_t all_bus; /* of all messages */
};

/* The first channel of the producer, counted over all stacks, and that of the consumer. */
struct pim_way {
    uint32_t from, to;
};

struct pim_handover pim_hand_over(const struct pim_machine *machine, const struct pim_step_cost *producer,
                                  const struct pim_step_cost *consumer, uint64_t consumer_steps,
                                  struct pim_way way);

/* What a message takes: `rows` rows of each bank, from each channel of the producer to each of the
 * consumer. */
struct pim_message_cycles {
    uint64_t read;         /* of the producer's banks; where they receive as well, of both */
    uint64_t out, in, bus; /* of links out of its channels, of those into the consumer's, of the bus */
    uint64_t write;        /* of the consumer's banks */
};

struct pim_message_cycles pim_message_cycles(const struct pim_machine *machine,
                                             const struct pim_step_cost *producer,
                                             const struct pim_step_cost *consumer, uint64_t rows,
                                             struct pim_way way);

/* No mapping of the layer on so many channels takes less: all columns of all banks multiply all the time. */
uint64_t pim_layer_bound(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                         uint32_t channels);

#endif
