// What bounds the sum of a file that is in the page cache: copying it out, summing what was copied,
// mapping it, and reading as much memory. One pass of each in every round; medians in GB/s
// and in ns for a KiB.
//
// usage: cc -O3 -march=native -pthread -o bounds bench/file/bounds.c && ./bounds FILE [ROUNDS]

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, LARGE_BLOCK = 512 << 10, PIECE = 8 << 20, HUGE_PAGE = 2 << 20, MOST_ROUNDS = 99 };

static int file;
static size_t size;
static char *memory;
static char *buffers[2];

static uint64_t sum(const char *bytes, size_t len) {
    const uint64_t *words = (const uint64_t *)bytes;
    uint64_t all = 0;
    for (size_t i = 0; i < len / 8; i++) all ^= words[i];
    return all;
}

static void die(const char *what) { perror(what); exit(1); }

static void fetch(char *buffer, size_t len, size_t at) {
    if (pread(file, buffer, len, at) != (ssize_t)len) die("pread");
}

static uint64_t copied(size_t at, int thread) { fetch(buffers[thread], LARGE_BLOCK, at); return 0; }
static uint64_t read_and_summed(size_t at, int thread) {
    fetch(buffers[thread], BLOCK, at);
    return sum(buffers[thread], BLOCK);
}
static uint64_t mapped_and_summed(size_t at, int thread) {
    (void)thread;
    char *piece = mmap(0, PIECE, PROT_READ, MAP_SHARED, file, at);
    if (piece == MAP_FAILED) die("mmap");
    uint64_t all = sum(piece, PIECE);
    munmap(piece, PIECE);
    return all;
}
static uint64_t only_mapped(size_t at, int thread) {
    (void)thread;
    char *piece = mmap(0, PIECE, PROT_READ, MAP_SHARED, file, at);
    if (piece == MAP_FAILED) die("mmap");
    uint64_t all = 0;
    for (size_t page = 0; page < PIECE; page += 4096) all ^= piece[page];
    munmap(piece, PIECE);
    return all;
}
static uint64_t memory_summed(size_t at, int thread) { (void)thread; return sum(memory + at, PIECE); }

static const struct { const char *name; uint64_t (*step)(size_t, int); size_t bytes; int threads; } ways[] = {
    {"copied in blocks of 512 KiB, not summed", copied, LARGE_BLOCK, 1},
    {"copied in blocks of 256 KiB and summed", read_and_summed, BLOCK, 1},
    {"mapped in pieces of 8 MiB, a byte of each page read", only_mapped, PIECE, 1},
    {"mapped in pieces of 8 MiB and summed", mapped_and_summed, PIECE, 1},
    {"memory in huge pages, summed", memory_summed, PIECE, 1},
    {"copied and summed, 2 threads", read_and_summed, BLOCK, 2},
    {"mapped and summed, 2 threads", mapped_and_summed, PIECE, 2},
    {"memory in huge pages, summed, 2 threads", memory_summed, PIECE, 2},
};
enum { WAYS = sizeof ways / sizeof *ways };

static volatile uint64_t result;
static int way;

static void *lane(void *number) {
    int thread = (int)(intptr_t)number;
    uint64_t all = 0;
    size_t step = ways[way].bytes;
    for (size_t at = thread * step; at + step <= size; at += step * ways[way].threads)
        all ^= ways[way].step(at, thread);
    result ^= all;
    return 0;
}

static double pass_ns(void) {
    struct timespec begin, end;
    pthread_t other;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (ways[way].threads == 2) pthread_create(&other, 0, lane, (void *)1);
    lane(0);
    if (ways[way].threads == 2) pthread_join(other, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char *huge(size_t len) {
    char *start = mmap(0, len + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) die("mmap");
    start += -(uintptr_t)start % HUGE_PAGE;
    madvise(start, len, MADV_HUGEPAGE);
    return memset(start, 1, len);
}

int main(int count, char **arguments) {
    if (count < 2 || (file = open(arguments[1], O_RDONLY)) < 0) die("usage: bounds FILE [ROUNDS]");
    int rounds = count > 2 ? atoi(arguments[2]) : 7;
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 7;
    struct stat status;
    fstat(file, &status);
    size = status.st_size / PIECE * PIECE;
    memory = huge(size);
    for (int i = 0; i < 2; i++) buffers[i] = memset(aligned_alloc(4096, LARGE_BLOCK), 1, LARGE_BLOCK);
    static double times[WAYS][MOST_ROUNDS];
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < WAYS; i++) {
            way = (i + round) % WAYS;
            times[way][round] = pass_ns();
        }
    for (int i = 0; i < WAYS; i++) {
        qsort(times[i], rounds, sizeof(double), by_size);
        double ns = times[i][rounds / 2];
        printf("%-52s %6.1f GB/s  %6.1f ns/KiB\n", ways[i].name, size / ns, ns * 1024 / size);
    }
}
