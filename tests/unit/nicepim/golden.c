#include "tests/unit/nicepim/suites.h"

json_t *nicepim_golden(const char *name)
{
    char relative[256], path[1024];
    (void)snprintf(relative, sizeof relative, "tests/data/nicepim/%s", name);
    json_error_t error;
    json_t *root = json_load_file(pimsim_source_path(path, sizeof path, relative), 0, &error);
    ck_assert_msg(root != NULL, "%s: %s", path, error.text);
    return root;
}

int64_t nicepim_integer(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    ck_assert_msg(json_is_integer(value), "%s is no integer", key);
    return json_integer_value(value);
}
