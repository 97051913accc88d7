/*
 * The keys of the network on chip: one list for the two schemas that hold them, the hardware's (schema.c) and that of the network alone
 * (noc_schema.c). Defaults are those of BookSim 2.
 */
#ifndef PIMSIM_MODELS_SYSTEM_NOC_KEYS_H
#define PIMSIM_MODELS_SYSTEM_NOC_KEYS_H

#define PIM_NOC_KEYS(INTEGER, BOOLEAN, CHOICE)                                                                                   \
    CHOICE("noc.fidelity", "flit", "ideal|analytic|flit",                                                                        \
           "flit: the routers, to the cycle. analytic: links as first-come first-served servers. ideal: no contention at all.")  \
    INTEGER("noc.flit_bits", "64", 1, 65536, "bits", "Payload of a flit.")                                                       \
    INTEGER("noc.virtual_channels", "16", 1, 32, "channels", "Virtual channels of an input port.")                               \
    INTEGER("noc.buffer_flits", "8", 1, 65535, "flits", "Buffer of a virtual channel.")                                          \
    INTEGER("noc.routing_delay", "1", 0, 64, "cycles", "Route computation; 0 is look-ahead routing.")                            \
    INTEGER("noc.vc_allocation_delay", "1", 1, 64, "cycles", "Virtual-channel allocation.")                                      \
    INTEGER("noc.switch_allocation_delay", "1", 1, 64, "cycles", "Switch allocation.")                                           \
    INTEGER("noc.switch_traversal_delay", "1", 1, 64, "cycles", "Crossbar traversal.")                                           \
    INTEGER("noc.credit_delay", "0", 0, 64, "cycles", "Processing of a credit in a router.")                                     \
    INTEGER("noc.link_latency", "1", 1, 64, "cycles", "Latency of a link.")                                                      \
    BOOLEAN("noc.speculative", "false", "A head bids for the switch while it waits for its virtual channel.")                    \
    BOOLEAN("noc.hold_switch_for_packet", "false", "A packet keeps the switch while its next flit is there.")                    \
    BOOLEAN("noc.wait_for_tail_credit", "false",                                                                                 \
            "A virtual channel is free again only when the tail has left the next buffer.")                                      \
    CHOICE("noc.vc_allocator", "islip", "islip|separable_input_first", "Allocator of virtual channels.")                         \
    CHOICE("noc.switch_allocator", "islip", "islip|separable_input_first", "Allocator of the switch.")                           \
    INTEGER("noc.allocator_iterations", "1", 1, 32, "iterations", "Iterations of iSLIP.")                                        \
    INTEGER("noc.input_speedup", "1", 1, 4, "", "Crossbar inputs of an input port; must divide the virtual channels.")           \
    BOOLEAN("noc.step_every_cycle", "false",                                                                                     \
            "Evaluates every busy router in every cycle: the slow path, for comparison. The cycles are the same.")

#endif
