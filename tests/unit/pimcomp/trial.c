#define _POSIX_C_SOURCE 200809L
#include "tests/unit/pimcomp/trial.h"

#include "mappers/pimcomp/check/check_values.h"
#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/partition/partition.h"
#include "traces/check/check.h"

#include <check.h>
#include <inttypes.h>
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
    t->architecture = net_architecture(6, 64, 16, 8, 1 << 16);
    t->architecture.width = t->architecture.chip_width = 3;
    t->architecture.height = t->architecture.chip_height = 2;
    t->architecture.in_order = t->architecture.synchronous = true;
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

void trial_lower(struct trial *t, enum pim_unfolding forced)
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

void trial_draw_hardware(struct trial *t, struct pim_random *random)
{
    t->architecture.width = trial_draw(random, 1, 3);
    t->architecture.height = trial_draw(random, 1, 3);
    t->architecture.cores = t->architecture.width * t->architecture.height;
    t->architecture.array_rows = trial_draw(random, 4, 40);
    t->architecture.array_columns = trial_draw(random, 2, 16);
    t->architecture.arrays = trial_draw(random, 100, 1200) / t->architecture.cores + 20;
    t->architecture.in_order = trial_draw(random, 0, 1);
    t->architecture.synchronous = trial_draw(random, 0, 1);
}

void trial_small_net(struct net *net)
{
    uint32_t stem = net_convolution(net, net_input(net, 3, 12, 12), 16, 3, 1, 1, 1, true);
    uint32_t first = net_convolution(net, stem, 16, 3, 1, 1, 1, true);
    uint32_t second =
        net_convolution(net, net_activation(net, first, PIM_ACTIVATION_RELU), 16, 3, 1, 1, 1, true);
    uint32_t sum = net_elementwise(net, second, stem, PIM_ELEMENTWISE_ADD);
    uint32_t pooled = net_pooling(net, sum, PIM_POOLING_MAXIMUM, 2, 2, 0, false);
    (void)net_linear(net, net_flatten(net, net_global_average(net, pooled)), 10, true);
}

void trial_look(struct trial *t, struct trial_seen *seen)
{
    seen->stores = PIM_ARENA_ARRAY(&t->net.arena, uint16_t, t->map.bytes / 2 + 1);
    for (uint32_t unit = 0; unit < t->architecture.cores; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *i;
        ck_assert_int_eq(pim_trace_cursor_create(t->trace, unit, &cursor, &t->error), PIM_OK);
        while (pim_trace_cursor_next(cursor, &i, &t->error) == PIM_OK && i) {
            seen->by_opcode[i->opcode]++;
            if (i->opcode == PIM_OP_LOCAL_LOAD)
                seen->loaded += (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
            if (i->opcode == PIM_OP_SEND)
                seen->sent += i->u.network.bytes;
            if (i->opcode != PIM_OP_LOCAL_STORE)
                continue;
            seen->stored += (uint64_t)i->u.transfer.bytes * i->u.transfer.count;
            for (uint32_t piece = 0; piece < i->u.transfer.count; piece++)
                for (uint32_t byte = 0; byte < i->u.transfer.bytes; byte += 2) {
                    uint64_t address = i->u.transfer.address + (uint64_t)piece * i->u.transfer.stride + byte;
                    ck_assert_uint_lt(address, t->map.bytes);
                    seen->stores[address / 2]++;
                }
        }
        pim_trace_cursor_destroy(cursor);
    }
}

void trial_check(struct trial *t)
{
    const struct pim_check_limits limits = {.kind = PIM_CHECK_CORES,
                                            .local_bytes = t->architecture.local_memory_bytes,
                                            .global_bytes = t->architecture.global_memory_bytes,
                                            .in_order = t->architecture.in_order,
                                            .window = t->architecture.in_order ? 0 : 8};
    struct pim_check_result result;
    ck_assert_msg(pim_trace_check(t->trace, &limits, &result, &t->error) == PIM_OK, "seed %" PRIu64 ": %s",
                  t->seed, t->error.text);
    ck_assert_uint_eq(result.messages, t->report.counts.messages);
}

void trial_check_values(struct trial *t, uint32_t samples, uint64_t seed)
{
    const struct pim_core_check_options check = {.samples = samples, .seed = seed};
    struct pim_core_check_result values;
    ck_assert_msg(pim_core_check_values(&t->net.graph, &t->mapping, &t->map, t->trace, &check, &values,
                                        &t->error) == PIM_OK,
                  "seed %" PRIu64 ": %s", t->seed, t->error.text);
    ck_assert_uint_gt(values.elements, 0);
}
