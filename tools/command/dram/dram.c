/* pimsim dram: a memory alone. */
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/dram/memory.h"
#include "tools/command/dram/run.h"
#include "tools/command/dram/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOT_GIVEN UINT32_MAX
#define NO_NUMBER UINT64_MAX

/* Not given is NULL, NO_NUMBER, NOT_GIVEN or NaN, so that an option that would do nothing is noticed. */
struct dram_options {
    struct dram_memory_options memory;
    const char *requests, *log, *commands, *stats, *check;
    unsigned format, requests_format, commands_format;
    uint64_t shown;
    bool list_presets, verify, reproducible, quiet;
    const char *pattern;
    struct dram_stream stream;
    struct dram_tensor tensor;
};

/* The parts of a standard, a line of at most 100 characters each. */
static void print_parts(const char *title, enum pim_dram_preset_kind kind, const char *standard)
{
    const struct pim_dram_preset_list *list = &pim_dram_preset_lists[kind];
    size_t column = 11;
    printf("  %-9s", title);
    for (size_t i = 0; i < list->count; i++) {
        const char *part = pim_dram_part_of(&list->items[i], standard);
        if (!part)
            continue;
        column += 1 + strlen(part);
        if (column > 100) {
            printf("\n           ");
            column = 12 + strlen(part);
        }
        printf(" %s", part);
    }
    printf("\n");
}

static void print_presets(void)
{
    const struct pim_dram_preset_list *standards = &pim_dram_preset_lists[PIM_DRAM_STANDARD];
    for (size_t i = 0; i < pim_dram_preset_count(); i++)
        printf("%-15s %s\n", pim_dram_preset(i)->name, pim_dram_preset(i)->about);
    printf(
        "\nSTANDARD_BIN_DENSITY, as ddr4_2933y_16gb_x4, of these. gb: Gbit of a device, x4 with 4 data pins "
        "(DDR, GDDR),\nor of a channel (LPDDR, HBM):\n");
    for (size_t i = 0; i < standards->count; i++) {
        const struct pim_dram_preset *standard = &standards->items[i];
        printf("%-15s %s\n", standard->name, standard->about);
        print_parts("bins", PIM_DRAM_BIN, standard->name);
        print_parts("densities", PIM_DRAM_DENSITY, standard->name);
    }
}

enum output { OUTPUT_LOG, OUTPUT_COMMANDS, OUTPUT_STATS, OUTPUTS };

/* Requests that will come; 0: a file does not say. */
static uint64_t total_of(const struct dram_options *options, const struct dram_run *run)
{
    return options->pattern ? options->stream.count : options->tensor.extents ? run->window.pieces : 0;
}

/* Opens every file before the run, so that a wrong name costs no time; writes all of them as the run goes,
 * then puts all in place. */
static enum pim_status run_list(const struct dram_options *options,
                                const struct pim_dram_configuration *configuration, const char *name,
                                struct dram_source *source, struct dram_run *run, struct pim_error *error)
{
    const char *const paths[OUTPUTS] = {options->log, options->commands,
                                        options->stats ? options->stats : "-"};
    struct pim_output *outputs[OUTPUTS] = {NULL};
    struct pim_csv_writer requests;
    struct pim_progress progress;
    struct dram_run_outputs wanted = {.format = (enum dram_log_format)options->commands_format,
                                      .check = options->verify,
                                      .progress = &progress};
    enum pim_status status = PIM_OK;
    for (unsigned i = 0; status == PIM_OK && i < OUTPUTS; i++)
        if (paths[i])
            status = pim_output_open(&outputs[i], paths[i], error);
    if (status == PIM_OK && outputs[OUTPUT_LOG]) {
        dram_requests_start(&requests, pim_output_file(outputs[OUTPUT_LOG]));
        wanted.context = &requests;
        wanted.served = dram_requests_put;
    }
    if (status == PIM_OK && outputs[OUTPUT_COMMANDS])
        wanted.commands = pim_output_file(outputs[OUTPUT_COMMANDS]);
    pim_progress_start(&progress, "requests", total_of(options, run), options->quiet);
    if (status == PIM_OK)
        status = dram_run_execute(run, configuration, source, &wanted, error);
    pim_progress_finish(&progress);
    if (status == PIM_OK)
        status = dram_report_write(run, configuration, name, options->format, !options->reproducible,
                                   pim_output_file(outputs[OUTPUT_STATS]), error);
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (status == PIM_OK && outputs[i])
            status = pim_output_commit(outputs[i], error);
        else
            pim_output_abandon(outputs[i]);
    }
    return status == PIM_OK ? dram_log_judge(run->violations, error) : status;
}

/* DRAMPower reads the commands of one channel, and knows neither halves of activations nor CAS. */
static enum pim_status check_formats(const struct dram_options *options,
                                     const struct pim_dram_configuration *configuration,
                                     struct pim_error *error)
{
    const struct pim_dram_organization *o = &configuration->specification.organization;
    if (options->check || options->commands_format != DRAM_LOG_DRAMPOWER)
        return PIM_OK;
    if (o->channels > 1 || o->pseudo_channels > 1)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--commands-format drampower: the memory has %u channels with %u pseudo-channels: "
                        "DRAMPower reads the commands of one (dram.channels=1, dram.pseudo_channels=1)",
                        o->channels, o->pseudo_channels);
    return PIM_OK;
}

static enum pim_status open_source(struct dram_options *options,
                                   const struct pim_dram_configuration *configuration, struct dram_run *run,
                                   struct dram_source **source, struct pim_error *error)
{
    if (options->requests)
        return dram_source_open(source, options->requests, (enum dram_list_format)options->requests_format,
                                configuration, error);
    if (options->tensor.extents)
        return dram_source_tensor(source, &options->tensor, configuration, &run->window, error);
    return dram_source_generate(source, &options->stream, configuration, error);
}

static enum pim_status check_log(const struct dram_options *options,
                                 const struct pim_dram_configuration *configuration, struct pim_error *error)
{
    uint64_t violations = 0;
    if (dram_check_file(configuration, options->check, (enum dram_log_format)options->commands_format,
                        options->shown, options->format, stdout, &violations, error) != PIM_OK)
        return error->status;
    return violations == 0 ? PIM_OK
                           : pim_fail(error, PIM_BAD_INPUT, "%s: %llu violations", options->check,
                                      (unsigned long long)violations);
}

static enum pim_status execute(struct dram_options *options, struct pim_error *error)
{
    struct pim_configuration *values = NULL;
    struct pim_dram_configuration configuration;
    struct dram_source *source = NULL;
    struct dram_run run = {0};
    enum pim_status status = dram_memory_configure(&options->memory, NULL, &values, &configuration, error);
    if (status == PIM_OK)
        status = check_formats(options, &configuration, error);
    if (status == PIM_OK && options->check) {
        status = check_log(options, &configuration, error);
    } else if (status == PIM_OK) {
        status = open_source(options, &configuration, &run, &source, error);
        if (status == PIM_OK)
            status = run_list(options, &configuration, pim_configuration_text(values, "name"), source, &run,
                              error);
    }
    dram_source_close(source);
    pim_configuration_destroy(values);
    return status;
}

struct dependence {
    bool given, wanted;
    const char *option, *of;
};

/* An option without the one it is a part of would do nothing. */
static enum pim_status check_dependences(const struct dram_options *options, struct pim_error *error)
{
    const struct dram_stream *stream = &options->stream;
    const struct dram_tensor *tensor = &options->tensor;
    bool pattern = options->pattern, mixed = pattern && stream->pattern == DRAM_MIXED;
    bool strided = pattern && stream->pattern == DRAM_STRIDED, window = tensor->extents;
    bool run = !options->check;
    bool drawn = mixed || (pattern && stream->pattern == DRAM_RANDOM) ||
                 (pattern && stream->reads > 0 && stream->reads < 1);
    const struct dependence dependences[] = {
        {stream->count != NO_NUMBER, pattern, "count", "--pattern"},
        {stream->stride != NO_NUMBER, strided, "stride", "--pattern strided"},
        {!isnan(stream->locality), mixed, "locality", "--pattern mixed"},
        {!isnan(stream->reads), pattern, "read-share", "--pattern"},
        {!isnan(stream->rate), pattern, "rate", "--pattern"},
        {stream->seed != NO_NUMBER, drawn, "seed",
         "--pattern random or mixed, or of a --read-share between 0 and 1"},
        {tensor->window, window, "window", "--tensor"},
        {tensor->layout != NOT_GIVEN, window, "layout", "--tensor"},
        {tensor->group != NO_NUMBER, window && tensor->layout == DRAM_LAYOUT_BCHW_G, "group",
         "--tensor with --layout bchw_g"},
        {tensor->element_bytes != NO_NUMBER, window, "element-bytes", "--tensor"},
        {tensor->address != NO_NUMBER, window, "address", "--tensor"},
        {tensor->write, window, "write-tensor", "--tensor"},
        {options->requests_format != NOT_GIVEN, options->requests, "requests-format", "--requests"},
        {options->commands_format != NOT_GIVEN, options->commands || options->check, "commands-format",
         "--commands or --check-commands"},
        {options->shown != NO_NUMBER, options->check, "show", "--check-commands"},
        {options->log, run, "log", "a run"},
        {options->commands, run, "commands", "a run"},
        {options->stats, run, "stats", "a run"},
        {options->verify, run, "verify", "a run"},
    };
    for (size_t i = 0; i < sizeof dependences / sizeof dependences[0]; i++)
        if (dependences[i].given && !dependences[i].wanted)
            return pim_fail(error, PIM_USAGE, "--%s is a part of %s, which is not asked for",
                            dependences[i].option, dependences[i].of);
    return PIM_OK;
}

/* What must, and must not, be given together. */
static enum pim_status check_options(struct dram_options *options, struct pim_error *error)
{
    int sources = !!options->requests + !!options->pattern + !!options->tensor.extents + !!options->check;
    if (sources != 1)
        return pim_fail(error, PIM_USAGE,
                        "give one of --requests FILE, --pattern PATTERN, --tensor EXTENTS and "
                        "--check-commands FILE");
    if (options->pattern && pim_parse_choice("--pattern", options->pattern, DRAM_PATTERN_NAMES,
                                             &options->stream.pattern, error) != PIM_OK)
        return error->status;
    if (check_dependences(options, error) != PIM_OK)
        return error->status;
    const unsigned format = options->commands_format;
    if (options->check && format == DRAM_LOG_DRAMPOWER)
        return pim_fail(error, PIM_USAGE,
                        "--commands-format drampower is written, not read: its commands "
                        "have no channel, and -1 stands nowhere");
    if (options->commands && (format == DRAM_LOG_RAMULATOR || format == DRAM_LOG_DRAMSIM3))
        return pim_fail(error, PIM_USAGE,
                        "--commands-format: csv and drampower are written, the others read");
    return PIM_OK;
}

static void default_number(uint64_t *number, uint64_t value)
{
    *number = *number == NO_NUMBER ? value : *number;
}

static void default_real(double *number, double value)
{
    *number = isnan(*number) ? value : *number;
}

static void set_defaults(struct dram_options *options)
{
    struct dram_stream *stream = &options->stream;
    struct dram_tensor *tensor = &options->tensor;
    default_number(&stream->count, 100000);
    default_number(&stream->stride, 4096);
    default_real(&stream->locality, 0.5);
    default_real(&stream->reads, 1);
    default_real(&stream->rate, 1);
    default_number(&stream->seed, 1);
    tensor->layout = tensor->layout == NOT_GIVEN ? 0 : tensor->layout;
    default_number(&tensor->group, 2);
    default_number(&tensor->element_bytes, 2);
    default_number(&tensor->address, 0);
    default_number(&options->shown, 100);
    options->requests_format =
        options->requests_format == NOT_GIVEN ? DRAM_LIST_CSV : options->requests_format;
    options->commands_format =
        options->commands_format == NOT_GIVEN ? DRAM_LOG_CSV : options->commands_format;
}

static int run_command(struct dram_options *options, const char *words, struct pim_error *error)
{
    if (error->status == PIM_OK && options->list_presets) {
        print_presets();
    } else if (error->status == PIM_OK && check_options(options, error) == PIM_OK) {
        set_defaults(options);
        (void)execute(options, error);
    }
    dram_memory_options_terminate(&options->memory);
    return command_end(words, error->status, error);
}

/* Where the requests come from. */
#define OPTIONS_STREAM(stream)                                                                               \
    RULE_UNSIGNED("count", (stream).count, "N", 1, UINT64_C(1000000000000), "Generated requests",            \
                  .standard = "100000"),                                                                     \
        RULE_UNSIGNED("stride", (stream).stride, "BYTES", 1, UINT64_C(1) << 40,                              \
                      "Distance of strided requests", .standard = "4096"),                                   \
        RULE_REAL("locality", (stream).locality, "X", 0, 1,                                                  \
                  "mixed: share of requests to the next column of the same row", .standard = "0.5"),         \
        RULE_REAL("read-share", (stream).reads, "X", 0, 1, "Share of reads", .standard = "1"),               \
        RULE_REAL("rate", (stream).rate, "X", 1e-9, 1e6,                                                     \
                  "Requests handed over in a cycle, as far as they are accepted", .standard = "1"),          \
        RULE_UNSIGNED("seed", (stream).seed, "N", 0, UINT64_MAX - 1, "Seed of generated requests",           \
                      .standard = "1")

int command_dram(int argument_count, char **arguments)
{
    struct dram_options options = {
        .requests_format = NOT_GIVEN,
        .commands_format = NOT_GIVEN,
        .shown = NO_NUMBER,
        .stream = {0, NO_NUMBER, NO_NUMBER, (double)NAN, (double)NAN, (double)NAN, NO_NUMBER},
        .tensor = {NULL, NULL, NOT_GIVEN, NO_NUMBER, NO_NUMBER, NO_NUMBER, false}};
    struct option_rule rules[] = {
        OPTIONS_DRAM_MEMORY(options.memory, "(see --list-presets), or STANDARD_BIN_DENSITY"),
        RULE_TEXT("requests", options.requests, "FILE",
                  "The requests: cycle,op,address[,bytes] with op R or W"),
        RULE_CHOICE("requests-format", options.requests_format, "FORMAT", DRAM_LIST_FORMAT_NAMES,
                    "Of the requests: our CSV, or a trace of another tool", .standard = "csv"),
        RULE_TEXT("pattern", options.pattern, "PATTERN", "Generates requests instead",
                  .choices = DRAM_PATTERN_NAMES),
        OPTIONS_STREAM(options.stream),
        OPTIONS_TENSOR(options.tensor),
        RULE_OUTPUT("log", options.log, WRITES_TEXT,
                    "Writes arrival, first command and completion of each request (CSV)"),
        RULE_OUTPUT("commands", options.commands, WRITES_TEXT, "Writes every command (CSV)"),
        RULE_CHOICE("commands-format", options.commands_format, "FORMAT", DRAM_LOG_FORMAT_NAMES,
                    "Of --commands, where drampower is allowed, or of --check-commands, where ramulator and "
                    "dramsim3 are",
                    .standard = "csv"),
        RULE_OUTPUT("stats", options.stats, WRITES_TEXT,
                    "Writes the results there instead of standard output"),
        OPTION_FORMAT(options.format, "text|json"),
        RULE_FLAG(
            "verify", options.verify,
            "Holds the commands of this run against every constraint, and re-adds the energy from them"),
        RULE_TEXT("check-commands", options.check, "FILE", "Checks a log of commands instead of running"),
        RULE_UNSIGNED("show", options.shown, "N", 0, UINT64_MAX - 1,
                      "Violations that --check-commands prints", .standard = "100"),
        RULE_FLAG("reproducible", options.reproducible,
                  "Leaves out what differs from run to run: CPU seconds"),
        OPTION_QUIET(options),
        RULE_FLAG("list-presets", options.list_presets,
                  "Lists the memories that are built in, and speed bins and densities"),
    };
    const struct option_usage usage =
        OPTION_USAGE("", "Simulates a DRAM alone: request lists in, cycles and energy out.", rules, 0, 0);
    const char *given[sizeof rules / sizeof rules[0]] = {NULL};
    options_watch_all(rules, sizeof rules / sizeof rules[0], given);
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {PIM_OK, ""};
    if (options.list_presets)
        (void)options_alone(given, sizeof given / sizeof given[0], "list-presets", "", &error);
    return run_command(&options, arguments[0], &error);
}
