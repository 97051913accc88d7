/* pimsim area: what the logic of a node array or a mesh of tiles takes, by closed forms in three readings. */
#include "tools/systems/area.h"
#include "models/system/schema.h"
#include "models/system/used.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/mapping/area_tiles.h"
#include "tools/command/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { FORMAT_TEXT = 0, DEFAULT_BITS = 16 };

/* X(member, key of JSON, text) */
#define AREA_MAP(X)                                                                                          \
    X(pe, "pe_mm2", "PE arrays")                                                                             \
    X(input, "input_buffer_mm2", "input buffers")                                                            \
    X(weight, "weight_buffer_mm2", "weight buffers")                                                         \
    X(output, "output_buffer_mm2", "output buffers")                                                         \
    X(engines, "engines_mm2", "engines (the above)")                                                         \
    X(routers, "routers_mm2", "routers")                                                                     \
    X(controllers, "controllers_mm2", "DRAM controllers")                                                    \
    X(total, "total_mm2", "all")

struct request {
    struct common_options common;
    const char *output;
    uint64_t bits;
    unsigned format;
    double budget; /* mm2 for the engines; NaN: not asked */
};

static void write_text(FILE *file, const struct request *request, const struct pim_area_system *system,
                       const struct pim_area areas[PIM_AREA_READINGS])
{
    fprintf(file,
            "nodes                %" PRIu32 ", each %" PRIu32 " x %" PRIu32 " PEs of %" PRIu32
            " bits, %" PRIu32 "-bit sums\n",
            system->nodes, system->pe_rows, system->pe_columns, system->operand_bits, system->sum_bits);
    fprintf(file, "\nmm2 at 28 nm        ");
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++)
        fprintf(file, " %9s", pim_area_reading_text((enum pim_area_reading)reading));
#define X(member, key, text)                                                                                 \
    fprintf(file, "\n%-20s", text);                                                                          \
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++)                                            \
        fprintf(file, " %9.3f", areas[reading].member);
    AREA_MAP(X)
#undef X
    fprintf(file, "\n");
    if (!isnan(request->budget)) {
        fprintf(file, "%-20s", "engines fit");
        for (int reading = 0; reading < PIM_AREA_READINGS; reading++)
            fprintf(file, " %9s", areas[reading].engines <= request->budget ? "yes" : "no");
        fprintf(file, "   of %g mm2\n", request->budget);
    }
    fprintf(file, "\npJ, mid              %.3f a multiply-accumulate, %.4f a bit read from the buffers\n",
            pim_area_mac_pj(system->operand_bits, system->sum_bits), pim_area_buffer_pj_per_bit(system));
}

static enum pim_status write_json(FILE *file, const struct request *request,
                                  const struct pim_area_system *system,
                                  const struct pim_area areas[PIM_AREA_READINGS], struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the result");
    pim_json_put_count(json, "nodes", system->nodes);
    pim_json_put_count(json, "pe_rows", system->pe_rows);
    pim_json_put_count(json, "pe_columns", system->pe_columns);
    pim_json_put_count(json, "operand_bits", system->operand_bits);
    pim_json_put_count(json, "sum_bits", system->sum_bits);
    pim_json_put_count(json, "technology_nm", 28);
    for (int reading = 0; reading < PIM_AREA_READINGS; reading++) {
        pim_json_begin_object(json, pim_area_reading_text((enum pim_area_reading)reading));
#define X(member, key, text) pim_json_put_real(json, key, areas[reading].member);
        AREA_MAP(X)
#undef X
        if (!isnan(request->budget))
            pim_json_put_boolean(json, "engines_fit", areas[reading].engines <= request->budget);
        pim_json_end(json);
    }
    if (!isnan(request->budget))
        pim_json_put_real(json, "budget_mm2", request->budget);
    pim_json_put_real(json, "mac_pj", pim_area_mac_pj(system->operand_bits, system->sum_bits));
    pim_json_put_real(json, "buffer_read_pj_per_bit", pim_area_buffer_pj_per_bit(system));
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* Options that say nothing about tiles are refused. */
static enum pim_status write_tiles(FILE *file, const struct request *request,
                                   const struct pim_configuration *configuration, struct pim_error *error)
{
    if (request->bits > 0 || !isnan(request->budget))
        return pim_fail(error, PIM_USAGE, "%s goes with DRAM-PIM nodes; this hardware is made of tiles",
                        request->bits > 0 ? "--bits" : "--budget");
    if (request->format != FORMAT_TEXT)
        return area_tiles_write_json(file, configuration, error);
    return area_tiles_write_text(file, configuration, error);
}

static enum pim_status write_nodes(FILE *file, const struct request *request,
                                   const struct pim_configuration *configuration, struct pim_error *error)
{
    struct pim_area_system system;
    struct pim_area areas[PIM_AREA_READINGS];
    unsigned bits = request->bits > 0 ? (unsigned)request->bits : DEFAULT_BITS;
    if (pim_area_read(configuration, bits, &system, areas, error) != PIM_OK)
        return error->status;
    if (system.sum_bits < system.operand_bits)
        return pim_configuration_fail(configuration, error, "pe.accumulator_bits",
                                      "sums of %" PRIu32 " bits hold no operand of %" PRIu32
                                      ": give that or more, or fewer --bits",
                                      system.sum_bits, system.operand_bits);
    if (request->format != FORMAT_TEXT)
        return write_json(file, request, &system, areas, error);
    write_text(file, request, &system, areas);
    return PIM_OK;
}

static enum pim_status run(const struct request *request, struct pim_error *error)
{
    struct pim_configuration *configuration;
    struct pim_output *output;
    if (options_configuration(&pim_hardware_schema, &request->common.hardware, &request->common.sets,
                              PIM_TO_MEASURE, &configuration, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_output_open(&output, request->output, error);
    if (status == PIM_OK) {
        FILE *file = pim_output_file(output);
        status = pim_area_is_of_tiles(configuration) ? write_tiles(file, request, configuration, error)
                                                     : write_nodes(file, request, configuration, error);
        if (status == PIM_OK)
            status = pim_output_commit(output, error);
        else
            pim_output_abandon(output);
    }
    pim_configuration_destroy(configuration);
    return status;
}

int command_area(int argument_count, char **arguments)
{
    struct request request = {.output = "-", .budget = (double)NAN};
    const struct option_rule rules[] = {
        OPTION_HARDWARE(request.common),
        OPTION_SET(request.common),
        OPTION_OUTPUT(request.output, WRITES_TEXT, "Where the result goes"),
        OPTION_FORMAT(request.format, "text|json"),
        RULE_UNSIGNED("bits", request.bits, "N", 2, 64, "Width of operands", .standard = "16"),
        RULE_REAL("budget", request.budget, "MM2", 0, 1e6,
                  "Also says whether PE arrays and buffers fit into so many mm2"),
    };
    const struct option_usage usage = OPTION_USAGE(
        "",
        "Estimates the area of PE arrays, buffers, routers and DRAM controllers of "
        "a node array at 28 nm, or of the buffers and routers of a mesh of crossbar tiles, in three readings "
        "of "
        "the sources.",
        rules, 0, 0);
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {0};
    enum pim_status status = run(&request, &error);
    common_terminate(&request.common);
    return command_end(arguments[0], status, &error);
}
