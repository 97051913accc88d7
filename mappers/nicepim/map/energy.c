#include "mappers/nicepim/map/energy.h"
#include "sim/integer.h"

uint64_t nice_burst_columns(uint32_t port_bytes, uint64_t address, uint64_t bytes, uint64_t stride,
                            uint64_t count)
{
    uint64_t port = port_bytes, columns = 0, before = 0, whole = 0;
    if (bytes == 0 || count == 0)
        return 0;
    if (count == 1 || stride - bytes < port)
        return (address + (count - 1) * stride + bytes - 1) / port - address / port + 1;
    /* Pieces that begin at the same byte of a column have as many columns. */
    uint64_t period = port;
    for (uint64_t b = stride % port; b != 0;) {
        uint64_t rest = period % b;
        period = b;
        b = rest;
    }
    period = port / period;
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
                         uint64_t stride, uint64_t count, struct nice_actions *actions)
{
    uint64_t columns = nice_burst_columns(hardware->port_bytes, address, bytes, stride, count);
    uint64_t rows =
        count > 1 && stride >= hardware->row_bytes
            ? count * pim_divide_up(bytes, hardware->row_bytes)
            : (address % hardware->row_bytes + (count - 1) * stride + bytes - 1) / hardware->row_bytes + 1;
    actions->dram_bits += 8 * columns * hardware->port_bytes;
    actions->dram_activates += rows * hardware->banks;
}

static void count_matrix(const struct pim_estimate_hardware *hardware,
                         const struct pim_instruction *instruction, struct nice_actions *actions)
{
    struct pim_pe_cost cost;
    pim_pe_matrix(&hardware->pe, instruction->u.matrix.m, instruction->u.matrix.n, instruction->u.matrix.k,
                  instruction->u.matrix.input_bits, instruction->u.matrix.weight_bits,
                  (instruction->detail & PIM_MATRIX_ACCUMULATE) != 0, &cost);
    actions->macs += cost.macs;
    actions->sram_bits += 8 * (cost.input_bytes_read + cost.weight_bytes_read + cost.output_bytes_read +
                               cost.output_bytes_written);
}

static void count_vector(const struct pim_estimate_hardware *hardware,
                         const struct pim_instruction *instruction, struct nice_actions *actions)
{
    struct pim_acu_cost cost;
    uint64_t release = instruction->u.vector.release;
    pim_acu_vector(&hardware->acu, instruction->detail, instruction->u.vector.rows,
                   instruction->u.vector.elements, &cost);
    uint64_t narrow = cost.elements_read + cost.elements_written;
    if (release > 0)
        narrow -= (uint64_t)instruction->u.vector.rows * instruction->u.vector.elements;
    actions->acu_operations += cost.operations;
    actions->sram_bits += narrow * instruction->u.vector.bits + 8 * release;
}

static uint32_t distance(const struct pim_estimate_hardware *hardware, uint32_t a, uint32_t b)
{
    uint32_t width = hardware->width, ax = a % width, ay = a / width, bx = b % width, by = b / width;
    return (ax > bx ? ax - bx : bx - ax) + (ay > by ? ay - by : by - ay);
}

/* A receive counts for the network: the message, its announcement, and a grant for every packet that is not
 * granted by it. */
static void count_message(const struct pim_estimate_hardware *hardware, uint32_t node,
                          const struct pim_instruction *instruction, struct nice_actions *actions)
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

void nice_count_actions(const struct pim_estimate_hardware *hardware, uint32_t node,
                        const struct pim_instruction *instruction, struct nice_actions *actions)
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

/* 1 mW over 1 ns is 1 pJ. */
double nice_standing_pj(const struct pim_estimate_hardware *hardware)
{
    return hardware->energy.static_mw_per_node * (double)(hardware->width * hardware->height) * 1e6 /
           (double)hardware->logic_khz;
}

void nice_energy_of(const struct pim_estimate_hardware *hardware, const struct nice_actions *actions,
                    uint64_t cycles, struct nice_energy *energy)
{
    const struct pim_machine_energy *unit = &hardware->energy;
    *energy = (struct nice_energy){
        .pe = (double)actions->macs * unit->mac_pj,
        .acu = (double)actions->acu_operations * unit->acu_pj_per_operation,
        .sram = (double)actions->sram_bits * unit->sram_pj_per_bit,
        .dram = (double)actions->dram_bits * unit->dram_pj_per_bit +
                (double)actions->dram_activates * unit->dram_activate_pj,
        .noc = (double)actions->noc_bit_hops * unit->noc_pj_per_bit_hop,
        .standing = nice_standing_pj(hardware) * (double)cycles,
    };
    energy->total = energy->pe + energy->acu + energy->sram + energy->dram + energy->noc + energy->standing;
}

double nice_actions_pj(const struct pim_estimate_hardware *hardware, const struct nice_actions *actions)
{
    struct nice_energy energy;
    nice_energy_of(hardware, actions, 0, &energy);
    return energy.total;
}
