/*
 * Runs what a file of results lacks of a sweep, and prints the results as JSON.
 *
 *     cc sweep.c $(pkg-config --cflags --libs pimsim) -o sweep
 *     ./sweep configs/sweeps/pe-array.cfg pe-array.sqlite > pe-array.json
 *
 * Ctrl-C ends it behind the points that run; the same command goes on.
 */
#include <pimsim/pimsim.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static int stop(void *context)
{
    (void)context;
    return interrupted;
}

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 "\n", what, done, total);
}

int main(int argument_count, char **arguments)
{
    char message[1024] = "";
    struct pimsim_sweep_results *results = NULL;
    uint64_t done = 0, failed = 0;
    if (argument_count != 3) {
        fprintf(stderr, "usage: %s SPECIFICATION RESULTS\n", arguments[0]);
        return 2;
    }
    const struct pimsim_sweep_options options = {.size = sizeof options,
                                                 .specification_path = arguments[1],
                                                 .results_path = arguments[2],
                                                 .mode = PIMSIM_SWEEP_RESUME,
                                                 .progress = show_progress,
                                                 .stop = stop};
    signal(SIGINT, interrupt);
    int status = pimsim_sweep(&results, &options, message, sizeof message);
    if (status == PIMSIM_OK) {
        puts(pimsim_sweep_json(results));
        uint64_t points = pimsim_sweep_points(results, &done, &failed);
        fprintf(stderr, "%" PRIu64 " points: %" PRIu64 " done, %" PRIu64 " failed\n", points, done, failed);
    } else {
        fprintf(stderr, "%s: %s\n", pimsim_status_text(status), message);
    }
    pimsim_sweep_destroy(results);
    return status == PIMSIM_OK ? 0 : 1;
}
