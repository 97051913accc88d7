/*
 * What a trace says besides its programs: the description, the phases with the mapper's estimates, and
 * behaviour tables.
 *
 * A trace is one self-contained file: the hardware configuration it was made for, one program per unit, the
 * phases that work is attributed to, and the closed-form estimate of each phase. docs/trace-format.md gives
 * the bytes.
 */
#ifndef PIMSIM_TRACES_TRACE_H
#define PIMSIM_TRACES_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* The parts an estimate is made of. PIM_ESTIMATE_MAP's X(name, text) */
#define PIM_ESTIMATE_MAP(X)                                                                                  \
    X(PIM_ESTIMATE_COMPUTE, "compute")                                                                       \
    X(PIM_ESTIMATE_VECTOR, "vector")                                                                         \
    X(PIM_ESTIMATE_MEMORY, "memory")                                                                         \
    X(PIM_ESTIMATE_TRANSFER, "transfer")                                                                     \
    X(PIM_ESTIMATE_WEIGHT_SHARING, "weight_sharing")

enum pim_estimate_part {
#define X(name, text) name,
    PIM_ESTIMATE_MAP(X)
#undef X
        PIM_ESTIMATE_PARTS
};

/*
 * The terms of the equations of the publication that a mapper follows, where it has some, for one phase: what
 * units compute, what they give to each other, and how weights go round. X(name, text)
 */
#define PIM_EQUATION_MAP(X)                                                                                  \
    X(PIM_EQUATION_COMPUTATION, "computation")                                                               \
    X(PIM_EQUATION_TRANSFER, "transfer")                                                                     \
    X(PIM_EQUATION_WEIGHT_SHARING, "weight_sharing")

enum pim_equation_term {
#define X(name, text) name,
    PIM_EQUATION_MAP(X)
#undef X
        PIM_EQUATION_TERMS
};

/* Bounds of the format: a writer, the assembler and the reader refuse what is beyond them. */
enum {
    PIM_TRACE_UNITS = 1 << 20,        /* units, and places of the node array */
    PIM_TRACE_PHASES = 1 << 20,       /* phases */
    PIM_TRACE_NAME = 1 << 12,         /* bytes of a family or phase name */
    PIM_TRACE_TEXT = 1 << 24,         /* bytes of network, mapping, configuration: each */
    PIM_TRACE_CHUNK = 1024,           /* instructions in a chunk */
    PIM_REPEAT_LENGTH = 1023,         /* instructions in a repeat block: with its REPEAT it fits a chunk */
    PIM_TRACE_ROUTERS = 1 << 20,      /* routers that have a behaviour table */
    PIM_TRACE_PORTS = 256,            /* of a router */
    PIM_TRACE_ARRAY_GROUPS = 1 << 24, /* array groups of all units together */
    PIM_TRACE_BEHAVIOURS = 1 << 26    /* entries of all behaviour tables together */
};

/* Texts are never NULL in what a reader hands out; a writer copies them and takes NULL as "". */
struct pim_trace_description {
    const char *family;            /* which mapper and kind of hardware: "allspark" */
    const char *network, *mapping; /* free text: "swin-t 224x224", "partition 4,3" */
    const char *configuration;     /* hardware configuration, libconfig text: the default for `pimsim run` */
    uint32_t width, height;        /* node array: unit u sits at x = u % width, y = u / width */
    uint32_t units;                /* 1 to width * height */
    uint64_t macs; /* multiply-accumulates of the network, as the mapper counts them; 0 = not stated */
    uint64_t padding_macs; /* executed on top of it by padding */
    uint64_t weight_bytes; /* distinct weight bytes of the network that were placed */
};

struct pim_trace_phase {
    const char *name;                            /* "stage1/block0/layer0/query" */
    uint64_t estimate_cycles;                    /* of the logic clock */
    uint64_t estimate_parts[PIM_ESTIMATE_PARTS]; /* of the logic clock; they may overlap, so their sum need
                                                    not be the whole */
    bool has_equations; /* the published equations have a term for this phase; else the terms are 0 */
    uint64_t equation_terms[PIM_EQUATION_TERMS]; /* of the logic clock; their sum is the whole */
};

/*
 * One entry of a router's behaviour table, in the order in which the router works them: a packet of `task`
 * goes from port `start` to port `end`. What a port number means is the interconnect's; they are below
 * PIM_TRACE_PORTS.
 */
struct pim_trace_behaviour {
    uint32_t task, start, end;
};

/*
 * An array group of a unit with crossbars, as `mvm` instructions name it by its number (groups of a unit are
 * numbered from 0): a block of a layer's weight matrix in crossbar arrays that share their inputs.
 *
 * The canonical weight matrix of a layer has a row for each element of the window, in the order (row of the
 * kernel, column of the kernel, input channel), and a column for each output channel. The group multiplies
 * the `rows` elements of the window from `row` on with `columns` output channels from `column` on. Unfoldings
 * that apply one input to several positions of the kernel have `folds` > 1: fold f holds the canonical rows
 * from row + f * fold_stride on, and its outputs follow those of fold f - 1; so an MVM has `rows` inputs and
 * folds * columns outputs.
 *
 * `blocks` > 1: the group holds so many blocks of equal size that share neither rows nor columns; the other
 * cells are 0. A layer with such groups (a grouped convolution) may have its canonical rows in the order
 * (bundle of channels, row of the kernel, column of the kernel, channel of the bundle), so that the rows of a
 * group stand together.
 *
 * `set` says when the weights are in the arrays: 0, from the beginning; else the program writes them
 * (ARRAY_WRITE), and sets of a unit take each other's place: the first row that is written of another set
 * takes the arrays of all groups of the one before. Sets ascend in the order of the groups.
 */
struct pim_trace_array_group {
    uint32_t layer;           /* of the network, as the mapper numbers them */
    uint32_t arrays;          /* crossbar arrays that it occupies, at least 1 */
    uint32_t row, rows;       /* rows >= 1 */
    uint32_t column, columns; /* columns >= 1 */
    uint32_t folds;           /* at least 1 */
    uint32_t fold_stride;     /* 0 when there is one fold */
    uint32_t blocks;          /* 0: every cell may hold a weight; else at least 2, and one fold */
    uint32_t set;             /* 0: holds its weights from the beginning */
};

/* The text of a part; NULL for a value outside the table. */
const char *pim_estimate_part_name(unsigned part);
const char *pim_equation_term_name(unsigned term);

/* The sum of the terms, UINT64_MAX where it is beyond; 0 for a phase without equations. */
uint64_t pim_trace_phase_equations(const struct pim_trace_phase *phase);

#endif
