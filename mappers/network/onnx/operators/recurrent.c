/* Recurrent layers: all their steps are one layer. Initial states that the network computes are inputs. */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

/* [directions, gates * hidden, columns]; says what it must be where it is not. */
static void check_weights(struct pim_onnx_importer *i, const char *name, const struct pim_shape *shape,
                          const union pim_attributes *a, uint32_t gates, uint32_t columns)
{
    uint64_t rows = (uint64_t)gates * a->recurrent.hidden;
    if (i->status == PIM_OK && (shape->rank != 3 || shape->dimension[0] != a->recurrent.directions ||
                                shape->dimension[1] != rows || shape->dimension[2] != columns))
        pim_onnx_fail(i, "%s must be %ux%llux%u: directions, gates times hidden units, columns", name,
                      a->recurrent.directions, (unsigned long long)rows, columns);
}

/* The last step of [steps, directions, batch, hidden], as a state. */
static uint32_t last_step(struct pim_onnx_importer *i, const char *suffix, uint32_t layer, bool batch_first)
{
    static const uint32_t order[3] = {1, 0, 2};
    const struct pim_shape all = pim_onnx_shape_of(i, layer);
    const struct pim_shape state = {.rank = 3,
                                    .dimension = {all.dimension[1], all.dimension[2], all.dimension[3]}};
    const union pim_attributes a = {
        .slice = {.axis = 0, .begin = all.dimension[0] ? all.dimension[0] - 1 : 0, .count = 1, .step = 1}};
    layer = pim_onnx_add(i, PIM_OPERATOR_SLICE, suffix, &a, 1, &layer);
    layer = pim_onnx_reshape(i, "state", layer, &state);
    return batch_first ? pim_onnx_transpose(i, "batch", layer, order) : layer;
}

void pim_onnx_convert_recurrent(struct pim_onnx_importer *i, unsigned kind)
{
    static const uint32_t gates[PIM_RECURRENTS] = {
        [PIM_RECURRENT_PLAIN] = 1, [PIM_RECURRENT_GRU] = 3, [PIM_RECURRENT_LSTM] = 4};
    static const uint32_t steps_first[3] = {1, 0, 2}, batch_first[4] = {2, 0, 1, 3};
    const struct pim_shape w = pim_onnx_input(i, 1)->shape, r = pim_onnx_input(i, 2)->shape;
    bool lstm = kind == PIM_RECURRENT_LSTM, batch = pim_onnx_integer(i, "layout", 0) != 0;
    uint32_t inputs[3] = {pim_onnx_layer_of(i, pim_onnx_input(i, 0)), 0, 0}, count = 1;
    union pim_attributes a = {
        .recurrent = {.kind = (enum pim_recurrent)kind,
                      .hidden = r.rank == 3 ? r.dimension[2] : 0,
                      .directions = pim_onnx_text_is(i, "direction", "bidirectional") ? 2 : 1,
                      .bias = pim_onnx_optional_input(i, 3) != NULL,
                      .peepholes = lstm && pim_onnx_optional_input(i, 7) != NULL}};
    if (i->status == PIM_OK && pim_onnx_shape_of(i, inputs[0]).rank != 3)
        pim_onnx_fail(i, "its input must be [steps, batch, inputs]");
    if (i->status != PIM_OK)
        return;
    if (batch)
        inputs[0] = pim_onnx_transpose(i, "steps", inputs[0], steps_first);
    check_weights(i, "W", &w, &a, gates[kind], pim_onnx_shape_of(i, inputs[0]).dimension[2]);
    check_weights(i, "R", &r, &a, gates[kind], a.recurrent.hidden);
    for (size_t n = 5; n < (lstm ? 7 : 6) && i->status == PIM_OK; n++) {
        struct pim_onnx_value *state = pim_onnx_optional_input(i, n);
        if (state && state->kind == PIM_ONNX_ACTIVATION)
            inputs[count++] = pim_onnx_layer_of(i, state);
    }
    uint32_t layer = pim_onnx_add(i, PIM_OPERATOR_RECURRENT, "", &a, count, inputs);
    if (pim_onnx_is_read(i, 0))
        pim_onnx_bind_layer(i, 0, batch ? pim_onnx_transpose(i, "batch", layer, batch_first) : layer);
    if (pim_onnx_is_read(i, 1))
        pim_onnx_bind_layer(i, 1, last_step(i, "last", layer, batch));
    if (pim_onnx_is_read(i, 2)) /* the cells: of the outputs' shape, and made by the same products */
        pim_onnx_bind_layer(i, 2, last_step(i, "cells", layer, batch));
}
