/*
 * The order of the wheel against a plain heap: the same random program runs on both, and a hash of everything
 * that can be seen (who fired, when, in which phase, how runs ended, what comes next) must be the same.
 *
 * The program draws its random numbers in firing order, so after a first difference the two diverge for good.
 * It has plain events (entities, each always pending once) and cancellable ones (timers), delays of 0 up to
 * beyond the horizon, cancellations, stops in the middle of a tick, limited runs and events scheduled between
 * runs.
 */
#include "tests/unit/kernel/order_reference.h"
#include "tests/unit/kernel/test_kernel.h"

#include "sim/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED UINT64_C(20240517)
#define TIMERS 64

enum delays { HARDWARE, HOT, FAR, SAME_TICK, EDGES, EVERY_SCALE, DELAYS };

struct actor {
    struct world *world;
    uint32_t id;
};

struct world {
    struct pim_kernel *kernel; /* NULL: the reference runs */
    struct reference reference;
    struct actor *actors; /* timers first, then entities */
    struct pim_event timers[TIMERS];
    uint64_t random;
    uint64_t hash;
    uint64_t fired;
    uint64_t wanted; /* entities stop going on after so many events */
    enum delays delays;
};

static uint64_t draw(struct world *world, uint64_t limit)
{
    uint64_t x = world->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    world->random = x;
    return (x * UINT64_C(2685821657736338717) >> 11) % limit;
}

static void mix(struct world *world, uint64_t value)
{
    world->hash = (world->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    world->hash ^= world->hash >> 29;
}

static pim_time draw_delay(struct world *world)
{
    static const pim_time edges[] = {1,     127,   128,   129,   255,   256,   257,  65535,
                                     65536, 65663, 65664, 65665, 65791, 65792, 65793};
    uint64_t percent = draw(world, 100);
    switch (world->delays) {
    case HARDWARE:
        return percent < 95 ? 1 + draw(world, 64) : 100 + draw(world, 3901);
    case HOT:
        return percent < 90 ? draw(world, 5) : percent < 99 ? 5 + draw(world, 60) : 100 + draw(world, 3901);
    case FAR:
        return percent < 60   ? 1 + draw(world, 64)
               : percent < 80 ? 100 + draw(world, 3901)
                              : 4000 + draw(world, 96001);
    case SAME_TICK:
        return percent < 60 ? 0 : draw(world, 3);
    case EDGES:
        return edges[draw(world, sizeof edges / sizeof edges[0])] - draw(world, 2);
    case EVERY_SCALE:
        return draw(world, UINT64_C(1) << draw(world, 24));
    case DELAYS:
        break;
    }
    return 0;
}

static pim_time now_of(const struct world *world)
{
    return world->kernel ? pim_kernel_now(world->kernel) : world->reference.now;
}

static unsigned phase_of(const struct world *world)
{
    return world->kernel ? (unsigned)pim_kernel_phase(world->kernel) : world->reference.phase;
}

static void fire(void *context, uint32_t id);

static void actor_handler(struct pim_kernel *kernel, void *context)
{
    struct actor *actor = context;
    ck_assert_ptr_eq(kernel, actor->world->kernel);
    fire(actor->world, actor->id);
}

/* Draws when, and schedules an entity or moves a timer; each by one of its two functions. */
static void schedule(struct world *world, uint32_t id)
{
    pim_time delay = draw_delay(world);
    unsigned first = delay == 0 ? phase_of(world) : 0;
    enum pim_phase phase = (enum pim_phase)(first + draw(world, PIM_PHASES - first));
    pim_time time = now_of(world) + delay;
    if (!world->kernel) {
        if (id < TIMERS)
            (void)reference_remove(&world->reference, id);
        reference_insert(&world->reference, time, phase, id);
    } else if (id >= TIMERS) {
        if (id % 2)
            pim_kernel_schedule(world->kernel, delay, phase, actor_handler, &world->actors[id]);
        else
            pim_kernel_schedule_at(world->kernel, time, phase, actor_handler, &world->actors[id]);
    } else if (id % 2) {
        pim_event_reschedule(world->kernel, &world->timers[id], delay, phase);
    } else {
        pim_event_reschedule_at(world->kernel, &world->timers[id], time, phase);
    }
}

static void cancel(struct world *world, uint32_t id)
{
    mix(world, world->kernel ? pim_event_cancel(world->kernel, &world->timers[id])
                             : reference_remove(&world->reference, id));
}

static void mix_next_time(struct world *world)
{
    mix(world, world->kernel ? pim_kernel_next_time(world->kernel) : reference_next_time(&world->reference));
}

static void fire(void *context, uint32_t id)
{
    struct world *world = context;
    world->fired++;
    mix(world, id);
    mix(world, now_of(world));
    mix(world, phase_of(world));
    if (world->fired > world->wanted)
        return;
    if (draw(world, 256) == 0)
        mix_next_time(world);
    if (id >= TIMERS)
        schedule(world, id);
    uint64_t choice = draw(world, 32);
    if (choice < 6)
        schedule(world, (uint32_t)draw(world, TIMERS));
    else if (choice < 10)
        cancel(world, (uint32_t)draw(world, TIMERS));
    if (draw(world, 128) == 0) {
        if (world->kernel)
            pim_kernel_stop(world->kernel);
        else
            world->reference.stopped = true;
        if (draw(world, 2))
            schedule(world, (uint32_t)draw(world, TIMERS));
    }
}

static void run_program(struct world *world, uint32_t entities)
{
    for (uint32_t id = TIMERS; id < TIMERS + entities; id++)
        schedule(world, id);
    enum pim_run_end end = PIM_RUN_UNTIL;
    while (end != PIM_RUN_EMPTY) {
        pim_time until = draw(world, 4) ? PIM_TIME_NEVER : now_of(world) + draw_delay(world);
        end = world->kernel ? pim_kernel_run(world->kernel, until)
                            : reference_run(&world->reference, until, fire, world);
        mix(world, end);
        mix(world, now_of(world));
        mix(world, phase_of(world));
        mix_next_time(world);
        if (end != PIM_RUN_EMPTY && world->fired < world->wanted && draw(world, 2))
            schedule(world, (uint32_t)draw(world, TIMERS));
    }
    if (world->kernel)
        ck_assert_uint_eq(pim_kernel_events(world->kernel), world->fired);
}

static uint64_t hash_of_run(bool on_wheel, enum delays delays, uint32_t entities, uint64_t events,
                            uint64_t seed)
{
    struct world world = {.random = seed, .wanted = events, .delays = delays};
    world.actors = malloc((TIMERS + entities) * sizeof *world.actors);
    ck_assert_ptr_nonnull(world.actors);
    for (uint32_t id = 0; id < TIMERS + entities; id++)
        world.actors[id] = (struct actor){&world, id};
    for (uint32_t id = 0; id < TIMERS; id++)
        pim_event_initialize(&world.timers[id], actor_handler, &world.actors[id]);
    reference_initialize(&world.reference);
    world.kernel = on_wheel ? pim_kernel_create() : NULL;
    run_program(&world, entities);
    pim_kernel_destroy(world.kernel);
    reference_terminate(&world.reference);
    free(world.actors);
    ck_assert_uint_ge(world.fired, events);
    return world.hash;
}

static const struct {
    uint32_t entities;
    uint64_t events;
} sizes[] = {{1, 4000}, {7, 20000}, {256, 50000}, {5000, 30000}};

#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))
#define RUNS 2

START_TEST(the_wheel_fires_in_the_order_of_a_heap)
{
    enum delays delays = (enum delays)(_i / SIZES);
    uint32_t entities = sizes[_i % SIZES].entities;
    for (uint64_t run = 0; run < RUNS; run++) {
        uint64_t seed = SEED + 1000 * (uint64_t)_i + run;
        uint64_t expected = hash_of_run(false, delays, entities, sizes[_i % SIZES].events, seed);
        uint64_t found = hash_of_run(true, delays, entities, sizes[_i % SIZES].events, seed);
        printf("order: seed %" PRIu64 ", delays %d, %" PRIu32 " entities: hash %016" PRIx64 "\n", seed,
               (int)delays, entities, found);
        ck_assert_msg(found == expected,
                      "seed %" PRIu64 ", delays %d, %" PRIu32 " entities: the order differs", seed,
                      (int)delays, entities);
    }
}
END_TEST

/* The hash of one run, written down: every compiler, optimisation level and sanitizer must give it. */
START_TEST(the_order_is_the_same_in_every_build)
{
    uint64_t found = hash_of_run(true, EVERY_SCALE, 256, 60000, SEED);
    ck_assert_msg(found == UINT64_C(0x1e351aa3a27df901), "hash %016" PRIx64, found);
}
END_TEST

/* Handlers that go on without an event, among others that schedule each other: `goes_on` decides only how. */
struct walkers {
    uint64_t random, hash;
    bool goes_on;
    uint32_t left, gone_on, scheduled;
    uint64_t events; /* of the kernel, at the end */
};

static void walked(struct walkers *walkers, struct pim_kernel *kernel, uint64_t who)
{
    walkers->hash = (walkers->hash ^ (pim_kernel_now(kernel) << 3 | pim_kernel_phase(kernel) << 1 | who)) *
                    UINT64_C(0x9e3779b97f4a7c15);
}

static void bystander(struct pim_kernel *kernel, void *context)
{
    walked(context, kernel, 0);
}

static void walker(struct pim_kernel *kernel, void *context)
{
    struct walkers *walkers = context;
    for (;;) {
        walked(walkers, kernel, 1);
        if (walkers->left-- == 0)
            return;
        uint64_t draw = pim_splitmix64(&walkers->random);
        enum pim_phase phase = (enum pim_phase)(draw >> 8 & 3);
        if (draw % 3 == 0)
            pim_kernel_schedule(kernel, 1 + (draw >> 16) % 9, phase, bystander, walkers);
        if (draw % 61 == 0)
            pim_kernel_stop(kernel);
        pim_time time = pim_kernel_now(kernel) + 1 + (draw >> 32) % (draw % 5 ? 3 : 200);
        phase = (enum pim_phase)(draw >> 10 & 3);
        if (!walkers->goes_on || !pim_kernel_go_on(kernel, time, phase)) {
            walkers->scheduled++;
            pim_kernel_schedule_at(kernel, time, phase, walker, walkers);
            return;
        }
        walkers->gone_on++;
    }
}

static struct walkers walk(bool goes_on, uint64_t seed)
{
    struct walkers walkers = {.random = seed, .goes_on = goes_on, .left = 3000};
    struct pim_kernel *kernel = pim_kernel_create();
    pim_kernel_schedule(kernel, 0, PIM_PHASE_NETWORK, walker, &walkers);
    enum pim_run_end end;
    do {
        end = pim_kernel_run(kernel, pim_kernel_now(kernel) + 97);
        walkers.hash = walkers.hash * 31 + end + 8 * pim_kernel_now(kernel);
    } while (end != PIM_RUN_EMPTY);
    walkers.events = pim_kernel_events(kernel);
    pim_kernel_destroy(kernel);
    return walkers;
}

START_TEST(going_on_is_an_event_that_is_next)
{
    struct walkers by_events = walk(false, SEED + (uint64_t)_i), going_on = walk(true, SEED + (uint64_t)_i);
    ck_assert_uint_eq(going_on.hash, by_events.hash);
    ck_assert_uint_eq(going_on.events, by_events.events);
    ck_assert_uint_gt(going_on.gone_on, 1000);
    ck_assert_uint_gt(going_on.scheduled, 500);
}
END_TEST

Suite *kernel_order_suite(void)
{
    Suite *suite = suite_create("kernel_order");
    TCase *tcase = tcase_create("order");
    tcase_add_loop_test(tcase, the_wheel_fires_in_the_order_of_a_heap, 0, DELAYS * SIZES);
    tcase_add_test(tcase, the_order_is_the_same_in_every_build);
    tcase_add_loop_test(tcase, going_on_is_an_event_that_is_next, 0, 20);
    suite_add_tcase(suite, tcase);
    return suite;
}
