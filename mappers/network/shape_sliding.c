/*
 * Shape inference of windows that slide over maps and volumes, and of recurrent layers.
 *
 * A convolution multiplies, for every output position, each weight of a group once; a transposed convolution
 * the same for every input position, whether or not the padding cuts the product away.
 */
#include "mappers/network/inference.h"

#include <assert.h>
#include <inttypes.h>

/* The entry of pim_sliding for spatial dimension d of [batch, channels, (depth,) height, width]. */
static unsigned axis_of(const struct pim_shape *shape, uint32_t d)
{
    assert(shape->rank == 4 || shape->rank == 5);
    return shape->rank == 4 ? d : d == 0 ? 2 : d - 1;
}

static enum pim_status expect_map(const struct pim_inference_context *c)
{
    return c->inputs[0]->rank == 5
               ? PIM_OK
               : pim_infer_expect_rank(
                     c, 0, 4, "[batch, channels, height, width], or with a depth before the height,");
}

/* Positions that the kernel reaches over. */
static enum pim_status reach_of(const struct pim_inference_context *c, const struct pim_sliding *s,
                                unsigned axis, uint64_t *reach)
{
    if (s->kernel[axis] == 0 || s->stride[axis] == 0 || s->dilation[axis] == 0)
        return pim_fail(c->error, PIM_BAD_INPUT, "kernel, stride and dilation must be at least 1");
    *reach = (uint64_t)s->dilation[axis] * (s->kernel[axis] - 1) + 1;
    return PIM_OK;
}

static enum pim_status take_positions(const struct pim_inference_context *c, uint64_t count,
                                      uint32_t *positions)
{
    if (count > PIM_DIMENSION_LIMIT)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "the map has %" PRIu64 " positions: allowed are at most %" PRIu32, count,
                        PIM_DIMENSION_LIMIT);
    *positions = (uint32_t)count;
    return PIM_OK;
}

/* Positions of a sliding window along one axis. */
static enum pim_status slide(const struct pim_inference_context *c, const struct pim_sliding *s,
                             unsigned axis, uint32_t extent, uint32_t *positions)
{
    uint64_t reach = 0, padded = (uint64_t)extent + s->pad_before[axis] + s->pad_after[axis];
    enum pim_status status = reach_of(c, s, axis, &reach);
    if (status != PIM_OK)
        return status;
    if (reach > padded)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "the kernel reaches over %" PRIu64 " positions, but the padded map has %" PRIu64,
                        reach, padded);
    assert(s->stride[axis] > 0);
    uint64_t steps = padded - reach;
    uint64_t count = steps / s->stride[axis] + 1;
    if (s->ceil_mode && steps % s->stride[axis] != 0) {
        /* A last, partial position that would start in the padding behind the map does not count. */
        if (count * s->stride[axis] < (uint64_t)extent + s->pad_before[axis])
            count++;
    }
    return take_positions(c, count, positions);
}

static enum pim_status slide_map(const struct pim_inference_context *c, const struct pim_sliding *s,
                                 uint32_t channels)
{
    const struct pim_shape *input = c->inputs[0];
    struct pim_shape output = {.rank = input->rank, .dimension = {input->dimension[0], channels}};
    enum pim_status status = PIM_OK;
    for (uint32_t d = 0; d + 2 < input->rank && status == PIM_OK; d++)
        status = slide(c, s, axis_of(input, d), input->dimension[2 + d], &output.dimension[2 + d]);
    return status == PIM_OK ? pim_infer_take_output(c, &output) : status;
}

/* Each position along one axis, `stride` apart, is spread over the reach of the kernel. */
static enum pim_status spread(const struct pim_inference_context *c, unsigned axis, uint32_t extent,
                              uint32_t *positions)
{
    const struct pim_sliding *s = &c->attributes->convolution.sliding;
    uint64_t reach = 0, cut = (uint64_t)s->pad_before[axis] + s->pad_after[axis];
    enum pim_status status = reach_of(c, s, axis, &reach);
    if (status != PIM_OK)
        return status;
    uint64_t wide = (uint64_t)s->stride[axis] * (extent - 1) + reach;
    wide = wide > UINT64_MAX / 2 ? UINT64_MAX / 2 : wide + c->attributes->convolution.output_padding[axis];
    if (wide <= cut)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "nothing is left: %" PRIu64 " positions are made and %" PRIu64 " cut away", wide,
                        cut);
    return take_positions(c, wide - cut, positions);
}

/* Weights and MACs of a convolution or a transposed one: each weight of a group once for each of `positions`
 * (batch included). */
static enum pim_status convolve(const struct pim_inference_context *c, uint64_t positions)
{
    const struct pim_sliding *s = &c->attributes->convolution.sliding;
    uint32_t outputs = c->attributes->convolution.outputs, groups = c->attributes->convolution.groups;
    uint32_t channels = c->inputs[0]->dimension[1];
    assert(groups > 0);
    uint64_t kernel = (uint64_t)s->kernel[0] * s->kernel[1];
    if (c->inputs[0]->rank == 5 && kernel > PIM_COUNT_LIMIT / s->kernel[2])
        return pim_fail(c->error, PIM_BAD_INPUT, "its kernel has more than %" PRIu64 " positions",
                        PIM_COUNT_LIMIT);
    kernel *= c->inputs[0]->rank == 5 ? s->kernel[2] : 1;
    enum pim_status status = pim_infer_set_parameters(c, outputs, channels / groups, kernel);
    if (status == PIM_OK)
        status = pim_infer_set_macs(c, positions, c->result->parameters, 1);
    c->result->parameters += c->attributes->convolution.bias ? outputs : 0;
    return status;
}

static enum pim_status check_groups(const struct pim_inference_context *c)
{
    uint32_t outputs = c->attributes->convolution.outputs, groups = c->attributes->convolution.groups;
    uint32_t channels = c->inputs[0]->dimension[1];
    if (groups == 0 || channels % groups != 0 || outputs % groups != 0)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "%" PRIu32 " groups do not divide %" PRIu32 " input and %" PRIu32 " output channels",
                        groups, channels, outputs);
    return PIM_OK;
}

enum pim_status pim_infer_convolution(const struct pim_inference_context *c)
{
    enum pim_status status = expect_map(c);
    if (status == PIM_OK)
        status = check_groups(c);
    if (status == PIM_OK)
        status = slide_map(c, &c->attributes->convolution.sliding, c->attributes->convolution.outputs);
    return status == PIM_OK
               ? convolve(c, pim_shape_elements(&c->result->output) / c->result->output.dimension[1])
               : status;
}

enum pim_status pim_infer_transposed_convolution(const struct pim_inference_context *c)
{
    enum pim_status status = expect_map(c);
    if (status == PIM_OK)
        status = check_groups(c);
    if (status != PIM_OK)
        return status;
    const struct pim_shape *input = c->inputs[0];
    struct pim_shape output = {.rank = input->rank,
                               .dimension = {input->dimension[0], c->attributes->convolution.outputs}};
    for (uint32_t d = 0; d + 2 < input->rank && status == PIM_OK; d++)
        status = spread(c, axis_of(input, d), input->dimension[2 + d], &output.dimension[2 + d]);
    if (status == PIM_OK)
        status = pim_infer_take_output(c, &output);
    return status == PIM_OK ? convolve(c, pim_shape_elements(input) / input->dimension[1]) : status;
}

enum pim_status pim_infer_pooling(const struct pim_inference_context *c)
{
    enum pim_status status = expect_map(c);
    if (status != PIM_OK)
        return status;
    const struct pim_shape *input = c->inputs[0];
    if (!c->attributes->pooling.global)
        return slide_map(c, &c->attributes->pooling.sliding, input->dimension[1]);
    struct pim_shape output = {.rank = input->rank,
                               .dimension = {input->dimension[0], input->dimension[1], 1, 1, 1}};
    return pim_infer_take_output(c, &output);
}

enum pim_status pim_infer_recurrent(const struct pim_inference_context *c)
{
    static const uint32_t gates[PIM_RECURRENTS] = {
        [PIM_RECURRENT_PLAIN] = 1, [PIM_RECURRENT_GRU] = 3, [PIM_RECURRENT_LSTM] = 4};
    const struct pim_shape *input = c->inputs[0];
    uint64_t hidden = c->attributes->recurrent.hidden;
    uint32_t directions = c->attributes->recurrent.directions;
    enum pim_status status = pim_infer_expect_rank(c, 0, 3, "[steps, batch, inputs]");
    if (status != PIM_OK)
        return status;
    if ((unsigned)c->attributes->recurrent.kind >= PIM_RECURRENTS || hidden == 0 ||
        hidden > PIM_DIMENSION_LIMIT || directions < 1 || directions > 2)
        return pim_fail(c->error, PIM_BAD_INPUT,
                        "%" PRIu64 " hidden units in %" PRIu32
                        " directions: at least one unit, in one direction or two, is needed",
                        hidden, directions);
    const struct pim_shape output = {
        .rank = 4, .dimension = {input->dimension[0], directions, input->dimension[1], (uint32_t)hidden}};
    uint64_t steps = (uint64_t)input->dimension[0] * input->dimension[1];
    uint32_t gate = gates[c->attributes->recurrent.kind];
    status = pim_infer_take_output(c, &output);
    if (status == PIM_OK)
        status =
            pim_infer_set_parameters(c, (uint64_t)gate * directions, hidden, hidden + input->dimension[2]);
    if (status == PIM_OK)
        status = pim_infer_set_macs(c, c->result->parameters, steps, 1);
    if (c->attributes->recurrent.bias)
        c->result->parameters += 2 * gate * directions * hidden;
    if (c->attributes->recurrent.peepholes)
        c->result->parameters += 3 * directions * hidden;
    return status;
}
