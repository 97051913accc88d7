#include "mappers/network/recognition/recognition.h"

#include "mappers/network/onnx/onnx.h"
#include "mappers/network/recognition/signature.h"
#include "mappers/network/recognition/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nearest of what was tried. */
struct nearest {
    enum pim_family family;
    size_t common;        /* items at the beginning that agree */
    struct pim_item item; /* the first of the family's that does not; valid if `has_item` */
    bool tried, has_item;
};

struct recognition {
    const struct pim_network *network;
    struct pim_sizes sizes;
    struct pim_signature signature; /* of the network */
    struct nearest nearest;
    struct pim_network *found; /* NULL: not yet */
};

static bool set(void *context, const char *assignment)
{
    struct pim_error error;
    return pim_configuration_set(context, assignment, &error) == PIM_OK;
}

/*
 * The network that the sizes make for a family; NULL where they make none, with PIM_OK: then the family is
 * not it.
 */
static enum pim_status build(const struct recognition *r, enum pim_family family, uint32_t choice, bool *more,
                             struct pim_network **made, struct pim_error *error)
{
    struct pim_configuration *configuration = NULL;
    char name[256];
    *made = NULL;
    enum pim_status status = pim_configuration_create(&pim_network_schema, &configuration, error);
    if (status != PIM_OK)
        return status;
    (void)snprintf(name, sizeof name, "network.name=%s", r->network->name);
    *more = pim_sizes_describe(&r->sizes, family, choice, set, configuration);
    if (*more && set(configuration, name) && pim_configuration_complete(configuration, error) == PIM_OK)
        status = pim_network_build(configuration, made, error);
    pim_configuration_destroy(configuration);
    return status == PIM_BAD_INPUT ? PIM_OK : status;
}

/* Written as a file and read again, the descriptor's network has the layers that files have. */
static enum pim_status signature_of(const struct pim_network *made, struct pim_signature *signature,
                                    struct pim_error *error)
{
    const struct pim_onnx_options options = {0};
    struct pim_network *read = NULL;
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    if (!file)
        return pim_fail(error, PIM_NO_MEMORY, "out of memory while recognising a network");
    enum pim_status status = pim_onnx_write(made, file, error);
    if (fclose(file) != 0 && status == PIM_OK)
        status = pim_fail(error, PIM_NO_MEMORY, "out of memory while recognising a network");
    if (status == PIM_OK)
        status = pim_onnx_parse(made->name, (const uint8_t *)bytes, size, &options, &read, error);
    if (status == PIM_OK)
        status = pim_signature_make(&read->graph, signature, error);
    pim_network_destroy(read);
    free(bytes);
    return status;
}

/* Takes the network if it has no difference, and remembers how far it agreed otherwise. */
static void compare(struct recognition *r, enum pim_family family, const struct pim_signature *signature,
                    struct pim_network **made)
{
    const size_t common = pim_signature_common(&r->signature, signature);
    if (common == r->signature.count && common == signature->count) {
        r->found = *made;
        *made = NULL;
    } else if (!r->nearest.tried || common > r->nearest.common) {
        r->nearest = (struct nearest){.family = family, .common = common, .tried = true};
        r->nearest.has_item = common < signature->count;
        if (r->nearest.has_item)
            r->nearest.item = signature->item[common];
    }
}

static enum pim_status try(struct recognition *r, enum pim_family family, struct pim_error *error)
{
    enum pim_status status = PIM_OK;
    bool more = true;
    for (uint32_t choice = 0; more && !r->found && status == PIM_OK; choice++) {
        struct pim_network *made = NULL;
        struct pim_signature signature = {0};
        status = build(r, family, choice, &more, &made, error);
        if (status == PIM_OK && made)
            status = signature_of(made, &signature, error);
        if (status == PIM_OK && made)
            compare(r, family, &signature, &made);
        if (status == PIM_BAD_INPUT) /* too large to be held against: then it is not it */
            status = PIM_OK;
        pim_signature_terminate(&signature);
        pim_network_destroy(made);
    }
    return status;
}

static enum pim_status refuse(const struct recognition *r, struct pim_error *error)
{
#define LISTED(name, text) text ", "
    static const char families[] = PIM_FAMILY_MAP(LISTED);
    const int names = (int)sizeof families - (int)sizeof ", ";
    const struct nearest *nearest = &r->nearest;
    char here[192], there[192];
    const bool more = nearest->common < r->signature.count;
    const struct pim_item *item = more ? &r->signature.item[nearest->common] : NULL;
    if (!nearest->tried)
        return pim_fail(
            error, PIM_BAD_INPUT,
            "the layers are those of no vision transformer of the families %.*s: no descriptor has its sizes",
            names, families);
    return pim_fail(error, PIM_BAD_INPUT,
                    "the layers are those of no vision transformer of the families %.*s; %s is the nearest: "
                    "layer %s is %s, where that family has %s%s",
                    names, families, pim_family_name(nearest->family),
                    more ? r->network->graph.layers[item->layer].name : "-",
                    more ? pim_item_text(item, here, sizeof here) : "missing",
                    nearest->has_item ? pim_item_text(&nearest->item, there, sizeof there) : "its end",
                    more && nearest->has_item && item->kind == PIM_ITEM_PRODUCT &&
                            nearest->item.kind == PIM_ITEM_PRODUCT &&
                            memcmp(item->size, nearest->item.size, sizeof item->size) == 0
                        ? " of other tokens"
                        : "");
}

enum pim_status pim_transformer_recognise(const struct pim_network *network, struct pim_network **recognised,
                                          struct pim_error *error)
{
    struct recognition r = {.network = network};
    *recognised = NULL;
    enum pim_status status = pim_sizes_read(&network->graph, &r.sizes, error);
    if (status == PIM_OK)
        status = pim_signature_make(&network->graph, &r.signature, error);
    for (unsigned family = 0; family < PIM_FAMILIES && !r.found && status == PIM_OK; family++)
        status = try(&r, (enum pim_family)family, error);
    if (status == PIM_OK && !r.found)
        status = refuse(&r, error);
    *recognised = r.found;
    pim_signature_terminate(&r.signature);
    pim_sizes_terminate(&r.sizes);
    return status;
}
