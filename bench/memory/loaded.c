/* A second way to measure the latency of memory under load, in plain C.
 *
 * usage: loaded PERCENT read|write|copy
 *
 * One thread, on the processor on which the program starts, follows a chain of pointers in random
 * order. A thread on each other processor streams through its own block, paced by the clock so that
 * all together reach PERCENT of the bandwidth that they have unpaced. They stream all the time, also
 * between the samples. Prints the median time of a load in ns over eleven samples, and the bandwidth of
 * the others in bytes a second, each byte that is copied counted once.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHAIN ((size_t)64 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define STRIDE 64
#define PIECE 16384
#define STEPS 32768
#define SAMPLES 11

typedef uint64_t line __attribute__((vector_size(64)));

static _Atomic(double) interval_ns;
static atomic_int ready;
static size_t share;
static char traffic;

static struct loader {
    _Alignas(128) atomic_size_t bytes;
    int cpu;
} *loaders;
static int count;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus)) exit(1);
}

static void *load(void *argument) {
    struct loader *self = argument;
    pin(self->cpu);
    char *block = aligned_alloc(HUGE_PAGE, (share + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    if (!block) exit(1);
    madvise(block, share, MADV_HUGEPAGE);
    memset(block, 1, share);
    atomic_fetch_add(&ready, 1);
    double due = now_ns();
    line sum = {0};
    size_t bytes = 0;
    for (size_t at = 0;; at = (at + PIECE) % share) {
        line *piece = (line *)(block + at);
        if (traffic == 'c') {
            memcpy(block + at + PIECE / 2, block + at, PIECE / 2);
        } else if (traffic == 'r') {
            for (int i = 0; i < PIECE / 64; i++) sum ^= piece[i];
            __asm__ volatile("" : : "m"(sum));
        } else {
            for (int i = 0; i < PIECE / 64; i++) {
                piece[i] = sum;
                /* Or the compiler calls memset, which may bypass the caches. */
                __asm__ volatile("" : : : "memory");
            }
        }
        __asm__ volatile("" : : "r"(piece) : "memory");
        bytes += traffic == 'c' ? PIECE / 2 : PIECE;
        atomic_store_explicit(&self->bytes, bytes, memory_order_relaxed);
        double interval = atomic_load_explicit(&interval_ns, memory_order_relaxed);
        if (interval > 0) {
            double now = now_ns();
            due += interval;
            /* What was missed while unpaced, or preempted for long, is not made up for. */
            if (due < now - 1e6) due = now;
            while (now_ns() < due) {}
        }
    }
    return NULL;
}

static size_t streamed(void) {
    size_t all = 0;
    for (int i = 0; i < count; i++) all += atomic_load(&loaders[i].bytes);
    return all;
}

static void **follow(void **at, size_t steps) {
    for (size_t i = 0; i < steps / 4; i++) at = (void **)*(void **)*(void **)*(void **)*at;
    return at;
}

static void **chain(void) {
    char *memory = mmap(NULL, CHAIN + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    madvise(memory, CHAIN, MADV_HUGEPAGE);
    memset(memory, 0, CHAIN);
    size_t places = CHAIN / STRIDE;
    uint32_t *order = malloc(places * sizeof *order);
    uint64_t random = 88172645463325252u ^ (uint64_t)now_ns();
    for (size_t i = 0; i < places; i++) order[i] = (uint32_t)i;
    for (size_t i = places - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t j = random % (i + 1);
        uint32_t other = order[i];
        order[i] = order[j], order[j] = other;
    }
    for (size_t i = 0; i < places; i++)
        *(void **)(memory + order[i] * (size_t)STRIDE) = memory + order[(i + 1) % places] * (size_t)STRIDE;
    void **first = (void **)(memory + order[0] * (size_t)STRIDE);
    free(order);
    return first;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    double percent = atof(argv[1]);
    traffic = argv[2][0];
    int here = sched_getcpu(), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pin(here);
    void **at = chain();
    loaders = aligned_alloc(128, cpus * sizeof *loaders);
    memset(loaders, 0, cpus * sizeof *loaders);
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size_t all = cache > 64 << 20 ? 4 * (size_t)cache : (size_t)256 << 20;
    share = all / (cpus > 1 ? cpus - 1 : 1) / PIECE * PIECE;
    /* Evicts the chain. */
    void *rest = malloc(all);
    if (!rest) return 1;
    memset(rest, 1, all);
    __asm__ volatile("" : : "r"(rest) : "memory");
    free(rest);
    if (percent > 0) {
        for (int cpu = 0; cpu < cpus; cpu++) {
            pthread_t thread;
            if (cpu == here) continue;
            loaders[count].cpu = cpu;
            if (pthread_create(&thread, NULL, load, &loaders[count++])) return 1;
        }
        while (atomic_load(&ready) < count) usleep(1000);
    }
    double before = now_ns();
    size_t bytes = streamed();
    at = follow(at, 2 * STEPS);
    double highest = (streamed() - bytes) / (now_ns() - before) * 1e9;
    if (percent > 0 && percent < 100) {
        double counted = traffic == 'c' ? PIECE / 2 : PIECE;
        atomic_store(&interval_ns, counted * count / (percent / 100 * highest) * 1e9);
        at = follow(at, STEPS);
    }
    double samples[SAMPLES], started = now_ns();
    bytes = streamed();
    for (int i = 0; i < SAMPLES; i++) {
        double begin = now_ns();
        at = follow(at, STEPS);
        samples[i] = (now_ns() - begin) / STEPS;
    }
    double rate = (streamed() - bytes) / (now_ns() - started) * 1e9;
    if (!at) return 1;
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    printf("%.4f %.0f\n", samples[SAMPLES / 2], rate);
    return 0;
}
