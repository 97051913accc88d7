#include "tests/unit/pe/stepped_array.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

/* One fold: rows and columns of the array it uses (its time), and where they begin in the product. */
struct fold {
    uint32_t row, column; /* first element along the rows and columns */
    uint32_t rows, columns;
};

struct fold_list {
    struct fold *fold;
    size_t count;
    uint32_t most_rows, most_columns;
};

static uint32_t fold_extent(const struct pim_pe_configuration *p, uint32_t rest, uint32_t array)
{
    return rest >= array || p->folds == PIM_PE_FOLDS_PADDED ? array : rest;
}

/* Folds of rows x columns elements, rows innermost. */
static struct fold_list list_folds(const struct pim_pe_configuration *p, uint32_t rows, uint32_t columns)
{
    struct fold_list list = {0};
    list.fold = calloc((size_t)(rows / p->rows + 1) * (columns / p->columns + 1), sizeof *list.fold);
    ck_assert_ptr_nonnull(list.fold);
    for (uint32_t c = 0; c < columns; c += p->columns) {
        for (uint32_t r = 0; r < rows; r += p->rows) {
            struct fold fold = {.row = r,
                                .column = c,
                                .rows = fold_extent(p, rows - r, p->rows),
                                .columns = fold_extent(p, columns - c, p->columns)};
            if (fold.rows > list.most_rows)
                list.most_rows = fold.rows;
            if (fold.columns > list.most_columns)
                list.most_columns = fold.columns;
            list.fold[list.count++] = fold;
        }
    }
    return list;
}

/* Smallest number of cycles in which a port of `bytes` a cycle has moved `bits`. */
static uint64_t cycles_to_move(uint64_t bits, uint32_t bytes)
{
    uint64_t cycles = 1;
    for (uint64_t moved = 8 * (uint64_t)bytes; bytes > 0 && moved < bits; moved += 8 * (uint64_t)bytes)
        cycles++;
    return cycles;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* SRAM reads; padding is not read. */
static int64_t fetch_input(struct stepped_product *product, uint32_t row, uint32_t column)
{
    if (row >= product->m || column >= product->k)
        return 0;
    product->inputs_read++;
    return product->input[(size_t)row * product->k + column];
}

static int64_t fetch_weight(struct stepped_product *product, uint32_t row, uint32_t column)
{
    if (row >= product->k || column >= product->n)
        return 0;
    product->weights_read++;
    return product->weight[(size_t)row * product->n + column];
}

static void update_output(struct stepped_product *product, uint32_t row, uint32_t column, int64_t sum,
                          bool add)
{
    if (row >= product->m || column >= product->n)
        return;
    int64_t *output = &product->output[(size_t)row * product->n + column];
    product->sums_read += add;
    product->sums_written++;
    *output += sum; /* cleared before the product, so that the order of additions does not matter */
}

/* ---- vector-MAC ---- */

/* Weight registers of one fold, [row][column]. */
struct weights {
    int64_t *active, *shadow;
};

static void fill_shadow(struct stepped_product *product, struct weights *weights, const struct fold *fold)
{
    for (uint32_t c = 0; c < fold->columns; c++)
        for (uint32_t r = 0; r < fold->rows; r++)
            weights->shadow[(size_t)r * product->configuration->columns + c] =
                fetch_weight(product, fold->row + r, fold->column + c);
}

/* Cycles in which the weights of a fold have come, counted kernel by kernel or bit by bit. */
static uint64_t step_load(const struct stepped_product *product, const struct fold *fold)
{
    const struct pim_pe_configuration *p = product->configuration;
    uint64_t kernel_bits = (uint64_t)fold->rows * product->weight_bits, cycles = 0;
    if (p->weight_load == PIM_PE_WEIGHTS_KERNEL_PER_CYCLE) {
        for (uint32_t kernel = 0; kernel < fold->columns; kernel++)
            cycles += cycles_to_move(kernel_bits, p->weight_port_bytes);
        return cycles;
    }
    return p->weight_port_bytes ? cycles_to_move(kernel_bits * fold->columns, p->weight_port_bytes) : 0;
}

static void vector_mac_step(struct stepped_product *product, const struct weights *weights,
                            const struct fold *fold, uint32_t vector)
{
    int64_t operand[PIM_PE_SIDE_MAX];
    for (uint32_t r = 0; r < fold->rows; r++)
        operand[r] = fetch_input(product, vector, fold->row + r);
    for (uint32_t c = 0; c < fold->columns; c++) {
        int64_t sum = 0;
        for (uint32_t r = 0; r < fold->rows; r++)
            sum += operand[r] * weights->active[(size_t)r * product->configuration->columns + c];
        update_output(product, vector, fold->column + c, sum, fold->row > 0 || product->accumulate);
    }
}

static void run_vector_mac(struct stepped_product *product)
{
    const struct pim_pe_configuration *p = product->configuration;
    struct fold_list folds = list_folds(p, product->k, product->n);
    size_t registers = (size_t)p->rows * p->columns;
    struct weights weights = {calloc(registers, sizeof(int64_t)), calloc(registers, sizeof(int64_t))};
    ck_assert(weights.active != NULL && weights.shadow != NULL);
    uint64_t pace =
        most(cycles_to_move((uint64_t)folds.most_rows * product->input_bits, p->input_port_bytes),
             cycles_to_move((uint64_t)folds.most_columns * p->accumulator_bits, p->output_port_bytes));
    /* With shadow registers the first fold came under the product before, and that of the next comes under
     * the last fold. */
    for (size_t f = 0; f < folds.count; f++) {
        const struct fold *fold = &folds.fold[f];
        fill_shadow(product, &weights, fold);
        int64_t *swap = weights.active;
        weights.active = weights.shadow;
        weights.shadow = swap;
        uint64_t load_left =
            step_load(product, p->double_buffered ? &folds.fold[(f + 1) % folds.count] : fold);
        if (!p->double_buffered) {
            product->cycles += load_left;
            load_left = 0;
        }
        uint32_t vector = 0;
        uint64_t vector_left = 0; /* cycles until the array takes the next vector */
        while (vector < product->m || vector_left > 0 || load_left > 0) {
            if (vector < product->m && vector_left == 0) {
                vector_mac_step(product, &weights, fold, vector++);
                vector_left = pace;
            }
            vector_left -= vector_left > 0;
            load_left -= load_left > 0;
            product->cycles++;
        }
    }
    free(weights.active);
    free(weights.shadow);
    free(folds.fold);
}

/* ---- output-stationary ---- */

struct moving {
    bool valid;
    uint32_t index; /* along the stream */
    int64_t value;
};

/* Steps until every PE of the fold has added up all its products. */
static uint64_t run_output_stationary_fold(struct stepped_product *product, const struct fold *fold,
                                           int64_t *sums)
{
    size_t count = (size_t)fold->rows * fold->columns;
    struct moving *right = calloc(count, sizeof *right), *down = calloc(count, sizeof *down);
    ck_assert(right != NULL && down != NULL);
    uint64_t left = (uint64_t)count * product->k, step = 0;
    for (; left > 0; step++) {
        for (uint32_t i = fold->rows; i-- > 0;) {
            for (uint32_t j = fold->columns; j-- > 0;) {
                struct moving *a = &right[(size_t)i * fold->columns + j],
                              *b = &down[(size_t)i * fold->columns + j];
                *a = j > 0 ? a[-1] : (struct moving){0};
                *b = i > 0 ? b[-(ptrdiff_t)fold->columns] : (struct moving){0};
                if (j == 0 && step >= i && step - i < product->k) { /* skewed by one step a row */
                    uint32_t index = (uint32_t)(step - i);
                    *a = (struct moving){true, index, fetch_input(product, fold->row + i, index)};
                }
                if (i == 0 && step >= j && step - j < product->k) {
                    uint32_t index = (uint32_t)(step - j);
                    *b = (struct moving){true, index, fetch_weight(product, index, fold->column + j)};
                }
                ck_assert(a->valid == b->valid && (!a->valid || a->index == b->index));
                if (a->valid) {
                    sums[(size_t)i * fold->columns + j] += a->value * b->value;
                    left--;
                }
            }
        }
    }
    free(right);
    free(down);
    return step;
}

static void run_output_stationary(struct stepped_product *product)
{
    const struct pim_pe_configuration *p = product->configuration;
    struct fold_list folds = list_folds(p, product->m, product->n);
    uint64_t pace =
        most(cycles_to_move((uint64_t)folds.most_rows * product->input_bits, p->input_port_bytes),
             cycles_to_move((uint64_t)folds.most_columns * product->weight_bits, p->weight_port_bytes));
    uint64_t drain_pace =
        cycles_to_move((uint64_t)folds.most_columns * p->accumulator_bits, p->output_port_bytes);
    for (size_t f = 0; f < folds.count; f++) {
        const struct fold *fold = &folds.fold[f];
        int64_t *sums = calloc((size_t)fold->rows * fold->columns, sizeof *sums);
        ck_assert_ptr_nonnull(sums);
        uint64_t compute = pace * run_output_stationary_fold(product, fold, sums), drain = 0;
        for (uint32_t i = 0; i < fold->rows; i++) { /* row by row out of the array */
            for (uint32_t j = 0; j < fold->columns; j++)
                update_output(product, fold->row + i, fold->column + j, sums[(size_t)i * fold->columns + j],
                              product->accumulate);
            drain += drain_pace;
        }
        for (uint32_t i = fold->rows; !p->drain_outputs && i < folds.most_rows; i++)
            drain += drain_pace; /* the chain has a fixed length */
        product->cycles += p->drain_outputs ? compute + drain : most(compute, drain);
        free(sums);
    }
    free(folds.fold);
}

/* ---- weight- and input-stationary ---- */

struct pe {
    int64_t active, shadow;
    size_t shadow_fold;
    bool busy; /* x and sum belong to a vector of a fold */
    size_t fold;
    uint32_t vector;
    int64_t x, sum;
};

/* What a systolic array with stationary operands works on, so that the input-stationary one is the same
 * array. */
struct stationary {
    struct stepped_product *product;
    bool inputs; /* the stationary operand is the input */
    uint32_t stream;
    const struct fold *fold;
    size_t count;
};

static int64_t fetch_stationary(const struct stationary *s, const struct fold *fold, uint32_t i, uint32_t j)
{
    return s->inputs ? fetch_input(s->product, fold->column + j, fold->row + i)
                     : fetch_weight(s->product, fold->row + i, fold->column + j);
}

static int64_t fetch_stream(const struct stationary *s, const struct fold *fold, uint32_t vector, uint32_t i)
{
    return s->inputs ? fetch_weight(s->product, fold->row + i, vector)
                     : fetch_input(s->product, vector, fold->row + i);
}

static void emit(const struct stationary *s, const struct fold *fold, uint32_t vector, uint32_t j,
                 int64_t sum)
{
    bool add = fold->row > 0 || s->product->accumulate;
    if (s->inputs)
        update_output(s->product, fold->column + j, vector, sum, add);
    else
        update_output(s->product, vector, fold->column + j, sum, add);
}

/*
 * The folds one after another through one array with shadow registers. Row i of the next fold is loaded i
 * steps after the current fold began, and reaches column j j steps later; a PE takes over its shadow when the
 * first vector of a fold comes by. *load is set to the steps before the first vector entered. Returns the
 * step after the last sum left.
 */
static uint64_t run_shadowed(const struct stationary *s, uint32_t width, uint32_t height, uint64_t *load)
{
    struct pe *pes = calloc((size_t)width * height, sizeof *pes);
    uint64_t *begin = calloc(s->count + 1, sizeof *begin); /* step at which the stream of a fold began */
    uint64_t *fill = calloc(s->count + 1, sizeof *fill);   /* step at which the load of a fold began */
    ck_assert(pes != NULL && begin != NULL && fill != NULL);
    size_t started = 0; /* folds whose stream has begun */
    uint64_t left = 0, step = 0, end = 0;
    for (size_t f = 0; f < s->count; f++)
        left += (uint64_t)s->stream * s->fold[f].columns;
    const size_t window = (size_t)width + height; /* folds that began longer ago have left the first column */
    for (; left > 0; step++) {
        size_t oldest = started > window ? started - window : 0;
        bool streamed = started == 0 || step - begin[started - 1] >= s->stream;
        if (started < s->count && streamed && step - fill[started] >= s->fold[started].rows) {
            begin[started] = step;
            fill[++started] = step;
        }
        for (uint32_t i = height; i-- > 0;) {
            for (uint32_t j = width; j-- > 0;) {
                struct pe *pe = &pes[(size_t)i * width + j];
                pe->busy = false;
                if (j > 0 && pe[-1].busy && j < s->fold[pe[-1].fold].columns) {
                    pe->busy = true;
                    pe->fold = pe[-1].fold;
                    pe->vector = pe[-1].vector;
                    pe->x = pe[-1].x;
                }
                for (size_t f = oldest; j == 0 && f < started; f++) {
                    uint64_t at = begin[f] + i;
                    if (i < s->fold[f].rows && step >= at && step - at < s->stream) {
                        ck_assert(!pe->busy); /* one vector a step */
                        pe->busy = true;
                        pe->fold = f;
                        pe->vector = (uint32_t)(step - at);
                        pe->x = fetch_stream(s, &s->fold[f], pe->vector, i);
                    }
                }
                if (!pe->busy)
                    continue;
                if (pe->vector == 0) {
                    ck_assert_uint_eq(pe->shadow_fold, pe->fold + 1); /* loaded, and not yet overwritten */
                    pe->active = pe->shadow;
                }
                pe->sum = pe->x * pe->active;
                if (i > 0) {
                    const struct pe *above = pe - width;
                    ck_assert(above->busy && above->fold == pe->fold && above->vector == pe->vector);
                    pe->sum += above->sum;
                }
                if (i + 1 == s->fold[pe->fold].rows) {
                    emit(s, &s->fold[pe->fold], pe->vector, j, pe->sum);
                    left--;
                    end = step + 1;
                }
            }
        }
        for (size_t f = oldest; f <= started && f < s->count;
             f++) /* shadow registers, at the end of the step */
            for (uint32_t i = 0; i < s->fold[f].rows; i++)
                for (uint32_t j = 0; j < s->fold[f].columns; j++)
                    if (step == fill[f] + i + j) {
                        pes[(size_t)i * width + j].shadow = fetch_stationary(s, &s->fold[f], i, j);
                        pes[(size_t)i * width + j].shadow_fold = f + 1;
                    }
    }
    *load = begin[0];
    free(pes);
    free(begin);
    free(fill);
    return end;
}

static void run_stationary(struct stepped_product *product, bool inputs)
{
    const struct pim_pe_configuration *p = product->configuration;
    struct fold_list folds = list_folds(p, product->k, inputs ? product->m : product->n);
    struct stationary s = {.product = product,
                           .inputs = inputs,
                           .stream = inputs ? product->n : product->m,
                           .fold = folds.fold,
                           .count = folds.count};
    uint64_t stationary_bits = inputs ? product->input_bits : product->weight_bits;
    uint64_t stream_bits = inputs ? product->weight_bits : product->input_bits;
    uint64_t load_pace = cycles_to_move(folds.most_columns * stationary_bits,
                                        inputs ? p->input_port_bytes : p->weight_port_bytes);
    uint64_t pace = most(
        cycles_to_move(folds.most_rows * stream_bits, inputs ? p->weight_port_bytes : p->input_port_bytes),
        cycles_to_move((uint64_t)folds.most_columns * p->accumulator_bits, p->output_port_bytes));
    uint64_t load;
    if (p->double_buffered) {
        product->cycles += run_shadowed(&s, p->columns, p->rows, &load) * most(pace, load_pace);
    } else {
        for (size_t f = 0; f < folds.count; f++) {
            s.fold = &folds.fold[f];
            s.count = 1;
            uint64_t end = run_shadowed(&s, p->columns, p->rows, &load);
            product->cycles += load * load_pace + (end - load) * pace;
        }
    }
    free(folds.fold);
}

void stepped_array_run(struct stepped_product *product)
{
    for (size_t i = 0; !product->accumulate && i < (size_t)product->m * product->n; i++)
        product->output[i] = 0;
    product->cycles = product->configuration->pipeline_depth;
    product->inputs_read = product->weights_read = product->sums_read = product->sums_written = 0;
    switch (product->configuration->dataflow) {
    case PIM_PE_VECTOR_MAC:
        run_vector_mac(product);
        break;
    case PIM_PE_OUTPUT_STATIONARY:
        run_output_stationary(product);
        break;
    case PIM_PE_WEIGHT_STATIONARY:
        run_stationary(product, false);
        break;
    case PIM_PE_INPUT_STATIONARY:
        run_stationary(product, true);
        break;
    case PIM_PE_DATAFLOWS:
    default:
        ck_abort();
    }
}
