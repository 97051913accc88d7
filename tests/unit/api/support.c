#include "tests/unit/api/support.h"

#include "sim/output/json.h"
#include "traces/file/writer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[PATH_SIZE / 2]; /* of the test that runs */

static const char hardware[] = "array = { width = 2; height = 1; };\n"
                               "energy = { mac_pj = 0.5; static_mw_per_node = 1.0; };\n";

const char *temporary(char path[PATH_SIZE], const char *name)
{
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

void setup(void)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/pimsim-api-XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

void teardown(void)
{
    char path[PATH_SIZE];
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.')
            ck_assert_int_eq(unlink(temporary(path, entry->d_name)), 0);
    }
    ck_assert_int_eq(closedir(directory), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void append(struct pim_trace_writer *writer, uint32_t unit, struct pim_instruction instruction)
{
    struct pim_error error = {PIM_OK, ""};
    ck_assert_msg(pim_trace_writer_append(writer, unit, &instruction, &error) == PIM_OK, "%s", error.text);
}

static struct pim_instruction mark(enum pim_opcode opcode, uint32_t phase)
{
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode};
    instruction.u.control.phase = phase;
    return instruction;
}

static struct pim_instruction move(enum pim_opcode opcode, enum pim_buffer buffer, uint64_t address,
                                   uint32_t bytes)
{
    struct pim_instruction instruction = {.opcode = (uint8_t)opcode, .detail = (uint8_t)buffer};
    instruction.u.memory.address = address;
    instruction.u.memory.bytes = instruction.u.memory.stride = bytes;
    instruction.u.memory.count = 1;
    return instruction;
}

/* One tile: load input and weights, multiply, an activation that gives the tile back, store the result. */
static void append_tile(struct pim_trace_writer *writer, uint32_t tile)
{
    append(writer, 0, move(PIM_OP_LOAD, PIM_BUFFER_INPUT, 4096, TILE_M * TILE_K));
    append(writer, 0, move(PIM_OP_LOAD, PIM_BUFFER_WEIGHT, 65536 + UINT64_C(4096) * tile, TILE_K * TILE_N));
    struct pim_instruction matrix = {.opcode = PIM_OP_MATRIX,
                                     .detail = PIM_MATRIX_RELEASE_INPUT | PIM_MATRIX_RELEASE_WEIGHT |
                                               PIM_MATRIX_OPEN_OUTPUT,
                                     .dependency = {1, 2}};
    matrix.u.matrix.m = TILE_M;
    matrix.u.matrix.n = TILE_N;
    matrix.u.matrix.k = TILE_K;
    matrix.u.matrix.input_bits = matrix.u.matrix.weight_bits = matrix.u.matrix.output_bits = 8;
    append(writer, 0, matrix);
    struct pim_instruction vector = {.opcode = PIM_OP_VECTOR, .detail = PIM_VECTOR_GELU, .dependency = {1}};
    vector.u.vector.rows = TILE_M;
    vector.u.vector.elements = TILE_N;
    vector.u.vector.bits = 8;
    vector.u.vector.release = TILE_BYTES * 4;
    append(writer, 0, vector);
    struct pim_instruction store =
        move(PIM_OP_STORE, PIM_BUFFER_NONE, 1048576 + (uint64_t)TILE_BYTES * tile, TILE_BYTES);
    store.dependency[0] = 1;
    append(writer, 0, store);
}

const char *trace_of(char path[PATH_SIZE], const char *name, struct shape shape)
{
    struct pim_error error = {PIM_OK, ""};
    const struct pim_trace_description description = {.family = "test",
                                                      .network = "two units",
                                                      .mapping = "by hand",
                                                      .configuration = shape.no_configuration ? ""
                                                                       : shape.configuration
                                                                           ? shape.configuration
                                                                           : hardware,
                                                      .width = 2,
                                                      .height = 1,
                                                      .units = 2,
                                                      .macs = TRACE_MACS};
    struct pim_trace_writer *writer = NULL;
    ck_assert_msg(pim_trace_writer_create(temporary(path, name), &description, &writer, &error) == PIM_OK,
                  "%s", error.text);
    uint32_t work = pim_trace_writer_phase(
        writer, &(struct pim_trace_phase){.name = "block0/multiply", .estimate_cycles = 700});
    uint32_t pass = pim_trace_writer_phase(
        writer, &(struct pim_trace_phase){.name = "block0/pass", .estimate_cycles = 90});
    append(writer, 0, mark(PIM_OP_PHASE_BEGIN, work));
    for (uint32_t tile = 0; tile < TILES; tile++)
        append_tile(writer, tile);
    append(writer, 0, mark(PIM_OP_PHASE_END, work));
    struct pim_instruction message = {.opcode = PIM_OP_SEND};
    message.u.network.address = 1048576;
    message.u.network.bytes = MESSAGE_BYTES;
    message.u.network.tag = 7;
    message.u.network.peer = 1;
    append(writer, 0, mark(PIM_OP_PHASE_BEGIN, pass));
    append(writer, 0, message);
    append(writer, 0, mark(PIM_OP_PHASE_END, pass));
    message.opcode = PIM_OP_RECEIVE;
    message.u.network.peer = 0;
    message.u.network.tag = shape.unanswered ? 8 : 7;
    append(writer, 1, mark(PIM_OP_PHASE_BEGIN, pass));
    append(writer, 1, message);
    append(writer, 1, mark(PIM_OP_PHASE_END, pass));
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
    return path;
}

const char *file_of(char path[PATH_SIZE], const char *name, const void *bytes, size_t size)
{
    (void)remove(temporary(path, name)); /* a new file: to shorten an old one costs a write to the device */
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

struct pimsim_options no_options(void)
{
    struct pimsim_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

json_t *results_of(struct pimsim_simulation *simulation)
{
    char message[256] = "";
    const char *text = NULL;
    json_t *document = NULL;
    struct pim_error error = {PIM_OK, ""};
    EXPECT_STATUS(pimsim_results(simulation, &text, message, sizeof message), PIMSIM_OK);
    ck_assert_msg(pim_json_parse("results", text, strlen(text), &document, &error) == PIM_OK, "%s",
                  error.text);
    return document;
}

char *comparable(json_t *results)
{
    ck_assert_int_eq(json_object_del(json_object_get(results, "simulator"), "cpu_seconds"), 0);
    ck_assert_int_eq(json_object_del(json_object_get(results, "simulator"), "peak_memory_bytes"), 0);
    char *text = json_dumps(results, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    ck_assert_ptr_nonnull(text);
    return text;
}

char *replay(const char *path, const struct pimsim_options *options)
{
    char message[2048] = "";
    struct pimsim_simulation *simulation = NULL;
    EXPECT_STATUS(pimsim_create(&simulation, path, options, message, sizeof message), PIMSIM_OK);
    EXPECT_STATUS(pimsim_run(simulation, message, sizeof message), PIMSIM_OK);
    json_t *results = results_of(simulation);
    char *text = comparable(results);
    json_decref(results);
    pimsim_destroy(simulation);
    return text;
}

static const json_t *value_at(const json_t *document, const char *path)
{
    char key[64];
    const json_t *value = document;
    for (const char *rest = path; value && *rest;) {
        size_t length = strcspn(rest, ".");
        ck_assert_uint_lt(length, sizeof key);
        memcpy(key, rest, length);
        key[length] = '\0';
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) : json_object_get(value, key);
        rest += length + (rest[length] == '.');
    }
    ck_assert_msg(value != NULL, "the results have no %s", path);
    return value;
}

json_int_t integer_at(const json_t *document, const char *path)
{
    const json_t *value = value_at(document, path);
    ck_assert_msg(json_is_integer(value), "%s is no integer", path);
    return json_integer_value(value);
}

double real_at(const json_t *document, const char *path)
{
    const json_t *value = value_at(document, path);
    ck_assert_msg(json_is_number(value), "%s is no number", path);
    return json_number_value(value);
}
