/*
 * Any bytes as what a sweep reads from outside: a specification file, or, after "--vary ", "--constraint "
 * and "--line ", an axis, a condition and the result line of a task. What is refused must have a message;
 * values of an axis must read back to themselves.
 */
#include "tools/sweep/specification/axis.h"
#include "tools/sweep/specification/expression.h"
#include "tools/sweep/specification/specification.h"
#include "tools/sweep/specification/task.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what, const struct pim_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->text);
    abort();
}

static void require_message(enum pim_status status, const struct pim_error *error)
{
    if (status != PIM_OK)
        require(error->status == status && error->text[0] != '\0', "refused without a message", error);
}

/* Makes a key of "name=values"; the caller terminates it. */
static enum pim_status make_key(struct pim_sweep_key *key, char *text, struct pim_error *error)
{
    char *equals = strchr(text, '=');
    *key = (struct pim_sweep_key){.name = NULL};
    if (!equals)
        return pim_fail(error, PIM_BAD_INPUT, "no =");
    *equals = '\0';
    enum pim_status status = pim_sweep_key_begin(key, text, error);
    if (status == PIM_OK)
        status = pim_sweep_key_add_list(key, equals + 1, error);
    if (status == PIM_OK)
        status = pim_sweep_key_end(key, error);
    return status;
}

static void try_axis(char *text)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_key key, again;
    enum pim_status status = make_key(&key, text, &error);
    require_message(status, &error);
    if (status == PIM_OK) {
        require(key.count > 0 && key.count <= PIM_SWEEP_VALUES_MOST, "number of values", &error);
        require(pim_sweep_key_begin(&again, key.name, &error) == PIM_OK, "the name is refused", &error);
        for (size_t i = 0; i < key.count && i < 64; i++)
            require(pim_sweep_key_add(&again, key.values[i].text, &error) == PIM_OK, "a value is refused",
                    &error);
        require(pim_sweep_key_end(&again, &error) == PIM_OK, "values are refused", &error);
        for (size_t i = 0; i < again.count; i++)
            require(strcmp(again.values[i].text, key.values[i].text) == 0, "a value changes", &error);
        pim_sweep_key_terminate(&again);
    }
    pim_sweep_key_terminate(&key);
}

static enum pim_status known(void *context, const char *name, bool *is_text, struct pim_error *error)
{
    (void)context;
    *is_text = name[0] == 't';
    return strchr(name, '.') ? PIM_OK : pim_fail(error, PIM_BAD_INPUT, "%s: no key", name);
}

static struct pim_expression_value look_up(void *context, const char *name)
{
    (void)context;
    return name[0] == 't' ? (struct pim_expression_value){.text = "flit"}
                          : (struct pim_expression_value){.number = (double)strlen(name) - 5};
}

static void try_condition(const char *text)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_expression *expression;
    bool result;
    enum pim_status status = pim_expression_create(text, known, NULL, &expression, &error);
    require_message(status, &error);
    require((expression != NULL) == (status == PIM_OK), "expression after a failure", &error);
    if (status == PIM_OK)
        require_message(pim_expression_evaluate(expression, look_up, NULL, &result, &error), &error);
    pim_expression_destroy(expression);
}

static void try_line(const char *text, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep_result result;
    struct pim_store_host host = {.name = NULL};
    require_message(pim_task_read_line("line", 1, text, size, &result, &host, &error), &error);
    pim_sweep_result_terminate(&result);
}

static void try_specification(const char *text, size_t size)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_sweep sweep;
    pim_sweep_initialize(&sweep);
    require_message(pim_sweep_read_text(&sweep, "fuzz.cfg", text, size, &error), &error);
    pim_sweep_terminate(&sweep);
}

/* The bytes behind `prefix` as a text that the caller frees; NULL: they do not begin with it. */
static char *behind(const char *prefix, const uint8_t *data, size_t size)
{
    size_t skip = strlen(prefix);
    if (size < skip || memcmp(data, prefix, skip) != 0)
        return NULL;
    return strndup((const char *)data + skip, size - skip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;
    if ((text = behind("--vary ", data, size)) != NULL)
        try_axis(text);
    else if ((text = behind("--constraint ", data, size)) != NULL)
        try_condition(text);
    else if ((text = behind("--line ", data, size)) != NULL)
        try_line(text, strlen(text));
    else
        try_specification((const char *)data, size);
    free(text);
    return 0;
}
