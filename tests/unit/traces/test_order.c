/*
 * The claim that one execution is enough (traces/check/check.h), tried: random small traces are executed
 * step by step in many random orders by a plain executor, which knows nothing of the checker's lists and
 * rings; every order must end as the checker says.
 */
#include "tests/unit/traces/suites.h"
#include "tests/unit/traces/support.h"
#include "traces/check/check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 3, MOST = 64, CAPACITY = 100, ORDERS = 6, LOCAL = 64 };

enum state { TO_FETCH, WAITING, OPEN, DONE };

struct unit {
    struct pim_instruction program[MOST];
    enum state state[MOST];
    unsigned count, fetched;
    uint64_t held[PIM_BUFFERS];
};

struct machine {
    struct unit unit[UNITS];
    struct pim_check_limits limits;
    uint64_t random;
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 16) % below;
}

/* --- the executor --- */

static bool all_done(const struct unit *unit, unsigned end)
{
    for (unsigned i = 0; i < end; i++)
        if (unit->state[i] != DONE)
            return false;
    return true;
}

static bool is_control(const struct pim_instruction *instruction)
{
    return pim_opcode_engine(instruction->opcode) == PIM_ENGINE_CONTROL;
}

static bool fetch(const struct machine *machine, struct unit *unit)
{
    unsigned i = unit->fetched, window = machine->limits.window;
    if (i == unit->count || !all_done(unit, is_control(&unit->program[i]) ? i
                                            : i < window                  ? 0
                                                                          : i - window + 1))
        return false;
    unit->state[i] = is_control(&unit->program[i]) ? DONE : WAITING;
    unit->fetched++;
    return true;
}

/* The bytes of a local memory that an instruction reads (bit 0) and writes (bit 1). All of them are single
 * pieces below LOCAL. */
static void mark_bytes(const struct pim_instruction *instruction, uint8_t bytes[LOCAL])
{
    uint64_t from = LOCAL, to = LOCAL, count = 0;
    if (instruction->opcode == PIM_OP_SEND || instruction->opcode == PIM_OP_RECEIVE) {
        *(instruction->opcode == PIM_OP_SEND ? &from : &to) = instruction->u.network.address;
        count = instruction->u.network.bytes;
    } else if (instruction->opcode == PIM_OP_LOCAL_COPY) {
        from = instruction->u.local_copy.source;
        to = instruction->u.local_copy.destination;
        count = instruction->u.local_copy.bytes;
    } else if (instruction->opcode == PIM_OP_LOCAL_VECTOR) {
        from = instruction->u.local_vector.source;
        to = instruction->u.local_vector.destination;
        count = 2 * (uint64_t)instruction->u.local_vector.elements;
    } else if (instruction->opcode == PIM_OP_LOCAL_WRITE) {
        to = instruction->u.local_write.destination;
        count = instruction->u.local_write.bytes;
    }
    memset(bytes, 0, LOCAL);
    for (uint64_t i = 0; i < count; i++) {
        if (from < LOCAL)
            bytes[from + i] |= 1;
        if (to < LOCAL)
            bytes[to + i] |= 2;
    }
}

/* Two instructions touch the same byte, and one of them writes it. */
static bool collide(const struct pim_instruction *a, const struct pim_instruction *b)
{
    uint8_t of_a[LOCAL], of_b[LOCAL];
    mark_bytes(a, of_a);
    mark_bytes(b, of_b);
    for (int i = 0; i < LOCAL; i++)
        if (of_a[i] != 0 && of_b[i] != 0 && (of_a[i] | of_b[i]) >= 2)
            return true;
    return false;
}

/* Whether instruction j, which comes before i, holds it back. A core in order: as long as it is not complete,
 * unless it is of the same engine. A node in order: as long as it has not started. */
static bool holds_back(const struct machine *machine, const struct unit *unit, unsigned j, unsigned i)
{
    const struct pim_instruction *before = &unit->program[j], *own = &unit->program[i];
    bool same = pim_opcode_engine(before->opcode) == pim_opcode_engine(own->opcode);
    if (unit->state[j] == DONE)
        return false;
    if (machine->limits.kind == PIM_CHECK_CORES)
        return (same && unit->state[j] == WAITING) || (!same && machine->limits.in_order) ||
               collide(before, own);
    return unit->state[j] == WAITING && (same || machine->limits.in_order);
}

/* First of its engine's queue, dependencies complete, and in order if that is asked for. */
static bool may_start(const struct machine *machine, const struct unit *unit, unsigned i)
{
    if (unit->state[i] != WAITING)
        return false;
    for (unsigned j = 0; j < i; j++)
        if (holds_back(machine, unit, j, i))
            return false;
    for (int d = 0; d < PIM_DEPENDENCIES; d++)
        if (unit->program[i].dependency[d] != 0 && unit->state[i - unit->program[i].dependency[d]] != DONE)
            return false;
    return true;
}

static bool run_local(struct unit *unit, unsigned i)
{
    const struct pim_instruction *instruction = &unit->program[i];
    uint64_t *output = &unit->held[PIM_BUFFER_OUTPUT];
    if (instruction->opcode == PIM_OP_LOAD) {
        if (unit->held[instruction->detail] + instruction->u.memory.bytes > CAPACITY)
            return false;
        unit->held[instruction->detail] += instruction->u.memory.bytes;
    } else if (instruction->opcode == PIM_OP_VECTOR) {
        ck_assert_uint_ge(*output, instruction->u.vector.release);
        *output -= instruction->u.vector.release;
    } else if (instruction->opcode == PIM_OP_MATRIX) { /* 1 x 1 x k, accumulators of 32 bits */
        uint64_t takes = instruction->detail & PIM_MATRIX_OPEN_OUTPUT ? 4 * instruction->u.matrix.n : 0;
        uint64_t gives = instruction->detail & PIM_MATRIX_RELEASE_WEIGHT ? instruction->u.matrix.n : 0;
        if (*output + takes > CAPACITY)
            return false;
        ck_assert_uint_ge(unit->held[PIM_BUFFER_WEIGHT], gives);
        *output += takes;
        unit->held[PIM_BUFFER_WEIGHT] -= gives;
    }
    unit->state[i] = DONE;
    return true;
}

static bool run_send(struct machine *machine, unsigned number, unsigned i)
{
    const struct pim_instruction *own = &machine->unit[number].program[i];
    struct unit *other = &machine->unit[own->u.network.peer];
    for (unsigned j = 0; j < other->count; j++) {
        const struct pim_instruction *theirs = &other->program[j];
        if (other->state[j] == OPEN && theirs->u.network.peer == number &&
            theirs->u.network.tag == own->u.network.tag) {
            other->state[j] = DONE;
            machine->unit[number].state[i] = DONE;
            return true;
        }
    }
    return false;
}

static bool open_receive(const struct machine *machine, struct unit *unit, unsigned i)
{
    unsigned open = 0;
    for (unsigned j = 0; j < unit->count; j++)
        open += unit->state[j] == OPEN;
    if (open == machine->limits.posted_receives)
        return false;
    unit->state[i] = OPEN;
    return true;
}

/* Tries step `step` of MOST + 1 of a unit: starting instruction `step`, or the fetch. */
static bool try_step(struct machine *machine, unsigned number, unsigned step)
{
    struct unit *unit = &machine->unit[number];
    if (step == MOST)
        return fetch(machine, unit);
    if (step >= unit->fetched || !may_start(machine, unit, step))
        return false;
    if (unit->program[step].opcode == PIM_OP_SEND)
        return run_send(machine, number, step);
    return unit->program[step].opcode == PIM_OP_RECEIVE ? open_receive(machine, unit, step)
                                                        : run_local(unit, step);
}

/* Executes in a random order; true when everything is done at the end. */
static bool execute(struct machine *machine)
{
    enum { STEPS = UNITS * (MOST + 1) };
    for (unsigned u = 0; u < UNITS; u++) {
        machine->unit[u].fetched = 0;
        memset(machine->unit[u].state, 0, sizeof machine->unit[u].state);
        memset(machine->unit[u].held, 0, sizeof machine->unit[u].held);
    }
    for (bool moved = true; moved;) {
        moved = false;
        uint64_t first = draw(&machine->random, STEPS);
        uint64_t stride = 1 + draw(&machine->random, 2); /* STEPS is odd: a stride of 2 reaches all */
        for (uint64_t i = 0; i < STEPS && !moved; i++) {
            uint64_t step = (first + i * stride) % STEPS;
            moved = try_step(machine, (unsigned)(step / (MOST + 1)), (unsigned)(step % (MOST + 1)));
        }
    }
    bool complete = true;
    for (unsigned u = 0; u < UNITS; u++)
        complete = complete && all_done(&machine->unit[u], machine->unit[u].count);
    return complete;
}

/* --- random programs --- */

static struct pim_instruction *append(struct unit *unit, enum pim_opcode opcode)
{
    ck_assert_uint_lt(unit->count, MOST);
    struct pim_instruction *instruction = &unit->program[unit->count++];
    *instruction = (struct pim_instruction){.opcode = (uint8_t)opcode};
    return instruction;
}

/* A dependency on something before, now and then. */
static void depend(struct machine *machine, struct unit *unit, struct pim_instruction *instruction, int which)
{
    if (draw(&machine->random, 4) == 0)
        instruction->dependency[which] = (uint16_t)(1 + draw(&machine->random, unit->count - 1));
}

/* load, matrix, vector: what one gives back the one before took. */
static void append_tile(struct machine *machine, struct unit *unit)
{
    uint32_t n = 5 + (uint32_t)draw(&machine->random, 20);
    unsigned loads = 1 + (unsigned)draw(&machine->random, 4);
    for (unsigned i = 0; i < loads; i++) {
        struct pim_instruction *load = append(unit, PIM_OP_LOAD);
        load->detail = PIM_BUFFER_WEIGHT;
        load->u.memory.bytes = n;
        load->u.memory.count = 1;
        depend(machine, unit, load, 0);
    }
    for (unsigned i = 0; i < loads; i++) {
        struct pim_instruction *matrix = append(unit, PIM_OP_MATRIX);
        matrix->detail =
            PIM_MATRIX_RELEASE_WEIGHT | (i == 0 ? PIM_MATRIX_OPEN_OUTPUT : PIM_MATRIX_ACCUMULATE);
        matrix->u.matrix.m = matrix->u.matrix.k = 1;
        matrix->u.matrix.n = n;
        matrix->u.matrix.input_bits = matrix->u.matrix.weight_bits = matrix->u.matrix.output_bits = 8;
        matrix->dependency[0] = (uint16_t)loads;
        depend(machine, unit, matrix, 1);
    }
    struct pim_instruction *vector = append(unit, PIM_OP_VECTOR);
    vector->u.vector.rows = vector->u.vector.elements = vector->u.vector.bits = 1;
    vector->u.vector.release = 4 * n;
    vector->dependency[0] = 1;
}

/* Something within the local memory of a core. */
static void append_local(struct machine *machine, struct unit *unit)
{
    const uint32_t bytes = 2 + 2 * (uint32_t)draw(&machine->random, 4);
    const uint32_t from = (uint32_t)draw(&machine->random, LOCAL / 2 - bytes),
                   to = LOCAL / 2 + (uint32_t)draw(&machine->random, LOCAL / 2 - bytes);
    struct pim_instruction *instruction;
    if (draw(&machine->random, 2) == 0) {
        instruction = append(unit, PIM_OP_LOCAL_COPY);
        instruction->u.local_copy.source = from;
        instruction->u.local_copy.destination = to;
        instruction->u.local_copy.bytes = bytes;
        instruction->u.local_copy.count = 1;
    } else {
        instruction = append(unit, PIM_OP_LOCAL_VECTOR);
        instruction->detail = PIM_LOCAL_RELU;
        instruction->u.local_vector.source = to;
        instruction->u.local_vector.destination = from;
        instruction->u.local_vector.elements = bytes / 2;
        instruction->u.local_vector.bits = 16;
    }
    depend(machine, unit, instruction, 0);
}

static void append_message(struct machine *machine, unsigned number, unsigned peer, enum pim_opcode opcode,
                           uint32_t tag)
{
    struct unit *unit = &machine->unit[number];
    struct pim_instruction *instruction = append(unit, opcode);
    instruction->u.network.peer = peer;
    instruction->u.network.tag = tag;
    instruction->u.network.bytes = 8;
    if (machine->limits.kind == PIM_CHECK_CORES)
        instruction->u.network.address = draw(&machine->random, LOCAL - 8);
    depend(machine, unit, instruction, 0);
}

/* Rounds of work and messages; the two ends of a message may come in different places of their programs,
 * which makes circles. */
static void make_programs(struct machine *machine)
{
    struct {
        unsigned unit, peer;
        enum pim_opcode opcode;
        uint32_t tag;
    } late[8];
    unsigned lates = 0;
    const bool cores = machine->limits.kind == PIM_CHECK_CORES;
    for (unsigned u = 0; u < UNITS; u++) {
        machine->unit[u].count = 0;
        (void)append(&machine->unit[u], PIM_OP_PHASE_BEGIN);
        if (cores) {
            struct pim_instruction *write = append(&machine->unit[u], PIM_OP_LOCAL_WRITE);
            write->u.local_write.bytes = LOCAL;
            write->u.local_write.count = 1;
        }
    }
    for (unsigned round = 0; round < 6; round++) {
        unsigned from = (unsigned)draw(&machine->random, UNITS),
                 to = (from + 1 + (unsigned)draw(&machine->random, UNITS - 1)) % UNITS;
        uint32_t tag = (uint32_t)draw(&machine->random, 2);
        bool send_late = draw(&machine->random, 4) == 0;
        if (cores)
            append_local(machine, &machine->unit[from]);
        else if (draw(&machine->random, 2) == 0 && machine->unit[from].count < MOST - 24)
            append_tile(machine, &machine->unit[from]);
        if (draw(&machine->random, 6) == 0)
            (void)append(&machine->unit[to], PIM_OP_JOIN);
        append_message(machine, send_late ? to : from, send_late ? from : to,
                       send_late ? PIM_OP_RECEIVE : PIM_OP_SEND, tag);
        late[lates].unit = send_late ? from : to;
        late[lates].peer = send_late ? to : from;
        late[lates].opcode = send_late ? PIM_OP_SEND : PIM_OP_RECEIVE;
        late[lates++].tag = tag;
        while (lates > 0 && (lates == 4 || round == 5 || draw(&machine->random, 3) == 0)) {
            unsigned chosen = (unsigned)draw(&machine->random, lates);
            append_message(machine, late[chosen].unit, late[chosen].peer, late[chosen].opcode,
                           late[chosen].tag);
            late[chosen] = late[--lates];
        }
    }
    for (unsigned u = 0; u < UNITS; u++)
        (void)append(&machine->unit[u], PIM_OP_PHASE_END);
}

static enum pim_status verdict(const struct machine *machine, struct pim_error *reason)
{
    struct pim_error error = {PIM_OK, ""};
    char path[PATH_SIZE];
    struct pim_trace_description description = description_of(UNITS);
    struct pim_trace_writer *writer;
    struct pim_trace *trace;
    struct pim_check_result result;
    EXPECT_OK(pim_trace_writer_create(temporary(path, "order"), &description, &writer, &error));
    (void)pim_trace_writer_phase(writer, &(struct pim_trace_phase){.name = "p"});
    for (unsigned u = 0; u < UNITS; u++)
        for (unsigned i = 0; i < machine->unit[u].count; i++)
            EXPECT_OK(pim_trace_writer_append(writer, u, &machine->unit[u].program[i], &error));
    EXPECT_OK(pim_trace_writer_finish(writer, &error));
    EXPECT_OK(pim_trace_open(path, &trace, &error));
    enum pim_status status = pim_trace_check(trace, &machine->limits, &result, reason);
    pim_trace_close(trace);
    return status;
}

static void compare_orders(enum pim_check_kind kind, uint64_t seed)
{
    struct machine *machine = calloc(1, sizeof *machine);
    unsigned complete = 0, stuck = 0;
    machine->random = seed;
    printf("seed %" PRIu64 "\n", seed);
    for (unsigned round = 0; round < 200; round++) {
        struct pim_error text = {PIM_OK, ""};
        machine->limits = (struct pim_check_limits){.buffer_bytes = {0, CAPACITY, CAPACITY, CAPACITY},
                                                    .accumulator_bits = 32};
        machine->limits.kind = kind;
        machine->limits.window = 1 + (uint32_t)draw(&machine->random, 8);
        machine->limits.posted_receives =
            kind == PIM_CHECK_CORES ? 1 : 1 + (uint32_t)draw(&machine->random, 3);
        machine->limits.in_order = draw(&machine->random, 3) == 0;
        make_programs(machine);
        enum pim_status status = verdict(machine, &text);
        ck_assert_msg(status == PIM_OK || status == PIM_DEADLOCK, "round %u: %s", round, text.text);
        for (unsigned order = 0; order < ORDERS; order++)
            ck_assert_msg(execute(machine) == (status == PIM_OK), "round %u order %u: the checker says: %s",
                          round, order, status == PIM_OK ? "completes" : text.text);
        complete += status == PIM_OK;
        stuck += status == PIM_DEADLOCK;
    }
    printf("%u complete, %u stuck\n", complete, stuck);
    ck_assert_uint_gt(complete, 20); /* else the traces say nothing */
    ck_assert_uint_gt(stuck, 20);
    free(machine);
}

START_TEST(every_order_ends_as_the_checker_says)
{
    compare_orders(PIM_CHECK_NODES, 20240818);
}
END_TEST

/* The same for cores: local memories instead of buffers. */
START_TEST(every_order_of_cores_ends_as_the_checker_says)
{
    compare_orders(PIM_CHECK_CORES, 20240819);
}
END_TEST

Suite *order_suite(void)
{
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("order");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_order_ends_as_the_checker_says);
    tcase_add_test(tests, every_order_of_cores_ends_as_the_checker_says);
    suite_add_tcase(suite, tests);
    return suite;
}
