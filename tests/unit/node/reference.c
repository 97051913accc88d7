#include "tests/unit/node/reference.h"

#include <check.h>
#include <string.h>

#define NEVER UINT64_MAX

enum { PACKETS = 1 << 14, TICKS = 2000000, MOVING = 64 };

enum client { MEMORY, SEND, RECEIVE, CLIENTS };
enum kind { DATA, ANNOUNCEMENT, CREDIT };

/* Pieces that a client wants moved, and the instruction or packet they are for. */
struct request {
    bool active;
    struct pim_burst burst;
    uint64_t moved; /* bytes of all pieces that parts have taken */
    uint32_t owner;
};

struct packet {
    enum kind kind;
    uint32_t source, destination;
    uint32_t send, receive; /* instructions; `send` of DATA alone */
    uint64_t offset, bytes;
    pim_time ready; /* read at the sender, or written at the receiver */
    bool at_receiver;
};

struct unit {
    uint32_t fetched, oldest; /* instructions; all before `oldest` are complete */
    struct request request[CLIENTS];
    enum client last;
    pim_time port_free;
    struct pim_bank bank;
    uint64_t taken[PIM_BUFFERS];
    uint32_t sending;        /* instruction whose packets are being cut, or REFERENCE_LENGTH */
    uint64_t cut;            /* bytes of it that have been asked for */
    uint32_t held;           /* packets between the start of their read and the injection of their tail */
    uint32_t queue[PACKETS]; /* packets that came in and wait for their write, in order */
    uint32_t queued, written;
    /* by instruction */
    bool announced[REFERENCE_LENGTH];    /* of a receive: its announcement has come to the sender */
    uint32_t partner[REFERENCE_LENGTH];  /* instruction at the other end of a message */
    uint64_t granted[REFERENCE_LENGTH];  /* of a receive: packets that its sender may send in all */
    uint64_t credit[REFERENCE_LENGTH];   /* of a send: packets that it may send and has not */
    uint64_t received[REFERENCE_LENGTH]; /* bytes written */
    bool complete
        [REFERENCE_LENGTH]; /* its end has been dealt with: nothing starts for it earlier in its tick */
};

struct state {
    struct reference *r;
    struct pim_noc *noc;
    pim_time tick;
    struct unit unit[REFERENCE_UNITS];
    struct packet packet[PACKETS];
    uint32_t moving[REFERENCE_UNITS * MOVING], movings; /* packets whose `ready` lies ahead */
};

static void advance(struct state *s, uint32_t u);

static void complete(struct state *s, uint32_t u, uint32_t i)
{
    s->r->end[u][i] = s->tick;
    s->unit[u].complete[i] = true;
}

static pim_time edge(pim_time tick, pim_time period)
{
    while (tick % period != 0)
        tick++;
    return tick;
}

static bool is_network(const struct pim_instruction *i)
{
    return i->opcode == PIM_OP_SEND || i->opcode == PIM_OP_RECEIVE;
}

/* --- messages --- */

/* The i-th send of a (source, destination, tag) meets the i-th receive. */
static uint32_t find_partner(const struct reference *r, uint32_t u, uint32_t index)
{
    const struct pim_instruction *mine = &r->program[u][index];
    uint32_t number = 0, other = mine->u.network.peer;
    for (uint32_t i = 0; i < index; i++)
        number += r->program[u][i].opcode == mine->opcode && r->program[u][i].u.network.peer == other &&
                  r->program[u][i].u.network.tag == mine->u.network.tag;
    for (uint32_t i = 0; i < r->length[other]; i++) {
        const struct pim_instruction *its = &r->program[other][i];
        if (is_network(its) && its->opcode != mine->opcode && its->u.network.peer == u &&
            its->u.network.tag == mine->u.network.tag && number-- == 0)
            return i;
    }
    ck_abort_msg("a message without its other end");
    return 0;
}

static void inject(struct state *s, uint32_t index)
{
    const struct packet *packet = &s->packet[index];
    uint64_t bits = packet->bytes * 8, width = s->r->configuration.zero_load.flit_bits;
    uint64_t flits = packet->kind == DATA ? (bits + width - 1) / width : 1;
    /* the network has done the cycle of this tick */
    pim_noc_send_at(s->noc, s->tick / s->r->configuration.network_period + 1, packet->source,
                    packet->destination, flits, index);
}

static uint32_t new_packet(struct state *s, enum kind kind, uint32_t source, uint32_t destination,
                           uint32_t receive)
{
    if (s->r->packets == PACKETS)
        ck_abort_msg("more packets than the reference has room for");
    s->packet[s->r->packets] = (struct packet){
        .kind = kind, .source = source, .destination = destination, .receive = receive, .ready = NEVER};
    return (uint32_t)s->r->packets++;
}

static void ask(struct state *s, uint32_t u, enum client client, uint32_t owner, struct pim_burst burst)
{
    struct request *request = &s->unit[u].request[client];
    if (request->active)
        ck_abort_msg("a client of the port has two requests");
    *request = (struct request){.active = true, .burst = burst, .owner = owner};
}

/* A send that names one instruction alone, a receive of the window that brought all its bytes. */
static bool passes_on(const struct reference *r, uint32_t u, uint32_t i)
{
    const struct pim_instruction *send = &r->program[u][i], *from;
    uint32_t named = 0, distance = 0;
    for (unsigned d = 0; d < PIM_DEPENDENCIES; d++) {
        named += send->dependency[d] != 0;
        distance += send->dependency[d];
    }
    if (!r->configuration.cut_through || named != 1 || distance > i || distance >= r->configuration.window)
        return false;
    from = &r->program[u][i - distance];
    return from->opcode == PIM_OP_RECEIVE && from->u.network.address <= send->u.network.address &&
           send->u.network.address + send->u.network.bytes <= from->u.network.address + from->u.network.bytes;
}

/* Reads the next packets of the message that is being sent, as far as there is room and credit. */
static void read_packets(struct state *s, uint32_t u)
{
    struct unit *unit = &s->unit[u];
    const struct pim_node_configuration *c = &s->r->configuration;
    while (unit->sending < REFERENCE_LENGTH && unit->credit[unit->sending] > 0 &&
           unit->held < c->send_packets && !unit->request[SEND].active) {
        const struct pim_instruction *send = &s->r->program[u][unit->sending];
        uint32_t index = new_packet(s, DATA, u, send->u.network.peer, unit->partner[unit->sending]);
        struct packet *packet = &s->packet[index];
        packet->send = unit->sending;
        packet->offset = unit->cut;
        packet->bytes = send->u.network.bytes - unit->cut;
        if (packet->bytes > c->packet_bytes)
            packet->bytes = c->packet_bytes;
        unit->credit[unit->sending]--;
        unit->held++;
        unit->cut += packet->bytes;
        if (unit->cut == send->u.network.bytes)
            unit->sending = REFERENCE_LENGTH;
        if (passes_on(s->r, u, packet->send)) {
            s->r->passed_on++;
            inject(s, index);
            continue;
        }
        ask(s, u, SEND, index,
            (struct pim_burst){.address = send->u.network.address + packet->offset,
                               .bytes = (uint32_t)packet->bytes,
                               .count = 1});
    }
}

static void write_packets(struct state *s, uint32_t u)
{
    struct unit *unit = &s->unit[u];
    if (unit->written == unit->queued || unit->request[RECEIVE].active)
        return;
    uint32_t index = unit->queue[unit->written++];
    const struct packet *packet = &s->packet[index];
    ask(s, u, RECEIVE, index,
        (struct pim_burst){.address = s->r->program[u][packet->receive].u.network.address + packet->offset,
                           .bytes = (uint32_t)packet->bytes,
                           .count = 1,
                           .write = true});
}

static void injected(void *context, uint64_t index, uint32_t source)
{
    struct state *s = context;
    const struct packet *packet = &s->packet[index];
    if (packet->kind != DATA)
        return;
    s->unit[source].held--;
    if (packet->offset + packet->bytes == s->r->program[source][packet->send].u.network.bytes)
        complete(s, source, packet->send);
    read_packets(s, source);
    advance(s, source);
}

static void delivered(void *context, const struct pim_noc_delivery *delivery)
{
    struct state *s = context;
    uint32_t index = (uint32_t)delivery->packet, u = delivery->destination;
    struct packet *packet = &s->packet[index];
    struct unit *unit = &s->unit[u];
    if (packet->kind == DATA) {
        packet->at_receiver = true;
        unit->queue[unit->queued++] = index;
        write_packets(s, u);
        return;
    }
    /* announcements and credits name the receive of their sender */
    uint32_t send = s->unit[packet->source].partner[packet->receive];
    if (packet->kind == ANNOUNCEMENT) {
        unit->announced[send] = true;
        unit->credit[send] = s->r->configuration.receive_packets;
    } else {
        unit->credit[send]++;
    }
    read_packets(s, u);
    advance(s, u);
}

/* --- starts --- */

static bool done(const struct state *s, uint32_t u, uint32_t i)
{
    return s->unit[u].complete[i];
}

static uint64_t moved_by(const struct pim_instruction *i)
{
    return (uint64_t)i->u.memory.bytes * i->u.memory.count;
}

static uint64_t bytes_of(uint64_t rows, uint64_t columns, unsigned bits)
{
    return (rows * columns * bits + 7) / 8;
}

static bool engine_free(const struct state *s, uint32_t u, enum pim_engine engine)
{
    const struct unit *unit = &s->unit[u];
    uint32_t open = 0;
    for (uint32_t i = 0; i < unit->fetched; i++)
        open += pim_opcode_engine(s->r->program[u][i].opcode) == engine && s->r->start[u][i] != NEVER &&
                !done(s, u, i);
    if (engine == PIM_ENGINE_MEMORY)
        return !unit->request[MEMORY].active;
    if (engine == PIM_ENGINE_SEND)
        return unit->sending == REFERENCE_LENGTH;
    if (engine == PIM_ENGINE_RECEIVE)
        return open < s->r->configuration.posted_receives;
    return open == 0;
}

static bool take(struct state *s, uint32_t u, unsigned buffer, uint64_t bytes)
{
    uint64_t *taken = &s->unit[u].taken[buffer];
    if (*taken + bytes > s->r->configuration.buffer_bytes[buffer])
        return false;
    *taken += bytes;
    return true;
}

static void work(struct state *s, uint32_t u, uint32_t i, uint64_t cycles)
{
    pim_time period = s->r->configuration.logic_period;
    s->r->start[u][i] = edge(s->tick, period);
    s->r->end[u][i] = s->r->start[u][i] + cycles * period;
    if (s->r->end[u][i] == s->tick)
        s->r->end[u][i]++;
}

/* False: what it needs is not there. */
static bool start(struct state *s, uint32_t u, uint32_t i)
{
    const struct pim_node_configuration *c = &s->r->configuration;
    const struct pim_instruction *instruction = &s->r->program[u][i];
    struct unit *unit = &s->unit[u];
    struct pim_pe_cost product;
    struct pim_acu_cost vector;
    switch (instruction->opcode) {
    case PIM_OP_MATRIX:
        if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT &&
            !take(s, u, PIM_BUFFER_OUTPUT,
                  bytes_of(instruction->u.matrix.m, instruction->u.matrix.n, c->pe.accumulator_bits)))
            return false;
        pim_pe_matrix(&c->pe, instruction->u.matrix.m, instruction->u.matrix.n, instruction->u.matrix.k,
                      instruction->u.matrix.input_bits, instruction->u.matrix.weight_bits,
                      (instruction->detail & PIM_MATRIX_ACCUMULATE) != 0, &product);
        work(s, u, i, product.cycles);
        return true;
    case PIM_OP_VECTOR:
        pim_acu_vector(&c->acu, instruction->detail, instruction->u.vector.rows,
                       instruction->u.vector.elements, &vector);
        work(s, u, i, vector.cycles);
        return true;
    case PIM_OP_SEND:
        if (!unit->announced[i])
            return false;
        unit->sending = i;
        unit->cut = 0;
        s->r->start[u][i] = s->tick;
        read_packets(s, u);
        return true;
    case PIM_OP_RECEIVE:
        s->r->start[u][i] = s->tick;
        unit->granted[i] = c->receive_packets;
        inject(s, new_packet(s, ANNOUNCEMENT, u, instruction->u.network.peer, i));
        return true;
    default:
        if (instruction->opcode == PIM_OP_LOAD && instruction->detail != PIM_BUFFER_NONE &&
            !take(s, u, instruction->detail, moved_by(instruction)))
            return false;
        s->r->start[u][i] = s->tick;
        ask(s, u, MEMORY, i,
            (struct pim_burst){.address = instruction->u.memory.address,
                               .bytes = instruction->u.memory.bytes,
                               .stride = instruction->u.memory.stride,
                               .count = instruction->u.memory.count,
                               .write = instruction->opcode == PIM_OP_STORE});
        return true;
    }
}

/* The head of an engine's queue; whether it started. */
static bool try_head(struct state *s, uint32_t u, enum pim_engine engine)
{
    const struct reference *r = s->r;
    uint32_t i = 0;
    while (i < s->unit[u].fetched &&
           (pim_opcode_engine(r->program[u][i].opcode) != engine || r->start[u][i] != NEVER))
        i++;
    if (i == s->unit[u].fetched || !engine_free(s, u, engine))
        return false;
    for (unsigned d = 0; d < PIM_DEPENDENCIES; d++) {
        uint32_t distance = r->program[u][i].dependency[d];
        if (distance > 0 && distance <= i && !done(s, u, i - distance))
            return false;
    }
    for (uint32_t before = 0; r->configuration.in_order && before < i; before++)
        if (r->start[u][before] == NEVER)
            return false;
    return start(s, u, i);
}

/* Marks and joins wait for all before them; else as many as the window has room for. */
static void fetch(struct state *s, uint32_t u)
{
    struct reference *r = s->r;
    for (;; s->unit[u].fetched++) {
        uint32_t next = s->unit[u].fetched, oldest = s->unit[u].oldest;
        while (oldest < next && done(s, u, oldest))
            oldest++;
        s->unit[u].oldest = oldest;
        bool control =
            next < r->length[u] && pim_opcode_engine(r->program[u][next].opcode) == PIM_ENGINE_CONTROL;
        if (next == r->length[u] || (control ? oldest < next : next - oldest >= r->configuration.window))
            return;
        if (control) {
            r->start[u][next] = s->tick;
            complete(s, u, next);
        }
    }
}

static void advance(struct state *s, uint32_t u)
{
    bool any;
    do {
        any = false;
        fetch(s, u);
        for (unsigned engine = 0; engine < PIM_ENGINE_CONTROL; engine++)
            while (try_head(s, u, (enum pim_engine)engine))
                any = true;
    } while (any);
}

/* --- ends --- */

static void give_back(struct state *s, uint32_t u, uint32_t i)
{
    const struct pim_instruction *instruction = &s->r->program[u][i];
    uint64_t *taken = s->unit[u].taken;
    if (instruction->opcode == PIM_OP_MATRIX) {
        uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
        if (instruction->detail & PIM_MATRIX_RELEASE_INPUT)
            taken[PIM_BUFFER_INPUT] -=
                instruction->u.matrix.window
                    ? bytes_of(1, instruction->u.matrix.window, instruction->u.matrix.input_bits)
                    : bytes_of(m, k, instruction->u.matrix.input_bits);
        if (instruction->detail & PIM_MATRIX_RELEASE_WEIGHT)
            taken[PIM_BUFFER_WEIGHT] -= bytes_of(k, n, instruction->u.matrix.weight_bits);
    } else if (instruction->opcode == PIM_OP_VECTOR) {
        taken[PIM_BUFFER_OUTPUT] -= instruction->u.vector.release;
    } else if (instruction->opcode == PIM_OP_STORE && instruction->detail != PIM_BUFFER_NONE) {
        taken[instruction->detail] -= moved_by(instruction);
    }
}

static bool is_memory(uint8_t opcode)
{
    return opcode == PIM_OP_LOAD || opcode == PIM_OP_STORE;
}

/* Instructions whose end is now: loads and stores first, then matrix and vector. */
static void end_work(struct state *s, uint32_t u, bool memory)
{
    for (uint32_t i = s->unit[u].oldest; i < s->unit[u].fetched; i++) {
        uint8_t opcode = s->r->program[u][i].opcode;
        if (s->r->end[u][i] != s->tick ||
            !(memory ? is_memory(opcode) : opcode == PIM_OP_MATRIX || opcode == PIM_OP_VECTOR))
            continue;
        complete(s, u, i);
        give_back(s, u, i);
        advance(s, u);
    }
}

static void end_packet(struct state *s, uint32_t index)
{
    struct packet *packet = &s->packet[index];
    if (!packet->at_receiver) { /* all of it has been read */
        inject(s, index);
        return;
    }
    uint32_t u = packet->destination, i = packet->receive;
    struct unit *unit = &s->unit[u];
    uint64_t bytes = s->r->program[u][i].u.network.bytes, most = s->r->configuration.packet_bytes;
    unit->received[i] += packet->bytes;
    if (unit->received[i] == bytes) {
        complete(s, u, i);
        advance(s, u);
    } else if (unit->granted[i] * most < bytes) {
        unit->granted[i]++;
        inject(s, new_packet(s, CREDIT, u, packet->source, i));
    }
}

/* --- the memory port --- */

/* The next part of a request: whole pieces, or a stretch of one that is longer than the limit. */
static struct pim_burst next_part(const struct reference *r, const struct request *request)
{
    const struct pim_bank_rules *bank = &r->configuration.bank;
    struct pim_burst part = request->burst;
    uint64_t limit = r->configuration.arbitration_bytes,
             row = (uint64_t)bank->port_bytes * bank->columns_per_row;
    uint64_t length = part.bytes, pieces = part.count;
    if (pieces > 1 && part.stride == part.bytes) { /* without gaps they are one */
        length *= pieces;
        pieces = 1;
    }
    uint64_t piece = request->moved / length, inside = request->moved % length;
    part.address += piece * part.stride + inside;
    if (length <= limit) {
        uint64_t left = pieces - piece, fit = limit / length;
        part.bytes = (uint32_t)length;
        part.count = (uint32_t)(left < fit ? left : fit);
        return part;
    }
    uint64_t stop = part.address + limit, end = part.address + length - inside;
    uint64_t row_end = (part.address / row + 1) * row;
    if (end <= stop)
        stop = end;
    else if (row_end > stop && stop / bank->port_bytes * bank->port_bytes > part.address)
        stop = stop / bank->port_bytes * bank->port_bytes;
    if (stop > row_end)
        stop = row_end;
    part.bytes = (uint32_t)(stop - part.address);
    part.count = 1;
    return part;
}

static void serve(struct state *s, uint32_t u)
{
    struct unit *unit = &s->unit[u];
    pim_time period = s->r->configuration.memory_period;
    enum client client = unit->last;
    if (s->tick % period != 0 || s->tick < unit->port_free)
        return;
    for (unsigned turn = 1; turn <= CLIENTS; turn++) {
        client = (enum client)((unit->last + turn) % CLIENTS);
        if (unit->request[client].active)
            break;
    }
    struct request *request = &unit->request[client];
    if (!request->active)
        return;
    unit->last = client;
    struct pim_burst part = next_part(s->r, request);
    struct pim_burst_times times;
    pim_bank_access(&unit->bank, &part, s->tick / period, &times);
    unit->port_free = times.next * period;
    request->moved += (uint64_t)part.bytes * part.count;
    if (request->moved < (uint64_t)request->burst.bytes * request->burst.count)
        return;
    request->active = false;
    if (client == MEMORY)
        s->r->end[u][request->owner] = times.last_data * period;
    else {
        if (s->movings == REFERENCE_UNITS * MOVING)
            ck_abort_msg("more packets move than the reference has room for");
        s->packet[request->owner].ready = times.last_data * period;
        s->moving[s->movings++] = request->owner;
    }
    read_packets(s, u);
    write_packets(s, u);
    advance(s, u);
}

/* --- ticks --- */

static void step(struct state *s)
{
    struct reference *r = s->r;
    if (s->tick % r->configuration.network_period == 0)
        pim_noc_step(s->noc, s->tick / r->configuration.network_period);
    /* Packets of one tick end in the order in which they were asked for. */
    uint32_t moving = 0, movings = s->movings;
    for (uint32_t i = 0; i < movings; i++) {
        uint32_t index = s->moving[i];
        if (s->packet[index].ready == s->tick)
            end_packet(s, index);
        else
            s->moving[moving++] = index;
    }
    s->movings = moving;
    for (uint32_t u = 0; u < r->units; u++)
        end_work(s, u, true);
    for (uint32_t u = 0; u < r->units; u++)
        end_work(s, u, false);
    for (uint32_t u = 0; u < r->units; u++) {
        if (s->tick == 0)
            advance(s, u);
        serve(s, u);
    }
}

static bool all_done(const struct state *s)
{
    for (uint32_t u = 0; u < s->r->units; u++) {
        if (s->unit[u].fetched < s->r->length[u])
            return false;
        for (uint32_t i = 0; i < s->r->length[u]; i++)
            if (!done(s, u, i))
                return false;
    }
    return true;
}

void reference_run(struct reference *r)
{
    static struct state s;
    struct pim_error error = {PIM_OK, ""};
    memset(&s, 0, sizeof s);
    s.r = r;
    r->packets = r->passed_on = 0;
    memset(r->start, 0xff, sizeof r->start);
    memset(r->end, 0xff, sizeof r->end);
    const struct pim_noc_callbacks callbacks = {.context = &s, .injected = injected, .delivered = delivered};
    ck_assert_msg(pim_noc_create(&r->noc, NULL, 1, &callbacks, &s.noc, &error) == PIM_OK, "%s", error.text);
    for (uint32_t u = 0; u < r->units; u++) {
        struct unit *unit = &s.unit[u];
        pim_bank_initialize(&unit->bank, &r->configuration.bank);
        unit->sending = REFERENCE_LENGTH;
        unit->last = RECEIVE; /* the first turn is the memory engine's */
        for (uint32_t i = 0; i < r->length[u]; i++)
            if (is_network(&r->program[u][i]))
                unit->partner[i] = find_partner(r, u, i);
    }
    for (step(&s); !all_done(&s); step(&s)) {
        s.tick++;
        if (s.tick == TICKS)
            ck_abort_msg("the reference does not come to an end");
    }
    for (uint32_t u = 0; u < r->units; u++)
        pim_bank_read_counters(&s.unit[u].bank, &r->bank[u]);
    pim_noc_destroy(s.noc);
}
