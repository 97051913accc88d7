/* Random programs on random hardware against the plain reference; determinism; invariants with messages. */
#include "models/system/report/report.h"
#include "sim/random.h"
#include "tests/unit/core/reference.h"
#include "tests/unit/core/suites.h"
#include "tests/unit/core/support.h"
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 60, TURNS = 5, GROUPS = 3, MEMORY = 512 };

static const uint64_t seed = UINT64_C(0x636f7265);

static uint32_t below(struct pim_random *random, uint32_t bound)
{
    return (uint32_t)pim_random_below(random, bound);
}

static struct pim_instruction random_instruction(struct pim_random *random)
{
    struct pim_instruction made = {.opcode = PIM_OP_JOIN};
    uint32_t a = below(random, MEMORY), b = below(random, MEMORY), c = below(random, MEMORY);
    uint32_t bytes = 1 + below(random, 60), count = 1 + below(random, 3), gap = below(random, 3) * 8;
    switch (below(random, 17)) {
    case 16:
        made.opcode = PIM_OP_ARRAY_WRITE;
        made.u.array_write.group = below(random, GROUPS);
        made.u.array_write.rows = 1 + below(random, 4);
        made.u.array_write.row = below(random, 5 - made.u.array_write.rows);
        made.u.array_write.source = a;
        made.u.array_write.bytes = 8 * made.u.array_write.rows;
        break;
    case 0:
    case 1:
    case 2:
    case 3:
        made.opcode = PIM_OP_MVM;
        made.u.mvm.group = below(random, GROUPS);
        made.u.mvm.windows = 1;
        made.u.mvm.input_address = a;
        made.u.mvm.input_bytes = 8;
        made.u.mvm.output_address = b;
        made.u.mvm.output_bytes = 8;
        break;
    case 4:
    case 5:
    case 6: {
        made.opcode = PIM_OP_LOCAL_VECTOR;
        bool two = below(random, 2);
        made.detail = two ? PIM_LOCAL_ADD : PIM_LOCAL_RELU;
        made.u.local_vector.elements = bytes;
        made.u.local_vector.destination = a;
        made.u.local_vector.source = b;
        made.u.local_vector.second = two ? c : 0;
        made.u.local_vector.bits = 8 + 8 * below(random, 2);
        break;
    }
    case 7:
    case 8:
    case 9:
    case 10:
        made.opcode = below(random, 2) ? PIM_OP_LOCAL_LOAD : PIM_OP_LOCAL_STORE;
        made.u.transfer.address = c;
        made.u.transfer.local = a;
        made.u.transfer.bytes = bytes;
        made.u.transfer.count = count;
        made.u.transfer.stride = count > 1 ? bytes + gap : 0;
        break;
    case 11:
    case 12:
        made.opcode = PIM_OP_LOCAL_COPY;
        made.u.local_copy.destination = a;
        made.u.local_copy.source = MEMORY + 200 + b;
        made.u.local_copy.bytes = bytes;
        made.u.local_copy.count = count;
        made.u.local_copy.destination_stride = made.u.local_copy.source_stride = count > 1 ? bytes + gap : 0;
        break;
    case 13:
    case 14:
        made.opcode = PIM_OP_LOCAL_WRITE;
        made.u.local_write.destination = a;
        made.u.local_write.bytes = bytes;
        made.u.local_write.count = count;
        made.u.local_write.stride = count > 1 ? bytes + gap : 0;
        break;
    default:
        break;
    }
    return made;
}

static void random_reference(struct pim_random *random, struct reference *reference)
{
    struct pim_cores_configuration *c = &reference->configuration;
    memset(reference, 0, sizeof *reference);
    reference->mvm_cycles = 14;
    static const uint32_t windows[] = {6, 30, 110}; /* of one word of slots, and of two */
    c->window = 1 + below(random, windows[below(random, 3)]);
    /* lines of 8 bytes to 2 KiB, the last of which may be cut */
    c->local_bytes = (UINT64_C(2048) << below(random, 8)) + 8 * below(random, 200);
    c->in_order = below(random, 3) == 0;
    c->local = (struct pim_beats){.width = 1 + below(random, 40),
                                  .read_cycles = below(random, 4),
                                  .write_cycles = below(random, 4),
                                  .pipelined = below(random, 2)};
    c->global = (struct pim_beats){.width = 1 + below(random, 40),
                                   .read_cycles = below(random, 20),
                                   .write_cycles = below(random, 20),
                                   .pipelined = below(random, 2)};
    c->vector_elements = 1 + below(random, 16);
    c->vector_cycles = below(random, 6);
    c->vector_pipelined = below(random, 2);
    c->crossbar.write_row_cycles = 1 + below(random, 9);
    reference->cores = 1 + below(random, REFERENCE_CORES);
    for (uint32_t core = 0; core < reference->cores; core++) {
        reference->length[core] = 1 + below(random, REFERENCE_LENGTH);
        for (uint32_t i = 0; i < reference->length[core]; i++) {
            struct pim_instruction *instruction = &reference->program[core][i];
            *instruction = random_instruction(random);
            if (instruction->opcode != PIM_OP_JOIN && i > 0 && below(random, 8) == 0)
                instruction->dependency[0] = (uint16_t)(1 + below(random, i < 10 ? i : 10));
        }
    }
}

static void run_reference(struct run *run, const struct reference *reference)
{
    const struct pim_cores_configuration *c = &reference->configuration;
    char text[16][64];
    const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {{"core.window", c->window},
                   {"core.local_memory_bytes", (uint32_t)c->local_bytes},
                   {"core.local_bytes_per_cycle", c->local.width},
                   {"core.local_read_cycles", c->local.read_cycles},
                   {"core.local_write_cycles", c->local.write_cycles},
                   {"global_memory.bytes_per_cycle", c->global.width},
                   {"global_memory.read_cycles", c->global.read_cycles},
                   {"global_memory.write_cycles", c->global.write_cycles},
                   {"core.vector_lanes", c->vector_elements},
                   {"core.vector_cycles", c->vector_cycles}};
    unsigned count = 0;
    for (; count < sizeof numbers / sizeof numbers[0]; count++) {
        (void)snprintf(text[count], sizeof text[count], "%s=%u", numbers[count].key, numbers[count].value);
        run->settings[count] = text[count];
    }
    run->settings[count++] = c->in_order ? "core.issue=in_order" : "core.issue=out_of_order";
    run->settings[count++] = c->local.pipelined ? "core.local_pipelined=true" : "core.local_pipelined=false";
    run->settings[count++] =
        c->global.pipelined ? "global_memory.pipelined=true" : "global_memory.pipelined=false";
    run->settings[count++] =
        c->vector_pipelined ? "core.vector_pipelined=true" : "core.vector_pipelined=false";
    (void)snprintf(text[count], sizeof text[count], "crossbar.write_row_ns=%u.%u",
                   c->crossbar.write_row_cycles * 5 / 2, c->crossbar.write_row_cycles % 2 * 5);
    run->settings[count] = text[count];
    run->settings[++count] = NULL;
    run->width = reference->cores;
    run->height = 1;
    struct program programs[REFERENCE_CORES];
    for (uint32_t core = 0; core < reference->cores; core++)
        programs[core] = (struct program){reference->program[core], reference->length[core]};
    replay_programs(run, programs, GROUPS);
    ck_assert_msg(run->status == PIM_OK, "%s", run->error.text);
}

/* The time that a class of engines works, up to cycle `end`, is that in which one of its instructions does.
 */
static void check_busy(const struct run *run, const struct reference *reference, uint64_t end)
{
    static const enum pim_engine engines[] = {PIM_ENGINE_MATRIX, PIM_ENGINE_VECTOR, PIM_ENGINE_MEMORY};
    for (uint32_t core = 0; core < reference->cores; core++)
        for (unsigned class = 0; class < 3; class ++) {
            uint64_t busy = 0, reached = 0; /* starts of an engine ascend */
            for (uint32_t i = 0; i < reference->length[core]; i++) {
                const struct pim_instruction *instruction = &reference->program[core][i];
                uint64_t from = reference->start[core][i], to = reference->end[core][i];
                if (instruction->opcode == PIM_OP_JOIN ||
                    pim_opcode_engine(instruction->opcode) != engines[class])
                    continue;
                from = from > reached ? from : reached;
                to = to < end ? to : end;
                if (from >= to)
                    continue;
                busy += to - from;
                reached = to;
            }
            ck_assert_uint_eq(run->result.units[core].busy[class], busy);
        }
}

START_TEST(against_the_reference)
{
    struct pim_random random;
    pim_random_initialize(&random, seed + (uint64_t)_i);
    printf("program %d of %d, seed 0x%llx\n", _i, (int)PROGRAMS,
           (unsigned long long)seed + (unsigned long long)_i);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        static struct reference reference;
        static struct run run;
        memset(&run, 0, sizeof run);
        random_reference(&random, &reference);
        reference_run(&reference);
        run_reference(&run, &reference);
        for (uint32_t core = 0; core < reference.cores; core++)
            for (uint32_t i = 0; i < reference.length[core]; i++) {
                if (reference.program[core][i].opcode == PIM_OP_JOIN)
                    continue;
                ck_assert_msg(
                    run.seen[core][i].start == reference.start[core][i] &&
                        run.seen[core][i].end == reference.end[core][i],
                    "turn %u, core %u, instruction %u (%s): %llu to %llu, reference %llu to %llu", turn, core,
                    i, pim_opcode_name(reference.program[core][i].opcode),
                    (unsigned long long)run.seen[core][i].start, (unsigned long long)run.seen[core][i].end,
                    (unsigned long long)reference.start[core][i], (unsigned long long)reference.end[core][i]);
            }
        check_invariants(&run);
        check_busy(&run, &reference, run.result.cycles);
        uint64_t end = run.result.cycles;
        clean(&run);
        /* stopped somewhere */
        run.until = end == 0 ? 1 : 1 + pim_random_below(&random, end);
        run_reference(&run, &reference);
        check_invariants(&run);
        check_busy(&run, &reference, run.until < end ? run.until : end);
        clean(&run);
    }
}
END_TEST

/* Messages between random pairs in one global order, which every core keeps: no deadlock whatever the
 * hardware. */
static void random_messages(struct pim_random *random, struct pim_instruction (*programs)[RUN_INSTRUCTIONS],
                            uint32_t *length, uint32_t cores)
{
    memset(length, 0, cores * sizeof *length);
    for (unsigned i = 0; i < 60; i++) {
        uint32_t from = below(random, cores), to = (from + 1 + below(random, cores - 1)) % cores;
        uint32_t bytes = 1 + below(random, 200), tag = below(random, 2);
        struct pim_instruction *send = &programs[from][length[from]++];
        struct pim_instruction *receive = &programs[to][length[to]++];
        *send = (struct pim_instruction){
            .opcode = PIM_OP_SEND,
            .u.network = {.peer = to, .tag = tag, .address = below(random, MEMORY), .bytes = bytes}};
        *receive = (struct pim_instruction){
            .opcode = PIM_OP_RECEIVE,
            .u.network = {.peer = from, .tag = tag, .address = below(random, MEMORY), .bytes = bytes}};
        uint32_t other = below(random, cores);
        programs[other][length[other]++] = random_instruction(random);
    }
}

static char *json_of(struct run *run)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    const struct pim_report_inputs inputs = {.trace_name = "test", .reproducible = true};
    ck_assert_int_eq(pim_report_json(run->system, &run->result, &inputs, file, &run->error), PIM_OK);
    (void)fclose(file);
    return text;
}

START_TEST(messages_and_determinism)
{
    static const char *const kinds[] = {"interconnect.kind=mesh", "interconnect.kind=bus",
                                        "interconnect.kind=shared_memory"};
    static struct pim_instruction programs[RUN_UNITS][RUN_INSTRUCTIONS];
    uint32_t length[RUN_UNITS];
    struct pim_random random;
    pim_random_initialize(&random, seed + 1000 + (uint64_t)_i);
    printf("messages %d, seed 0x%llx\n", _i, (unsigned long long)seed + 1000 + (unsigned long long)_i);
    random_messages(&random, programs, length, RUN_UNITS);
    for (unsigned turn = 0; turn < 6; turn++) {
        static struct run run;
        char *first = NULL;
        for (unsigned again = 0; again < 2; again++) {
            memset(&run, 0, sizeof run);
            run.width = 4;
            run.height = 2;
            run.settings[0] = kinds[turn % 3];
            run.settings[1] = turn < 3 ? "core.communication=synchronous" : "core.communication=asynchronous";
            run.settings[2] = _i % 2 ? "core.issue=in_order" : "core.issue=out_of_order";
            run.settings[3] = "interconnect.packet_bytes=64";
            run.settings[4] = "core.receive_bytes=100";
            run.settings[5] = "crossbar.write_row_ns=5";
            run.settings[6] = _i % 3 == 0 ? "chips.width=2" : NULL;
            run.settings[7] = _i % 6 == 0 ? "chips.connection=grid" : NULL;
            struct program all[RUN_UNITS];
            for (uint32_t core = 0; core < RUN_UNITS; core++)
                all[core] = (struct program){programs[core], length[core]};
            replay_programs(&run, all, GROUPS);
            ck_assert_msg(run.status == PIM_OK, "turn %u: %s", turn, run.error.text);
            check_invariants(&run);
            ck_assert_uint_eq(run.result.bytes_sent, run.result.bytes_received);
            char *text = json_of(&run);
            if (first)
                ck_assert_str_eq(first, text);
            else
                first = strdup(text);
            free(text);
            clean(&run);
        }
        free(first);
    }
}
END_TEST

Suite *core_property_suite(void)
{
    Suite *suite = suite_create("core_property");
    TCase *cases = tcase_create("property");
    tcase_add_loop_test(cases, against_the_reference, 0, PIM_DRAWS(PROGRAMS));
    tcase_add_loop_test(cases, messages_and_determinism, 0, PIM_CASES(12));
    suite_add_tcase(suite, cases);
    return suite;
}
