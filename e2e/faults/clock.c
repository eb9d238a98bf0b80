// Preloaded into a program: its wall clock jumps, and nobody else's.
//
// OSCOPE_JUMP_AT and OSCOPE_JUMP_BY, in seconds: so long after the start of the program the clock is set
// forward by so much, or back where that is negative. The monotonic clock goes on as ever.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double asked(const char *name) {
    const char *text = getenv(name);
    return text ? atof(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static double start, at, by;
    int outcome = (int)syscall(SYS_clock_gettime, clock, now);
    if (outcome != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return outcome;
    struct timespec steady;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
    double seconds = (double)steady.tv_sec + (double)steady.tv_nsec / 1e9;
    if (start == 0) {
        start = seconds;
        at = asked("OSCOPE_JUMP_AT");
        by = asked("OSCOPE_JUMP_BY");
    }
    if (seconds - start >= at)
        now->tv_sec += (time_t)by;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    int outcome = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return outcome;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}
