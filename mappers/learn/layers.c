#include "mappers/learn/layers.h"

#include "mappers/learn/elementary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t pim_layers_parameters(const struct pim_neural_layer *layers, size_t count)
{
    size_t total = 0;
    for (size_t l = 0; l < count; l++)
        total += (layers[l].inputs + 1) * layers[l].outputs;
    return total;
}

void pim_layers_initialize(const struct pim_neural_layer *layers, size_t count, struct pim_random *random,
                           double *parameters)
{
    for (size_t l = 0; l < count; l++) {
        size_t weights = layers[l].inputs * layers[l].outputs;
        double bound = sqrt(6.0 / (double)(layers[l].inputs + layers[l].outputs));
        for (size_t i = 0; i < weights; i++)
            *parameters++ = bound * (2 * pim_random_unit(random) - 1);
        for (size_t i = 0; i < layers[l].outputs; i++)
            *parameters++ = 0;
    }
}

struct pim_pass {
    const struct pim_neural_layer *layers;
    size_t count, rows, used;
    const double *inputs;
    const struct pim_sparse *graph;
    const unsigned char *const *masks;
    double **output;    /* of each layer, after ReLU and dropout */
    double *transposed; /* weights of one layer, inputs x outputs */
    double *product;    /* rows x widest layer: before the propagation */
    double *upper, *lower;
};

static bool allocate(struct pim_pass *pass)
{
    size_t widest = 1, weights = 1;
    pass->output = calloc(pass->count, sizeof *pass->output);
    if (!pass->output)
        return false;
    for (size_t l = 0; l < pass->count; l++) {
        const struct pim_neural_layer *layer = &pass->layers[l];
        assert(l == 0 || layer->inputs == pass->layers[l - 1].outputs);
        widest = layer->outputs > widest ? layer->outputs : widest;
        widest = layer->inputs > widest ? layer->inputs : widest;
        weights = layer->inputs * layer->outputs > weights ? layer->inputs * layer->outputs : weights;
        pass->output[l] = calloc(pass->rows * layer->outputs + 1, sizeof(double));
        if (!pass->output[l])
            return false;
    }
    pass->transposed = calloc(weights, sizeof(double));
    pass->product = calloc(pass->rows * widest + 1, sizeof(double));
    pass->upper = calloc(pass->rows * widest + 1, sizeof(double));
    pass->lower = calloc(pass->rows * widest + 1, sizeof(double));
    return pass->transposed && pass->product && pass->upper && pass->lower;
}

struct pim_pass *pim_pass_create(const struct pim_neural_layer *layers, size_t count, size_t rows)
{
    assert(count > 0);
    struct pim_pass *pass = calloc(1, sizeof *pass);
    if (!pass)
        return NULL;
    pass->layers = layers;
    pass->count = count;
    pass->rows = rows;
    if (!allocate(pass)) {
        pim_pass_destroy(pass);
        return NULL;
    }
    return pass;
}

void pim_pass_destroy(struct pim_pass *pass)
{
    if (!pass)
        return;
    for (size_t l = 0; pass->output && l < pass->count; l++)
        free(pass->output[l]);
    free(pass->output);
    free(pass->transposed);
    free(pass->product);
    free(pass->upper);
    free(pass->lower);
    free(pass);
}

/* --- forward --- */

static void activate(const struct pim_neural_layer *layer, size_t rows, const unsigned char *mask,
                     double *output)
{
    for (size_t i = 0; i < rows * layer->outputs; i++) {
        if (layer->relu && !(output[i] > 0))
            output[i] = 0;
        if (mask)
            output[i] = mask[i] ? output[i] / (1 - layer->dropout) : 0;
    }
}

const double *pim_forward(struct pim_pass *pass, const double *parameters, size_t rows, const double *inputs,
                          const struct pim_sparse *graph, const unsigned char *const *masks)
{
    assert(rows <= pass->rows && (!graph || graph->rows == rows));
    pass->inputs = inputs;
    pass->graph = graph;
    pass->masks = masks;
    pass->used = rows;
    const double *from = inputs;
    for (size_t l = 0; l < pass->count; l++) {
        const struct pim_neural_layer *layer = &pass->layers[l];
        const double *bias = parameters + layer->inputs * layer->outputs;
        double *output = pass->output[l], *product = layer->convolve ? pass->product : output;
        assert(!layer->convolve || graph);
        pim_transpose(layer->outputs, layer->inputs, parameters, pass->transposed);
        memset(product, 0, rows * layer->outputs * sizeof *product);
        pim_multiply_add(rows, layer->outputs, layer->inputs, from, pass->transposed, product);
        if (layer->convolve) {
            memset(output, 0, rows * layer->outputs * sizeof *output);
            pim_sparse_multiply_add(graph, layer->outputs, product, output);
        }
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < layer->outputs; j++)
                output[i * layer->outputs + j] += bias[j];
        }
        activate(layer, rows, masks ? masks[l] : NULL, output);
        from = output;
        parameters = bias + layer->outputs;
    }
    return from;
}

/* --- backward --- */

/* d loss / d Z in place of d loss / d output. A dropped or clipped output is 0, and 0 is no output of a ReLU
 * that passes its gradient on. */
static void pass_activation(const struct pim_neural_layer *layer, size_t rows, const unsigned char *mask,
                            const double *output, double *gradient)
{
    for (size_t i = 0; i < rows * layer->outputs; i++) {
        if (mask)
            gradient[i] = mask[i] ? gradient[i] / (1 - layer->dropout) : 0;
        if (layer->relu && !(output[i] > 0))
            gradient[i] = 0;
    }
}

void pim_backward(struct pim_pass *pass, const double *parameters, const double *output_gradient,
                  double *gradient, double *input_gradient)
{
    size_t rows = pass->used, end = pim_layers_parameters(pass->layers, pass->count);
    double *upper = pass->upper, *lower = pass->lower;
    memcpy(upper, output_gradient, rows * pass->layers[pass->count - 1].outputs * sizeof *upper);
    for (size_t l = pass->count; l-- > 0;) {
        const struct pim_neural_layer *layer = &pass->layers[l];
        const double *from = l > 0 ? pass->output[l - 1] : pass->inputs;
        pass_activation(layer, rows, pass->masks ? pass->masks[l] : NULL, pass->output[l], upper);
        double *bias = gradient + end - layer->outputs;
        end -= (layer->inputs + 1) * layer->outputs;
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < layer->outputs; j++)
                bias[j] += upper[i * layer->outputs + j];
        }
        double *product = upper; /* d loss / d (H W^T): P is symmetric */
        if (layer->convolve) {
            product = pass->product;
            memset(product, 0, rows * layer->outputs * sizeof *product);
            pim_sparse_multiply_add(pass->graph, layer->outputs, upper, product);
        }
        pim_multiply_transposed_add(layer->outputs, layer->inputs, rows, product, from, gradient + end);
        if (l == 0 && !input_gradient)
            return;
        double *target = l == 0 ? input_gradient : lower;
        memset(target, 0, rows * layer->inputs * sizeof *target);
        pim_multiply_add(rows, layer->inputs, layer->outputs, product, parameters + end, target);
        lower = upper;
        upper = target;
    }
}

/* --- losses --- */

double pim_loss_squared(size_t count, const double *output, const double *target, double *gradient)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = output[i] - target[i];
        sum += difference * difference;
        if (gradient)
            gradient[i] = 2 * difference / (double)count;
    }
    return sum / (double)count;
}

double pim_loss_logistic(size_t count, const double *output, const double *target, double *gradient)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double z = output[i], small = pim_exponential(-fabs(z));
        sum += (z > 0 ? z : 0) - z * target[i] + pim_logarithm(1 + small);
        if (gradient) {
            double sigmoid = z >= 0 ? 1 / (1 + small) : small / (1 + small);
            gradient[i] = (sigmoid - target[i]) / (double)count;
        }
    }
    return sum / (double)count;
}

static double score(size_t outputs, const double *weights, const double *output)
{
    double sum = 0;
    for (size_t j = 0; j < outputs; j++)
        sum += weights[j] * output[j];
    return sum;
}

static size_t best_vertex(size_t vertices, size_t outputs, const double *weights, const double *output)
{
    size_t best = 0;
    for (size_t i = 1; i < vertices; i++) {
        if (score(outputs, weights, output + i * outputs) > score(outputs, weights, output + best * outputs))
            best = i;
    }
    return best;
}

double pim_read_out(enum pim_readout readout, size_t vertices, size_t outputs, const double *weights,
                    const double *output)
{
    if (readout == PIM_READOUT_MAXIMUM)
        return score(outputs, weights, output + best_vertex(vertices, outputs, weights, output) * outputs);
    double sum = 0;
    for (size_t i = 0; i < vertices; i++)
        sum += score(outputs, weights, output + i * outputs);
    return sum / (double)vertices;
}

void pim_read_out_gradient(enum pim_readout readout, size_t vertices, size_t outputs, const double *weights,
                           const double *output, double scale, double *gradient)
{
    bool maximum = readout == PIM_READOUT_MAXIMUM;
    size_t best = maximum ? best_vertex(vertices, outputs, weights, output) : 0;
    for (size_t i = 0; i < vertices; i++) {
        for (size_t j = 0; j < outputs; j++) {
            double share = maximum ? (i == best ? 1 : 0) : 1 / (double)vertices;
            gradient[i * outputs + j] = scale * share * weights[j];
        }
    }
}
