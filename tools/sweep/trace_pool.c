#include "tools/sweep/trace_pool.h"

#include "include/pimsim/pimsim.h"
#include "models/system/schema.h"
#include "sim/arena.h"
#include "sim/output/file.h"
#include "sim/output/output.h"
#include "tools/library/map.h"
#include "tools/library/words.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { NAME_BYTES = 33, PATH_BYTES = 4096 };
#define PLAN ".plan.json"
#define PLAN_BYTES ((size_t)1 << 26)

/* One mapped trace. */
struct entry {
    char name[NAME_BYTES]; /* its hash */
    bool making;
    unsigned users;
    struct pim_trace *trace; /* open while there are users */
    bool opened;             /* it was, and its program has this hash: */
    uint64_t hash;
    struct pim_error error; /* of a failed mapping */
    struct entry *next;
};

struct pim_trace_pool {
    const struct pim_sweep *sweep;
    char program[NAME_BYTES]; /* a hash of the program that maps, and of nothing where it cannot be read */
    char *folder;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct entry *entries;
};

/* --- names --- */

static void update(XXH3_state_t *state, const char *text)
{
    (void)XXH3_128bits_update(state, text, strlen(text) + 1);
}

static void name_of(XXH3_state_t *state, char name[NAME_BYTES])
{
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    (void)snprintf(name, NAME_BYTES, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
                   (uint64_t)hash.low64);
}

/* Builds of one version may map differently: the file of the process says which one this is. (Of a program
 * that loads the library it says which program.) */
static bool name_program(char name[NAME_BYTES])
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return false;
    (void)XXH3_128bits_reset(state);
    FILE *file = fopen("/proc/self/exe", "rb");
    char block[1 << 14];
    for (size_t bytes; file && (bytes = fread(block, 1, sizeof block, file)) > 0;)
        (void)XXH3_128bits_update(state, block, bytes);
    if (!file || ferror(file))
        (void)XXH3_128bits_reset(state);
    if (file)
        (void)fclose(file);
    name_of(state, name);
    (void)XXH3_freeState(state);
    return true;
}

enum pim_status pim_trace_pool_create(const struct pim_sweep *sweep, const char *folder,
                                      struct pim_trace_pool **pool, struct pim_error *error)
{
    struct pim_trace_pool *made = calloc(1, sizeof *made);
    *pool = NULL;
    if (made) {
        made->sweep = sweep;
        made->folder = strdup(folder);
    }
    if (!made || !made->folder || !name_program(made->program) ||
        pthread_mutex_init(&made->mutex, NULL) != 0) {
        if (made)
            free(made->folder);
        free(made);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the traces");
    }
    if (pthread_cond_init(&made->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&made->mutex);
        free(made->folder);
        free(made);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the traces");
    }
    *pool = made;
    return PIM_OK;
}

void pim_trace_pool_destroy(struct pim_trace_pool *pool)
{
    if (!pool)
        return;
    for (struct entry *entry = pool->entries, *next; entry; entry = next) {
        next = entry->next;
        pim_trace_close(entry->trace);
        free(entry);
    }
    (void)pthread_cond_destroy(&pool->changed);
    (void)pthread_mutex_destroy(&pool->mutex);
    free(pool->folder);
    free(pool);
}

/* --- making one --- */

/* What a mapping depends on. */
struct mapping {
    const struct pim_sweep_source *source;
    const struct pim_sweep_point *point;
    char *hardware; /* canonical configuration */
    char *network;  /* canonical content */
    char name[NAME_BYTES];
    char start[PIM_SWEEP_STARTS_MOST][NAME_BYTES]; /* the mappings from whose plans it starts */
    size_t starts;
};

static void mapping_terminate(struct mapping *mapping)
{
    free(mapping->hardware);
    free(mapping->network);
}

/* A mapping that starts from nothing. */
static enum pim_status describe(const struct pim_trace_pool *pool, const struct pim_sweep_point *point,
                                struct mapping *mapping, struct pim_error *error)
{
    const struct pim_sweep *sweep = pool->sweep;
    struct pim_configuration *configuration;
    *mapping = (struct mapping){.source = &sweep->sources[point->source], .point = point};
    if (pim_sweep_configure(sweep, point, sweep->map_once, &configuration, error) != PIM_OK)
        return error->status;
    mapping->hardware = pim_configuration_write(configuration, false);
    pim_configuration_destroy(configuration);
    char *unchanged;
    if (pim_sweep_network_content(sweep, mapping->source, NULL, &unchanged, error) != PIM_OK)
        return error->status;
    bool same = strcmp(unchanged, mapping->source->network_content) == 0;
    free(unchanged);
    if (!same)
        return pim_fail(error, PIM_BAD_INPUT, "%s changed while the sweep runs", mapping->source->network);
    if (pim_sweep_network_content(sweep, mapping->source, point, &mapping->network, error) != PIM_OK)
        return error->status;
    XXH3_state_t *state = XXH3_createState();
    if (!state || !mapping->hardware) {
        (void)XXH3_freeState(state);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a mapping");
    }
    (void)XXH3_128bits_reset(state);
    update(state, pimsim_version());
    update(state, pool->program);
    update(state, mapping->source->mapper);
    if (mapping->source->mapper_files[0])
        update(state, mapping->source->mapper_files);
    update(state, mapping->network);
    update(state, mapping->hardware);
    name_of(state, mapping->name);
    (void)XXH3_freeState(state);
    return PIM_OK;
}

/* A program: its mapping, and the names of those from whose plans it starts. */
static enum pim_status describe_program(const struct pim_trace_pool *pool,
                                        const struct pim_sweep_program *program, struct mapping *mapping,
                                        struct pim_error *error)
{
    enum pim_status status = describe(pool, program->point, mapping, error);
    XXH3_state_t *state = program->starts > 0 ? XXH3_createState() : NULL;
    if (status != PIM_OK || program->starts == 0) {
        (void)XXH3_freeState(state);
        return status;
    }
    if (!state)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a mapping");
    (void)XXH3_128bits_reset(state);
    update(state, mapping->name);
    for (size_t i = 0; i < program->starts && status == PIM_OK; i++) {
        struct mapping from;
        status = describe(pool, &program->start[i], &from, error);
        memcpy(mapping->start[mapping->starts++], from.name, NAME_BYTES);
        update(state, from.name);
        mapping_terminate(&from);
    }
    name_of(state, mapping->name);
    (void)XXH3_freeState(state);
    return status;
}

/* The hardware of the mapping, as it was described, with the settings of the mapper's words. */
static enum pim_status configure(const struct mapping *mapping, const struct pim_map_words *words,
                                 struct pim_configuration **configuration, struct pim_error *error)
{
    enum pim_status status = pim_configuration_create(&pim_hardware_schema, configuration, error);
    if (status == PIM_OK)
        status = pim_configuration_read_text(*configuration, "base configuration", mapping->hardware,
                                             strlen(mapping->hardware), error);
    return status == PIM_OK ? pim_sweep_set_words(*configuration, words, error) : status;
}

static enum pim_status path_of(const struct pim_trace_pool *pool, const char *name, const char *ending,
                               char path[PATH_BYTES], struct pim_error *error)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s%s", pool->folder, name, ending);
    if (length < 0 || (size_t)length + 32 > PATH_BYTES)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s: the path of the cache is too long", pool->folder);
    return PIM_OK;
}

/* The plan beside a trace, whole or not at all. */
static enum pim_status keep_plan(const struct pim_trace_pool *pool, const char *name, struct pim_map *map,
                                 struct pim_error *error)
{
    char path[PATH_BYTES];
    struct pim_output *output;
    if (path_of(pool, name, PLAN, path, error) != PIM_OK || pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    if (pim_map_write_json(map, pim_output_file(output), error) == PIM_OK)
        return pim_output_commit(output, error);
    pim_output_abandon(output);
    return error->status;
}

static enum pim_status map(const struct pim_trace_pool *pool, const struct mapping *mapping,
                           const struct pim_map_words *words, const char *path, struct pim_error *error)
{
    const struct pim_sweep *sweep = pool->sweep;
    struct pim_configuration *configuration = NULL;
    struct pim_arena arena;
    const char **sets = NULL;
    size_t set_count = 0;
    struct pim_map *made = NULL;
    pim_arena_initialize(&arena, 4096);
    enum pim_status status =
        pim_sweep_network_sets(sweep, mapping->point, words, &arena, &sets, &set_count, error);
    if (status == PIM_OK)
        status = configure(mapping, words, &configuration, error);
    if (status == PIM_OK) {
        const struct pim_map_request request = {.mapper = words->mapper,
                                                .options = words->options,
                                                .network = mapping->source->network,
                                                .network_sets = sets,
                                                .network_set_count = set_count,
                                                .dimensions = words->dimensions,
                                                .dimension_count = words->dimension_count,
                                                .configuration = configuration,
                                                .output = path};
        status = pim_map_create(&request, &made, error);
        if (status == PIM_OK && sweep->take_best && mapping->starts == 0 && mapping->source->starts)
            status = keep_plan(pool, mapping->name, made, error);
    }
    pim_map_destroy(made);
    pim_configuration_destroy(configuration);
    pim_arena_terminate(&arena);
    return status;
}

/* The plans that a mapping starts from, as one list in a file. */
static enum pim_status write_starts(const struct pim_trace_pool *pool, const struct mapping *mapping,
                                    const char *list, struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, list, error) != PIM_OK)
        return error->status;
    FILE *file = pim_output_file(output);
    enum pim_status status = PIM_OK;
    for (size_t i = 0; i < mapping->starts && status == PIM_OK; i++) {
        char path[PATH_BYTES], *text = NULL;
        size_t size;
        status = path_of(pool, mapping->start[i], PLAN, path, error);
        if (status == PIM_OK)
            status = pim_file_read(path, PLAN_BYTES, "a plan", &text, &size, error);
        if (status == PIM_OK)
            (void)fprintf(file, "%s%s", i == 0 ? "[" : ",", text);
        free(text);
    }
    (void)fputc(']', file);
    if (status == PIM_OK)
        return pim_output_commit(output, error);
    pim_output_abandon(output);
    return status;
}

/* Maps as the words say, from the plans of others where there are some. */
static enum pim_status map_from(const struct pim_trace_pool *pool, const struct mapping *mapping,
                                struct pim_map_words *words, const char *path, struct pim_error *error)
{
    char list[PATH_BYTES], option[PATH_BYTES + 16];
    if (mapping->starts == 0)
        return map(pool, mapping, words, path, error);
    char ending[32]; /* processes share the folder */
    (void)snprintf(ending, sizeof ending, ".starts.%ld", (long)getpid());
    if (path_of(pool, mapping->name, ending, list, error) != PIM_OK ||
        write_starts(pool, mapping, list, error) != PIM_OK)
        return error->status;
    (void)snprintf(option, sizeof option, "start-from=%s", list);
    enum pim_status status =
        pim_option_assign(&words->mapper->options, words->mapper->name, option, words->options, error);
    if (status == PIM_OK)
        status = map(pool, mapping, words, path, error);
    (void)unlink(list);
    return status;
}

static enum pim_status make(const struct pim_trace_pool *pool, const struct mapping *mapping,
                            const char *path, struct pim_error *error)
{
    struct pim_map_words words;
    if (mkdir(pool->folder, 0777) != 0 && errno != EEXIST)
        return pim_fail(error, PIM_IO, "%s: %s", pool->folder, strerror(errno));
    char files[PIM_MAP_FILES_BYTES];
    if (pim_map_words_parse(mapping->source->mapper, &words, error) != PIM_OK)
        return error->status;
    enum pim_status status = pim_map_words_files(&words, files, error);
    if (status == PIM_OK && strcmp(files, mapping->source->mapper_files) != 0)
        status = pim_fail(error, PIM_BAD_INPUT, "a file of mapper \"%.60s\" changed while the sweep runs",
                          mapping->source->mapper);
    if (status == PIM_OK)
        status = map_from(pool, mapping, &words, path, error);
    pim_map_words_terminate(&words);
    return status;
}

/* Opens the trace in the cache, or makes it; a damaged one is made anew. */
static enum pim_status obtain(const struct pim_trace_pool *pool, const struct mapping *mapping,
                              struct pim_trace **trace, struct pim_error *error)
{
    char path[PATH_BYTES], plan[PATH_BYTES];
    struct pim_error ignored = {.status = PIM_OK};
    if (path_of(pool, mapping->name, ".trace", path, error) != PIM_OK ||
        path_of(pool, mapping->name, PLAN, plan, error) != PIM_OK)
        return error->status;
    const bool plans = pool->sweep->take_best && mapping->starts == 0 && mapping->source->starts;
    if ((!plans || access(plan, F_OK) == 0) && pim_trace_open(path, trace, &ignored) == PIM_OK)
        return PIM_OK;
    if (make(pool, mapping, path, error) != PIM_OK)
        return error->status;
    return pim_trace_open(path, trace, error);
}

/* --- sharing --- */

static struct entry *find_or_add(struct pim_trace_pool *pool, const char *name)
{
    for (struct entry *entry = pool->entries; entry; entry = entry->next)
        if (strcmp(entry->name, name) == 0)
            return entry;
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    (void)snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->next = pool->entries;
    pool->entries = entry;
    return entry;
}

static enum pim_status take_mapped(struct pim_trace_pool *pool, const struct mapping *mapping, bool wait,
                                   const struct pim_trace **trace, struct pim_error *error)
{
    (void)pthread_mutex_lock(&pool->mutex);
    struct entry *entry = find_or_add(pool, mapping->name);
    if (!entry || (entry->making && !wait)) {
        (void)pthread_mutex_unlock(&pool->mutex);
        return entry ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "out of memory for the traces");
    }
    while (entry->making)
        (void)pthread_cond_wait(&pool->changed, &pool->mutex);
    if (!entry->trace && entry->error.status == PIM_OK) {
        struct pim_trace *opened = NULL;
        struct pim_error failure = {.status = PIM_OK};
        entry->making = true;
        (void)pthread_mutex_unlock(&pool->mutex);
        failure.status = obtain(pool, mapping, &opened, &failure); /* not that of a try before it */
        (void)pthread_mutex_lock(&pool->mutex);
        entry->making = false;
        entry->trace = opened;
        entry->error = failure;
        (void)pthread_cond_broadcast(&pool->changed);
    }
    enum pim_status status = entry->error.status;
    if (status == PIM_OK) {
        if (!entry->opened)
            entry->hash = pim_trace_program_hash(entry->trace);
        entry->opened = true;
        entry->users++;
        *trace = entry->trace;
    } else {
        *error = entry->error;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return status;
}

enum pim_status pim_trace_pool_take(struct pim_trace_pool *pool, const struct pim_sweep_program *program,
                                    bool wait, const struct pim_trace **trace, struct pim_error *error)
{
    struct mapping mapping;
    *trace = pool->sweep->sources[program->point->source].opened;
    if (*trace)
        return PIM_OK;
    enum pim_status status = describe_program(pool, program, &mapping, error);
    if (status == PIM_OK)
        status = take_mapped(pool, &mapping, wait, trace, error);
    mapping_terminate(&mapping);
    return status;
}

enum pim_status pim_trace_pool_hash(struct pim_trace_pool *pool, const struct pim_sweep_program *program,
                                    bool *known, uint64_t *hash, struct pim_error *error)
{
    struct mapping mapping;
    const struct pim_trace *opened = pool->sweep->sources[program->point->source].opened;
    *known = opened != NULL;
    *hash = opened ? pim_trace_program_hash(opened) : 0;
    if (opened)
        return PIM_OK;
    enum pim_status status = describe_program(pool, program, &mapping, error);
    (void)pthread_mutex_lock(&pool->mutex);
    for (const struct entry *entry = pool->entries; entry && status == PIM_OK && !*known; entry = entry->next)
        if (entry->opened && strcmp(entry->name, mapping.name) == 0) {
            *known = true;
            *hash = entry->hash;
        }
    (void)pthread_mutex_unlock(&pool->mutex);
    mapping_terminate(&mapping);
    return status;
}

void pim_trace_pool_give(struct pim_trace_pool *pool, const struct pim_trace *trace)
{
    (void)pthread_mutex_lock(&pool->mutex);
    for (struct entry *entry = pool->entries; entry && trace; entry = entry->next)
        if (entry->trace == trace && --entry->users == 0) {
            pim_trace_close(entry->trace);
            entry->trace = NULL;
            break;
        }
    (void)pthread_mutex_unlock(&pool->mutex);
}
