/* Start and steps of matrix, vector and memory instructions. Rules 4 to 8 of docs/models/core.md. */
#include "models/core/cores_internal.h"

#include <assert.h>
#include <inttypes.h>

#define LONGEST (UINT64_C(1) << 60) /* cycles of one MVM with all its windows */

/* --- operands --- */

/* Bytes of the local memory in full width, before they are known to be there. */
struct span {
    uint64_t begin, end;
};

/* `count` pieces of `bytes`, `stride` apart, as their bounding range. */
static struct span pieces(uint64_t address, uint64_t bytes, uint64_t stride, uint64_t count)
{
    if (bytes == 0 || count == 0)
        return (struct span){.begin = 0, .end = 0};
    return (struct span){.begin = address, .end = address + (count - 1) * stride + bytes};
}

static uint64_t vector_bytes(const struct pim_instruction *instruction)
{
    return (uint64_t)instruction->u.local_vector.elements * ((instruction->u.local_vector.bits + 7) / 8);
}

/* The lines that a range in the local memory touches; they are numbered modulo PIM_CORE_LINES. */
static inline uint64_t lines_of(const struct pim_core *core, struct span span)
{
    if (span.begin == span.end)
        return 0;
    uint64_t first = span.begin >> core->line_shift;
    uint64_t more = ((span.end - 1) >> core->line_shift) - first;
    if (more >= PIM_CORE_LINES - 1)
        return UINT64_MAX;
    uint64_t lines = (UINT64_C(2) << more) - 1;
    unsigned turn = first % PIM_CORE_LINES;
    return lines << turn | lines >> (-turn % PIM_CORE_LINES);
}

static inline struct pim_byte_range range_of(struct span span)
{
    return (struct pim_byte_range){(uint32_t)span.begin, (uint32_t)span.end};
}

/* Whether the global memory holds what a load or store names. */
static bool inside_global(const struct pim_core *core, const struct pim_instruction *instruction)
{
    uint64_t capacity = core->cores->configuration.global_bytes, address = instruction->u.transfer.address;
    uint64_t count = instruction->u.transfer.count, bytes = instruction->u.transfer.bytes;
    if (count == 0 || bytes == 0)
        return true;
    uint64_t span = (count - 1) * instruction->u.transfer.stride + bytes; /* 32-bit factors: below 2^64 */
    return address <= capacity && span <= capacity - address;
}

/* Whether the hardware can write what an array_write names. */
static bool can_write(const struct pim_core *core, const struct pim_instruction *instruction)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_operands_array_write *o = &instruction->u.array_write;
    if (configuration->nn || configuration->crossbar.write_row_cycles == 0 || o->group >= core->group_count)
        return false;
    const struct pim_core_group *group = &core->groups[o->group];
    return o->rows <= group->rows && o->row <= group->rows - o->rows &&
           o->bytes == o->rows * group->row_bytes;
}

/* Whether the other end of a message exists, and its bytes can be in the local memory. */
static inline bool has_peer(const struct pim_core *core, const struct pim_instruction *instruction)
{
    const struct pim_operands_network *o = &instruction->u.network;
    const uint64_t local_bytes = core->cores->configuration.local_bytes;
    return o->peer < core->cores->units.count && o->bytes > 0 && o->bytes <= local_bytes &&
           o->address <= local_bytes;
}

enum { WRITE, FIRST, SECOND, SPANS };

/* What an instruction touches of the local memory; whether the core has what else it names. */
static inline bool find_spans(const struct pim_core *core, const struct pim_instruction *instruction,
                              struct span spans[SPANS])
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    switch (instruction->opcode) {
    case PIM_OP_MVM: {
        const struct pim_operands_mvm *o = &instruction->u.mvm;
        spans[FIRST] = pieces(o->input_address, o->input_bytes, 0, 1);
        spans[WRITE] = pieces(o->output_address, o->output_bytes, 0, 1);
        return o->group < core->group_count &&
               (o->windows <= 1 || o->windows <= LONGEST / core->cores->cost.mvm_cycles);
    }
    case PIM_OP_ARRAY_WRITE:
        spans[FIRST] = pieces(instruction->u.array_write.source, instruction->u.array_write.bytes, 0, 1);
        return can_write(core, instruction);
    case PIM_OP_LOCAL_VECTOR: {
        const struct pim_operands_local_vector *o = &instruction->u.local_vector;
        const uint64_t bytes = vector_bytes(instruction);
        spans[FIRST] = pieces(o->source, bytes, 0, 1);
        if (pim_local_sources(instruction->detail) == 2)
            spans[SECOND] = pieces(o->second, bytes, 0, 1);
        spans[WRITE] = pieces(o->destination, bytes, 0, 1);
        return configuration->vector_operations >> instruction->detail & 1;
    }
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE: {
        const struct pim_operands_transfer *o = &instruction->u.transfer;
        spans[instruction->opcode == PIM_OP_LOCAL_LOAD ? WRITE : FIRST] =
            pieces(o->local, o->bytes, o->bytes, o->count);
        return inside_global(core, instruction);
    }
    case PIM_OP_LOCAL_COPY: {
        const struct pim_operands_local_copy *o = &instruction->u.local_copy;
        spans[FIRST] = pieces(o->source, o->bytes, o->source_stride, o->count);
        spans[WRITE] = pieces(o->destination, o->bytes, o->destination_stride, o->count);
        return true;
    }
    case PIM_OP_LOCAL_WRITE: {
        const struct pim_operands_local_write *o = &instruction->u.local_write;
        spans[WRITE] = pieces(o->destination, o->bytes, o->stride, o->count);
        return true;
    }
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        spans[instruction->opcode == PIM_OP_RECEIVE ? WRITE : FIRST] =
            pieces(instruction->u.network.address, instruction->u.network.bytes, 0, 1);
        return has_peer(core, instruction);
    default:
        return false;
    }
}

static inline uint64_t highest_of(const struct span spans[SPANS])
{
    return pim_larger(spans[WRITE].end, pim_larger(spans[FIRST].end, spans[SECOND].end));
}

/* Why an instruction cannot be executed: find_spans() says no, or the local memory ends before `highest`. */
static PIM_NOINLINE void refuse(struct pim_core *core, const struct pim_core_slot *slot, uint64_t highest)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    const uint64_t local_bytes = configuration->local_bytes;
    bool network = instruction->opcode == PIM_OP_SEND || instruction->opcode == PIM_OP_RECEIVE;
    if (network && !has_peer(core, instruction)) {
        pim_core_fail(core, slot,
                      "core %" PRIu32 " does not exist, or %" PRIu64 " bytes at address %" PRIu64
                      " are not in the local memory, which has %" PRIu64 " bytes",
                      instruction->u.network.peer, instruction->u.network.bytes,
                      instruction->u.network.address, local_bytes);
        return;
    }
    if (highest > local_bytes) {
        pim_core_fail(core, slot, "uses %" PRIu64 " bytes of the local memory, which has %" PRIu64, highest,
                      local_bytes);
        return;
    }
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        if (instruction->u.mvm.windows > 1 &&
            instruction->u.mvm.windows > LONGEST / core->cores->cost.mvm_cycles)
            pim_core_fail(core, slot, "its windows last longer than times can be counted");
        else
            pim_core_fail(core, slot,
                          "array group %" PRIu32 " does not exist: the trace gives this core %" PRIu32,
                          instruction->u.mvm.group, core->group_count);
        return;
    case PIM_OP_ARRAY_WRITE:
        if (configuration->nn || configuration->crossbar.write_row_cycles == 0)
            pim_core_fail(core, slot, "the crossbars cannot be written by programs: %s",
                          configuration->nn ? "core.timing is \"pimsim_nn\"" : "crossbar.write_row_ns is 0");
        else
            pim_core_fail(core, slot,
                          "array group %" PRIu32 " does not exist, or has other rows than that: the trace "
                          "gives this core %" PRIu32 " groups",
                          instruction->u.array_write.group, core->group_count);
        return;
    case PIM_OP_LOCAL_VECTOR:
        pim_core_fail(core, slot, "the vector units have no %s (core.vector_functions)",
                      pim_local_name(instruction->detail));
        return;
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
        pim_core_fail(core, slot, "the global memory ends at %" PRIu64, configuration->global_bytes);
        return;
    default:
        pim_core_fail(core, slot, "cores have no engine for it: its hardware is array.kind = \"node\"");
        return;
    }
}

bool pim_core_prepare(struct pim_core *core, struct pim_core_slot *slot)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    struct span spans[SPANS] = {{0, 0}, {0, 0}, {0, 0}};
    slot->engine = (uint8_t)pim_opcode_engine(instruction->opcode);
    slot->cause = PIM_WAIT_ISSUE;
    bool possible = find_spans(core, instruction, spans);
    uint64_t highest = highest_of(spans);
    if (PIM_UNLIKELY(!possible || highest > configuration->local_bytes)) {
        refuse(core, slot, highest);
        return false;
    }
    uint64_t *most = &core->unit.result.buffer_high_water[PIM_BUFFER_INPUT];
    *most = pim_larger(*most, highest);
    slot->write = range_of(spans[WRITE]);
    slot->read[0] = range_of(spans[FIRST]);
    slot->read[1] = range_of(spans[SECOND]);
    const struct pim_core_lines lines = {.writes = lines_of(core, spans[WRITE]),
                                         .reads =
                                             lines_of(core, spans[FIRST]) | lines_of(core, spans[SECOND])};
    core->lines[slot->sequence & core->mask] = lines;
    core->lines[(slot->sequence & core->mask) + core->mask + 1] = lines;
    slot->bytes_alone =
        !configuration->nn && !configuration->in_order &&
        (instruction->dependency[0] | instruction->dependency[1] | instruction->dependency[2]) == 0;
    return true;
}

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
    uint64_t bytes = vector_bytes(instruction), elements = instruction->u.local_vector.elements;
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
