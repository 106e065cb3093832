/* A thread beside the calling one: see background.h. */
#include "base/background.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct twi_background {
    pthread_t thread;
    pid_t process; /* whose thread it is: a child of fork does not have it */
    void (*work)(void *self);
    void *self;
};

static void *run(void *background_)
{
    twi_background *background = background_;
    background->work(background->self);
    return NULL;
}

twi_background *twi_background_start(void (*work)(void *self), void *self)
{
    twi_background *background = malloc(sizeof *background);
    sigset_t all;
    sigset_t before;
    if (background == NULL) {
        return NULL;
    }
    background->process = getpid();
    background->work = work;
    background->self = self;
    /* Signals are for the threads of the program: one that interrupts a wait must reach it there.
     */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&background->thread, NULL, run, background);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        free(background);
        return NULL;
    }
    return background;
}

void twi_background_join(twi_background *background)
{
    if (background != NULL && background->process == getpid()) {
        pthread_join(background->thread, NULL);
    }
    free(background);
}
