/* Synthetic traffic, and the whole of a file. */
#include "models/booksim/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers as BookSim writes them: "5", "{1,5}", "{{1,5}}"; `depth` of braces. */
struct numbers {
    uint32_t count, depth;
    uint32_t value[PIM_TRAFFIC_HOTSPOTS];
};

static bool read_numbers(const char *at, struct numbers *numbers)
{
    uint32_t closed = 0;
    numbers->count = numbers->depth = 0;
    for (; *at == '{' || *at == ' '; at++)
        numbers->depth += *at == '{';
    for (bool more = true; more;) {
        char *end;
        at += strspn(at, " ");
        if (*at < '0' || *at > '9' || numbers->count == PIM_TRAFFIC_HOTSPOTS)
            return false;
        unsigned long value = strtoul(at, &end, 10);
        if (value > INT32_MAX)
            return false;
        numbers->value[numbers->count++] = (uint32_t)value;
        at = end + strspn(end, " ");
        more = *at == ',';
        at += more;
    }
    for (; *at == '}' || *at == ' '; at++)
        closed += *at == '}';
    return *at == '\0' && closed == numbers->depth;
}

/* What stands in the brackets of "name(...)"; false: the text is another one. */
static bool in_brackets(const char *text, const char *name, char inside[BOOKSIM_VALUE_LIMIT])
{
    size_t length = strlen(name), all = strlen(text);
    if (strncmp(text, name, length) != 0 || text[length] != '(' || text[all - 1] != ')')
        return false;
    (void)snprintf(inside, BOOKSIM_VALUE_LIMIT, "%.*s", (int)(all - length - 2), text + length + 1);
    return true;
}

/* A list of nodes stands in two pairs of braces: in one pair, what follows the first node are rates. */
static bool read_hotspots(const char *text, struct pim_traffic_class *class)
{
    char inside[BOOKSIM_VALUE_LIMIT];
    struct numbers nodes;
    if (!in_brackets(text, "hotspot", inside) || !read_numbers(inside, &nodes) || nodes.depth > 2 ||
        (nodes.count > 1 && nodes.depth < 2))
        return false;
    class->pattern = PIM_PATTERN_HOTSPOT;
    class->hotspots = nodes.count;
    memcpy(class->hotspot, nodes.value, nodes.count * sizeof *nodes.value);
    return true;
}

/* Tornado and neighbor move the digits of a node's number to base k: those are the coordinates of the nodes
 * on grids alone. Transpose exchanges the halves of its bits. */
static enum pim_status check_digits(const struct booksim_values *values,
                                    const struct pim_noc_configuration *noc, enum pim_pattern pattern,
                                    struct pim_error *error)
{
    bool grid = noc->topology == PIM_NOC_MESH || noc->topology == PIM_NOC_TORUS ||
                noc->topology == PIM_NOC_FLATTENED_BUTTERFLY || noc->topology == PIM_NOC_CONCENTRATED_MESH;
    if ((pattern == PIM_PATTERN_TORNADO || pattern == PIM_PATTERN_NEIGHBOR) && !grid)
        return booksim_refuse(values, "traffic", error,
                              "it is honoured with mesh, torus, flatfly and cmesh, not with this topology");
    const uint32_t nodes = pim_noc_nodes(noc);
    if (pattern == PIM_PATTERN_TRANSPOSE && pim_pattern_halves(nodes) == 0)
        return booksim_refuse(values, "traffic", error,
                              "it needs an even power of two of nodes (16, 64, ..), not %u", (unsigned)nodes);
    return PIM_OK;
}

static enum pim_status read_pattern(const struct booksim_values *values,
                                    const struct pim_noc_configuration *noc, struct pim_traffic_class *class,
                                    struct pim_error *error)
{
    static const struct {
        const char *name;
        enum pim_pattern pattern;
    } patterns[] = {
        {"uniform", PIM_PATTERN_UNIFORM},        {"transpose", PIM_PATTERN_TRANSPOSE},
        {"bitcomp", PIM_PATTERN_BIT_COMPLEMENT}, {"bitrev", PIM_PATTERN_BIT_REVERSE},
        {"shuffle", PIM_PATTERN_SHUFFLE},        {"tornado", PIM_PATTERN_TORNADO},
        {"neighbor", PIM_PATTERN_NEIGHBOR},      {"asymmetric", PIM_PATTERN_ASYMMETRIC},
    };
    const char *text = booksim_text(values, "traffic");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(text, patterns[i].name) == 0) {
            class->pattern = patterns[i].pattern;
            return check_digits(values, noc, class->pattern, error);
        }
    if (read_hotspots(text, class))
        return PIM_OK;
    return booksim_refuse(values, "traffic", error,
                          "honoured are uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbor, "
                          "asymmetric and hotspot({{NODE,...}}), all equally hot");
}

/* One rate for all sizes, or one for each. */
static enum pim_status read_rates(const struct booksim_values *values, struct pim_traffic_class *class,
                                  struct pim_error *error)
{
    struct numbers rates;
    double sum = 0;
    bool read = read_numbers(booksim_text(values, "packet_size_rate"), &rates) && rates.depth <= 2;
    if (read && (rates.count == 1 || (rates.count == class->sizes && rates.depth == 2)))
        for (uint32_t i = 0; i < class->sizes; i++)
            sum += class->weight[i] = rates.value[rates.count == 1 ? 0 : i];
    if (sum > 0)
        return PIM_OK;
    return booksim_refuse(
        values, "packet_size_rate", error,
        "honoured is one above 0, or one for each of the %u sizes of the class, as in {{3,1}}", class->sizes);
}

/* "5", "{5}", or the sizes of one class: "{{1,5}}". */
static enum pim_status read_sizes(const struct booksim_values *values, struct pim_traffic_class *class,
                                  struct pim_error *error)
{
    struct numbers sizes;
    bool read = read_numbers(booksim_text(values, "packet_size"), &sizes) && sizes.depth <= 2 &&
                sizes.count <= PIM_TRAFFIC_SIZES && (sizes.count == 1 || sizes.depth == 2);
    for (uint32_t i = 0; read && i < sizes.count; i++) {
        class->size[i] = sizes.value[i];
        read = sizes.value[i] > 0;
    }
    if (!read)
        return booksim_refuse(values, "packet_size", error,
                              "honoured is a size, or up to %u sizes of one class, as in {{1,5}}",
                              (unsigned)PIM_TRAFFIC_SIZES);
    class->sizes = sizes.count;
    return read_rates(values, class, error);
}

/* bernoulli, on_off, or on_off({ALPHA,BETA}): the probabilities of turning on and off in a cycle. */
static enum pim_status read_process(const struct booksim_values *values, struct pim_traffic_class *class,
                                    struct pim_error *error)
{
    const char *text = booksim_text(values, "injection_process");
    char inside[BOOKSIM_VALUE_LIMIT];
    if (strcmp(text, "bernoulli") == 0)
        return PIM_OK;
    bool given = in_brackets(text, "on_off", inside);
    int end = 0;
    if (given && sscanf(inside, "{%lf,%lf}%n", &class->on, &class->off, &end) == 2 && inside[end] == '\0' &&
        end > 0 && class->on > 0 && class->on <= 1 && class->off > 0 && class->off <= 1)
        return PIM_OK;
    if (given || strcmp(text, "on_off") != 0)
        return booksim_refuse(values, "injection_process", error,
                              "honoured are bernoulli, on_off, and on_off({ALPHA,BETA}) with probabilities "
                              "above 0");
    if (booksim_real(values, "burst_alpha", 1e-9, 1, &class->on, error) != PIM_OK)
        return error->status;
    return booksim_real(values, "burst_beta", 1e-9, 1, &class->off, error);
}

enum pim_status booksim_read_traffic(const struct booksim_values *values, struct pim_booksim *booksim,
                                     struct pim_error *error)
{
    uint32_t flits, warm_up, sample, samples, seed;
    booksim->traffic = (struct pim_traffic_class){.network_class = 0};
    if (read_pattern(values, &booksim->noc, &booksim->traffic, error) != PIM_OK ||
        read_sizes(values, &booksim->traffic, error) != PIM_OK ||
        read_process(values, &booksim->traffic, error) != PIM_OK ||
        booksim_real(values, "injection_rate", 0, 1e6, &booksim->traffic.rate, error) != PIM_OK ||
        booksim_integer(values, "injection_rate_uses_flits", 0, 1, &flits, error) != PIM_OK ||
        booksim_integer(values, "warmup_periods", 0, 1000, &warm_up, error) != PIM_OK ||
        booksim_integer(values, "sample_period", 1, INT32_MAX, &sample, error) != PIM_OK ||
        booksim_integer(values, "max_samples", 1, 1000, &samples, error) != PIM_OK ||
        booksim_integer(values, "seed", 0, INT32_MAX, &seed, error) != PIM_OK ||
        booksim_real(values, "latency_thres", 1, 1e12, &booksim->latency_limit, error) != PIM_OK)
        return error->status;
    if (samples <= warm_up)
        return booksim_refuse(values, "max_samples", error,
                              "it counts the warm-up: more than warmup_periods, %u, are needed", warm_up);
    booksim->traffic.rate_in_packets = !flits;
    booksim->seed = seed;
    booksim->sample = sample;
    booksim->warm_up = (uint64_t)warm_up * sample;
    booksim->most_samples = samples - warm_up;
    return PIM_OK;
}

enum pim_status pim_booksim_parse(const char *text, size_t length, const char *name,
                                  struct pim_booksim *booksim, struct pim_error *error)
{
    struct booksim_values *values = malloc(sizeof *values);
    if (!values)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", name);
    values->file = name;
    *booksim = (struct pim_booksim){.hash = UINT64_C(14695981039346656037)}; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        booksim->hash = (booksim->hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    pim_noc_configuration_initialize(&booksim->noc);
    enum pim_status status = booksim_values_parse(text, length, values, error);
    if (status == PIM_OK)
        status = booksim_read_router(values, &booksim->noc, error);
    if (status == PIM_OK)
        status = booksim_read_network(values, &booksim->noc, error);
    if (status == PIM_OK)
        status = booksim_read_traffic(values, booksim, error);
    if (status == PIM_OK)
        status = booksim_read_messages(values, booksim, error);
    free(values);
    if (status != PIM_OK)
        return status;
    struct pim_error ignored = {.status = PIM_OK};
    if (pim_noc_configuration_check(&booksim->noc, &ignored) == PIM_OK)
        return PIM_OK;
    booksim->noc.may_deadlock = true; /* BookSim does not ask */
    if (pim_noc_configuration_check(&booksim->noc, error) != PIM_OK)
        return pim_fail_in(error, "%s", name);
    return PIM_OK;
}

void pim_booksim_fix_draws(struct pim_booksim *booksim)
{
    booksim->noc.numbered_draws = true;
    if (booksim->noc.topology == PIM_NOC_FAT_TREE)
        booksim->noc.routing = PIM_NOC_D_MOD_K;
}

enum pim_status pim_booksim_read(const char *path, struct pim_booksim *booksim, struct pim_error *error)
{
    enum { LIMIT = 1 << 20 };
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "cannot open %s", path);
    char *text = malloc(LIMIT);
    size_t length = text ? fread(text, 1, LIMIT, file) : 0;
    bool failed = ferror(file);
    if (!standard)
        (void)fclose(file);
    enum pim_status status = PIM_OK;
    if (!text)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", path);
    else if (failed)
        status = pim_fail(error, PIM_IO, "cannot read %s", path);
    else if (length == LIMIT)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: a file of less than 1 MB is expected", path);
    else
        status = pim_booksim_parse(text, length, standard ? "standard input" : path, booksim, error);
    free(text);
    return status;
}
