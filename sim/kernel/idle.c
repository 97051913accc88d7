/*
 * The deadlock report: components with work left say who waits for what when the queue is dry.
 */
#include "sim/kernel/kernel.h"
#include "sim/kernel/queue.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROOM_FOR_MORE 48 /* for "\n  ... and N more" and the end of the string */

struct pim_idle_report {
    char text[sizeof((struct pim_error *)0)->text];
    size_t length;
    uint64_t omitted;
};

void pim_kernel_add_pending_work(struct pim_kernel *kernel, struct pim_pending_work *work)
{
    work->next = NULL;
    *kernel->work_tail = work;
    kernel->work_tail = &work->next;
}

void pim_kernel_remove_pending_work(struct pim_kernel *kernel, struct pim_pending_work *work)
{
    for (struct pim_pending_work **link = &kernel->work; *link; link = &(*link)->next) {
        if (*link != work)
            continue;
        *link = work->next;
        if (!work->next)
            kernel->work_tail = link;
        return;
    }
}

void pim_idle_report_line(struct pim_idle_report *report, const char *format, ...)
{
    /* Once a line did not fit, all later ones are only counted: the lines that show are the first ones. */
    char line[sizeof report->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t need = length < 0 ? sizeof line : (size_t)length + 3;
    if (report->omitted > 0 || need > sizeof report->text - ROOM_FOR_MORE - report->length) {
        report->omitted++;
        return;
    }
    memcpy(report->text + report->length, "\n  ", 3);
    memcpy(report->text + report->length + 3, line, (size_t)length + 1);
    report->length += need;
}

enum pim_status pim_kernel_check_idle(struct pim_kernel *kernel, struct pim_error *error)
{
    if (pim_kernel_next_time(kernel) != PIM_TIME_NEVER)
        return PIM_OK;
    uint64_t waiting = 0;
    for (const struct pim_pending_work *work = kernel->work; work; work = work->next)
        waiting += work->pending(work->context);
    if (waiting == 0)
        return PIM_OK;
    struct pim_idle_report report = {.length = 0};
    report.length = (size_t)snprintf(report.text, sizeof report.text,
                                     "nothing is scheduled after tick %" PRIu64 ", but %" PRIu64
                                     " component%s work left:",
                                     pim_kernel_now(kernel), waiting, waiting == 1 ? " has" : "s have");
    for (const struct pim_pending_work *work = kernel->work; work; work = work->next)
        if (work->pending(work->context))
            work->report(work->context, &report);
    if (report.omitted > 0)
        (void)snprintf(report.text + report.length, sizeof report.text - report.length,
                       "\n  ... and %" PRIu64 " more", report.omitted);
    return pim_fail(error, PIM_DEADLOCK, "%s", report.text);
}
