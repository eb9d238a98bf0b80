/* What uthread.h promises, in both ways into a runtime. Ends with 1 at the first broken promise. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "uthread.h"

static volatile int stop;
static volatile long turns;
static int calls;
static uthread_once_t once = UTHREAD_ONCE_INIT;
static uthread_lock_t *lock;
static uthread_cond_t *cond;
static int filled;
static int waits;

static void *spin(void *value) {
    while (!stop) turns++;
    return value;
}
static void *exits(void *value) { uthread_exit(value); }
static void *suspends(void *value) {
    CHECK(uthread_suspend() == 0);
    return value;
}
static void call_once(void) {
    calls++;
    CHECK(uthread_once(&once, call_once) == -EDEADLK);
}
static void *wait_for_value(void *value) {
    CHECK(uthread_lock(lock) == 0);
    waits = 1;
    if (!filled) CHECK(uthread_cond_wait(cond, lock) == 0);
    CHECK(filled);
    filled = 0;
    CHECK(uthread_unlock(lock) == 0);
    return value;
}
static void *meets(void *barrier) { return (void *)(long)uthread_barrier_wait(barrier); }
static void *sends(void *channel) {
    for (long i = 1; i <= 3; i++) CHECK(uthread_channel_send(channel, (void *)i) == 0);
    CHECK(uthread_channel_close(channel) == 0);
    return NULL;
}
static void *gives_up(void *lock) { return (void *)(long)uthread_lock_timed(lock, 100); }
static void *unlocks(void *lock) { return (void *)(long)uthread_unlock(lock); }
static void *nothing(void *value) { return value; }

static uthread_key_t *key;
static long destroyed;
static void adds(void *value) {
    CHECK(uthread_get(key) == NULL && uthread_yield() == 0);
    __atomic_fetch_add(&destroyed, (long)value, __ATOMIC_RELAXED);
}
static void *has_its_own(void *value) {
    CHECK(uthread_get(key) == NULL && uthread_set(key, &calls) == 0 && uthread_set(key, value) == 0);
    CHECK(uthread_yield() == 0 && uthread_get(key) == value);
    if ((long)value == 2) uthread_exit(value);
    return value;
}

static void values(void) {
    uthread_t *thread[3];
    destroyed = 0;
    key = uthread_key_create(adds);
    CHECK(key && uthread_get(NULL) == NULL && uthread_set(NULL, &calls) == -EINVAL);
    for (long i = 0; i < 3; i++) CHECK(uthread_create(&thread[i], NULL, has_its_own, (void *)i) == 0);
    for (int i = 0; i < 3; i++) CHECK(uthread_join(thread[i], NULL) == 0);
    CHECK(uthread_get(key) == NULL && destroyed == 1 + 2);
    uthread_key_t *other = uthread_key_create(NULL);
    CHECK(uthread_set(other, &calls) == 0 && uthread_get(other) == &calls && uthread_get(key) == NULL);
    uthread_key_destroy(other);
    uthread_key_destroy(key);
}

static void threads(void) {
    uthread_t *thread;
    void *value;
    uthread_attr_t attr = {"named", 256 << 10, UTHREAD_RED};
    CHECK(uthread_create(&thread, &attr, exits, &attr) == 0);
    CHECK(uthread_priority(thread) == UTHREAD_RED);
    CHECK(uthread_join(thread, &value) == 0 && value == &attr);
    CHECK(uthread_create(&thread, NULL, suspends, &once) == 0);
    CHECK(uthread_yield() == 0 && uthread_resume(thread) == 0);
    CHECK(uthread_join(thread, &value) == 0 && value == &once);
    CHECK(uthread_create(&thread, NULL, nothing, NULL) == 0 && uthread_detach(thread) == 0);
    CHECK(uthread_create(NULL, NULL, nothing, NULL) == 0);
    CHECK(uthread_join(uthread_self(), NULL) == -EDEADLK);
    CHECK(uthread_create(&thread, NULL, NULL, NULL) == -EINVAL);
    attr.priority = 7;
    CHECK(uthread_create(&thread, &attr, nothing, NULL) == -EINVAL);
    CHECK(UTHREAD_GREEN < UTHREAD_ORANGE && UTHREAD_ORANGE < UTHREAD_RED);
    CHECK(uthread_priority(uthread_self()) == UTHREAD_ORANGE);
    CHECK(uthread_set_priority(uthread_self(), 0) == -EINVAL);
    CHECK(uthread_set_priority(uthread_self(), UTHREAD_GREEN) == 0);
    CHECK(uthread_priority(uthread_self()) == UTHREAD_GREEN);
    CHECK(uthread_set_priority(uthread_self(), UTHREAD_ORANGE) == 0);
    CHECK(uthread_id() == 1 && uthread_sleep(100) == 0);
    CHECK(uthread_once(&once, call_once) == 0 && uthread_once(&once, call_once) == 0 && calls == 1);
}

static void locks(void) {
    uthread_t *thread;
    void *value;
    lock = uthread_lock_create(UTHREAD_INHERIT);
    CHECK(lock && !uthread_lock_create(9));
    CHECK(uthread_lock(lock) == 0 && uthread_lock(lock) == -EDEADLK);
    CHECK(uthread_trylock(lock) == -EBUSY && uthread_lock_destroy(lock) == -EBUSY);
    CHECK(uthread_create(&thread, NULL, unlocks, lock) == 0);
    CHECK(uthread_join(thread, &value) == 0 && (long)value == -EPERM);
    CHECK(uthread_unlock(lock) == 0 && uthread_unlock(lock) == -EPERM && uthread_lock(NULL) == -EINVAL);
    uthread_lock_t *ceiling = uthread_lock_create(UTHREAD_CEILING(UTHREAD_GREEN));
    CHECK(uthread_lock(ceiling) == -EINVAL && uthread_lock_destroy(ceiling) == 0);
    const int kinds[] = {UTHREAD_PLAIN, UTHREAD_FIFO, UTHREAD_INHERIT, UTHREAD_CEILING(UTHREAD_ORANGE),
                         UTHREAD_CEILING(UTHREAD_RED)};
    for (unsigned int kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        uthread_lock_t *other = uthread_lock_create(kinds[kind]);
        CHECK(uthread_lock(other) == 0 && uthread_lock(other) == -EDEADLK);
        CHECK(uthread_unlock(other) == 0 && uthread_lock_destroy(other) == 0);
    }
    uthread_spinlock_t *spinlock = uthread_spinlock_create();
    CHECK(uthread_spinlock_lock(spinlock) == 0 && uthread_spinlock_trylock(spinlock) == -EBUSY);
    CHECK(uthread_spinlock_unlock(spinlock) == 0 && uthread_spinlock_unlock(spinlock) == -EPERM);
    CHECK(uthread_spinlock_destroy(spinlock) == 0);

    cond = uthread_cond_create();
    waits = 0;
    CHECK(uthread_cond_wait(cond, lock) == -EPERM);
    CHECK(uthread_create(&thread, NULL, wait_for_value, NULL) == 0);
    while (uthread_lock(lock) == 0 && !waits) {
        CHECK(uthread_unlock(lock) == 0 && uthread_yield() == 0);
    }
    filled = 1;
    CHECK(uthread_cond_signal(cond, lock) == 0 && filled == 0);    /* Hoare: it has been there */
    CHECK(uthread_unlock(lock) == 0 && uthread_join(thread, NULL) == 0);
    CHECK(uthread_lock(lock) == 0 && uthread_cond_broadcast(cond, lock) == 0);
    CHECK(uthread_cond_notify(cond, lock) == 0 && uthread_cond_notify_all(cond, lock) == 0);
    CHECK(uthread_cond_signal_unlock(cond, lock) == 0 && uthread_unlock(lock) == -EPERM);
    CHECK(uthread_cond_notify(cond, lock) == -EPERM && uthread_cond_notify_all(cond, lock) == -EPERM);
    CHECK(uthread_cond_notify(cond, NULL) == 0 && uthread_cond_notify_all(cond, NULL) == 0);
    CHECK(uthread_cond_notify(NULL, NULL) == -EINVAL);
    uthread_cond_destroy(cond);
    CHECK(uthread_lock_destroy(lock) == 0);
}

static void others(void) {
    uthread_t *thread;
    void *value;
    uthread_sem_t *sem = uthread_sem_create(1);
    CHECK(uthread_sem_wait(sem) == 0 && uthread_sem_trywait(sem) == -EAGAIN);
    CHECK(uthread_sem_post(sem) == 0 && uthread_sem_trywait(sem) == 0);
    uthread_sem_destroy(sem);
    uthread_barrier_t *barrier = uthread_barrier_create(2);
    CHECK(uthread_create(&thread, NULL, meets, barrier) == 0);
    int leads = uthread_barrier_wait(barrier);
    CHECK(uthread_join(thread, &value) == 0 && leads + (long)value == 1);
    uthread_barrier_destroy(barrier);
    uthread_channel_t *channel = uthread_channel_create(1);
    CHECK(uthread_channel_tryreceive(channel, &value) == -EAGAIN);
    CHECK(uthread_create(&thread, NULL, sends, channel) == 0);
    for (long i = 1; i <= 3; i++) CHECK(uthread_channel_receive(channel, &value) == 0 && (long)value == i);
    CHECK(uthread_channel_receive(channel, &value) == -EPIPE && uthread_join(thread, NULL) == 0);
    CHECK(uthread_channel_send(channel, NULL) == -EPIPE);
    uthread_channel_destroy(channel);
    FILE *file = tmpfile();
    char text[6] = "";
    CHECK(file && uthread_async_write(fileno(file), "hello", 5, 0) == 5 && uthread_fsync(fileno(file)) == 0);
    CHECK(uthread_async_read(fileno(file), text, 5, 0) == 5 && strcmp(text, "hello") == 0);
    CHECK(uthread_async_read(-1, text, 5, 0) == -EBADF && uthread_async_read(0, NULL, 5, 0) == -EFAULT);
    CHECK(uthread_async_read(fileno(file), text, 5, -1) == -EINVAL);
    fclose(file);
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    CHECK(uthread_poll(ends[0], UTHREAD_READABLE) == UTHREAD_READABLE && uthread_poll(0, 9) == -EINVAL);
    close(ends[0]), close(ends[1]);
    uthread_preempt_disable();
    CHECK(uthread_sleep(1) == -EPERM);
    uthread_preempt_enable();
}

/* Waits that end by themselves, and the same that somebody ends in time. */
static void limits(void) {
    enum { SHORT = 100 };
    uthread_t *thread;
    void *value;
    CHECK(uthread_suspend_timed(SHORT) == -ETIMEDOUT);
    CHECK(uthread_resume(uthread_self()) == 0 && uthread_suspend_timed(LONG) == 0);
    CHECK(uthread_create(&thread, NULL, suspends, &once) == 0);
    CHECK(uthread_join_timed(thread, &value, SHORT) == -ETIMEDOUT && uthread_resume(thread) == 0);
    CHECK(uthread_join_timed(thread, &value, LONG) == 0 && value == &once);
    CHECK(uthread_join_timed(uthread_self(), NULL, SHORT) == -EDEADLK);
    uthread_lock_t *held = uthread_lock_create(UTHREAD_INHERIT);
    CHECK(uthread_lock_timed(held, SHORT) == 0 && uthread_lock_timed(held, SHORT) == -EDEADLK);
    CHECK(uthread_create(&thread, NULL, gives_up, held) == 0);
    CHECK(uthread_join(thread, &value) == 0 && (long)value == -ETIMEDOUT);
    uthread_cond_t *nobody = uthread_cond_create();
    CHECK(uthread_cond_wait_timed(nobody, held, SHORT) == -ETIMEDOUT && uthread_unlock(held) == 0);
    CHECK(uthread_cond_wait_timed(nobody, held, SHORT) == -EPERM);
    uthread_cond_destroy(nobody);
    CHECK(uthread_lock_destroy(held) == 0);
    uthread_sem_t *sem = uthread_sem_create(1);
    CHECK(uthread_sem_wait_timed(sem, LONG) == 0 && uthread_sem_wait_timed(sem, SHORT) == -ETIMEDOUT);
    uthread_sem_destroy(sem);
    uthread_barrier_t *barrier = uthread_barrier_create(2);
    CHECK(uthread_barrier_wait_timed(barrier, SHORT) == -ETIMEDOUT);
    CHECK(uthread_create(&thread, NULL, meets, barrier) == 0);
    int leads = uthread_barrier_wait_timed(barrier, LONG);
    CHECK(uthread_join(thread, &value) == 0 && leads + (long)value == 1);
    uthread_barrier_destroy(barrier);
    uthread_channel_t *channel = uthread_channel_create(1);
    CHECK(uthread_channel_receive_timed(channel, &value, SHORT) == -ETIMEDOUT);
    CHECK(uthread_channel_send_timed(channel, &once, LONG) == 0);
    CHECK(uthread_channel_send_timed(channel, &once, SHORT) == -ETIMEDOUT);
    CHECK(uthread_channel_receive_timed(channel, &value, LONG) == 0 && value == &once);
    uthread_channel_destroy(channel);
    FILE *file = tmpfile();
    char text[6] = "";
    CHECK(file && uthread_async_write_timed(fileno(file), "hello", 5, 0, LONG) == 5);
    CHECK(uthread_async_read_timed(fileno(file), text, 5, 0, LONG) == 5 && strcmp(text, "hello") == 0);
    fclose(file);
    int ends[2];
    CHECK(pipe(ends) == 0 && uthread_poll_timed(ends[0], UTHREAD_READABLE, SHORT) == -ETIMEDOUT);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(uthread_poll_timed(ends[0], UTHREAD_READABLE, LONG) == UTHREAD_READABLE);
    close(ends[0]), close(ends[1]);
}

static void *all(void *value) {
    threads();
    values();
    locks();
    others();
    limits();
    CHECK(uthread_init(0) == -EBUSY && uthread_run(nothing, NULL) == -EBUSY);
    return value;
}

/* Only a timer can take the processor from `spin` and from the loop here. */
static void preemption(void) {
    uthread_t *thread;
    uthread_statistics_t statistics;
    CHECK(uthread_create(&thread, NULL, spin, NULL) == 0);
    while (turns == 0) {
    }
    stop = 1;
    CHECK(uthread_join(thread, NULL) == 0);
    CHECK(uthread_statistics(&statistics) == 0 && statistics.preemptions > 0);
}

int main(void) {
    void *value;
    CHECK(uthread_lock_create(UTHREAD_PLAIN) && uthread_id() == 0 && !uthread_self());
    CHECK(uthread_end() == -EPERM && uthread_suspend() == -EPERM);
    key = uthread_key_create(adds);
    CHECK(uthread_set(key, &calls) == -EPERM && uthread_get(key) == NULL);
    uthread_key_destroy(key);
    CHECK(strlen(uthread_strerror(-EDEADLK)) > 0 && strlen(uthread_strerror(ENOENT)) > 0);
    CHECK(uthread_run(NULL, NULL) == -EINVAL && uthread_init(5) == -EINVAL);
    CHECK(uthread_run(suspends, NULL) == -EDEADLK);

    uthread_config_t config = {.slice_us = 1000, .workers = 2, .main_stack_size = 2 << 20};
    CHECK(uthread_run_with(&config, all, &config, &value) == 0 && value == &config);
    CHECK(uthread_run_with(NULL, exits, &config, &value) == 0 && value == &config);
    once.done = NULL, calls = 0;
    CHECK(uthread_init(1000) == 0);
    all(NULL);
    preemption();
    CHECK(uthread_end() == 0 && uthread_id() == 0);
    once.done = NULL, calls = 0;
    CHECK(uthread_init(0) == 0);
    all(NULL);
    CHECK(uthread_end() == 0);
    puts("all promises hold");
    return 0;
}
