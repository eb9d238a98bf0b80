/* Mutexes, condition variables and pthread_once(3) of the C library, for programs with user threads.
 *
 * The C library knows kernel threads only: a user thread that waits would block its kernel thread, and a recursive
 * mutex would let all user threads of a kernel thread in. Here a user thread that waits lets others run, and a mutex
 * belongs to a user thread. Kernel threads use the C library's own functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

#include "wait.h"

#ifndef __GLIBC__
#error "the layout of a mutex is that of glibc"
#endif

/* The function of this name that comes after this library. */
static void *next(void **function, const char *name) {
    void *found = __atomic_load_n(function, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        if (!found) fail("uthread: libuthread-pthread needs a program that is linked dynamically\n");
        __atomic_store_n(function, found, __ATOMIC_RELAXED);
    }
    return found;
}

#define NEXT(name)                                                                                \
    ({                                                                                            \
        static void *function;                                                                    \
        (__typeof__(&name))next(&function, #name);                                                \
    })

/* ---- mutexes ------------------------------------------------------------------------------- */

enum { KIND = 3, ROBUST_INHERIT_OR_SHARED = 16 | 32 | 64 | 128 };

static int is_of_kind(const pthread_mutex_t *mutex, int kind) { return (mutex->__data.__kind & KIND) == kind; }

/* The user thread that owns the mutex. The C library uses this word for robust mutexes, and those that inherit
 * priorities. These and shared ones are counted as owned by kernel threads. */
static void *owner_of(const pthread_mutex_t *mutex) {
    if (mutex->__data.__kind & ROBUST_INHERIT_OR_SHARED) return NULL;
    return __atomic_load_n(&mutex->__data.__list.__prev, __ATOMIC_RELAXED);
}

static void set_owner(pthread_mutex_t *mutex, void *owner) {
    if (!(mutex->__data.__kind & ROBUST_INHERIT_OR_SHARED))
        __atomic_store_n(&mutex->__data.__list.__prev, owner, __ATOMIC_RELAXED);
}

/* Another user thread of this kernel thread owns the mutex. */
static int belongs_to_a_neighbour(const pthread_mutex_t *mutex) {
    void *owner = owner_of(mutex);
    if (!owner || owner == uthread_self()) return 0;
    return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == (int)syscall(SYS_gettid);
}

/* Without preemption: no other user thread of this kernel thread runs between the question and the answer. */
static int try_to_lock(pthread_mutex_t *mutex) {
    uthread_preempt_disable();
    int error = belongs_to_a_neighbour(mutex) ? EBUSY : NEXT(pthread_mutex_trylock)(mutex);
    if (error == 0) set_owner(mutex, uthread_self());
    uthread_preempt_enable();
    return error;
}

struct attempt {
    pthread_mutex_t *mutex;
    const struct timespec *until;
    clockid_t clock;
    int error;
};

static int has_passed(clockid_t clock, const struct timespec *until) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

static int attempt_is_over(void *object) {
    struct attempt *attempt = object;
    attempt->error = try_to_lock(attempt->mutex);
    if (attempt->error == EBUSY && attempt->until && has_passed(attempt->clock, attempt->until))
        attempt->error = ETIMEDOUT;
    return attempt->error != EBUSY;
}

static int is_time(const struct timespec *time) { return time->tv_nsec >= 0 && time->tv_nsec < 1000000000; }

/* For user threads. `until` may be NULL. */
static int lock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    struct attempt attempt = {mutex, until, clock, try_to_lock(mutex)};
    if (attempt.error != EBUSY) return attempt.error;
    if (until && !is_time(until)) return EINVAL;
    if (is_of_kind(mutex, PTHREAD_MUTEX_ERRORCHECK) && owner_of(mutex) == uthread_self()) return EDEADLK;
    if (uthread_may_wait())
        pause_until(attempt_is_over, &attempt);
    else if (belongs_to_a_neighbour(mutex))
        fail("uthread: a thread that holds preemption off wants a mutex that another thread of its worker owns\n");
    else {
        attempt.error = until ? NEXT(pthread_mutex_clocklock)(mutex, clock, until) : NEXT(pthread_mutex_lock)(mutex);
        if (attempt.error == 0) set_owner(mutex, uthread_self());
    }
    return attempt.error;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    return uthread_id() == 0 ? NEXT(pthread_mutex_lock)(mutex) : lock(mutex, 0, NULL);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return uthread_id() == 0 ? NEXT(pthread_mutex_trylock)(mutex) : try_to_lock(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    return uthread_id() == 0 ? NEXT(pthread_mutex_timedlock)(mutex, until) : lock(mutex, CLOCK_REALTIME, until);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    if (uthread_id() == 0) return NEXT(pthread_mutex_clocklock)(mutex, clock, until);
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ? lock(mutex, clock, until) : EINVAL;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (uthread_id() == 0) return NEXT(pthread_mutex_unlock)(mutex);
    int is_recursive = is_of_kind(mutex, PTHREAD_MUTEX_RECURSIVE);
    if ((is_recursive || is_of_kind(mutex, PTHREAD_MUTEX_ERRORCHECK)) && belongs_to_a_neighbour(mutex)) return EPERM;
    uthread_preempt_disable();
    if (owner_of(mutex) == uthread_self() && !(is_recursive && mutex->__data.__count > 1)) set_owner(mutex, NULL);
    int error = NEXT(pthread_mutex_unlock)(mutex);
    uthread_preempt_enable();
    return error;
}

/* ---- condition variables ------------------------------------------------------------------- */

/* Counts of signals, of condition variables with the same hash together: waiters must check their condition again
 * anyway. */
static uint32_t signals[256];

static uint32_t *signals_of(const pthread_cond_t *cond) {
    return &signals[((uintptr_t)cond >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

struct condition {
    uint32_t *signals, seen;
    const struct timespec *until;
    clockid_t clock;
    int error;
};

static int condition_is_over(void *object) {
    struct condition *condition = object;
    if (__atomic_load_n(condition->signals, __ATOMIC_ACQUIRE) != condition->seen) return 1;
    if (condition->until && has_passed(condition->clock, condition->until)) condition->error = ETIMEDOUT;
    return condition->error != 0;
}

/* Signals of other processes are not counted here. glibc keeps that the object is shared, and below the clock of
 * pthread_condattr_setclock(3), in these bits. */
static int is_for_the_system(const pthread_cond_t *cond) { return uthread_id() == 0 || cond->__data.__wrefs & 1; }

/* For user threads. `until` may be NULL. */
static int wait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    if (until && !is_time(until)) return EINVAL;
    if (!uthread_may_wait()) fail("uthread: a thread that holds preemption off waits for a condition variable\n");
    uint32_t *count = signals_of(cond);
    struct condition condition = {count, __atomic_load_n(count, __ATOMIC_ACQUIRE), until, clock, 0};
    int error = pthread_mutex_unlock(mutex);
    if (error != 0) return error;
    pause_until(condition_is_over, &condition);
    error = lock(mutex, 0, NULL);
    return error ? error : condition.error;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) {
    return is_for_the_system(cond) ? NEXT(pthread_cond_wait)(cond, mutex) : wait(cond, mutex, 0, NULL);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
    if (is_for_the_system(cond)) return NEXT(pthread_cond_timedwait)(cond, mutex, until);
    clockid_t clock = cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    return wait(cond, mutex, clock, until);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
    if (is_for_the_system(cond)) return NEXT(pthread_cond_clockwait)(cond, mutex, clock, until);
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ? wait(cond, mutex, clock, until) : EINVAL;
}

int pthread_cond_signal(pthread_cond_t *cond) {
    __atomic_fetch_add(signals_of(cond), 1, __ATOMIC_RELEASE);
    return NEXT(pthread_cond_signal)(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond) {
    __atomic_fetch_add(signals_of(cond), 1, __ATOMIC_RELEASE);
    return NEXT(pthread_cond_broadcast)(cond);
}

/* ---- pthread_once(3) ----------------------------------------------------------------------- */

/* glibc's own value for what is done, which compiled programs may compare. What is pending has in the upper bits how
 * many forks led to its process: in a child, nobody goes on with what another thread began. */
enum { FRESH = 0, PENDING = 1, DONE = 2, AWAITED = 4, FORK = 8 };

static int forks;

static void count_fork(void) { forks += FORK; }

__attribute__((constructor)) static void count_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

static void end_once(pthread_once_t *once, int state) {
    if (__atomic_exchange_n(once, state, __ATOMIC_RELEASE) & AWAITED) futex(once, FUTEX_WAKE, INT_MAX);
}

/* The next caller calls the function, if this one unwinds. */
static void give_up(pthread_once_t **once) {
    if (*once) end_once(*once, FRESH);
}

static int once_is_settled(void *once) { return !(__atomic_load_n((pthread_once_t *)once, __ATOMIC_RELAXED) & PENDING); }

int pthread_once(pthread_once_t *once, void (*function)(void)) {
    const int pending = PENDING | forks;
    for (;;) {
        int seen = __atomic_load_n(once, __ATOMIC_ACQUIRE);
        if (seen & DONE) return 0;
        if ((seen & ~AWAITED) != pending) {
            if (!__atomic_compare_exchange_n(once, &seen, pending, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) continue;
            __attribute__((cleanup(give_up))) pthread_once_t *unwound = once;
            function();
            unwound = NULL;
            end_once(once, DONE);
            return 0;
        }
        if (uthread_may_wait())
            pause_until(once_is_settled, once);
        else if (seen & AWAITED ||
                 __atomic_compare_exchange_n(once, &seen, seen | AWAITED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            futex(once, FUTEX_WAIT, (uint32_t)(seen | AWAITED));
    }
}
