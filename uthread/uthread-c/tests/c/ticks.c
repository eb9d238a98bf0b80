/* When ticks come, counted, and what they leave as it is. Ends with 1 at the first broken promise. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "uthread.h"

enum { BYTES = 32 << 20, WORK_US = 100000 };
static char *from, *to;
static uint64_t taken, deferred;
static double took_us;
static volatile int stop;

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void computes(void) {
    for (volatile int i = 0; i < 1000000; i++) {
    }
}
static void copies(void) { memcpy(to, from, BYTES); }

/* Works for at least WORK_US, and counts the ticks of that time. */
static void *works(void *work) {
    uthread_statistics_t before, after;
    /* The timer stops at the first tick that finds no other thread. */
    for (double began = now_us(); now_us() < began + WORK_US;) computes();
    CHECK(uthread_statistics(&before) == 0);
    double began = now_us();
    while (now_us() < began + WORK_US) ((void (*)(void))work)();
    took_us = now_us() - began;
    CHECK(uthread_statistics(&after) == 0);
    taken = after.ticks_taken - before.ticks_taken;
    deferred = after.ticks_deferred - before.ticks_deferred;
    return NULL;
}

static void *nothing(void *value) { return value; }
static void *spins(void *value) {
    while (!stop) {
    }
    return value;
}

/* The last thread runs in the program, or in a library: no tick comes. With one that stays ready, retries in the
 * library are so rare that they take 5 % of the time, where one takes 5 us. */
static void counts(void) {
    const unsigned int slices_us[] = {20, 100, 1000, 10000};
    for (int i = 0; i < 4; i++) {
        uthread_config_t config = {.slice_us = slices_us[i], .keep_priority = 1};
        CHECK(uthread_init_with(&config) == 0);
        void (*const work[])(void) = {computes, copies};
        for (int k = 0; k < 2; k++) {
            uthread_t *thread, *low;
            uthread_attr_t below = {.priority = UTHREAD_GREEN};
            CHECK(uthread_create(&thread, NULL, works, (void *)work[k]) == 0);
            CHECK(uthread_join(thread, NULL) == 0);
            CHECK(taken + deferred < 20);
            CHECK(uthread_create(&low, &below, nothing, NULL) == 0);
            works((void *)work[k]);
            CHECK(uthread_join(low, NULL) == 0);
            CHECK(taken + deferred > 0);
            /* In the program's own code, a tick may be due again before the last one is handled. */
            CHECK(work[k] != copies || deferred <= took_us / 100 + taken + 10);
        }
        CHECK(uthread_end() == 0);
    }
}

/* Programs that are started by whatever way ignore the signal of ticks, and may receive it; calls that the
 * kernel restarts are not disturbed. */
static void starts(void) {
    char *const arguments[] = {
        "sh", "-c", "kill -URG $$; exec grep -q '^SigBlk:.*0000000000000000$' /proc/self/status", NULL};
    char *const environment[] = {NULL};
    uthread_t *thread;
    int status;
    CHECK(uthread_init(100) == 0 && uthread_create(&thread, NULL, spins, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        pid_t child = i % 2 ? vfork() : fork();
        if (child == 0) {
            execve("/bin/sh", arguments, environment);
            _exit(1);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment) == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(system("sleep 0.05; exit 3") == 3 << 8);
        char line[16];
        FILE *pipe = popen("sleep 0.05; echo hello", "r");
        CHECK(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "hello\n") == 0 && pclose(pipe) == 0);
    }
    stop = 1;
    CHECK(uthread_join(thread, NULL) == 0 && uthread_end() == 0);
}

static volatile int noticed;

static void *polls(void *fd) {
    CHECK(uthread_poll((int)(long)fd, UTHREAD_READABLE) == UTHREAD_READABLE);
    noticed = 1;
    return NULL;
}

/* A child that ends its copy of the runtime takes nothing from its parent: a poll that ends there still makes a
 * thread tick that computes alone. */
static void outlives_a_child(void) {
    uthread_t *thread;
    int ends[2], status;
    CHECK(pipe(ends) == 0 && uthread_init(1000) == 0);
    for (int forked = 0; forked < 2; forked++) {
        noticed = 0;
        CHECK(uthread_create(&thread, NULL, polls, (void *)(long)ends[0]) == 0 && uthread_yield() == 0);
        pid_t writer = fork();
        if (writer == 0) {
            usleep(100000);
            _exit(write(ends[1], "x", 1) != 1);
        }
        while (!noticed) {
        }
        CHECK(uthread_join(thread, NULL) == 0 && waitpid(writer, &status, 0) == writer && status == 0);
        char byte;
        CHECK(read(ends[0], &byte, 1) == 1);
        pid_t child = fork();
        if (child == 0) _exit(uthread_end());
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHECK(uthread_end() == 0);
}

int main(void) {
    alarm(100);    /* nothing here waits that long */
    from = malloc(BYTES), to = malloc(BYTES);
    CHECK(from && to);
    memset(from, 1, BYTES), memset(to, 1, BYTES);
    counts();
    starts();
    outlives_a_child();
    puts("ticks are few, and disturb no child");
    return 0;
}
