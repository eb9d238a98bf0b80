/* A second way to measure calls: a plain C loop around each.
 *
 * usage: calls OPERATION DIRECTORY
 *
 * OPERATION: getpid, read, lseek, open, fopen, create, malloc, fork. DIRECTORY is where files are
 * made; as each part of a path costs time to look up, it should lie as deep as oscope's. Prints the
 * median time of one operation over eleven samples of at least 10 ms, in ns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 11
#define SAMPLE_NS 10e6

static char path[4096], new_path[4096];
static int file;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void must(int holds) {
    if (!holds) {
        perror("calls");
        exit(1);
    }
}

static void do_getpid(void) { syscall(SYS_getpid); }

static void do_read(void) {
    char byte;
    if (read(file, &byte, 1) != 1) must(lseek(file, 0, SEEK_SET) == 0);
}

static void do_lseek(void) { must(lseek(file, 1, SEEK_CUR) > 0); }

static void do_open(void) {
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    must(opened >= 0 && close(opened) == 0);
}

static void do_fopen(void) {
    FILE *opened = fopen(path, "re");
    must(opened != NULL && fclose(opened) == 0);
}

static void do_create(void) {
    int opened = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must(opened >= 0 && close(opened) == 0 && unlink(new_path) == 0);
}

static void do_malloc(void) {
    void *memory = malloc(4);
    /* Keeps the compiler from leaving both calls out. */
    __asm__ volatile("" : "+r"(memory) : : "memory");
    free(memory);
}

static void do_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    must(child > 0 && waitpid(child, NULL, 0) == child);
}

static const struct {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"getpid", do_getpid}, {"read", do_read},     {"lseek", do_lseek},   {"open", do_open},
    {"fopen", do_fopen},   {"create", do_create}, {"malloc", do_malloc}, {"fork", do_fork},
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    void (*run)(void) = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(argv[1], operations[i].name) == 0) run = operations[i].run;
    if (run == NULL) {
        fprintf(stderr, "usage: calls getpid|read|lseek|open|fopen|create|malloc|fork DIRECTORY\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/calls.file", argv[2]);
    snprintf(new_path, sizeof new_path, "%s/calls.new", argv[2]);
    static const char bytes[16384];
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, bytes, sizeof bytes) == sizeof bytes);
    must(lseek(file, 0, SEEK_SET) == 0);

    double samples[SAMPLES];
    long count = 1;
    for (int i = 0; i < SAMPLES;) {
        double start = now_ns();
        for (long n = 0; n < count; n++) run();
        double wall_ns = now_ns() - start;
        if (wall_ns < SAMPLE_NS) {
            count *= 2;
            continue;
        }
        samples[i++] = wall_ns / count;
    }
    qsort(samples, SAMPLES, sizeof *samples, ascending);
    printf("%.2f\n", samples[SAMPLES / 2]);
    return unlink(path) == 0 ? 0 : 1;
}
