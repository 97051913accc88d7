#include "sim/output/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

enum { LINE_CHARACTERS = 79, BAR_CHARACTERS = 24 };

static const uint64_t first_line = 300 * MILLISECOND; /* a short piece of work shows nothing */
static const uint64_t line_period = 100 * MILLISECOND;
static const uint64_t look_period = 25 * MILLISECOND;

static uint64_t system_clock(void *context)
{
    (void)context;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void pim_progress_start_on(struct pim_progress *progress, const char *label, uint64_t total, FILE *stream,
                           pim_progress_clock *clock, void *clock_context)
{
    *progress = (struct pim_progress){.next = 1, .total = total, .stream = stream};
    progress->clock = clock ? clock : system_clock;
    progress->clock_context = clock_context;
    (void)snprintf(progress->label, sizeof progress->label, "%s", label);
    progress->started = progress->clock(clock_context);
    progress->looked = progress->started;
}

void pim_progress_start(struct pim_progress *progress, const char *label, uint64_t total, bool quiet)
{
    const char *terminal = getenv("TERM");
    if (quiet || !isatty(STDERR_FILENO) || !terminal || strcmp(terminal, "dumb") == 0) {
        *progress = (struct pim_progress){.next = UINT64_MAX};
        return;
    }
    pim_progress_start_on(progress, label, total, stderr, NULL, NULL);
}

/* "m:ss" or "h:mm:ss". */
static void format_time(char *buffer, size_t size, uint64_t ns)
{
    uint64_t seconds = ns / SECOND;
    unsigned minutes = (unsigned)(seconds / 60 % 60);
    if (seconds < 3600)
        (void)snprintf(buffer, size, "%u:%02u", minutes, (unsigned)(seconds % 60));
    else
        (void)snprintf(buffer, size, "%llu:%02u:%02u", (unsigned long long)(seconds / 3600), minutes,
                       (unsigned)(seconds % 60));
}

size_t pim_progress_line(char *buffer, size_t size, const char *label, uint64_t done, uint64_t total,
                         uint64_t elapsed_ns)
{
    char elapsed[32], left[32] = "-:--", bar[BAR_CHARACTERS + 1];
    format_time(elapsed, sizeof elapsed, elapsed_ns);
    int length;
    if (total == 0) {
        length = snprintf(buffer, size, "%s %llu done, %s", label, (unsigned long long)done, elapsed);
    } else {
        if (done > total)
            done = total;
        double share = (double)done / (double)total;
        unsigned filled = (unsigned)(share * BAR_CHARACTERS);
        unsigned percent = done == total ? 100 : (unsigned)(share * 100);
        if (percent == 100 && done < total)
            percent = 99;
        memset(bar, '.', BAR_CHARACTERS);
        memset(bar, '#', filled);
        bar[BAR_CHARACTERS] = '\0';
        double remaining = done ? (double)elapsed_ns * ((double)(total - done) / (double)done) : -1;
        if (remaining >= 0 && remaining < 1e18)
            format_time(left, sizeof left, (uint64_t)remaining);
        length = snprintf(buffer, size, "%s [%s] %3u%% %s, %s left", label, bar, percent, elapsed, left);
    }
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

void pim_progress_look(struct pim_progress *progress, uint64_t done)
{
    uint64_t now = progress->clock(progress->clock_context);
    uint64_t worked = done > progress->done ? done - progress->done : 1;
    uint64_t took = now > progress->looked ? now - progress->looked : 0;
    /* As much work as look_period takes at the speed since the last look; at most four times the last step,
     * because that speed may have been a lucky moment. */
    double step = 4 * (double)worked;
    if ((double)took * 4 > (double)look_period)
        step = (double)worked * ((double)look_period / (double)took);
    uint64_t whole_step = step < 1 ? 1 : step > 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)step;
    progress->next = done > UINT64_MAX - whole_step ? UINT64_MAX : done + whole_step;
    progress->done = done;
    progress->looked = now;

    bool due =
        progress->line_width ? now - progress->printed >= line_period : now - progress->started >= first_line;
    if (!due)
        return;
    char line[LINE_CHARACTERS + 1];
    progress->line_width =
        pim_progress_line(line, sizeof line, progress->label, done, progress->total, now - progress->started);
    progress->printed = now;
    (void)fprintf(progress->stream, "\r%s\033[K", line);
    (void)fflush(progress->stream);
}

void pim_progress_finish(struct pim_progress *progress)
{
    progress->next = UINT64_MAX;
    if (progress->line_width == 0)
        return;
    progress->line_width = 0;
    (void)fputs("\r\033[K", progress->stream);
    (void)fflush(progress->stream);
}
