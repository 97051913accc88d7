/*
 * What the files of the lowering share: tensors of the graph as views of maps.
 *
 * A view says where the elements of a tensor are: in channels of maps of lowered layers. The elements of the
 * tensor in row-major order are those of the map with its axes in `order`, outermost first; its shape only
 * groups them. So reshape and flatten change nothing, a transposition permutes the order, and a tensor whose
 * dimensions cut through an axis shows by not being a product of whole axes.
 */
#ifndef PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWERING_H
#define PIMSIM_MAPPERS_PIMCOMP_LOWERING_LOWERING_H

#include "mappers/pimcomp/representation/pimcomp.h"

enum pim_core_axis { PIM_AXIS_CHANNEL, PIM_AXIS_ROW, PIM_AXIS_COLUMN, PIM_AXES };

/* A dimension of a tensor, or a factor of one: `extent` positions, `stride` apart along an axis of the maps.
 * Stride 0 repeats, a negative one goes back. */
struct pim_core_atom {
    uint8_t axis; /* enum pim_core_axis */
    uint32_t extent;
    int32_t stride;
};

/* A tensor that only begins to move: its elements in row-major order are those of the atoms, outermost first,
 * from `origin` on. No atom has extent 1. */
enum { PIM_VIEW_ATOMS = 16 };
struct pim_core_strides {
    uint32_t atoms;
    struct pim_core_atom atom[PIM_VIEW_ATOMS];
    int32_t origin[PIM_AXES];
};

struct pim_core_view {
    bool parameter; /* a learned tensor: no map, the rest is 0 */
    bool sole;      /* nothing else reads this map: what follows may be fused into its layer */
    uint32_t parts;
    const struct pim_core_part *part;
    uint32_t extent[PIM_AXES];              /* channels, height, width */
    uint8_t order[PIM_AXES];                /* enum pim_core_axis */
    const struct pim_core_strides *strided; /* not NULL: only some elements, or in another order: `order` says
                                               nothing, and who computes with it settles it first */
};

/* State of one lowering. Conversions fail by pim_lowering_fail(), which keeps the first failure. */
struct pim_lowering {
    const struct pim_graph *graph;
    struct pim_arena *arena;
    struct pim_core_network *network;
    uint32_t capacity;          /* of network->layer */
    struct pim_core_view *view; /* by layer of the graph */
    uint32_t *readers;          /* by layer of the graph: inputs of layers that name it */
    uint32_t index;             /* layer of the graph at work */
    const struct pim_layer *layer;
    enum pim_status status;
    struct pim_error *error;
};

/* Fails with "layer NAME (OPERATOR): message"; false, as callers answer then. */
bool pim_lowering_fail(struct pim_lowering *l, const char *format, ...) PIM_PRINTF(2, 3);
bool pim_lowering_no_memory(struct pim_lowering *l);

/* Input `input` of the layer at work. */
static inline const struct pim_shape *pim_input_shape(const struct pim_lowering *l, uint32_t input)
{
    return &l->graph->layers[l->layer->input[input]].output;
}

static inline struct pim_core_view *pim_input_view(const struct pim_lowering *l, uint32_t input)
{
    return &l->view[l->layer->input[input]];
}

/* --- views (lowering/view.c) --- */

/* Which axes each dimension of `shape` consists of, as bits; axes of extent 1 belong to none. False when a
 * dimension cuts through an axis. */
bool pim_view_axes(const struct pim_core_view *view, const struct pim_shape *shape,
                   unsigned mask[PIM_SHAPE_RANK]);

/* The last dimension is exactly the channels of a pixel. */
bool pim_view_channels_last(const struct pim_core_view *view, const struct pim_shape *shape);

/* The axes of both have the same extents and follow each other in the same order. `channels`: those may
 * differ. */
bool pim_view_same(const struct pim_core_view *a, const struct pim_core_view *b, bool channels);

/* The view's elements as an input of a lowered layer. */
struct pim_core_source pim_view_source(const struct pim_core_view *view);

/* The whole output of lowered layer `layer`, its axes in `order` (NULL: channels, rows, columns). */
struct pim_core_view pim_view_of_layer(struct pim_lowering *l, uint32_t layer, const uint8_t *order);

/* Brings input 0 of the layer at work, a tensor [1, channels, height, width], into a source; says why
 * not by failing. */
bool pim_view_map(struct pim_lowering *l, struct pim_core_source *source);

/* Maps joined along their channels: the view; false when it is something else, or failed. */
bool pim_view_concatenate(struct pim_lowering *l, struct pim_core_view *result);

/* --- moves (lowering/move.c) --- */

/* Which dimensions of a tensor become the axes of the map that it is moved into. */
enum pim_axes_layout {
    PIM_LAYOUT_MAP,  /* [1, channels, height, width] */
    PIM_LAYOUT_LAST, /* the last dimension: channels of pixels */
    PIM_LAYOUT_ANY   /* as in the maps behind it, if that can be */
};
struct pim_layout_axes {
    uint8_t axis[PIM_SHAPE_RANK]; /* of each dimension; those of one axis follow each other */
};

/* False after a failure. `tensor` is a layer of the graph; its view is whole axes of maps afterwards. */
bool pim_move_settle(struct pim_lowering *l, uint32_t tensor, enum pim_axes_layout layout); /* if it must */
bool pim_move_remake(struct pim_lowering *l, uint32_t tensor, enum pim_axes_layout layout); /* in any case */
bool pim_move_remake_as(struct pim_lowering *l, uint32_t tensor, const struct pim_layout_axes *axes);
/* A map of `shape` by `axes` in which a smaller tensor is repeated by NumPy's rule; no graph layer's. */
bool pim_move_broadcast(struct pim_lowering *l, uint32_t tensor, const struct pim_shape *shape,
                        const struct pim_layout_axes *axes, struct pim_core_view *result);
/* The axis of each dimension of a settled view; false: a dimension is of several. */
bool pim_move_axes_of(const struct pim_core_view *view, const struct pim_shape *shape,
                      struct pim_layout_axes *axes);
/* The layer at work, which moves data: sets its view; false: it is another operator. */
bool pim_lower_moves(struct pim_lowering *l);
/* Appends an atom, unless it has one position; false: there are too many. */
bool pim_strides_put(struct pim_core_strides *strides, uint8_t axis, uint32_t extent, int64_t stride);
/* The strides of a view, cut so that dimension d of `shape` is atoms [first[d], first[d + 1]); false: that
 * cannot be. */
bool pim_move_split(const struct pim_core_view *view, const struct pim_shape *shape,
                    struct pim_core_strides *strides, uint32_t first[PIM_SHAPE_RANK + 1]);
/* A copy of a view whose dimension d steps stride[d] along axes->axis[d] of a map of `channels` and `pixels`:
 * a MOVE layer of no tensor of the graph; NULL after a failure. */
struct pim_core_layer *pim_move_into(struct pim_lowering *l, const struct pim_core_view *view,
                                     const struct pim_shape *shape, const struct pim_layout_axes *axes,
                                     const uint64_t stride[PIM_SHAPE_RANK], uint32_t channels,
                                     uint32_t pixels);
/* A tensor with dimensions of 1 repeated up to those of `shape`. */
bool pim_move_expand(struct pim_lowering *l, const struct pim_core_view *view, const struct pim_shape *from,
                     const struct pim_shape *to, struct pim_core_view *result);
/* The strides of a view, and a view by strides (settled at once where they are whole axes). */
void pim_move_strides(const struct pim_core_view *view, struct pim_core_strides *strides);
bool pim_move_view(struct pim_lowering *l, const struct pim_core_view *of,
                   const struct pim_core_strides *strides, struct pim_core_view *result);

/* --- layers (lower.c) --- */

/* Element of a tensor at a position of its settled view: sum of element[axis] * position on the axis. */
void pim_view_elements(const struct pim_core_view *view, uint64_t element[PIM_AXES]);

/* Appends a layer, named after the layer of the graph at work, which makes its output. */
struct pim_core_layer *pim_lowering_add(struct pim_lowering *l, enum pim_core_layer_kind kind,
                                        uint32_t channels, uint32_t height, uint32_t width);

/* --- operators with arithmetic (lowering/convert.c): they set the view of the layer at work --- */

void pim_lower_arithmetic(struct pim_lowering *l);

/* An ELEMENT layer of one source, not joined to anything. */
struct pim_core_layer *pim_lower_element(struct pim_lowering *l, const struct pim_core_view *view,
                                         struct pim_core_vector operation);
/* A function of each element of input `input`. */
void pim_lower_function(struct pim_lowering *l, uint32_t input, struct pim_core_vector operation);
/* Scale and shift for each channel of input `input`; false: there is no matrix that takes them in. */
bool pim_lower_affine(struct pim_lowering *l, uint32_t input, bool shift);

/* --- products of two activations (lowering/product.c) --- */

void pim_lower_product(struct pim_lowering *l);
/* A view whose channels are several blocks with other dimensions between them, of all of one layer: the
 * channels of a block, and the view again for another layer of the same map. */
bool pim_view_is_blocked(const struct pim_lowering *l, const struct pim_core_view *view, uint32_t *channels);
struct pim_core_view pim_view_like(struct pim_lowering *l, const struct pim_core_view *view, uint32_t layer);
/* Strides of a view for the elements of the layer behind it (tensor_stride). */
void pim_view_set_tensor(const struct pim_core_view *view, struct pim_core_layer *layer);

/* --- operations of several tensors (lowering/elementwise.c) --- */

void pim_lower_elementwise(struct pim_lowering *l);

#endif
