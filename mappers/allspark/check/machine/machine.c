/* Life, results, messages and control of the machine. */
#include "mappers/allspark/check/machine/machine_internal.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pim_status machine_broken(const struct machine *machine, uint32_t number, const char *format, ...)
{
    const struct unit *unit = &machine->units[number];
    const char *phase =
        unit->phase == UINT32_MAX ? "none" : pim_trace_phase(machine->trace, unit->phase)->name;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pim_fail(machine->error, PIM_BAD_INPUT,
                    "node %" PRIu32 ", instruction %" PRIu64 " (%s), phase %s: %s", number, unit->at,
                    unit->now ? pim_opcode_name(unit->now->opcode) : "end", phase, text);
}

enum pim_status machine_no_memory(const struct machine *machine)
{
    return pim_fail(machine->error, PIM_NO_MEMORY, "out of memory while a trace is executed with numbers");
}

/* --- life --- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static struct phase_kind kind_of(const char *name)
{
    unsigned stage;
    return (struct phase_kind){.stage = sscanf(name, "stage%u/", &stage) == 1 ? stage - 1 : UINT32_MAX,
                               .scores = ends_with(name, "/scores"),
                               .convolution =
                                   ends_with(name, "/position") || ends_with(name, "/local_position"),
                               .window_pool = ends_with(name, "/window_pool"),
                               .pools = strncmp(name, "pool", 4) == 0,
                               .collects = strcmp(name, "pool") == 0};
}

static enum pim_status next(struct machine *machine, struct unit *unit)
{
    return pim_trace_cursor_next(unit->cursor, &unit->now, machine->error);
}

static enum pim_status begin_unit(struct machine *machine, uint32_t number)
{
    enum { CHUNK = 4096 };
    struct unit *unit = &machine->units[number];
    pim_arena_initialize(&unit->arena, CHUNK);
    order_initialize(&unit->order);
    unit->phase = UINT32_MAX;
    unit->memory = calloc(machine->bytes + 1, sizeof *unit->memory);
    unit->known = calloc(machine->bytes + 1, sizeof *unit->known);
    if (!unit->memory || !unit->known)
        return machine_no_memory(machine);
    PIM_TRY(pim_trace_cursor_create(machine->trace, number, &unit->cursor, machine->error));
    return next(machine, unit);
}

enum pim_status machine_create(const struct pim_allspark_plan *plan, const struct pim_trace *trace,
                               struct machine **created, struct pim_error *error)
{
    uint32_t count = plan->hardware.width * plan->hardware.height, phases = pim_trace_phases(trace);
    struct machine *machine = calloc(1, sizeof *machine);
    *created = NULL;
    PIM_NEED_MEMORY(machine, error, "out of memory while a trace is executed with numbers");
    *machine = (struct machine){.plan = plan,
                                .trace = trace,
                                .kinds = calloc((size_t)phases + 1, sizeof *machine->kinds),
                                .base = plan->workspace_base,
                                .bytes = plan->workspace_bytes,
                                .units = calloc(count, sizeof *machine->units),
                                .error = error};
    enum pim_status status = machine->units && machine->kinds ? PIM_OK : machine_no_memory(machine);
    for (uint32_t i = 0; i < phases && status == PIM_OK; i++)
        machine->kinds[i] = kind_of(pim_trace_phase(trace, i)->name);
    for (; machine->count < count && status == PIM_OK; machine->count++)
        status = begin_unit(machine, machine->count);
    if (status != PIM_OK)
        machine_destroy(machine);
    else
        *created = machine;
    return status;
}

void machine_destroy(struct machine *machine)
{
    if (!machine)
        return;
    for (uint32_t i = 0; i < machine->count; i++) {
        struct unit *unit = &machine->units[i];
        machine_empty_queue(&unit->inputs);
        machine_empty_queue(&unit->weights);
        free(unit->inputs.items);
        free(unit->weights.items);
        free(unit->memory);
        free(unit->known);
        free(unit->regions);
        free(unit->results);
        free(unit->output.values);
        free(unit->posted);
        order_terminate(&unit->order);
        pim_arena_terminate(&unit->arena);
        pim_trace_cursor_destroy(unit->cursor);
    }
    free(machine->units);
    free(machine->kinds);
    free(machine->scratch);
    free(machine);
}

/* --- results --- */

static enum pim_status keep(struct machine *machine, struct unit *unit, struct result result)
{
    size_t index = (size_t)(unit->at - unit->phase_start);
    struct result *grown =
        pim_array_grow(unit->results, &unit->results_capacity, index + 1, sizeof *unit->results);
    if (!grown)
        return machine_no_memory(machine);
    unit->results = grown;
    grown[index] = result;
    return PIM_OK;
}

enum pim_status machine_operand(struct machine *machine, uint32_t number, unsigned slot,
                                struct result *operand)
{
    const struct unit *unit = &machine->units[number];
    uint64_t distance = unit->now->dependency[slot];
    *operand = (struct result){.values = NULL};
    if (distance == 0)
        return PIM_OK;
    if (distance > unit->at - unit->phase_start)
        return machine_broken(machine, number,
                              "depends on instruction %" PRIu64 ", which is of another phase",
                              unit->at - distance);
    *operand = unit->results[unit->at - distance - unit->phase_start];
    if (operand->output) {
        if (!unit->output.open || unit->output.last != unit->at - distance)
            return machine_broken(machine, number,
                                  "takes an output tile that is not complete, or was taken before");
        operand->values = unit->output.values;
        operand->count = unit->output.count;
    }
    return PIM_OK;
}

/* --- messages --- */

static enum pim_status post(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    const struct access write = {.begin = now->u.network.address, .bytes = now->u.network.bytes, .count = 1};
    struct posted *grown =
        pim_array_grow(unit->posted, &unit->posted_capacity, unit->posted_count + 1, sizeof *unit->posted);
    if (!grown)
        return machine_no_memory(machine);
    unit->posted = grown;
    PIM_TRY(machine_accept(machine, number, write.begin, write.bytes));
    PIM_TRY(order_access(machine, number, ACCESS_RECEIVE, write));
    grown[unit->posted_count++] = (struct posted){.peer = now->u.network.peer,
                                                  .tag = now->u.network.tag,
                                                  .moment = (uint32_t)unit->order.count - 1,
                                                  .address = write.begin,
                                                  .bytes = write.bytes};
    unit->order.moments[unit->order.count - 1].open = true;
    unit->posted_open++;
    return PIM_OK;
}

/* The receive that a SEND meets; NULL: it is not open yet. */
static struct posted *open_receive(struct machine *machine, uint32_t number)
{
    const struct pim_instruction *now = machine->units[number].now;
    struct unit *peer = &machine->units[now->u.network.peer];
    for (size_t i = peer->posted_first; i < peer->posted_count; i++)
        if (!peer->posted[i].done && peer->posted[i].peer == number &&
            peer->posted[i].tag == now->u.network.tag)
            return &peer->posted[i];
    return NULL;
}

static enum pim_status send(struct machine *machine, uint32_t number)
{
    uint32_t to = machine->units[number].now->u.network.peer;
    struct unit *peer = &machine->units[to];
    struct posted *receive = open_receive(machine, number);
    if (receive->bytes != machine->units[number].now->u.network.bytes)
        return machine_broken(machine, number, "sends %" PRIu64 " bytes: node %" PRIu32 " receives %" PRIu64,
                              machine->units[number].now->u.network.bytes, to, receive->bytes);
    PIM_TRY(machine_transfer(machine, number, to, receive));
    receive->done = true;
    peer->order.moments[receive->moment].open = false;
    peer->posted_open--;
    while (peer->posted_first < peer->posted_count && peer->posted[peer->posted_first].done)
        peer->posted_first++;
    return PIM_OK;
}

/* --- control --- */

static void join(struct unit *unit)
{
    unit->posted_first = unit->posted_count = 0;
    order_join(&unit->order, unit->at);
}

static enum pim_status control(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    join(unit);
    if (unit->now->opcode == PIM_OP_PHASE_BEGIN) {
        unit->phase = unit->now->u.control.phase;
        unit->phase_start = unit->at;
    } else if (unit->now->opcode == PIM_OP_PHASE_END) {
        if (unit->inputs.head != unit->inputs.count || unit->weights_left > 0 || unit->output.open ||
            unit->output_loaded > 0)
            return machine_broken(machine, number, "something is left in a buffer");
        machine_empty_queue(&unit->inputs);
        pim_arena_reset(&unit->arena);
        unit->phase = UINT32_MAX;
    }
    return PIM_OK;
}

static bool is_control(const struct pim_instruction *now)
{
    return now->opcode == PIM_OP_JOIN || now->opcode == PIM_OP_PHASE_BEGIN || now->opcode == PIM_OP_PHASE_END;
}

/* Whether the unit cannot execute its next instruction yet, or not in this stage. */
static bool waits(struct machine *machine, uint32_t number, uint32_t stage)
{
    const struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    const struct order *order = &unit->order;
    if (now->opcode == PIM_OP_PHASE_BEGIN && stage != UINT32_MAX &&
        machine->kinds[now->u.control.phase].stage > stage)
        return true;
    if (unit->posted_open > 0 && is_control(now))
        return true;
    for (unsigned i = 0; unit->posted_open > 0 && i < PIM_DEPENDENCIES; i++)
        if (now->dependency[i] > 0 && now->dependency[i] <= order->count &&
            order->moments[order->count - now->dependency[i]].open)
            return true;
    return now->opcode == PIM_OP_SEND && !open_receive(machine, number);
}

static enum pim_status execute(struct machine *machine, uint32_t number, struct result *result)
{
    switch ((int)machine->units[number].now->opcode) {
    case PIM_OP_LOAD:
        return machine_load(machine, number, result);
    case PIM_OP_STORE:
        return machine_store(machine, number);
    case PIM_OP_MATRIX:
        return machine_multiply(machine, number, result);
    case PIM_OP_VECTOR:
        return machine_vector(machine, number, result);
    case PIM_OP_RECEIVE:
        return post(machine, number);
    case PIM_OP_SEND:
        return send(machine, number);
    default:
        return machine_broken(machine, number, "is no instruction of this mapper");
    }
}

/* Executes the next instruction of a unit. */
static enum pim_status step(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    struct result result = {.values = NULL};
    if (is_control(unit->now)) {
        PIM_TRY(control(machine, number));
    } else {
        if (unit->phase == UINT32_MAX)
            return machine_broken(machine, number, "stands outside of a phase");
        PIM_TRY(order_begin(machine, number));
        PIM_TRY(execute(machine, number, &result));
    }
    if (unit->phase != UINT32_MAX)
        PIM_TRY(keep(machine, unit, result));
    unit->at++;
    return next(machine, unit);
}

static bool is_stuck(const struct unit *unit, uint32_t stage)
{
    return unit->phase != UINT32_MAX || (stage == UINT32_MAX && unit->now);
}

/* The receive that keeps a unit from its next instruction; NULL: none does. */
static const struct posted *awaited(const struct unit *unit)
{
    for (size_t i = unit->posted_first; i < unit->posted_count; i++) {
        const struct posted *receive = &unit->posted[i];
        bool named = is_control(unit->now);
        for (unsigned k = 0; k < PIM_DEPENDENCIES; k++)
            named = named || (unit->now->dependency[k] > 0 &&
                              receive->moment + unit->now->dependency[k] == unit->order.count);
        if (named && !receive->done)
            return receive;
    }
    return NULL;
}

/* The node for whose message, or else whose receive, a unit waits that is stuck. */
static uint32_t waits_for(const struct unit *unit)
{
    const struct posted *receive = awaited(unit);
    return receive ? receive->peer : unit->now->u.network.peer;
}

/* Goes from node to node that waits, to one that waits for a node which does not; else round a circle. */
static enum pim_status report_deadlock(const struct machine *machine, uint32_t number, uint32_t stage)
{
    uint32_t peer = waits_for(&machine->units[number]);
    for (uint32_t i = 0; i < machine->count && is_stuck(&machine->units[peer], stage); i++) {
        number = peer;
        peer = waits_for(&machine->units[number]);
    }
    const struct posted *receive = awaited(&machine->units[number]);
    (void)machine_broken(machine, number,
                         "never goes on: the message of tag %" PRIu32 " %s node %" PRIu32 "%s",
                         receive ? receive->tag : machine->units[number].now->u.network.tag,
                         receive ? "does not come from" : "is not received by", peer,
                         is_stuck(&machine->units[peer], stage) ? ", which waits, too" : "");
    return machine->error->status = PIM_DEADLOCK;
}

enum pim_status machine_run(struct machine *machine, uint32_t stage, struct pim_error *error)
{
    machine->error = error;
    PIM_TRY(machine_sort_regions(machine));
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < machine->count; i++)
            for (; machine->units[i].now && !waits(machine, i, stage); moved = true)
                PIM_TRY(step(machine, i));
    }
    for (uint32_t i = 0; i < machine->count; i++)
        if (is_stuck(&machine->units[i], stage))
            return report_deadlock(machine, i, stage);
    return PIM_OK;
}
