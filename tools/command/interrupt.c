#include "tools/command/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static sigset_t interrupts(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    return set;
}

/* As a shell leaves it for what runs in the background: then it stays without effect. */
static bool is_ignored(void)
{
    struct sigaction action;
    return sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void interrupt_begin(struct interrupt *interrupt)
{
    const sigset_t set = interrupts();
    atomic_init(&interrupt->taken, false);
    if (!is_ignored())
        (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

bool interrupt_asked(void *context)
{
    struct interrupt *interrupt = context;
    const struct timespec now = {0, 0};
    const sigset_t set = interrupts();
    if (is_ignored())
        return false;
    if (!atomic_load(&interrupt->taken)) {
        if (sigtimedwait(&set, NULL, &now) != SIGINT)
            return false;
        atomic_store(&interrupt->taken, true);
    }
    /* In every thread that knows: the next one ends the program as ever. */
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return true;
}

void interrupt_end(void)
{
    const struct timespec now = {0, 0};
    const sigset_t set = interrupts();
    if (is_ignored())
        return;
    (void)sigtimedwait(&set, NULL, &now);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
