/*
 * The paper's own equations, as they are printed: time is bytes over the bandwidth of a link (13), (14), and
 * the time of the processing engine and of nonlinear work (15), added up (12). They know no rows, refresh,
 * packets, latency, tiles, or accesses to memory at either end of a link.
 * docs/mappers/allspark-equations.md holds every symbol against the code here.
 */
#include "mappers/allspark/redistribution/circulation.h"
#include "mappers/allspark/shapes.h"
#include "mappers/allspark/steps.h"

/* Largest part of a branch's tokens: p. */
static uint64_t tokens(const struct pim_allspark_partition *part)
{
    return pim_stage_tokens(part, 0);
}

/* t of a product: the array's cycles, or what it must move at least, at the peak of the memory. */
static uint64_t product_cycles(const struct pim_estimate_hardware *hardware,
                               const struct pim_product *product)
{
    const uint64_t m = product->m, n = product->n, k = product->k;
    const uint64_t compute = pim_estimate_matrix(hardware, m, n, k),
                   memory = pim_estimate_peak(hardware, m * k + k * n + m * n);
    return product->count * (compute > memory ? compute : memory);
}

/* T^c of a step, for one image. */
static uint64_t computation(struct pim_emitter *emitter, enum pim_step step, uint32_t block)
{
    const struct pim_allspark_partition *part = emitter->part;
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    const bool heads = step == STEP_SCORES || step == STEP_CONTEXT;
    if (step == STEP_NORM1 || step == STEP_NORM2)
        return pim_estimate_vector(hardware, tokens(part), pim_stage_channels(part, 0), 2);
    struct pim_product product =
        heads ? pim_step_attention(emitter, step, 0) : pim_step_product(emitter, step, block, 0);
    if (!heads) /* all chunks of the weights */
        product.n = pim_weight_shape(part, pim_step_weight(step), 0).n;
    uint64_t cycles = product_cycles(hardware, &product);
    if (step == STEP_SCORES)
        cycles += pim_estimate_vector(hardware, (uint64_t)product.count * product.m, product.n, 3);
    if (step == STEP_EXPAND)
        cycles += pim_estimate_vector(hardware, product.m, product.n, 1);
    return cycles;
}

/* D of a step: bytes that a node sends in the row or the column, for one image. */
static uint64_t transferred(const struct pim_emitter *emitter, enum pim_step step)
{
    const struct pim_allspark_partition *part = emitter->part;
    const uint64_t p = tokens(part), q = pim_stage_channels(part, 0), row = part->v - 1, column = part->u - 1;
    if (step == STEP_MERGE)
        return part->embeds ? 0 : row * p * pim_stage_spread(part, part->merge_inputs, 0);
    if (step == STEP_NORM1 || step == STEP_NORM2)
        return 2 * row * p;
    if (step == STEP_SCORES || step == STEP_CONTEXT)
        return emitter->row_block == 0 ? column * pim_column_bytes(emitter, NULL, 0) : 0;
    if (step == STEP_PROJECTION || step == STEP_EXPAND)
        return row * p * q;
    return step == STEP_CONTRACT ? row * p * pim_stage_spread(part, part->hidden, 0) : 0;
}

/* W of a step: bytes of weights that a node sends in its ring. */
static uint64_t shared(const struct pim_allspark_partition *part, enum pim_step step)
{
    if (pim_step_weight(step) == PIM_ALLSPARK_WEIGHTS)
        return 0;
    const struct pim_weight_shape shape = pim_weight_shape(part, pim_step_weight(step), 0);
    const uint64_t bytes = (uint64_t)shape.k * shape.n;
    return bytes - bytes / part->ring;
}

/* Whether (13) to (15) have a term for a step: the phases of figure 7, and the normalisations. */
static bool has_term(enum pim_step step)
{
    switch (step) {
    case STEP_MERGE:
    case STEP_NORM1:
    case STEP_QUERY:
    case STEP_KEY:
    case STEP_VALUE:
    case STEP_SCORES:
    case STEP_CONTEXT:
    case STEP_PROJECTION:
    case STEP_NORM2:
    case STEP_EXPAND:
    case STEP_CONTRACT:
        return true;
    case STEP_POOL:
    case STEP_REDUCTION:
    case STEP_REDUCTION_NORM:
    case STEP_LOCAL_POSITION:
    case STEP_POSITION:
    case STEPS:
        break;
    }
    return false;
}

void pim_equations_of_step(struct pim_emitter *emitter, enum pim_step step, uint32_t block,
                           struct pim_trace_phase *phase)
{
    const struct pim_estimate_hardware *hardware = &emitter->plan->hardware;
    const uint64_t batch = emitter->part->batch;
    phase->has_equations = has_term(step);
    if (!phase->has_equations)
        return;
    phase->equation_terms[PIM_EQUATION_COMPUTATION] = batch * computation(emitter, step, block);
    phase->equation_terms[PIM_EQUATION_TRANSFER] =
        batch * pim_estimate_link(hardware, transferred(emitter, step));
    phase->equation_terms[PIM_EQUATION_WEIGHT_SHARING] =
        pim_estimate_link(hardware, shared(emitter->part, step));
}
