/* What the program of a step with real rows takes: instruction by instruction, each by the machine's rule. */
#include "mappers/overlapim/emit/real_program.h"

struct counting {
    const struct pim_machine *machine;
    uint32_t unit; /* the layer's first */
    uint64_t cycles;
};

static uint64_t operation_cycles(const struct pim_machine *machine, const struct pim_instruction *instruction)
{
    const uint64_t banks = instruction->u.row_compute.banks, count = instruction->u.row_compute.count;
    if (instruction->detail == PIM_ROW_REDUCE) {
        const uint64_t width = UINT64_C(1) << instruction->u.row_compute.size;
        const struct pim_reduction_cycles tree = pim_machine_reduce(machine, width, banks);
        return count * (tree.move + tree.add);
    }
    return count * (instruction->detail == PIM_ROW_MULTIPLY ? pim_machine_multiply(machine, banks)
                                                            : pim_machine_add(machine, banks));
}

/* From another channel of the layer, which is as far in its program: it is read, carried and written row by
 * row, the last one written behind its way. */
static uint64_t receive_cycles(const struct counting *counting, const struct pim_instruction *instruction)
{
    const uint64_t banks = instruction->u.row_message.banks;
    const struct pim_step_cost one = {.channels = 1, .banks = banks};
    const struct pim_way way = {counting->unit + instruction->u.row_message.peer, counting->unit};
    const struct pim_message_cycles cycles =
        pim_message_cycles(counting->machine, &one, &one, instruction->u.row_message.rows, way);
    uint64_t most = cycles.read > cycles.in ? cycles.read : cycles.in;
    most = most > cycles.bus ? most : cycles.bus;
    return most + pim_machine_rows(counting->machine, 1, 1);
}

static void count(void *context, struct pim_instruction *instruction)
{
    struct counting *counting = context;
    const struct pim_machine *machine = counting->machine;
    if (instruction->opcode == PIM_OP_ROW_COMPUTE)
        counting->cycles += operation_cycles(machine, instruction);
    else if (instruction->opcode == PIM_OP_ROW_TRANSPOSE)
        counting->cycles += pim_machine_rows(
            machine, 2 * (uint64_t)instruction->u.row_compute.bits * instruction->u.row_compute.count,
            instruction->u.row_compute.banks);
    else if (instruction->opcode == PIM_OP_ROW_MOVE)
        counting->cycles +=
            pim_machine_move(machine, instruction->u.row_move.rows, instruction->u.row_move.banks);
    else
        counting->cycles += receive_cycles(counting, instruction);
}

uint64_t pim_real_step_cycles(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                              const struct pim_real *real, uint64_t banks, uint32_t unit, uint64_t step)
{
    struct counting counting = {.machine = machine, .unit = unit};
    const struct pim_real_program program = {
        .real = real, .layer = layer, .banks = banks, .put = count, .context = &counting};
    pim_real_program_step(&program, step);
    return counting.cycles + pim_machine_refresh(machine, counting.cycles);
}
