/* A program with its C library inside: threads, but no slices. */
#include <errno.h>
#include <stdio.h>

#include "uthread.h"

static void *nothing(void *value) { return value; }

int main(void) {
    uthread_t *thread;
    void *value;
    int preemptive = uthread_init(1000);
    int cooperative = uthread_init(0);
    if (uthread_create(&thread, NULL, nothing, &thread) || uthread_join(thread, &value)) return 1;
    printf("%s, %s\n", preemptive == -ENOEXEC ? "no slices" : "slices",
           cooperative == 0 && value == &thread ? "threads" : "no threads");
    return uthread_end();
}
