/* Synthetic traffic, and the whole of a file. */
#include "models/booksim/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pim_status read_pattern(const struct booksim_values *values, struct pim_traffic_class *class,
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
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(booksim_text(values, "traffic"), patterns[i].name) == 0) {
            class->pattern = patterns[i].pattern;
            return PIM_OK;
        }
    return booksim_refuse(values, "traffic", error,
                          "honoured are uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbor and "
                          "asymmetric");
}

/* "5", "{5}", or the sizes of one class, equally likely: "{{1,5}}". */
static enum pim_status read_sizes(const struct booksim_values *values, struct pim_traffic_class *class,
                                  struct pim_error *error)
{
    const char *at = booksim_text(values, "packet_size");
    unsigned depth = 0, closed = 0;
    for (; *at == '{' || *at == ' '; at++)
        depth += *at == '{';
    class->sizes = 0;
    for (bool more = true; more;) {
        char *end;
        at += strspn(at, " ");
        unsigned long size = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (size == 0 || size > UINT32_MAX || class->sizes == PIM_TRAFFIC_SIZES)
            break;
        class->weight[class->sizes] = 1;
        class->size[class->sizes++] = size;
        at = end + strspn(end, " ");
        more = *at == ',';
        at += more;
    }
    for (; *at == '}' || *at == ' '; at++)
        closed += *at == '}';
    if (*at == '\0' && closed == depth && depth <= 2 && class->sizes > 0 && (class->sizes == 1 || depth == 2))
        return PIM_OK;
    return booksim_refuse(values, "packet_size", error,
                          "honoured is a size, or up to %u sizes of one class, as in {{1,5}}",
                          (unsigned)PIM_TRAFFIC_SIZES);
}

enum pim_status booksim_read_traffic(const struct booksim_values *values, struct pim_booksim *booksim,
                                     struct pim_error *error)
{
    uint32_t flits, warm_up, sample, samples, seed;
    booksim->traffic = (struct pim_traffic_class){.network_class = 0};
    if (read_pattern(values, &booksim->traffic, error) != PIM_OK ||
        read_sizes(values, &booksim->traffic, error) != PIM_OK ||
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
    if (status == PIM_OK && (status = pim_noc_configuration_check(&booksim->noc, error)) != PIM_OK)
        return pim_fail_in(error, "%s", name);
    return status;
}

enum pim_status pim_booksim_read(const char *path, struct pim_booksim *booksim, struct pim_error *error)
{
    enum { LIMIT = 1 << 20 };
    FILE *file = fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "cannot open %s", path);
    char *text = malloc(LIMIT);
    size_t length = text ? fread(text, 1, LIMIT, file) : 0;
    bool failed = ferror(file);
    (void)fclose(file);
    enum pim_status status = PIM_OK;
    if (!text)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %s", path);
    else if (failed)
        status = pim_fail(error, PIM_IO, "cannot read %s", path);
    else if (length == LIMIT)
        status = pim_fail(error, PIM_BAD_INPUT, "%s: a file of less than 1 MB is expected", path);
    else
        status = pim_booksim_parse(text, length, path, booksim, error);
    free(text);
    return status;
}
