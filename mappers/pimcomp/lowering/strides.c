/* Strided views of maps: lowering.h. */
#include "mappers/pimcomp/lowering/lowering.h"

#include <inttypes.h>

bool pim_strides_put(struct pim_core_strides *s, uint8_t axis, uint32_t extent, int64_t stride)
{
    if (extent == 1)
        return true;
    if (s->atoms == PIM_VIEW_ATOMS || stride > INT32_MAX || stride < INT32_MIN)
        return false;
    s->atom[s->atoms++] = (struct pim_core_atom){.axis = axis, .extent = extent, .stride = (int32_t)stride};
    return true;
}

void pim_move_strides(const struct pim_core_view *view, struct pim_core_strides *strides)
{
    if (view->strided) {
        *strides = *view->strided;
        return;
    }
    *strides = (struct pim_core_strides){.atoms = 0};
    for (unsigned i = 0; i < PIM_AXES; i++)
        (void)pim_strides_put(strides, view->order[i], view->extent[view->order[i]], 1);
}

/* Neighbours that go on where the inner one ends become one. */
static void merge(struct pim_core_strides *s)
{
    struct pim_core_strides merged = *s;
    merged.atoms = 0;
    for (uint32_t i = 0; i < s->atoms; i++) {
        const struct pim_core_atom *atom = &s->atom[i];
        struct pim_core_atom *last = merged.atoms ? &merged.atom[merged.atoms - 1] : NULL;
        if (last && last->axis == atom->axis && last->stride == (int64_t)atom->stride * atom->extent) {
            last->extent *= atom->extent;
            last->stride = atom->stride;
        } else {
            merged.atom[merged.atoms++] = *atom;
        }
    }
    *s = merged;
}

bool pim_move_split(const struct pim_core_view *view, const struct pim_shape *shape,
                    struct pim_core_strides *s, uint32_t first[PIM_SHAPE_RANK + 1])
{
    pim_move_strides(view, s);
    merge(s);
    struct pim_core_strides cut = *s;
    uint32_t at = 0, left = s->atoms ? s->atom[0].extent : 1;
    cut.atoms = 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        uint32_t rest = shape->dimension[d];
        first[d] = cut.atoms;
        while (rest > 1) {
            if (left == 1) {
                if (++at >= s->atoms)
                    return false;
                left = s->atom[at].extent;
            }
            uint32_t take = rest <= left ? rest : left;
            if (take <= 1 || left % take != 0 || rest % take != 0)
                return false;
            left /= take;
            rest /= take;
            if (!pim_strides_put(&cut, s->atom[at].axis, take, (int64_t)s->atom[at].stride * left))
                return false;
        }
    }
    first[shape->rank] = cut.atoms;
    *s = cut;
    return true;
}

/* Whole axes in some order? */
static bool is_plain(const struct pim_core_view *of, const struct pim_core_strides *s,
                     uint8_t order[PIM_AXES])
{
    unsigned seen = 0, next = 0;
    for (uint32_t i = 0; i < s->atoms; i++) {
        const struct pim_core_atom *atom = &s->atom[i];
        if ((seen >> atom->axis & 1) || atom->stride != 1 || atom->extent != of->extent[atom->axis])
            return false;
        seen |= 1u << atom->axis;
        order[next++] = atom->axis;
    }
    for (unsigned axis = 0; axis < PIM_AXES; axis++) {
        if (seen >> axis & 1)
            continue;
        if (of->extent[axis] != 1)
            return false;
        order[next++] = (uint8_t)axis;
    }
    return true;
}

/* Neighbouring channels alone: a view of fewer parts. */
static bool cuts_channels(struct pim_lowering *l, const struct pim_core_view *of,
                          const struct pim_core_strides *s, struct pim_core_view *result)
{
    uint32_t channels = 1;
    for (uint32_t i = 0; i < s->atoms; i++) {
        if (s->atom[i].axis != PIM_AXIS_CHANNEL)
            continue;
        if (channels != 1 || s->atom[i].stride != 1)
            return false;
        channels = s->atom[i].extent;
    }
    *result = *of;
    result->sole = false;
    result->strided = NULL;
    return pim_view_cut_channels(l, of, (uint32_t)s->origin[PIM_AXIS_CHANNEL], channels, result);
}

bool pim_move_view(struct pim_lowering *l, const struct pim_core_view *of,
                   const struct pim_core_strides *strides, struct pim_core_view *result)
{
    struct pim_core_strides merged = *strides;
    struct pim_core_view narrow;
    merge(&merged);
    *result = *of;
    result->sole = of->sole && l->readers[l->index] == 1;
    result->strided = NULL;
    if (is_plain(of, &merged, result->order))
        return true;
    if (cuts_channels(l, of, &merged, &narrow)) {
        struct pim_core_strides rest = merged;
        rest.origin[PIM_AXIS_CHANNEL] = 0;
        if (is_plain(&narrow, &rest, narrow.order)) {
            *result = narrow;
            return true;
        }
    }
    if (l->status != PIM_OK)
        return false;
    struct pim_core_strides *stored = PIM_ARENA_NEW(l->arena, struct pim_core_strides);
    *stored = merged;
    result->strided = stored;
    result->sole = false;
    return true;
}
