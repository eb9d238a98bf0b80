/* A second way to measure memory bandwidth: plain C loops and the C library's own.
 *
 * usage: scan OPERATION BYTES
 *
 * OPERATION: read    exclusive or of all 64-bit words, as the compiler vectorises it
 *            memchr  the C library's search for a byte that is not there
 *            write   a loop of 64-bit stores
 *            memset  the C library's fill
 *            memcpy  the C library's copy from one half of the block to the other, each byte of which
 *                    counts once
 *
 * Prints the median bandwidth of eleven samples of at least 10 ms each, in bytes per second. The
 * memory has pages of the base size, has been touched before, and starts on a page.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SAMPLES 11
#define SAMPLE_NS 10e6

static volatile uint64_t sink;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* Makes the compiler believe that the memory was read and changed. */
static void touch(void *memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

static void do_read(uint64_t *words, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum ^= words[i];
    sink = sum;
}

static void do_memchr(uint64_t *words, size_t count) {
    sink = (uintptr_t)memchr(words, 0x5A, count * 8);
}

static void do_write(uint64_t *words, size_t count) {
    uint64_t word = sink;
    /* Stops the compiler from calling memset instead. */
    for (size_t i = 0; i < count; i++) words[i] = word + i;
}

/* Not with zeros, of which some processors take twice as many. */
static void do_memset(uint64_t *words, size_t count) { memset(words, 0x5A, count * 8); }

static void do_memcpy(uint64_t *words, size_t count) { memcpy(words + count / 2, words, count * 4); }

static const struct {
    const char *name;
    void (*run)(uint64_t *, size_t);
    /* One byte in this many of the block counts. */
    size_t divisor;
} operations[] = {
    {"read", do_read, 1},     {"memchr", do_memchr, 1}, {"write", do_write, 1},
    {"memset", do_memset, 1}, {"memcpy", do_memcpy, 2},
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: scan OPERATION BYTES\n");
        return 2;
    }
    void (*run)(uint64_t *, size_t) = NULL;
    size_t bytes = strtoull(argv[2], NULL, 10), count = bytes / 8, counted = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(argv[1], operations[i].name) == 0) {
            run = operations[i].run;
            counted = bytes / operations[i].divisor;
        }
    if (run == NULL || count < 2) {
        fprintf(stderr, "scan: no such operation, or no such size\n");
        return 2;
    }
    uint64_t *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED) {
        perror("scan");
        return 1;
    }
    madvise(words, bytes, MADV_NOHUGEPAGE);
    memset(words, 1, bytes);
    run(words, count);

    double samples[SAMPLES];
    long passes = 1;
    for (int i = 0; i < SAMPLES;) {
        double start = now_ns();
        for (long pass = 0; pass < passes; pass++) {
            run(words, count);
            touch(words);
        }
        double wall_ns = now_ns() - start;
        if (wall_ns < SAMPLE_NS) {
            passes *= 2;
            continue;
        }
        samples[i++] = (double)passes * counted / wall_ns * 1e9;
    }
    qsort(samples, SAMPLES, sizeof *samples, ascending);
    printf("%.0f\n", samples[SAMPLES / 2]);
    return 0;
}
