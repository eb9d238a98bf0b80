/* What belongs to the processor or to the kernel thread, and what each user thread has of it. The argument is the
 * slice in us. Ends with 1 at the first broken promise. */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "uthread.h"

enum { TURNS = 6 };
static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static volatile int stop, running;

/* How the two units for numbers round by now: fegetround() asks only one of them. */
static int rounds_as(int mode) {
#ifdef __x86_64__
    uint16_t x87;
    uint32_t sse;
    __asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(x87), "=m"(sse));
    return (x87 & 0xc00) == mode && (sse >> 3 & 0xc00) == (unsigned)mode;
#else
    return fegetround() == mode;
#endif
}

static uint64_t preemptions(void) {
    uthread_statistics_t statistics;
    CHECK(uthread_statistics(&statistics) == 0);
    return statistics.preemptions;
}

/* Lets others run: by a call, or until a tick has let them. */
static void turn(int preemptive) {
    if (!preemptive) {
        CHECK(uthread_yield() == 0);
        return;
    }
    uint64_t before = preemptions();
    while (preemptions() < before + 3) {
    }
}

static int is_preemptive;

static void *rounds(void *number) {
    int mode = modes[(long)number % 4];
    CHECK(rounds_as(FE_TONEAREST));
    fesetround(mode);
    for (int i = 0; i < TURNS; i++) {
        turn(is_preemptive && i % 2);
        CHECK(rounds_as(mode));
    }
    return NULL;
}

static void *raises(void *number) {
    feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < TURNS; i++) {
        if (number) {
            volatile double zero = 0, infinite = 1 / zero;
            (void)infinite;
        }
        turn(is_preemptive && i % 2);
        CHECK(!fetestexcept(FE_DIVBYZERO) == !number);
    }
    return NULL;
}

static void *fails(void *number) {
    CHECK(errno == 0);
    uthread_lock_t *lock = uthread_lock_create(0);
    for (int i = 0; i < TURNS; i++) {
        errno = (int)(long)number;
        turn(is_preemptive && i % 2);
        CHECK(uthread_lock(lock) == 0 && uthread_lock(lock) == -EDEADLK && uthread_unlock(lock) == 0);
        CHECK(uthread_async_read(-1, lock, 1, 0) == -EBADF && uthread_sleep(1) == 0);
        uthread_preempt_disable();
        if (is_preemptive) {
            uthread_statistics_t now, then;
            CHECK(uthread_statistics(&then) == 0);
            do CHECK(uthread_statistics(&now) == 0);
            while (now.ticks_deferred == then.ticks_deferred);
        }
        uthread_preempt_enable();
        CHECK(errno == (int)(long)number);
    }
    CHECK(uthread_lock_destroy(lock) == 0);
    return NULL;
}

static void *spins(void *value) {
    for (running = 1; !stop;) {
    }
    return value;
}

/* Runs threads, with slices next to one that only computes, so that ticks never end. */
static void all(void *(*function)(void *), long threads) {
    uthread_t *other, *thread[4];
    stop = 0;
    if (is_preemptive) CHECK(uthread_create(&other, NULL, spins, NULL) == 0);
    for (long i = 0; i < threads; i++) CHECK(uthread_create(&thread[i], NULL, function, (void *)i) == 0);
    for (long i = 0; i < threads; i++) CHECK(uthread_join(thread[i], NULL) == 0);
    stop = 1;
    if (is_preemptive) CHECK(uthread_join(other, NULL) == 0);
}

static void *inherits(void *mode) {
    CHECK(rounds_as((int)(long)mode));
    return NULL;
}

static int is_blocked(void) {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGUSR1);
}

/* The mask and the alternate stack belong to the kernel thread: a thread that was interrupted before the change
 * must not bring the old ones back. */
static void signals(void) {
    uthread_t *thread;
    sigset_t set;
    size_t bytes = 1 << 18;
    stop = running = 0;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && uthread_create(&thread, NULL, spins, NULL) == 0);
    while (!running) turn(1);
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    stack_t old, now, own = {.ss_sp = memory, .ss_size = bytes};
    CHECK(sigaltstack(&own, &old) == 0);
    for (int i = 0; i < TURNS; i++) {
        turn(1);
        CHECK(is_blocked() && sigaltstack(NULL, &now) == 0 && now.ss_sp == memory);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (int i = 0; i < TURNS; i++) {
        turn(1);
        CHECK(!is_blocked());
    }
    CHECK(sigaltstack(&old, NULL) == 0);
    stop = 1;
    CHECK(uthread_join(thread, NULL) == 0);
}

int main(int count, char **arguments) {
    uthread_config_t config = {.slice_us = count > 1 ? atoi(arguments[1]) : 0, .keep_priority = 1};
    is_preemptive = config.slice_us > 0;
    alarm(60);    /* nothing here waits that long */
    CHECK(uthread_init_with(&config) == 0);
    all(rounds, 4);
    all(raises, 2);
    errno = 0;
    all(fails, 4);
    fesetround(FE_UPWARD);
    uthread_t *thread;
    CHECK(uthread_create(&thread, NULL, inherits, (void *)FE_UPWARD) == 0);
    CHECK(uthread_join(thread, NULL) == 0 && rounds_as(FE_UPWARD));
    fesetround(FE_TONEAREST);
    if (is_preemptive) signals();
    CHECK(uthread_end() == 0 && rounds_as(FE_TONEAREST));
    puts("each thread has its own");
    return 0;
}
