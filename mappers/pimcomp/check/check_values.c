/* The functional check: check_values.h. */
#include "mappers/pimcomp/check/check_values.h"
#include "mappers/verify/evaluate.h"
#include "mappers/verify/numbers.h"
#include "mappers/verify/value.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ELEMENT_BYTES = 2 };

/* --- lowered layers beside those of the graph: where the numbers of the direct evaluation lie --- */

/* Sets folded[i] for each layer i of the graph that went into weights and biases of a matrix. */
static void find_folded(const struct pim_core_network *network, bool *folded)
{
    for (uint32_t i = 0; i < network->count; i++)
        for (uint32_t a = 0; a < network->layer[i].affines; a++)
            folded[network->layer[i].affine[a].graph_layer] = true;
}

/* The number in the weight matrix before scales are multiplied in. */
static int32_t plain_weight(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                            uint32_t column)
{
    const struct pim_layer *matrix = &graph->layers[layer->matrix_layer];
    uint32_t channels = layer->source[0].channels, pixel = row / channels;
    if (layer->flat) {
        uint32_t width = layer->sliding.kernel[1];
        uint64_t element = row % channels * layer->flat_stride[0] + pixel / width * layer->flat_stride[1] +
                           pixel % width * layer->flat_stride[2];
        return pim_verify_weight_of(graph, layer->matrix_layer, (uint32_t)element, column);
    }
    uint32_t groups = matrix->attributes.convolution.groups;
    if (groups == 1)
        return pim_verify_weight(layer->matrix_layer, row, column);
    /* the layer may have some of the groups alone; `column` is of all of them */
    uint32_t inputs = channels / layer->blocks, outputs = layer->channels / layer->blocks;
    uint32_t channel = layer->first_channel / outputs * inputs + row % channels;
    if (channel / inputs != column / outputs)
        return 0;
    return pim_verify_weight(layer->matrix_layer, pixel * (groups * inputs) + channel, column);
}

int32_t pim_core_weight_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t row,
                           uint32_t column)
{
    column += layer->first_channel;
    int32_t weight = plain_weight(graph, layer, row, column);
    for (uint32_t i = 0; i < layer->affines; i++)
        weight = pim_verify_affine(graph, layer->affine[i].graph_layer, column * layer->affine[i].stride,
                                   weight, false);
    return weight;
}

/* Bias of a lowered layer with a matrix. */
static int32_t bias_of(const struct pim_graph *graph, const struct pim_core_layer *layer, uint32_t column)
{
    column += layer->first_channel;
    const struct pim_layer *matrix = &graph->layers[layer->matrix_layer];
    bool own = matrix->operation == PIM_OPERATOR_LINEAR ? matrix->attributes.linear.bias
                                                        : matrix->attributes.convolution.bias;
    int32_t bias = own ? pim_verify_bias(pim_verify_weights_owner(graph, layer->matrix_layer), column) : 0;
    for (uint32_t i = 0; i < layer->affines; i++)
        bias = pim_verify_affine(graph, layer->affine[i].graph_layer, column * layer->affine[i].stride, bias,
                                 true);
    return bias;
}

/* The place, in the tensor that makes the output of `layer`, of a channel of a pixel (y * width + x). */
static uint64_t element_of(const struct pim_core_layer *layer, uint32_t channel, uint32_t pixel)
{
    uint64_t first = 0;
    channel += layer->first_channel;
    if (layer->tensor_block) {
        first = channel / layer->tensor_block * layer->tensor_block_stride;
        channel %= layer->tensor_block;
    }
    return first + channel * layer->tensor_stride[0] + pixel / layer->width * layer->tensor_stride[1] +
           pixel % layer->width * layer->tensor_stride[2];
}

/* --- the check --- */

struct check {
    const struct pim_graph *graph;
    const struct pim_core_network *network;
    const struct pim_core_partition *partition;
    const struct pim_core_memory_map *map;
    struct pim_core_execution *execution;
    struct pim_core_check_result *result;
    struct pim_error *error;
    int16_t *pixel; /* the channels of one; of the widest layer */
};

static int32_t weight(const void *context, uint32_t layer, uint32_t row, uint32_t column)
{
    const struct check *check = context;
    const struct pim_core_layer *of = &check->network->layer[layer];
    if (check->partition->layer[layer].bundle) {
        const struct pim_core_stretch s =
            pim_core_stretch_at(of, &check->partition->layer[layer], row, row + 1);
        row = s.position * of->source[0].channels + s.channel;
    }
    return pim_core_weight_of(check->graph, of, row, column);
}

static uint64_t address_of(const struct pim_core_place *place, uint32_t sample, uint32_t pixel)
{
    return place->address + sample % place->slots * place->sample_stride + pixel * place->pixel_stride;
}

static enum pim_status write_bias(const struct check *check, uint32_t index)
{
    const struct pim_core_layer *layer = &check->network->layer[index];
    if (layer->kind != PIM_CORE_MATRIX || !layer->bias || check->map->bias[index] == PIM_CORE_NOWHERE)
        return PIM_OK;
    for (uint32_t c = 0; c < layer->channels; c++)
        check->pixel[c] = pim_value_cut(bias_of(check->graph, layer, c));
    return pim_core_execution_write(check->execution, check->map->bias[index], check->pixel, layer->channels,
                                    check->error);
}

/* The weights of a layer that the program writes into cells: group by group, row by row, fold by fold. */
static enum pim_status write_weights(const struct check *check, uint32_t index)
{
    const struct pim_core_partition_layer *part = &check->partition->layer[index];
    uint64_t address = check->map->weights ? check->map->weights[index] : PIM_CORE_NOWHERE;
    enum pim_status status = PIM_OK;
    for (uint32_t g = 0; g < part->groups && address != PIM_CORE_NOWHERE && status == PIM_OK; g++) {
        const struct pim_trace_array_group *group = &part->group[g];
        size_t count = (size_t)group->folds * group->columns;
        int16_t *row = malloc(count * sizeof *row);
        PIM_NEED_MEMORY(row, check->error, "out of memory for a row of weights");
        for (uint32_t r = 0; r < group->rows && status == PIM_OK; r++, address += count * ELEMENT_BYTES) {
            for (size_t i = 0; i < count; i++)
                row[i] = pim_value_cut(
                    weight(check, index, group->row + r + (uint32_t)(i / group->columns) * group->fold_stride,
                           group->column + (uint32_t)(i % group->columns)));
            status = pim_core_execution_write(check->execution, address, row, count, check->error);
        }
        free(row);
    }
    return status;
}

static enum pim_status write_input(const struct check *check, uint32_t index, uint32_t sample)
{
    const struct pim_core_layer *layer = &check->network->layer[index];
    const struct pim_core_place *place = &check->map->map[index];
    for (uint32_t pixel = 0; pixel < layer->windows; pixel++) {
        for (uint32_t c = 0; c < layer->channels; c++)
            check->pixel[c] = pim_verify_input(layer->graph_layer, sample, element_of(layer, c, pixel));
        PIM_TRY(pim_core_execution_write(check->execution, address_of(place, sample, pixel), check->pixel,
                                         layer->channels, check->error));
    }
    return PIM_OK;
}

/* The numbers that the network starts from. */
static enum pim_status write_all(const struct check *check, uint32_t samples)
{
    for (uint32_t i = 0; i < check->network->count; i++) {
        const struct pim_core_layer *layer = &check->network->layer[i];
        PIM_TRY(write_bias(check, i));
        PIM_TRY(write_weights(check, i));
        if (layer->kind != PIM_CORE_INPUT || check->map->map[i].address == PIM_CORE_NOWHERE)
            continue;
        if (check->map->map[i].slots < samples)
            return pim_fail(check->error, PIM_BAD_INPUT,
                            "input %s has room for %" PRIu32
                            " samples in the global memory, not for the %" PRIu32 " that are checked",
                            layer->name, check->map->map[i].slots, samples);
        for (uint32_t sample = 0; sample < samples; sample++)
            PIM_TRY(write_input(check, i, sample));
    }
    return PIM_OK;
}

static enum pim_status compare_layer(const struct check *check, uint32_t index, uint32_t sample,
                                     const int16_t *right)
{
    const struct pim_core_layer *layer = &check->network->layer[index];
    const struct pim_core_place *place = &check->map->map[index];
    for (uint32_t pixel = 0; pixel < layer->windows; pixel++) {
        if (pim_core_execution_read(check->execution, address_of(place, sample, pixel), check->pixel,
                                    layer->channels, check->error) != PIM_OK)
            return pim_fail_in(check->error, "layer %s, sample %" PRIu32 ", pixel %" PRIu32, layer->name,
                               sample, pixel);
        for (uint32_t c = 0; c < layer->channels; c++) {
            int16_t expected = right[element_of(layer, c, pixel)];
            if (check->pixel[c] != expected)
                return pim_fail(check->error, PIM_BAD_INPUT,
                                "layer %s (number %" PRIu32 "), sample %" PRIu32 ": pixel %" PRIu32
                                ", channel %" PRIu32 " is %d, right is %d",
                                layer->name, index, sample, pixel, c, check->pixel[c], expected);
        }
    }
    check->result->elements += (uint64_t)layer->windows * layer->channels;
    return PIM_OK;
}

static enum pim_status compare_sample(const struct check *check, uint32_t sample, uint32_t samples)
{
    struct pim_arena arena;
    const int16_t *const *values = NULL;
    pim_arena_initialize(&arena, 0);
    bool *folded = PIM_ARENA_ARRAY(&arena, bool, check->graph->count);
    enum pim_status status = PIM_OK;
    if (folded) {
        find_folded(check->network, folded);
        status = pim_verify_evaluate(check->graph, folded, sample, &arena, &values, check->error);
    } else
        status = pim_fail(check->error, PIM_NO_MEMORY, "out of memory for the values of the network");
    check->result->layers = 0;
    for (uint32_t i = 0; status == PIM_OK && i < check->network->count; i++) {
        const struct pim_core_layer *layer = &check->network->layer[i];
        const struct pim_core_place *place = &check->map->map[i];
        if (place->address == PIM_CORE_NOWHERE) {
            if (layer->output)
                status = pim_fail(check->error, PIM_INTERNAL, "output %s is not in the global memory",
                                  layer->name);
            continue;
        }
        bool compared = sample + place->slots >= samples;
        if (layer->kind == PIM_CORE_INPUT || layer->graph_layer == PIM_NONE || !compared)
            continue;
        check->result->layers++;
        status = compare_layer(check, i, sample, values[layer->graph_layer]);
    }
    pim_arena_terminate(&arena);
    return status;
}

enum pim_status pim_core_check_values(const struct pim_graph *graph, const struct pim_core_mapping *mapping,
                                      const struct pim_core_memory_map *map, const struct pim_trace *trace,
                                      const struct pim_core_check_options *options,
                                      struct pim_core_check_result *result, struct pim_error *error)
{
    struct check check = {.graph = graph,
                          .network = mapping->network,
                          .partition = mapping->partition,
                          .map = map,
                          .result = result,
                          .error = error};
    const struct pim_core_execution_options execution = {
        .seed = options->seed,
        .window = options->window                   ? options->window
                  : mapping->architecture->in_order ? 1
                                                    : 0,
        .asynchronous = !mapping->architecture->synchronous,
        .local_memory_bytes = mapping->architecture->local_memory_bytes,
        .global_bytes = mapping->architecture->global_memory_bytes,
        .weight = weight,
        .context = &check};
    uint32_t widest = 1;
    for (uint32_t i = 0; i < mapping->network->count; i++)
        if (widest < mapping->network->layer[i].channels)
            widest = mapping->network->layer[i].channels;
    *result = (struct pim_core_check_result){.layers = 0};
    check.pixel = calloc(widest, ELEMENT_BYTES);
    enum pim_status status = check.pixel
                                 ? pim_core_execution_create(trace, &execution, &check.execution, error)
                                 : pim_fail(error, PIM_NO_MEMORY, "out of memory for a pixel");
    if (status == PIM_OK)
        status = write_all(&check, options->samples);
    if (status == PIM_OK)
        status = pim_core_execution_run(check.execution, error);
    if (status == PIM_OK)
        result->counts = *pim_core_execution_counts(check.execution);
    for (uint32_t sample = 0; status == PIM_OK && sample < options->samples; sample++)
        status = compare_sample(&check, sample, options->samples);
    pim_core_execution_destroy(check.execution);
    free(check.pixel);
    return status;
}
