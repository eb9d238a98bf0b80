/* A second way to measure the bandwidth of several cores: the copy of STREAM, in plain C.
 *
 * usage: stream THREADS BYTES
 *
 * Each thread, pinned to a processor of its own (the last first), copies one half of its share of
 * BYTES to the other. Prints the best of twenty passes over all, as STREAM does, in bytes copied a
 * second, each byte counted once (STREAM counts it twice).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PASSES 20

static pthread_barrier_t begin, end;
static size_t share;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void *work(void *argument) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)argument, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    size_t count = share / 2 / sizeof(double);
    double *restrict from = aligned_alloc(4096, share / 2), *restrict to = aligned_alloc(4096, share / 2);
    if (!from || !to) exit(1);
    for (size_t i = 0; i < count; i++) from[i] = 1, to[i] = 2;
    for (int pass = 0; pass < PASSES; pass++) {
        pthread_barrier_wait(&begin);
        memcpy(to, from, count * sizeof(double));
        __asm__ volatile("" : : "r"(to) : "memory");
        pthread_barrier_wait(&end);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    size_t threads = strtoull(argv[1], NULL, 10), bytes = strtoull(argv[2], NULL, 10);
    share = bytes / threads & ~(size_t)8191;
    pthread_barrier_init(&begin, NULL, threads + 1);
    pthread_barrier_init(&end, NULL, threads + 1);
    size_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(cpus - 1 - i % cpus))) return 1;
    }
    double best = 1e300;
    for (int pass = 0; pass < PASSES; pass++) {
        /* Before the barrier, since the threads may run before this one does again. */
        double started = now_ns();
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        double time = now_ns() - started;
        if (time < best) best = time;
    }
    printf("%.0f\n", threads * (share / 2) / best * 1e9);
    return 0;
}
