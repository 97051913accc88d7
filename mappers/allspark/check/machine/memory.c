/* Memory of the units: weights, workspace, what is loaded, stored and sent. */
#include "mappers/allspark/check/machine/machine_internal.h"
#include "sim/try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

/* The region that has an address; NULL: none. */
static const struct region *find_region(const struct unit *unit, uint64_t address)
{
    size_t low = 0, high = unit->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->regions[middle].address + unit->regions[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit->region_count && unit->regions[low].address <= address ? &unit->regions[low] : NULL;
}

/* Numbers from `address` on, and how many of `count` follow; NULL: there is none. */
static const uint16_t *find(const struct machine *machine, const struct unit *unit, uint64_t address,
                            uint64_t count, uint64_t *available)
{
    if (address < machine->base) {
        const struct region *region = find_region(unit, address);
        if (!region)
            return NULL;
        *available = pim_smaller(count, region->address + region->bytes - address);
        return region->values + (address - region->address);
    }
    uint64_t from = address - machine->base;
    if (from >= machine->bytes)
        return NULL;
    count = pim_smaller(count, machine->bytes - from);
    const uint8_t *unknown = memchr(unit->known + from, 0, count);
    *available = unknown ? (uint64_t)(unknown - (unit->known + from)) : count;
    return *available > 0 ? unit->memory + from : NULL;
}

const uint16_t *machine_read(const struct machine *machine, uint32_t number, uint64_t address, uint64_t count)
{
    uint64_t available = 0;
    const uint16_t *values = find(machine, &machine->units[number], address, count, &available);
    return available == count ? values : NULL;
}

static enum pim_status copy(const struct machine *machine, uint32_t number, uint64_t address, uint64_t count,
                            uint16_t *to)
{
    while (count > 0) {
        uint64_t available;
        const uint16_t *from = find(machine, &machine->units[number], address, count, &available);
        if (!from)
            return machine_broken(machine, number, "byte %" PRIu64 " is read and holds nothing", address);
        memcpy(to, from, available * sizeof *to);
        address += available;
        to += available;
        count -= available;
    }
    return PIM_OK;
}

/* --- writing --- */

enum pim_status machine_accept(const struct machine *machine, uint32_t number, uint64_t address,
                               uint64_t bytes)
{
    if (address < machine->base)
        return machine_broken(machine, number,
                              "byte %" PRIu64 " is written and has weights: the workspace begins at %" PRIu64,
                              address, machine->base);
    if (bytes > machine->bytes || address - machine->base > machine->bytes - bytes)
        return machine_broken(machine, number,
                              "bytes up to %" PRIu64 " are beyond the memory of the plan, %" PRIu64,
                              address + bytes, machine->base + machine->bytes);
    return PIM_OK;
}

static void write(const struct machine *machine, struct unit *unit, uint64_t address, const uint16_t *values,
                  uint64_t count)
{
    memcpy(unit->memory + (address - machine->base), values, count * sizeof *values);
    memset(unit->known + (address - machine->base), 1, count);
}

enum pim_status machine_place(struct machine *machine, uint32_t number, uint64_t address,
                              const uint16_t *values, uint64_t count, struct pim_error *error)
{
    struct unit *unit = &machine->units[number];
    machine->error = error;
    PIM_TRY(machine_accept(machine, number, address, count));
    if (count > 0 && memchr(unit->known + (address - machine->base), 1, count))
        return machine_broken(machine, number, "inputs at byte %" PRIu64 " lie upon others", address);
    write(machine, unit, address, values, count);
    return PIM_OK;
}

enum pim_status machine_place_weights(struct machine *machine, uint32_t number, uint64_t address,
                                      const uint16_t *values, uint64_t count, struct pim_error *error)
{
    struct unit *unit = &machine->units[number];
    machine->error = error;
    if (count == 0)
        return PIM_OK;
    if (count > machine->base || address > machine->base - count)
        return machine_broken(machine, number, "weights at byte %" PRIu64 " reach into the workspace",
                              address);
    struct region *grown =
        pim_array_grow(unit->regions, &unit->region_capacity, unit->region_count + 1, sizeof *unit->regions);
    if (!grown)
        return machine_no_memory(machine);
    unit->regions = grown;
    grown[unit->region_count++] = (struct region){.address = address, .bytes = count, .values = values};
    return PIM_OK;
}

static int compare(const void *a, const void *b)
{
    const struct region *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

enum pim_status machine_sort_regions(struct machine *machine)
{
    for (uint32_t number = 0; number < machine->count; number++) {
        struct unit *unit = &machine->units[number];
        if (unit->region_count > 1)
            qsort(unit->regions, unit->region_count, sizeof *unit->regions, compare);
        for (size_t i = 1; i < unit->region_count; i++)
            if (unit->regions[i - 1].address + unit->regions[i - 1].bytes > unit->regions[i].address)
                return machine_broken(machine, number, "weights at byte %" PRIu64 " lie upon others",
                                      unit->regions[i].address);
    }
    return PIM_OK;
}

void machine_forget(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->count; i++) {
        memset(machine->units[i].known, 0, machine->bytes);
        machine->units[i].region_count = 0;
    }
}

/* --- loads and stores --- */

/* Numbers in the bytes of a LOAD: those of the weights where they lie, others copied to `into`. */
static enum pim_status gather(struct machine *machine, uint32_t number, uint16_t *into)
{
    const struct pim_instruction *now = machine->units[number].now;
    uint64_t bytes = now->u.memory.bytes;
    for (uint64_t i = 0; i < now->u.memory.count; i++)
        PIM_TRY(
            copy(machine, number, now->u.memory.address + i * now->u.memory.stride, bytes, into + i * bytes));
    return PIM_OK;
}

/* A LOAD whose bytes are all in one row of weights, which stay as they are: nothing is copied. */
static const uint16_t *in_place(const struct machine *machine, const struct unit *unit)
{
    const struct pim_instruction *now = unit->now;
    uint64_t total = (uint64_t)now->u.memory.bytes * now->u.memory.count, available = 0;
    if (now->u.memory.address >= machine->base ||
        (now->u.memory.count > 1 && now->u.memory.stride != now->u.memory.bytes))
        return NULL;
    const uint16_t *values = find(machine, unit, now->u.memory.address, total, &available);
    return available == total ? values : NULL;
}

static enum pim_status append(struct machine *machine, struct unit *unit, struct queue *queue,
                              struct loaded loaded)
{
    struct loaded *grown = pim_array_grow(queue->items, &queue->capacity, queue->count + 1, sizeof loaded);
    if (!grown) {
        free(loaded.owned);
        return machine_no_memory(machine);
    }
    queue->items = grown;
    loaded.sequence = unit->at;
    grown[queue->count++] = loaded;
    return PIM_OK;
}

static enum pim_status load_to_queue(struct machine *machine, uint32_t number, struct queue *queue,
                                     uint64_t total)
{
    struct unit *unit = &machine->units[number];
    struct loaded loaded = {.values = in_place(machine, unit), .count = total};
    if (!loaded.values) {
        loaded.owned = malloc((total + 1) * sizeof *loaded.owned);
        if (!loaded.owned)
            return machine_no_memory(machine);
        loaded.values = loaded.owned;
        enum pim_status status = gather(machine, number, loaded.owned);
        if (status != PIM_OK) {
            free(loaded.owned);
            return status;
        }
    }
    return append(machine, unit, queue, loaded);
}

static struct access access_of(const struct pim_instruction *now)
{
    return (struct access){.begin = now->u.memory.address,
                           .bytes = now->u.memory.bytes,
                           .stride = now->u.memory.stride,
                           .count = now->u.memory.count};
}

enum pim_status machine_load(struct machine *machine, uint32_t number, struct result *result)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    uint64_t total = (uint64_t)now->u.memory.bytes * now->u.memory.count;
    PIM_TRY(order_access(machine, number, ACCESS_LOAD, access_of(now)));
    if (now->detail == PIM_BUFFER_INPUT)
        return load_to_queue(machine, number, &unit->inputs, total);
    if (now->detail == PIM_BUFFER_WEIGHT) {
        PIM_TRY(load_to_queue(machine, number, &unit->weights, total));
        unit->weights_left += total;
        return PIM_OK;
    }
    uint16_t *values = machine_values(unit, total);
    if (!values)
        return machine_no_memory(machine);
    unit->output_loaded += now->detail == PIM_BUFFER_OUTPUT ? total : 0;
    *result = (struct result){.values = values, .count = total};
    return gather(machine, number, values);
}

enum pim_status machine_store(struct machine *machine, uint32_t number)
{
    struct unit *unit = &machine->units[number];
    const struct pim_instruction *now = unit->now;
    uint64_t bytes = now->u.memory.bytes, count = now->u.memory.count;
    struct result data;
    PIM_TRY(machine_operand(machine, number, 0, &data));
    if (!data.values || data.output || data.count != bytes * count)
        return machine_broken(machine, number, "stores %" PRIu64 " bytes of a result of %" PRIu64,
                              bytes * count, data.count);
    PIM_TRY(order_access(machine, number, ACCESS_STORE, access_of(now)));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t address = now->u.memory.address + i * now->u.memory.stride;
        PIM_TRY(machine_accept(machine, number, address, bytes));
        write(machine, unit, address, data.values + i * bytes, bytes);
    }
    return PIM_OK;
}

enum pim_status machine_transfer(struct machine *machine, uint32_t number, uint32_t to,
                                 const struct posted *receive)
{
    const struct pim_instruction *now = machine->units[number].now;
    struct unit *other = &machine->units[to];
    uint64_t bytes = now->u.network.bytes;
    const struct access read = {.begin = now->u.network.address, .bytes = bytes, .count = 1};
    PIM_TRY(order_access(machine, number, ACCESS_SEND, read));
    PIM_TRY(copy(machine, number, read.begin, bytes, other->memory + (receive->address - machine->base)));
    memset(other->known + (receive->address - machine->base), 1, bytes);
    return PIM_OK;
}

/* --- buffers --- */

void machine_empty_queue(struct queue *queue)
{
    for (size_t i = queue->head; i < queue->count; i++)
        free(queue->items[i].owned);
    queue->head = queue->count = 0;
}

static void drop_first(struct queue *queue)
{
    free(queue->items[queue->head++].owned);
    if (queue->head == queue->count)
        queue->head = queue->count = 0;
}

/* Makes one item of so many that they have `count` weights. */
static enum pim_status merge(struct machine *machine, struct unit *unit, uint64_t count)
{
    struct queue *queue = &unit->weights;
    uint64_t total = 0;
    size_t items = 0;
    for (; total < count + unit->weights_used; items++)
        total += queue->items[queue->head + items].count;
    uint16_t *values = malloc((total + 1) * sizeof *values);
    if (!values)
        return machine_no_memory(machine);
    uint64_t filled = 0;
    for (size_t i = 0; i < items; i++) {
        struct loaded *item = &queue->items[queue->head + i];
        memcpy(values + filled, item->values, item->count * sizeof *values);
        filled += item->count;
        free(item->owned);
        item->owned = NULL;
    }
    queue->head += items - 1;
    struct loaded *last = &queue->items[queue->head];
    *last = (struct loaded){.values = values, .owned = values, .count = total, .sequence = last->sequence};
    return PIM_OK;
}

enum pim_status machine_weights(struct machine *machine, uint32_t number, uint64_t count,
                                const uint16_t **values, uint64_t *sequence)
{
    struct unit *unit = &machine->units[number];
    struct queue *queue = &unit->weights;
    if (unit->weights_left < count)
        return machine_broken(machine, number, "no %" PRIu64 " weights are in the buffer, %" PRIu64 " are",
                              count, unit->weights_left);
    if (queue->items[queue->head].count - unit->weights_used < count)
        PIM_TRY(merge(machine, unit, count));
    *values = queue->items[queue->head].values + unit->weights_used;
    *sequence = queue->items[queue->head].sequence;
    return PIM_OK;
}

void machine_release_weights(struct unit *unit, uint64_t count)
{
    unit->weights_used += count;
    unit->weights_left -= count;
    if (unit->weights_used == unit->weights.items[unit->weights.head].count) {
        drop_first(&unit->weights);
        unit->weights_used = 0;
    }
}

void machine_release_input(struct unit *unit)
{
    struct queue *queue = &unit->inputs;
    free(queue->items[queue->head].owned);
    queue->items[queue->head++].owned = NULL;
}
