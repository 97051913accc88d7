/*
 * A depthwise convolution on the PE array. Every output is a dot product of `taps` in one channel, so a
 * product has no more than one channel; the tokens' neighbours stand where a matrix product has its weights,
 * for the columns of the array are then tokens, of which there are many.
 */
#include "mappers/estimate/estimate.h"

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t ceil_divide(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* In how many bursts the neighbours of a tile come: a tap each, but that lines of the taps on both sides have
   zeros at one end. */
static uint64_t bursts_of(const struct pim_depthwise_shape *shape, uint64_t tokens)
{
    if (shape->line == 0)
        return shape->taps;
    uint64_t lines = ceil_divide(tokens, shape->line), side = 1;
    while (side * side < shape->taps)
        side++;
    return side + 2 * (shape->taps - side) * lines;
}

static struct pim_matrix_estimate estimate_of(const struct pim_estimate_hardware *hardware,
                                              const struct pim_depthwise_shape *shape,
                                              const struct pim_depthwise_tiling *tiling)
{
    uint64_t t = tiling->tokens, c = tiling->channels;
    uint64_t pieces = ceil_divide(shape->tokens, t), groups = ceil_divide(shape->channels, c);
    uint64_t tiles = shape->sequences * pieces * groups;
    uint64_t load =
        pim_estimate_pieces(hardware, c * shape->taps, 0, 1, 1, false) +
        pim_estimate_pieces(hardware, c, shape->pitch, shape->taps * t, bursts_of(shape, t), false);
    uint64_t store = pim_estimate_pieces(hardware, c, shape->pitch, t, 1, false) +
                     pim_estimate_pieces(hardware, c, shape->pitch, t, 1, true) +
                     pim_estimate_turns(hardware, 1);
    uint64_t vector = 2 * pim_estimate_vector(hardware, t, c, 1);
    struct pim_matrix_estimate estimate = {.memory = tiles * (load + store), .vector = tiles * vector};
    estimate.compute = (uint64_t)shape->sequences * pieces * shape->channels *
                       pim_estimate_matrix(hardware, 1, t, shape->taps);
    uint64_t inner =
        maximum(maximum(estimate.compute, estimate.memory - load - store), estimate.vector - vector);
    estimate.total = 2 * pim_estimate_latency(hardware) + load + inner + vector + store;
    return estimate;
}

/* The best tile in one `parts`-th of each buffer; false when there is none. */
static bool choose(const struct pim_estimate_hardware *hardware, const struct pim_depthwise_shape *shape,
                   uint32_t parts, struct pim_depthwise_tiling *tiling, struct pim_matrix_estimate *estimate)
{
    uint64_t weights = hardware->input_bytes / parts / shape->taps,
             neighbours = hardware->weight_bytes / parts / shape->taps,
             outputs = hardware->output_bytes / parts / hardware->accumulator_bytes;
    uint64_t room = minimum(neighbours, outputs), most = minimum(minimum(weights, room), shape->channels);
    for (uint64_t channels = minimum(most, hardware->port_bytes); channels > 0;
         channels = channels == most ? 0 : minimum(2 * channels, most)) {
        uint64_t tokens = minimum(room / channels, shape->tokens);
        const struct pim_depthwise_tiling tried = {
            .tokens = (uint32_t)ceil_divide(shape->tokens, ceil_divide(shape->tokens, tokens)),
            .channels = (uint32_t)channels};
        const struct pim_matrix_estimate cost = estimate_of(hardware, shape, &tried);
        if (estimate->total == 0 || cost.total < estimate->total) {
            *tiling = tried;
            *estimate = cost;
        }
    }
    return estimate->total > 0;
}

bool pim_estimate_depthwise(const struct pim_estimate_hardware *hardware,
                            const struct pim_depthwise_shape *shape, struct pim_depthwise_tiling *tiling,
                            struct pim_matrix_estimate *estimate)
{
    *estimate = (struct pim_matrix_estimate){0};
    return choose(hardware, shape, 2, tiling, estimate) || choose(hardware, shape, 1, tiling, estimate);
}
