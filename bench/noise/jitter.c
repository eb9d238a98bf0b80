/* A second way to measure the noise of a system: sysjitter's, by the processor's own counter.
 *
 * usage: jitter CPU MS [SECOND]
 *
 * A thread on CPU reads the counter for three quarters of MS milliseconds. Two readings that are more than
 * 1000 ns apart are a gap. In the last quarter it repeats a fixed piece of work of some 0.1 ms. With SECOND,
 * another thread computes on that processor. Prints a line: the share of the time in gaps, gaps in a second,
 * their median and the longest in ns, and the mean time of a piece over the fastest, less one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define THRESHOLD_NS 1000
#define MOST_GAPS (1 << 17)
#define MOST_PIECES (1 << 20)

static uint64_t gaps[MOST_GAPS];
static double pieces[MOST_PIECES];
static volatile int is_over, is_there;
static volatile uint64_t sink;

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Steps of the counter; ns where there is none. */
static inline uint64_t counter(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return clock_ns();
#endif
}

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus)) {
        perror("jitter");
        exit(1);
    }
}

/* Each multiplication waits for the one before. */
static void work(void) {
    uint64_t product = sink | 1;
    for (int turn = 0; turn < 100000; turn++) product *= UINT64_C(6364136223846793005);
    sink = product;
}

static void *compute(void *cpu) {
    pin(*(int *)cpu);
    is_there = 1;
    while (!is_over) work();
    return NULL;
}

static int by_length(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: jitter CPU MS [SECOND]\n");
        return 2;
    }
    int cpu = atoi(arguments[1]), second = count > 3 ? atoi(arguments[3]) : -1;
    uint64_t length_ns = strtoull(arguments[2], NULL, 10) * 1000000;
    pin(cpu);
    /* Written here, so that the first gaps cause no page faults. */
    memset(gaps, 1, sizeof gaps);
    memset(pieces, 1, sizeof pieces);

    uint64_t begin_ns = clock_ns(), begin = counter();
    while (clock_ns() < begin_ns + 20000000) {}
    double step_ns = (double)(clock_ns() - begin_ns) / (counter() - begin);

    pthread_t thread;
    if (second >= 0) {
        if (pthread_create(&thread, NULL, compute, &second)) return 1;
        while (!is_there) sched_yield();
    }

    uint64_t threshold = THRESHOLD_NS / step_ns, length = length_ns / 4 * 3 / step_ns, lost = 0;
    size_t found = 0;
    uint64_t first = counter(), last = first;
    while (last - first < length && found < MOST_GAPS) {
        uint64_t now = counter();
        if (now - last > threshold) {
            gaps[found++] = now - last;
            lost += now - last;
        }
        last = now;
    }
    double watched = last - first;

    size_t done = 0;
    double sum = 0, fastest = 1e18;
    uint64_t end = counter() + length_ns / 4 / step_ns, before = counter();
    while (before < end && done < MOST_PIECES) {
        work();
        pieces[done] = counter() - before;
        sum += pieces[done];
        if (pieces[done] < fastest) fastest = pieces[done];
        done++;
        before = counter();
    }

    is_over = 1;
    if (second >= 0) pthread_join(thread, NULL);
    qsort(gaps, found, sizeof gaps[0], by_length);
    printf("%g %g %g %g %g\n", lost / watched, found / (watched * step_ns / 1e9),
           found ? gaps[found / 2] * step_ns : 0, found ? gaps[found - 1] * step_ns : 0,
           sum / done / fastest - 1);
    return 0;
}
