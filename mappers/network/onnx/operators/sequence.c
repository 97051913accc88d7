/*
 * Sequences: lists of tensors, whose length is known wherever nothing but shapes decides it. They are no
 * layers: a list is the values in it, and what takes one out is the same as that value.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <string.h>

enum { MOST_PARTS = 1 << 20 }; /* in all lists of a file */

/* Room for a list of `count`, which output 0 is then bound to. */
static struct pim_onnx_value *begin_list(struct pim_onnx_importer *i, uint64_t count)
{
    if (i->status == PIM_OK && (count > PIM_LAYER_INPUTS || i->parts + count > MOST_PARTS))
        pim_onnx_fail(i, "a list of %llu tensors: at most %d, and %d in all lists, are possible",
                      (unsigned long long)count, PIM_LAYER_INPUTS, MOST_PARTS);
    if (i->status != PIM_OK)
        return NULL;
    i->parts += count;
    struct pim_onnx_value *part = PIM_ARENA_ARRAY(&i->scratch, struct pim_onnx_value, (size_t)count + 1);
    if (!part)
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
    return part;
}

/* A tensor for a list: what is computed has its layer from here on, so that all copies are the same. */
static struct pim_onnx_value list_entry(struct pim_onnx_importer *i, size_t index)
{
    struct pim_onnx_value *value = pim_onnx_input(i, index);
    if (value->kind == PIM_ONNX_ACTIVATION)
        (void)pim_onnx_layer_of(i, value);
    else if (value->kind == PIM_ONNX_SEQUENCE)
        pim_onnx_fail(i, "lists of lists are not supported");
    return *value;
}

/* Input `index`, a list. */
static const struct pim_onnx_value *list_input(struct pim_onnx_importer *i, size_t index)
{
    const struct pim_onnx_value *value = pim_onnx_input(i, index);
    if (i->status == PIM_OK && value->kind != PIM_ONNX_SEQUENCE)
        pim_onnx_fail(i, "input %zu, \"%s\", is no list of tensors", index, value->name);
    return value;
}

/* The constant position that input `index` gives, counted from the end when negative; `otherwise` where it is
 * left out. */
static uint32_t position(struct pim_onnx_importer *i, size_t index, uint32_t count, uint32_t otherwise)
{
    const struct pim_onnx_value *value = pim_onnx_optional_input(i, index);
    if (!value)
        return otherwise;
    double number = 0;
    if (!pim_onnx_scalar(value, &number))
        pim_onnx_fail(i, "the place in the list must be a constant");
    number += number < 0 ? count : 0;
    if (i->status == PIM_OK && !(number >= 0 && number < count))
        pim_onnx_fail(i, "place %g does not exist: the list has %u tensors", number, count);
    return i->status == PIM_OK ? (uint32_t)number : 0;
}

void pim_onnx_convert_list(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *part = begin_list(i, i->node->n_input);
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++)
        part[n] = list_entry(i, n);
    pim_onnx_bind_list(i, part, (uint32_t)i->node->n_input);
}

/* Without `erase`: tensor 1 before place 2; otherwise place 1 is left out. */
void pim_onnx_convert_list_change(struct pim_onnx_importer *i, unsigned erase)
{
    const struct pim_onnx_value *list = list_input(i, 0);
    uint32_t count = list->parts, kept = 0;
    struct pim_onnx_value *part = begin_list(i, (uint64_t)count + 1);
    if (i->status == PIM_OK && erase && count == 0)
        pim_onnx_fail(i, "the list has no tensor to leave out");
    uint32_t at = erase ? position(i, 1, count, count - 1) : position(i, 2, count + 1, count);
    for (uint32_t n = 0; n <= count && i->status == PIM_OK; n++) {
        if (!erase && n == at)
            part[kept++] = list_entry(i, 1);
        if (n < count && !(erase && n == at))
            part[kept++] = list->part[n];
    }
    pim_onnx_bind_list(i, part, kept);
}

void pim_onnx_convert_list_place(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_onnx_value *list = list_input(i, 0);
    uint32_t at = position(i, 1, list->parts, 0);
    if (i->status == PIM_OK && list->parts == 0)
        pim_onnx_fail(i, "the list is empty");
    if (i->status == PIM_OK)
        pim_onnx_bind_same(i, 0, &list->part[at]);
}

void pim_onnx_convert_list_length(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    static const struct pim_shape scalar = {.rank = 0};
    int64_t *count = pim_arena_require_array(&i->scratch, 1, sizeof *count, _Alignof(int64_t));
    *count = list_input(i, 0)->parts;
    pim_onnx_bind_constant(i, 0, &scalar, count, NULL);
}

/* Pieces along an axis: of a size, of given sizes, or of one position each (whose dimension may go). */
void pim_onnx_convert_split_list(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    struct pim_onnx_value *input = pim_onnx_input(i, 0);
    const struct pim_onnx_value *sizes = pim_onnx_optional_input(i, 1);
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), input->shape.rank);
    uint32_t whole = input->shape.rank ? input->shape.dimension[axis] : 0;
    int64_t list[PIM_LAYER_INPUTS] = {1};
    uint32_t given = pim_onnx_list(i, NULL, 1, list, PIM_LAYER_INPUTS, NULL);
    bool each = !sizes || sizes->shape.rank == 0, drop = !sizes && pim_onnx_integer(i, "keepdims", 1) == 0;
    if (i->status == PIM_OK && (list[0] < 1 || whole == 0))
        pim_onnx_fail(i, "its pieces must have a position at least");
    if (i->status != PIM_OK)
        return;
    uint64_t count = each ? (whole + (uint64_t)list[0] - 1) / (uint64_t)list[0] : given;
    struct pim_onnx_value *part = begin_list(i, count);
    uint32_t layer = pim_onnx_layer_of(i, input);
    int64_t begin = 0;
    for (uint32_t n = 0; n < count && i->status == PIM_OK; n++) {
        int64_t size = each ? list[0] : list[n], left = (int64_t)whole - begin;
        size = each && size > left ? left : size;
        if (size < 1 || size > left) {
            pim_onnx_fail(i, "piece %u has %lld of the %u positions", n, (long long)size, whole);
            return;
        }
        const union pim_attributes a = {
            .slice = {.axis = axis, .begin = (uint32_t)begin, .count = (uint32_t)size, .step = 1}};
        uint32_t piece = pim_onnx_add(i, PIM_OPERATOR_SLICE, "piece", &a, 1, &layer);
        struct pim_shape shape = pim_onnx_shape_of(i, piece);
        if (drop && shape.rank) {
            memmove(&shape.dimension[axis], &shape.dimension[axis + 1],
                    (shape.rank - axis - 1) * sizeof *shape.dimension);
            shape.rank--;
            piece = pim_onnx_reshape(i, "drop", piece, &shape);
        }
        part[n] = (struct pim_onnx_value){.name = input->name,
                                          .kind = PIM_ONNX_ACTIVATION,
                                          .shape = shape,
                                          .layer = piece,
                                          .linear = PIM_NONE,
                                          .maker = PIM_NONE};
        begin += size;
    }
    pim_onnx_bind_list(i, part, (uint32_t)count);
}

/* All tensors of a list along an axis, which may be a new one. */
void pim_onnx_convert_join_list(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    const struct pim_onnx_value *list = list_input(i, 0);
    uint32_t layers[PIM_LAYER_INPUTS] = {0}, count = 0;
    bool fresh = pim_onnx_integer(i, "new_axis", 0) != 0;
    if (i->status == PIM_OK && list->parts == 0)
        pim_onnx_fail(i, "the list is empty");
    if (i->status != PIM_OK)
        return;
    uint32_t rank = list->part[0].shape.rank + (fresh ? 1 : 0),
             axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), rank);
    for (uint32_t n = 0; n < list->parts && n < PIM_LAYER_INPUTS && i->status == PIM_OK; n++) {
        struct pim_onnx_value part = list->part[n];
        struct pim_shape shape = part.shape;
        layers[count] = pim_onnx_layer_of(i, &part);
        if (fresh && shape.rank + 1 == rank && rank <= PIM_SHAPE_RANK) {
            memmove(&shape.dimension[axis + 1], &shape.dimension[axis],
                    (shape.rank - axis) * sizeof *shape.dimension);
            shape.dimension[axis] = 1;
            shape.rank++;
            layers[count] = pim_onnx_reshape(i, "fresh", layers[count], &shape);
        }
        count++;
    }
    const union pim_attributes a = {.concat = {.axis = axis}};
    pim_onnx_bind_layer(i, 0, pim_onnx_add(i, PIM_OPERATOR_CONCAT, "", &a, count, layers));
}
