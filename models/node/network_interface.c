/* The network interface: messages as packets, by the rules of docs/models/node.md ("Messages"). */
#include "models/node/node_internal.h"
#include "sim/arena.h"

#include <assert.h>

static struct pim_packet *new_packet(struct pim_node *node, struct pim_slot *slot, uint32_t kind)
{
    struct pim_node_array *array = node->array;
    struct pim_packet *packet = pim_pool_take(&array->packets, sizeof *packet);
    if (!packet) {
        pim_units_exhausted(&array->units, "packets");
        return NULL;
    }
    *packet = (struct pim_packet){.source = node->unit.id,
                                  .destination = slot->instruction.u.network.peer,
                                  .phase = node->unit.sums,
                                  .kind = (uint8_t)kind,
                                  .array = array};
    return packet;
}

static void give_packet(struct pim_packet *packet)
{
    pim_pool_give(&packet->array->packets, packet);
}

static uint64_t flits_of(const struct pim_node_array *array, uint64_t bytes)
{
    uint64_t flit_bits = array->configuration.zero_load.flit_bits;
    uint64_t flits = (bytes * 8 + flit_bits - 1) / flit_bits;
    return flits ? flits : 1; /* an announcement is a head alone */
}

static void inject(struct pim_packet *packet)
{
    struct pim_node_array *array = packet->array;
    /* in a network with classes of traffic data are the second one, announcements and grants the first */
    bool classes = pim_noc_configuration(array->units.noc)->classes > 1;
    struct pim_noc_tag tag = {.task = PIM_NOC_NO_TASK, .class = classes && packet->kind == PIM_PACKET_DATA};
    pim_noc_send_tagged(array->units.noc, packet->source, packet->destination, flits_of(array, packet->bytes),
                        (uint64_t)(uintptr_t)packet, tag);
}

/* The packet whose pointer the network hands back. */
static struct pim_packet *packet_of(uint64_t value)
{
    return (
        struct pim_packet *)(uintptr_t)value; // NOLINT(performance-no-int-to-ptr): our own pointer comes back
}

/* The memory access of a packet: its part of the message of `slot`. */
static void submit(struct pim_node *node, struct pim_packet *packet, enum pim_port_client client,
                   const struct pim_slot *slot, pim_handler *handler)
{
    const struct pim_burst burst = {.address = slot->instruction.u.network.address + packet->offset,
                                    .bytes = packet->bytes,
                                    .count = 1,
                                    .write = client == PIM_PORT_RECEIVE};
    pim_port_submit(node, client, &burst, handler, packet);
}

/* --- sending --- */

/*
 * Whether the announcement of `receive` is the next of its message name: announcements may overtake each
 * other in the network, but the i-th send of a (source, destination, tag) meets the i-th receive. (Hardware
 * would number them; here the receives are looked at.)
 */
static bool is_next(const struct pim_slot *receive)
{
    uint64_t predecessor = receive->receive.predecessor;
    if (predecessor == 0)
        return true;
    const struct pim_slot *before = pim_node_slot(receive->node, predecessor - 1);
    return before->sequence != predecessor - 1 || before->matched ||
           pim_node_is_done(receive->node, predecessor - 1);
}

/* The index of the announcement that a send may answer, or the count of announcements. */
static uint32_t find_announcement(const struct pim_network_interface *interface,
                                  const struct pim_instruction *instruction)
{
    uint32_t i = 0;
    for (; i < interface->announcement_count; i++) {
        const struct pim_announcement *one = &interface->announcements[i];
        if (one->peer == instruction->u.network.peer && one->tag == instruction->u.network.tag &&
            is_next(one->receive))
            break;
    }
    return i;
}

struct pim_slot *pim_interface_announced(const struct pim_node *node, const struct pim_slot *slot)
{
    const struct pim_network_interface *interface = &node->interface;
    uint32_t i = find_announcement(interface, &slot->instruction);
    return i < interface->announcement_count ? interface->announcements[i].receive : NULL;
}

static void packet_read(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    inject(context);
}

bool pim_interface_forwards(const struct pim_node *node, const struct pim_slot *slot)
{
    const struct pim_node_configuration *configuration = &node->array->configuration;
    if (!configuration->cut_through || slot->instruction.opcode != PIM_OP_SEND)
        return false;
    uint64_t distance = 0;
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        if (slot->instruction.dependency[i] > 0 && distance > 0)
            return false; /* others may have changed the bytes in memory */
        if (slot->instruction.dependency[i] > 0)
            distance = slot->instruction.dependency[i];
    }
    if (distance == 0 || distance > slot->sequence || distance >= configuration->window)
        return false;
    const struct pim_slot *receive = pim_node_slot(node, slot->sequence - distance);
    if (receive->sequence != slot->sequence - distance || receive->instruction.opcode != PIM_OP_RECEIVE)
        return false; /* marks and joins have no slot */
    uint64_t first = receive->instruction.u.network.address, bytes = receive->instruction.u.network.bytes;
    uint64_t address = slot->instruction.u.network.address, length = slot->instruction.u.network.bytes;
    return address >= first && length <= bytes && address - first <= bytes - length;
}

/* Asks for the memory reads of the next packets, as far as the interface can hold them. */
static void pump(struct pim_node *node)
{
    struct pim_network_interface *interface = &node->interface;
    const struct pim_node_configuration *configuration = &node->array->configuration;
    while (interface->sending && interface->meeting->receive.credits > 0 &&
           interface->packets_held < configuration->send_packets &&
           !pim_port_is_active(node, PIM_PORT_SEND)) {
        struct pim_slot *slot = interface->sending;
        uint64_t rest = slot->instruction.u.network.bytes - interface->send_offset;
        struct pim_packet *packet = new_packet(node, slot, PIM_PACKET_DATA);
        if (!packet)
            return;
        packet->bytes = rest < configuration->packet_bytes ? (uint32_t)rest : configuration->packet_bytes;
        packet->offset = interface->send_offset;
        packet->last = packet->bytes == rest;
        packet->send = slot;
        packet->receive = interface->meeting;
        interface->packets_held++;
        interface->meeting->receive.credits--;
        interface->send_offset += packet->bytes;
        if (packet->last)
            interface->sending = NULL;
        if (slot->forwards) {
            inject(packet);
            continue;
        }
        submit(node, packet, PIM_PORT_SEND, slot, packet_read);
    }
}

/* The same, and when all of a message has been asked for the next send may start. */
static void pump_on(struct pim_node *node)
{
    pump(node);
    if (!node->interface.sending)
        pim_node_advance_engine(node, PIM_ENGINE_SEND);
}

void pim_interface_send(struct pim_node *node, struct pim_slot *slot)
{
    struct pim_network_interface *interface = &node->interface;
    uint32_t i = find_announcement(interface, &slot->instruction);
    assert(i < interface->announcement_count && !interface->sending);
    interface->meeting = interface->announcements[i].receive;
    interface->meeting->matched = true;
    interface->announcements[i] = interface->announcements[--interface->announcement_count];
    interface->sending = slot;
    interface->send_offset = 0;
    PIM_ADD_BYTES(node, bytes_sent, slot->instruction.u.network.bytes);
    pump(node);
}

/* The whole of a message has left. */
static void count_sent(struct pim_node_array *array, const struct pim_slot *slot)
{
    struct pim_message_sum *sum = &array->sent[slot->instruction.detail];
    sum->messages++;
    sum->bytes += slot->instruction.u.network.bytes;
    sum->time += pim_kernel_now(array->units.kernel) - slot->started;
}

void pim_interface_injected(void *context, uint64_t value, uint32_t source)
{
    struct pim_packet *packet = packet_of(value);
    struct pim_node_array *array = context;
    if (packet->kind != PIM_PACKET_DATA)
        return;
    struct pim_node *node = pim_node_at(array, source);
    struct pim_slot *slot = packet->send;
    node->interface.packets_held--;
    pump(node);
    if (packet->last) {
        count_sent(array, slot);
        pim_engine_ended(slot, PIM_ENGINE_SEND);
    } else if (!node->interface.sending) {
        pim_node_advance_engine(node, PIM_ENGINE_SEND);
    }
}

/* --- receiving --- */

void pim_interface_post(struct pim_node *node, struct pim_slot *slot)
{
    struct pim_network_interface *interface = &node->interface;
    struct pim_receive *receive = &slot->receive;
    receive->moved = receive->predecessor = 0;
    for (uint32_t i = 0; i < interface->posted_count; i++) {
        const struct pim_slot *other = interface->posted[i];
        if (other->instruction.u.network.peer == slot->instruction.u.network.peer &&
            other->instruction.u.network.tag == slot->instruction.u.network.tag)
            receive->predecessor = other->sequence + 1; /* the latest: `posted` is in program order */
    }
    interface->posted[interface->posted_count++] = slot;
    receive->credits = receive->granted = node->array->configuration.receive_packets;
    struct pim_packet *packet = new_packet(node, slot, PIM_PACKET_ANNOUNCEMENT);
    if (!packet)
        return;
    packet->receive = slot;
    inject(packet);
}

static void packet_written(struct pim_kernel *kernel, void *context);

static void submit_write(struct pim_node *node)
{
    struct pim_network_interface *interface = &node->interface;
    struct pim_packet *packet = interface->write_head;
    if (!packet || pim_port_is_active(node, PIM_PORT_RECEIVE))
        return;
    interface->write_head = packet->next;
    submit(node, packet, PIM_PORT_RECEIVE, packet->receive, packet_written);
}

void pim_interface_served(struct pim_node *node, enum pim_port_client client)
{
    if (client == PIM_PORT_SEND)
        pump_on(node);
    else
        submit_write(node);
}

/* Grants the sender one packet more, if the message has more packets than it was granted. */
static void grant(struct pim_node *node, struct pim_slot *slot)
{
    uint64_t packet_bytes = node->array->configuration.packet_bytes;
    if (slot->receive.granted >= (slot->instruction.u.network.bytes + packet_bytes - 1) / packet_bytes)
        return;
    struct pim_packet *packet = new_packet(node, slot, PIM_PACKET_CREDIT);
    if (!packet)
        return;
    slot->receive.granted++;
    packet->receive = slot;
    inject(packet);
}

static void packet_written(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_packet *packet = context;
    struct pim_slot *slot = packet->receive;
    struct pim_node *node = slot->node;
    pim_node_prefetch(node);
    struct pim_network_interface *interface = &node->interface;
    struct pim_receive *receive = &slot->receive;
    receive->moved += packet->bytes;
    interface->packets_in--;
    give_packet(packet);
    if (receive->moved < slot->instruction.u.network.bytes) {
        grant(node, slot);
        return;
    }
    uint32_t i = 0;
    while (interface->posted[i] != slot)
        i++;
    interface->posted_count--;
    for (; i < interface->posted_count; i++)
        interface->posted[i] = interface->posted[i + 1];
    pim_states_account_now(&node->unit);
    interface->begun--;
    pim_engine_ended(slot, PIM_ENGINE_RECEIVE);
}

static void accept_data(struct pim_node *node, struct pim_packet *packet)
{
    struct pim_network_interface *interface = &node->interface;
    struct pim_slot *slot = packet->receive;
    assert(slot->node == node && !pim_node_is_done(node, slot->sequence) &&
           packet->offset + packet->bytes <= slot->instruction.u.network.bytes);
    if (!slot->begun) {
        slot->begun = true;
        interface->begun++;
        pim_states_set(&node->unit, PIM_ENGINE_RECEIVE, PIM_STATE_BUSY);
    }
    PIM_ADD_BYTES(node, bytes_received, packet->bytes);
    packet->next = NULL;
    if (interface->write_head)
        interface->write_tail->next = packet;
    else
        interface->write_head = packet;
    interface->write_tail = packet;
    if (++interface->packets_in > node->array->receive_queue_high_water)
        node->array->receive_queue_high_water = interface->packets_in;
    submit_write(node);
}

static void accept_announcement(struct pim_node *node, struct pim_packet *packet)
{
    struct pim_network_interface *interface = &node->interface;
    struct pim_announcement *more = pim_array_grow(interface->announcements, &interface->announcement_room,
                                                   interface->announcement_count + 1, sizeof *more);
    if (!more) {
        pim_units_exhausted(&node->array->units, "announcements");
        return;
    }
    interface->announcements = more;
    interface->announcements[interface->announcement_count++] =
        (struct pim_announcement){.peer = packet->source,
                                  .tag = packet->receive->instruction.u.network.tag,
                                  .receive = packet->receive};
    give_packet(packet);
    pim_node_advance_engine(node, PIM_ENGINE_SEND);
}

static void accept_credit(struct pim_node *node, struct pim_packet *packet)
{
    packet->receive->receive.credits++;
    give_packet(packet);
    pump_on(node);
}

bool pim_interface_is_payload(const struct pim_noc_delivery *delivery)
{
    return packet_of(delivery->packet)->kind == PIM_PACKET_DATA;
}

void pim_interface_delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct pim_node_array *array = context;
    struct pim_packet *packet = packet_of(delivery->packet);
    struct pim_node *node = pim_node_at(array, packet->destination);
    pim_node_prefetch(node);
    PIM_PREFETCH(&node->interface);
    pim_unit_attribute_packet(&pim_node_at(array, packet->source)->unit, packet->phase,
                              &array->configuration.zero_load, delivery);
    if (packet->kind == PIM_PACKET_ANNOUNCEMENT)
        accept_announcement(node, packet);
    else if (packet->kind == PIM_PACKET_CREDIT)
        accept_credit(node, packet);
    else
        accept_data(node, packet);
}
