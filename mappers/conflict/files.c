/* The graph and its mapping as files that `pimsim tasks` replays. */
#include "mappers/conflict/files.h"

#include "sim/output/csv.h"
#include "sim/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "8;2", or -1 for none. */
static void put_list(struct pim_csv_writer *writer, const struct pim_tile_graph *tiles, uint32_t node,
                     bool sources, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t e = 0; e < tiles->edges && length + 16 < size; e++) {
        const struct pim_tile_edge *edge = &tiles->edge[e];
        if ((sources ? edge->destination : edge->source) == node)
            length += (size_t)snprintf(text + length, size - length, "%s%" PRIu32, length ? ";" : "",
                                       sources ? edge->source : edge->destination);
    }
    pim_csv_put_text(writer, length ? text : "-1");
}

static void write_nodes(FILE *file, const struct pim_tile_graph *tiles, char *text, size_t size)
{
    static const char *const header[] = {
        "node",    "layer",  "kind", "steps", "latency_ns_per_step", "bits_per_output_packet",
        "sources", "targets"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (uint32_t n = 0; n < tiles->nodes; n++) {
        const struct pim_tile_node *node = &tiles->node[n];
        pim_csv_put_count(&writer, n);
        pim_csv_put_count(&writer, node->layer);
        pim_csv_put_text(&writer, node->merge ? "merge" : "pe");
        pim_csv_put_count(&writer, node->steps);
        pim_csv_put_real(&writer, node->latency_ns);
        pim_csv_put_count(&writer, node->bits);
        put_list(&writer, tiles, n, true, text, size);
        put_list(&writer, tiles, n, false, text, size);
        pim_csv_end_row(&writer);
    }
}

static void write_edges(FILE *file, const struct pim_tile_graph *tiles)
{
    static const char *const header[] = {"edge", "src", "dst", "packets", "bits_per_packet", "total_bits"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (uint32_t e = 0; e < tiles->edges; e++) {
        const struct pim_tile_edge *edge = &tiles->edge[e];
        const uint64_t fields[] = {
            e, edge->source, edge->destination, edge->packets, edge->bits, edge->packets * edge->bits};
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
            pim_csv_put_count(&writer, fields[i]);
        pim_csv_end_row(&writer);
    }
}

static void write_layers(FILE *file, const struct pim_tile_graph *tiles)
{
    static const char *const header[] = {"layer", "type",   "in_h",   "in_w", "out_h",
                                         "out_w", "kernel", "stride", "pad"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (uint32_t l = 0; l < tiles->layers; l++) {
        const struct pim_tile_layer *layer = &tiles->layer[l];
        const uint32_t sizes[] = {layer->window.in_size[0],  layer->window.in_size[1],
                                  layer->window.out_size[0], layer->window.out_size[1],
                                  layer->window.kernel[0],   layer->window.stride[0],
                                  layer->window.pad[0]};
        bool joins = layer->kind == PIM_TILE_CONCAT || layer->kind == PIM_TILE_PRODUCT;
        unsigned kind = joins ? PIM_TILE_SUM : layer->kind; /* packet by packet */
        pim_csv_put_count(&writer, l);
        pim_csv_put_text(&writer, pim_tile_layer_kind_name(kind));
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            pim_csv_put_count(&writer, sizes[i]);
        pim_csv_end_row(&writer);
    }
}

static void write_dependences(FILE *file, const struct pim_tile_graph *tiles)
{
    static const char *const header[] = {"node", "step", "source_node", "need_packets", "drop_packets"};
    struct pim_csv_writer writer;
    pim_csv_start(&writer, file, header, sizeof header / sizeof header[0]);
    for (uint32_t e = 0; e < tiles->edges; e++)
        for (uint32_t s = 0; s < tiles->node[tiles->edge[e].destination].steps; s++) {
            uint32_t need, drop;
            pim_tile_dependence(tiles, e, s, &need, &drop);
            const uint32_t fields[] = {tiles->edge[e].destination, s, tiles->edge[e].source, need, drop};
            for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
                pim_csv_put_count(&writer, fields[i]);
            pim_csv_end_row(&writer);
        }
}

static bool all_square(const struct pim_tile_graph *tiles)
{
    bool square = true;
    for (uint32_t l = 0; l < tiles->layers; l++) {
        const struct pim_tile_layer *layer = &tiles->layer[l];
        for (uint32_t i = 0; i < layer->inputs && layer->kind != PIM_TILE_LINEAR; i++)
            square = square && layer->round[i] == 0;
        square = square && layer->window.kernel[0] == layer->window.kernel[1] &&
                 layer->window.stride[0] == layer->window.stride[1] &&
                 layer->window.pad[0] == layer->window.pad[1];
    }
    return square;
}

/* PREFIX.deps.csv of an earlier graph, which would be read in the place of PREFIX.layers.csv. */
static enum pim_status remove_dependences(const char *prefix, struct pim_error *error)
{
    char path[4200], line[sizeof "node,step,"] = "";
    (void)snprintf(path, sizeof path, "%.4095s.deps.csv", prefix);
    FILE *file = fopen(path, "r");
    if (!file)
        return errno == ENOENT ? PIM_OK : pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
    bool ours = fgets(line, sizeof line, file) && strcmp(line, "node,step,") == 0;
    (void)fclose(file);
    if (!ours)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: would be read with this graph, and is none of its files: another PREFIX", path);
    return unlink(path) == 0 ? PIM_OK : pim_fail(error, PIM_IO, "%s: %s", path, strerror(errno));
}

enum pim_status pim_tile_graph_write(const struct pim_tile_graph *tiles, const char *prefix,
                                     struct pim_error *error)
{
    enum { NODES, EDGES, GEOMETRY, FILES };
    bool square = all_square(tiles);
    const char *const suffix[FILES] = {"nodes", "edges", square ? "layers" : "deps"};
    struct pim_output *output[FILES] = {NULL};
    size_t size = (size_t)tiles->edges * 12 + 32;
    char *text = malloc(size), path[4200];
    enum pim_status status =
        text ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "no memory for %" PRIu32 " edges", tiles->edges);
    for (unsigned i = 0; i < FILES && status == PIM_OK; i++) {
        (void)snprintf(path, sizeof path, "%.4095s.%s.csv", prefix, suffix[i]);
        status = pim_output_open(&output[i], path, error);
        if (status != PIM_OK)
            continue;
        FILE *file = pim_output_file(output[i]);
        if (i == NODES)
            write_nodes(file, tiles, text, size);
        else if (i == EDGES)
            write_edges(file, tiles);
        else if (square)
            write_layers(file, tiles);
        else
            write_dependences(file, tiles);
        status = pim_output_finish(output[i], error);
    }
    if (status == PIM_OK && square)
        status = remove_dependences(prefix, error);
    for (unsigned i = 0; i < FILES; i++) {
        if (status == PIM_OK)
            status = pim_output_commit(output[i], error);
        else
            pim_output_abandon(output[i]);
    }
    free(text);
    return status;
}

enum pim_status pim_tile_mapping_write(const struct pim_tile_graph *tiles, const char *name, uint32_t width,
                                       const uint32_t *place, const char *prefix, struct pim_error *error)
{
    char path[4200];
    struct pim_output *output;
    (void)snprintf(path, sizeof path, "%.4095s.mappings.json", prefix);
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    FILE *file = pim_output_file(output);
    fprintf(file, "{\"%s\": [", name);
    for (uint32_t n = 0; n < tiles->nodes; n++)
        fprintf(file, "%s[%" PRIu32 ", %" PRIu32 "]", n ? ", " : "", place[n] / width, place[n] % width);
    fputs("]}\n", file);
    return pim_output_commit(output, error);
}
