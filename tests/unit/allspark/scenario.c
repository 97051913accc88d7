/* Networks, hardware and plans of the tests. */
#include "tests/unit/allspark/scenario.h"

#include "mappers/allspark/check/check_values.h"
#include "sim/configuration/configuration.h"
#include "traces/check/check.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const small_network_names[SMALL_DESCRIPTORS] = {
    "swin",  "padded swin",  "vit",          "plain vit",  "odd swin",  "narrow swin",
    "pvt",   "few keys pvt", "shifted swin", "twins",      "odd twins", "cut twins",
    "cswin", "odd cswin",    "focal",        "near focal", "far focal"};

/* What differs between the descriptors; all have patches of 4 x 4 pixels. */
static const char *const descriptors[SMALL_DESCRIPTORS] = {
    "name = \"small-swin\"; family = \"swin\"; image = 32; blocks = [2, 2]; channels = [12, 24]; heads = [3, "
    "6]; window = 4; classes = 10;",
    "name = \"padded-swin\"; family = \"swin\"; image = 40; blocks = [1, 2]; channels = [8, 16]; heads = [2, "
    "4]; window = 4; classes = 3;",
    "name = \"small-vit\"; family = \"vit\"; image = 16; blocks = [2]; channels = [12]; heads = [3]; classes "
    "= 7;",
    "name = \"plain-vit\"; family = \"vit\"; image = 20; blocks = [1]; channels = [16]; heads = [4]; classes "
    "= 0; class_token = false;",
    "name = \"odd-swin\"; family = \"swin\"; image = 32; blocks = [1, 1]; channels = [8, 20]; heads = [2, "
    "5]; window = 4; classes = 11;",
    "name = \"narrow-swin\"; family = \"swin\"; image = 32; blocks = [1, 1]; channels = [1, 24]; heads = [1, "
    "12]; window = 4; classes = 2; mlp_ratio = [2];",
    "name = \"small-pvt\"; family = \"pvt\"; image = 40; blocks = [2, 1]; channels = [12, 20]; heads = [3, "
    "5]; "
    "reduction = [3, 1]; classes = 5;",
    "name = \"few-keys-pvt\"; family = \"pvt\"; image = 32; blocks = [1, 2, 1]; channels = [8, 8, 12]; heads "
    "= [2, "
    "4, 3]; reduction = [8, 2, 1]; classes = 3;",
    "name = \"shifted-swin\"; family = \"swin\"; image = 60; blocks = [2]; channels = [6]; heads = [2]; "
    "window = 5; classes = 2;",
    "name = \"small-twins\"; family = \"twins\"; image = 32; blocks = [2, 2]; channels = [6, 12]; heads = "
    "[2, 4]; window = 4; reduction = [3, 1]; classes = 4;",
    "name = \"odd-twins\"; family = \"twins\"; image = 52; blocks = [3, 1]; channels = [4, 8]; heads = [2, "
    "4]; window = 3; reduction = [4, 2]; classes = 3;",
    "name = \"cut-twins\"; family = \"twins\"; image = 48; blocks = [2, 2]; channels = [6, 12]; heads = [2, "
    "4]; window = 4; reduction = [2, 1]; classes = 3;",
    "name = \"small-cswin\"; family = \"cswin\"; image = 32; blocks = [2, 1]; channels = [8, 12]; heads = "
    "[4, 3]; stripe = [2, 4]; classes = 4;",
    "name = \"odd-cswin\"; family = \"cswin\"; image = 40; blocks = [1, 2, 1]; channels = [6, 12, 8]; heads "
    "= [6, 4, 2]; stripe = [4, 3, 1]; classes = 3;",
    "name = \"small-focal\"; family = \"focal\"; image = 40; blocks = [2, 1]; channels = [6, 9]; heads = [2, "
    "3]; window = 3; expand = 1; focal_window = [3, 1]; classes = 3;",
    "name = \"near-focal\"; family = \"focal\"; image = 16; blocks = [2, 1]; channels = [6, 8]; heads = "
    "[3, 4]; window = 2; expand = 2; focal_window = [3, 5]; classes = 2;",
    "name = \"far-focal\"; family = \"focal\"; image = 40; blocks = [2]; channels = [6]; heads = [3]; "
    "window = 2; expand = 2; focal_window = [7]; classes = 2;",
};

struct pim_network *small_network(enum small_network which)
{
    struct pim_error error = {0};
    struct pim_configuration *configuration = NULL;
    struct pim_network *network = NULL;
    char text[256];
    (void)snprintf(text, sizeof text, "network = { patch = 4; %s };", descriptors[which]);
    enum pim_status status = pim_configuration_create(&pim_network_schema, &configuration, &error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(configuration, "test.cfg", text, strlen(text), &error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, &error);
    if (status == PIM_OK)
        status = pim_network_build(configuration, &network, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", small_network_names[which], error.text);
    pim_configuration_destroy(configuration);
    return network;
}

struct pim_network *real_network(const char *name, const char *override)
{
    char relative[128], path[1024];
    struct pim_error error = {0};
    struct pim_network *network = NULL;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    enum pim_status status = pim_network_read(pimsim_source_path(path, sizeof path, relative), &override,
                                              override ? 1 : 0, &network, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", name, error.text);
    return network;
}

struct pim_estimate_hardware real_hardware(uint32_t width, uint32_t height)
{
    return (struct pim_estimate_hardware){.width = width,
                                          .height = height,
                                          .logic_khz = 400000,
                                          .network_khz = 400000,
                                          .memory_khz = 400000,
                                          .pe_rows = 8,
                                          .pe_columns = 8,
                                          .pe_depth = 8,
                                          .input_bytes = 16384,
                                          .weight_bytes = 16384,
                                          .output_bytes = 16384,
                                          .accumulator_bytes = 4,
                                          .acu_elements = 8,
                                          .acu_depth = 16,
                                          .memory_bytes = UINT64_C(8) << 20,
                                          .port_bytes = 16,
                                          .column_cycles = 1,
                                          .row_bytes = 1024,
                                          .read_row_cycles = 18,
                                          .write_row_cycles = 26,
                                          .access_cycles = 18,
                                          .turn_cycles = 10,
                                          .refresh_cycles = 88,
                                          .refresh_interval = 1561,
                                          .flit_bytes = 8,
                                          .network.per_router = 3,
                                          .network.fixed = 4,
                                          .window = 64,
                                          .packet_bytes = 64};
}

struct pim_estimate_hardware small_hardware(uint32_t width, uint32_t height)
{
    struct pim_estimate_hardware hardware = real_hardware(width, height);
    hardware.pe_rows = 4;
    hardware.pe_columns = 4;
    hardware.input_bytes = 96;
    hardware.weight_bytes = 112;
    hardware.output_bytes = 224;
    hardware.memory_bytes = UINT64_C(1) << 18;
    return hardware;
}

struct pim_allspark_options fixed(enum pim_allspark_scheme scheme, uint32_t ring)
{
    return (struct pim_allspark_options){.scheme = scheme, .ring = ring};
}

struct pim_allspark_options partitions(uint32_t count, uint32_t uv[][2], uint32_t ring)
{
    struct pim_allspark_options options = {
        .scheme = PIM_ALLSPARK_EXPLICIT, .explicit_count = count, .ring = ring, .chunks = 1};
    for (uint32_t i = 0; i < count && i < PIM_STAGES; i++) {
        options.lists[i] = 1;
        options.list[i][0] = (struct pim_allspark_layers){.u = uv[i][0], .v = uv[i][1]};
    }
    return options;
}

struct pim_allspark_options partition(uint32_t u, uint32_t v, uint32_t ring)
{
    struct pim_allspark_options options = {
        .scheme = PIM_ALLSPARK_EXPLICIT, .explicit_count = 1, .ring = ring, .chunks = 1};
    options.lists[0] = 1;
    options.list[0][0] = (struct pim_allspark_layers){.u = u, .v = v};
    return options;
}

struct pim_allspark_options copied(uint32_t u, uint32_t v, uint32_t ring)
{
    struct pim_allspark_options options = partition(u, v, 0);
    options.list[0][0].ring = ring;
    return options;
}

static void write_trace(struct scenario *scenario, const char *path)
{
    const struct pim_allspark_plan *plan = &scenario->plan;
    struct pim_error error = {0};
    const struct pim_trace_description description = {.family = "allspark",
                                                      .network = scenario->network->name,
                                                      .width = plan->hardware.width,
                                                      .height = plan->hardware.height,
                                                      .units = plan->hardware.width * plan->hardware.height};
    struct pim_trace_writer *writer;
    ck_assert_msg(pim_trace_writer_create(path, &description, &writer, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_allspark_emit(plan, writer, &error) == PIM_OK, "%s: %s", scenario->name, error.text);
    ck_assert_msg(pim_trace_writer_finish(writer, &error) == PIM_OK, "%s", error.text);
}

bool scenario_make(struct scenario *scenario, struct pim_network *network,
                   const struct pim_estimate_hardware *hardware, const struct pim_allspark_options *options,
                   struct pim_error *error)
{
    *scenario = (struct scenario){.network = network};
    if (pim_allspark_plan(network, hardware, options, &scenario->plan, error) != PIM_OK) {
        pim_network_destroy(network);
        return false;
    }
    int used = snprintf(scenario->name, sizeof scenario->name, "%s on %" PRIu32 " x %" PRIu32 ":",
                        network->name, hardware->width, hardware->height);
    for (uint32_t i = 0; i < scenario->plan.stages; i++) {
        const struct pim_allspark_stage *stage = &scenario->plan.stage[i];
        for (uint32_t j = 0; j < stage->partitions && (size_t)used < sizeof scenario->name; j++)
            used += snprintf(scenario->name + used, sizeof scenario->name - (size_t)used,
                             "%s%" PRIu32 "x%" PRIu32 " ring %" PRIu32, j ? "+" : " ", stage->partition[j].u,
                             stage->partition[j].v, stage->partition[j].ring);
    }
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/pimsim-allspark-%ld.bin", (long)getpid());
    write_trace(scenario, path);
    enum pim_status status = pim_trace_open(path, &scenario->trace, error);
    (void)unlink(path);
    ck_assert_msg(status == PIM_OK, "%s: %s", scenario->name, error->text);
    return true;
}

void scenario_end(struct scenario *scenario)
{
    pim_trace_close(scenario->trace);
    pim_allspark_plan_terminate(&scenario->plan);
    pim_network_destroy(scenario->network);
}

void scenario_check(const struct scenario *scenario)
{
    const struct pim_estimate_hardware *hardware = &scenario->plan.hardware;
    const struct pim_check_limits limits = {.buffer_bytes = {[PIM_BUFFER_INPUT] = hardware->input_bytes,
                                                             [PIM_BUFFER_WEIGHT] = hardware->weight_bytes,
                                                             [PIM_BUFFER_OUTPUT] = hardware->output_bytes},
                                            .memory_bytes = hardware->memory_bytes,
                                            .window = 64,
                                            .posted_receives = 1,
                                            .accumulator_bits = 8 * hardware->accumulator_bytes};
    struct pim_check_result result;
    struct pim_error error = {0};
    enum pim_status status = pim_trace_check(scenario->trace, &limits, &result, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", scenario->name, error.text);
    ck_assert_uint_eq(result.counts.macs, pim_allspark_macs(&scenario->plan));
    ck_assert_uint_eq(result.counts.sent_bytes, result.counts.received_bytes);
    for (unsigned buffer = 0; buffer < PIM_BUFFERS; buffer++)
        ck_assert_msg(result.left_bytes[buffer] == 0, "%s: %" PRIu64 " bytes left in buffer %u",
                      scenario->name, result.left_bytes[buffer], buffer);
}

void scenario_prove(struct scenario *scenario)
{
    struct pim_allspark_check check;
    struct pim_error error = {0};
    scenario_check(scenario);
    enum pim_status status =
        pim_allspark_check_values(&scenario->plan, scenario->trace, NULL, &check, &error);
    ck_assert_msg(status == PIM_OK, "%s: %s", scenario->name, error.text);
    ck_assert_uint_gt(check.elements, 0);
}

uint64_t cycles_of(const struct pim_allspark_plan *plan)
{
    uint64_t cycles, between;
    struct pim_error error = {0};
    ck_assert_msg(pim_allspark_estimate(plan, &cycles, NULL, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_allspark_estimate_interaction(plan, &between, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_lt(between, cycles);
    return cycles - between;
}
