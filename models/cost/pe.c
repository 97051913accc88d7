/*
 * Cycles of a matrix product: the folds of docs/models/pe.md, summed in closed form. A product has at most
 * two extents of folds along each side of the array (full ones and one partial one), hence at most four kinds
 * of folds.
 */
#include "models/cost/pe.h"
#include "sim/integer.h"

#include <assert.h>
#include <stddef.h>

/* Folds along one side of the array: `full` ones that fill it, and `partial` (0 or 1) that fill the rest. */
struct side {
    uint64_t full, partial;
    uint64_t full_extent, partial_extent; /* rows or columns whose time a fold takes */
};

static struct side cut(uint32_t extent, uint32_t array, enum pim_pe_folds folds)
{
    uint32_t rest = extent % array;
    return (struct side){.full = extent / array,
                         .partial = rest != 0,
                         .full_extent = array,
                         .partial_extent = folds == PIM_PE_FOLDS_PADDED ? array : rest};
}

static uint64_t fold_count(const struct side *side)
{
    return side->full + side->partial;
}

static uint64_t largest_extent(const struct side *side)
{
    return side->full ? side->full_extent : side->partial_extent;
}

/* The product as the array sees it: folds over rows and columns, `stream` vectors through each fold, bits of
 * what moves. */
struct work {
    struct side rows, columns;
    uint64_t stream;
    uint64_t row_bits; /* of an operand that enters along the rows */
    uint64_t
        stationary_bits; /* of an operand that is held in (or, output-stationary, enters along) the columns */
    uint64_t sum_bits;
};

/* Widths of the SRAM ports in bits per cycle that these operands use; 0: unlimited. */
struct ports {
    uint64_t row, stationary, sum;
};

/* Cycles in which a port moves one vector of `elements`; at least one. */
static uint64_t pace(uint64_t elements, uint64_t bits, uint64_t port)
{
    return port ? pim_divide_up(elements * bits, port) : 1;
}

/* Sum of time(rows, columns) over all folds. */
typedef uint64_t fold_time(const struct pim_pe_configuration *configuration, const struct work *work,
                           const struct ports *ports, uint64_t rows, uint64_t columns);

static uint64_t sum_of_folds(fold_time *time, const struct pim_pe_configuration *configuration,
                             const struct work *work, const struct ports *ports)
{
    const struct side *r = &work->rows, *c = &work->columns;
    uint64_t sum = 0;
    if (r->full && c->full)
        sum += r->full * c->full * time(configuration, work, ports, r->full_extent, c->full_extent);
    if (r->partial && c->full)
        sum += c->full * time(configuration, work, ports, r->partial_extent, c->full_extent);
    if (r->full && c->partial)
        sum += r->full * time(configuration, work, ports, r->full_extent, c->partial_extent);
    if (r->partial && c->partial)
        sum += time(configuration, work, ports, r->partial_extent, c->partial_extent);
    return sum;
}

/* One step a vector: rows operands in, columns partial sums out and back. The weights of the next fold come
 * meanwhile or before. */
static uint64_t vector_mac_fold(const struct pim_pe_configuration *configuration, const struct work *work,
                                const struct ports *ports, uint64_t rows, uint64_t columns)
{
    uint64_t step = pim_larger(pace(largest_extent(&work->rows), work->row_bits, ports->row),
                               pace(largest_extent(&work->columns), work->sum_bits, ports->sum));
    uint64_t compute = work->stream * step;
    uint64_t load;
    if (configuration->weight_load == PIM_PE_WEIGHTS_KERNEL_PER_CYCLE)
        load = columns * pace(rows, work->stationary_bits, ports->stationary);
    else
        load =
            ports->stationary ? pim_divide_up(rows * columns * work->stationary_bits, ports->stationary) : 0;
    return configuration->double_buffered ? pim_larger(compute, load) : compute + load;
}

/* Skewed operands through rows + columns - 2 PEs; sums leave row by row, after the fold or under the next
 * one. */
static uint64_t output_stationary_fold(const struct pim_pe_configuration *configuration,
                                       const struct work *work, const struct ports *ports, uint64_t rows,
                                       uint64_t columns)
{
    uint64_t step =
        pim_larger(pace(largest_extent(&work->rows), work->row_bits, ports->row),
                   pace(largest_extent(&work->columns), work->stationary_bits, ports->stationary));
    uint64_t compute = (work->stream + rows + columns - 2) * step;
    uint64_t drain_step = pace(largest_extent(&work->columns), work->sum_bits, ports->sum);
    if (configuration->drain_outputs)
        return compute + rows * drain_step;
    /* The shift chain under the next fold always moves as many rows as the largest fold has. */
    return pim_larger(compute, largest_extent(&work->rows) * drain_step);
}

/* Stationary operands row by row into the array, then the stream; no overlap. */
static uint64_t stationary_fold(const struct pim_pe_configuration *configuration, const struct work *work,
                                const struct ports *ports, uint64_t rows, uint64_t columns)
{
    (void)configuration;
    uint64_t load_step = pace(largest_extent(&work->columns), work->stationary_bits, ports->stationary);
    uint64_t step = pim_larger(pace(largest_extent(&work->rows), work->row_bits, ports->row),
                               pace(largest_extent(&work->columns), work->sum_bits, ports->sum));
    return rows * load_step + (work->stream + rows + columns - 2) * step;
}

/* Step at which the stream of a fold begins: `column` groups of columns before it, `row` folds before it in
 * its own group. */
static uint64_t shadowed_start(const struct work *work, uint64_t column, uint64_t row)
{
    const struct side *r = &work->rows;
    /* A fold begins when the fold before has taken its stream and its own operands are in the shadow
     * registers. */
    uint64_t full = pim_larger(work->stream, r->full_extent);
    uint64_t partial = pim_larger(work->stream, r->partial_extent);
    uint64_t first =
        r->full ? r->full_extent : r->partial_extent; /* nothing hides the load of the first fold */
    uint64_t sum = column * (r->full * full + r->partial * partial);
    sum += row < r->full ? (row + 1) * full : r->full * full + partial;
    return first + sum - pim_larger(work->stream, first);
}

/* Folds with shadow registers, rows innermost. The last to end need not be the last to begin: a partial fold
 * has a shorter way out. */
static uint64_t shadowed_folds(const struct work *work, const struct ports *ports)
{
    const struct side *r = &work->rows, *c = &work->columns;
    uint64_t end = 0;
    for (int partial_column = 0; partial_column < 2; partial_column++) {
        if ((partial_column ? c->partial : c->full) == 0)
            continue;
        uint64_t column = partial_column ? c->full : c->full - 1;
        uint64_t columns = partial_column ? c->partial_extent : c->full_extent;
        if (r->full)
            end = pim_larger(end, shadowed_start(work, column, r->full - 1) + work->stream + r->full_extent +
                                      columns - 2);
        if (r->partial)
            end = pim_larger(end, shadowed_start(work, column, r->full) + work->stream + r->partial_extent +
                                      columns - 2);
    }
    /* All three streams are under way at once, in step. */
    uint64_t step = pim_larger(pace(largest_extent(r), work->row_bits, ports->row),
                               pim_larger(pace(largest_extent(c), work->stationary_bits, ports->stationary),
                                          pace(largest_extent(c), work->sum_bits, ports->sum)));
    return end * step;
}

static uint64_t cycles_of(const struct pim_pe_configuration *configuration, const struct work *work,
                          const struct ports *ports)
{
    uint64_t cycles;
    if (configuration->dataflow == PIM_PE_VECTOR_MAC)
        cycles = sum_of_folds(vector_mac_fold, configuration, work, ports);
    else if (configuration->dataflow == PIM_PE_OUTPUT_STATIONARY)
        cycles = sum_of_folds(output_stationary_fold, configuration, work, ports);
    else if (configuration->double_buffered)
        cycles = shadowed_folds(work, ports);
    else
        cycles = sum_of_folds(stationary_fold, configuration, work, ports);
    return cycles + configuration->pipeline_depth;
}

/* Lays the product onto the array: which extent lies along rows and columns, which streams, which operand is
 * which. */
static struct work lay_out(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n,
                           uint32_t k, unsigned input_bits, unsigned weight_bits)
{
    const struct pim_pe_configuration *p = configuration;
    switch (p->dataflow) {
    case PIM_PE_OUTPUT_STATIONARY:
        return (struct work){.rows = cut(m, p->rows, p->folds),
                             .columns = cut(n, p->columns, p->folds),
                             .stream = k,
                             .row_bits = input_bits,
                             .stationary_bits = weight_bits,
                             .sum_bits = p->accumulator_bits};
    case PIM_PE_INPUT_STATIONARY:
        return (struct work){.rows = cut(k, p->rows, p->folds),
                             .columns = cut(m, p->columns, p->folds),
                             .stream = n,
                             .row_bits = weight_bits,
                             .stationary_bits = input_bits,
                             .sum_bits = p->accumulator_bits};
    case PIM_PE_VECTOR_MAC:
    case PIM_PE_WEIGHT_STATIONARY:
    case PIM_PE_DATAFLOWS:
    default:
        return (struct work){.rows = cut(k, p->rows, p->folds),
                             .columns = cut(n, p->columns, p->folds),
                             .stream = m,
                             .row_bits = input_bits,
                             .stationary_bits = weight_bits,
                             .sum_bits = p->accumulator_bits};
    }
}

/* How often each operand passes its SRAM port: once, or once for each fold of the side it does not lie along.
 * */
static void count_traffic(const struct pim_pe_configuration *configuration, const struct work *work,
                          uint32_t m, uint32_t n, uint32_t k, unsigned input_bits, unsigned weight_bits,
                          bool accumulate, struct pim_pe_cost *cost)
{
    uint64_t inputs = (uint64_t)m * k, weights = (uint64_t)k * n, outputs = (uint64_t)m * n;
    uint64_t updates = 1; /* times a sum is written */
    switch (configuration->dataflow) {
    case PIM_PE_OUTPUT_STATIONARY:
        inputs *= fold_count(&work->columns);
        weights *= fold_count(&work->rows);
        break;
    case PIM_PE_INPUT_STATIONARY:
        weights *= fold_count(&work->columns);
        updates = fold_count(&work->rows);
        break;
    case PIM_PE_VECTOR_MAC:
    case PIM_PE_WEIGHT_STATIONARY:
    case PIM_PE_DATAFLOWS:
    default:
        inputs *= fold_count(&work->columns);
        updates = fold_count(&work->rows);
        break;
    }
    cost->input_bytes_read = pim_divide_up(inputs * input_bits, 8);
    cost->weight_bytes_read = pim_divide_up(weights * weight_bits, 8);
    cost->output_bytes_written = pim_divide_up(outputs * updates * configuration->accumulator_bits, 8);
    /* The first update of a sum finds nothing to read, unless the product adds to sums that are there. */
    cost->output_bytes_read =
        pim_divide_up(outputs * (updates - 1 + accumulate) * configuration->accumulator_bits, 8);
}

/* Bits a cycle of the streams, of what stays in the array, and of sums; 0: without a limit. */
static struct ports ports_of(const struct pim_pe_configuration *p)
{
    uint64_t input = 8 * (uint64_t)p->input_port_bytes, weight = 8 * (uint64_t)p->weight_port_bytes;
    bool swapped = p->dataflow == PIM_PE_INPUT_STATIONARY;
    return (struct ports){.row = swapped ? weight : input,
                          .stationary = swapped ? input : weight,
                          .sum = 8 * (uint64_t)p->output_port_bytes};
}

uint64_t pim_pe_matrix_cycles(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n,
                              uint32_t k, unsigned input_bits, unsigned weight_bits)
{
    assert(m > 0 && n > 0 && k > 0 && input_bits > 0 && weight_bits > 0);
    const struct work work = lay_out(configuration, m, n, k, input_bits, weight_bits);
    const struct ports ports = ports_of(configuration);
    return cycles_of(configuration, &work, &ports);
}

/* A fold takes at least a cycle for each of its vectors. */
double pim_pe_least_cycles(const struct pim_pe_configuration *configuration, uint64_t m, uint64_t n,
                           uint64_t k)
{
    const double rows = (double)configuration->rows, columns = (double)configuration->columns;
    switch (configuration->dataflow) {
    case PIM_PE_OUTPUT_STATIONARY:
        return (double)m / rows * (double)pim_divide_up(n, configuration->columns) * (double)k;
    case PIM_PE_INPUT_STATIONARY:
        return (double)m / columns * (double)pim_divide_up(k, configuration->rows) * (double)n;
    case PIM_PE_VECTOR_MAC:
    case PIM_PE_WEIGHT_STATIONARY:
    case PIM_PE_DATAFLOWS:
    default:
        return (double)m * (double)pim_divide_up(k, configuration->rows) *
               (double)pim_divide_up(n, configuration->columns);
    }
}

void pim_pe_matrix_traffic(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n,
                           uint32_t k, unsigned input_bits, unsigned weight_bits, bool accumulate,
                           struct pim_pe_cost *cost)
{
    const struct work work = lay_out(configuration, m, n, k, input_bits, weight_bits);
    count_traffic(configuration, &work, m, n, k, input_bits, weight_bits, accumulate, cost);
}

void pim_pe_matrix(const struct pim_pe_configuration *configuration, uint32_t m, uint32_t n, uint32_t k,
                   unsigned input_bits, unsigned weight_bits, bool accumulate, struct pim_pe_cost *cost)
{
    assert(m > 0 && n > 0 && k > 0 && input_bits > 0 && weight_bits > 0);
    const struct pim_pe_configuration *p = configuration;
    const struct work work = lay_out(p, m, n, k, input_bits, weight_bits);
    const struct ports unlimited = {0, 0, 0};
    const struct ports ports = ports_of(p);
    uint64_t compute = cycles_of(p, &work, &unlimited);
    uint64_t cycles = ports.row || ports.stationary || ports.sum ? cycles_of(p, &work, &ports) : compute;
    *cost = (struct pim_pe_cost){.cycles = cycles,
                                 .compute_cycles = compute,
                                 .port_stall_cycles = cycles - compute,
                                 .macs = (uint64_t)m * n * k};
    count_traffic(p, &work, m, n, k, input_bits, weight_bits, accumulate, cost);
}
