/* Every wait of uthread.h fails with -ECANCELED, and only once for a request. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "uthread.h"

static uthread_lock_t *held;
static uthread_lock_t *mine;
static uthread_cond_t *cond;
static uthread_sem_t *sem;
static uthread_barrier_t *barrier;
static uthread_channel_t *channel;
static uthread_t *other;
static uthread_once_t once = UTHREAD_ONCE_INIT;
static int ends[2];
static char byte;

static int locks(void) { return uthread_lock(held); }
static int locks_timed(void) { return uthread_lock_timed(held, LONG); }
static int waits_for(int (*wait)(void)) {
    CHECK(uthread_lock(mine) == 0);
    int result = wait();
    CHECK(uthread_unlock(mine) == 0);    /* it was held in any case */
    return result;
}
static int cond_wait(void) { return uthread_cond_wait(cond, mine); }
static int cond_wait_timed(void) { return uthread_cond_wait_timed(cond, mine, LONG); }
static int waits_for_condition(void) { return waits_for(cond_wait); }
static int waits_for_condition_timed(void) { return waits_for(cond_wait_timed); }
static int waits_for_sem(void) { return uthread_sem_wait(sem); }
static int waits_for_sem_timed(void) { return uthread_sem_wait_timed(sem, LONG); }
static int meets(void) { return uthread_barrier_wait(barrier); }
static int meets_timed(void) { return uthread_barrier_wait_timed(barrier, LONG); }
static int sends(void) { return uthread_channel_send(channel, NULL); }
static int sends_timed(void) { return uthread_channel_send_timed(channel, NULL, LONG); }
static int receives(void) {
    void *value;
    return uthread_channel_receive(channel, &value);
}
static int receives_timed(void) {
    void *value;
    return uthread_channel_receive_timed(channel, &value, LONG);
}
static int joins(void) { return uthread_join(other, NULL); }
static int joins_timed(void) { return uthread_join_timed(other, NULL, LONG); }
static int suspends_timed(void) { return uthread_suspend_timed(LONG); }
static int sleeps(void) { return uthread_sleep(LONG); }
static int yields(void) {
    int result;
    while ((result = uthread_yield()) == 0) {
    }
    return result;
}
static int polls(void) { return uthread_poll(ends[0], UTHREAD_READABLE); }
static int polls_timed(void) { return uthread_poll_timed(ends[0], UTHREAD_READABLE, LONG); }
static int reads(void) { return (int)uthread_async_read(ends[0], &byte, 1, 0); }
static int reads_timed(void) { return (int)uthread_async_read_timed(ends[0], &byte, 1, 0, LONG); }
static void suspend_once(void) { CHECK(uthread_suspend() == 0); }
static int waits_for_once(void) { return uthread_once(&once, suspend_once); }

static void *run(void *wait) {
    int result = (*(int (**)(void))wait)();
    CHECK(uthread_sleep(1) == 0);    /* one request has ended one wait */
    return (void *)(long)result;
}

static void check(int (*wait)(void)) {
    uthread_t *thread;
    void *value;
    CHECK(uthread_create(&thread, NULL, run, &wait) == 0);
    for (int turn = 0; turn < 3; turn++) CHECK(uthread_yield() == 0);
    CHECK(uthread_cancel(thread) == 0);
    CHECK(uthread_join(thread, &value) == 0 && (long)value == -ECANCELED);
}

static void *suspends(void *value) {
    CHECK(uthread_suspend() == 0);
    return value;
}
static void *calls_once(void *value) {
    CHECK(uthread_once(&once, suspend_once) == 0);
    return value;
}

static void *all(void *value) {
    held = uthread_lock_create(UTHREAD_PLAIN), mine = uthread_lock_create(UTHREAD_INHERIT);
    cond = uthread_cond_create(), sem = uthread_sem_create(0), barrier = uthread_barrier_create(2);
    channel = uthread_channel_create(0), once.done = NULL;
    CHECK(pipe(ends) == 0 && uthread_lock(held) == 0);
    int (*waits[])(void) = {locks, locks_timed, waits_for_condition, waits_for_condition_timed,
                            waits_for_sem, waits_for_sem_timed, meets, meets_timed, sends, sends_timed,
                            receives, receives_timed, uthread_suspend, suspends_timed, sleeps, yields,
                            polls, polls_timed};
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) check(waits[i]);
    /* A thread whose join was cancelled can be joined, and gives its value. */
    CHECK(uthread_create(&other, NULL, suspends, &other) == 0);
    check(joins), check(joins_timed);
    CHECK(uthread_resume(other) == 0 && uthread_join(other, &value) == 0 && value == &other);
    CHECK(uthread_create(&other, NULL, calls_once, NULL) == 0 && uthread_sleep(1000) == 0);
    check(waits_for_once);
    CHECK(uthread_resume(other) == 0 && uthread_join(other, NULL) == 0);
    /* Only the ring can cancel a read of a pipe, and this process may have none. */
    if (uthread_async_read_timed(ends[0], &byte, 1, 0, 1000) == -ETIMEDOUT) check(reads), check(reads_timed);
    /* A request before the wait; several count as one. */
    CHECK(uthread_cancel(uthread_self()) == 0 && uthread_cancel(uthread_self()) == 0);
    CHECK(uthread_suspend() == -ECANCELED && uthread_sleep(1) == 0);
    CHECK(uthread_cancel(NULL) == -EINVAL);
    /* Nothing is left behind by those that went. */
    CHECK(uthread_unlock(held) == 0 && uthread_trylock(held) == 0 && uthread_unlock(held) == 0);
    CHECK(uthread_sem_post(sem) == 0 && uthread_sem_trywait(sem) == 0);
    CHECK(uthread_channel_send_timed(channel, NULL, 1000) == -ETIMEDOUT);
    uthread_cond_destroy(cond), uthread_sem_destroy(sem), uthread_barrier_destroy(barrier);
    uthread_channel_destroy(channel);
    CHECK(uthread_lock_destroy(held) == 0 && uthread_lock_destroy(mine) == 0);
    close(ends[0]), close(ends[1]);
    return NULL;
}

int main(void) {
    for (unsigned int workers = 1; workers <= 2; workers++) {
        uthread_config_t config = {.slice_us = 1000, .workers = workers};
        CHECK(uthread_run_with(&config, all, NULL, NULL) == 0);
    }
    CHECK(uthread_init(0) == 0);
    all(NULL);
    CHECK(uthread_end() == 0);
    puts("every wait was cancelled");
    return 0;
}
