/* The edges between tiles, from the declarations at the heads of their programs. */
#include "models/tile/tile_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Calls `take` for every declaration that a program begins with, behind the mark of its phase. */
static enum pim_status visit(struct pim_tiles *tiles,
                             enum pim_status (*take)(struct pim_tiles *tiles, uint32_t unit,
                                                     const struct pim_instruction *instruction,
                                                     struct pim_error *error),
                             struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    for (uint32_t unit = 0; unit < tiles->units.count && status == PIM_OK; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *instruction;
        status = pim_trace_cursor_create(tiles->units.trace, unit, &cursor, error);
        while (status == PIM_OK) {
            status = pim_trace_cursor_next(cursor, &instruction, error);
            if (status != PIM_OK || !instruction)
                break;
            if (instruction->opcode == PIM_OP_TILE_OUTPUT || instruction->opcode == PIM_OP_TILE_INPUT)
                status = take(tiles, unit, instruction, error);
            else if (instruction->opcode != PIM_OP_PHASE_BEGIN)
                break;
        }
        pim_trace_cursor_destroy(cursor);
        if (status != PIM_OK)
            return pim_fail_in(error, "tile %" PRIu32, unit);
    }
    return PIM_OK;
}

static enum pim_status count(struct pim_tiles *tiles, uint32_t unit,
                             const struct pim_instruction *instruction, struct pim_error *error)
{
    struct pim_tile *tile = pim_tile_at(tiles, unit);
    tile->inputs += instruction->opcode == PIM_OP_TILE_INPUT;
    tile->outputs += instruction->opcode == PIM_OP_TILE_OUTPUT;
    if (tile->inputs > PIM_TASK_EDGES || tile->outputs > PIM_TASK_EDGES)
        return pim_fail(error, PIM_BAD_INPUT, "it has more than %d edges", PIM_TASK_EDGES);
    return PIM_OK;
}

static enum pim_status note(struct pim_tiles *tiles, uint32_t unit, const struct pim_instruction *instruction,
                            struct pim_error *error)
{
    uint32_t number = instruction->u.tile_edge.edge;
    if (number >= tiles->graph->edges)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s edge=%" PRIu32 ": the programs begin with %" PRIu32
                        " tile_output, so that edges are numbered below that",
                        pim_opcode_name(instruction->opcode), number, tiles->graph->edges);
    bool makes = instruction->opcode == PIM_OP_TILE_OUTPUT;
    struct pim_tiles_edge *edge = &tiles->edge[number];
    struct pim_instruction *end = makes ? &edge->output : &edge->input;
    if (end->opcode != 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s edge=%" PRIu32 ": tile %" PRIu32 " has declared it too",
                        pim_opcode_name(instruction->opcode), number,
                        makes ? edge->source : edge->destination);
    *end = *instruction;
    *(makes ? &edge->source : &edge->destination) = unit;
    return PIM_OK;
}

/* The two ends of an edge name each other and say the same. */
static enum pim_status join(struct pim_tiles *tiles, uint32_t number, struct pim_error *error)
{
    const struct pim_tiles_edge *edge = &tiles->edge[number];
    struct pim_task_edge *task = &tiles->graph->edge[number];
    if (edge->output.opcode == 0 || edge->input.opcode == 0)
        return pim_fail(error, PIM_BAD_INPUT, "edge %" PRIu32 ": no program begins with its %s", number,
                        pim_opcode_name(edge->output.opcode == 0 ? PIM_OP_TILE_OUTPUT : PIM_OP_TILE_INPUT));
    if (edge->output.u.tile_edge.peer != edge->destination || edge->input.u.tile_edge.peer != edge->source ||
        edge->output.u.tile_edge.bits != edge->input.u.tile_edge.bits ||
        edge->output.u.tile_edge.packets != edge->input.u.tile_edge.packets)
        return pim_fail(error, PIM_BAD_INPUT,
                        "edge %" PRIu32 ": tile %" PRIu32 " sends %" PRIu32 " packets of %" PRIu64
                        " bits to tile %" PRIu32 ", and tile %" PRIu32 " takes %" PRIu32 " of %" PRIu64
                        " from tile %" PRIu32,
                        number, edge->source, edge->output.u.tile_edge.packets, edge->output.u.tile_edge.bits,
                        edge->output.u.tile_edge.peer, edge->destination, edge->input.u.tile_edge.packets,
                        edge->input.u.tile_edge.bits, edge->input.u.tile_edge.peer);
    task->source = edge->source;
    task->destination = edge->destination;
    task->packets = edge->output.u.tile_edge.packets;
    task->bits = edge->output.u.tile_edge.bits;
    tiles->graph->node[edge->source].steps = task->packets;
    return PIM_OK;
}

static enum pim_status make_room(struct pim_tiles *tiles, struct pim_error *error)
{
    for (uint32_t id = 0; id < tiles->units.count; id++) {
        struct pim_tile *tile = pim_tile_at(tiles, id);
        tile->input = calloc((size_t)tile->inputs + 1, sizeof *tile->input);
        tile->output = calloc((size_t)tile->outputs + 1, sizeof *tile->output);
        if (!tile->input || !tile->output)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the edges of tile %" PRIu32, id);
        tile->inputs = tile->outputs = 0; /* the program declares them again */
    }
    return PIM_OK;
}

enum pim_status pim_tiles_read_edges(struct pim_tiles *tiles, struct pim_error *error)
{
    uint64_t edges = 0;
    if (visit(tiles, count, error) != PIM_OK)
        return error->status;
    for (uint32_t id = 0; id < tiles->units.count; id++)
        edges += pim_tile_at(tiles, id)->outputs;
    if (edges > PIM_TASK_EDGES || tiles->units.count > PIM_TASK_NODES)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%" PRIu32 " tiles and %" PRIu64 " edges: allowed are %d and %d", tiles->units.count,
                        edges, PIM_TASK_NODES, PIM_TASK_EDGES);
    tiles->graph = pim_task_graph_create("trace", tiles->units.count, (uint32_t)edges);
    tiles->edge = calloc((size_t)edges + 1, sizeof *tiles->edge);
    if (!tiles->graph || !tiles->edge)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu64 " edges", edges);
    if (visit(tiles, note, error) != PIM_OK)
        return error->status;
    for (uint32_t e = 0; e < edges; e++)
        if (join(tiles, e, error) != PIM_OK)
            return error->status;
    if (pim_task_graph_join(tiles->graph, error) != PIM_OK)
        return error->status;
    return make_room(tiles, error);
}
