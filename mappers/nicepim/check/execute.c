#include "mappers/nicepim/check/execute.h"

#include "mappers/verify/evaluate.h"
#include "sim/random.h"
#include "sim/try.h"

#include <stdlib.h>
#include <string.h>

static enum pim_status wrong_address(const struct execution *x, uint32_t node, uint64_t address)
{
    return pim_fail(x->error, PIM_BAD_INPUT,
                    "node %" PRIu32 ", instruction %" PRIu64 ": address 0x%" PRIx64
                    " is not in its memory, or between two elements",
                    node, x->node[node].sequence, address);
}

enum pim_status execution_make(struct execution *x, uint32_t node, const struct word *word)
{
    struct node_state *state = &x->node[node];
    uint64_t *made =
        pim_array_grow(state->made, &state->made_capacity, state->stream.count + 1, sizeof *made);
    if (made)
        state->made = made;
    if (!made || !words_add(&state->stream, word))
        return execution_no_memory(x);
    state->made[state->stream.count - 1] = state->sequence;
    return PIM_OK;
}

/* What instructions up to `last` have made is taken by the instruction at work; UINT64_MAX: nothing, but for
 * a store right behind another one, which writes more of the same. */
static enum pim_status take(struct execution *x, uint32_t node, uint64_t last)
{
    struct node_state *state = &x->node[node];
    if (last == UINT64_MAX && state->stores)
        return PIM_OK;
    state->taken.count = 0;
    while (last != UINT64_MAX && state->before < state->stream.count && state->made[state->before] <= last) {
        if (!words_add(&state->taken, &state->stream.items[state->before++]))
            return execution_no_memory(x);
    }
    if (state->before == state->stream.count)
        state->before = state->stream.count = 0;
    return word_table_make(&state->table, state->taken.items, state->taken.count) ? PIM_OK
                                                                                  : execution_no_memory(x);
}

/* --- memory --- */

/* What a STORE writes is there when something waits for it, or when the port goes on. */
static enum pim_status write_later(struct execution *x, uint32_t node, uint64_t address,
                                   const struct word *word)
{
    struct node_state *state = &x->node[node];
    uint64_t *at =
        pim_array_grow(state->stored_at, &state->stored_capacity, state->stored.count + 1, sizeof *at);
    if (at)
        state->stored_at = at;
    if (!at || !words_add(&state->stored, word))
        return execution_no_memory(x);
    state->stored_at[state->stored.count - 1] = address;
    state->stored_by = state->sequence;
    return PIM_OK;
}

static enum pim_status finish_store(struct execution *x, uint32_t node)
{
    struct node_state *state = &x->node[node];
    for (size_t i = 0; i < state->stored.count; i++) {
        if (!word_memory_write(&state->memory, state->stored_at[i], &state->stored.items[i]))
            return wrong_address(x, node, state->stored_at[i]);
    }
    state->stored.count = 0;
    return PIM_OK;
}

static enum pim_status load(struct execution *x, uint32_t node)
{
    struct node_state *state = &x->node[node];
    const struct pim_instruction *i = &state->instruction;
    for (uint64_t piece = 0; piece < i->u.memory.count; piece++) {
        uint64_t from = i->u.memory.address + piece * i->u.memory.stride;
        for (uint64_t at = from; at < from + i->u.memory.bytes; at += WORD_BYTES) {
            struct word word;
            enum pim_status status = PIM_OK;
            if (!word_memory_read(&state->memory, at, &word))
                return wrong_address(x, node, at);
            if (i->detail == PIM_BUFFER_NONE)
                status = execution_make(x, node, &word);
            else if (!words_add(i->detail == PIM_BUFFER_INPUT ? &state->input : &state->weight, &word))
                status = execution_no_memory(x);
            if (status != PIM_OK)
                return status;
        }
    }
    if (i->detail != PIM_BUFFER_NONE)
        state->last_load = state->sequence + 1;
    state->inputs_known &= i->detail != PIM_BUFFER_INPUT;
    state->weights_known &= i->detail != PIM_BUFFER_WEIGHT;
    return PIM_OK;
}

/* The word that belongs to an address of a place. */
static enum pim_status store_element(struct execution *x, uint32_t node, const struct nice_note *note,
                                     uint64_t address, struct word *word)
{
    uint32_t at[4];
    bool high;
    *word = (struct word){0};
    if (address < note->place.address || address >= note->place.address + place_bytes(&note->place))
        return pim_fail(x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ", instruction %" PRIu64 " writes outside of the box of layer %s",
                        node, x->node[node].sequence, execution_layer(x, note->layer));
    if (!tensors_position(&note->place, address, at, &high))
        return PIM_OK; /* padding of channels */
    const struct identity identity = tensors_identify(x->tensors, note->layer, note->image, at);
    const struct word *found =
        word_table_find(&x->node[node].table, note->place.width == FLOW_SUM_BYTES ? WORD_SUM : WORD_DATA,
                        execution_tensor(x, &identity), identity.element);
    if (!found)
        return pim_fail(x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ", instruction %" PRIu64 " writes element %" PRIu32
                        " of layer %s, which it did not load or make",
                        node, x->node[node].sequence, identity.element, execution_layer(x, identity.layer));
    *word = *found;
    word->kind = high ? WORD_HIGH : word->kind;
    return PIM_OK;
}

/* Puts a part of a place into one run, in the order of the place. */
static enum pim_status pack(struct execution *x, uint32_t node, const struct nice_note *note)
{
    struct node_state *state = &x->node[node];
    const struct pim_instruction *i = &state->instruction;
    uint64_t end = note->place.address + place_bytes(&note->place), to = i->u.memory.address;
    for (uint64_t address = note->place.address; address < end; address += WORD_BYTES) {
        uint32_t at[4];
        bool high, inside = tensors_position(&note->place, address, at, &high);
        for (size_t d = 0; d < 4; d++)
            inside &= at[d] - note->tile.output[d].from < note->tile.output[d].count;
        struct word word;
        if (!inside)
            continue;
        if (store_element(x, node, note, address, &word) != PIM_OK)
            return x->error->status;
        if (write_later(x, node, to, &word) != PIM_OK)
            return x->error->status;
        to += WORD_BYTES;
    }
    if (to != i->u.memory.address + i->u.memory.bytes)
        return pim_fail(x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ", instruction %" PRIu64 " packs another size", node,
                        state->sequence);
    return PIM_OK;
}

static enum pim_status store(struct execution *x, uint32_t node, const struct nice_note *note, uint64_t after)
{
    struct node_state *state = &x->node[node];
    const struct pim_instruction *i = &state->instruction;
    if (take(x, node, after) != PIM_OK)
        return x->error->status;
    if (note && note->kind == NICE_NOTE_PACK)
        return pack(x, node, note);
    uint64_t words = (uint64_t)i->u.memory.count * (i->u.memory.bytes / WORD_BYTES), n = 0;
    if (!note && words != state->taken.count)
        return pim_fail(x->error, PIM_BAD_INPUT,
                        "node %" PRIu32 ", instruction %" PRIu64 " writes %" PRIu64 " halfwords, and has %zu",
                        node, state->sequence, words, state->taken.count);
    for (uint64_t piece = 0; piece < i->u.memory.count; piece++) {
        uint64_t from = i->u.memory.address + piece * i->u.memory.stride;
        for (uint64_t at = from; at < from + i->u.memory.bytes; at += WORD_BYTES, n++) {
            struct word word;
            if (note && store_element(x, node, note, at, &word) != PIM_OK)
                return x->error->status;
            if (write_later(x, node, at, note ? &word : &state->taken.items[n]) != PIM_OK)
                return x->error->status;
        }
    }
    state->stores = true;
    return PIM_OK;
}

/* --- what comes from outside --- */

static enum pim_status place_input(struct execution *x, uint32_t node, const struct nice_note *note)
{
    uint64_t end = note->place.address + place_bytes(&note->place);
    for (uint64_t address = note->place.address; address < end; address += WORD_BYTES) {
        uint32_t at[4];
        bool high;
        struct word word = {0};
        if (tensors_position(&note->place, address, at, &high)) {
            const struct identity identity = tensors_identify(x->tensors, note->layer, note->image, at);
            if (!tensors_is_input(x->tensors, identity.layer))
                return pim_fail(x->error, PIM_BAD_INPUT, "layer %s does not come from outside",
                                execution_layer(x, identity.layer));
            word = (struct word){execution_tensor(x, &identity), identity.element,
                                 tensors_expected(x->tensors, &identity), WORD_DATA};
        }
        if (!word_memory_write(&x->node[node].memory, address, &word))
            return wrong_address(x, node, address);
    }
    return PIM_OK;
}

static enum pim_status place_weights(struct execution *x, uint32_t node, const struct nice_note *note)
{
    uint32_t id = note->layer * x->nodes + note->copy;
    x->copies[id].k = note->tile.k;
    x->copies[id].c = note->tile.c;
    for (uint64_t at = 0; at < note->bytes; at += WORD_BYTES) {
        const struct word word = {id, (uint32_t)((note->from + at) / WORD_BYTES), 0, WORD_WEIGHT};
        if (!word_memory_write(&x->node[node].memory, note->address + at, &word))
            return wrong_address(x, node, note->address + at);
    }
    return PIM_OK;
}

/* Notes up to the instruction at work; *own: its own, or NULL. */
static enum pim_status read_notes(struct execution *x, uint32_t node, const struct nice_note **own)
{
    struct node_state *state = &x->node[node];
    const struct nice_notes *notes = &x->record->node[node];
    enum pim_status status = PIM_OK;
    *own = NULL;
    for (; state->note < notes->count && notes->items[state->note].sequence <= state->sequence &&
           status == PIM_OK;
         state->note++) {
        const struct nice_note *note = &notes->items[state->note].note;
        if (note->kind == NICE_NOTE_PLACED)
            status = place_input(x, node, note);
        else if (note->kind == NICE_NOTE_WEIGHTS)
            status = place_weights(x, node, note);
        else if (note->kind != NICE_NOTE_RESULT)
            *own = note;
    }
    return status;
}

/* --- messages --- */

static struct message *add_message(struct messages *messages)
{
    struct message *items =
        pim_array_grow(messages->items, &messages->capacity, messages->count + 1, sizeof *items);
    if (!items)
        return NULL;
    messages->items = items;
    items[messages->count] = (struct message){0};
    return &items[messages->count++];
}

static enum pim_status send(struct execution *x, uint32_t node)
{
    const struct pim_instruction *i = &x->node[node].instruction;
    struct message *message = add_message(&x->node[i->u.network.peer].sent);
    if (!message)
        return execution_no_memory(x);
    message->from = node;
    message->tag = i->u.network.tag;
    for (uint64_t at = 0; at < i->u.network.bytes; at += WORD_BYTES) {
        struct word word;
        if (!word_memory_read(&x->node[node].memory, i->u.network.address + at, &word))
            return wrong_address(x, node, i->u.network.address + at);
        if (!words_add(&message->words, &word))
            return execution_no_memory(x);
    }
    x->moved += message->words.count;
    return PIM_OK;
}

static enum pim_status want(struct execution *x, uint32_t node)
{
    const struct pim_instruction *i = &x->node[node].instruction;
    struct message *message = add_message(&x->node[node].wanted);
    if (!message)
        return execution_no_memory(x);
    message->from = i->u.network.peer;
    message->tag = i->u.network.tag;
    message->address = i->u.network.address;
    message->bytes = i->u.network.bytes;
    message->sequence = x->node[node].sequence;
    return PIM_OK;
}

static void forget(struct messages *messages, size_t index)
{
    free(messages->items[index].words.items);
    memmove(&messages->items[index], &messages->items[index + 1],
            (--messages->count - index) * sizeof *messages->items);
}

/* Lets what the `index`-th RECEIVE waits for in, if it was sent. */
static enum pim_status deliver(struct execution *x, uint32_t node, size_t index, bool *there)
{
    struct node_state *state = &x->node[node];
    const struct message wanted = state->wanted.items[index];
    *there = false;
    for (size_t s = 0; s < state->sent.count; s++) {
        struct message *sent = &state->sent.items[s];
        if (sent->from != wanted.from || sent->tag != wanted.tag)
            continue;
        if (sent->words.count * WORD_BYTES != wanted.bytes)
            return pim_fail(x->error, PIM_BAD_INPUT, "node %" PRIu32 " receives another size than was sent",
                            node);
        for (size_t w = 0; w < sent->words.count; w++) {
            if (!word_memory_write(&state->memory, wanted.address + w * WORD_BYTES, &sent->words.items[w]))
                return wrong_address(x, node, wanted.address + w * WORD_BYTES);
        }
        forget(&state->sent, s);
        forget(&state->wanted, index);
        *there = true;
        return PIM_OK;
    }
    return PIM_OK;
}

static bool is_control(const struct pim_instruction *i)
{
    return i->opcode == PIM_OP_JOIN || i->opcode == PIM_OP_PHASE_BEGIN || i->opcode == PIM_OP_PHASE_END;
}

/* Whether the instruction at work can start. */
static enum pim_status wait(struct execution *x, uint32_t node, bool *ready)
{
    struct node_state *state = &x->node[node];
    const struct pim_instruction *i = &state->instruction;
    bool all = is_control(i);
    *ready = true;
    for (size_t w = 0; w < state->wanted.count && *ready;) {
        bool waits = all, there = false;
        for (size_t d = 0; d < PIM_DEPENDENCIES; d++)
            waits |=
                i->dependency[d] > 0 && state->sequence - i->dependency[d] == state->wanted.items[w].sequence;
        if (!waits) {
            w++;
            continue;
        }
        if (deliver(x, node, w, &there) != PIM_OK)
            return x->error->status;
        *ready = there;
    }
    return PIM_OK;
}

/* --- programs --- */

/* The last instruction that the one at work waits for; UINT64_MAX: none. One that is too far back to be named
 * is waited for by a join. */
static uint64_t waits_for(const struct node_state *state, const struct nice_note *note)
{
    uint64_t after = UINT64_MAX;
    for (size_t d = 0; d < PIM_DEPENDENCIES; d++) {
        uint64_t named = state->sequence - state->instruction.dependency[d];
        if (state->instruction.dependency[d] > 0)
            after = after == UINT64_MAX || named > after ? named : after;
    }
    return after == UINT64_MAX && note && note->after < state->joined ? note->after : after;
}

static enum pim_status does_not_wait(const struct execution *x, uint32_t node)
{
    return pim_fail(x->error, PIM_BAD_INPUT,
                    "node %" PRIu32 ", instruction %" PRIu64 " does not wait for what it needs", node,
                    x->node[node].sequence);
}

/* Loads are in order: the last of them is enough. */
static enum pim_status wait_for_loads(struct execution *x, uint32_t node, uint64_t after)
{
    struct node_state *state = &x->node[node];
    if (state->last_load > state->joined && (after == UINT64_MAX || after + 1 < state->last_load))
        return does_not_wait(x, node);
    state->last_load = 0;
    state->last_product = state->sequence + 1;
    return PIM_OK;
}

static enum pim_status execute(struct execution *x, uint32_t node)
{
    struct node_state *state = &x->node[node];
    const struct nice_note *note;
    if (read_notes(x, node, &note) != PIM_OK)
        return x->error->status;
    uint64_t after = waits_for(state, note);
    bool port = state->instruction.opcode == PIM_OP_LOAD || state->instruction.opcode == PIM_OP_STORE;
    if ((port || is_control(&state->instruction) || (after != UINT64_MAX && after >= state->stored_by)) &&
        finish_store(x, node) != PIM_OK)
        return x->error->status;
    state->stores &= state->instruction.opcode == PIM_OP_STORE;
    switch ((int)state->instruction.opcode) {
    case PIM_OP_LOAD:
        return load(x, node);
    case PIM_OP_STORE:
        return store(x, node, note, after);
    case PIM_OP_SEND:
        return send(x, node);
    case PIM_OP_RECEIVE:
        return want(x, node);
    case PIM_OP_MATRIX:
    case PIM_OP_VECTOR:
        if (!note)
            return pim_fail(x->error, PIM_INTERNAL, "node %" PRIu32 ", instruction %" PRIu64 ": no note",
                            node, state->sequence);
        if (state->instruction.opcode == PIM_OP_MATRIX)
            return wait_for_loads(x, node, after) == PIM_OK ? execute_matrix(x, node, note)
                                                            : x->error->status;
        if (note->kind == NICE_NOTE_TILE && state->last_product > state->joined &&
            (after == UINT64_MAX || after + 1 < state->last_product))
            return does_not_wait(x, node);
        return take(x, node, after) == PIM_OK ? execute_vector(x, node, note) : x->error->status;
    default:
        state->joined = is_control(&state->instruction) ? state->sequence : state->joined;
        return PIM_OK;
    }
}

/* What was loaded into a buffer has been given back at the end. */
static enum pim_status check_empty(const struct execution *x, uint32_t node)
{
    const struct node_state *state = &x->node[node];
    if (state->input.count == 0 && state->weight.count == 0)
        return PIM_OK;
    return pim_fail(x->error, PIM_BAD_INPUT,
                    "node %" PRIu32 " ends with elements in its buffers (%zu inputs, %zu weights)", node,
                    state->input.count, state->weight.count);
}

/* As far as a node comes; *moved: it came further. */
static enum pim_status run_node(struct execution *x, uint32_t node, bool *moved)
{
    struct node_state *state = &x->node[node];
    while (!state->ended) {
        const struct pim_instruction *next;
        bool ready;
        if (!state->fetched) {
            if (pim_trace_cursor_next(state->cursor, &next, x->error) != PIM_OK)
                return x->error->status;
            state->ended = !next;
            if (!next)
                return check_empty(x, node);
            state->instruction = *next;
            state->fetched = true;
        }
        if (wait(x, node, &ready) != PIM_OK)
            return x->error->status;
        if (!ready)
            return PIM_OK;
        if (execute(x, node) != PIM_OK)
            return x->error->status;
        state->fetched = false;
        state->sequence++;
        *moved = true;
    }
    return PIM_OK;
}

/* Inputs of the network that nobody reads behind the last instruction of their node: a part of its result.
 * They are placed when all has run: a store there meanwhile is not seen. */
static enum pim_status place_rest(struct execution *x)
{
    for (uint32_t i = 0; i < x->nodes; i++) {
        const struct nice_notes *notes = &x->record->node[i];
        for (size_t n = x->node[i].note; n < notes->count; n++) {
            const struct nice_note *note = &notes->items[n].note;
            if (note->kind == NICE_NOTE_RESULT)
                continue;
            if (note->kind != NICE_NOTE_PLACED)
                return pim_fail(x->error, PIM_BAD_INPUT,
                                "node %" PRIu32 " has notes of work behind its last instruction", i);
            PIM_TRY(place_input(x, i, note));
        }
    }
    return PIM_OK;
}

enum pim_status execution_run(struct execution *x, uint64_t seed)
{
    struct pim_random random;
    pim_random_initialize(&random, seed);
    for (;;) {
        bool moved = false, ended = true;
        uint32_t first = (uint32_t)pim_random_below(&random, x->nodes);
        for (uint32_t i = 0; i < x->nodes; i++) {
            if (run_node(x, (first + i) % x->nodes, &moved) != PIM_OK)
                return x->error->status;
        }
        for (uint32_t i = 0; i < x->nodes; i++)
            ended &= x->node[i].ended;
        if (ended)
            return place_rest(x);
        if (!moved)
            return pim_fail(x->error, PIM_DEADLOCK, "nodes wait for messages that nobody sends");
    }
}

/* --- life --- */

enum pim_status execution_initialize(struct execution *x, const struct tensors *tensors,
                                     const struct nice_record *record, const struct pim_trace *trace,
                                     uint64_t memory_bytes, struct pim_error *error)
{
    *x = (struct execution){.tensors = tensors, .record = record, .nodes = record->nodes, .error = error};
    x->node = calloc(x->nodes, sizeof *x->node);
    x->copies = calloc((size_t)tensors->flow->count * x->nodes + 1, sizeof *x->copies);
    if (!x->node || !x->copies)
        return execution_no_memory(x);
    for (uint32_t i = 0; i < x->nodes; i++) {
        if (!word_memory_initialize(&x->node[i].memory, memory_bytes))
            return execution_no_memory(x);
        if (pim_trace_cursor_create(trace, i, &x->node[i].cursor, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static void release_messages(struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        free(messages->items[i].words.items);
    free(messages->items);
}

void execution_terminate(struct execution *x)
{
    for (uint32_t i = 0; x->node && i < x->nodes; i++) {
        struct node_state *state = &x->node[i];
        word_memory_terminate(&state->memory);
        pim_trace_cursor_destroy(state->cursor);
        free(state->stream.items);
        free(state->made);
        free(state->taken.items);
        free(state->input.items);
        free(state->weight.items);
        free(state->table.slots);
        free(state->inputs.slots);
        free(state->weights.slots);
        free(state->sums);
        free(state->stored.items);
        free(state->stored_at);
        release_messages(&state->sent);
        release_messages(&state->wanted);
    }
    free(x->node);
    free(x->copies);
}
