/* What every unit does once: life cycle, phases, results, errors, and the report of who waits for what. */
#include "models/unit/unit.h"
#include "sim/arena.h"
#include "traces/check/instruction.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- errors --- */

/* The first error of a run is the one to report. */
static void fail(struct pim_unit *unit, const char *place, const char *text)
{
    struct pim_units *units = unit->units;
    if (units->error->status == PIM_OK)
        (void)pim_fail(units->error, PIM_BAD_INPUT, "%s %" PRIu32 "%s: %s", units->family->noun, unit->id,
                       place, text);
    pim_kernel_stop(units->kernel);
}

enum { MESSAGE = 1024 };

void pim_unit_fail(struct pim_unit *unit, const char *format, ...)
{
    char text[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(unit, "", text);
}

void pim_unit_fail_at(struct pim_unit *unit, uint64_t sequence, unsigned opcode, const char *format, ...)
{
    char text[MESSAGE], place[128];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)snprintf(place, sizeof place, ", instruction %" PRIu64 " (%s)", sequence, pim_opcode_name(opcode));
    fail(unit, place, text);
}

const char *pim_unit_kind_name(unsigned kind)
{
    static const char *const names[] = {"node", "core", "channel", "tile"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

void pim_unit_kinds_text(unsigned kinds, char text[PIM_UNIT_KINDS_TEXT])
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned kind = 0; pim_unit_kind_name(kind); kind++)
        if ((kinds >> kind & 1U) != 0)
            at += (size_t)snprintf(text + at, PIM_UNIT_KINDS_TEXT - at, "%s\"%s\"", at > 0 ? " or " : "",
                                   pim_unit_kind_name(kind));
}

enum pim_status pim_unit_refuse_opcode(unsigned opcode, struct pim_error *error)
{
    char names[PIM_UNIT_KINDS_TEXT];
    if (opcode == PIM_OP_BIT_SERIAL)
        return pim_fail(error, PIM_BAD_INPUT, "there is no engine for it: row_compute has taken its place");
    pim_unit_kinds_text(pim_check_units_of(opcode) >> PIM_CHECK_NODES, names);
    return pim_fail(error, PIM_BAD_INPUT,
                    "this hardware has no engine for it: that of array.kind = %s executes it", names);
}

void pim_unit_no_engine(struct pim_unit *unit, uint64_t sequence, unsigned opcode)
{
    struct pim_error error;
    (void)pim_unit_refuse_opcode(opcode, &error);
    pim_unit_fail_at(unit, sequence, opcode, "%s", error.text);
}

static bool in_time(const struct pim_units *units, pim_time from, uint64_t cycles, pim_time period)
{
    const pim_time last = units->time_last;
    uint64_t ticks;
    return from <= last && !__builtin_mul_overflow(cycles, period, &ticks) && ticks <= last - from;
}

#define TOO_LONG                                                                                             \
    "the run goes on after tick %" PRIu64 ", beyond which times cannot be counted: shorten the trace, or "   \
    "choose clocks with a larger common divisor"

bool pim_unit_in_time(struct pim_unit *unit, pim_time from, uint64_t cycles, pim_time period)
{
    bool good = in_time(unit->units, from, cycles, period);
    if (!good)
        pim_unit_fail(unit, TOO_LONG, unit->units->time_last);
    return good;
}

bool pim_unit_in_time_at(struct pim_unit *unit, uint64_t sequence, unsigned opcode, pim_time from,
                         uint64_t cycles, pim_time period)
{
    bool good = in_time(unit->units, from, cycles, period);
    if (!good)
        pim_unit_fail_at(unit, sequence, opcode, TOO_LONG, unit->units->time_last);
    return good;
}

void pim_units_exhausted(struct pim_units *units, const char *what)
{
    if (units->error->status == PIM_OK)
        (void)pim_fail(units->error, PIM_NO_MEMORY, "out of memory for %s", what);
    pim_kernel_stop(units->kernel);
}

void pim_unit_too_many_joins(struct pim_unit *unit)
{
    pim_unit_fail(unit, "more than %d joins follow each other without work between them",
                  (int)PIM_JOINS_MOST);
}

void pim_unit_uncountable(struct pim_unit *unit, const struct pim_phase_result *phase)
{
    const struct pim_units *units = unit->units;
    if (units->family->names_phase && phase != &units->outside)
        pim_unit_fail(unit, "the work of phase %" PRIu32 " cannot be counted in 64 bits",
                      (uint32_t)(phase - units->phases));
    else
        pim_unit_fail(unit, "its work cannot be counted in 64 bits");
}

/* --- phases --- */

static void account(struct pim_unit *unit, pim_time time)
{
    (unit->units->family->account ? unit->units->family->account : pim_states_account)(unit, time);
}

void pim_unit_begin_phase(struct pim_unit *unit, uint32_t phase, pim_time now)
{
    struct pim_units *units = unit->units;
    if (unit->in_phase || phase >= units->phase_count) {
        pim_unit_fail(unit, "phase_begin %" PRIu32 ": %s", phase,
                      unit->in_phase ? "the phase before it is still open" : "the trace has no such phase");
        return;
    }
    account(unit, now);
    struct pim_phase_result *result = &units->phases[phase];
    if (result->units == 0 || now < result->start)
        result->start = now;
    result->units++;
    unit->in_phase = true;
    unit->phase = phase;
    unit->phase_start = now;
    unit->sums = result;
    memcpy(unit->share_at_start, unit->result.share, sizeof unit->share_at_start);
}

static void leave_phase(struct pim_unit *unit, pim_time now)
{
    struct pim_units *units = unit->units;
    struct pim_phase_result *result = unit->sums;
    pim_time duration = now - unit->phase_start;
    account(unit, now);
    result->time_sum += duration;
    if (duration > result->time_maximum)
        result->time_maximum = duration;
    if (now >= result->end) {
        result->end = now;
        result->last_time = duration;
        for (unsigned share = 0; share < PIM_SHARES; share++)
            result->last_share[share] = unit->result.share[share] - unit->share_at_start[share];
    }
    if (now > units->finished_at)
        units->finished_at = now;
    unit->in_phase = false;
    if (units->family->leave_phase)
        units->family->leave_phase(unit);
    else
        unit->sums = &units->outside;
}

void pim_unit_end_phase(struct pim_unit *unit, uint32_t phase, pim_time now)
{
    if (!unit->in_phase || phase != unit->phase) {
        pim_unit_fail(unit, "phase_end %" PRIu32 ": that phase is not open", phase);
        return;
    }
    leave_phase(unit, now);
    pim_unit_observe(unit, NULL, unit->phase_start, now);
}

void pim_unit_finish(struct pim_unit *unit, pim_time now)
{
    if (unit->in_phase) {
        pim_unit_fail(unit, "the program ends inside phase %" PRIu32 ": phase_end is missing", unit->phase);
        return;
    }
    unit->finished = true;
    unit->result.finished_at = now;
    unit->units->running--;
}

void pim_unit_attribute_packet(struct pim_unit *source, struct pim_phase_result *phase,
                               const struct pim_zero_load *zero_load, const struct pim_noc_delivery *delivery)
{
    pim_actions_add(source, phase, offsetof(struct pim_actions, noc_bit_hops),
                    delivery->flits * zero_load->flit_bits *
                        (delivery->hops - 1)); /* links: routers less one */
    uint64_t latency = delivery->tail_arrived - delivery->head_injected;
    uint64_t least =
        zero_load->fixed + delivery->hops * zero_load->per_router +
        pim_noc_tail_distance(pim_noc_configuration(source->units->noc), delivery->hops, delivery->flits);
    if (latency > least)
        phase->noc_contention += (latency - least) * zero_load->period;
}

/* --- deadlock report --- */

static bool pending(void *context)
{
    const struct pim_units *units = context;
    return units->running > 0;
}

static void report(void *context, struct pim_idle_report *report)
{
    struct pim_units *units = context;
    for (uint32_t id = 0; id < units->count; id++) {
        struct pim_unit *unit = pim_units_at(units, id);
        if (!unit->finished)
            units->family->describe(unit, report);
    }
}

void pim_unit_report_head(const struct pim_unit *unit, uint64_t sequence,
                          const struct pim_instruction *instruction, const char *cause,
                          struct pim_idle_report *report)
{
    const char *noun = unit->units->family->noun;
    unsigned engine = pim_opcode_engine(instruction->opcode);
    char message[64] = "";
    if (engine == PIM_ENGINE_SEND || engine == PIM_ENGINE_RECEIVE)
        (void)snprintf(message, sizeof message, " %s %s %" PRIu32 ", tag %" PRIu32,
                       engine == PIM_ENGINE_SEND ? "to" : "from", noun, instruction->u.network.peer,
                       instruction->u.network.tag);
    pim_idle_report_line(report, "%s %" PRIu32 ", instruction %" PRIu64 ": %s%s waits for %s", noun, unit->id,
                         sequence, pim_opcode_name(instruction->opcode), message, cause);
}

/* --- life cycle --- */

enum pim_status pim_units_initialize(struct pim_units *units, const struct pim_unit_family *family,
                                     struct pim_kernel *kernel, const struct pim_trace *trace, size_t size,
                                     struct pim_error *error)
{
    *units = (struct pim_units){.family = family,
                                .kernel = kernel,
                                .trace = trace,
                                .size = size,
                                .count = pim_trace_description(trace)->units,
                                .phase_count = pim_trace_phases(trace),
                                .period = 1,
                                .error = error};
    /* Sums of times over all units, and what a network adds behind the last event of a unit, stay below
     * 2^64. */
    units->time_last = PIM_TIME_LAST / 2 / (units->count ? units->count : 1);
    units->running = units->count;
    bool failed = false;
    units->first = pim_lines_allocate((size_t)units->count + 1, size, &failed);
    units->phases = calloc((size_t)units->phase_count + 1, sizeof *units->phases);
    if (failed || !units->phases)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " %ss", units->count,
                        family->noun);
    for (uint32_t i = 0; i < units->phase_count; i++)
        units->phases[i].work_start = PIM_NO_WORK;
    units->pending_work = (struct pim_pending_work){.pending = pending, .report = report, .context = units};
    pim_kernel_add_pending_work(kernel, &units->pending_work);
    return PIM_OK;
}

enum pim_status pim_unit_initialize(struct pim_units *units, uint32_t id, uint32_t ring,
                                    struct pim_error *error)
{
    struct pim_unit *unit = pim_units_at(units, id);
    unit->units = units;
    unit->id = id;
    unit->sums = &units->outside;
    if (ring > 0)
        unit->rings = calloc((size_t)ring * PIM_ENGINE_CONTROL, sizeof *unit->rings);
    if (ring > 0 && !unit->rings)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %s %" PRIu32 " of %" PRIu32,
                        units->family->noun, id, units->count);
    if (pim_trace_cursor_create(units->trace, id, &unit->cursor, error) != PIM_OK)
        return pim_fail_in(error, "%s %" PRIu32, units->family->noun, id);
    return PIM_OK;
}

void pim_units_limit(struct pim_units *units, pim_time last, uint64_t until)
{
    if (last < units->time_last)
        units->time_last = last;
    if (units->family->limit)
        units->family->limit(units, until);
}

void pim_units_terminate(struct pim_units *units)
{
    for (uint32_t id = 0; units->first && id < units->count; id++) {
        struct pim_unit *unit = pim_units_at(units, id);
        free(unit->rings);
        pim_trace_cursor_destroy(unit->cursor);
    }
    free(units->first);
    free(units->phases);
}

/* --- results --- */

uint64_t pim_units_instructions(const struct pim_units *units)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < units->count; id++)
        sum += pim_units_at(units, id)->result.instructions;
    return sum;
}

pim_time pim_units_end(const struct pim_units *units)
{
    pim_time now = pim_kernel_now(units->kernel);
    return units->running > 0 ? now - now % units->period : units->finished_at;
}

void pim_units_close(struct pim_units *units)
{
    pim_time end = pim_units_end(units);
    for (uint32_t id = 0; id < units->count; id++) {
        struct pim_unit *unit = pim_units_at(units, id);
        if (unit->in_phase)
            leave_phase(unit, end);
    }
}

void pim_unit_result_of(struct pim_units *units, uint32_t id, struct pim_unit_result *result)
{
    struct pim_unit *unit = pim_units_at(units, id);
    pim_time end = pim_units_end(units);
    account(unit, end);
    *result = unit->result;
    if (units->family->complete_result)
        units->family->complete_result(unit, end, result);
#ifndef NDEBUG
    pim_time shares = 0;
    for (unsigned share = 0; share < PIM_SHARES; share++)
        shares += result->share[share];
    assert(shares == end);
    for (unsigned class = 0; class < PIM_CLASSES; class ++)
        assert(result->busy[class] + result->stall[class] + result->idle[class] == end);
#endif
}

/* --- pools --- */

enum { POOL_CHUNK = 256 };

struct pim_pool_chunk {
    struct pim_pool_chunk *next;
    _Alignas(PIM_LINE) char records[];
};

void *pim_pool_take(struct pim_pool *pool, size_t size)
{
    if (!pool->free) {
        assert(size >= sizeof(void *) && size % sizeof(void *) == 0);
        struct pim_pool_chunk *chunk = aligned_alloc(PIM_LINE, sizeof *chunk + size * POOL_CHUNK);
        if (!chunk)
            return NULL;
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        for (unsigned i = 0; i < POOL_CHUNK; i++)
            pim_pool_give(pool, chunk->records + size * i);
    }
    void *record = pool->free;
    memcpy(&pool->free, record, sizeof pool->free);
    return record;
}

void pim_pool_give(struct pim_pool *pool, void *record)
{
    memcpy(record, &pool->free, sizeof pool->free);
    pool->free = record;
}

void pim_pool_terminate(struct pim_pool *pool)
{
    while (pool->chunks) {
        struct pim_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        free(chunk);
    }
}
