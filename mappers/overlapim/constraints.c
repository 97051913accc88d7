#include "mappers/overlapim/constraints.h"

#include "sim/output/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, MOST = 1 << 20 }; /* characters of a line, of a file */

/* Which layers a line is for: one, or all of them. */
struct target {
    const struct pim_mapped_layers *layers;
    struct pim_mapping_space *spaces;
    uint32_t first, last;
};

static enum pim_status take_factor(const char *word, unsigned slot, const struct target *target,
                                   struct pim_error *error)
{
    char name[2] = {word[0], '\0'}, *end = NULL;
    unsigned d = pim_dimension_find(name);
    unsigned long factor = d < PIM_DIMENSIONS && word[1] == '=' && word[2] >= '0' && word[2] <= '9'
                               ? strtoul(word + 2, &end, 10)
                               : 0;
    if (factor < 1 || factor > PIM_NEST_EXTENT || *end != '\0')
        return pim_fail(error, PIM_BAD_INPUT, "\"%.40s\": must be like K=8, of N K C P Q R S", word);
    for (uint32_t i = target->first; i < target->last; i++)
        target->spaces[i].factor[slot][d] = (uint32_t)factor;
    return PIM_OK;
}

static enum pim_status take_order(char **rest, const struct target *target, struct pim_error *error)
{
    const char *slot_name = strtok_r(NULL, " \t", rest), *word;
    uint8_t order[PIM_DIMENSIONS];
    unsigned count = 0, named = 0;
    unsigned slot = slot_name && strcmp(slot_name, "outer") == 0   ? PIM_SLOT_OUTER
                    : slot_name && strcmp(slot_name, "steps") == 0 ? PIM_SLOT_STEPS
                                                                   : PIM_SLOTS;
    if (slot == PIM_SLOTS)
        return pim_fail(error, PIM_BAD_INPUT, "order: of outer or of steps");
    while ((word = strtok_r(NULL, " \t", rest)) != NULL) {
        unsigned d = pim_dimension_find(word);
        if (d == PIM_DIMENSIONS || named >> d & 1)
            return pim_fail(error, PIM_BAD_INPUT, "order: \"%.20s\" is no dimension, or stands twice", word);
        named |= 1U << d;
        order[count++] = (uint8_t)d;
    }
    for (unsigned d = 0; d < PIM_DIMENSIONS; d++) {
        if (!(named >> d & 1))
            order[count++] = (uint8_t)d;
    }
    for (uint32_t i = target->first; i < target->last; i++) {
        memcpy(target->spaces[i].order[slot], order, sizeof order);
        target->spaces[i].ordered[slot] = true;
    }
    return PIM_OK;
}

static enum pim_status take_layer(const char *name, struct target *target, struct pim_error *error)
{
    target->first = 0;
    target->last = target->layers->count;
    if (strcmp(name, "*") == 0)
        return PIM_OK;
    for (uint32_t i = 0; i < target->layers->count; i++) {
        if (strcmp(target->layers->layer[i].name, name) == 0) {
            target->first = i;
            target->last = i + 1;
            return PIM_OK;
        }
    }
    return pim_fail(error, PIM_BAD_INPUT, "layer %.60s: the network has no layer of that name that is mapped",
                    name);
}

/* Names of layers may have blanks in them. */
static const char *trimmed(char *text)
{
    text += strspn(text, " \t");
    for (size_t end = strlen(text); end > 0 && strchr(" \t", text[end - 1]); end--)
        text[end - 1] = '\0';
    return text;
}

/* Words that nobody reads would be constraints that do nothing. */
static enum pim_status expect_end(char **rest, struct pim_error *error)
{
    const char *word = strtok_r(NULL, " \t", rest);
    return word ? pim_fail(error, PIM_BAD_INPUT, "\"%.40s\": the line must end before it", word) : PIM_OK;
}

static enum pim_status take_line(char *line, struct target *target, struct pim_error *error)
{
    char *rest = NULL;
    size_t length = strcspn(line, "#");
    length -= length > 0 && line[length - 1] == '\r'; /* of a line that ends in two characters */
    line[length] = '\0';
    const char *word = strtok_r(line, " \t", &rest);
    if (!word)
        return PIM_OK;
    if (strcmp(word, "layer") == 0)
        return take_layer(rest ? trimmed(rest) : "", target, error);
    if (strcmp(word, "order") == 0)
        return take_order(&rest, target, error);
    if (strcmp(word, "keep") == 0 || strcmp(word, "drop") == 0) {
        const char *what = strtok_r(NULL, " \t", &rest);
        if (!what || strcmp(what, "weights") != 0)
            return pim_fail(error, PIM_BAD_INPUT, "%s: weights can be kept or dropped", word);
        for (uint32_t i = target->first; i < target->last; i++)
            target->spaces[i].drop_weights = word[0] == 'd';
        return expect_end(&rest, error);
    }
    unsigned slot = 0;
    while (slot < PIM_SLOTS && strcmp(pim_slot_name(slot), word) != 0)
        slot++;
    if (slot == PIM_SLOTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "\"%.40s\": a line is layer NAME, order, keep, drop, or factors of outer, channels, "
                        "banks, steps, columns or inside",
                        word);
    word = strtok_r(NULL, " \t", &rest);
    if (!word)
        return pim_fail(error, PIM_BAD_INPUT, "%s: factors like K=8 are expected behind it",
                        pim_slot_name(slot));
    for (; word; word = strtok_r(NULL, " \t", &rest)) {
        if (take_factor(word, slot, target, error) != PIM_OK)
            return error->status;
    }
    return PIM_OK;
}

static enum pim_status take_text(const char *name, const char *text, size_t length, struct target *target,
                                 struct pim_error *error)
{
    char line[LINE];
    for (uint64_t number = 1; length > 0; number++) {
        const char *end = memchr(text, '\n', length);
        size_t size = end ? (size_t)(end - text) : length, taken = end ? size + 1 : length;
        if (size > LINE - 2)
            return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": longer than %d characters", name, number,
                            LINE - 2);
        if (memchr(text, '\0', size))
            return pim_fail(error, PIM_BAD_INPUT, "%s:%" PRIu64 ": a zero byte is no text", name, number);
        memcpy(line, text, size);
        line[size] = '\0';
        if (take_line(line, target, error) != PIM_OK)
            return pim_fail_in(error, "%s:%" PRIu64, name, number);
        text += taken;
        length -= taken;
    }
    for (uint32_t i = 0; i < target->layers->count; i++) {
        if (pim_mapping_space_check(&target->spaces[i], error) != PIM_OK)
            return pim_fail_in(error, "%s: layer %s", name, target->layers->layer[i].name);
    }
    return PIM_OK;
}

enum pim_status pim_constraints_parse(const char *name, const char *text, size_t length,
                                      const struct pim_mapped_layers *layers,
                                      struct pim_mapping_space *spaces, struct pim_error *error)
{
    struct target target = {layers, spaces, 0, layers->count};
    return take_text(name, text, length, &target, error);
}

enum pim_status pim_constraints_read(const char *path, const struct pim_mapped_layers *layers,
                                     struct pim_mapping_space *spaces, struct pim_error *error)
{
    char *text = NULL;
    size_t length = 0;
    if (pim_file_read(path, MOST, "constraints", &text, &length, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_constraints_parse(path, text, length, layers, spaces, error);
    free(text);
    return status;
}
