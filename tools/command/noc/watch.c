#include "tools/command/noc/watch.h"

#include "sim/arena.h"
#include "sim/output/csv.h"
#include "sim/output/output.h"

#include <stdlib.h>

static void take(void *context, const struct pim_noc_stage *stage)
{
    struct noc_watch *watch = context;
    struct pim_noc_stage *grown =
        pim_array_grow(watch->stages, &watch->capacity, watch->count + 1, sizeof *watch->stages);
    if (!grown) {
        watch->no_memory = true;
        return;
    }
    watch->stages = grown;
    watch->stages[watch->count++] = *stage;
}

void noc_watch_start(struct noc_watch *watch, uint64_t packet)
{
    *watch = (struct noc_watch){.watch = {.packet = packet, .stage = take, .context = watch}};
}

void noc_watch_terminate(struct noc_watch *watch)
{
    free(watch->stages);
    watch->stages = NULL;
    watch->count = 0;
}

static int by_cycle(const void *first, const void *second)
{
    const struct pim_noc_stage *a = first, *b = second;
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle ? -1 : 1;
    if (a->flit != b->flit)
        return a->flit < b->flit ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static void put_stage(struct pim_csv_writer *writer, const struct pim_noc_stage *stage)
{
    static const char *const names[PIM_NOC_STAGE_KINDS] = {
        "injected", "buffered",          "routed",           "channel_taken",   "switch_won",
        "consumed", "waits_for_channel", "waits_for_credit", "waits_for_switch"};
    bool terminal = stage->kind == PIM_NOC_INJECTED || stage->kind == PIM_NOC_CONSUMED;
    pim_csv_put_count(writer, stage->cycle);
    pim_csv_put_count(writer, stage->flit);
    pim_csv_put_text(writer, names[stage->kind]);
    pim_csv_put_text(writer, terminal ? "node" : "router");
    pim_csv_put_count(writer, stage->place);
    if (terminal)
        pim_csv_put_text(writer, "");
    else
        pim_csv_put_count(writer, stage->port);
    pim_csv_put_count(writer, stage->vc);
    pim_csv_end_row(writer);
}

static bool is_wait(const struct pim_noc_stage *stage)
{
    return stage->kind >= PIM_NOC_CHANNEL_WAITED;
}

/* The waits that never end are told once, where they begin: until the network is found to be stuck they come
 * again in every cycle. The stages are sorted; those kept come first. */
static void leave_out_repeated_waits(struct noc_watch *watch)
{
    size_t first = watch->count;
    while (first > 0 && is_wait(&watch->stages[first - 1]))
        first--;
    size_t kept = first;
    for (size_t i = first; i < watch->count; i++) {
        const struct pim_noc_stage *stage = &watch->stages[i];
        size_t same = first;
        while (same < kept &&
               (watch->stages[same].flit != stage->flit || watch->stages[same].kind != stage->kind))
            same++;
        if (same == kept)
            watch->stages[kept++] = *stage;
    }
    watch->count = kept;
}

enum pim_status noc_watch_write(struct noc_watch *watch, const char *path, bool stuck,
                                struct pim_error *error)
{
    static const char *const header[] = {"cycle", "flit", "stage", "at", "number", "port", "virtual_channel"};
    if (watch->no_memory)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the stages of the packet that is watched");
    struct pim_output *output;
    if (pim_output_open(&output, path, error) != PIM_OK)
        return error->status;
    struct pim_csv_writer writer;
    if (watch->count > 0)
        qsort(watch->stages, watch->count, sizeof *watch->stages, by_cycle);
    if (stuck)
        leave_out_repeated_waits(watch);
    pim_csv_start(&writer, pim_output_file(output), header, sizeof header / sizeof header[0]);
    for (size_t i = 0; i < watch->count; i++)
        put_stage(&writer, &watch->stages[i]);
    return pim_output_commit(output, error);
}
