/* A thread that needs more stack than it has, next to others. The argument is the size of one frame in bytes, or
 * anything else for endless recursion. */
#include <stdlib.h>

#include "check.h"
#include "uthread.h"

static __attribute__((noinline)) int writes_far(long bytes) {
    volatile char frame[bytes];
    frame[0] = 1;    /* the lowest address, before any other */
    return frame[0];
}

static __attribute__((noinline)) int recurs(volatile char *last) {
    volatile char frame[1000];
    frame[0] = *last;
    if (*last) return 0;    /* never, which the compiler does not know */
    return recurs(frame) + frame[1];
}

static void *dives(void *bytes) {
    volatile char zero = 0;
    return (void *)(long)((long)bytes ? writes_far((long)bytes) : recurs(&zero));
}

static void *waits(void *value) {
    volatile char mine[40000];
    for (unsigned i = 0; i < sizeof mine; i++) mine[i] = 7;
    CHECK(uthread_suspend() == 0);
    for (unsigned i = 0; i < sizeof mine; i++) CHECK(mine[i] == 7);
    return value;
}

int main(int count, char **arguments) {
    uthread_t *others[4], *diver;
    uthread_attr_t attr = {.name = "diver"};
    CHECK(count == 2 && uthread_init(0) == 0);
    for (int i = 0; i < 4; i++) CHECK(uthread_create(&others[i], NULL, waits, NULL) == 0);
    CHECK(uthread_yield() == 0);
    CHECK(uthread_create(&diver, &attr, dives, (void *)atol(arguments[1])) == 0);
    CHECK(uthread_join(diver, NULL) == 0);
    for (int i = 0; i < 4; i++) CHECK(uthread_resume(others[i]) == 0 && uthread_join(others[i], NULL) == 0);
    CHECK(uthread_end() == 0);
    puts("there was room");
    return 0;
}
