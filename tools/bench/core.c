/*
 * pimsim-bench core: cores with crossbars. Makes a trace in the style of a high-throughput program (per
 * window: loads, copies, writes of padding, MVMs, sums, now and then a store and a message) and replays it in
 * this process.
 */
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "tools/bench/bench.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GROUPS = 48, ROUNDS = 64 };

struct options {
    uint64_t instructions, repeats;
    const char *hardware, *keep;
    const char *set[16];
    size_t set_count;
    bool json;
};

static const char usage[] =
    "usage: pimsim-bench core [--instructions N] [--repeat N] [--hardware FILE] [--set KEY=VALUE]...\n"
    "                         [--keep FILE] [--json]\n"
    "\n"
    "  --instructions N  of all cores together (default 1000000)\n"
    "  --repeat N        runs; the fastest counts (default 1)\n"
    "  --hardware FILE   default configs/hardware/pimcomp-nn-d.cfg\n"
    "  --set KEY=VALUE   replaces a value of the hardware; may be repeated\n"
    "  --keep FILE       leaves the trace there\n"
    "  --json            the result as JSON\n";

struct generator {
    struct pim_trace_writer *writer;
    struct pim_error *error;
    uint32_t cores, core;
    uint64_t random;
    uint64_t left; /* instructions for this core */
};

static void append(struct generator *self, const struct pim_instruction *instruction)
{
    if (self->error->status == PIM_OK)
        (void)pim_trace_writer_append(self->writer, self->core, instruction, self->error);
    self->left -= self->left > 0;
}

/* A window of a layer: its input is partly loaded and partly copied from the window before; two groups
 * multiply it; their outputs are added and activated. */
static void window(struct generator *self, uint64_t index)
{
    uint32_t input = (uint32_t)(index % 4) * 4096, before = (uint32_t)((index + 3) % 4) * 4096;
    uint32_t group = (uint32_t)(2 * index % GROUPS), output = 16384 + (uint32_t)(index % 8) * 1024;
    append(self,
           &(struct pim_instruction){.opcode = PIM_OP_LOCAL_LOAD,
                                     .u.transfer = {.address = (bench_random(&self->random) % 65536) * 64,
                                                    .local = input,
                                                    .bytes = 128,
                                                    .count = 1}});
    for (uint32_t i = 1; i < 5; i++)
        append(self, &(struct pim_instruction){.opcode = PIM_OP_LOCAL_COPY,
                                               .u.local_copy = {.destination = input + 128 * i,
                                                                .source = before + 128 * i + 64,
                                                                .bytes = 128,
                                                                .count = 1}});
    append(self,
           &(struct pim_instruction){.opcode = PIM_OP_LOCAL_WRITE,
                                     .u.local_write = {.destination = input + 640, .bytes = 64, .count = 1}});
    for (uint32_t i = 0; i < 2; i++)
        append(self, &(struct pim_instruction){.opcode = PIM_OP_MVM,
                                               .u.mvm = {.group = group + i,
                                                         .windows = 1,
                                                         .input_address = input + 256 * i,
                                                         .input_bytes = 256,
                                                         .output_address = output + 256 * i,
                                                         .output_bytes = 128}});
    append(self, &(struct pim_instruction){.opcode = PIM_OP_LOCAL_VECTOR,
                                           .detail = PIM_LOCAL_ADD,
                                           .u.local_vector = {.elements = 64,
                                                              .destination = output,
                                                              .source = output,
                                                              .second = output + 256,
                                                              .bits = 16}});
    append(self,
           &(struct pim_instruction){
               .opcode = PIM_OP_LOCAL_VECTOR,
               .detail = PIM_LOCAL_RELU,
               .u.local_vector = {.elements = 64, .destination = output, .source = output, .bits = 16}});
    if (index % 4 == 3)
        append(self, &(struct pim_instruction){.opcode = PIM_OP_LOCAL_STORE,
                                               .u.transfer = {.address = (UINT64_C(1) << 29) + index * 128 +
                                                                         self->core * UINT64_C(65536),
                                                              .local = output,
                                                              .bytes = 128,
                                                              .count = 1}});
}

/* Every core exchanges a partial sum with its neighbour: the even ones send first. */
static void exchange(struct generator *self)
{
    uint32_t peer = self->core ^ 1;
    if (peer >= self->cores)
        return;
    for (uint32_t turn = 0; turn < 2; turn++) {
        bool send = (self->core % 2 == 0) == (turn == 0);
        append(self, &(struct pim_instruction){
                         .opcode = send ? PIM_OP_SEND : PIM_OP_RECEIVE,
                         .u.network = {.peer = peer, .address = send ? 16384 : 28672, .bytes = 128}});
    }
}

static void write_core(struct generator *self, uint32_t phase, uint64_t instructions)
{
    const struct pim_trace_array_group group = {.arrays = 1, .rows = 128, .columns = 64, .folds = 1};
    for (unsigned i = 0; i < GROUPS && self->error->status == PIM_OK; i++)
        (void)pim_trace_writer_array_group(self->writer, self->core, &group, self->error);
    self->left = instructions;
    append(self, &(struct pim_instruction){.opcode = PIM_OP_PHASE_BEGIN, .u.control = {.phase = phase}});
    for (uint64_t index = 0; self->left > 0 && self->error->status == PIM_OK; index++) {
        window(self, index);
        if (index % ROUNDS == ROUNDS - 1)
            exchange(self);
    }
    append(self, &(struct pim_instruction){.opcode = PIM_OP_PHASE_END, .u.control = {.phase = phase}});
}

static enum pim_status write_trace(const char *path, const struct pim_hardware *hardware,
                                   uint64_t instructions, struct pim_error *error)
{
    const struct pim_trace_description description = {.family = "bench",
                                                      .network = "synthetic",
                                                      .mapping = "high throughput",
                                                      .configuration = "",
                                                      .width = hardware->width,
                                                      .height = hardware->height,
                                                      .units = hardware->width * hardware->height};
    struct generator self = {.error = error, .cores = description.units, .random = 1};
    if (pim_trace_writer_create(path, &description, &self.writer, error) != PIM_OK)
        return error->status;
    uint32_t phase = pim_trace_writer_phase(self.writer, &(struct pim_trace_phase){.name = "round"});
    /* one length for all: messages match */
    for (self.core = 0; self.core < self.cores; self.core++)
        write_core(&self, phase, instructions / self.cores);
    if (error->status != PIM_OK) {
        pim_trace_writer_abandon(self.writer);
        return error->status;
    }
    return pim_trace_writer_finish(self.writer, error);
}

static enum pim_status read_hardware(const struct options *options, struct pim_hardware *hardware,
                                     struct pim_error *error)
{
    struct pim_configuration *configuration;
    if (pim_configuration_create(&pim_hardware_schema, &configuration, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_configuration_read_file(configuration, options->hardware, error);
    for (size_t i = 0; status == PIM_OK && i < options->set_count; i++)
        status = pim_configuration_set(configuration, options->set[i], error);
    if (status == PIM_OK)
        status = pim_configuration_complete(configuration, error);
    if (status == PIM_OK)
        status = pim_hardware_read(configuration, hardware, error);
    pim_configuration_destroy(configuration);
    return status;
}

static enum pim_status replay(const struct pim_hardware *hardware, const struct pim_trace *trace,
                              struct pim_run_result *result, double *seconds, struct pim_error *error)
{
    const struct pim_system_options options = {.until_cycle = PIM_UNTIL_END, .quiet = true};
    struct pim_system *system;
    double start = bench_cpu_ns();
    if (pim_system_create(hardware, trace, &options, &system, error) != PIM_OK)
        return error->status;
    if (pim_system_run(system, error) == PIM_OK)
        (void)pim_system_collect(system, result, error);
    *seconds = (bench_cpu_ns() - start) * 1e-9;
    pim_system_destroy(system);
    return error->status;
}

static void print(const struct options *options, const struct pim_run_result *result, double seconds)
{
    struct rusage host = {0};
    (void)getrusage(RUSAGE_SELF, &host);
    double rate = (double)result->instructions / seconds * 1e-6, memory = (double)host.ru_maxrss * 1024e-6;
    if (options->json)
        printf("{\"instructions\": %" PRIu64 ", \"cycles\": %" PRIu64 ", \"events\": %" PRIu64
               ", \"cpu_seconds\": %.6f, \"instructions_per_second\": %.0f, \"peak_memory_bytes\": %.0f}\n",
               result->instructions, result->cycles, result->events, seconds, rate * 1e6, memory * 1e6);
    else
        printf("%" PRIu64 " instructions, %" PRIu64 " cycles, %" PRIu64
               " events: %.3f CPU s, %.2f M instructions/s, %.1f MB\n",
               result->instructions, result->cycles, result->events, seconds, rate, memory);
}

static bool take_options(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        const char *option = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(option, "--json") == 0) {
            options->json = true;
            continue;
        }
        i++;
        if (strcmp(option, "--instructions") == 0) {
            if (!bench_count(option, value, 1, 1000000000, &options->instructions))
                return false;
        } else if (strcmp(option, "--repeat") == 0) {
            if (!bench_count(option, value, 1, 1000, &options->repeats))
                return false;
        } else if (strcmp(option, "--hardware") == 0 && value) {
            options->hardware = value;
        } else if (strcmp(option, "--keep") == 0 && value) {
            options->keep = value;
        } else if (strcmp(option, "--set") == 0 && value && options->set_count < 16) {
            options->set[options->set_count++] = value;
        } else {
            fprintf(stderr, "pimsim-bench core: %s\n%s", option, usage);
            return false;
        }
    }
    return true;
}

int bench_core(int count, char **arguments)
{
    struct options options = {
        .instructions = 1000000, .repeats = 1, .hardware = "configs/hardware/pimcomp-nn-d.cfg"};
    if (!take_options(count, arguments, &options))
        return 2;
    struct pim_error error = {.status = PIM_OK};
    struct pim_hardware hardware = {.width = 0};
    struct pim_trace *trace = NULL;
    char path[] = "/tmp/pimsim-bench-core-XXXXXX";
    const char *file = options.keep;
    if (!file) {
        int descriptor = mkstemp(path);
        if (descriptor < 0)
            return 1;
        (void)close(descriptor);
        file = path;
    }
    double best = 0;
    struct pim_run_result result = {.cycles = 0};
    if (read_hardware(&options, &hardware, &error) == PIM_OK &&
        write_trace(file, &hardware, options.instructions, &error) == PIM_OK)
        (void)pim_trace_open(file, &trace, &error);
    for (uint64_t i = 0; i < options.repeats && error.status == PIM_OK; i++) {
        double seconds = 0;
        pim_run_result_terminate(&result);
        if (replay(&hardware, trace, &result, &seconds, &error) == PIM_OK && (i == 0 || seconds < best))
            best = seconds;
    }
    if (error.status == PIM_OK)
        print(&options, &result, best);
    else
        fprintf(stderr, "pimsim-bench core: %s\n", error.text);
    pim_run_result_terminate(&result);
    pim_trace_close(trace);
    if (!options.keep)
        (void)unlink(path);
    return error.status == PIM_OK ? 0 : 1;
}
