#include "tests/unit/sweep/support.h"

#include "tools/sweep/prepare.h"
#include "tools/sweep/trace_pool.h"
#include "tools/sweep/workers.h"

#include <stdlib.h>
#include <string.h>

static struct pim_sweep_key key_of(const char *name, const char *values)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key;
    ck_assert_msg(pim_sweep_key_begin(&key, name, &error) == PIM_OK &&
                      pim_sweep_key_add_list(&key, values, &error) == PIM_OK &&
                      pim_sweep_key_end(&key, &error) == PIM_OK,
                  "%s", error.text);
    return key;
}

static void add(struct pim_sweep *sweep, struct pim_sweep_axis *axis)
{
    struct pim_error error = {PIM_OK, ""};
    axis->count = axis->keys[0].count;
    ck_assert_msg(pim_sweep_add_axis(sweep, axis, &error) == PIM_OK, "%s", error.text);
}

void vary(struct pim_sweep *sweep, const char *name, const char *values)
{
    struct pim_sweep_axis axis = {.keys = calloc(1, sizeof *axis.keys), .key_count = 1};
    ck_assert_ptr_nonnull(axis.keys);
    axis.keys[0] = key_of(name, values);
    add(sweep, &axis);
}

void vary_together(struct pim_sweep *sweep, const char *one, const char *values, const char *two,
                   const char *others)
{
    struct pim_sweep_axis axis = {.keys = calloc(2, sizeof *axis.keys), .key_count = 2};
    ck_assert_ptr_nonnull(axis.keys);
    axis.keys[0] = key_of(one, values);
    axis.keys[1] = key_of(two, others);
    ck_assert_uint_eq(axis.keys[0].count, axis.keys[1].count);
    add(sweep, &axis);
}

void prepare(struct pim_sweep *sweep)
{
    struct pim_error error = {PIM_OK, ""};
    ck_assert_msg(pim_sweep_prepare(sweep, &error) == PIM_OK, "%s", error.text);
}

struct sink {
    struct pim_store *store;
    const struct pim_sweep *sweep;
};

static enum pim_status is_wanted(void *context, uint64_t point, bool *wanted, struct pim_error *error)
{
    struct sink *sink = context;
    bool there = false;
    enum pim_status status = pim_store_has(sink->store, point, true, &there, error);
    *wanted = !there;
    return status;
}

static enum pim_status keep(void *context, const struct pim_sweep_result *result, struct pim_error *error)
{
    struct sink *sink = context;
    const struct pim_store_host host = {"test", 1};
    return pim_store_add(sink->store, result, &host, error);
}

uint64_t run_missing(struct pim_sweep *sweep, const char *path, enum pim_store_mode mode, unsigned threads)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store;
    struct pim_trace_pool *pool;
    struct pim_sweep_outcome outcome;
    uint64_t points;
    ck_assert_msg(pim_sweep_count(sweep, &points, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_store_create(path, mode, sweep, points, &store, &error) == PIM_OK, "%s", error.text);
    ck_assert_msg(pim_trace_pool_create(sweep, "/nonexistent", &pool, &error) == PIM_OK, "%s", error.text);
    struct sink context = {store, sweep};
    const struct pim_sweep_sink sink = {.context = &context, .wanted = is_wanted, .add = keep};
    ck_assert_msg(pim_sweep_work(sweep, pool, &sink, 0, sweep->numbers, threads, points, true, &outcome,
                                 &error) == PIM_OK,
                  "%s", error.text);
    pim_trace_pool_destroy(pool);
    pim_store_close(store);
    return outcome.done + outcome.failed;
}

char *exported(const char *path, enum pim_store_format format)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_store *store;
    char *text = NULL;
    size_t size = 0;
    ck_assert_msg(pim_store_open(path, &store, &error) == PIM_OK, "%s", error.text);
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    ck_assert_msg(pim_store_export(store, format, false, file, &error) == PIM_OK, "%s", error.text);
    ck_assert_int_eq(fclose(file), 0);
    pim_store_close(store);
    return text;
}

char *content(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    ck_assert_int_ge(length, 0);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    ck_assert_ptr_nonnull(bytes);
    *size = fread(bytes, 1, (size_t)length, file);
    ck_assert_uint_eq(*size, (size_t)length);
    ck_assert_int_eq(fclose(file), 0);
    return bytes;
}

void expect_error(const struct pim_error *error, enum pim_status status, const char *part)
{
    ck_assert_msg(error->status == status, "status %d, expected %d: %s", (int)error->status, (int)status,
                  error->text);
    ck_assert_msg(strstr(error->text, part) != NULL, "\"%s\" is not in: %s", part, error->text);
}
