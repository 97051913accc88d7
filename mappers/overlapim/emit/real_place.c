#include "mappers/overlapim/emit/real.h"

#include "traces/instruction.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_OF_OTHERS = 16, MOST_PRODUCTS = 1 << 16 };

static const unsigned reduced = 1U << PIM_C | 1U << PIM_R | 1U << PIM_S;
static const unsigned of_weights = 1U << PIM_K | 1U << PIM_C | 1U << PIM_R | 1U << PIM_S;

static unsigned of_inputs(const struct pim_real *real)
{
    return 1U << PIM_N | 1U << PIM_C | 1U << PIM_P | 1U << PIM_Q | 1U << PIM_R | 1U << PIM_S |
           (real->workload->groups > 1 ? 1U << PIM_K : 0);
}

static enum pim_real_part part_of(const struct pim_nest *nest, uint32_t index)
{
    const struct pim_nest_loop *loop = &nest->loop[index];
    bool lane = reduced >> loop->dimension & 1;
    if (!loop->spatial)
        return index < nest->cut ? PIM_REAL_STEP : PIM_REAL_INSIDE;
    if (index >= nest->cut)
        return lane ? PIM_REAL_COLUMN_LANE : PIM_REAL_COLUMN;
    if (loop->level == PIM_LEVEL_CHANNEL)
        return lane ? PIM_REAL_CHANNEL_LANE : PIM_REAL_CHANNEL;
    return lane ? PIM_REAL_BANK_LANE : PIM_REAL_BANK;
}

void pim_real_add(const struct pim_real *real, enum pim_real_part part, uint64_t index,
                  uint64_t at[PIM_DIMENSIONS])
{
    for (uint32_t i = real->nest->loops; i-- > 0;) {
        const struct pim_nest_loop *loop = &real->nest->loop[i];
        if (part_of(real->nest, i) != part)
            continue;
        at[loop->dimension] += index % loop->count * real->strides->tile[i];
        index /= loop->count;
    }
}

/* The digits of `index` that are over `dimensions`, from loop `from` on, as a number of their own. */
static uint64_t digits(const struct pim_real *real, enum pim_real_part part, uint64_t index,
                       unsigned dimensions, uint32_t from)
{
    uint64_t scale = 1, result = 0;
    for (uint32_t i = real->nest->loops; i-- > from;) {
        const struct pim_nest_loop *loop = &real->nest->loop[i];
        if (part_of(real->nest, i) != part)
            continue;
        if (dimensions >> loop->dimension & 1) {
            result += index % loop->count * scale;
            scale *= loop->count;
        }
        index /= loop->count;
    }
    return result;
}

/* How many values digits() has. */
static uint64_t values(const struct pim_real *real, enum pim_real_part part, unsigned dimensions,
                       uint32_t from)
{
    uint64_t count = 1;
    for (uint32_t i = from; i < real->nest->loops; i++)
        if (part_of(real->nest, i) == part && dimensions >> real->nest->loop[i].dimension & 1)
            count *= real->nest->loop[i].count;
    return count;
}

/* Steps one after another in which no index of `dimensions` changes. */
static uint64_t period(const struct pim_real *real, unsigned dimensions)
{
    uint64_t steps = 1;
    for (uint32_t i = real->nest->cut; i-- > 0;) {
        const struct pim_nest_loop *loop = &real->nest->loop[i];
        if (loop->spatial || loop->count == 1)
            continue;
        if (dimensions >> loop->dimension & 1)
            break;
        steps *= loop->count;
    }
    return steps;
}

/* Loops inside of the outermost one in time over a reduced dimension: the outputs that they choose are open
 * at once. */
static uint32_t open_from(const struct pim_real *real)
{
    for (uint32_t i = 0; i < real->nest->cut; i++)
        if (part_of(real->nest, i) == PIM_REAL_STEP && reduced >> real->nest->loop[i].dimension & 1 &&
            real->nest->loop[i].count > 1)
            return i + 1;
    return real->nest->loops;
}

struct pim_real_step pim_real_step(const struct pim_real *real, uint64_t step)
{
    const unsigned all = (1U << PIM_DIMENSIONS) - 1;
    uint64_t reductions = digits(real, PIM_REAL_STEP, step, reduced, 0);
    return (struct pim_real_step){
        .loads_inputs = step % real->input_period == 0,
        .loads_weights = real->weight_loads > 0 && step % real->weight_period == 0,
        .first = reductions == 0,
        .last = reductions + 1 == values(real, PIM_REAL_STEP, reduced, 0),
        .input_load = step / real->input_period,
        .weight_load = step / real->weight_period,
        .weight_tile = real->weight_loads > 0 ? 0 : digits(real, PIM_REAL_STEP, step, of_weights, 0),
        .tile = digits(real, PIM_REAL_STEP, step, all & ~reduced, open_from(real)),
        .store = digits(real, PIM_REAL_STEP, step, all & ~reduced, 0)};
}

/* The step whose digits over `dimensions` are those of `number`; the others are 0, or the last. */
static uint64_t step_of(const struct pim_real *real, uint64_t number, unsigned dimensions, bool last)
{
    uint64_t step = 0, scale = 1;
    for (uint32_t i = real->nest->cut; i-- > 0;) {
        const struct pim_nest_loop *loop = &real->nest->loop[i];
        if (loop->spatial)
            continue;
        bool named = dimensions >> loop->dimension & 1;
        step += (named ? number % loop->count : last ? loop->count - 1 : 0) * scale;
        number /= named ? loop->count : 1;
        scale *= loop->count;
    }
    return step;
}

uint64_t pim_real_store_step(const struct pim_real *real, uint64_t store)
{
    return step_of(real, store, ((1U << PIM_DIMENSIONS) - 1) & ~reduced, true);
}

uint64_t pim_real_tile_step(const struct pim_real *real, uint64_t tile)
{
    return step_of(real, tile, of_weights, false);
}

/* Positions of inputs along an axis, p x stride + r x dilation, are counted as they lie when that is fewer,
 * else a word each. */
static uint64_t positions(const struct pim_real *real, unsigned axis, bool *packed)
{
    const struct pim_workload *workload = real->workload;
    uint64_t p = values(real, PIM_REAL_INSIDE, 1U << (PIM_P + axis), 0);
    uint64_t r = values(real, PIM_REAL_INSIDE, 1U << (PIM_R + axis), 0);
    uint64_t side = (p - 1) * workload->stride[axis] + (r - 1) * workload->dilation[axis] + 1;
    *packed = side < p * r;
    return *packed ? side : p * r;
}

static uint64_t position(const struct pim_real *real, unsigned axis, uint64_t index, bool packed)
{
    const struct pim_workload *workload = real->workload;
    uint64_t p = digits(real, PIM_REAL_INSIDE, index, 1U << (PIM_P + axis), 0);
    uint64_t r = digits(real, PIM_REAL_INSIDE, index, 1U << (PIM_R + axis), 0);
    return packed ? p * workload->stride[axis] + r * workload->dilation[axis]
                  : p * values(real, PIM_REAL_INSIDE, 1U << (PIM_R + axis), 0) + r;
}

struct pim_real_product pim_real_product(const struct pim_real *real, uint64_t index)
{
    const unsigned all = (1U << PIM_DIMENSIONS) - 1;
    const unsigned channels = of_inputs(real) & (1U << PIM_N | 1U << PIM_C | 1U << PIM_K);
    bool packed[2];
    uint64_t rows = positions(real, 0, &packed[0]), columns = positions(real, 1, &packed[1]);
    uint64_t input = digits(real, PIM_REAL_INSIDE, index, channels, 0);
    input =
        (input * rows + position(real, 0, index, packed[0])) * columns + position(real, 1, index, packed[1]);
    return (struct pim_real_product){.input = input,
                                     .weight = digits(real, PIM_REAL_INSIDE, index, of_weights, 0),
                                     .output = digits(real, PIM_REAL_INSIDE, index, all & ~reduced, 0),
                                     .first = digits(real, PIM_REAL_INSIDE, index, reduced, 0) == 0};
}

static void count_words(struct pim_real *real, bool drop_weights)
{
    const unsigned all = (1U << PIM_DIMENSIONS) - 1;
    bool packed;
    for (unsigned part = 0; part < PIM_REAL_PARTS; part++)
        real->count[part] = values(real, (enum pim_real_part)part, all, 0);
    real->outputs = values(real, PIM_REAL_INSIDE, all & ~reduced, 0);
    real->weights = values(real, PIM_REAL_INSIDE, of_weights, 0);
    real->inputs =
        values(real, PIM_REAL_INSIDE, of_inputs(real) & (1U << PIM_N | 1U << PIM_C | 1U << PIM_K), 0) *
        positions(real, 0, &packed) * positions(real, 1, &packed);
    real->input_period = period(real, of_inputs(real));
    real->input_loads = real->count[PIM_REAL_STEP] / real->input_period;
    real->weight_period = period(real, of_weights);
    real->weight_loads = drop_weights ? real->count[PIM_REAL_STEP] / real->weight_period : 0;
    real->weight_tiles = drop_weights ? 1 : values(real, PIM_REAL_STEP, of_weights, 0);
    real->tiles = values(real, PIM_REAL_STEP, all & ~reduced, open_from(real));
    real->stores = values(real, PIM_REAL_STEP, all & ~reduced, 0);
    while (UINT64_C(1) << real->levels < real->count[PIM_REAL_COLUMN_LANE])
        real->levels++;
    real->pitch = 2 * real->word + real->levels;
}

/* Takes `words` times `rows` rows; what does not fit any more is counted on. */
static uint32_t take(uint64_t *next, uint64_t words, uint64_t rows)
{
    uint64_t first = *next;
    *next = words > UINT32_MAX || first > UINT32_MAX ? UINT64_MAX / 2 : first + words * rows;
    return (uint32_t)first;
}

static uint64_t place_rows(struct pim_real *real)
{
    uint64_t next = 0;
    real->input = take(&next, real->inputs, real->word);
    real->weight = take(&next, real->weights * real->weight_tiles, real->word);
    real->product = take(&next, 2, real->word);
    real->local = take(&next, real->outputs, 2 * real->word);
    real->sum = take(&next, 2, real->pitch); /* and the scratch rows of a reduction */
    real->total = take(&next, real->outputs * real->tiles, real->pitch);
    real->moved = take(&next, real->outputs, real->pitch);
    real->out = take(&next, real->outputs * real->stores, real->word);
    real->input_landing = take(&next, real->inputs * real->input_loads, real->word);
    real->weight_landing = take(&next, real->weights * real->weight_loads, real->word);
    real->end = (uint32_t)next;
    return next;
}

enum pim_status pim_real_place(const struct pim_machine *machine, const struct pim_mapped_layer *layer,
                               bool drop_weights, const struct pim_nest *nest,
                               const struct pim_strides *strides, struct pim_real *real,
                               struct pim_error *error)
{
    *real = (struct pim_real){
        .workload = &layer->workload, .nest = nest, .strides = strides, .word = machine->word_bits};
    count_words(real, drop_weights);
    uint64_t steps = real->count[PIM_REAL_STEP], inside = real->count[PIM_REAL_INSIDE];
    uint64_t products = steps > UINT64_MAX / inside ? UINT64_MAX : steps * inside;
    uint64_t columns = real->count[PIM_REAL_COLUMN] << real->levels;
    uint64_t rows = place_rows(real) + (uint64_t)ROWS_OF_OTHERS * real->word;
    if ((real->word & (real->word - 1)) != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--rows real: levels.word_bits is %" PRIu32 ": words are transposed in place when "
                        "their bits are a power of two",
                        real->word);
    if (products > MOST_PRODUCTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--rows real: layer %s multiplies %" PRIu64 " times one after another in a column, "
                        "allowed are %d: real rows are for small layers",
                        layer->name, products, (int)MOST_PRODUCTS);
    if (columns > machine->columns)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--rows real: layer %s needs %" PRIu64 " columns for groups of %" PRIu64
                        " that are summed in a tree, a bank has %" PRIu32,
                        layer->name, columns, real->count[PIM_REAL_COLUMN_LANE], machine->columns);
    if (rows > machine->rows)
        return pim_fail(error, PIM_BAD_INPUT,
                        "--rows real: layer %s needs %" PRIu64 " rows with the inputs of all steps, a bank "
                        "has %" PRIu32 ": %" PRIu64 " are missing",
                        layer->name, rows, machine->rows, rows - machine->rows);
    real->used = true;
    return PIM_OK;
}
