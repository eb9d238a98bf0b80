/* A second way to measure calls: a plain C loop around each.
 *
 * usage: calls OPERATION DIRECTORY
 *
 * OPERATION: see the table below. DIRECTORY is where files are made; as each part of a path costs time
 * to look up, it should lie as deep as oscope's. Prints the median time of one operation over eleven
 * samples of at least 10 ms, in ns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 11
#define SAMPLE_NS 10e6

static char path[4096], new_path[4096];
static int file, null;
static struct sigaction handler;

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

static void do_write(void) { must(write(null, "x", 1) == 1); }

static void do_clock(void) {
    struct timespec now;
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
}

static void do_clock_syscall(void) {
    struct timespec now;
    must(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0);
}

static void do_stat(void) {
    struct stat status;
    must(stat(path, &status) == 0);
}

/* Below a page that allows nothing, so that the kernel has no neighbour to merge it with. */
static void do_mmap(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED && munmap(memory, 4096) == 0);
}

static volatile long delivered;
static void count_signal(int number) { delivered += number > 0; }

static void do_signal_install(void) { must(sigaction(SIGUSR1, &handler, NULL) == 0); }

static void do_signal_deliver(void) { must(kill(getpid(), SIGUSR1) == 0); }

static void *end_at_once(void *nothing) { return nothing; }

static void do_thread(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, end_at_once, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
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

static char *arguments[] = {"/bin/true", NULL}, *nothing[] = {NULL};

static void do_exec(void) {
    pid_t child = fork();
    if (child == 0) {
        execve(arguments[0], arguments, nothing);
        _exit(127);
    }
    must(child > 0 && waitpid(child, NULL, 0) == child);
}

static void do_spawn(void) {
    pid_t child;
    must(posix_spawn(&child, arguments[0], NULL, NULL, arguments, nothing) == 0);
    must(waitpid(child, NULL, 0) == child);
}

static void do_vfork(void) {
    pid_t child = vfork();
    if (child == 0) _exit(0);
    must(child > 0 && waitpid(child, NULL, 0) == child);
}

static const struct {
    const char *name;
    void (*run)(void);
} operations[] = {
    {"getpid", do_getpid}, {"clock", do_clock}, {"clock_syscall", do_clock_syscall},
    {"read", do_read}, {"write", do_write}, {"lseek", do_lseek}, {"stat", do_stat},
    {"open", do_open}, {"fopen", do_fopen}, {"create", do_create}, {"mmap", do_mmap},
    {"malloc", do_malloc}, {"signal_install", do_signal_install},
    {"signal_deliver", do_signal_deliver}, {"thread", do_thread}, {"vfork", do_vfork},
    {"fork", do_fork}, {"spawn", do_spawn}, {"exec", do_exec},
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
        fprintf(stderr, "usage: calls OPERATION DIRECTORY\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/calls.file", argv[2]);
    snprintf(new_path, sizeof new_path, "%s/calls.new", argv[2]);
    static const char bytes[16384];
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, bytes, sizeof bytes) == sizeof bytes);
    must(lseek(file, 0, SEEK_SET) == 0);
    must((null = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0);
    must(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    handler.sa_handler = count_signal;
    do_signal_install();

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
