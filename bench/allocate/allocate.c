/* A second way to measure malloc and free, in plain C.
 *
 * usage: allocate SIZE THREADS same|another CPU
 *
 * A burst is 64 blocks of SIZE bytes, or as many as make 4 MiB. THREADS threads, on the processors from CPU
 * downwards, each allocate a burst, write a byte in each 4 KiB of a block when they get it, and free it in
 * the order of allocation: their own, or that of the thread before them. Then each allocates 4 MiB in blocks
 * and frees them, twice.
 *
 * Prints the median time for a block in ns over 101 legs of some 0.5 ms, page faults for a block, and in
 * bytes for each thread the growth of the resident memory while the 4 MiB exist the second time, and after
 * they were freed the first time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define LEGS 101
#define COUNTED 16
#define MOST_THREADS 1024

struct list {
    char **blocks;
    size_t count;
};

static size_t size, burst, hoard;
static int threads, passes_on, first_cpu;
static pthread_barrier_t barrier;
/* The list that each thread has to free; null while there is none. */
static struct { _Alignas(128) _Atomic(struct list *) list; } mailbox[MOST_THREADS];
/* The bursts of a leg; 0 for the blocks of the end, -1 to end. */
static long job;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static double resident(void) {
    char line[256];
    double kib = 0, sum = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Rss: %lf", &kib) == 1) sum += kib;
    if (file) fclose(file);
    file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmPTE: %lf", &kib) == 1) sum += kib;
    if (file) fclose(file);
    return sum * 1024;
}

static void fill(struct list *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        volatile char *block = malloc(size);
        if (!block) exit(1);
        for (size_t at = 0; at < size; at += 4096) block[at] = 1;
        list->blocks[i] = (char *)block;
    }
    list->count = count;
}

static struct list *empty(int own, struct list *list) {
    if (passes_on) {
        int next = (own + 1) % threads;
        while (atomic_load_explicit(&mailbox[next].list, memory_order_acquire)) {}
        atomic_store_explicit(&mailbox[next].list, list, memory_order_release);
        while (!(list = atomic_load_explicit(&mailbox[own].list, memory_order_acquire))) {}
        atomic_store_explicit(&mailbox[own].list, NULL, memory_order_release);
    }
    for (size_t i = 0; i < list->count; i++) free(list->blocks[i]);
    list->count = 0;
    return list;
}

static struct list *new_list(void) {
    size_t room = (hoard > burst ? hoard : burst) * sizeof(char *) + sizeof(struct list);
    struct list *list = mmap(NULL, room, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (list == MAP_FAILED) exit(1);
    list->blocks = (char **)(list + 1);
    return list;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set)) exit(1);
}

static struct list *work(int own, struct list *list) {
    for (long i = 0; i < job; i++) {
        fill(list, burst);
        list = empty(own, list);
    }
    return list;
}

static void *member(void *argument) {
    int own = (int)(long)argument;
    pin(first_cpu - own);
    struct list *list = new_list();
    pthread_barrier_wait(&barrier);
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (job < 0) return NULL;
        if (job > 0) {
            list = work(own, list);
        } else {
            fill(list, hoard);
            pthread_barrier_wait(&barrier);
            pthread_barrier_wait(&barrier);
            list = empty(own, list);
        }
        pthread_barrier_wait(&barrier);
    }
}

static struct list *own_list;

/* A leg of all threads: its time. */
static double leg(long bursts) {
    job = bursts;
    if (threads == 1) {
        double begin = now_ns();
        own_list = work(0, own_list);
        return now_ns() - begin;
    }
    double begin = now_ns();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return now_ns() - begin;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    size = atol(argv[1]);
    threads = atoi(argv[2]);
    passes_on = !strcmp(argv[3], "another");
    first_cpu = atoi(argv[4]);
    if (size < 1 || threads < 1 || threads > MOST_THREADS || (passes_on && threads < 2)) return 2;
    burst = (4 << 20) / size;
    burst = burst < 1 ? 1 : burst > 64 ? 64 : burst;
    hoard = (4 << 20) / size;
    if (hoard < 1) hoard = 1;
    pin(first_cpu);
    if (threads == 1) {
        own_list = new_list();
    } else {
        pthread_barrier_init(&barrier, NULL, threads + 1);
        for (long i = 0; i < threads; i++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, member, (void *)i)) return 1;
        }
        pthread_barrier_wait(&barrier);
    }
    double before = resident();
    long bursts = 1;
    /* The start of all threads takes some 20 µs. */
    while (leg(bursts) < (threads == 1 ? 5e5 : 2e6)) bursts *= 2;
    double samples[LEGS];
    for (int i = 0; i < LEGS; i++) samples[i] = leg(bursts) / (bursts * burst);
    qsort(samples, LEGS, sizeof *samples, by_value);
    long faults_before = faults();
    leg(COUNTED);
    double per_block = (double)(faults() - faults_before) / (COUNTED * burst * threads);
    double taken = 0, held = 0;
    /* Reading the memory allocates some above the blocks, which may keep them from being returned. */
    for (int turn = 0; turn < 2; turn++) {
        if (threads == 1) {
            fill(own_list, hoard);
            if (turn == 1) taken = resident();
            own_list = empty(0, own_list);
        } else {
            job = 0;
            pthread_barrier_wait(&barrier);
            pthread_barrier_wait(&barrier);
            if (turn == 1) taken = resident();
            pthread_barrier_wait(&barrier);
            pthread_barrier_wait(&barrier);
        }
        if (turn == 0) held = resident();
    }
    printf("%.3f %.4f %.0f %.0f\n", samples[LEGS / 2], per_block, (taken - before) / threads,
           (held - before) / threads);
    return 0;
}
