#include "tools/sweep/trace_pool.h"

#include "include/pimsim/pimsim.h"
#include "sim/arena.h"
#include "sim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

enum { NAME_BYTES = 33, PATH_BYTES = 4096, WORDS_MOST = 256 };

/* One mapped trace. */
struct entry {
    char name[NAME_BYTES]; /* its hash */
    bool making;
    unsigned users;
    struct pim_trace *trace; /* open while there are users */
    struct pim_error error;  /* of a failed mapping */
    struct entry *next;
};

struct pim_trace_pool {
    const struct pim_sweep *sweep;
    char *folder, *program;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct entry *entries;
};

enum pim_status pim_trace_pool_create(const struct pim_sweep *sweep, const char *folder, const char *program,
                                      struct pim_trace_pool **pool, struct pim_error *error)
{
    struct pim_trace_pool *made = calloc(1, sizeof *made);
    *pool = NULL;
    if (made) {
        made->sweep = sweep;
        made->folder = strdup(folder);
        made->program = strdup(program);
    }
    if (!made || !made->folder || !made->program || pthread_mutex_init(&made->mutex, NULL) != 0) {
        if (made) {
            free(made->folder);
            free(made->program);
        }
        free(made);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the traces");
    }
    if (pthread_cond_init(&made->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&made->mutex);
        free(made->folder);
        free(made->program);
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
    free(pool->program);
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
};

static void mapping_terminate(struct mapping *mapping)
{
    free(mapping->hardware);
    free(mapping->network);
}

static void update(XXH3_state_t *state, const char *text)
{
    (void)XXH3_128bits_update(state, text, strlen(text) + 1);
}

static enum pim_status describe(const struct pim_sweep *sweep, const struct pim_sweep_point *point,
                                struct mapping *mapping, struct pim_error *error)
{
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
    update(state, mapping->source->mapper);
    update(state, mapping->network);
    update(state, mapping->hardware);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(mapping->name, sizeof mapping->name, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
                   (uint64_t)hash.low64);
    return PIM_OK;
}

/* The words of the command, in memory of `arena`. */
struct words {
    struct pim_arena arena;
    char *items[WORDS_MOST + 1];
    size_t count;
};

static enum pim_status add_word(struct words *words, const char *text, struct pim_error *error)
{
    if (words->count >= WORDS_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "a map command of more than %d words", WORDS_MOST);
    words->items[words->count++] = pim_arena_copy_text(&words->arena, text);
    words->items[words->count] = NULL;
    return PIM_OK;
}

static enum pim_status add_set(struct words *words, const char *key, const char *value,
                               struct pim_error *error)
{
    char set[PATH_BYTES];
    (void)snprintf(set, sizeof set, "--set=%s%s%s", key, value ? "=" : "", value ? value : "");
    return add_word(words, set, error);
}

static enum pim_status collect_words(const struct pim_trace_pool *pool, const struct mapping *mapping,
                                     const char *hardware, const char *output, struct words *words,
                                     struct pim_error *error)
{
    const struct pim_sweep *sweep = pool->sweep;
    char *mapper = pim_arena_copy_text(&words->arena, mapping->source->mapper), *rest = NULL;
    enum pim_status status = add_word(words, "pimsim", error);
    if (status == PIM_OK)
        status = add_word(words, "map", error);
    for (char *word = strtok_r(mapper, " \t\n", &rest); word && status == PIM_OK;
         word = strtok_r(NULL, " \t\n", &rest))
        status = add_word(words, word, error);
    const char *const fixed[] = {"--quiet",  "--network", mapping->source->network, "--hardware", hardware,
                                 "--output", output};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0] && status == PIM_OK; i++)
        status = add_word(words, fixed[i], error);
    for (size_t i = 0; i < sweep->network_sets.count && status == PIM_OK; i++)
        status = add_set(words, sweep->network_sets.items[i], NULL, error);
    for (size_t a = 0; a < sweep->axis_count; a++)
        for (size_t i = 0; i < sweep->axes[a].key_count && status == PIM_OK; i++) {
            const struct pim_sweep_key *key = &sweep->axes[a].keys[i];
            if (key->of_network)
                status = add_set(words, key->name, key->values[mapping->point->value[a]].text, error);
        }
    return status;
}

/* Puts what the command said into the error; the file is read to its last kilobyte at most. */
static enum pim_status tell_failure(const char *log, int wait_status, struct pim_error *error)
{
    char text[1024] = "";
    FILE *file = fopen(log, "r");
    if (file) {
        size_t length = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
        while (length > 0 && text[length - 1] == '\n')
            length--;
        text[length] = '\0';
    }
    if (WIFSIGNALED(wait_status))
        return pim_fail(error, PIM_INTERNAL, "the mapper was ended by signal %d: %s", WTERMSIG(wait_status),
                        text);
    int code = WEXITSTATUS(wait_status);
    return pim_fail(error, code == 4 ? PIM_INTERNAL : PIM_BAD_INPUT, "%s",
                    *text ? text : "the mapper failed without a message");
}

static enum pim_status call_mapper(const struct pim_trace_pool *pool, struct words *words, const char *log,
                                   struct pim_error *error)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int wait_status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for a mapper");
    int failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (failed == 0)
        failed = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (failed == 0)
        failed = posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (failed == 0)
        failed = posix_spawn(&child, pool->program, &actions, NULL, words->items, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
        return pim_fail(error, PIM_IO, "%s: %s", pool->program, strerror(failed));
    while (waitpid(child, &wait_status, 0) < 0)
        if (errno != EINTR)
            return pim_fail(error, PIM_IO, "waiting for the mapper: %s", strerror(errno));
    if (wait_status != 0)
        return tell_failure(log, wait_status, error);
    return PIM_OK;
}

static enum pim_status write_text(const char *path, const char *text, struct pim_error *error)
{
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    (void)fputs(text, pim_output_file(output));
    return pim_output_commit(output, error);
}

static enum pim_status make(const struct pim_trace_pool *pool, const struct mapping *mapping,
                            const char *path, struct pim_error *error)
{
    char hardware[PATH_BYTES], log[PATH_BYTES];
    struct words words = {.count = 0};
    (void)snprintf(hardware, sizeof hardware, "%s/%s.cfg", pool->folder, mapping->name);
    (void)snprintf(log, sizeof log, "%s/%s.%ld.log", pool->folder, mapping->name, (long)getpid());
    if (mkdir(pool->folder, 0777) != 0 && errno != EEXIST)
        return pim_fail(error, PIM_IO, "%s: %s", pool->folder, strerror(errno));
    if (write_text(hardware, mapping->hardware, error) != PIM_OK)
        return error->status;
    pim_arena_initialize(&words.arena, 4096);
    enum pim_status status = collect_words(pool, mapping, hardware, path, &words, error);
    if (status == PIM_OK)
        status = call_mapper(pool, &words, log, error);
    (void)unlink(log);
    if (status != PIM_OK)
        (void)unlink(hardware);
    pim_arena_terminate(&words.arena);
    return status;
}

/* Opens the trace in the cache, or makes it; a damaged one is made anew. */
static enum pim_status obtain(const struct pim_trace_pool *pool, const struct mapping *mapping,
                              struct pim_trace **trace, struct pim_error *error)
{
    char path[PATH_BYTES];
    struct pim_error ignored = {.status = PIM_OK};
    int length = snprintf(path, sizeof path, "%s/%s.trace", pool->folder, mapping->name);
    if (length < 0 || (size_t)length + 32 > sizeof path)
        return pim_fail(error, PIM_BAD_INPUT, "%.200s: the path of the cache is too long", pool->folder);
    if (pim_trace_open(path, trace, &ignored) == PIM_OK)
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

static enum pim_status take_mapped(struct pim_trace_pool *pool, const struct mapping *mapping,
                                   const struct pim_trace **trace, struct pim_error *error)
{
    (void)pthread_mutex_lock(&pool->mutex);
    struct entry *entry = find_or_add(pool, mapping->name);
    if (!entry) {
        (void)pthread_mutex_unlock(&pool->mutex);
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the traces");
    }
    while (entry->making)
        (void)pthread_cond_wait(&pool->changed, &pool->mutex);
    if (!entry->trace && entry->error.status == PIM_OK) {
        struct pim_trace *opened = NULL;
        struct pim_error failure = {.status = PIM_OK};
        entry->making = true;
        (void)pthread_mutex_unlock(&pool->mutex);
        (void)obtain(pool, mapping, &opened, &failure);
        (void)pthread_mutex_lock(&pool->mutex);
        entry->making = false;
        entry->trace = opened;
        entry->error = failure;
        (void)pthread_cond_broadcast(&pool->changed);
    }
    enum pim_status status = entry->error.status;
    if (status == PIM_OK) {
        entry->users++;
        *trace = entry->trace;
    } else {
        *error = entry->error;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return status;
}

enum pim_status pim_trace_pool_take(struct pim_trace_pool *pool, const struct pim_sweep_point *point,
                                    const struct pim_trace **trace, struct pim_error *error)
{
    struct mapping mapping;
    *trace = pool->sweep->sources[point->source].opened;
    if (*trace)
        return PIM_OK;
    enum pim_status status = describe(pool->sweep, point, &mapping, error);
    if (status == PIM_OK)
        status = take_mapped(pool, &mapping, trace, error);
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
