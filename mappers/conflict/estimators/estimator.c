/* Networks that estimate latencies; see estimator.h. */
#include "mappers/conflict/estimators/estimator.h"

#include "mappers/learn/elementary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double readout[] = {2, 1};

const char *pim_tile_estimator_name(unsigned kind)
{
    static const char *const names[] = {
#define X(name, text, what) text,
        PIM_TILE_ESTIMATOR_MAP(X)
#undef X
    };
    return kind < PIM_TILE_ESTIMATORS ? names[kind] : NULL;
}

static size_t numbers_of(enum pim_tile_estimator_kind kind)
{
    return kind == PIM_TILE_MLP_CONFLICTS ? PIM_TILE_EDGE_NUMBERS + PIM_TILE_CONFLICT_NUMBERS
                                          : PIM_TILE_EDGE_NUMBERS;
}

enum pim_status pim_tile_estimator_make(struct pim_tile_estimator *estimator,
                                        enum pim_tile_estimator_kind kind, uint32_t edges,
                                        struct pim_error *error)
{
    static const struct pim_neural_layer convolutions[] = {
        {.inputs = PIM_TILE_EDGE_NUMBERS, .outputs = 16, .convolve = true, .relu = true},
        {.inputs = 16, .outputs = 16, .convolve = true, .relu = true, .dropout = 0.5},
        {.inputs = 16, .outputs = 16, .convolve = true, .relu = true},
        {.inputs = 16, .outputs = 2}};
    const struct pim_neural_layer dense[] = {
        {.inputs = edges * numbers_of(kind), .outputs = 32, .relu = true},
        {.inputs = 32, .outputs = 16, .relu = true},
        {.inputs = 16, .outputs = 1}};
    bool graph = kind == PIM_TILE_GCN;
    *estimator = (struct pim_tile_estimator){.kind = kind, .deviation = 1};
    estimator->layers = graph ? sizeof convolutions / sizeof convolutions[0] : sizeof dense / sizeof dense[0];
    memcpy(estimator->layer, graph ? convolutions : dense, estimator->layers * sizeof dense[0]);
    estimator->parameters = pim_layers_parameters(estimator->layer, estimator->layers);
    estimator->parameter = calloc(estimator->parameters, sizeof *estimator->parameter);
    if (!estimator->parameter)
        return pim_fail(error, PIM_NO_MEMORY, "no memory for an estimator of %" PRIu32 " edges", edges);
    return PIM_OK;
}

void pim_tile_estimator_terminate(struct pim_tile_estimator *estimator)
{
    free(estimator->parameter);
    *estimator = (struct pim_tile_estimator){0};
}

struct pim_tile_estimation {
    const struct pim_tile_estimator *estimator;
    struct pim_tile_view *view;
    struct pim_pass *pass;
    double *vector, *slopes; /* inputs of a dense network; of the outputs of a graph network */
    const double *output;
};

struct pim_tile_estimation *pim_tile_estimation_create(const struct pim_tile_setting *setting,
                                                       const struct pim_tile_estimator *estimator)
{
    struct pim_tile_estimation *estimation = calloc(1, sizeof *estimation);
    size_t edges = setting->graph->edges, rows = estimator->kind == PIM_TILE_GCN ? edges : 1;
    if (!estimation)
        return NULL;
    estimation->estimator = estimator;
    estimation->view = pim_tile_view_create(setting);
    estimation->pass = pim_pass_create(estimator->layer, estimator->layers, rows);
    estimation->vector = calloc(edges * (PIM_TILE_EDGE_NUMBERS + PIM_TILE_CONFLICT_NUMBERS), sizeof(double));
    estimation->slopes = calloc(edges * 2, sizeof(double));
    if (estimation->view && estimation->pass && estimation->vector && estimation->slopes)
        return estimation;
    pim_tile_estimation_destroy(estimation);
    return NULL;
}

void pim_tile_estimation_destroy(struct pim_tile_estimation *estimation)
{
    if (!estimation)
        return;
    pim_tile_view_destroy(estimation->view);
    pim_pass_destroy(estimation->pass);
    free(estimation->vector);
    free(estimation->slopes);
    free(estimation);
}

/* The numbers of an edge stand together, its conflicts behind its own. */
static const double *flatten(struct pim_tile_estimation *estimation)
{
    const struct pim_tile_view *view = estimation->view;
    double *to = estimation->vector;
    if (estimation->estimator->kind == PIM_TILE_MLP)
        return view->edge;
    for (size_t e = 0; e < view->conflicts.rows; e++) {
        memcpy(to, view->edge + e * PIM_TILE_EDGE_NUMBERS, PIM_TILE_EDGE_NUMBERS * sizeof *to);
        to += PIM_TILE_EDGE_NUMBERS;
        memcpy(to, view->crowd + e * PIM_TILE_CONFLICT_NUMBERS, PIM_TILE_CONFLICT_NUMBERS * sizeof *to);
        to += PIM_TILE_CONFLICT_NUMBERS;
    }
    return estimation->vector;
}

double pim_tile_estimation_output(struct pim_tile_estimation *estimation, const uint32_t *place,
                                  const unsigned char *const *mask)
{
    const struct pim_tile_estimator *estimator = estimation->estimator;
    struct pim_tile_view *view = estimation->view;
    bool graph = estimator->kind == PIM_TILE_GCN;
    pim_tile_view_look(view, place);
    estimation->output =
        pim_forward(estimation->pass, estimator->parameter, graph ? view->conflicts.rows : 1,
                    graph ? view->edge : flatten(estimation), graph ? &view->conflicts : NULL, mask);
    return graph ? pim_read_out(PIM_READOUT_MAXIMUM, view->conflicts.rows, 2, readout, estimation->output)
                 : estimation->output[0];
}

void pim_tile_estimation_gradient(struct pim_tile_estimation *estimation, double slope, double *gradient)
{
    const struct pim_tile_estimator *estimator = estimation->estimator;
    if (estimator->kind == PIM_TILE_GCN)
        pim_read_out_gradient(PIM_READOUT_MAXIMUM, estimation->view->conflicts.rows, 2, readout,
                              estimation->output, slope, estimation->slopes);
    else
        estimation->slopes[0] = slope;
    pim_backward(estimation->pass, estimator->parameter, estimation->slopes, gradient, NULL);
}

double pim_tile_estimation_latency(struct pim_tile_estimation *estimation, const uint32_t *place)
{
    const struct pim_tile_estimator *estimator = estimation->estimator;
    double output = pim_tile_estimation_output(estimation, place, NULL);
    return pim_exponential(estimator->mean + estimator->deviation * output);
}
