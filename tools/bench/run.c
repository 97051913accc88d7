/*
 * pimsim-bench run: the whole program, from network to result. Each case is mapped and replayed by the pimsim
 * command of the same build folder, in processes of their own, so that CPU time and peak memory are those of
 * a user.
 *
 * Instructions, events, flits and flit-hops are facts of the simulation, equal in every run; repeats give the
 * fastest time.
 */
#include "sim/output/json.h"
#include "tools/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RESULT_BYTES (UINT64_C(256) << 20) /* more than the results of any case */

enum { PATH_BYTES = 4096, WORDS = 16 };

struct run_case {
    const char *name, *network, *image, *partition;
};

static const struct run_case cases[] = {
    {"swin-t-224", "swin-t", "network.image=224", "auto"},
    {"swin-t-224-patch", "swin-t", "network.image=224", "patch"},
    {"swin-s-224", "swin-s", "network.image=224", "auto"},
    {"swin-b-224", "swin-b", "network.image=224", "auto"},
    {"swin-b-640", "swin-b", "network.image=640", "auto"},
};

struct figures {
    double map_seconds, seconds; /* CPU time */
    uint64_t trace_bytes, cycles, instructions, events, flits, flit_hops, peak_memory_bytes;
};

struct options {
    bool json;
    bool chosen[COUNT(cases)];
    uint64_t repeats;
    const char *configs;
    char program[PATH_BYTES], folder[PATH_BYTES];
};

static const char usage[] =
    "usage: pimsim-bench run [--case NAME]... [--repeat N] [--json] [--configs FOLDER] [--pimsim FILE]\n"
    "\n"
    "  --case NAME      only this one; may be repeated\n"
    "  --repeat N       runs of each case; the fastest counts (default 1)\n"
    "  --json           the results as JSON\n"
    "  --configs FOLDER configurations (default configs, so start it at the top of the source)\n"
    "  --pimsim FILE    the program (default: pimsim beside pimsim-bench)\n"
    "\n"
    "cases:";

static void print_usage(FILE *stream)
{
    (void)fputs(usage, stream);
    for (size_t i = 0; i < COUNT(cases); i++)
        fprintf(stream, " %s", cases[i].name);
    (void)fputc('\n', stream);
}

/* ---- options ---- */

/* pimsim beside this program. */
static bool find_program(char path[PATH_BYTES])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_BYTES - sizeof "pimsim");
    if (length <= 0) {
        fprintf(stderr, "pimsim-bench run: /proc/self/exe: %s: name the program with --pimsim\n",
                strerror(errno));
        return false;
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, "pimsim", sizeof "pimsim");
    return true;
}

static bool choose_case(struct options *options, const char *name)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            options->chosen[i] = true;
            return true;
        }
    }
    fprintf(stderr, "pimsim-bench run: no case '%s'\n", name);
    print_usage(stderr);
    return false;
}

/* Returns false after a message. */
static bool read_options(int count, char **arguments, struct options *options)
{
    bool any = false;
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--json") == 0) {
            options->json = true;
            continue;
        }
        bool good = value != NULL;
        if (good && strcmp(name, "--case") == 0) {
            good = any = choose_case(options, value);
        } else if (good && strcmp(name, "--repeat") == 0) {
            good = bench_count(name, value, 1, 1000, &options->repeats);
        } else if (good && strcmp(name, "--configs") == 0) {
            options->configs = value;
        } else if (good && strcmp(name, "--pimsim") == 0) {
            (void)snprintf(options->program, sizeof options->program, "%s", value);
        } else {
            fprintf(stderr, "pimsim-bench run: %s: no such option, or its value is missing\n", name);
            print_usage(stderr);
            good = false;
        }
        if (!good)
            return false;
        i++;
    }
    for (size_t i = 0; i < COUNT(cases) && !any; i++)
        options->chosen[i] = true;
    return options->program[0] != '\0' || find_program(options->program);
}

/* ---- measuring ---- */

/* CPU seconds of all processes that were waited for. */
static double children_seconds(void)
{
    struct rusage used = {0};
    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Runs pimsim with these words, which end in NULL, without its standard output; false after a message. */
static bool call(const struct options *options, const char *const words[])
{
    char *arguments[WORDS];
    size_t count = 0;
    for (; words[count]; count++)
        arguments[count] = strdup(words[count]);
    arguments[count] = NULL;
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int status = 0;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (!failed)
            failed = posix_spawn(&child, options->program, &actions, NULL, arguments, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    for (size_t i = 0; i < count; i++)
        free(arguments[i]);
    if (failed) {
        fprintf(stderr, "pimsim-bench run: %s: %s\n", options->program, strerror(failed));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fprintf(stderr, "pimsim-bench run: pimsim %s failed (status %d)\n", words[1], status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t whole(const json_t *results, const char *group, const char *key)
{
    const json_t *object = group ? json_object_get(results, group) : results;
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* The figures of one replay from its results. */
static bool read_results(const char *path, struct figures *figures)
{
    struct pim_error error = {PIM_OK, ""};
    json_t *results;
    if (pim_json_read(path, RESULT_BYTES, &results, &error) != PIM_OK) {
        fprintf(stderr, "pimsim-bench run: %s\n", error.text);
        return false;
    }
    const json_t *simulator = json_object_get(results, "simulator");
    figures->seconds = json_number_value(json_object_get(simulator, "cpu_seconds"));
    figures->cycles = whole(results, NULL, "cycles");
    figures->instructions = whole(results, "work", "instructions");
    figures->events = whole(results, "simulator", "events");
    figures->flits = whole(results, "noc", "flits");
    figures->flit_hops = whole(results, "noc", "flit_hops");
    figures->peak_memory_bytes = whole(results, "simulator", "peak_memory_bytes");
    bool good = figures->seconds > 0 && figures->events > 0;
    if (!good)
        fprintf(stderr, "pimsim-bench run: %s holds no CPU time or no events\n", path);
    json_decref(results);
    return good;
}

/* Maps and replays once; keeps the faster of each. */
static bool run_once(const struct options *options, const struct run_case *c, struct figures *best)
{
    char network[PATH_BYTES], hardware[PATH_BYTES], trace[PATH_BYTES + 16], stats[PATH_BYTES + 16];
    (void)snprintf(network, sizeof network, "%s/networks/%s.cfg", options->configs, c->network);
    (void)snprintf(hardware, sizeof hardware, "%s/hardware/allspark-16x16.cfg", options->configs);
    (void)snprintf(trace, sizeof trace, "%s/trace.bin", options->folder);
    (void)snprintf(stats, sizeof stats, "%s/stats.json", options->folder);
    const char *const map[] = {options->program, "map",      "allspark",   "--network", network,
                               "--set",          c->image,   "--hardware", hardware,    "--partition",
                               c->partition,     "--output", trace,        NULL};
    const char *const run[] = {options->program, "run",  trace, "--quiet", "--stats", stats,
                               "--format",       "json", NULL};
    struct figures now = {0};
    double start = children_seconds();
    bool good = call(options, map);
    now.map_seconds = children_seconds() - start;
    FILE *file = good ? fopen(trace, "rb") : NULL;
    if (file && fseek(file, 0, SEEK_END) == 0)
        now.trace_bytes = (uint64_t)ftell(file);
    if (file)
        (void)fclose(file);
    good = good && call(options, run) && read_results(stats, &now);
    (void)unlink(trace);
    (void)unlink(stats);
    if (!good)
        return false;
    if (best->events != 0 && (best->events != now.events || best->cycles != now.cycles)) {
        fprintf(stderr, "pimsim-bench run: %s: two runs differ in events or cycles\n", c->name);
        return false;
    }
    double map_seconds =
        best->events && best->map_seconds < now.map_seconds ? best->map_seconds : now.map_seconds;
    if (best->events == 0 || now.seconds < best->seconds)
        *best = now;
    best->map_seconds = map_seconds;
    return true;
}

/* ---- output ---- */

static void print_line(const struct run_case *c, const struct figures *figures)
{
    double s = figures->seconds * 1e6;
    printf("%-17s %6.2f %8.1f %11" PRIu64 " %8.3f %8.2f %8.1f %10.1f | %7.2f %8.2f %8.2f %9.1f %8.1f\n",
           c->name, figures->map_seconds, (double)figures->trace_bytes * 1e-6, figures->cycles,
           (double)figures->instructions * 1e-6, (double)figures->events * 1e-6,
           (double)figures->flits * 1e-6, (double)figures->flit_hops * 1e-6, figures->seconds,
           (double)figures->events / s, (double)figures->instructions / s, (double)figures->flit_hops / s,
           (double)figures->peak_memory_bytes * 1e-6);
    (void)fflush(stdout);
}

static void put_case(struct pim_json *json, const struct run_case *c, const struct figures *figures)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "name", c->name);
    pim_json_put_text(json, "network", c->network);
    pim_json_put_text(json, "image", strchr(c->image, '=') + 1);
    pim_json_put_text(json, "partition", c->partition);
    pim_json_put_real(json, "map_cpu_seconds", figures->map_seconds);
    pim_json_put_count(json, "trace_bytes", figures->trace_bytes);
    pim_json_put_count(json, "cycles", figures->cycles);
    pim_json_put_count(json, "instructions", figures->instructions);
    pim_json_put_count(json, "events", figures->events);
    pim_json_put_count(json, "flits", figures->flits);
    pim_json_put_count(json, "flit_hops", figures->flit_hops);
    pim_json_put_real(json, "cpu_seconds", figures->seconds);
    pim_json_put_real(json, "events_per_cpu_second", (double)figures->events / figures->seconds);
    pim_json_put_real(json, "instructions_per_cpu_second", (double)figures->instructions / figures->seconds);
    pim_json_put_real(json, "flit_hops_per_cpu_second", (double)figures->flit_hops / figures->seconds);
    pim_json_put_count(json, "peak_memory_bytes", figures->peak_memory_bytes);
    pim_json_end(json);
}

/* Measures every chosen case and prints it; false after a message. */
static bool run_cases(const struct options *options, struct pim_json *json)
{
    bool good = true;
    if (!json) {
        printf("clock %.2f GHz; CPU seconds, fastest of %" PRIu64
               "; M: millions; rates in millions per CPU second\n",
               bench_clock_ghz(), options->repeats);
        printf("%-17s %6s %8s %11s %8s %8s %8s %10s | %7s %8s %8s %9s %8s\n", "case", "map s", "trace MB",
               "cycles", "M instr", "M events", "M flits", "M hops", "run s", "events/s", "instr/s", "hops/s",
               "peak MB");
    }
    for (size_t i = 0; i < COUNT(cases) && good; i++) {
        struct figures best = {0};
        for (uint64_t repeat = 0; options->chosen[i] && good && repeat < options->repeats; repeat++)
            good = run_once(options, &cases[i], &best);
        if (options->chosen[i] && good && json)
            put_case(json, &cases[i], &best);
        else if (options->chosen[i] && good)
            print_line(&cases[i], &best);
    }
    return good;
}

/* The same, as a document that is printed when everything was measured. */
static bool run_json(const struct options *options)
{
    struct pim_error error = {PIM_OK, ""};
    struct pim_json *json = pim_json_create();
    if (!json) {
        fprintf(stderr, "pimsim-bench run: out of memory\n");
        return false;
    }
    pim_json_put_real(json, "clock_ghz", bench_clock_ghz());
    pim_json_put_count(json, "repeats", options->repeats);
    pim_json_begin_array(json, "cases");
    bool good = run_cases(options, json);
    pim_json_end(json);
    if (good && pim_json_write(json, stdout, &error) != PIM_OK) {
        fprintf(stderr, "pimsim-bench run: %s\n", error.text);
        good = false;
    }
    pim_json_destroy(json);
    return good;
}

int bench_run(int count, char **arguments)
{
    static const char pattern[] = "/pimsim-bench-XXXXXX";
    struct options options = {.repeats = 1, .configs = "configs"};
    if (count > 1 && strcmp(arguments[1], "--help") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (!read_options(count, arguments, &options))
        return 2;
    const char *place = getenv("TMPDIR");
    (void)snprintf(options.folder, sizeof options.folder, "%.*s%s", (int)(PATH_BYTES - sizeof pattern),
                   place ? place : "/tmp", pattern);
    if (!mkdtemp(options.folder)) {
        fprintf(stderr, "pimsim-bench run: %s: %s\n", options.folder, strerror(errno));
        return EXIT_FAILURE;
    }
    bool good = options.json ? run_json(&options) : run_cases(&options, NULL);
    if (rmdir(options.folder) != 0)
        fprintf(stderr, "pimsim-bench run: %s: %s\n", options.folder, strerror(errno));
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
