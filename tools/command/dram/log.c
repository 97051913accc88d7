#include "tools/command/dram/log.h"

#include "sim/arena.h"
#include "sim/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

const char *const dram_log_columns[DRAM_LOG_COLUMNS] = {"cycle",      "command", "channel", "rank",
                                                        "bank_group", "bank",    "row",     "column"};

/* In a cycle a channel has at most one column and one row command. */
static int compare(const void *left, const void *right)
{
    const struct pim_dram_record *a = left, *b = right;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    return (int)pim_dram_is_column((enum pim_dram_command)b->command) -
           (int)pim_dram_is_column((enum pim_dram_command)a->command);
}

static void sort_newest(struct dram_log *log)
{
    if (log->count > 1)
        qsort(log->records, log->count, sizeof *log->records, compare);
}

static void file_failed(struct dram_log *log)
{
    log->status = PIM_IO;
    log->cause = errno != 0 ? errno : EIO;
}

/* The newest part goes to the file. */
static void put_part(struct dram_log *log)
{
    sort_newest(log);
    errno = 0;
    if (!log->parts)
        log->parts = tmpfile();
    if (!log->parts || fwrite(log->records, sizeof *log->records, log->count, log->parts) != log->count)
        file_failed(log);
    log->part_count++;
    log->count = 0;
}

void dram_log_add(void *context, const struct pim_dram_record *record)
{
    struct dram_log *log = context;
    if (log->status != PIM_OK)
        return;
    if (log->count == DRAM_LOG_KEPT)
        put_part(log);
    if (log->count == log->capacity) {
        struct pim_dram_record *grown =
            pim_array_grow(log->records, &log->capacity, log->count + 1, sizeof *log->records);
        if (!grown) {
            log->status = PIM_NO_MEMORY;
            return;
        }
        log->records = grown;
    }
    log->records[log->count++] = *record;
    log->total++;
}

/* A part while parts are merged: a window of it in memory. Windows of all parts have as much room together as
 * the newest part. */
struct part {
    struct pim_dram_record *window; /* of the newest part all of it */
    size_t at, count;
    size_t size;           /* records of the window */
    uint64_t offset, left; /* in the file: the next record, and how many there are */
};
enum { PART_WINDOW = 1024 };

/* Makes the next record of a part ready; false: there is none, or the file cannot be read. */
static bool refill(struct dram_log *log, struct part *part)
{
    if (part->at < part->count)
        return true;
    if (part->left == 0)
        return false;
    const size_t count = part->left < part->size ? (size_t)part->left : part->size;
    errno = 0;
    if (fseeko(log->parts, (off_t)(part->offset * sizeof *part->window), SEEK_SET) != 0 ||
        fread(part->window, sizeof *part->window, count, log->parts) != count) {
        file_failed(log);
        return false;
    }
    part->at = 0;
    part->count = count;
    part->offset += count;
    part->left -= count;
    return true;
}

/* Part `index` of a heap of parts, the earliest on top, has changed. */
static void sift(struct part **heap, size_t size, size_t index)
{
    for (;;) {
        size_t least = index;
        for (size_t child = 2 * index + 1; child <= 2 * index + 2 && child < size; child++)
            if (compare(&heap[child]->window[heap[child]->at], &heap[least]->window[heap[least]->at]) < 0)
                least = child;
        if (least == index)
            return;
        struct part *moved = heap[index];
        heap[index] = heap[least];
        heap[least] = moved;
        index = least;
    }
}

/* Records that share a cycle, of a log whose records stand for several channels. */
struct repeater {
    const struct dram_log_taker *taker;
    uint32_t copies;
    struct pim_dram_record held[16];
    size_t count;
};

static enum pim_status repeat_held(struct repeater *repeater, struct pim_error *error)
{
    for (uint32_t channel = 0; channel < repeater->copies; channel++)
        for (size_t i = 0; i < repeater->count; i++) {
            repeater->held[i].channel = (uint16_t)channel;
            if (repeater->taker->take(repeater->taker->context, &repeater->held[i], error) != PIM_OK)
                return error->status;
        }
    repeater->count = 0;
    return PIM_OK;
}

static enum pim_status hand_on(struct repeater *repeater, const struct pim_dram_record *record,
                               struct pim_error *error)
{
    if (repeater->copies == 0)
        return repeater->taker->take(repeater->taker->context, record, error);
    const bool full = repeater->count == sizeof repeater->held / sizeof repeater->held[0];
    if (repeater->count > 0 && (full || repeater->held[0].cycle != record->cycle) &&
        repeat_held(repeater, error) != PIM_OK)
        return error->status;
    repeater->held[repeater->count++] = *record;
    return PIM_OK;
}

static enum pim_status merge(struct dram_log *log, struct part **heap, size_t size, struct repeater *repeater,
                             struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    for (size_t i = size; i > 0; i--)
        sift(heap, size, i - 1);
    while (status == PIM_OK && size > 0) {
        struct part *first = heap[0];
        status = hand_on(repeater, &first->window[first->at++], error);
        if (!refill(log, first))
            heap[0] = heap[--size];
        if (size > 0)
            sift(heap, size, 0);
    }
    return status;
}

enum pim_status dram_log_each(struct dram_log *log, const struct dram_log_taker *taker,
                              struct pim_error *error)
{
    const size_t parts = log->part_count + 1;
    const size_t share = parts < DRAM_LOG_KEPT ? DRAM_LOG_KEPT / parts : 1;
    const size_t size_of_window = share < PART_WINDOW ? share : PART_WINDOW;
    struct repeater repeater = {.taker = taker, .copies = log->copies};
    struct part *part = calloc(parts, sizeof *part);
    struct part **heap = calloc(parts, sizeof *heap);
    struct pim_dram_record *windows = calloc(parts, size_of_window * sizeof *windows);
    enum pim_status status = log->status;
    size_t size = 0;
    if (!part || !heap || !windows)
        status = PIM_NO_MEMORY;
    sort_newest(log);
    for (size_t i = 0; status == PIM_OK && i < parts; i++) {
        part[i] = i < log->part_count ? (struct part){&windows[i * size_of_window],
                                                      0,
                                                      0,
                                                      size_of_window,
                                                      (uint64_t)i * DRAM_LOG_KEPT,
                                                      DRAM_LOG_KEPT}
                                      : (struct part){log->records, 0, log->count, 0, 0, 0};
        if (refill(log, &part[i]))
            heap[size++] = &part[i];
    }
    if (status == PIM_OK)
        status = merge(log, heap, size, &repeater, error);
    if (status == PIM_OK && repeater.count > 0)
        status = repeat_held(&repeater, error);
    free(part);
    free(heap);
    free(windows);
    if (log->status == PIM_IO)
        return pim_fail(error, PIM_IO, "the temporary file of the log of commands failed: %s",
                        strerror(log->cause));
    if (log->status != PIM_OK || status == PIM_NO_MEMORY)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the log of commands");
    return status;
}

void dram_log_terminate(struct dram_log *log)
{
    free(log->records);
    if (log->parts)
        (void)fclose(log->parts);
    *log = (struct dram_log){0};
}

enum pim_status dram_log_use_start(struct dram_log_use *use,
                                   const struct pim_dram_configuration *configuration, FILE *file,
                                   enum dram_log_format format, bool check, struct pim_error *error)
{
    *use = (struct dram_log_use){.configuration = configuration, .file = file, .format = format};
    if (file && format == DRAM_LOG_CSV)
        pim_csv_start(&use->writer, file, dram_log_columns, DRAM_LOG_COLUMNS);
    if (check) {
        use->check = pim_dram_check_create(&configuration->specification, &configuration->policy, NULL, NULL);
        if (!use->check)
            return pim_fail(error, PIM_NO_MEMORY, "out of memory for the command check");
    }
    return PIM_OK;
}

static void write_csv(struct pim_csv_writer *writer, const struct pim_dram_specification *specification,
                      const struct pim_dram_logged *logged)
{
    pim_csv_put_count(writer, logged->cycle);
    pim_csv_put_text(writer, specification->command[logged->command].name);
    const int64_t places[] = {logged->channel, logged->rank, logged->bank_group,
                              logged->bank,    logged->row,  logged->column};
    for (size_t j = 0; j < sizeof places / sizeof places[0]; j++)
        pim_csv_put_integer(writer, places[j]);
    pim_csv_end_row(writer);
}

/* DRAMPower has no places of -1, and its commands are those of one channel; it numbers the banks of a rank
 * through its groups. Halves of an activation and the start of a write clock are no commands of its own. */
static void write_drampower(const struct dram_log_use *use, const struct pim_dram_logged *logged)
{
    static const char *const names[PIM_DRAM_COMMANDS] = {
        [PIM_DRAM_ACT] = "ACT",    [PIM_DRAM_PRE] = "PRE",  [PIM_DRAM_PREA] = "PREA",
        [PIM_DRAM_RD] = "RD",      [PIM_DRAM_WR] = "WR",    [PIM_DRAM_RDA] = "RDA",
        [PIM_DRAM_WRA] = "WRA",    [PIM_DRAM_REF] = "REFA", [PIM_DRAM_REFPB] = "REFB",
        [PIM_DRAM_REFSB] = "REFSB"};
    if (!names[logged->command])
        return;
    const int64_t before = logged->bank_group > 0 ? logged->bank_group : 0;
    const int64_t bank = before * use->configuration->specification.organization.banks + logged->bank;
    const int64_t places[] = {logged->rank, logged->bank_group, bank, logged->row, logged->column};
    fprintf(use->file, "%" PRIu64 ",%s", logged->cycle, names[logged->command]);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        fprintf(use->file, ",%" PRId64, places[i] < 0 ? 0 : places[i]);
    if (pim_dram_is_column(logged->command)) {
        fputc(',', use->file);
        for (uint32_t i = 0; i < use->configuration->specification.organization.access_bytes; i++)
            fputs("00", use->file);
    }
    fputc('\n', use->file);
}

enum pim_status dram_log_use_take(void *context, const struct pim_dram_record *record,
                                  struct pim_error *error)
{
    struct dram_log_use *use = context;
    const struct pim_dram_logged logged = pim_dram_logged_record(&use->configuration->specification, record);
    if (use->file && use->format == DRAM_LOG_CSV)
        write_csv(&use->writer, &use->configuration->specification, &logged);
    else if (use->file)
        write_drampower(use, &logged);
    return use->check ? pim_dram_check_command(use->check, &logged, error) : PIM_OK;
}

void dram_log_use_end(struct dram_log_use *use, uint64_t cycle)
{
    if (use->file && use->format == DRAM_LOG_DRAMPOWER)
        fprintf(use->file, "%" PRIu64 ",END,0,0,0,0,0\n", cycle);
}

void dram_log_use_terminate(struct dram_log_use *use)
{
    pim_dram_check_destroy(use->check);
    use->check = NULL;
}

enum pim_status dram_log_judge(uint64_t violations, struct pim_error *error)
{
    if (violations == 0)
        return PIM_OK;
    return pim_fail(error, PIM_INTERNAL, "the command check found %" PRIu64 " violations in this run",
                    violations);
}

/* NULL: the standard has no such command. */
static const char *name_of(const struct pim_dram_specification *specification, unsigned command)
{
    if (!specification)
        return pim_dram_command_text((enum pim_dram_command)command);
    return specification->command[command].exists ? specification->command[command].name : NULL;
}

void dram_put_commands(struct pim_json *json, const struct pim_dram_specification *specification,
                       const uint64_t *commands)
{
    pim_json_begin_object(json, "commands");
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (name_of(specification, i))
            pim_json_put_count(json, name_of(specification, i), commands[i]);
    pim_json_end(json);
}

void dram_print_commands(const struct pim_dram_specification *specification, const uint64_t *commands,
                         FILE *file)
{
    fputs("commands:", file);
    for (unsigned i = 0; i < PIM_DRAM_COMMANDS; i++)
        if (commands[i] > 0)
            fprintf(file, " %s %" PRIu64, name_of(specification, i), commands[i]);
    fputs("\n", file);
}

void dram_put_energy(struct pim_json *json, const struct pim_dram_energy *energy)
{
    pim_json_begin_object(json, "energy_pj");
    pim_dram_energy_put(json, energy);
    pim_json_end(json);
    pim_json_begin_object(json, "energy_reasons");
    pim_dram_energy_put_reasons(json, energy);
    pim_json_end(json);
}

void dram_print_energy(const struct pim_dram_energy *energy, FILE *file)
{
    char reason[PIM_DRAM_ENERGY_REASON], text[PIM_REAL_CHARACTERS];
    pim_dram_energy_reason(energy, PIM_DRAM_ENERGY_total, reason);
    if (isnan(energy->modelled)) {
        fprintf(file, "energy: n/a: %s\n", reason);
        return;
    }
    pim_format_energy(text, energy->modelled);
    fprintf(file, "energy: %s%s (", isnan(energy->total) ? "n/a; modelled " : "", text);
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_background_active; part++) {
        const double picojoules = pim_dram_energy_of_part(energy, part);
        fprintf(file, "%s%s ", part > 0 ? ", " : "", pim_dram_energy_part_text(part));
        if (!isnan(picojoules))
            pim_format_energy(text, picojoules);
        fputs(isnan(picojoules) ? "n/a" : text, file);
    }
    fputs(")\n", file);
    for (unsigned part = 0; part < PIM_DRAM_ENERGY_background_active; part++) {
        pim_dram_energy_reason(energy, part, reason);
        if (reason[0] != '\0')
            fprintf(file, "  %s n/a: %s\n", pim_dram_energy_part_text(part), reason);
    }
}
