/* A runtime in place on kernel threads other than the first, one after another and at the same time. */
#include <pthread.h>
#include <stdio.h>

#include "uthread.h"

struct turns {
    volatile long count;
    volatile int stop;
};

static void *spin(void *shared) {
    struct turns *turns = shared;
    while (!turns->stop) turns->count++;
    return NULL;
}

static void *work(void *failures) {
    struct turns turns = {0, 0};
    uthread_t *thread;
    *(int *)failures = uthread_init(1000) || uthread_create(&thread, NULL, spin, &turns);
    if (*(int *)failures) return NULL;
    while (turns.count == 0) {    /* only a tick ends this */
    }
    turns.stop = 1;
    *(int *)failures = uthread_join(thread, NULL) || uthread_end();
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int failures[3];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            if (pthread_create(&threads[i], NULL, work, &failures[i])) return 1;
        for (int i = 0; i < 3; i++)
            if (pthread_join(threads[i], NULL) || failures[i]) return 1;
    }
    puts("nine runtimes have ended");
    return 0;
}
