#include "tools/tune/energy.h"

#include "traces/counts.h"

static uint64_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t whole(uint64_t amount, uint64_t part)
{
    return (amount + part - 1) / part;
}

/* The instructions of nodes; others do not stand in such a trace. */
static void add_instruction(const struct pim_hardware *hardware, uint32_t unit,
                            const struct pim_instruction *instruction, struct pim_actions *actions)
{
    const struct pim_node_configuration *node = &hardware->node;
    uint64_t port = node->bank.port_bytes, bytes;
    switch (instruction->opcode) {
    case PIM_OP_MATRIX: {
        struct pim_pe_cost cost;
        pim_pe_matrix(&node->pe, instruction->u.matrix.m, instruction->u.matrix.n, instruction->u.matrix.k,
                      instruction->u.matrix.input_bits, instruction->u.matrix.weight_bits,
                      (instruction->detail & PIM_MATRIX_ACCUMULATE) != 0, &cost);
        actions->macs += cost.macs;
        actions->sram_bits += 8 * (cost.input_bytes_read + cost.weight_bytes_read + cost.output_bytes_read +
                                   cost.output_bytes_written);
        break;
    }
    case PIM_OP_VECTOR: {
        struct pim_acu_cost cost;
        pim_acu_vector(&node->acu, instruction->detail, instruction->u.vector.rows,
                       instruction->u.vector.elements, &cost);
        actions->acu_operations += cost.operations;
        actions->sram_bits += (cost.elements_read + cost.elements_written) * instruction->u.vector.bits;
        break;
    }
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        actions->sram_bits += 8 * pim_memory_bytes(instruction);
        bytes = instruction->u.memory.stride == instruction->u.memory.bytes
                    ? whole(pim_memory_bytes(instruction), port)
                    : instruction->u.memory.count * whole(instruction->u.memory.bytes, port);
        actions->dram_bits += 8 * bytes * port;
        break;
    case PIM_OP_SEND:
        bytes = instruction->u.network.bytes;
        actions->noc_bit_hops +=
            whole(8 * bytes, hardware->noc.flit_bits) * hardware->noc.flit_bits *
            (distance(unit % hardware->width, instruction->u.network.peer % hardware->width) +
             distance(unit / hardware->width, instruction->u.network.peer / hardware->width));
        actions->dram_bits += 8 * whole(bytes, port) * port;
        break;
    case PIM_OP_RECEIVE:
        actions->dram_bits += 8 * whole(instruction->u.network.bytes, port) * port;
        break;
    default:
        break;
    }
}

static enum pim_status add_unit(const struct pim_trace *trace, const struct pim_hardware *hardware,
                                uint32_t unit, struct pim_actions *actions, struct pim_error *error)
{
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    if (pim_trace_cursor_create(trace, unit, &cursor, error) != PIM_OK)
        return error->status;
    enum pim_status status;
    while ((status = pim_trace_cursor_next(cursor, &instruction, error)) == PIM_OK && instruction)
        add_instruction(hardware, unit, instruction, actions);
    pim_trace_cursor_destroy(cursor);
    return status;
}

enum pim_status pim_tune_trace_energy(const struct pim_trace *trace, const struct pim_hardware *hardware,
                                      double nanoseconds, double *energy_pj, struct pim_error *error)
{
    struct pim_actions actions = {.macs = 0};
    struct pim_energy energy;
    uint32_t units = pim_trace_description(trace)->units;
    for (uint32_t unit = 0; unit < units; unit++)
        if (add_unit(trace, hardware, unit, &actions, error) != PIM_OK)
            return error->status;
    pim_energy_of(&hardware->energy, &actions, units, nanoseconds, &energy);
    *energy_pj = energy.total;
    return PIM_OK;
}
