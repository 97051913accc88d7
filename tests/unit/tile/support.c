#include "tests/unit/tile/support.h"

#include "models/system/read.h"
#include "models/system/schema.h"
#include "tests/unit/test_main.h"
#include "traces/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tile_path(char path[64])
{
    (void)snprintf(path, 64, "/tmp/pimsim-tile-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    (void)close(file);
}

enum pim_status read_tiles(struct tile_run *run, struct pim_hardware *hardware)
{
    struct pim_error error = {0};
    struct pim_configuration *configuration;
    char path[1024];
    const char *name = "configs/hardware/noc-conflict-16x16.cfg";
    ck_assert(pim_configuration_create(&pim_hardware_schema, &configuration, &error) == PIM_OK);
    ck_assert_msg(pim_configuration_read_file(configuration, pimsim_source_path(path, sizeof path, name),
                                              &error) == PIM_OK,
                  "%s", error.text);
    for (size_t i = 0; i < TILE_SETTINGS && run->settings[i]; i++)
        ck_assert_msg(pim_configuration_set(configuration, run->settings[i], &error) == PIM_OK, "%s",
                      error.text);
    enum pim_status status = pim_hardware_read(configuration, hardware, &run->error);
    pim_configuration_destroy(configuration);
    return status;
}

void run_tiles(struct tile_run *run, const char *path)
{
    struct pim_hardware hardware;
    struct pim_error error = {0};
    const struct pim_system_options options = {.until_cycle = run->until ? run->until : PIM_UNTIL_END,
                                               .quiet = true};
    run->system = NULL;
    run->error = (struct pim_error){.status = PIM_OK};
    run->result = (struct pim_run_result){.units = NULL};
    ck_assert_msg(pim_trace_open(path, &run->trace, &error) == PIM_OK, "%s", error.text);
    run->status = read_tiles(run, &hardware);
    if (run->status == PIM_OK)
        run->status = pim_system_create(&hardware, run->trace, &options, &run->system, &run->error);
    if (run->status == PIM_OK)
        run->status = pim_system_run(run->system, &run->error);
    if (run->status == PIM_OK)
        run->status = pim_system_collect(run->system, &run->result, &run->error);
}

void end_tiles(struct tile_run *run)
{
    pim_run_result_terminate(&run->result);
    pim_system_destroy(run->system);
    pim_trace_close(run->trace);
}

void run_text(struct tile_run *run, const char *programs)
{
    char path[64], text[4096];
    struct pim_error error = {0};
    tile_path(path);
    int length = snprintf(text, sizeof text,
                          ".version 1\n.family \"conflict\"\n.array width=2 height=1 units=2\n"
                          ".phase 0 \"layer0\" cycles=1\n.phase 1 \"layer1\" cycles=1\n%s",
                          programs);
    ck_assert_uint_lt((size_t)length, sizeof text);
    FILE *file = fmemopen(text, (size_t)length, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_trace_assemble("text", file, path, &error) == PIM_OK, "%s", error.text);
    (void)fclose(file);
    size_t used = 0;
    while (used < TILE_SETTINGS && run->settings[used])
        used++;
    ck_assert_uint_le(used + 2, TILE_SETTINGS);
    run->settings[used] = "array.width=2";
    run->settings[used + 1] = "array.height=1";
    run_tiles(run, path);
    (void)unlink(path);
}
