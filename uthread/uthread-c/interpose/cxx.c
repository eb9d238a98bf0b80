/* The guards of function-local static variables of C++, for programs with user threads.
 *
 * The C++ library blocks the kernel thread of a thread that meets a variable in initialization. The thread that
 * initializes it may be another user thread of that kernel thread, which then never runs again. These functions
 * take the place of the library's own. Here a user thread that waits lets others run.
 *
 * The compiler reads the first byte of a guard and calls nothing once that is not 0 (Itanium C++ ABI, 3.3.3). The
 * states and the futex are those of libstdc++, because a shared object may carry its own copy of that library. */
#define _GNU_SOURCE
#include "wait.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the states are for little endian"
#endif

/* The upper half of a guard in initialization has the thread. */
enum { INITIALIZED = 1, PENDING = 1 << 8, AWAITED = 1 << 16 };

int __cxa_guard_acquire(uint64_t *guard);
void __cxa_guard_release(uint64_t *guard);
void __cxa_guard_abort(uint64_t *guard);

static uint64_t caller(void) {
    uint32_t number = user_thread();
    if (number == 0) number = (uint32_t)syscall(SYS_gettid) | UINT32_C(1) << 31;
    return (uint64_t)number << 32;
}

/* Blocks the kernel thread until the guard changes. */
static void block(uint64_t *guard, uint64_t seen) {
    uint64_t awaited = seen | AWAITED;
    if (seen == awaited || __atomic_compare_exchange_n(guard, &seen, awaited, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        futex(guard, FUTEX_WAIT, (uint32_t)awaited);
}

static int is_settled(void *guard) { return !(__atomic_load_n((uint64_t *)guard, __ATOMIC_RELAXED) & PENDING); }

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
        if (uthread_id() == 0)
            block(guard, seen);
        else if (uthread_may_wait())
            pause_until(is_settled, guard);
        else
            fail("uthread: a thread cannot wait for a static variable that another thread initializes: use the "
                 "variable once before uthread_preempt_disable()\n");
    }
}

static void end(uint64_t *guard, uint64_t state) {
    if (__atomic_exchange_n(guard, state, __ATOMIC_RELEASE) & AWAITED) futex(guard, FUTEX_WAKE, INT32_MAX);
}

void __cxa_guard_release(uint64_t *guard) { end(guard, INITIALIZED); }

void __cxa_guard_abort(uint64_t *guard) { end(guard, 0); }
