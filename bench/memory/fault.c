/* A second way to measure page faults, in plain C.
 *
 * usage: fault first_touch | copy_on_write | file FILE
 *
 * Prints the median time for a page in ns over 101 samples of 2048 pages of the base size. The file is
 * evicted and read in again before: what a page of it costs depends on how it came into the page cache.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 101
#define PAGES 2048
#define READ_AT_ONCE (1 << 20)

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char *private_memory(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    size_t page = sysconf(_SC_PAGESIZE), size = PAGES * page;
    int is_file = !strcmp(argv[1], "file"), is_copy = !strcmp(argv[1], "copy_on_write");
    int fd = -1;
    char *shared = NULL;
    if (is_file) {
        fd = open(argv[2], O_RDWR | O_CREAT, 0600);
        char *bytes = malloc(size);
        memset(bytes, 1, size);
        if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fsync(fd)) return 1;
        if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) return 1;
        for (size_t at = 0; at < size; at += READ_AT_ONCE)
            if (pread(fd, bytes, READ_AT_ONCE, at) != READ_AT_ONCE) return 1;
        free(bytes);
    }
    if (is_copy) {
        shared = private_memory(size);
        memset(shared, 1, size);
    }
    static volatile char sink;
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        pid_t child = 0;
        char *memory;
        if (is_file) {
            memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
            if (memory == MAP_FAILED) return 1;
        } else if (is_copy) {
            memory = shared;
            child = fork();
            if (child < 0) return 1;
            if (!child) for (;;) pause();
        } else {
            memory = private_memory(size);
        }
        double begin = now_ns();
        if (is_file)
            for (size_t at = 0; at < size; at += page) sink ^= memory[at];
        else
            for (size_t at = 0; at < size; at += page) memory[at] = 1;
        samples[i] = (now_ns() - begin) / PAGES;
        if (child) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        } else {
            munmap(memory, size);
        }
    }
    qsort(samples, SAMPLES, sizeof *samples, by_value);
    printf("%.3f\n", samples[SAMPLES / 2]);
    return 0;
}
