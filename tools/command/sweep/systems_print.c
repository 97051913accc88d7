/* Results of systems for people: what `pimsim systems` prints. */
#include "tools/command/sweep/systems.h"

#include "tools/report/results.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void systems_print_list(const struct pim_systems *systems, FILE *file)
{
    for (size_t i = 0; i < systems->count; i++)
        (void)fprintf(file, "%-18s %-40s map %-36s %s\n", systems->rows[i].name, systems->rows[i].title,
                      systems->rows[i].mapper, systems->rows[i].hardware);
}

/* A figure of a point; NaN: it has none. */
static double statistic(const json_t *result, const json_t *point, const char *name)
{
    const json_t *names = json_object_get(result, "statistics"), *one;
    size_t i;
    json_array_foreach(names, i, one) if (strcmp(json_string_value(one), name) == 0)
    {
        const json_t *value = json_array_get(json_object_get(point, "values"), i);
        return json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    return (double)NAN;
}

/* A figure in a column of 11, or n/a. */
static void put(FILE *file, double value)
{
    if (isnan(value))
        (void)fprintf(file, " %11s", "n/a");
    else
        (void)fprintf(file, " %11.4g", value);
}

static void put_percent(FILE *file, double value)
{
    if (isnan(value))
        (void)fprintf(file, " %11s", "n/a");
    else
        (void)fprintf(file, " %9.1f %%", fabs(value) < 0.05 ? 0.0 : value); /* not -0.0 */
}

static bool is_done(const json_t *point)
{
    return strcmp(json_string_value(json_object_get(point, "status")), "done") == 0;
}

static const char *text_of(const json_t *point, const char *key)
{
    const char *text = json_string_value(json_object_get(point, key));
    return text ? text : "";
}

static void print_point(const json_t *result, const json_t *point, FILE *file)
{
    (void)fprintf(file, "%-16s", text_of(point, "system"));
    put(file, statistic(result, point, "system.latency_ns") * 1e-6);
    put(file, statistic(result, point, "system.images_per_second"));
    put(file, statistic(result, point, "system.energy_pj") * 1e-9);
    put_percent(file, 100 * statistic(result, point, "system.utilization"));
    put_percent(file, statistic(result, point, "estimate_error_percent"));
    put(file, statistic(result, point, "system.peak_macs_per_second") * 1e-12);
    put(file, statistic(result, point, "system.area_mm2"));
    put(file, statistic(result, point, "system.images_per_second_per_mm2"));
    put(file, statistic(result, point, "system.energy_28nm_pj") * 1e-9);
    (void)fprintf(file, "\n");
}

static void print_table(const json_t *result, FILE *file)
{
    const json_t *point;
    const char *network = "";
    size_t i;
    json_array_foreach(json_object_get(result, "points"), i, point)
    {
        if (!is_done(point))
            continue;
        if (strcmp(network, text_of(point, "network")) != 0)
            (void)fprintf(
                file,
                "\n%s\n%-16s %11s %11s %11s %11s %11s %11s %11s %11s %11s\n%-16s %11s %11s %11s %11s %11s "
                "%11s %11s %11s %11s\n",
                text_of(point, "network"), "system", "latency", "images/s", "energy", "of peak", "estimate",
                "peak", "area", "images/s", "energy", "", "ms", "", "mJ/image", "", "error", "TMAC/s", "mm2",
                "/mm2, 28 nm", "at 28 nm");
        network = text_of(point, "network");
        print_point(result, point, file);
    }
}

static void print_refusals(const json_t *result, FILE *file)
{
    const json_t *point;
    bool first = true;
    size_t i;
    json_array_foreach(json_object_get(result, "points"), i, point)
    {
        if (is_done(point))
            continue;
        if (first)
            (void)fprintf(file, "\nWhat cannot be taken, and why\n");
        first = false;
        (void)fprintf(file, "%-16s %-16s %s\n", text_of(point, "system"), text_of(point, "network"),
                      text_of(point, "error"));
    }
}

enum pim_status systems_print_results(const char *path, FILE *file, struct pim_error *error)
{
    json_t *result;
    if (pim_page_read_sweep(path, &result, error) != PIM_OK)
        return error->status;
    print_table(result, file);
    print_refusals(result, file);
    const char *rule = json_string_value(json_object_get(result, "rule"));
    (void)fprintf(file, "\n%s\nA page to decide from: pimsim report %s -o systems.html\n", rule ? rule : "",
                  path);
    json_decref(result);
    return PIM_OK;
}
