/* A second way to measure what a load costs: a chain of pointers in random order, in plain C.
 *
 * usage: chase BYTES STRIDE [huge]
 *
 * Prints the median time of a load in ns over eleven samples of at least 20 ms. The memory is in
 * pages of the base size, or in transparent huge ones where they are asked for and to be had.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SAMPLES 11
#define SAMPLE_NS 20e6
#define HUGE_PAGE ((size_t)2 << 20)

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void **follow(void **at, size_t steps) {
    for (size_t i = 0; i < steps / 4; i++) at = (void **)*(void **)*(void **)*(void **)*at;
    return at;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    size_t size = strtoull(argv[1], NULL, 10), stride = strtoull(argv[2], NULL, 10);
    size_t count = size / stride;
    char *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || count < 2) return 1;
    memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    madvise(memory, size, argc > 3 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(memory, 0, size);

    uint32_t *order = malloc(count * sizeof *order);
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t j = random % (i + 1);
        uint32_t other = order[i];
        order[i] = order[j], order[j] = other;
    }
    for (size_t i = 0; i < count; i++)
        *(void **)(memory + order[i] * stride) = memory + order[(i + 1) % count] * stride;
    free(order);

    void **at = follow((void **)memory, count * 8 < 1 << 21 ? count * 8 : 1 << 21);
    size_t steps = 4096;
    double samples[SAMPLES], time;
    for (;; steps *= 2) {
        double begin = now_ns();
        at = follow(at, steps);
        time = now_ns() - begin;
        if (time >= SAMPLE_NS) break;
    }
    for (int i = 0; i < SAMPLES; i++) {
        double begin = now_ns();
        at = follow(at, steps);
        samples[i] = (now_ns() - begin) / steps;
    }
    if (!at) return 1;
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    printf("%.4f\n", samples[SAMPLES / 2]);
    return 0;
}
