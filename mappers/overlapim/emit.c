#include "mappers/overlapim/emit.h"

#include "mappers/overlapim/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where things lie in a bank, in words from the first row: operands, product, scratch and sums, landing. */
enum { FIRST = 0, SECOND = 1, PRODUCT = 2, SCRATCH = 4, SUM = 8, LANDING = 12 };

/* A link seen from its producer: after `rows` rows the consumer gets what is final by then. */
struct message {
    uint64_t rows; /* of the producer, that must have ended */
    uint64_t data; /* rows of each bank it carries */
};

struct flow {
    uint32_t producer, consumer, link;
    uint64_t count, sent; /* messages; of them received by the channel that is being written */
    struct message *message;
};

struct emission {
    const struct pim_overlapim_plan *plan;
    const struct pim_layer_mapping *mappings;
    struct pim_trace_writer *writer;
    struct pim_layer_rows *rows;
    struct pim_column_use *use; /* by layer */
    struct flow *flows;
    uint32_t flow_count;
    struct pim_error *error;
};

static uint32_t unit_of(const struct emission *emission, uint32_t layer, uint32_t channel)
{
    uint32_t each = emission->plan->search.channels;
    uint32_t places = emission->plan->machine.stacks * emission->plan->machine.channels / each;
    return layer % places * each + channel;
}

static uint32_t banks_of(const struct emission *emission, uint32_t layer)
{
    const struct pim_column_use *use = &emission->use[layer];
    return (uint32_t)((use->banks + use->channels - 1) / use->channels);
}

static uint32_t channels_of(const struct emission *emission, uint32_t layer)
{
    return (uint32_t)emission->use[layer].channels;
}

static enum pim_status put(const struct emission *emission, uint32_t unit,
                           const struct pim_instruction *instruction)
{
    return pim_trace_writer_append(emission->writer, unit, instruction, emission->error);
}

/* --- flows --- */

/* Rows of each bank of the producer that are final after `rows` of its rows. */
static uint64_t data_after(const struct emission *emission, uint32_t layer, uint64_t rows)
{
    const struct pim_column_use *use = &emission->use[layer];
    uint64_t all = emission->plan->machine.word_bits * use->outputs * use->output_stores;
    uint64_t of = emission->rows[layer].rows;
    return all / of * rows + all % of * rows / of;
}

static enum pim_status make_flow(struct emission *emission, uint32_t consumer, uint32_t link,
                                 struct flow *flow)
{
    const struct pim_layer_rows *rows = &emission->rows[consumer];
    const struct pim_mapped_layer *layer = &emission->plan->layers.layer[consumer];
    bool progressive = link == layer->main;
    uint64_t last = rows->need[link][rows->rows - 1], before = 0;
    *flow = (struct flow){.producer = layer->link[link].producer, .consumer = consumer, .link = link};
    flow->message = calloc(rows->rows, sizeof *flow->message);
    if (!flow->message)
        return pim_fail(emission->error, PIM_NO_MEMORY, "out of memory for messages");
    uint64_t data = 0;
    for (uint64_t r = 0; r < rows->rows; r++) {
        uint64_t need = progressive ? rows->need[link][r] : last;
        if (need <= before)
            continue;
        uint64_t now = data_after(emission, flow->producer, need);
        uint64_t each = (now - data + channels_of(emission, consumer) - 1) / channels_of(emission, consumer);
        flow->message[flow->count++] = (struct message){need, each > 0 ? each : 1};
        before = need;
        data = now;
    }
    return PIM_OK;
}

static enum pim_status make_flows(struct emission *emission)
{
    const struct pim_mapped_layers *layers = &emission->plan->layers;
    uint32_t links = 0;
    for (uint32_t i = 0; i < layers->count; i++)
        links += layers->layer[i].links;
    emission->flows = calloc(links + 1, sizeof *emission->flows);
    if (!emission->flows)
        return pim_fail(emission->error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " links", links);
    for (uint32_t i = 0; i < layers->count; i++) {
        for (uint32_t j = 0; j < layers->layer[i].links; j++) {
            if (make_flow(emission, i, j, &emission->flows[emission->flow_count++]) != PIM_OK)
                return emission->error->status;
        }
    }
    return PIM_OK;
}

static enum pim_status put_message(const struct emission *emission, const struct flow *flow, bool send,
                                   uint32_t from, uint32_t to, const struct message *message, uint16_t after)
{
    uint32_t width = emission->plan->machine.channels, unit = send ? from : to;
    struct pim_instruction instruction = {.opcode = send ? PIM_OP_ROW_SEND : PIM_OP_ROW_RECEIVE,
                                          .detail = from / width == to / width ? PIM_REACH_CHANNEL
                                                                               : PIM_REACH_STACK,
                                          .dependency = {after}};
    uint64_t left = message->data, limit = emission->plan->machine.rows / 2;
    instruction.u.row_message.peer = send ? to : from;
    instruction.u.row_message.tag = (uint32_t)(flow - emission->flows);
    instruction.u.row_message.row = send ? 0 : LANDING * emission->plan->machine.word_bits;
    instruction.u.row_message.banks = (uint16_t)banks_of(emission, flow->producer);
    instruction.u.row_message.bank_stride = 1;
    for (; left > 0; left -= instruction.u.row_message.rows) {
        instruction.u.row_message.rows = (uint32_t)(left < limit ? left : limit);
        if (put(emission, unit, &instruction) != PIM_OK)
            return emission->error->status;
        instruction.dependency[0] = 1;
    }
    return PIM_OK;
}

/* --- a layer on a channel --- */

struct program {
    struct emission *emission;
    uint32_t layer, channel, unit;
    uint64_t at;                /* instructions of this phase so far */
    uint64_t ordered;           /* number of the latest one that works on rows, from 1; 0: none */
    uint64_t received, earlier; /* numbers of the latest two receives from the latest producer */
    uint64_t others;            /* of the last receive from the other producers, which come first */
};

/* The distance from the next instruction back to number `number`; 0: none, or too far to name. */
static uint16_t distance(const struct program *program, uint64_t number)
{
    uint64_t back = program->at - number + 1;
    return number == 0 || back > PIM_DEPENDENCY_REACH ? 0 : (uint16_t)back;
}

/* Appends an instruction that works on rows: behind the one before it, and behind what was received. */
static enum pim_status put_ordered(struct program *program, struct pim_instruction *instruction)
{
    uint64_t before = program->ordered > 0 ? program->ordered : program->others;
    instruction->dependency[0] = distance(program, before);
    instruction->dependency[1] =
        program->received > program->ordered ? distance(program, program->received) : 0;
    instruction->dependency[2] =
        program->earlier > program->ordered ? distance(program, program->earlier) : 0;
    if (put(program->emission, program->unit, instruction) != PIM_OK)
        return program->emission->error->status;
    program->ordered = ++program->at;
    return PIM_OK;
}

static enum pim_status put_compute(struct program *program, unsigned operation, uint64_t count, uint64_t bits,
                                   uint64_t size)
{
    const struct emission *emission = program->emission;
    uint32_t word = emission->plan->machine.word_bits;
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_COMPUTE, .detail = (uint8_t)operation};
    if (count == 0)
        return PIM_OK;
    bool multiply = operation == PIM_ROW_MULTIPLY;
    instruction.u.row_compute.source = (multiply ? FIRST : PRODUCT) * word;
    instruction.u.row_compute.second = (multiply ? SECOND : SCRATCH) * word;
    instruction.u.row_compute.result = (multiply ? PRODUCT : SUM) * word;
    instruction.u.row_compute.bits = (uint8_t)bits;
    instruction.u.row_compute.size = (uint8_t)size;
    instruction.u.row_compute.count = (uint32_t)count;
    instruction.u.row_compute.banks = (uint16_t)banks_of(emission, program->layer);
    instruction.u.row_compute.bank_stride = 1;
    return put_ordered(program, &instruction);
}

static enum pim_status put_move(struct program *program, uint64_t rows, uint32_t banks)
{
    const struct emission *emission = program->emission;
    uint64_t limit = emission->plan->machine.rows / 2;
    while (rows > 0) {
        struct pim_instruction instruction = {.opcode = PIM_OP_ROW_MOVE, .detail = PIM_REACH_COLUMN};
        uint64_t part = rows < limit ? rows : limit;
        instruction.u.row_move.source = LANDING * emission->plan->machine.word_bits;
        instruction.u.row_move.rows = (uint32_t)part;
        instruction.u.row_move.banks = (uint16_t)banks;
        instruction.u.row_move.bank_stride = 1;
        if (put_ordered(program, &instruction) != PIM_OK)
            return emission->error->status;
        rows -= part;
    }
    return PIM_OK;
}

static enum pim_status put_transpose(struct program *program, uint64_t count)
{
    const struct emission *emission = program->emission;
    uint32_t word = emission->plan->machine.word_bits;
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_TRANSPOSE};
    if (count == 0)
        return PIM_OK;
    instruction.u.row_compute.source = SUM * word;
    instruction.u.row_compute.result = FIRST * word;
    instruction.u.row_compute.bits = (uint8_t)word;
    instruction.u.row_compute.count = (uint32_t)count;
    instruction.u.row_compute.banks = (uint16_t)banks_of(emission, program->layer);
    instruction.u.row_compute.bank_stride = 1;
    return put_ordered(program, &instruction);
}

/* Receives what row `row` needs and this channel has not got: of the latest producer (`main`), or all of the
 * others, which come first. */
static enum pim_status put_receives(struct program *program, uint64_t row, bool main)
{
    struct emission *emission = program->emission;
    const struct pim_mapped_layer *layer = &emission->plan->layers.layer[program->layer];
    for (uint32_t f = 0; f < emission->flow_count; f++) {
        struct flow *flow = &emission->flows[f];
        if (flow->consumer != program->layer || (flow->link == layer->main) != main)
            continue;
        uint64_t need = main ? emission->rows[program->layer].need[flow->link][row] : UINT64_MAX;
        for (; flow->sent < flow->count && flow->message[flow->sent].rows <= need; flow->sent++) {
            for (uint32_t c = 0; c < channels_of(emission, flow->producer); c++) {
                uint32_t from = unit_of(emission, flow->producer, c);
                uint64_t before = pim_trace_writer_fetches(emission->writer, program->unit);
                /* of the latest producer two are under way; the others come one behind the other */
                uint16_t after = !main ? distance(program, program->others) : c >= 2 ? 2 : 0;
                if (from != program->unit && put_message(emission, flow, false, from, program->unit,
                                                         &flow->message[flow->sent], after) != PIM_OK)
                    return emission->error->status;
                uint64_t put = pim_trace_writer_fetches(emission->writer, program->unit) - before;
                program->at += put;
                if (put > 0 && main) {
                    program->earlier = program->received;
                    program->received = program->at;
                } else if (put > 0)
                    program->others = program->at;
            }
        }
    }
    return PIM_OK;
}

/* Sends what consumers wait for, when `rows` rows have ended. */
static enum pim_status put_sends(struct program *program, uint64_t rows)
{
    const struct emission *emission = program->emission;
    for (uint32_t f = 0; f < emission->flow_count; f++) {
        const struct flow *flow = &emission->flows[f];
        if (flow->producer != program->layer)
            continue;
        uint64_t low = 0, high = flow->count; /* the first message behind fewer rows is not looked for */
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (flow->message[middle].rows < rows)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == flow->count || flow->message[low].rows != rows)
            continue;
        for (uint32_t c = 0; c < channels_of(emission, flow->consumer); c++) {
            uint32_t to = unit_of(emission, flow->consumer, c);
            uint64_t before = pim_trace_writer_fetches(emission->writer, program->unit);
            if (to != program->unit &&
                put_message(emission, flow, true, program->unit, to, &flow->message[low],
                            distance(program, program->ordered)) != PIM_OK)
                return emission->error->status;
            program->at += pim_trace_writer_fetches(emission->writer, program->unit) - before;
        }
    }
    return PIM_OK;
}

/* Of so many events of a layer, those that fall on this row: spread evenly, the last one on the last row. */
static uint64_t last_share(uint64_t events, uint64_t row, uint64_t rows)
{
    return events * (row + 1) / rows - events * row / rows;
}

/* The same, with the first one on the first row. */
static uint64_t first_share(uint64_t events, uint64_t row, uint64_t rows)
{
    return (events * (row + 1) + rows - 1) / rows - (events * row + rows - 1) / rows;
}

static uint64_t log2_up(uint64_t width)
{
    uint64_t levels = 0;
    while (UINT64_C(1) << levels < width)
        levels++;
    return levels;
}

static enum pim_status put_partial_sums(struct program *program, const struct pim_column_use *use)
{
    uint32_t word = program->emission->plan->machine.word_bits;
    uint32_t banks = banks_of(program->emission, program->layer);
    for (uint64_t left = use->shared; left > 1; left = (left + 1) / 2) {
        if (put_move(program, 2 * word * use->outputs, banks > 1 ? banks / 2 : 1) != PIM_OK ||
            put_compute(program, PIM_ROW_ADD, use->outputs, 2 * word, 0) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

static enum pim_status put_products(struct program *program, const struct pim_mapped_layer *layer,
                                    const struct pim_column_use *use, uint64_t stores)
{
    uint32_t word = program->emission->plan->machine.word_bits;
    uint64_t post = stores * use->outputs;
    uint64_t products = layer->product ? use->products : use->outputs * layer->each.multiplications;
    uint64_t adds = layer->product ? use->products - use->outputs + (use->carried ? use->outputs : 0)
                                   : use->outputs * layer->each.additions;
    if (put_compute(program, PIM_ROW_MULTIPLY, products, word, 2 * word) != PIM_OK ||
        put_compute(program, PIM_ROW_ADD, adds, 2 * word > 32 ? 32 : 2 * word, 0) != PIM_OK)
        return program->emission->error->status;
    if (layer->product && use->width > 1 &&
        put_compute(program, PIM_ROW_REDUCE, use->outputs, 2 * word > 32 ? 32 : 2 * word,
                    log2_up(use->width)) != PIM_OK)
        return program->emission->error->status;
    if (layer->product && stores > 0 && put_partial_sums(program, use) != PIM_OK)
        return program->emission->error->status;
    if (put_compute(program, PIM_ROW_MULTIPLY, post * layer->post.multiplications, word, 2 * word) != PIM_OK)
        return program->emission->error->status;
    return put_compute(program, PIM_ROW_ADD, post * layer->post.additions, 2 * word > 32 ? 32 : 2 * word, 0);
}

static enum pim_status put_row(struct program *program, uint64_t row)
{
    const struct emission *emission = program->emission;
    const struct pim_column_use *use = &emission->use[program->layer];
    const struct pim_mapped_layer *layer = &emission->plan->layers.layer[program->layer];
    uint64_t rows = emission->rows[program->layer].rows, word = emission->plan->machine.word_bits;
    uint64_t loads = first_share(use->input_loads, row, rows),
             stores = last_share(use->output_stores, row, rows);
    uint64_t weights = first_share(use->weight_loads, row, rows) * use->weights;
    if (put_receives(program, row, false) != PIM_OK || put_receives(program, row, true) != PIM_OK ||
        put_move(program, loads * use->inputs * word, banks_of(emission, program->layer)) != PIM_OK)
        return emission->error->status;
    if (layer->product && emission->plan->spaces[program->layer].drop_weights &&
        put_move(program, weights * word, banks_of(emission, program->layer)) != PIM_OK)
        return emission->error->status;
    if (put_products(program, layer, use, stores) != PIM_OK ||
        put_transpose(program, stores * use->outputs) != PIM_OK)
        return emission->error->status;
    return put_sends(program, row + 1);
}

static enum pim_status put_layer(struct emission *emission, uint32_t layer, uint32_t phase)
{
    for (uint32_t c = 0; c < channels_of(emission, layer); c++) {
        struct program program = {
            .emission = emission, .layer = layer, .channel = c, .unit = unit_of(emission, layer, c)};
        struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
        mark.u.control.phase = phase;
        if (put(emission, program.unit, &mark) != PIM_OK)
            return emission->error->status;
        for (uint32_t f = 0; f < emission->flow_count; f++) {
            if (emission->flows[f].consumer == layer)
                emission->flows[f].sent = 0; /* every channel of the layer receives all of them */
        }
        for (uint64_t row = 0; row < emission->rows[layer].rows; row++) {
            if (put_row(&program, row) != PIM_OK)
                return emission->error->status;
        }
        mark.opcode = PIM_OP_PHASE_END;
        if (put(emission, program.unit, &mark) != PIM_OK)
            return emission->error->status;
    }
    return PIM_OK;
}

static enum pim_status put_all(struct emission *emission)
{
    const struct pim_overlapim_plan *plan = emission->plan;
    const struct pim_chain *chain = &plan->chains[pim_overlapim_series(plan)];
    uint64_t frontier = 0; /* the latest end of the layers before; a phase is what it moves that by */
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        const struct pim_step_cost *cost = &emission->mappings[i].cost;
        uint64_t steps = emission->mappings[i].strides.steps, end = chain->layer[i].end;
        struct pim_trace_phase phase = {.name = plan->layers.layer[i].name,
                                        .estimate_cycles = end > frontier ? end - frontier : 0};
        frontier = end > frontier ? end : frontier;
        phase.estimate_parts[PIM_ESTIMATE_COMPUTE] = steps * (cost->multiply + cost->add + cost->reduce_add);
        phase.estimate_parts[PIM_ESTIMATE_VECTOR] = steps * cost->output;
        phase.estimate_parts[PIM_ESTIMATE_MEMORY] = steps * (cost->input + cost->reduce_move + cost->partial);
        phase.estimate_parts[PIM_ESTIMATE_TRANSFER] = cost->transfer;
        if (put_layer(emission, i, pim_trace_writer_phase(emission->writer, &phase)) != PIM_OK)
            return pim_fail_in(emission->error, "layer %s", plan->layers.layer[i].name);
    }
    return PIM_OK;
}

enum pim_status pim_overlapim_emit(const struct pim_overlapim_plan *plan, struct pim_trace_writer *writer,
                                   struct pim_error *error)
{
    uint32_t count = plan->layers.count;
    struct emission emission = {.plan = plan,
                                .mappings = plan->mappings[plan->objective],
                                .writer = writer,
                                .use = calloc(count, sizeof *emission.use),
                                .error = error};
    enum pim_status status =
        !emission.use ? pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs")
        : plan->machine.word_bits > 16
            ? pim_fail(error, PIM_BAD_INPUT,
                       "levels.word_bits: a trace has words of at most 16 bits: a "
                       "product has twice as many, and an instruction 32")
            : pim_rows_make(&plan->search, emission.mappings, plan->objective == PIM_OBJECTIVE_TRANSFORM,
                            &emission.rows, error);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        pim_column_use(&plan->layers.layer[i], &emission.mappings[i].nest, &emission.mappings[i].strides,
                       &emission.use[i]);
    if (status == PIM_OK)
        status = make_flows(&emission);
    if (status == PIM_OK)
        status = put_all(&emission);
    for (uint32_t f = 0; f < emission.flow_count; f++)
        free(emission.flows[f].message);
    free(emission.flows);
    free(emission.use);
    pim_rows_free(emission.rows, count);
    return status;
}
