/*
 * Checks of one instruction and of one program; see validate.h. Those of one instruction are made from
 * traces/opcodes.def.
 */
#include "traces/validate.h"
#include "sim/try.h"

#include "traces/text/fields.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>

/* The messages stand apart from the checks: every instruction of a trace passes through these, so that they
 * are expanded where they are called, and what their constants settle costs nothing. */
static PIM_NOINLINE enum pim_status refuse_range(uint64_t value, uint64_t least, uint64_t most,
                                                 const char *name, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ": allowed are %" PRIu64 " to %" PRIu64, name,
                    value, least, most);
}

static PIM_NOINLINE enum pim_status refuse_unused(uint64_t value, const char *name, struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "%s is %" PRIu64 ", but is not used here and must be 0", name,
                    value);
}

static PIM_NOINLINE enum pim_status refuse_reserved(uint64_t value, const char *what, unsigned offset,
                                                    struct pim_error *error)
{
    return pim_fail(error, PIM_BAD_INPUT, "reserved %s %u is %" PRIu64 ", but is not used here and must be 0",
                    what, offset, value);
}

static PIM_ALWAYS_INLINE enum pim_status check_range(uint64_t value, uint64_t least, uint64_t most,
                                                     const char *name, struct pim_error *error)
{
    return PIM_LIKELY(value >= least && value <= most) ? PIM_OK
                                                       : refuse_range(value, least, most, name, error);
}

static PIM_ALWAYS_INLINE enum pim_status check_unused(uint64_t value, const char *name,
                                                      struct pim_error *error)
{
    return PIM_LIKELY(value == 0) ? PIM_OK : refuse_unused(value, name, error);
}

/* What is wrong with pieces that reach too far or overlap. */
static PIM_NOINLINE enum pim_status refuse_pieces(uint64_t address, uint64_t bytes, uint64_t count,
                                                  uint64_t stride, bool local, bool apart, const char *part,
                                                  struct pim_error *error)
{
    const uint64_t reach = stride * (count - 1);
    if (apart && count > 1 && stride < bytes)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s stride is %" PRIu64 ": pieces of %" PRIu64 " bytes would overlap", part, stride,
                        bytes);
    if (local)
        return pim_fail(error, PIM_BAD_INPUT, "%s ends at %" PRIu64 ": a local memory ends below 2^32", part,
                        address + reach + bytes);
    PIM_TRY(check_range(reach, 0, PIM_MEMORY_END, "stride * (count - 1)", error));
    return pim_fail(error, PIM_BAD_INPUT, "%s ends at %" PRIu64 ": addresses end at 2^62", part,
                    address + reach + bytes);
}

/* `count` pieces (at least 1) that begin `stride` apart do not reach too far and, where `apart`, do not
 * overlap. No sum is beyond 64 bits: in a local memory all but the bytes of a single piece are below 2^32;
 * else the address is at most 2^62, and so is the reach when it is added. The stride of one piece does not
 * matter. */
static PIM_ALWAYS_INLINE enum pim_status check_pieces(bool local, bool apart, const char *part,
                                                      uint64_t address, uint64_t bytes, uint64_t count,
                                                      uint64_t stride, struct pim_error *error)
{
    const uint64_t most = local ? UINT32_MAX : PIM_MEMORY_END, reach = stride * (count - 1);
    if (PIM_LIKELY((!apart || count == 1 || stride >= bytes) && (local || reach <= most) &&
                   reach + address + bytes <= most))
        return PIM_OK;
    return refuse_pieces(address, bytes, count, stride, local, apart, part, error);
}

/* Whether a space is a local memory. */
#define NODE false
#define GLOBAL false
#define LOCAL true
#define OWN false

/* The operands of each form by themselves and with each other; `uses` has a bit for each that is used. */
#define ALL UINT_MAX
#define USE(form, member) (1U << FIELD_##form##_##member)
#define V(member) ((uint64_t)o->member)
#define NOT_USED(name) name " is %" PRIu64 ", but is not used here and must be 0"

#define FORM(form) enum {
#define FIELD(form, offset, type, member, ...) FIELD_##form##_##member,
#define FORM_END(form)                                                                                       \
    FIELDS_##form                                                                                            \
    }                                                                                                        \
    ;
#include "traces/opcodes.def"

#define FORM(form)                                                                                           \
    static PIM_ALWAYS_INLINE enum pim_status check_##form(const struct pim_instruction *instruction,         \
                                                          uint32_t unit, uint32_t units, unsigned uses,      \
                                                          struct pim_error *error)                           \
    {                                                                                                        \
        const struct pim_operands_##form *const o = &instruction->u.form;                                    \
        (void)unit;                                                                                          \
        (void)units;
#define FIELD(form, offset, type, member, standard, look, least, most, text)                                 \
    if (uses & USE(form, member))                                                                            \
        PIM_TRY(check_range(V(member), least, most, #member, error));                                        \
    else                                                                                                     \
        PIM_TRY(check_unused(V(member), #member, error));
#define RESERVED(form, offset, type, member)                                                                 \
    if (PIM_UNLIKELY(V(member) != 0))                                                                        \
        return refuse_reserved(V(member),                                                                    \
                               sizeof(type) == 1   ? "byte"                                                  \
                               : sizeof(type) == 2 ? "half-word"                                             \
                                                   : "word",                                                 \
                               offset, error);
#define RESERVED_WORDS(form, offset, member, count)                                                          \
    for (unsigned i = 0; i < (count); i++)                                                                   \
        if (PIM_UNLIKELY(V(member[i]) != 0))                                                                 \
            return refuse_reserved(V(member[i]), "word", (offset) + 4 * i, error);
#define RULE(form, text, condition, ...)                                                                     \
    if (PIM_UNLIKELY(!(condition)))                                                                          \
        return pim_fail(error, PIM_BAD_INPUT, __VA_ARGS__);
#define FORM_END(form)                                                                                       \
    return PIM_OK;                                                                                           \
    }
#include "traces/opcodes.def"

static PIM_ALWAYS_INLINE enum pim_status check_detail(unsigned detail, enum pim_detail_kind kind,
                                                      struct pim_error *error)
{
    switch (kind) {
#define X(name, least, most, what)                                                                           \
    case PIM_DETAIL_##name:                                                                                  \
        return kind == PIM_DETAIL_NONE ? check_unused(detail, what, error)                                   \
                                       : check_range(detail, least, most, what, error);
        PIM_DETAIL_MAP(X)
#undef X
    }
    return PIM_OK;
}

static inline bool is_control(unsigned opcode)
{
    return opcode == PIM_OP_PHASE_BEGIN || opcode == PIM_OP_PHASE_END || opcode == PIM_OP_JOIN ||
           opcode == PIM_OP_REPEAT;
}

/* The bits of all dependencies: 0 when there are none, which is so of most instructions. */
static inline unsigned dependencies_of(const struct pim_instruction *instruction)
{
    _Static_assert(PIM_DEPENDENCIES == 3 && (PIM_DEPENDENCY_REACH & (PIM_DEPENDENCY_REACH + 1)) == 0,
                   "the bits of all are beyond the reach when those of one are");
    return (unsigned)instruction->dependency[0] | instruction->dependency[1] | instruction->dependency[2];
}

static PIM_ALWAYS_INLINE enum pim_status check_dependency_fields(const struct pim_instruction *instruction,
                                                                 bool control, struct pim_error *error)
{
    const unsigned all = dependencies_of(instruction);
    if (PIM_UNLIKELY(all > PIM_DEPENDENCY_REACH || (control && all != 0)))
        for (int i = 0; i < PIM_DEPENDENCIES; i++)
            PIM_TRY(control ? check_unused(instruction->dependency[i], "dependency", error)
                            : check_range(instruction->dependency[i], 0, PIM_DEPENDENCY_REACH, "dependency",
                                          error));
    return PIM_OK;
}

static PIM_ALWAYS_INLINE enum pim_status check_instruction(const struct pim_instruction *instruction,
                                                           uint32_t unit, uint32_t units,
                                                           struct pim_error *error)
{
    switch (instruction->opcode) {
#define OPCODE(number, name, mnemonic, engine, family, form, uses, detail_kind, text)                        \
    case PIM_OP_##name: {                                                                                    \
        const struct pim_operands_##form *const o = &instruction->u.form;                                    \
        (void)o;                                                                                             \
        PIM_TRY(check_dependency_fields(instruction, PIM_ENGINE_##engine == PIM_ENGINE_CONTROL, error));     \
        PIM_TRY(check_detail(instruction->detail, PIM_DETAIL_##detail_kind, error));                         \
        PIM_TRY(check_##form(instruction, unit, units, uses, error));
#define READS(space, place, part, address, bytes, count, stride)                                             \
    PIM_TRY(check_pieces(space, !(space), part, address, bytes, count, stride, error));
#define WRITES(space, part, address, bytes, count, stride)                                                   \
    PIM_TRY(check_pieces(space, true, part, address, bytes, count, stride, error));
#define OPCODE_END(name)                                                                                     \
    return PIM_OK;                                                                                           \
    }
#include "traces/opcodes.def"
    default:
        return pim_fail(error, PIM_BAD_INPUT, "opcode is %u: known are 0 to %d",
                        (unsigned)instruction->opcode, PIM_OPCODES - 1);
    }
}

enum pim_status pim_instruction_check(const struct pim_instruction *instruction, uint32_t unit,
                                      uint32_t units, struct pim_error *error)
{
    return check_instruction(instruction, unit, units, error);
}

struct pim_program_state pim_program_start(uint32_t unit, uint32_t units, uint32_t phases)
{
    return (struct pim_program_state){.unit = unit, .units = units, .phases = phases, .phase = PIM_NO_PHASE};
}

/* Phase marks alternate; everything else lies between them. */
static enum pim_status check_phase(const struct pim_program_state *state,
                                   const struct pim_instruction *instruction, struct pim_error *error)
{
    bool begin = instruction->opcode == PIM_OP_PHASE_BEGIN;
    if (PIM_LIKELY(!begin && instruction->opcode != PIM_OP_PHASE_END)) {
        if (PIM_UNLIKELY(state->phase == PIM_NO_PHASE))
            return pim_fail(error, PIM_BAD_INPUT, "%s stands outside a phase: put phase_begin before it",
                            pim_opcode_name(instruction->opcode));
        return PIM_OK;
    }
    uint32_t phase = instruction->u.control.phase;
    if (phase >= state->phases)
        return pim_fail(error, PIM_BAD_INPUT, "phase is %" PRIu32 ": the trace has %" PRIu32 " phases", phase,
                        state->phases);
    if (state->depth > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "a repeat block holds a phase mark: phases begin and end outside of blocks");
    if (begin && state->phase != PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " begins inside phase %" PRIu32, phase,
                        state->phase);
    if (!begin && state->phase == PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " ends, but none is open", phase);
    if (!begin && state->phase != phase)
        return pim_fail(error, PIM_BAD_INPUT, "phase %" PRIu32 " ends, but phase %" PRIu32 " is open", phase,
                        state->phase);
    return PIM_OK;
}

/* All addresses that `step` leads to lie in memory; a step needs a block around it. */
static enum pim_status check_step(const struct pim_program_state *state,
                                  const struct pim_instruction *instruction, struct pim_error *error)
{
    int64_t step = instruction->u.memory.step;
    if (PIM_LIKELY(step == 0))
        return PIM_OK;
    if (state->depth == 0)
        return pim_fail(error, PIM_BAD_INPUT, "step is %" PRId64 " outside of a repeat block: it must be 0",
                        step);
    /* |step| <= 2^31 and count < 2^32, so the way stays below 2^63 */
    int64_t way = step * (int64_t)(state->repeat[state->depth - 1].count - 1);
    uint64_t address = instruction->u.memory.address;
    uint64_t end = address + (uint64_t)instruction->u.memory.stride * (instruction->u.memory.count - 1) +
                   instruction->u.memory.bytes;
    if (way < 0 && (uint64_t)-way > address)
        return pim_fail(error, PIM_BAD_INPUT,
                        "step %" PRId64 " leads from address %" PRIu64 " to below 0 in %" PRIu32
                        " iterations",
                        step, address, state->repeat[state->depth - 1].count);
    if (way > 0 && (uint64_t)way > PIM_MEMORY_END - end)
        return pim_fail(error, PIM_BAD_INPUT,
                        "step %" PRId64 " leads from address %" PRIu64 " to beyond 2^62 in %" PRIu32
                        " iterations",
                        step, address, state->repeat[state->depth - 1].count);
    return PIM_OK;
}

static enum pim_status check_dependencies(const struct pim_program_state *state,
                                          const struct pim_instruction *instruction, struct pim_error *error)
{
    for (int i = 0; i < PIM_DEPENDENCIES; i++)
        if (PIM_UNLIKELY(instruction->dependency[i] > state->fetches))
            return pim_fail(error, PIM_BAD_INPUT,
                            "dependency %u reaches before the start of the program: %" PRIu64
                            " were fetched before it",
                            (unsigned)instruction->dependency[i], state->fetches);
    return PIM_OK;
}

/* A block ends after its last instruction; ends of several may coincide. Its later iterations are added here.
 */
static enum pim_status close_blocks(struct pim_program_state *state, struct pim_error *error)
{
    while (state->depth > 0 && state->repeat[state->depth - 1].remaining == 0) {
        const struct pim_repeat_state *block = &state->repeat[state->depth - 1];
        uint64_t body = state->fetches - block->first_fetch;
        if (body != 0 && block->count - 1 > (PIM_PROGRAM_FETCHES - state->fetches) / body)
            return pim_fail(error, PIM_BAD_INPUT,
                            "the repeat block that ends here executes more than 2^62 instructions");
        state->fetches += body * (block->count - 1);
        state->depth--;
    }
    return PIM_OK;
}

static enum pim_status open_block(struct pim_program_state *state, const struct pim_instruction *instruction,
                                  struct pim_error *error)
{
    uint32_t length = instruction->u.control.length;
    if (state->depth == PIM_REPEAT_DEPTH)
        return pim_fail(error, PIM_BAD_INPUT, "repeat blocks nest more than %d deep", PIM_REPEAT_DEPTH);
    if (state->depth > 0) {
        struct pim_repeat_state *outer = &state->repeat[state->depth - 1];
        if (length > outer->remaining - 1)
            return pim_fail(error, PIM_BAD_INPUT,
                            "a repeat block of %" PRIu32 " ends behind the one around it, which has %" PRIu32
                            " left",
                            length, outer->remaining - 1);
        outer->remaining -= 1 + length;
    }
    state->repeat[state->depth++] = (struct pim_repeat_state){
        .first_fetch = state->fetches, .count = instruction->u.control.count, .remaining = length};
    state->stored++;
    return PIM_OK;
}

/* Counts an instruction that is fetched. */
static inline enum pim_status count_fetch(struct pim_program_state *state, struct pim_error *error)
{
    if (PIM_UNLIKELY(state->fetches >= PIM_PROGRAM_FETCHES))
        return pim_fail(error, PIM_BAD_INPUT, "the program executes more than 2^62 instructions");
    state->stored++;
    state->fetches++;
    if (PIM_UNLIKELY(state->depth > 0)) {
        state->repeat[state->depth - 1].remaining--;
        return close_blocks(state, error);
    }
    return PIM_OK;
}

/* A phase mark, JOIN or REPEAT: few instructions of a program. */
static PIM_NOINLINE enum pim_status add_control(struct pim_program_state *state,
                                                const struct pim_instruction *instruction,
                                                struct pim_error *error)
{
    PIM_TRY(pim_instruction_check(instruction, state->unit, state->units, error));
    PIM_TRY(check_phase(state, instruction, error));
    if (instruction->opcode == PIM_OP_REPEAT)
        return open_block(state, instruction, error);
    PIM_TRY(count_fetch(state, error));
    if (instruction->opcode == PIM_OP_PHASE_BEGIN)
        state->phase = instruction->u.control.phase;
    else if (instruction->opcode == PIM_OP_PHASE_END)
        state->phase = PIM_NO_PHASE;
    return PIM_OK;
}

static PIM_ALWAYS_INLINE enum pim_status
add(struct pim_program_state *state, const struct pim_instruction *instruction, struct pim_error *error)
{
    if (PIM_UNLIKELY(is_control(instruction->opcode)))
        return add_control(state, instruction, error);
    PIM_TRY(check_instruction(instruction, state->unit, state->units, error));
    if (PIM_UNLIKELY(state->phase == PIM_NO_PHASE))
        return check_phase(state, instruction, error);
    if (PIM_UNLIKELY(dependencies_of(instruction) != 0))
        PIM_TRY(check_dependencies(state, instruction, error));
    if (instruction->opcode == PIM_OP_LOAD || instruction->opcode == PIM_OP_STORE)
        PIM_TRY(check_step(state, instruction, error));
    return count_fetch(state, error);
}

enum pim_status pim_program_add(struct pim_program_state *state, const struct pim_instruction *instruction,
                                struct pim_error *error)
{
    return add(state, instruction, error);
}

enum pim_status pim_program_add_several(struct pim_program_state *state,
                                        const struct pim_instruction *instructions, uint32_t count,
                                        struct pim_error *error)
{
    const uint64_t first = state->stored;
    for (uint32_t i = 0; i < count; i++)
        if (PIM_UNLIKELY(add(state, &instructions[i], error) != PIM_OK))
            return pim_fail_in(error, "instruction %" PRIu64, first + i);
    return PIM_OK;
}

enum pim_status pim_program_end(const struct pim_program_state *state, struct pim_error *error)
{
    if (state->depth > 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the program ends inside a repeat block that needs %" PRIu32 " more instructions",
                        state->repeat[state->depth - 1].remaining);
    if (state->phase != PIM_NO_PHASE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the program ends inside phase %" PRIu32 ": phase_end is missing", state->phase);
    return PIM_OK;
}
