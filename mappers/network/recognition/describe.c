/*
 * Sizes as the keys of a descriptor, family by family.
 */
#include "mappers/network/families.h"
#include "mappers/network/recognition/sizes.h"

#include <inttypes.h>
#include <stdio.h>

enum { FOCAL_CHOICES = 64 }; /* windows with fewer tokens a side: each has as many expansions to try */

/* The whole root, rounded down, bit by bit; `square` is below 2^62. */
static uint64_t root(uint64_t square)
{
    uint64_t side = 0;
    for (uint64_t bit = UINT64_C(1) << 30; bit > 0; bit >>= 1) {
        if ((side + bit) * (side + bit) <= square)
            side += bit;
    }
    return side;
}

static const struct pim_sized_block *first_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return &sizes->block[sizes->stage[stage].first_block];
}

static uint64_t blocks_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return sizes->stage[stage].blocks;
}

static uint64_t channels_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return first_of(sizes, stage)->channels;
}

static uint64_t heads_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return first_of(sizes, stage)->channels / first_of(sizes, stage)->attention[0].inner;
}

static uint64_t ratio_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return first_of(sizes, stage)->hidden / first_of(sizes, stage)->channels;
}

/* Side of a stage's map of tokens. */
static uint64_t side_of(const struct pim_sizes *sizes, uint32_t stage)
{
    return root(first_of(sizes, stage)->tokens);
}

/* Vertical stripes are as high as the map; one attention alone is the whole map. */
static uint64_t stripe_of(const struct pim_sizes *sizes, uint32_t stage)
{
    const struct pim_sized_block *block = first_of(sizes, stage);
    const uint64_t side = side_of(sizes, stage);
    return block->attentions == 1 || side == 0 ? side : block->attention[0].rows / side;
}

/* From the first block whose keys are fewer than its tokens. */
static uint64_t reduction_of(const struct pim_sizes *sizes, uint32_t stage)
{
    const struct pim_sized_block *block = first_of(sizes, stage);
    for (uint32_t i = 0; i < sizes->stage[stage].blocks; i++) {
        if (block[i].attention[0].rows == block[i].tokens && block[i].attention[0].columns < block[i].tokens)
            return block[i].reduction;
    }
    return 1;
}

/* Focal: fine keys are (window + 2 expand)^2, in a map of one window window^2; the rest is a square. */
static uint64_t focal_window_of(const struct pim_sizes *sizes, uint32_t stage, uint64_t expand)
{
    const struct pim_sized_block *block = first_of(sizes, stage);
    const uint64_t window = root(block->attention[0].rows);
    const uint64_t side = block->tokens <= block->attention[0].rows ? window : window + 2 * expand;
    return block->attention[0].columns > side * side ? root(block->attention[0].columns - side * side) : 0;
}

struct writer {
    bool (*set)(void *context, const char *assignment);
    void *context;
    const struct pim_sizes *sizes;
};

static bool write_number(const struct writer *w, const char *key, uint64_t value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "network.%s=%" PRIu64, key, value);
    return w->set(w->context, text);
}

static bool write_list(const struct writer *w, const char *key,
                       uint64_t (*of)(const struct pim_sizes *sizes, uint32_t stage))
{
    char text[32 + 24 * PIM_STAGES];
    int length = snprintf(text, sizeof text, "network.%s=[", key);
    for (uint32_t i = 0; i < w->sizes->stages; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%" PRIu64, i ? "," : "",
                           of(w->sizes, i));
    (void)snprintf(text + length, sizeof text - (size_t)length, "]");
    return w->set(w->context, text);
}

static bool write_focal(const struct writer *w, uint64_t expand)
{
    char text[32 + 24 * PIM_STAGES];
    int length = snprintf(text, sizeof text, "network.focal_window=[");
    for (uint32_t i = 0; i < w->sizes->stages; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%" PRIu64, i ? "," : "",
                           focal_window_of(w->sizes, i, expand));
    (void)snprintf(text + length, sizeof text - (size_t)length, "]");
    return w->set(w->context, text) && write_number(w, "expand", expand);
}

static bool write_common(const struct writer *w, enum pim_family family)
{
    char text[48];
    (void)snprintf(text, sizeof text, "network.family=%s", pim_family_name(family));
    return w->set(w->context, text) && write_number(w, "image", w->sizes->image) &&
           write_number(w, "input_channels", w->sizes->input_channels) &&
           write_number(w, "patch", w->sizes->patch) && write_number(w, "classes", w->sizes->classes) &&
           write_list(w, "blocks", blocks_of) && write_list(w, "channels", channels_of) &&
           write_list(w, "heads", heads_of) && write_list(w, "mlp_ratio", ratio_of);
}

bool pim_sizes_describe(const struct pim_sizes *sizes, enum pim_family family, uint32_t choice,
                        bool (*set)(void *context, const char *assignment), void *context)
{
    const struct writer w = {.set = set, .context = context, .sizes = sizes};
    const uint64_t window = root(sizes->block[0].attention[0].rows), grid = sizes->image / sizes->patch;
    const unsigned keys = pim_families[family].keys;
    const uint64_t choices = (keys & PIM_READS_FOCAL) != 0 && window < FOCAL_CHOICES ? window + 1 : 1;
    const char *token =
        sizes->block[0].tokens > grid * grid ? "network.class_token=true" : "network.class_token=false";
    return choice < choices && write_common(&w, family) &&
           ((keys & PIM_READS_CLASS_TOKEN) == 0 || set(context, token)) &&
           ((keys & PIM_READS_WINDOW) == 0 || write_number(&w, "window", window)) &&
           ((keys & PIM_READS_REDUCTION) == 0 || write_list(&w, "reduction", reduction_of)) &&
           ((keys & PIM_READS_STRIPE) == 0 || write_list(&w, "stripe", stripe_of)) &&
           ((keys & PIM_READS_FOCAL) == 0 || write_focal(&w, choice));
}
