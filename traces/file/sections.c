/* Description, phases and behaviour tables as bytes; see sections.h. */
#include "traces/file/sections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Control characters could speak to a terminal that prints the text. */
static enum pim_status check_characters(const char *text, size_t length, bool lines, const char *what,
                                        struct pim_error *error)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == 127 || (c < 32 && !(lines && (c == '\n' || c == '\t' || c == '\r'))))
            return pim_fail(error, PIM_BAD_INPUT, "%s holds the control character %u at byte %zu", what,
                            (unsigned)c, i);
    }
    return PIM_OK;
}

enum pim_status pim_name_check(const char *name, size_t length, const char *what, struct pim_error *error)
{
    if (length == 0 || length > PIM_TRACE_NAME)
        return pim_fail(error, PIM_BAD_INPUT, "%s has %zu bytes: allowed are 1 to %d", what, length,
                        PIM_TRACE_NAME);
    return check_characters(name, length, false, what, error);
}

static enum pim_status check_text(const char *text, const char *what, struct pim_error *error)
{
    size_t length = strlen(text);
    if (length > PIM_TRACE_TEXT)
        return pim_fail(error, PIM_BAD_INPUT, "%s has %zu bytes: allowed are 0 to %d", what, length,
                        PIM_TRACE_TEXT);
    return check_characters(text, length, true, what, error);
}

enum pim_status pim_description_check(const struct pim_trace_description *description,
                                      struct pim_error *error)
{
    enum pim_status status =
        pim_name_check(description->family, strlen(description->family), "family", error);
    if (status == PIM_OK)
        status = check_text(description->network, "network", error);
    if (status == PIM_OK)
        status = check_text(description->mapping, "mapping", error);
    if (status == PIM_OK)
        status = check_text(description->configuration, "configuration", error);
    if (status != PIM_OK)
        return status;
    uint64_t places = (uint64_t)description->width * description->height;
    if (places == 0 || places > PIM_TRACE_UNITS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "the array is %" PRIu32 " x %" PRIu32 ": allowed are 1 to %d places",
                        description->width, description->height, PIM_TRACE_UNITS);
    if (description->units == 0 || description->units > places)
        return pim_fail(error, PIM_BAD_INPUT,
                        "units is %" PRIu32 ": the array of %" PRIu32 " x %" PRIu32 " allows 1 to %" PRIu64,
                        description->units, description->width, description->height, places);
    return PIM_OK;
}

enum pim_status pim_behaviour_check(const struct pim_trace_behaviour *entry, struct pim_error *error)
{
    if (entry->start >= PIM_TRACE_PORTS || entry->end >= PIM_TRACE_PORTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "task %" PRIu32 " goes from port %" PRIu32 " to port %" PRIu32 ": ports are 0 to %d",
                        entry->task, entry->start, entry->end, PIM_TRACE_PORTS - 1);
    return PIM_OK;
}

static uint8_t *put_text(uint8_t *place, const char *text, size_t length)
{
    pim_put_u32(place, (uint32_t)length);
    memcpy(place + 4, text, length);
    return place + 4 + length;
}

uint8_t *pim_description_encode(const struct pim_trace_description *description, uint64_t *bytes)
{
    const char *texts[] = {description->family, description->network, description->mapping,
                           description->configuration};
    size_t size = PIM_DESCRIPTION_SIZE;
    for (int i = 0; i < 4; i++)
        size += 4 + strlen(texts[i]);
    uint8_t *data = malloc(size);
    if (!data)
        return NULL;
    pim_put_u32(data, description->width);
    pim_put_u32(data + 4, description->height);
    pim_put_u32(data + 8, description->units);
    pim_put_u32(data + 12, 0);
    pim_put_u64(data + 16, description->macs);
    pim_put_u64(data + 24, description->padding_macs);
    pim_put_u64(data + 32, description->weight_bytes);
    uint8_t *place = data + PIM_DESCRIPTION_SIZE;
    for (int i = 0; i < 4; i++)
        place = put_text(place, texts[i], strlen(texts[i]));
    *bytes = size;
    return data;
}

uint8_t *pim_phases_encode(const struct pim_trace_phase *phase, uint32_t phases, uint64_t *bytes)
{
    size_t size = PIM_PHASES_SIZE;
    for (uint32_t i = 0; i < phases; i++)
        size += PIM_PHASE_SIZE + strlen(phase[i].name);
    uint8_t *data = malloc(size);
    if (!data)
        return NULL;
    pim_put_u32(data, phases);
    pim_put_u32(data + 4, PIM_ESTIMATE_PARTS);
    uint8_t *place = data + PIM_PHASES_SIZE;
    for (uint32_t i = 0; i < phases; i++) {
        pim_put_u64(place, phase[i].estimate_cycles);
        for (int part = 0; part < PIM_ESTIMATE_PARTS; part++)
            pim_put_u64(place + 8 + 8 * part, phase[i].estimate_parts[part]);
        place = put_text(place + PIM_PHASE_SIZE - 4, phase[i].name, strlen(phase[i].name));
    }
    *bytes = size;
    return data;
}

uint8_t *pim_behaviours_encode(const struct pim_behaviour_table *table, uint32_t tables, uint64_t *bytes)
{
    size_t size = PIM_BEHAVIOURS_SIZE;
    for (uint32_t i = 0; i < tables; i++)
        size += PIM_BEHAVIOUR_TABLE_SIZE + (size_t)table[i].count * PIM_BEHAVIOUR_SIZE;
    uint8_t *data = malloc(size);
    if (!data)
        return NULL;
    pim_put_u32(data, tables);
    pim_put_u32(data + 4, 0);
    uint8_t *place = data + PIM_BEHAVIOURS_SIZE;
    for (uint32_t i = 0; i < tables; i++) {
        pim_put_u32(place, table[i].router);
        pim_put_u32(place + 4, table[i].count);
        place += PIM_BEHAVIOUR_TABLE_SIZE;
        for (uint32_t j = 0; j < table[i].count; j++, place += PIM_BEHAVIOUR_SIZE) {
            pim_put_u32(place, table[i].entries[j].task);
            pim_put_u32(place + 4, table[i].entries[j].start);
            pim_put_u32(place + 8, table[i].entries[j].end);
        }
    }
    *bytes = size;
    return data;
}

/* Bytes that are still to be read. */
struct reader {
    const uint8_t *data;
    size_t bytes, place;
};

static enum pim_status need(const struct reader *reader, size_t bytes, const char *what,
                            struct pim_error *error)
{
    if (bytes <= reader->bytes - reader->place)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "at byte %zu of the section: %s needs %zu bytes, %zu are left",
                    reader->place, what, bytes, reader->bytes - reader->place);
}

static enum pim_status need_end(const struct reader *reader, struct pim_error *error)
{
    if (reader->place == reader->bytes)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "at byte %zu of the section: %zu bytes too many", reader->place,
                    reader->bytes - reader->place);
}

static enum pim_status need_zero(struct reader *reader, struct pim_error *error)
{
    uint32_t value = pim_get_u32(reader->data + reader->place);
    if (value != 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: a reserved word is %" PRIu32 ", not 0", reader->place,
                        value);
    reader->place += 4;
    return PIM_OK;
}

/* A length and a text, which is copied to *storage with a zero byte behind it; a zero byte inside is refused.
 */
static enum pim_status take_text(struct reader *reader, const char *what, char **storage, const char **text,
                                 struct pim_error *error)
{
    enum pim_status status = need(reader, 4, what, error);
    if (status != PIM_OK)
        return status;
    size_t length = pim_get_u32(reader->data + reader->place);
    reader->place += 4;
    status = need(reader, length, what, error);
    if (status != PIM_OK)
        return status;
    memcpy(*storage, reader->data + reader->place, length);
    (*storage)[length] = '\0';
    if (memchr(*storage, 0, length))
        return pim_fail(error, PIM_BAD_INPUT, "at byte %zu of the section: %s holds a zero byte",
                        reader->place, what);
    *text = *storage;
    *storage += length + 1;
    reader->place += length;
    return PIM_OK;
}

static enum pim_status decode_description(struct reader *reader, struct pim_trace_description *description,
                                          char *storage, struct pim_error *error)
{
    *description = (struct pim_trace_description){.width = pim_get_u32(reader->data),
                                                  .height = pim_get_u32(reader->data + 4),
                                                  .units = pim_get_u32(reader->data + 8),
                                                  .macs = pim_get_u64(reader->data + 16),
                                                  .padding_macs = pim_get_u64(reader->data + 24),
                                                  .weight_bytes = pim_get_u64(reader->data + 32)};
    reader->place = 12;
    enum pim_status status = need_zero(reader, error);
    reader->place = PIM_DESCRIPTION_SIZE;
    if (status == PIM_OK)
        status = take_text(reader, "family", &storage, &description->family, error);
    if (status == PIM_OK)
        status = take_text(reader, "network", &storage, &description->network, error);
    if (status == PIM_OK)
        status = take_text(reader, "mapping", &storage, &description->mapping, error);
    if (status == PIM_OK)
        status = take_text(reader, "configuration", &storage, &description->configuration, error);
    if (status == PIM_OK)
        status = need_end(reader, error);
    if (status == PIM_OK)
        status = pim_description_check(description, error);
    return status;
}

enum pim_status pim_description_decode(const uint8_t *data, size_t bytes,
                                       struct pim_trace_description *description, char **storage,
                                       struct pim_error *error)
{
    struct reader reader = {.data = data, .bytes = bytes};
    enum pim_status status = need(&reader, PIM_DESCRIPTION_SIZE, "the description", error);
    if (status != PIM_OK)
        return status;
    *storage = malloc(bytes); /* four lengths make room for four zero bytes */
    if (!*storage)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a description of %zu bytes", bytes);
    status = decode_description(&reader, description, *storage, error);
    if (status != PIM_OK) {
        free(*storage);
        *storage = NULL;
    }
    return status;
}

static enum pim_status decode_phase(struct reader *reader, struct pim_trace_phase *phase, char **storage,
                                    struct pim_error *error)
{
    enum pim_status status = need(reader, PIM_PHASE_SIZE, "a phase", error);
    if (status != PIM_OK)
        return status;
    const uint8_t *place = reader->data + reader->place;
    phase->estimate_cycles = pim_get_u64(place);
    for (int part = 0; part < PIM_ESTIMATE_PARTS; part++)
        phase->estimate_parts[part] = pim_get_u64(place + 8 + 8 * part);
    reader->place += PIM_PHASE_SIZE - 4;
    status = take_text(reader, "name", storage, &phase->name, error);
    if (status == PIM_OK)
        status = pim_name_check(phase->name, strlen(phase->name), "name", error);
    return status;
}

enum pim_status pim_phases_decode(const uint8_t *data, size_t bytes, struct pim_trace_phase **phase,
                                  uint32_t *phases, char **storage, struct pim_error *error)
{
    struct reader reader = {.data = data, .bytes = bytes};
    enum pim_status status = need(&reader, PIM_PHASES_SIZE, "the number of phases", error);
    if (status != PIM_OK)
        return status;
    uint32_t count = pim_get_u32(data);
    uint32_t parts = pim_get_u32(data + 4);
    if (parts != PIM_ESTIMATE_PARTS)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 4 of the section: estimates have %" PRIu32 " parts, not %d", parts,
                        PIM_ESTIMATE_PARTS);
    if (count > PIM_TRACE_PHASES || count > (bytes - PIM_PHASES_SIZE) / PIM_PHASE_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: %" PRIu32 " phases do not fit %zu bytes", count, bytes);
    reader.place = PIM_PHASES_SIZE;
    *phase = calloc((size_t)count + 1, sizeof **phase);
    *storage = malloc(bytes);
    char *free_storage = *storage;
    if (!*phase || !*storage)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for %" PRIu32 " phases", count);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++) {
        status = decode_phase(&reader, &(*phase)[i], &free_storage, error);
        if (status != PIM_OK)
            (void)pim_fail_in(error, "phase %" PRIu32, i);
    }
    if (status == PIM_OK)
        status = need_end(&reader, error);
    *phases = count;
    if (status != PIM_OK) {
        free(*phase);
        free(*storage);
        *phase = NULL;
        *storage = NULL;
        *phases = 0;
    }
    return status;
}

/* One table; its entries go to *entries, which has room for all that the section can hold. */
static enum pim_status decode_table(struct reader *reader, struct pim_behaviour_table *table, bool first,
                                    uint32_t before, struct pim_trace_behaviour **entries,
                                    struct pim_error *error)
{
    enum pim_status status = need(reader, PIM_BEHAVIOUR_TABLE_SIZE, "a table", error);
    if (status != PIM_OK)
        return status;
    table->router = pim_get_u32(reader->data + reader->place);
    table->count = pim_get_u32(reader->data + reader->place + 4);
    table->entries = *entries;
    if (table->router >= PIM_TRACE_ROUTERS || (!first && table->router <= before))
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte %zu of the section: router %" PRIu32 ": routers must ascend, below %d",
                        reader->place, table->router, PIM_TRACE_ROUTERS);
    reader->place += PIM_BEHAVIOUR_TABLE_SIZE;
    if (table->count > (reader->bytes - reader->place) / PIM_BEHAVIOUR_SIZE)
        return pim_fail(error, PIM_BAD_INPUT, "at byte %zu of the section: %" PRIu32 " entries do not fit",
                        reader->place, table->count);
    for (uint32_t i = 0; i < table->count; i++, reader->place += PIM_BEHAVIOUR_SIZE) {
        const uint8_t *place = reader->data + reader->place;
        struct pim_trace_behaviour *entry = &table->entries[i];
        *entry = (struct pim_trace_behaviour){
            .task = pim_get_u32(place), .start = pim_get_u32(place + 4), .end = pim_get_u32(place + 8)};
        if (pim_behaviour_check(entry, error) != PIM_OK)
            return pim_fail_in(error, "at byte %zu of the section: router %" PRIu32, reader->place,
                               table->router);
    }
    *entries += table->count;
    return PIM_OK;
}

enum pim_status pim_behaviours_decode(const uint8_t *data, size_t bytes, struct pim_behaviour_table **table,
                                      uint32_t *tables, struct pim_trace_behaviour **storage,
                                      struct pim_error *error)
{
    struct reader reader = {.data = data, .bytes = bytes};
    enum pim_status status = need(&reader, PIM_BEHAVIOURS_SIZE, "the number of tables", error);
    if (status != PIM_OK)
        return status;
    uint32_t count = pim_get_u32(data);
    reader.place = 4;
    status = need_zero(&reader, error);
    if (status != PIM_OK)
        return status;
    if (count == 0)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: no tables: the section must be left out then");
    if (count > PIM_TRACE_ROUTERS || count > (bytes - PIM_BEHAVIOURS_SIZE) / PIM_BEHAVIOUR_TABLE_SIZE)
        return pim_fail(error, PIM_BAD_INPUT,
                        "at byte 0 of the section: %" PRIu32 " tables do not fit %zu bytes", count, bytes);
    *table = calloc((size_t)count + 1, sizeof **table);
    *storage = malloc(bytes);
    struct pim_trace_behaviour *entries = *storage;
    if (!*table || !*storage)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for behaviour tables of %zu bytes", bytes);
    for (uint32_t i = 0; i < count && status == PIM_OK; i++)
        status =
            decode_table(&reader, &(*table)[i], i == 0, i == 0 ? 0 : (*table)[i - 1].router, &entries, error);
    if (status == PIM_OK)
        status = need_end(&reader, error);
    *tables = count;
    if (status != PIM_OK) {
        free(*table);
        free(*storage);
        *table = NULL;
        *storage = NULL;
        *tables = 0;
    }
    return status;
}

static void hash_u64(struct pim_content_hash *content, uint64_t value)
{
    uint8_t bytes[8];
    pim_put_u64(bytes, value);
    pim_hash_update(&content->state, bytes, sizeof bytes);
}

void pim_content_start(struct pim_content_hash *content)
{
    (void)XXH64_reset(&content->state, 0);
}

void pim_content_add(struct pim_content_hash *content, uint32_t type, const uint8_t *data, uint64_t bytes)
{
    if (type == PIM_SECTION_DESCRIPTION || type == PIM_SECTION_PHASES || type == PIM_SECTION_BEHAVIOURS ||
        type == PIM_SECTION_ARRAY_GROUPS) {
        hash_u64(content, type);
        hash_u64(content, bytes);
        pim_hash_update(&content->state, data, bytes);
    } else if (type == PIM_SECTION_UNITS) {
        hash_u64(content, type);
        hash_u64(content, bytes / PIM_UNIT_SIZE * 16);
        for (uint64_t place = 0; place + PIM_UNIT_SIZE <= bytes; place += PIM_UNIT_SIZE)
            pim_hash_update(&content->state, data + place + PIM_UNIT_INSTRUCTIONS, 16);
    }
}

uint64_t pim_content_end(const struct pim_content_hash *content)
{
    return XXH64_digest(&content->state);
}
