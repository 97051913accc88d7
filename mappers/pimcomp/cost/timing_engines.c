/* Windows and engines of cores: rules 1 to 10 of docs/models/core.md, as far as timing.h keeps them. */
#include "mappers/machine/core_times.h"
#include "mappers/pimcomp/cost/timing_internal.h"
#include "sim/bits.h"
#include "sim/integer.h"
#include "traces/local.h"

/* --- windows and conflicts --- */

static struct pim_timing_range range_of(const struct pim_local_pieces *pieces)
{
    if (pieces->bytes == 0)
        return (struct pim_timing_range){0, 0};
    return (struct pim_timing_range){(uint32_t)pieces->address, (uint32_t)pim_local_end(pieces)};
}

static uint64_t vector_bytes(const struct pim_instruction *i)
{
    return (uint64_t)i->u.local_vector.elements * ((i->u.local_vector.bits + 7) / 8);
}

/* Of an instruction of the matrix engine. */
static uint32_t group_of(const struct pim_instruction *i)
{
    return i->opcode == PIM_OP_ARRAY_WRITE ? i->u.array_write.group : i->u.mvm.group;
}

static uint32_t lines_in(struct pim_timing_range range)
{
    if (range.begin == range.end)
        return 0;
    uint32_t more = (range.end - 1) / PIM_TIMING_LINE_BYTES - range.begin / PIM_TIMING_LINE_BYTES;
    return pim_smaller32(more + 1, PIM_TIMING_LINES);
}

/* The instructions of a word with a bit in a line of `range`. */
static uint64_t found_in(const uint64_t *lines, struct pim_timing_range range)
{
    uint64_t found = 0;
    uint32_t line = range.begin / PIM_TIMING_LINE_BYTES;
    for (uint32_t left = lines_in(range); left > 0; left--)
        found |= lines[line++ % PIM_TIMING_LINES];
    return found;
}

static void mark(uint64_t *lines, struct pim_timing_range range, uint64_t bit, bool set)
{
    uint32_t line = range.begin / PIM_TIMING_LINE_BYTES;
    for (uint32_t left = lines_in(range); left > 0; left--, line++)
        lines[line % PIM_TIMING_LINES] = (lines[line % PIM_TIMING_LINES] & ~bit) | (set ? bit : 0);
}

/* Sets or clears the bit of an instruction where it writes and reads. */
static void mark_all(struct pim_timing_lines *lines, const struct pim_timing_touched *touched, uint64_t bit,
                     bool set)
{
    mark(lines->writers, touched->write, bit, set);
    mark(lines->readers, touched->read[0], bit, set);
    mark(lines->readers, touched->read[1], bit, set);
}

/* The bits of a word that stand for instructions before `sequence`, and perhaps its own. */
static uint64_t fetched_before(const struct pim_core_timing *t, uint64_t sequence, uint32_t word)
{
    uint64_t bits = pim_smaller(sequence, t->slots), below = (uint64_t)word * PIM_TIMING_WORD;
    if (bits >= below + PIM_TIMING_WORD)
        return UINT64_MAX;
    return bits > below ? (UINT64_C(1) << (bits - below)) - 1 : 0;
}

void pim_timing_touch(const struct pim_core_timing *t, struct pim_timing_core *core,
                      struct pim_timing_entry *entry)
{
    struct pim_timing_touched *touched = &entry->touched;
    struct pim_local_access access;
    pim_local_access_of(&entry->instruction, &access);
    touched->write = range_of(&access.write);
    touched->read[0] = range_of(&access.read[0]);
    touched->read[1] = range_of(&access.read[1]);
    uint64_t sequence = entry->sequence, slot = sequence & (t->slots - 1);
    struct pim_timing_lines *own = &core->lines[slot / PIM_TIMING_WORD];
    uint64_t bit = UINT64_C(1) << slot % PIM_TIMING_WORD;
    if (sequence >= t->slots) /* the one that had the slot has left the window */
        mark_all(own, &pim_timing_at(t, core, sequence - t->slots)->touched, bit, false);
    uint64_t *obstacles = &core->obstacles[(sequence & t->mask) * t->words];
    for (uint32_t word = 0; word < t->words; word++) {
        const struct pim_timing_lines *lines = &core->lines[word];
        obstacles[word] = t->a.in_order ? fetched_before(t, sequence, word)
                                        : found_in(lines->writers, touched->write) |
                                              found_in(lines->readers, touched->write) |
                                              found_in(lines->writers, touched->read[0]) |
                                              found_in(lines->writers, touched->read[1]);
    }
    obstacles[slot / PIM_TIMING_WORD] &= ~bit;
    mark_all(own, touched, bit, true);
}

static bool overlap(struct pim_timing_range a, struct pim_timing_range b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* Whether `entry` must wait for the end of `earlier`. */
static bool waits_for(const struct pim_core_timing *t, const struct pim_timing_entry *entry,
                      const struct pim_timing_entry *earlier)
{
    const struct pim_timing_touched *a = &entry->touched, *b = &earlier->touched;
    return (t->a.in_order && earlier->engine != entry->engine) || overlap(a->write, b->write) ||
           overlap(a->read[0], b->write) || overlap(a->read[1], b->write) || overlap(a->write, b->read[0]) ||
           overlap(a->write, b->read[1]);
}

bool pim_timing_ready(const struct pim_core_timing *t, struct pim_timing_core *core, enum pim_engine engine)
{
    struct pim_timing_engine *e = &core->engine[engine];
    struct pim_timing_entry *entry = pim_timing_next(t, core, engine);
    uint64_t *obstacles = &core->obstacles[(entry->sequence & t->mask) * t->words];
    e->blocker = NULL;
    for (uint32_t word = 0; word < t->words; word++)
        for (; obstacles[word] != 0; obstacles[word] &= obstacles[word] - 1) {
            uint64_t slot = (uint64_t)word * PIM_TIMING_WORD + pim_lowest_bit(obstacles[word]);
            uint64_t back = (entry->sequence - slot) & (t->slots - 1);
            const struct pim_timing_entry *earlier = pim_timing_at(t, core, entry->sequence - back);
            if (earlier->end <= entry->start || !waits_for(t, entry, earlier))
                continue;
            if (earlier->end == PIM_TIMING_UNKNOWN) {
                e->blocker = earlier;
                return false;
            }
            entry->start = earlier->end;
        }
    entry->start = pim_larger(entry->start, e->free);
    if (engine == PIM_ENGINE_MATRIX) {
        uint32_t group = group_of(&entry->instruction);
        entry->start = pim_larger(entry->start, core->group_free[group]);
        e->blocker = core->group_holder[group];
    }
    e->ready = !e->blocker;
    return e->ready;
}

/* It has started, and the engine can take the next one at `free_at`. */
static void leave(struct pim_timing_core *core, const struct pim_timing_entry *entry, uint64_t free_at)
{
    struct pim_timing_engine *engine = &core->engine[entry->engine];
    engine->head++;
    engine->ready = false;
    engine->free = free_at;
}

/* Its end is known. */
static void end_at(struct pim_timing_core *core, struct pim_timing_entry *entry, uint64_t end)
{
    entry->end = pim_larger(end, entry->start + 1);
    core->latest = pim_larger(core->latest, entry->end);
    core->open--;
}

/* --- servers --- */

static uint64_t port(const struct pim_core_timing *t, struct pim_timing_core *core, uint64_t at,
                     uint64_t bytes, bool write)
{
    const struct pim_core_architecture *a = &t->a;
    uint64_t cycles = write ? a->local_write_cycles : a->local_read_cycles;
    uint64_t beats = pim_divide_up(bytes, a->local_bytes_per_cycle);
    if (bytes == 0)
        return at;
    core->port = pim_larger(core->port, at) + (a->local_pipelined ? beats : beats * cycles);
    return core->port + (a->local_pipelined && cycles ? cycles - 1 : 0);
}

/* Units that the packets of a message take, each of which begins with a new one. */
static uint64_t packed(const struct pim_core_timing *t, uint64_t bytes, uint64_t unit_bits)
{
    uint64_t packet = t->a.packet_bytes;
    return bytes / packet * pim_divide_up(packet * 8, unit_bits) +
           pim_divide_up(bytes % packet * 8, unit_bits);
}

static uint64_t global(struct pim_core_timing *t, const struct pim_timing_core *core,
                       const struct pim_instruction *i, uint64_t at, bool write)
{
    const struct pim_core_architecture *a = &t->a;
    uint64_t latency = write ? a->global_write_cycles : a->global_read_cycles;
    uint64_t bytes = i->u.transfer.bytes, count = i->u.transfer.count;
    uint64_t beats = i->u.transfer.stride == bytes || count == 1
                         ? pim_divide_up(bytes * count, a->global_bytes_per_cycle)
                         : pim_divide_up(bytes, a->global_bytes_per_cycle) * count;
    uint64_t cycles = a->global_pipelined ? beats : beats * latency;
    t->memory[core->chip] += cycles;
    uint64_t end = pim_server_take(&t->server[core->chip * PIM_SERVERS + PIM_SERVER_MEMORY], at, cycles);
    return a->global_pipelined && latency ? end + latency - 1 : end;
}

/* --- engines --- */

static void multiply(struct pim_core_timing *t, struct pim_timing_core *core, struct pim_timing_entry *entry)
{
    const struct pim_instruction *i = &entry->instruction;
    entry->due = port(t, core, entry->start, i->u.mvm.input_bytes, false) + t->a.mvm_cycles;
    core->group_mvms[i->u.mvm.group]++;
    core->group_holder[i->u.mvm.group] = entry;
    leave(core, entry, entry->start);
}

/* Weights into cells, a row after the other. */
static void write_rows(struct pim_core_timing *t, struct pim_timing_core *core,
                       struct pim_timing_entry *entry)
{
    const struct pim_instruction *i = &entry->instruction;
    uint64_t read = port(t, core, entry->start, i->u.array_write.bytes, false);
    end_at(core, entry, read + (uint64_t)i->u.array_write.rows * t->a.write_row_cycles);
    core->group_free[i->u.array_write.group] = entry->end;
    leave(core, entry, entry->start);
}

static void operate(struct pim_core_timing *t, struct pim_timing_core *core, struct pim_timing_entry *entry)
{
    const struct pim_core_architecture *a = &t->a;
    const struct pim_instruction *i = &entry->instruction;
    uint64_t beats = pim_divide_up(i->u.local_vector.elements, a->vector_lanes);
    entry->due = entry->start;
    for (unsigned source = 0; source < pim_local_sources(i->detail); source++)
        entry->due = port(t, core, entry->due, vector_bytes(i), false);
    entry->due += a->vector_pipelined ? a->vector_cycles + beats : a->vector_cycles * beats;
}

static uint64_t transfer_bytes(const struct pim_instruction *i)
{
    return (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
}

/* What came back is written when it is due; what was read is stored then. */
static void load_or_store(struct pim_core_timing *t, struct pim_timing_core *core,
                          struct pim_timing_entry *entry)
{
    const struct pim_instruction *i = &entry->instruction;
    if (i->opcode == PIM_OP_LOCAL_LOAD) {
        entry->due = global(t, core, i, entry->start, false);
        leave(core, entry, entry->start + 1);
    } else {
        uint64_t read = port(t, core, entry->start, transfer_bytes(i), false);
        entry->due = pim_larger(read, entry->start + 1);
        leave(core, entry, entry->due);
    }
}

/* Copies and writes within the local memory. */
static void move(struct pim_core_timing *t, struct pim_timing_core *core, struct pim_timing_entry *entry)
{
    const struct pim_instruction *i = &entry->instruction;
    bool copy = i->opcode == PIM_OP_LOCAL_COPY;
    uint64_t bytes = copy ? (uint64_t)i->u.local_copy.bytes * i->u.local_copy.count
                          : (uint64_t)i->u.local_write.bytes * i->u.local_write.count;
    uint64_t at = copy ? port(t, core, entry->start, bytes, false) : entry->start;
    end_at(core, entry, port(t, core, at, bytes, true));
    leave(core, entry, entry->end);
}

void pim_timing_execute(struct pim_core_timing *t, struct pim_timing_core *core,
                        struct pim_timing_entry *entry)
{
    switch (entry->instruction.opcode) {
    case PIM_OP_MVM:
        multiply(t, core, entry);
        break;
    case PIM_OP_ARRAY_WRITE:
        write_rows(t, core, entry);
        break;
    case PIM_OP_LOCAL_VECTOR:
        operate(t, core, entry);
        break;
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
        load_or_store(t, core, entry);
        break;
    default:
        move(t, core, entry);
        break;
    }
}

/* --- messages --- */

/* Cycles of an announcement: along the grid, by whatever way messages go, as the model has it
 * (pim_core_hops). */
static uint64_t announcement(const struct pim_core_timing *t, const struct pim_timing_core *from,
                             const struct pim_timing_core *to)
{
    const struct pim_core_architecture *a = &t->a;
    uint32_t x = pim_difference(from->number % a->width, to->number % a->width),
             y = pim_difference(from->number / a->width, to->number / a->width);
    if (from->chip != to->chip)
        return a->chip_link_cycles;
    return a->connection == PIM_CORE_MESH ? pim_time_way(a, x + y + 1) : 1;
}

uint64_t pim_timing_meeting(const struct pim_core_timing *t, const struct pim_timing_core *from,
                            const struct pim_timing_core *to)
{
    uint64_t send = pim_timing_next(t, from, PIM_ENGINE_SEND)->start;
    uint64_t receive = pim_timing_next(t, to, PIM_ENGINE_RECEIVE)->start;
    return t->a.synchronous ? pim_larger(send, receive + announcement(t, to, from)) : send;
}

/* The number of the link by which a message leaves router `at` on its way to core `to`; one to a core is kept
 * beside the others of the router of the same number. */
static size_t link_of(uint32_t at, enum pim_machine_link link, const struct pim_timing_core *to)
{
    return (size_t)(link == PIM_MACHINE_UNIT ? to->number : at) * PIM_MACHINE_LINKS + link;
}

/* Cycles from the first flit of a message until its last one has left the sender, and until it is there, but
 * for the way of a flit. */
struct crossing {
    uint64_t sent, there;
};

/* Of one that is alone. What routers have room for leaves the sender at the rate of its link. */
static struct crossing cross_alone(const struct pim_core_architecture *a, uint64_t flits)
{
    const uint64_t behind = flits > a->buffer_flits ? flits - a->buffer_flits : 0,
                   link = pim_machine_hold(&a->network, true, flits);
    return (struct crossing){.sent =
                                 pim_time_network(a, pim_larger(link, pim_machine_worm(&a->network, behind))),
                             .there = pim_time_network(a, pim_machine_worm(&a->network, flits))};
}

/* One that stands on a link behind others, or behind credits of its own, stays at its sender but for what
 * routers have room for. */
static struct crossing cross_in_order(struct pim_core_timing *t, const struct pim_timing_core *from,
                                      const struct pim_timing_core *to, uint32_t via, uint64_t flits,
                                      uint64_t at)
{
    const struct pim_core_architecture *a = &t->a;
    const uint64_t narrowest = pim_time_network(a, pim_machine_passage(&a->network, flits));
    const uint64_t buffer = pim_time_network(a, pim_machine_passage(&a->network, a->buffer_flits));
    const uint32_t last = pim_machine_router(&t->grid, to->number);
    struct crossing crossing = cross_alone(a, flits);
    uint64_t stood = 0, held = 0;
    uint32_t router = pim_machine_router(&t->grid, from->number);
    for (uint64_t passed = 1;; passed++) {
        via = router == via ? last : via;
        const enum pim_machine_link link = pim_machine_towards(&t->grid, router, via);
        const bool unit = link == PIM_MACHINE_UNIT;
        const uint64_t flight = pim_time_way(a, passed), head = at + flight + stood, room = passed * buffer;
        const uint64_t end = pim_server_take(&t->served[link_of(router, link, to)], head,
                                             pim_time_network(a, pim_machine_hold(&a->network, unit, flits)));
        stood += end > head + crossing.there ? end - (head + crossing.there) : 0;
        if (narrowest > room && stood + flight > room)
            held = pim_larger(held, stood + flight - room);
        if (unit)
            return (struct crossing){crossing.sent + held, crossing.there + stood};
        router = pim_machine_behind(&t->grid, router, link);
    }
}

/* One that shares the links of its way: others, and it, stay at their senders but for what routers have room
 * for. What holds it up is told to its send and its receive. */
static void share_links(struct pim_core_timing *t, const struct pim_timing_core *from,
                        const struct pim_timing_core *to, uint32_t via, uint64_t routers, uint64_t flits,
                        uint64_t at)
{
    const struct pim_core_architecture *a = &t->a;
    const uint32_t last = pim_machine_router(&t->grid, to->number);
    const uint64_t way = pim_time_way(a, routers);
    struct pim_timing_message message = {.send = pim_timing_next(t, from, PIM_ENGINE_SEND),
                                         .receive = pim_timing_next(t, to, PIM_ENGINE_RECEIVE),
                                         .input = PIM_MACHINE_UNIT,
                                         .flits = flits};
    uint32_t router = pim_machine_router(&t->grid, from->number);
    message.sent_by = message.send->sequence;
    message.received_by = message.receive->sequence;
    for (uint64_t passed = 1;; passed++) {
        via = router == via ? last : via;
        const enum pim_machine_link link = pim_machine_towards(&t->grid, router, via);
        const bool unit = link == PIM_MACHINE_UNIT;
        const uint64_t flight = pim_time_way(a, passed), room = passed * a->buffer_flits;
        message.head = at + flight;
        message.rest = way - flight;
        message.hold = pim_time_network(a, pim_machine_hold(&a->network, unit, flits));
        message.held = flits > room ? flits - room : 0;
        pim_timing_link_pass(&t->shared[link_of(router, link, to)], &message, t->now);
        if (unit)
            return;
        message.input = link;
        router = pim_machine_behind(&t->grid, router, link);
    }
}

/* A message, or a piece of one, whose first flit leaves at `at`, by router `via`, on a way of so many
 * routers. */
static struct crossing cross_mesh(struct pim_core_timing *t, const struct pim_timing_core *from,
                                  const struct pim_timing_core *to, uint32_t via, uint64_t routers,
                                  uint64_t flits, uint64_t at)
{
    if (t->served)
        return cross_in_order(t, from, to, via, flits, at);
    if (t->shared)
        share_links(t, from, to, via, routers, flits, at);
    return cross_alone(&t->a, flits);
}

/* Routers of a way. */
static uint64_t routers_by(const struct pim_core_timing *t, uint32_t from, uint32_t via, uint32_t to)
{
    return 1 + pim_machine_distance(&t->grid, from, via) + pim_machine_distance(&t->grid, via, to);
}

/* carry() over a mesh: as one worm; where each packet goes its own way, in at most so many pieces. */
static uint64_t carry_mesh(struct pim_core_timing *t, const struct pim_timing_core *from,
                           const struct pim_timing_core *to, uint64_t bytes, uint64_t at, uint64_t read,
                           uint64_t *taken)
{
    enum { PIECES_MOST = 64 };
    const struct pim_core_architecture *a = &t->a;
    const uint32_t first = pim_machine_router(&t->grid, from->number),
                   last = pim_machine_router(&t->grid, to->number);
    const uint64_t packets = pim_divide_up(bytes, a->packet_bytes),
                   most = a->network.detours ? pim_divide_up(packets, PIECES_MOST) * a->packet_bytes : bytes;
    uint64_t there = 0, left = at, done = 0;
    do {
        const uint64_t piece = pim_smaller(most, bytes - done);
        const uint32_t via = a->network.detours ? pim_machine_via(&t->grid, t->ways++) : last;
        const uint64_t routers = routers_by(t, first, via, last), flits = packed(t, piece, a->flit_bits);
        const struct crossing crossing = cross_mesh(t, from, to, via, routers, flits, left);
        done += piece;
        const uint64_t whole = pim_larger(left + crossing.there, done == bytes ? read : 0);
        there = pim_larger(there, whole + pim_time_way(a, routers));
        left += crossing.sent;
    } while (done < bytes);
    *taken = pim_larger(left, read);
    return there;
}

/* A message whose first packet is read at `at`, its last at `read`: when the interconnect has taken it.
 * Returns when it is there. */
static uint64_t carry(struct pim_core_timing *t, const struct pim_timing_core *from,
                      const struct pim_timing_core *to, uint64_t bytes, uint64_t at, uint64_t read,
                      uint64_t *taken)
{
    const struct pim_core_architecture *a = &t->a;
    struct pim_server *out = &t->server[from->chip * PIM_SERVERS], *in = &t->server[to->chip * PIM_SERVERS];
    if (from->chip != to->chip) {
        uint64_t cycles = packed(t, bytes, (uint64_t)a->chip_link_bytes_per_cycle * 8);
        *taken = pim_larger(pim_server_take(&out[PIM_SERVER_OUT], at, cycles), read);
        return pim_server_take(&in[PIM_SERVER_IN], *taken - cycles + a->chip_link_cycles, cycles);
    }
    if (a->connection == PIM_CORE_MESH)
        return carry_mesh(t, from, to, bytes, at, read, taken);
    uint64_t cycles = packed(t, bytes, (uint64_t)a->link_bytes_per_cycle * 8);
    *taken = pim_larger(pim_server_take(&out[PIM_SERVER_BUS], at, cycles), read);
    if (a->connection == PIM_CORE_SHARED_MEMORY)
        return pim_server_take(&out[PIM_SERVER_BUS], *taken, cycles);
    return *taken;
}

/* Bytes that a message takes at the port, and its first packet: whole beats of each packet. */
static uint64_t port_bytes(const struct pim_core_timing *t, uint64_t bytes)
{
    return packed(t, bytes, (uint64_t)t->a.local_bytes_per_cycle * 8) * t->a.local_bytes_per_cycle;
}

static uint64_t first_packet(const struct pim_core_timing *t, const struct pim_timing_entry *entry)
{
    return port_bytes(t, pim_smaller(entry->instruction.u.network.bytes, t->a.packet_bytes));
}

/* The packets behind the first are read one after the other, each when the one before it is there. */
static uint64_t read_rest(struct pim_core_timing *t, struct pim_timing_core *core, uint64_t at,
                          uint64_t bytes)
{
    const struct pim_core_architecture *a = &t->a;
    if (bytes <= a->packet_bytes)
        return at;
    uint64_t waits = pim_divide_up(bytes, a->packet_bytes) - 2;
    uint64_t latency = a->local_pipelined && a->local_read_cycles ? a->local_read_cycles - 1 : 0;
    return port(t, core, at, port_bytes(t, bytes - a->packet_bytes), false) + waits * latency;
}

void pim_timing_pass(struct pim_core_timing *t, struct pim_timing_core *from, struct pim_timing_core *to)
{
    struct pim_timing_entry *send = pim_timing_next(t, from, PIM_ENGINE_SEND);
    struct pim_timing_entry *receive = pim_timing_next(t, to, PIM_ENGINE_RECEIVE);
    uint64_t begin = pim_timing_meeting(t, from, to), taken;
    uint64_t bytes = send->instruction.u.network.bytes, first = first_packet(t, send);
    uint64_t at = port(t, from, begin, first, false);
    uint64_t read = read_rest(t, from, at, bytes);
    uint64_t there = carry(t, from, to, bytes, at, read, &taken);
    receive->whole = pim_larger(receive->whole, pim_larger(there, receive->start));
    receive->left = port_bytes(t, bytes);
    receive->due = pim_larger(receive->whole - (read - at), receive->start);
    send->start = begin;
    send->due = pim_larger(send->due, pim_larger(taken, begin + 1));
    leave(to, receive, t->a.synchronous ? begin : receive->start);
}

/* --- ends --- */

void pim_timing_end(struct pim_core_timing *t, struct pim_timing_core *core, struct pim_timing_entry *entry)
{
    const struct pim_instruction *i = &entry->instruction;
    uint64_t first, written;
    switch (i->opcode) {
    case PIM_OP_MVM:
        end_at(core, entry, port(t, core, entry->due, i->u.mvm.output_bytes, true));
        core->group_free[i->u.mvm.group] = entry->end;
        core->group_holder[i->u.mvm.group] = NULL;
        break;
    case PIM_OP_LOCAL_VECTOR:
        end_at(core, entry, port(t, core, entry->due, vector_bytes(i), true));
        leave(core, entry, entry->end);
        core->vector += entry->end - entry->start;
        break;
    case PIM_OP_LOCAL_LOAD:
        end_at(core, entry, port(t, core, entry->due, transfer_bytes(i), true));
        break;
    case PIM_OP_LOCAL_STORE:
        end_at(core, entry, global(t, core, i, entry->due, true));
        break;
    case PIM_OP_SEND:
        if (entry->due > t->now)
            break;
        end_at(core, entry, entry->due);
        leave(core, entry, entry->end);
        core->transfer += entry->end - entry->start;
        break;
    default: /* a receive: the last packet is written when all are there */
        first = entry->due < entry->whole ? entry->left - first_packet(t, entry) : entry->left;
        written = port(t, core, entry->due, first, true);
        entry->left -= first;
        if (entry->left == 0)
            end_at(core, entry, written);
        entry->due = entry->whole;
        break;
    }
}
