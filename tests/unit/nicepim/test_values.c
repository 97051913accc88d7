/*
 * Programs executed with numbers: every tensor of networks drawn at random, cut, copied and laid out at
 * random, ends whole and right on the nodes (mappers/nicepim/check/check_values.h).
 */
#include "mappers/nicepim/check/check_values.h"
#include "mappers/nicepim/map/make_plan.h"
#include "mappers/nicepim/map/program/emit.h"
#include "models/system/read.h"
#include "models/system/schema.h"
#include "models/system/system.h"
#include "sim/random.h"
#include "tests/unit/nicepim/suites.h"
#include "tests/unit/pimcomp/values/forms.h"
#include "traces/file/reader.h"
#include "traces/file/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAWS = 640, TRIED = PIM_CASES(DRAWS), LEAST = PIM_CASES(250), FEW = TRIED < DRAWS };

static struct pim_estimate_hardware of_file;

static void read_hardware(void)
{
    struct pim_configuration *configuration;
    struct pim_hardware hardware;
    struct pim_error error = {0};
    char path[512];
    pimsim_source_path(path, sizeof path, "configs/hardware/nicepim-4x4.cfg");
    ck_assert_msg(pim_configuration_create(&pim_hardware_schema, &configuration, &error) == PIM_OK &&
                      pim_configuration_read_file(configuration, path, &error) == PIM_OK &&
                      pim_hardware_read(configuration, &hardware, &error) == PIM_OK,
                  "%s", error.text);
    const struct pim_machine_network network = {.fixed = (int64_t)hardware.node.zero_load.fixed,
                                                .per_router = hardware.node.zero_load.per_router};
    ck_assert_msg(pim_machine_nodes_read(configuration, &network, &of_file, &error) == PIM_OK, "%s",
                  error.text);
    pim_configuration_destroy(configuration);
}

/* A small array with buffers for a few channels and positions, so that there are many tiles. */
static struct pim_estimate_hardware draw_hardware(struct pim_random *random)
{
    struct pim_estimate_hardware hardware = of_file;
    hardware.width = 1 + (uint32_t)pim_random_below(random, 4);
    hardware.height = 1 + (uint32_t)pim_random_below(random, 4);
    hardware.pe_rows = hardware.pe_columns = 4;
    hardware.memory_bytes = 1 << 22;
    hardware.input_bytes = hardware.weight_bytes = hardware.output_bytes = (uint64_t)512
                                                                           << pim_random_below(random, 4);
    if (hardware.width * hardware.height == 1)
        hardware.width = 2;
    return hardware;
}

/* --- random mappings --- */

struct draw {
    struct pim_random *random;
    const struct nice_plan *plan;
    uint32_t layer, seen;
    struct pim_cut cut;
};

static bool see_cut(void *context, const struct pim_cut *cut)
{
    struct draw *draw = context;
    const struct flow_operation *operation = &draw->plan->flow.operation[draw->layer];
    struct pim_part part;
    struct tile_product product;
    struct tiling tiling;
    if (!flow_groups_are_whole(operation, cut->high[PIM_LOOP_K] * cut->wide[PIM_LOOP_K]))
        return true;
    pim_cut_part(&operation->conv, cut, 0, 0, &part);
    if (nice_tile_product(draw->plan, draw->layer, cut, &part, &product) &&
        tile_choose(draw->plan->hardware, &product, &draw->plan->weights, &tiling) &&
        pim_random_below(draw->random, ++draw->seen) == 0)
        draw->cut = *cut;
    return true;
}

/* Tensors that operations do not turn from one layout to another have one. */
static void draw_layouts(struct nice_plan *plan, struct pim_random *random)
{
    uint32_t *class = calloc(plan->flow.count, sizeof *class);
    ck_assert_ptr_nonnull(class);
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        const struct pim_layer *layer = &plan->flow.graph->layers[i];
        uint32_t g = 1u << pim_random_below(random, 4);
        bool last = pim_random_below(random, 3) == 0;
        class[i] = i;
        plan->layout[i] = (struct pim_map_layout){last ? PIM_LAYOUT_BHWC : PIM_LAYOUT_BCHW, last ? 1 : g};
        for (uint32_t k = 0; k < layer->inputs && plan->flow.operation[i].kind != FLOW_PRODUCT; k++) {
            uint32_t other = class[layer->input[k]];
            for (uint32_t j = 0; j <= i; j++) {
                if (class[j] != class[i] || j == i)
                    continue;
                class[j] = other;
                plan->layout[j] = plan->layout[other];
            }
            plan->layout[i] = plan->layout[other];
            class[i] = other;
        }
    }
    free(class);
}

static void draw_mapping(struct nice_plan *plan, struct pim_random *random)
{
    draw_layouts(plan, random);
    for (uint32_t i = 0; i < plan->flow.count; i++) {
        const struct flow_operation *operation = &plan->flow.operation[i];
        struct nice_decision *decision = &plan->decision[i];
        struct draw draw = {.random = random, .plan = plan, .layer = i};
        uint32_t limit[PIM_LOOPS], needing = 1;
        if (operation->kind != FLOW_PRODUCT)
            continue;
        for (size_t loop = 0; loop < PIM_LOOPS; loop++)
            limit[loop] = pim_random_below(random, 4) == 0 ? UINT32_MAX : operation->conv.length[loop];
        if (operation->groups > 1 || operation->right != FLOW_STORED)
            limit[PIM_LOOP_C] = 1;
        pim_cuts_walk(decision->region.height, decision->region.width, limit, see_cut, &draw);
        if (draw.seen == 0)
            continue; /* the plan's own */
        for (size_t loop = PIM_LOOP_B; loop <= PIM_LOOP_Q; loop++)
            needing *= draw.cut.high[loop] * draw.cut.wide[loop];
        decision->cut = draw.cut;
        do
            decision->sharing = 1 + (uint32_t)pim_random_below(random, needing);
        while (needing % decision->sharing != 0);
    }
}

/* --- programs --- */

struct program_of {
    struct nice_record record;
    char path[64];
};

static void record_program(const struct nice_plan *plan, struct program_of *made)
{
    struct pim_error error = {0};
    struct pim_trace_writer *writer;
    struct nice_result result;
    uint32_t nodes = plan->hardware->width * plan->hardware->height;
    const struct pim_trace_description description = {.family = "nicepim",
                                                      .width = plan->hardware->width,
                                                      .height = plan->hardware->height,
                                                      .units = nodes};
    const struct nice_observer observer = {nice_record_see, &made->record};
    ck_assert(nice_record_initialize(&made->record, nodes));
    (void)snprintf(made->path, sizeof made->path, "test_nicepim_values_%ld.bin", (long)getpid());
    ck_assert(pim_trace_writer_create(made->path, &description, &writer, &error) == PIM_OK);
    ck_assert_msg(nice_emit_observed(plan, writer, &observer, &result, &error) == PIM_OK, "%s", error.text);
    ck_assert(pim_trace_writer_finish(writer, &error) == PIM_OK);
}

static enum pim_status check_program(const struct nice_plan *plan, const struct program_of *made,
                                     uint64_t seed, struct nice_check *result, struct pim_error *error)
{
    struct pim_trace *trace;
    ck_assert_msg(pim_trace_open(made->path, &trace, error) == PIM_OK, "%s", error->text);
    enum pim_status status = nice_check_values(plan, &made->record, trace, seed, result, error);
    pim_trace_close(trace);
    return status;
}

static void release_program(struct program_of *made)
{
    (void)unlink(made->path);
    nice_record_terminate(&made->record);
}

/* A network, hardware and a plan that is drawn (of a pipeline: made); false: the mapper refuses it. */
struct trial {
    struct net net;
    struct pim_network network;
    struct pim_estimate_hardware hardware;
    struct nice_plan plan;
};

static bool make_trial(struct trial *trial, struct pim_random *random, uint32_t draw)
{
    static const enum nice_method methods[] = {NICE_SERIAL,   NICE_PARALLEL, NICE_SERIAL,
                                               NICE_PIPELINE, NICE_SERIAL,   NICE_SEQUENTIAL};
    struct pim_error error = {0};
    memset(trial, 0, sizeof *trial);
    net_initialize(&trial->net);
    if (draw % 5 == 4)
        form_build(&trial->net, (enum form)(draw / 5 % FORMS));
    else
        net_random(&trial->net, random);
    trial->network.name = "net";
    trial->network.graph = trial->net.graph;
    trial->hardware = draw_hardware(random);
    const struct nice_request request = {.network = &trial->network,
                                         .hardware = &trial->hardware,
                                         .batch = 1 + (uint32_t)pim_random_below(random, 3),
                                         .capacity = trial->hardware.memory_bytes,
                                         .copy_limit = UINT64_MAX,
                                         .method = methods[draw % 6],
                                         .weights = {.cycles = 1}};
    if (nice_plan_make(&request, &trial->plan, &error) != PIM_OK) {
        ck_assert_msg(error.status == PIM_BAD_INPUT, "%s", error.text);
        return false;
    }
    if (request.method != NICE_PIPELINE && pim_random_below(random, 5) > 0)
        draw_mapping(&trial->plan, random);
    return true;
}

static void release_trial(struct trial *trial)
{
    nice_plan_terminate(&trial->plan);
    net_terminate(&trial->net);
}

START_TEST(random_mappings_compute_the_network)
{
    unsigned made = 0, reduced = 0, shared = 0, cut[PIM_LOOPS] = {0}, layouts[2] = {0};
    read_hardware();
    for (uint32_t i = 0; i < TRIED; i++) {
        struct pim_random random;
        struct trial trial;
        pim_random_initialize(&random, 0x76616c756573 + i);
        if (make_trial(&trial, &random, i)) {
            struct pim_error error = {0};
            struct program_of program;
            struct nice_check result;
            record_program(&trial.plan, &program);
            ck_assert_msg(check_program(&trial.plan, &program, i, &result, &error) == PIM_OK, "draw %u: %s",
                          (unsigned)i, error.text);
            ck_assert_uint_eq(result.products, trial.plan.flow.macs * trial.plan.images);
            release_program(&program);
            made++;
            for (uint32_t l = 0; l < trial.plan.flow.count; l++) {
                const struct nice_decision *decision = &trial.plan.decision[l];
                if (trial.plan.flow.operation[l].kind != FLOW_PRODUCT)
                    continue;
                layouts[trial.plan.layout[l].order == PIM_LAYOUT_BHWC]++;
                shared += decision->sharing > 1;
                for (size_t loop = 0; loop < PIM_LOOPS; loop++)
                    cut[loop] += decision->cut.high[loop] * decision->cut.wide[loop] > 1;
                reduced += decision->cut.high[PIM_LOOP_C] * decision->cut.wide[PIM_LOOP_C] > 1;
            }
        }
        release_trial(&trial);
    }
    printf("%u mappings; cut along B P Q K C: %u %u %u %u %u; %u with shared weights, %u BHWC\n", made,
           cut[0], cut[1], cut[2], cut[3], cut[4], shared, layouts[1]);
    ck_assert_uint_ge(made, LEAST);
    for (size_t loop = 0; loop < PIM_LOOPS; loop++)
        ck_assert_uint_ge(cut[loop], 50);
    ck_assert(reduced >= 50 && shared >= 50 && layouts[0] >= 100 && layouts[1] >= 100);
}
END_TEST

/* A softmax along the columns of a map is no softmax of scores, though its shape has as many dimensions. */
START_TEST(a_softmax_of_a_map_is_refused)
{
    const union pim_attributes none = {.activation = PIM_ACTIVATION_RELU};
    struct net net;
    struct flow flow;
    struct pim_error error = {0};
    net_initialize(&net);
    uint32_t map = net_convolution(&net, net_input(&net, 3, 16, 16), 8, 3, 1, 1, 1, false);
    uint32_t softmax = net_add(&net, PIM_OPERATOR_SOFTMAX, &map, 1, &none);
    (void)net_convolution(&net, softmax, 4, 1, 1, 0, 1, false);
    const struct pim_network network = {.graph = net.graph};
    ck_assert_int_eq(flow_build(&network, 1, &flow, &error), PIM_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "not along channels"));
    net_terminate(&net);
}
END_TEST

/* An average of the same window is mapped. */
START_TEST(a_pooling_by_a_norm_is_refused)
{
    static const enum pim_pooling kinds[] = {PIM_POOLING_AVERAGE, PIM_POOLING_NORM};
    for (size_t k = 0; k < 2; k++) {
        union pim_attributes pooling = {.pooling = {.kind = kinds[k], .global = true}};
        struct net net;
        struct flow flow;
        struct pim_error error = {0};
        net_initialize(&net);
        uint32_t map = net_convolution(&net, net_input(&net, 3, 8, 8), 8, 3, 1, 1, 1, false);
        (void)net_add(&net, PIM_OPERATOR_POOLING, &map, 1, &pooling);
        const struct pim_network network = {.graph = net.graph};
        if (kinds[k] == PIM_POOLING_NORM) {
            ck_assert_int_eq(flow_build(&network, 1, &flow, &error), PIM_BAD_INPUT);
            ck_assert_ptr_nonnull(strstr(error.text, "it pools by a norm"));
        } else {
            ck_assert_msg(flow_build(&network, 1, &flow, &error) == PIM_OK, "%s", error.text);
            flow_terminate(&flow);
        }
        net_terminate(&net);
    }
}
END_TEST

static const enum nice_method methods[] = {NICE_SERIAL, NICE_SEQUENTIAL, NICE_PIPELINE};

/* The net of a trial, planned for the hardware of the file, computes what it should. */
static void check_net(struct trial *trial, enum nice_method method)
{
    struct program_of program;
    struct nice_check result;
    struct pim_error error = {0};
    trial->network.name = "net";
    trial->network.graph = trial->net.graph;
    trial->hardware = of_file;
    struct nice_request request = {.network = &trial->network,
                                   .hardware = &trial->hardware,
                                   .batch = 2,
                                   .capacity = trial->hardware.memory_bytes,
                                   .copy_limit = UINT64_MAX,
                                   .method = method,
                                   .weights = {.cycles = 1}};
    ck_assert_msg(nice_plan_make(&request, &trial->plan, &error) == PIM_OK, "%s", error.text);
    record_program(&trial->plan, &program);
    ck_assert_msg(check_program(&trial->plan, &program, 1, &result, &error) == PIM_OK, "%s", error.text);
    release_program(&program);
    release_trial(trial);
}

static void begin_net(struct trial *trial)
{
    memset(trial, 0, sizeof *trial);
    read_hardware();
    net_initialize(&trial->net);
}

/* Rows and columns of outputs whose windows lie in padding alone: parts that read nothing. */
START_TEST(parts_that_read_padding_alone_compute_the_network)
{
    struct trial trial;
    begin_net(&trial);
    uint32_t map = net_convolution(&trial.net, net_input(&trial.net, 3, 4, 4), 8, 3, 1, 1, 1, false);
    map = net_convolution(&trial.net, map, 8, 2, 2, 4, 1, false); /* 6 x 6 of a map of 4 x 4 */
    (void)net_convolution(&trial.net, map, 4, 3, 1, 1, 1, false);
    check_net(&trial, methods[_i]);
}
END_TEST

/* Nothing reads the input where it is a part of the result. */
START_TEST(an_input_that_is_part_of_the_result_is_there)
{
    struct trial trial;
    begin_net(&trial);
    uint32_t sides[2] = {net_input(&trial.net, 3, 4, 4), 0};
    sides[1] = net_convolution(&trial.net, sides[0], 8, 3, 1, 1, 1, false);
    (void)net_concat(&trial.net, sides, 2);
    check_net(&trial, methods[_i]);
}
END_TEST

/* A decoder with the matrix of its encoder, transposed. */
START_TEST(transposed_weights_compute_the_network)
{
    struct trial trial;
    begin_net(&trial);
    uint32_t encoder =
        net_linear(&trial.net, net_flatten(&trial.net, net_input(&trial.net, 3, 4, 4)), 20, false);
    const union pim_attributes shared = {
        .linear = {.outputs = 48, .shared = true, .weights_of = encoder, .transposed = true}};
    (void)net_add(&trial.net, PIM_OPERATOR_LINEAR, &encoder, 1, &shared);
    check_net(&trial, methods[_i]);
}
END_TEST

/* What random networks have not: regions around windows, pooled windows, padding, a shuffle of channels. */
START_TEST(published_families_compute_the_network)
{
    static const char *const focal[] = {"network.image=40",           "network.blocks=[1,2]",
                                        "network.channels=[8,12]",    "network.heads=[2,3]",
                                        "network.window=4",           "network.expand=1",
                                        "network.focal_window=[3,1]", "network.classes=5"},
                             *const shuffle[] = {"network.image=32", "network.classes=5"};
    static const struct {
        const char *file;
        const char *const *settings;
        size_t count;
        enum nice_method method;
    } cases[] = {{"configs/networks/focal-t.cfg", focal, 8, NICE_SERIAL},
                 {"configs/networks/focal-t.cfg", focal, 8, NICE_PARALLEL},
                 {"configs/networks/focal-t.cfg", focal, 8, NICE_SEQUENTIAL},
                 {"configs/networks/shufflenet.cfg", shuffle, 2, NICE_SERIAL},
                 {"configs/networks/shufflenet.cfg", shuffle, 2, NICE_SEQUENTIAL}};
    struct pim_error error = {0};
    struct pim_network *network;
    struct nice_plan plan;
    struct program_of program;
    struct nice_check result;
    char path[512];
    read_hardware();
    pimsim_source_path(path, sizeof path, cases[_i].file);
    ck_assert_msg(pim_network_read(path, cases[_i].settings, cases[_i].count, &network, &error) == PIM_OK,
                  "%s", error.text);
    struct pim_estimate_hardware hardware = of_file;
    hardware.width = 3;
    hardware.height = 2;
    const struct nice_request request = {.network = network,
                                         .hardware = &hardware,
                                         .batch = 2,
                                         .capacity = hardware.memory_bytes,
                                         .copy_limit = UINT64_MAX,
                                         .method = cases[_i].method,
                                         .weights = {.cycles = 1}};
    ck_assert_msg(nice_plan_make(&request, &plan, &error) == PIM_OK, "%s", error.text);
    record_program(&plan, &program);
    ck_assert_msg(check_program(&plan, &program, 1, &result, &error) == PIM_OK, "%s", error.text);
    ck_assert_uint_eq(result.products, plan.flow.macs * plan.images);
    release_program(&program);
    nice_plan_terminate(&plan);
    pim_network_destroy(network);
}
END_TEST

/* --- what is wrong is found --- */

enum spoil {
    SPOIL_SEND,
    SPOIL_RECEIVE,
    SPOIL_LOAD,
    SPOIL_STORE,
    SPOIL_WAIT,
    SPOIL_EARLY,
    SPOIL_SUM,
    SPOIL_SENT_EARLY,
    SPOIL_KEPT,
    SPOIL_KEPT_WEIGHT,
    SPOIL_GIVEN,
    SPOIL_MORE,
    SPOILS
};

/* The instructions of a unit up to the one at hand. */
struct history {
    uint64_t sequence;    /* of the one at hand */
    uint64_t port, store; /* of the last LOAD or STORE, and of the last STORE, and one more; 0: none */
};

/* Does it wait for the last store, behind which nothing used the port? */
static bool waits_for_store(const struct pim_instruction *i, const struct history *history)
{
    uint64_t last = history->sequence - i->dependency[0];
    for (size_t d = 1; d < PIM_DEPENDENCIES; d++)
        if (i->dependency[d] > 0)
            return false;
    return i->dependency[0] > 0 && last > 0 && history->store == last + 1 && history->port == last + 1;
}

/* An instruction that a kind of mistake can be made in. */
static bool can_spoil(enum spoil spoil, const struct pim_instruction *i, const struct history *history)
{
    static const uint8_t opcodes[] = {[SPOIL_SEND] = PIM_OP_SEND,
                                      [SPOIL_RECEIVE] = PIM_OP_RECEIVE,
                                      [SPOIL_LOAD] = PIM_OP_LOAD,
                                      [SPOIL_STORE] = PIM_OP_STORE};
    switch ((int)spoil) {
    case SPOIL_WAIT:
    case SPOIL_EARLY:
        return i->dependency[0] > 0;
    case SPOIL_SUM:
        return i->opcode == PIM_OP_MATRIX && !(i->detail & PIM_MATRIX_OPEN_OUTPUT);
    case SPOIL_SENT_EARLY:
        return i->opcode == PIM_OP_SEND && waits_for_store(i, history);
    case SPOIL_KEPT:
        return i->opcode == PIM_OP_MATRIX && (i->detail & PIM_MATRIX_RELEASE_INPUT);
    case SPOIL_KEPT_WEIGHT:
        return i->opcode == PIM_OP_MATRIX && (i->detail & PIM_MATRIX_RELEASE_WEIGHT);
    case SPOIL_GIVEN:
        return i->opcode == PIM_OP_MATRIX && !(i->detail & PIM_MATRIX_RELEASE_INPUT);
    case SPOIL_MORE:
        return i->opcode == PIM_OP_LOAD && i->detail != PIM_BUFFER_NONE && i->u.memory.count == 1;
    default:
        return i->opcode == opcodes[spoil];
    }
}

static void make_mistake(enum spoil spoil, struct pim_instruction *i)
{
    enum { BESIDE = 4 }; /* bytes: the next elements, or the next sum */
    switch ((int)spoil) {
    case SPOIL_WAIT:
        memset(i->dependency, 0, sizeof i->dependency);
        return;
    case SPOIL_EARLY: /* it waits for the instruction before the one it should wait for */
    case SPOIL_SENT_EARLY:
        for (size_t d = 0; d < PIM_DEPENDENCIES; d++)
            i->dependency[d] = (uint16_t)(i->dependency[d] + (i->dependency[d] > 0));
        return;
    case SPOIL_SUM: /* what was summed before is lost: every element is where it should be */
        i->detail |= PIM_MATRIX_OPEN_OUTPUT;
        return;
    case SPOIL_KEPT: /* what is loaded next lies behind it */
        i->detail &= (uint8_t)~PIM_MATRIX_RELEASE_INPUT;
        return;
    case SPOIL_KEPT_WEIGHT:
        i->detail &= (uint8_t)~PIM_MATRIX_RELEASE_WEIGHT;
        return;
    case SPOIL_GIVEN: /* the next product still needs it */
        i->detail |= PIM_MATRIX_RELEASE_INPUT;
        return;
    case SPOIL_MORE: /* an element behind the tile, which nobody asks for */
        i->u.memory.bytes += 2;
        return;
    case SPOIL_SEND:
    case SPOIL_RECEIVE:
        i->u.network.address += BESIDE;
        return;
    default:
        i->u.memory.address += BESIDE;
    }
}

/* The trace once more, with a mistake in the `which`-th instruction that it can be made in; gives how many
 * there are. */
static uint64_t spoil_trace(const char *path, const char *spoiled, enum spoil spoil, uint64_t which)
{
    struct pim_error error = {0};
    struct pim_trace *trace;
    struct pim_trace_writer *writer;
    uint64_t seen = 0;
    ck_assert(pim_trace_open(path, &trace, &error) == PIM_OK);
    const struct pim_trace_description *description = pim_trace_description(trace);
    ck_assert(pim_trace_writer_create(spoiled, description, &writer, &error) == PIM_OK);
    for (uint32_t p = 0; p < pim_trace_phases(trace); p++)
        (void)pim_trace_writer_phase(writer, pim_trace_phase(trace, p));
    for (uint32_t unit = 0; unit < description->units; unit++) {
        struct pim_trace_cursor *cursor;
        const struct pim_instruction *next;
        struct history history = {0};
        ck_assert(pim_trace_cursor_create(trace, unit, &cursor, &error) == PIM_OK);
        for (;; history.sequence++) {
            ck_assert(pim_trace_cursor_next(cursor, &next, &error) == PIM_OK);
            if (!next)
                break;
            struct pim_instruction instruction = *next;
            if (can_spoil(spoil, next, &history) && seen++ == which)
                make_mistake(spoil, &instruction);
            if (next->opcode == PIM_OP_STORE)
                history.store = history.sequence + 1;
            if (next->opcode == PIM_OP_LOAD || next->opcode == PIM_OP_STORE)
                history.port = history.sequence + 1;
            ck_assert_msg(pim_trace_writer_append(writer, unit, &instruction, &error) == PIM_OK, "%s",
                          error.text);
        }
        pim_trace_cursor_destroy(cursor);
    }
    ck_assert(pim_trace_writer_finish(writer, &error) == PIM_OK);
    pim_trace_close(trace);
    return seen;
}

/* A mistake of each kind in each of many traces. Loads of padding and of elements that another load brings as
 * well are no mistakes: nearly all others are found (one less where FEW are made). `spread`: the kind stands
 * in every so many trials. */
static const struct {
    const char *name;
    unsigned spread, least; /* %, of mistakes that are found */
} mistakes[SPOILS] = {[SPOIL_SEND] = {"send", 10, 95},
                      [SPOIL_RECEIVE] = {"receive", 10, 95},
                      [SPOIL_LOAD] = {"load", 10, 90},
                      [SPOIL_STORE] = {"store", 10, 95},
                      [SPOIL_WAIT] = {"wait", 10, 90},
                      [SPOIL_EARLY] = {"early", 5, 85},
                      [SPOIL_SUM] = {"sum", 4, 90}, /* few programs have sums over several tiles */
                      [SPOIL_SENT_EARLY] = {"sent early", 6, 90},
                      [SPOIL_KEPT] = {"kept input", 10, 90},
                      [SPOIL_KEPT_WEIGHT] = {"kept weight", 10, 90},
                      [SPOIL_GIVEN] = {"given back", 1, 90} /* few reuse what is loaded */,
                      [SPOIL_MORE] = {"more", 10, 90}};

START_TEST(one_wrong_instruction_is_found)
{
    unsigned made[SPOILS] = {0}, found[SPOILS] = {0};
    read_hardware();
    for (uint32_t i = 0; i < TRIED; i++) {
        struct pim_random random;
        struct trial trial;
        pim_random_initialize(&random, 0x73706f696c + i);
        if (make_trial(&trial, &random, i)) {
            struct program_of program;
            char path[64];
            record_program(&trial.plan, &program);
            memcpy(path, program.path, sizeof path);
            (void)snprintf(program.path, sizeof program.path, "test_nicepim_spoiled_%ld.bin", (long)getpid());
            for (enum spoil spoil = 0; spoil < SPOILS; spoil++) {
                uint64_t count = (i + spoil) % mistakes[spoil].spread > 0
                                     ? 0
                                     : spoil_trace(path, program.path, spoil, UINT64_MAX);
                struct nice_check result;
                struct pim_error error = {0};
                if (count == 0)
                    continue;
                (void)spoil_trace(path, program.path, spoil, pim_random_below(&random, count));
                made[spoil]++;
                found[spoil] += check_program(&trial.plan, &program, i, &result, &error) != PIM_OK;
            }
            (void)unlink(path);
            release_program(&program);
        }
        release_trial(&trial);
    }
    bool enough = true;
    for (size_t s = 0; s < SPOILS; s++) {
        printf("%s: %u of %u mistakes found\n", mistakes[s].name, found[s], made[s]);
        enough &= made[s] >= PIM_CASES(10) && 100 * (found[s] + FEW) >= mistakes[s].least * made[s];
    }
    (void)fflush(stdout);
    ck_assert(enough);
}
END_TEST

/* A result that lies on another node than it should, or is not told of. */
START_TEST(wrong_owner_is_found)
{
    unsigned made = 0;
    read_hardware();
    for (uint32_t i = 0; i < 40; i++) {
        struct pim_random random;
        struct trial trial;
        pim_random_initialize(&random, 0x6f776e6572 + i);
        if (make_trial(&trial, &random, 0)) {
            struct program_of program;
            struct nice_check result;
            struct pim_error error = {0};
            record_program(&trial.plan, &program);
            struct nice_notes *from = &program.record.node[0], *to = &program.record.node[1];
            ck_assert_uint_gt(from->count, 0);
            if (from->items[from->count - 1].note.kind == NICE_NOTE_RESULT) {
                struct nice_note note = from->items[--from->count].note;
                ck_assert(check_program(&trial.plan, &program, i, &result, &error) == PIM_BAD_INPUT);
                ck_assert_ptr_nonnull(strstr(error.text, "elements lie on nodes"));
                nice_record_see(&program.record, 1, to->items[to->count - 1].sequence, &note);
                ck_assert(check_program(&trial.plan, &program, i, &result, &error) == PIM_BAD_INPUT);
                ck_assert_ptr_nonnull(strstr(error.text, "is not where it should be on node 1"));
                made++;
            }
            release_program(&program);
        }
        release_trial(&trial);
    }
    ck_assert_uint_ge(made, 10);
}
END_TEST

Suite *nicepim_values_suite(void)
{
    Suite *suite = suite_create("values");
    TCase *tests = tcase_create("values");
    tcase_add_test(tests, random_mappings_compute_the_network);
    tcase_add_test(tests, a_softmax_of_a_map_is_refused);
    tcase_add_test(tests, a_pooling_by_a_norm_is_refused);
    tcase_add_loop_test(tests, parts_that_read_padding_alone_compute_the_network, 0, 3);
    tcase_add_loop_test(tests, an_input_that_is_part_of_the_result_is_there, 0, 3);
    tcase_add_loop_test(tests, transposed_weights_compute_the_network, 0, 3);
    tcase_add_loop_test(tests, published_families_compute_the_network, 0, 5);
    tcase_add_test(tests, one_wrong_instruction_is_found);
    tcase_add_test(tests, wrong_owner_is_found);
    suite_add_tcase(suite, tests);
    return suite;
}

void pimsim_suites(SRunner *runner)
{
    srunner_add_suite(runner, nicepim_values_suite());
}
