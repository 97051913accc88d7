/*
 * Operations of several tensors, element by element: maps with maps, with smaller ones that are repeated over
 * them (NumPy's rule), with learned tensors.
 *
 * A vector over the channels of a map (squeeze and excitation) is repeated by the vector layer itself. Other
 * small tensors are repeated by a MOVE layer first.
 */
#include "mappers/pimcomp/lowering/lowering.h"
#include "mappers/verify/value.h"
#include "traces/instruction.h"

static struct pim_core_vector operation_of(enum pim_elementwise kind)
{
    static const struct {
        enum pim_elementwise elementwise;
        uint8_t operation;
    } table[] = {{PIM_ELEMENTWISE_ADD, PIM_LOCAL_ADD},
                 {PIM_ELEMENTWISE_SUBTRACT, PIM_LOCAL_SUBTRACT},
                 {PIM_ELEMENTWISE_MULTIPLY, PIM_LOCAL_MULTIPLY},
                 {PIM_ELEMENTWISE_MAXIMUM, PIM_LOCAL_MAXIMUM},
                 {PIM_ELEMENTWISE_MINIMUM, PIM_LOCAL_MINIMUM}};
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].elementwise == kind)
            return (struct pim_core_vector){.operation = table[i].operation};
    return (struct pim_core_vector){.operation = PIM_LOCAL_BINARY, .immediate = (int32_t)kind};
}

static bool is_whole(const struct pim_lowering *l, uint32_t input)
{
    return pim_shape_elements(pim_input_shape(l, input)) == pim_shape_elements(&l->layer->output);
}

/* The input has one element for each channel of a map with `axes`, and its view is one pixel of them. */
static bool is_vector(const struct pim_lowering *l, uint32_t input, const struct pim_core_view *map,
                      const struct pim_layout_axes *axes)
{
    const struct pim_core_view *view = pim_input_view(l, input);
    const struct pim_shape *shape = pim_input_shape(l, input), *wide = &l->layer->output;
    if (view->strided || view->extent[PIM_AXIS_CHANNEL] != map->extent[PIM_AXIS_CHANNEL] ||
        view->extent[PIM_AXIS_ROW] != 1 || view->extent[PIM_AXIS_COLUMN] != 1)
        return false;
    for (uint32_t d = 0; d < wide->rank; d++) {
        bool small = d < wide->rank - shape->rank || shape->dimension[d - (wide->rank - shape->rank)] == 1;
        if (wide->dimension[d] != 1 && small != (axes->axis[d] != PIM_AXIS_CHANNEL))
            return false;
    }
    return true;
}

/* Which dimension is which axis of the result: as in the first input that is as large. */
static bool choose_axes(struct pim_lowering *l, struct pim_layout_axes *axes)
{
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        if (pim_input_view(l, i)->parameter || !is_whole(l, i))
            continue;
        uint32_t tensor = l->layer->input[i];
        if (!pim_move_settle(l, tensor, PIM_LAYOUT_ANY))
            return false;
        if (pim_move_axes_of(pim_input_view(l, i), &l->layer->output, axes))
            return true;
        return pim_move_remake(l, tensor, PIM_LAYOUT_MAP) &&
               pim_move_axes_of(pim_input_view(l, i), &l->layer->output, axes);
    }
    uint32_t rank = l->layer->output.rank;
    for (uint32_t d = 0; d < rank && d < PIM_SHAPE_RANK;
         d++) { /* none: the last dimension becomes channels */
        axes->axis[d] = PIM_AXIS_ROW;
        if (d + 1 == rank)
            axes->axis[d] = PIM_AXIS_CHANNEL;
        else if (d + 2 == rank)
            axes->axis[d] = PIM_AXIS_COLUMN;
    }
    return true;
}

/* Input `input` as a map of the result's elements. */
static bool as_map(struct pim_lowering *l, uint32_t input, const struct pim_core_view *like,
                   const struct pim_layout_axes *axes, struct pim_core_view *result)
{
    uint32_t tensor = l->layer->input[input];
    if (!is_whole(l, input))
        return pim_move_broadcast(l, tensor, &l->layer->output, axes, result);
    *result = l->view[tensor];
    if (like && (result->strided || !pim_view_same(like, result, false))) {
        if (!pim_move_remake_as(l, tensor, axes))
            return false;
        *result = l->view[tensor];
    }
    return true;
}

/* Two maps, element by element, onto an ELEMENT layer; the first is the view `left`. */
static bool combine(struct pim_lowering *l, const struct pim_core_view *left, uint32_t input,
                    const struct pim_layout_axes *axes, struct pim_core_view *result)
{
    struct pim_core_view right = *pim_input_view(l, input);
    bool vector = is_vector(l, input, left, axes) && !is_whole(l, input);
    if (!vector && !as_map(l, input, left, axes, &right))
        return false;
    struct pim_core_layer *layer = pim_lower_element(l, left, operation_of(l->layer->attributes.elementwise));
    layer->sources = 2;
    layer->source[1] = pim_view_source(&right);
    layer->broadcast = vector;
    *result = l->view[l->index];
    return true;
}

/* A learned tensor has one value, or one for each channel of the map of input `map`. */
static bool per_channel(const struct pim_lowering *l, uint32_t map, uint32_t learned)
{
    unsigned mask[PIM_SHAPE_RANK];
    const struct pim_shape *wide = pim_input_shape(l, map), *shape = pim_input_shape(l, learned);
    if (pim_input_view(l, map)->strided || !pim_view_axes(pim_input_view(l, map), wide, mask) ||
        shape->rank > wide->rank)
        return false;
    for (uint32_t d = 0; d < shape->rank; d++)
        if (shape->dimension[d] != 1 && mask[wide->rank - shape->rank + d] != 1u << PIM_AXIS_CHANNEL)
            return false;
    return true;
}

/* One map, and learned or constant tensors. */
static void lower_learned(struct pim_lowering *l, uint32_t map)
{
    enum pim_elementwise kind = l->layer->attributes.elementwise;
    const struct pim_core_vector operation = {PIM_LOCAL_FUNCTION,
                                              PIM_VALUE_FUNCTION_ELEMENTWISE + (int32_t)kind};
    bool scale = kind == PIM_ELEMENTWISE_MULTIPLY || kind == PIM_ELEMENTWISE_DIVIDE;
    bool shift = kind == PIM_ELEMENTWISE_ADD || kind == PIM_ELEMENTWISE_SUBTRACT;
    if (!is_whole(l, map)) {
        struct pim_layout_axes axes = {.axis = {0}};
        struct pim_core_view view;
        if (choose_axes(l, &axes) && as_map(l, map, NULL, &axes, &view))
            (void)pim_lower_element(l, &view, operation);
        return;
    }
    if (l->layer->inputs == 2 && map == 0 && (scale || shift) && per_channel(l, 0, 1) &&
        pim_lower_affine(l, map, shift))
        return;
    pim_lower_function(l, map, operation);
}

/* What may stand first: the order of the two does not matter. */
static bool commutes(enum pim_elementwise kind)
{
    return kind == PIM_ELEMENTWISE_ADD || kind == PIM_ELEMENTWISE_MULTIPLY ||
           kind == PIM_ELEMENTWISE_MAXIMUM || kind == PIM_ELEMENTWISE_MINIMUM;
}

void pim_lower_elementwise(struct pim_lowering *l)
{
    uint32_t maps = 0, first = 0, last = 0;
    struct pim_layout_axes axes = {.axis = {0}};
    struct pim_core_view left = {.parts = 0};
    bool whole = false;
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        if (pim_input_view(l, i)->parameter)
            continue;
        /* a whole map first, so that small ones are repeated over it */
        if (maps == 0 || (!whole && is_whole(l, i) && commutes(l->layer->attributes.elementwise)))
            first = i;
        whole = whole || is_whole(l, i);
        last = i;
        maps++;
    }
    if (maps == 1) {
        lower_learned(l, first);
        return;
    }
    if (maps != l->layer->inputs) {
        pim_lowering_fail(l, "it takes several maps and a learned tensor at once");
        return;
    }
    last = first == last ? last - 1 : last;
    if (!choose_axes(l, &axes) || !as_map(l, first, NULL, &axes, &left))
        return;
    for (uint32_t i = 0; i < l->layer->inputs; i++) {
        if (i == first)
            continue;
        if (!combine(l, &left, i, &axes, &left))
            return;
        if (i != last) /* a sum of several: nothing in the graph is its intermediate result */
            l->network->layer[l->network->count - 1].graph_layer = PIM_NONE;
    }
}
