#include "mappers/network/layer_table.h"

#include "sim/output/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 16 << 20, FIELDS = 12, NAME_CHARACTERS = 100, LAYERS_MOST = 10000 };

/* Columns of a row of convolutions; those of products come behind the name as M, N, K. */
enum { NAME, HEIGHT, WIDTH, FILTER_HEIGHT, FILTER_WIDTH, CHANNELS, FILTERS, STRIDE, BEYOND };

struct field {
    const char *text;
    size_t length;
};

struct table {
    const char *path;
    uint64_t line;
    const char *at, *end;
    struct field field[FIELDS];
    size_t fields;
    bool products; /* the form M, N, K */
    struct pim_network *network;
    uint32_t layers;
    struct pim_error *error;
};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

/* Whether a field begins with a word, in any case; `whole`: is that word. */
static bool begins(const struct field *field, const char *word, bool whole)
{
    const size_t length = strlen(word);
    if (field->length < length || (whole && field->length != length))
        return false;
    for (size_t i = 0; i < length; i++)
        if (lower(field->text[i]) != lower(word[i]))
            return false;
    return true;
}

static enum pim_status refuse_field(const struct table *table, size_t column, const char *right)
{
    const struct field *field = &table->field[column];
    return pim_fail(table->error, PIM_BAD_INPUT, "%.300s:%" PRIu64 ": field %zu is '%.*s': %s", table->path,
                    table->line, column + 1, (int)(field->length < 60 ? field->length : 60), field->text,
                    right);
}

/* Splits the next line that says something; *more is false at the end. */
static enum pim_status next_line(struct table *table, bool *more)
{
    for (table->fields = 0; table->fields == 0 && table->at < table->end; table->line++) {
        const char *stop = memchr(table->at, '\n', (size_t)(table->end - table->at));
        const char *at = table->at, *last = stop ? stop : table->end;
        table->at = stop ? stop + 1 : table->end;
        size_t said = 0; /* fields up to the last that is not empty */
        for (size_t count = 1;; count++) {
            const char *comma = at < last ? memchr(at, ',', (size_t)(last - at)) : NULL;
            const char *from = at, *to = comma ? comma : last;
            while (from < to && is_blank(*from))
                from++;
            while (to > from && is_blank(to[-1]))
                to--;
            if (from < to && count > FIELDS)
                return pim_fail(table->error, PIM_BAD_INPUT, "%.300s:%" PRIu64 ": more than %d fields",
                                table->path, table->line + 1, FIELDS);
            if (count <= FIELDS)
                table->field[count - 1] = (struct field){from, (size_t)(to - from)};
            if (from < to)
                said = count;
            if (!comma)
                break;
            at = comma + 1;
        }
        table->fields = said;
    }
    *more = table->fields > 0;
    return PIM_OK;
}

/* A field as an integer from 1 on. */
static enum pim_status read_size(const struct table *table, size_t column, uint32_t *value)
{
    static const char right[] = "an integer from 1 to 2147483647 is expected";
    const struct field *field = &table->field[column];
    uint64_t sum = 0;
    if (field->length == 0 || field->length > 10)
        return refuse_field(table, column, right);
    for (size_t i = 0; i < field->length; i++) {
        if (field->text[i] < '0' || field->text[i] > '9')
            return refuse_field(table, column, right);
        sum = 10 * sum + (uint64_t)(field->text[i] - '0');
    }
    if (sum < 1 || sum > PIM_DIMENSION_LIMIT)
        return refuse_field(table, column, right);
    *value = (uint32_t)sum;
    return PIM_OK;
}

static enum pim_status read_heading(struct table *table)
{
    bool more;
    if (next_line(table, &more) != PIM_OK)
        return table->error->status;
    const struct field *field = table->field;
    if (more && table->fields >= 4 && begins(&field[1], "M", true) && begins(&field[2], "N", true) &&
        begins(&field[3], "K", true)) {
        table->products = true;
        return PIM_OK;
    }
    if (more && table->fields >= BEYOND && begins(&field[1], "IFMAP", false))
        return PIM_OK;
    return pim_fail(
        table->error, PIM_BAD_INPUT,
        "%.300s:%" PRIu64
        ": no heading of a layer table of SCALE-Sim: \"Layer name, IFMAP Height, IFMAP Width, Filter Height, "
        "Filter Width, Channels, Num Filter, Strides,\" or \"Layer, M, N, K,\" is expected",
        table->path, table->line ? table->line : 1);
}

/* The name of the layer; one that is there already is told apart by its line. */
static enum pim_status read_name(const struct table *table, char name[NAME_CHARACTERS + 1])
{
    const struct field *field = &table->field[NAME];
    if (field->length == 0 || field->length > NAME_CHARACTERS)
        return refuse_field(table, NAME, "a name of 1 to 100 characters is expected");
    for (size_t i = 0; i < field->length; i++)
        if (field->text[i] < ' ' || field->text[i] > '~' || field->text[i] == ':' || field->text[i] == '(')
            return refuse_field(table, NAME,
                                "a name of printable ASCII characters without \":\" and \"(\" is expected");
    (void)snprintf(name, NAME_CHARACTERS + 1, "%.*s", (int)field->length, field->text);
    return PIM_OK;
}

/* What may stand behind the strides: rule 4. */
static enum pim_status check_beyond(const struct table *table, size_t first, uint32_t stride)
{
    for (size_t i = first; i < table->fields; i++) {
        const struct field *field = &table->field[i];
        uint32_t second = 0;
        if (begins(field, "1:1", true) || begins(field, "NPU", true) || field->length == 0)
            continue;
        if (memchr(field->text, ':', field->length))
            return refuse_field(table, i, "products are dense here: only 1:1 is possible");
        if (table->products || i > first || field->text[0] < '0' || field->text[0] > '9')
            return refuse_field(table, i, "nothing but a ratio of sparsity 1:1 and NPU may stand here");
        if (read_size(table, i, &second) != PIM_OK)
            return table->error->status;
        if (second != stride)
            return refuse_field(
                table, i,
                "SCALE-Sim 2 takes it as the stride along the width, 3 ignores it: leave it out, or make "
                "it the stride");
    }
    return PIM_OK;
}

/* One side of a window that slides: ceil((map - filter + stride) / stride) places; what the last reaches
 * beyond. */
static uint32_t reaches_beyond(uint32_t map, uint32_t filter, uint32_t stride)
{
    const uint64_t places = ((uint64_t)map - filter + stride - 1) / stride + 1;
    return (uint32_t)((places - 1) * stride + filter - map);
}

static enum pim_status read_convolution(const struct table *table, const char *name,
                                        struct pim_layer_description *layer, struct pim_shape *input)
{
    static const char *const sides[] = {"Filter height cannot be larger than IFMAP height",
                                        "Filter width cannot be larger than IFMAP width"};
    uint32_t size[BEYOND] = {0};
    if (table->fields < BEYOND)
        return pim_fail(table->error, PIM_BAD_INPUT,
                        "%.300s:%" PRIu64 ": %zu fields: a name and seven sizes are expected", table->path,
                        table->line, table->fields);
    for (size_t column = HEIGHT; column < BEYOND; column++)
        if (read_size(table, column, &size[column]) != PIM_OK)
            return table->error->status;
    if (check_beyond(table, BEYOND, size[STRIDE]) != PIM_OK)
        return table->error->status;
    const bool depthwise = strstr(name, "DP") != NULL;
    if (depthwise && (uint64_t)size[CHANNELS] * size[FILTERS] > PIM_DIMENSION_LIMIT)
        return refuse_field(
            table, FILTERS,
            "too many channels of a depthwise layer: channels times filters may be 2147483647");
    layer->attributes.convolution.outputs = depthwise ? size[CHANNELS] * size[FILTERS] : size[FILTERS];
    layer->attributes.convolution.groups = depthwise ? size[CHANNELS] : 1;
    struct pim_sliding *sliding = &layer->attributes.convolution.sliding;
    for (unsigned side = 0; side < 2; side++) {
        const uint32_t map = size[HEIGHT + side], filter = size[FILTER_HEIGHT + side];
        if (filter > map)
            return refuse_field(table, FILTER_HEIGHT + side, sides[side]);
        sliding->kernel[side] = filter;
        sliding->stride[side] = size[STRIDE];
        sliding->dilation[side] = 1;
        sliding->pad_after[side] = reaches_beyond(map, filter, size[STRIDE]);
    }
    *input = (struct pim_shape){4, {1, size[CHANNELS], size[HEIGHT], size[WIDTH]}};
    return PIM_OK;
}

static enum pim_status read_product(const struct table *table, struct pim_layer_description *layer,
                                    struct pim_shape *input)
{
    uint32_t m, n, k;
    if (table->fields < 4)
        return pim_fail(table->error, PIM_BAD_INPUT,
                        "%.300s:%" PRIu64 ": %zu fields: a name and M, N, K are expected", table->path,
                        table->line, table->fields);
    if (read_size(table, 1, &m) != PIM_OK || read_size(table, 2, &n) != PIM_OK ||
        read_size(table, 3, &k) != PIM_OK || check_beyond(table, 4, 0) != PIM_OK)
        return table->error->status;
    layer->attributes.convolution.outputs = n;
    layer->attributes.convolution.groups = 1;
    layer->attributes.convolution.sliding =
        (struct pim_sliding){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    *input = (struct pim_shape){4, {1, k, m, 1}};
    return PIM_OK;
}

static enum pim_status add_layer(struct table *table)
{
    char name[NAME_CHARACTERS + 1], unique[NAME_CHARACTERS + 32], input[NAME_CHARACTERS + 48];
    struct pim_layer_description layer = {
        .operation = PIM_OPERATOR_CONVOLUTION, .role = PIM_ROLE_OTHER, .stage = PIM_NONE, .block = PIM_NONE};
    struct pim_layer_description source = layer;
    source.operation = PIM_OPERATOR_INPUT;
    uint32_t index;
    if (read_name(table, name) != PIM_OK)
        return table->error->status;
    if (++table->layers > LAYERS_MOST)
        return pim_fail(table->error, PIM_BAD_INPUT, "%.300s:%" PRIu64 ": more than %d layers", table->path,
                        table->line, LAYERS_MOST);
    enum pim_status status = table->products
                                 ? read_product(table, &layer, &source.attributes.shape)
                                 : read_convolution(table, name, &layer, &source.attributes.shape);
    if (status != PIM_OK)
        return status;
    const bool known = pim_graph_find(&table->network->graph, name) != PIM_NONE;
    if (known)
        (void)snprintf(unique, sizeof unique, "%s (line %" PRIu64 ")", name, table->line);
    else
        (void)snprintf(unique, sizeof unique, "%s", name);
    (void)snprintf(input, sizeof input, "%s: input", unique);
    source.name = input;
    status = pim_graph_add(&table->network->graph, &source, &index, table->error);
    layer.name = unique;
    layer.inputs = 1;
    layer.input = &index;
    if (status == PIM_OK)
        status = pim_graph_add(&table->network->graph, &layer, NULL, table->error);
    if (status == PIM_BAD_INPUT)
        return pim_fail_in(table->error, "%.300s:%" PRIu64, table->path, table->line);
    return status;
}

static const char *name_of(const char *path, struct pim_arena *arena)
{
    const char *slash = strrchr(path, '/');
    char *name = pim_arena_copy_text(arena, slash ? slash + 1 : path);
    char *point = strrchr(name, '.');
    if (point && point != name)
        *point = '\0';
    return name;
}

static enum pim_status read_layers(struct table *table)
{
    bool more = true;
    if (read_heading(table) != PIM_OK)
        return table->error->status;
    while (more) {
        if (next_line(table, &more) != PIM_OK || (more && add_layer(table) != PIM_OK))
            return table->error->status;
    }
    if (table->layers == 0)
        return pim_fail(table->error, PIM_BAD_INPUT, "%.300s: a heading and no layers", table->path);
    return PIM_OK;
}

enum pim_status pim_layer_table_parse(const char *path, const char *text, size_t size,
                                      struct pim_network **network, struct pim_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */
    *network = NULL;
    struct table table = {.path = path, .at = text, .end = text + size, .error = error};
    if (size >= 3 && memcmp(text, mark, 3) == 0)
        table.at += 3;
    table.network = calloc(1, sizeof *table.network);
    if (!table.network)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a network");
    pim_arena_initialize(&table.network->arena, 0);
    pim_graph_initialize(&table.network->graph, &table.network->arena);
    table.network->name = name_of(path, &table.network->arena);
    if (read_layers(&table) != PIM_OK) {
        pim_network_destroy(table.network);
        return error->status;
    }
    *network = table.network;
    return PIM_OK;
}

enum pim_status pim_layer_table_read(const char *path, struct pim_network **network, struct pim_error *error)
{
    char *text = NULL;
    size_t size;
    *network = NULL;
    if (pim_file_read(path, TABLE_BYTES, "a layer table", &text, &size, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_layer_table_parse(path, text, size, network, error);
    free(text);
    return status;
}
