/*
 * Uses every function of the public header, as a stranger's program would.
 *
 *     hello            prints the version of the library; fails when it is not the one of the header, or when
 *                      a mistake is not refused
 *     hello TRACE      replays the trace and prints the results as JSON
 */
#include <pimsim/pimsim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *detail)
{
    fprintf(stderr, "%s%s%s\n", what, detail[0] ? ": " : "", detail);
    return EXIT_FAILURE;
}

static int check_version(void)
{
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%d.%d.%d", PIMSIM_VERSION_MAJOR, PIMSIM_VERSION_MINOR,
                   PIMSIM_VERSION_PATCH);
    if (strcmp(pimsim_version(), expected) != 0)
        return fail("header and library differ in version", pimsim_version());
    printf("pimsim %s\n", pimsim_version());
    return EXIT_SUCCESS;
}

/* Mistakes come back as a status and a message, and leave nothing behind. */
static int check_refusals(void)
{
    char message[256] = "";
    char tiny[8] = "";
    char untouched = 'x';
    struct pimsim_simulation *simulation = (struct pimsim_simulation *)(void *)&untouched;

    if (pimsim_create(&simulation, "/nonexistent/trace.bin", NULL, message, sizeof message) != PIMSIM_IO)
        return fail("a missing trace is not refused as PIMSIM_IO", message);
    if (simulation != NULL || strstr(message, "/nonexistent/trace.bin") == NULL)
        return fail("a missing trace leaves a simulation, or is not named", message);
    if (pimsim_create(&simulation, "/nonexistent/trace.bin", NULL, tiny, sizeof tiny) != PIMSIM_IO ||
        strlen(tiny) != sizeof tiny - 1)
        return fail("a message is not cut to its buffer", tiny);
    if (pimsim_create(&simulation, "/nonexistent/trace.bin", NULL, NULL, 0) != PIMSIM_IO)
        return fail("a message that nobody wants is not left out", "");
    if (pimsim_create(&simulation, NULL, NULL, message, sizeof message) != PIMSIM_USAGE)
        return fail("a trace path of NULL is not refused as PIMSIM_USAGE", message);
    if (strcmp(pimsim_status_text(PIMSIM_OK), pimsim_status_text(PIMSIM_DEADLOCK)) == 0 ||
        strcmp(pimsim_status_text(-1), "unknown status") != 0)
        return fail("the texts of the status values are wrong", pimsim_status_text(-1));
    pimsim_destroy(NULL);
    return EXIT_SUCCESS;
}

static int replay(const char *path)
{
    char message[1024];
    const char *json = NULL;
    struct pimsim_simulation *simulation = NULL;
    struct pimsim_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;

    int status = pimsim_create(&simulation, path, &options, message, sizeof message);
    if (status == PIMSIM_OK && pimsim_results(simulation, &json, NULL, 0) != PIMSIM_USAGE) {
        pimsim_destroy(simulation);
        return fail("there are results before the run", "");
    }
    if (status == PIMSIM_OK)
        status = pimsim_run(simulation, message, sizeof message);
    if (status == PIMSIM_OK && pimsim_run(simulation, NULL, 0) != PIMSIM_USAGE) {
        pimsim_destroy(simulation);
        return fail("a second run is not refused", "");
    }
    if (status == PIMSIM_OK)
        status = pimsim_results(simulation, &json, message, sizeof message);
    if (status == PIMSIM_OK)
        (void)fputs(json, stdout);
    pimsim_destroy(simulation);
    return status == PIMSIM_OK ? EXIT_SUCCESS : fail(pimsim_status_text(status), message);
}

int main(int argument_count, char **arguments)
{
    if (argument_count > 1)
        return replay(arguments[1]);
    return check_version() == EXIT_SUCCESS ? check_refusals() : EXIT_FAILURE;
}
