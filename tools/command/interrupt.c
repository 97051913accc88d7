#include "tools/command/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static sigset_t interrupts(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    return set;
}

void interrupt_begin(void)
{
    const sigset_t set = interrupts();
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

bool interrupt_asked(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

void interrupt_end(void)
{
    const sigset_t set = interrupts();
    int signal;
    if (interrupt_asked())
        (void)sigwait(&set, &signal);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
