/* A program with its C library inside, or with a malloc of its own: threads, but no slices. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uthread.h"

#ifdef OWN_MALLOC
static char heap[1 << 22];
static size_t used;

void *malloc(size_t bytes) {
    void *found = heap + used;
    used += (bytes + 15) / 16 * 16;
    return used < sizeof heap ? found : NULL;
}
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *old, size_t bytes) {
    void *new = malloc(bytes);
    return new && old ? memmove(new, old, bytes) : new;
}
void free(void *unused) { (void)unused; }
#endif

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
