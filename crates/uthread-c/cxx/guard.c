/* The guards of function-local static variables of C++, for programs with user threads.
 *
 * The C++ library blocks the kernel thread of a thread that meets a variable in initialization. The thread that
 * initializes it may be another user thread of that kernel thread, which then never runs again. These functions
 * take the place of the library's own. Here a user thread that waits lets others run.
 *
 * The compiler reads the first byte of a guard and calls nothing once that is not 0 (Itanium C++ ABI, 3.3.3). The
 * states and the futex are those of libstdc++, because a shared object may carry its own copy of that library. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uthread.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the states are for little endian"
#endif

/* The upper half of a guard in initialization has the thread. */
enum { INITIALIZED = 1, PENDING = 1 << 8, AWAITED = 1 << 16 };
enum { FIRST_PAUSE_US = 20, LONGEST_PAUSE_US = 1000 };

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard);

static void fail(const char *message) {
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    (void)written;
    abort();
}

static uint64_t caller(void) {
    /* The lower half of a handle is no other living thread's. The number of uthread_id() is unique only within its
     * runtime. */
    uint32_t number = (uint32_t)(uintptr_t)uthread_self();
    if (number == 0) number = (uint32_t)syscall(SYS_gettid) | UINT32_C(1) << 31;
    return (uint64_t)number << 32;
}

static void futex(uint64_t *guard, int operation, uint32_t value) {
    syscall(SYS_futex, (uint32_t *)guard, operation, value, NULL, NULL, 0);
}

/* Blocks the kernel thread until the guard changes. */
static void block(uint64_t *guard, uint64_t seen) {
    uint64_t awaited = seen | AWAITED;
    if (seen == awaited || __atomic_compare_exchange_n(guard, &seen, awaited, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        futex(guard, FUTEX_WAIT, (uint32_t)awaited);
}

/* Lets other user threads run, of a lower priority as well, until the guard is no longer pending. Requests to cancel
 * or to terminate the thread wait for its next wait: nothing can unwind from here. */
static void pause_while_pending(uint64_t *guard) {
    int cancelled = 0;
    uthread_terminate_disable();
    for (unsigned int pause_us = FIRST_PAUSE_US; __atomic_load_n(guard, __ATOMIC_RELAXED) & PENDING;) {
        int error = uthread_sleep(pause_us);
        if (error == -ECANCELED)
            cancelled = 1;
        else if (error < 0)
            fail("uthread: a thread cannot wait for a static variable that another thread initializes: use the "
                 "variable once before uthread_preempt_disable()\n");
        if (pause_us < LONGEST_PAUSE_US) pause_us *= 2;
    }
    if (cancelled) uthread_cancel(uthread_self());
    uthread_terminate_enable();
}

/* Whether the caller has to initialize the variable. */
int __cxa_guard_acquire(uint64_t *guard) {
    uint64_t self = caller();
    for (;;) {
        uint64_t seen = 0;
        if (__atomic_compare_exchange_n(guard, &seen, self | PENDING, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return 1;
        if (seen & INITIALIZED) return 0;
        if ((seen & ~(uint64_t)AWAITED) == (self | PENDING))
            fail("uthread: the initializer of a static variable uses that variable\n");
        if (uthread_id() != 0)
            pause_while_pending(guard);
        else
            block(guard, seen);
    }
}

static void end(uint64_t *guard, uint64_t state) {
    if (__atomic_exchange_n(guard, state, __ATOMIC_RELEASE) & AWAITED) futex(guard, FUTEX_WAKE, INT32_MAX);
}

void __cxa_guard_release(uint64_t *guard) { end(guard, INITIALIZED); }

void __cxa_guard_abort(uint64_t *guard) { end(guard, 0); }
