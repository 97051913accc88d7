/* Folding of numbers: arithmetic, comparisons, choices, sums and places of constants. */
#include "mappers/network/onnx/fold.h"
#include "onnx.pb-c.h"

#include <math.h>
#include <string.h>

void pim_fold_range(struct pim_onnx_importer *i)
{
    double begin = 0, end = 0, step = 1;
    const struct pim_onnx_value *first = pim_onnx_input(i, 0);
    bool ok = pim_onnx_scalar(first, &begin) && pim_onnx_scalar(pim_onnx_input(i, 1), &end) &&
              pim_onnx_scalar(pim_onnx_input(i, 2), &step) && (step < 0 || step > 0);
    double count = ok ? ceil((end - begin) / step) : 0;
    if (!ok || !(count < (double)PIM_DIMENSION_LIMIT)) {
        pim_onnx_fail(i, "start, limit and step must be known numbers that make a finite range");
        return;
    }
    struct pim_fold r = {.shape = {.rank = 1, .dimension = {count > 0 ? (uint32_t)count : 0}}};
    bool room = pim_fold_make_room(i, &r, true, first->integers != NULL);
    for (uint32_t e = 0; room && e < r.shape.dimension[0]; e++)
        if (r.integers)
            r.integers[e] = (int64_t)(begin + e * step);
        else
            r.reals[e] = begin + e * step;
    pim_fold_bind(i, 0, &r);
}

/* An operand of a result of `shape`, broadcast: where it is known, its contents for every element. */
static struct pim_fold widened(struct pim_onnx_importer *i, const struct pim_onnx_value *from,
                               const struct pim_shape *shape)
{
    int64_t own[PIM_SHAPE_RANK] = {0}, stride[PIM_SHAPE_RANK] = {0};
    struct pim_fold wide = {.shape = *shape};
    pim_fold_strides(&from->shape, true, own);
    for (uint32_t d = 0; d < from->shape.rank; d++)
        stride[shape->rank - from->shape.rank + d] = own[d];
    if (i->status == PIM_OK)
        pim_fold_move(i, &wide, from, 0, stride);
    return wide;
}

/* An operation on whole numbers; false where it has no result (division by 0). */
static bool whole_result(const char *operation, int64_t a, int64_t b, int64_t *result)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    if (strcmp(operation, "Add") == 0)
        *result = (int64_t)(x + y);
    else if (strcmp(operation, "Sub") == 0)
        *result = (int64_t)(x - y);
    else if (strcmp(operation, "Mul") == 0)
        *result = (int64_t)(x * y);
    else if (strcmp(operation, "Div") == 0 && b != 0 && b != -1)
        *result = a / b;
    else if (strcmp(operation, "Div") == 0 && b == -1)
        *result = (int64_t)(UINT64_C(0) - x);
    else if (strcmp(operation, "Mod") == 0 && b != 0 && b != -1)
        *result = a % b + ((a % b != 0 && (a % b < 0) != (b < 0)) ? b : 0);
    else if (strcmp(operation, "Mod") == 0 && b == -1)
        *result = 0;
    else if (strcmp(operation, "Min") == 0)
        *result = a < b ? a : b;
    else if (strcmp(operation, "Max") == 0)
        *result = a > b ? a : b;
    else if (strcmp(operation, "Equal") == 0)
        *result = a == b;
    else if (strcmp(operation, "Greater") == 0)
        *result = a > b;
    else if (strcmp(operation, "Less") == 0)
        *result = a < b;
    else if (strcmp(operation, "GreaterOrEqual") == 0)
        *result = a >= b;
    else if (strcmp(operation, "LessOrEqual") == 0)
        *result = a <= b;
    else if (strcmp(operation, "Xor") == 0)
        *result = !a != !b;
    else if (strcmp(operation, "And") == 0)
        *result = a && b;
    else if (strcmp(operation, "Or") == 0)
        *result = a || b;
    else
        return false;
    return true;
}

static bool real_result(const char *operation, double a, double b, double *result)
{
    if (strcmp(operation, "Add") == 0)
        *result = a + b;
    else if (strcmp(operation, "Sub") == 0)
        *result = a - b;
    else if (strcmp(operation, "Mul") == 0)
        *result = a * b;
    else if (strcmp(operation, "Div") == 0)
        *result = a / b;
    else if (strcmp(operation, "Pow") == 0)
        *result = pow(a, b);
    else if (strcmp(operation, "Min") == 0)
        *result = a < b ? a : b;
    else if (strcmp(operation, "Max") == 0)
        *result = a > b ? a : b;
    else
        return false;
    return true;
}

void pim_fold_binary(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *a = pim_onnx_input(i, 0), *b = pim_onnx_input(i, 1);
    struct pim_fold r = {.shape = pim_fold_broadcast(i, &a->shape, &b->shape)};
    bool whole = a->integers && b->integers && strcmp(i->node->op_type, "Pow") != 0, good;
    if (i->status == PIM_OK && pim_fold_make_room(i, &r, pim_fold_known(a) && pim_fold_known(b), whole)) {
        const struct pim_fold wide[2] = {widened(i, a, &r.shape), widened(i, b, &r.shape)};
        const struct pim_onnx_value x = {.integers = wide[0].integers, .reals = wide[0].reals};
        const struct pim_onnx_value y = {.integers = wide[1].integers, .reals = wide[1].reals};
        uint64_t elements = pim_onnx_elements(&r.shape);
        good = pim_fold_known(&x) && pim_fold_known(&y);
        for (uint64_t e = 0; e < elements && good; e++) {
            if (r.integers && x.integers && y.integers)
                good = whole_result(i->node->op_type, x.integers[e], y.integers[e], &r.integers[e]);
            else
                good = r.reals &&
                       real_result(i->node->op_type, pim_fold_real(&x, e), pim_fold_real(&y, e), &r.reals[e]);
        }
        if (!good)
            r.integers = NULL, r.reals = NULL;
    }
    pim_fold_bind(i, 0, &r);
}

void pim_fold_unary(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    const char *operation = i->node->op_type;
    struct pim_fold r = {.shape = from->shape};
    bool negate = strcmp(operation, "Neg") == 0, invert = strcmp(operation, "Not") == 0;
    bool absolute = strcmp(operation, "Abs") == 0;
    bool whole = from->integers && (negate || invert || absolute);
    if (pim_fold_make_room(i, &r, pim_fold_known(from), whole)) {
        uint64_t elements = pim_onnx_elements(&r.shape);
        for (uint64_t e = 0; e < elements; e++) {
            if (r.integers && from->integers) {
                int64_t v = from->integers[e], minus = (int64_t)(UINT64_C(0) - (uint64_t)v);
                r.integers[e] = invert ? !v : negate || v < 0 ? minus : v;
                continue;
            }
            double v = pim_fold_real(from, e);
            r.reals[e] = negate                            ? -v
                         : absolute                        ? fabs(v)
                         : strcmp(operation, "Sqrt") == 0  ? sqrt(v)
                         : strcmp(operation, "Floor") == 0 ? floor(v)
                         : strcmp(operation, "Ceil") == 0  ? ceil(v)
                                                           : nearbyint(v);
        }
    }
    pim_fold_bind(i, 0, &r);
}

/* Takes one number into the result of a reduction. */
static int64_t reduced(const char *operation, int64_t so_far, int64_t next, bool first)
{
    uint64_t a = (uint64_t)so_far, b = (uint64_t)next;
    if (first)
        return next;
    if (strcmp(operation, "ReduceProd") == 0)
        return (int64_t)(a * b);
    if (strcmp(operation, "ReduceSum") == 0)
        return (int64_t)(a + b);
    return strcmp(operation, "ReduceMax") == 0 ? (so_far > next ? so_far : next)
                                               : (so_far < next ? so_far : next);
}

/* ReduceProd, ReduceSum, ReduceMax, ReduceMin of whole numbers: those left over a dimension are together. */
void pim_fold_reduction(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    int64_t axes[PIM_SHAPE_RANK];
    uint32_t count = pim_onnx_list(i, "axes", 1, axes, PIM_SHAPE_RANK, NULL), gone = 0,
             at[PIM_SHAPE_RANK] = {0};
    struct pim_fold r = {.shape = {.rank = 0}};
    bool keep = pim_onnx_integer(i, "keepdims", 1) != 0,
         nothing = count == 0 && pim_onnx_integer(i, "noop_with_empty_axes", 0) != 0;
    int64_t stride[PIM_SHAPE_RANK] = {0}, step = 1;
    for (uint32_t a = 0; a < count; a++)
        gone |= 1u << pim_onnx_axis(i, axes[a], from->shape.rank);
    gone = count || nothing ? gone : (1u << from->shape.rank) - 1;
    for (uint32_t d = 0; d < from->shape.rank; d++)
        if ((gone >> d & 1) == 0 || keep)
            r.shape.dimension[r.shape.rank++] = gone >> d & 1 ? 1 : from->shape.dimension[d];
    for (uint32_t d = from->shape.rank; d-- > 0;)
        if ((gone >> d & 1) == 0) {
            stride[d] = step;
            step *= from->shape.dimension[d];
        }
    uint64_t elements = pim_onnx_elements(&from->shape), results = pim_onnx_elements(&r.shape);
    if (elements > 0 && pim_fold_make_room(i, &r, from->integers != NULL, true) && from->integers) {
        uint8_t *met = PIM_ARENA_ARRAY(&i->scratch, uint8_t, (size_t)results);
        for (uint64_t e = 0; e < elements && met; e++) {
            int64_t to = 0;
            for (uint32_t d = 0; d < from->shape.rank; d++)
                to += at[d] * stride[d];
            r.integers[to] = reduced(i->node->op_type, r.integers[to], from->integers[e], !met[to]);
            met[to] = 1;
            for (uint32_t d = from->shape.rank; d-- > 0 && ++at[d] == from->shape.dimension[d];)
                at[d] = 0;
        }
    }
    pim_fold_bind(i, 0, &r);
}

/* Places of what is not 0: [dimensions, places], by which exporters write the numbers from 0 on. */
void pim_fold_non_zero(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *from = pim_onnx_input(i, 0);
    uint32_t rank = from->shape.rank ? from->shape.rank : 1, count = 0, at[PIM_SHAPE_RANK] = {0}, found = 0;
    uint64_t elements = pim_onnx_elements(&from->shape);
    if (!pim_fold_known(from)) {
        pim_onnx_fail(i, "its result depends on a constant of unknown contents");
        return;
    }
    for (uint64_t e = 0; e < elements; e++)
        count += from->integers ? from->integers[e] != 0 : from->reals[e] < 0 || from->reals[e] > 0;
    struct pim_fold r = {.shape = {.rank = 2, .dimension = {rank, count}}};
    bool room = pim_fold_make_room(i, &r, true, true);
    for (uint64_t e = 0; e < elements && room; e++) {
        bool here = from->integers ? from->integers[e] != 0 : from->reals[e] < 0 || from->reals[e] > 0;
        for (uint32_t d = 0; d < rank && here; d++)
            r.integers[(uint64_t)d * count + found] = at[d];
        found += here;
        for (uint32_t d = from->shape.rank; d-- > 0 && ++at[d] == from->shape.dimension[d];)
            at[d] = 0;
    }
    pim_fold_bind(i, 0, &r);
}

void pim_fold_where(struct pim_onnx_importer *i)
{
    const struct pim_onnx_value *mask = pim_onnx_input(i, 0), *a = pim_onnx_input(i, 1),
                                *b = pim_onnx_input(i, 2);
    struct pim_shape both = pim_fold_broadcast(i, &a->shape, &b->shape);
    struct pim_fold r = {.shape = pim_fold_broadcast(i, &mask->shape, &both)};
    bool whole = a->integers && b->integers, all = mask->integers && pim_fold_known(a) && pim_fold_known(b);
    if (pim_fold_make_room(i, &r, all, whole)) {
        const struct pim_fold which = widened(i, mask, &r.shape), x = widened(i, a, &r.shape),
                              y = widened(i, b, &r.shape);
        uint64_t elements = pim_onnx_elements(&r.shape);
        bool good = which.integers && (x.integers || x.reals) && (y.integers || y.reals);
        for (uint64_t e = 0; e < elements && good; e++) {
            const struct pim_fold *from = which.integers[e] ? &x : &y;
            if (r.integers && from->integers)
                r.integers[e] = from->integers[e];
            else if (r.reals)
                r.reals[e] = from->integers ? (double)from->integers[e] : from->reals[e];
        }
        if (!good)
            r.integers = NULL, r.reals = NULL;
    }
    pim_fold_bind(i, 0, &r);
}
