/*
 * Area and energy of what stands in the logic die of a DRAM-PIM node, at 28 nm: closed forms, pure
 * arithmetic.
 *
 * Sources, spread and what the forms leave out: docs/models/area.md. Nothing is fitted to a result of a paper
 * that is reproduced here. Figures are of cells and macros as published; a placed block is larger (divide
 * by a density of 0.7 to 0.8), which tools that papers use leave out too.
 *
 * A reading is a consistent choice among sources that differ:
 *   low   multipliers after Horowitz (ISSCC 2014), SRAM as CACTI 7 gives it, routers at half of DSENT's area
 *   mid   the mean of three sources of multipliers, SRAM 1.2 times CACTI (large macros agree, small do not)
 *   high  engines as a whole accelerator pays for them (NVDLA: area for each multiplier and each KiB),
 * routers
 *         at twice DSENT's area
 */
#ifndef PIMSIM_MODELS_AREA_AREA_H
#define PIMSIM_MODELS_AREA_AREA_H

#include <stdint.h>

/* X(member, text) */
#define PIM_AREA_READING_MAP(X)                                                                              \
    X(PIM_AREA_LOW, "low")                                                                                   \
    X(PIM_AREA_MID, "mid")                                                                                   \
    X(PIM_AREA_HIGH, "high")

enum pim_area_reading {
#define X(name, text) name,
    PIM_AREA_READING_MAP(X)
#undef X
        PIM_AREA_READINGS
};

/* "low", "mid", "high". */
const char *pim_area_reading_text(enum pim_area_reading reading);

/* A processing element: multiplier of operands of `bits`, adder and register of sums of `sum_bits`, registers
 * of an input and two weights; um2. Sources cover 8 and 16 bits. */
double pim_area_pe(enum pim_area_reading reading, double bits, double sum_bits);

/* SRAM of `bytes` that gives `width` bits an access, of banks side by side; um2. Sources: 1 KiB to 2 MiB,
 * 64 to 2048 bits. */
double pim_area_sram(enum pim_area_reading reading, double bytes, double width);

/* A router of `ports` ports in and out, each with `channels` virtual channels of `flits` flits of `width`
 * bits; um2. Sources: 5 ports, 32 to 1024 bits. */
double pim_area_router(enum pim_area_reading reading, double ports, double channels, double flits,
                       double width);

/* A router of ISAAC (ISCA 2016), which PIM_AREA_ISAAC_TILES tiles share: mm2 at 32 nm, as published. */
#define PIM_AREA_ISAAC_ROUTER 0.15
#define PIM_AREA_ISAAC_TILES 4

/* The controller of one DRAM bank of 128 bits; um2. No figure is published: an estimate from its registers.
 * */
double pim_area_controller(enum pim_area_reading reading);

/* Energies in pJ, mid readings: one multiply-accumulate; one access of the whole width; one flit through a
 * router, and its clock for a cycle. */
double pim_area_mac_pj(double bits, double sum_bits);
double pim_area_sram_read_pj(double bytes, double width);
double pim_area_sram_write_pj(double bytes, double width);
double pim_area_router_pj(double channels, double flits, double width);
double pim_area_router_clock_pj(double width);

/* A node array. Widths follow from the PE array: inputs and weights one operand for each row of PEs an
 * access, outputs one sum for each column. */
struct pim_area_system {
    uint32_t nodes, pe_rows, pe_columns;
    uint32_t operand_bits, sum_bits;
    uint64_t input_bytes, weight_bytes, output_bytes; /* buffers of a node; 0: none */
    uint32_t router_ports, virtual_channels, buffer_flits, flit_bits;
    uint32_t banks; /* of a node */
};

/* mm2, of all nodes. `engines` is what the NicePIM paper holds against its 48 mm2: PE arrays and buffers. */
struct pim_area {
    double pe, input, weight, output;
    double engines;
    double routers, controllers;
    double total;
};

void pim_area_of(enum pim_area_reading reading, const struct pim_area_system *system, struct pim_area *area);

/* A mesh of crossbar tiles: a router for each, and its buffers. */
struct pim_area_tile_system {
    uint32_t tiles;
    uint64_t input_bits, output_bits; /* buffers of a tile */
    uint32_t access_bits;             /* of the buffers */
    uint32_t router_ports, virtual_channels, buffer_flits, flit_bits;
};

/* mm2, of all tiles. Crossbars and converters are in none of them. */
struct pim_area_tiles {
    double input, output, routers;
    double isaac_routers; /* as published: in every reading the same */
};

void pim_area_of_tiles(enum pim_area_reading reading, const struct pim_area_tile_system *system,
                       struct pim_area_tiles *area);

/* Mean energy of reading a bit from the three buffers, weighted by their widths; pJ. 0 without buffers. */
double pim_area_buffer_pj_per_bit(const struct pim_area_system *system);

#endif
