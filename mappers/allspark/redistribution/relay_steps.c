/* The copies and messages of a relay: what adjoins is one, and every unit has a list of its own. */
#include "mappers/allspark/redistribution/relay.h"

#include <stdlib.h>

/* Room for one more; false when memory is out. */
static bool grow(void **array, uint32_t count, uint32_t *capacity, size_t bytes)
{
    enum { FIRST = 1024 };
    if (*array && count < *capacity)
        return true;
    if (*capacity > UINT32_MAX / 2)
        return false;
    uint32_t wanted = *capacity ? 2 * *capacity : FIRST;
    void *grown = realloc(*array, wanted * bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

bool pim_relay_add_copy(struct pim_relay *relay, const struct pim_relay_copy *copy)
{
    struct pim_relay_copy *last = relay->copy_count > 0 ? &relay->copies[relay->copy_count - 1] : NULL;
    if (last && last->unit == copy->unit && last->step == copy->step &&
        last->from + last->bytes == copy->from && last->to + last->bytes == copy->to &&
        copy->bytes <= UINT32_MAX - last->bytes) {
        last->bytes += copy->bytes;
        return true;
    }
    void *array = relay->copies;
    if (!grow(&array, relay->copy_count, &relay->copy_capacity, sizeof *relay->copies))
        return false;
    relay->copies = array;
    relay->copies[relay->copy_count++] = *copy;
    return true;
}

bool pim_relay_add_message(struct pim_relay *relay, const struct pim_relay_message *message)
{
    struct pim_relay_message *last =
        relay->message_count > 0 ? &relay->messages[relay->message_count - 1] : NULL;
    if (last && last->step == message->step && last->from_unit == message->from_unit &&
        last->to_unit == message->to_unit && last->order == message->order &&
        last->from + last->bytes == message->from && last->to + last->bytes == message->to) {
        last->bytes += message->bytes;
        return true;
    }
    void *array = relay->messages;
    if (!grow(&array, relay->message_count, &relay->message_capacity, sizeof *relay->messages))
        return false;
    relay->messages = array;
    relay->messages[relay->message_count] = *message;
    relay->messages[relay->message_count].index = relay->message_count;
    relay->message_count++;
    return true;
}

static int compare_messages(const void *left, const void *right)
{
    const struct pim_relay_message *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Copies by units, then by steps, else in the order in which they were added. */
static bool sort_copies(struct pim_relay *relay, uint32_t units)
{
    uint32_t *place = calloc((size_t)units + 2, sizeof *place);
    size_t count = (size_t)relay->copy_count + 1, steps = (size_t)relay->steps + 2;
    struct pim_relay_copy *by_step = calloc(count, sizeof *by_step),
                          *by_unit = calloc(count, sizeof *by_unit);
    uint32_t *first = calloc(steps, sizeof *first);
    bool memory = place && by_step && by_unit && first;
    for (uint32_t i = 0; memory && i < relay->copy_count; i++) {
        first[relay->copies[i].step + 1]++;
        place[relay->copies[i].unit + 1]++;
    }
    for (uint32_t i = 0; memory && i <= relay->steps; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; memory && i <= units; i++)
        place[i + 1] += place[i];
    for (uint32_t i = 0; memory && i < relay->copy_count; i++)
        by_step[first[relay->copies[i].step]++] = relay->copies[i];
    for (uint32_t i = 0; memory && i < relay->copy_count; i++)
        by_unit[place[by_step[i].unit]++] = by_step[i];
    free(first);
    free(by_step);
    if (!memory) {
        free(place);
        free(by_unit);
        return false;
    }
    for (uint32_t unit = units + 1; unit > 0; unit--) /* where each begins again */
        place[unit] = place[unit - 1];
    place[0] = 0;
    free(relay->copies);
    relay->copies = by_unit;
    relay->copy_capacity = relay->copy_count;
    relay->first_copy = place;
    return true;
}

static bool list_units(struct pim_relay *relay, uint32_t units)
{
    uint32_t *first = relay->first_of_unit = calloc((size_t)units + 2, sizeof *first);
    relay->of_unit = calloc(2 * (size_t)relay->message_count + 1, sizeof *relay->of_unit);
    if (!first || !relay->of_unit)
        return false;
    for (uint32_t i = 0; i < relay->message_count; i++) {
        first[relay->messages[i].from_unit + 2]++;
        first[relay->messages[i].to_unit + 2]++;
    }
    for (uint32_t unit = 0; unit < units; unit++)
        first[unit + 2] += first[unit + 1];
    for (uint32_t i = 0; i < relay->message_count; i++) {
        relay->of_unit[first[relay->messages[i].from_unit + 1]++] = i;
        relay->of_unit[first[relay->messages[i].to_unit + 1]++] = i;
    }
    return true;
}

bool pim_relay_end(struct pim_relay *relay, uint32_t units)
{
    if (relay->message_count > 0)
        qsort(relay->messages, relay->message_count, sizeof *relay->messages, compare_messages);
    return sort_copies(relay, units) && list_units(relay, units);
}

void pim_relay_destroy(struct pim_relay *relay)
{
    if (!relay)
        return;
    free(relay->copies);
    free(relay->first_copy);
    free(relay->messages);
    free(relay->first_of_unit);
    free(relay->of_unit);
    free(relay);
}
