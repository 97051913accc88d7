#include "sim/output/json.h"

#include "sim/arena.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, READ_BYTES = 65536 };

struct pim_json {
    json_t *open[DEEPEST]; /* open[0] is the root, owned; the others belong to the one before */
    unsigned depth;        /* of open; counts on after an error, so that ends still match begins */
    struct pim_error error;
};

struct pim_json *pim_json_create(void)
{
    struct pim_json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->open[0] = json_object();
    if (!json->open[0]) {
        free(json);
        return NULL;
    }
    json->depth = 1;
    return json;
}

void pim_json_destroy(struct pim_json *json)
{
    if (!json)
        return;
    json_decref(json->open[0]);
    free(json);
}

const json_t *pim_json_root(const struct pim_json *json)
{
    return json->open[0];
}

/* Appends ".key" or "[index]" of `child`, looked for in its parent. */
static void append_place(char *place, size_t size, json_t *parent, const json_t *child)
{
    size_t length = strlen(place);
    if (json_is_array(parent)) {
        size_t index = 0;
        while (index < json_array_size(parent) && json_array_get(parent, index) != child)
            index++;
        (void)snprintf(place + length, size - length, "[%zu]", index);
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach(parent, key, value)
    {
        if (value == child)
            (void)snprintf(place + length, size - length, "%s%s", length ? "." : "", key);
    }
}

/* Records the first error, with the place where a value of name `key` was to stand. */
static void refuse(struct pim_json *json, const char *key, enum pim_status status, const char *text)
{
    if (json->error.status != PIM_OK)
        return;
    char place[512] = "";
    for (unsigned level = 1; level < json->depth; level++)
        append_place(place, sizeof place, json->open[level - 1], json->open[level]);
    size_t length = strlen(place);
    json_t *parent = json->open[json->depth - 1];
    if (json_is_array(parent))
        (void)snprintf(place + length, sizeof place - length, "[%zu]", json_array_size(parent));
    else
        (void)snprintf(place + length, sizeof place - length, "%s%s", length ? "." : "",
                       key ? key : "(no key)");
    (void)pim_fail(&json->error, status, "JSON value %s: %s", place, text);
}

/* Bytes of the UTF-8 character at `text` (RFC 3629: no surrogates, no overlong forms, nothing above
 * U+10FFFF), or 0. */
static size_t character_bytes(const unsigned char *text)
{
    unsigned char lead = text[0];
    unsigned char lowest = 0x80, highest = 0xbf; /* of the second byte */
    size_t bytes;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf) {
        bytes = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        bytes = 3;
        lowest = lead == 0xe0 ? 0xa0 : lowest;
        highest = lead == 0xed ? 0x9f : highest;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        bytes = 4;
        lowest = lead == 0xf0 ? 0x90 : lowest;
        highest = lead == 0xf4 ? 0x8f : highest;
    } else {
        return 0;
    }
    if (text[1] < lowest || text[1] > highest)
        return 0;
    for (size_t i = 2; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) /* the final zero stops it, too */
            return 0;
    }
    return bytes;
}

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t bytes = character_bytes(at);
        if (bytes == 0)
            return false;
        at += bytes;
    }
    return true;
}

void pim_json_put_value(struct pim_json *json, const char *key, json_t *value)
{
    if (json->error.status != PIM_OK) {
        json_decref(value);
        return;
    }
    json_t *parent = json->open[json->depth - 1];
    if (!value) {
        refuse(json, key, PIM_NO_MEMORY, "out of memory");
    } else if (json_is_array(parent)) {
        if (key)
            refuse(json, key, PIM_INTERNAL, "a key inside an array");
        else if (json_array_append(parent, value) != 0)
            refuse(json, key, PIM_NO_MEMORY, "out of memory");
    } else if (!key) {
        refuse(json, key, PIM_INTERNAL, "a value without a key inside an object");
    } else if (json_object_get(parent, key)) {
        refuse(json, key, PIM_INTERNAL, "this key stands twice");
    } else if (json_object_set(parent, key, value) != 0) {
        if (is_utf8(key))
            refuse(json, key, PIM_NO_MEMORY, "out of memory");
        else
            refuse(json, key, PIM_INTERNAL, "the key is no valid UTF-8");
    }
    json_decref(value);
}

static void begin(struct pim_json *json, const char *key, json_t *container)
{
    if (json->error.status == PIM_OK && json->depth == DEEPEST)
        refuse(json, key, PIM_INTERNAL, "nested deeper than 64");
    pim_json_put_value(json, key, container); /* keeps a reference when it succeeds */
    if (json->error.status == PIM_OK)
        json->open[json->depth] = container;
    json->depth++;
}

void pim_json_begin_object(struct pim_json *json, const char *key)
{
    begin(json, key, json_object());
}

void pim_json_begin_array(struct pim_json *json, const char *key)
{
    begin(json, key, json_array());
}

void pim_json_end(struct pim_json *json)
{
    assert(json->depth > 1);
    json->depth--;
}

void pim_json_put_count(struct pim_json *json, const char *key, uint64_t value)
{
    char text[96];
    if (value <= INT64_MAX) {
        pim_json_put_value(json, key, json_integer((json_int_t)value));
        return;
    }
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " is above 9223372036854775807, the largest integer JSON readers keep", value);
    refuse(json, key, PIM_BAD_INPUT, text);
}

void pim_json_put_integer(struct pim_json *json, const char *key, int64_t value)
{
    pim_json_put_value(json, key, json_integer((json_int_t)value));
}

void pim_json_put_real(struct pim_json *json, const char *key, double value)
{
    if (isnan(value))
        pim_json_put_null(json, key);
    else if (isinf(value))
        refuse(json, key, PIM_BAD_INPUT, "is infinite, for which JSON has no number");
    else
        pim_json_put_value(json, key, json_real(value));
}

/* A JSON string of `text` with U+FFFD in place of every byte that belongs to no character. */
static json_t *repaired_text(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t size;
    if (!pim_multiply_size(strlen(text), sizeof replacement - 1, &size))
        return NULL;
    char *repaired = malloc(size + 1);
    if (!repaired)
        return NULL;
    const unsigned char *from = (const unsigned char *)text;
    size_t length = 0;
    while (*from) {
        size_t bytes = character_bytes(from);
        memcpy(repaired + length, bytes ? (const char *)from : replacement,
               bytes ? bytes : sizeof replacement - 1);
        length += bytes ? bytes : sizeof replacement - 1;
        from += bytes ? bytes : 1;
    }
    json_t *value = json_stringn(repaired, length);
    free(repaired);
    return value;
}

void pim_json_put_text(struct pim_json *json, const char *key, const char *text)
{
    json_t *value = json_string(text);
    pim_json_put_value(json, key, value ? value : repaired_text(text));
}

void pim_json_put_boolean(struct pim_json *json, const char *key, bool value)
{
    pim_json_put_value(json, key, json_boolean(value));
}

void pim_json_put_null(struct pim_json *json, const char *key)
{
    pim_json_put_value(json, key, json_null());
}

enum pim_status pim_json_write(const struct pim_json *json, FILE *file, struct pim_error *error)
{
    assert(json->depth == 1);
    if (json->error.status != PIM_OK) {
        *error = json->error;
        return error->status;
    }
    errno = 0;
    /* As one text: jansson hands out a few bytes at a time, and the lock of a file is dear for these. */
    char *text = json_dumps(json->open[0], JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    bool written = text && fputs(text, file) != EOF && fputc('\n', file) != EOF;
    free(text);
    return written ? PIM_OK
                   : pim_fail(error, PIM_IO, "JSON could not be written: %s",
                              errno ? strerror(errno) : "no memory");
}

enum pim_status pim_json_parse(const char *name, const char *text, size_t length, json_t **value,
                               struct pim_error *error)
{
    json_error_t reason;
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    if (*value)
        return PIM_OK;
    if (json_error_code(&reason) == json_error_out_of_memory)
        return pim_fail(error, PIM_NO_MEMORY, "%s: no memory to read it", name);
    /* jansson quotes the text near the error, which may hold anything: no control character shall reach a
     * terminal. */
    for (char *at = reason.text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == '\x7f')
            *at = '?';
    }
    return pim_fail(error, PIM_BAD_INPUT, "%s:%d:%d: %s", name, reason.line, reason.column, reason.text);
}

/* The whole of `file`, at most `maximum` bytes, in a block that the caller frees. */
static enum pim_status read_all(FILE *file, const char *name, size_t maximum, char **text, size_t *length,
                                struct pim_error *error)
{
    size_t capacity = 0;
    *text = NULL;
    *length = 0;
    for (;;) {
        char *grown = pim_array_grow(*text, &capacity, *length + READ_BYTES, 1);
        if (!grown)
            return pim_fail(error, PIM_NO_MEMORY, "%s: no memory to read it", name);
        *text = grown;
        errno = 0;
        size_t read = fread(grown + *length, 1, READ_BYTES, file);
        *length += read;
        if (ferror(file))
            return pim_fail(error, PIM_IO, "%s: cannot be read: %s", name, strerror(errno));
        if (*length > maximum)
            return pim_fail(error, PIM_BAD_INPUT,
                            "%s: is larger than %zu bytes, which is all that is read here", name, maximum);
        if (read < READ_BYTES)
            return PIM_OK;
    }
}

enum pim_status pim_json_read(const char *path, size_t maximum_bytes, json_t **value, struct pim_error *error)
{
    *value = NULL;
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file)
        return pim_fail(error, PIM_IO, "%s: cannot be opened: %s", name, strerror(errno));
    char *text;
    size_t length;
    enum pim_status status = read_all(file, name, maximum_bytes, &text, &length, error);
    if (!standard)
        (void)fclose(file);
    if (status == PIM_OK)
        status = pim_json_parse(name, text, length, value, error);
    free(text);
    return status;
}
