/*
 * Einsum: each operand's dimensions have labels; those that the result does not name are summed over.
 *
 * Operands are taken two at a time, from the left. Labels of two operands are
 *   batch     in both, and needed later;        contracted   in both, and not needed any more;
 *   free      in one of them.
 * What only one operand has and nobody needs is summed over first. Then the operands are brought into the
 * order batch, free, contracted, and are a product of matrices; with learned weights and without batch a
 * linear layer; with nothing contracted elementwise. A label twice in one operand is its diagonal; "..." are
 * labels that are aligned at the end and broadcast.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <ctype.h>
#include <string.h>

enum { LETTERS = 52, LABELS = LETTERS + PIM_SHAPE_RANK, OPERANDS = 16, EQUATION = 256 };

/* A list of labels without repetitions, and the same as a set of bits. */
struct labels {
    uint8_t label[LABELS];
    uint32_t count;
    uint64_t set;
};

/* An operand: a layer whose dimension d has label[d], or learned weights that have no layer yet. */
struct term {
    struct labels labels;
    struct pim_onnx_value *weights; /* NULL: `layer` */
    uint32_t layer;
};

struct einsum {
    struct pim_onnx_importer *i;
    uint32_t size[LABELS]; /* 0: not met yet */
    struct term term[OPERANDS];
    struct labels output;
    uint32_t operands;
};

static void put(struct labels *labels, uint8_t label)
{
    labels->label[labels->count++] = label;
    labels->set |= UINT64_C(1) << label;
}

static bool has(uint64_t set, uint8_t label)
{
    return (set >> label & 1) != 0;
}

/* Those of `from` that are in the set, in their order. */
static struct labels chosen(const struct labels *from, uint64_t set)
{
    struct labels result = {.count = 0};
    for (uint32_t n = 0; n < from->count; n++)
        if (has(set, from->label[n]))
            put(&result, from->label[n]);
    return result;
}

static struct labels joined(const struct labels *a, const struct labels *b)
{
    struct labels result = *a;
    for (uint32_t n = 0; n < b->count; n++)
        put(&result, b->label[n]);
    return result;
}

/* Elements of all these labels together. */
static uint32_t extent(const struct einsum *e, const struct labels *labels)
{
    uint64_t product = 1;
    for (uint32_t n = 0; n < labels->count && product <= PIM_DIMENSION_LIMIT; n++)
        product *= e->size[labels->label[n]];
    return pim_onnx_size(e->i, "the size of its matrices",
                         product > PIM_DIMENSION_LIMIT ? INT64_MAX : (int64_t)product, 1);
}

static struct pim_shape shape_of(const struct einsum *e, const struct labels *labels)
{
    struct pim_shape shape = {.rank = labels->count};
    if (labels->count > PIM_SHAPE_RANK) {
        pim_onnx_fail(e->i, "a product in it has more than %d dimensions", PIM_SHAPE_RANK);
        return (struct pim_shape){.rank = 0};
    }
    for (uint32_t n = 0; n < labels->count; n++)
        shape.dimension[n] = e->size[labels->label[n]];
    return shape;
}

/* --- reading --- */

/* One operand's text: fills `of`, one label a dimension, repetitions included; returns how many there are.
 * `rank` dimensions are shared out; UINT32_MAX: the output, whose "..." has `dots` dimensions. */
static uint32_t read_labels(struct einsum *e, const char **text, uint32_t rank, uint32_t dots,
                            uint8_t of[PIM_SHAPE_RANK])
{
    const char *start = *text, *t;
    uint32_t letters = 0, count = 0;
    for (t = start; *t && *t != ',' && *t != '-'; t++)
        letters += isalpha((unsigned char)*t) ? 1 : 0;
    if (rank != UINT32_MAX)
        dots = rank >= letters ? rank - letters : 0;
    bool dotted = false;
    for (t = start; *t && *t != ',' && *t != '-' && e->i->status == PIM_OK; t++) {
        bool letter = isalpha((unsigned char)*t);
        uint32_t more = letter ? 1 : dots;
        if (*t == ' ')
            continue;
        if ((!letter && (dotted || strncmp(t, "...", 3) != 0)) || count + more > PIM_SHAPE_RANK) {
            pim_onnx_fail(e->i, "its equation cannot be read from \"%.20s\" on", t);
            return 0;
        }
        for (uint32_t d = 0; d < more; d++) /* "..." is aligned at the end */
            of[count++] = !letter     ? (uint8_t)(LABELS - dots + d)
                          : *t >= 'a' ? (uint8_t)(*t - 'a' + 26)
                                      : (uint8_t)(*t - 'A');
        dotted |= !letter;
        t += letter ? 0 : 2;
    }
    *text = t;
    if (rank != UINT32_MAX && count != rank)
        pim_onnx_fail(e->i, "its equation gives %u labels to an input of %u dimensions", count, rank);
    return count;
}

/* Sizes of labels: all uses agree, or are 1. */
static void meet(struct einsum *e, const struct pim_shape *shape, const uint8_t *label)
{
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint32_t *size = &e->size[label[d]];
        if (*size > 1 && shape->dimension[d] != 1 && *size != shape->dimension[d])
            pim_onnx_fail(e->i, "the same label stands for %u and %u positions", *size, shape->dimension[d]);
        if (*size <= 1)
            *size = shape->dimension[d];
    }
}

/* The elements of a layer at equal positions of dimensions a < b: b goes. */
static uint32_t diagonal(struct pim_onnx_importer *i, uint32_t layer, uint32_t a, uint32_t b)
{
    struct pim_shape s = pim_onnx_shape_of(i, layer), flat = {.rank = 0};
    uint32_t order[PIM_SHAPE_RANK], count = 0, size = s.dimension[a];
    for (uint32_t d = 0; d < s.rank; d++)
        if (d != a && d != b) {
            order[count++] = d;
            flat.dimension[flat.rank++] = s.dimension[d];
        }
    order[count++] = a;
    order[count] = b;
    flat.dimension[flat.rank++] = pim_onnx_size(i, "a square", (int64_t)size * size, 1);
    layer = pim_onnx_reshape(i, "square", pim_onnx_transpose(i, "last", layer, order), &flat);
    const union pim_attributes slice = {
        .slice = {.axis = flat.rank - 1, .begin = 0, .count = size, .step = size + 1}};
    layer = pim_onnx_add(i, PIM_OPERATOR_SLICE, "diagonal", &slice, 1, &layer);
    for (uint32_t d = 0; d + 1 < flat.rank; d++) /* back to place a */
        order[d < a ? d : d + 1] = d;
    order[a] = flat.rank - 1;
    return pim_onnx_transpose(i, "place", layer, order);
}

/* An operand as a term: diagonals taken, dimensions of 1 that are broadcast dropped. */
static void make_term(struct einsum *e, struct pim_onnx_value *value, const uint8_t *of, struct term *term)
{
    struct pim_onnx_importer *i = e->i;
    uint8_t label[PIM_SHAPE_RANK] = {0};
    struct pim_shape shape = value->shape, left = {.rank = 0};
    bool plain = value->kind == PIM_ONNX_CONSTANT && !value->fixed;
    *term = (struct term){.weights = value};
    for (uint32_t d = 0; d < shape.rank; d++) {
        label[d] = of[d];
        plain &= !has(term->labels.set, of[d]) && shape.dimension[d] == e->size[of[d]];
        if (plain)
            put(&term->labels, of[d]);
    }
    if (plain || i->status != PIM_OK)
        return;
    *term = (struct term){.layer = pim_onnx_layer_of(i, value)};
    for (uint32_t a = 0; a < shape.rank; a++)
        for (uint32_t b = shape.rank; b-- > a + 1;)
            if (label[a] == label[b] && i->status == PIM_OK) {
                if (shape.dimension[a] != shape.dimension[b])
                    pim_onnx_fail(i, "a label stands for %u and %u positions of one input",
                                  shape.dimension[a], shape.dimension[b]);
                term->layer = diagonal(i, term->layer, a, b);
                shape = pim_onnx_shape_of(i, term->layer);
                memmove(label + b, label + b + 1, PIM_SHAPE_RANK - b - 1);
            }
    for (uint32_t d = 0; d < shape.rank; d++)
        if (shape.dimension[d] == e->size[label[d]]) {
            put(&term->labels, label[d]);
            left.dimension[left.rank++] = shape.dimension[d];
        }
    term->layer = pim_onnx_reshape(i, "broadcast", term->layer, &left);
}

/* --- products --- */

/* The layer of a term with its labels in this order, as a tensor of `shape`. */
static uint32_t arranged(struct einsum *e, struct term *term, const struct labels *wanted,
                         const struct pim_shape *shape)
{
    uint32_t order[PIM_SHAPE_RANK] = {0}, layer;
    layer = term->weights ? pim_onnx_layer_of(e->i, term->weights) : term->layer;
    for (uint32_t n = 0; n < wanted->count && n < PIM_SHAPE_RANK; n++)
        for (uint32_t d = 0; d < term->labels.count; d++)
            if (term->labels.label[d] == wanted->label[n])
                order[n] = d;
    return pim_onnx_reshape(e->i, "matrix", pim_onnx_transpose(e->i, "order", layer, order), shape);
}

/* Sums over the labels that are not in `keep`. */
static void sum_over(struct einsum *e, struct term *term, uint64_t keep)
{
    union pim_attributes a = {.reduction = {.kind = PIM_REDUCTION_SUM}};
    if ((term->labels.set & ~keep) == 0 || e->i->status != PIM_OK)
        return;
    for (uint32_t d = 0; d < term->labels.count; d++)
        if (!has(keep, term->labels.label[d]))
            a.reduction.axes |= 1u << d;
    uint32_t layer = term->weights ? pim_onnx_layer_of(e->i, term->weights) : term->layer;
    *term = (struct term){.labels = chosen(&term->labels, keep),
                          .layer = pim_onnx_add(e->i, PIM_OPERATOR_REDUCTION, "sum", &a, 1, &layer)};
}

/* a * b with `contract` summed over; the result has batch, free of a, free of b. */
static uint32_t product(struct einsum *e, struct term *a, struct term *b, uint64_t batch, uint64_t contract)
{
    static const union pim_attributes transposed = {.matrix = {.transpose_second = true}},
                                      times = {.elementwise = PIM_ELEMENTWISE_MULTIPLY};
    const struct labels both = chosen(&a->labels, batch), inner = chosen(&a->labels, contract);
    const struct labels rows = chosen(&a->labels, ~batch & ~contract),
                        columns = chosen(&b->labels, ~batch & ~contract);
    struct labels left = joined(&both, &rows), right = joined(&both, &columns);
    uint32_t m = extent(e, &rows), n = extent(e, &columns), k = extent(e, &inner), g = extent(e, &both);
    left = joined(&left, &inner);
    right = joined(&right, &inner);
    if (b->weights && batch == 0 && contract != 0) {
        struct labels outer = joined(&rows, &inner);
        struct pim_shape shape = shape_of(e, &rows);
        if (shape.rank == PIM_SHAPE_RANK)
            pim_onnx_fail(e->i, "a product in it has more than %d dimensions", PIM_SHAPE_RANK);
        else
            shape.dimension[shape.rank++] = k;
        const union pim_attributes linear = {.linear = {.outputs = n}};
        uint32_t layer = arranged(e, a, &outer, &shape);
        return pim_onnx_add(e->i, PIM_OPERATOR_LINEAR, "", &linear, 1, &layer);
    }
    const struct pim_shape first = {.rank = 3, .dimension = {g, m, k}},
                           second = {.rank = 3, .dimension = {g, n, k}},
                           across = {.rank = 3, .dimension = {g, 1, n}};
    const uint32_t pair[2] = {arranged(e, a, &left, &first),
                              arranged(e, b, &right, contract ? &second : &across)};
    return contract ? pim_onnx_add(e->i, PIM_OPERATOR_MATRIX_MULTIPLICATION, "", &transposed, 2, pair)
                    : pim_onnx_add(e->i, PIM_OPERATOR_ELEMENTWISE, "", &times, 2, pair);
}

/* Takes term `b` into `a`; `keep` are the labels that are needed later. */
static void combine(struct einsum *e, struct term *a, struct term *b, uint64_t keep)
{
    if (a->weights && !b->weights) { /* weights come second */
        const struct term other = *a;
        *a = *b;
        *b = other;
    }
    sum_over(e, a, keep | b->labels.set);
    sum_over(e, b, keep | a->labels.set);
    uint64_t shared = a->labels.set & b->labels.set;
    const struct labels both = chosen(&a->labels, shared & keep), rows = chosen(&a->labels, ~shared),
                        columns = chosen(&b->labels, ~shared);
    uint32_t layer = product(e, a, b, shared & keep, shared & ~keep);
    struct labels result = joined(&both, &rows);
    result = joined(&result, &columns);
    const struct pim_shape shape = shape_of(e, &result);
    *a = (struct term){.labels = result, .layer = pim_onnx_reshape(e->i, "apart", layer, &shape)};
}

/* Labels of the result: those behind "->", or those that occur once, in alphabetical order. */
static void read_output(struct einsum *e, const char *text, const uint8_t *uses, uint32_t dots)
{
    uint8_t of[PIM_SHAPE_RANK] = {0};
    if (text[0] == '\0') {
        for (uint32_t d = 0; d < dots; d++)
            put(&e->output, (uint8_t)(LABELS - dots + d));
        for (uint32_t l = 0; l < LETTERS; l++)
            if (uses[l] == 1)
                put(&e->output, (uint8_t)l);
        return;
    }
    if (strncmp(text, "->", 2) != 0) {
        pim_onnx_fail(e->i, "its equation cannot be read from \"%.20s\" on", text);
        return;
    }
    text += 2;
    uint32_t count = read_labels(e, &text, UINT32_MAX, dots, of);
    for (uint32_t n = 0; n < count && e->i->status == PIM_OK; n++) {
        if (uses[of[n]] == 0 || has(e->output.set, of[n]))
            pim_onnx_fail(e->i, "its equation gives the result a label that no input has, or one twice");
        put(&e->output, of[n]);
    }
    if (e->i->status == PIM_OK && *text)
        pim_onnx_fail(e->i, "its equation cannot be read from \"%.20s\" on", text);
}

/* The equation, and the operands as terms. */
static void read_equation(struct einsum *e, const char *text)
{
    struct pim_onnx_importer *i = e->i;
    uint8_t of[OPERANDS][PIM_SHAPE_RANK] = {{0}}, uses[LABELS] = {0};
    uint32_t dots = 0;
    for (uint32_t n = 0; n < e->operands && i->status == PIM_OK; n++) {
        const struct pim_shape shape = pim_onnx_input(i, n)->shape;
        uint32_t count = read_labels(e, &text, shape.rank, 0, of[n]), own = 0;
        for (uint32_t d = 0; d < count; d++) {
            uses[of[n][d]] = (uint8_t)(uses[of[n][d]] < 2 ? uses[of[n][d]] + 1 : 2);
            own += of[n][d] >= LETTERS ? 1 : 0;
        }
        dots = own > dots ? own : dots;
        if (i->status == PIM_OK && n + 1 < e->operands && *text != ',')
            pim_onnx_fail(i, "its equation has fewer operands than the node has inputs");
        if (i->status != PIM_OK)
            return;
        text += n + 1 < e->operands ? 1 : 0;
        meet(e, &shape, of[n]);
    }
    if (i->status == PIM_OK)
        read_output(e, text, uses, dots);
    for (uint32_t n = 0; n < e->operands && i->status == PIM_OK; n++)
        make_term(e, pim_onnx_input(i, n), of[n], &e->term[n]);
}

void pim_onnx_convert_einsum(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    char text[EQUATION];
    struct einsum e = {.i = i, .operands = (uint32_t)i->node->n_input};
    if (i->node->n_input == 0 || i->node->n_input > OPERANDS) {
        pim_onnx_fail(i, "it has %zu inputs: 1 to %d are possible", i->node->n_input, OPERANDS);
        return;
    }
    if (!pim_onnx_text(i, "equation", text, sizeof text))
        pim_onnx_fail(i, "its equation is missing, or has %d characters and more", EQUATION);
    if (i->status == PIM_OK)
        read_equation(&e, text);
    struct term all = e.term[0];
    for (uint32_t n = 1; n < e.operands && i->status == PIM_OK; n++) {
        uint64_t keep = e.output.set;
        for (uint32_t later = n + 1; later < e.operands; later++)
            keep |= e.term[later].labels.set;
        combine(&e, &all, &e.term[n], keep);
    }
    if (i->status != PIM_OK)
        return;
    sum_over(&e, &all, e.output.set);
    const struct pim_shape shape = shape_of(&e, &e.output);
    pim_onnx_bind_layer(i, 0, arranged(&e, &all, &e.output, &shape));
}
