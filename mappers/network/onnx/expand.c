/*
 * Functions of the model: a node that calls one becomes the nodes of its body.
 *
 * Names inside of a body get the call's name in front; inputs, outputs and attributes are those of the call.
 * A function may call others; how deep, and how many nodes there are in the end, is limited, for a file of a
 * few lines could ask for any number.
 */
#include "mappers/network/onnx/importer.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16, MOST_NODES = 1 << 18 };

struct expansion {
    struct pim_onnx_importer *i;
    Onnx__NodeProto **node;
    size_t count, capacity;
    uint32_t calls;
};

/* A call at work: its node, the function, and what stands in front of names inside. */
struct call {
    const Onnx__NodeProto *node;
    const Onnx__FunctionProto *function;
    const char *prefix;
};

static const Onnx__FunctionProto *function_of(const struct expansion *e, const Onnx__NodeProto *node)
{
    const Onnx__ModelProto *file = e->i->file;
    for (size_t f = 0; f < file->n_functions; f++)
        if (strcmp(file->functions[f]->name, node->op_type) == 0 &&
            strcmp(file->functions[f]->domain, node->domain) == 0)
            return file->functions[f];
    return NULL;
}

/* A name inside of the body as it is outside. */
static char *outer_name(struct expansion *e, const struct call *call, char *name)
{
    if (name[0] == '\0')
        return name;
    for (size_t n = 0; n < call->function->n_input; n++)
        if (strcmp(call->function->input[n], name) == 0)
            return n < call->node->n_input ? call->node->input[n] : name + strlen(name);
    for (size_t n = 0; n < call->function->n_output; n++)
        if (strcmp(call->function->output[n], name) == 0 && n < call->node->n_output &&
            call->node->output[n][0] != '\0')
            return call->node->output[n];
    size_t size = strlen(call->prefix) + strlen(name) + 2;
    char *made = pim_arena_require(&e->i->scratch, size, 1);
    (void)snprintf(made, size, "%s/%s", call->prefix, name);
    return made;
}

static char **outer_names(struct expansion *e, const struct call *call, char **names, size_t count)
{
    char **made = pim_arena_require_array(&e->i->scratch, count + 1, sizeof *made, _Alignof(char *));
    for (size_t n = 0; n < count; n++)
        made[n] = outer_name(e, call, names[n]);
    return made;
}

static Onnx__AttributeProto *attribute_named(Onnx__AttributeProto **list, size_t count, const char *name)
{
    for (size_t a = 0; a < count; a++)
        if (strcmp(list[a]->name, name) == 0)
            return list[a];
    return NULL;
}

/* Attributes that name one of the call take it over, or the function's own; where there is neither, the
 * attribute is left out. */
static void take_attributes(struct expansion *e, const struct call *call, Onnx__NodeProto *node)
{
    Onnx__AttributeProto **list = pim_arena_require_array(&e->i->scratch, node->n_attribute + 1, sizeof *list,
                                                          _Alignof(Onnx__AttributeProto *));
    size_t count = 0;
    for (size_t a = 0; a < node->n_attribute; a++) {
        Onnx__AttributeProto *own = node->attribute[a], *from = NULL;
        const char *reference = own->ref_attr_name;
        if (reference[0] == '\0') {
            list[count++] = own;
            continue;
        }
        from = attribute_named(call->node->attribute, call->node->n_attribute, reference);
        if (!from)
            from = attribute_named(call->function->attribute_proto, call->function->n_attribute_proto,
                                   reference);
        if (!from)
            continue;
        Onnx__AttributeProto *copy =
            pim_arena_require(&e->i->scratch, sizeof *copy, _Alignof(Onnx__AttributeProto));
        *copy = *from;
        copy->name = own->name;
        list[count++] = copy;
    }
    node->attribute = list;
    node->n_attribute = count;
}

/* Adds a node, or the body of the function that it calls. */
static void add_node(struct expansion *e, Onnx__NodeProto *node, uint32_t depth)
{
    const Onnx__FunctionProto *function = function_of(e, node);
    struct pim_onnx_importer *i = e->i;
    i->node = node;
    if (e->count + e->calls >= MOST_NODES)
        pim_onnx_fail(i, "its functions make more than %d nodes", MOST_NODES);
    else if (function && depth == DEEPEST)
        pim_onnx_fail(i, "functions call each other more than %d deep", DEEPEST);
    i->node = NULL;
    if (i->status != PIM_OK)
        return;
    if (!function) {
        e->node = pim_array_require(e->node, &e->capacity, e->count + 1, sizeof(Onnx__NodeProto *));
        e->node[e->count++] = node;
        return;
    }
    const char *name = node->name[0] ? node->name : node->op_type;
    size_t size = strlen(name) + 16;
    char *prefix = pim_arena_require(&i->scratch, size, 1);
    (void)snprintf(prefix, size, "%s#%u", name, ++e->calls);
    const struct call call = {node, function, prefix};
    for (size_t n = 0; n < function->n_node && i->status == PIM_OK; n++) {
        Onnx__NodeProto *inner = pim_arena_require(&i->scratch, sizeof *inner, _Alignof(Onnx__NodeProto));
        *inner = *function->node[n];
        inner->name = inner->name[0] ? outer_name(e, &call, inner->name) : prefix;
        inner->input = outer_names(e, &call, inner->input, inner->n_input);
        inner->output = outer_names(e, &call, inner->output, inner->n_output);
        take_attributes(e, &call, inner);
        add_node(e, inner, depth + 1);
    }
}

void pim_onnx_expand_functions(struct pim_onnx_importer *i)
{
    struct expansion e = {.i = i};
    if (i->file->n_functions == 0)
        return;
    Onnx__GraphProto *graph = pim_arena_require(&i->scratch, sizeof *graph, _Alignof(Onnx__GraphProto));
    for (size_t n = 0; n < i->model->n_node && i->status == PIM_OK; n++)
        add_node(&e, i->model->node[n], 0);
    *graph = *i->model; /* the file's own lists stay as they are: they are freed with it */
    graph->node =
        pim_arena_require_array(&i->scratch, e.count + 1, sizeof *graph->node, _Alignof(Onnx__NodeProto *));
    if (e.count)
        memcpy(graph->node, e.node, e.count * sizeof *graph->node);
    graph->n_node = e.count;
    i->model = graph;
    free(e.node);
}
