/*
 * Folding of what depends on constants alone: the arithmetic by which a network computes shapes and indices,
 * and the reshaping and rearranging of weights, of which only shapes are known.
 *
 * A result has contents when all its inputs have and it is small (PIM_ONNX_CONTENTS); otherwise it is a
 * constant of known shape. Whole numbers stay whole (64 bits, wrapping as the format's integers do), others
 * are doubles.
 */
#include "mappers/network/onnx/fold.h"
#include "onnx.pb-c.h"

#include <math.h>
#include <string.h>

/* Checks the shape and makes room for contents: of whole numbers, or not; none when `known` is false. */
bool pim_fold_make_room(struct pim_onnx_importer *i, struct pim_fold *r, bool known, bool whole)
{
    uint64_t elements = 1;
    bool empty = false;
    for (uint32_t d = 0; d < r->shape.rank; d++)
        empty |= r->shape.dimension[d] == 0;
    for (uint32_t d = 0; d < r->shape.rank && !empty; d++) {
        if (elements > PIM_ELEMENT_LIMIT / r->shape.dimension[d]) {
            pim_onnx_fail(i, "a constant of more than %llu elements", (unsigned long long)PIM_ELEMENT_LIMIT);
            return false;
        }
        elements *= r->shape.dimension[d];
    }
    if (i->status != PIM_OK || !known || elements > PIM_ONNX_CONTENTS)
        return false;
    if (whole)
        r->integers = PIM_ARENA_ARRAY(&i->scratch, int64_t, (size_t)elements);
    else
        r->reals = PIM_ARENA_ARRAY(&i->scratch, double, (size_t)elements);
    return r->integers || r->reals;
}

bool pim_fold_known(const struct pim_onnx_value *value)
{
    return value->integers || value->reals;
}

void pim_fold_bind(struct pim_onnx_importer *i, size_t output, const struct pim_fold *r)
{
    pim_onnx_bind_constant(i, output, &r->shape, r->integers, r->reals);
}

double pim_fold_real(const struct pim_onnx_value *value, uint64_t at)
{
    return value->integers ? (double)value->integers[at] : value->reals[at];
}

static void copy_element(struct pim_fold *r, uint64_t to, const struct pim_onnx_value *from, uint64_t source)
{
    if (r->integers && from->integers)
        r->integers[to] = from->integers[source];
    else if (r->reals && from->reals)
        r->reals[to] = from->reals[source];
}

/* NumPy's rule: dimensions are aligned at the end, and 1 meets any size. */
struct pim_shape pim_fold_broadcast(struct pim_onnx_importer *i, const struct pim_shape *a,
                                    const struct pim_shape *b)
{
    struct pim_shape wide = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (uint32_t d = 0; d < wide.rank; d++) { /* counted from the end */
        uint32_t x = d < a->rank ? a->dimension[a->rank - 1 - d] : 1;
        uint32_t y = d < b->rank ? b->dimension[b->rank - 1 - d] : 1;
        if (x != y && x != 1 && y != 1)
            pim_onnx_fail(i, "dimensions of %u and %u cannot be combined", x, y);
        wide.dimension[wide.rank - 1 - d] = x == 1 ? y : x;
    }
    return wide;
}

/* Output element (c0, c1, ..) is input element offset + sum of c * stride: slices, transpositions,
 * expansions. */
void pim_fold_move(struct pim_onnx_importer *i, struct pim_fold *r, const struct pim_onnx_value *from,
                   int64_t offset, const int64_t *stride)
{
    if (!pim_fold_make_room(i, r, pim_fold_known(from), from->integers != NULL))
        return;
    uint32_t at[PIM_SHAPE_RANK] = {0};
    uint64_t elements = pim_onnx_elements(&r->shape);
    int64_t source = offset;
    for (uint64_t e = 0; e < elements; e++) {
        copy_element(r, e, from, (uint64_t)source);
        for (uint32_t d = r->shape.rank; d-- > 0;) {
            source += stride[d];
            if (++at[d] < r->shape.dimension[d])
                break;
            source -= stride[d] * (int64_t)r->shape.dimension[d];
            at[d] = 0;
        }
    }
}

/* Distances between neighbours of each dimension; 0 along those of size 1 when `broadcast`. */
void pim_fold_strides(const struct pim_shape *shape, bool broadcast, int64_t *stride)
{
    int64_t step = 1;
    for (uint32_t d = shape->rank; d-- > 0;) {
        stride[d] = broadcast && shape->dimension[d] == 1 ? 0 : step;
        step *= shape->dimension[d];
    }
}

static void fold_same(struct pim_onnx_importer *i, const struct pim_shape *shape)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    pim_onnx_bind_constant(i, 0, shape, from->integers, from->reals);
}

static void fold_cast(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    int64_t to = pim_onnx_integer(i, "to", 0);
    bool whole = to != 1 && to != 10 && to != 11 && to != 16; /* float, float16, double, bfloat16 */
    struct pim_fold r = {.shape = from->shape};
    if (pim_fold_make_room(i, &r, pim_fold_known(from), whole)) {
        uint64_t elements = pim_onnx_elements(&r.shape);
        for (uint64_t e = 0; e < elements; e++) {
            double number = pim_fold_real(from, e);
            if (r.reals)
                r.reals[e] = number;
            else if (from->integers)
                r.integers[e] = from->integers[e];
            else
                r.integers[e] = number >= 9e18    ? INT64_MAX
                                : number <= -9e18 ? INT64_MIN
                                : isnan(number)   ? 0
                                                  : (int64_t)number;
        }
    }
    pim_fold_bind(i, 0, &r);
    pim_onnx_note_copy(i, false);
}

static void fold_transpose(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    int64_t order[PIM_SHAPE_RANK], stride[PIM_SHAPE_RANK] = {0}, moved[PIM_SHAPE_RANK] = {0};
    bool given;
    uint32_t count = pim_onnx_list(i, "perm", SIZE_MAX, order, PIM_SHAPE_RANK, &given),
             rank = from->shape.rank, outermost = 0, named = 0;
    struct pim_fold r = {.shape = {.rank = rank}};
    pim_fold_strides(&from->shape, false, stride);
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t source = given ? d < count ? pim_onnx_axis(i, order[d], rank) : 0 : rank - 1 - d;
        r.shape.dimension[d] = from->shape.dimension[source];
        moved[d] = stride[source];
        outermost = d == 0 ? source : outermost;
        named |= 1U << source;
    }
    if (given && count != rank)
        pim_onnx_fail(i, "perm has %u entries: the tensor has %u dimensions", count, rank);
    if (i->status == PIM_OK && named != (1U << rank) - 1)
        pim_onnx_fail(i, "perm must name every dimension once");
    if (i->status == PIM_OK)
        pim_fold_move(i, &r, from, 0, moved);
    pim_fold_bind(i, 0, &r);
    if (rank == 2)
        pim_onnx_note_copy(i, outermost != 0);
}

static void fold_expand(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    int64_t target[PIM_SHAPE_RANK], own[PIM_SHAPE_RANK], stride[PIM_SHAPE_RANK] = {0};
    uint32_t count = pim_onnx_list(i, NULL, 1, target, PIM_SHAPE_RANK, NULL), rank = from->shape.rank;
    struct pim_fold r = {.shape = {.rank = count > rank ? count : rank}};
    pim_fold_strides(&from->shape, true, own);
    for (uint32_t d = 0; d < r.shape.rank; d++) { /* counted from the end */
        uint32_t place = r.shape.rank - 1 - d, a = d < rank ? from->shape.dimension[rank - 1 - d] : 1;
        uint32_t b = d < count ? pim_onnx_size(i, "the shape", target[count - 1 - d], 0) : 1;
        if (a != b && a != 1 && b != 1)
            pim_onnx_fail(i, "a dimension of %u cannot be expanded to %u", a, b);
        r.shape.dimension[place] = a == 1 ? b : a;
        stride[place] = d < rank ? own[rank - 1 - d] : 0;
    }
    if (i->status == PIM_OK)
        pim_fold_move(i, &r, from, 0, stride);
    pim_fold_bind(i, 0, &r);
}

static void fold_slice(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    struct pim_onnx_slices slices;
    pim_onnx_read_slices(i, &from->shape, &slices);
    int64_t stride[PIM_SHAPE_RANK] = {0}, offset = 0;
    struct pim_fold r = {.shape = from->shape};
    pim_fold_strides(&from->shape, false, stride);
    for (uint32_t d = 0; d < from->shape.rank && i->status == PIM_OK; d++) {
        offset += slices.begin[d] * stride[d];
        stride[d] *= slices.step[d];
        r.shape.dimension[d] = slices.count[d];
    }
    if (i->status == PIM_OK)
        pim_fold_move(i, &r, from, offset, stride);
    pim_fold_bind(i, 0, &r);
}

static void fold_gather(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0), *index = pim_onnx_input(i, 1);
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), from->shape.rank);
    struct pim_fold r = {.shape = {.rank = from->shape.rank ? from->shape.rank - 1 + index->shape.rank : 0}};
    if (r.shape.rank > PIM_SHAPE_RANK)
        pim_onnx_fail(i, "the result has more than %d dimensions", PIM_SHAPE_RANK);
    if (i->status != PIM_OK)
        return;
    uint64_t outer = 1, inner = 1;
    uint32_t rank = 0, positions = from->shape.dimension[axis];
    for (uint32_t d = 0; d < axis; d++)
        outer *= r.shape.dimension[rank++] = from->shape.dimension[d];
    for (uint32_t d = 0; d < index->shape.rank; d++)
        r.shape.dimension[rank++] = index->shape.dimension[d];
    for (uint32_t d = axis + 1; d < from->shape.rank; d++)
        inner *= r.shape.dimension[rank++] = from->shape.dimension[d];
    uint64_t chosen = pim_onnx_elements(&index->shape);
    if (pim_fold_make_room(i, &r, pim_fold_known(from) && index->integers, from->integers != NULL)) {
        for (uint64_t e = 0; e < outer * chosen * inner; e++) {
            int64_t at = index->integers[e / inner % chosen];
            at += at < 0 ? positions : 0;
            if (at < 0 || at >= (int64_t)positions) {
                pim_onnx_fail(i, "index %lld does not exist: there are %u positions", (long long)at,
                              positions);
                return;
            }
            uint64_t source = (e / inner / chosen * positions + (uint64_t)at) * inner + e % inner;
            copy_element(&r, e, from, source);
        }
    }
    pim_fold_bind(i, 0, &r);
}

static void fold_concat(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *first = pim_onnx_input(i, 0);
    struct pim_fold r = {.shape = first->shape};
    uint32_t axis = pim_onnx_axis(i, pim_onnx_integer(i, "axis", 0), first->shape.rank);
    bool all_known = true, whole = first->integers != NULL;
    uint64_t along = 0, outer = 1;
    for (size_t n = 0; n < i->node->n_input && i->status == PIM_OK; n++) {
        const struct pim_onnx_value *part = pim_onnx_input(i, n);
        struct pim_shape same = part->shape;
        all_known &= pim_fold_known(part) && (part->integers != NULL) == whole;
        if (i->status != PIM_OK || axis >= same.rank) {
            pim_onnx_fail(i, "input %zu has other dimensions than input 0", n);
            return;
        }
        along += same.dimension[axis];
        same.dimension[axis] = first->shape.dimension[axis];
        if (!pim_shape_equal(&same, &first->shape))
            pim_onnx_fail(i, "input %zu has other dimensions than input 0", n);
    }
    if (i->status != PIM_OK)
        return;
    r.shape.dimension[axis] = pim_onnx_size(i, "the sum of the parts", (int64_t)along, 0);
    for (uint32_t d = 0; d < axis; d++)
        outer *= r.shape.dimension[d];
    if (pim_fold_make_room(i, &r, all_known, whole)) {
        uint64_t at = 0;
        for (uint64_t o = 0; o < outer; o++)
            for (size_t n = 0; n < i->node->n_input; n++) {
                const struct pim_onnx_value *part = pim_onnx_input(i, n);
                uint64_t run = outer ? pim_onnx_elements(&part->shape) / outer : 0;
                for (uint64_t e = 0; e < run; e++, at++)
                    if (whole)
                        r.integers[at] = part->integers[o * run + e];
                    else
                        r.reals[at] = part->reals[o * run + e];
            }
    }
    pim_fold_bind(i, 0, &r);
}

static void fold_shape(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *of = pim_onnx_input(i, 0);
    int64_t rank = of->shape.rank, begin = pim_onnx_integer(i, "start", 0),
            end = pim_onnx_integer(i, "end", rank);
    begin = begin < 0 ? begin + rank : begin;
    end = end < 0 ? end + rank : end;
    begin = begin < 0 ? 0 : begin > rank ? rank : begin;
    end = end > rank ? rank : end < begin ? begin : end;
    struct pim_fold r = {.shape = {.rank = 1, .dimension = {(uint32_t)(end - begin)}}};
    if (pim_fold_make_room(i, &r, true, true))
        for (int64_t d = begin; d < end; d++)
            r.integers[d - begin] = of->shape.dimension[d];
    pim_fold_bind(i, 0, &r);
}

static void fold_size(struct pim_onnx_importer *i)
{
    struct pim_fold r = {.shape = {.rank = 0}};
    if (pim_fold_make_room(i, &r, true, true))
        r.integers[0] = (int64_t)pim_onnx_elements(&pim_onnx_input(i, 0)->shape);
    pim_fold_bind(i, 0, &r);
}

static void fold_constant(struct pim_onnx_importer *i)
{
    struct pim_onnx_value value = {.name = "value", .layer = PIM_NONE};
    struct pim_fold r = {.shape = {.rank = 0}};
    if (pim_onnx_has(i, "value")) {
        const struct Onnx__TensorProto *tensor = pim_onnx_tensor(i, "value");
        if (tensor)
            pim_onnx_read_tensor(i, tensor, &value);
        pim_onnx_bind_constant(i, 0, &value.shape, value.integers, value.reals);
        return;
    }
    if (pim_onnx_has(i, "value_ints")) {
        int64_t list[256];
        r.shape = (struct pim_shape){
            .rank = 1, .dimension = {pim_onnx_list(i, "value_ints", SIZE_MAX, list, 256, NULL)}};
        if (pim_fold_make_room(i, &r, true, true))
            memcpy(r.integers, list, r.shape.dimension[0] * sizeof *list);
    } else if (pim_onnx_has(i, "value_floats")) {
        double list[256];
        r.shape = (struct pim_shape){.rank = 1,
                                     .dimension = {pim_onnx_reals(i, "value_floats", SIZE_MAX, list, 256)}};
        if (pim_fold_make_room(i, &r, true, false))
            memcpy(r.reals, list, r.shape.dimension[0] * sizeof *list);
    } else if (pim_onnx_has(i, "value_int")) {
        if (pim_fold_make_room(i, &r, true, true))
            r.integers[0] = pim_onnx_integer(i, "value_int", 0);
    } else if (pim_onnx_has(i, "value_float")) {
        if (pim_fold_make_room(i, &r, true, false))
            r.reals[0] = pim_onnx_real(i, "value_float", 0);
    } else {
        pim_onnx_fail(i, "its value is missing, or is sparse or text");
    }
    pim_fold_bind(i, 0, &r);
}

static void fold_constant_of_shape(struct pim_onnx_importer *i)
{
    int64_t list[PIM_SHAPE_RANK];
    struct pim_fold r = {.shape = {.rank = pim_onnx_list(i, NULL, 0, list, PIM_SHAPE_RANK, NULL)}};
    struct pim_onnx_value fill = {.name = "value"};
    const struct Onnx__TensorProto *tensor = pim_onnx_tensor(i, "value");
    for (uint32_t d = 0; d < r.shape.rank; d++)
        r.shape.dimension[d] = pim_onnx_size(i, "the shape", list[d], 0);
    if (tensor)
        pim_onnx_read_tensor(i, tensor, &fill);
    double number = 0;
    bool scalar = tensor && pim_onnx_scalar(&fill, &number);
    if (pim_fold_make_room(i, &r, scalar || !tensor, scalar && fill.integers)) {
        uint64_t elements = pim_onnx_elements(&r.shape);
        for (uint64_t e = 0; e < elements; e++)
            if (r.integers)
                r.integers[e] = fill.integers[0];
            else
                r.reals[e] = number;
    }
    pim_fold_bind(i, 0, &r);
}

static void fold_new_shape(struct pim_onnx_importer *i)
{
    struct pim_shape shape = pim_onnx_new_shape(i, &pim_onnx_input(i, 0)->shape);
    fold_same(i, &shape);
}

static void fold_identity(struct pim_onnx_importer *i)
{
    fold_same(i, &pim_onnx_input(i, 0)->shape);
    pim_onnx_note_copy(i, false);
}

/* Ones along a diagonal: the shape counts alone. */
static void fold_eye(struct pim_onnx_importer *i)
{
    const struct pim_fold r = {.shape = pim_onnx_input(i, 0)->shape};
    pim_fold_bind(i, 0, &r);
    pim_onnx_set_fixed(i, 0);
}

/* Windows of signal processing, and the weights of frequency bands. */
static void fold_window(struct pim_onnx_importer *i)
{
    double size = 0, length = 0;
    bool bands = strcmp(i->node->op_type, "MelWeightMatrix") == 0;
    struct pim_fold r = {.shape = {.rank = bands ? 2 : 1}};
    if (!pim_onnx_scalar(pim_onnx_input(i, 0), &size) ||
        (bands && !pim_onnx_scalar(pim_onnx_input(i, 1), &length)))
        pim_onnx_fail(i, "its size must be a constant");
    bool sane = size >= 1 && size <= (double)PIM_DIMENSION_LIMIT && length <= (double)PIM_DIMENSION_LIMIT;
    int64_t rows = bands ? (int64_t)(sane ? length : 0) / 2 + 1 : (int64_t)(sane ? size : 0);
    r.shape.dimension[0] = pim_onnx_size(i, "its size", sane ? rows : 0, 1);
    r.shape.dimension[1] = bands && sane ? (uint32_t)size : 0;
    pim_fold_bind(i, 0, &r);
    pim_onnx_set_fixed(i, 0);
}

/* (Shape and Size fold without.) */
bool pim_onnx_all_constant(const struct pim_onnx_importer *i)
{
    for (size_t in = 0; in < i->node->n_input; in++) {
        uint32_t value =
            i->node->input[in][0] ? pim_onnx_names_find(&i->value_names, i->node->input[in]) : PIM_NONE;
        if (value != PIM_NONE && i->value[value].kind != PIM_ONNX_CONSTANT)
            return false;
    }
    return true;
}

/* Copies of a learned tensor (entries of a table for every place, a token for every image) are not more
 * weights: they stay layers that read it. */
static bool repeats_weights(struct pim_onnx_importer *i)
{
    bool gather = strcmp(i->node->op_type, "Gather") == 0;
    if (!gather && strcmp(i->node->op_type, "Expand") != 0)
        return false;
    const struct pim_onnx_value *from = pim_onnx_input(i, 0), *by = pim_onnx_input(i, 1);
    uint64_t copies = gather ? pim_onnx_elements(&by->shape) : 2;
    return !from->fixed && pim_onnx_elements(&from->shape) > 1 && copies > 1;
}

/* Any other operator: its layers are made, and gone again when their shapes are known. */
static bool fold_by_conversion(struct pim_onnx_importer *i)
{
    uint32_t layers = i->network->graph.count;
    if (i->node->n_input == 0 || repeats_weights(i) || strncmp(i->node->op_type, "Random", 6) == 0 ||
        strcmp(i->node->op_type, "If") == 0 || strstr(i->node->op_type, "Sequence"))
        /* a branch may read more than constants; the tensors of a sequence are not in the table of values */
        return false;
    if (i->folding) { /* inside of a branch that is folded already */
        pim_onnx_convert(i);
        return true;
    }
    pim_onnx_begin_fold(i);
    pim_onnx_convert(i);
    pim_onnx_end_fold(i, layers);
    return true;
}

static const struct {
    const char *operation;
    void (*fold)(struct pim_onnx_importer *i);
} folds[] = {
    {"EyeLike", fold_eye},
    {"HannWindow", fold_window},
    {"HammingWindow", fold_window},
    {"BlackmanWindow", fold_window},
    {"MelWeightMatrix", fold_window},
    {"Shape", fold_shape},
    {"Size", fold_size},
    {"Constant", fold_constant},
    {"ConstantOfShape", fold_constant_of_shape},
    {"Range", pim_fold_range},
    {"Cast", fold_cast},
    {"Identity", fold_identity},
    {"Dropout", fold_identity},
    {"DequantizeLinear", fold_identity},
    {"QuantizeLinear", fold_identity},
    {"Reshape", fold_new_shape},
    {"Flatten", fold_new_shape},
    {"Squeeze", fold_new_shape},
    {"Unsqueeze", fold_new_shape},
    {"Transpose", fold_transpose},
    {"Expand", fold_expand},
    {"Slice", fold_slice},
    {"Gather", fold_gather},
    {"Concat", fold_concat},
    {"ReduceProd", pim_fold_reduction},
    {"ReduceSum", pim_fold_reduction},
    {"ReduceMax", pim_fold_reduction},
    {"ReduceMin", pim_fold_reduction},
    {"NonZero", pim_fold_non_zero},
    {"Where", pim_fold_where},
    {"Add", pim_fold_binary},
    {"Sub", pim_fold_binary},
    {"Mul", pim_fold_binary},
    {"Div", pim_fold_binary},
    {"Mod", pim_fold_binary},
    {"Pow", pim_fold_binary},
    {"Min", pim_fold_binary},
    {"Max", pim_fold_binary},
    {"Equal", pim_fold_binary},
    {"Greater", pim_fold_binary},
    {"Less", pim_fold_binary},
    {"GreaterOrEqual", pim_fold_binary},
    {"LessOrEqual", pim_fold_binary},
    {"Xor", pim_fold_binary},
    {"And", pim_fold_binary},
    {"Or", pim_fold_binary},
    {"Not", pim_fold_unary},
    {"Neg", pim_fold_unary},
    {"Abs", pim_fold_unary},
    {"Sqrt", pim_fold_unary},
    {"Floor", pim_fold_unary},
    {"Ceil", pim_fold_unary},
    {"Round", pim_fold_unary},
};

bool pim_onnx_fold(struct pim_onnx_importer *i)
{
    for (size_t t = 0; t < sizeof folds / sizeof *folds; t++) {
        if (pim_onnx_is_standard(i) && strcmp(i->node->op_type, folds[t].operation) == 0 &&
            !repeats_weights(i)) {
            if (folds[t].fold == pim_fold_binary && i->node->n_input != 2)
                break;
            folds[t].fold(i);
            return true;
        }
    }
    return pim_onnx_all_constant(i) && fold_by_conversion(i);
}
