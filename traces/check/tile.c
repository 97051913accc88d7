/* Executes the programs of tiles without time; see tile.h. */
#include "traces/check/tile.h"

#include "traces/check/instruction.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX

struct edge {
    uint32_t source, destination;
    uint64_t bits[2], packets[2]; /* as declared by the source and by the destination */
    uint32_t peer[2];             /* likewise: the tile at the other end */
    uint64_t made, arrived, needed, freed, dropped;
    uint64_t room_in, room_out; /* packets */
};

struct tile {
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *next; /* NULL: not looked at, or the end */
    uint32_t *input, *output;
    uint32_t inputs, outputs;
    uint64_t steps;
    bool armed, ended, listed;
};

struct check {
    const struct pim_trace *trace;
    const struct pim_check_limits *limits;
    struct pim_check_result *result;
    struct tile *tile;
    uint32_t tiles;
    struct edge *edge;
    uint32_t edges;
    uint32_t *list, listed;
};

static void list(struct check *check, uint32_t unit)
{
    if (check->tile[unit].listed || check->tile[unit].ended)
        return;
    check->tile[unit].listed = true;
    check->list[check->listed++] = unit;
}

/* The next instruction of a tile, in tile->next; NULL at the end. */
static enum pim_status look(struct check *check, uint32_t unit, struct pim_error *error)
{
    struct tile *tile = &check->tile[unit];
    if (tile->next || tile->ended)
        return PIM_OK;
    if (pim_trace_cursor_next(tile->cursor, &tile->next, error) != PIM_OK)
        return error->status;
    if (!tile->next)
        return PIM_OK;
    pim_counts_add(&check->result->counts, tile->next, 1);
    return pim_check_kind_of(tile->next, PIM_CHECK_TILES, error);
}

/* --- edges --- */

static bool is_declaration(const struct pim_instruction *instruction)
{
    return instruction->opcode == PIM_OP_TILE_OUTPUT || instruction->opcode == PIM_OP_TILE_INPUT;
}

static enum pim_status declare(struct check *check, uint32_t unit, const struct pim_instruction *instruction,
                               struct pim_error *error)
{
    struct tile *tile = &check->tile[unit];
    bool makes = instruction->opcode == PIM_OP_TILE_OUTPUT;
    uint32_t number = instruction->u.tile_edge.edge;
    if (number >= check->edges)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 ": all programs together have %" PRIu32 " edges", number,
                        check->edges);
    struct edge *edge = &check->edge[number];
    uint32_t *end = makes ? &edge->source : &edge->destination;
    if (*end != NOBODY)
        return pim_fail(error, PIM_BAD_INPUT, "edge %" PRIu32 ": tile %" PRIu32 " has declared it too",
                        number, *end);
    *end = unit;
    edge->bits[makes ? 0 : 1] = instruction->u.tile_edge.bits;
    edge->packets[makes ? 0 : 1] = instruction->u.tile_edge.packets;
    edge->peer[makes ? 0 : 1] = instruction->u.tile_edge.peer;
    uint32_t **edges = makes ? &tile->output : &tile->input, *count = makes ? &tile->outputs : &tile->inputs;
    uint32_t *grown = realloc(*edges, ((size_t)*count + 1) * sizeof *grown);
    if (!grown)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for its edges");
    grown[(*count)++] = number;
    *edges = grown;
    return PIM_OK;
}

/* What its program begins with, behind the mark of its phase. */
static enum pim_status declare_all(struct check *check, uint32_t unit, struct pim_error *error)
{
    struct tile *tile = &check->tile[unit];
    for (;;) {
        if (look(check, unit, error) != PIM_OK)
            return error->status;
        if (!tile->next || (tile->next->opcode != PIM_OP_PHASE_BEGIN && !is_declaration(tile->next)))
            return PIM_OK;
        if (is_declaration(tile->next) && declare(check, unit, tile->next, error) != PIM_OK)
            return error->status;
        tile->next = NULL;
    }
}

static enum pim_status join(struct check *check, uint32_t number, struct pim_error *error)
{
    struct edge *edge = &check->edge[number];
    if (edge->source == NOBODY || edge->destination == NOBODY)
        return pim_fail(error, PIM_BAD_INPUT, "edge %" PRIu32 " has no %s", number,
                        edge->source == NOBODY ? "tile_output" : "tile_input");
    if (edge->peer[0] != edge->destination || edge->peer[1] != edge->source)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 ": tile %" PRIu32 " sends it to tile %" PRIu32 ", and tile %" PRIu32
                        " takes it from tile %" PRIu32,
                        number, edge->source, edge->peer[0], edge->destination, edge->peer[1]);
    if (edge->bits[0] != edge->bits[1] || edge->packets[0] != edge->packets[1])
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 ": tile %" PRIu32 " sends %" PRIu64 " packets of %" PRIu64
                        " bits, and tile %" PRIu32 " takes %" PRIu64 " of %" PRIu64,
                        number, edge->source, edge->packets[0], edge->bits[0], edge->destination,
                        edge->packets[1], edge->bits[1]);
    const struct pim_check_limits *limits = check->limits;
    uint64_t part = limits->tile_input_bits / check->tile[edge->destination].inputs;
    edge->room_in = limits->tile_input_bits ? part / edge->bits[0] : UINT64_MAX;
    edge->room_out = limits->tile_output_bits ? limits->tile_output_bits / edge->bits[0] : UINT64_MAX;
    return PIM_OK;
}

/* `seen`: by destination, one more than the source that was last there. */
static enum pim_status refuse_doubles(const struct check *check, struct pim_error *error)
{
    uint32_t *seen = calloc((size_t)check->tiles + 1, sizeof *seen);
    enum pim_status status =
        seen ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " tiles", check->tiles);
    for (uint32_t unit = 0; unit < check->tiles && status == PIM_OK; unit++)
        for (uint32_t i = 0; i < check->tile[unit].outputs && status == PIM_OK; i++) {
            uint32_t *last = &seen[check->edge[check->tile[unit].output[i]].destination];
            if (*last == unit + 1)
                status = pim_fail(error, PIM_BAD_INPUT,
                                  "there are two edges from tile %" PRIu32 " to tile %" PRIu32, unit,
                                  check->edge[check->tile[unit].output[i]].destination);
            *last = unit + 1;
        }
    free(seen);
    return status;
}

static enum pim_status count_edges(struct check *check, struct pim_error *error)
{
    uint64_t edges = 0;
    for (uint32_t unit = 0; unit < check->tiles; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *instruction = NULL;
        enum pim_status status = pim_trace_cursor_create(check->trace, unit, &cursor, error);
        do {
            if (status == PIM_OK)
                status = pim_trace_cursor_next(cursor, &instruction, error);
            edges += status == PIM_OK && instruction && instruction->opcode == PIM_OP_TILE_OUTPUT;
        } while (status == PIM_OK && instruction &&
                 (instruction->opcode == PIM_OP_PHASE_BEGIN || is_declaration(instruction)));
        pim_trace_cursor_destroy(cursor);
        if (status != PIM_OK)
            return status;
    }
    if (edges > PIM_TRACE_UNITS)
        return pim_fail(error, PIM_BAD_INPUT, "%" PRIu64 " edges: at most %d", edges, PIM_TRACE_UNITS);
    check->edges = (uint32_t)edges;
    check->edge = calloc((size_t)edges + 1, sizeof *check->edge);
    if (!check->edge)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " edges", edges);
    for (uint32_t e = 0; e < check->edges; e++)
        check->edge[e].source = check->edge[e].destination = NOBODY;
    return PIM_OK;
}

static enum pim_status read_edges(struct check *check, struct pim_error *error)
{
    if (count_edges(check, error) != PIM_OK)
        return error->status;
    for (uint32_t unit = 0; unit < check->tiles; unit++)
        if (declare_all(check, unit, error) != PIM_OK)
            return pim_fail_in(error, "tile %" PRIu32, unit);
    for (uint32_t e = 0; e < check->edges; e++)
        if (join(check, e, error) != PIM_OK)
            return error->status;
    return refuse_doubles(check, error);
}

/* --- steps --- */

/* Packets that fit at their destination are there at once. */
static void carry(struct check *check, struct edge *edge)
{
    uint64_t room = edge->room_in - (edge->arrived - edge->dropped), waiting = edge->made - edge->arrived;
    uint64_t moved = waiting < room ? waiting : room;
    if (moved == 0)
        return;
    bool was_full = waiting >= edge->room_out;
    edge->arrived += moved;
    check->result->messages += moved;
    list(check, edge->destination);
    if (was_full)
        list(check, edge->source);
}

static enum pim_status take(struct check *check, uint32_t unit, const struct pim_instruction *instruction,
                            struct pim_error *error)
{
    const struct tile *tile = &check->tile[unit];
    uint64_t first = instruction->u.tile_take.input, count = instruction->u.tile_take.count;
    if (first + count > tile->inputs)
        return pim_fail(error, PIM_BAD_INPUT,
                        "it takes of inputs %" PRIu64 " to %" PRIu64 ", and has %" PRIu32, first,
                        first + count - 1, tile->inputs);
    for (uint64_t i = first; i < first + count; i++) {
        struct edge *edge = &check->edge[tile->input[i]];
        edge->needed += instruction->u.tile_take.packets;
        edge->freed += instruction->u.tile_take.free;
        if (edge->needed > edge->packets[0] || edge->freed > edge->needed)
            return pim_fail(error, PIM_BAD_INPUT,
                            "input %" PRIu64 ": it waits for %" PRIu64 " packets and frees %" PRIu64
                            " up to its step %" PRIu64 ", of %" PRIu64 " that tile %" PRIu32 " sends",
                            i, edge->needed, edge->freed, tile->steps, edge->packets[0], edge->source);
    }
    return PIM_OK;
}

/* The edge that holds the next step up; NULL: none does. */
static const struct edge *obstacle(const struct check *check, const struct tile *tile)
{
    for (uint32_t i = 0; i < tile->inputs; i++)
        if (check->edge[tile->input[i]].arrived < check->edge[tile->input[i]].needed)
            return &check->edge[tile->input[i]];
    for (uint32_t i = 0; i < tile->outputs; i++) {
        const struct edge *edge = &check->edge[tile->output[i]];
        if (edge->made - edge->arrived >= edge->room_out)
            return edge;
    }
    return NULL;
}

static void step(struct check *check, struct tile *tile)
{
    for (uint32_t i = 0; i < tile->inputs; i++) {
        struct edge *edge = &check->edge[tile->input[i]];
        edge->dropped = edge->freed;
        carry(check, edge);
    }
    for (uint32_t i = 0; i < tile->outputs; i++) {
        check->edge[tile->output[i]].made++;
        carry(check, &check->edge[tile->output[i]]);
    }
    tile->steps++;
}

static enum pim_status finish(const struct check *check, uint32_t unit, struct pim_error *error)
{
    const struct tile *tile = &check->tile[unit];
    for (uint32_t i = 0; i < tile->outputs; i++) {
        const struct edge *edge = &check->edge[tile->output[i]];
        if (edge->made != edge->packets[0])
            return pim_fail(error, PIM_BAD_INPUT,
                            "it has %" PRIu64 " steps, and declares %" PRIu64 " packets for tile %" PRIu32,
                            edge->made, edge->packets[0], edge->destination);
    }
    return PIM_OK;
}

/* As far as it goes. */
static enum pim_status run(struct check *check, uint32_t unit, struct pim_error *error)
{
    struct tile *tile = &check->tile[unit];
    for (;;) {
        if (look(check, unit, error) != PIM_OK)
            return error->status;
        const struct pim_instruction *instruction = tile->next;
        if (!instruction) {
            tile->ended = true;
            return finish(check, unit, error);
        }
        if (is_declaration(instruction))
            return pim_fail(error, PIM_BAD_INPUT, "%s: edges are declared at the head of a program",
                            pim_opcode_name(instruction->opcode));
        if (instruction->opcode == PIM_OP_TILE_TAKE && take(check, unit, instruction, error) != PIM_OK)
            return error->status;
        if (instruction->opcode == PIM_OP_TILE_STEP || instruction->opcode == PIM_OP_TILE_VECTOR) {
            if (obstacle(check, tile))
                return PIM_OK;
            step(check, tile);
        }
        tile->next = NULL;
    }
}

static enum pim_status explain(const struct check *check, struct pim_error *error)
{
    for (uint32_t unit = 0; unit < check->tiles; unit++) {
        const struct edge *edge = check->tile[unit].ended ? NULL : obstacle(check, &check->tile[unit]);
        if (!edge)
            continue;
        if (edge->source == unit)
            return pim_fail(error, PIM_DEADLOCK,
                            "tile %" PRIu32 ", step %" PRIu64 ": its output buffer for tile %" PRIu32
                            " is full with %" PRIu64
                            " packets, and the part of that tile's input buffer, %" PRIu64 " packets, too",
                            unit, check->tile[unit].steps, edge->destination, edge->room_out, edge->room_in);
        return pim_fail(error, PIM_DEADLOCK,
                        "tile %" PRIu32 ", step %" PRIu64 ": waits for %" PRIu64 " packets of tile %" PRIu32
                        ", has had %" PRIu64 ", and its part of the input buffer holds %" PRIu64,
                        unit, check->tile[unit].steps, edge->needed, edge->source, edge->arrived,
                        edge->room_in);
    }
    return pim_fail(error, PIM_DEADLOCK, "a tile waits");
}

static enum pim_status execute(struct check *check, struct pim_error *error)
{
    assert(check->edge != NULL); /* read_edges() has made them */
    for (uint32_t unit = 0; unit < check->tiles; unit++)
        list(check, unit);
    while (check->listed > 0) {
        uint32_t unit = check->list[--check->listed];
        check->tile[unit].listed = false;
        if (run(check, unit, error) != PIM_OK)
            return pim_fail_in(error, "tile %" PRIu32, unit);
    }
    for (uint32_t unit = 0; unit < check->tiles; unit++)
        if (!check->tile[unit].ended)
            return explain(check, error);
    return PIM_OK;
}

enum pim_status pim_check_tile(const struct pim_trace *trace, const struct pim_check_limits *limits,
                               struct pim_check_result *result, struct pim_error *error)
{
    uint32_t tiles = pim_trace_description(trace)->units;
    struct check check = {.trace = trace,
                          .limits = limits,
                          .result = result,
                          .tiles = tiles,
                          .tile = calloc((size_t)tiles + 1, sizeof(struct tile)),
                          .list = calloc((size_t)tiles + 1, sizeof(uint32_t))};
    enum pim_status status =
        check.tile && check.list
            ? PIM_OK
            : pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " tiles", tiles);
    for (uint32_t unit = 0; unit < tiles && status == PIM_OK; unit++) {
        result->counts.stored += pim_trace_instructions(trace, unit);
        status = pim_trace_cursor_create(trace, unit, &check.tile[unit].cursor, error);
    }
    if (status == PIM_OK)
        status = read_edges(&check, error);
    if (status == PIM_OK)
        status = execute(&check, error);
    for (uint32_t unit = 0; check.tile && unit < tiles; unit++) {
        pim_trace_cursor_destroy(check.tile[unit].cursor);
        free(check.tile[unit].input);
        free(check.tile[unit].output);
    }
    free(check.tile);
    free(check.list);
    free(check.edge);
    return status;
}
