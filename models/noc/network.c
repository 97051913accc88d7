/*
 * The public face of the network: packets, callbacks, statistics, and the adapter that turns network cycles
 * into kernel events.
 *
 * 1. At most one kernel event is pending: at the next cycle in which something has to be done.
 * 2. Callbacks of a cycle run after the whole network has done it, so what they send belongs to the next
 *    cycle at the earliest.
 */
#include "models/noc/general/general.h"
#include "models/noc/general/state.h"
#include "models/noc/mesh/mesh.h"
#include "models/noc/watchdog.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void *pim_noc_grow(void *items, size_t *capacity, size_t item_size)
{
    size_t more = *capacity ? *capacity * 2 : 64;
    void *grown = more <= SIZE_MAX / item_size ? realloc(items, more * item_size) : NULL;
    if (!grown) {
        fprintf(stderr, "pimsim: out of memory: the network on chip needs %zu entries of %zu bytes\n", more,
                item_size);
        _Exit(1);
    }
    *capacity = more;
    return grown;
}

uint32_t pim_noc_packet_new(struct pim_noc *noc)
{
    if (noc->packet_free == NOC_NO_PACKET) {
        size_t capacity = noc->packet_capacity;
        noc->packets = pim_noc_grow(noc->packets, &capacity, sizeof *noc->packets);
        assert(capacity < NOC_NO_PACKET);
        for (size_t i = capacity; i-- > noc->packet_capacity;) {
            noc->packets[i].next = noc->packet_free;
            noc->packet_free = (uint32_t)i;
        }
        noc->packet_capacity = (uint32_t)capacity;
    }
    uint32_t index = noc->packet_free;
    noc->packet_free = noc->packets[index].next;
    return index;
}

void pim_noc_note_injected(struct pim_noc *noc, uint32_t index)
{
    noc->statistics.packets_injected++;
    if (!noc->callbacks.injected)
        return;
    if (noc->injected_count == noc->injected_capacity)
        noc->injected = pim_noc_grow(noc->injected, &noc->injected_capacity, sizeof *noc->injected);
    noc->injected[noc->injected_count++] =
        (struct noc_injected){noc->packets[index].user, noc->packets[index].source};
}

void pim_noc_note_arrived(struct pim_noc *noc, uint32_t index)
{
    if (noc->arrived_count == noc->arrived_capacity)
        noc->arrived = pim_noc_grow(noc->arrived, &noc->arrived_capacity, sizeof *noc->arrived);
    noc->arrived[noc->arrived_count++] = index;
}

/* Of a packet that has arrived. */
static uint32_t hops_of(const struct pim_noc *noc, uint32_t index)
{
    if (noc->general)
        return noc->general->packets[index].hops;
    if (noc->mesh && noc->mesh->routed)
        return noc->mesh->packets[index].hops;
    return pim_noc_hops(&noc->configuration, noc->packets[index].source, noc->packets[index].destination);
}

static void call_back(struct pim_noc *noc, uint64_t cycle)
{
    size_t injected = noc->injected_count, arrived = noc->arrived_count;
    for (size_t i = 0; i < injected; i++)
        noc->callbacks.injected(noc->callbacks.context, noc->injected[i].packet, noc->injected[i].source);
    for (size_t i = 0; i < arrived; i++) {
        uint32_t index = noc->arrived[i];
        struct pim_noc_packet *packet = &noc->packets[index];
        struct pim_noc_delivery delivery = {
            .packet = packet->user,
            .source = packet->source,
            .destination = packet->destination,
            .flits = packet->flits,
            .created = packet->created,
            .head_injected = packet->head_injected,
            .tail_injected = packet->tail_injected,
            .head_arrived = packet->head_arrived,
            .tail_arrived = cycle,
            .hops = hops_of(noc, index),
        };
        struct pim_noc_statistics *statistics = &noc->statistics;
        statistics->packets_delivered++;
        statistics->flits_delivered += delivery.flits;
        statistics->hops += delivery.hops;
        statistics->flit_hops += delivery.flits * delivery.hops;
        statistics->packet_latency += cycle - delivery.created;
        statistics->network_latency += cycle - delivery.head_injected;
        packet->next = noc->packet_free;
        noc->packet_free = index;
        if (noc->callbacks.delivered)
            noc->callbacks.delivered(noc->callbacks.context, &delivery);
    }
    noc->injected_count = noc->arrived_count = 0;
}

uint64_t pim_noc_next_cycle(const struct pim_noc *noc)
{
    if (noc->general)
        return pim_noc_general_next(noc->general);
    return noc->mesh ? pim_noc_mesh_next(noc->mesh) : pim_noc_estimate_next(noc->estimate);
}

uint64_t pim_noc_origin(const struct pim_noc *noc)
{
    if (noc->general)
        return noc->general->origin;
    return noc->mesh ? noc->mesh->origin : pim_noc_estimate_origin(noc->estimate);
}

void pim_noc_step(struct pim_noc *noc, uint64_t cycle)
{
    assert(!noc->stepping && cycle >= pim_noc_origin(noc) && cycle <= pim_noc_next_cycle(noc));
    noc->stepping = true;
    noc->statistics.cycles_stepped++;
    if (noc->general)
        pim_noc_general_step(noc, cycle);
    else if (noc->mesh)
        pim_noc_mesh_step(noc, cycle);
    else
        pim_noc_estimate_step(noc, cycle);
    call_back(noc, cycle);
    noc->stepping = false;
}

/* Moves the pending kernel event to cycle `next`, the next one with work. */
static void plan_at(struct pim_noc *noc, uint64_t next)
{
    assert(next <= PIM_TIME_LAST / noc->period);
    pim_time time = next * noc->period;
    if (!pim_event_pending(&noc->event))
        pim_event_schedule_at(noc->kernel, &noc->event, time, PIM_PHASE_NETWORK);
    else if (pim_event_time(&noc->event) != time)
        pim_event_reschedule_at(noc->kernel, &noc->event, time, PIM_PHASE_NETWORK);
}

static void plan(struct pim_noc *noc)
{
    uint64_t next = pim_noc_next_cycle(noc);
    if (next != UINT64_MAX)
        plan_at(noc, next);
}

/* While nobody else has anything to do before the next cycle with work, that needs no event. */
static void at_edge(struct pim_kernel *kernel, void *context)
{
    struct pim_noc *noc = context;
    uint64_t cycle = pim_kernel_now(kernel) / noc->period;
    for (;;) {
        pim_noc_step(noc, cycle);
        cycle = pim_noc_next_cycle(noc);
        if (cycle == UINT64_MAX)
            return;
        if (noc->configuration.step_every_cycle || cycle > PIM_TIME_LAST / noc->period ||
            !pim_kernel_go_on(kernel, cycle * noc->period, PIM_PHASE_NETWORK))
            break;
    }
    plan_at(noc, cycle);
}

void pim_noc_declare_task(struct pim_noc *noc, uint32_t task, uint64_t flits)
{
    assert(task < PIM_NOC_TASK_LIMIT && flits > 0);
    if (noc->general)
        pim_noc_general_declare(noc->general, task, flits);
}

void pim_noc_send_tagged_at(struct pim_noc *noc, uint64_t cycle, uint32_t source, uint32_t destination,
                            uint64_t flits, uint64_t user, struct pim_noc_tag tag)
{
    const struct pim_noc_configuration *configuration = &noc->configuration;
    assert(source < pim_noc_nodes(configuration) && destination < pim_noc_nodes(configuration));
    assert(flits >= 1 && flits <= PIM_NOC_FLITS_LIMIT);
    assert(tag.task < PIM_NOC_TASK_LIMIT || tag.task == PIM_NOC_NO_TASK);
    assert(tag.class == 0 || tag.class < configuration->classes);
    assert(tag.waited <= cycle);
    uint32_t index = pim_noc_packet_new(noc);
    struct pim_noc_packet *packet = &noc->packets[index];
    packet->user = user;
    packet->flits = flits;
    packet->created = cycle - tag.waited;
    packet->source = (uint16_t)source;
    packet->destination = (uint16_t)destination;
    packet->x = (uint8_t)(destination % configuration->width);
    packet->y = (uint8_t)(destination / configuration->width);
    noc->statistics.packets_sent++;
    noc->statistics.flits_sent += flits;
    if (noc->general)
        pim_noc_general_send(noc, cycle, index, tag);
    else if (noc->mesh)
        pim_noc_mesh_send(noc, cycle, index, tag.class);
    else
        pim_noc_estimate_send(noc, cycle, index);
}

static const struct pim_noc_tag untagged = {.task = PIM_NOC_NO_TASK};

void pim_noc_send_at(struct pim_noc *noc, uint64_t cycle, uint32_t source, uint32_t destination,
                     uint64_t flits, uint64_t user)
{
    pim_noc_send_tagged_at(noc, cycle, source, destination, flits, user, untagged);
}

void pim_noc_send(struct pim_noc *noc, uint32_t source, uint32_t destination, uint64_t flits, uint64_t user)
{
    pim_noc_send_tagged(noc, source, destination, flits, user, untagged);
}

void pim_noc_send_tagged(struct pim_noc *noc, uint32_t source, uint32_t destination, uint64_t flits,
                         uint64_t user, struct pim_noc_tag tag)
{
    assert(noc->kernel);
    pim_time now = pim_kernel_now(noc->kernel);
    uint64_t cycle = now / noc->period;
    bool gone = now % noc->period != 0 || pim_kernel_phase(noc->kernel) > PIM_PHASE_NETWORK;
    cycle += gone;
    if (cycle < pim_noc_origin(noc))
        cycle = pim_noc_origin(noc);
    pim_noc_send_tagged_at(noc, cycle, source, destination, flits, user, tag);
    if (!noc->stepping)
        plan(noc);
}

static bool pending(void *context)
{
    return !pim_noc_idle(context);
}

static void report(void *context, struct pim_idle_report *lines)
{
    const struct pim_noc *noc = context;
    enum { MOST = 64 };
    size_t count = pim_noc_get_waiting(noc, NULL, 0);
    struct pim_noc_waiting *items = calloc(count + 1, sizeof *items);
    size_t *circle = calloc(count + 1, sizeof *circle), length = 0;
    if (items && circle) {
        (void)pim_noc_get_waiting(noc, items, count);
        length = pim_noc_find_circle(items, count, circle);
    }
    if (length)
        pim_idle_report_line(lines, "network: a circle of %zu packets, each waiting for the next:", length);
    size_t shown = !items || !circle ? 0 : length ? length : count;
    for (size_t i = 0; i < shown && i < MOST; i++)
        pim_idle_report_line(lines, "%s", pim_noc_describe_waiting(&items[length ? circle[i] : i]).text);
    if (count > shown || shown > MOST)
        pim_idle_report_line(lines, "network: %zu more packets wait", count - (shown < MOST ? shown : MOST));
    free(items);
    free(circle);
}

enum pim_status pim_noc_create(const struct pim_noc_configuration *configuration, struct pim_kernel *kernel,
                               pim_time period, const struct pim_noc_callbacks *callbacks,
                               struct pim_noc **result, struct pim_error *error)
{
    *result = NULL;
    enum pim_status status = pim_noc_configuration_check_fields(configuration, error);
    if (status != PIM_OK)
        return status;
    if (period == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the period of the network's clock is 0 ticks: it must be at least 1");
    struct pim_noc *noc = calloc(1, sizeof *noc);
    if (!noc)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for a network on chip");
    noc->configuration = *configuration;
    if (configuration->vc_iterations == 0)
        noc->configuration.vc_iterations = configuration->allocator_iterations;
    if (configuration->switch_iterations == 0)
        noc->configuration.switch_iterations = configuration->allocator_iterations;
    if (callbacks)
        noc->callbacks = *callbacks;
    if (noc->callbacks.stage) /* the routers that tell; the cycles are the same */
        noc->configuration.general = noc->configuration.step_every_cycle = true;
    noc->period = period;
    noc->packet_free = NOC_NO_PACKET;
    pim_event_initialize(&noc->event, at_edge, noc);
    if (pim_noc_configuration_is_general(&noc->configuration))
        status = pim_noc_general_create(noc, error);
    else if (configuration->fidelity == PIM_NOC_FLIT)
        status = pim_noc_mesh_create(noc, error);
    else
        status = pim_noc_estimate_create(noc, error);
    if (status != PIM_OK) {
        pim_noc_destroy(noc);
        return status;
    }
    if (kernel) {
        noc->kernel = kernel;
        noc->work.pending = pending;
        noc->work.report = report;
        noc->work.context = noc;
        pim_kernel_add_pending_work(kernel, &noc->work);
    }
    *result = noc;
    return PIM_OK;
}

void pim_noc_destroy(struct pim_noc *noc)
{
    if (!noc)
        return;
    if (noc->kernel) {
        (void)pim_event_cancel(noc->kernel, &noc->event);
        pim_kernel_remove_pending_work(noc->kernel, &noc->work);
    }
    pim_noc_general_destroy(noc->general);
    pim_noc_mesh_destroy(noc->mesh);
    pim_noc_estimate_destroy(noc->estimate);
    free(noc->packets);
    free(noc->injected);
    free(noc->arrived);
    free(noc);
}

const struct pim_noc_configuration *pim_noc_configuration(const struct pim_noc *noc)
{
    return &noc->configuration;
}

void pim_noc_get_statistics(const struct pim_noc *noc, struct pim_noc_statistics *statistics)
{
    *statistics = noc->statistics;
}

bool pim_noc_idle(const struct pim_noc *noc)
{
    return noc->statistics.packets_delivered == noc->statistics.packets_sent;
}

enum pim_status pim_noc_check(struct pim_noc *noc, struct pim_error *error)
{
    if (noc->general)
        return pim_noc_general_check(noc, error);
    return noc->mesh ? pim_noc_mesh_check(noc, error) : PIM_OK;
}

size_t pim_noc_get_waiting(const struct pim_noc *noc, struct pim_noc_waiting *items, size_t capacity)
{
    if (noc->general)
        return pim_noc_general_waiting(noc, items, capacity);
    return noc->mesh ? pim_noc_mesh_waiting(noc, items, capacity) : 0;
}
