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

void interrupt_begin(void)
{
    const sigset_t set = interrupts();
    if (!is_ignored())
        (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

bool interrupt_asked(void)
{
    const struct timespec now = {0, 0};
    const sigset_t set = interrupts();
    sigset_t held;
    if (is_ignored() || pthread_sigmask(SIG_BLOCK, NULL, &held) != 0)
        return false;
    if (sigismember(&held, SIGINT) != 1) /* it was taken before */
        return true;
    if (sigtimedwait(&set, NULL, &now) != SIGINT)
        return false;
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* the next one ends the program as ever */
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
