/* The order in which the functional executor works (execute.h, rules 1 to 4). */
#include "mappers/verify/execute.h"
#include "mappers/verify/execute_internal.h"
#include "sim/arena.h"
#include "traces/text/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STANDARD_WINDOW = 12, DEADLOCK_SHOWN = 8 };
#define STANDARD_GLOBAL_BYTES (UINT64_C(1) << 40)

/* "unit 3 instruction 17 (send peer=2 ...)" */
static const char *place(uint32_t unit, uint64_t fetch, const struct pim_instruction *instruction, char *text,
                         size_t size)
{
    char words[160] = "";
    FILE *file = fmemopen(words, sizeof words, "w");
    if (file) {
        pim_instruction_print(instruction, file);
        (void)fclose(file);
    }
    words[sizeof words - 1] = '\0';
    (void)snprintf(text, size, "unit %" PRIu32 " instruction %" PRIu64 " (%s)", unit, fetch, words);
    return text;
}

static enum pim_status fail_at(const struct pim_core_execution *execution,
                               const struct pim_execute_core *core, uint64_t fetch,
                               const struct pim_instruction *instruction, struct pim_error *error)
{
    char text[256];
    return pim_fail_in(error, "%s",
                       place((uint32_t)(core - execution->core), fetch, instruction, text, sizeof text));
}

/* --- set-up --- */

/* The size of each layer's weight matrix, from the groups that hold parts of it. */
static enum pim_status size_matrices(struct pim_core_execution *execution, struct pim_error *error)
{
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t unit = 0; unit < execution->cores; unit++) {
            const struct pim_execute_core *core = &execution->core[unit];
            for (uint32_t i = 0; i < core->groups; i++) {
                const struct pim_trace_array_group *group = &core->group[i];
                uint64_t rows = group->row + (uint64_t)(group->folds - 1) * group->fold_stride + group->rows;
                uint64_t columns = (uint64_t)group->column + group->columns;
                if (group->layer >= PIM_TRACE_ARRAY_GROUPS || rows > UINT32_MAX || columns > UINT32_MAX)
                    return pim_fail(error, PIM_BAD_INPUT,
                                    "unit %" PRIu32 " array group %" PRIu32 ": its numbers are too large",
                                    unit, i);
                if (pass == 0) {
                    if (execution->matrices <= group->layer)
                        execution->matrices = group->layer + 1;
                    continue;
                }
                struct pim_execute_matrix *matrix = &execution->matrix[group->layer];
                if (matrix->rows < rows)
                    matrix->rows = (uint32_t)rows;
                if (matrix->columns < columns)
                    matrix->columns = (uint32_t)columns;
            }
        }
        if (pass == 0) {
            execution->matrix = calloc(execution->matrices + (size_t)1, sizeof *execution->matrix);
            if (!execution->matrix)
                return pim_fail(error, PIM_NO_MEMORY, "out of memory for the layers");
        }
    }
    return PIM_OK;
}

static enum pim_status create_cores(struct pim_core_execution *execution, struct pim_error *error)
{
    for (uint32_t unit = 0; unit < execution->cores; unit++) {
        struct pim_execute_core *core = &execution->core[unit];
        core->group = pim_trace_array_groups(execution->trace, unit, &core->groups);
        core->local.limit = execution->options.local_memory_bytes;
        core->local.name = "local";
        if (pim_trace_cursor_create(execution->trace, unit, &core->cursor, error) != PIM_OK)
            return error->status;
        core->listed = true;
        execution->list[unit] = unit;
    }
    execution->listed = execution->cores;
    return size_matrices(execution, error);
}

enum pim_status pim_core_execution_create(const struct pim_trace *trace,
                                          const struct pim_core_execution_options *options,
                                          struct pim_core_execution **execution, struct pim_error *error)
{
    *execution = NULL;
    if (options->window > PIM_CORE_EXECUTION_WINDOW)
        return pim_fail(error, PIM_BAD_INPUT, "a window of %" PRIu32 " instructions: at most %d are allowed",
                        options->window, PIM_CORE_EXECUTION_WINDOW);
    struct pim_core_execution *made = calloc(1, sizeof *made);
    if (!made)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the executor");
    made->trace = trace;
    made->options = *options;
    if (made->options.window == 0)
        made->options.window = STANDARD_WINDOW;
    if (made->options.local_memory_bytes == 0)
        made->options.local_memory_bytes = UINT32_MAX;
    if (made->options.global_bytes == 0)
        made->options.global_bytes = STANDARD_GLOBAL_BYTES;
    made->global.limit = made->options.global_bytes;
    made->global.name = "global";
    pim_random_initialize(&made->random, options->seed);
    uint32_t units = pim_trace_description(trace)->units;
    made->core = calloc(units, sizeof *made->core);
    made->list = calloc(units, sizeof *made->list);
    made->cores = made->core ? units : 0;
    enum pim_status status = made->core && made->list
                                 ? create_cores(made, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for the cores");
    if (status != PIM_OK) {
        pim_core_execution_destroy(made);
        return status;
    }
    *execution = made;
    return PIM_OK;
}

static void free_bytes(struct pim_execute_bytes *bytes)
{
    while (bytes) {
        struct pim_execute_bytes *next = bytes->next;
        free(bytes);
        bytes = next;
    }
}

void pim_core_execution_destroy(struct pim_core_execution *execution)
{
    if (!execution)
        return;
    for (uint32_t i = 0; i < execution->cores; i++) {
        pim_trace_cursor_destroy(execution->core[i].cursor);
        pim_execute_memory_terminate(&execution->core[i].local);
        free_bytes(execution->core[i].pending);
        for (uint32_t j = 0; execution->core[i].cells && j < execution->core[i].groups; j++)
            free(execution->core[i].cells[j].weight);
        free(execution->core[i].cells);
    }
    for (uint32_t i = 0; execution->matrix && i < execution->matrices; i++)
        free(execution->matrix[i].weight);
    for (size_t i = 0; i < execution->channels; i++)
        free_bytes(execution->channel[i].first);
    pim_execute_memory_terminate(&execution->global);
    free(execution->core);
    free(execution->list);
    free(execution->matrix);
    free(execution->channel);
    free(execution->scratch);
    free(execution);
}

/* --- memory from outside --- */

enum pim_status pim_core_execution_write(struct pim_core_execution *execution, uint64_t address,
                                         const int16_t *values, size_t count, struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t bytes[2] = {(uint8_t)((unsigned)values[i] & UINT8_MAX),
                                  (uint8_t)((unsigned)values[i] >> 8 & UINT8_MAX)};
        if (pim_execute_store(&execution->global, address + 2 * i, bytes, sizeof bytes, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

enum pim_status pim_core_execution_read(struct pim_core_execution *execution, uint64_t address,
                                        int16_t *values, size_t count, struct pim_error *error)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[2];
        if (pim_execute_load(&execution->global, address + 2 * i, bytes, sizeof bytes, error) != PIM_OK)
            return error->status;
        int32_t value = bytes[0] | bytes[1] << 8;
        values[i] = (int16_t)(value <= INT16_MAX ? value : value - (UINT16_MAX + 1));
    }
    return PIM_OK;
}

const struct pim_core_execution_counts *pim_core_execution_counts(const struct pim_core_execution *execution)
{
    return &execution->counts;
}

/* --- order --- */

static void enlist(struct pim_core_execution *execution, struct pim_execute_core *core)
{
    if (core->listed)
        return;
    core->listed = true;
    execution->list[execution->listed++] = (uint32_t)(core - execution->core);
}

/* A control instruction: it has waited until everything before it was complete, and so are the stores now. */
static enum pim_status pass_barrier(struct pim_core_execution *execution, struct pim_execute_core *core,
                                    struct pim_error *error)
{
    core->at_barrier = false;
    return pim_execute_flush(execution, core, error);
}

/* Takes instructions out of the program until the window is full, or to a barrier, or to the end. */
static enum pim_status fetch(struct pim_core_execution *execution, struct pim_execute_core *core,
                             struct pim_error *error)
{
    while (!core->ended && core->slots < execution->options.window) {
        if (core->at_barrier) {
            if (core->slots > 0)
                return PIM_OK;
            if (pass_barrier(execution, core, error) != PIM_OK)
                return fail_at(execution, core, core->fetched - 1, &core->barrier, error);
        }
        const struct pim_instruction *next;
        if (pim_trace_cursor_next(core->cursor, &next, error) != PIM_OK)
            return error->status;
        if (!next) {
            core->ended = true;
            break;
        }
        uint64_t number = core->fetched++;
        execution->counts.instructions++;
        if (pim_opcode_engine(next->opcode) == PIM_ENGINE_CONTROL) {
            core->at_barrier = true;
            core->barrier = *next;
            continue;
        }
        struct pim_execute_slot *slot = &core->slot[core->slots];
        slot->instruction = *next;
        slot->fetch = number;
        if (pim_execute_ranges(slot, error) != PIM_OK)
            return fail_at(execution, core, number, next, error);
        core->slots++;
    }
    if (core->ended && core->slots == 0)
        return pim_execute_flush(execution, core, error);
    return PIM_OK;
}

static bool overlap(struct pim_execute_range a, struct pim_execute_range b)
{
    return a.begin < b.end && b.begin < a.end;
}

/* Whether the earlier of two instructions must be complete before the later one executes (rule 1). */
static bool conflict(const struct pim_execute_slot *earlier, const struct pim_execute_slot *later)
{
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        if (later->instruction.dependency[i] != 0 &&
            later->fetch - later->instruction.dependency[i] == earlier->fetch)
            return true;
    bool message = later->engine == PIM_ENGINE_SEND || later->engine == PIM_ENGINE_RECEIVE;
    return (message && earlier->engine == later->engine) ||
           pim_execute_same_arrays(&earlier->instruction, &later->instruction) ||
           overlap(earlier->write, later->read[0]) || overlap(earlier->write, later->read[1]) ||
           overlap(earlier->write, later->write) || overlap(earlier->read[0], later->write) ||
           overlap(earlier->read[1], later->write);
}

static bool may_execute(const struct pim_execute_core *core, uint32_t slot)
{
    for (uint32_t i = 0; i < slot; i++)
        if (conflict(&core->slot[i], &core->slot[slot]))
            return false;
    return true;
}

static void remove_slot(struct pim_execute_core *core, uint32_t slot)
{
    memmove(&core->slot[slot], &core->slot[slot + 1], (core->slots - slot - 1) * sizeof *core->slot);
    core->slots--;
}

/* --- messages --- */

/* The slot of `core` that is the other end of a message of `unit`, when it may execute; else `slots`. */
static uint32_t other_end(const struct pim_execute_core *core, uint8_t opcode, uint32_t unit, uint32_t tag)
{
    for (uint32_t i = 0; i < core->slots; i++) {
        const struct pim_instruction *instruction = &core->slot[i].instruction;
        if (instruction->opcode != opcode)
            continue;
        bool meets = instruction->u.network.peer == unit && instruction->u.network.tag == tag;
        return meets && may_execute(core, i) ? i : core->slots;
    }
    return core->slots;
}

static struct pim_execute_channel *channel_of(struct pim_core_execution *execution, uint32_t source,
                                              uint32_t destination, uint32_t tag, bool make)
{
    for (size_t i = 0; i < execution->channels; i++) {
        struct pim_execute_channel *channel = &execution->channel[i];
        if (channel->source == source && channel->destination == destination && channel->tag == tag)
            return channel;
    }
    if (!make)
        return NULL;
    struct pim_execute_channel *grown = pim_array_grow(execution->channel, &execution->channel_capacity,
                                                       execution->channels + 1, sizeof *grown);
    if (!grown)
        return NULL;
    execution->channel = grown;
    grown[execution->channels] =
        (struct pim_execute_channel){.source = source, .destination = destination, .tag = tag};
    return &grown[execution->channels++];
}

/* An asynchronous send: the bytes wait in a queue. */
static enum pim_status post(struct pim_core_execution *execution, struct pim_execute_core *core,
                            const struct pim_instruction *send, struct pim_error *error)
{
    uint32_t peer = send->u.network.peer;
    struct pim_execute_channel *channel =
        channel_of(execution, (uint32_t)(core - execution->core), peer, send->u.network.tag, true);
    struct pim_execute_bytes *bytes = malloc(sizeof *bytes + send->u.network.bytes);
    if (!channel || !bytes) {
        free(bytes);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a message");
    }
    bytes->next = NULL;
    bytes->address = 0;
    bytes->count = send->u.network.bytes;
    struct pim_execute_bytes **end = &channel->first;
    while (*end)
        end = &(*end)->next;
    *end = bytes;
    enlist(execution, &execution->core[peer]);
    return pim_execute_load(&core->local, send->u.network.address, bytes->byte, bytes->count, error);
}

/* An asynchronous receive; *done is false when nothing has come yet. */
static enum pim_status take(struct pim_core_execution *execution, struct pim_execute_core *core,
                            const struct pim_instruction *receive, bool *done, struct pim_error *error)
{
    struct pim_execute_channel *channel =
        channel_of(execution, receive->u.network.peer, (uint32_t)(core - execution->core),
                   receive->u.network.tag, false);
    *done = channel && channel->first;
    if (!*done)
        return PIM_OK;
    struct pim_execute_bytes *bytes = channel->first;
    if (bytes->count != receive->u.network.bytes)
        return pim_fail(error, PIM_BAD_INPUT, "the message that comes has %" PRIu64 " bytes", bytes->count);
    channel->first = bytes->next;
    enum pim_status status =
        pim_execute_store(&core->local, receive->u.network.address, bytes->byte, bytes->count, error);
    free(bytes);
    execution->counts.messages++;
    return status;
}

/* A message of which `slot` of `core` is one end; *done is false when the other end is not there yet. */
static enum pim_status meet(struct pim_core_execution *execution, struct pim_execute_core *core,
                            uint32_t slot, bool *done, struct pim_error *error)
{
    struct pim_instruction own = core->slot[slot].instruction;
    bool send = own.opcode == PIM_OP_SEND;
    if (execution->options.asynchronous) {
        *done = true;
        return send ? post(execution, core, &own, error) : take(execution, core, &own, done, error);
    }
    struct pim_execute_core *peer = &execution->core[own.u.network.peer];
    uint32_t found = other_end(peer, send ? PIM_OP_RECEIVE : PIM_OP_SEND, (uint32_t)(core - execution->core),
                               own.u.network.tag);
    *done = found < peer->slots;
    if (!*done)
        return PIM_OK;
    struct pim_instruction other = peer->slot[found].instruction;
    if (own.u.network.bytes != other.u.network.bytes)
        return pim_fail(error, PIM_BAD_INPUT, "the other end of the message has %" PRIu64 " bytes",
                        other.u.network.bytes);
    execution->counts.messages++;
    remove_slot(peer, found);
    enlist(execution, peer);
    return send ? pim_execute_message(execution, core, &own, peer, &other, error)
                : pim_execute_message(execution, peer, &other, core, &own, error);
}

/* --- the run --- */

/* Executes `slot` of `core`, or finds that a message has to wait. */
static enum pim_status execute(struct pim_core_execution *execution, struct pim_execute_core *core,
                               uint32_t slot, bool *done, struct pim_error *error)
{
    struct pim_execute_slot chosen = core->slot[slot];
    bool message = chosen.engine == PIM_ENGINE_SEND || chosen.engine == PIM_ENGINE_RECEIVE;
    *done = true;
    enum pim_status status = message ? meet(execution, core, slot, done, error)
                                     : pim_execute_instruction(execution, core, &chosen.instruction, error);
    if (status != PIM_OK)
        return fail_at(execution, core, chosen.fetch, &chosen.instruction, error);
    if (*done)
        remove_slot(core, slot);
    return PIM_OK;
}

/* One instruction of one core, drawn from those that may execute; *moved is false when there was none. */
static enum pim_status step(struct pim_core_execution *execution, struct pim_execute_core *core, bool *moved,
                            struct pim_error *error)
{
    *moved = false;
    if (fetch(execution, core, error) != PIM_OK)
        return error->status;
    uint32_t begin = core->slots > 1 ? (uint32_t)pim_random_below(&execution->random, core->slots) : 0;
    for (uint32_t i = 0, slots = core->slots; i < slots && !*moved; i++) {
        uint32_t slot = (begin + i) % slots;
        if (may_execute(core, slot) && execute(execution, core, slot, moved, error) != PIM_OK)
            return error->status;
    }
    if (core->local.end > execution->counts.local_bytes)
        execution->counts.local_bytes = core->local.end;
    return PIM_OK;
}

/* --- units that cannot go on --- */

static bool is_stuck(const struct pim_execute_core *core)
{
    return !core->ended || core->slots > 0;
}

/* The unit that the oldest instruction of a unit waits for: the other end of its message. UINT32_MAX: none
 * that waits itself. */
static uint32_t waits_for(const struct pim_core_execution *execution, uint32_t unit)
{
    const struct pim_execute_core *core = &execution->core[unit];
    if (core->slots == 0 ||
        (core->slot[0].engine != PIM_ENGINE_SEND && core->slot[0].engine != PIM_ENGINE_RECEIVE))
        return UINT32_MAX;
    const uint32_t peer = core->slot[0].instruction.u.network.peer;
    return is_stuck(&execution->core[peer]) ? peer : UINT32_MAX;
}

/* From the circle that the first unit leads to on (or from the end of its chain): who waits for whom. */
static void describe_circle(const struct pim_core_execution *execution, uint32_t unit, char *text,
                            size_t size)
{
    uint32_t shown = 0, left_out = 0;
    size_t used = 0;
    for (uint32_t i = 0, next; i < execution->cores && (next = waits_for(execution, unit)) != UINT32_MAX; i++)
        unit = next;
    for (uint32_t i = unit; i != UINT32_MAX && (i != unit || shown == 0); i = waits_for(execution, i)) {
        const struct pim_execute_core *core = &execution->core[i];
        char here[256];
        if (core->slots == 0)
            break;
        if (shown == DEADLOCK_SHOWN) {
            left_out++;
            continue;
        }
        int length = snprintf(text + used, size - used, "%s%s", shown++ ? "; " : "",
                              place(i, core->slot[0].fetch, &core->slot[0].instruction, here, sizeof here));
        used += length > 0 ? (size_t)length : 0;
        used = used < size ? used : size - 1;
    }
    if (left_out > 0)
        (void)snprintf(text + used, size - used, "; and %" PRIu32 " more", left_out);
}

static enum pim_status stuck(const struct pim_core_execution *execution, struct pim_error *error)
{
    uint32_t units = 0, first = 0;
    char text[DEADLOCK_SHOWN * 200] = "";
    for (uint32_t i = execution->cores; i-- > 0;)
        if (is_stuck(&execution->core[i])) {
            units++;
            first = i;
        }
    if (units == 0)
        return PIM_OK;
    describe_circle(execution, first, text, sizeof text);
    return pim_fail(error, PIM_DEADLOCK,
                    "%" PRIu32 " units cannot go on; the oldest that wait, each for the next: %s", units,
                    text);
}

enum pim_status pim_core_execution_run(struct pim_core_execution *execution, struct pim_error *error)
{
    while (execution->listed > 0) {
        uint32_t i = (uint32_t)pim_random_below(&execution->random, execution->listed);
        struct pim_execute_core *core = &execution->core[execution->list[i]];
        bool moved;
        if (step(execution, core, &moved, error) != PIM_OK)
            return error->status;
        if (moved)
            continue;
        core->listed = false;
        execution->list[i] = execution->list[--execution->listed];
    }
    return stuck(execution, error);
}
