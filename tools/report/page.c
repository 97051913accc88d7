/* Writing of the page: template, results, template. */
#include "tools/report/page.h"

enum { REAL_DIGITS = 12 };

enum pim_status pim_page_check_template(struct pim_error *error)
{
    if (pim_page_template.head)
        return PIM_OK;
    return pim_fail(error, PIM_BAD_INPUT, "this pimsim was built without the page of reports: %s",
                    pim_page_template.missing);
}

/* jansson's output as text of a script element. In JSON "<" stands in texts only, and there it has an
 * escape. */
static int write_escaped(const char *text, size_t length, void *context)
{
    FILE *file = context;
    size_t from = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '<')
            continue;
        (void)fwrite(text + from, 1, i - from, file);
        (void)fputs("\\u003c", file);
        from = i + 1;
    }
    (void)fwrite(text + from, 1, length - from, file);
    return 0;
}

enum pim_status pim_page_write(const json_t *results, FILE *file, struct pim_error *error)
{
    if (pim_page_check_template(error) != PIM_OK)
        return error->status;
    (void)fwrite(pim_page_template.head, 1, pim_page_template.head_bytes, file);
    if (json_dump_callback(results, write_escaped, file, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) !=
        0)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the results of a page");
    (void)fwrite(pim_page_template.tail, 1, pim_page_template.tail_bytes, file);
    return PIM_OK;
}
