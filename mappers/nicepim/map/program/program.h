/*
 * Programs of all nodes of a trace, written phase by phase: appending instructions, when each node is done
 * with them, and memory of nodes.
 */
#ifndef PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_PROGRAM_H
#define PIMSIM_MAPPERS_NICEPIM_MAP_PROGRAM_PROGRAM_H

#include "mappers/estimate/messages.h"
#include "mappers/nicepim/map/energy.h"
#include "mappers/nicepim/map/place.h"
#include "mappers/nicepim/map/plan.h"
#include "mappers/nicepim/map/program/notes.h"
#include "traces/file/writer.h"

#define PROGRAM_NOTHING UINT64_MAX /* no instruction to wait for */

/* Instructions of a node that are timed together with those of the others. */
struct program_gathered {
    struct pim_instruction *instructions;
    uint64_t *end; /* of each */
    size_t count, room, end_room;
    size_t first; /* so many are of the first part of the estimate, the others of the second */
};

struct program {
    const struct nice_plan *plan;
    struct pim_trace_writer *writer; /* NULL: nothing is written, all is counted */
    struct pim_error *error;
    enum pim_status status; /* of the first failure; everything after it does nothing */
    uint32_t nodes, phase, tag;
    bool *open;                       /* which nodes are in the phase */
    uint64_t *sequence;               /* instructions of each node so far */
    uint64_t *top;                    /* memory of each node that is given out */
    uint64_t *scratch, *most_scratch; /* of the present layer, and the most of any; from the end downwards */
    uint64_t *clock;                  /* of each node: when all that it was given is estimated to end */
    uint64_t reached;                 /* the latest clock of the nodes in the phase, up to its last section */
    bool rough;                       /* exchanges take what the busiest link or node needs: for choices */
    bool timed;                       /* nobody asks for actions */
    uint64_t *traffic;                /* bytes on each link, for that */
    struct pim_pace **pace;           /* of each node; of the instructions between program_pace and _paced */
    bool *paced;                      /* those that are in between */
    struct program_gathered *gathered; /* of each node, since program_gather */
    bool gathers;                      /* between program_gather and _gathered */
    uint8_t part[2];                   /* of the estimate, that is gathered; PIM_ESTIMATE_PARTS: none */
    uint64_t macs, cycles;             /* cycles: the latest of all clocks */
    uint64_t parts[PIM_ESTIMATE_PARTS];
    struct pim_estimate_actions actions;  /* of all instructions */
    const struct nice_observer *observer; /* NULL: nobody reads notes */
    const struct nice_note *note;         /* of the instructions that are appended; NULL: none */
    uint32_t image;                       /* that is worked */
};

bool program_initialize(struct program *program, const struct nice_plan *plan,
                        struct pim_trace_writer *writer, struct pim_error *error);
void program_terminate(struct program *program);

/* Phases; `parts` say what the cycles from its first node to its last are spent on. Its estimate in the trace
 * is by how much it moves the end of the run. A node begins a phase when it has ended what it did before. */
void program_begin(struct program *program, const char *name, const char *step);
void program_end(struct program *program, const uint64_t parts[PIM_ESTIMATE_PARTS]);

/* By how much the end of the phase has moved since this was last asked, or since its first node began. */
uint64_t program_section(struct program *program);

/* Loads, stores, products and vector operations that the node is appended from here on, up to the other call,
 * are timed as it works them. */
void program_pace(struct program *program, uint32_t node);
void program_paced(struct program *program, uint32_t node);
/* The same of all nodes. */
void program_pace_all(struct program *program);
void program_paced_all(struct program *program);

/*
 * All that nodes are appended from here on, up to the other call, is timed together, their messages as well:
 * none of it before. It counts for `part` of the estimate, and for another one from a second call on.
 */
void program_gather(struct program *program, enum pim_estimate_part part);
void program_gathered(struct program *program, uint64_t parts[PIM_ESTIMATE_PARTS]);

/* All nodes are where they began, with no rows open in their memories. */
void program_rewind(struct program *program);

/* Hands over what no instruction says: at this point of the program of the node. */
void program_note(struct program *program, uint32_t node, const struct nice_note *note);

/* Appends an instruction of a node, which waits for up to two others of it; gives its number. */
uint64_t program_append(struct program *program, uint32_t node, struct pim_instruction instruction,
                        uint64_t after, uint64_t after2);
uint64_t program_memory(struct program *program, uint32_t node, enum pim_opcode opcode,
                        enum pim_buffer buffer, uint64_t address, uint64_t bytes, uint64_t after);
/* A part of a place of tensor `layer`, in as many instructions as it has bursts; gives the last. */
uint64_t program_part(struct program *program, uint32_t node, enum pim_opcode opcode, enum pim_buffer buffer,
                      uint32_t layer, const struct place *place, const struct grid part[PLACE_DIMENSIONS],
                      uint64_t after);
/* A whole place with its padding, in one run. */
uint64_t program_store_place(struct program *program, uint32_t node, uint32_t layer,
                             const struct place *place, uint64_t after);
uint64_t program_vector(struct program *program, uint32_t node, enum pim_vector operation, uint64_t rows,
                        uint64_t elements, uint64_t release, uint32_t bits, uint64_t after, uint64_t after2);
void program_join(struct program *program, uint32_t node);

/* Memory: for good, and until the next layer. */
uint64_t program_allocate(struct program *program, uint32_t node, uint64_t bytes);
uint64_t program_borrow(struct program *program, uint32_t node, uint64_t bytes);
void program_give_back(struct program *program);

#endif
