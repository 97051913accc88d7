#include "tests/unit/pimcomp/cases.h"

#include <stdio.h>
#include <string.h>

struct pim_core_architecture core_architecture(uint32_t width, uint32_t height, uint32_t arrays,
                                               uint32_t rows, uint32_t columns)
{
    return (struct pim_core_architecture){
        .width = width,
        .height = height,
        .cores = width * height,
        .chip_width = width,
        .chip_height = height,
        .connection = PIM_CORE_MESH,
        .synchronous = true,
        .window = 16,
        .element_bytes = 2,
        .arrays = arrays,
        .array_rows = rows,
        .array_columns = columns,
        .arrays_per_group_step = 1,
        .mvm_cycles = 2048,
        .local_memory_bytes = 65536,
        .local_bytes_per_cycle = 64,
        .local_read_cycles = 1,
        .local_write_cycles = 1,
        .vector_lanes = 32,
        .vector_cycles = 4,
        .global_memory_bytes = UINT64_C(1) << 30,
        .global_bytes_per_cycle = 64,
        .global_read_cycles = 50,
        .global_write_cycles = 50,
        .flit_bits = 256,
        .buffer_flits = 8,
        .packet_bytes = 4096,
        .hop_cycles = 5,
        .network = {.per_router = 5},
        .chip_link_bytes_per_cycle = 8,
        .chip_link_cycles = 100,
        .local_pipelined = true,
        .global_pipelined = true,
        .vector_pipelined = true,
    };
}

void core_case_begin(struct core_case *c)
{
    memset(c, 0, sizeof *c);
    pim_arena_initialize(&c->arena, 0);
    pim_graph_initialize(&c->graph, &c->arena);
    c->architecture = core_architecture(4, 4, 8, 32, 32);
}

void core_case_end(struct core_case *c)
{
    pim_network_destroy(c->source);
    pim_arena_terminate(&c->arena);
}

void core_case_network(struct core_case *c, const char *name, const char *override)
{
    char relative[96], path[512];
    struct pim_error error;
    (void)snprintf(relative, sizeof relative, "configs/networks/%s.cfg", name);
    pimsim_source_path(path, sizeof path, relative);
    ck_assert_msg(pim_network_read(path, &override, override ? 1 : 0, &c->source, &error) == PIM_OK, "%s",
                  error.text);
    ck_assert_msg(pim_core_network_lower(&c->source->graph, name, &c->arena, &c->network, &error) == PIM_OK,
                  "%s", error.text);
}

uint32_t core_case_layer(struct core_case *c, const char *name, enum pim_operator operation,
                         const union pim_attributes *attributes, uint32_t inputs, const uint32_t *input)
{
    struct pim_error error;
    uint32_t index;
    struct pim_layer_description description = {.name = name,
                                                .operation = operation,
                                                .stage = PIM_NONE,
                                                .block = PIM_NONE,
                                                .inputs = inputs,
                                                .input = input};
    if (attributes)
        description.attributes = *attributes;
    ck_assert_msg(pim_graph_add(&c->graph, &description, &index, &error) == PIM_OK, "%s", error.text);
    return index;
}

uint32_t core_case_image(struct core_case *c, uint32_t channels, uint32_t height, uint32_t width)
{
    const union pim_attributes a = {.shape = {.rank = 4, .dimension = {1, channels, height, width}}};
    return core_case_layer(c, "image", PIM_OPERATOR_INPUT, &a, 0, NULL);
}

uint32_t core_case_convolution(struct core_case *c, const char *name, uint32_t input, uint32_t outputs,
                               uint32_t kernel, uint32_t stride, uint32_t pad)
{
    const union pim_attributes a = {.convolution = {.sliding = {.kernel = {kernel, kernel},
                                                                .stride = {stride, stride},
                                                                .dilation = {1, 1},
                                                                .pad_before = {pad, pad},
                                                                .pad_after = {pad, pad}},
                                                    .outputs = outputs,
                                                    .groups = 1,
                                                    .bias = true}};
    return core_case_layer(c, name, PIM_OPERATOR_CONVOLUTION, &a, 1, &input);
}

uint32_t core_case_grouped(struct core_case *c, const char *name, uint32_t input, uint32_t outputs,
                           uint32_t groups, uint32_t kernel)
{
    const union pim_attributes a = {
        .convolution = {.sliding = {.kernel = {kernel, kernel}, .stride = {1, 1}, .dilation = {1, 1}},
                        .outputs = outputs,
                        .groups = groups,
                        .bias = true}};
    return core_case_layer(c, name, PIM_OPERATOR_CONVOLUTION, &a, 1, &input);
}

uint32_t core_case_activation(struct core_case *c, const char *name, uint32_t input, enum pim_activation kind)
{
    const union pim_attributes a = {.activation = kind};
    return core_case_layer(c, name, PIM_OPERATOR_ACTIVATION, &a, 1, &input);
}

void core_case_lower(struct core_case *c)
{
    struct pim_error error;
    ck_assert_msg(pim_core_network_lower(&c->graph, "case", &c->arena, &c->network, &error) == PIM_OK, "%s",
                  error.text);
}

void core_case_map(struct core_case *c, enum pim_core_mode mode, enum pim_unfolding unfolding,
                   pim_core_layout_rule *lay)
{
    struct pim_error error;
    ck_assert_msg(pim_core_partition_make(&c->network, &c->architecture, mode, unfolding, &c->arena,
                                          &c->partition, &error) == PIM_OK,
                  "%s", error.text);
    c->mapping = (struct pim_core_mapping){.architecture = &c->architecture,
                                           .network = &c->network,
                                           .partition = &c->partition,
                                           .layout = &c->layout,
                                           .mode = mode};
    if (!lay)
        return;
    ck_assert_msg(lay(&c->mapping, &c->arena, &c->layout, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_core_layout_check(&c->mapping, &error) == PIM_OK, "%s", error.text);
}

uint64_t core_case_mvms(const struct core_case *c)
{
    uint64_t mvms = 0;
    for (uint32_t i = 0; i < c->network.count; i++)
        mvms += (uint64_t)c->network.layer[i].windows * c->partition.layer[i].groups;
    return mvms;
}

const struct pim_core_layer *core_case_named(const struct core_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->network.count; i++)
        if (strcmp(c->network.layer[i].name, name) == 0)
            return &c->network.layer[i];
    ck_abort_msg("no lowered layer %s", name);
    return NULL;
}

static uint64_t sum_weights(const struct core_case *c, bool of_all_windows)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->network.count; i++) {
        const struct pim_core_layer *layer = &c->network.layer[i];
        if (layer->kind == PIM_CORE_MATRIX)
            sum += (uint64_t)layer->rows * layer->channels / layer->blocks *
                   (of_all_windows ? layer->windows : 1);
    }
    return sum;
}

uint64_t core_case_weights(const struct core_case *c)
{
    return sum_weights(c, false);
}

uint64_t core_case_macs(const struct core_case *c)
{
    return sum_weights(c, true);
}

void core_case_small(struct core_case *c)
{
    core_case_begin(c);
    c->architecture = core_architecture(4, 3, 12, 32, 32);
    uint32_t x = core_case_image(c, 8, 16, 16);
    x = core_case_activation(c, "relu1", core_case_convolution(c, "conv1", x, 32, 3, 1, 1),
                             PIM_ACTIVATION_RELU);
    uint32_t left = core_case_convolution(c, "left", x, 32, 1, 1, 0);
    uint32_t right = core_case_convolution(c, "right", x, 32, 3, 1, 1);
    const uint32_t pair[2] = {left, right};
    const union pim_attributes add = {.elementwise = PIM_ELEMENTWISE_ADD};
    x = core_case_layer(c, "sum", PIM_OPERATOR_ELEMENTWISE, &add, 2, pair);
    (void)core_case_convolution(c, "conv2", x, 64, 3, 2, 1);
    core_case_lower(c);
}
