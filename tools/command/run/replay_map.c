/*
 * Estimates of the hardware that is simulated: the network of a trace is mapped anew, in this process, for
 * that hardware, and its trace is replayed in the place of the other one.
 */
#include "tools/command/run/replay.h"
#include "tools/library/map.h"
#include "tools/library/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* A name of our own. The trace that is written there has none until it is whole, so a process that is killed
 * while it maps leaves no file where the system has files without a name. */
static enum pim_status name_temporary(char path[PATH_BYTES], struct pim_error *error)
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, PATH_BYTES, "%s/pimsim-trace-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = length > 0 && length < PATH_BYTES ? mkstemp(path) : -1;
    if (file < 0)
        return pim_fail(error, PIM_IO, "%.200s: %s", path, strerror(errno));
    (void)close(file);
    (void)unlink(path);
    return PIM_OK;
}

static enum pim_status map_to(const struct pim_map_words *words, const struct replay_options *options,
                              const struct replay *replay, const char *path, struct pim_error *error)
{
    const struct pim_map_request request = {.mapper = words->mapper,
                                            .options = words->options,
                                            .network = options->network,
                                            .network_sets = words->sets,
                                            .network_set_count = words->set_count,
                                            .dimensions = words->dimensions,
                                            .dimension_count = words->dimension_count,
                                            .configuration = replay->configuration,
                                            .output = path,
                                            .job = options->mapper ? NULL
                                                                   : pim_trace_description(replay->trace)};
    struct pim_map *map = NULL;
    enum pim_status status = pim_map_create(&request, &map, error);
    pim_map_destroy(map);
    return status;
}

enum pim_status replay_map(const struct replay_options *options, struct replay *replay,
                           struct pim_error *error)
{
    const char *mapper = options->mapper ? options->mapper : pim_trace_description(replay->trace)->family;
    struct pim_map_words words;
    struct pim_trace *trace = NULL;
    char path[PATH_BYTES];
    if (pim_map_words_parse(mapper, &words, error) != PIM_OK)
        return pim_fail_in(error,
                           options->mapper ? "--mapper" : "the trace's mapper (--mapper names another)");
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < words.set_count; i++)
        if (strncmp(words.sets[i], "network.", strlen("network.")) != 0)
            status = pim_fail(error, PIM_USAGE,
                              "--mapper: --set %.100s: keys of the hardware are set outside", words.sets[i]);
    if (status == PIM_OK)
        status = name_temporary(path, error);
    if (status == PIM_OK) {
        status = map_to(&words, options, replay, path, error);
        if (status == PIM_OK)
            status = pim_trace_open(path, &trace, error);
        (void)unlink(path);
    }
    pim_map_words_terminate(&words);
    if (status == PIM_OK) {
        pim_trace_close(replay->trace);
        replay->trace = trace;
    } else {
        pim_trace_close(trace);
    }
    return status;
}
