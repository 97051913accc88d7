/* The emitter: see emitter.h. */
#include "mappers/pimcomp/kernels/emitter.h"
#include "sim/try.h"

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
    PIM_NEED_MEMORY(emitter->number[layer], error, "no memory for the array groups of %s",
                    mapping->network->layer[layer].name);
    for (uint32_t replica = 0; replica < replicas; replica++) {
        for (uint32_t group = 0; group < part->groups; group++) {
            size_t place = (size_t)replica * part->groups + group;
            uint32_t core = mapping->layout->layer[layer].core[place];
            assert(core < mapping->architecture->cores);
            emitter->number[layer][place] = next[core]++;
            if (!emitter->program.writer)
                continue;
            struct pim_trace_array_group of = part->group[group];
            of.layer = mapping->origin ? mapping->origin[layer] : of.layer;
            of.set = mapping->set;
            enum pim_status status = pim_trace_writer_array_group(emitter->program.writer, core, &of, error);
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
                                         .layer_mvms = PIM_ARENA_ARRAY(arena, uint64_t, layers),
                                         .local_bytes = PIM_ARENA_ARRAY(arena, uint64_t, cores),
                                         .number = PIM_ARENA_ARRAY(arena, uint32_t *, layers),
                                         .word_written = PIM_ARENA_ARRAY(arena, bool, cores)};
    uint32_t *next = PIM_ARENA_ARRAY(arena, uint32_t, cores);
    PIM_NEED_MEMORY(emitter->layer_mvms && emitter->local_bytes && emitter->number && emitter->word_written &&
                        next,
                    error, "no memory for %" PRIu32 " cores", cores);
    for (uint32_t core = 0; mapping->first_group && core < cores; core++)
        next[core] = mapping->first_group[core];
    PIM_TRY(pim_program_initialize(&emitter->program, writer, cores, PIM_CORE_ELEMENT_BITS, arena, error));
    for (uint32_t layer = 0; layer < layers; layer++)
        PIM_TRY(number_layer(emitter, layer, next, arena, error));
    return PIM_OK;
}

/* Appends to the core's program, in the open phase. */
static void append(struct pim_core_emitter *emitter, uint32_t core, const struct pim_instruction *instruction)
{
    (void)pim_program_append(&emitter->program, core, *instruction, PIM_NOTHING, PIM_NOTHING, PIM_NOTHING);
}

/* Keeps it in the stage. */
static PIM_NOINLINE void hold(struct pim_core_emitter *emitter, uint32_t core,
                              const struct pim_instruction *instruction)
{
    struct pim_core_stage *stage = emitter->stage;
    if (emitter->program.status != PIM_OK)
        return;
    struct pim_core_staged *grown =
        pim_array_grow(stage->staged, &stage->room, stage->count + 1, sizeof *grown);
    if (!grown) {
        emitter->program.status =
            pim_fail(emitter->program.error, PIM_NO_MEMORY, "no memory for instructions that wait");
        return;
    }
    stage->staged = grown;
    grown[stage->count++] = (struct pim_core_staged){core, *instruction};
}

static void put(struct pim_core_emitter *emitter, uint32_t core, const struct pim_instruction *instruction)
{
    (emitter->stage ? hold : append)(emitter, core, instruction);
}

void pim_core_emitter_release(struct pim_core_emitter *emitter, struct pim_core_stage *stage)
{
    for (size_t i = 0; i < stage->count && emitter->program.status == PIM_OK; i++)
        append(emitter, stage->staged[i].core, &stage->staged[i].instruction);
    stage->count = 0;
}

static uint32_t narrow(struct pim_core_emitter *emitter, uint32_t core, uint64_t value, const char *what)
{
    return pim_program_narrow(&emitter->program, core, value, what);
}

/* The core uses [local, local + bytes): a local address, or 0 after a failure. */
static uint32_t place(struct pim_core_emitter *emitter, uint32_t core, uint64_t local, uint64_t bytes)
{
    uint64_t capacity = emitter->mapping->architecture->local_memory_bytes;
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    if (emitter->program.status != PIM_OK)
        return 0;
    if (bytes > capacity || local > capacity - bytes) {
        emitter->program.status = pim_fail(emitter->program.error, PIM_BAD_INPUT,
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

/* An array group of a replica: its core, and its number there. */
static const struct pim_trace_array_group *find_group(const struct pim_core_emitter *emitter, uint32_t layer,
                                                      uint32_t replica, uint32_t group, uint32_t *core,
                                                      uint32_t *number)
{
    const struct pim_core_partition_layer *part = &emitter->mapping->partition->layer[layer];
    size_t index = (size_t)replica * part->groups + group;
    *core = emitter->mapping->layout->layer[layer].core[index];
    *number = emitter->number[layer][index];
    return &part->group[group];
}

void pim_core_emit_mvm(struct pim_core_emitter *emitter, uint32_t layer, uint32_t replica, uint32_t group,
                       uint64_t input, uint64_t output)
{
    uint32_t core, number;
    const struct pim_trace_array_group *of = find_group(emitter, layer, replica, group, &core, &number);
    uint64_t input_bytes = (uint64_t)of->rows * PIM_CORE_ELEMENT_BYTES;
    uint64_t output_bytes = (uint64_t)of->folds * of->columns * PIM_CORE_ELEMENT_BYTES;
    struct pim_instruction mvm = {
        .opcode = PIM_OP_MVM,
        .u.mvm = {.group = number,
                  .windows = 1,
                  .input_address = place(emitter, core, input, input_bytes),
                  .input_bytes = narrow(emitter, core, input_bytes, "bytes of an input"),
                  .output_address = place(emitter, core, output, output_bytes),
                  .output_bytes = narrow(emitter, core, output_bytes, "bytes of an output")}};
    put(emitter, core, &mvm);
    emitter->counts.mvms++;
    emitter->layer_mvms[layer]++;
}

void pim_core_emit_array_write(struct pim_core_emitter *emitter, uint32_t layer, uint32_t replica,
                               uint32_t group, uint32_t row, uint32_t rows, uint64_t source)
{
    if (emitter->program.status != PIM_OK)
        return;
    uint32_t core, number;
    const struct pim_trace_array_group *of = find_group(emitter, layer, replica, group, &core, &number);
    uint64_t bytes = (uint64_t)rows * of->folds * of->columns * PIM_CORE_ELEMENT_BYTES;
    struct pim_instruction write = {
        .opcode = PIM_OP_ARRAY_WRITE,
        .u.array_write = {.group = number,
                          .row = row,
                          .rows = rows,
                          .source = place(emitter, core, source, bytes),
                          .bytes = narrow(emitter, core, bytes, "bytes of weights")}};
    put(emitter, core, &write);
    emitter->counts.weight_bytes += bytes;
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
        .u.local_vector = {.elements = narrow(emitter, core, elements, "elements of a vector"),
                           .destination = place(emitter, core, destination, bytes),
                           .source = place(emitter, core, source, bytes),
                           .second = two ? place(emitter, core, second, bytes) : 0,
                           .bits = (uint8_t)emitter->program.element_bits,
                           .immediate = operation.immediate}};
    put(emitter, core, &vector);
    emitter->counts.vector_elements += elements;
}

/* Pieces that lie back to back on both sides are one, and one has no strides. */
static void join_pieces(uint64_t *bytes, uint64_t *count, uint64_t *stride, uint64_t *other_stride)
{
    if (*count > 1 && *stride == *bytes && *other_stride == *bytes) {
        *bytes *= *count;
        *count = 1;
    }
    if (*count == 1)
        *stride = *other_stride = 0;
}

void pim_core_emit_transfer(struct pim_core_emitter *emitter, enum pim_opcode opcode, uint32_t core,
                            uint64_t local, uint64_t global, uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (!bytes || !count)
        return;
    join_pieces(&bytes, &count, &stride, &stride);
    if (stride > UINT32_MAX) {
        for (uint64_t i = 0; i < count; i++)
            pim_core_emit_transfer(emitter, opcode, core, local + i * bytes, global + i * stride, bytes, 1,
                                   0);
        return;
    }
    struct pim_instruction instruction = {
        .opcode = (uint8_t)opcode,
        .u.transfer = {.address = global,
                       .local = place(emitter, core, local, bytes * count),
                       .bytes = narrow(emitter, core, bytes, "bytes of a piece"),
                       .count = narrow(emitter, core, count, "number of pieces"),
                       .stride = narrow(emitter, core, stride, "stride of pieces")}};
    put(emitter, core, &instruction);
    *(opcode == PIM_OP_LOCAL_LOAD ? &emitter->counts.loaded_bytes : &emitter->counts.stored_bytes) +=
        bytes * count;
}

void pim_core_emit_copy(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination,
                        uint64_t source, uint64_t bytes, uint64_t count, uint64_t destination_stride,
                        uint64_t source_stride)
{
    if (!bytes || !count)
        return;
    emitter->counts.copied_bytes += bytes * count;
    join_pieces(&bytes, &count, &destination_stride, &source_stride);
    struct pim_instruction copy = {
        .opcode = PIM_OP_LOCAL_COPY,
        .u.local_copy = {.destination =
                             place(emitter, core, destination, span(bytes, count, destination_stride)),
                         .source = place(emitter, core, source, span(bytes, count, source_stride)),
                         .bytes = narrow(emitter, core, bytes, "bytes of a piece"),
                         .count = narrow(emitter, core, count, "number of pieces"),
                         .destination_stride = narrow(emitter, core, destination_stride, "stride of pieces"),
                         .source_stride = narrow(emitter, core, source_stride, "stride of pieces")}};
    put(emitter, core, &copy);
}

void pim_core_emit_zeros(struct pim_core_emitter *emitter, uint32_t core, uint64_t destination,
                         uint64_t bytes, uint64_t count, uint64_t stride)
{
    if (!bytes || !count)
        return;
    emitter->counts.written_bytes += bytes * count;
    join_pieces(&bytes, &count, &stride, &stride);
    struct pim_instruction write = {
        .opcode = PIM_OP_LOCAL_WRITE,
        .u.local_write = {.destination = place(emitter, core, destination, span(bytes, count, stride)),
                          .bytes = narrow(emitter, core, bytes, "bytes of a piece"),
                          .count = narrow(emitter, core, count, "number of pieces"),
                          .stride = narrow(emitter, core, stride, "stride of pieces")}};
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

/* A barrier's messages: the first element of one core to the second of another. */
static void write_word(void *context, uint32_t core)
{
    struct pim_core_emitter *emitter = context;
    if (emitter->word_written[core])
        return;
    emitter->word_written[core] = true;
    pim_core_emit_zeros(emitter, core, 0, PIM_CORE_ELEMENT_BYTES, 1, 0);
}

static void send_word(void *context, uint32_t from, uint32_t to)
{
    pim_core_emit_message(context, from, 0, to, PIM_CORE_ELEMENT_BYTES, PIM_CORE_ELEMENT_BYTES);
}

void pim_core_emit_barrier(struct pim_core_emitter *emitter, const uint32_t *core, uint32_t count)
{
    pim_program_barrier(&emitter->program, core, count, write_word, send_word, emitter);
    emitter->counts.barriers++;
    if (count > 0)
        emitter->counts.joins += 2 * (uint64_t)count - 1;
}
