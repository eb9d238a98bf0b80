// neighbour CPU SEED [busy]: what a busy neighbour does to a processor. Bursts of 0.2 to 2 s, as long apart, or
// without rests if it is `busy`; each burst either computes or streams through 64 MiB, by chance. Ends with its
// parent.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    if (count != 3 && (count != 4 || strcmp(words[3], "busy") != 0)) {
        fprintf(stderr, "usage: neighbour CPU SEED [busy]\n");
        return 2;
    }
    pid_t parent = getppid();
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(words[1]), &cpus);
    size_t length = 64 << 20, last = length / sizeof(uint64_t) - 1, place = 0;
    volatile uint64_t *memory = aligned_alloc(4096, length);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0 || memory == NULL) {
        perror("neighbour");
        return 1;
    }
    memset((void *)memory, 1, length);
    srand48(atol(words[2]));

    uint64_t sum = 1;
    while (getppid() == parent) {
        double seconds = 0.2 + 1.8 * drand48(), end = now() + seconds;
        int streams = drand48() < 0.5;
        while (now() < end)
            if (streams)
                for (int i = 0; i < 65536; i++, place = (place + 8) & last)
                    memory[place] = sum += memory[place];
            else
                for (int i = 0; i < 100000; i++)
                    sum = sum * 6364136223846793005u + 1442695040888963407u;
        memory[0] = sum;
        if (count == 4)
            continue;
        struct timespec rest = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
        nanosleep(&rest, NULL);
    }
    return 0;
}
