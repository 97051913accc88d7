/* What is tuned: tuning.h. */
#include "include/pimsim/pimsim.h"
#include "models/system/schema.h"
#include "sim/output/json.h"
#include "tools/library/words.h"
#include "tools/tune/tuning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum pim_status pim_tuning_no_memory(struct pim_error *error)
{
    return pim_fail(error, PIM_NO_MEMORY, "out of memory for the tuner");
}

/* "../vgg16.cfg" -> "vgg16"; a network stands once. */
static enum pim_status make_labels(struct pim_tuning *tuning, struct pim_error *error)
{
    const struct pim_tune_request *request = tuning->request;
    struct pim_tune_subject *subject = &tuning->subject;
    if (request->network_count == 0 || request->network_count > PIM_TUNE_NETWORKS_MOST)
        return pim_fail(error, PIM_USAGE, "%zu networks: 1 to %d are possible", request->network_count,
                        PIM_TUNE_NETWORKS_MOST);
    subject->labels = calloc(request->network_count, sizeof *subject->labels);
    if (!subject->labels)
        return pim_tuning_no_memory(error);
    for (size_t i = 0; i < request->network_count; i++) {
        const char *name = pim_sweep_label(request->networks[i]);
        size_t length = strlen(name);
        length -= length > 4 && strcmp(name + length - 4, ".cfg") == 0 ? 4 : 0;
        subject->labels[i] = strndup(name, length);
        if (!subject->labels[i])
            return pim_tuning_no_memory(error);
        subject->networks++;
        for (size_t j = 0; j < i; j++)
            if (strcmp(subject->labels[j], subject->labels[i]) == 0)
                return pim_fail(error, PIM_USAGE, "%s stands twice among the networks", subject->labels[i]);
    }
    return PIM_OK;
}

/* A mapper that is misspelt is told before any network is tried. */
static enum pim_status check_mapper(const char *mapper, struct pim_error *error)
{
    struct pim_map_words words;
    if (pim_map_words_parse(mapper, &words, error) != PIM_OK)
        return pim_fail_in(error, "mapper \"%.60s\"", mapper);
    pim_map_words_terminate(&words);
    return PIM_OK;
}

static enum pim_status read_space(struct pim_tuning *tuning, struct pim_error *error)
{
    struct pim_tune_constraints *constraints = &tuning->constraints;
    struct pim_configuration *base;
    if (pim_tune_constraints_read(tuning->request->constraints, constraints, error) != PIM_OK ||
        pim_configuration_create(&pim_hardware_schema, &base, error) != PIM_OK)
        return error->status;
    if (pim_configuration_read_file(base, constraints->hardware, error) != PIM_OK ||
        pim_configuration_complete(base, error) != PIM_OK) {
        pim_configuration_destroy(base);
        return error->status;
    }
    if (pim_tune_space_initialize(&tuning->space, base, &constraints->bounds, constraints->reading, error) !=
            PIM_OK ||
        pim_tune_constraints_check(constraints, &tuning->space, error) != PIM_OK)
        return pim_fail_in(error, "%s", tuning->request->constraints);
    return PIM_OK;
}

static void put_space(struct pim_json *json, const struct pim_tuning *tuning)
{
    const struct pim_tune_bounds *bounds = &tuning->constraints.bounds;
    const uint32_t ends[] = {bounds->node_least, bounds->node_most,    bounds->pe_least,
                             bounds->pe_most,    bounds->buffer_least, bounds->buffer_most};
    pim_json_put_text(json, "configuration", tuning->space.base_text);
    pim_json_put_real(json, "budget_mm2", tuning->constraints.budget);
    pim_json_put_text(json, "reading", pim_area_reading_text(tuning->constraints.reading));
    pim_json_begin_array(json, "bounds");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        pim_json_put_count(json, NULL, ends[i]);
    pim_json_end(json);
}

static enum pim_status put_networks(struct pim_json *json, const struct pim_tuning *tuning,
                                    struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    pim_json_begin_array(json, "networks");
    for (size_t i = 0; status == PIM_OK && i < tuning->subject.networks; i++) {
        struct pim_sweep_source source = {.network = strdup(tuning->request->networks[i])};
        char *content = NULL;
        status = source.network ? pim_sweep_network_content(&tuning->sweep, &source, NULL, &content, error)
                                : pim_tuning_no_memory(error);
        free(source.network);
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "network", tuning->subject.labels[i]);
        pim_json_put_text(json, "content", content ? content : "");
        pim_json_end(json);
        free(content);
    }
    pim_json_end(json);
    return status;
}

/* All that results depend on but the number of iterations: a search may go on for longer. */
static enum pim_status identify(struct pim_tuning *tuning, struct pim_error *error)
{
    const struct pim_tune_request *request = tuning->request;
    struct pim_json *json = pim_json_create();
    size_t size = 0;
    FILE *file = json ? open_memstream(&tuning->sweep.identity, &size) : NULL;
    if (!file) {
        pim_json_destroy(json);
        return pim_tuning_no_memory(error);
    }
    pim_json_put_text(json, "pimsim", pimsim_version());
    pim_json_put_text(json, "goal", request->goal);
    pim_json_put_text(json, "method", pim_tune_method_name(request->method));
    pim_json_put_text(json, "fidelity", pim_tune_fidelity_name(request->fidelity));
    pim_json_put_boolean(json, "ladder", request->ladder);
    pim_json_put_text(json, "mapper", request->mapper);
    pim_json_put_count(json, "tuner_seed", request->seed);
    pim_json_put_count(json, "candidates", request->candidates);
    put_space(json, tuning);
    enum pim_status status = put_networks(json, tuning, error);
    pim_json_begin_array(json, "axes");
    pim_json_begin_object(json, NULL);
    for (size_t i = 0; i < tuning->sweep.axes[0].key_count; i++) {
        pim_json_begin_array(json, tuning->sweep.axes[0].keys[i].name);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_end(json);
    if (status == PIM_OK)
        status = pim_json_write(json, file, error);
    pim_json_destroy(json);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_tuning_no_memory(error);
    return status;
}

enum pim_status pim_tuning_define(struct pim_tuning *tuning, struct pim_error *error)
{
    const struct pim_tune_request *request = tuning->request;
    struct pim_sweep *sweep = &tuning->sweep;
    char name[128];
    if (pim_tune_goal_parse(request->goal, &tuning->subject.goal, error) != PIM_OK ||
        check_mapper(request->mapper, error) != PIM_OK || make_labels(tuning, error) != PIM_OK ||
        read_space(tuning, error) != PIM_OK)
        return error->status;
    tuning->subject.space = &tuning->space;
    tuning->subject.fidelity = request->fidelity;
    tuning->subject.fidelities = request->ladder ? (1U << PIM_TUNE_FIDELITIES) - 1 : 1U << request->fidelity;
    const struct pim_tune_strategy_options options = {.space = &tuning->space,
                                                      .budget = tuning->constraints.budget,
                                                      .method = request->method,
                                                      .seed = request->seed,
                                                      .candidates = (size_t)request->candidates,
                                                      .epochs = PIM_TUNE_EPOCHS,
                                                      .threads = request->threads};
    (void)snprintf(name, sizeof name, "%s, %s, seed %" PRIu64, pim_tune_method_name(request->method),
                   pim_tune_fidelity_name(request->fidelity), request->seed);
    sweep->name = strdup(name);
    sweep->seed = request->seed;
    sweep->numbers = request->iterations;
    if (!sweep->name)
        return pim_tuning_no_memory(error);
    if (pim_tune_add_axis(sweep, request->iterations, error) != PIM_OK || identify(tuning, error) != PIM_OK)
        return error->status;
    tuning->outcomes = calloc(request->iterations, sizeof *tuning->outcomes);
    tuning->evaluations = calloc(request->iterations * tuning->subject.networks, sizeof *tuning->evaluations);
    if (!tuning->outcomes || !tuning->evaluations)
        return pim_tuning_no_memory(error);
    for (uint64_t i = 0; i < request->iterations; i++)
        tuning->outcomes[i].network = &tuning->evaluations[i * tuning->subject.networks];
    return pim_tune_strategy_create(&options, &tuning->strategy, error);
}
