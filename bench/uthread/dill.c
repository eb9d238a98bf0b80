// The same work on libdill (one kernel thread).
#include <libdill.h>
#include <stdio.h>
#include <time.h>

enum { SWITCHES = 400000, CREATIONS = 50000 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static coroutine void nothing(void) {}

static coroutine void yields(int each) {
    for (int i = 0; i < each; ++i) yield();
}

static void together(int threads) {
    int all = bundle();
    for (int i = 0; i < threads; ++i) bundle_go(all, yields(SWITCHES / threads));
    bundle_wait(all, -1);
    hclose(all);
}

static void two(void) { together(2); }

static void thousand(void) { together(1000); }

static void create(void) {
    for (int i = 0; i < CREATIONS; ++i) hclose(go(nothing()));
}

static void report(const char *metric, double operations, void (*work)(void)) {
    work();
    double begin = now_ns();
    work();
    printf("%s %.2f\n", metric, (now_ns() - begin) / operations);
}

int main(void) {
    report("yield_2", SWITCHES, two);
    report("yield_1000", SWITCHES, thousand);
    report("create", CREATIONS, create);
    return 0;
}
