/* What a program must not do, and the error that it gets for it. Ends with 1 at the first broken promise. */
#include <errno.h>
#include <stdint.h>

#include "check.h"
#include "uthread.h"

static uthread_lock_t *lock;
static uthread_spinlock_t *spinlock;
static uthread_rwlock_t *shared;
static uthread_cond_t *cond;
static uthread_sem_t *sem;
static uthread_barrier_t *barrier;
static uthread_channel_t *full, *empty;
static uthread_key_t *key;
static int destroyed, refused;

static void *nothing(void *value) { return value; }
static void *suspends(void *value) {
    CHECK(uthread_suspend() == 0);
    return value;
}
static void *detaches_itself(void *value) {
    CHECK(uthread_detach(uthread_self()) == 0 && uthread_detach(uthread_self()) == -EINVAL);
    return suspends(value);
}
static void *locks(void *value) {
    CHECK(uthread_lock(lock) == 0 && uthread_unlock(lock) == 0);
    return value;
}
static void *spins(void *value) {
    CHECK(uthread_spinlock_lock(spinlock) == 0 && uthread_spinlock_unlock(spinlock) == 0);
    return value;
}
static void *waits(void *value) {
    CHECK(uthread_lock(lock) == 0 && uthread_cond_wait(cond, lock) == 0 && uthread_unlock(lock) == 0);
    return value;
}
static void *takes(void *value) {
    CHECK(uthread_sem_wait(sem) == 0);
    return value;
}
static void *meets(void *value) {
    CHECK(uthread_barrier_wait(barrier) >= 0);
    return value;
}
static void *sends(void *value) {
    CHECK(uthread_channel_send(full, value) == 0);
    return value;
}
static void *receives(void *value) {
    CHECK(uthread_channel_receive(empty, &value) == 0);
    return value;
}

/* Starts a thread and lets it run to its wait. */
static uthread_t *starts(void *(*function)(void *)) {
    uthread_t *thread;
    CHECK(uthread_create(&thread, NULL, function, &lock) == 0 && uthread_sleep(2000) == 0);
    return thread;
}
static void ends(uthread_t *thread) { CHECK(uthread_join(thread, NULL) == 0); }

/* No object can be destroyed as long as a thread waits for it. */
static void waiters(int spinning) {
    uthread_t *thread;
    void *value;
    lock = uthread_lock_create(0), cond = uthread_cond_create(), sem = uthread_sem_create(0);
    spinlock = uthread_spinlock_create(), barrier = uthread_barrier_create(2);
    full = uthread_channel_create(0), empty = uthread_channel_create(1);
    CHECK(uthread_lock(lock) == 0);
    thread = starts(locks);
    CHECK(uthread_lock_destroy(lock) == -EBUSY && uthread_unlock(lock) == 0);
    int handed_over = uthread_lock_destroy(lock);
    if (handed_over == 0) CHECK(spinning && (lock = uthread_lock_create(0)));
    else CHECK(handed_over == -EBUSY);
    ends(thread);
    if (spinning) {
        CHECK(uthread_spinlock_lock(spinlock) == 0);
        thread = starts(spins);
        CHECK(uthread_spinlock_destroy(spinlock) == -EBUSY && uthread_spinlock_unlock(spinlock) == 0);
        ends(thread);
    }
    thread = starts(waits);
    CHECK(uthread_cond_destroy(cond) == -EBUSY && uthread_lock_destroy(lock) == -EBUSY);
    CHECK(uthread_cond_wait(cond, lock) == -EPERM && uthread_cond_wait_timed(cond, lock, 1) == -EPERM);
    CHECK(uthread_lock(lock) == 0 && uthread_cond_notify(cond, lock) == 0 && uthread_unlock(lock) == 0);
    ends(thread);
    thread = starts(takes);
    CHECK(uthread_sem_destroy(sem) == -EBUSY && uthread_sem_post(sem) == 0);
    ends(thread);
    thread = starts(meets);
    CHECK(uthread_barrier_destroy(barrier) == -EBUSY && uthread_barrier_wait(barrier) >= 0);
    ends(thread);
    thread = starts(sends);
    CHECK(uthread_channel_destroy(full) == -EBUSY && uthread_channel_receive(full, &value) == 0);
    ends(thread);
    thread = starts(receives);
    CHECK(uthread_channel_destroy(empty) == -EBUSY && uthread_channel_send(empty, NULL) == 0);
    ends(thread);
    CHECK(uthread_lock_destroy(lock) == 0 && uthread_spinlock_destroy(spinlock) == 0);
    CHECK(uthread_cond_destroy(cond) == 0 && uthread_sem_destroy(sem) == 0);
    CHECK(uthread_barrier_destroy(barrier) == 0);
    CHECK(uthread_channel_destroy(full) == 0 && uthread_channel_destroy(empty) == 0);
    CHECK(uthread_sem_destroy(NULL) == 0 && uthread_cond_destroy(NULL) == 0);
}

static void handles(void) {
    uthread_t *thread, *next[100];
    CHECK(uthread_create(&thread, NULL, nothing, NULL) == 0 && uthread_join(thread, NULL) == 0);
    for (int i = 0; i < 100; i++) CHECK(uthread_create(&next[i], NULL, suspends, NULL) == 0);
    CHECK(uthread_join(thread, NULL) == -ESRCH && uthread_join_timed(thread, NULL, 1) == -ESRCH);
    CHECK(uthread_detach(thread) == -ESRCH && uthread_resume(thread) == -ESRCH);
    CHECK(uthread_cancel(thread) == -ESRCH && uthread_terminate(thread) == -ESRCH);
    CHECK(uthread_priority(thread) == -ESRCH && uthread_set_priority(thread, UTHREAD_RED) == -ESRCH);
    for (int i = 0; i < 100; i++) CHECK(uthread_resume(next[i]) == 0 && uthread_join(next[i], NULL) == 0);
    thread = starts(suspends);
    CHECK(uthread_detach(thread) == 0 && uthread_detach(thread) == -EINVAL);
    CHECK(uthread_join(thread, NULL) == -EINVAL && uthread_resume(thread) == 0);
    CHECK(uthread_sleep(2000) == 0 && uthread_join(thread, NULL) == -ESRCH);
    thread = starts(detaches_itself);
    CHECK(uthread_join(thread, NULL) == -EINVAL && uthread_resume(thread) == 0);
    CHECK(uthread_sleep(2000) == 0 && uthread_join(thread, NULL) == -ESRCH);
    CHECK(uthread_join((uthread_t *)&lock, NULL) == -ESRCH && uthread_resume((uthread_t *)1) == -ESRCH);
}

static void *keeps(void *value) {
    CHECK(value == &lock ? uthread_rwlock_write(shared) == 0 : uthread_spinlock_lock(spinlock) == 0);
    return value;
}
static void *frees(void *value) {
    CHECK((value == &lock ? uthread_rwlock_unlock(shared) : uthread_spinlock_unlock(spinlock)) == -EPERM);
    return value;
}
/* What a thread holds at its end, the next one in its place does not. */
static void leftovers(void) {
    shared = uthread_rwlock_create(), spinlock = uthread_spinlock_create();
    void *const kinds[] = {&lock, &spinlock};
    for (int i = 0; i < 2; i++) {
        uthread_t *thread;
        CHECK(uthread_create(&thread, NULL, keeps, kinds[i]) == 0 && uthread_join(thread, NULL) == 0);
        CHECK(uthread_create(&thread, NULL, frees, kinds[i]) == 0 && uthread_join(thread, NULL) == 0);
    }
    CHECK(uthread_rwlock_destroy(shared) == -EBUSY && uthread_spinlock_destroy(spinlock) == -EBUSY);
}

/* A writer would wait for itself. */
static void writers(void) {
    shared = uthread_rwlock_create();
    CHECK(uthread_rwlock_write(shared) == 0 && uthread_rwlock_write(shared) == -EDEADLK);
    CHECK(uthread_rwlock_read(shared) == -EDEADLK && uthread_rwlock_tryread(shared) == -EBUSY);
    CHECK(uthread_rwlock_write_timed(shared, LONG) == -EDEADLK && uthread_rwlock_read_timed(shared, LONG) == -EDEADLK);
    CHECK(uthread_rwlock_unlock(shared) == 0 && uthread_rwlock_unlock(shared) == -EPERM);
    CHECK(uthread_rwlock_destroy(shared) == 0);
}

/* An end of termination's hold that has no beginning changes nothing. */
static void *sleeps(void *value) {
    uthread_terminate_enable();
    uthread_sleep(LONG);
    return value;
}
static void ends_without_a_beginning(void) {
    void *value;
    uthread_preempt_enable();
    CHECK(uthread_may_wait() == 1);
    uthread_t *thread = starts(sleeps);
    CHECK(uthread_terminate(thread) == 0 && uthread_join(thread, &value) == 0 && value == UTHREAD_TERMINATED);
}

static void numbers(void) {
    uthread_t *thread;
    size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40, ((size_t)512 << 20) + 1};
    for (int i = 0; i < 4; i++) {
        uthread_attr_t attr = {.stack_size = sizes[i]};
        uthread_config_t own = {.stack_size = sizes[i]}, main_own = {.main_stack_size = sizes[i]};
        CHECK(uthread_create(&thread, &attr, nothing, NULL) == -EINVAL);
        CHECK(uthread_run_with(&own, nothing, NULL, NULL) == -EINVAL);
        CHECK(uthread_run_with(&main_own, nothing, NULL, NULL) == -EINVAL);
    }
    uthread_sem_t *most = uthread_sem_create(SIZE_MAX);
    CHECK(uthread_sem_post(most) == -EOVERFLOW && uthread_sem_trywait(most) == 0);
    CHECK(uthread_sem_post(most) == 0 && uthread_sem_post(most) == -EOVERFLOW);
    CHECK(uthread_sem_destroy(most) == 0);
}

static void sets_again(void *value) {
    destroyed++;
    int result = uthread_set(key, value);
    CHECK(result == 0 || result == -EAGAIN);
    refused += result == -EAGAIN;
}
static void *sets(void *value) {
    CHECK(uthread_set(key, value) == 0);
    return value;
}
static void values(void) {
    key = uthread_key_create(sets_again);
    ends(starts(sets));
    CHECK(destroyed == 4 && refused == 1);
    uthread_key_destroy(key);
    destroyed = refused = 0;
}

static void *spins_in_vain(void *value) {
    CHECK(uthread_spinlock_lock(spinlock) == -EDEADLK);
    return value;
}
/* The owner waits for threads that spin. */
static void circles(void) {
    uthread_t *thread[2];
    spinlock = uthread_spinlock_create();
    CHECK(uthread_spinlock_lock(spinlock) == 0);
    for (int i = 0; i < 2; i++) CHECK(uthread_create(&thread[i], NULL, spins_in_vain, NULL) == 0);
    for (int i = 0; i < 2; i++) ends(thread[i]);
    CHECK(uthread_spinlock_unlock(spinlock) == 0 && uthread_spinlock_destroy(spinlock) == 0);
}

static void *all(void *two_workers) {
    waiters(two_workers != NULL);
    handles();
    writers();
    leftovers();
    ends_without_a_beginning();
    numbers();
    values();
    return NULL;
}

int main(void) {
    alarm(60);    /* nothing here waits that long */
    uthread_config_t config = {.workers = 2, .slice_us = 1000};
    CHECK(uthread_run_with(&config, all, &config, NULL) == 0);
    CHECK(uthread_init(0) == 0);
    all(NULL);
    uthread_preempt_disable();
    CHECK(uthread_end() == -EPERM);
    uthread_preempt_enable();
    circles();
    CHECK(uthread_end() == 0);
    CHECK(uthread_init(1000) == 0);
    circles();
    CHECK(uthread_end() == 0);
    puts("misuse is refused");
    return 0;
}
