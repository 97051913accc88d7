#include "mappers/estimate/actions.h"

#include "sim/integer.h"

uint64_t pim_estimate_burst_columns(uint32_t port_bytes, uint64_t address, uint64_t bytes, uint64_t stride,
                                    uint64_t count)
{
    uint64_t port = port_bytes, columns = 0, before = 0, whole = 0;
    if (bytes == 0 || count == 0)
        return 0;
    if (count == 1 || stride - bytes < port)
        return (address + (count - 1) * stride + bytes - 1) / port - address / port + 1;
    /* Pieces that begin at the same byte of a column have as many columns. */
    const uint64_t period = port / pim_greatest_divisor(port, stride);
    if (count > period) {
        whole = count / period;
        count %= period;
    }
    for (uint64_t i = 0; i < (whole > 0 ? period : count); i++) {
        uint64_t from = (address + i * stride) % port;
        uint64_t here = pim_divide_up(from + bytes, port);
        columns += here;
        before += i < count ? here : 0;
    }
    return whole > 0 ? columns * whole + before : columns;
}

static void count_memory(const struct pim_estimate_hardware *hardware, uint64_t address, uint64_t bytes,
                         uint64_t stride, uint64_t count, struct pim_estimate_actions *actions)
{
    uint64_t columns = pim_estimate_burst_columns(hardware->port_bytes, address, bytes, stride, count);
    uint64_t rows =
        count > 1 && stride >= hardware->row_bytes
            ? count * pim_divide_up(bytes, hardware->row_bytes)
            : (address % hardware->row_bytes + (count - 1) * stride + bytes - 1) / hardware->row_bytes + 1;
    actions->dram_bits += 8 * columns * hardware->port_bytes;
    actions->dram_activates += rows * hardware->banks;
}

static void count_matrix(const struct pim_estimate_hardware *hardware,
                         const struct pim_instruction *instruction, struct pim_estimate_actions *actions)
{
    struct pim_pe_cost cost;
    pim_pe_matrix(&hardware->pe, instruction->u.matrix.m, instruction->u.matrix.n, instruction->u.matrix.k,
                  instruction->u.matrix.input_bits, instruction->u.matrix.weight_bits,
                  (instruction->detail & PIM_MATRIX_ACCUMULATE) != 0, &cost);
    actions->macs += cost.macs;
    actions->sram_bits += pim_pe_sram_bits(&cost);
}

static void count_vector(const struct pim_estimate_hardware *hardware,
                         const struct pim_instruction *instruction, struct pim_estimate_actions *actions)
{
    struct pim_acu_cost cost;
    pim_acu_vector(&hardware->acu, instruction->detail, instruction->u.vector.rows,
                   instruction->u.vector.elements, &cost);
    actions->acu_operations += cost.operations;
    actions->sram_bits += pim_acu_sram_bits(&instruction->u.vector, &cost);
}

/* Links between routers on the way from a node to another. */
static uint32_t distance(const struct pim_estimate_hardware *hardware, uint32_t a, uint32_t b)
{
    const struct pim_machine_grid grid =
        pim_machine_grid(&hardware->network, hardware->width, hardware->height);
    return pim_machine_routers(&hardware->network, &grid, pim_machine_router(&grid, a),
                               pim_machine_router(&grid, b)) -
           1;
}

/* A receive counts for the network: the message, its announcement, and a grant for every packet that is not
 * granted by it. */
static void count_message(const struct pim_estimate_hardware *hardware, uint32_t node,
                          const struct pim_instruction *instruction, struct pim_estimate_actions *actions)
{
    uint64_t bytes = instruction->u.network.bytes, packet = hardware->packet_bytes;
    count_memory(hardware, instruction->u.network.address, bytes, 0, 1, actions);
    if (instruction->opcode != PIM_OP_RECEIVE)
        return;
    uint64_t packets = pim_divide_up(bytes, packet), granted = hardware->receive_packets;
    uint64_t flits = bytes / packet * pim_divide_up(packet, hardware->flit_bytes) +
                     pim_divide_up(bytes % packet, hardware->flit_bytes) + 1 +
                     (packets > granted ? packets - granted : 0);
    actions->noc_bit_hops +=
        flits * 8 * hardware->flit_bytes * distance(hardware, node, instruction->u.network.peer);
}

void pim_estimate_count_actions(const struct pim_estimate_hardware *hardware, uint32_t node,
                                const struct pim_instruction *instruction,
                                struct pim_estimate_actions *actions)
{
    switch ((int)instruction->opcode) {
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        actions->sram_bits += 8 * (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count;
        count_memory(hardware, instruction->u.memory.address, instruction->u.memory.bytes,
                     instruction->u.memory.stride, instruction->u.memory.count, actions);
        return;
    case PIM_OP_MATRIX:
        count_matrix(hardware, instruction, actions);
        return;
    case PIM_OP_VECTOR:
        count_vector(hardware, instruction, actions);
        return;
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        count_message(hardware, node, instruction, actions);
        return;
    default:
        return;
    }
}
