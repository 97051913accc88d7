/*
 * From a libconfig setting to the value of a key: type, range, finiteness, and messages that name what was
 * found and what is allowed.
 */
#include "sim/configuration/internal.h"
#include "sim/nearest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void pim_value_format_real(double value, char buffer[static 40])
{
    char text[40];
    value += 0.0; /* -0 and 0 are the same value */
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (!isfinite(value)) {
        (void)snprintf(buffer, 40, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    size_t size = 0;
    bool point = false;
    for (const char *c = text; *c && size < 36; c++) {
        bool exponent = *c == 'e';
        bool part = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || exponent;
        if (part && exponent && !point) {
            buffer[size++] = '.';
            buffer[size++] = '0';
            point = true;
        }
        if (part) {
            buffer[size++] = *c;
        } else if (!point) { /* the locale's decimal separator, of one byte or several */
            buffer[size++] = '.';
            point = true;
        }
    }
    buffer[size] = '\0';
    if (!point)
        memcpy(buffer + size, ".0", 3);
}

void pim_quote(const char *text, size_t length, char *buffer, size_t size)
{
    assert(size > 4);
    bool cut = length > size - 1;
    size_t kept = cut ? size - 4 : length;
    while (cut && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--; /* not in the middle of a UTF-8 character */
    for (size_t i = 0; i < kept; i++)
        buffer[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    memcpy(buffer + kept, cut ? "..." : "", cut ? 4 : 1);
}

bool pim_key_choice(const struct pim_key *key, unsigned index, char *buffer, size_t size)
{
    const char *choice = key->choices;
    for (; choice && index > 0; index--) {
        choice = strchr(choice, '|');
        if (choice)
            choice++;
    }
    if (!choice)
        return false;
    (void)snprintf(buffer, size, "%.*s", (int)strcspn(choice, "|"), choice);
    return true;
}

static void format_bound(const struct pim_key *key, double bound, char buffer[static 40])
{
    if (key->type == PIM_KEY_REAL)
        pim_value_format_real(bound, buffer);
    else
        (void)snprintf(buffer, 40, "%lld", (long long)bound);
}

static void describe_choices(const struct pim_key *key, char *buffer, size_t size)
{
    char choice[80];
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; used < size && pim_key_choice(key, i, choice, sizeof choice); i++) {
        char next[80];
        const char *separator = i == 0 ? "" : pim_key_choice(key, i + 1, next, sizeof next) ? ", " : " or ";
        int written = snprintf(buffer + used, size - used, "%s\"%s\"", separator, choice);
        used += written > 0 ? (size_t)written : 0;
    }
}

void pim_key_describe(const struct pim_key *key, char *buffer, size_t size)
{
    char low[40], high[40];
    const char *space = key->unit && key->unit[0] ? " " : "";
    const char *unit = key->unit ? key->unit : "";
    format_bound(key, key->minimum, low);
    format_bound(key, key->maximum, high);
    switch (key->type) {
    case PIM_KEY_INTEGER:
        (void)snprintf(buffer, size, "an integer from %s to %s%s%s", low, high, space, unit);
        break;
    case PIM_KEY_REAL:
        (void)snprintf(buffer, size, "a number from %s to %s%s%s", low, high, space, unit);
        break;
    case PIM_KEY_BOOLEAN:
        (void)snprintf(buffer, size, "true or false");
        break;
    case PIM_KEY_CHOICE:
        describe_choices(key, buffer, size);
        break;
    case PIM_KEY_TEXT:
        (void)snprintf(buffer, size, "a text of at most %u bytes in quotes", PIM_CONFIGURATION_TEXT_LIMIT);
        break;
    case PIM_KEY_INTEGER_LIST:
        (void)snprintf(buffer, size, "a list of integers from %s to %s%s%s, as [2, 3]", low, high, space,
                       unit);
        break;
    }
}

static void describe_found(const config_setting_t *setting, char *buffer, size_t size)
{
    char text[64];
    const char *string;
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        (void)snprintf(buffer, size, "%lld", config_setting_get_int64(setting));
        break;
    case CONFIG_TYPE_FLOAT:
        pim_value_format_real(config_setting_get_float(setting), text);
        (void)snprintf(buffer, size, "%s", text);
        break;
    case CONFIG_TYPE_BOOL:
        (void)snprintf(buffer, size, "%s", config_setting_get_bool(setting) ? "true" : "false");
        break;
    case CONFIG_TYPE_STRING:
        string = config_setting_get_string(setting);
        pim_quote(string ? string : "", string ? strlen(string) : 0, text, sizeof text);
        (void)snprintf(buffer, size, "\"%s\"", text);
        break;
    case CONFIG_TYPE_GROUP:
        (void)snprintf(buffer, size, "a group");
        break;
    default:
        (void)snprintf(buffer, size, "a list of %d elements", config_setting_length(setting));
        break;
    }
}

/* "<place>: <path>: <what>found <found>, allowed is <allowed>" */
static enum pim_status refuse(const struct pim_key *key, const config_setting_t *setting, const char *place,
                              const char *what, struct pim_error *error)
{
    char found[96], allowed[512];
    describe_found(setting, found, sizeof found);
    pim_key_describe(key, allowed, sizeof allowed);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s: %sfound %s, allowed is %s", place, key->path, what, found,
                    allowed);
}

static bool is_integer(const config_setting_t *setting)
{
    return config_setting_type(setting) == CONFIG_TYPE_INT ||
           config_setting_type(setting) == CONFIG_TYPE_INT64;
}

/* An integer in the key's range. The bounds are whole numbers up to 2^53, so the comparison as integers is
 * exact. */
static bool integer_allowed(const struct pim_key *key, const config_setting_t *setting, int64_t *value)
{
    assert(fabs(key->minimum) <= 0x1p53 &&
           fabs(key->maximum) <= 0x1p53); /* every integer up to 2^53 is a double */
    if (!is_integer(setting))
        return false;
    *value = config_setting_get_int64(setting);
    return *value >= (int64_t)key->minimum && *value <= (int64_t)key->maximum;
}

static bool real_allowed(const struct pim_key *key, const config_setting_t *setting, double *value)
{
    if (!config_setting_is_number(setting))
        return false;
    *value =
        is_integer(setting) ? (double)config_setting_get_int64(setting) : config_setting_get_float(setting);
    *value += 0.0;
    return isfinite(*value) && *value >= key->minimum && *value <= key->maximum;
}

/* The length of the UTF-8 character at `text`, 0 when it is none (or too long a form of one, a surrogate,
 * beyond U+10FFFF). */
static size_t character_length(const unsigned char *text)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf8 ? 0 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc0 ? 2 : 0;
    if (length == 0)
        return 0;
    uint32_t code = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    return code >= smallest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

static bool is_clean_text(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c) {
        size_t length = *c < ' ' || *c == 0x7f ? 0 : character_length(c);
        if (length == 0)
            return false;
        c += length;
    }
    return true;
}

static enum pim_status read_text(const struct pim_key *key, const config_setting_t *setting,
                                 const char *place, struct pim_value *value, struct pim_error *error)
{
    if (config_setting_type(setting) != CONFIG_TYPE_STRING)
        return refuse(key, setting, place, "", error);
    const char *text = config_setting_get_string(setting);
    text = text ? text : "";
    size_t length = strlen(text);
    if (length > PIM_CONFIGURATION_TEXT_LIMIT)
        return pim_fail(error, PIM_BAD_INPUT,
                        "%s: %s: found a text of %zu bytes, allowed is a text of at most %u", place,
                        key->path, length, PIM_CONFIGURATION_TEXT_LIMIT);
    if (!is_clean_text(text))
        return refuse(key, setting, place, "a control character or a byte that is not UTF-8: ", error);
    char *copy = strdup(text);
    if (!copy)
        return pim_fail(error, PIM_NO_MEMORY, "%s: %s: out of memory", place, key->path);
    pim_value_release(key, value);
    value->as.text = copy;
    return PIM_OK;
}

static enum pim_status read_choice(const struct pim_key *key, const config_setting_t *setting,
                                   const char *place, struct pim_value *value, struct pim_error *error)
{
    const char *text =
        config_setting_type(setting) == CONFIG_TYPE_STRING ? config_setting_get_string(setting) : NULL;
    if (!text)
        return refuse(key, setting, place, "", error);
    char choice[80], kept[80], found[96], allowed[512];
    struct pim_nearest nearest = {.wanted = text};
    for (unsigned i = 0; pim_key_choice(key, i, choice, sizeof choice); i++) {
        if (strcmp(choice, text) == 0) {
            value->as.choice = i;
            return PIM_OK;
        }
        (void)pim_nearest_offer_copy(&nearest, choice, kept, sizeof kept);
    }
    describe_found(setting, found, sizeof found);
    pim_key_describe(key, allowed, sizeof allowed);
    return pim_fail(error, PIM_BAD_INPUT, "%s: %s: found %s, allowed is %s%s%s%s", place, key->path, found,
                    allowed, PIM_NEAREST(nearest, "; the nearest is \""), nearest.name ? "\"" : "");
}

static enum pim_status read_list(const struct pim_key *key, const config_setting_t *setting,
                                 const char *place, struct pim_value *value, struct pim_error *error)
{
    if (config_setting_type(setting) != CONFIG_TYPE_ARRAY && config_setting_type(setting) != CONFIG_TYPE_LIST)
        return refuse(key, setting, place, "", error);
    size_t count = (size_t)config_setting_length(setting);
    assert(count <= PIM_CONFIGURATION_LIST_LIMIT);
    int64_t *list = count > 0 ? malloc(count * sizeof *list) : NULL;
    if (count > 0 && !list)
        return pim_fail(error, PIM_NO_MEMORY, "%s: %s: out of memory", place, key->path);
    for (size_t i = 0; i < count; i++) {
        const config_setting_t *element = config_setting_get_elem(setting, (unsigned)i);
        if (!integer_allowed(key, element, &list[i])) {
            char what[40];
            free(list);
            (void)snprintf(what, sizeof what, "element %zu: ", i + 1);
            return refuse(key, element, place, what, error);
        }
    }
    pim_value_release(key, value);
    value->as.list = list;
    value->count = count;
    return PIM_OK;
}

enum pim_status pim_value_read(const struct pim_key *key, const config_setting_t *setting, const char *place,
                               struct pim_value *value, struct pim_error *error)
{
    switch (key->type) {
    case PIM_KEY_INTEGER: {
        int64_t integer = 0;
        if (!integer_allowed(key, setting, &integer))
            return refuse(key, setting, place, "", error);
        value->as.integer = integer;
        return PIM_OK;
    }
    case PIM_KEY_REAL: {
        double real = 0;
        if (!real_allowed(key, setting, &real))
            return refuse(key, setting, place, "", error);
        value->as.real = real;
        return PIM_OK;
    }
    case PIM_KEY_BOOLEAN:
        if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
            return refuse(key, setting, place, "", error);
        value->as.boolean = config_setting_get_bool(setting) != 0;
        return PIM_OK;
    case PIM_KEY_CHOICE:
        return read_choice(key, setting, place, value, error);
    case PIM_KEY_TEXT:
        return read_text(key, setting, place, value, error);
    case PIM_KEY_INTEGER_LIST:
        return read_list(key, setting, place, value, error);
    }
    return pim_fail(error, PIM_INTERNAL, "%s: %s: the key has no known type", place, key->path);
}

void pim_value_release(const struct pim_key *key, struct pim_value *value)
{
    if (value->origin == PIM_ORIGIN_NONE)
        return;
    if (key->type == PIM_KEY_TEXT) {
        free(value->as.text);
        value->as.text = NULL;
    } else if (key->type == PIM_KEY_INTEGER_LIST) {
        free(value->as.list);
        value->as.list = NULL;
        value->count = 0;
    }
}
