/* Start and completion of instructions. Rules: docs/models/node.md. */
#include "models/node/node_internal.h"
#include "traces/counts.h"

#include <assert.h>
#include <inttypes.h>

/* The state that an engine shows when its head has not started: busy while anything is in flight, else the
 * cause. */
static void show(struct pim_node *node, enum pim_engine engine, uint8_t otherwise)
{
    bool busy = engine == PIM_ENGINE_RECEIVE ? node->interface.begun > 0 : node->queue[engine].in_flight > 0;
    if (!busy && engine == PIM_ENGINE_RECEIVE && node->queue[engine].in_flight > 0)
        otherwise = PIM_STATE_WAIT + PIM_WAIT_PEER; /* open receives, and no sender has begun */
    uint8_t state = busy ? PIM_STATE_BUSY : otherwise;
    if (node->unit.states.state[engine] != state)
        pim_states_set(&node->unit, engine, state);
}

struct pim_slot *pim_engine_blocker(struct pim_node *node, const struct pim_slot *slot)
{
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        uint64_t distance = slot->instruction.dependency[i];
        if (distance == 0 || distance > slot->sequence || slot->sequence - distance < node->unit.oldest)
            continue;
        if (!pim_node_is_done(node, slot->sequence - distance))
            return pim_node_slot(node, slot->sequence - distance);
    }
    return NULL;
}

/* The wait state for the first dependency of the head that is not complete, or PIM_STATE_IDLE when there is
 * none. While what was found last is not complete, no slot needs a look. */
static uint8_t blocked_by(struct pim_node *node, enum pim_engine engine)
{
    struct pim_engine_queue *queue = &node->queue[engine];
    if (queue->blocker > node->unit.oldest && !pim_node_is_done(node, queue->blocker - 1))
        return node->cause[engine];
    const struct pim_slot *other = pim_engine_blocker(node, &node->slots[queue->first]);
    queue->blocker = 0;
    if (!other)
        return PIM_STATE_IDLE;
    queue->blocker = other->sequence + 1;
    node->cause[engine] =
        (uint8_t)(PIM_STATE_WAIT + pim_wait_of_engine(pim_opcode_engine(other->instruction.opcode)));
    return node->cause[engine];
}

static void started(struct pim_node *node, enum pim_engine engine, struct pim_slot *slot, pim_time at)
{
    struct pim_engine_queue *queue = &node->queue[engine];
    queue->waiting--;
    queue->first = slot->next; /* means something while others wait */
    PIM_PREFETCH(&node->slots[queue->first]);
    queue->in_flight++;
    node->unit.issued++;
    slot->started = at;
}

/* --- buffer space --- */

/*
 * What an instruction gives back at its end must be there at its start, beside what others under way give
 * back: a trace that gives back more than it took is refused.
 */
static PIM_ALWAYS_INLINE bool can_give_back(struct pim_node *node, const struct pim_slot *slot,
                                            const struct pim_space *space)
{
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++) {
        uint64_t held = node->buffer[buffer].taken - node->promised[buffer];
        if (space->bytes[buffer] <= held)
            continue;
        pim_node_fail(node, slot,
                      "gives back %" PRIu64 " bytes of the %s buffer, which holds %" PRIu64
                      " bytes that are not given back yet",
                      space->bytes[buffer], pim_buffer_name(buffer), held);
        return false;
    }
    return true;
}

/* Takes what the instruction needs of a buffer, one at most; false when there is no space now, or never:
 * that is an error. */
static PIM_ALWAYS_INLINE bool take_space(struct pim_node *node, const struct pim_slot *slot)
{
    const struct pim_node_configuration *configuration = &node->array->configuration;
    enum pim_buffer buffer;
    uint64_t bytes = pim_space_taken(&slot->instruction, configuration->pe.accumulator_bits, &buffer);
    if (buffer == PIM_BUFFER_NONE)
        return true;
    if (bytes > configuration->buffer_bytes[buffer]) {
        pim_node_fail(node, slot, "needs %" PRIu64 " bytes of the %s buffer, which has %" PRIu64, bytes,
                      pim_buffer_name(buffer), configuration->buffer_bytes[buffer]);
        return false;
    }
    if (!pim_buffer_fits(&node->buffer[buffer], bytes))
        return false;
    pim_buffer_take(&node->buffer[buffer], bytes);
    return true;
}

static PIM_ALWAYS_INLINE void promise(struct pim_node *node, const struct pim_space *space)
{
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        node->promised[buffer] += space->bytes[buffer];
}

static void ended(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_slot *slot = context;
    struct pim_node *node = slot->node;
    pim_node_prefetch(node);
    const struct pim_space space = pim_space_given(&slot->instruction);
    for (unsigned buffer = PIM_BUFFER_INPUT; buffer < PIM_BUFFERS; buffer++)
        if (space.bytes[buffer] > 0) {
            pim_buffer_give(&node->buffer[buffer], space.bytes[buffer]);
            node->promised[buffer] -= space.bytes[buffer];
        }
    pim_engine_ended(slot, pim_opcode_engine(slot->instruction.opcode));
}

/* --- matrix and vector --- */

/* The engine works for `cycles` from its next edge on; false when that is beyond the end of time. */
static PIM_ALWAYS_INLINE bool work(struct pim_node *node, enum pim_engine engine, struct pim_slot *slot,
                                   uint64_t cycles)
{
    struct pim_kernel *kernel = node->array->units.kernel;
    const pim_time period = node->array->configuration.logic_period, now = pim_kernel_now(kernel);
    const pim_time at = pim_edge(now, period);
    if (!pim_unit_in_time_at(&node->unit, slot->sequence, slot->instruction.opcode, at, cycles, period))
        return false;
    started(node, engine, slot, at);
    /* An instruction takes one tick at least: the ENGINE phase of this tick may be over. */
    const pim_time delay = at + cycles * period - now;
    pim_kernel_schedule(kernel, delay ? delay : 1, PIM_PHASE_ENGINE, ended, slot);
    return true;
}

static uint8_t start_matrix(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_operands_matrix *o = &slot->instruction.u.matrix;
    const bool accumulates = (slot->instruction.detail & PIM_MATRIX_ACCUMULATE) != 0;
    const struct pim_space space = pim_space_given(&slot->instruction);
    struct pim_error problem;
    struct pim_pe_cost cost;
    if (pim_pe_check_matrix(o->m, o->n, o->k, o->input_bits, o->weight_bits, &problem) != PIM_OK) {
        pim_node_fail(node, slot, "%s", problem.text);
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    }
    if (!can_give_back(node, slot, &space) || !take_space(node, slot))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    pim_pe_matrix(&node->array->configuration.pe, o->m, o->n, o->k, o->input_bits, o->weight_bits,
                  accumulates, &cost);
    if (!work(node, PIM_ENGINE_MATRIX, slot, cost.cycles))
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    promise(node, &space);
    PIM_ADD_ACTION(node, macs, cost.macs);
    PIM_ADD_ACTION(node, sram_bits, pim_pe_sram_bits(&cost));
    return PIM_STATE_BUSY;
}

static uint8_t start_vector(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_instruction *instruction = &slot->instruction;
    const struct pim_operands_vector *o = &instruction->u.vector;
    const struct pim_space space = pim_space_given(instruction);
    struct pim_error problem;
    struct pim_acu_cost cost;
    if (!can_give_back(node, slot, &space))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    if (pim_acu_check_vector(instruction->detail, o->rows, o->elements, &problem) != PIM_OK) {
        pim_node_fail(node, slot, "%s", problem.text);
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    }
    pim_acu_vector(&node->array->configuration.acu, instruction->detail, o->rows, o->elements, &cost);
    if (!work(node, PIM_ENGINE_VECTOR, slot, cost.cycles))
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    promise(node, &space);
    PIM_ADD_ACTION(node, acu_operations, cost.operations);
    PIM_ADD_ACTION(node, sram_bits, pim_acu_sram_bits(o, &cost));
    return PIM_STATE_BUSY;
}

/* --- memory --- */

/* True when address .. address + (count - 1) * stride + bytes lies inside the node's memory. */
static bool inside_memory(const struct pim_node *node, uint64_t address, uint64_t bytes, uint64_t stride,
                          uint64_t count)
{
    uint64_t capacity = node->array->configuration.bank.capacity_bytes;
    if (bytes == 0 || count == 0)
        return true;
    if ((count > 1 && stride < bytes) || address > capacity || bytes > capacity ||
        (count > 1 && stride > capacity / (count - 1)))
        return false;
    return (count - 1) * stride + bytes <= capacity - address;
}

static uint8_t start_memory(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_instruction *instruction = &slot->instruction;
    struct pim_burst burst = {.address = instruction->u.memory.address,
                              .bytes = instruction->u.memory.bytes,
                              .stride = instruction->u.memory.stride,
                              .count = instruction->u.memory.count,
                              .write = instruction->opcode == PIM_OP_STORE};
    const struct pim_space space = pim_space_given(instruction);
    uint64_t bytes = pim_memory_bytes(instruction);
    if (!inside_memory(node, burst.address, burst.bytes, burst.stride, burst.count)) {
        pim_node_fail(node, slot,
                      "%" PRIu32 " pieces of %" PRIu32 " bytes from address %" PRIu64
                      " overlap or reach beyond the memory of the node, which has %" PRIu64 " bytes",
                      burst.count, burst.bytes, burst.address,
                      node->array->configuration.bank.capacity_bytes);
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    }
    if (!can_give_back(node, slot, &space) || !take_space(node, slot))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    promise(node, &space);
    PIM_ADD_ACTION(node, sram_bits, 8 * bytes);
    if (burst.write)
        PIM_ADD_BYTES(node, bytes_stored, bytes);
    else
        PIM_ADD_BYTES(node, bytes_loaded, bytes);
    started(node, PIM_ENGINE_MEMORY, slot, pim_kernel_now(node->array->units.kernel));
    pim_port_submit(node, PIM_PORT_MEMORY, &burst, ended, slot);
    return PIM_STATE_BUSY;
}

/* --- network --- */

static bool exists(struct pim_node *node, const struct pim_slot *slot)
{
    const struct pim_instruction *instruction = &slot->instruction;
    if (instruction->u.network.peer < node->unit.units->count &&
        inside_memory(node, instruction->u.network.address, instruction->u.network.bytes, 0, 1))
        return true;
    pim_node_fail(node, slot, "peer %" PRIu32 " or bytes at address %" PRIu64 " do not exist",
                  instruction->u.network.peer, instruction->u.network.address);
    return false;
}

static uint8_t start_send(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_instruction *instruction = &slot->instruction;
    if (!exists(node, slot))
        return PIM_STATE_WAIT + PIM_WAIT_PEER;
    const struct pim_slot *receive = pim_interface_announced(node, slot);
    if (!receive)
        return PIM_STATE_WAIT + PIM_WAIT_PEER;
    if (receive->instruction.u.network.bytes != instruction->u.network.bytes) {
        pim_node_fail(node, slot,
                      "sends %" PRIu64 " bytes of tag %" PRIu32 " to unit %" PRIu32
                      ", whose receive (instruction %" PRIu64 ") expects %" PRIu64,
                      instruction->u.network.bytes, instruction->u.network.tag, instruction->u.network.peer,
                      receive->sequence, receive->instruction.u.network.bytes);
        return PIM_STATE_WAIT + PIM_WAIT_PEER;
    }
    started(node, PIM_ENGINE_SEND, slot, pim_kernel_now(node->array->units.kernel));
    pim_interface_send(node, slot);
    return PIM_STATE_BUSY;
}

static uint8_t start_receive(struct pim_node *node, struct pim_slot *slot)
{
    if (!exists(node, slot))
        return PIM_STATE_WAIT + PIM_WAIT_PEER;
    started(node, PIM_ENGINE_RECEIVE, slot, pim_kernel_now(node->array->units.kernel));
    pim_interface_post(node, slot);
    return PIM_STATE_BUSY;
}

/* True when the engine's hardware can take another instruction. */
static bool available(const struct pim_node *node, enum pim_engine engine)
{
    if (engine == PIM_ENGINE_MEMORY)
        return !pim_port_is_active(node, PIM_PORT_MEMORY);
    if (engine == PIM_ENGINE_SEND)
        return node->interface.sending == NULL;
    if (engine == PIM_ENGINE_RECEIVE)
        return node->interface.posted_count < node->array->configuration.posted_receives;
    return node->queue[engine].in_flight == 0;
}

static uint8_t start(struct pim_node *node, struct pim_slot *slot)
{
    switch (slot->instruction.opcode) {
    case PIM_OP_MATRIX:
        return start_matrix(node, slot);
    case PIM_OP_VECTOR:
        return start_vector(node, slot);
    case PIM_OP_LOAD:
    case PIM_OP_STORE:
        return start_memory(node, slot);
    case PIM_OP_SEND:
        return start_send(node, slot);
    case PIM_OP_RECEIVE:
        return start_receive(node, slot);
    default:
        pim_unit_no_engine(&node->unit, slot->sequence, slot->instruction.opcode);
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    }
}

bool pim_engine_try(struct pim_node *node, enum pim_engine engine)
{
    struct pim_engine_queue *queue = &node->queue[engine];
    if (node->array->units.error->status != PIM_OK)
        return false;
    /* While its hardware takes nothing, something is in flight: what the head waits for is not shown. */
    if (queue->waiting == 0 || !available(node, engine)) {
        show(node, engine, PIM_STATE_IDLE);
        return false;
    }
    uint8_t state = blocked_by(node, engine);
    if (state == PIM_STATE_IDLE && node->array->configuration.in_order &&
        pim_node_head(node, engine)->sequence != node->unit.issued)
        state = PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    if (state == PIM_STATE_IDLE) {
        state = start(node, pim_node_head(node, engine));
        if (state == PIM_STATE_BUSY) {
            show(node, engine, PIM_STATE_BUSY);
            return true;
        }
    }
    show(node, engine, state);
    return false;
}
