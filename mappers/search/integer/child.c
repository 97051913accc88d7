#include "mappers/search/integer/child.h"

#include "mappers/search/problem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

enum { GRACE_SECONDS = 5 };

extern char **environ;

/* Waits for the child; asks it to end when it is to stop, and ends it when it does not keep to its limit. A
 * stop that comes after its time is over does not count; one that came from a terminal may have ended it. */
static bool wait_for(pid_t child, const struct pim_solver_limit *limit, int *status, bool *stopped)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const double begin = pim_search_seconds();
    double seconds = limit->seconds > 0 ? limit->seconds : HUGE_VAL;
    for (pid_t ended = 0; ended != child;) {
        ended = waitpid(child, status, WNOHANG);
        if (ended < 0 && errno != EINTR)
            return false;
        const double taken = pim_search_seconds() - begin;
        if (taken < seconds && limit->stop && limit->stop(limit->context)) {
            *stopped = true;
            seconds = taken;
            if (ended == 0)
                (void)kill(child, SIGINT);
        }
        if (ended == 0 && taken > seconds + GRACE_SECONDS)
            (void)kill(child, SIGKILL);
        if (ended == 0)
            (void)nanosleep(&pause, NULL);
    }
    return true;
}

/* With SIGINT, whether this thread holds it back or not. */
static bool let_interrupts_in(posix_spawnattr_t *attributes)
{
    sigset_t mask;
    return pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigdelset(&mask, SIGINT) == 0 &&
           posix_spawnattr_setsigmask(attributes, &mask) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK) == 0;
}

bool pim_child_run(const char *const *arguments, const char *output, const struct pim_solver_limit *limit,
                   int *status, bool *stopped)
{
    enum { MOST = 16 };
    char *copies[MOST] = {NULL}; /* posix_spawnp() changes none */
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    assert(arguments[0] != NULL);
    *stopped = false;
    for (size_t i = 0; i + 1 < MOST && arguments[i]; i++)
        copies[i] = (char *)(uintptr_t)arguments[i];
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    bool done =
        let_interrupts_in(&attributes) &&
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, 1, 2) == 0 &&
        (errno = posix_spawnp(&child, copies[0], &actions, &attributes, copies, environ)) == 0 &&
        wait_for(child, limit, status, stopped);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return done;
}
