/* Results of a case: as JSON under the names of the golden cases, or as text. */
#include "mappers/overlapim/analysis/evaluate.h"

#include "sim/output/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 1 << 20 }; /* lists of more data spaces are left out */

/* --- a pair --- */

/* The latest step of the exact points of one need. */
struct points {
    const struct pim_producer *producer;
    const struct pim_link *link;
    enum pim_need_axis need;
    int64_t last; /* -1: no points */
};

static void visit_points(void *context, struct pim_interval range)
{
    struct points *points = context;
    int64_t last = (int64_t)pim_producer_last(points->producer, points->link, points->need, range);
    points->last = last > points->last ? last : points->last;
}

/* Ready steps of a data space: of the hull, of the exact points, and of the literal reading of the paper's
 * equations (the smallest corner, no reduction). -1: nothing is needed. */
struct detail {
    struct pim_interval range[PIM_NEEDS];
    int64_t ready, exact, literal;
};

/* The step of the smallest corner; a flat index is channel, row and column behind each other. */
static int64_t corner(const struct pim_producer *producer, const struct pim_link *link,
                      enum pim_need_axis need, int64_t first)
{
    if (need == PIM_NEED_FLAT) {
        struct pim_flat_box boxes[PIM_FLAT_BOXES];
        (void)pim_producer_unflatten(producer, link, (struct pim_interval){first, first}, boxes);
        return (int64_t)(pim_axis_step(&producer->axis[PIM_NEED_K], boxes[0].channel.first) +
                         pim_axis_step(&producer->axis[PIM_NEED_P], boxes[0].row.first) +
                         pim_axis_step(&producer->axis[PIM_NEED_Q], boxes[0].column.first));
    }
    return (int64_t)pim_axis_step(&producer->axis[need], first);
}

static struct detail detail_of(const struct pim_producer *producer, const struct pim_overlap_layer *layer,
                               const struct pim_ready *space)
{
    const struct pim_link *link = &layer->link[0];
    struct detail detail = {.ready = 0};
    struct pim_interval box[PIM_DIMENSIONS];
    (void)pim_nest_data_space(&layer->workload, &layer->nest, &layer->strides, space->bank, space->step, box);
    bool empty = false, no_points = false;
    for (unsigned n = 0; n < PIM_NEEDS; n++) {
        enum pim_need_axis need = (enum pim_need_axis)n;
        if (!pim_link_has(link, need))
            continue;
        struct pim_interval range = pim_link_range(link, producer->workload, &layer->workload, box, need);
        struct points points = {producer, link, need, -1};
        detail.range[need] = range;
        empty = empty || pim_range_empty(range);
        if (empty)
            continue;
        pim_link_points(link, producer->workload, &layer->workload, box, need, visit_points, &points);
        no_points = no_points || points.last < 0;
        detail.ready += (int64_t)pim_producer_last(producer, link, need, range);
        detail.exact += points.last;
        detail.literal += corner(producer, link, need, range.first);
    }
    int64_t tail = (int64_t)producer->strides->tail;
    detail.ready = empty ? -1 : detail.ready + tail;
    detail.exact = empty || no_points ? -1 : detail.exact + tail;
    detail.literal = empty ? -1 : detail.literal;
    return detail;
}

static void put_range(struct pim_json *json, const char *key, struct pim_interval range)
{
    pim_json_begin_array(json, key);
    pim_json_put_integer(json, NULL, range.first);
    pim_json_put_integer(json, NULL, range.last);
    pim_json_end(json);
}

static void put_box(struct pim_json *json, const struct pim_link *link, const struct detail *detail)
{
    static const char *const names[PIM_NEEDS] = {"N", "K", "P", "Q", "F"};
    pim_json_begin_object(json, "box");
    for (unsigned need = 0; need < PIM_NEEDS; need++) {
        if (pim_link_has(link, (enum pim_need_axis)need))
            put_range(json, names[need], detail->range[need]);
    }
    pim_json_end(json);
}

static void put_data_spaces(struct pim_json *json, const struct pim_case *kase,
                            const struct pim_overlap_evaluation *evaluation)
{
    const struct pim_overlap_layer *from = &kase->layer[0], *layer = &kase->layer[1];
    struct pim_producer producer;
    pim_producer_initialize(&producer, &from->workload, &from->nest, &from->strides);
    pim_json_begin_array(json, "data_spaces");
    for (uint64_t i = 0; i < evaluation->data_spaces; i++) {
        struct detail detail = detail_of(&producer, layer, &evaluation->list[i]);
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "bank", evaluation->list[i].bank);
        pim_json_put_count(json, "step", evaluation->list[i].step);
        put_box(json, &layer->link[0], &detail);
        pim_json_put_integer(json, "ready_step", detail.ready);
        pim_json_put_integer(json, "ready_step_exact_points", detail.exact);
        pim_json_put_integer(json, "literal_min_corner", detail.literal);
        pim_json_put_count(json, "ready_time", evaluation->list[i].ready);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_counts(struct pim_json *json, const char *key, const uint64_t *counts, uint64_t count)
{
    pim_json_begin_array(json, key);
    for (uint64_t i = 0; i < count; i++)
        pim_json_put_count(json, NULL, counts[i]);
    pim_json_end(json);
}

static void put_rows(struct pim_json *json, const struct pim_overlap_evaluation *evaluation, uint64_t banks)
{
    pim_json_begin_array(json, "transformed_rows");
    for (uint64_t i = 0; i < evaluation->data_spaces; i++) {
        if (i % banks == 0)
            pim_json_begin_array(json, NULL);
        pim_json_begin_array(json, NULL);
        pim_json_put_count(json, NULL, evaluation->sorted[i].bank);
        pim_json_put_count(json, NULL, evaluation->sorted[i].step);
        pim_json_end(json);
        if (i % banks == banks - 1 || i + 1 == evaluation->data_spaces)
            pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_pair(struct pim_json *json, const struct pim_case *kase,
                     const struct pim_overlap_evaluation *evaluation)
{
    const struct pim_overlap_layer *from = &kase->layer[0], *layer = &kase->layer[1];
    pim_json_put_count(json, "producer_steps", from->strides.steps);
    pim_json_put_count(json, "producer_banks", from->strides.banks);
    pim_json_put_count(json, "consumer_steps", layer->strides.steps);
    pim_json_put_count(json, "consumer_banks", layer->strides.banks);
    put_counts(json, "producer_time_stride", from->strides.time, from->nest.loops);
    put_counts(json, "producer_space_stride", from->strides.space, from->nest.loops);
    put_counts(json, "producer_tile", from->strides.tile, from->nest.loops);
    pim_json_put_count(json, "reduction_tail", from->strides.tail);
    if (evaluation->list) {
        put_data_spaces(json, kase, evaluation);
        put_counts(json, "step_ready_time", evaluation->step_ready, layer->strides.steps);
    }
    pim_json_put_count(json, "sequential", evaluation->sequential);
    pim_json_put_count(json, "lockstep", evaluation->lockstep);
    if (evaluation->list)
        put_counts(json, "lockstep_step_end", evaluation->step_end, layer->strides.steps);
    pim_json_put_count(json, "per_bank", evaluation->per_bank);
    pim_json_put_count(json, "transformed", evaluation->transformed);
    pim_json_put_count(json, "consumer_data_spaces", evaluation->data_spaces);
    if (evaluation->list) {
        put_rows(json, evaluation, layer->strides.banks);
        pim_json_put_count(json, "moved_partial_sums", evaluation->moved);
    } else
        pim_json_put_boolean(json, "listed", false);
}

/* --- a chain --- */

static void put_triples(struct pim_json *json, const char *key, const struct pim_ready *list, uint64_t count)
{
    pim_json_begin_array(json, key);
    for (uint64_t i = 0; i < count; i++) {
        pim_json_begin_array(json, NULL);
        pim_json_put_count(json, NULL, list[i].bank);
        pim_json_put_count(json, NULL, list[i].step);
        pim_json_put_count(json, NULL, list[i].ready);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_chain(struct pim_json *json, const struct pim_case *kase,
                      const struct pim_overlap_evaluation *evaluations)
{
    const struct pim_overlap_evaluation *last = &evaluations[kase->layers - 1];
    if (kase->layers >= 2 && evaluations[kase->layers - 2].ends)
        put_triples(json, "middle_end", evaluations[kase->layers - 2].ends,
                    evaluations[kase->layers - 2].data_spaces);
    if (last->list)
        put_triples(json, "last_ready", last->list, last->data_spaces);
    pim_json_put_count(json, "sequential", pim_evaluation_sequential(kase));
    pim_json_put_count(json, "lockstep", last->lockstep);
    pim_json_begin_array(json, "layers");
    for (uint32_t i = 0; i < kase->layers; i++) {
        const struct pim_overlap_layer *layer = &kase->layer[i];
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", layer->name);
        pim_json_put_count(json, "steps", layer->strides.steps);
        pim_json_put_count(json, "banks", layer->strides.banks);
        pim_json_put_count(json, "data_spaces", evaluations[i].data_spaces);
        pim_json_put_count(json, "sequential", pim_overlap_sequential(layer));
        pim_json_put_count(json, "lockstep", evaluations[i].lockstep);
        pim_json_put_count(json, "per_bank", evaluations[i].per_bank);
        pim_json_put_count(json, "transformed", evaluations[i].transformed);
        pim_json_put_boolean(json, "is_transformed", layer->transformed);
        pim_json_put_count(json, "end", evaluations[i].schedule.end);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void print_text(const struct pim_case *kase, const struct pim_overlap_evaluation *evaluations,
                       FILE *file)
{
    fprintf(file, "%-24s %12s %10s %12s %14s %14s %14s %14s\n", "layer", "steps", "banks", "data spaces",
            "alone", "lock step", "per bank", "transformed");
    for (uint32_t i = 0; i < kase->layers; i++) {
        const struct pim_overlap_layer *layer = &kase->layer[i];
        fprintf(file,
                "%-24.24s %12" PRIu64 " %10" PRIu64 " %12" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
                " %14" PRIu64 "%s\n",
                layer->name, layer->strides.steps, layer->strides.banks, evaluations[i].data_spaces,
                pim_overlap_sequential(layer), evaluations[i].lockstep, evaluations[i].per_bank,
                evaluations[i].transformed, layer->transformed ? " (kept)" : "");
    }
    uint64_t end = 0;
    for (uint32_t i = 0; i < kase->layers; i++)
        end = evaluations[i].schedule.end > end ? evaluations[i].schedule.end : end;
    fprintf(file, "sequential %" PRIu64 ", overlapped %" PRIu64 " ticks\n", pim_evaluation_sequential(kase),
            end);
}

static enum pim_status print(const struct pim_case *kase, const struct pim_overlap_evaluation *evaluations,
                             const struct pim_case_options *options, FILE *file, struct pim_error *error)
{
    if (!options->json) {
        print_text(kase, evaluations, file);
        return PIM_OK;
    }
    struct pim_json *json = pim_json_create();
    if (!json)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory for the result");
    pim_json_put_text(json, "name", kase->name);
    if (kase->chain)
        put_chain(json, kase, evaluations);
    else
        put_pair(json, kase, &evaluations[1]);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}

/* Lists are kept of the layers whose data spaces are printed one by one. */
static bool lists(const struct pim_case *kase, uint32_t layer, const struct pim_case_options *options)
{
    const struct pim_strides *strides = &kase->layer[layer].strides;
    return !options->summary && (options->json || options->exhaustive) && layer + 2 >= kase->layers &&
           strides->steps * strides->banks <= LISTED;
}

static bool read_later(const struct pim_case *kase, uint32_t layer)
{
    for (uint32_t i = layer + 1; i < kase->layers; i++) {
        for (uint32_t j = 0; j < kase->layer[i].links; j++) {
            if (kase->layer[i].link[j].producer == layer)
                return true;
        }
    }
    return false;
}

enum pim_status pim_case_report(const struct pim_case *kase, const struct pim_case_options *options,
                                FILE *file, struct pim_error *error)
{
    struct pim_overlap_evaluation *evaluations = calloc(kase->layers, sizeof *evaluations);
    struct pim_schedule *schedules = calloc(kase->layers, sizeof *schedules);
    enum pim_status status =
        evaluations && schedules ? PIM_OK : pim_fail(error, PIM_NO_MEMORY, "%s: out of memory", kase->name);
    for (uint32_t i = 0; i < kase->layers && status == PIM_OK; i++) {
        struct pim_evaluate_options wanted = {.lists = lists(kase, i, options),
                                              .exhaustive = options->exhaustive,
                                              .read_later = read_later(kase, i)};
        status = pim_evaluate(kase, i, schedules, &wanted, &evaluations[i], error);
        evaluations[i].schedule = schedules[i];
    }
    if (status == PIM_OK)
        status = print(kase, evaluations, options, file, error);
    for (uint32_t i = 0; i < kase->layers; i++) {
        if (evaluations)
            pim_evaluation_terminate(&evaluations[i]);
        if (schedules)
            pim_schedule_terminate(&schedules[i]);
    }
    free(evaluations);
    free(schedules);
    return status;
}
