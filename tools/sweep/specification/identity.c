#include "tools/sweep/specification/identity.h"

#include "include/pimsim/pimsim.h"
#include "sim/output/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_axes(struct pim_json *json, const struct pim_sweep *sweep)
{
    pim_json_begin_array(json, "axes");
    for (size_t a = 0; a < sweep->axis_count; a++) {
        pim_json_begin_object(json, NULL);
        for (size_t i = 0; i < sweep->axes[a].key_count; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            pim_json_begin_array(json, key->name);
            for (size_t v = 0; v < key->count; v++)
                pim_json_put_text(json, NULL, key->values[v].text);
            pim_json_end(json);
        }
        pim_json_end(json);
    }
    pim_json_end(json);
}

/* What figures stand beside; the hardware is in the configuration. */
static void put_system(struct pim_json *json, const struct pim_system_row *row)
{
    pim_json_begin_object(json, "system");
    pim_json_put_text(json, "name", row->name);
    pim_json_put_text(json, "title", row->title);
    pim_json_put_boolean(json, "throughput", row->throughput);
    pim_json_put_count(json, "bits", row->bits);
    pim_json_put_real(json, "technology_nm", row->technology_nm);
    pim_json_put_text(json, "technology", row->technology);
    pim_json_put_real(json, "area_mm2", row->area_mm2);
    pim_json_put_text(json, "area", row->area ? row->area : "");
    pim_json_put_text(json, "energy", row->energy ? row->energy : "");
    pim_json_end(json);
}

static void put_sources(struct pim_json *json, const struct pim_sweep *sweep)
{
    char hash[20];
    pim_json_begin_array(json, "sources");
    for (size_t i = 0; i < sweep->source_count; i++) {
        const struct pim_sweep_source *source = &sweep->sources[i];
        pim_json_begin_object(json, NULL);
        if (source->trace) {
            (void)snprintf(hash, sizeof hash, "%016" PRIx64, pim_trace_hash(source->opened));
            pim_json_put_text(json, "trace", pim_sweep_label_among(sweep, source->trace));
            pim_json_put_text(json, "trace_hash", hash);
        } else {
            pim_json_put_text(json, "network", pim_sweep_label_among(sweep, source->network));
            pim_json_put_text(json, "mapper", source->mapper);
            if (source->mapper_files[0])
                pim_json_put_text(json, "mapper_files", source->mapper_files);
            pim_json_put_text(json, "network_content", source->network_content);
        }
        if (source->system != PIM_NO_SYSTEM)
            put_system(json, &sweep->systems.rows[source->system]);
        pim_json_put_text(json, "configuration", source->base);
        pim_json_end(json);
    }
    pim_json_end(json);
}

enum pim_status pim_sweep_identify(const struct pim_sweep *sweep, char **text, struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    size_t size = 0;
    *text = NULL;
    FILE *file = json ? open_memstream(text, &size) : NULL;
    if (!file) {
        pim_json_destroy(json);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    }
    pim_json_put_text(json, "pimsim", pimsim_version());
    put_sources(json, sweep);
    put_axes(json, sweep);
    pim_json_begin_array(json, "constraints");
    for (size_t i = 0; i < sweep->conditions.count; i++)
        pim_json_put_text(json, NULL, sweep->conditions.items[i]);
    pim_json_end(json);
    pim_json_put_count(json, "repeats", sweep->repeats);
    pim_json_put_count(json, "seed", sweep->seed);
    pim_json_put_count(json, "until", sweep->until_cycle);
    pim_json_put_boolean(json, "map_once", sweep->map_once);
    if (sweep->take_best)
        pim_json_put_boolean(json, "take_best", true);
    if (sweep->own_programs)
        pim_json_put_boolean(json, "own_programs", true);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory for a sweep");
    if (status != PIM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static void note(char *differences, size_t size, const char *key)
{
    size_t used = strlen(differences);
    (void)snprintf(differences + used, size - used, "%s%s", used ? ", " : "", key);
}

bool pim_sweep_same(const char *one, const char *two, char *differences, size_t size)
{
    differences[0] = '\0';
    if (strcmp(one, two) == 0)
        return true;
    struct pim_error error = {PIM_OK, ""};
    json_t *left = NULL, *right = NULL, *value;
    const char *key;
    if (pim_json_parse("identity", one, strlen(one), &left, &error) == PIM_OK &&
        pim_json_parse("identity", two, strlen(two), &right, &error) == PIM_OK)
        json_object_foreach(left, key, value)
        {
            if (!json_equal(value, json_object_get(right, key)))
                note(differences, size, strcmp(key, "pimsim") == 0 ? "version of pimsim" : key);
        }
    json_decref(left);
    json_decref(right);
    if (differences[0] == '\0')
        note(differences, size, "form");
    return false;
}
