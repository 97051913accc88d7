/*
 * Text, CSV and DOT; JSON is in print_json.c.
 */
#include "mappers/network/print.h"

#include "sim/output/csv.h"

#include <inttypes.h>
#include <string.h>

enum { SHAPE_TEXT = 96, NUMBER_TEXT = 32 };

/* 28288354 -> "28 288 354" */
static const char *grouped(uint64_t value, char text[NUMBER_TEXT])
{
    char digits[NUMBER_TEXT];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            *to++ = ' ';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static void print_totals(const struct pim_network *network, FILE *file)
{
    const struct pim_graph *graph = &network->graph;
    char macs[NUMBER_TEXT], padding[NUMBER_TEXT], parameters[NUMBER_TEXT];
    fprintf(file, "%s", network->name);
    if (network->transformer)
        fprintf(file, " (%s, image %" PRIu32 "x%" PRIu32 ")", pim_family_name(network->transformer->family),
                network->transformer->image, network->transformer->image);
    fprintf(file, ": %" PRIu32 " layers\nparameters   %s\nMACs         %s\n  on padding %s\n", graph->count,
            grouped(graph->parameters, parameters), grouped(graph->macs, macs),
            grouped(graph->padding_macs, padding));
}

static void print_layers(const struct pim_graph *graph, FILE *file)
{
    size_t width = strlen("layer");
    for (uint32_t i = 0; i < graph->count; i++) {
        size_t length = strlen(graph->layers[i].name);
        width = length > width ? length : width;
    }
    int column = width > 60 ? 60 : (int)width;
    fprintf(file, "\n%-*s  %-22s %-20s %14s %18s\n", column, "layer", "operator", "output", "parameters",
            "MACs");
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pim_layer *layer = &graph->layers[i];
        char shape[SHAPE_TEXT], macs[NUMBER_TEXT], parameters[NUMBER_TEXT];
        fprintf(file, "%-*s  %-22s %-20s %14s %18s\n", column, layer->name,
                pim_operator_name(layer->operation), pim_shape_text(&layer->output, shape, sizeof shape),
                grouped(layer->parameters, parameters), grouped(layer->macs, macs));
    }
}

static void print_stages(const struct pim_transformer *transformer, FILE *file)
{
    fprintf(file, "\n%5s %11s %8s %5s %6s %6s %9s  %s\n", "stage", "map", "channels", "heads", "blocks",
            "window", "reduction", "embedding or merging");
    for (uint32_t i = 0; i < transformer->stages; i++) {
        const struct pim_transformer_stage *stage = &transformer->stage[i];
        char map[NUMBER_TEXT], window[NUMBER_TEXT] = "-";
        (void)snprintf(map, sizeof map, "%" PRIu32 "x%" PRIu32, stage->height, stage->width);
        if (stage->window)
            (void)snprintf(window, sizeof window, "%" PRIu32, stage->window);
        fprintf(file,
                "%5" PRIu32 " %11s %8" PRIu32 " %5" PRIu32 " %6" PRIu32 " %6s %9" PRIu32 "  %" PRIu32
                " -> %" PRIu32 "\n",
                i + 1, map, stage->channels, stage->heads, stage->blocks, window, stage->reduction,
                stage->merge_inputs, stage->merge_outputs);
    }
}

static void print_attention(const struct pim_transformer_block *block, uint32_t which, FILE *file)
{
    const struct pim_attention *attention = &block->attention[which];
    char name[NUMBER_TEXT] = "", grid[NUMBER_TEXT], region[NUMBER_TEXT], macs[NUMBER_TEXT] = "",
         tokens[NUMBER_TEXT] = "";
    (void)snprintf(grid, sizeof grid, "%" PRIu32 "x%" PRIu32, attention->branches_y, attention->branches_x);
    (void)snprintf(region, sizeof region, "%" PRIu32 "x%" PRIu32, attention->region_height,
                   attention->region_width);
    if (which == 0) {
        (void)snprintf(name, sizeof name, "%" PRIu32 ".%" PRIu32, block->stage + 1, block->index + 1);
        (void)snprintf(tokens, sizeof tokens, "%" PRIu64, block->tokens);
    }
    const char *kind = attention->global ? "global" : block->shifted ? "shifted" : "local";
    fprintf(file, "%7s %8s %8" PRIu32 " %9s %9s %8" PRIu32 " %8" PRIu32 " %5" PRIu32 " %6" PRIu32 " %7s",
            name, tokens, attention->branches, grid, region, attention->query_tokens, attention->key_tokens,
            attention->heads, attention->head_channels, kind);
    if (which == 0)
        fprintf(file, " %16s", grouped(block->macs, macs));
    for (uint32_t i = 0; attention->granularities > 1 && i < attention->granularities; i++)
        fprintf(file, "%s%" PRIu32, i == 0 ? "  keys " : " + ", attention->granularity_keys[i]);
    fputc('\n', file);
}

static void print_blocks(const struct pim_transformer *transformer, FILE *file)
{
    fprintf(file, "\n%7s %8s %8s %9s %9s %8s %8s %5s %6s %7s %16s\n", "block", "tokens", "branches", "grid",
            "region", "queries", "keys", "heads", "head_c", "kind", "MACs");
    for (uint32_t i = 0; i < transformer->blocks; i++) {
        for (uint32_t j = 0; j < transformer->block[i].attentions; j++)
            print_attention(&transformer->block[i], j, file);
    }
}

void pim_network_print_text(const struct pim_network *network, FILE *file)
{
    print_totals(network, file);
    print_layers(&network->graph, file);
    if (!network->transformer)
        return;
    print_stages(network->transformer, file);
    print_blocks(network->transformer, file);
}

/* Number of the block in its stage, from 1; 0 outside. */
static uint64_t block_number(const struct pim_network *network, const struct pim_layer *layer)
{
    if (layer->block == PIM_NONE || !network->transformer)
        return 0;
    return (uint64_t)network->transformer->block[layer->block].index + 1;
}

void pim_network_print_csv(const struct pim_network *network, FILE *file)
{
    static const char *const header[] = {"layer",        "operator", "role",         "stage",     "block",
                                         "output_shape", "macs",     "padding_macs", "parameters"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (uint32_t i = 0; i < network->graph.count; i++) {
        const struct pim_layer *layer = &network->graph.layers[i];
        char shape[SHAPE_TEXT];
        pim_csv_put_text(&writer, layer->name);
        pim_csv_put_text(&writer, pim_operator_name(layer->operation));
        pim_csv_put_text(&writer, pim_role_name(layer->role));
        pim_csv_put_count(&writer, layer->stage == PIM_NONE ? 0 : (uint64_t)layer->stage + 1);
        pim_csv_put_count(&writer, block_number(network, layer));
        pim_csv_put_text(&writer, pim_shape_text(&layer->output, shape, sizeof shape));
        pim_csv_put_count(&writer, layer->macs);
        pim_csv_put_count(&writer, layer->padding_macs);
        pim_csv_put_count(&writer, layer->parameters);
        pim_csv_end_row(&writer);
    }
}

/* A quoted string of DOT: quotes and backslashes are escaped, control characters dropped. */
static void print_dot_text(const char *text, FILE *file)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        if ((unsigned char)*text >= ' ')
            fputc(*text, file);
    }
}

void pim_network_print_dot(const struct pim_network *network, FILE *file)
{
    fputs("digraph \"", file);
    print_dot_text(network->name, file);
    fputs("\" {\n    node [shape=box, fontname=\"sans-serif\"];\n", file);
    for (uint32_t i = 0; i < network->graph.count; i++) {
        const struct pim_layer *layer = &network->graph.layers[i];
        char shape[SHAPE_TEXT];
        fprintf(file, "    l%" PRIu32 " [label=\"", i);
        print_dot_text(layer->name, file);
        fprintf(file, "\\n%s\\n%s\"];\n", pim_operator_name(layer->operation),
                pim_shape_text(&layer->output, shape, sizeof shape));
        for (uint32_t j = 0; j < layer->inputs; j++)
            fprintf(file, "    l%" PRIu32 " -> l%" PRIu32 ";\n", layer->input[j], i);
    }
    fputs("}\n", file);
}
