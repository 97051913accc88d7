#include "tests/unit/traces/support.h"

#include "traces/text/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const small_text =
    "# every opcode once at least\n"
    ".version 1\n"
    ".family \"test\"\n"
    ".network \"three \\\"units\\\"\"\n"
    ".mapping \"by hand\"\n"
    ".configuration \"array = { width = 3;\\n\"\n"
    ".configuration \"          height = 1; };\\n\"\n"
    ".array width=3 height=1 units=3\n"
    ".counts macs=8192 padding_macs=7 weight_bytes=0x200\n"
    ".phase 0 \"block0/query\" cycles=1000 compute=600 memory=500\n"
    ".equations computation=1\n"
    ".phase 1 \"block0/sum\" cycles=18446744073709551615 weight_sharing=3\n"
    ".equations computation=700 transfer=80 weight_sharing=9\n"
    ".router 2\n"
    ".serve task=1 start=0 end=10\n"
    ".serve task=2 start=10 end=255\n"
    ".router 7\n"
    ".unit 0\n"
    "phase_begin 0\n"
    "load input address=0x100 bytes=256\n"
    "repeat 4 {\n"
    "  load weight address=0x1000 bytes=64 stride=128 count=2 step=256\n"
    "  matrix m=16 n=8 k=16 after=1,3 open_output release_weight\n"
    "  vector softmax rows=16 elements=8 release=128 bits=4 after=1\n"
    "}\n"
    "store input address=0x2000 bytes=256 after=2\n"
    "send peer=1 tag=5 address=0x2000 bytes=300\n"
    "phase_end 0\n"
    ".unit 1\n"
    ".array_group layer=2 arrays=3 row=40 rows=16 column=5 columns=9\n"
    ".array_group layer=7 arrays=1 rows=4 columns=2 folds=3 fold_stride=6\n"
    "phase_begin 0\n"
    "receive peer=0 tag=5 address=0x10 bytes=300\n"
    "phase_end 0\n"
    "phase_begin 1\n"
    "mvm group=1 windows=9 input_address=16 input_bytes=32 output_address=64 output_bytes=8\n"
    "bit_serial multiply bits=8 rows=24 first_bank=2 banks=6 count=5 after=0,1\n"
    "join\n"
    "load none address=0xffff bytes=1\n"
    "local_load address=0x12345678 local=0x40 bytes=6 count=3 stride=50\n"
    "local_vector clip elements=9 destination=0x80 source=0x40 immediate=-3\n"
    "local_copy destination=0x100 source=0x80 bytes=2 count=4 destination_stride=8\n"
    "local_write destination=0x200 bytes=5 count=2 stride=7 value=255\n"
    "local_store address=0x10 local=0x100 bytes=26 after=2\n"
    "phase_end 1\n"
    ".unit 2\n"
    ".array_group arrays=2 rows=128 columns=128\n";

static char folder[PATH_SIZE / 2]; /* of the test that runs: Check runs each in a process of its own */

void setup(void)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/pimsim-traces-XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

void teardown(void)
{
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[PATH_SIZE * 2];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(directory);
    /* fails when something that begins with a dot was left behind */
    ck_assert_msg(rmdir(folder) == 0, "%s: a temporary file was left behind", folder);
}

const char *temporary(char *buffer, const char *name)
{
    (void)snprintf(buffer, PATH_SIZE, "%s/%s", folder, name);
    return buffer;
}

uint8_t *read_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

enum pim_status assemble(const char *text, const char *name, struct pim_error *error)
{
    char path[PATH_SIZE];
    write_bytes(temporary(path, "test.s"), text, strlen(text));
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    enum pim_status status = pim_trace_assemble("test.s", file, temporary(path, name), error);
    (void)fclose(file);
    return status;
}

struct pim_trace *trace_of(const char *text)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    char path[PATH_SIZE];
    EXPECT_OK(assemble(text, "trace.bin", &error));
    EXPECT_OK(pim_trace_open(temporary(path, "trace.bin"), &trace, &error));
    return trace;
}

struct pim_trace_description description_of(uint32_t units)
{
    return (struct pim_trace_description){.family = "test", .width = units, .height = 1, .units = units};
}

enum pim_status read_programs(const struct pim_trace *trace, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units && status == PIM_OK; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *instruction = NULL;
        status = pim_trace_cursor_create(trace, unit, &cursor, error);
        while (status == PIM_OK) {
            status = pim_trace_cursor_next(cursor, &instruction, error);
            if (status == PIM_OK && !instruction)
                break;
        }
        pim_trace_cursor_destroy(cursor);
    }
    return status;
}
