/* Estimators and verdicts for people, and as JSON. */
#include "mappers/conflict/estimators/study.h"

#include <inttypes.h>
#include <math.h>

/* Verdicts first to last - 1. */
struct part {
    const struct pim_tile_study *study;
    uint32_t first, last;
};

/* Mean over the populations of a sort for which it is a number; NAN: there is none. */
static double mean(const struct part *part, enum pim_tile_sort sort,
                   double (*value)(const struct pim_tile_judgement *), unsigned fitness)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = part->first; i < part->last; i++) {
        const struct pim_tile_verdict *verdict = &part->study->verdict[i];
        double one = value(&verdict->of[fitness]);
        if (verdict->population->sort == sort && isfinite(one)) {
            sum += one;
            count++;
        }
    }
    return count > 0 ? sum / count : nan("");
}

static double correlation(const struct pim_tile_judgement *judgement)
{
    return judgement->correlation;
}

static double rank_correlation(const struct pim_tile_judgement *judgement)
{
    return judgement->rank_correlation;
}

static double regret(const struct pim_tile_judgement *judgement)
{
    return 100 * judgement->regret;
}

static void print_number(FILE *file, double value, int width, int digits)
{
    if (isnan(value))
        fprintf(file, "%*s", width, "-");
    else
        fprintf(file, "%*.*f", width, digits, value);
}

static void print_table(const struct part *part, FILE *file)
{
    fprintf(file, "%20s", "");
    for (unsigned sort = 0; sort < PIM_TILE_SORTS; sort++)
        fprintf(file, " | %22s", pim_tile_sort_name(sort));
    fprintf(file, "\n%-20s", "fitness");
    for (unsigned sort = 0; sort < PIM_TILE_SORTS; sort++)
        fprintf(file, " | %6s %6s %8s", "r", "rank r", "regret %");
    fprintf(file, "\n");
    for (unsigned fitness = 0; fitness < PIM_TILE_FITNESSES; fitness++) {
        fprintf(file, "%-20s", pim_tile_fitness_name(fitness));
        for (unsigned sort = 0; sort < PIM_TILE_SORTS; sort++) {
            fprintf(file, " | ");
            print_number(file, mean(part, (enum pim_tile_sort)sort, correlation, fitness), 6, 2);
            print_number(file, mean(part, (enum pim_tile_sort)sort, rank_correlation, fitness), 7, 2);
            print_number(file, mean(part, (enum pim_tile_sort)sort, regret, fitness), 9, 1);
        }
        fprintf(file, "\n");
    }
}

void pim_tile_study_print(const struct pim_tile_study *study, FILE *file)
{
    const struct pim_tile_weights *weights = &study->weights;
    uint32_t seen = weights->populations - weights->held_out;
    uint64_t mappings = 0;
    for (uint32_t p = 0; p < seen; p++)
        mappings += weights->population[p].count;
    fprintf(file,
            "estimators           of %s, pimsim %s: %" PRIu32 " populations, %" PRIu64 " mappings, %" PRIu32
            " epochs, seed %" PRIu64 "\n",
            weights->network, weights->version, seen, mappings, weights->epochs, weights->seed);
    const struct part parts[] = {{study, 0, study->seen}, {study, study->seen, study->verdicts}};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t count = parts[i].last - parts[i].first;
        if (count == 0)
            continue;
        fprintf(file,
                "judged on            %" PRIu32
                " %s: correlation with the latency, of ranks, loss of the pick\n\n",
                count,
                i == 0 ? "populations that they were trained on" : "populations that they have not seen");
        print_table(&parts[i], file);
        fprintf(file, "\n");
    }
}

static void put_verdict(const struct pim_tile_verdict *verdict, struct pim_json *json)
{
    pim_json_begin_object(json, NULL);
    pim_json_put_text(json, "sort", pim_tile_sort_name(verdict->population->sort));
    pim_json_put_count(json, "seed", verdict->population->seed);
    pim_json_put_count(json, "generations", verdict->population->generations);
    pim_json_put_count(json, "mappings", verdict->population->count);
    pim_json_put_count(json, "left_out", verdict->population->still);
    pim_json_put_real(json, "fastest_ns", verdict->fastest_ns);
    pim_json_put_real(json, "slowest_ns", verdict->slowest_ns);
    pim_json_begin_array(json, "fitness");
    for (unsigned fitness = 0; fitness < PIM_TILE_FITNESSES; fitness++) {
        pim_json_begin_object(json, NULL);
        pim_json_put_text(json, "name", pim_tile_fitness_name(fitness));
        pim_json_put_real(json, "correlation", verdict->of[fitness].correlation);
        pim_json_put_real(json, "rank_correlation", verdict->of[fitness].rank_correlation);
        pim_json_put_real(json, "regret", verdict->of[fitness].regret);
        pim_json_end(json);
    }
    pim_json_end(json);
    pim_json_end(json);
}

void pim_tile_study_put(const struct pim_tile_study *study, struct pim_json *json)
{
    const struct pim_tile_weights *weights = &study->weights;
    pim_json_begin_object(json, "estimators");
    pim_json_put_text(json, "pimsim", weights->version);
    pim_json_put_text(json, "network", weights->network);
    pim_json_put_text(json, "graph", weights->graph);
    pim_json_put_count(json, "seed", weights->seed);
    pim_json_put_count(json, "epochs", weights->epochs);
    pim_json_put_count(json, "populations", weights->populations - weights->held_out);
    pim_json_begin_array(json, "seen");
    for (uint32_t i = 0; i < study->seen; i++)
        put_verdict(&study->verdict[i], json);
    pim_json_end(json);
    pim_json_begin_array(json, "unseen");
    for (uint32_t i = study->seen; i < study->verdicts; i++)
        put_verdict(&study->verdict[i], json);
    pim_json_end(json);
    pim_json_end(json);
}
