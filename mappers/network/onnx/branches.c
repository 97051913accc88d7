/*
 * If: two networks inside of a node, of which one runs. Exporters write it where a shape was open; where the
 * shape is known the condition is, and the branch that runs becomes layers like all other nodes.
 *
 * Before the nodes are put in order both branches are decoded: the names that they make get the name of the
 * node in front, and what they read from outside becomes inputs of the If node, so that it is made before. A
 * branch may hold another If.
 */
#include "mappers/network/onnx/operators/operators.h"
#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 };

struct branch {
    Onnx__NodeProto **node;
    size_t nodes;
    char **output;
    size_t outputs;
};

struct pim_onnx_choice {
    const Onnx__NodeProto *node; /* the If, with what its branches read as further inputs */
    struct branch branch[2];     /* then, else */
};

/* Names that a branch makes, and what stands in front of them outside; around it the branch that holds it. */
struct scope {
    const struct scope *around;
    struct pim_onnx_names made;
    const char *prefix;
};

/* Names that are read from outside of the outermost If. */
struct captures {
    char **name;
    size_t count, capacity;
};

static bool is_choice(const Onnx__NodeProto *node)
{
    return strcmp(node->op_type, "If") == 0 &&
           (node->domain[0] == '\0' || strcmp(node->domain, "ai.onnx") == 0);
}

/* A name as it is outside of all branches; `own` tells whether a branch makes it. */
static char *outer_name(struct pim_onnx_importer *i, const struct scope *scope, char *name, bool *own)
{
    *own = false;
    for (; scope && name[0]; scope = scope->around)
        if (pim_onnx_names_find(&scope->made, name) != UINT32_MAX) {
            size_t size = strlen(scope->prefix) + strlen(name) + 2;
            char *text = pim_arena_require(&i->scratch, size, 1);
            (void)snprintf(text, size, "%s/%s", scope->prefix, name);
            *own = true;
            return text;
        }
    return name;
}

/* What a branch reads, by its name outside: one more reader, or two, so that no fusion reaches into it. */
static char *read_name(struct pim_onnx_importer *i, const struct scope *scope, char *name,
                       struct captures *captures)
{
    bool own;
    char *outside = outer_name(i, scope, name, &own);
    if (own) {
        i->value[pim_onnx_value_named(i, outside)].readers += 2;
    } else if (name[0]) {
        captures->name = pim_array_require(captures->name, &captures->capacity, captures->count + 1,
                                           sizeof *captures->name);
        captures->name[captures->count++] = outside;
    }
    return outside;
}

static Onnx__GraphProto *decode(struct pim_onnx_importer *i, const Onnx__NodeProto *node, const char *name)
{
    for (size_t a = 0; a < node->n_attribute; a++) {
        const Onnx__AttributeProto *attribute = node->attribute[a];
        if (strcmp(attribute->name, name) != 0)
            continue;
        Onnx__GraphProto *graph =
            attribute->g.len ? onnx__graph_proto__unpack(NULL, attribute->g.len, attribute->g.data) : NULL;
        if (!graph)
            break;
        i->subgraph = pim_array_require(i->subgraph, &i->subgraph_capacity, i->subgraphs + 1,
                                        sizeof(Onnx__GraphProto *));
        i->subgraph[i->subgraphs++] = graph;
        return graph;
    }
    pim_onnx_fail(i, "its %s is missing or no graph", name);
    return NULL;
}

static void read_choice(struct pim_onnx_importer *i, Onnx__NodeProto *node, const struct scope *around,
                        struct captures *captures, uint32_t depth);

/* Constants and results that a branch makes become values. */
static void name_values(struct pim_onnx_importer *i, const Onnx__GraphProto *graph, struct scope *scope)
{
    bool own;
    for (size_t n = 0; n < graph->n_initializer; n++)
        pim_onnx_names_put(&scope->made, graph->initializer[n]->name, 0);
    for (size_t n = 0; n < graph->n_node; n++)
        for (size_t o = 0; o < graph->node[n]->n_output; o++)
            if (graph->node[n]->output[o][0])
                pim_onnx_names_put(&scope->made, graph->node[n]->output[o], 0);
    for (size_t n = 0; n < graph->n_initializer && i->status == PIM_OK; n++) {
        uint32_t value = pim_onnx_value_named(i, outer_name(i, scope, graph->initializer[n]->name, &own));
        pim_onnx_read_tensor(i, graph->initializer[n], &i->value[value]);
    }
}

static void read_branch(struct pim_onnx_importer *i, const Onnx__GraphProto *graph,
                        const struct scope *around, const char *prefix, struct captures *captures,
                        uint32_t depth, struct branch *branch)
{
    struct scope scope = {.around = around, .made = {.arena = &i->scratch}, .prefix = prefix};
    bool own;
    name_values(i, graph, &scope);
    branch->node = pim_arena_require_array(&i->scratch, graph->n_node + 1, sizeof *branch->node,
                                           _Alignof(Onnx__NodeProto *));
    branch->output =
        pim_arena_require_array(&i->scratch, graph->n_output + 1, sizeof *branch->output, _Alignof(char *));
    for (size_t n = 0; n < graph->n_node && i->status == PIM_OK; n++) {
        Onnx__NodeProto *node = graph->node[n]; /* decoded for this import alone: its names may change */
        char **input =
            pim_arena_require_array(&i->scratch, node->n_input + 1, sizeof *input, _Alignof(char *));
        char **output =
            pim_arena_require_array(&i->scratch, node->n_output + 1, sizeof *output, _Alignof(char *));
        for (size_t k = 0; k < node->n_input; k++)
            input[k] = read_name(i, &scope, node->input[k], captures);
        for (size_t k = 0; k < node->n_output; k++) {
            output[k] = outer_name(i, &scope, node->output[k], &own);
            if (own)
                (void)pim_onnx_value_named(i, output[k]);
        }
        Onnx__NodeProto *copy = pim_arena_require(&i->scratch, sizeof *copy, _Alignof(Onnx__NodeProto));
        *copy = *node;
        copy->input = input;
        copy->output = output;
        if (is_choice(copy))
            read_choice(i, copy, &scope, captures, depth + 1);
        branch->node[branch->nodes++] = copy;
    }
    for (size_t n = 0; n < graph->n_output && i->status == PIM_OK; n++)
        branch->output[branch->outputs++] = read_name(i, &scope, graph->output[n]->name, captures);
}

static void read_choice(struct pim_onnx_importer *i, Onnx__NodeProto *node, const struct scope *around,
                        struct captures *captures, uint32_t depth)
{
    static const char *const names[2] = {"then_branch", "else_branch"};
    const Onnx__NodeProto *work = i->node;
    i->node = node;
    if (depth == DEEPEST)
        pim_onnx_fail(i, "branches hold each other more than %d deep", DEEPEST);
    size_t at = i->choices;
    i->choice = pim_array_require(i->choice, &i->choice_capacity, at + 1, sizeof(struct pim_onnx_choice *));
    i->choice[at] = PIM_ARENA_NEW(&i->scratch, struct pim_onnx_choice);
    struct pim_onnx_choice *choice = i->choice[at];
    if (!choice) {
        i->status = pim_fail(i->error, PIM_NO_MEMORY, "out of memory while reading %s", i->path);
        return;
    }
    *choice = (struct pim_onnx_choice){.node = node};
    i->choices++;
    for (int b = 0; b < 2 && i->status == PIM_OK; b++) {
        const char *name = node->name[0] ? node->name : "If";
        size_t size = strlen(name) + 24;
        char *prefix = pim_arena_require(&i->scratch, size, 1);
        (void)snprintf(prefix, size, "%s#%zu.%s", name, at, b == 0 ? "then" : "else");
        const Onnx__GraphProto *graph = decode(i, node, names[b]);
        if (graph)
            read_branch(i, graph, around, prefix, captures, depth, &choice->branch[b]);
    }
    i->node = work;
}

void pim_onnx_read_branches(struct pim_onnx_importer *i)
{
    bool any = false;
    for (size_t n = 0; n < i->model->n_node; n++)
        any |= is_choice(i->model->node[n]);
    if (!any)
        return;
    Onnx__GraphProto *graph = pim_arena_require(&i->scratch, sizeof *graph, _Alignof(Onnx__GraphProto));
    *graph = *i->model;
    graph->node = pim_arena_require_array(&i->scratch, graph->n_node + 1, sizeof *graph->node,
                                          _Alignof(Onnx__NodeProto *));
    for (size_t n = 0; n < graph->n_node && i->status == PIM_OK; n++) {
        struct captures captures = {.count = 0};
        Onnx__NodeProto *node = i->model->node[n];
        graph->node[n] = node;
        if (!is_choice(node))
            continue;
        Onnx__NodeProto *copy = pim_arena_require(&i->scratch, sizeof *copy, _Alignof(Onnx__NodeProto));
        *copy = *node;
        read_choice(i, copy, NULL, &captures, 0);
        copy->n_input = node->n_input + captures.count;
        copy->input =
            pim_arena_require_array(&i->scratch, copy->n_input + 1, sizeof *copy->input, _Alignof(char *));
        if (node->n_input)
            memcpy(copy->input, node->input, node->n_input * sizeof *copy->input);
        if (captures.count)
            memcpy(copy->input + node->n_input, captures.name, captures.count * sizeof *copy->input);
        free(captures.name);
        graph->node[n] = copy;
    }
    i->model = graph;
}

void pim_onnx_free_branches(struct pim_onnx_importer *i)
{
    for (size_t n = 0; n < i->subgraphs; n++)
        onnx__graph_proto__free_unpacked(i->subgraph[n], NULL);
    free(i->subgraph);
    free(i->choice);
}

/* The branches of the node at work; nodes come in about the order in which they were read. */
static const struct pim_onnx_choice *choice_of(struct pim_onnx_importer *i)
{
    for (size_t n = 0; n < i->choices; n++) {
        size_t at = (i->next_choice + n) % i->choices;
        if (i->choice[at]->node == i->node) {
            i->next_choice = at + 1;
            return i->choice[at];
        }
    }
    return NULL;
}

void pim_onnx_convert_choice(struct pim_onnx_importer *i, unsigned unused)
{
    (void)unused;
    double condition = 0;
    const Onnx__NodeProto *work = i->node;
    const struct pim_onnx_choice *choice = choice_of(i);
    if (!choice || !pim_onnx_scalar(pim_onnx_input(i, 0), &condition)) {
        pim_onnx_fail(i, "which of its branches runs depends on the data");
        return;
    }
    const struct branch *branch = &choice->branch[condition < 0 || condition > 0 ? 0 : 1];
    for (size_t n = 0; n < branch->nodes && i->status == PIM_OK; n++) {
        i->node = branch->node[n];
        pim_onnx_convert_node(i);
    }
    i->node = work;
    for (size_t o = 0; o < work->n_output && i->status == PIM_OK; o++) {
        uint32_t value =
            o < branch->outputs ? pim_onnx_names_find(&i->value_names, branch->output[o]) : PIM_NONE;
        if (value == PIM_NONE || i->value[value].kind == PIM_ONNX_ABSENT)
            pim_onnx_fail(i, "the branch that runs does not make output %zu", o);
        else if (pim_onnx_is_read(i, o))
            pim_onnx_bind_same(i, o, &i->value[value]);
    }
}
