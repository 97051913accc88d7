/* pimsim bitserial: operations of banks that compute, alone. */
#include "sim/output/output.h"
#include "tools/command/bitserial/run.h"
#include "tools/command/command.h"
#include "tools/command/dram/log.h"
#include "tools/command/dram/memory.h"
#include "tools/command/options.h"

#include <stdio.h>
#include <string.h>

#define NOT_GIVEN UINT32_MAX

/* The options of one operation are 0 or NOT_GIVEN while they are not given. */
struct bitserial_options {
    struct dram_memory_options memory;
    const char *commands, *stats, *values, *results, *program;
    unsigned format, technology, operation, reach;
    uint64_t bits, result_bits, width, banks, channels, count, rows, pairs, shift, link_bytes, bus_bytes;
    uint64_t exponent, mantissa, nor_ps, search_ps;
    bool is_signed, carry_out, ignore_limits, verify, stepped;
};

static enum pim_status configure(const struct bitserial_options *options, struct pim_configuration **values,
                                 struct pim_dram_configuration *configuration, struct pim_error *error)
{
    if (dram_memory_configure(&options->memory, "fast_overlapim", values, configuration, error) != PIM_OK) {
        (void)pim_bitserial_check_stacks(&configuration->specification, error);
        return error->status;
    }
    if (configuration->policy.refresh && configuration->policy.per_bank_refresh)
        return pim_configuration_fail(*values, error, "dram.refresh_mode",
                                      "banks that compute are refreshed all at once: allowed is all_bank, or "
                                      "dram.refresh = false");
    if (options->ignore_limits)
        pim_bitserial_ignore_activation_limits(&configuration->specification);
    return PIM_OK;
}

static struct bitserial_task make_task(const struct bitserial_options *options, const char *memory,
                                       const struct pim_dram_configuration *configuration)
{
    struct bitserial_task task = {
        .memory = memory,
        .technology = options->technology,
        .operation = options->operation,
        .ignore_limits = options->ignore_limits,
        .reram = {(uint32_t)options->nor_ps, (uint32_t)options->search_ps},
        .exponent = (uint32_t)options->exponent,
        .mantissa = (uint32_t)options->mantissa,
        .transfer = {.reach = (enum pim_bitserial_reach)options->reach,
                     .rows = (uint32_t)(options->rows ? options->rows : options->bits),
                     .shift = (uint32_t)options->shift,
                     .pairs = (uint32_t)options->pairs,
                     .link_bytes = (uint32_t)options->link_bytes,
                     .bus_bytes = (uint32_t)options->bus_bytes,
                     .refresh = configuration->policy.refresh,
                     .stepped = options->stepped},
        .request = {.banks = (uint32_t)options->banks,
                    .channels = (uint32_t)options->channels,
                    .repeat = options->count,
                    .refresh = configuration->policy.refresh,
                    .stepped = options->stepped}};
    struct pim_bitserial_operation *o = &task.request.operation;
    *o = (struct pim_bitserial_operation){
        .kind = (enum pim_bitserial_kind)options->operation,
        .bits = (uint32_t)options->bits,
        .result_bits = (uint32_t)(options->result_bits ? options->result_bits : 2 * options->bits),
        .width = (uint32_t)options->width,
        .is_signed = options->is_signed,
        .carry_out = options->carry_out};
    if (options->operation != BITSERIAL_MOVE)
        pim_bitserial_place(o);
    return task;
}

static enum pim_status run_reram(const struct bitserial_task *task, struct bitserial_outcome *outcome,
                                 struct pim_error *error)
{
    bool multiply = task->operation == PIM_BITSERIAL_OPERATION_MULTIPLY;
    if (task->operation != PIM_BITSERIAL_OPERATION_ADD && !multiply)
        return pim_fail(error, PIM_USAGE, "--technology reram has the operations add and multiply");
    if (task->mantissa > 0) {
        outcome->nors = multiply ? pim_reram_float_multiply_nors(task->exponent, task->mantissa)
                                 : pim_reram_float_add_nors(task->exponent, task->mantissa);
        outcome->searches = multiply ? 0 : pim_reram_float_add_searches(task->mantissa);
    } else {
        struct pim_reram_program program = {0};
        uint32_t bits = task->request.operation.bits;
        enum pim_status status =
            multiply ? pim_reram_multiply(&program, bits, error) : pim_reram_add(&program, bits, error);
        uint64_t *const counts[] = {&outcome->sets, &outcome->resets, &outcome->nors};
        for (size_t i = 0; status == PIM_OK && i < program.count; i++)
            ++*counts[program.steps[i].kind];
        pim_reram_program_terminate(&program);
        if (status != PIM_OK)
            return status;
    }
    outcome->nanoseconds =
        (double)(outcome->sets + outcome->resets + outcome->nors) * task->reram.nor_ps * 1e-3 +
        (double)outcome->searches * task->reram.search_ps * 1e-3;
    return PIM_OK;
}

/* Writes and checks the commands, as far as that is wanted. */
static enum pim_status use_log(const struct pim_dram_configuration *configuration, struct dram_log *log,
                               FILE *commands, bool check, struct bitserial_outcome *outcome,
                               struct pim_error *error)
{
    struct dram_log_use use;
    const struct dram_log_taker taker = {&use, dram_log_use_take};
    enum pim_status status = dram_log_use_start(&use, configuration, commands, DRAM_LOG_CSV, check, error);
    if (status == PIM_OK)
        status = dram_log_each(log, &taker, error);
    if (status == PIM_OK && check) {
        outcome->checked = true;
        outcome->violations = pim_dram_check_violations(use.check);
    }
    dram_log_use_terminate(&use);
    return status;
}

static enum pim_status run_dram(struct bitserial_task *task,
                                const struct pim_dram_configuration *configuration, bool check,
                                struct dram_log *log, FILE *commands, struct bitserial_outcome *outcome,
                                struct pim_error *error)
{
    enum pim_status status;
    uint32_t channels = task->request.channels;
    if (task->operation == BITSERIAL_MOVE) {
        task->transfer.log = log ? dram_log_add : NULL;
        task->transfer.context = log;
        channels = 1;
        status = pim_bitserial_move(&configuration->specification, &configuration->energy, &task->transfer,
                                    &outcome->transfer, error);
    } else {
        task->request.log = log ? dram_log_add : NULL;
        task->request.context = log;
        status = pim_bitserial_run(&configuration->specification, &configuration->energy, &task->request,
                                   &outcome->cost, error);
    }
    uint64_t cycles =
        task->operation == BITSERIAL_MOVE ? outcome->transfer.cycles : outcome->cost.timing.cycles;
    outcome->nanoseconds = (double)cycles * configuration->specification.clock_ps * 1e-3;
    if (status != PIM_OK || !log)
        return status;
    log->copies = channels > 1 ? channels : 0; /* what one channel did, all of them did */
    return use_log(configuration, log, commands, check, outcome, error);
}

enum output { OUTPUT_COMMANDS, OUTPUT_PROGRAM, OUTPUT_RESULTS, OUTPUT_STATS, OUTPUTS };

/* Opens every file before the run; writes all of them, then puts all in place. */
static enum pim_status run_task(const struct bitserial_options *options, struct bitserial_task *task,
                                const struct pim_dram_configuration *configuration, struct pim_error *error)
{
    const char *const paths[OUTPUTS] = {options->commands, options->program, options->results,
                                        options->stats ? options->stats : "-"};
    struct pim_output *outputs[OUTPUTS] = {NULL};
    struct dram_log log = {0};
    struct bitserial_outcome outcome = {0};
    enum pim_status status = PIM_OK;
    for (unsigned i = 0; status == PIM_OK && i < OUTPUTS; i++)
        if (paths[i])
            status = pim_output_open(&outputs[i], paths[i], error);
    bool keep = options->commands || options->verify;
    if (status == PIM_OK)
        status = task->technology == BITSERIAL_RERAM
                     ? run_reram(task, &outcome, error)
                     : run_dram(task, configuration, options->verify, keep ? &log : NULL,
                                outputs[OUTPUT_COMMANDS] ? pim_output_file(outputs[OUTPUT_COMMANDS]) : NULL,
                                &outcome, error);
    if (status == PIM_OK && outputs[OUTPUT_PROGRAM])
        status =
            bitserial_program_write(task, configuration, pim_output_file(outputs[OUTPUT_PROGRAM]), error);
    if (status == PIM_OK && outputs[OUTPUT_RESULTS])
        status = bitserial_values_run(task, configuration, options->values,
                                      pim_output_file(outputs[OUTPUT_RESULTS]), error);
    if (status == PIM_OK)
        status = bitserial_report_write(task, &outcome, options->format,
                                        pim_output_file(outputs[OUTPUT_STATS]), error);
    for (unsigned i = 0; i < OUTPUTS; i++) {
        if (status == PIM_OK && outputs[i])
            status = pim_output_commit(outputs[i], error);
        else
            pim_output_abandon(outputs[i]);
    }
    dram_log_terminate(&log);
    return status == PIM_OK ? dram_log_judge(outcome.violations, error) : status;
}

struct dependence {
    bool given, wanted;
    const char *option, *of;
};

/* An option of another operation would do nothing. */
static enum pim_status check_dependences(const struct bitserial_options *o, struct pim_error *error)
{
    const bool dram = o->technology == BITSERIAL_DRAM, reram = !dram, move = o->operation == BITSERIAL_MOVE;
    const bool multiply = dram && o->operation == PIM_BITSERIAL_OPERATION_MULTIPLY;
    const bool real = reram && o->mantissa > 0;
    const bool searches = real && o->operation == PIM_BITSERIAL_OPERATION_ADD;
    const bool memory = o->memory.preset || o->memory.files.count > 0 || o->memory.sets.count > 0;
    static const char whole[] = "the operations of DRAM banks, not of moves";
    const struct dependence dependences[] = {
        {o->bits > 0, dram ? !move || o->rows == 0 : !real, "bits",
         dram ? "moves without --rows" : "integers: with --mantissa-bits numbers are floating point"},
        {o->banks > 0, dram && !move, "banks", whole},
        {o->channels > 0, dram && !move, "channels", whole},
        {o->count > 0, dram && !move, "count", whole},
        {memory, dram, "preset, --configuration or --set", "DRAM"},
        {o->ignore_limits, dram, "ignore-activation-limits", "DRAM"},
        {o->stepped, dram, "stepped", "DRAM"},
        {o->carry_out, dram && o->operation == PIM_BITSERIAL_OPERATION_ADD, "carry-out", "add of DRAM banks"},
        {o->is_signed, multiply, "signed",
         "multiply of DRAM banks: the other operations give the same bits either way"},
        {o->result_bits > 0, multiply, "result-bits", "multiply of DRAM banks"},
        {o->width > 0, dram && o->operation == PIM_BITSERIAL_OPERATION_REDUCE, "width", "reduce"},
        {o->reach != NOT_GIVEN, move, "to", "move"},
        {o->rows > 0, move, "rows", "move"},
        {o->pairs > 0, move, "pairs", "move"},
        {o->shift > 0, move && (o->reach == NOT_GIVEN || o->reach == PIM_BITSERIAL_REACH_COLUMN), "shift",
         "move --to column"},
        {o->link_bytes > 0, move, "link-bytes", "move"},
        {o->bus_bytes > 0, move && o->reach == PIM_BITSERIAL_REACH_STACK, "bus-bytes", "move --to stack"},
        {o->exponent > 0, real, "exponent-bits", "ReRAM with --mantissa-bits"},
        {o->mantissa > 0, reram, "mantissa-bits", "ReRAM: DRAM banks compute integers"},
        {o->nor_ps > 0, reram, "nor-ps", "ReRAM"},
        {o->search_ps > 0, searches, "search-ps", "the addition of floating-point numbers in ReRAM"},
        {o->program != NULL, dram && !move, "program", whole},
        {o->values != NULL, dram && !move, "values", whole},
        {o->commands != NULL, dram, "commands", "DRAM"},
        {o->verify, dram, "verify", "DRAM"},
    };
    for (size_t i = 0; i < sizeof dependences / sizeof dependences[0]; i++)
        if (dependences[i].given && !dependences[i].wanted)
            return pim_fail(error, PIM_USAGE, "--%s is for %s", dependences[i].option, dependences[i].of);
    return PIM_OK;
}

static enum pim_status check_options(const struct bitserial_options *options, struct pim_error *error)
{
    if (!options->values != !options->results)
        return pim_fail(error, PIM_USAGE, "--values and --results belong together");
    return check_dependences(options, error);
}

static void default_number(uint64_t *number, uint64_t value)
{
    *number = *number == 0 ? value : *number;
}

static void set_defaults(struct bitserial_options *options)
{
    options->reach = options->reach == NOT_GIVEN ? 0 : options->reach;
    default_number(&options->bits, 16);
    default_number(&options->banks, 1);
    default_number(&options->channels, 1);
    default_number(&options->count, 1);
    default_number(&options->width, 2);
    default_number(&options->pairs, 1);
    default_number(&options->link_bytes, 16);
    default_number(&options->bus_bytes, 256);
    default_number(&options->exponent, 5);
    default_number(&options->nor_ps, 1100);
    default_number(&options->search_ps, 1500);
}

static enum pim_status execute(const struct bitserial_options *options, struct pim_error *error)
{
    struct pim_configuration *values = NULL;
    struct pim_dram_configuration configuration = {.specification = {.clock_ps = 0}};
    enum pim_status status = configure(options, &values, &configuration, error);
    if (status == PIM_OK) {
        struct bitserial_task task =
            make_task(options, pim_configuration_text(values, "name"), &configuration);
        status = run_task(options, &task, &configuration, error);
    }
    pim_configuration_destroy(values);
    return status;
}

/* The technology, and what ReRAM alone has. */
#define OPTIONS_RERAM(options)                                                                               \
    RULE_CHOICE("technology", (options).technology, "NAME", "dram|reram", "Banks, or crossbars of ReRAM"),   \
        RULE_UNSIGNED("exponent-bits", (options).exponent, "N", 1, 15,                                       \
                      "reram: exponent of a floating-point number", .standard = "5"),                        \
        RULE_UNSIGNED("mantissa-bits", (options).mantissa, "N", 0, 64,                                       \
                      "reram: mantissa of a floating-point number; 0: integers of --bits"),                  \
        RULE_UNSIGNED("nor-ps", (options).nor_ps, "N", 1, 1000000, "reram: one NOR, set or reset",           \
                      .standard = "1100"),                                                                   \
        RULE_UNSIGNED("search-ps", (options).search_ps, "N", 1, 1000000, "reram: one search",                \
                      .standard = "1500")

int command_bitserial(int argument_count, char **arguments)
{
    struct bitserial_options options = {.reach = NOT_GIVEN};
    const struct option_rule rules[] = {
        OPTIONS_DRAM_MEMORY(options.memory, "(pimsim dram --list-presets)", .standard = "fast_overlapim"),
        RULE_CHOICE("operation", options.operation, "NAME", BITSERIAL_OPERATION_NAMES, "What the banks do"),
        RULE_UNSIGNED("bits", options.bits, "N", 1, 64, "Bits of an operand; reram: up to 32",
                      .standard = "16"),
        RULE_FLAG("signed", options.is_signed, "multiply: operands and products are two's complement"),
        RULE_UNSIGNED("result-bits", options.result_bits, "N", 0, 128,
                      "multiply: bits of the product; 0: twice those of an operand"),
        RULE_FLAG("carry-out", options.carry_out, "add: the carry becomes one more bit of the result"),
        RULE_UNSIGNED("width", options.width, "N", 2, UINT32_MAX, "reduce: columns that are added up",
                      .standard = "2"),
        RULE_UNSIGNED("banks", options.banks, "N", 1, 64, "Banks of each channel that do this at once",
                      .standard = "1"),
        RULE_UNSIGNED("channels", options.channels, "N", 1, 4096, "Channels that do this at once",
                      .standard = "1"),
        RULE_UNSIGNED("count", options.count, "N", 1, UINT64_C(1) << 40, "Repetitions, one after another",
                      .standard = "1"),
        RULE_CHOICE("to", options.reach, "PLACE", BITSERIAL_REACH_NAMES, "move: whereto",
                    .standard = "column"),
        RULE_UNSIGNED("rows", options.rows, "N", 0, 1048576, "move: rows; 0: as many as --bits"),
        RULE_UNSIGNED("shift", options.shift, "N", 0, UINT32_MAX, "move to another column: how far"),
        RULE_UNSIGNED("pairs", options.pairs, "N", 1, 4096, "move: such moves at once", .standard = "1"),
        RULE_UNSIGNED("link-bytes", options.link_bytes, "N", 1, 65536,
                      "move: bytes a cycle of the channel link; in paper_cycles of every move",
                      .standard = "16"),
        RULE_UNSIGNED("bus-bytes", options.bus_bytes, "N", 1, 65536,
                      "move: bytes a cycle of the bus between stacks", .standard = "256"),
        RULE_FLAG("ignore-activation-limits", options.ignore_limits,
                  "Takes tRRD and tFAW out, as papers do that do not limit activations"),
        OPTIONS_RERAM(options),
        RULE_OUTPUT("commands", options.commands, WRITES_TEXT, "Writes every command (CSV)"),
        RULE_OUTPUT("program", options.program, WRITES_TEXT,
                    "Writes the microprogram of a bank, a step a line"),
        RULE_TEXT("values", options.values, "FILE", "Computes on these numbers as well (CSV: a or a,b)"),
        RULE_OUTPUT("results", options.results, WRITES_TEXT,
                    "Where the numbers that come out go (CSV: column,result)"),
        RULE_OUTPUT("stats", options.stats, WRITES_TEXT, "Writes the costs there instead of standard output"),
        OPTION_FORMAT(options.format, "text|json"),
        RULE_FLAG("verify", options.verify, "Holds the commands of this run against every constraint"),
        RULE_FLAG("stepped", options.stepped, "Command by command, without the shortcut (the same cycles)"),
    };
    const struct option_usage usage = OPTION_USAGE(
        "", "Runs an operation of banks that compute bit-serially: cycles, commands and energy out.", rules,
        0, 0);
    options_parse(&usage, argument_count, arguments, NULL);
    struct pim_error error = {PIM_OK, ""};
    if (check_options(&options, &error) == PIM_OK) {
        set_defaults(&options);
        (void)execute(&options, &error);
    }
    dram_memory_options_terminate(&options.memory);
    return command_end(arguments[0], error.status, &error);
}
