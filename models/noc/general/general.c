/*
 * The general network: storage, the agenda, and one network cycle.
 */
#include "models/noc/general/general.h"
#include "models/noc/general/links.h"
#include "models/noc/general/setup.h"
#include "models/noc/general/site.h"
#include "sim/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- events --- */

void pim_noc_general_push(struct noc_general *general, struct general_queue *queue, uint64_t time,
                          uint32_t packet, uint32_t value)
{
    if (general->event_free == GENERAL_NONE) {
        size_t first = general->event_capacity;
        if (general->stamped) {
            size_t capacity = first;
            general->event_stamps =
                pim_noc_grow(general->event_stamps, &capacity, sizeof *general->event_stamps);
        }
        general->events = pim_noc_grow(general->events, &general->event_capacity, sizeof *general->events);
        assert(general->event_capacity < GENERAL_NONE);
        for (size_t i = general->event_capacity; i-- > first;) {
            general->events[i].next = general->event_free;
            general->event_free = (uint32_t)i;
        }
    }
    uint32_t index = general->event_free;
    general->event_free = general->events[index].next;
    general->events[index] = (struct general_event){time, GENERAL_NONE, packet, value};
    if (queue->first == GENERAL_NONE)
        queue->first = index;
    else
        general->events[queue->last].next = index;
    queue->last = index;
}

/* --- creation --- */

static bool needs_stamps(struct general_arbiter arbiter)
{
    return arbiter.kind == PIM_NOC_MATRIX || arbiter.kind == PIM_NOC_TREE;
}

static bool allocate_routers(struct noc_general *general)
{
    bool failed = false;
    size_t routers = general->topology->routers, ports = general->topology->first_port[routers];
    size_t rows = ports * general->vcs, most = general->topology->most_ports;
    general->routers = pim_lines_allocate(routers, sizeof *general->routers, &failed);
    general->router_of = pim_lines_allocate(ports, sizeof *general->router_of, &failed);
    general->inputs = pim_lines_allocate(ports, sizeof *general->inputs, &failed);
    general->told = pim_lines_allocate(ports, sizeof *general->told, &failed);
    general->outputs = pim_lines_allocate(ports, sizeof *general->outputs, &failed);
    failed |= !general->outputs;
    general->rows = pim_lines_allocate(rows, sizeof *general->rows, &failed);
    general->columns = pim_lines_allocate(rows, sizeof *general->columns, &failed);
    general->crossbar = pim_lines_allocate(ports * general->in_speed, sizeof *general->crossbar, &failed);
    general->crossbar_grant =
        pim_lines_allocate(ports * general->out_speed, sizeof *general->crossbar_grant, &failed);
    if (general->adaptive)
        general->candidates =
            pim_lines_allocate(rows * PIM_NOC_CANDIDATE_LIMIT, sizeof *general->candidates, &failed);
    size_t crossings = most * general->in_speed * general->out_speed;
    if (needs_stamps(general->vc_arbiter)) {
        general->vc_stamps.inputs = pim_lines_allocate(rows * general->vcs, most * sizeof(uint64_t), &failed);
        general->vc_stamps.outputs =
            pim_lines_allocate(rows * general->vcs, most * sizeof(uint64_t), &failed);
    }
    if (needs_stamps(general->switch_arbiter)) {
        general->switch_stamps.inputs = pim_lines_allocate(ports, crossings * sizeof(uint64_t), &failed);
        general->switch_stamps.outputs = pim_lines_allocate(ports, crossings * sizeof(uint64_t), &failed);
    }
    if (general->stamped)
        general->flit_stamps = pim_lines_allocate(rows, general->buffer_flits * sizeof(uint64_t), &failed);
    if (general->ordered)
        general->lists = pim_lines_allocate(rows * GENERAL_LISTS, sizeof *general->lists, &failed);
    struct general_scratch *scratch = &general->scratch;
    size_t requests = GENERAL_ROW_LIMIT + GENERAL_CROSSBAR_LIMIT,
           channels = most * general->vcs * general->vcs;
    scratch->requests = pim_lines_allocate(requests, sizeof *scratch->requests, &failed);
    scratch->channels = pim_lines_allocate(channels, sizeof *scratch->channels, &failed);
    scratch->heads = pim_lines_allocate(most * general->vcs, sizeof *scratch->heads, &failed);
    scratch->following =
        pim_lines_allocate(channels > requests ? channels : requests, sizeof *scratch->following, &failed);
    pim_noc_wheel_create(&general->router_wheel, (uint32_t)routers, &failed);
    return !failed;
}

static bool allocate_terminals(struct noc_general *general)
{
    bool failed = false;
    size_t nodes = general->topology->nodes;
    general->terminals = pim_lines_allocate(nodes, sizeof *general->terminals, &failed);
    general->sources = pim_lines_allocate(nodes * general->queues, sizeof *general->sources, &failed);
    general->terminal_credits =
        pim_lines_allocate(nodes * general->vcs, sizeof *general->terminal_credits, &failed);
    general->source_sent = pim_lines_allocate(nodes, sizeof *general->source_sent, &failed);
    pim_noc_wheel_create(&general->terminal_wheel, (uint32_t)nodes, &failed);
    pim_noc_wheel_create(&general->delivery_wheel, (uint32_t)nodes, &failed);
    return !failed;
}

static struct general_rate rate_of(struct pim_noc_bits bits, uint32_t flit_bits)
{
    uint64_t needed = (uint64_t)flit_bits * bits.denominator;
    if (bits.numerator == 0 || needed <= bits.numerator)
        return (struct general_rate){1, 0, 1};
    return (struct general_rate){needed / bits.numerator, (uint32_t)(needed % bits.numerator),
                                 bits.numerator};
}

static void connect_port(const struct pim_noc *noc, uint32_t router, uint32_t port)
{
    const struct pim_noc_configuration *configuration = &noc->configuration;
    struct noc_general *general = noc->general;
    const struct pim_noc_topology *topology = general->topology;
    uint32_t crossing = configuration->switch_allocation_delay + configuration->switch_traversal_delay;
    uint32_t index = topology->first_port[router] + port;
    struct general_input *input = &general->inputs[index];
    struct general_output *output = &general->outputs[index];
    input->arriving.first = output->credits.first = GENERAL_NONE;
    output->reader = input->feeder = GENERAL_NONE;
    output->rate = (struct general_rate){1, 0, 1};
    general->router_of[index] = (uint16_t)router;
    uint32_t injecting = topology->input_node[index], delivered = topology->output_node[index];
    if (injecting != PIM_NOC_NONE) {
        input->from_terminal = true;
        input->feeder = injecting;
        input->credit_latency = NOC_INJECTION_CREDIT;
        general->terminals[injecting].input = index;
    }
    if (delivered != PIM_NOC_NONE) {
        general->terminals[delivered].output = index;
        output->latency = crossing + 1;
        output->rate = general->terminal_rate;
        output->free = output->nonfull = general->all;
    }
    uint32_t in = pim_noc_input_link(topology, router, port),
             out = pim_noc_output_link(topology, router, port);
    if (in != PIM_NOC_NONE) {
        const struct pim_noc_link *link = &topology->link[in];
        input->feeder = topology->first_port[link->from] + link->from_port;
        input->credit_latency = link->latency + 1 + configuration->credit_delay;
    }
    if (out != PIM_NOC_NONE) {
        const struct pim_noc_link *link = &topology->link[out];
        output->reader = topology->first_port[link->to] + link->to_port;
        output->router = link->to;
        output->latency = crossing + link->latency;
        output->rate = rate_of(link->bits, configuration->flit_bits);
        output->free = output->nonfull = general->all;
    }
}

static void number_rows(struct noc_general *general)
{
    for (unsigned row = 0; row < general->topology->most_ports * general->vcs; row++) {
        unsigned port = row / general->vcs, vc = row % general->vcs;
        general->port_of[row] = (uint8_t)port;
        general->vc_of[row] = (uint8_t)vc;
        general->crossbar_of[row] = (uint16_t)(port * general->in_speed + vc % general->in_speed);
        general->exit_of[row] = (uint8_t)(port % general->out_speed);
    }
}

static void initialize(const struct pim_noc *noc)
{
    struct noc_general *general = noc->general;
    const struct pim_noc_topology *topology = general->topology;
    size_t ports = topology->first_port[topology->routers];
    for (uint32_t router = 0; router < topology->routers; router++) {
        general->routers[router].first = topology->first_port[router];
        general->routers[router].ports = pim_noc_ports(topology, router);
        for (uint32_t port = 0; port < general->routers[router].ports; port++)
            connect_port(noc, router, port);
    }
    for (size_t row = 0; row < ports * general->vcs; row++) {
        general->rows[row].front = NOC_NO_PACKET;
        general->columns[row].credits = (uint16_t)general->buffer_flits;
    }
    for (size_t i = 0; i < ports * general->in_speed; i++)
        general->crossbar[i].held_vc = GENERAL_NOT_HELD;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        struct general_terminal *terminal = &general->terminals[node];
        terminal->nonfull = general->all;
        terminal->credits.first = GENERAL_NONE;
        terminal->due_first = NOC_NO_PACKET;
        for (uint32_t i = 0; i < general->queues; i++) {
            struct general_source *source = &general->sources[(size_t)node * general->queues + i];
            source->queue_front = source->current = NOC_NO_PACKET;
            source->last_vc = (uint8_t)(general->vcs - 1);
        }
        for (uint32_t vc = 0; vc < general->vcs; vc++)
            general->terminal_credits[(size_t)node * general->vcs + vc] = (uint16_t)general->buffer_flits;
    }
}

static struct general_arbiter arbiter_of(enum pim_noc_arbiter own, enum pim_noc_arbiter common,
                                         uint32_t groups)
{
    return (struct general_arbiter){own == PIM_NOC_SAME_ARBITER ? common : own, groups};
}

/* Arbiters with a memory of their own stand in the allocators alone: rows of an input take turns then. */
static void choose_arbiters(struct noc_general *general, const struct pim_noc_configuration *configuration)
{
    enum pim_noc_arbiter common = configuration->arbiter;
    general->vc_arbiter = arbiter_of(configuration->vc_arbiter, common, configuration->vc_groups);
    general->switch_arbiter = arbiter_of(configuration->switch_arbiter, common, configuration->switch_groups);
    general->row_arbiter = (struct general_arbiter){common, 1};
    if (needs_stamps(general->row_arbiter))
        general->row_arbiter.kind = PIM_NOC_ROUND_ROBIN;
}

static void run_routers(struct pim_noc *noc, uint64_t cycle)
{
    struct pim_noc_wheel *wheel = &noc->general->router_wheel;
    struct pim_noc_visit visit = pim_noc_visit(wheel, cycle);
    while (pim_noc_visit_word(&visit))
        for (; visit.units; visit.units &= visit.units - 1) {
            uint32_t router = visit.word * 64 + pim_lowest_bit(visit.units);
            if (pim_noc_general_evaluate(noc, router, cycle))
                pim_noc_wake(wheel, router, cycle + 1, cycle);
        }
}

enum pim_status pim_noc_general_create(struct pim_noc *noc, struct pim_error *error)
{
    const struct pim_noc_configuration *configuration = &noc->configuration;
    struct noc_general *general = noc->general = calloc(1, sizeof *general);
    if (!general)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    if (pim_noc_general_plan(configuration, &general->topology, &general->routing, error) != PIM_OK)
        return error->status;
    general->vcs = configuration->virtual_channels;
    general->all = pim_noc_all(general->vcs);
    general->queues = configuration->classes && !configuration->message_classes ? configuration->classes : 1;
    general->buffer_flits = configuration->buffer_flits;
    general->in_speed = configuration->input_speedup;
    general->out_speed = configuration->output_speedup;
    general->adaptive = pim_noc_routing_is_adaptive(general->routing);
    choose_arbiters(general, configuration);
    general->ordered = general->out_speed > 1;
    general->stamped =
        configuration->priority == PIM_NOC_NETWORK_AGE || configuration->priority == PIM_NOC_LOCAL_AGE;
    general->terminal_rate = rate_of(configuration->terminal_bits, configuration->flit_bits);
    general->event_free = GENERAL_NONE;
    general->run = run_routers;
    bool routers = allocate_routers(general), terminals = allocate_terminals(general);
    if (!routers || !terminals)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip of %u routers",
                        general->topology->routers);
    number_rows(general);
    initialize(noc);
    return pim_noc_sets_create(noc, error);
}

void pim_noc_general_destroy(struct noc_general *general)
{
    if (!general)
        return;
    void *const parts[] = {
        general->routers,
        general->router_of,
        general->inputs,
        general->told,
        general->outputs,
        general->rows,
        general->columns,
        general->crossbar,
        general->crossbar_grant,
        general->candidates,
        general->terminals,
        general->sources,
        general->terminal_credits,
        general->events,
        general->packets,
        general->tasks,
        general->vc_stamps.inputs,
        general->vc_stamps.outputs,
        general->switch_stamps.inputs,
        general->switch_stamps.outputs,
        general->event_stamps,
        general->flit_stamps,
        general->source_sent,
        general->lists,
        general->scratch.requests,
        general->scratch.channels,
        general->scratch.heads,
        general->scratch.following,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free(parts[i]);
    pim_noc_sets_destroy(general->sets);
    pim_noc_wheel_destroy(&general->router_wheel);
    pim_noc_wheel_destroy(&general->terminal_wheel);
    pim_noc_wheel_destroy(&general->delivery_wheel);
    pim_noc_routing_destroy(general->routing);
    pim_noc_topology_destroy(general->topology);
    free(general);
}

/* --- use --- */

/* Makes room for a task; tasks between are not declared: one flit, nothing transferred. */
static struct general_task *task_at(struct noc_general *general, uint32_t task)
{
    while (task >= general->task_capacity) {
        size_t first = general->task_capacity;
        general->tasks = pim_noc_grow(general->tasks, &general->task_capacity, sizeof *general->tasks);
        for (size_t i = first; i < general->task_capacity; i++)
            general->tasks[i] = (struct general_task){1, 0};
    }
    return &general->tasks[task];
}

void pim_noc_general_declare(struct noc_general *general, uint32_t task, uint64_t flits)
{
    task_at(general, task)->total = flits;
}

void pim_noc_general_send(struct pim_noc *noc, uint64_t cycle, uint32_t index, struct pim_noc_tag tag)
{
    struct noc_general *general = noc->general;
    struct pim_noc_packet *packet = &noc->packets[index];
    uint32_t queue = noc->configuration.message_classes ? 0 : tag.class;
    assert(cycle >= general->origin && queue < general->queues);
    general->origin = cycle;
    while (index >= general->packet_capacity)
        general->packets =
            pim_noc_grow(general->packets, &general->packet_capacity, sizeof *general->packets);
    struct general_packet *extra = &general->packets[index];
    *extra = (struct general_packet){
        .number = general->sent++, .of_source = general->source_sent[packet->source]++, .task = tag.task};
    if (tag.task != PIM_NOC_NO_TASK)
        (void)task_at(general, tag.task);
    pim_noc_packet_start(general->routing, extra->number, packet->source, packet->destination, tag.class,
                         &extra->state);
    struct general_source *source = &general->sources[(size_t)packet->source * general->queues + queue];
    packet->next = NOC_NO_PACKET;
    if (source->queue_front == NOC_NO_PACKET)
        source->queue_front = index;
    else
        noc->packets[source->queue_back].next = index;
    source->queue_back = index;
    pim_noc_wake(&general->terminal_wheel, packet->source, cycle, cycle);
}

uint64_t pim_noc_general_next(const struct noc_general *general)
{
    const struct pim_noc_wheel *const wheels[] = {&general->router_wheel, &general->terminal_wheel,
                                                  &general->delivery_wheel};
    return pim_noc_wheels_next(wheels, 3, general->origin);
}

void pim_noc_general_deliver_at(struct pim_noc *noc, uint32_t node, uint32_t index, uint64_t due,
                                uint64_t now)
{
    struct noc_general *general = noc->general;
    struct general_terminal *terminal = &general->terminals[node];
    general->packets[index].due = due;
    noc->packets[index].next = NOC_NO_PACKET;
    if (terminal->due_first == NOC_NO_PACKET)
        terminal->due_first = index;
    else
        noc->packets[terminal->due_last].next = index;
    terminal->due_last = index;
    pim_noc_wake(&general->delivery_wheel, node, due, now);
}

/* The tails that are consumed in this cycle. */
static void deliver(struct pim_noc *noc, uint32_t node, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct general_terminal *terminal = &general->terminals[node];
    while (terminal->due_first != NOC_NO_PACKET && general->packets[terminal->due_first].due == cycle) {
        uint32_t index = terminal->due_first, task = general->packets[index].task;
        terminal->due_first = noc->packets[index].next;
        if (task != PIM_NOC_NO_TASK)
            general->tasks[task].transferred += noc->packets[index].flits;
        pim_noc_note_arrived(noc, index);
    }
    if (terminal->due_first != NOC_NO_PACKET) /* perhaps beyond the horizon of the agenda */
        pim_noc_wake(&general->delivery_wheel, node, general->packets[terminal->due_first].due, cycle);
}

void pim_noc_general_step(struct pim_noc *noc, uint64_t cycle)
{
    struct noc_general *general = noc->general;
    struct pim_noc_visit visit = pim_noc_visit(&general->delivery_wheel, cycle);
    while (pim_noc_visit_word(&visit))
        for (; visit.units; visit.units &= visit.units - 1)
            deliver(noc, visit.word * 64 + pim_lowest_bit(visit.units), cycle);
    visit = pim_noc_visit(&general->terminal_wheel, cycle);
    struct pim_noc_spoke next = pim_noc_spoke_at(&general->terminal_wheel, cycle + 1);
    while (pim_noc_visit_word(&visit)) {
        uint64_t again = 0;
        for (; visit.units; visit.units &= visit.units - 1) {
            unsigned unit = pim_lowest_bit(visit.units);
            again |= (uint64_t)pim_noc_general_inject(noc, visit.word * 64 + unit, cycle) << unit;
        }
        if (again)
            pim_noc_wake_word(&next, visit.word, again);
    }
    general->run(noc, cycle);
    general->origin = cycle + 1;
}
