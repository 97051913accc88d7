#include "mappers/overlapim/emit/real_check.h"

#include "mappers/overlapim/emit/real.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_NUMBERS (UINT64_C(1) << 23)
#define MOST_WORK (UINT64_C(1) << 26) /* products of all layers, evaluated directly */

/* The direct evaluation of a layer, by functions of where an element is. */
struct numbers {
    uint64_t seed;
    uint64_t mask;
    uint32_t side[2]; /* of the input's maps */
    const struct pim_workload *workload;
};

static uint64_t draw(uint64_t seed, const uint64_t *place, unsigned count)
{
    uint64_t state = seed;
    for (unsigned i = 0; i < count; i++) { /* splitmix64 of every index in turn */
        state += place[i] + UINT64_C(0x9E3779B97F4A7C15);
        state = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        state = (state ^ state >> 27) * UINT64_C(0x94D049BB133111EB);
        state ^= state >> 31;
    }
    return state;
}

/* An input at position p x stride + r x dilation - padding of both axes; padding is 0. */
static uint64_t input_at(const struct numbers *numbers, const uint64_t at[PIM_DIMENSIONS])
{
    const struct pim_workload *workload = numbers->workload;
    uint64_t group = at[PIM_K] / (workload->size[PIM_K] / workload->groups), place[4] = {at[PIM_N]};
    place[1] = group * workload->size[PIM_C] + at[PIM_C];
    for (unsigned axis = 0; axis < 2; axis++) {
        uint64_t moved =
            at[PIM_P + axis] * workload->stride[axis] + at[PIM_R + axis] * workload->dilation[axis];
        if (moved < workload->padding[axis] || moved - workload->padding[axis] >= numbers->side[axis])
            return 0;
        place[2 + axis] = moved - workload->padding[axis];
    }
    return draw(numbers->seed, place, 4) & numbers->mask;
}

static uint64_t weight_at(const struct numbers *numbers, const uint64_t at[PIM_DIMENSIONS])
{
    static const unsigned dimensions[] = {PIM_K, PIM_C, PIM_R, PIM_S};
    uint64_t place[4];
    for (unsigned i = 0; i < 4; i++) {
        place[i] = at[dimensions[i]];
        if (place[i] >= numbers->workload->size[dimensions[i]])
            return 0;
    }
    return draw(~numbers->seed, place, 4) & numbers->mask;
}

static uint64_t output_at(const struct numbers *numbers, const uint64_t output[PIM_DIMENSIONS])
{
    const uint32_t *size = numbers->workload->size;
    uint64_t sum = 0, at[PIM_DIMENSIONS] = {0};
    at[PIM_N] = output[PIM_N];
    at[PIM_K] = output[PIM_K];
    at[PIM_P] = output[PIM_P];
    at[PIM_Q] = output[PIM_Q];
    for (at[PIM_C] = 0; at[PIM_C] < size[PIM_C]; at[PIM_C]++)
        for (at[PIM_R] = 0; at[PIM_R] < size[PIM_R]; at[PIM_R]++)
            for (at[PIM_S] = 0; at[PIM_S] < size[PIM_S]; at[PIM_S]++)
                sum += input_at(numbers, at) * weight_at(numbers, at);
    return sum & numbers->mask;
}

/* --- where they stand --- */

struct expected {
    uint32_t layer;
    uint64_t value;
    uint64_t at[PIM_DIMENSIONS];
};

struct check {
    const struct pim_overlapim_plan *plan;
    const struct pim_mapper_inputs *inputs;
    struct pim_mapper_number *before, *after;
    struct expected *expected; /* of `after` */
    uint64_t before_count, before_room, after_count, after_room;
    struct pim_error *error;
};

/* A layer under check. */
struct subject {
    struct check *check;
    uint32_t layer;
    struct pim_real real;
    struct numbers numbers;
    bool *seen; /* words of a column in a step that stand there already */
};

static enum pim_status no_room(const struct subject *subject)
{
    return pim_fail(subject->check->error, PIM_BAD_INPUT,
                    "--check-values: with layer %s there are more than %" PRIu64
                    " numbers to put into rows: check a smaller network",
                    subject->check->plan->layers.layer[subject->layer].name, MOST_NUMBERS);
}

/* Room for one more of what is counted; NULL with the error set. */
static void *grow(const struct subject *subject, void *list, uint64_t count, uint64_t *room, size_t size)
{
    if (count < *room)
        return list;
    if (count >= MOST_NUMBERS) {
        (void)no_room(subject);
        return NULL;
    }
    uint64_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(list, more * size);
    if (grown)
        *room = more;
    else
        (void)pim_fail(subject->check->error, PIM_NO_MEMORY, "out of memory for the numbers of the check");
    return grown;
}

/* A column of a bank of the layer in a step. */
struct cell {
    uint64_t channel, bank, column;
    uint64_t at[PIM_DIMENSIONS];
};

static enum pim_status put_number(const struct subject *subject, const struct cell *cell, uint64_t row,
                                  uint64_t value)
{
    struct check *check = subject->check;
    struct pim_mapper_number *grown =
        grow(subject, check->before, check->before_count, &check->before_room, sizeof *grown);
    if (!grown)
        return check->error->status;
    check->before = grown;
    check->before[check->before_count++] = (struct pim_mapper_number){
        .unit = pim_overlapim_unit(check->plan, subject->layer, (uint32_t)cell->channel),
        .bank = (uint32_t)cell->bank,
        .row = (uint32_t)row,
        .row_step = 1,
        .column = (uint32_t)cell->column,
        .bits = subject->real.word,
        .value = value};
    return PIM_OK;
}

/* The word of output `output` behind store `store`: row_transpose has taken its bit j, which stood in row j
 * and this column, to row (column modulo the word) and column (j x columns + column) / word. */
static enum pim_status expect(const struct subject *subject, const struct cell *cell, uint64_t store,
                              uint64_t output)
{
    struct check *check = subject->check;
    const struct pim_real *real = &subject->real;
    uint64_t room = check->after_room;
    struct expected *expected = grow(subject, check->expected, check->after_count, &room, sizeof *expected);
    if (!expected)
        return check->error->status;
    check->expected = expected;
    struct pim_mapper_number *after =
        grow(subject, check->after, check->after_count, &check->after_room, sizeof *after);
    if (!after)
        return check->error->status;
    check->after = after;
    uint64_t row = real->out + (store * real->outputs + output) * real->word + cell->column % real->word;
    check->after[check->after_count] = (struct pim_mapper_number){
        .unit = pim_overlapim_unit(check->plan, subject->layer, (uint32_t)cell->channel),
        .bank = (uint32_t)cell->bank,
        .row = (uint32_t)row,
        .column = (uint32_t)(cell->column / real->word),
        .column_step = check->plan->machine.columns / real->word,
        .bits = real->word};
    struct expected *mine = &check->expected[check->after_count++];
    *mine = (struct expected){.layer = subject->layer};
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
        mine->at[d] = cell->at[d];
    mine->value = output_at(&subject->numbers, cell->at);
    return PIM_OK;
}

/* Products inside of a column in a step: their operands, or with `store` their outputs. */
static enum pim_status visit_column(const struct subject *subject, const struct cell *cell,
                                    const struct pim_real_step *step, bool weights, bool store)
{
    const struct pim_real *real = &subject->real;
    uint64_t words = store ? real->outputs : weights ? real->weights : real->inputs;
    uint64_t first = real->input_landing + step->input_load * words * real->word;
    if (weights && real->weight_loads > 0)
        first = real->weight_landing + step->weight_load * words * real->word;
    else if (weights)
        first = real->weight + step->weight_tile * words * real->word;
    for (uint64_t i = 0; i < words; i++)
        subject->seen[i] = false;
    for (uint64_t i = 0; i < real->count[PIM_REAL_INSIDE]; i++) {
        const struct pim_real_product product = pim_real_product(real, i);
        uint64_t word = store ? product.output : weights ? product.weight : product.input;
        struct cell inside = *cell;
        if (subject->seen[word])
            continue;
        subject->seen[word] = true;
        pim_real_add(real, PIM_REAL_INSIDE, i, inside.at);
        bool exists = true;
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            exists = exists && inside.at[d] < subject->numbers.workload->size[d];
        uint64_t row = real->word * word + first;
        enum pim_status status = PIM_OK;
        if (store && exists)
            status = expect(subject, &inside, step->store, word);
        else if (!store)
            status = put_number(subject, &inside, row,
                                weights ? weight_at(&subject->numbers, inside.at)
                                        : input_at(&subject->numbers, inside.at));
        if (status != PIM_OK)
            return status;
    }
    return PIM_OK;
}

/* All columns of all banks in one step. Outputs stand in the first lanes alone. */
static enum pim_status visit(const struct subject *subject, uint64_t number, bool weights, bool store)
{
    const struct pim_real *real = &subject->real;
    const struct pim_real_step step = pim_real_step(real, number);
    uint64_t size[6], index[6];
    for (unsigned i = 0; i < 6; i++)
        size[i] = store && i % 2 == 0 ? 1 : real->count[PIM_REAL_CHANNEL_LANE + i];
    uint64_t total = size[0] * size[1] * size[2] * size[3] * size[4] * size[5];
    for (uint64_t place = 0; place < total; place++) {
        struct cell cell = {0};
        pim_real_add(real, PIM_REAL_STEP, number, cell.at);
        uint64_t rest = place;
        for (unsigned i = 0; i < 6; i++) {
            index[i] = rest % size[i];
            rest /= size[i];
            /* the lanes of outputs are those of all contributions: any of them, and their dimensions are 0 */
            pim_real_add(real, (enum pim_real_part)(PIM_REAL_CHANNEL_LANE + i), index[i], cell.at);
        }
        if (store)
            cell.at[PIM_C] = cell.at[PIM_R] = cell.at[PIM_S] = 0;
        cell.channel = index[0] * size[1] + index[1];
        cell.bank = index[2] * real->count[PIM_REAL_BANK] + index[3];
        cell.column = (index[5] << real->levels) + index[4];
        if (visit_column(subject, &cell, &step, weights, store) != PIM_OK)
            return subject->check->error->status;
    }
    return PIM_OK;
}

static enum pim_status visit_steps(const struct subject *subject)
{
    const struct pim_real *real = &subject->real;
    for (uint64_t load = 0; load < real->input_loads; load++)
        if (visit(subject, load * real->input_period, false, false) != PIM_OK)
            return subject->check->error->status;
    for (uint64_t load = 0; load < real->weight_loads; load++)
        if (visit(subject, load * real->weight_period, true, false) != PIM_OK)
            return subject->check->error->status;
    for (uint64_t tile = 0; tile < real->weight_tiles && real->weight_loads == 0; tile++)
        if (visit(subject, pim_real_tile_step(real, tile), true, false) != PIM_OK)
            return subject->check->error->status;
    for (uint64_t store = 0; store < real->stores; store++)
        if (visit(subject, pim_real_store_step(real, store), false, true) != PIM_OK)
            return subject->check->error->status;
    return PIM_OK;
}

/* --- the check --- */

static enum pim_status take_layer(struct check *check, uint32_t layer)
{
    const struct pim_overlapim_plan *plan = check->plan;
    const struct pim_layer_mapping *mapping = &pim_overlapim_mappings(plan, plan->series)[layer];
    const struct pim_mapped_layer *mapped = &plan->layers.layer[layer];
    const struct pim_graph *graph = &check->inputs->network->graph;
    const struct pim_layer *source = &graph->layers[mapped->graph_layer];
    struct subject subject = {.check = check, .layer = layer};
    subject.numbers = (struct numbers){.seed = draw(plan->search.seed, &(uint64_t){layer}, 1),
                                       .mask = (UINT64_C(1) << plan->machine.word_bits) - 1,
                                       .side = {1, 1},
                                       .workload = &mapped->workload};
    if (source->operation == PIM_OPERATOR_CONVOLUTION) {
        const struct pim_shape *shape = &graph->layers[source->input[0]].output;
        subject.numbers.side[0] = shape->dimension[2];
        subject.numbers.side[1] = shape->dimension[3];
    }
    if (pim_real_place(&plan->machine, mapped, plan->spaces[layer].drop_weights, &mapping->nest,
                       &mapping->strides, &subject.real, check->error) != PIM_OK)
        return check->error->status;
    uint64_t words = subject.real.count[PIM_REAL_INSIDE]; /* inputs, weights and outputs are not more */
    subject.seen = calloc(words, sizeof *subject.seen);
    enum pim_status status = subject.seen
                                 ? visit_steps(&subject)
                                 : pim_fail(check->error, PIM_NO_MEMORY, "out of memory for the check");
    free(subject.seen);
    return status;
}

static enum pim_status compare(const struct check *check)
{
    uint64_t wrong = 0;
    for (uint64_t i = check->after_count; i-- > 0;) {
        const struct expected *expected = &check->expected[i];
        if (check->after[i].value == expected->value)
            continue;
        wrong++;
        (void)pim_fail(check->error, PIM_INTERNAL,
                       "layer %s: output n %" PRIu64 ", k %" PRIu64 ", p %" PRIu64 ", q %" PRIu64
                       " is %" PRIu64 ", by direct evaluation %" PRIu64,
                       check->plan->layers.layer[expected->layer].name, expected->at[PIM_N],
                       expected->at[PIM_K], expected->at[PIM_P], expected->at[PIM_Q], check->after[i].value,
                       expected->value);
    }
    return wrong == 0 ? PIM_OK
                      : pim_fail_in(check->error, "%" PRIu64 " of %" PRIu64 " outputs are wrong", wrong,
                                    check->after_count);
}

static enum pim_status take_layers(struct check *check, struct pim_real_report *report)
{
    const struct pim_mapped_layers *layers = &check->plan->layers;
    uint64_t work = 0;
    for (uint32_t i = 0; i < layers->count; i++) {
        uint64_t products = layers->layer[i].product ? pim_workload_products(&layers->layer[i].workload) : 0;
        if (products > MOST_WORK - work)
            return pim_fail(check->error, PIM_BAD_INPUT,
                            "--check-values: with layer %s there are more than %" PRIu64
                            " products to evaluate: check a smaller network",
                            layers->layer[i].name, MOST_WORK);
        work += products;
    }
    for (uint32_t i = 0; i < layers->count; i++) {
        if (!layers->layer[i].product)
            continue;
        report->layers++;
        if (take_layer(check, i) != PIM_OK)
            return check->error->status;
    }
    return PIM_OK;
}

enum pim_status pim_real_check(const struct pim_overlapim_plan *plan, const struct pim_mapper_inputs *inputs,
                               const char *trace, struct pim_real_report *report, struct pim_error *error)
{
    struct check check = {.plan = plan, .inputs = inputs, .error = error};
    *report = (struct pim_real_report){0};
    enum pim_status status = take_layers(&check, report);
    if (status == PIM_OK)
        status = inputs->execute(inputs->simulator, trace, check.before, check.before_count, check.after,
                                 check.after_count, error);
    if (status == PIM_OK)
        status = compare(&check);
    report->outputs = check.after_count;
    free(check.before);
    free(check.after);
    free(check.expected);
    return status;
}
