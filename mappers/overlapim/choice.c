#include "mappers/overlapim/choice.h"

#include "mappers/overlapim/emit/emit.h"

/* A series with what decides about it. */
struct contender {
    enum pim_series series;
    bool fits; /* its words are held by the rows of a bank, where they are real */
    uint64_t estimate;
};

static bool before(const struct contender *a, const struct contender *b)
{
    return a->fits != b->fits ? a->fits : a->estimate < b->estimate;
}

/* Contenders, those that there are, the shortest estimates first; of equal ones, as they are listed. */
static unsigned line_up(struct pim_overlapim_plan *plan, const enum pim_series *list, unsigned count,
                        struct contender *contenders)
{
    unsigned all = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!pim_overlapim_has(plan, list[i]))
            continue;
        struct pim_error ignored = {PIM_OK, ""};
        struct contender contender = {.series = plan->series = list[i],
                                      .estimate = pim_overlapim_cycles(plan, list[i])};
        contender.fits = pim_overlapim_rows_fit(plan, &ignored) == PIM_OK;
        unsigned place = all++;
        for (; place > 0 && before(&contender, &contenders[place - 1]); place--)
            contenders[place] = contenders[place - 1];
        contenders[place] = contender;
    }
    return all;
}

/* The same nests in the same rows: a trace of the one is a trace of the other. */
static bool same(const struct pim_overlapim_plan *plan, enum pim_series one, enum pim_series other)
{
    const struct pim_layer_mapping *a = pim_overlapim_mappings(plan, one),
                                   *b = pim_overlapim_mappings(plan, other);
    if (pim_overlapim_transformed(plan, one) != pim_overlapim_transformed(plan, other))
        return false;
    for (uint32_t i = 0; i < plan->layers.count; i++) {
        if (a[i].nest.loops != b[i].nest.loops || a[i].nest.cut != b[i].nest.cut)
            return false;
        for (uint32_t j = 0; j < a[i].nest.loops; j++) {
            const struct pim_nest_loop *x = &a[i].nest.loop[j], *y = &b[i].nest.loop[j];
            if (x->dimension != y->dimension || x->spatial != y->spatial || x->level != y->level ||
                x->count != y->count)
                return false;
        }
    }
    return true;
}

/* Cycles of contender `index`, simulated once for all that are the same. */
static enum pim_status measure(struct pim_overlapim_plan *plan, const struct contender *contenders,
                               unsigned index, pim_series_simulate *simulate, void *context, uint64_t *cycles,
                               struct pim_error *error)
{
    plan->series = contenders[index].series;
    *cycles = 0;
    bool ends = false; /* of one that is the same */
    for (unsigned i = 0; i < index && *cycles == 0; i++) {
        const enum pim_series known = contenders[i].series;
        *cycles = same(plan, known, plan->series) ? plan->simulated[known] : 0;
        ends = *cycles > 0 && plan->ends[known];
    }
    if (ends && pim_overlapim_take_ends(plan, error) != PIM_OK)
        return error->status;
    enum pim_status status = *cycles > 0 ? PIM_OK : simulate(context, cycles, error);
    plan->simulated[plan->series] = status == PIM_OK ? *cycles : 0;
    return status;
}

static bool third_apart(const struct contender *shortest, const struct contender *other)
{
    return 3 * other->estimate >= 4 * shortest->estimate;
}

static unsigned place_of(const enum pim_series *list, enum pim_series series)
{
    unsigned place = 0;
    while (list[place] != series)
        place++;
    return place;
}

static enum pim_status simulate_all(struct pim_overlapim_plan *plan, const enum pim_series *list,
                                    const struct contender *contenders, unsigned count,
                                    pim_series_simulate *simulate, void *context, enum pim_series *fastest,
                                    struct pim_error *error)
{
    const struct contender *shortest = NULL; /* of those that have a trace */
    uint64_t least = UINT64_MAX, cycles;
    for (unsigned i = 0; i < count && !(shortest && third_apart(shortest, &contenders[i])); i++) {
        if (contenders[i].series == PIM_SERIES_WIDE && least <= contenders[i].estimate)
            continue;
        enum pim_status status = measure(plan, contenders, i, simulate, context, &cycles, error);
        if (status == PIM_BAD_INPUT || status == PIM_IO) /* said when it is written after all */
            *error = (struct pim_error){.status = PIM_OK};
        else if (status != PIM_OK)
            return status;
        if (status == PIM_IO) /* nothing more is simulated: the fastest of those that were */
            return PIM_OK;
        if (status == PIM_BAD_INPUT)
            continue;
        shortest = shortest ? shortest : &contenders[i];
        if (cycles < least ||
            (cycles == least && place_of(list, contenders[i].series) < place_of(list, *fastest))) {
            least = cycles;
            *fastest = contenders[i].series;
        }
    }
    return PIM_OK;
}

enum pim_status pim_series_choose(struct pim_overlapim_plan *plan, const enum pim_series *list,
                                  unsigned count, pim_series_simulate *simulate, void *context,
                                  struct pim_error *error)
{
    struct contender contenders[PIM_SERIES] = {0};
    count = line_up(plan, list, count, contenders);
    enum pim_series fastest = contenders[0].series;
    const bool apart =
        count == 1 || third_apart(&contenders[0], &contenders[1]) || contenders[0].fits != contenders[1].fits;
    enum pim_status status = PIM_OK;
    if (simulate && !apart)
        status = simulate_all(plan, list, contenders, count, simulate, context, &fastest, error);
    plan->series = fastest;
    return status;
}
