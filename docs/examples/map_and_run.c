/*
 * Maps a network, replays the trace, and prints what the mapper estimated beside what was simulated.
 *
 *     cc map_and_run.c $(pkg-config --cflags --libs pimsim) -o map_and_run
 *     ./map_and_run allspark configs/networks/vit-t.cfg configs/hardware/allspark-16x16.cfg vit-t.bin
 *
 * prints "estimate 685444, simulated 672368 cycles". Options of the mapper come behind: partition=P. Without
 * arguments the mappers and their options are listed.
 */
#include <pimsim/pimsim.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_mappers(void)
{
    struct pimsim_mapper_option option;
    const char *mapper;
    for (size_t i = 0; (mapper = pimsim_mapper_name(i)) != NULL; i++) {
        printf("%s\n", mapper);
        for (size_t j = 0; pimsim_mapper_option(mapper, j, &option) == PIMSIM_OK; j++)
            printf("  %s%s%s: %s\n", option.name, option.argument ? "=" : "",
                   option.argument ? option.argument : "", option.help);
    }
}

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 "\n", what, done, total);
}

/* The number behind a key of the results; a program of some size would use a JSON library. */
static unsigned long long number_of(const char *json, const char *key)
{
    const char *place = strstr(json, key);
    return place ? strtoull(place + strlen(key), NULL, 10) : 0;
}

static int run(const char *trace, uint64_t estimate, char *message, size_t size)
{
    struct pimsim_simulation *simulation = NULL;
    const char *json = NULL;
    int status = pimsim_create(&simulation, trace, NULL, message, size);
    if (status == PIMSIM_OK)
        status = pimsim_run(simulation, message, size);
    if (status == PIMSIM_OK)
        status = pimsim_results(simulation, &json, message, size);
    if (status == PIMSIM_OK)
        printf("estimate %" PRIu64 ", simulated %llu cycles\n", estimate, number_of(json, "\"cycles\": "));
    pimsim_destroy(simulation);
    return status;
}

int main(int argument_count, char **arguments)
{
    char message[1024] = "";
    struct pimsim_mapping *mapping = NULL;
    if (argument_count < 5) {
        list_mappers();
        return argument_count == 1 ? 0 : 2;
    }
    const struct pimsim_map_options options = {.size = sizeof options,
                                               .mapper = arguments[1],
                                               .network_path = arguments[2],
                                               .hardware_path = arguments[3],
                                               .trace_path = arguments[4],
                                               .options = (const char *const *)&arguments[5],
                                               .option_count = (size_t)argument_count - 5,
                                               .progress = show_progress};
    int status = pimsim_map(&mapping, &options, message, sizeof message);
    if (status == PIMSIM_OK)
        status = run(arguments[4], pimsim_mapping_cycles(mapping), message, sizeof message);
    if (status != PIMSIM_OK)
        fprintf(stderr, "%s: %s\n", pimsim_status_text(status), message);
    pimsim_mapping_destroy(mapping);
    return status == PIMSIM_OK ? 0 : 1;
}
