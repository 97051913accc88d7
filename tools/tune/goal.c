#include "tools/tune/goal.h"

#include "mappers/learn/elementary.h"

#include <stdbool.h>
#include <string.h>

struct reading {
    const char *text, *at;
    struct pim_error *error;
};

static enum pim_status expected(const struct reading *reading, const char *what)
{
    return pim_fail(reading->error, PIM_BAD_INPUT, "goal \"%.*s\": %s expected at character %zu%s%.20s",
                    PIM_TUNE_GOAL_MOST, reading->text, what, (size_t)(reading->at - reading->text) + 1,
                    *reading->at ? ", before " : ", where it ends", reading->at);
}

static void skip_blanks(struct reading *reading)
{
    while (*reading->at == ' ' || *reading->at == '\t')
        reading->at++;
}

static bool take(struct reading *reading, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(reading);
    if (strncmp(reading->at, word, length) != 0)
        return false;
    reading->at += length;
    return true;
}

/* Digits, with a point among them; at most six of them matter, so that all values are exact decimals. */
static enum pim_status read_exponent(struct reading *reading, double *exponent)
{
    double value = 0, scale = 1;
    bool point = false, digits = false;
    skip_blanks(reading);
    const char *begin = reading->at;
    for (; (*reading->at >= '0' && *reading->at <= '9') || (*reading->at == '.' && !point); reading->at++) {
        if (*reading->at == '.') {
            point = true;
            continue;
        }
        digits = true;
        value = 10 * value + (*reading->at - '0');
        scale *= point ? 10 : 1;
        if (value > 1e9 || scale > 1e6)
            break;
    }
    *exponent = value / scale;
    if (!digits || value > 1e9 || scale > 1e6 || *exponent > PIM_TUNE_EXPONENT_MOST) {
        reading->at = begin;
        return expected(reading, "a number from 0 to 8 with at most six decimals");
    }
    return PIM_OK;
}

static enum pim_status read_factor(struct reading *reading, struct pim_tune_goal *goal, bool given[2])
{
    skip_blanks(reading);
    const char *begin = reading->at;
    bool energy = take(reading, "energy"), latency = !energy && take(reading, "latency");
    if ((!energy && !latency) || given[latency]) {
        reading->at = begin;
        return expected(reading, given[0] && given[1] ? "an end"
                                 : given[0]           ? "latency"
                                 : given[1]           ? "energy"
                                                      : "energy or latency");
    }
    given[latency] = true;
    double *exponent = energy ? &goal->energy : &goal->latency;
    *exponent = 1;
    return take(reading, "^") ? read_exponent(reading, exponent) : PIM_OK;
}

enum pim_status pim_tune_goal_parse(const char *text, struct pim_tune_goal *goal, struct pim_error *error)
{
    struct reading reading = {.text = text, .at = text, .error = error};
    bool given[2] = {false, false};
    *goal = (struct pim_tune_goal){0, 0};
    if (strlen(text) > PIM_TUNE_GOAL_MOST)
        return pim_fail(error, PIM_BAD_INPUT, "a goal of more than %d characters", PIM_TUNE_GOAL_MOST);
    do
        if (read_factor(&reading, goal, given) != PIM_OK)
            return error->status;
    while (take(&reading, "*"));
    skip_blanks(&reading);
    if (*reading.at)
        return expected(&reading, given[0] && given[1] ? "an end" : "* or an end");
    if (!(goal->energy > 0) && !(goal->latency > 0))
        return pim_fail(error, PIM_BAD_INPUT,
                        "goal \"%s\": all exponents are 0, so that all architectures are equally good", text);
    return PIM_OK;
}

static double power(double base, double exponent)
{
    double product = 1;
    int whole = (int)exponent;
    if ((double)whole != exponent)
        return base > 0 ? pim_exponential(exponent * pim_logarithm(base)) : 0;
    for (; whole > 0; whole--)
        product *= base;
    return product;
}

double pim_tune_cost(const struct pim_tune_goal *goal, double energy_pj, double time_ns)
{
    return power(energy_pj / 1e9, goal->energy) * power(time_ns / 1e6, goal->latency);
}
