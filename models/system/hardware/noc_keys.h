/*
 * The keys of the network on chip: one list for the two schemas that hold them, the hardware's (schema.c) and
 * that of the network alone (noc_schema.c). Defaults are those of BookSim 2.
 */
#ifndef PIMSIM_MODELS_SYSTEM_HARDWARE_NOC_KEYS_H
#define PIMSIM_MODELS_SYSTEM_HARDWARE_NOC_KEYS_H

#include "sim/configuration/configuration.h"

#define PIM_NOC_ALLOCATOR_NAMES                                                                              \
    "islip|separable_input_first|separable_output_first|wavefront|round_robin_wavefront"
#define PIM_NOC_ARBITER_NAMES "round_robin|matrix|fixed_priority|age|workload_balance|tree|same"

/* clang-format off: a table */
#define PIM_NOC_KEYS                                                                                         \
    PIM_KEY_OF_CHOICE("noc.fidelity", "flit", "ideal|analytic|flit",                                         \
                      "flit: the routers, to the cycle. analytic: links as first-come first-served "         \
                      "servers. ideal: no contention at all."),                                              \
        PIM_KEY_OF_INTEGER("noc.flit_bits", "64", 1, 65536, "bits", "Payload of a flit."),                   \
        PIM_KEY_OF_INTEGER("noc.virtual_channels", "16", 1, 32, "channels",                                  \
                           "Virtual channels of an input port."),                                            \
        PIM_KEY_OF_INTEGER("noc.buffer_flits", "8", 1, 65535, "flits", "Buffer of a virtual channel."),      \
        PIM_KEY_OF_INTEGER("noc.routing_delay", "1", 0, 64, "cycles",                                        \
                           "Route computation; 0 is look-ahead routing."),                                   \
        PIM_KEY_OF_INTEGER("noc.vc_allocation_delay", "1", 1, 64, "cycles", "Virtual-channel allocation."),  \
        PIM_KEY_OF_INTEGER("noc.switch_allocation_delay", "1", 1, 64, "cycles", "Switch allocation."),       \
        PIM_KEY_OF_INTEGER("noc.switch_traversal_delay", "1", 1, 64, "cycles", "Crossbar traversal."),       \
        PIM_KEY_OF_INTEGER("noc.credit_delay", "0", 0, 64, "cycles", "Processing of a credit in a router."), \
        PIM_KEY_OF_INTEGER("noc.link_latency", "1", 1, 64, "cycles", "Latency of a link."),                  \
        PIM_KEY_OF_BOOLEAN("noc.speculative", "false",                                                       \
                           "A head bids for the switch while it waits for its virtual channel."),            \
        PIM_KEY_OF_BOOLEAN("noc.hold_switch_for_packet", "false",                                            \
                           "A packet keeps the switch while its next flit is there."),                       \
        PIM_KEY_OF_BOOLEAN("noc.wait_for_tail_credit", "false",                                              \
                           "A virtual channel is free again only when the tail has left the next buffer."),  \
        PIM_KEY_OF_CHOICE("noc.vc_allocator", "islip", PIM_NOC_ALLOCATOR_NAMES,                              \
                          "Allocator of virtual channels."),                                                 \
        PIM_KEY_OF_CHOICE("noc.switch_allocator", "islip", PIM_NOC_ALLOCATOR_NAMES,                          \
                          "Allocator of the switch."),                                                       \
        PIM_KEY_OF_INTEGER("noc.allocator_iterations", "1", 1, 32, "iterations", "Iterations of iSLIP."),    \
        PIM_KEY_OF_INTEGER("noc.vc_allocator_iterations", "0", 0, 32, "iterations",                          \
                           "Iterations of the virtual-channel allocator; 0: "                                \
                           "noc.allocator_iterations."),                                                     \
        PIM_KEY_OF_INTEGER("noc.switch_allocator_iterations", "0", 0, 32, "iterations",                      \
                           "Iterations of the switch allocator; 0: noc.allocator_iterations."),              \
        PIM_KEY_OF_INTEGER("noc.input_speedup", "1", 1, 4, "",                                               \
                           "Crossbar inputs of an input port; must divide the virtual channels."),           \
        PIM_KEY_OF_INTEGER("noc.output_speedup", "1", 1, 4, "",                                              \
                           "Crossbar outputs of an output port; its flits wait behind the crossbar."),       \
        PIM_KEY_OF_INTEGER("noc.output_buffer_flits", "0", 0, 65535, "flits",                                \
                           "Flits behind the crossbar of a port at which nothing more is sent "              \
                           "there; with noc.output_speedup above 1. 0: no limit."),                          \
        PIM_KEY_OF_CHOICE("noc.arbiter", "round_robin",                                                      \
                          "round_robin|matrix|fixed_priority|age|workload_balance",                          \
                          "How allocators choose among candidates, also which virtual channel of an input "  \
                          "asks where several want the same output (in turn with matrix); wavefront knows "  \
                          "round_robin only."),                                                              \
        PIM_KEY_OF_CHOICE("noc.vc_arbiter", "same", PIM_NOC_ARBITER_NAMES,                                   \
                          "Arbiters of a separable allocator of virtual channels; same: "                    \
                          "noc.arbiter."),                                                                   \
        PIM_KEY_OF_CHOICE("noc.switch_arbiter", "same", PIM_NOC_ARBITER_NAMES,                               \
                          "Arbiters of a separable allocator of the switch; same: noc.arbiter."),            \
        PIM_KEY_OF_INTEGER("noc.vc_arbiter_groups", "0", 0, 1152, "groups",                                  \
                           "Groups of the arbiter tree; must divide the number of candidates."),             \
        PIM_KEY_OF_INTEGER("noc.switch_arbiter_groups", "0", 0, 144, "groups", "The same for the switch."),  \
        PIM_KEY_OF_CHOICE("noc.priority", "none",                                                            \
                          "none|age|network_age|local_age|hop_count|queue_length|sequence",                  \
                          "What of a flit goes before the arbiters; islip looks at it in one choice "        \
                          "only."),                                                                          \
        PIM_KEY_OF_REAL("noc.link_bits_per_cycle", "0", 0, 1048576, "bits/cycle",                            \
                        "Width of the links between routers, to a thousandth; a flit holds a link for "      \
                        "flit_bits / link_bits_per_cycle cycles, at least one. 0: one flit per cycle."),     \
        PIM_KEY_OF_REAL("noc.terminal_bits_per_cycle", "0", 0, 1048576, "bits/cycle",                        \
                        "The same for the links between terminals and routers."),                            \
        PIM_KEY_OF_REAL("noc.link_gigabits_per_second", "0", 0, 1000000, "Gb/s",                             \
                        "Bandwidth of the links between routers, to a thousandth, instead of "               \
                        "noc.link_bits_per_cycle: divided by clock.network_khz, exactly. 0: not given."),    \
        PIM_KEY_OF_REAL("noc.terminal_gigabits_per_second", "0", 0, 1000000, "Gb/s",                         \
                        "The same for the links between terminals and routers."),                            \
        PIM_KEY_OF_CHOICE("noc.topology", "mesh",                                                            \
                          "mesh|torus|fat_tree|quad_tree|butterfly|flattened_butterfly|concentrated_mesh|"   \
                          "dragonfly|file",                                                                  \
                          "How routers are linked."),                                                        \
        PIM_KEY_OF_INTEGER("noc.depth", "1", 1, 256, "layers",                                               \
                           "Layers of a mesh or torus in three dimensions; must divide the height."),        \
        PIM_KEY_OF_INTEGER("noc.radix", "2", 2, 16, "",                                                      \
                           "Of topologies that are no grids: ports down, routers of a side (flattened "      \
                           "butterfly, concentrated mesh), nodes of a router (dragonfly)."),                 \
        PIM_KEY_OF_INTEGER("noc.levels", "2", 1, 8, "levels",                                                \
                           "Levels of a fat_tree or quad_tree, stages of a butterfly."),                     \
        PIM_KEY_OF_TEXT(                                                                                     \
            "noc.network_file", "\"\"",                                                                      \
            "Network of noc.topology = \"file\": lines \"router A node B router C [latency]\"."),            \
        PIM_KEY_OF_BOOLEAN("noc.latency_by_length", "false",                                                 \
                           "Links of a flattened_butterfly or concentrated_mesh take noc.link_latency for "  \
                           "every node that they pass."),                                                    \
        PIM_KEY_OF_INTEGER("noc.global_link_latency", "100", 1, 1024, "cycles",                              \
                           "Latency of the links between groups of a dragonfly."),                           \
        PIM_KEY_OF_BOOLEAN("noc.may_deadlock", "false", "A routing that can deadlock is run all the same."), \
        PIM_KEY_OF_INTEGER("noc.concentration", "1", 1, 16, "nodes",                                         \
                           "Nodes of a router, neighbours in a row of nodes."),                              \
        PIM_KEY_OF_TEXT("noc.links", "\"\"",                                                                 \
                        "CSV file of links that differ: from,to,latency,bits_per_cycle; routers."),          \
        PIM_KEY_OF_TEXT("noc.express_links", "\"\"",                                                         \
                        "CSV file of further links, one way each: from,to,latency,bits_per_cycle."),         \
        PIM_KEY_OF_CHOICE(                                                                                   \
            "noc.routing", "xy",                                                                             \
            "xy|yx|o1turn|west_first|odd_even|minimal_adaptive|valiant|romm|table|minimal|d_mod_k",          \
            "Routing; one that can deadlock on the topology with its virtual channels is refused."),         \
        PIM_KEY_OF_CHOICE("noc.torus_partition", "dateline", "dateline|coordinate|balanced",                 \
                          "Which half of its virtual channels a packet uses on a ring of a torus, "          \
                          "with xy and yx."),                                                                \
        PIM_KEY_OF_CHOICE("noc.routing_draws", "random", "random|number",                                    \
                          "Where a routing draws: from noc.routing_seed, or the bits of the "                \
                          "packet's number."),                                                               \
        PIM_KEY_OF_TEXT("noc.route_table", "\"\"",                                                           \
                        "CSV file of the routing table: router,destination,next; routers."),                 \
        PIM_KEY_OF_INTEGER("noc.routing_seed", "0", 0, 9007199254740992, "",                                 \
                           "Seed of what routings draw: o1turn, valiant and romm, ties on a torus, ways up " \
                           "a fat tree, channels of injection of a dragonfly."),                             \
        PIM_KEY_OF_LIST("noc.classes", "[]", 1, 32, "channels",                                              \
                        "Virtual channels of every class of traffic, all of them together; empty: one "      \
                        "class."),                                                                           \
        PIM_KEY_OF_LIST("noc.class_first", "[]", 0, 31, "",                                                  \
                        "First virtual channel of every class: the classes are kinds of messages, whose "    \
                        "ranges may overlap and which share the queue of a terminal; empty: one behind the " \
                        "other, each with its own queue."),                                                  \
        PIM_KEY_OF_BOOLEAN("noc.urgent_classes", "false",                                                    \
                           "A lower class goes before a higher one at the switch and at terminals."),        \
        PIM_KEY_OF_BOOLEAN("noc.step_every_cycle", "false",                                                  \
                           "Evaluates every busy router in every cycle: the slow path, for comparison. The " \
                           "cycles are the same."),                                                          \
        PIM_KEY_OF_BOOLEAN("noc.general", "false",                                                           \
                           "Uses the routers for any topology on a plain mesh too: slower, for comparison. " \
                           "The cycles are the same.")
/* clang-format on */

#endif
