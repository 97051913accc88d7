/*
 * Layers whose groups have folds: (I, O K^2, 1) and (I K, O K, 1) of Table IV. One MVM applies an input
 * vector to every position of the kernel that it can take (all of them; a column of them), so its outputs
 * belong to several windows. A replica works its input vectors in the order of the map. A window has a
 * place for its sum on each member from the first vector that serves it on; when the last one has, its
 * sums are put together at home and the pixel is delivered, windows in order.
 *
 * Replicas make blocks of columns (pim_ll_first_column) instead of every R-th window, because a vector
 * that serves windows of two replicas is worked twice.
 */
#include "mappers/pimcomp/latency/blocks.h"
#include "mappers/pimcomp/latency/messages.h"
#include "mappers/pimcomp/latency/state.h"
#include "mappers/pimcomp/latency/windows.h"

#include <assert.h>

/* The window that fold `fold` of an input vector serves; false if there is none in the columns [begin, end).
 * */
static bool window_of_fold(const struct pim_ll_layer *layer, uint32_t vector, uint32_t fold, uint32_t begin,
                           uint32_t end, uint32_t *window)
{
    const struct pim_core_folds *folds = &layer->folds;
    uint32_t y, x;
    if (!pim_core_fold_row(layer->core_layer, folds, vector, fold / folds->taps, &y) ||
        !pim_core_fold_column(layer->core_layer, folds, vector, fold % folds->taps, &x) || x < begin ||
        x >= end)
        return false;
    *window = y * layer->core_layer->width + x;
    return true;
}

bool pim_ll_vector_serves(const struct pim_ll_layer *layer, uint32_t replica, uint32_t vector)
{
    return pim_core_vector_serves(layer->core_layer, &layer->folds, vector,
                                  pim_ll_first_column(layer, replica),
                                  pim_ll_first_column(layer, replica + 1));
}

/* The first vector from `vector` on that serves the replica; the number of all vectors if there is none. */
static uint32_t next_vector(const struct pim_ll_layer *layer, uint32_t replica, uint32_t vector)
{
    uint32_t vectors = layer->task_height * layer->task_width;
    while (vector < vectors && !pim_ll_vector_serves(layer, replica, vector))
        vector++;
    return vector;
}

uint32_t pim_ll_first_vector(const struct pim_ll_layer *layer, uint32_t replica)
{
    return next_vector(layer, replica, 0);
}

/* Vectors that serve a window: positions, or rows, of its kernel inside the map. */
static uint32_t vectors_of(const struct pim_ll_layer *layer, uint32_t window)
{
    const struct pim_sliding *sliding = &layer->window;
    uint32_t inside[2] = {0, 0},
             at[2] = {window / layer->core_layer->width, window % layer->core_layer->width};
    uint32_t in[2] = {layer->in_height, layer->in_width};
    for (int axis = 0; axis < 2; axis++)
        for (uint32_t k = 0; k < sliding->kernel[axis]; k++) {
            int64_t place = pim_sliding_input(sliding, axis, at[axis], k);
            inside[axis] += place >= 0 && place < in[axis];
        }
    return layer->folds.pixels ? inside[0] * inside[1] : inside[0];
}

/* Takes places for the sums of a window on all members. */
static bool reserve_sums(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica)
{
    for (uint32_t m = 0; m < replica->members; m++) {
        const struct pim_ll_member *member = &replica->member[m];
        uint32_t bytes = m == 0 ? pim_ll_pixel_bytes(ll, index) : member->partial_bytes;
        if (!pim_ll_reserve(ll, index, member->core, bytes))
            return false;
    }
    return true;
}

/* Enters the places that reserve_sums took, from reservation `first` on. */
static bool enter_sums(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica,
                       uint32_t window, size_t first)
{
    for (uint32_t m = 0; m < replica->members; m++) {
        uint32_t record = pim_pixel_add(&ll->sums, pim_pixel_key(index, window, replica->member[m].core));
        if (record == PIM_PIXEL_NONE) {
            ll->status = pim_fail(ll->error, PIM_NO_MEMORY, "no memory for the low-latency schedule");
            return false;
        }
        ll->sums.record[record].address = ll->reservation[first + m].address;
        ll->sums.record[record].uses = vectors_of(&ll->layer[index], window);
    }
    return true;
}

static struct pim_pixel *sum_of(struct pim_ll *ll, uint32_t index, uint32_t window, uint32_t core)
{
    uint32_t record = pim_pixel_find(&ll->sums, pim_pixel_key(index, window, core));
    return record == PIM_PIXEL_NONE ? NULL : &ll->sums.record[record];
}

/* Adds the outputs of a member's groups for one fold to the sum of the window; the first ones are copied. */
static void add_fold(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica, uint32_t m,
                     uint32_t fold, uint32_t sum, bool begun)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    const struct pim_ll_member *member = &replica->member[m];
    uint32_t before = 0, to = 0;
    for (uint32_t i = 0; i < member->groups; i++) {
        uint32_t g = member->group[i];
        const struct pim_ll_strip *strip = &layer->strip[layer->strip_of[g]];
        uint32_t bytes = strip->columns * PIM_CORE_ELEMENT_BYTES;
        uint32_t from = pim_ll_output_of(ll, layer, replica, g) + fold * bytes;
        if (pim_ll_opens_strip(layer, member, i)) {
            to = sum + (m == 0 ? strip->column * PIM_CORE_ELEMENT_BYTES : before);
            before += bytes;
            if (!begun) {
                pim_core_emit_copy(pim_ll_emitter_at(ll, PIM_LL_ADD), member->core, to, from, bytes, 1, 0, 0);
                continue;
            }
        }
        pim_core_emit_addition(pim_ll_emitter_at(ll, PIM_LL_ADD), member->core, to, from, strip->columns);
    }
}

/* Reserves all that the replica's next vector needs. */
static bool reserve_vector(struct pim_ll *ll, uint32_t index, const struct pim_ll_replica *replica,
                           uint32_t begin, uint32_t end, size_t *first)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    if (!pim_ll_reserve_task(ll, index, replica))
        return false;
    *first = ll->reservations;
    for (uint32_t fold = 0; fold < layer->folds.count; fold++) {
        uint32_t window;
        if (window_of_fold(layer, replica->task, fold, begin, end, &window) &&
            !sum_of(ll, index, window, replica->home) && !reserve_sums(ll, index, replica))
            return false;
    }
    return true;
}

/* One input vector: MVMs of all groups, then the folds into the sums of their windows. */
static bool run_input(struct pim_ll *ll, uint32_t index, uint32_t r)
{
    const struct pim_ll_layer *layer = &ll->layer[index];
    struct pim_ll_replica *replica = &layer->replica[r];
    uint32_t begin = pim_ll_first_column(layer, r), end = pim_ll_first_column(layer, r + 1), window;
    size_t first = 0;
    if (replica->task >= layer->task_height * layer->task_width || !pim_ll_find_task(ll, index, replica) ||
        !reserve_vector(ll, index, replica, begin, end, &first))
        return false;
    pim_ll_load_task(ll, index, replica);
    for (uint32_t m = 0; ll->emitter && m < replica->members && ll->status == PIM_OK; m++) {
        const struct pim_ll_member *member = &replica->member[m];
        for (uint32_t i = 0; i < member->groups; i++)
            pim_ll_emit_mvm(ll, index, replica, m, member->group[i],
                            pim_ll_output_of(ll, layer, replica, member->group[i]));
    }
    for (uint32_t fold = 0; fold < layer->folds.count && ll->status == PIM_OK; fold++) {
        if (!window_of_fold(layer, replica->task, fold, begin, end, &window))
            continue;
        bool begun = sum_of(ll, index, window, replica->home) != NULL;
        if (!begun && !enter_sums(ll, index, replica, window, first))
            break;
        first += begun ? 0 : replica->members;
        for (uint32_t m = 0; m < replica->members; m++) {
            struct pim_pixel *sum = sum_of(ll, index, window, replica->member[m].core);
            assert(sum && sum->uses > 0);
            sum->uses--;
            if (ll->emitter)
                add_fold(ll, index, replica, m, fold, sum->address, begun);
        }
    }
    pim_ll_end_task(ll, index, replica);
    ll->reservations = 0;
    replica->task = next_vector(layer, r, replica->task + 1);
    return true;
}

/* Delivers the replica's next window when all its vectors have served it. */
static bool finish_window(struct pim_ll *ll, uint32_t index, uint32_t r)
{
    struct pim_ll_layer *layer = &ll->layer[index];
    struct pim_ll_replica *replica = &layer->replica[r];
    uint32_t window = replica->next, width = layer->core_layer->width;
    if (window >= layer->core_layer->windows || ll->status != PIM_OK)
        return false;
    const struct pim_pixel *home = sum_of(ll, index, window, replica->home);
    if (!home || home->uses > 0)
        return false;
    uint32_t pixel = home->address;
    size_t first = 0;
    ll->reservations = ll->loads = 0;
    if (!pim_ll_reserve_output(ll, index, window, replica->home, pixel, &first))
        return false;
    for (uint32_t m = 0; m < replica->members; m++) {
        const struct pim_pixel *sum = sum_of(ll, index, window, replica->member[m].core);
        assert(sum);
        ll->base[m] = sum->address;
    }
    if (ll->emitter && ll->status == PIM_OK)
        pim_ll_emit_sums(ll, index, replica, ll->base, pixel);
    if (ll->status == PIM_OK)
        pim_ll_deliver(ll, index, window, replica->home, first);
    for (uint32_t m = 0; m < replica->members; m++) {
        const struct pim_ll_member *member = &replica->member[m];
        pim_pixel_drop(&ll->sums, pim_pixel_find(&ll->sums, pim_pixel_key(index, window, member->core)));
        if (m > 0)
            pim_ll_release_later(ll, member->core, ll->base[m], member->partial_bytes);
    }
    bool ends_row = window % width + 1 == pim_ll_first_column(layer, r + 1);
    replica->next = ends_row ? (window / width + 1) * width + pim_ll_first_column(layer, r) : window + 1;
    layer->done++;
    ll->steps++;
    return true;
}

bool pim_ll_run_folds(struct pim_ll *ll, uint32_t index, uint32_t r)
{
    bool ran = run_input(ll, index, r);
    while (finish_window(ll, index, r))
        ran = true;
    return ran;
}
