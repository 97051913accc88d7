/*
 * What instructions touch, and which earlier ones stand in their way: rule 2 of docs/models/core.md.
 *
 * For each line of the local memory the core keeps which slots hold an instruction that writes or reads it, a
 * bit for each. Those of its lines are the earlier ones that an instruction can share a byte with; with its
 * dependencies they are all that is ever held against it. They are found when it is fetched, in windows of
 * more than 64 slots when it is looked at. Ranges of many lines stand in a
 * line of their own, which everybody looks at, and look at everything themselves. A bit more than there need
 * be, as of a slot whose instruction is complete, costs a look and nothing else.
 */
#include "models/core/cores_internal.h"

#include <inttypes.h>

#define LONGEST (UINT64_C(1) << 60) /* cycles of one MVM with all its windows */

/* --- operands --- */

/* Whether the global memory holds what a load or store names. */
static bool inside_global(const struct pim_core *core, const struct pim_instruction *instruction)
{
    uint64_t capacity = core->cores->configuration.global_bytes, address = instruction->u.transfer.address;
    uint64_t count = instruction->u.transfer.count, bytes = instruction->u.transfer.bytes;
    if (count == 0 || bytes == 0)
        return true;
    uint64_t span = (count - 1) * instruction->u.transfer.stride + bytes; /* 32-bit factors: below 2^64 */
    return address <= capacity && span <= capacity - address;
}

/* Whether the hardware can write what an array_write names. */
static bool can_write(const struct pim_core *core, const struct pim_instruction *instruction)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_operands_array_write *o = &instruction->u.array_write;
    if (configuration->nn || configuration->crossbar.write_row_cycles == 0 || o->group >= core->group_count)
        return false;
    const struct pim_core_group *group = &core->groups[o->group];
    return o->rows <= group->rows && o->row <= group->rows - o->rows &&
           o->bytes == o->rows * group->row_bytes;
}

/* Whether the other end of a message exists, and its bytes can be in the local memory. */
static inline bool has_peer(const struct pim_core *core, const struct pim_instruction *instruction)
{
    const struct pim_operands_network *o = &instruction->u.network;
    const uint64_t local_bytes = core->cores->configuration.local_bytes;
    return o->peer < core->cores->units.count && o->bytes > 0 && o->bytes <= local_bytes &&
           o->address <= local_bytes;
}

/* Whether the core has what an instruction names beside its local memory. */
static inline bool can_execute(const struct pim_core *core, const struct pim_instruction *instruction)
{
    const struct pim_operands_mvm *mvm = &instruction->u.mvm;
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        return mvm->group < core->group_count &&
               (mvm->windows <= 1 || mvm->windows <= LONGEST / core->cores->cost.mvm_cycles);
    case PIM_OP_ARRAY_WRITE:
        return can_write(core, instruction);
    case PIM_OP_LOCAL_VECTOR:
        return core->cores->configuration.vector_operations >> instruction->detail & 1;
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
        return inside_global(core, instruction);
    case PIM_OP_SEND:
    case PIM_OP_RECEIVE:
        return has_peer(core, instruction);
    default:
        return instruction->opcode == PIM_OP_LOCAL_COPY || instruction->opcode == PIM_OP_LOCAL_WRITE;
    }
}

static inline uint64_t highest_of(const struct pim_local_span spans[PIM_CORE_RANGES])
{
    return pim_larger(spans[PIM_CORE_WRITE].end,
                      pim_larger(spans[PIM_CORE_FIRST].end, spans[PIM_CORE_SECOND].end));
}

/* Why an instruction cannot be executed: can_execute() says no, or the local memory ends before `highest`. */
static PIM_NOINLINE void refuse(struct pim_core *core, const struct pim_core_slot *slot, uint64_t highest)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    const uint64_t local_bytes = configuration->local_bytes;
    bool network = instruction->opcode == PIM_OP_SEND || instruction->opcode == PIM_OP_RECEIVE;
    if (network && !has_peer(core, instruction)) {
        pim_core_fail(core, slot,
                      "core %" PRIu32 " does not exist, or %" PRIu64 " bytes at address %" PRIu64
                      " are not in the local memory, which has %" PRIu64 " bytes",
                      instruction->u.network.peer, instruction->u.network.bytes,
                      instruction->u.network.address, local_bytes);
        return;
    }
    if (highest > local_bytes) {
        pim_core_fail(core, slot, "uses %" PRIu64 " bytes of the local memory, which has %" PRIu64, highest,
                      local_bytes);
        return;
    }
    switch (instruction->opcode) {
    case PIM_OP_MVM:
        if (instruction->u.mvm.windows > 1 &&
            instruction->u.mvm.windows > LONGEST / core->cores->cost.mvm_cycles)
            pim_core_fail(core, slot, "its windows last longer than times can be counted");
        else
            pim_core_fail(core, slot,
                          "array group %" PRIu32 " does not exist: the trace gives this core %" PRIu32,
                          instruction->u.mvm.group, core->group_count);
        return;
    case PIM_OP_ARRAY_WRITE:
        if (configuration->nn || configuration->crossbar.write_row_cycles == 0)
            pim_core_fail(core, slot, "the crossbars cannot be written by programs: %s",
                          configuration->nn ? "core.timing is \"pimsim_nn\"" : "crossbar.write_row_ns is 0");
        else
            pim_core_fail(core, slot,
                          "array group %" PRIu32 " does not exist, or has other rows than that: the trace "
                          "gives this core %" PRIu32 " groups",
                          instruction->u.array_write.group, core->group_count);
        return;
    case PIM_OP_LOCAL_VECTOR:
        pim_core_fail(core, slot, "the vector units have no %s (core.vector_functions)",
                      pim_local_name(instruction->detail));
        return;
    case PIM_OP_LOCAL_LOAD:
    case PIM_OP_LOCAL_STORE:
        pim_core_fail(core, slot, "the global memory ends at %" PRIu64, configuration->global_bytes);
        return;
    default:
        pim_unit_no_engine(&core->unit, slot->sequence, instruction->opcode);
        return;
    }
}

/* --- lines of the local memory --- */

/* Of a line, the word of slots. `words` is a constant where it is 1, which is usual. */
static PIM_ALWAYS_INLINE struct pim_core_line *line_of(const struct pim_core *core, uint32_t line,
                                                       uint32_t words, uint32_t word)
{
    return core->lines + (size_t)line * words + word;
}

static inline struct pim_line_range lines_of(const struct pim_core *core, struct pim_local_span span)
{
    if (span.begin == span.end)
        return (struct pim_line_range){0, 0};
    const uint64_t first = span.begin >> core->line_shift;
    const uint64_t more = ((span.end - 1) >> core->line_shift) - first;
    return more < PIM_CORE_LINES_MOST ? (struct pim_line_range){(uint16_t)first, (uint16_t)(more + 1)}
                                      : (struct pim_line_range){PIM_CORE_LINES, 1};
}

/* A bit for each slot of a word. */
static inline uint64_t slots_of_word(const struct pim_core *core)
{
    return UINT64_MAX >> (63 - core->mask % 64);
}

/* Takes the instruction that the slot held before out of its lines. */
static PIM_ALWAYS_INLINE void leave_lines(struct pim_core *core, const struct pim_core_lines *lines,
                                          uint32_t words, uint32_t word, uint64_t bit)
{
    for (unsigned i = 0; i < PIM_CORE_RANGES; i++) {
        struct pim_core_line *line = line_of(core, lines->range[i].first, words, word);
        for (uint32_t left = lines->range[i].count; left > 0; left--, line += words)
            *(i == PIM_CORE_WRITE ? &line->writes : &line->reads) &= ~bit;
    }
}

/* Puts an instruction into its lines (`bit` 0: only looks); those of a word of slots that share them. */
static PIM_ALWAYS_INLINE uint64_t enter_lines(struct pim_core *core, const struct pim_core_lines *lines,
                                              uint32_t words, uint32_t word, uint64_t bit)
{
    const struct pim_core_line *wide = line_of(core, PIM_CORE_LINES, words, word);
    uint64_t found = wide->writes | wide->reads;
    for (unsigned i = 0; i < PIM_CORE_RANGES; i++) {
        struct pim_core_line *line = line_of(core, lines->range[i].first, words, word);
        if (line == wide)
            found = slots_of_word(core);
        for (uint32_t left = lines->range[i].count; left > 0; left--, line += words) {
            found |= line->writes | (i == PIM_CORE_WRITE ? line->reads : 0);
            *(i == PIM_CORE_WRITE ? &line->writes : &line->reads) |= bit;
        }
    }
    return found;
}

/* Those of a word of slots that an instruction is held against beside, for its dependencies and its order. */
static PIM_ALWAYS_INLINE uint64_t named_by(const struct pim_core *core, const struct pim_core_slot *slot,
                                           uint32_t word)
{
    uint64_t found = 0;
    if (slot->bytes_alone)
        return found;
    if (core->cores->configuration.in_order)
        return slots_of_word(core);
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++) {
        const uint64_t distance = slot->instruction.dependency[i];
        const uint64_t other = (slot->sequence - distance) & core->mask;
        if (distance <= core->mask && other / 64 == word)
            found |= UINT64_C(1) << other % 64;
    }
    return found;
}

/* Takes what an instruction touches into the index. With one word of slots those that it is held against are
 * found at once; with more of them when it is looked at, in the words that are then in flight. */
static PIM_ALWAYS_INLINE void take_ranges(struct pim_core *core, struct pim_core_slot *slot,
                                          const struct pim_local_span spans[PIM_CORE_RANGES], uint32_t words)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const uint32_t place = (uint32_t)slot->sequence & core->mask, own = words == 1 ? 0 : place / 64;
    const uint64_t bit = UINT64_C(1) << place % 64;
    struct pim_core_lines *lines = &core->touched[place];
    leave_lines(core, lines, words, own, bit);
    core->over[own] &= ~bit;
    for (unsigned i = 0; i < PIM_CORE_RANGES; i++) {
        slot->range[i] = (struct pim_byte_range){(uint32_t)spans[i].begin, (uint32_t)spans[i].end};
        lines->range[i] = lines_of(core, spans[i]);
    }
    const uint16_t *dependency = slot->instruction.dependency;
    slot->bytes_alone = !configuration->nn && !configuration->in_order &&
                        (dependency[0] | dependency[1] | dependency[2]) == 0;
    const uint64_t found = enter_lines(core, lines, words, own, bit);
    if (words == 1)
        core->others[place] = found | named_by(core, slot, 0);
}

bool pim_core_prepare(struct pim_core *core, struct pim_core_slot *slot)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    const struct pim_instruction *instruction = &slot->instruction;
    struct pim_local_span spans[PIM_CORE_RANGES]; /* in full width, before they are known to be there */
    pim_local_spans_of(instruction, spans);
    slot->engine = (uint8_t)pim_opcode_engine(instruction->opcode);
    slot->cause = PIM_WAIT_ISSUE;
    bool possible = can_execute(core, instruction);
    uint64_t highest = highest_of(spans);
    if (PIM_UNLIKELY(!possible || highest > configuration->local_bytes)) {
        refuse(core, slot, highest);
        return false;
    }
    uint64_t *most = &core->unit.result.buffer_high_water[PIM_BUFFER_INPUT];
    *most = pim_larger(*most, highest);
    if (core->words == 1)
        take_ranges(core, slot, spans, 1);
    else
        take_ranges(core, slot, spans, core->words);
    return true;
}

/* --- conflicts --- */

/* Whether the bytes that two instructions touch stand in each other's way; `writes`: two writes, too. */
static PIM_ALWAYS_INLINE bool bytes_meet(const struct pim_core_slot *slot, const struct pim_core_slot *other,
                                         bool writes)
{
    const struct pim_byte_range *a = slot->range, *b = other->range;
    return pim_byte_ranges_overlap(&a[PIM_CORE_FIRST], &b[PIM_CORE_WRITE]) ||
           (writes && pim_byte_ranges_overlap(&a[PIM_CORE_WRITE], &b[PIM_CORE_WRITE])) ||
           pim_byte_ranges_overlap(&a[PIM_CORE_SECOND], &b[PIM_CORE_WRITE]) ||
           pim_byte_ranges_overlap(&a[PIM_CORE_WRITE], &b[PIM_CORE_FIRST]) ||
           pim_byte_ranges_overlap(&a[PIM_CORE_WRITE], &b[PIM_CORE_SECOND]);
}

/* Whether `slot` has to wait for `other`, an earlier one; rule 2. */
static bool conflicts(const struct pim_core *core, const struct pim_core_slot *slot,
                      const struct pim_core_slot *other)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    if (configuration->nn)
        return bytes_meet(slot, other, false); /* quirks.c, rule 2 */
    if (configuration->in_order && other->engine != slot->engine)
        return true;
    if (bytes_meet(slot, other, true))
        return true;
    uint64_t distance = slot->sequence - other->sequence;
    for (unsigned i = 0; i < PIM_DEPENDENCIES; i++)
        if (slot->instruction.dependency[i] == distance)
            return true;
    return false;
}

/* Why `slot` waits for `other`. */
static uint8_t cause_of(const struct pim_core *core, const struct pim_core_slot *slot,
                        const struct pim_core_slot *other)
{
    const struct pim_cores_configuration *configuration = &core->cores->configuration;
    if (configuration->in_order && !configuration->nn && other->engine != slot->engine)
        return PIM_WAIT_ISSUE;
    return (uint8_t)pim_wait_of_engine(other->engine);
}

/* Looks at one of them; false when its end is not known. */
static inline bool look_at(struct pim_core *core, struct pim_core_slot *slot,
                           const struct pim_core_slot *other)
{
    if (slot->bytes_alone ? !bytes_meet(slot, other, true) : !conflicts(core, slot, other))
        return true;
    if (other->done == PIM_CYCLE_UNKNOWN) {
        slot->checked = other->sequence;
        slot->cause = cause_of(core, slot, other);
        return false;
    }
    if (other->done > slot->ready) {
        slot->ready = other->done;
        slot->cause = cause_of(core, slot, other);
    }
    return true;
}

/* The earlier instructions that `slot` is held against and that were not seen to be complete, from `sequence`
 * on, whose bit is 0, up to the end of its word of slots. With one word they are all in it: it is turned. */
static PIM_ALWAYS_INLINE uint64_t held_against(struct pim_core *core, const struct pim_core_slot *slot,
                                               uint64_t sequence, uint32_t words)
{
    const uint64_t own = slot->sequence & core->mask, place = sequence & core->mask, word = place / 64;
    uint64_t found = words == 1 ? core->others[own]
                                : enter_lines(core, &core->touched[own], words, (uint32_t)word, 0) |
                                      named_by(core, slot, (uint32_t)word);
    found &= ~core->over[words == 1 ? 0 : word];
    found = words == 1 ? found >> place | found << 1 << (core->mask - place) : found >> place % 64;
    const uint64_t count = slot->sequence - sequence;
    return count < 64 ? found & ((UINT64_C(1) << count) - 1) : found;
}

static PIM_ALWAYS_INLINE uint64_t search(struct pim_core *core, struct pim_core_slot *slot, uint64_t now,
                                         uint32_t words)
{
    const uint64_t stop = slot->sequence;
    uint64_t sequence = pim_larger(slot->checked, core->unit.oldest);
    while (sequence < stop) { /* word by word */
        for (uint64_t left = held_against(core, slot, sequence, words); left; left &= left - 1) {
            const uint64_t place = (sequence + (unsigned)__builtin_ctzll(left)) & core->mask;
            const struct pim_core_slot *other = &core->slots[place];
            if (other->done <= now)
                core->over[words == 1 ? 0 : place / 64] |= UINT64_C(1) << place % 64;
            else if (!look_at(core, slot, other))
                return PIM_CYCLE_UNKNOWN;
        }
        sequence = words == 1 ? stop : (sequence | 63) + 1;
    }
    slot->checked = stop;
    return slot->ready;
}

uint64_t pim_core_search(struct pim_core *core, struct pim_core_slot *slot, uint64_t now)
{
    return core->words == 1 ? search(core, slot, now, 1) : search(core, slot, now, core->words);
}
