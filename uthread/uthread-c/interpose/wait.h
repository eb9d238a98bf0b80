/* How a user thread waits for what kernel threads and other user threads hold alike. */
#ifndef WAIT_H
#define WAIT_H

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uthread.h"

enum { FIRST_PAUSE_US = 20, LONGEST_PAUSE_US = 1000 };

static inline void fail(const char *message) {
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    (void)written;
    abort();
}

/* The first 32 bits of the object have the value that kernel threads wait for. */
static inline void futex(void *object, int operation, uint32_t value) {
    syscall(SYS_futex, object, operation, value, NULL, NULL, 0);
}

/* The caller's number among the user threads of the process; 0 for a kernel thread. */
static inline uint32_t user_thread(void) {
    /* The lower half of a handle is no other living thread's. The number of uthread_id() is unique only within its
     * runtime. */
    return (uint32_t)(uintptr_t)uthread_self();
}

/* Lets other user threads run, of a lower priority as well, until is_over(object). Requests to cancel or to terminate
 * the thread wait for its next wait: nothing can unwind from here. */
static inline void pause_until(int (*is_over)(void *object), void *object) {
    int cancelled = 0;
    uthread_terminate_disable();
    for (unsigned int pause_us = FIRST_PAUSE_US; !is_over(object);) {
        int error = uthread_sleep(pause_us);
        if (error == -ECANCELED)
            cancelled = 1;
        else if (error < 0)
            fail("uthread: a thread must not wait for another one here\n");
        if (pause_us < LONGEST_PAUSE_US) pause_us *= 2;
    }
    if (cancelled) uthread_cancel(uthread_self());
    uthread_terminate_enable();
}

#endif
