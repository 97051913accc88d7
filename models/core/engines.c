/* Start and steps of matrix, vector and memory instructions. Rules 4 to 8 of docs/models/core.md. */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <inttypes.h>

/* --- local memory --- */

/* Apart, and called last: what is usual has no registers to save. */
static PIM_NOINLINE uint64_t uncountable_until(struct pim_core *core, uint64_t end)
{
    pim_unit_uncountable(&core->unit, core->unit.sums);
    return end;
}

uint64_t pim_core_port(struct pim_core *core, uint64_t cycle, uint64_t bytes, bool write)
{
    const struct pim_beats *local = &core->cores->configuration.local;
    if (bytes == 0)
        return cycle;
    uint64_t beats = pim_beats_of(bytes, local->width);
    uint64_t cycles = write ? local->write_cycles : local->read_cycles;
    uint64_t begin = pim_larger(cycle, core->port);
    uint64_t end = begin + beats * cycles;
    core->port = end;
    if (local->pipelined) {
        core->port = begin + beats;
        end = core->port + (cycles > 0 ? cycles - 1 : 0);
    }
    uint64_t *mine = &core->unit.result.actions.local_bits, *sum = &core->unit.sums->actions.local_bits;
    if (__builtin_add_overflow(*mine, 8 * bytes, mine) || __builtin_add_overflow(*sum, 8 * bytes, sum))
        return uncountable_until(core, end);
    return end;
}

/* --- start --- */

uint64_t pim_core_available(struct pim_core *core, const struct pim_core_slot *slot, uint64_t now)
{
    if (core->cores->configuration.nn)
        return pim_core_nn_available(core, slot);
    switch (slot->engine) {
    case PIM_ENGINE_MATRIX:
        return core->groups[pim_core_group_of(slot)].free;
    case PIM_ENGINE_VECTOR:
        return core->vector_free;
    case PIM_ENGINE_MEMORY:
        return core->memory_free;
    case PIM_ENGINE_SEND:
        return pim_core_send_available(core, slot, now);
    default:
        return pim_core_receive_available(core);
    }
}

static void start_matrix(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    const struct pim_instruction *instruction = &slot->instruction;
    struct pim_core_group *group = &core->groups[instruction->u.mvm.group];
    uint64_t windows = instruction->u.mvm.windows;
    group->free = PIM_CYCLE_UNKNOWN;
    group->holder = slot;
    PIM_ADD_ACTION(core, crossbar_mvms, windows * group->arrays);
    PIM_ADD_ACTION(core, macs, windows * group->macs);
    uint64_t bytes = instruction->u.mvm.input_bytes;
    if (core->cores->configuration.nn)
        bytes *= 8; /* pimsim-nn reads a byte for each bit */
    uint64_t read = pim_core_port(core, now, bytes, false);
    pim_core_enter(core, read + windows * core->cores->cost.mvm_cycles, PIM_STEP_WRITE, slot,
                   instruction->u.mvm.output_bytes);
}

/* The rows are read at once and written one after the other; then the group takes the next instruction. */
static void start_array_write(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    const struct pim_operands_array_write *o = &slot->instruction.u.array_write;
    struct pim_core_group *group = &core->groups[o->group];
    group->free = PIM_CYCLE_UNKNOWN;
    group->holder = slot;
    PIM_ADD_ACTION(core, crossbar_cells, o->rows * group->row_cells);
    uint64_t read = pim_core_port(core, now, o->bytes, false);
    uint64_t cycles = (uint64_t)o->rows * core->cores->configuration.crossbar.write_row_cycles;
    pim_core_enter(core, read + cycles, PIM_STEP_WRITE, slot, 0);
}

static void start_vector(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t bytes = pim_core_vector_bytes(instruction), elements = instruction->u.local_vector.elements;
    uint64_t at = now;
    for (unsigned source = 0; source < pim_local_sources(instruction->detail); source++)
        at = pim_core_port(core, at, bytes, false);
    uint64_t beats = pim_beats_of(elements, configuration->vector_elements);
    at += configuration->vector_pipelined ? beats + configuration->vector_cycles
                                          : beats * configuration->vector_cycles;
    core->vector_free = PIM_CYCLE_UNKNOWN;
    core->vector_holder = slot;
    PIM_ADD_ACTION(core, vector_operations, elements);
    pim_core_enter(core, at, PIM_STEP_WRITE, slot, bytes);
}

void pim_core_ask_global(struct pim_core *core, struct pim_core_slot *slot, bool write)
{
    const struct pim_beats *global = &core->cores->configuration.global;
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t bytes = pim_core_transfer_bytes(instruction);
    uint64_t beats =
        instruction->u.transfer.stride == instruction->u.transfer.bytes || instruction->u.transfer.count == 1
            ? pim_beats_of(bytes, global->width)
            : pim_beats_of(instruction->u.transfer.bytes, global->width) * instruction->u.transfer.count;
    uint64_t cycles = write ? global->write_cycles : global->read_cycles;
    const struct pim_core_request request = {.core = core->unit.id,
                                             .kind = write ? PIM_REQUEST_WRITE : PIM_REQUEST_READ,
                                             .cycles = global->pipelined ? beats : beats * cycles,
                                             .latency = global->pipelined && cycles > 0 ? cycles - 1 : 0,
                                             .slot = slot};
    PIM_ADD_ACTION(core, global_bits, 8 * bytes);
    if (write)
        PIM_ADD_BYTES(core, bytes_stored, bytes);
    else
        PIM_ADD_BYTES(core, bytes_loaded, bytes);
    core->outside++;
    pim_core_server_ask(&core->chip->memory, &request);
}

static void start_memory(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t at;
    switch (instruction->opcode) {
    case PIM_OP_LOCAL_LOAD:
        core->memory_free = now + 1;
        pim_core_ask_global(core, slot, false);
        return;
    case PIM_OP_LOCAL_STORE:
        at = pim_core_port(core, now, pim_core_transfer_bytes(instruction), false);
        core->memory_free = pim_larger(at, now + 1);
        pim_core_enter(core, core->memory_free, PIM_STEP_GLOBAL, slot, 0);
        return;
    case PIM_OP_LOCAL_COPY: {
        uint64_t bytes = (uint64_t)instruction->u.local_copy.bytes * instruction->u.local_copy.count;
        at = pim_core_port(core, now, bytes, false);
        at = pim_core_port(core, at, bytes, true);
        break;
    }
    default:
        at = pim_core_port(
            core, now, (uint64_t)instruction->u.local_write.bytes * instruction->u.local_write.count, true);
        break;
    }
    pim_core_set_end(slot, at);
    core->memory_free = slot->done;
}

void pim_core_start(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    if (core->cores->configuration.nn)
        pim_core_nn_start(core, slot, now);
    else
        pim_core_start_plain(core, slot, now);
}

void pim_core_start_plain(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    switch (slot->engine) {
    case PIM_ENGINE_MATRIX:
        if (slot->instruction.opcode == PIM_OP_ARRAY_WRITE)
            start_array_write(core, slot, now);
        else
            start_matrix(core, slot, now);
        break;
    case PIM_ENGINE_VECTOR:
        start_vector(core, slot, now);
        break;
    case PIM_ENGINE_MEMORY:
        start_memory(core, slot, now);
        break;
    case PIM_ENGINE_SEND:
        pim_core_send(core, slot, now);
        break;
    default:
        pim_core_receive(core, slot, now);
        break;
    }
}

/* --- steps --- */

/* The result is there: it goes to the local memory, and with that the instruction ends. */
static void write_result(struct pim_core *core, struct pim_core_slot *slot, uint64_t bytes, uint64_t now)
{
    pim_core_set_end(slot, pim_core_port(core, now, bytes, true));
    if (slot->engine == PIM_ENGINE_MATRIX)
        core->groups[pim_core_group_of(slot)].free = slot->done;
    else if (slot->engine == PIM_ENGINE_VECTOR)
        core->vector_free = slot->done;
}

void pim_core_take_step(struct pim_core *core, const struct pim_core_entry *entry)
{
    switch (entry->step) {
    case PIM_STEP_WRITE:
        write_result(core, entry->slot, entry->bytes, entry->cycle);
        break;
    case PIM_STEP_GLOBAL:
        pim_core_ask_global(core, entry->slot, true);
        break;
    case PIM_STEP_PACKET:
        pim_core_packet_read(core, entry->slot, entry->bytes, entry->cycle);
        break;
    case PIM_STEP_ARRIVED:
        pim_core_bytes_arrived(core, entry->slot, entry->bytes, entry->cycle);
        break;
    default:
        pim_core_nn_step(core, entry);
        break;
    }
}

void pim_core_memory_served(struct pim_cores *cores, const struct pim_core_request *request, uint64_t held,
                            uint64_t end)
{
    (void)held;
    struct pim_core *core = pim_core_at(cores, request->core);
    struct pim_core_slot *slot = request->slot;
    core->outside--;
    if (request->kind == PIM_REQUEST_READ) {
        pim_core_enter(core, end, PIM_STEP_WRITE, slot, pim_core_transfer_bytes(&slot->instruction));
        return;
    }
    pim_core_set_end(slot, end);
    pim_core_wake_at(core, slot->done);
}
