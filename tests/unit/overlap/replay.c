#include "tests/unit/overlap/replay.h"

#include "include/pimsim/pimsim.h"
#include "mappers/mappers.h"
#include "mappers/overlapim/machine.h"
#include "mappers/overlapim/plan.h"
#include "models/system/schema.h"
#include "sim/output/json.h"
#include "tests/unit/test_main.h"
#include "traces/file/reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text form of a plan: the end of every layer in the series of its objective. */
static json_t *plan_of(struct pim_mapping *mapping)
{
    struct pim_error error = {PIM_OK, ""};
    char *text = NULL;
    size_t length = 0;
    json_t *result = NULL;
    FILE *file = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(file);
    ck_assert(mapping->mapper->write_json(mapping->plan, file, &error) == PIM_OK);
    (void)fclose(file);
    ck_assert_msg(pim_json_parse("plan", text, length, &result, &error) == PIM_OK, "%s", error.text);
    free(text);
    return result;
}

static json_t *run(const char *path)
{
    struct pimsim_options options = {.size = sizeof options};
    struct pimsim_simulation *simulation = NULL;
    struct pim_error error = {PIM_OK, ""};
    char message[512] = "";
    const char *text = NULL;
    json_t *result = NULL;
    ck_assert_msg(pimsim_create(&simulation, path, &options, message, sizeof message) == 0, "%s", message);
    ck_assert_msg(pimsim_run(simulation, message, sizeof message) == 0, "%s", message);
    ck_assert_msg(pimsim_results(simulation, &text, message, sizeof message) == 0, "%s", message);
    ck_assert_msg(pim_json_parse("results", text, strlen(text), &result, &error) == PIM_OK, "%s", error.text);
    pimsim_destroy(simulation);
    return result;
}

static double number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no %s", key);
    return json_number_value(value);
}

uint64_t replay_cycles(const char *path)
{
    json_t *results = run(path);
    uint64_t cycles = (uint64_t)number(results, "cycles");
    json_decref(results);
    return cycles;
}

static bool near(double estimated, double simulated, double percent)
{
    return estimated > simulated * (1 - percent / 100) && estimated < simulated * (1 + percent / 100);
}

/* Never faster than the memory: all columns of all banks multiplying; activations under tFAW (16 cycles for
 * four; tRRD, 2, is within that); the data bus of a channel; the bus between stacks. */
static void check_bounds(json_t *plan, json_t *results, const struct pim_configuration *configuration)
{
    json_t *layers = json_object_get(plan, "layers"), *phases = json_object_get(results, "phases");
    json_t *channels = json_object_get(results, "channels");
    double busy = 0, each = number(plan, "channels_per_layer"), cycles = number(results, "cycles");
    double channel = (double)pim_configuration_integer(configuration, "levels.channel_bytes");
    double bus = (double)pim_configuration_integer(configuration, "levels.bus_bytes");
    for (size_t i = 0; i < json_array_size(layers); i++) {
        json_t *layer = json_array_get(layers, i), *phase = json_array_get(phases, i);
        json_t *by = json_object_get(phase, "unit_cycles_by");
        double bound = number(layer, "bound"), matrix = number(by, "matrix");
        busy += matrix + number(by, "vector") + number(by, "memory") + number(by, "network");
        ck_assert_double_ge(number(phase, "cycles"), bound);
        if (json_is_true(json_object_get(layer, "product")))
            ck_assert_msg(matrix >= each * bound, "%s multiplies for %.0f cycles, at least %.0f are needed",
                          json_string_value(json_object_get(layer, "name")), matrix, each * bound);
    }
    if (pim_configuration_choice(configuration, "levels.costs") == PIM_MACHINE_COMMANDS)
        ck_assert_double_ge(busy, 4 * number(channels, "activations"));
    ck_assert_double_ge(busy, number(channels, "row_bits") / 8 / channel);
    ck_assert_double_ge(cycles, number(channels, "bus_bits") / 8 / bus);
}

/* A phase ends when all has been sent: percent that a layer may end earlier. */
enum { SENDS = 9 };

static void compare(json_t *plan, json_t *results, const char *series, double percent, double share)
{
    json_t *layers = json_object_get(plan, "layers"), *phases = json_object_get(results, "phases");
    double estimated = number(json_object_get(plan, "series"), series), cycles = number(results, "cycles");
    ck_assert_uint_eq(json_array_size(layers), json_array_size(phases));
    ck_assert_msg(near(estimated, cycles, percent), "%.0f cycles are estimated, %.0f are simulated",
                  estimated, cycles);
    for (size_t i = 0; i < json_array_size(layers); i++) {
        json_t *layer = json_array_get(layers, i), *phase = json_array_get(phases, i);
        const char *name = json_string_value(json_object_get(layer, "name"));
        double end = number(json_object_get(layer, "end"), series), simulated = number(phase, "end_cycle");
        double adds = number(phase, "estimate_cycles"), added = number(phase, "exclusive_cycles");
        ck_assert_msg(near(end, simulated, percent + SENDS),
                      "%s is estimated to end at %.0f, it ends at %.0f", name, end, simulated);
        if (added > share * cycles)
            ck_assert_msg(near(adds, added, percent), "%s is estimated to add %.0f, it adds %.0f", name, adds,
                          added);
    }
}

static struct pim_configuration *hardware(const struct replay *replay)
{
    char buffer[PATH_MAX], relative[128];
    struct pim_error error = {PIM_OK, ""};
    struct pim_configuration *configuration = NULL;
    (void)snprintf(relative, sizeof relative, "configs/hardware/fast-overlapim-%s.cfg", replay->memory);
    ck_assert(pim_configuration_create(&pim_hardware_schema, &configuration, &error) == PIM_OK);
    const char *path = pimsim_source_path(buffer, sizeof buffer, relative);
    ck_assert_msg(pim_configuration_read_file(configuration, path, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_configuration_set(configuration, replay->set, &error) == PIM_OK, "%s", error.text);
    return configuration;
}

/* A network mapped, and its trace written and run. */
struct replayed {
    struct pim_configuration *configuration;
    json_t *plan, *results; /* plan: as it is when the trace is written */
    double estimate;
};

/* What a unit receives is waited for by an instruction behind it: a receive that nobody names is one whose
 * rows are read before they are there. */
static void check_receives_of(struct pim_trace *trace, uint32_t unit)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *next;
    uint64_t received[UINT16_MAX], count = 0;
    ck_assert(pim_trace_cursor_create(trace, unit, &cursor, &error) == PIM_OK);
    for (uint64_t at = 0; pim_trace_cursor_next(cursor, &next, &error) == PIM_OK && next; at++) {
        for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
            for (uint64_t j = next->dependency[i] ? count : 0; j-- > 0;) {
                if (received[j] == at - next->dependency[i])
                    received[j] = received[--count];
            }
        }
        if (next->opcode == PIM_OP_ROW_RECEIVE) {
            ck_assert_uint_lt(count, UINT16_MAX);
            received[count++] = at;
        }
    }
    ck_assert_msg(error.status == PIM_OK, "%s", error.text);
    ck_assert_msg(count == 0, "unit %u: nobody waits for instruction %llu, a receive", unit,
                  (unsigned long long)received[0]);
    pim_trace_cursor_destroy(cursor);
}

static void check_receives(const char *path)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace;
    ck_assert_msg(pim_trace_open(path, &trace, &error) == PIM_OK, "%s", error.text);
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++)
        check_receives_of(trace, unit);
    pim_trace_close(trace);
}

static void replay_on(const struct pim_network *network, struct pim_configuration *configuration,
                      unsigned objective, unsigned budget, unsigned channels, bool random,
                      struct replayed *replayed)
{
    char path[] = "/tmp/pimsim-overlap-XXXXXX";
    struct pim_error error = {PIM_OK, ""};
    struct pim_mapping mapping;
    struct pim_mapper_estimate estimate;
    struct pim_overlapim_options options;
    char *text = pim_configuration_write(configuration, false);
    const struct pim_mapper_inputs inputs = {
        .network = network, .configuration = configuration, .configuration_text = text};
    memcpy(&options, pim_overlapim_mapper.options.defaults, sizeof options);
    options.objective = objective;
    options.search.steps = budget;
    options.random = random;
    options.channels = channels / 2; /* 1, 2, 4 */
    ck_assert_msg(pim_mapping_make(&pim_overlapim_mapper, &inputs, &options, &mapping, &error) == PIM_OK,
                  "%s", error.text);
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    (void)close(descriptor);
    ck_assert_msg(pim_mapping_write(&mapping, path, &error) == PIM_OK, "%s", error.text);
    ck_assert(pim_overlapim_mapper.estimate(mapping.plan, &estimate, &error) == PIM_OK);
    *replayed = (struct replayed){configuration, plan_of(&mapping), run(path), (double)estimate.cycles};
    /* Else the ends of phases wait for what came there. */
    if (!json_object_get(replayed->plan, "hand_over_at_ends"))
        check_receives(path);
    (void)unlink(path);
    pim_mapping_terminate(&mapping);
    free(text);
}

static void replay_network(const struct replay *replay, const char *array, unsigned channels,
                           struct replayed *replayed)
{
    char buffer[PATH_MAX], relative[128];
    struct pim_error error = {PIM_OK, ""};
    struct pim_network *built = NULL;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", replay->network);
    ck_assert(pim_network_read(pimsim_source_path(buffer, sizeof buffer, relative), NULL, 0, &built,
                               &error) == PIM_OK);
    struct pim_configuration *configuration = hardware(replay);
    ck_assert_msg(pim_configuration_set(configuration, array, &error) == PIM_OK, "%s", error.text);
    replay_on(built, configuration, replay->objective, replay->budget, channels, false, replayed);
    pim_network_destroy(built);
}

static void release(struct replayed *replayed)
{
    json_decref(replayed->plan);
    json_decref(replayed->results);
    pim_configuration_destroy(replayed->configuration);
}

static const char *const series[] = {"best_original_overlap", "best_overlap", "best_transform", "best_ahead"};

void check_replay(const struct replay *replay)
{
    struct replayed replayed;
    replay_network(replay, "array.kind=channel", 2, &replayed);
    ck_assert_ptr_null(json_object_get(replayed.plan, "hand_over_at_ends"));
    compare(replayed.plan, replayed.results, series[replay->objective], replay->percent, replay->share);
    check_bounds(replayed.plan, replayed.results, replayed.configuration);
    release(&replayed);
}

static void check_whole(const struct replay *replay, const struct replayed *replayed)
{
    double estimated = number(json_object_get(replayed->plan, "series"), series[replay->objective]),
           cycles = number(replayed->results, "cycles");
    ck_assert_msg(near(estimated, cycles, replay->percent), "%.0f cycles are estimated, %.0f are simulated",
                  estimated, cycles);
    check_bounds(replayed->plan, replayed->results, replayed->configuration);
}

void check_array(const struct replay *replay, const char *array, unsigned channels)
{
    struct replayed replayed;
    replay_network(replay, array, channels, &replayed);
    check_whole(replay, &replayed);
    release(&replayed);
}

void check_hand_over(const struct replay *replay, const char *array, unsigned channels)
{
    struct replayed replayed;
    replay_network(replay, array, channels, &replayed);
    ck_assert_msg(json_is_true(json_object_get(replayed.plan, "hand_over_at_ends")),
                  "%s on %s: no unit waits for another, so that nothing is tested", replay->network, array);
    check_whole(replay, &replayed);
    release(&replayed);
}

static void check(const struct built_replay *replay, bool random)
{
    const struct replay on = {.memory = "hbm2", .set = "array.kind=channel"};
    struct pim_error error = {PIM_OK, ""};
    struct replayed replayed;
    struct pim_configuration *configuration = hardware(&on);
    for (const char *const *setting = replay->settings; *setting; setting++)
        ck_assert_msg(pim_configuration_set(configuration, *setting, &error) == PIM_OK, "%s", error.text);
    replay_on(replay->network, configuration, replay->objective, replay->budget, replay->channels, random,
              &replayed);
    ck_assert(json_is_true(json_object_get(replayed.plan, "hand_over_at_ends")) == replay->ends);
    json_t *phases = json_object_get(replayed.results, "phases");
    const double cycles = number(replayed.results, "cycles");
    ck_assert_msg(near(replayed.estimate, cycles, replay->percent),
                  "%s: %.0f cycles are estimated, %.0f are simulated", replay->network->name,
                  replayed.estimate, cycles);
    for (size_t i = 0; i < json_array_size(phases); i++) {
        json_t *phase = json_array_get(phases, i);
        const double adds = number(phase, "estimate_cycles"), added = number(phase, "exclusive_cycles");
        const double most = adds > added ? adds : added;
        ck_assert_msg(50 * most < cycles || near(adds, added, replay->phase_percent),
                      "%s: %s is estimated to add %.0f, it adds %.0f", replay->network->name,
                      json_string_value(json_object_get(phase, "name")), adds, added);
    }
    release(&replayed);
}

void check_built(const struct built_replay *replay)
{
    check(replay, false);
}

void check_built_random(const struct built_replay *replay)
{
    check(replay, true);
}
