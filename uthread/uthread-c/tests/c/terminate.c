/* Threads that others terminate: at each kind of wait, with what they hold. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "uthread.h"

static uthread_lock_t *lock;
static uthread_cond_t *cond;
static uthread_sem_t *sem;
static uthread_barrier_t *barrier;
static uthread_channel_t *channel;
static uthread_once_t once = UTHREAD_ONCE_INIT;
static uthread_t *other;
static int ends[2];
static int cleaned;
static int went_on;

static void clean(int *places) { cleaned += *places; }
static void unlock(uthread_lock_t **held) { CHECK(uthread_unlock(*held) == 0); }
/* Waits while the thread unwinds: nobody cancels that. */
static void rest(int *us) { CHECK(uthread_sleep((unsigned int)*us) == 0 && uthread_yield() == 0); }

static int suspends(void) { return uthread_suspend(); }
static int locks(void) { return uthread_lock(lock); }
static int waits_for_sem(void) { return uthread_sem_wait(sem); }
static int meets(void) { return uthread_barrier_wait(barrier); }
static int receives(void) {
    void *value;
    return uthread_channel_receive_timed(channel, &value, LONG);
}
static int sleeps(void) { return uthread_sleep(LONG); }
static int yields(void) {
    while (uthread_yield() == 0) {
    }
    return 0;
}
static int polls(void) { return uthread_poll(ends[0], UTHREAD_READABLE); }
static int reads(void) {
    char byte;
    return (int)uthread_async_read(ends[0], &byte, 1, 0);
}
static int joins(void) { return uthread_join(other, NULL); }
static int computes(void) {
    while (uthread_testcancel() == 0) {
    }
    return 0;
}
/* The lock of a condition is held again where the thread unwinds. */
static int waits_for_condition(void) {
    __attribute__((cleanup(unlock))) uthread_lock_t *held = uthread_lock_create(UTHREAD_INHERIT);
    CHECK(uthread_lock(held) == 0);
    return uthread_cond_wait(cond, held);
}
static void suspend_once(void) {
    __attribute__((cleanup(clean))) int here = 1;
    uthread_suspend();
}
static int calls_once(void) { return uthread_once(&once, suspend_once); }

static void deeper(int depth, int (*wait)(void)) {
    __attribute__((cleanup(clean))) int here = 1;
    if (depth > 0) {
        deeper(depth - 1, wait);
    } else {
        wait();
        went_on = 1;
    }
}

static void *run(void *wait) {
    __attribute__((cleanup(rest))) int us = 10;
    deeper(9, *(int (**)(void))wait);
    return NULL;
}

static void check(int (*wait)(void), int places) {
    uthread_t *thread;
    void *value = NULL;
    cleaned = 0;
    CHECK(uthread_create(&thread, NULL, run, &wait) == 0);
    for (int turn = 0; turn < 3; turn++) CHECK(uthread_yield() == 0);
    CHECK(uthread_terminate(thread) == 0 && uthread_terminate(thread) == 0);
    CHECK(uthread_cancel(thread) == 0);    /* counts as the same, or comes too late */
    CHECK(uthread_join(thread, &value) == 0 && value == UTHREAD_TERMINATED);
    CHECK(cleaned == places && !went_on);
}

static void *holds_off(void *value) {
    uthread_terminate_disable();
    CHECK(uthread_terminate(uthread_self()) == 0);
    CHECK(uthread_sleep(LONG) == -ECANCELED && uthread_sleep(1) == 0);
    cleaned = 0;
    uthread_terminate_enable();
    CHECK(cleaned == 0);    /* not a wait */
    uthread_yield();
    went_on = 1;
    return value;
}
static void *exits(void *value) { uthread_exit(value); }
static void *nothing(void *value) { return value; }
static void *suspends_first(void *value) {
    CHECK(uthread_suspend() == 0);
    return value;
}

static void *all(void *value) {
    uthread_t *thread;
    int forever = LONG;
    lock = uthread_lock_create(UTHREAD_PLAIN), cond = uthread_cond_create();
    sem = uthread_sem_create(0), barrier = uthread_barrier_create(2);
    channel = uthread_channel_create(0), once.done = NULL;
    CHECK(pipe(ends) == 0 && uthread_lock(lock) == 0);
    int (*waits[])(void) = {suspends, locks, waits_for_sem, meets, receives, sleeps, yields,
                            polls, waits_for_condition};
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) check(waits[i], 10);
    CHECK(uthread_create(&other, NULL, suspends_first, &other) == 0);
    check(joins, 10);
    CHECK(uthread_resume(other) == 0 && uthread_join(other, &value) == 0 && value == &other);
    check(calls_once, 11), check(calls_once, 11);    /* the second one calls it again */
    char byte;
    if (uthread_async_read_timed(ends[0], &byte, 1, 0, 1000) == -ETIMEDOUT) check(reads, 10);
    /* Held off; before the thread has begun; after its end; together with an exit. */
    CHECK(uthread_create(&thread, NULL, holds_off, NULL) == 0);
    CHECK(uthread_join(thread, &value) == 0 && value == UTHREAD_TERMINATED);
    CHECK(!went_on);
    int (*wait)(void) = computes;
    CHECK(uthread_create(&thread, NULL, run, &wait) == 0 && uthread_terminate(thread) == 0);
    CHECK(uthread_join(thread, &value) == 0 && value == UTHREAD_TERMINATED);
    CHECK(uthread_create(&thread, NULL, nothing, &forever) == 0 && uthread_sleep(1000) == 0);
    CHECK(uthread_terminate(thread) == 0 && uthread_join(thread, &value) == 0 && value == &forever);
    CHECK(uthread_create(&thread, NULL, exits, &forever) == 0 && uthread_terminate(thread) == 0);
    CHECK(uthread_join(thread, &value) == 0 && value == &forever);
    CHECK(uthread_terminate(uthread_self()) == -EINVAL && uthread_terminate(NULL) == -EINVAL);
    CHECK(uthread_testcancel() == 0 && uthread_cancel(uthread_self()) == 0);
    CHECK(uthread_testcancel() == -ECANCELED && uthread_sleep(1) == 0);
    CHECK(uthread_unlock(lock) == 0 && uthread_lock_destroy(lock) == 0);
    uthread_cond_destroy(cond), uthread_sem_destroy(sem), uthread_barrier_destroy(barrier);
    uthread_channel_destroy(channel), close(ends[0]), close(ends[1]);
    return NULL;
}

/* A thread that has terminated takes a lock along that nothing has released. */
static void *keeps(void *lock) {
    CHECK(uthread_lock(lock) == 0);
    uthread_suspend();
    return NULL;
}

static void *keeps_a_lock(void *value) {
    uthread_t *thread;
    uthread_lock_t *kept = uthread_lock_create(UTHREAD_PLAIN);
    CHECK(uthread_create(&thread, NULL, keeps, kept) == 0 && uthread_yield() == 0);
    CHECK(uthread_terminate(thread) == 0 && uthread_join(thread, NULL) == 0);
    CHECK(uthread_trylock(kept) == -EBUSY && uthread_lock_destroy(kept) == -EBUSY);
    return value;
}

int main(void) {
    for (unsigned int workers = 1; workers <= 2; workers++) {
        for (unsigned int slice_us = 0; slice_us <= 1000; slice_us += 1000) {
            uthread_config_t config = {.slice_us = slice_us, .workers = workers};
            for (int turn = 0; turn < 10; turn++) CHECK(uthread_run_with(&config, all, NULL, NULL) == 0);
        }
    }
    CHECK(uthread_run(keeps_a_lock, NULL) == 0);
    CHECK(uthread_init(0) == 0);
    all(NULL);
    CHECK(uthread_end() == 0);
    puts("all were terminated");
    return 0;
}
