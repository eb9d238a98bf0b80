/* Loops of one short call each, in a shared library of their own: no tick takes effect there, so another thread runs only
 * if the call looks for ticks at its end. With -DLOOPS this is that library, else the program, whose argument is the
 * library. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "uthread.h"

struct loop {
    const char *name;
    void (*run)(volatile int *stop);
};

#ifdef LOOPS

static uthread_lock_t *lock, *other_lock, *held;
static uthread_spinlock_t *spinlock;
static uthread_reclock_t *reclock;
static uthread_rwlock_t *rwlock;
static uthread_cond_t *cond;
static uthread_sem_t *sem;
static uthread_barrier_t *barrier;
static uthread_channel_t *channel, *full, *empty, *closed;
static uthread_key_t *key;
static uthread_once_t once = UTHREAD_ONCE_INIT;
static uthread_choice_t choice;
static uthread_statistics_t statistics;
static void *value;

static void nothing(void) {}

void prepare(void) {
    lock = uthread_lock_create(UTHREAD_PLAIN), other_lock = uthread_lock_create(UTHREAD_FIFO);
    held = uthread_lock_create(UTHREAD_INHERIT);
    spinlock = uthread_spinlock_create(), reclock = uthread_reclock_create(), rwlock = uthread_rwlock_create();
    cond = uthread_cond_create(), sem = uthread_sem_create(0), barrier = uthread_barrier_create(1);
    channel = uthread_channel_create(1), full = uthread_channel_create(1), empty = uthread_channel_create(1);
    closed = uthread_channel_create(1), key = uthread_key_create(NULL);
    choice = (uthread_choice_t){.receive = full};
    CHECK(uthread_lock(held) == 0 && uthread_channel_send(full, NULL) == 0 && uthread_channel_close(closed) == 0);
}

#define EACH_LOOP(LOOP)                                                                             \
    LOOP(id, uthread_id())                                                                          \
    LOOP(self, uthread_self())                                                                      \
    LOOP(may_wait, uthread_may_wait())                                                              \
    LOOP(statistics, uthread_statistics(&statistics))                                               \
    LOOP(priority, uthread_priority(uthread_self()))                                                \
    LOOP(resume, uthread_resume(uthread_self()))                                                    \
    LOOP(join, uthread_join(NULL, NULL))                                                            \
    LOOP(detach, uthread_detach(NULL))                                                              \
    LOOP(create, uthread_create(NULL, NULL, NULL, NULL))                                            \
    LOOP(testcancel, uthread_testcancel())                                                          \
    LOOP(terminate_disable, uthread_terminate_disable())                                            \
    LOOP(terminate_enable, (uthread_terminate_disable(), uthread_terminate_enable()))               \
    LOOP(preempt_enable, (uthread_preempt_disable(), uthread_preempt_enable()))                     \
    LOOP(once, uthread_once(&once, nothing))                                                        \
    LOOP(get, uthread_get(key))                                                                     \
    LOOP(set, uthread_set(key, key))                                                                \
    LOOP(key, uthread_key_destroy(uthread_key_create(NULL)))                                        \
    LOOP(lock, (uthread_lock(lock), uthread_unlock(lock)))                                          \
    LOOP(fifo_lock, (uthread_lock(other_lock), uthread_unlock(other_lock)))                         \
    LOOP(trylock, uthread_trylock(held))                                                            \
    LOOP(lock_destroy, uthread_lock_destroy(held))                                                  \
    LOOP(lock_create, uthread_lock_destroy(uthread_lock_create(UTHREAD_PLAIN)))                     \
    LOOP(spinlock, (uthread_spinlock_lock(spinlock), uthread_spinlock_unlock(spinlock)))            \
    LOOP(reclock, (uthread_reclock_lock(reclock), uthread_reclock_unlock(reclock)))                 \
    LOOP(rwlock, (uthread_rwlock_read(rwlock), uthread_rwlock_unlock(rwlock)))                      \
    LOOP(trywrite, (uthread_rwlock_trywrite(rwlock), uthread_rwlock_unlock(rwlock)))                \
    LOOP(cond_notify, uthread_cond_notify(cond, NULL))                                              \
    LOOP(cond_notify_held, uthread_cond_notify(cond, held))                                         \
    LOOP(cond_signal, uthread_cond_signal(cond, held))                                              \
    LOOP(cond_broadcast, uthread_cond_broadcast(cond, held))                                        \
    LOOP(cond_wait, uthread_cond_wait(cond, lock))                                                  \
    LOOP(sem_trywait, uthread_sem_trywait(sem))                                                     \
    LOOP(sem_post, (uthread_sem_post(sem), uthread_sem_wait(sem)))                                  \
    LOOP(sem_create, uthread_sem_destroy(uthread_sem_create(0)))                                    \
    LOOP(barrier, uthread_barrier_wait(barrier))                                                    \
    LOOP(channel, (uthread_channel_send(channel, NULL), uthread_channel_receive(channel, &value)))  \
    LOOP(trysend, uthread_channel_trysend(full, NULL))                                              \
    LOOP(tryreceive, uthread_channel_tryreceive(empty, &value))                                     \
    LOOP(receive_closed, uthread_channel_receive(closed, &value))                                   \
    LOOP(select, uthread_select(&choice, 1))                                                        \
    LOOP(external, uthread_external_close(uthread_external_open()))                                 \
    LOOP(read, uthread_async_read(-1, &value, 1, 0))                                                \
    LOOP(poll, uthread_poll(-1, UTHREAD_READABLE))                                                  \
    LOOP(recv, uthread_recv(-1, &value, 1, 0))

#define FUNCTION(name, call)                                                                        \
    static void loop_##name(volatile int *stop) {                                                   \
        while (!*stop) (void)(call);                                                                \
    }
EACH_LOOP(FUNCTION)

#define ENTRY(name, call) {#name, loop_##name},
const struct loop loops[] = {EACH_LOOP(ENTRY){NULL, NULL}};

#else

static volatile int begun, stop;

static void *ends(void *value) {
    while (!begun) CHECK(uthread_yield() == 0);
    stop = 1;
    return value;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    void *library = dlopen(arguments[1], RTLD_NOW);
    CHECK(library);
    void (*prepare)(void) = (void (*)(void))dlsym(library, "prepare");
    const struct loop *loops = dlsym(library, "loops");
    CHECK(prepare && loops);
    uthread_config_t config = {.slice_us = 100, .keep_priority = 1};
    CHECK(uthread_init_with(&config) == 0);
    prepare();
    for (const struct loop *loop = loops; loop->name; loop++) {
        uthread_t *thread;
        begun = stop = 0;
        printf("%s\n", loop->name), fflush(stdout);
        alarm(20);    /* a loop that no tick ends */
        CHECK(uthread_create(&thread, NULL, ends, NULL) == 0);
        begun = 1;
        loop->run(&stop);
        CHECK(uthread_join(thread, NULL) == 0);
    }
    CHECK(uthread_end() == 0);
    puts("each loop was interrupted");
    return 0;
}

#endif
