/* pimsim trace: what is in a trace file, its text form, and whether it can complete. */
#include "models/system/schema.h"
#include "sim/configuration/configuration.h"
#include "sim/output/json.h"
#include "sim/output/output.h"
#include "tools/command/command.h"
#include "tools/command/options.h"
#include "tools/command/run/trace_limits.h"
#include "traces/check/check.h"
#include "traces/counts.h"
#include "traces/file/hardware.h"
#include "traces/file/reader.h"
#include "traces/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { FORMAT_TEXT, FORMAT_JSON };

/* Array groups of all units, and the crossbar arrays they occupy. */
static void count_groups(const struct pim_trace *trace, uint64_t *groups, uint64_t *arrays)
{
    *groups = *arrays = 0;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++) {
        uint32_t count;
        const struct pim_trace_array_group *group = pim_trace_array_groups(trace, unit, &count);
        *groups += count;
        for (uint32_t i = 0; i < count; i++)
            *arrays += group[i].arrays;
    }
}

static void count_stored(const struct pim_trace *trace, uint64_t *instructions, uint64_t *stored,
                         uint64_t *chunks)
{
    *instructions = *stored = *chunks = 0;
    for (uint32_t unit = 0; unit < pim_trace_description(trace)->units; unit++) {
        *instructions += pim_trace_instructions(trace, unit);
        *stored += pim_trace_stored_bytes(trace, unit);
        *chunks += pim_trace_chunks(trace, unit);
    }
}

static enum pim_status info_json(const struct pim_trace *trace, struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    uint64_t instructions, stored, chunks, groups, arrays;
    char hash[17];
    count_stored(trace, &instructions, &stored, &chunks);
    count_groups(trace, &groups, &arrays);
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, pim_trace_hash(trace));
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    pim_json_put_text(json, "hash", hash);
    pim_json_put_text(json, "family", description->family);
    pim_json_put_text(json, "network", description->network);
    pim_json_put_text(json, "mapping", description->mapping);
    pim_json_put_text(json, "configuration", description->configuration);
    pim_json_put_count(json, "width", description->width);
    pim_json_put_count(json, "height", description->height);
    pim_json_put_count(json, "units", description->units);
    pim_json_put_count(json, "macs", description->macs);
    pim_json_put_count(json, "padding_macs", description->padding_macs);
    pim_json_put_count(json, "weight_bytes", description->weight_bytes);
    pim_json_put_count(json, "phases", pim_trace_phases(trace));
    pim_json_put_count(json, "behaviour_tables", pim_trace_behaviour_routers(trace));
    pim_json_put_count(json, "array_groups", groups);
    pim_json_put_count(json, "crossbar_arrays", arrays);
    pim_json_put_count(json, "instructions", instructions);
    pim_json_put_count(json, "chunks", chunks);
    pim_json_put_count(json, "program_bytes", stored);
    pim_json_put_count(json, "file_bytes", pim_trace_file_bytes(trace));
    enum pim_status status = pim_json_write(json, stdout, error);
    pim_json_destroy(json);
    return status;
}

static void info_text(const struct pim_trace *trace)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    uint64_t instructions, stored, chunks, groups, arrays, cycles = 0;
    count_stored(trace, &instructions, &stored, &chunks);
    count_groups(trace, &groups, &arrays);
    for (uint32_t i = 0; i < pim_trace_phases(trace); i++)
        cycles = pim_add_saturating(cycles, pim_trace_phase(trace, i)->estimate_cycles);
    printf("family         %s\n", description->family);
    printf("network        %s\n", description->network);
    printf("mapping        %s\n", description->mapping);
    printf("units          %" PRIu32 " on an array of %" PRIu32 " x %" PRIu32 "\n", description->units,
           description->width, description->height);
    if (cycles > 0)
        printf("phases         %" PRIu32 ", %" PRIu64 " cycles estimated\n", pim_trace_phases(trace), cycles);
    else
        printf("phases         %" PRIu32 ", without an estimate\n", pim_trace_phases(trace));
    printf("network MACs   %" PRIu64 " (%" PRIu64 " more by padding)\n", description->macs,
           description->padding_macs);
    printf("weight bytes   %" PRIu64 "\n", description->weight_bytes);
    printf("instructions   %" PRIu64 " stored in %" PRIu64 " chunks, %" PRIu64 " bytes", instructions, chunks,
           stored);
    if (instructions > 0)
        printf(" (%.2f each)", (double)stored / (double)instructions);
    printf("\nbehaviour      %" PRIu32 " tables\n", pim_trace_behaviour_routers(trace));
    if (groups > 0)
        printf("array groups   %" PRIu64 " on %" PRIu64 " crossbar arrays\n", groups, arrays);
    const char *hardware = pim_trace_hardware(trace);
    if (hardware == description->configuration)
        printf("configuration  %zu bytes of libconfig text\n", strlen(hardware));
    else
        printf("configuration  none; %s", description->configuration);
    printf("file           %" PRIu64 " bytes, content hash %016" PRIx64 "\n", pim_trace_file_bytes(trace),
           pim_trace_hash(trace));
}

static int info(int argument_count, char **arguments)
{
    unsigned format = FORMAT_TEXT;
    const struct option_rule rules[] = {OPTION_FORMAT(format, "text|json")};
    struct text_list files = {NULL, 0};
    options_parse(
        &(struct option_usage)OPTION_USAGE(
            "TRACE", "Prints what the trace says about itself. Its programs are not read.", rules, 1, 1),
        argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = NULL;
    enum pim_status status = pim_trace_open(files.items[0], &trace, &error);
    if (status == PIM_OK && format == FORMAT_JSON)
        status = info_json(trace, &error);
    else if (status == PIM_OK)
        info_text(trace);
    pim_trace_close(trace);
    text_list_terminate(&files);
    return status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

static int dump(int argument_count, char **arguments)
{
    uint64_t unit = PIM_ALL_UNITS;
    const char *path = "-";
    const struct option_rule rules[] = {
        {.name = "unit",
         .kind = OPTION_UNSIGNED,
         .target = &unit,
         .argument = "N",
         .help = "Only the program of this unit",
         .maximum = PIM_TRACE_UNITS - 1},
        OPTION_OUTPUT(path, WRITES_TEXT, "Where to write the text"),
    };
    struct text_list files = {NULL, 0};
    options_parse(&(struct option_usage)OPTION_USAGE(
                      "TRACE",
                      "Writes the trace as text, which `pimsim trace asm` turns back into the same file.",
                      rules, 1, 1),
                  argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = NULL;
    struct pim_output *output = NULL;
    enum pim_status status = pim_trace_open(files.items[0], &trace, &error);
    if (status == PIM_OK)
        status = pim_output_open(&output, path, &error);
    if (status == PIM_OK)
        status = pim_trace_disassemble(trace, (uint32_t)unit, pim_output_file(output), &error);
    if (status == PIM_OK)
        status = pim_output_commit(output, &error);
    else {
        if (output)
            pim_output_blame(output, &error);
        pim_output_abandon(output);
    }
    pim_trace_close(trace);
    text_list_terminate(&files);
    return status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

static int assemble(int argument_count, char **arguments)
{
    const char *path = NULL;
    const struct option_rule rules[] = {
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .target = &path,
         .argument = "TRACE",
         .writes = WRITES_TRACE,
         .help = "The trace to write"},
    };
    struct text_list files = {NULL, 0};
    options_parse(&(struct option_usage)OPTION_USAGE(
                      "FILE",
                      "Assembles the text of a trace (- is standard input); docs/trace-format.md has the "
                      "grammar.",
                      rules, 1, 1),
                  argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    const char *name = files.items[0];
    bool standard = strcmp(name, "-") == 0;
    FILE *file = standard ? stdin : fopen(name, "rb");
    enum pim_status status;
    if (!path)
        status = pim_fail(&error, PIM_USAGE, "--output TRACE is missing");
    else if (!file)
        status = pim_fail(&error, PIM_IO, "%s: %s", name, strerror(errno));
    else
        status = pim_trace_assemble(standard ? "standard input" : name, file, path, &error);
    if (file && !standard)
        (void)fclose(file);
    text_list_terminate(&files);
    return status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

/* A trace that completes may still not do what its description says. */
static enum pim_status compare_counts(const struct pim_trace *trace, const struct pim_check_result *result,
                                      struct pim_error *error)
{
    const struct pim_trace_description *description = pim_trace_description(trace);
    uint64_t stated = pim_add_saturating(description->macs, description->padding_macs);
    if (description->macs != 0 && result->counts.by_opcode[PIM_OP_MATRIX] > 0 &&
        result->counts.macs != stated)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the programs execute %" PRIu64 " MACs, the trace states %" PRIu64 " and %" PRIu64
                        " by padding",
                        result->counts.macs, description->macs, description->padding_macs);
    return PIM_OK;
}

/* Messages by what they are for, where a trace says it. */
static void print_messages(const struct pim_trace_counts *counts)
{
    for (unsigned kind = PIM_MESSAGE_PLAIN + 1; kind < PIM_MESSAGES; kind++)
        if (counts->sends_by_kind[kind] > 0)
            printf("  %-12s %" PRIu64 ", %" PRIu64 " bytes\n", pim_message_name(kind),
                   counts->sends_by_kind[kind], counts->sent_by_kind[kind]);
}

/* What programs of cores do with their local memories; nothing for others. */
static void print_local(const struct pim_trace_counts *counts)
{
    if (counts->local_loaded_bytes > 0 || counts->local_stored_bytes > 0)
        printf("global memory  %" PRIu64 " bytes loaded, %" PRIu64 " stored\n", counts->local_loaded_bytes,
               counts->local_stored_bytes);
    if (counts->local_elements > 0)
        printf("local vectors  %" PRIu64 " elements\n", counts->local_elements);
    if (counts->local_copied_bytes > 0 || counts->local_written_bytes > 0)
        printf("local bytes    %" PRIu64 " copied, %" PRIu64 " written with a constant\n",
               counts->local_copied_bytes, counts->local_written_bytes);
    if (counts->array_written_bytes > 0)
        printf("weights        %" PRIu64 " bytes written into crossbars\n", counts->array_written_bytes);
}

static void print_check(const struct pim_check_result *result, bool known)
{
    printf("The trace completes.\n");
    printf("instructions   %" PRIu64 " executed, %" PRIu64 " stored\n", result->counts.fetched,
           result->counts.stored);
    const bool cores = result->kind == PIM_CHECK_CORES;
    const bool channels = result->kind == PIM_CHECK_CHANNELS; /* bytes of a row are not in the trace */
    if (!channels)
        printf("MACs           %" PRIu64 "\n", cores ? result->counts.crossbar_macs : result->counts.macs);
    if (channels)
        printf("messages       %" PRIu64 "\n", result->messages);
    else
        printf("messages       %" PRIu64 ", %" PRIu64 " bytes sent, %" PRIu64 " received\n", result->messages,
               result->counts.sent_bytes, result->counts.received_bytes);
    print_messages(&result->counts);
    if (cores) {
        print_local(&result->counts);
        printf("local memory   %" PRIu64 " bytes used, by unit %" PRIu32 "; global memory %" PRIu64 "\n",
               result->local_bytes, result->local_unit, result->global_bytes);
    }
    if (result->kind == PIM_CHECK_NODES)
        printf("left in buffers at the end: input %" PRIu64 ", weight %" PRIu64 ", output %" PRIu64
               " bytes\n",
               result->left_bytes[PIM_BUFFER_INPUT], result->left_bytes[PIM_BUFFER_WEIGHT],
               result->left_bytes[PIM_BUFFER_OUTPUT]);
    if (!known)
        printf("Not checked: %s, because the trace has no hardware configuration "
               "(see --hardware).\n",
               cores                                ? "sizes of the memories"
               : result->kind == PIM_CHECK_CHANNELS ? "rows and banks"
               : result->kind == PIM_CHECK_TILES    ? "buffers"
                                                    : "buffer space and addresses");
}

static int check(int argument_count, char **arguments)
{
    struct common_options common = {0};
    const struct option_rule rules[] = {OPTIONS_COMMON(common)};
    struct text_list files = {NULL, 0};
    options_parse(
        &(struct option_usage)OPTION_USAGE(
            "TRACE",
            "Proves, without timing, that the trace can complete on its hardware: queues, dependencies, "
            "buffer space, messages, addresses, local memories. Exit code 3 when it cannot.",
            rules, 1, 1),
        argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = NULL;
    struct pim_check_limits limits;
    struct pim_check_result result;
    bool known = false;
    enum pim_status status = pim_trace_open(files.items[0], &trace, &error);
    if (status == PIM_OK) {
        status = trace_read_limits(trace, &common, &limits, &known, &error);
        if (status == PIM_OK)
            status = pim_trace_check(trace, &limits, &result, &error);
        if (status == PIM_OK)
            status = compare_counts(trace, &result, &error);
        if (status != PIM_OK)
            (void)pim_fail_in(&error, "%s", files.items[0]);
    }
    if (status == PIM_OK && !common.quiet)
        print_check(&result, known);
    pim_trace_close(trace);
    text_list_terminate(&files);
    common_terminate(&common);
    return status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

static void put_counts(struct pim_json *json, const struct pim_trace_counts *counts)
{
    pim_json_put_count(json, "instructions_stored", counts->stored);
    pim_json_put_count(json, "instructions_executed", counts->fetched);
    pim_json_begin_object(json, "by_opcode");
    for (unsigned opcode = 0; opcode < PIM_OPCODES; opcode++)
        pim_json_put_count(json, pim_opcode_name(opcode), counts->by_opcode[opcode]);
    pim_json_end(json);
    pim_json_put_count(json, "macs", counts->macs);
    pim_json_put_count(json, "mvm_windows", counts->mvm_windows);
    pim_json_put_count(json, "crossbar_macs", counts->crossbar_macs);
    pim_json_put_count(json, "bit_serial_operations", counts->bit_serial_operations);
    pim_json_put_count(json, "vector_elements", counts->vector_elements);
    pim_json_begin_object(json, "loaded_bytes");
    for (unsigned buffer = 0; buffer < PIM_BUFFERS; buffer++)
        pim_json_put_count(json, pim_buffer_name(buffer), counts->loaded_bytes[buffer]);
    pim_json_end(json);
    pim_json_begin_object(json, "stored_bytes");
    for (unsigned buffer = 0; buffer < PIM_BUFFERS; buffer++)
        pim_json_put_count(json, pim_buffer_name(buffer), counts->stored_bytes[buffer]);
    pim_json_end(json);
    pim_json_put_count(json, "sent_bytes", counts->sent_bytes);
    pim_json_put_count(json, "received_bytes", counts->received_bytes);
    pim_json_begin_object(json, "messages");
    for (unsigned kind = 0; kind < PIM_MESSAGES; kind++) {
        pim_json_begin_object(json, pim_message_name(kind));
        pim_json_put_count(json, "count", counts->sends_by_kind[kind]);
        pim_json_put_count(json, "sent_bytes", counts->sent_by_kind[kind]);
        pim_json_put_count(json, "received_bytes", counts->received_by_kind[kind]);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_put_count(json, "local_loaded_bytes", counts->local_loaded_bytes);
    pim_json_put_count(json, "local_stored_bytes", counts->local_stored_bytes);
    pim_json_put_count(json, "local_elements", counts->local_elements);
    pim_json_put_count(json, "local_copied_bytes", counts->local_copied_bytes);
    pim_json_put_count(json, "local_written_bytes", counts->local_written_bytes);
    pim_json_put_count(json, "array_written_bytes", counts->array_written_bytes);
}

static enum pim_status stat_json(const struct pim_trace *trace, const struct pim_trace_counts *total,
                                 const struct pim_trace_counts *unit, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory");
    pim_json_begin_object(json, "total");
    put_counts(json, total);
    pim_json_end(json);
    pim_json_begin_array(json, "units");
    for (uint32_t i = 0; i < pim_trace_description(trace)->units; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "id", i);
        put_counts(json, &unit[i]);
        pim_json_end(json);
    }
    pim_json_end(json);
    enum pim_status status = pim_json_write(json, stdout, error);
    pim_json_destroy(json);
    return status;
}

static uint64_t sum(const uint64_t bytes[PIM_BUFFERS])
{
    uint64_t total = 0;
    for (int buffer = 0; buffer < PIM_BUFFERS; buffer++)
        total = pim_add_saturating(total, bytes[buffer]);
    return total;
}

static void stat_text(const struct pim_trace *trace, const struct pim_trace_counts *total,
                      const struct pim_trace_counts *unit, bool units)
{
    printf("instructions   %" PRIu64 " stored, %" PRIu64 " executed\n", total->stored, total->fetched);
    for (unsigned opcode = 0; opcode < PIM_OPCODES; opcode++)
        if (total->by_opcode[opcode] > 0)
            printf("  %-12s %" PRIu64 "\n", pim_opcode_name(opcode), total->by_opcode[opcode]);
    printf("MACs           %" PRIu64 "\n", total->macs);
    if (total->mvm_windows > 0)
        printf("MVM windows    %" PRIu64 ", %" PRIu64 " MACs of crossbars\n", total->mvm_windows,
               total->crossbar_macs);
    if (total->bit_serial_operations > 0)
        printf("bit-serial     %" PRIu64 " operations\n", total->bit_serial_operations);
    printf("vector         %" PRIu64 " elements\n", total->vector_elements);
    printf("loaded bytes   %" PRIu64 " (input %" PRIu64 ", weight %" PRIu64 ", output %" PRIu64 ")\n",
           sum(total->loaded_bytes), total->loaded_bytes[PIM_BUFFER_INPUT],
           total->loaded_bytes[PIM_BUFFER_WEIGHT], total->loaded_bytes[PIM_BUFFER_OUTPUT]);
    printf("stored bytes   %" PRIu64 " (output %" PRIu64 ")\n", sum(total->stored_bytes),
           total->stored_bytes[PIM_BUFFER_OUTPUT]);
    print_local(total);
    printf("messages       %" PRIu64 " bytes sent, %" PRIu64 " received\n", total->sent_bytes,
           total->received_bytes);
    print_messages(total);
    if (!units)
        return;
    printf("\n%6s %12s %12s %16s %14s %14s %14s %14s\n", "unit", "stored", "executed", "MACs", "loaded",
           "written", "sent", "received");
    for (uint32_t i = 0; i < pim_trace_description(trace)->units; i++)
        printf("%6" PRIu32 " %12" PRIu64 " %12" PRIu64 " %16" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
               " %14" PRIu64 "\n",
               i, unit[i].stored, unit[i].fetched, unit[i].macs, sum(unit[i].loaded_bytes),
               sum(unit[i].stored_bytes), unit[i].sent_bytes, unit[i].received_bytes);
}

static int statistics(int argument_count, char **arguments)
{
    unsigned format = FORMAT_TEXT;
    bool units = false;
    const struct option_rule rules[] = {
        OPTION_FORMAT(format, "text|json"),
        {.name = "units", .kind = OPTION_FLAG, .target = &units, .help = "Text: a line for each unit too"},
    };
    struct text_list files = {NULL, 0};
    options_parse(
        &(struct option_usage)OPTION_USAGE(
            "TRACE", "Counts instructions, work and bytes of the programs, with all repeats.", rules, 1, 1),
        argument_count, arguments, &files);
    struct pim_error error = {PIM_OK, ""};
    struct pim_trace *trace = NULL;
    struct pim_trace_counts total, *unit = NULL;
    memset(&total, 0, sizeof total);
    enum pim_status status = pim_trace_open(files.items[0], &trace, &error);
    if (status == PIM_OK) {
        unit = calloc(pim_trace_description(trace)->units, sizeof *unit);
        if (!unit)
            status = pim_fail(&error, PIM_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; status == PIM_OK && i < pim_trace_description(trace)->units; i++) {
        status = pim_counts_of_unit(trace, i, &unit[i], &error);
        if (status == PIM_OK)
            pim_counts_merge(&total, &unit[i]);
    }
    if (status == PIM_OK && format == FORMAT_JSON)
        status = stat_json(trace, &total, unit, &error);
    else if (status == PIM_OK)
        stat_text(trace, &total, unit, units);
    free(unit);
    pim_trace_close(trace);
    text_list_terminate(&files);
    return status == PIM_OK ? 0 : command_fail(arguments[0], &error);
}

int command_trace(int argument_count, char **arguments)
{
    static const struct command table[] = {
        {"info", "What a trace says about itself", info},
        {"dump", "A trace as text", dump},
        {"asm", "A trace from its text", assemble},
        {"check", "Prove that a trace can complete", check},
        {"stat", "Instructions, work and bytes of a trace", statistics},
    };
    return command_dispatch(table, COUNT(table),
                            "Traces: the programs of the units and what belongs to them.", argument_count,
                            arguments);
}
