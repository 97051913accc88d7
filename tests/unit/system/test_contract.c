/*
 * The keys of `pimsim run --stats - --format json` that scripts rely on: each is there, has its type, and
 * means what it says. The program runs as a user runs it; the trace is small enough to know its figures
 * (tests/unit/node derives the cycles of such programs by hand).
 */
#include "sim/output/json.h"
#include "tests/unit/test_main.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* 2 x 2 units; 0 computes and sends to 3, across; 1 only computes; 2 has no program. */
static const char *const program =
    ".version 1\n.family \"test\"\n.network \"none\"\n.mapping \"by hand\"\n"
    ".configuration \"array = { width = 2; height = 2; }; dram = { refresh = false; };\"\n"
    ".configuration \"energy = { mac_pj = 0.25; sram_pj_per_bit = 0.125; dram_pj_per_bit = 2; "
    "noc_pj_per_bit_hop = 0.75;\"\n"
    ".configuration \" acu_pj_per_operation = 0.5; dram_activate_pj = 64; static_mw_per_node = 3; };\"\n"
    ".array width=2 height=2 units=4\n.counts macs=2048 padding_macs=0 weight_bytes=64\n"
    ".phase 0 \"a/compute\" cycles=90 compute=24\n.phase 1 \"a/move\" cycles=80 transfer=80\n"
    ".unit 0\nphase_begin 0\nload input address=0 bytes=128\nload weight address=128 bytes=64\n"
    "matrix m=16 n=8 k=8 after=1,2 open_output release_input release_weight\n"
    "vector copy rows=16 elements=8 bits=8 release=512 after=1\nstore none address=0 bytes=128 "
    "after=1\nphase_end 0\n"
    "phase_begin 1\nsend peer=3 tag=1 address=0 bytes=3000\nphase_end 1\n"
    ".unit 1\nphase_begin 0\nmatrix m=16 n=8 k=8\nphase_end 0\n"
    ".unit 3\nphase_begin 1\nreceive peer=0 tag=1 address=0 bytes=3000\nphase_end 1\n";

/* Two cores with crossbars that share a layer. */
static const char *const cores_program =
    ".version 1\n.family \"test\"\n"
    ".configuration \"array = { kind = \\\"core\\\"; width = 2; height = 1; };\"\n"
    ".configuration \"energy = { vector_pj_per_operation = 0.5; local_pj_per_bit = 0.25;\"\n"
    ".configuration \" global_pj_per_bit = 2; link_mw_per_chip = 7;\"\n"
    ".configuration \" noc_pj_per_bit_hop = 0.75; static_mw_per_core = 3; };\"\n"
    ".array width=2 height=1 units=2\n.phase 0 \"layer0\" cycles=90\n"
    ".unit 0\n.array_group layer=0 arrays=4 rows=128 columns=64\nphase_begin 0\n"
    "local_load address=0 local=0 bytes=256\n"
    "mvm group=0 input_address=0 input_bytes=256 output_address=0x100 output_bytes=128\n"
    "receive peer=1 address=0x180 bytes=128\n"
    "local_vector add elements=64 destination=0x100 source=0x100 second=0x180\n"
    "local_store address=0x1000 local=0x100 bytes=128\nphase_end 0\n"
    ".unit 1\nphase_begin 0\nlocal_write destination=0x100 bytes=128\nsend peer=0 address=0x100 bytes=128\n"
    "phase_end 0\n";

/* Two channels whose banks compute. */
static const char *const channels_program =
    ".version 1\n.family \"test\"\n"
    ".configuration \"array = { kind = \\\"channel\\\"; width = 2; height = 1; };\"\n"
    ".configuration \"energy = { dram_pj_per_bit = 2; dram_activate_pj = 64;\"\n"
    ".configuration \" interconnect_pj_per_bit = 0.8; static_mw_per_node = 3; };\"\n"
    ".configuration \" levels = { banks = 1; columns = 64; rows = 64; costs = \\\"figure\\\"; };\"\n"
    ".array width=2 height=1 units=2\n.phase 0 \"layer0\" cycles=90\n"
    ".unit 0\nphase_begin 0\nrow_compute add bits=8 source=0 second=8 result=16\n"
    "row_send channel peer=1 row=16 rows=8 after=1\nphase_end 0\n"
    ".unit 1\nphase_begin 0\nrow_receive channel peer=0 row=0 rows=8\nphase_end 0\n";

/* Two tiles of crossbars. */
static const char *const tiles_program =
    ".version 1\n.family \"conflict\"\n"
    ".configuration \"array = { kind = \\\"tile\\\"; width = 2; height = 1; };\"\n"
    ".configuration \"energy = { mac_pj = 0.25; noc_pj_per_bit_hop = 0.75; static_mw_per_node = 3; };\"\n"
    ".array width=2 height=1 units=2\n.phase 0 \"layer0\" cycles=90\n.unit 0\nphase_begin 0\n"
    "tile_output edge=0 peer=1 bits=800 packets=2\nrepeat 2 {\ntile_step time=50000000 macs=1000 arrays=1\n"
    "}\nphase_end 0\n.unit 1\nphase_begin 0\ntile_input edge=0 peer=0 bits=800 packets=2\n"
    "repeat 2 {\ntile_take packets=1 free=1\ntile_vector time=7000000\n}\nphase_end 0\n";

static const char *const deadlock =
    ".version 1\n.family \"test\"\n.configuration \"array = { width = 2; height = 1; };\"\n"
    ".array width=2 height=1 units=2\n.phase 0 \"x\" cycles=0\n.unit 0\nphase_begin 0\nsend peer=1 tag=1 "
    "address=0 bytes=8\nphase_end 0\n";

static char folder[256];

static void setup(void)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/pimsim-system-XXXXXX", place ? place : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    static const char *const names[] = {"trace.s", "trace.bin", "out", "err"};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Runs the program with these arguments in the temporary folder, output to "out" and "err"; returns its exit
 * code. */
static int run(const char *format, ...) PIM_PRINTF(1, 2);
static int run(const char *format, ...)
{
    char arguments[512], command[1400];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    const char *pimsim = getenv("PIMSIM_PROGRAM");
    ck_assert_msg(pimsim != NULL, "PIMSIM_PROGRAM is not set");
    (void)snprintf(command, sizeof command, "cd '%s' && '%s' %s >out 2>err", folder, pimsim, arguments);
    int status = system(command);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* What the last run wrote to "out" or "err"; the caller frees it. */
static char *output(const char *name)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    (void)!fread(text, 1, (1 << 20) - 1, file);
    (void)fclose(file);
    return text;
}

static void assemble(const char *text)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/trace.s", folder);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    (void)fputs(text, file);
    (void)fclose(file);
    ck_assert_int_eq(run("trace asm trace.s -o trace.bin"), 0);
}

static json_t *results(const char *options)
{
    char path[300];
    struct pim_error error = {PIM_OK, ""};
    json_t *json;
    int code = run("run trace.bin --quiet --stats - --format json %s", options);
    char *errors = output("err");
    ck_assert_msg(code == 0, "exit code %d: %s", code, errors);
    free(errors);
    (void)snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_msg(pim_json_read(path, 1 << 20, &json, &error) == PIM_OK, "%s", error.text);
    return json;
}

/* The value at "a.b.0.c". */
static const json_t *at(const json_t *json, const char *path)
{
    char copy[128];
    (void)snprintf(copy, sizeof copy, "%s", path);
    char *rest = NULL;
    for (char *key = strtok_r(copy, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        json = json_is_array(json) ? json_array_get(json, (size_t)strtoul(key, NULL, 10))
                                   : json_object_get(json, key);
        ck_assert_msg(json != NULL, "%s: there is no %s", path, key);
    }
    return json;
}

static json_int_t integer(const json_t *json, const char *path)
{
    const json_t *value = at(json, path);
    ck_assert_msg(json_is_integer(value), "%s is not an integer", path);
    ck_assert_msg(json_integer_value(value) >= 0, "%s is negative", path);
    return json_integer_value(value);
}

static double real(const json_t *json, const char *path)
{
    const json_t *value = at(json, path);
    ck_assert_msg(json_is_real(value), "%s is not a real number", path);
    return json_real_value(value);
}

static const char *text(const json_t *json, const char *path)
{
    const json_t *value = at(json, path);
    ck_assert_msg(json_is_string(value), "%s is not a text", path);
    return json_string_value(value);
}

static double energy_sum(const json_t *energy)
{
    return real(energy, "pe") + real(energy, "acu") + real(energy, "sram") + real(energy, "dram") +
           real(energy, "noc") + real(energy, "static");
}

START_TEST(totals_are_there_and_mean_what_they_say)
{
    assemble(program);
    json_t *json = results("");
    ck_assert(json_is_true(at(json, "complete")));
    json_int_t cycles = integer(json, "cycles");
    ck_assert_double_eq(real(json, "time_ns"), (double)cycles * 2.5);
    const json_t *energy = at(json, "energy_pj");
    ck_assert_double_eq(real(energy, "total"), energy_sum(energy));
    ck_assert_double_eq(real(energy, "pe"), 0.25 * 2048);
    ck_assert_double_eq(real(energy, "acu"), 0.5 * 128);
    ck_assert_double_eq(real(energy, "static"), 3.0 * 4 * (double)cycles * 2.5);
    const json_t *dram = at(json, "dram");
    ck_assert_int_eq(integer(dram, "row_hits") + integer(dram, "row_misses") + integer(dram, "row_conflicts"),
                     integer(dram, "reads") + integer(dram, "writes"));
    ck_assert_int_eq(integer(dram, "reads"), 8 + 4 + 188);
    ck_assert_int_eq(integer(dram, "writes"), 8 + 188);
    ck_assert_int_eq(integer(dram, "activates"),
                     integer(dram, "row_misses") + integer(dram, "row_conflicts"));
    ck_assert_int_eq(integer(dram, "refreshes"), 0);
    ck_assert_double_eq(real(energy, "dram"),
                        2.0 * 128 * (double)(200 + 196) + 64.0 * (double)integer(dram, "activates"));
    ck_assert_int_eq(integer(json, "work.macs"), 2048);
    ck_assert_int_eq(integer(json, "work.network_macs"), 2048);
    ck_assert_int_eq(integer(json, "work.bytes_sent"), 3000);
    ck_assert_int_eq(integer(json, "work.bytes_received"), 3000);
    json_decref(json);
}
END_TEST

/* The components are those of the family and add up to the total; the object of JSON is its own. */
static void components_add_up(const char *trace, const char *object, const char *const *names, size_t count)
{
    static const char *const objects[] = {"messages", "cores", "channels", "tiles"};
    assemble(trace);
    json_t *json = results("");
    const json_t *list = at(json, "energy_components");
    double sum = 0;
    ck_assert_uint_eq(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *component = json_array_get(list, i);
        ck_assert_str_eq(text(component, "component"), names[i]);
        if (!json_is_null(at(component, "millijoules")))
            sum += real(component, "millijoules");
    }
    ck_assert_double_gt(sum, 0);
    ck_assert_double_eq_tol(sum * 1e9, real(json, "energy_pj.total"), 1e-9 * sum * 1e9);
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        ck_assert(json_is_object(json_object_get(json, objects[i])) == (strcmp(objects[i], object) == 0));
    json_decref(json);
}

START_TEST(components_of_the_energy_add_up)
{
    static const char *const nodes[] = {"PE array", "ACU", "SRAM buffers", "DRAM", "NoC", "static"};
    static const char *const cores[] = {"crossbars",     "vector units", "local memory",
                                        "global memory", "interconnect", "chip links",
                                        "clocked power", "NoC",          "static"};
    components_add_up(program, "messages", nodes, sizeof nodes / sizeof nodes[0]);
    static const char *const channels[] = {"banks", "interface", "static"};
    components_add_up(cores_program, "cores", cores, sizeof cores / sizeof cores[0]);
    components_add_up(channels_program, "channels", channels, sizeof channels / sizeof channels[0]);
    static const char *const tiles[] = {"crossbars", "NoC", "static"};
    components_add_up(tiles_program, "tiles", tiles, sizeof tiles / sizeof tiles[0]);
}
END_TEST

/* A core draws clocked power while any of its engines works; static power does not ask; links between chips
 * draw none where there is one chip. */
START_TEST(clocked_and_static_power_of_cores)
{
    assemble(cores_program);
    json_t *json = results("--set energy.clocked_mw_per_core=5");
    double period = real(json, "time_ns") / (double)integer(json, "cycles");
    json_int_t works = 0;
    double units = 0, phases = 0, of_units = 0;
    for (size_t i = 0; i < 2; i++) {
        const json_t *unit = json_array_get(at(json, "units"), i), *by = at(unit, "cycles_by");
        works +=
            integer(by, "matrix") + integer(by, "vector") + integer(by, "memory") + integer(by, "network");
        units += real(unit, "energy_pj.clocked");
    }
    phases = real(json, "phases.0.energy_pj.clocked");
    ck_assert_int_gt(works, 0);
    ck_assert_int_lt(works, 2 * integer(json, "cycles")); /* unit 1 waits in its phase, or is done */
    ck_assert_double_eq_tol(real(json, "energy_pj.clocked"), 5.0 * period * (double)works, 1e-6);
    ck_assert_double_eq_tol(units, real(json, "energy_pj.clocked"), 1e-6);
    ck_assert_double_eq_tol(phases, real(json, "energy_pj.clocked"), 1e-6);
    ck_assert_double_eq_tol(real(json, "energy_pj.static"), 3.0 * 2 * real(json, "time_ns"), 1e-6);
    json_decref(json);
    /* A cycle is no whole number of picoseconds: units still add up to the run. */
    json = results("--set clock.logic_khz=1280000");
    for (size_t i = 0; i < 2; i++)
        of_units += real(json_array_get(at(json, "units"), i), "energy_pj.static");
    ck_assert_double_ne(1e3 * real(json, "time_ns"), 781.25 * (double)integer(json, "cycles"));
    ck_assert_double_eq_tol(real(json, "energy_pj.static"), of_units, 1e-14 * of_units);
    json_decref(json);
    json = results("--set chips.width=2 --set chips.link_bytes_per_cycle=8");
    ck_assert_double_eq_tol(real(json, "energy_pj.static"), (3.0 + 7.0) * 2 * real(json, "time_ns"), 1e-6);
    json_decref(json);
}
END_TEST

/* Unit 1 enters phase 1 at once and waits there, once, for what unit 0 makes: its work begins after that. */
static void work_begins_after_waiting(const char *trace)
{
    assemble(trace);
    json_t *json = results("");
    ck_assert_int_eq(integer(json, "phases.0.work_start_cycle"), 0);
    ck_assert_int_eq(integer(json, "phases.1.start_cycle"), 0);
    ck_assert_int_gt(integer(json, "phases.1.work_start_cycle"), 1);
    ck_assert_int_eq(integer(json, "phases.1.work_start_cycle"), integer(json, "units.1.cycles_by.waiting"));
    ck_assert_int_gt(integer(json, "phases.1.end_cycle"), integer(json, "phases.1.work_start_cycle"));
    json_decref(json);
}

START_TEST(the_start_of_work_is_not_that_of_waiting)
{
    work_begins_after_waiting(
        ".version 1\n.family \"test\"\n"
        ".configuration \"array = { kind = \\\"channel\\\"; width = 2; height = 1; };\"\n"
        ".configuration \"levels = { banks = 1; columns = 64; rows = 64; costs = \\\"figure\\\"; };\"\n"
        ".array width=2 height=1 units=2\n.phase 0 \"a\"\n.phase 1 \"b\"\n"
        ".unit 0\nphase_begin 0\nrow_compute add bits=8 source=0 second=8 result=16\n"
        "row_send channel peer=1 row=16 rows=8 after=1\nphase_end 0\n"
        ".unit 1\nphase_begin 1\nrow_receive channel peer=0 row=0 rows=8\nphase_end 1\n");
    work_begins_after_waiting(
        ".version 1\n.family \"test\"\n"
        ".configuration \"array = { kind = \\\"core\\\"; width = 2; height = 1; };\"\n"
        ".array width=2 height=1 units=2\n.phase 0 \"a\"\n.phase 1 \"b\"\n"
        ".unit 0\nphase_begin 0\nlocal_write destination=0x100 bytes=4096\n"
        "send peer=1 address=0x100 bytes=128\nphase_end 0\n"
        ".unit 1\nphase_begin 1\nreceive peer=0 address=0x180 bytes=128\n"
        "local_vector add elements=64 destination=0x100 source=0x100 second=0x180\nphase_end 1\n");
    work_begins_after_waiting(".version 1\n.family \"conflict\"\n"
                              ".configuration \"array = { kind = \\\"tile\\\"; width = 2; height = 1; };\"\n"
                              ".array width=2 height=1 units=2\n.phase 0 \"a\"\n.phase 1 \"b\"\n"
                              ".unit 0\nphase_begin 0\ntile_output edge=0 peer=1 bits=800 packets=1\n"
                              "tile_step time=50000000 macs=1000 arrays=1\nphase_end 0\n"
                              ".unit 1\nphase_begin 1\ntile_input edge=0 peer=0 bits=800 packets=1\n"
                              "tile_take packets=1 free=1\ntile_vector time=7000000\nphase_end 1\n");
}
END_TEST

START_TEST(no_work_has_no_start)
{
    assemble(".version 1\n.family \"test\"\n.configuration \"array = { width = 2; height = 1; };\"\n"
             ".array width=2 height=1 units=2\n.phase 0 \"entered\"\n.phase 1 \"never entered\"\n"
             ".unit 0\nphase_begin 0\nphase_end 0\n");
    json_t *json = results("");
    ck_assert(json_is_null(at(json, "phases.0.work_start_cycle")));
    ck_assert(json_is_null(at(json, "phases.1.work_start_cycle")));
    json_decref(json);
}
END_TEST

START_TEST(phases_and_units_tile_the_run)
{
    assemble(program);
    json_t *json = results("");
    json_int_t cycles = integer(json, "cycles");
    ck_assert_uint_eq(json_array_size(at(json, "phases")), 2);
    ck_assert_str_eq(text(json, "phases.0.name"), "a/compute");
    ck_assert_int_eq(integer(json, "phases.0.start_cycle"), 0);
    ck_assert_int_eq(integer(json, "phases.0.work_start_cycle"), 0);
    ck_assert_int_eq(integer(json, "phases.0.end_cycle"), 98);
    ck_assert_int_eq(integer(json, "phases.0.cycles"), 98);
    ck_assert_int_eq(integer(json, "phases.0.estimate_cycles"), 90);
    ck_assert_int_eq(integer(json, "phases.0.units"), 2);
    ck_assert_int_eq(integer(json, "phases.0.unit_cycles_maximum"), 98);
    ck_assert_int_eq(integer(json, "phases.0.unit_cycles_mean"), (98 + 24) / 2);
    ck_assert_int_eq(integer(json, "phases.1.start_cycle"), 0);       /* unit 3 is in it from the start */
    ck_assert_int_eq(integer(json, "phases.1.work_start_cycle"), 98); /* unit 0 begins to send */
    ck_assert_int_eq(integer(json, "phases.1.end_cycle"), cycles);
    double energy = 0, units = 0;
    ck_assert_uint_eq(json_array_size(at(json, "units")), 4);
    static const char *const classes[] = {"pe", "acu", "dram", "noc"};
    for (size_t i = 0; i < 4; i++) {
        const json_t *unit = json_array_get(at(json, "units"), i);
        ck_assert_int_eq(integer(unit, "id"), (json_int_t)i);
        ck_assert_int_eq(integer(unit, "x"), (json_int_t)(i % 2));
        ck_assert_int_eq(integer(unit, "y"), (json_int_t)(i / 2));
        for (size_t class = 0; class < 4; class ++) {
            json_int_t sum = 0;
            static const char *const kinds[] = {"busy_cycles", "stall_cycles", "idle_cycles"};
            for (size_t kind = 0; kind < 3; kind++)
                sum += integer(at(unit, kinds[kind]), classes[class]);
            ck_assert_int_eq(sum, cycles);
        }
        units += energy_sum(at(unit, "energy_pj"));
    }
    ck_assert_int_eq(integer(json, "units.0.busy_cycles.pe"), 24);
    ck_assert_int_eq(integer(json, "units.0.busy_cycles.acu"), 32);
    ck_assert_int_eq(integer(json, "units.0.stall_cycles.pe"), 29);
    ck_assert_int_eq(integer(json, "units.2.idle_cycles.pe"), cycles);
    ck_assert_int_eq(integer(json, "units.0.buffer_peak_bytes.input"), 128);
    ck_assert_int_eq(integer(json, "units.0.buffer_peak_bytes.output"), 512);
    ck_assert_double_eq(units, real(json, "energy_pj.total")); /* all are binary fractions */
    /* Phases hold all work, and the static energy of the time that units spend in them. */
    for (size_t i = 0; i < 2; i++) {
        const json_t *phase = at(json_array_get(at(json, "phases"), i), "energy_pj");
        ck_assert_double_eq(real(phase, "total"), energy_sum(phase));
        energy += energy_sum(phase) - real(phase, "static");
    }
    ck_assert_double_eq(energy + real(json, "energy_pj.static"), real(json, "energy_pj.total"));
    ck_assert_double_eq(real(json, "phases.0.energy_pj.static"), 3.0 * 2.5 * (98 + 24));
    json_decref(json);
}
END_TEST

START_TEST(links_and_packets_add_up)
{
    assemble(program);
    json_t *json = results("");
    /* 3000 bytes: packets of 2048 and 952 bytes, 256 and 119 flits, and one announcement, through 3 routers.
     * */
    ck_assert_int_eq(integer(json, "noc.packets"), 2);
    ck_assert_int_eq(integer(json, "noc.control_packets"), 1);
    ck_assert_int_eq(integer(json, "noc.flits"), 256 + 119 + 1);
    ck_assert_double_eq(real(json, "noc.average_hops"), 3.0);
    ck_assert_double_ge(real(json, "noc.average_packet_latency"), 18 + (256 + 119) / 2.0 - 2);
    ck_assert_int_ge(integer(json, "noc.p99_packet_latency"), 18 + 256 - 2);
    json_int_t flits = 0, links = (json_int_t)json_array_size(at(json, "links"));
    ck_assert_int_eq(links, 8);
    for (size_t i = 0; i < (size_t)links; i++) {
        const json_t *link = json_array_get(at(json, "links"), i);
        json_int_t from = integer(link, "from"), to = integer(link, "to");
        ck_assert(from < 4 && to < 4 && ((from ^ to) == 1 || (from ^ to) == 2));
        flits += integer(link, "flits");
        ck_assert_double_eq(real(link, "utilization"),
                            (double)integer(link, "flits") / (double)integer(json, "cycles"));
    }
    ck_assert_int_eq(flits, 2 * (256 + 119 + 1)); /* two links between three routers */
    ck_assert_double_eq(real(json, "energy_pj.noc"), 0.75 * 64 * 2 * (256 + 119 + 1));
    json_decref(json);
}
END_TEST

static size_t links_of(const char *text, const char *options)
{
    assemble(text);
    json_t *json = results(options);
    const size_t links = json_array_size(at(json, "links"));
    json_decref(json);
    return links;
}

START_TEST(links_that_do_not_exist_are_not_told)
{
    ck_assert_uint_eq(links_of(channels_program, ""), 0);
    ck_assert_uint_eq(links_of(cores_program, ""), 2);
    ck_assert_uint_eq(links_of(cores_program, "--set interconnect.kind=bus"), 0);
    ck_assert_uint_eq(links_of(cores_program, "--set interconnect.kind=shared_memory"), 0);
    ck_assert_uint_eq(links_of(tiles_program, ""), 1);
}
END_TEST

START_TEST(simulator_and_inputs_allow_to_repeat_a_run)
{
    assemble(program);
    json_t *json = results(""), *other = results("--noc ideal"), *plain = results("--reproducible");
    ck_assert_uint_gt(strlen(text(json, "simulator.version")), 0);
    ck_assert_int_gt(integer(json, "simulator.events"), 0);
    ck_assert_double_ge(real(json, "simulator.cpu_seconds"), 0.0);
    ck_assert_int_gt(integer(json, "simulator.peak_memory_bytes"), 100000);
    ck_assert(json_is_null(at(plain, "simulator.cpu_seconds")));
    ck_assert_uint_eq(strlen(text(json, "inputs.trace_hash")), 16);
    ck_assert_uint_eq(strlen(text(json, "inputs.config_hash")), 16);
    ck_assert_int_eq(integer(json, "inputs.seed"), 0);
    ck_assert_str_eq(text(json, "inputs.trace_hash"), text(other, "inputs.trace_hash"));
    ck_assert_str_ne(text(json, "inputs.config_hash"), text(other, "inputs.config_hash"));
    json_decref(json);
    json_decref(other);
    json_decref(plain);
}
END_TEST

START_TEST(two_runs_give_the_same_bytes)
{
    assemble(program);
    char *outputs[2];
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(run("run trace.bin --quiet --stats - --format json --reproducible"), 0);
        outputs[i] = output("out");
    }
    ck_assert_str_eq(outputs[0], outputs[1]);
    free(outputs[0]);
    free(outputs[1]);
}
END_TEST

START_TEST(a_run_that_stops_early_says_so)
{
    assemble(program);
    json_t *json = results("--until 60");
    ck_assert(json_is_false(at(json, "complete")));
    ck_assert_int_eq(integer(json, "cycles"), 60);
    ck_assert_int_eq(integer(json, "phases.0.end_cycle"), 60);
    ck_assert_int_eq(integer(json, "phases.0.cycles"), 60);
    for (size_t i = 0; i < 2; i++) { /* of whole phases */
        ck_assert(json_is_null(at(json_array_get(at(json, "phases"), i), "estimate_cycles")));
        ck_assert(json_is_null(at(json_array_get(at(json, "phases"), i), "equation_cycles")));
    }
    json_decref(json);
    ck_assert_int_eq(run("run trace.bin --quiet --until 60"), 0);
    char *summary = output("out");
    ck_assert_ptr_nonnull(strstr(summary, "STOPPED BEFORE THE END"));
    free(summary);
}
END_TEST

/* Estimates that nothing was simulated for are not 0 % off, in no format. */
START_TEST(what_was_not_simulated_has_no_error)
{
    static const char *const none =
        ".version 1\n.family \"test\"\n.configuration \"array = { width = 1; height = "
        "1; };\"\n.array width=1 height=1 units=1\n"
        ".phase 0 \"entered\" cycles=30\n.phase 1 \"never\" cycles=50\n.unit 0\n";
    struct pim_error error = {PIM_OK, ""};
    char path[300], worked[700];
    (void)snprintf(path, sizeof path, "%s/out", folder);
    (void)snprintf(worked, sizeof worked, "%sphase_begin 0\nmatrix m=16 n=8 k=8\nphase_end 0\n", none);
    for (unsigned works = 0; works < 2; works++) {
        json_t *json = NULL;
        assemble(works ? worked : none);
        ck_assert_int_eq(run("validate trace.bin --quiet --format json"), 0);
        ck_assert_msg(pim_json_read(path, 1 << 20, &json, &error) == PIM_OK, "%s", error.text);
        ck_assert_int_eq(json_is_null(at(json, "total.error_percent")), !works);
        ck_assert_int_eq(json_is_null(at(json, "steps.0.error_percent")), !works);
        ck_assert_int_eq(json_is_null(at(json, "phases.0.error_percent")), !works);
        ck_assert(json_is_null(at(json, "steps.1.error_percent")));
        ck_assert(json_is_null(at(json, "phases.1.error_percent")));
        ck_assert_double_eq(json_number_value(at(json, "phases.1.estimate_cycles")), 50);
        json_decref(json);
        ck_assert_int_eq(run("validate trace.bin --quiet --format csv"), 0);
        char *csv = output("out");
        ck_assert_ptr_nonnull(strstr(csv, "\nnever,50,0,,"));
        free(csv);
        ck_assert_int_eq(run("validate trace.bin --quiet --phases"), 0);
        char *text_of_all = output("out");
        const char *row = strstr(text_of_all, "\nnever"), *total = strstr(text_of_all, "\ntotal:");
        ck_assert(row && total);
        double estimate = 0, simulated = 1;
        char sign[2] = "";
        ck_assert_int_eq(sscanf(row + strlen("\nnever"), "%lf %lf %1s |", &estimate, &simulated, sign), 3);
        ck_assert_str_eq(sign, "-");
        ck_assert_int_eq(strstr(total, "cycles, error -\n") != NULL, !works);
        free(text_of_all);
    }
}
END_TEST

/* What the summary of the last run says of a step: its cycles; -1 when it has none. */
static long long summary_step(const char *summary, const char *name)
{
    char line[64];
    long long phases, cycles;
    const char *table = strstr(summary, "steps by time");
    ck_assert_ptr_nonnull(table);
    (void)snprintf(line, sizeof line, "\n  %s ", name);
    const char *row = strstr(table, line), *end = strstr(table, "\n\n");
    if (!row || row > end)
        return -1;
    ck_assert_int_eq(sscanf(row + strlen(line), "%lld %lld", &phases, &cycles), 2);
    return cycles;
}

/* Steps of the summary, of phases in the JSON, of `pimsim validate`: the same, and no more than the run. */
static void steps_agree(const char *options)
{
    json_t *json = results(options), *validated = NULL;
    struct pim_error error = {PIM_OK, ""};
    char path[300];
    ck_assert_int_eq(run("run trace.bin --quiet %s", options), 0);
    char *summary = output("out");
    ck_assert_int_eq(run("validate trace.bin --quiet --format json"), 0);
    (void)snprintf(path, sizeof path, "%s/out", folder);
    ck_assert_msg(pim_json_read(path, 1 << 20, &validated, &error) == PIM_OK, "%s", error.text);
    json_int_t sum = 0;
    for (size_t i = 0; i < json_array_size(at(json, "phases")); i++) {
        const json_t *phase = json_array_get(at(json, "phases"), i);
        sum += integer(phase, "exclusive_cycles");
        ck_assert_int_le(integer(phase, "exclusive_cycles"), integer(phase, "cycles"));
        /* here each phase is a step */
        ck_assert_int_eq(summary_step(summary, strrchr(text(phase, "name"), '/') + 1),
                         integer(phase, "exclusive_cycles"));
        if (!*options)
            ck_assert_double_eq(
                json_number_value(at(json_array_get(at(validated, "steps"), i), "simulated_cycles")),
                (double)integer(phase, "exclusive_cycles"));
    }
    ck_assert_int_le(sum, integer(json, "cycles"));
    if (!*options)
        ck_assert_int_eq(sum, integer(json, "cycles")); /* something is always in a phase */
    json_decref(validated);
    json_decref(json);
    free(summary);
}

START_TEST(steps_share_the_run)
{
    assemble(program);
    steps_agree("");
    steps_agree("--until 60");
    steps_agree("--until 110");
}
END_TEST

/* Steps have no number beyond which they are summed up: the longest of seventy comes last, and is the first
 * of the table, whose columns begin behind the longest name. */
START_TEST(every_step_has_its_own_row)
{
    enum { STEPS = 70, LONGEST = STEPS - 1 };
    char *source = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&source, &bytes);
    ck_assert_ptr_nonnull(file);
    fprintf(file, ".version 1\n.family \"test\"\n.configuration \"array = { width = 2; height = 1; };\"\n"
                  ".array width=2 height=1 units=1\n");
    for (int i = 0; i < STEPS; i++)
        fprintf(file, ".phase %d \"layer%d/%s %d\" cycles=8\n", i, i,
                i < LONGEST ? "step" : "the longest of all steps", i);
    fprintf(file, ".unit 0\n");
    for (int i = 0; i < STEPS; i++)
        fprintf(file, "phase_begin %d\nmatrix m=%d n=8 k=8\nphase_end %d\n", i, i < LONGEST ? 8 : 80, i);
    ck_assert_int_eq(fclose(file), 0);
    assemble(source);
    free(source);
    ck_assert_int_eq(run("run trace.bin --quiet --reproducible"), 0);
    char *summary = output("out");
    ck_assert(!strstr(summary, "others") && strstr(summary, "\n  busiest links: none\n"));
    ck_assert_ptr_nonnull(strstr(summary, "(54 shorter steps are not shown)"));
    const char *head = strstr(summary, "\n  step "), *row = head ? strchr(head + 1, '\n') : NULL;
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_eq(strstr(row, "\n  the longest of all steps 69        1 "), row);
    const char *next = strchr(row + 1, '\n');
    ck_assert_ptr_nonnull(next);
    ck_assert_int_eq(row - head, next - row); /* rows are as wide as the head */
    free(summary);
}
END_TEST

START_TEST(csv_and_text_tell_the_same_figures)
{
    assemble(program);
    json_t *json = results("");
    char row[64];
    ck_assert_int_eq(run("run trace.bin --quiet --stats - --format csv"), 0);
    char *csv = output("out");
    (void)snprintf(row, sizeof row, "\ncycles,%lld,", (long long)integer(json, "cycles"));
    ck_assert_msg(strstr(csv, row) != NULL, "no row '%s' in\n%s", row, csv);
    (void)snprintf(row, sizeof row, "\nphase0.cycles,98,");
    ck_assert_ptr_nonnull(strstr(csv, row));
    (void)snprintf(row, sizeof row, "\nunit0.pe.busy,24,");
    ck_assert_ptr_nonnull(strstr(csv, row));
    free(csv);
    ck_assert_int_eq(run("run trace.bin --quiet"), 0);
    char *summary = output("out");
    (void)snprintf(row, sizeof row, "cycles        %lld of the logic clock",
                   (long long)integer(json, "cycles"));
    ck_assert_ptr_nonnull(strstr(summary, row));
    ck_assert_ptr_nonnull(strstr(summary, "2048 MACs (network 2048, padding 0)"));
    free(summary);
    json_decref(json);
}
END_TEST

START_TEST(a_deadlock_has_its_own_exit_code_and_no_results)
{
    assemble(deadlock);
    ck_assert_int_eq(run("run trace.bin --quiet --stats - --format json"), 3);
    char *errors = output("err"), *results_text = output("out");
    ck_assert_ptr_nonnull(strstr(
        errors, "unit 0, instruction 1: send to unit 1, tag 1 waits for unit 1 to announce its receive"));
    ck_assert_str_eq(results_text, "");
    free(errors);
    free(results_text);
}
END_TEST

void pimsim_suites(SRunner *runner)
{
    Suite *suite = suite_create("contract");
    TCase *tests = tcase_create("pimsim run");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, totals_are_there_and_mean_what_they_say);
    tcase_add_test(tests, phases_and_units_tile_the_run);
    tcase_add_test(tests, the_start_of_work_is_not_that_of_waiting);
    tcase_add_test(tests, no_work_has_no_start);
    tcase_add_test(tests, links_and_packets_add_up);
    tcase_add_test(tests, links_that_do_not_exist_are_not_told);
    tcase_add_test(tests, simulator_and_inputs_allow_to_repeat_a_run);
    tcase_add_test(tests, two_runs_give_the_same_bytes);
    tcase_add_test(tests, a_run_that_stops_early_says_so);
    tcase_add_test(tests, what_was_not_simulated_has_no_error);
    tcase_add_test(tests, components_of_the_energy_add_up);
    tcase_add_test(tests, clocked_and_static_power_of_cores);
    tcase_add_test(tests, steps_share_the_run);
    tcase_add_test(tests, every_step_has_its_own_row);
    tcase_add_test(tests, csv_and_text_tell_the_same_figures);
    tcase_add_test(tests, a_deadlock_has_its_own_exit_code_and_no_results);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
}
