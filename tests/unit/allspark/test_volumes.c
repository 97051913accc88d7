/*
 * What the nodes send, load and multiply in each phase, against the volumes of section V of the paper: D^F =
 * D^MSA_FC = (v - 1) p q, D^K = D^V = (u - 1) p q, D^FFN = (v - 1) p q + (v - 1) p a_1 q, D^PM = (v - 1) p
 * a_2 q, D^LN = (v - 1) p x 4 bytes (two values of 16 bits), and the weights W of a ring. With shares that
 * are uneven, a node sends all pieces of its ring but that of its successor.
 */
#include "mappers/allspark/placement/placement.h"
#include "mappers/allspark/planning.h"
#include "mappers/allspark/shapes.h"
#include "tests/unit/allspark/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a unit does in a phase. */
struct volume {
    uint64_t sent, received, receives, macs, matrix_weights, loaded_weights;
};

struct message {
    uint32_t from, to, tag;
};

struct ledger {
    const struct scenario *scenario;
    uint32_t phases;
    struct volume *volumes; /* unit * phases + phase */
    struct message *sends;
    uint64_t send_count, send_capacity;
};

static void note_send(struct ledger *ledger, uint32_t unit, const struct pim_instruction *instruction)
{
    if (ledger->send_count == ledger->send_capacity) {
        ledger->send_capacity = 2 * ledger->send_capacity + 1024;
        ledger->sends = realloc(ledger->sends, ledger->send_capacity * sizeof *ledger->sends);
        ck_assert_ptr_nonnull(ledger->sends);
    }
    ledger->sends[ledger->send_count++] =
        (struct message){unit, instruction->u.network.peer, instruction->u.network.tag};
}

static void read_unit(struct ledger *ledger, uint32_t unit)
{
    struct pim_error error = {0};
    struct pim_trace_cursor *cursor;
    const struct pim_instruction *instruction;
    struct volume *volume = NULL;
    ck_assert(pim_trace_cursor_create(ledger->scenario->trace, unit, &cursor, &error) == PIM_OK);
    while (pim_trace_cursor_next(cursor, &instruction, &error) == PIM_OK && instruction) {
        uint64_t n = instruction->u.matrix.n, k = instruction->u.matrix.k;
        if (instruction->opcode == PIM_OP_PHASE_BEGIN)
            volume = &ledger->volumes[(uint64_t)unit * ledger->phases + instruction->u.control.phase];
        ck_assert_ptr_nonnull(volume);
        if (instruction->opcode == PIM_OP_SEND) {
            volume->sent += instruction->u.network.bytes;
            note_send(ledger, unit, instruction);
        }
        if (instruction->opcode == PIM_OP_RECEIVE) {
            volume->received += instruction->u.network.bytes;
            volume->receives++;
        }
        if (instruction->opcode == PIM_OP_MATRIX) {
            volume->macs += instruction->u.matrix.m * n * k;
            volume->matrix_weights += n * k;
        }
        if (instruction->opcode == PIM_OP_LOAD && instruction->detail == PIM_BUFFER_WEIGHT)
            volume->loaded_weights += (uint64_t)instruction->u.memory.bytes * instruction->u.memory.count;
    }
    pim_trace_cursor_destroy(cursor);
}

static void ledger_make(struct ledger *ledger, const struct scenario *scenario)
{
    uint32_t units = scenario->plan.hardware.width * scenario->plan.hardware.height;
    *ledger = (struct ledger){.scenario = scenario, .phases = pim_trace_phases(scenario->trace)};
    ledger->volumes = calloc((uint64_t)units * ledger->phases, sizeof *ledger->volumes);
    ck_assert_ptr_nonnull(ledger->volumes);
    for (uint32_t unit = 0; unit < units; unit++)
        read_unit(ledger, unit);
}

static void ledger_end(struct ledger *ledger)
{
    free(ledger->volumes);
    free(ledger->sends);
}

/* --- what a phase is expected to do on a node --- */

struct expectation {
    struct ledger *ledger;
    const struct pim_allspark_partition *stage;
    uint32_t index, phase, block, layer;
    char step[24];
};

/* First channel of a column, of `total` that are spread like the channels. */
static uint64_t spread(const struct pim_allspark_partition *stage, uint64_t total, uint32_t column)
{
    return total * (share_start(stage->heads, stage->v, column) * stage->head_channels) / stage->channels;
}

/* A node sends every piece of a ring but the one that its successor began with. */
static uint64_t all_but_next(uint64_t total, uint64_t next)
{
    return total - next;
}

static uint64_t row_sends(const struct expectation *e, uint64_t total, uint64_t p, uint32_t column)
{
    uint32_t next = (column + 1) % e->stage->v;
    return e->stage->v == 1
               ? 0
               : p * all_but_next(total, spread(e->stage, total, next + 1) - spread(e->stage, total, next));
}

static uint64_t column_sends(const struct expectation *e, uint32_t row, uint32_t column)
{
    uint64_t q =
        spread(e->stage, e->stage->channels, column + 1) - spread(e->stage, e->stage->channels, column);
    return e->stage->u == 1
               ? 0
               : q * all_but_next(e->stage->key_tokens,
                                  share_of(e->stage->key_tokens, e->stage->u, (row + 1) % e->stage->u));
}

/* k, n, and the channels that are gathered before; false for steps without weights. */
static bool weights_of(const struct expectation *e, uint32_t column, uint64_t *k, uint64_t *n)
{
    const struct pim_allspark_partition *s = e->stage;
    uint64_t outputs = s->channels;
    *k = s->channels;
    if (strcmp(e->step, "merge") == 0)
        *k = s->merge_inputs;
    else if (strcmp(e->step, "ffn_expand") == 0)
        outputs = s->hidden;
    else if (strcmp(e->step, "ffn_contract") == 0)
        *k = s->hidden;
    else if (strcmp(e->step, "reduction") == 0)
        *k = (uint64_t)s->reduction * s->channels;
    else if (strcmp(e->step, "query") != 0 && strcmp(e->step, "key") != 0 && strcmp(e->step, "value") != 0 &&
             strcmp(e->step, "projection") != 0)
        return false;
    *n = spread(s, outputs, column + 1) - spread(s, outputs, column);
    return true;
}

/* Tokens of other rows' keys that a row has. */
static uint64_t tokens_away(const struct pim_allspark_partition *s, uint32_t row)
{
    uint64_t away = 0, first = share_start(s->tokens, s->u, row);
    for (uint64_t t = first; t < first + share_of(s->tokens, s->u, row); t++) {
        uint64_t key = t / s->reduction, from = share_start(s->made_keys, s->u, row);
        bool mine = key >= from && key < from + share_of(s->made_keys, s->u, row);
        away += key < s->made_keys && !mine;
    }
    return away;
}

static bool is_focal(const struct expectation *e)
{
    return e->ledger->scenario->network->transformer->family == PIM_FAMILY_FOCAL;
}

static uint64_t expected_transfer(const struct expectation *e, const struct standing *at)
{
    const struct pim_allspark_partition *s = e->stage;
    uint64_t p = share_of(s->tokens, s->u, at->row), keys = share_of(s->made_keys, s->u, at->row);
    uint64_t q = spread(s, s->channels, at->column + 1) - spread(s, s->channels, at->column);
    if (strcmp(e->step, "window_pool") == 0)
        return at->row + 1 < s->u ? q : 0;
    if (strcmp(e->step, "query") == 0 && is_focal(e)) /* and the pooled token */
        return row_sends(e, s->channels, p + (at->row + 1 == s->u), at->column);
    if (strcmp(e->step, "query") == 0 || strcmp(e->step, "projection") == 0 ||
        strcmp(e->step, "ffn_expand") == 0)
        return row_sends(e, s->channels, p, at->column);
    if (strcmp(e->step, "ffn_contract") == 0)
        return row_sends(e, s->hidden, p, at->column);
    if (strcmp(e->step, "merge") == 0)
        return s->embeds
                   ? 0
                   : row_sends(e, s->merge_inputs, p - (at->row == 0 ? s->class_tokens : 0), at->column);
    if (strcmp(e->step, "reduction") == 0)
        return row_sends(e, (uint64_t)s->reduction * s->channels, keys, at->column) +
               q * tokens_away(s, at->row);
    if (strcmp(e->step, "key") == 0)
        return s->reduction > 1 ? row_sends(e, s->channels, keys, at->column) : 0;
    if (strcmp(e->step, "scores") == 0 || strcmp(e->step, "context") == 0)
        return column_sends(e, at->row, at->column);
    if (strcmp(e->step, "norm1") == 0 || strcmp(e->step, "norm2") == 0)
        return (s->v - 1) * 4 * p;
    if (strcmp(e->step, "reduction_norm") == 0)
        return (s->v - 1) * 4 * keys;
    return 0;
}

/* Rows of the product of a step with weights. */
static uint64_t product_rows(const struct expectation *e, const struct standing *at)
{
    const struct pim_allspark_partition *s = e->stage;
    bool keys =
        strcmp(e->step, "reduction") == 0 || strcmp(e->step, "key") == 0 || strcmp(e->step, "value") == 0;
    bool merges = strcmp(e->step, "merge") == 0 && at->row == 0;
    if (keys && is_focal(e))
        return share_of(s->tokens, s->u, at->row) + (at->row + 1 == s->u);
    return share_of(keys ? s->made_keys : s->tokens, s->u, at->row) - (merges ? s->class_tokens : 0);
}

/* Of the window that a node works, those of its row. */
static uint64_t tokens_on_map(const struct expectation *e, const struct standing *at)
{
    const struct pim_allspark_partition *s = e->stage;
    uint32_t branch = branch_of(at, e->layer), w = s->position.window;
    uint32_t columns = (s->position.width + w - 1) / w;
    uint64_t first = share_start(s->tokens, s->u, at->row), count = 0;
    for (uint64_t t = first; t < first + share_of(s->tokens, s->u, at->row); t++)
        count += branch / columns * w + t / w < s->position.height &&
                 branch % columns * w + t % w < s->position.width;
    return count;
}

/* The weights of a step go round: all but the share of the successor. */
static uint64_t ring_sends(const struct expectation *e, const struct standing *at, const char *step)
{
    struct expectation other = *e;
    uint64_t k, n;
    (void)snprintf(other.step, sizeof other.step, "%s", step);
    if (e->stage->ring == 1 || !weights_of(&other, at->column, &k, &n))
        return 0;
    return all_but_next(k * n, share_of(k * n, e->stage->ring, (at->ring + 1) % e->stage->ring));
}

/* With prefetch those of the next step, and its own only where nobody could bring them: at the beginning of a
   block, and behind the attention where others stand in between. Weights are in one piece. */
static uint64_t weights_sent(const struct expectation *e, const struct standing *at)
{
    static const char *const steps[] = {"merge", "query",      "reduction",  "key",
                                        "value", "projection", "ffn_expand", "ffn_contract"};
    enum { STEPS = sizeof steps / sizeof steps[0], PROJECTION = 5 };
    const struct pim_allspark_partition *s = e->stage;
    bool pauses = s->work == PIM_ALLSPARK_PROJECTIONS || is_focal(e) || s->made_keys < s->key_tokens;
    const char *there[STEPS];
    unsigned count = 0, own = STEPS, pause = STEPS;
    if (!s->prefetch)
        return ring_sends(e, at, e->step);
    for (unsigned i = 0; i < STEPS; i++) {
        if ((i == 0 && (e->block > 0 || s->merge_inputs == 0)) ||
            (strcmp(steps[i], "reduction") == 0 && s->reduction <= 1))
            continue;
        own = strcmp(steps[i], e->step) == 0 ? count : own;
        pause = pauses && i == PROJECTION ? count : pause;
        there[count++] = steps[i];
    }
    if (own == STEPS)
        return 0;
    return (own == 0 || own == pause ? ring_sends(e, at, e->step) : 0) +
           (own + 1 < count && own + 1 != pause ? ring_sends(e, at, there[own + 1]) : 0);
}

static enum pim_status check_node(void *context, const struct standing *at, struct pim_error *error)
{
    const struct expectation *e = context;
    const struct pim_allspark_partition *s = e->stage;
    (void)error;
    if (at->part != s)
        return PIM_OK;
    const struct volume *volume = &e->ledger->volumes[(uint64_t)at->unit * e->ledger->phases + e->phase];
    if (branch_of(&(struct standing){.group = at->group, .part = s, .stage = at->stage}, e->layer) ==
        UINT32_MAX)
        return PIM_OK; /* the whole group has nothing to do in this layer */
    bool active = branch_of(at, e->layer) != UINT32_MAX;
    uint64_t k = 0, n = 0, sent = active ? expected_transfer(e, at) : 0,
             p = share_of(s->tokens, s->u, at->row);
    uint64_t d = s->head_channels, heads = share_of(s->heads, s->v, at->column), macs = 0;
    if (weights_of(e, at->column, &k, &n)) {
        sent += weights_sent(e, at);
        macs = product_rows(e, at) * k * n;
        if (active && macs > 0)
            ck_assert_msg(volume->loaded_weights % (k * n) == 0,
                          "%" PRIu64 " bytes of weights loaded, a copy has %" PRIu64, volume->loaded_weights,
                          k * n);
    } else if (strcmp(e->step, "scores") == 0 || strcmp(e->step, "context") == 0) {
        macs = heads * p * s->key_tokens * d;
    } else if (strcmp(e->step, "window_pool") == 0) {
        macs = heads * p * d;
    } else if (strcmp(e->step, "local_position") == 0) {
        macs = 9 * heads * p * d;
    } else if (strcmp(e->step, "position") == 0) {
        macs = active ? 9 * heads * tokens_on_map(e, at) * d : 0;
    }
    ck_assert_msg(volume->sent == sent,
                  "%s, %s, unit %" PRIu32 ": %" PRIu64 " bytes sent instead of %" PRIu64,
                  e->ledger->scenario->name, e->step, at->unit, volume->sent, sent);
    ck_assert_uint_eq(volume->macs, active ? macs : 0);
    ck_assert_uint_eq(volume->loaded_weights, volume->matrix_weights);
    return PIM_OK;
}

static int compare_messages(const void *left, const void *right)
{
    const struct message *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* The partition of a temporal layer of a stage; *layer is then counted from its first. */
static const struct pim_allspark_partition *partition_of(const struct pim_allspark_stage *stage,
                                                         uint32_t *layer)
{
    uint32_t index = 0;
    for (; *layer >= stage->partition[index].layers; index++)
        *layer -= stage->partition[index].layers;
    ck_assert_uint_lt(index, stage->partitions);
    return &stage->partition[index];
}

/* Before and after a shifted block, the tokens of the dependency graph go, with all channels, and nothing
   else: half of what its lists hold goes each way. Where branches share nodes, some of it stays. */
static void check_shift(const struct ledger *ledger, uint32_t phase, uint32_t index)
{
    const struct pim_allspark_plan *plan = &ledger->scenario->plan;
    struct pim_dependency_graph graph;
    struct pim_error error = {0};
    uint64_t sent = 0, tokens = 0;
    ck_assert(pim_dependency_graph_make(plan->network->transformer, index, &graph, &error) == PIM_OK);
    for (uint32_t i = 0; i < graph.first[graph.branches]; i++)
        tokens += graph.neighbours[i].tokens;
    for (uint32_t unit = 0; unit < plan->hardware.width * plan->hardware.height; unit++)
        sent += ledger->volumes[(uint64_t)unit * ledger->phases + phase].sent;
    uint64_t all = tokens / 2 * plan->stage[index].partition[0].channels;
    ck_assert_uint_gt(all, 0);
    if (plan->stage[index].layers == 1)
        ck_assert_uint_eq(sent, all);
    ck_assert_uint_le(sent, all);
    pim_dependency_graph_terminate(&graph);
}

/* What a temporal layer of the global attention of Twins gets from elsewhere: no more than keys and values
   of all other branches, for each of its branches; and all of it, where branches share no nodes.
   What a row makes is in its own share, so that nothing moves between the rows of a branch. */
static void check_global(const struct expectation *e)
{
    const struct pim_allspark_plan *plan = &e->ledger->scenario->plan;
    const struct pim_allspark_partition *s = e->stage;
    uint64_t sent = 0, before = (uint64_t)e->layer * s->layout.count * s->slots;
    uint64_t capacity = (uint64_t)s->layout.count * s->slots, left = s->layer_branches - before;
    uint64_t needed = 2 * (left < capacity ? left : capacity) * s->channels;
    ck_assert_uint_eq(s->made_keys * s->branches, s->key_tokens);
    for (uint32_t unit = 0; unit < plan->hardware.width * plan->hardware.height; unit++)
        sent += e->ledger->volumes[(uint64_t)unit * e->ledger->phases + e->phase].sent;
    ck_assert_uint_le(sent, needed * (s->key_tokens - s->made_keys));
    if (plan->stage[e->index].layers == 1)
        ck_assert_uint_eq(sent, needed * (s->key_tokens - s->made_keys));
}

/* What a temporal layer of Focal gets from elsewhere: no more than what the graph says its branches need of
   others, and key and value of their own tokens that other rows have in their share; and all of it, where
   branches share no nodes. */
static void check_focal(const struct expectation *e)
{
    const struct pim_allspark_plan *plan = &e->ledger->scenario->plan;
    const struct pim_allspark_partition *s = e->stage;
    const struct pim_allspark_stage *stage = &plan->stage[e->index];
    struct pim_dependency_graph graph;
    struct pim_error error = {0};
    uint64_t sent = 0, tokens = 0, own = 0, first = (uint64_t)e->layer * s->layout.count * s->slots;
    ck_assert(pim_dependency_graph_make(plan->network->transformer, e->index, &graph, &error) == PIM_OK);
    for (uint32_t b = 0; b < graph.branches; b++) {
        uint64_t slot = stage->slot_of[b];
        if (slot < s->first_branch + first || slot >= s->first_branch + s->layer_branches ||
            slot >= s->first_branch + first + (uint64_t)s->layout.count * s->slots)
            continue;
        own++; /* the pooled token of the branch itself, from the last row to that which has it */
        for (uint32_t i = graph.first[b]; i < graph.first[b + 1]; i++)
            tokens += graph.neighbours[i].tokens;
    }
    for (uint32_t unit = 0; unit < plan->hardware.width * plan->hardware.height; unit++)
        sent += e->ledger->volumes[(uint64_t)unit * e->ledger->phases + e->phase].sent;
    ck_assert_uint_le(sent, 2 * (tokens + own) * s->channels);
    if (stage->layers == 1)
        ck_assert_uint_ge(sent, 2 * tokens * s->channels);
    pim_dependency_graph_terminate(&graph);
}

/* The stage of the plan that has a step of a block of a stage of the network, and the block's number in
   it. */
static uint32_t plan_stage(const struct pim_allspark_plan *plan, uint32_t of, const char *step,
                           uint32_t *block)
{
    bool attends =
        strcmp(step, "scores") == 0 || strcmp(step, "context") == 0 || strcmp(step, "local_position") == 0;
    for (uint32_t i = 0; i < plan->stages; i++) {
        const struct pim_allspark_stage *stage = &plan->stage[i];
        if (stage->of != of || *block % stage->block_step != stage->first_block)
            continue;
        if (stage->partition[0].work != PIM_ALLSPARK_BLOCK &&
            attends != (stage->partition[0].work == PIM_ALLSPARK_STRIPES))
            continue;
        *block /= stage->block_step;
        return i;
    }
    ck_abort_msg("no stage of the plan has the block");
}

/* The pooling behind a last stage with one partition: the node that collects the sums of its column has those
   of its own, and its estimate is of the messages that come from the others, one after another: each but the
   last takes the flits of its bytes. Only where the first layer is as full as a layer can be: an estimate
   knows no fewer. */
static void check_pool(const struct ledger *ledger, uint32_t phase)
{
    const struct pim_allspark_plan *plan = &ledger->scenario->plan;
    const struct pim_allspark_stage *stage = &plan->stage[plan->stages - 1];
    const struct pim_allspark_partition *part = &stage->partition[0];
    const uint32_t collector = pim_tile_unit(plan, &part->layout.tiles[0], 0, 0);
    const struct volume *volume = &ledger->volumes[(uint64_t)collector * ledger->phases + phase];
    uint64_t cycles = 0;
    if (stage->partitions > 1 || pim_pooled_parts(part) != pim_pooled_parts_at_most(part))
        return;
    if (volume->receives > 0) {
        const uint64_t bytes = volume->received / volume->receives;
        cycles = (volume->receives - 1) * (bytes / plan->hardware.flit_bytes + 1) +
                 pim_estimate_ring(&plan->hardware, bytes, 2);
    }
    ck_assert_uint_eq(pim_trace_phase(ledger->scenario->trace, phase)->estimate_parts[PIM_ESTIMATE_TRANSFER],
                      part->batch * cycles);
}

/* All phases of all nodes; that no two messages have the same source, destination and tag; and the
   estimate. */
static void check_volumes(const struct scenario *scenario)
{
    struct ledger ledger;
    ledger_make(&ledger, scenario);
    uint64_t cycles = 0, sum = 0, stepped = 0, shifts = 0, shifted = 0;
    struct pim_error error = {0};
    for (uint32_t phase = 0; phase < ledger.phases; phase++) {
        const struct pim_trace_phase *description = pim_trace_phase(scenario->trace, phase);
        struct expectation e = {.ledger = &ledger, .phase = phase};
        sum += description->estimate_cycles;
        uint64_t parts = 0;
        for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
            parts += description->estimate_parts[part];
        ck_assert_uint_eq(parts, description->estimate_cycles);
        if (strcmp(description->name, "pool") == 0)
            check_pool(&ledger, phase);
        char step[24] = "";
        if (sscanf(description->name, "stage%" SCNu32 "/block%" SCNu32 "/%23[a-z]", &e.index, &e.block,
                   step) == 3 &&
            (strcmp(step, "shift") == 0 || strcmp(step, "unshift") == 0)) {
            check_shift(&ledger, phase, e.index - 1);
            shifts++;
        }
        if (sscanf(description->name, "stage%" SCNu32 "/block%" SCNu32 "/layer%" SCNu32 "/%23s", &e.index,
                   &e.block, &e.layer, e.step) != 4)
            continue;
        e.index = plan_stage(&scenario->plan, e.index - 1, e.step, &e.block);
        e.stage = partition_of(&scenario->plan.stage[e.index], &e.layer);
        stepped++;
        if (strcmp(e.step, "neighbours") == 0)
            (is_focal(&e) ? check_focal : check_global)(&e);
        else
            ck_assert(each_standing(&scenario->plan, e.index, check_node, &e, &error) == PIM_OK);
    }
    ck_assert_uint_gt(stepped, 0);
    const struct pim_transformer *transformer = scenario->network->transformer;
    for (uint32_t i = 0; i < transformer->blocks; i++)
        shifted += transformer->block[i].shifted;
    ck_assert_uint_eq(shifts, 2 * shifted);
    ck_assert(pim_allspark_estimate(&scenario->plan, &cycles, NULL, &error) == PIM_OK);
    ck_assert_uint_eq(cycles, sum);
    if (ledger.send_count > 0)
        qsort(ledger.sends, ledger.send_count, sizeof *ledger.sends, compare_messages);
    for (uint64_t i = 1; i < ledger.send_count; i++)
        ck_assert_msg(compare_messages(&ledger.sends[i - 1], &ledger.sends[i]) != 0,
                      "%s: unit %" PRIu32 " sends tag %" PRIu32 " twice", scenario->name,
                      ledger.sends[i].from, ledger.sends[i].tag);
    ledger_end(&ledger);
}

static void volumes_of_partitions(enum small_network which, enum pim_allspark_prefetch prefetch)
{
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    for (uint32_t u = 1; u <= 4; u++)
        for (uint32_t v = 1; v <= 4; v++) {
            struct pim_allspark_options options = partition(u, v, u == 2 ? 4 : 0);
            struct scenario scenario;
            struct pim_error error = {0};
            options.prefetch = prefetch;
            if (!scenario_make(&scenario, small_network(which), &hardware, &options, &error))
                continue;
            check_volumes(&scenario);
            scenario_end(&scenario);
        }
}

START_TEST(volumes_of_small_networks)
{
    volumes_of_partitions((enum small_network)PIM_CASE(_i), PIM_PREFETCH_OFF);
}
END_TEST

START_TEST(volumes_with_prefetch)
{
    volumes_of_partitions((enum small_network)PIM_CASE(_i), PIM_PREFETCH_ON);
}
END_TEST

/* The sum over a branch, where all shares are even: the paper's formulas as they stand. N = 16, u = 4, C =
   12, v = 3: p = q = 4. */
START_TEST(volumes_as_printed)
{
    static const struct {
        const char *step;
        uint64_t bytes; /* of a node, without weights */
        uint64_t k, n;
    } expected[] = {{"merge", 0, 48, 4},
                    {"norm1", 2 * 4 * 4, 0, 0},
                    {"query", 2 * 4 * 4, 12, 4},
                    {"key", 0, 12, 4},
                    {"value", 0, 12, 4},
                    {"scores", 3 * 4 * 4, 0, 0},
                    {"context", 3 * 4 * 4, 0, 0},
                    {"projection", 2 * 4 * 4, 12, 4},
                    {"norm2", 2 * 4 * 4, 0, 0},
                    {"ffn_expand", 2 * 4 * 4, 12, 16},
                    {"ffn_contract", 2 * 4 * 4 * 4, 48, 4}};
    const struct pim_estimate_hardware hardware = small_hardware(4, 4);
    const struct pim_allspark_options options = partition(4, 3, 0);
    struct scenario scenario;
    struct ledger ledger;
    struct pim_error error = {0};
    ck_assert(scenario_make(&scenario, small_network(SMALL_SWIN), &hardware, &options, &error));
    ledger_make(&ledger, &scenario);
    for (uint32_t phase = 0; phase < 11; phase++) {
        uint64_t share = expected[phase].k * expected[phase].n / 4; /* W / u, sent u - 1 times */
        char name[64];
        (void)snprintf(name, sizeof name, "stage1/block0/layer0/%s", expected[phase].step);
        ck_assert_str_eq(pim_trace_phase(scenario.trace, phase)->name, name);
        for (uint32_t y = 0; y < 4; y++)
            for (uint32_t x = 0; x < 3; x++)
                ck_assert_uint_eq(ledger.volumes[(uint64_t)(4 * y + x) * ledger.phases + phase].sent,
                                  expected[phase].bytes + 3 * share);
    }
    ledger_end(&ledger);
    scenario_end(&scenario);
}
END_TEST

START_TEST(volumes_of_swin_t)
{
    const struct pim_estimate_hardware hardware = real_hardware(16, 16);
    const struct pim_allspark_options options = partition(4, 3, 0);
    struct scenario scenario;
    struct pim_error error = {0};
    ck_assert_msg(scenario_make(&scenario, real_network("swin-t", NULL), &hardware, &options, &error), "%s",
                  error.text);
    check_volumes(&scenario);
    scenario_end(&scenario);
}
END_TEST

Suite *volumes_suite(void)
{
    Suite *suite = suite_create("volumes");
    TCase *tests = tcase_create("volumes");
    tcase_add_loop_test(tests, volumes_of_small_networks, 0, PIM_CASES(SMALL_NETWORKS));
    tcase_add_loop_test(tests, volumes_with_prefetch, 0, PIM_CASES(SMALL_NETWORKS));
    tcase_add_test(tests, volumes_as_printed);
    tcase_add_test(tests, volumes_of_swin_t);
    suite_add_tcase(suite, tests);
    return suite;
}
