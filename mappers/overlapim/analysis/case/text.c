/*
 * Mappings as text. A layer is a line "layer NAME", what is not the default, and its nest:
 *
 *     layer conv1
 *       size N 1 K 64 C 3 P 112 Q 112 R 7 S 7
 *       stride 2 2
 *       padding 3 3
 *       dilation 1 1
 *       groups 1
 *       latency 100
 *       loads 4 20 4
 *       stores 1 50 1
 *       transformed
 *       after conv0 transfer 5 head 2 pool 3 2 1 flatten channel 0 role input
 *       for P in [0:112)
 *       cut
 *       ...
 *
 * "after" stands once for every producer; # begins a comment.
 */
#include "mappers/nest/nest_text.h"
#include "mappers/overlapim/analysis/case/case.h"

#include "sim/arena.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_link(const struct pim_overlap_layer *layers, const struct pim_link *link, FILE *file)
{
    fprintf(file, "  after %s transfer %" PRIu64, layers[link->producer].name, link->transfer);
    if (link->head > 0)
        fprintf(file, " head %" PRIu64, link->head);
    if (link->pool_kernel > 0)
        fprintf(file, " pool %" PRIu32 " %" PRIu32 " %" PRIu32, link->pool_kernel, link->pool_stride,
                link->pool_padding);
    if (link->flatten)
        fprintf(file, " flatten");
    if (link->first_channel > 0)
        fprintf(file, " channel %" PRIu32, link->first_channel);
    if (link->role != PIM_LINK_INPUT)
        fprintf(file, " role %s", pim_link_role_name(link->role));
    fprintf(file, "\n");
}

void pim_case_write(const struct pim_overlap_layer *layers, uint32_t count, FILE *file)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct pim_overlap_layer *layer = &layers[i];
        const struct pim_workload *workload = &layer->workload;
        fprintf(file, "layer %s\n  size", layer->name);
        for (unsigned d = 0; d < PIM_DIMENSIONS; d++)
            fprintf(file, " %s %" PRIu32, pim_dimension_name(d), workload->size[d]);
        fprintf(file, "\n  stride %" PRIu32 " %" PRIu32 "\n  padding %" PRIu32 " %" PRIu32,
                workload->stride[0], workload->stride[1], workload->padding[0], workload->padding[1]);
        fprintf(file, "\n  dilation %" PRIu32 " %" PRIu32 "\n  groups %" PRIu32 "\n  latency %" PRIu64 "\n",
                workload->dilation[0], workload->dilation[1], workload->groups, layer->latency);
        if (pim_overlap_uneven(layer))
            fprintf(file,
                    "  loads %" PRIu64 " %" PRIu64 " %" PRIu64 "\n  stores %" PRIu64 " %" PRIu64 " %" PRIu64
                    "\n",
                    layer->loads.count, layer->loads.ticks, layer->loads.existing, layer->stores.count,
                    layer->stores.ticks, layer->stores.existing);
        if (layer->transformed)
            fprintf(file, "  transformed\n");
        for (uint32_t j = 0; j < layer->links; j++)
            write_link(layers, &layer->link[j], file);
        pim_nest_write(&layer->nest, 2, file);
    }
}

struct text_reading {
    struct pim_case *kase;
    struct pim_overlap_layer *layer; /* the one being read; NULL before the first */
    struct pim_nest_reader nest;
    size_t capacity;
    struct pim_error *error;
};

static uint32_t find_layer(const struct text_reading *reading, const char *name)
{
    uint32_t i = 0;
    while (i + 1 < reading->kase->layers && strcmp(reading->kase->layer[i].name, name) != 0)
        i++;
    return i; /* the layer itself when there is none before it */
}

static bool take_number(char **rest, uint64_t most, uint64_t *value)
{
    const char *word = strtok_r(NULL, " \t", rest);
    char *end = NULL;
    if (!word || word[0] < '0' || word[0] > '9' || strlen(word) > 19)
        return false;
    *value = strtoull(word, &end, 10);
    return *end == '\0' && *value <= most;
}

static bool take_numbers(char **rest, uint32_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        if (!take_number(rest, PIM_NEST_EXTENT, &value))
            return false;
        values[i] = (uint32_t)value;
    }
    return strtok_r(NULL, " \t", rest) == NULL;
}

static bool take_sizes(char **rest, struct pim_workload *workload)
{
    for (const char *word = strtok_r(NULL, " \t", rest); word; word = strtok_r(NULL, " \t", rest)) {
        unsigned d = pim_dimension_find(word);
        uint64_t value = 0;
        if (d == PIM_DIMENSIONS || !take_number(rest, PIM_NEST_EXTENT, &value))
            return false;
        workload->size[d] = (uint32_t)value;
    }
    return true;
}

static bool take_link_word(const char *word, char **rest, struct pim_link *link)
{
    uint64_t number[3] = {0};
    if (strcmp(word, "flatten") == 0) {
        link->flatten = true;
        return true;
    }
    if (strcmp(word, "transfer") == 0)
        return take_number(rest, PIM_OVERLAP_TIME, &link->transfer);
    if (strcmp(word, "head") == 0)
        return take_number(rest, PIM_OVERLAP_TIME, &link->head);
    if (strcmp(word, "channel") == 0 && take_number(rest, PIM_NEST_EXTENT, &number[0])) {
        link->first_channel = (uint32_t)number[0];
        return true;
    }
    if (strcmp(word, "pool") == 0) {
        for (unsigned i = 0; i < 3; i++) {
            if (!take_number(rest, PIM_NEST_EXTENT, &number[i]))
                return false;
        }
        link->pool_kernel = (uint32_t)number[0];
        link->pool_stride = (uint32_t)number[1];
        link->pool_padding = (uint32_t)number[2];
        return link->pool_kernel > 0;
    }
    const char *role = strcmp(word, "role") == 0 ? strtok_r(NULL, " \t", rest) : NULL;
    for (unsigned r = 0; role && r < PIM_LINK_ROLES; r++) {
        if (strcmp(role, pim_link_role_name(r)) == 0) {
            link->role = (enum pim_link_role)r;
            return true;
        }
    }
    return false;
}

static enum pim_status take_after(struct text_reading *reading, char **rest)
{
    struct pim_overlap_layer *layer = reading->layer;
    const char *name = strtok_r(NULL, " \t", rest);
    uint32_t producer = name ? find_layer(reading, name) : UINT32_MAX;
    if (!name || producer + 1 >= reading->kase->layers)
        return pim_fail(reading->error, PIM_BAD_INPUT, "after %.40s: no layer before this one has that name",
                        name ? name : "");
    if (layer->links == PIM_CASE_LINKS)
        return pim_fail(reading->error, PIM_BAD_INPUT, "more than %d producers", PIM_CASE_LINKS);
    struct pim_link *grown = realloc(layer->link, (layer->links + 1) * sizeof *grown);
    if (!grown)
        return pim_fail(reading->error, PIM_NO_MEMORY, "out of memory for a link");
    layer->link = grown;
    struct pim_link *link = &layer->link[layer->links++];
    *link = (struct pim_link){.producer = producer};
    for (const char *word = strtok_r(NULL, " \t", rest); word; word = strtok_r(NULL, " \t", rest)) {
        if (!take_link_word(word, rest, link))
            return pim_fail(reading->error, PIM_BAD_INPUT,
                            "after: \"%.40s\": allowed are transfer TICKS, head TICKS, pool KERNEL STRIDE "
                            "PADDING, flatten, channel FIRST and role input, rows, columns or whole",
                            word);
    }
    return PIM_OK;
}

static void end_layer(struct text_reading *reading)
{
    if (reading->layer)
        pim_nest_take_end(&reading->nest, &reading->layer->nest);
    reading->nest = (struct pim_nest_reader){0};
}

static enum pim_status begin_layer(struct text_reading *reading, const char *name)
{
    struct pim_case *kase = reading->kase;
    if (!name || strlen(name) >= PIM_NEST_NAME)
        return pim_fail(reading->error, PIM_BAD_INPUT, "layer: a name of 1 to %d characters is missing",
                        PIM_NEST_NAME - 1);
    if (kase->layers == PIM_CASE_LAYERS)
        return pim_fail(reading->error, PIM_BAD_INPUT, "more than %d layers", PIM_CASE_LAYERS);
    end_layer(reading);
    struct pim_overlap_layer *grown =
        pim_array_grow(kase->layer, &reading->capacity, kase->layers + 1U, sizeof *grown);
    if (!grown)
        return pim_fail(reading->error, PIM_NO_MEMORY, "out of memory for a layer");
    kase->layer = grown;
    reading->layer = &kase->layer[kase->layers++];
    pim_overlap_layer_initialize(reading->layer);
    (void)snprintf(reading->layer->name, sizeof reading->layer->name, "%s", name);
    if (find_layer(reading, name) + 1 != kase->layers)
        return pim_fail(reading->error, PIM_BAD_INPUT, "layer %s: the name is there already", name);
    return PIM_OK;
}

static bool take_events(char **rest, struct pim_overlap_events *events)
{
    return take_number(rest, PIM_NEST_EXTENT, &events->count) &&
           take_number(rest, PIM_OVERLAP_TIME, &events->ticks) &&
           take_number(rest, PIM_NEST_EXTENT, &events->existing);
}

static enum pim_status take_attribute(struct text_reading *reading, const char *word, char **rest)
{
    struct pim_overlap_layer *layer = reading->layer;
    struct pim_workload *workload = &layer->workload;
    bool good = false;
    if (strcmp(word, "after") == 0)
        return take_after(reading, rest);
    if (strcmp(word, "size") == 0)
        good = take_sizes(rest, workload);
    else if (strcmp(word, "stride") == 0)
        good = take_numbers(rest, workload->stride, 2);
    else if (strcmp(word, "padding") == 0)
        good = take_numbers(rest, workload->padding, 2);
    else if (strcmp(word, "dilation") == 0)
        good = take_numbers(rest, workload->dilation, 2);
    else if (strcmp(word, "groups") == 0)
        good = take_numbers(rest, &workload->groups, 1);
    else if (strcmp(word, "latency") == 0)
        good = take_number(rest, PIM_OVERLAP_TIME, &layer->latency);
    else if (strcmp(word, "loads") == 0)
        good = take_events(rest, &layer->loads);
    else if (strcmp(word, "stores") == 0)
        good = take_events(rest, &layer->stores);
    else if (strcmp(word, "transformed") == 0)
        good = layer->transformed = true;
    else
        return pim_fail(reading->error, PIM_BAD_INPUT,
                        "\"%.40s\": a layer has size, stride, padding, dilation, groups, latency, loads, "
                        "stores, "
                        "transformed, after and the loops of its nest",
                        word);
    return good ? PIM_OK
                : pim_fail(reading->error, PIM_BAD_INPUT, "%s: numbers are missing or out of range", word);
}

static enum pim_status take_line(struct text_reading *reading, char *line)
{
    bool taken = false;
    char *rest = NULL, *comment = strchr(line, '#');
    if (comment)
        *comment = '\0';
    for (size_t end = strlen(line); end > 0 && strchr(" \t\r", line[end - 1]); end--)
        line[end - 1] = '\0';
    for (const char *c = line; *c; c++) {
        if (iscntrl((unsigned char)*c) && *c != '\t')
            return pim_fail(reading->error, PIM_BAD_INPUT, "character 0x%02x: a mapping is plain text",
                            (unsigned)(unsigned char)*c);
    }
    if (reading->layer &&
        pim_nest_take_line(&reading->nest, &reading->layer->nest, line, &taken, reading->error) != PIM_OK)
        return reading->error->status;
    if (taken)
        return PIM_OK;
    const char *word = strtok_r(line, " \t", &rest);
    if (!word)
        return PIM_OK;
    if (strcmp(word, "layer") == 0)
        return begin_layer(reading, strtok_r(NULL, " \t", &rest));
    if (!reading->layer)
        return pim_fail(reading->error, PIM_BAD_INPUT,
                        "\"%.40s\": a mapping begins with a line \"layer NAME\"", word);
    return take_attribute(reading, word, &rest);
}

static enum pim_status take_text(struct text_reading *reading, const char *name, char *text)
{
    uint64_t number = 1;
    for (char *line = text; line; number++) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (take_line(reading, line) != PIM_OK)
            return pim_fail_in(reading->error, "%s:%" PRIu64, name, number);
        line = next;
    }
    end_layer(reading);
    if (reading->kase->layers == 0)
        return pim_fail(reading->error, PIM_BAD_INPUT, "%s: holds no layer", name);
    for (uint32_t i = 0; i < reading->kase->layers; i++) {
        if (pim_overlap_layer_derive(reading->kase->layer, i, reading->error) != PIM_OK)
            return pim_fail_in(reading->error, "%s", name);
    }
    return PIM_OK;
}

enum pim_status pim_case_parse_text(const char *name, const char *text, size_t length, struct pim_case *kase,
                                    struct pim_error *error)
{
    memset(kase, 0, sizeof *kase);
    if (memchr(text, '\0', length))
        return pim_fail(error, PIM_BAD_INPUT, "%s: holds a zero byte: not a mapping", name);
    char *copy = malloc(length + 1);
    if (!copy)
        return pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", name);
    memcpy(copy, text, length);
    copy[length] = '\0';
    struct text_reading reading = {.kase = kase, .error = error};
    enum pim_status status = take_text(&reading, name, copy);
    free(copy);
    kase->chain = true;
    (void)snprintf(kase->name, sizeof kase->name, "%s", name);
    if (status != PIM_OK)
        pim_case_terminate(kase);
    return status;
}
