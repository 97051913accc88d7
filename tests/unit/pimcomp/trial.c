#define _POSIX_C_SOURCE 200809L
#include "tests/unit/pimcomp/trial.h"

#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t trial_draw(struct pim_random *random, uint32_t first, uint32_t last)
{
    return (uint32_t)pim_random_between(random, first, last);
}

void trial_begin(struct trial *t, enum pim_core_mode mode)
{
    memset(t, 0, sizeof *t);
    t->mode = mode;
    net_initialize(&t->net);
    t->architecture = (struct pim_core_architecture){.width = 3,
                                                     .height = 2,
                                                     .cores = 6,
                                                     .chip_width = 3,
                                                     .chip_height = 2,
                                                     .connection = PIM_CORE_MESH,
                                                     .in_order = true,
                                                     .synchronous = true,
                                                     .element_bytes = 2,
                                                     .arrays = 64,
                                                     .array_rows = 16,
                                                     .array_columns = 8,
                                                     .arrays_per_group_step = 1,
                                                     .mvm_cycles = 100,
                                                     .local_memory_bytes = 1 << 16,
                                                     .local_bytes_per_cycle = 32,
                                                     .vector_lanes = 8,
                                                     .global_memory_bytes = 1 << 24,
                                                     .global_bytes_per_cycle = 32,
                                                     .link_bytes_per_cycle = 32,
                                                     .hop_cycles = 2};
    t->options.report = &t->report;
    t->options.batch = mode == PIM_CORE_HIGH_THROUGHPUT ? 1 : 0;
}

void trial_end(struct trial *t)
{
    pim_trace_close(t->trace);
    if (t->path[0])
        (void)unlink(t->path);
    net_terminate(&t->net);
}

void trial_lower(struct trial *t, const enum pim_unfolding *forced)
{
    ck_assert_msg(pim_core_network_lower(&t->net.graph, "net", &t->net.arena, &t->network, &t->error) ==
                      PIM_OK,
                  "%s", t->error.text);
    ck_assert_msg(pim_core_partition_make(&t->network, &t->architecture, t->mode, forced, &t->net.arena,
                                          &t->partition, &t->error) == PIM_OK,
                  "%s", t->error.text);
    t->mapping = (struct pim_core_mapping){.architecture = &t->architecture,
                                           .network = &t->network,
                                           .partition = &t->partition,
                                           .layout = &t->layout,
                                           .mode = t->mode};
}

bool trial_lay_out(struct trial *t, struct pim_random *random, uint32_t replicas)
{
    uint32_t room[CORES_MOST];
    for (uint32_t core = 0; core < t->architecture.cores; core++)
        room[core] = t->architecture.arrays;
    t->layout.layer = PIM_ARENA_ARRAY(&t->net.arena, struct pim_core_layout_layer, t->network.count);
    for (uint32_t r = 0; r < replicas; r++) {
        for (uint32_t l = 0; l < t->network.count; l++) {
            const struct pim_core_partition_layer *part = &t->partition.layer[l];
            struct pim_core_layout_layer *layer = &t->layout.layer[l];
            if (part->groups == 0)
                continue;
            if (r == 0)
                layer->core = PIM_ARENA_ARRAY(&t->net.arena, uint32_t, (size_t)replicas * part->groups);
            if (layer->replicas < r || (r > 0 && trial_draw(random, 0, 2) == 0))
                continue; /* this layer has enough */
            uint32_t placed = 0, start = trial_draw(random, 0, t->architecture.cores - 1);
            bool together = trial_draw(random, 0, 1);
            for (; placed < part->groups; placed++) {
                uint32_t core = together ? start : trial_draw(random, 0, t->architecture.cores - 1),
                         tries = 0;
                while (tries < t->architecture.cores && room[core] < part->group[placed].arrays) {
                    core = (core + 1) % t->architecture.cores;
                    tries++;
                }
                if (tries == t->architecture.cores)
                    break;
                room[core] -= part->group[placed].arrays;
                layer->core[(size_t)r * part->groups + placed] = core;
            }
            if (placed == part->groups)
                layer->replicas++;
            else if (r == 0)
                return false;
        }
    }
    return true;
}

enum pim_status trial_emit(struct trial *t)
{
    const struct pim_trace_description description = {.family = "pimcomp",
                                                      .configuration = "",
                                                      .width = t->architecture.width,
                                                      .height = t->architecture.height,
                                                      .units = t->architecture.cores};
    const char *place = getenv("TMPDIR");
    struct pim_trace_writer *writer;
    (void)snprintf(t->path, sizeof t->path, "%.60s/pimsim-trial-%ld.bin", place ? place : "/tmp",
                   (long)getpid());
    ck_assert_int_eq(pim_trace_writer_create(t->path, &description, &writer, &t->error), PIM_OK);
    enum pim_status status =
        pim_core_schedule(&t->mapping, writer, &t->options, &t->net.arena, &t->map, &t->error);
    if (status != PIM_OK) {
        pim_trace_writer_abandon(writer);
        return status;
    }
    ck_assert_msg(pim_trace_writer_finish(writer, &t->error) == PIM_OK, "%s", t->error.text);
    ck_assert_msg(pim_trace_open(t->path, &t->trace, &t->error) == PIM_OK, "%s", t->error.text);
    return PIM_OK;
}
