/* Keys of tiles of crossbars and of the conflict network between them. A row of the hardware schema. */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_TILE_KEYS_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_TILE_KEYS_H

#include "sim/configuration/configuration.h"

#define PIM_TILE_KEYS                                                                                        \
    PIM_KEY_OF_INTEGER("tile.crossbar_rows", "256", 1, 65536, "rows", "Rows of a crossbar."),                \
        PIM_KEY_OF_INTEGER("tile.crossbar_columns", "256", 1, 65536, "columns", "Columns of a crossbar."),   \
        PIM_KEY_OF_INTEGER("tile.rows_of_crossbars", "2", 1, 64, "crossbars",                                \
                           "Rows of crossbars in a tile; their partial sums are added up in it."),           \
        PIM_KEY_OF_INTEGER("tile.columns_of_crossbars", "2", 1, 64, "crossbars",                             \
                           "Columns of crossbars in a tile."),                                               \
        PIM_KEY_OF_INTEGER("tile.activation_bits", "9", 1, 64, "bits",                                       \
                           "Bits of an activation, and of a partial sum in a packet."),                      \
        PIM_KEY_OF_INTEGER("tile.input_buffer_bits", "822400", 1, 1125899906842624, "bits",                  \
                           "Input buffer of a tile, split equally among its sources."),                      \
        PIM_KEY_OF_INTEGER("tile.output_buffer_bits", "822400", 1, 1125899906842624, "bits",                 \
                           "Output buffer of a tile for each of its targets."),                              \
        PIM_KEY_OF_CHOICE(                                                                                   \
            "tile.switching", "path_hold", "path_hold|saf|wormhole",                                         \
            "path_hold: a transfer holds every link of its path, both directions. saf: routers "             \
            "store and forward whole packets. wormhole: the routers of noc.*, flit by flit."),               \
        PIM_KEY_OF_CHOICE("tile.routing", "xy", "xy|yx|adaptive|table",                                      \
                          "adaptive (path_hold): the shortest path over idle links. table: the behaviour "   \
                          "tables of the trace. wormhole has noc.routing."),                                 \
        PIM_KEY_OF_CHOICE("tile.arbiter", "fixed", "fixed|balance|fifo|round_robin",                         \
                          "fixed: the lower edge first. balance: the edge of which the smallest share has "  \
                          "arrived. wormhole has the first two, for packets that leave their source."),      \
        PIM_KEY_OF_BOOLEAN("tile.ideal", "false", "Links are never busy (not with wormhole or tables)."),    \
        PIM_KEY_OF_REAL("tile.link_gbps", "8", 1e-6, 1e6, "Gb/s",                                            \
                        "Bandwidth of a link; wormhole: noc.flit_bits in a cycle of clock.network_khz, or "  \
                        "fewer where noc.link_bits_per_cycle is."),                                          \
        PIM_KEY_OF_BOOLEAN("tile.half_duplex", "false",                                                      \
                           "saf: the two directions of a link exclude each other."),                         \
        PIM_KEY_OF_INTEGER("tile.router_packets", "0", 0, 1048576, "packets",                                \
                           "saf: packets that a router stores of each direction; 0: without limit."),        \
        PIM_KEY_OF_REAL("tile.router_delay_ns", "0", 0, 1e6, "ns", "saf: added to every hop."),              \
        PIM_KEY_OF_REAL(                                                                                     \
            "tile.detour", "1.8", 1, 1000, "1",                                                              \
            "adaptive, tables made by a mapper: a path has at most detour times the shortest length."),      \
        PIM_KEY_OF_INTEGER("tile.detour_slack", "2", 0, 1024, "1",                                           \
                           "adaptive: or so much more than the shortest length, if that is longer."),        \
        PIM_KEY_OF_CHOICE("tile.detour_count", "routers", "hops|routers", "adaptive: what lengths count."),  \
        PIM_KEY_OF_CHOICE("tile.tie_break", "release", "release|release_backward|stateless",                 \
                          "adaptive: the order in which the neighbours of a router are looked at.")

#endif
