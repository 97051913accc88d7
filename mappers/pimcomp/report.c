/* Plans of the PIMCOMP mapping as a table and as JSON. */
#include "mappers/pimcomp/plan.h"

#include "mappers/pimcomp/layout/layout.h"
#include "mappers/pimcomp/layout/plan_file.h"
#include "mappers/pimcomp/partition/partition.h"
#include "mappers/verify/value.h"
#include "sim/output/json.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Different cores that hold groups of a layer. */
static uint32_t cores_of(const struct pim_core_plan *plan, uint32_t layer)
{
    uint32_t cores = 0;
    uint64_t places = (uint64_t)plan->layout.layer[layer].replicas * plan->partition.layer[layer].groups;
    bool *seen = calloc(plan->architecture.cores, sizeof *seen);
    if (!seen)
        abort();
    for (uint64_t i = 0; i < places; i++) {
        bool *core = &seen[plan->layout.layer[layer].core[i]];
        cores += !*core;
        *core = true;
    }
    free(seen);
    return cores;
}

/* What the program takes of the local memories. */
struct local_use {
    uint32_t cores;
    uint64_t peak, sum; /* bytes */
};

static struct local_use local_use(const struct pim_core_plan *plan)
{
    struct local_use use = {0};
    for (uint32_t i = 0; i < plan->architecture.cores; i++) {
        uint64_t bytes = plan->report.local_bytes[i];
        use.cores += bytes > 0;
        use.peak = bytes > use.peak ? bytes : use.peak;
        use.sum += bytes;
    }
    return use;
}

static uint32_t resident_maps(const struct pim_core_plan *plan)
{
    uint32_t resident = 0;
    for (uint32_t i = 0; plan->report.resident && i < plan->network.count; i++)
        resident += plan->report.resident[i];
    return resident;
}

static uint64_t arrays_of_all(const struct pim_core_plan *plan)
{
    return (uint64_t)plan->architecture.arrays * plan->architecture.cores;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

enum { NAME_MOST = 40 };

static void print_layers(const struct pim_core_plan *plan, FILE *file)
{
    int width = (int)strlen("layer");
    for (uint32_t i = 0; i < plan->network.count; i++) {
        int length = (int)strlen(plan->network.layer[i].name);
        width = length > width ? length : width;
    }
    width = width > NAME_MOST ? NAME_MOST : width;
    fprintf(file,
            "%-*s  kind     windows  matrix       unfolding  groups  arrays  replicas  cores      MVMs\n",
            width, "layer");
    for (uint32_t i = 0; i < plan->network.count; i++) {
        const struct pim_core_layer *layer = &plan->network.layer[i];
        const struct pim_core_partition_layer *part = &plan->partition.layer[i];
        char matrix[32] = "-";
        fprintf(file, "%-*.*s  %-7s  %7" PRIu32, width, width, layer->name,
                pim_core_layer_kind_name(layer->kind), layer->windows);
        if (layer->kind != PIM_CORE_MATRIX) {
            fputc('\n', file);
            continue;
        }
        (void)snprintf(matrix, sizeof matrix, "%" PRIu32 "x%" PRIu32, layer->rows, layer->channels);
        fprintf(file, "  %-11s  %-9s  %6" PRIu32 "  %6" PRIu32 "  %8" PRIu32 "  %5" PRIu32 "  %8" PRIu64 "\n",
                matrix, pim_unfolding_name(part->unfolding), part->groups, part->arrays,
                plan->layout.layer[i].replicas, cores_of(plan, i), plan->report.layer_mvms[i]);
    }
}

/* Layouts of one name carry a number. */
static void name_candidate(const struct pim_core_profile *profile, uint32_t index, char *text, size_t size)
{
    const struct pim_core_candidate *candidate = &profile->candidate[index];
    bool several = candidate->number > 1, others = false;
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *other = &profile->candidate[i];
        bool same = i != index && strcmp(other->name, candidate->name) == 0;
        several = several || (same && other->no_keeping == candidate->no_keeping);
        others = others || other->no_keeping != candidate->no_keeping;
    }
    char number[16] = "";
    if (several)
        (void)snprintf(number, sizeof number, " %" PRIu32, candidate->number);
    (void)snprintf(text, size, "%s%s%s", candidate->name, number,
                   others && candidate->no_keeping ? ", nothing kept" : "");
}

static void print_profile(const struct pim_core_profile *profile, FILE *file)
{
    char name[NAME_MOST];
    fprintf(file, "layouts: %" PRIu32 " timed; %s:", profile->timed,
            profile->candidate[profile->taken].simulated ? "simulated" : "estimated");
    const char *between = "";
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        if (candidate->left_out || (profile->candidate[profile->taken].simulated && !candidate->simulated))
            continue;
        name_candidate(profile, i, name, sizeof name);
        fprintf(file, "%s %s ", between, name);
        between = ";";
        if (candidate->refused)
            fputs("refused", file);
        else if (!candidate->simulated)
            fprintf(file, "%" PRIu64, candidate->estimate);
        else if (candidate->complete)
            fprintf(file, "%" PRIu64, candidate->cycles);
        else
            fputs("longer", file);
    }
    name_candidate(profile, profile->taken, name, sizeof name);
    fprintf(file, " cycles; taken: %s\n", name);
}

static void print_ranking(const struct pim_core_ranking *ranking, FILE *file)
{
    fprintf(file,
            "ranking: the %" PRIu32 " best of %" PRIu64 " timed layouts take %" PRIu64 " to %" PRIu64
            " cycles, the one with the least estimate %" PRIu64
            "; rank correlation %.4f, estimates %+.1f to %+.1f %% off\n",
            ranking->count, ranking->seen, ranking->fastest, ranking->slowest, ranking->first,
            ranking->correlation, ranking->error_least, ranking->error_most);
}

static uint64_t arrays_of_segment(const struct pim_core_segment *segment)
{
    uint64_t arrays = 0;
    for (uint32_t i = 0; i < segment->network.count; i++)
        arrays += (uint64_t)segment->layout.layer[i].replicas * segment->partition.layer[i].arrays;
    return arrays;
}

static void print_segments(const struct pim_core_plan *plan, FILE *file)
{
    for (uint32_t s = 0; s < plan->segments.count; s++) {
        const struct pim_core_segment *segment = &plan->segments.segment[s];
        uint64_t arrays = arrays_of_segment(segment);
        fprintf(file,
                "segment %" PRIu32 ": %s to %s, layout %s, %" PRIu64 " of %" PRIu64
                " arrays (%.1f %%), %" PRIu64 " bytes of weights written\n",
                s, plan->network.layer[segment->begin].name, plan->network.layer[segment->end - 1].name,
                segment->taken, arrays, arrays_of_all(plan), percent(arrays, arrays_of_all(plan)),
                segment->weight_bytes);
    }
}

static double compile_seconds(const struct pim_core_plan *plan)
{
    return plan->partition_seconds + plan->layout_seconds + plan->profile_seconds + plan->schedule_seconds;
}

/* By what, a limit or the user: then the plan depends on more than its options. */
static const char *ended_early(const struct pim_core_plan *plan)
{
    return plan->searched ? pim_search_end_cause(plan->search.end) : NULL;
}

static void print_heading(const struct pim_core_plan *plan, FILE *file)
{
    const struct pim_core_architecture *a = &plan->architecture;
    fprintf(file,
            "%s on %" PRIu32 " x %" PRIu32 " cores of %" PRIu32 " arrays of %" PRIu32 "x%" PRIu32
            " weights, mode %s, ",
            plan->network.name, a->width, a->height, a->arrays, a->array_rows, a->array_columns, plan->mode);
    if (strcmp(plan->baseline, "none") == 0 && strcmp(plan->method, plan->taken) == 0)
        fprintf(file, "layout %s\n", plan->method);
    else if (strcmp(plan->baseline, "none") == 0)
        fprintf(file, "layout %s: %s\n", plan->method, plan->taken);
    else
        fprintf(file, "baseline %s\n", plan->baseline);
}

static void print_arrays(const struct pim_core_plan *plan, FILE *file)
{
    const uint64_t used = pim_core_layout_arrays(&plan->mapping);
    if (plan->segments.count > 0)
        fprintf(file,
                "segments: %" PRIu32 ", a batch of %" PRIu64 "; one replica of each layer takes %" PRIu64
                " arrays\n",
                plan->segments.count, plan->batch ? plan->batch : 1, plan->partition.arrays);
    else
        fprintf(file,
                "arrays: %" PRIu64 " of %" PRIu64 " (%.1f %%) in %" PRIu32 " of %" PRIu32
                " cores; one replica of each layer takes %" PRIu64 "\n",
                used, arrays_of_all(plan), percent(used, arrays_of_all(plan)), local_use(plan).cores,
                plan->architecture.cores, plan->partition.arrays);
}

static void print_program(const struct pim_core_plan *plan, FILE *file)
{
    const struct pim_core_schedule_report *report = &plan->report;
    const struct pim_core_counts *counts = &report->counts;
    fprintf(file,
            "program: %" PRIu64 " instructions, %" PRIu64 " MVMs, %" PRIu64 " messages of %" PRIu64
            " bytes; %" PRIu64 " bytes loaded, %" PRIu64 " stored\n",
            counts->instructions, counts->mvms, counts->messages, counts->sent_bytes, counts->loaded_bytes,
            counts->stored_bytes);
    if (plan->mapping.mode == PIM_CORE_HIGH_THROUGHPUT)
        fprintf(file,
                "pipeline: %" PRIu32 " groups of layers, %" PRIu32 " rounds%s; %" PRIu32
                " maps stay on chip\n",
                report->groups, report->rounds, plan->batch == 0 ? " (saturated)" : "", resident_maps(plan));
    fprintf(file,
            "memory: at most %" PRIu64 " of %" PRIu64 " bytes of a local memory, %" PRIu64
            " bytes of the global memory\n",
            local_use(plan).peak, plan->architecture.local_memory_bytes, plan->map.bytes);
}

static void print_search(const struct pim_core_plan *plan, FILE *file)
{
    if (plan->searched)
        fprintf(file,
                "search: %" PRIu32 " generations, %" PRIu64 " layouts evaluated; estimate from %" PRIu64
                " to %" PRIu64 " cycles\n",
                plan->search.generations, plan->search.evaluations, plan->search.first.cycles,
                plan->search.best.cycles);
    pim_search_print_early("search: ", ended_early(plan), "\n", file);
    if (plan->profile.count)
        print_profile(&plan->profile, file);
    if (plan->ranking.most)
        print_ranking(&plan->ranking, file);
}

void pim_core_plan_print(const struct pim_core_plan *plan, FILE *file)
{
    print_heading(plan, file);
    print_layers(plan, file);
    print_segments(plan, file);
    print_arrays(plan, file);
    print_program(plan, file);
    fprintf(file, "estimate: %" PRIu64 " cycles\n", plan->estimate_cycles);
    print_search(plan, file);
    if (plan->checked)
        fprintf(file,
                "values: %" PRIu64 " elements of %" PRIu32
                " layers are those of the direct evaluation (%" PRIu64 " instructions executed)\n",
                plan->check.elements, plan->check.layers, plan->check.counts.instructions);
    fprintf(file, "compiled in %.2f s: partition %.2f, layout %.2f, simulations %.2f, schedule %.2f\n",
            compile_seconds(plan), plan->partition_seconds, plan->layout_seconds, plan->profile_seconds,
            plan->schedule_seconds);
}

/* --- JSON --- */

static void put_segments(struct pim_json *json, const struct pim_core_plan *plan)
{
    pim_json_begin_array(json, "segments");
    for (uint32_t s = 0; s < plan->segments.count; s++) {
        const struct pim_core_segment *segment = &plan->segments.segment[s];
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "first_layer", plan->network.layer[segment->begin].name);
        pim_json_put_text(json, "last_layer", plan->network.layer[segment->end - 1].name);
        pim_json_put_text(json, "layout", segment->taken);
        pim_json_put_count(json, "arrays", arrays_of_segment(segment));
        pim_json_put_count(json, "weight_bytes", segment->weight_bytes);
        pim_json_put_count(json, "write_cycles", segment->write_cycles);
        pim_json_put_count(json, "round_cycles", segment->round_cycles);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_layers(struct pim_json *json, const struct pim_core_plan *plan)
{
    pim_json_begin_array(json, "layers");
    for (uint32_t i = 0; i < plan->network.count; i++) {
        const struct pim_core_layer *layer = &plan->network.layer[i];
        const struct pim_core_partition_layer *part = &plan->partition.layer[i];
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", layer->name);
        pim_json_put_text(json, "kind", pim_core_layer_kind_name(layer->kind));
        pim_json_put_count(json, "windows", layer->windows);
        pim_json_put_count(json, "channels", layer->channels);
        if (layer->kind == PIM_CORE_MATRIX) {
            pim_json_put_count(json, "rows", layer->rows);
            pim_json_put_text(json, "unfolding", pim_unfolding_name(part->unfolding));
            pim_json_put_count(json, "groups", part->groups);
            pim_json_put_count(json, "arrays", part->arrays);
            pim_core_layout_write(json, part, &plan->layout.layer[i]);
            pim_json_put_count(json, "cores", cores_of(plan, i));
            pim_json_put_count(json, "mvms", plan->report.layer_mvms[i]);
        }
        if (plan->report.resident)
            pim_json_put_boolean(json, "on_chip", plan->report.resident[i]);
        if (plan->report.group)
            pim_json_put_count(json, "layer_group", plan->report.group[i]);
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_counts(struct pim_json *json, const struct pim_core_counts *counts)
{
    pim_json_put_count(json, "instructions", counts->instructions);
    pim_json_put_count(json, "mvms", counts->mvms);
    pim_json_put_count(json, "messages", counts->messages);
    pim_json_put_count(json, "sent_bytes", counts->sent_bytes);
    pim_json_put_count(json, "loaded_bytes", counts->loaded_bytes);
    pim_json_put_count(json, "stored_bytes", counts->stored_bytes);
    pim_json_put_count(json, "copied_bytes", counts->copied_bytes);
    pim_json_put_count(json, "written_bytes", counts->written_bytes);
    pim_json_put_count(json, "vector_elements", counts->vector_elements);
}

static void put_memory(struct pim_json *json, const struct pim_core_plan *plan)
{
    const struct local_use use = local_use(plan);
    pim_json_put_count(json, "peak_local_bytes", use.peak);
    pim_json_put_count(json, "all_local_bytes", use.sum);
    pim_json_put_count(json, "local_memory_bytes", plan->architecture.local_memory_bytes);
    pim_json_put_count(json, "global_bytes", plan->map.bytes);
}

/* The layouts that were timed; those that were simulated and took no longer than the one with the best
 * estimate have cycles. */
static void put_ranking(struct pim_json *json, const struct pim_core_ranking *ranking)
{
    pim_json_begin_object(json, "ranking");
    pim_json_put_count(json, "timed", ranking->seen);
    pim_json_put_real(json, "rank_correlation", ranking->correlation);
    pim_json_begin_array(json, "layouts");
    for (uint32_t i = 0; i < ranking->count; i++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_count(json, "estimate", ranking->best[i].estimate);
        pim_json_put_count(json, "cycles", ranking->best[i].cycles);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_end(json);
}

static void put_profile(struct pim_json *json, const struct pim_core_profile *profile)
{
    pim_json_put_count(json, "timed", profile->timed);
    pim_json_begin_array(json, "candidates");
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct pim_core_candidate *candidate = &profile->candidate[i];
        char name[NAME_MOST];
        name_candidate(profile, i, name, sizeof name);
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "layout", name);
        if (pim_core_candidate_is_timed(candidate))
            pim_json_put_count(json, "estimate", candidate->estimate);
        if (candidate->simulated && candidate->complete)
            pim_json_put_count(json, "cycles", candidate->cycles);
        pim_json_put_text(json, "outcome",
                          candidate->left_out     ? "not timed"
                          : candidate->refused    ? "refused"
                          : i == profile->taken   ? "taken"
                          : !candidate->simulated ? "estimated"
                          : !candidate->complete  ? "longer"
                                                  : "left");
        pim_json_end(json);
    }
    pim_json_end(json);
}

static void put_seconds(struct pim_json *json, const struct pim_core_plan *plan)
{
    pim_json_begin_object(json, "compile_seconds");
    pim_json_put_real(json, "partition", plan->partition_seconds);
    pim_json_put_real(json, "layout", plan->layout_seconds);
    pim_json_put_real(json, "simulations", plan->profile_seconds);
    pim_json_put_real(json, "schedule", plan->schedule_seconds);
    pim_json_put_real(json, "total", compile_seconds(plan));
    pim_json_end(json);
}

enum pim_status pim_core_plan_write_json(const struct pim_core_plan *plan, FILE *file,
                                         struct pim_error *error)
{
    struct pim_json *json = pim_json_create();
    PIM_NEED_MEMORY(json, error, "out of memory for the plan");
    pim_json_put_text(json, "network", plan->network.name);
    pim_json_put_text(json, "mode", plan->mode);
    pim_json_put_text(json, "layout", plan->method);
    pim_json_put_text(json, "layout_taken", plan->taken);
    pim_json_put_text(json, "baseline", plan->baseline);
    if (plan->mapping.mode == PIM_CORE_HIGH_THROUGHPUT)
        pim_json_put_boolean(json, "nothing_kept", plan->nothing_kept);
    put_layers(json, plan);
    pim_json_put_count(json, "cores", plan->architecture.cores);
    pim_json_put_count(json, "cores_used", local_use(plan).cores);
    pim_json_put_count(json, "arrays", arrays_of_all(plan));
    pim_json_put_count(json, "arrays_used", pim_core_layout_arrays(&plan->mapping));
    pim_json_put_count(json, "arrays_of_one_replica", plan->partition.arrays);
    pim_json_put_count(json, "macs", plan->macs);
    pim_json_put_count(json, "mapped_macs", plan->partition.macs);
    if (plan->segments.count > 0)
        put_segments(json, plan);
    put_counts(json, &plan->report.counts);
    pim_json_put_count(json, "layer_groups", plan->report.groups);
    pim_json_put_count(json, "rounds", plan->report.rounds);
    pim_json_put_count(json, "batch", plan->batch);
    put_memory(json, plan);
    pim_json_put_count(json, "estimate_cycles", plan->estimate_cycles);
    pim_json_begin_object(json, "estimate_parts");
    for (unsigned part = 0; part < PIM_ESTIMATE_PARTS; part++)
        pim_json_put_count(json, pim_estimate_part_name(part), plan->estimate_parts[part]);
    pim_json_end(json);
    if (plan->searched) {
        pim_json_put_count(json, "generations", plan->search.generations);
        pim_json_put_count(json, "evaluations", plan->search.evaluations);
        pim_json_put_count(json, "first_fitness", plan->search.first.cycles);
        pim_json_put_count(json, "fitness", plan->search.best.cycles);
        pim_search_put_early(ended_early(plan), json);
    }
    if (plan->profile.count)
        put_profile(json, &plan->profile);
    if (plan->ranking.most)
        put_ranking(json, &plan->ranking);
    if (plan->checked) {
        pim_json_put_count(json, "checked_layers", plan->check.layers);
        pim_json_put_count(json, "checked_elements", plan->check.elements);
    }
    put_seconds(json, plan);
    enum pim_status status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    return status;
}
