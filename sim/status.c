#include "sim/status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__clang_analyzer__)
#undef pim_fail
#undef pim_fail_in
#endif

enum pim_status pim_fail(struct pim_error *error, enum pim_status status, const char *format, ...)
{
    assert(status != PIM_OK);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->status = status;
    return status;
}

enum pim_status pim_fail_in(struct pim_error *error, const char *format, ...)
{
    char context[512];
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    assert(error->status != PIM_OK);
    (void)snprintf(text, sizeof text, "%s: %.*s", context, (int)(sizeof text - sizeof context - 3),
                   error->text);
    memcpy(error->text, text, sizeof text);
    return error->status;
}

int pim_status_exit_code(enum pim_status status)
{
    static const int codes[] = {
#define X(name, code, text) code,
        PIM_STATUS_MAP(X)
#undef X
    };
    return codes[status];
}

const char *pim_status_text(enum pim_status status)
{
    static const char *const texts[] = {
#define X(name, code, text) text,
        PIM_STATUS_MAP(X)
#undef X
    };
    return texts[status];
}
