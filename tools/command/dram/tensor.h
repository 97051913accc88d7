/* A window of a tensor as a request list of `pimsim dram`: the layouts of traces/layout.h. */
#ifndef PIMSIM_TOOLS_COMMAND_DRAM_TENSOR_H
#define PIMSIM_TOOLS_COMMAND_DRAM_TENSOR_H

#include "models/dram/memory.h"
#include "models/dram/standard/schema.h"
#include "traces/layout.h"

#define DRAM_LAYOUT_NAMES "bchw|bhwc|bchw_g"
enum { DRAM_LAYOUT_BCHW_G = 2 }; /* its place among them */

/* As given on the command line. */
struct dram_tensor {
    const char *extents;    /* "[B,]C,H,W" */
    const char *window;     /* "[FIRST:COUNT,]FIRST:COUNT,FIRST:COUNT,FIRST:COUNT"; NULL: all of it */
    unsigned layout;        /* of DRAM_LAYOUT_NAMES */
    uint64_t group;         /* bchw_g: channels stored together */
    uint64_t element_bytes; /* at most PIM_LAYOUT_ELEMENT_MAX */
    uint64_t address;       /* of the first element */
    bool write;
};

/* The rules of its options (tools/command/options.h). */
#define OPTIONS_TENSOR(tensor)                                                                               \
    {.name = "tensor",                                                                                       \
     .kind = OPTION_TEXT,                                                                                    \
     .target = &(tensor).extents,                                                                            \
     .argument = "[B,]C,H,W",                                                                                \
     .help = "Reads a tensor instead: batches, channels, rows, columns"},                                    \
        {.name = "window",                                                                                   \
         .kind = OPTION_TEXT,                                                                                \
         .target = &(tensor).window,                                                                         \
         .argument = "WINDOW",                                                                               \
         .help = "Only a part of it: FIRST:COUNT of each extent, with commas"},                              \
        {.name = "layout",                                                                                   \
         .kind = OPTION_CHOICE,                                                                              \
         .target = &(tensor).layout,                                                                         \
         .argument = "LAYOUT",                                                                               \
         .choices = DRAM_LAYOUT_NAMES,                                                                       \
         .help = "How the tensor lies in memory",                                                            \
         .standard = "bchw"},                                                                                \
        {.name = "group",                                                                                    \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(tensor).group,                                                                          \
         .argument = "N",                                                                                    \
         .help = "bchw_g: channels that are stored together",                                                \
         .standard = "2",                                                                                    \
         .minimum = 1,                                                                                       \
         .maximum = PIM_LAYOUT_EXTENT_MAX},                                                                  \
        {.name = "element-bytes",                                                                            \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(tensor).element_bytes,                                                                  \
         .argument = "N",                                                                                    \
         .help = "Bytes of an element of the tensor",                                                        \
         .standard = "2",                                                                                    \
         .minimum = 1,                                                                                       \
         .maximum = PIM_LAYOUT_ELEMENT_MAX},                                                                 \
        {.name = "address",                                                                                  \
         .kind = OPTION_UNSIGNED,                                                                            \
         .target = &(tensor).address,                                                                        \
         .argument = "BYTE",                                                                                 \
         .help = "Where the tensor begins",                                                                  \
         .standard = "0",                                                                                    \
         .maximum = UINT64_MAX},                                                                             \
    {                                                                                                        \
        .name = "write-tensor", .kind = OPTION_FLAG, .target = &(tensor).write,                              \
        .help = "Writes the window instead of reading it"                                                    \
    }

/* Reads and checks extents and window. PIM_USAGE: wrong syntax; PIM_BAD_INPUT: impossible sizes. */
enum pim_status dram_tensor_parse(const struct dram_tensor *tensor, struct pim_layout *layout,
                                  struct pim_layout_window *window, struct pim_error *error);

/* The requests of a window that are still to come. */
struct dram_tensor_walk {
    struct pim_layout layout;
    struct pim_layout_cursor cursor; /* of `layout`: a walk does not move in memory */
    struct pim_layout_burst burst;
    uint64_t piece;   /* of the burst, the next one */
    uint64_t at, end; /* column accesses of the present piece that are not made yet */
    uint64_t access;  /* bytes of one */
    bool write;
};

/* `cost`: what the requests amount to if addresses that follow one another lie in one row. */
enum pim_status dram_tensor_start(struct dram_tensor_walk *walk, const struct dram_tensor *tensor,
                                  const struct pim_dram_configuration *configuration,
                                  struct pim_layout_cost *cost, struct pim_error *error);
/*
 * The next request; false at the end. All are handed over in cycle 0 or as soon as they are accepted: each is
 * a run of column accesses with consecutive addresses, and every column is accessed once.
 */
bool dram_tensor_next(struct dram_tensor_walk *walk, struct pim_dram_request *request);

#endif
