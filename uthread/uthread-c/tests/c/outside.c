/* Kernel threads and signal handlers wake user threads. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "check.h"
#include "uthread.h"

enum { TIMES = 1000 };

static uthread_poster_t *poster;

static void on_signal(int number) {
    (void)number;
    uthread_poster_post(poster);
}

struct ways {
    uthread_sem_t *sem;
    uthread_channel_t *channel;
    uthread_t *thread;
    uthread_external_t *external;
};

static void *outside(void *shared) {
    struct ways *ways = shared;
    for (uintptr_t i = 1; i <= TIMES; i++) {
        CHECK(uthread_sem_post(ways->sem) == 0);
        CHECK(uthread_channel_send(ways->channel, (void *)i) == 0);
        CHECK(raise(SIGUSR1) == 0);
    }
    CHECK(uthread_resume(ways->thread) == 0);
    CHECK(uthread_channel_close(ways->channel) == 0);
    CHECK(uthread_channel_trysend(ways->channel, NULL) == -EPIPE);
    uthread_external_close(ways->external);
    return NULL;
}

static void *refused(void *shared) {
    struct ways *ways = shared;
    CHECK(uthread_sem_post(ways->sem) == -EPERM);
    CHECK(uthread_channel_trysend(ways->channel, NULL) == -EPERM);
    CHECK(uthread_resume(ways->thread) == -EPERM);
    CHECK(uthread_external_open() == NULL && uthread_poster_create(ways->sem) == NULL);
    return NULL;
}

static void *sleeper(void *unused) {
    CHECK(uthread_suspend() == 0);
    return unused;
}

static void *run(void *unused) {
    struct ways ways = {uthread_sem_create(0), uthread_channel_create(2), NULL, NULL};
    pthread_t kernel_thread;
    void *value;

    /* This makes them objects of the runtime. */
    CHECK(uthread_sem_trywait(ways.sem) == -EAGAIN);
    CHECK(uthread_channel_tryreceive(ways.channel, &value) == -EAGAIN);
    CHECK(uthread_create(&ways.thread, NULL, sleeper, NULL) == 0);
    CHECK(pthread_create(&kernel_thread, NULL, refused, &ways) == 0);
    CHECK(pthread_join(kernel_thread, NULL) == 0);

    CHECK(uthread_poster_create(NULL) == NULL);
    poster = uthread_poster_create(ways.sem);
    ways.external = uthread_external_open();
    CHECK(poster != NULL && ways.external != NULL);
    CHECK(pthread_create(&kernel_thread, NULL, outside, &ways) == 0);
    for (uintptr_t i = 1; i <= TIMES; i++) {
        CHECK(uthread_channel_receive(ways.channel, &value) == 0 && value == (void *)i);
    }
    CHECK(uthread_channel_receive(ways.channel, &value) == -EPIPE);
    for (int i = 0; i < 2 * TIMES; i++) CHECK(uthread_sem_wait(ways.sem) == 0);
    CHECK(uthread_sem_trywait(ways.sem) == -EAGAIN);
    CHECK(uthread_join(ways.thread, NULL) == 0);
    CHECK(pthread_join(kernel_thread, NULL) == 0);
    CHECK(uthread_channel_destroy(ways.channel) == 0);
    CHECK(uthread_sem_destroy(ways.sem) == 0);
    return unused;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (unsigned workers = 1; workers <= 2; workers++) {
        for (unsigned slice_us = 0; slice_us <= 200; slice_us += 200) {
            uthread_config_t config = {0};
            config.workers = workers;
            config.slice_us = slice_us;
            CHECK(uthread_run_with(&config, run, NULL, NULL) == 0);
            CHECK(uthread_poster_post(poster) == -ESRCH);
            uthread_poster_destroy(poster);
        }
    }
    CHECK(uthread_poster_post(NULL) == -EINVAL);
    puts("all wake-ups arrived");
    return 0;
}
