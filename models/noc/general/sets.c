/* The bit-set evaluation: when it can be used, its storage, and how its state is shown to the checks. */
#include "models/noc/general/sets.h"

#include <stdlib.h>
#include <string.h>

/* Whether the configuration needs none of the rarer rules, which router.c has alone. */
static bool usual_rules(const struct pim_noc *noc)
{
    const struct pim_noc_configuration *rules = &noc->configuration;
    const struct noc_general *general = noc->general;
    bool islip = rules->switch_allocator == PIM_NOC_ISLIP;
    bool output_first = islip || rules->switch_allocator == PIM_NOC_SEPARABLE_OUTPUT_FIRST;
    return !rules->general && rules->routing_delay == 1 && rules->vc_allocation_delay == 1 &&
           !rules->speculative && !rules->hold_switch_for_packet && rules->input_speedup == 1 &&
           rules->output_speedup == 1 && !general->adaptive && rules->priority == PIM_NOC_NO_PRIORITY &&
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
    const struct pim_noc_topology *topology = noc->general->topology;
    while (1U << sets->shift < noc->general->vcs)
        sets->shift++;
    sets->words = ((topology->most_ports << sets->shift) + 63) / 64;
    uint64_t longest = longest_way(noc);
    sets->ring = 1;
    while (sets->ring <= longest && sets->ring < SETS_RING_LIMIT)
        sets->ring *= 2;
    return topology->most_ports << sets->shift <= NOC_ROWS_LIMIT && sets->ring > longest;
}

static bool allocate(struct general_sets *sets)
{
    size_t ports = sets->ports, rows = ports << sets->shift;
    sets->word = calloc((size_t)sets->routers * sets->words, sizeof *sets->word);
    sets->closed = calloc(sets->routers, sizeof *sets->closed);
    sets->to = calloc(ports * sets->words, sizeof *sets->to);
    sets->inputs = calloc(rows, sizeof *sets->inputs);
    sets->outputs = calloc(rows, sizeof *sets->outputs);
    sets->allowed = calloc(rows, sizeof *sets->allowed);
    sets->left_high = calloc(rows, sizeof *sets->left_high);
    sets->port = calloc(ports, sizeof *sets->port);
    sets->events = calloc(ports * sets->ring, sizeof *sets->events);
    sets->slots = calloc((size_t)sets->routers * sets->ring, sizeof *sets->slots);
    return sets->word && sets->closed && sets->to && sets->inputs && sets->outputs && sets->allowed &&
           sets->left_high && sets->port && sets->events && sets->slots;
}

static void initialize(const struct pim_noc *noc, struct general_sets *sets)
{
    const struct noc_general *general = noc->general;
    const uint32_t *first = general->topology->first_port;
    for (unsigned row = 0; row < 64 * sets->words; row++)
        sets->next_row[row] = (uint8_t)(row + 1 < 64 * sets->words ? row + 1 : 0);
    for (uint32_t router = 0; router < sets->routers; router++)
        for (uint32_t index = first[router]; index < first[router + 1]; index++) {
            const struct general_input *input = &general->inputs[index];
            unsigned row = (index - first[router]) << sets->shift;
            bool linked = !input->from_terminal && input->feeder != GENERAL_NONE;
            sets->port[index] =
                (struct sets_port){.feeder = input->feeder,
                                   .router = linked ? general->router_of[input->feeder] : GENERAL_NONE,
                                   .credit_latency = input->credit_latency};
            struct sets_word *word = &sets->word[(size_t)router * sets->words + row / 64];
            word->free |= (uint64_t)general->outputs[index].free << row % 64;
            word->nonfull |= (uint64_t)general->outputs[index].free << row % 64;
            sets->narrow |= general->outputs[index].rate.cycles > 1 || general->outputs[index].rate.numerator;
        }
    for (size_t row = 0; row < (size_t)sets->ports << sets->shift; row++) {
        sets->inputs[row].front = NOC_NO_PACKET;
        sets->outputs[row].credits = (uint16_t)general->buffer_flits;
    }
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
    sets->ports = general->topology->first_port[sets->routers];
    if (!fits(noc, sets)) {
        free(sets);
        general->sets = NULL;
        return PIM_OK;
    }
    sets->early_credits = !noc->configuration.wait_for_tail_credit && !noc->configuration.step_every_cycle;
    sets->urgent = noc->configuration.urgent_classes;
    sets->wavefront_vcs = pim_noc_general_is_wavefront(noc->configuration.vc_allocator);
    sets->switch_allocator = noc->configuration.switch_allocator;
    pim_noc_sets_choose_run(general, pim_has_bit_manipulation() && !noc->configuration.portable);
    if (!allocate(sets))
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip of %u routers", sets->routers);
    initialize(noc, sets);
    return PIM_OK;
}

void pim_noc_sets_destroy(struct general_sets *sets)
{
    if (!sets)
        return;
    void *const parts[] = {sets->word,    sets->closed,    sets->to,   sets->inputs, sets->outputs,
                           sets->allowed, sets->left_high, sets->port, sets->events, sets->slots,
                           sets};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free(parts[i]);
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

static void show_port(struct noc_general *general, uint32_t router, unsigned port)
{
    const struct general_sets *sets = general->sets;
    uint32_t index = general->routers[router].first + port, all = general->all;
    const struct sets_word *word = &sets->word[(size_t)router * sets->words + (port << sets->shift) / 64];
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
        size_t at = ((size_t)index << sets->shift) + vc, row = (size_t)index * general->vcs + vc;
        const struct noc_input *state = &sets->inputs[at];
        general->rows[row].front = state->front;
        general->rows[row].count = state->count;
        general->rows[row].vcs = sets->allowed[at];
        general->rows[row].output = (uint8_t)(state->output >> sets->shift);
        general->rows[row].vc = (uint8_t)(state->output - (state->output >> sets->shift << sets->shift));
        general->columns[row].credits = sets->outputs[at].credits;
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
                const struct sets_slot *slot = pim_noc_sets_slot(sets, time, router);
                const struct sets_event *event = pim_noc_sets_event(sets, time, index);
                if (slot->flits >> port & 1)
                    pim_noc_general_push(general, &general->inputs[index].arriving, time, event->packet,
                                         event->flit);
                if (slot->credits >> port & 1)
                    pim_noc_general_push(general, &general->outputs[index].credits, time, 0, event->credits);
            }
        }
}
