/* The emitter: see emitter.h. */
#include "mappers/pimcomp/emitter.h"

#include "sim/check.h"

#include <assert.h>
#include <inttypes.h>

static uint32_t replicas_of(const struct pim_core_mapping *mapping, uint32_t layer)
{
    return mapping->partition->layer[layer].groups ? mapping->layout->layer[layer].replicas : 0;
}

/* Numbers the groups of a layer on their cores and writes them; next[core] is the first free number. */
static enum pim_status number_layer(struct pim_core_emitter *emitter, uint32_t layer, uint32_t *next,
                                    struct pim_arena *arena, struct pim_error *error)
{
    const struct pim_core_mapping *mapping = emitter->mapping;
    const struct pim_core_partition_layer *part = &mapping->partition->layer[layer];
    uint32_t replicas = replicas_of(mapping, layer);
    if (!replicas)
        return PIM_OK;
    emitter->number[layer] = PIM_ARENA_ARRAY(arena, uint32_t, (size_t)replicas * part->groups);
    if (!emitter->number[layer])
        return pim_fail(error, PIM_NO_MEMORY, "no memory for the array groups of %s",
                        mapping->network->layer[layer].name);
    for (uint32_t replica = 0; replica < replicas; replica++) {
        for (uint32_t group = 0; group < part->groups; group++) {
            size_t place = (size_t)replica * part->groups + group;
            uint32_t core = mapping->layout->layer[layer].core[place];
            assert(core < mapping->architecture->cores);
            emitter->number[layer][place] = next[core]++;
            if (!emitter->writer)
                continue;
            enum pim_status status =
                pim_trace_writer_array_group(emitter->writer, core, &part->group[group], error);
            if (status != PIM_OK)
                return pim_fail_in(error, "array group %" PRIu32 " of %s", group,
                                   mapping->network->layer[layer].name);
        }
    }
    return PIM_OK;
}

enum pim_status pim_core_emitter_initialize(struct pim_core_emitter *emitter,
                                            const struct pim_core_mapping *mapping,
                                            struct pim_trace_writer *writer, struct pim_arena *arena,
                                            struct pim_error *error)
{
    uint32_t layers = mapping->network->count, cores = mapping->architecture->cores;
    *emitter = (struct pim_core_emitter){.mapping = mapping,
                                         .writer = writer,
                                         .error = error,
                                         .status = PIM_OK,
                                         .layer_mvms = PIM_ARENA_ARRAY(arena, uint64_t, layers),
                                         .local_bytes = PIM_ARENA_ARRAY(arena, uint64_t, cores),
                                         .core_instructions = PIM_ARENA_ARRAY(arena, uint64_t, cores),
                                         .number = PIM_ARENA_ARRAY(arena, uint32_t *, layers),
                                         .phase = UINT32_MAX,
                                         .in_phase = PIM_ARENA_ARRAY(arena, bool, cores),
                                         .word_written = PIM_ARENA_ARRAY(arena, bool, cores)};
    uint32_t *next = PIM_ARENA_ARRAY(arena, uint32_t, cores);
    if (!emitter->layer_mvms || !emitter->local_bytes || !emitter->core_instructions || !emitter->number ||
        !emitter->in_phase || !emitter->word_written || !next)
        return emitter->status = pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " cores", cores);
    for (uint32_t layer = 0; layer < layers && emitter->status == PIM_OK; layer++)
        emitter->status = number_layer(emitter, layer, next, arena, error);
    return emitter->status;
}

/* Fields of an instruction have 32 bits; `fields` is the bits of all that go into one. What has been refused
 * is not written. */
static void check_fields(const struct pim_core_emitter *emitter, uint64_t fields)
{
    pim_check(emitter->status != PIM_OK || fields <= UINT32_MAX, "a field of an instruction does not fit");
}

static void append(struct pim_core_emitter *emitter, uint32_t core, const struct pim_instruction *instruction)
{
    emitter->counts.instructions++;
    emitter->core_instructions[core]++;
    if (emitter->writer)
        emitter->status = pim_trace_writer_append(emitter->writer, core, instruction, emitter->error);
}

/* Appends to the core's program, in the open phase. */
static void put(struct pim_core_emitter *emitter, uint32_t core, const struct pim_instruction *instruction)
{
    assert(emitter->phase != UINT32_MAX);
    if (emitter->status == PIM_OK && !emitter->in_phase[core]) {
        emitter->in_phase[core] = true;
        append(emitter, core,
               &(struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN, .u.control.phase = emitter->phase});
    }
    if (emitter->status == PIM_OK)
        append(emitter, core, instruction);
}

/* The core uses [local, local + bytes): a local address, or 0 after a failure. */
static uint32_t place(struct pim_core_emitter *emitter, uint32_t core, uint64_t local, uint64_t bytes)
{
    uint64_t capacity = emitter->mapping->architecture->local_memory_bytes;
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    if (emitter->status != PIM_OK)
        return 0;
    if (bytes > capacity || local > capacity - bytes) {
        emitter->status = pim_fail(emitter->error, PIM_BAD_INPUT,
                                   "core %" PRIu32 ": %" PRIu64 " bytes at %" PRIu64
                                   " reach beyond the local memory of %" PRIu64 " bytes",
                                   core, bytes, local, capacity);
        return 0;
    }
    if (local + bytes > emitter->local_bytes[core])
        emitter->local_bytes[core] = local + bytes;
    return (uint32_t)local;
}

/* Bytes from the first to the last of strided pieces. */
static uint64_t span(uint64_t bytes, uint64_t count, uint64_t stride)
{
    return (count - 1) * stride + bytes;
}

uint32_t pim_core_emit_phase_begin(struct pim_core_emitter *emitter, const char *name)
{
    if (emitter->status != PIM_OK)
        return 0;
    assert(emitter->phase == UINT32_MAX);
    emitter->phase = 0;
    if (emitter->writer) {
        uint32_t phase = pim_trace_writer_phase(emitter->writer, &(struct pim_trace_phase){.name = name});
        emitter->phase = phase == UINT32_MAX ? 0 : phase; /* the next append reports what was wrong */
    }
    return emitter->phase;
}

void pim_core_emit_phase_end(struct pim_core_emitter *emitter)
{
    for (uint32_t core = 0; core < emitter->mapping->architecture->cores; core++) {
        if (emitter->in_phase[core] && emitter->status == PIM_OK)
            append(emitter, core,
                   &(struct pim_instruction){.opcode = PIM_OP_PHASE_END, .u.control.phase = emitter->phase});
        emitter->in_phase[core] = false;
    }
    emitter->phase = UINT32_MAX;
}

void pim_core_emit_mvm(struct pim_core_emitter *emitter, uint32_t layer, uint32_t replica, uint32_t group,
                       uint64_t input, uint64_t output)
{
    const struct pim_core_partition_layer *part = &emitter->mapping->partition->layer[layer];
    const struct pim_trace_array_group *of = &part->group[group];
    size_t index = (size_t)replica * part->groups + group;
    uint32_t core = emitter->mapping->layout->layer[layer].core[index];
    uint64_t input_bytes = (uint64_t)of->rows * PIM_CORE_ELEMENT_BYTES;
    uint64_t output_bytes = (uint64_t)of->folds * of->columns * PIM_CORE_ELEMENT_BYTES;
    struct pim_instruction mvm = {.opcode = PIM_OP_MVM,
                                  .u.mvm = {.group = emitter->number[layer][index],
                                            .windows = 1,
                                            .input_address = place(emitter, core, input, input_bytes),
                                            .input_bytes = (uint32_t)input_bytes,
                                            .output_address = place(emitter, core, output, output_bytes),
                                            .output_bytes = (uint32_t)output_bytes}};
    check_fields(emitter, input_bytes | output_bytes);
    put(emitter, core, &mvm);
    emitter->counts.mvms++;
    emitter->layer_mvms[layer]++;
}

void pim_core_emit_vector(struct pim_core_emitter *emitter, uint32_t core, struct pim_core_vector operation,
                          uint64_t destination, uint64_t source, uint64_t second, uint64_t elements)
{
    if (!elements)
        return;
    uint64_t bytes = elements * PIM_CORE_ELEMENT_BYTES;
    bool two = pim_local_sources(operation.operation) == 2;
    struct pim_instruction vector = {
        .opcode = PIM_OP_LOCAL_VECTOR,
        .detail = operation.operation,
        .u.local_vector = {.elements = (uint32_t)elements,
                           .destination = place(emitter, core, destination, bytes),
                           .source = place(emitter, core, source, bytes),
                           .second = two ? place(emitter, core, second, bytes) : 0,
                           .bits = PIM_CORE_ELEMENT_BITS,
                           .immediate = operation.immediate}};
    check_fields(emitter, elements);
    put(emitter, core, &vector);
    emitter->counts.vector_elements += elements;
}

static void transfer(struct pim_core_emitter *emitter, uint32_t core, enum pim_opcode opcode, uint64_t local,
                     uint64_t global, uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (count > 1 && stride == bytes) {
        bytes *= count;
        count = 1;
    }
    if (count > 1 && stride > UINT32_MAX) {
        for (uint64_t i = 0; i < count; i++)
            transfer(emitter, core, opcode, local + i * bytes, global + i * stride, bytes, 1, 0);
        return;
    }
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode,
                                          .u.transfer = {.address = global,
                                                         .local = place(emitter, core, local, bytes * count),
                                                         .bytes = (uint32_t)bytes,
                                                         .count = (uint32_t)count,
                                                         .stride = count > 1 ? (uint32_t)stride : 0}};
    check_fields(emitter, bytes | count | (count > 1 ? stride : 0));
    put(emitter, core, &instruction);
}

void pim_core_emit_load(struct pim_core_emitter *emitter, uint32_t core, uint64_t local, uint64_t global,
                        uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (!bytes || !count)
        return;
    transfer(emitter, core, PIM_OP_LOCAL_LOAD, local, global, bytes, count, stride);
    emitter->counts.loaded_bytes += bytes * count;
}

void pim_core_emit_store(struct pim_core_emitter *emitter, uint32_t core, uint64_t local, uint64_t global,
                         uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (!bytes || !count)
        return;
    transfer(emitter, core, PIM_OP_LOCAL_STORE, local, global, bytes, count, stride);
    emitter->counts.stored_bytes += bytes * count;
}

void pim_core_emit_copy(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination,
                        uint64_t source, uint64_t bytes, uint64_t count, uint64_t destination_stride,
                        uint64_t source_stride)
{
    if (!bytes || !count)
        return;
    emitter->counts.copied_bytes += bytes * count;
    if (count > 1 && destination_stride == bytes && source_stride == bytes) {
        bytes *= count;
        count = 1;
    }
    if (count == 1)
        destination_stride = source_stride = 0;
    struct pim_instruction copy = {
        .opcode = PIM_OP_LOCAL_COPY,
        .u.local_copy = {.destination =
                             place(emitter, core, destination, span(bytes, count, destination_stride)),
                         .source = place(emitter, core, source, span(bytes, count, source_stride)),
                         .bytes = (uint32_t)bytes,
                         .count = (uint32_t)count,
                         .destination_stride = (uint32_t)destination_stride,
                         .source_stride = (uint32_t)source_stride}};
    check_fields(emitter, bytes | count | destination_stride | source_stride);
    put(emitter, core, &copy);
}

void pim_core_emit_write(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination, uint8_t value,
                         uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (!bytes || !count)
        return;
    emitter->counts.written_bytes += bytes * count;
    if (count > 1 && stride == bytes) {
        bytes *= count;
        count = 1;
    }
    if (count == 1)
        stride = 0;
    struct pim_instruction write = {
        .opcode = PIM_OP_LOCAL_WRITE,
        .u.local_write = {.destination = place(emitter, core, destination, span(bytes, count, stride)),
                          .bytes = (uint32_t)bytes,
                          .count = (uint32_t)count,
                          .stride = (uint32_t)stride,
                          .value = value}};
    check_fields(emitter, bytes | count | stride);
    put(emitter, core, &write);
}

void pim_core_emit_message(struct pim_core_emitter *emitter, uint32_t source, uint64_t source_local,
                           uint32_t destination, uint64_t destination_local, uint64_t bytes)
{
    if (!bytes)
        return;
    if (source == destination) {
        pim_core_emit_copy(emitter, source, destination_local, source_local, bytes, 1, 0, 0);
        return;
    }
    struct pim_instruction send = {.opcode = PIM_OP_SEND,
                                   .u.network = {.peer = destination,
                                                 .address = place(emitter, source, source_local, bytes),
                                                 .bytes = bytes}};
    struct pim_instruction receive = {
        .opcode = PIM_OP_RECEIVE,
        .u.network = {.peer = source,
                      .address = place(emitter, destination, destination_local, bytes),
                      .bytes = bytes}};
    put(emitter, source, &send);
    put(emitter, destination, &receive);
    emitter->counts.messages++;
    emitter->counts.sent_bytes += bytes;
}

void pim_core_emit_join(struct pim_core_emitter *emitter, uint32_t core)
{
    put(emitter, core, &(struct pim_instruction){.opcode = PIM_OP_JOIN});
    emitter->counts.joins++;
}

void pim_core_emit_barrier(struct pim_core_emitter *emitter, const uint32_t *core, uint32_t count,
                           uint64_t local)
{
    /* The parent of member i is (i - 1) / 2: members from the last on tell their parents, which have heard
     * all of their children by then; the way down is the reverse. */
    for (uint32_t i = count; i-- > 0;) {
        pim_core_emit_join(emitter, core[i]);
        if (count > 1 && !emitter->word_written[core[i]]) {
            emitter->word_written[core[i]] = true;
            pim_core_emit_write(emitter, core[i], local, 0, PIM_CORE_ELEMENT_BYTES, 1, 0);
        }
        if (i)
            pim_core_emit_message(emitter, core[i], local, core[(i - 1) / 2], local + PIM_CORE_ELEMENT_BYTES,
                                  PIM_CORE_ELEMENT_BYTES);
    }
    for (uint32_t i = 1; i < count; i++) {
        pim_core_emit_message(emitter, core[(i - 1) / 2], local, core[i], local + PIM_CORE_ELEMENT_BYTES,
                              PIM_CORE_ELEMENT_BYTES);
        pim_core_emit_join(emitter, core[i]);
    }
    emitter->counts.barriers++;
}
