#include "mappers/overlapim/emit/emit.h"

#include "mappers/overlapim/emit/emission.h"
#include "mappers/overlapim/emit/ends.h"
#include "mappers/overlapim/emit/real_program.h"
#include "sim/integer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum pim_status put_move(struct pim_emission_program *program, uint64_t rows, uint32_t banks)
{
    const struct pim_emission *emission = program->emission;
    const uint64_t limit = pim_emission_rows_at_once(emission, program->layer, program->layer, banks);
    while (rows > 0) {
        struct pim_instruction instruction = {.opcode = PIM_OP_ROW_MOVE, .detail = PIM_REACH_COLUMN};
        const uint64_t part = pim_smaller(pim_emission_rows_of_part(program, rows), limit);
        instruction.u.row_move.source = pim_emission_row(emission, program->layer, PIM_MACHINE_LANDING);
        instruction.u.row_move.rows = (uint32_t)part;
        instruction.u.row_move.banks = (uint16_t)banks;
        instruction.u.row_move.bank_stride = 1;
        if (pim_emission_ordered(program, &instruction) != PIM_OK)
            return emission->error->status;
        rows -= part;
    }
    return PIM_OK;
}

static enum pim_status put_transpose(struct pim_emission_program *program, uint64_t count)
{
    const struct pim_emission *emission = program->emission;
    uint32_t word = emission->plan->machine.word_bits;
    struct pim_instruction instruction = {.opcode = PIM_OP_ROW_TRANSPOSE};
    if (count == 0)
        return PIM_OK;
    instruction.u.row_compute.source = pim_emission_row(emission, program->layer, PIM_MACHINE_SUM);
    instruction.u.row_compute.result = pim_emission_row(emission, program->layer, PIM_MACHINE_FIRST);
    instruction.u.row_compute.bits = (uint8_t)word;
    instruction.u.row_compute.count = (uint32_t)count;
    instruction.u.row_compute.banks = (uint16_t)pim_emission_banks(emission, program->layer);
    instruction.u.row_compute.bank_stride = 1;
    return pim_emission_ordered(program, &instruction);
}

static uint64_t log2_up(uint64_t width)
{
    uint64_t levels = 0;
    while (UINT64_C(1) << levels < width)
        levels++;
    return levels;
}

static enum pim_status put_partial_sums(struct pim_emission_program *program,
                                        const struct pim_column_use *use)
{
    uint32_t word = program->emission->plan->machine.word_bits;
    uint32_t banks = pim_emission_banks(program->emission, program->layer);
    for (uint64_t left = use->shared; left > 1; left = (left + 1) / 2) {
        if (put_move(program, 2 * word * use->outputs, banks > 1 ? banks / 2 : 1) != PIM_OK ||
            pim_emission_compute(program, PIM_ROW_ADD, use->outputs, 2 * word, 0) != PIM_OK)
            return program->emission->error->status;
    }
    return PIM_OK;
}

static enum pim_status put_products(struct pim_emission_program *program,
                                    const struct pim_mapped_layer *layer, const struct pim_column_use *use,
                                    uint64_t stores)
{
    uint32_t word = program->emission->plan->machine.word_bits;
    uint64_t post = stores * use->outputs;
    uint64_t products = layer->product ? use->products : use->outputs * layer->each.multiplications;
    uint64_t adds = layer->product ? use->products - use->outputs + (use->carried ? use->outputs : 0)
                                   : use->outputs * layer->each.additions;
    if (pim_emission_compute(program, PIM_ROW_MULTIPLY, products, word, 2 * word) != PIM_OK ||
        pim_emission_compute(program, PIM_ROW_ADD, adds, 2 * word > 32 ? 32 : 2 * word, 0) != PIM_OK)
        return program->emission->error->status;
    if (layer->product && use->width > 1 &&
        pim_emission_compute(program, PIM_ROW_REDUCE, use->outputs, 2 * word > 32 ? 32 : 2 * word,
                             log2_up(use->width)) != PIM_OK)
        return program->emission->error->status;
    if (layer->product && stores > 0 && put_partial_sums(program, use) != PIM_OK)
        return program->emission->error->status;
    if (pim_emission_compute(program, PIM_ROW_MULTIPLY, post * layer->post.multiplications, word, 2 * word) !=
        PIM_OK)
        return program->emission->error->status;
    return pim_emission_compute(program, PIM_ROW_ADD, post * layer->post.additions,
                                2 * word > 32 ? 32 : 2 * word, 0);
}

/* An instruction of a step with real rows, on its way into the trace. */
struct on_its_way {
    struct pim_emission_program *program;
    enum pim_status status;
};

static void put_real(void *context, struct pim_instruction *instruction)
{
    struct on_its_way *way = context;
    const struct pim_emission_program *program = way->program;
    if (instruction->opcode == PIM_OP_ROW_SEND || instruction->opcode == PIM_OP_ROW_RECEIVE) {
        const uint32_t width = program->emission->plan->machine.channels,
                       peer = pim_emission_unit(program->emission, program->layer,
                                                instruction->u.row_message.peer);
        instruction->detail = peer / width == program->unit / width ? PIM_REACH_CHANNEL : PIM_REACH_STACK;
        instruction->u.row_message.peer = peer;
        instruction->u.row_message.tag = program->emission->messages->flows + program->layer;
    }
    if (instruction->opcode != PIM_OP_ROW_MOVE) {
        if (way->status == PIM_OK)
            way->status = pim_emission_ordered(way->program, instruction);
        return;
    }
    for (uint64_t left = instruction->u.row_move.rows, part; left > 0 && way->status == PIM_OK;
         left -= part) {
        struct pim_instruction of = *instruction;
        part = pim_emission_rows_of_part(program, left);
        of.u.row_move.source += instruction->u.row_move.rows - (uint32_t)left;
        of.u.row_move.result += instruction->u.row_move.rows - (uint32_t)left;
        of.u.row_move.rows = (uint32_t)part;
        way->status = pim_emission_ordered(way->program, &of);
    }
}

/* A row of a layer whose rows are real: its inputs do not wait for the messages, but their moves do. */
static enum pim_status put_real_row(struct pim_emission_program *program, uint64_t row)
{
    const struct pim_emission *emission = program->emission;
    const struct pim_real *rows = &emission->real[program->layer];
    const uint64_t moved = pim_real_step(rows, row).loads_inputs ? rows->inputs * rows->word : 0;
    for (uint32_t j = 0; j < emission->plan->layers.layer[program->layer].links; j++)
        if (pim_emission_receives(program, row, j, moved) != PIM_OK)
            return emission->error->status;
    struct on_its_way way = {program, PIM_OK};
    const struct pim_real_program real = {.real = rows,
                                          .layer = &emission->plan->layers.layer[program->layer],
                                          .banks = pim_emission_banks(emission, program->layer),
                                          .channel = program->channel,
                                          .put = put_real,
                                          .context = &way};
    pim_real_program_step(&real, row);
    return way.status == PIM_OK ? pim_emission_sends(program, row + 1) : way.status;
}

static enum pim_status put_row(struct pim_emission_program *program, uint64_t row)
{
    const struct pim_emission *emission = program->emission;
    if (emission->real[program->layer].used)
        return put_real_row(program, row);
    const struct pim_column_use *use = &emission->use[program->layer];
    const struct pim_mapped_layer *layer = &emission->plan->layers.layer[program->layer];
    uint64_t rows = emission->messages->rows[program->layer], word = emission->plan->machine.word_bits;
    uint64_t loads = pim_overlap_first_share(use->input_loads, row, rows),
             stores = pim_overlap_last_share(use->output_stores, row, rows);
    uint64_t weights = pim_overlap_first_share(use->weight_loads, row, rows) * use->weights;
    uint64_t moved = loads * use->inputs * word, links = layer->links > 0 ? layer->links : 1;
    for (uint32_t j = 0; j < links; j++) { /* what comes from each goes to its rows when it is there */
        uint64_t share = pim_intake_share(layer, moved, j + 1) - pim_intake_share(layer, moved, j);
        if ((j < layer->links && pim_emission_receives(program, row, j, share) != PIM_OK) ||
            put_move(program, share, pim_emission_banks(emission, program->layer)) != PIM_OK)
            return emission->error->status;
    }
    if (layer->product && emission->plan->spaces[program->layer].drop_weights &&
        put_move(program, weights * word, pim_emission_banks(emission, program->layer)) != PIM_OK)
        return emission->error->status;
    if (put_products(program, layer, use, stores) != PIM_OK ||
        put_transpose(program, stores * use->outputs) != PIM_OK)
        return emission->error->status;
    return pim_emission_sends(program, row + 1);
}

static enum pim_status put_layer(struct pim_emission *emission, uint32_t layer, uint32_t phase)
{
    for (uint32_t c = 0; c < pim_emission_channels(emission, layer); c++) {
        struct pim_emission_program program = {.emission = emission,
                                               .layer = layer,
                                               .channel = c,
                                               .unit = pim_emission_unit(emission, layer, c)};
        struct pim_instruction mark = {.opcode = PIM_OP_PHASE_BEGIN};
        mark.u.control.phase = phase;
        if (pim_emission_put(emission, program.unit, &mark) != PIM_OK)
            return emission->error->status;
        for (uint32_t f = 0; f < emission->messages->flows; f++) {
            if (emission->messages->flow[f].consumer == layer)
                emission->received[f] = 0; /* every channel of the layer receives all of them */
        }
        if (pim_emission_begin(&program) != PIM_OK)
            return emission->error->status;
        for (uint64_t row = 0; row < emission->messages->rows[layer]; row++) {
            if (put_row(&program, row) != PIM_OK)
                return emission->error->status;
        }
        if (pim_emission_end(&program) != PIM_OK)
            return emission->error->status;
        mark.opcode = PIM_OP_PHASE_END;
        if (pim_emission_put(emission, program.unit, &mark) != PIM_OK)
            return emission->error->status;
    }
    return PIM_OK;
}

static enum pim_status put_all(struct pim_emission *emission)
{
    const struct pim_overlapim_plan *plan = emission->plan;
    const struct pim_chain *chain = &plan->chains[plan->series];
    uint64_t frontier = 0; /* the latest end of the phases before; a phase is what it moves that by */
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        const struct pim_step_cost *cost = &emission->mappings[i].cost;
        uint64_t steps = emission->mappings[i].strides.steps, end = chain->layer[i].left;
        struct pim_trace_phase phase = {.name = plan->layers.layer[i].name,
                                        .estimate_cycles = end > frontier ? end - frontier : 0};
        frontier = end > frontier ? end : frontier;
        phase.estimate_parts[PIM_ESTIMATE_COMPUTE] = steps * (cost->multiply + cost->add + cost->reduce_add);
        phase.estimate_parts[PIM_ESTIMATE_VECTOR] = steps * cost->output;
        phase.estimate_parts[PIM_ESTIMATE_MEMORY] = steps * (cost->input + cost->reduce_move + cost->partial);
        phase.estimate_parts[PIM_ESTIMATE_TRANSFER] = pim_chain_message(&plan->search, i, cost);
        if (put_layer(emission, i, pim_trace_writer_phase(emission->writer, &phase)) != PIM_OK)
            return pim_fail_in(emission->error, "layer %s", plan->layers.layer[i].name);
    }
    return PIM_OK;
}

/* Real rows of a layer; nothing where it multiplies nothing. */
static enum pim_status place(const struct pim_overlapim_plan *plan, uint32_t index, struct pim_real *real,
                             struct pim_error *error)
{
    const struct pim_layer_mapping *mapping = &pim_overlapim_mappings(plan, plan->series)[index];
    const struct pim_mapped_layer *layer = &plan->layers.layer[index];
    if (!layer->product)
        return PIM_OK;
    return pim_real_place(&plan->machine, layer, plan->spaces[index].drop_weights, &mapping->nest,
                          &mapping->strides, real, error);
}

/* What is known of every layer before any program is written. */
static enum pim_status prepare(struct pim_emission *emission)
{
    const struct pim_overlapim_plan *plan = emission->plan;
    uint32_t count = plan->layers.count;
    uint32_t places = pim_intake_places(&plan->search);
    if (plan->machine.word_bits > 16)
        return pim_fail(
            emission->error, PIM_BAD_INPUT,
            "levels.word_bits: a trace has words of at most 16 bits: a product has twice as many, "
            "and an instruction 32");
    if (plan->real && count > places)
        return pim_fail(emission->error, PIM_BAD_INPUT,
                        "--rows real: %" PRIu32 " layers on %" PRIu32 " times %" PRIu32
                        " channels: each needs channels of its own",
                        count, places, plan->search.channels);
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_layer_mapping *mapping = &emission->mappings[i];
        const struct pim_mapped_layer *layer = &plan->layers.layer[i];
        pim_column_use(layer, &mapping->nest, &mapping->strides, &emission->use[i]);
        if (pim_overlapim_transformed(plan, plan->series))
            pim_column_use_existing(layer, &mapping->nest, &mapping->strides, &emission->use[i]);
        if (plan->real && place(plan, i, &emission->real[i], emission->error) != PIM_OK)
            return emission->error->status;
    }
    return PIM_OK;
}

enum pim_status pim_overlapim_rows_fit(const struct pim_overlapim_plan *plan, struct pim_error *error)
{
    struct pim_real real;
    for (uint32_t i = 0; plan->real && i < plan->layers.count; i++)
        if (place(plan, i, &real, error) != PIM_OK)
            return error->status;
    return PIM_OK;
}

enum pim_status pim_overlapim_emit(const struct pim_overlapim_plan *plan, struct pim_trace_writer *writer,
                                   struct pim_error *error)
{
    uint32_t count = plan->layers.count;
    const struct pim_messages *messages = &plan->chains[plan->series].messages;
    struct pim_emission emission = {.plan = plan,
                                    .mappings = pim_overlapim_mappings(plan, plan->series),
                                    .writer = writer,
                                    .messages = messages,
                                    .received = calloc(messages->flows + 1, sizeof *emission.received),
                                    .use = calloc(count, sizeof *emission.use),
                                    .real = calloc(count, sizeof *emission.real),
                                    .error = error};
    enum pim_status status = !emission.received || !emission.use || !emission.real
                                 ? pim_fail(error, PIM_NO_MEMORY, "out of memory for the programs")
                                 : prepare(&emission);
    if (status == PIM_OK)
        status = put_all(&emission);
    free(emission.received);
    free(emission.real);
    free(emission.use);
    return status;
}
