/* The bit-set evaluation: when it can be used, its storage, and how its state is shown to the checks. */
#include "models/noc/general/sets/sets.h"
#include "sim/arena.h"

#include <stdlib.h>
#include <string.h>

/* Whether the configuration needs none of the rarer rules, which general/router.c has alone. */
static bool usual_rules(const struct pim_noc *noc)
{
    const struct pim_noc_configuration *rules = &noc->configuration;
    const struct noc_general *general = noc->general;
    bool islip = rules->switch_allocator == PIM_NOC_ISLIP;
    bool output_first = islip || rules->switch_allocator == PIM_NOC_SEPARABLE_OUTPUT_FIRST;
    return !rules->general && rules->routing_delay == 1 && rules->vc_allocation_delay == 1 &&
           !rules->speculative && !rules->hold_switch_for_packet && rules->input_speedup == 1 &&
           rules->output_speedup == 1 && rules->priority == PIM_NOC_NO_PRIORITY &&
           (!rules->urgent_classes || output_first) && general->row_arbiter.kind == PIM_NOC_ROUND_ROBIN &&
           general->vc_arbiter.kind == PIM_NOC_ROUND_ROBIN &&
           general->switch_arbiter.kind == PIM_NOC_ROUND_ROBIN && (!islip || rules->switch_iterations == 1);
}

/* Cycles after which whatever is sent can be used. */
static uint64_t longest_way(const struct pim_noc *noc)
{
    const struct noc_general *general = noc->general;
    uint64_t longest = 0, fixed = 3 + noc->configuration.credit_delay;
    for (uint32_t port = 0; port < general->topology->first_port[general->topology->routers]; port++) {
        const struct general_output *output = &general->outputs[port];
        uint64_t way = output->rate.cycles + 1 + output->latency + fixed;
        longest = way > longest ? way : longest;
        way = general->inputs[port].credit_latency;
        longest = way > longest ? way : longest;
    }
    uint64_t injection = general->terminal_rate.cycles + 1 + NOC_INJECTION;
    return longest > injection ? longest : injection;
}

static bool fits(const struct pim_noc *noc, struct general_sets *sets)
{
    uint32_t most_ports = noc->general->topology->most_ports;
    while (1U << sets->shift < noc->general->vcs ||
           (sets->shift < SETS_SHIFT && most_ports << SETS_SHIFT <= SETS_ROWS))
        sets->shift++;
    sets->words = ((most_ports << sets->shift) + SETS_ROWS - 1) / SETS_ROWS;
    uint64_t longest = longest_way(noc);
    sets->ring = 1;
    while (sets->ring <= longest && sets->ring < SETS_RING_LIMIT)
        sets->ring *= 2;
    return most_ports << sets->shift <= NOC_ROWS_LIMIT && sets->ring > longest;
}

/* Where the parts of a router are. It has an odd number of cache lines, so that routers fall onto all places
 * of a cache. */
static void lay_out(struct general_sets *sets, uint32_t most_ports)
{
    size_t row = sizeof(struct noc_input) + sizeof(struct noc_output) + 2 * sizeof(uint32_t);
    size_t slot = sizeof(struct sets_slot) + most_ports * sizeof(struct sets_event);
    sets->slot_bytes = (slot + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    sets->port_offset = sizeof(struct sets_router) + row * SETS_ROWS * sets->words;
    sets->slot_offset = sets->port_offset + most_ports * sizeof(struct sets_port);
    size_t lines = (sets->slot_offset + sets->ring * sets->slot_bytes + PIM_LINE - 1) / PIM_LINE;
    sets->router_bytes = (lines | 1) * PIM_LINE;
}

static bool allocate(struct general_sets *sets, const struct pim_noc_topology *topology)
{
    bool failed = false;
    lay_out(sets, topology->most_ports);
    sets->large = sets->routers * sets->router_bytes > NOC_NEAR_BYTES;
    sets->router = pim_lines_allocate(sets->routers, sets->router_bytes, &failed);
    sets->terminal = pim_lines_allocate(topology->nodes, sizeof *sets->terminal, &failed);
    return !failed;
}

/* The router's rows, as in switch.h. */
static struct noc_input *inputs_of(struct sets_router *router)
{
    return (void *)(router + 1);
}

static struct noc_output *outputs_of(const struct general_sets *sets, struct sets_router *router)
{
    return (void *)(inputs_of(router) + (size_t)SETS_ROWS * sets->words);
}

/* The port sends flits to input port `reader` of the network. */
static void join(const struct noc_general *general, struct sets_port *port, uint32_t reader)
{
    const struct general_sets *sets = general->sets;
    port->next = general->router_of[reader];
    uint32_t number = reader - general->routers[port->next].first;
    port->slots = (char *)pim_noc_sets_router(sets, port->next) + sets->slot_offset;
    port->reader = (uint8_t)number;
    port->reader_row = (uint16_t)(number << sets->shift);
}

/* Who takes the credits of an input. */
static void join_back(const struct noc_general *general, struct sets_port *port,
                      const struct general_input *input)
{
    const struct general_sets *sets = general->sets;
    port->feeder = input->feeder;
    port->router = GENERAL_NONE;
    port->credit_latency = input->credit_latency;
    if (input->feeder == GENERAL_NONE)
        return;
    if (input->from_terminal) {
        port->credits = &general->terminal_credits[(size_t)input->feeder * general->vcs];
        return;
    }
    port->router = general->router_of[input->feeder];
    size_t row = (size_t)(input->feeder - general->routers[port->router].first) << sets->shift;
    port->credits = &outputs_of(sets, pim_noc_sets_router(sets, port->router))[row].credits;
    port->spread = 1;
}
_Static_assert(sizeof(struct noc_output) == sizeof(uint16_t) << 1, "what is spread over them");

static void initialize_port(const struct noc_general *general, struct sets_router *router, uint32_t number)
{
    struct general_sets *sets = general->sets;
    uint32_t index = router->known->first + number, first = number << sets->shift;
    struct sets_word *word = &router->word[first / SETS_ROWS];
    const struct general_output *output = &general->outputs[index];
    join_back(general, &router->port[number], &general->inputs[index]);
    if (output->reader != GENERAL_NONE)
        join(general, &router->port[number], output->reader);
    word->free |= (uint64_t)output->free << first % SETS_ROWS;
    word->nonfull = word->free;
    sets->narrow |= output->rate.cycles > 1 || output->rate.numerator;
}

static void initialize(const struct noc_general *general, struct general_sets *sets)
{
    for (unsigned row = 0; row < SETS_ROWS * sets->words; row++)
        sets->next_row[row] = (uint8_t)(row + 1 < SETS_ROWS * sets->words ? row + 1 : 0);
    for (uint32_t node = 0; node < sets->routers; node++) {
        struct sets_router *router = pim_noc_sets_router(sets, node);
        router->known = &general->routers[node];
        router->out = general->outputs + router->known->first;
        router->port = (void *)((char *)router + sets->port_offset);
        router->slots = (char *)router + sets->slot_offset;
        router->ports = router->known->ports;
        for (size_t row = 0; row < (size_t)SETS_ROWS * sets->words; row++) {
            inputs_of(router)[row].front = NOC_NO_PACKET;
            outputs_of(sets, router)[row].credits = (uint16_t)general->buffer_flits;
        }
        for (uint32_t port = 0; port < router->ports; port++)
            initialize_port(general, router, port);
    }
    for (uint32_t node = 0; node < general->topology->nodes; node++)
        join(general, &sets->terminal[node], general->terminals[node].input);
}

enum pim_status pim_noc_sets_create(struct pim_noc *noc, struct pim_error *error)
{
    struct noc_general *general = noc->general;
    if (!usual_rules(noc))
        return PIM_OK;
    struct general_sets *sets = general->sets = calloc(1, sizeof *sets);
    if (!sets)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    sets->routers = general->topology->routers;
    if (!fits(noc, sets)) {
        free(sets);
        general->sets = NULL;
        return PIM_OK;
    }
    sets->adaptive = general->adaptive;
    sets->early_credits =
        !noc->configuration.wait_for_tail_credit && !noc->configuration.step_every_cycle && !sets->adaptive;
    sets->urgent = noc->configuration.urgent_classes;
    sets->wavefront_vcs = pim_noc_general_is_wavefront(noc->configuration.vc_allocator);
    sets->advances = sets->adaptive || noc->configuration.routing == PIM_NOC_VALIANT ||
                     noc->configuration.routing == PIM_NOC_ROMM;
    sets->switch_allocator = noc->configuration.switch_allocator;
    if (!allocate(sets, general->topology))
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip of %u routers", sets->routers);
    initialize(general, sets);
    pim_noc_sets_choose_run(general, pim_has_bit_manipulation() && !noc->configuration.portable);
    return PIM_OK;
}

void pim_noc_sets_destroy(struct general_sets *sets)
{
    if (!sets)
        return;
    free(sets->router);
    free(sets->terminal);
    free(sets);
}

/* --- for the checks --- */

static void empty_queue(struct noc_general *general, struct general_queue *queue)
{
    while (queue->first != GENERAL_NONE)
        pim_noc_general_pop(general, queue);
}

static uint32_t part(const struct general_sets *sets, const uint64_t *word, unsigned port, uint32_t all)
{
    return (uint32_t)(*word >> (port << sets->shift) % 64) & all;
}

static void show_port(struct noc_general *general, uint32_t node, unsigned port)
{
    const struct general_sets *sets = general->sets;
    uint32_t index = general->routers[node].first + port, all = general->all;
    struct sets_router *router = pim_noc_sets_router(sets, node);
    const struct sets_word *word = &router->word[(port << sets->shift) / SETS_ROWS];
    const uint32_t *allowed = (const void *)(outputs_of(sets, router) + (size_t)SETS_ROWS * sets->words);
    struct general_input *input = &general->inputs[index];
    struct general_output *output = &general->outputs[index];
    input->filled = part(sets, &word->filled, port, all);
    input->routing = part(sets, &word->routing, port, all) | part(sets, &word->queued, port, all);
    input->bidding = part(sets, &word->bidding, port, all);
    input->active = part(sets, &word->active, port, all);
    input->credited = part(sets, &word->credited, port, all);
    output->free = part(sets, &word->free, port, all);
    output->nonfull = part(sets, &word->nonfull, port, all);
    output->tail_sent = part(sets, &word->tail_sent, port, all);
    for (unsigned vc = 0; vc < general->vcs; vc++) {
        size_t at = ((size_t)port << sets->shift) + vc, row = (size_t)index * general->vcs + vc;
        const struct noc_input *state = &inputs_of(router)[at];
        general->rows[row].front = state->front;
        general->rows[row].count = state->count;
        general->rows[row].vcs = allowed[at];
        general->rows[row].output = (uint8_t)(state->output >> sets->shift);
        general->rows[row].vc = (uint8_t)(state->output - (state->output >> sets->shift << sets->shift));
        general->columns[row].credits = outputs_of(sets, router)[at].credits;
    }
}

void pim_noc_sets_show(struct noc_general *general)
{
    const struct general_sets *sets = general->sets;
    for (uint32_t router = 0; router < sets->routers; router++)
        for (unsigned port = 0; port < general->routers[router].ports; port++) {
            uint32_t index = general->routers[router].first + port;
            show_port(general, router, port);
            empty_queue(general, &general->inputs[index].arriving);
            empty_queue(general, &general->outputs[index].credits);
            for (uint64_t time = general->origin; time < general->origin + sets->ring; time++) {
                struct sets_slot *slot =
                    pim_noc_sets_slot(sets, pim_noc_sets_router(sets, router)->slots, time);
                const struct sets_event *event = &pim_noc_sets_events(slot)[port];
                if (slot->flits >> port & 1)
                    pim_noc_general_push(general, &general->inputs[index].arriving, time, event->packet,
                                         event->flit - (port << sets->shift << 2));
                if (slot->credits >> port & 1)
                    pim_noc_general_push(general, &general->outputs[index].credits, time, 0, event->credits);
            }
        }
}
