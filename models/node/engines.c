/* Start and completion of matrix, vector, memory, send and receive instructions. Rules: node.h,
 * docs/models/node.md. */
#include "models/node/node_internal.h"

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
    if (node->states.state[engine] != state)
        pim_states_set(&node->unit, &node->states, engine, state);
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
static uint8_t blocked_by(struct pim_node *node, struct pim_engine_queue *queue)
{
    if (queue->blocker > node->unit.oldest && !pim_node_is_done(node, queue->blocker - 1))
        return queue->cause;
    const struct pim_slot *other = pim_engine_blocker(node, &node->slots[queue->first]);
    queue->blocker = 0;
    if (!other)
        return PIM_STATE_IDLE;
    queue->blocker = other->sequence + 1;
    queue->cause =
        (uint8_t)(PIM_STATE_WAIT + pim_wait_of_engine(pim_opcode_engine(other->instruction.opcode)));
    return queue->cause;
}

static void started(struct pim_node *node, enum pim_engine engine, struct pim_slot *slot, pim_time at)
{
    struct pim_engine_queue *queue = &node->queue[engine];
    queue->waiting--;
    queue->first = slot->next; /* means something while others wait */
    queue->in_flight++;
    node->unit.issued++;
    slot->started = at;
}

static void schedule_end(struct pim_node *node, struct pim_slot *slot, pim_time end, pim_handler *handler)
{
    struct pim_kernel *kernel = node->array->units.kernel;
    /* An instruction takes one tick at least: the ENGINE phase of this tick may be over. */
    pim_time delay = end - pim_kernel_now(kernel);
    pim_kernel_schedule(kernel, delay ? delay : 1, PIM_PHASE_ENGINE, handler, slot);
}

/* --- buffer space --- */

/*
 * What an instruction gives back at its end must be there at its start, beside what others under way give
 * back: a trace that gives back more than it took is refused.
 */
static bool can_give_back(struct pim_node *node, const struct pim_slot *slot, unsigned buffer, uint64_t bytes)
{
    uint64_t held = node->buffer[buffer].taken - node->promised[buffer];
    if (bytes <= held)
        return true;
    pim_node_fail(node, slot,
                  "gives back %" PRIu64 " bytes of the %s buffer, which holds %" PRIu64
                  " bytes that are not given back yet",
                  bytes, pim_buffer_name(buffer), held);
    return false;
}

static void give_back(struct pim_node *node, unsigned buffer, uint64_t bytes)
{
    pim_buffer_give(&node->buffer[buffer], bytes);
    node->promised[buffer] -= bytes;
}

/* Takes `bytes` of a buffer for `slot`; false when there is no space now, or never (which is an error). */
static bool take_buffer(struct pim_node *node, const struct pim_slot *slot, unsigned buffer, uint64_t bytes)
{
    struct pim_buffer_space *space = &node->buffer[buffer];
    uint64_t capacity = node->array->configuration.buffer_bytes[buffer];
    if (bytes > capacity) {
        pim_node_fail(node, slot, "needs %" PRIu64 " bytes of the %s buffer, which has %" PRIu64, bytes,
                      pim_buffer_name(buffer), capacity);
        return false;
    }
    if (!pim_buffer_fits(space, bytes))
        return false;
    pim_buffer_take(space, bytes);
    return true;
}

/* --- matrix --- */

/* What the input of a product takes of its buffer: windows of a convolution overlap there. */
static uint64_t input_bytes(const struct pim_instruction *instruction)
{
    uint32_t window = instruction->u.matrix.window, bits = instruction->u.matrix.input_bits;
    return window ? pim_buffer_tile_bytes(window, 1, bits)
                  : pim_buffer_tile_bytes(instruction->u.matrix.m, instruction->u.matrix.k, bits);
}

static void matrix_ended(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_slot *slot = context;
    struct pim_node *node = slot->node;
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    if (instruction->detail & PIM_MATRIX_RELEASE_INPUT)
        give_back(node, PIM_BUFFER_INPUT, input_bytes(instruction));
    if (instruction->detail & PIM_MATRIX_RELEASE_WEIGHT)
        give_back(node, PIM_BUFFER_WEIGHT, pim_buffer_tile_bytes(k, n, instruction->u.matrix.weight_bits));
    pim_engine_ended(slot, PIM_ENGINE_MATRIX);
}

static uint8_t start_matrix(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_node_configuration *configuration = &node->array->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t m = instruction->u.matrix.m, n = instruction->u.matrix.n, k = instruction->u.matrix.k;
    struct pim_error problem;
    if (pim_pe_check_matrix(instruction->u.matrix.m, instruction->u.matrix.n, instruction->u.matrix.k,
                            instruction->u.matrix.input_bits, instruction->u.matrix.weight_bits,
                            &problem) != PIM_OK) {
        pim_node_fail(node, slot, "%s", problem.text);
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    }
    uint64_t input = instruction->detail & PIM_MATRIX_RELEASE_INPUT ? input_bytes(instruction) : 0;
    uint64_t weight = instruction->detail & PIM_MATRIX_RELEASE_WEIGHT
                          ? pim_buffer_tile_bytes(k, n, instruction->u.matrix.weight_bits)
                          : 0;
    if (!can_give_back(node, slot, PIM_BUFFER_INPUT, input) ||
        !can_give_back(node, slot, PIM_BUFFER_WEIGHT, weight))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    if (instruction->detail & PIM_MATRIX_OPEN_OUTPUT &&
        !take_buffer(node, slot, PIM_BUFFER_OUTPUT,
                     pim_buffer_tile_bytes(m, n, configuration->pe.accumulator_bits)))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    struct pim_pe_cost cost;
    pim_pe_matrix(&configuration->pe, instruction->u.matrix.m, instruction->u.matrix.n,
                  instruction->u.matrix.k, instruction->u.matrix.input_bits,
                  instruction->u.matrix.weight_bits, (instruction->detail & PIM_MATRIX_ACCUMULATE) != 0,
                  &cost);
    pim_time at = pim_edge(pim_kernel_now(node->array->units.kernel), configuration->logic_period);
    if (!pim_node_in_time(node, slot, at, cost.cycles, configuration->logic_period))
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    node->promised[PIM_BUFFER_INPUT] += input;
    node->promised[PIM_BUFFER_WEIGHT] += weight;
    PIM_ADD_ACTION(node, macs, cost.macs);
    PIM_ADD_ACTION(node, sram_bits,
                   8 * (cost.input_bytes_read + cost.weight_bytes_read + cost.output_bytes_read +
                        cost.output_bytes_written));
    started(node, PIM_ENGINE_MATRIX, slot, at);
    schedule_end(node, slot, at + cost.cycles * configuration->logic_period, matrix_ended);
    return PIM_STATE_BUSY;
}

/* --- vector --- */

static void vector_ended(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_slot *slot = context;
    give_back(slot->node, PIM_BUFFER_OUTPUT, slot->instruction.u.vector.release);
    pim_engine_ended(slot, PIM_ENGINE_VECTOR);
}

/* Each pass reads its operands and the last writes results, of `bits` each (docs/models/acu.md); where the
 * operation gives back partial sums, its first reading is that of the sums in their full width. */
static uint64_t vector_sram_bits(const struct pim_instruction *instruction, const struct pim_acu_cost *cost)
{
    uint64_t bits = instruction->u.vector.bits, release = instruction->u.vector.release;
    uint64_t narrow = cost->elements_read + cost->elements_written;
    if (release > 0)
        narrow -= (uint64_t)instruction->u.vector.rows * instruction->u.vector.elements;
    return narrow * bits + 8 * release;
}

static uint8_t start_vector(struct pim_node *node, struct pim_slot *slot)
{
    const struct pim_node_configuration *configuration = &node->array->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    uint64_t release = instruction->u.vector.release;
    if (!can_give_back(node, slot, PIM_BUFFER_OUTPUT, release))
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    struct pim_error problem;
    if (pim_acu_check_vector(instruction->detail, instruction->u.vector.rows, instruction->u.vector.elements,
                             &problem) != PIM_OK) {
        pim_node_fail(node, slot, "%s", problem.text);
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    }
    struct pim_acu_cost cost;
    pim_acu_vector(&configuration->acu, instruction->detail, instruction->u.vector.rows,
                   instruction->u.vector.elements, &cost);
    pim_time at = pim_edge(pim_kernel_now(node->array->units.kernel), configuration->logic_period);
    if (!pim_node_in_time(node, slot, at, cost.cycles, configuration->logic_period))
        return PIM_STATE_WAIT + PIM_WAIT_ISSUE;
    node->promised[PIM_BUFFER_OUTPUT] += release;
    PIM_ADD_ACTION(node, acu_operations, cost.operations);
    PIM_ADD_ACTION(node, sram_bits, vector_sram_bits(instruction, &cost));
    started(node, PIM_ENGINE_VECTOR, slot, at);
    schedule_end(node, slot, at + cost.cycles * configuration->logic_period, vector_ended);
    return PIM_STATE_BUSY;
}

/* --- memory --- */

static void memory_ended(struct pim_kernel *kernel, void *context)
{
    (void)kernel;
    struct pim_slot *slot = context;
    const struct pim_instruction *instruction = &slot->instruction;
    if (instruction->opcode == PIM_OP_STORE && instruction->detail != PIM_BUFFER_NONE)
        give_back(slot->node, instruction->detail,
                  (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count);
    pim_engine_ended(slot, PIM_ENGINE_MEMORY);
}

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
    uint64_t bytes = (uint64_t)burst.bytes * burst.count;
    if (!inside_memory(node, burst.address, burst.bytes, burst.stride, burst.count)) {
        pim_node_fail(node, slot,
                      "%" PRIu32 " pieces of %" PRIu32 " bytes from address %" PRIu64
                      " overlap or reach beyond the memory of the node",
                      burst.count, burst.bytes, burst.address);
        return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
    }
    if (instruction->detail != PIM_BUFFER_NONE) {
        if (burst.write ? !can_give_back(node, slot, instruction->detail, bytes)
                        : !take_buffer(node, slot, instruction->detail, bytes))
            return PIM_STATE_WAIT + PIM_WAIT_BUFFER;
        if (burst.write)
            node->promised[instruction->detail] += bytes;
    }
    PIM_ADD_ACTION(node, sram_bits, 8 * bytes);
    if (burst.write)
        PIM_ADD_BYTES(node, bytes_stored, bytes);
    else
        PIM_ADD_BYTES(node, bytes_loaded, bytes);
    started(node, PIM_ENGINE_MEMORY, slot, pim_kernel_now(node->array->units.kernel));
    pim_port_submit(node, PIM_PORT_MEMORY, &burst, memory_ended, slot);
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
    switch (engine) {
    case PIM_ENGINE_MEMORY:
        return !node->port.request[PIM_PORT_MEMORY].active;
    case PIM_ENGINE_SEND:
        return node->interface.sending == NULL;
    case PIM_ENGINE_RECEIVE:
        return node->interface.posted_count < node->array->configuration.posted_receives;
    case PIM_ENGINE_MATRIX:
    case PIM_ENGINE_VECTOR:
    case PIM_ENGINE_CONTROL:
    case PIM_ENGINES:
        break;
    }
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
        pim_node_fail(node, slot, "this hardware has no engine for it");
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
    uint8_t state = blocked_by(node, queue);
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
