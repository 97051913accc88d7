/* Inputs and attributes of the node at work. */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <string.h>

/* What a node gets for an input that is not there, after the failure was noted. */
static struct pim_onnx_value *nothing(struct pim_onnx_importer *i)
{
    struct pim_onnx_value *value = PIM_ARENA_NEW(&i->scratch, struct pim_onnx_value);
    *value = (struct pim_onnx_value){
        .name = "", .kind = PIM_ONNX_CONSTANT, .layer = PIM_NONE, .linear = PIM_NONE, .maker = PIM_NONE};
    return value;
}

struct pim_onnx_value *pim_onnx_optional_input(struct pim_onnx_importer *i, size_t index)
{
    if (i->status != PIM_OK || index >= i->node->n_input || i->node->input[index][0] == '\0')
        return NULL;
    uint32_t value = pim_onnx_names_find(&i->value_names, i->node->input[index]);
    if (value == PIM_NONE || i->value[value].kind == PIM_ONNX_ABSENT) {
        pim_onnx_fail(i, "input %zu, \"%s\", is made by no node and is no input of the network", index,
                      i->node->input[index]);
        return NULL;
    }
    return &i->value[value];
}

struct pim_onnx_value *pim_onnx_input(struct pim_onnx_importer *i, size_t index)
{
    struct pim_onnx_value *value = pim_onnx_optional_input(i, index);
    if (value)
        return value;
    if (i->status == PIM_OK)
        pim_onnx_fail(i, "input %zu is missing", index);
    return nothing(i);
}

static const struct Onnx__AttributeProto *attribute(const struct pim_onnx_importer *i, const char *name)
{
    for (size_t a = 0; a < i->node->n_attribute; a++)
        if (strcmp(i->node->attribute[a]->name, name) == 0)
            return i->node->attribute[a];
    return NULL;
}

bool pim_onnx_has(const struct pim_onnx_importer *i, const char *name)
{
    return attribute(i, name) != NULL;
}

int64_t pim_onnx_integer(const struct pim_onnx_importer *i, const char *name, int64_t otherwise)
{
    const struct Onnx__AttributeProto *a = attribute(i, name);
    return a ? a->i : otherwise;
}

double pim_onnx_real(const struct pim_onnx_importer *i, const char *name, double otherwise)
{
    const struct Onnx__AttributeProto *a = attribute(i, name);
    return a ? (double)a->f : otherwise;
}

bool pim_onnx_text_is(const struct pim_onnx_importer *i, const char *name, const char *text)
{
    const struct Onnx__AttributeProto *a = attribute(i, name);
    return a && a->s.len == strlen(text) && (a->s.len == 0 || memcmp(a->s.data, text, a->s.len) == 0);
}

bool pim_onnx_text(const struct pim_onnx_importer *i, const char *name, char *text, size_t size)
{
    const struct Onnx__AttributeProto *a = attribute(i, name);
    if (!a || a->s.len >= size || (a->s.len > 0 && memchr(a->s.data, 0, a->s.len)))
        return false;
    if (a->s.len)
        memcpy(text, a->s.data, a->s.len);
    text[a->s.len] = '\0';
    return true;
}

uint32_t pim_onnx_reals(struct pim_onnx_importer *i, const char *name, size_t input, double *list,
                        uint32_t capacity)
{
    const struct Onnx__AttributeProto *a = name ? attribute(i, name) : NULL;
    const struct pim_onnx_value *value = a || input == SIZE_MAX ? NULL : pim_onnx_optional_input(i, input);
    bool known = value && value->kind == PIM_ONNX_CONSTANT && (value->reals || value->integers);
    uint64_t count = a ? a->n_floats : known ? pim_onnx_elements(&value->shape) : 0;
    if (count > capacity)
        return 0;
    for (uint32_t n = 0; n < count; n++)
        list[n] = a ? (double)a->floats[n] : value->integers ? (double)value->integers[n] : value->reals[n];
    return (uint32_t)count;
}

const struct Onnx__TensorProto *pim_onnx_tensor(const struct pim_onnx_importer *i, const char *name)
{
    const struct Onnx__AttributeProto *a = attribute(i, name);
    return a ? a->t : NULL;
}

uint32_t pim_onnx_list(struct pim_onnx_importer *i, const char *name, size_t input, int64_t *list,
                       uint32_t capacity, bool *given)
{
    const struct Onnx__AttributeProto *a = name ? attribute(i, name) : NULL;
    const struct pim_onnx_value *value = a || input == SIZE_MAX ? NULL : pim_onnx_optional_input(i, input);
    if (given)
        *given = a || value;
    if (i->status != PIM_OK || (!a && !value))
        return 0;
    if (value && (value->kind != PIM_ONNX_CONSTANT || !value->integers)) {
        pim_onnx_fail(i, "input %zu, \"%s\", must be a constant list of whole numbers%s", input, value->name,
                      value->kind == PIM_ONNX_CONSTANT
                          ? " that stand in the file itself: of tensors in other files (external data) "
                            "shapes alone are read"
                          : "");
        return 0;
    }
    uint64_t count = a ? a->n_ints : pim_onnx_elements(&value->shape);
    const int64_t *from = a ? a->ints : value->integers;
    if (count > capacity) {
        pim_onnx_fail(i, "%s has %llu entries: at most %u are possible here", name ? name : value->name,
                      (unsigned long long)count, capacity);
        return 0;
    }
    if (count)
        memcpy(list, from, (size_t)count * sizeof *list);
    return (uint32_t)count;
}

uint32_t pim_onnx_axis(struct pim_onnx_importer *i, int64_t axis, uint32_t rank)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        pim_onnx_fail(i, "axis %lld does not exist: the tensor has %u dimensions", (long long)axis, rank);
        return 0;
    }
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

uint32_t pim_onnx_size(struct pim_onnx_importer *i, const char *what, int64_t value, int64_t least)
{
    if (value >= least && value <= (int64_t)PIM_DIMENSION_LIMIT)
        return (uint32_t)value;
    pim_onnx_fail(i, "%s is %lld: allowed are %lld to %u", what, (long long)value, (long long)least,
                  PIM_DIMENSION_LIMIT);
    return (uint32_t)least;
}

bool pim_onnx_pads_zeros(struct pim_onnx_importer *i, const struct pim_onnx_value *padded)
{
    const struct Onnx__NodeProto *work = i->node;
    double number = 0;
    if (padded->maker == PIM_NONE)
        return false;
    i->node = i->model->node[padded->maker];
    bool plain = strcmp(i->node->op_type, "Pad") == 0 &&
                 (!pim_onnx_has(i, "mode") || pim_onnx_text_is(i, "mode", "constant"));
    const struct pim_onnx_value *value = plain ? pim_onnx_optional_input(i, 2) : NULL;
    number = pim_onnx_real(i, "value", 0);
    bool known = !value || pim_onnx_scalar(value, &number);
    i->node = work;
    return plain && known && !(number < 0) && !(number > 0);
}
