/* The tile as a unit: fetch, steps, packets, and the accounts of its time. */
#include "models/tile/tile_internal.h"

#include "models/unit/fetch.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- fetch --- */

static bool is_done(const struct pim_unit *unit, uint64_t sequence, uint64_t now)
{
    (void)now; /* completions are events */
    return sequence < ((const struct pim_tile *)unit)->taken;
}

static bool declare(struct pim_tile *tile, uint64_t sequence, const struct pim_instruction *instruction)
{
    const struct pim_tiles *tiles = tile->tiles;
    uint32_t number = instruction->u.tile_edge.edge;
    bool makes = instruction->opcode == PIM_OP_TILE_OUTPUT;
    const struct pim_tiles_edge *edge = number < tiles->graph->edges ? &tiles->edge[number] : NULL;
    /* Room was made for the declarations that the program begins with. */
    const struct pim_task_node *node = &tiles->graph->node[tile->unit.id];
    bool full = makes ? tile->outputs >= node->outs : tile->inputs >= node->ins;
    if (full || tile->steps > 0 || tile->armed || !edge ||
        (makes ? edge->source : edge->destination) != tile->unit.id) {
        pim_unit_fail_at(&tile->unit, sequence, instruction->opcode,
                         "edges are declared at the head of a program, before everything else");
        return false;
    }
    if (makes)
        tile->output[tile->outputs++] = number;
    else
        tile->input[tile->inputs++].edge = number;
    return true;
}

static bool take(struct pim_tile *tile, uint64_t sequence, const struct pim_instruction *instruction)
{
    uint64_t first = instruction->u.tile_take.input, count = instruction->u.tile_take.count;
    if (first + count > tile->inputs) {
        pim_unit_fail_at(&tile->unit, sequence, instruction->opcode,
                         "inputs %" PRIu64 " to %" PRIu64 ": the tile has %" PRIu32, first, first + count - 1,
                         tile->inputs);
        return false;
    }
    for (uint64_t i = first; i < first + count; i++) {
        struct pim_tile_input *input = &tile->input[i];
        const struct pim_task_edge *edge = &tile->tiles->graph->edge[input->edge];
        input->needed += instruction->u.tile_take.packets;
        input->freed += instruction->u.tile_take.free;
        if (input->needed <= edge->packets && input->freed <= input->needed)
            continue;
        pim_unit_fail_at(&tile->unit, sequence, instruction->opcode,
                         "input %" PRIu64 ": %" PRIu64 " packets waited for and %" PRIu64
                         " freed so far, of %" PRIu32 " that tile %" PRIu32 " sends",
                         i, input->needed, input->freed, edge->packets, edge->source);
        return false;
    }
    return true;
}

static bool prepare(struct pim_unit *unit, uint64_t sequence, const struct pim_instruction *instruction,
                    uint64_t now)
{
    struct pim_tile *tile = (struct pim_tile *)unit;
    (void)now;
    switch ((int)instruction->opcode) {
    case PIM_OP_TILE_OUTPUT:
    case PIM_OP_TILE_INPUT:
        tile->taken = sequence + 1;
        return declare(tile, sequence, instruction);
    case PIM_OP_TILE_TAKE:
        tile->taken = sequence + 1;
        return take(tile, sequence, instruction);
    case PIM_OP_TILE_STEP:
    case PIM_OP_TILE_VECTOR:
        tile->step = *instruction;
        tile->armed = true;
        return false; /* nothing is fetched beyond it */
    default:
        pim_unit_no_engine(unit, sequence, instruction->opcode);
        return false;
    }
}

/* Up to the next step; what is fetched before it is complete, and retired by the next call. */
static void fetch(struct pim_tile *tile)
{
    static const struct pim_fetch_operations operations = {.is_done = is_done, .prepare = prepare};
    const struct pim_units *units = tile->unit.units;
    while (!tile->armed && !tile->unit.finished && units->error->status == PIM_OK)
        pim_unit_fetch(&tile->unit, &operations, pim_kernel_now(units->kernel));
}

/* --- steps --- */

static void step_ended(struct pim_kernel *kernel, void *context)
{
    struct pim_tile *tile = context;
    (void)kernel;
    pim_conflict_network_look(tile->tiles->network, tile->unit.id);
}

static void end_step(struct pim_tile *tile)
{
    struct pim_conflict_network *network = tile->tiles->network;
    tile->running = tile->armed = false;
    tile->taken = tile->unit.fetched;
    tile->steps++;
    for (uint32_t i = 0; i < tile->inputs; i++) {
        struct pim_tile_input *input = &tile->input[i];
        uint64_t dropped = input->freed - input->dropped;
        input->dropped = input->freed;
        if (dropped > 0)
            pim_conflict_network_free(network, input->edge, (uint32_t)dropped);
    }
    for (uint32_t i = 0; i < tile->outputs; i++)
        pim_conflict_network_make(network, tile->output[i]);
    pim_unit_observe(&tile->unit, &tile->step, tile->started, tile->end);
}

/* Why the step that is there cannot start: a state of its engine, and the edge; IDLE: it can. */
static uint8_t obstacle(const struct pim_tile *tile, uint32_t *edge)
{
    const struct pim_conflict_network *network = tile->tiles->network;
    for (uint32_t i = 0; i < tile->inputs; i++) {
        *edge = tile->input[i].edge;
        if (pim_conflict_network_arrived(network, *edge) < tile->input[i].needed)
            return PIM_STATE_WAIT + PIM_WAIT_NETWORK;
    }
    for (uint32_t i = 0; i < tile->outputs; i++) {
        *edge = tile->output[i];
        if (!pim_conflict_network_has_room(network, *edge))
            return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    }
    return PIM_STATE_IDLE;
}

static void start_step(struct pim_tile *tile, pim_time now)
{
    const struct pim_units *units = tile->unit.units;
    uint64_t time = tile->step.u.tile_step.time;
    if (!pim_unit_in_time(&tile->unit, now, time, 1))
        return;
    if (tile->outputs > 0 && tile->steps >= tile->tiles->graph->node[tile->unit.id].steps) {
        pim_unit_fail(&tile->unit,
                      "has more steps than the %" PRIu32 " packets that it declares for its edges",
                      tile->tiles->graph->node[tile->unit.id].steps);
        return;
    }
    tile->running = true;
    tile->started = now;
    tile->end = now + time;
    PIM_ADD_ACTION(tile, macs, tile->step.u.tile_step.macs);
    PIM_ADD_ACTION(tile, crossbar_mvms, tile->step.u.tile_step.arrays);
    pim_kernel_schedule_at(units->kernel, tile->end, PIM_PHASE_ENGINE, step_ended, tile);
}

void pim_tile_look(void *context, uint32_t id)
{
    struct pim_tile *tile = pim_tile_at(context, id);
    struct pim_units *units = tile->unit.units;
    pim_time now = pim_kernel_now(units->kernel);
    uint32_t edge;
    if (tile->unit.finished || units->error->status != PIM_OK)
        return;
    if (tile->running && tile->end <= now) {
        pim_states_set(&tile->unit, pim_opcode_engine(tile->step.opcode), PIM_STATE_IDLE);
        end_step(tile);
    }
    if (tile->running)
        return;
    fetch(tile);
    if (units->running == 0)
        pim_conflict_network_over(tile->tiles->network);
    if (!tile->armed || units->error->status != PIM_OK)
        return;
    uint8_t state = obstacle(tile, &edge);
    if (state == PIM_STATE_IDLE) {
        start_step(tile, now);
        state = PIM_STATE_BUSY;
    }
    pim_states_set(&tile->unit, pim_opcode_engine(tile->step.opcode), state);
}

/* --- packets --- */

/* The times of the packets under way, in the order in which they left. */
static bool grow(struct pim_tiles_edge *edge)
{
    uint32_t room = edge->room ? 2 * edge->room : 4;
    pim_time *left = calloc(room, sizeof *left);
    if (!left)
        return false;
    for (uint32_t k = edge->arrived; k != edge->sent; k++)
        left[k & (room - 1)] = edge->left[k & (edge->room - 1)];
    free(edge->left);
    edge->left = left;
    edge->room = room;
    return true;
}

void pim_tile_left(void *context, uint32_t e)
{
    struct pim_tiles *tiles = context;
    struct pim_tiles_edge *edge = &tiles->edge[e];
    struct pim_tile *source = pim_tile_at(tiles, edge->source);
    if (edge->sent - edge->arrived == edge->room && !grow(edge)) {
        pim_units_exhausted(&tiles->units, "packets under way");
        return;
    }
    edge->left[edge->sent++ & (edge->room - 1)] = pim_kernel_now(tiles->units.kernel);
    if (source->under_way++ == 0 && tiles->units.running > 0)
        pim_states_set(&source->unit, PIM_ENGINE_SEND, PIM_STATE_BUSY);
}

/* The phase in which the oldest packet under way was made. */
struct pim_phase_result *pim_tile_phase_of(const struct pim_tile *source, struct pim_tiles_edge *edge)
{
    while (edge->span < source->spans && edge->arrived >= source->span[edge->span].until)
        edge->span++;
    return edge->span < source->spans ? source->span[edge->span].phase : source->unit.sums;
}

/* What it waited for links, from being ready to its start; store and forward: from leaving its source. */
static pim_time contention(const struct pim_tiles *tiles, struct pim_tiles_edge *edge, uint32_t e,
                           pim_time left, pim_time now, uint32_t hops)
{
    const struct pim_conflict_options *options = &tiles->configuration.options;
    const struct pim_conflict_result *result = pim_conflict_network_result(tiles->network);
    if (options->switching == PIM_SWITCHING_SAF) {
        pim_time least = hops * pim_conflict_hop(options, tiles->graph->edge[e].bits);
        return now - left > least ? now - left - least : 0;
    }
    uint64_t waited = result->task[e].wait_fixed - edge->waited; /* 2^-20 ns */
    edge->waited = result->task[e].wait_fixed;
    return (waited >> 20) * PIM_CONFLICT_FS + (((waited & 0xFFFFF) * PIM_CONFLICT_FS) >> 20);
}

void pim_tile_arrived(void *context, uint32_t e, uint32_t hops)
{
    struct pim_tiles *tiles = context;
    struct pim_tiles_edge *edge = &tiles->edge[e];
    struct pim_tile *source = pim_tile_at(tiles, edge->source),
                    *destination = pim_tile_at(tiles, edge->destination);
    struct pim_phase_result *phase = pim_tile_phase_of(source, edge);
    uint64_t bits = tiles->graph->edge[e].bits, bytes = (bits + 7) / 8;
    pim_time now = pim_kernel_now(tiles->units.kernel), left = edge->left[edge->arrived & (edge->room - 1)];
    edge->arrived++;
    if (tiles->configuration.options.switching != PIM_SWITCHING_WORMHOLE) {
        pim_actions_add(&source->unit, phase, offsetof(struct pim_actions, noc_bit_hops), bits * hops);
        phase->noc_contention += contention(tiles, edge, e, left, now, hops);
    }
    source->unit.result.bytes_sent += bytes;
    phase->bytes_sent += bytes;
    PIM_ADD_BYTES(destination, bytes_received, bytes);
    pim_unit_observe(&source->unit, &edge->output, left, now);
    pim_unit_observe(&destination->unit, &edge->input, now, now);
    if (--source->under_way == 0 && tiles->units.running > 0)
        pim_states_set(&source->unit, PIM_ENGINE_SEND, PIM_STATE_IDLE);
}
