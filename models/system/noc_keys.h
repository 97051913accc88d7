/*
 * The keys of the network on chip: one list for the two schemas that hold them, the hardware's (schema.c) and
 * that of the network alone (noc_schema.c). Defaults are those of BookSim 2.
 */
#ifndef PIMSIM_MODELS_SYSTEM_NOC_KEYS_H
#define PIMSIM_MODELS_SYSTEM_NOC_KEYS_H

#include "sim/configuration.h"

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
        PIM_KEY_OF_CHOICE("noc.vc_allocator", "islip", "islip|separable_input_first",                        \
                          "Allocator of virtual channels."),                                                 \
        PIM_KEY_OF_CHOICE("noc.switch_allocator", "islip", "islip|separable_input_first",                    \
                          "Allocator of the switch."),                                                       \
        PIM_KEY_OF_INTEGER("noc.allocator_iterations", "1", 1, 32, "iterations", "Iterations of iSLIP."),    \
        PIM_KEY_OF_INTEGER("noc.input_speedup", "1", 1, 4, "",                                               \
                           "Crossbar inputs of an input port; must divide the virtual channels."),           \
        PIM_KEY_OF_BOOLEAN("noc.step_every_cycle", "false",                                                  \
                           "Evaluates every busy router in every cycle: the slow path, for comparison. The " \
                           "cycles are the same.")
/* clang-format on */

#endif
