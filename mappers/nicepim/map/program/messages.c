#include "mappers/nicepim/map/program/messages.h"

#include "mappers/nicepim/cycles/cycles_memory.h"
#include "sim/integer.h"

#include <stdlib.h>
#include <string.h>

/* --- messages --- */

static void send(struct program *program, uint32_t node, enum pim_opcode opcode, uint32_t peer, uint32_t tag,
                 uint64_t address, uint64_t bytes, uint64_t after, uint64_t *done)
{
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode};
    instruction.u.network.peer = peer;
    instruction.u.network.tag = tag;
    instruction.u.network.address = address;
    instruction.u.network.bytes = bytes;
    uint64_t number = program_append(program, node, instruction, after, PROGRAM_NOTHING);
    if (done)
        *done = number;
}

/* Adds the bytes of a message to the links of its route. */
static void load_route(struct program *program, uint32_t from, uint32_t to, uint64_t bytes)
{
    uint32_t width = program->plan->hardware->width, x = from % width, y = from / width;
    for (; x != to % width; x = x < to % width ? x + 1 : x - 1)
        program->traffic[(y * width + x) * 4 + (x < to % width ? 0 : 1)] += bytes;
    for (; y != to / width; y = y < to / width ? y + 1 : y - 1)
        program->traffic[(y * width + x) * 4 + (y < to / width ? 2 : 3)] += bytes;
}

/* Distance round the array first: at each distance every node sends one message and receives one. All nodes
 * keep one order of all messages, so that the first that is not done can always go on. */
static int compare_messages(const void *a, const void *b)
{
    const struct program_message *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The first packet of a message is read before it is sent, the last one is written when it has come. */
static uint64_t packet_ends(const struct pim_estimate_hardware *hardware, uint64_t bytes)
{
    uint64_t packet = bytes < hardware->packet_bytes ? bytes : hardware->packet_bytes;
    return 2 * pim_estimate_latency(hardware) + pim_estimate_stream(hardware, packet, false) +
           pim_estimate_stream(hardware, packet, true);
}

/* A node has a few receives open at a time, each from its announcement to its write: adds the cycles of such
 * a round trip to those of the receiver. */
static void add_round_trip(const struct program *program, const struct program_message *m, uint64_t *rounds)
{
    const struct pim_estimate_hardware *hardware = program->plan->hardware;
    uint32_t width = hardware->width, x = m->from % width, y = m->from / width, tx = m->to % width,
             ty = m->to / width;
    uint64_t routers = 1 + (x > tx ? x - tx : tx - x) + (y > ty ? y - ty : ty - y);
    rounds[m->to] += 2 * pim_estimate_hops(hardware, routers) + pim_estimate_worm(hardware, m->bytes) +
                     packet_ends(hardware, m->bytes);
}

/* What the busiest link or node needs for all messages. */
static uint64_t rough_cycles(struct program *program, const struct program_message *messages, size_t count)
{
    const struct pim_estimate_hardware *hardware = program->plan->hardware;
    uint64_t *through = calloc((size_t)program->nodes * 3, sizeof *through), busiest = 0, rounds = 0,
             largest = 0;
    if (!through) {
        program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for messages");
        return 0;
    }
    memset(program->traffic, 0, (size_t)program->nodes * 4 * sizeof *program->traffic);
    for (size_t i = 0; i < count; i++) {
        const struct program_message *m = &messages[i];
        load_route(program, m->from, m->to, m->bytes);
        through[2 * m->from] += m->bytes;
        through[2 * m->to + 1] += m->bytes;
        largest = pim_larger(largest, m->bytes);
        add_round_trip(program, m, through + 2 * (size_t)program->nodes);
    }
    for (size_t i = 0; i < (size_t)program->nodes * 4; i++)
        busiest = pim_larger(busiest, program->traffic[i]);
    for (size_t i = 0; i < (size_t)program->nodes * 2; i++)
        busiest = pim_larger(busiest, through[i]);
    for (size_t i = (size_t)program->nodes * 2; i < (size_t)program->nodes * 3; i++)
        rounds = pim_larger(rounds, through[i]);
    free(through);
    uint64_t links = pim_estimate_link(hardware, busiest) + packet_ends(hardware, largest) +
                     pim_estimate_hops(hardware, (uint64_t)hardware->width + hardware->height);
    return pim_larger(pim_divide_up(rounds, hardware->posted_receives > 0 ? hardware->posted_receives : 1),
                      links);
}

/* Roughly: each node of the phase takes that long. */
static void exchange_roughly(struct program *program, const struct program_message *messages, size_t count)
{
    const uint64_t cycles = rough_cycles(program, messages, count);
    for (uint32_t node = 0; node < program->nodes; node++)
        program->clock[node] += program->open[node] ? cycles : 0;
}

void program_exchange(struct program *program, struct program_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        messages[i].distance = (messages[i].to + program->nodes - messages[i].from) % program->nodes;
    qsort(messages, count, sizeof *messages, compare_messages);
    for (size_t i = 0; i < count && program->status == PIM_OK; i++) {
        struct program_message *m = &messages[i];
        uint32_t tag = program->tag++;
        send(program, m->to, PIM_OP_RECEIVE, m->from, tag, m->target, m->bytes, PROGRAM_NOTHING,
             &m->received);
        send(program, m->from, PIM_OP_SEND, m->to, tag, m->source, m->bytes, m->after, NULL);
    }
    if (program->rough && count > 0)
        exchange_roughly(program, messages, count);
}

/* --- rings --- */

bool program_ring_initialize(struct program_ring *ring, uint32_t count)
{
    *ring = (struct program_ring){.count = count,
                                  .member = calloc(count + 1u, sizeof *ring->member),
                                  .bytes = calloc(count + 1u, sizeof *ring->bytes),
                                  .piece = calloc(count + 1u, sizeof *ring->piece),
                                  .address = calloc(count + 1u, sizeof *ring->address),
                                  .offset = calloc(count + 1u, sizeof *ring->offset),
                                  .own = malloc((count + 1u) * sizeof *ring->own)};
    if (ring->own)
        memset(ring->own, 0xff, (count + 1u) * sizeof *ring->own); /* PROGRAM_NOTHING */
    return ring->member && ring->bytes && ring->piece && ring->address && ring->offset && ring->own;
}

void program_ring_terminate(struct program_ring *ring)
{
    free(ring->member);
    free(ring->bytes);
    free(ring->piece);
    free(ring->address);
    free(ring->offset);
    free(ring->own);
}

static uint64_t largest_piece(const struct program_ring *ring)
{
    uint64_t largest = 1;
    for (uint32_t i = 0; i < ring->count; i++)
        largest = ring->bytes[i] > largest ? ring->bytes[i] : largest;
    return largest;
}

/* With a memory of cycles, if the plan has one. */
static void find_cycles(struct program *program, const struct pim_sharing *sharing, uint32_t *order)
{
    struct pim_cycles_options options = pim_cycles_defaults();
    options.steps = 40000;
    options.solver = "none";
    if (program->plan->cycles) {
        program->status = pim_cycles_recall(program->plan->cycles, sharing, &options, order, program->error);
        return;
    }
    struct pim_cycles cycles;
    program->status = pim_cycles_solve(sharing, &options, &cycles, program->error);
    if (program->status != PIM_OK)
        return;
    memcpy(order, cycles.order, sharing->start[sharing->set_count] * sizeof *order);
    pim_cycles_terminate(&cycles);
}

void program_schedule(struct program *program, struct program_ring *rings, uint32_t count)
{
    const struct pim_estimate_hardware *hardware = program->plan->hardware;
    struct pim_sharing sharing = {.rows = hardware->height, .columns = hardware->width, .set_count = count};
    size_t members = 0;
    uint64_t unit = 1;
    for (uint32_t r = 0; r < count; r++) {
        members += rings[r].count;
        while (largest_piece(&rings[r]) / unit > 4096)
            unit *= 2;
    }
    sharing.start = calloc((size_t)count + 1, sizeof *sharing.start);
    sharing.node = calloc(members + 1, sizeof *sharing.node);
    sharing.weight = calloc((size_t)count + 1, sizeof *sharing.weight);
    uint32_t *order = calloc(members + 1, sizeof *order);
    if (!sharing.start || !sharing.node || !sharing.weight || !order)
        program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for sharing sets");
    for (uint32_t r = 0; r < count && program->status == PIM_OK; r++) {
        sharing.start[r + 1] = sharing.start[r] + rings[r].count;
        sharing.weight[r] = pim_divide_up(largest_piece(&rings[r]), unit);
        memcpy(sharing.node + sharing.start[r], rings[r].member, rings[r].count * sizeof *sharing.node);
    }
    if (program->status == PIM_OK)
        find_cycles(program, &sharing, order);
    for (uint32_t r = 0; r < count && program->status == PIM_OK; r++) {
        for (uint32_t i = 0; i < rings[r].count; i++) {
            rings[r].piece[i] = order[sharing.start[r] + i];
            rings[r].member[i] = sharing.node[sharing.start[r] + rings[r].piece[i]];
        }
    }
    free(order);
    pim_sharing_terminate(&sharing);
}

/* Where piece `piece` of the block of the member at `place` lies. */
static uint64_t piece_address(const struct program_ring *ring, uint32_t place, uint32_t piece)
{
    uint32_t member = ring->piece[place];
    return member == piece && ring->own[member] != PROGRAM_NOTHING
               ? ring->own[member]
               : ring->address[member] + ring->offset[piece];
}

struct step {
    uint64_t *last;  /* of each node: the instruction that made what it sends next */
    uint64_t *spare; /* where sums come in */
};

static void pass_on(struct program *program, const struct program_ring *ring, uint32_t step, bool reduce,
                    struct step *state)
{
    uint32_t n = ring->count, tag = program->tag++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = ring->member[i], before = ring->member[(i + n - 1) % n],
                 behind = ring->member[(i + 1) % n];
        uint32_t out = ring->piece[(i + 2 * n - step % n) % n],
                 in = ring->piece[(i + 2 * n - step % n - 1) % n];
        uint64_t received = PROGRAM_NOTHING, sums = reduce ? state->spare[node] : 0;
        uint64_t after = state->last[node];
        if (ring->bytes[in] > 0)
            send(program, node, PIM_OP_RECEIVE, before, tag, reduce ? sums : piece_address(ring, i, in),
                 ring->bytes[in], PROGRAM_NOTHING, &received);
        if (ring->bytes[out] > 0)
            send(program, node, PIM_OP_SEND, behind, tag, piece_address(ring, i, out), ring->bytes[out],
                 after, NULL);
        state->last[node] = received;
        if (!reduce || ring->bytes[in] == 0)
            continue;
        uint64_t mine = program_memory(program, node, PIM_OP_LOAD, PIM_BUFFER_NONE,
                                       piece_address(ring, i, in), ring->bytes[in], PROGRAM_NOTHING);
        uint64_t theirs =
            program_memory(program, node, PIM_OP_LOAD, PIM_BUFFER_NONE, sums, ring->bytes[in], received);
        const struct nice_note note = {.kind = NICE_NOTE_ADD};
        program->note = &note;
        uint64_t added = program_vector(program, node, PIM_VECTOR_ADD, 1, ring->bytes[in] / FLOW_SUM_BYTES, 0,
                                        32, mine, theirs);
        program->note = NULL;
        state->last[node] = program_memory(program, node, PIM_OP_STORE, PIM_BUFFER_NONE,
                                           piece_address(ring, i, in), ring->bytes[in], added);
    }
}

/* From when sums have come to when they are added to those of the node, which have been loaded meanwhile, and
 * written: the row that they came into is open. */
static uint64_t add_cycles(const struct pim_estimate_hardware *hardware, uint64_t piece, uint64_t block)
{
    return 2 * pim_estimate_latency(hardware) + place_run_cycles(hardware, piece, 0, false) +
           pim_estimate_vector(hardware, 1, piece / FLOW_SUM_BYTES, 1) +
           place_run_cycles(hardware, piece, 2 * block, true);
}

uint64_t program_ring_step(const struct pim_estimate_hardware *hardware, uint64_t piece, uint64_t load,
                           uint64_t block, bool reduce)
{
    uint64_t packet = piece < hardware->packet_bytes ? piece : hardware->packet_bytes;
    uint64_t cycles = pim_estimate_latency(hardware) + place_run_cycles(hardware, packet, block, false) +
                      pim_estimate_hops(hardware, 2) +
                      pim_larger(pim_estimate_link(hardware, load), pim_estimate_worm(hardware, piece)) +
                      place_run_cycles(hardware, packet, block, true);
    return cycles + (reduce ? add_cycles(hardware, piece, block) : 0);
}

void program_rings(struct program *program, struct program_ring *rings, uint32_t count, bool reduce)
{
    struct step state = {calloc(program->nodes, sizeof *state.last),
                         calloc(program->nodes, sizeof *state.spare)};
    uint32_t longest = 0;
    if (!state.last || !state.spare)
        program->status = pim_fail(program->error, PIM_NO_MEMORY, "out of memory for rings");
    for (uint32_t r = 0; r < count; r++) {
        longest = rings[r].count > longest ? rings[r].count : longest;
        uint64_t piece = largest_piece(&rings[r]);
        for (uint32_t i = 0; i < rings[r].count && reduce && program->status == PIM_OK; i++)
            state.spare[rings[r].member[i]] = program_borrow(program, rings[r].member[i], piece);
    }
    for (uint32_t step = 0; step + 1 < longest && program->status == PIM_OK; step++) {
        for (uint32_t r = 0; r < count; r++) {
            for (uint32_t i = 0; step == 0 && i < rings[r].count; i++)
                state.last[rings[r].member[i]] = PROGRAM_NOTHING;
            if (step + 1 < rings[r].count)
                pass_on(program, &rings[r], step, reduce, &state);
        }
    }
    free(state.last);
    free(state.spare);
}
