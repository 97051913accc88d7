#include "tools/command/noc/classes.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "5", "1,5", "1:0.8,5:0.2". */
static enum pim_status parse_sizes(const char *text, struct pim_traffic_class *class, struct pim_error *error)
{
    const char *rest = text;
    class->sizes = 0;
    while (class->sizes < PIM_TRAFFIC_SIZES) {
        unsigned flits;
        double weight = 1;
        int used = 0, more = 0;
        if (!isdigit((unsigned char)*rest) || sscanf(rest, "%9u%n", &flits, &used) != 1 || flits == 0)
            break;
        rest += used;
        if (*rest == ':' &&
            (sscanf(rest, ":%lf%n", &weight, &more) != 1 || !(weight > 0) || !isfinite(weight)))
            break;
        rest += more;
        class->size[class->sizes] = flits;
        class->weight[class->sizes++] = weight;
        if (*rest == '\0')
            return PIM_OK;
        if (*rest++ != ',')
            break;
    }
    return pim_fail(error, PIM_USAGE,
                    "sizes %s: flits, or flits:weight, separated by commas (at most %d) are expected", text,
                    PIM_TRAFFIC_SIZES);
}

static enum pim_status parse_hotspots(const char *text, struct pim_traffic_class *class,
                                      struct pim_error *error)
{
    class->hotspots = 0;
    for (const char *rest = text; class->hotspots < PIM_TRAFFIC_HOTSPOTS;) {
        unsigned node;
        int used = 0;
        if (!isdigit((unsigned char)*rest) || sscanf(rest, "%9u%n", &node, &used) != 1)
            break;
        class->hotspot[class->hotspots++] = node;
        rest += used;
        if (*rest == '\0')
            return PIM_OK;
        if (*rest++ != ',')
            break;
    }
    return pim_fail(error, PIM_USAGE, "hotspots %s: nodes separated by commas (at most %d) are expected",
                    text, PIM_TRAFFIC_HOTSPOTS);
}

static enum pim_status parse_on_off(const char *text, struct pim_traffic_class *class,
                                    struct pim_error *error)
{
    char end;
    if (sscanf(text, "%lf:%lf%c", &class->on, &class->off, &end) == 2 && class->on > 0 && class->on <= 1 &&
        class->off > 0 && class->off <= 1)
        return PIM_OK;
    return pim_fail(error, PIM_USAGE,
                    "on-off %s: the probabilities ON:OFF of turning on and off in a cycle are expected, both "
                    "above 0 and at most 1",
                    text);
}

static enum pim_status parse_pattern(const char *text, struct pim_traffic_class *class,
                                     struct pim_error *error)
{
    for (unsigned pattern = 0; pattern < PIM_PATTERNS; pattern++) {
        if (strcmp(text, pim_pattern_name(pattern)) == 0) {
            class->pattern = (enum pim_pattern)pattern;
            return PIM_OK;
        }
    }
    return pim_fail(error, PIM_USAGE, "traffic %s: allowed are " NOC_PATTERNS, text);
}

/* --- one --class --- */

/* One KEY=VALUE. */
static enum pim_status take_value(const char *key, const char *value, struct pim_traffic_class *class,
                                  struct pim_error *error)
{
    char end;
    if (strcmp(key, "traffic") == 0)
        return parse_pattern(value, class, error);
    if (strcmp(key, "sizes") == 0)
        return parse_sizes(value, class, error);
    if (strcmp(key, "on-off") == 0)
        return parse_on_off(value, class, error);
    if (strcmp(key, "hotspots") == 0)
        return parse_hotspots(value, class, error);
    if (strcmp(key, "rate") == 0 && sscanf(value, "%lf%c", &class->rate, &end) == 1)
        return PIM_OK;
    if (strcmp(key, "class") == 0 && sscanf(value, "%2" SCNu32 "%c", &class->network_class, &end) == 1)
        return PIM_OK;
    if (strcmp(key, "unit") == 0 && (strcmp(value, "flits") == 0 || strcmp(value, "packets") == 0)) {
        class->rate_in_packets = value[0] == 'p';
        return PIM_OK;
    }
    return pim_fail(error, PIM_USAGE,
                    "%s=%s: allowed are traffic=PATTERN, rate=RATE, unit=flits|packets, sizes=LIST, "
                    "on-off=ON:OFF, hotspots=NODES and class=NUMBER",
                    key, value);
}

/* Hotspots that nothing is sent to are a mistake. */
static enum pim_status check_hotspots(const struct pim_traffic_class *class, struct pim_error *error)
{
    if (class->hotspots == 0 || class->pattern == PIM_PATTERN_HOTSPOT)
        return PIM_OK;
    return pim_fail(error, PIM_USAGE, "hotspots go with the traffic hotspot, not with %s",
                    pim_pattern_name(class->pattern));
}

static enum pim_status parse_class(const char *text, struct pim_traffic_class *class, struct pim_error *error)
{
    enum { WORD = 256 };
    char word[WORD];
    int used;
    bool pattern = false;
    for (const char *rest = text; sscanf(rest, " %255s%n", word, &used) == 1; rest += used) {
        char *equals = strchr(word, '=');
        if (strlen(word) == WORD - 1 || !equals)
            return pim_fail(error, PIM_USAGE, "'%.60s': words of the form KEY=VALUE are expected", word);
        *equals = '\0';
        if (take_value(word, equals + 1, class, error) != PIM_OK)
            return error->status;
        pattern = pattern || strcmp(word, "traffic") == 0;
    }
    if (!pattern || isnan(class->rate))
        return pim_fail(error, PIM_USAGE, "traffic=PATTERN and rate=RATE are needed");
    return check_hotspots(class, error);
}

/* --- the set --- */

static enum pim_status parse_classes(const struct noc_traffic_texts *texts,
                                     const struct pim_noc_configuration *noc, struct noc_traffic_set *set,
                                     struct pim_error *error)
{
    if (texts->sizes || texts->on_off || texts->hotspots)
        return pim_fail(
            error, PIM_USAGE,
            "--sizes, --on-off and --hotspots go with --traffic or --matrix; a --class says its own");
    if (texts->classes->count > PIM_TRAFFIC_CLASSES)
        return pim_fail(error, PIM_USAGE, "--class is given %zu times: allowed are up to %d",
                        texts->classes->count, PIM_TRAFFIC_CLASSES);
    for (size_t i = 0; i < texts->classes->count; i++) {
        struct pim_traffic_class *class = &set->classes[set->class_count++];
        *class = (struct pim_traffic_class){.rate = (double)NAN,
                                            .rate_in_packets = texts->in_packets,
                                            .network_class = noc->classes > 1 ? (uint32_t)i : 0};
        if (parse_class(texts->classes->items[i], class, error) != PIM_OK)
            return pim_fail_in(error, "--class %zu", i);
    }
    return PIM_OK;
}

enum pim_status noc_traffic_set_make(const struct noc_traffic_texts *texts,
                                     const struct pim_noc_configuration *noc, struct noc_traffic_set *set,
                                     struct pim_error *error)
{
    *set = (struct noc_traffic_set){.flows = NULL};
    if (texts->classes->count > 0)
        return parse_classes(texts, noc, set, error);
    struct pim_traffic_class class = {.rate = 1, .rate_in_packets = texts->in_packets};
    if ((texts->sizes && parse_sizes(texts->sizes, &class, error) != PIM_OK) ||
        (texts->on_off && parse_on_off(texts->on_off, &class, error) != PIM_OK) ||
        (texts->hotspots && parse_hotspots(texts->hotspots, &class, error) != PIM_OK))
        return pim_fail_in(error, "option");
    if (!texts->matrix) {
        class.pattern = (enum pim_pattern)texts->pattern;
        set->classes[set->class_count++] = class;
        return check_hotspots(&class, error);
    }
    if (class.hotspots)
        return pim_fail(error, PIM_USAGE, "--hotspots goes with --traffic hotspot, not with --matrix");
    set->flow_class = class;
    if (pim_traffic_matrix_read(texts->matrix, noc, &set->flows, &set->flow_count, error) != PIM_OK)
        return error->status;
    if (set->flow_count == 0)
        return pim_fail(error, PIM_BAD_INPUT, "%s: there is no rate above 0", texts->matrix);
    return PIM_OK;
}

void noc_traffic_set_terminate(struct noc_traffic_set *set)
{
    free(set->flows);
    *set = (struct noc_traffic_set){.flows = NULL};
}

/* --- rates --- */

static double mean_size(const struct pim_traffic_class *class)
{
    double sum = 0, weights = 0;
    for (uint32_t i = 0; i < class->sizes; i++) {
        sum += class->weight[i] * (double)class->size[i];
        weights += class->weight[i];
    }
    return class->sizes ? sum / weights : 1;
}

void noc_traffic_set_scale(struct noc_traffic_set *set, uint32_t nodes, double rate, bool in_packets)
{
    double total = 0;
    for (uint32_t i = 0; i < set->class_count; i++) {
        const struct pim_traffic_class *class = &set->classes[i];
        double size = mean_size(class);
        total += class->rate_in_packets == in_packets ? class->rate
                 : in_packets                         ? class->rate / size
                                                      : class->rate * size;
    }
    double size = in_packets ? mean_size(&set->flow_class) : 1;
    for (uint32_t i = 0; i < set->flow_count; i++)
        total += set->flows[i].rate / size / nodes;
    for (uint32_t i = 0; i < set->class_count; i++)
        set->classes[i].rate *= rate / total;
    for (uint32_t i = 0; i < set->flow_count; i++)
        set->flows[i].rate *= rate / total;
}
