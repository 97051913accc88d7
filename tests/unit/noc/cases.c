#include "tests/unit/noc/cases.h"

enum option { PLAIN, FOUR, SIXTEEN, SEPARABLE, TAIL_CREDIT, CREDIT_DELAY, LOOKAHEAD, SPECULATIVE, HOLD };

static const struct {
    const char *name;
    enum option option;
} golden[GOLDEN_LISTS] = {
    {"m8_u_p1_r020", PLAIN},
    {"m8_u_p1_r040", PLAIN},
    {"m8_u_p5_r020", PLAIN},
    {"m8_u_p5_r038", PLAIN},
    {"m8_tr_p1_r013", PLAIN},
    {"m8_u_p1_r040_sif", SEPARABLE},
    {"m8_u_p5_r038_sif", SEPARABLE},
    {"m4_u_p1_v2b4_r050", FOUR},
    {"m8_u_mix15_wtc_r030", TAIL_CREDIT},
    {"m8_u_mix15_cd2_r030", CREDIT_DELAY},
    {"m8_u_mix15_rd0_r030", LOOKAHEAD},
    {"m8_u_mix15_spec_sif_r030", SPECULATIVE},
    {"m8_u_mix15_hold_r030", HOLD},
    {"m16_u_p1_r018", SIXTEEN},
};

const char *golden_name(int index)
{
    return golden[index].name;
}

struct pim_noc_configuration eight_channels(void)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.virtual_channels = 8;
    return configuration;
}

struct pim_noc_configuration golden_configuration(int index)
{
    enum option option = golden[index].option;
    struct pim_noc_configuration configuration = eight_channels();
    if (option == FOUR) {
        configuration.width = configuration.height = 4;
        configuration.virtual_channels = 2;
        configuration.buffer_flits = 4;
    }
    if (option == SIXTEEN)
        configuration.width = configuration.height = 16;
    if (option == SPECULATIVE || option == SEPARABLE)
        configuration.vc_allocator = configuration.switch_allocator = PIM_NOC_SEPARABLE_INPUT_FIRST;
    configuration.speculative = option == SPECULATIVE;
    configuration.wait_for_tail_credit = option == TAIL_CREDIT;
    configuration.credit_delay = option == CREDIT_DELAY ? 2 : 0;
    configuration.routing_delay = option == LOOKAHEAD ? 0 : 1;
    configuration.hold_switch_for_packet = option == HOLD;
    return configuration;
}

uint32_t pick(struct pim_random *random, uint32_t least, uint32_t most)
{
    return least + (uint32_t)pim_random_below(random, most - least + 1);
}

bool chance(struct pim_random *random, uint32_t one_in)
{
    return pim_random_below(random, one_in) == 0;
}

struct pim_noc_configuration random_mesh(struct pim_random *random)
{
    struct pim_noc_configuration configuration;
    pim_noc_configuration_initialize(&configuration);
    configuration.width = pick(random, 1, 6);
    configuration.height = pick(random, 1, 6);
    configuration.virtual_channels = chance(random, 4) ? pick(random, 1, 32) : pick(random, 1, 5);
    configuration.buffer_flits = chance(random, 4) ? pick(random, 1, 60) : pick(random, 1, 9);
    if (chance(random, 2)) {
        configuration.routing_delay = pick(random, 0, 3);
        configuration.switch_allocation_delay = pick(random, 1, 3);
        configuration.vc_allocation_delay = pick(random, 1, 3);
        configuration.switch_traversal_delay = pick(random, 1, 3);
        configuration.link_latency = pick(random, 1, 4);
        configuration.credit_delay = pick(random, 0, 3);
    }
    configuration.speculative = chance(random, 3);
    if (configuration.speculative &&
        configuration.vc_allocation_delay > configuration.switch_allocation_delay)
        configuration.vc_allocation_delay = configuration.switch_allocation_delay;
    configuration.hold_switch_for_packet = chance(random, 3);
    configuration.wait_for_tail_credit = chance(random, 3);
    configuration.vc_allocator = chance(random, 3) ? PIM_NOC_SEPARABLE_INPUT_FIRST : PIM_NOC_ISLIP;
    configuration.switch_allocator = chance(random, 3) ? PIM_NOC_SEPARABLE_INPUT_FIRST : PIM_NOC_ISLIP;
    configuration.allocator_iterations = chance(random, 2) ? 1 : pick(random, 2, 4);
    uint32_t speedup = chance(random, 3) ? pick(random, 1, 4) : 1;
    configuration.input_speedup = configuration.virtual_channels % speedup == 0 ? speedup : 1;
    return configuration;
}

struct list random_short_packets(struct pim_random *random, const struct pim_noc_configuration *configuration)
{
    struct list list = {0};
    uint32_t nodes = configuration->width * configuration->height;
    uint32_t packets = pick(random, 50, 600), one_in = pick(random, 1, 60), longest = pick(random, 1, 7);
    for (uint64_t cycle = 0; packets > 0; cycle++)
        for (uint32_t node = 0; node < nodes && packets > 0; node++)
            if (chance(random, one_in)) {
                list_add(&list, cycle, node, pick(random, 0, nodes - 1),
                         chance(random, 2) ? 1 : pick(random, 1, longest));
                packets--;
            }
    return list;
}
