/* Forks while a runtime runs: `workers` `slice_us` `io`. Ends with 1 at the first broken promise. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "uthread.h"

enum { BYTES = 4000 };
static uthread_config_t config;
static int file;

static void *nothing(void *value) { return value; }
static void *suspends(void *value) {
    CHECK(uthread_suspend() == 0);
    return value;
}

/* Reads and writes parts of the file. */
static void *transfers(void *value) {
    char part[100], letter[1];
    for (int i = 0; i < 100; i++) {
        CHECK(uthread_async_read(file, part, sizeof part, i) == sizeof part && part[0] == 'a' + i % 26);
        *letter = 'a' + (BYTES / 2 + i) % 26;
        CHECK(uthread_async_write(file, letter, 1, BYTES / 2 + i) == 1);
    }
    CHECK(uthread_fsync(file) == 0);
    return value;
}

static volatile int stop;
static void *spins(void *value) {
    while (!stop) {
    }
    return value;
}

/* What parent and child do after a fork. */
static void goes_on(void) {
    uthread_t *threads[3];
    void *value;
    int ends[2];
    CHECK(uthread_yield() == 0 && uthread_sleep(1000) == 0);
    for (int i = 0; i < 3; i++) CHECK(uthread_create(&threads[i], NULL, i ? transfers : nothing, &config) == 0);
    for (int i = 0; i < 3; i++) CHECK(uthread_join(threads[i], &value) == 0 && value == &config);
    CHECK(pipe(ends) == 0 && uthread_poll_timed(ends[0], UTHREAD_READABLE, 1000) == -ETIMEDOUT);
    CHECK(write(ends[1], "x", 1) == 1 && uthread_poll(ends[0], UTHREAD_READABLE) == UTHREAD_READABLE);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    if (config.slice_us) {
        stop = 0;
        CHECK(uthread_create(&threads[0], NULL, spins, NULL) == 0 && uthread_yield() == 0);
        stop = 1;
        CHECK(uthread_join(threads[0], NULL) == 0);
    }
}

/* Waits for a child, while other threads run, and returns its exit code. */
static int code_of(pid_t child) {
    int status;
    while (waitpid(child, &status, WNOHANG) == 0)
        if (uthread_self()) {
            CHECK(uthread_sleep(1000) == 0);
        } else {
            usleep(1000);
        }
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A child that hangs ends by a signal. */
static pid_t forks(void) {
    CHECK(fflush(NULL) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) alarm(60);
    return child;
}

static void *forks_in_thread(void *way) {
    pid_t child = forks();
    if (child == 0) {
        goes_on();
        CHECK(uthread_end() == -EPERM);
        if (way) uthread_exit(NULL);
    }
    return (void *)(long)child;
}

static void *forks_outside(void *thread) {
    pid_t child = forks();
    if (child == 0) {
        CHECK(uthread_join(thread, NULL) == -EPERM && uthread_init_with(&config) == 0);
        CHECK(uthread_join(thread, NULL) == -ESRCH && uthread_cancel(thread) == -ESRCH);
        goes_on();
        CHECK(uthread_end() == 0);
        exit(5);
    }
    CHECK(code_of(child) == 5);
    return NULL;
}

/* The parent waits and goes on; the child does so with its first thread alone, in each of its ways to end. */
static void first_thread(void) {
    uthread_t *thread, *ended;
    uthread_lock_t *lock = uthread_lock_create(UTHREAD_PLAIN);
    void *value;
    CHECK(lock && uthread_create(&ended, NULL, nothing, &config) == 0);
    CHECK(uthread_create(&thread, NULL, suspends, NULL) == 0);
    transfers(NULL);
    CHECK(uthread_sleep(1000) == 0);
    for (int way = 0; way < 4; way++) {
        CHECK(uthread_lock(lock) == 0);
        pid_t child = forks();
        CHECK(uthread_unlock(lock) == 0);
        if (child) {
            CHECK(code_of(child) == (way == 3 ? 0 : way));
            continue;
        }
        CHECK(uthread_join(ended, &value) == 0 && value == &config && uthread_join(ended, NULL) == -ESRCH);
        CHECK(uthread_resume(thread) == -ESRCH && uthread_terminate(thread) == -ESRCH);
        CHECK(uthread_join(thread, NULL) == -ESRCH && uthread_join_timed(thread, NULL, 1000) == -ESRCH);
        CHECK(uthread_detach(thread) == -ESRCH && uthread_id() == 1);
        goes_on();
        CHECK(uthread_lock(lock) == 0 && uthread_unlock(lock) == 0 && uthread_lock_destroy(lock) == 0);
        if (way == 3) uthread_exit(NULL);
        if (way == 2) _exit(2);
        if (way == 0) CHECK(uthread_end() == 0 && uthread_init_with(&config) == 0 && uthread_end() == 0);
        exit(way);
    }
    CHECK(uthread_resume(thread) == 0 && uthread_join(thread, NULL) == 0 && uthread_join(ended, NULL) == 0);
    CHECK(uthread_lock_destroy(lock) == 0);
}

struct waits {
    uthread_sem_t *sem;
    uthread_external_t *external;
};

static void *posts(void *shared) {
    struct waits *waits = shared;
    CHECK(uthread_sem_post(waits->sem) == 0);
    uthread_external_close(waits->external);
    return NULL;
}

/* The child opens its runtime anew. */
static void from_outside(void) {
    struct waits waits = {.sem = uthread_sem_create(0)};
    uthread_poster_t *poster = uthread_poster_create(waits.sem);
    pthread_t thread;
    CHECK(poster);
    pid_t child = forks();
    CHECK(uthread_poster_post(poster) == (child ? 0 : -ESRCH));
    CHECK((waits.external = uthread_external_open()) && pthread_create(&thread, NULL, posts, &waits) == 0);
    CHECK(uthread_sem_wait(waits.sem) == 0 && (child == 0 || uthread_sem_wait(waits.sem) == 0));
    CHECK(pthread_join(thread, NULL) == 0);
    uthread_poster_destroy(poster);
    CHECK(uthread_sem_trywait(waits.sem) == -EAGAIN && uthread_sem_destroy(waits.sem) == 0);
    if (child == 0) _exit(7);
    CHECK(code_of(child) == 7);
}

static void others(void) {
    uthread_t *thread, *suspended;
    pthread_t outside;
    void *child;
    CHECK(uthread_create(&suspended, NULL, suspends, NULL) == 0);
    for (int way = 0; way < 2; way++) {
        CHECK(uthread_create(&thread, NULL, forks_in_thread, way ? &config : NULL) == 0);
        CHECK(uthread_join(thread, &child) == 0 && code_of((pid_t)(long)child) == 0);
    }
    CHECK(pthread_create(&outside, NULL, forks_outside, suspended) == 0);
    CHECK(pthread_join(outside, NULL) == 0);
    CHECK(uthread_resume(suspended) == 0 && uthread_join(suspended, NULL) == 0);
}

int main(int count, char **arguments) {
    CHECK(count == 4);
    alarm(100);
    config = (uthread_config_t){.workers = atoi(arguments[1]), .slice_us = atoi(arguments[2]), .io = atoi(arguments[3])};
    config.keep_priority = 1;
    char name[] = "/tmp/uthread-fork-XXXXXX", letters[BYTES];
    CHECK((file = mkstemp(name)) >= 0 && unlink(name) == 0);
    for (int i = 0; i < BYTES; i++) letters[i] = 'a' + i % 26;
    CHECK(write(file, letters, BYTES) == BYTES);
    CHECK(uthread_init_with(&config) == 0);
    first_thread();
    others();
    from_outside();
    goes_on();
    CHECK(uthread_end() == 0);
    puts("parent and children went on");
    return 0;
}
