/* @include: relative paths, groups, order, loops, depth, missing files. */
#include "tests/unit/configuration/test_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
    char files[40][96];
    size_t count;
};

static struct folder *make_folder(void)
{
    struct folder *folder = calloc(1, sizeof *folder);
    ck_assert_ptr_nonnull(folder);
    strcpy(folder->path, "/tmp/pimsim-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder->path));
    char inner[96];
    (void)snprintf(inner, sizeof inner, "%s/inner", folder->path);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    return folder;
}

static const char *write_file(struct folder *folder, const char *name, const char *text)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    char *kept = folder->files[folder->count++];
    memcpy(kept, path, sizeof path);
    return kept;
}

static void remove_folder(struct folder *folder)
{
    char inner[96];
    (void)snprintf(inner, sizeof inner, "%s/inner", folder->path);
    for (size_t i = 0; i < folder->count; i++)
        (void)unlink(folder->files[i]);
    (void)rmdir(inner);
    (void)rmdir(folder->path);
    free(folder);
}

/* Reads `path` and compares the message, in which "%" stands for the folder. */
static void expect(const struct folder *folder, const char *path, enum pim_status status, const char *message)
{
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    ck_assert_int_eq(pim_configuration_read_file(configuration, path, &error), status);
    char wanted[1024];
    size_t size = 0;
    for (const char *c = message; *c; c++)
        size += (size_t)snprintf(wanted + size, sizeof wanted - size, "%.*s", *c == '%' ? 64 : 1,
                                 *c == '%' ? folder->path : c);
    ck_assert_str_eq(error.text, wanted);
    pim_configuration_destroy(configuration);
}

START_TEST(values_and_origins)
{
    struct folder *folder = make_folder();
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    char message[256];
    (void)write_file(folder, "inner/timing.cfg", "trcd_ns = 5;\nrows = 77;\n@include \"deep.cfg\"\n");
    (void)write_file(folder, "inner/deep.cfg", "\ntiming = { banks = 9; };\n");
    (void)write_file(folder, "base.cfg", "noc = { width = 3;\n link_bits = 16; };\n");
    (void)write_file(folder, "other.cfg", "noc = { link_bits = 17; };\n");
    const char *path = write_file(folder, "main.cfg",
                                  "noc = { width = 4; };\n"
                                  "  @include \"base.cfg\"\n"
                                  "@include\t\"other.cfg\"\n"
                                  "dram = {\n  @include \"inner/timing.cfg\"\n  rows = 78; };\n");
    ck_assert_msg(pim_configuration_read_file(configuration, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 4); /* the file itself wins */
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.link_bits"),
                     17); /* then the later include */
    ck_assert_double_eq(pim_configuration_real(configuration, "dram.trcd_ns"), 5.0);
    ck_assert_int_eq(pim_configuration_integer(configuration, "dram.rows"), 78);
    ck_assert_int_eq(pim_configuration_integer(configuration, "dram.timing.banks"), 9);
    ck_assert(pim_configuration_later(configuration, "dram.rows", "dram.trcd_ns"));
    ck_assert(!pim_configuration_later(configuration, "dram.trcd_ns", "dram.rows"));
    ck_assert(pim_configuration_later(configuration, "dram.trcd_ns", "dram.timing.banks"));
    (void)pim_configuration_fail(configuration, &error, "dram.timing.banks", "x");
    (void)snprintf(message, sizeof message, "%s/inner/deep.cfg:2: dram.timing.banks: x", folder->path);
    ck_assert_str_eq(error.text, message);
    (void)pim_configuration_fail(configuration, &error, "dram.rows", "x");
    (void)snprintf(message, sizeof message, "%s/main.cfg:6: dram.rows: x", folder->path);
    ck_assert_str_eq(error.text, message);
    pim_configuration_destroy(configuration);
    remove_folder(folder);
}
END_TEST

START_TEST(absolute_path)
{
    struct folder *folder = make_folder();
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    char text[256];
    (void)snprintf(text, sizeof text, "@include \"%s\"\n",
                   write_file(folder, "base.cfg", "noc = { width = 3; };"));
    ck_assert_int_eq(
        pim_configuration_read_file(configuration, write_file(folder, "inner/main.cfg", text), &error),
        PIM_OK);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 3);
    pim_configuration_destroy(configuration);
    remove_folder(folder);
}
END_TEST

START_TEST(refused)
{
    struct folder *folder = make_folder();
    (void)write_file(folder, "bad.cfg", "\n\nnoc = { width = 99; };");
    (void)write_file(folder, "two.cfg", "@include \"inner/three.cfg\"\n");
    (void)write_file(folder, "inner/three.cfg", "\n@include \"../one.cfg\"\n");
    expect(folder, write_file(folder, "a.cfg", "\n@include \"none.cfg\"\n"), PIM_IO,
           "%/a.cfg:2: @include: %/none.cfg: cannot open: No such file or directory");
    expect(folder, write_file(folder, "b.cfg", "@include \"inner\"\n"), PIM_IO,
           "%/b.cfg:1: @include: %/inner: this is a folder, a configuration file is needed");
    expect(folder, write_file(folder, "c.cfg", "@include \"bad.cfg\"\n"), PIM_BAD_INPUT,
           "%/bad.cfg:3: noc.width: found 99, allowed is an integer from 1 to 64 nodes");
    expect(folder, write_file(folder, "one.cfg", "@include \"two.cfg\"\n"), PIM_BAD_INPUT,
           "%/one.cfg: this file includes itself: %/inner/three.cfg includes it again");
    expect(folder, write_file(folder, "self.cfg", "@include \"self.cfg\"\n"), PIM_BAD_INPUT,
           "%/self.cfg: this file includes itself: %/self.cfg includes it again");
    expect(folder, write_file(folder, "d.cfg", "\n@include bad.cfg\n"), PIM_BAD_INPUT,
           "%/d.cfg:2: @include needs a file name in quotes: @include \"base.cfg\"");
    expect(folder, write_file(folder, "e.cfg", "name = \"a\"; @include \"bad.cfg\"\n"), PIM_BAD_INPUT,
           "%/e.cfg:1: '@' begins @include \"FILE\" only, at the start of a line");
    expect(folder, write_file(folder, "f.cfg", "depths = [\n@include \"bad.cfg\"\n];"), PIM_BAD_INPUT,
           "%/f.cfg:2: @include cannot stand inside a value: depths");
    expect(folder, write_file(folder, "g.cfg", "@includes \"bad.cfg\"\n"), PIM_BAD_INPUT,
           "%/g.cfg:1: @include needs a file name in quotes: @include \"base.cfg\"");
    expect(folder, write_file(folder, "h.cfg", "@include \"\"\n"), PIM_BAD_INPUT,
           "%/h.cfg:1: @include needs a file name in quotes: @include \"base.cfg\"");
    expect(folder, write_file(folder, "i.cfg", "@include \"bad.cfg\n\""), PIM_BAD_INPUT,
           "%/i.cfg:1: @include needs a file name in quotes: @include \"base.cfg\"");
    remove_folder(folder);
}
END_TEST

/* A chain of 11 files passes, of 12 does not; a fan of includes is bounded too. */
START_TEST(depth_and_number)
{
    struct folder *folder = make_folder();
    struct pim_configuration *configuration = make_configuration();
    struct pim_error error = {PIM_OK, ""};
    char name[32], text[64];
    for (int i = 0; i <= 10; i++) {
        (void)snprintf(name, sizeof name, "c%d.cfg", i);
        (void)snprintf(text, sizeof text, i < 10 ? "@include \"c%d.cfg\"\n" : "noc = { width = %d; };",
                       i + 1);
        (void)write_file(folder, name, text);
    }
    ck_assert_msg(pim_configuration_read_file(configuration, folder->files[0], &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_int_eq(pim_configuration_integer(configuration, "noc.width"), 11);
    expect(folder, write_file(folder, "main.cfg", "@include \"c0.cfg\"\n"), PIM_BAD_INPUT,
           "%/c9.cfg:1: @include \"c10.cfg\": files include one another more than 10 deep");
    (void)write_file(folder, "leaf.cfg", "");
    (void)write_file(folder, "fan.cfg",
                     "@include \"leaf.cfg\"\n@include \"leaf.cfg\"\n@include \"leaf.cfg\"\n");
    char *many = calloc(1, 8192);
    ck_assert_ptr_nonnull(many);
    for (int i = 0; i < 65; i++)
        strcat(many, "@include \"fan.cfg\"\n");
    expect(folder, write_file(folder, "many.cfg", many), PIM_BAD_INPUT,
           "%/many.cfg:65: @include \"fan.cfg\": more than 256 files are included");
    free(many);
    pim_configuration_destroy(configuration);
    remove_folder(folder);
}
END_TEST

Suite *include_suite(void)
{
    Suite *suite = suite_create("include");
    TCase *group = tcase_create("include");
    tcase_add_test(group, values_and_origins);
    tcase_add_test(group, absolute_path);
    tcase_add_test(group, refused);
    tcase_add_test(group, depth_and_number);
    suite_add_tcase(suite, group);
    return suite;
}
