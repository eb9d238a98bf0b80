/* uthread - preemptive user-level threads for Linux (x86-64, aarch64)
 *
 * SYNOPSIS
 *     #include <uthread.h>                     cc program.c -luthread
 *                                              c++ program.cpp -luthread-cxx -luthread
 *
 *     static void *hello(void *name) { printf("hello from %s\n", (char *)name); return NULL; }
 *
 *     int main(void) {
 *         uthread_t *thread;
 *         uthread_init(1000);                  // this is a user thread now; slices of 1 ms
 *         uthread_create(&thread, NULL, hello, "one");
 *         uthread_join(thread, NULL);
 *         return uthread_end();
 *     }
 *
 * RETURN VALUE
 *     Unless said otherwise, 0 or more for success, and a negative error number of errno(3) for
 *     failure, which uthread_strerror() explains. errno itself is not set. Functions that create an
 *     object return NULL if there is no memory or a value is out of its range. Misuse writes a
 *     message that names the threads to the standard error as well. All functions may fail with
 *       -EPERM           called outside a user thread, or by a thread that does not hold the lock,
 *                        or a wait between uthread_preempt_disable() and uthread_preempt_enable()
 *       -EINVAL          a null pointer, a value out of its range, or an object of another runtime
 *       -ESRCH           a thread that was joined, or that has ended and nobody can join, or that is not
 *                        in this process (see FORK)
 *     An object that other threads wait for, or hold, cannot be destroyed: -EBUSY, and it stays. Nor can
 *     one by a kernel thread outside while the runtime runs whose threads use it.
 *       -ENOTRECOVERABLE the library failed; its message says why
 *
 * TIME LIMITS
 *     The functions whose names end in _timed wait at most that many us. -ETIMEDOUT: the time was up;
 *     then the call has changed nothing, and what it waited for goes to others.
 *
 * CANCELLING
 *     uthread_cancel() ends the wait of a thread, or else its next one. The call that waits fails with
 *     -ECANCELED: it has changed nothing, and what it waited for goes to others. All waits can be
 *     cancelled, with a time limit or without one: uthread_yield, _join, _suspend, _sleep, _lock,
 *     _cond_wait, _sem_wait, _barrier_wait, _channel_send, _channel_receive, _select, _reclock_lock, _rwlock_read, _rwlock_write,
 *     the transfers, _poll, the calls of sockets and _getaddrinfo,
 *     and waiting for others in uthread_once. After -ECANCELED, a joined thread must still be joined or
 *     detached, and the lock of uthread_cond_wait is held. Not cancelled are: the wait of
 *     uthread_cond_signal for its lock, spin locks, uthread_end, and a transfer that the device has
 *     begun. One request ends one wait, and several before a wait count as one. What a thread has got
 *     already it keeps: then the request ends its next wait. A thread that neither waits nor yields
 *     notices nothing.
 *
 * TERMINATING
 *     uthread_terminate() ends a thread at its current wait, or else at its next one, or in
 *     uthread_testcancel(): the waits that can be cancelled are the safe points. The thread unwinds by
 *     force, as by pthread_cancel(3): destructors of C++ run and C's __attribute__((cleanup)) (with
 *     -fexceptions), and `catch (...)`, which must rethrow, else the process aborts with a message. All
 *     functions on the way need unwind tables (-fexceptions or -funwind-tables; on x86-64 they have them
 *     anyway). uthread_join() gives UTHREAD_TERMINATED.
 *     Locks that the thread holds stay locked, unless its destructors release them: use
 *     uthread::guard. The thread has nothing of what it waited for, except the lock of
 *     uthread_cond_wait(), which it holds again before it unwinds. uthread_once() lets the next caller
 *     call the function again.
 *     A function that must not unwind must not wait, or must hold termination off: a destructor or
 *     another noexcept function of C++ would end the process (std::terminate). Between
 *     uthread_terminate_disable() and uthread_terminate_enable(), which nest, and in a destructor that an
 *     exception has called, the wait fails with -ECANCELED instead, and the first one after ends the
 *     thread. While a thread unwinds, its waits are not cancelled.
 *     Only threads of uthread_create() can be terminated (-EINVAL), and a frame of Rust between must
 *     catch no panics.
 *
 * PREEMPTION
 *     With a slice, a timer signal (SIGURG) interrupts a thread between any two instructions of the
 *     program's own text; never inside a shared library such as the C library, nor inside this one.
 *     All user threads of a worker share one kernel thread, hence its thread-local values
 *     (_Thread_local, thread_local). Between uthread_preempt_disable() and uthread_preempt_enable() no
 *     other thread runs on the worker: use them around such values, and around whatever the program
 *     has linked statically that is not re-entrant (a generator of random numbers, for example).
 *     A program that is linked statically to its C library, or to an allocator that defines malloc, has no slices:
 *     -ENOEXEC.
 *     While no other thread is ready, the timer stops within a slice. The next tick comes when a time limit
 *     passes, a transfer ends or another worker has something for this one. A tick in a shared library is
 *     tried again at doubling intervals up to a slice or 2 ms, and takes effect at the end of the next call of this library
 *     at the latest, other than uthread_strerror() and uthread_poster_post().
 *     A system call blocks all threads of its worker. A tick during the call interrupts it, and the kernel
 *     restarts it (SA_RESTART). It never restarts these, which fail with EINTR or return what is left of their
 *     time (signal(7)):
 *       poll, ppoll, select, pselect, epoll_wait, epoll_pwait;
 *       sleep, usleep, nanosleep, clock_nanosleep;
 *       sem_timedwait, and other waits on a futex with a time limit;
 *       accept, connect, recv, send and the like on a socket with SO_RCVTIMEO or SO_SNDTIMEO;
 *       pause, sigsuspend, sigwaitinfo, sigtimedwait;
 *       msgrcv, msgsnd, semop, semtimedop, io_getevents.
 *     Use uthread_sleep() and uthread_poll(), which let other threads run, or call them again after EINTR. Or set
 *     cpu_time_slices: then a slice counts CPU time, of which a call that waits takes none, and no tick interrupts it.
 *     The kernel looks at CPU time at its own ticks only, each 1 to 10 ms: a slice, and the time limit of a thread that
 *     waits while another computes, may end that much later.
 *
 * STACKS
 *     Below each stack are 64 KiB of address space that nothing may touch. A thread that gets there ends the
 *     process (SIGABRT), with a message that names it. A function with more than 64 KiB of variables can jump
 *     over them and change the stack of another thread: compile with -fstack-clash-protection, and it touches
 *     them in order.
 *
 * STATE OF A THREAD
 *     Each thread has its own errno, rounding mode, and other control and (on x86-64, of SSE) exception flags
 *     of floating-point numbers; it inherits the latter from the thread that starts it. Calls of this library
 *     and ticks leave them as they are. A thread that has begun stays on its kernel thread, so addresses of
 *     errno and of thread-local values, which functions keep, stay right.
 *     The signal mask and the alternate signal stack belong to the kernel thread: all its user threads share
 *     them, and the last change counts.
 *
 * FROM OUTSIDE
 *     uthread_external_open() opens the runtime to kernel threads that are not its workers. They may then call
 *     uthread_resume, _sem_post, _channel_send (which blocks them while the channel is full), _channel_trysend and
 *     _channel_close until the runtime ends; before, that is -EPERM. While a handle is open, threads that all wait
 *     are no deadlock: the runtime sleeps until it is woken. The end of a run does not wait for handles. A signal
 *     handler may call only uthread_poster_post(). In a runtime with slices, a handler with SA_ONSTACK must have
 *     SIGURG in its sa_mask.
 *
 * FORK
 *     The child of fork() has the calling user thread only. It may call all functions of this library, create
 *     threads, and end as in the parent: by uthread_end(), if it is the first thread, by the return of uthread_run(),
 *     by exit() or by _exit(). If it is not the first one, the process ends with 0 after its last thread. To the
 *     child, all other threads that had not ended are gone: uthread_join() and the like return -ESRCH. Locks that
 *     they held stay locked, and what they waited for goes to others. If another worker was using a channel, the
 *     child has lost the values in it. To kernel threads outside, the child is closed until it calls
 *     uthread_external_open(): handles and posters from before have no effect there, and _poster_post() is -ESRCH.
 *     A child by a kernel thread that is no worker has no runtime, and may make one. The children of vfork() and
 *     posix_spawn() may do what they may in any program. Others (of clone, of _Fork) may only execute a program.
 *
 * EXCEPTIONS (C++)
 *     Each thread has its own exceptions: it may wait, and be preempted, in a catch block and in
 *     destructors. (The C++ library must be loaded with the program, not by dlopen(3) later.)
 *     An exception must not leave a function that this library calls; the wrappers of uthread.hpp carry
 *     it to join(). uthread_exit() runs destructors; `catch (...)` on its way must rethrow.
 *
 * THE C AND C++ LIBRARIES
 *     They know kernel threads only. A wait of theirs blocks all user threads of the worker, and a lock of theirs
 *     that a user thread holds belongs to all user threads of its worker. So a user thread must not be preempted
 *     or wait while it holds or initializes one of these:
 *       std::mutex, std::timed_mutex, std::shared_mutex, pthread_mutex_t, pthread_rwlock_t, flockfile(3):
 *         a second thread of the worker that wants it blocks the worker for ever;
 *       std::recursive_mutex, and a recursive pthread_mutex_t: a second thread gets in as well;
 *       std::call_once, pthread_once(3): as a mutex, and a second thread can change what the first one calls.
 *     Use the locks, condition variables and uthread_once() of this library, or call
 *     uthread_preempt_disable() before such a lock and uthread_preempt_enable() after its end. A user thread must
 *     not wait for another user thread in std::condition_variable, std::future, std::latch,
 *     std::counting_semaphore, std::atomic::wait(), pthread_cond_wait(3) or sem_wait(3).
 *     Two libraries, which a program links before libuthread, change that for a part of these. With them a user
 *     thread that waits lets others run, also for kernel threads, and looks again at growing intervals of up to
 *     1 ms. Requests to cancel or terminate it wait for its next wait. Kernel threads wait as they do without them.
 *     libuthread-cxx (pkg-config: uthread-cxx; CMake: uthread::cxx or uthread::cxx-static)
 *       makes function-local static variables of C++ safe, which have such a lock too: the guard. Each preemptive
 *       program in C++ needs it. It ends the process (SIGABRT) if a thread meets a variable that another user
 *       thread initializes between uthread_preempt_disable() and uthread_preempt_enable(), or that it initializes
 *       itself.
 *     libuthread-pthread (pkg-config: uthread-pthread; CMake: uthread::pthread or uthread::pthread-static)
 *       makes pthread_mutex_*, pthread_cond_* and pthread_once() safe, for programs with glibc, and with them
 *       std::mutex, std::timed_mutex, std::recursive_mutex, std::recursive_timed_mutex and
 *       std::condition_variable. Each belongs to a user thread. Not changed are mutexes that are robust, shared by
 *       processes, or have a priority protocol, which belong to a kernel thread, conditions that are shared by
 *       processes, and the rest of the lists above. std::call_once stays unsafe: it keeps what it calls in a
 *       thread-local variable, before it calls the C library.
 */
#ifndef UTHREAD_H
#define UTHREAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runtime ------------------------------------------------------------------------------- */

enum {
    UTHREAD_IO_AUTO = 0,    /* the kernel where it allows that, else threads */
    UTHREAD_IO_KERNEL = 1,  /* io_uring(7) */
    UTHREAD_IO_THREADS = 2  /* kernel threads that block in place of the caller */
};

/* All zeros: cooperative, one worker, the default sizes. */
typedef struct uthread_config {
    unsigned int slice_us;     /* time slice in us, at least 20; 0: threads switch only in calls */
    unsigned int workers;      /* kernel threads that run user threads; 0 means 1 */
    size_t stack_size;         /* of a thread, in bytes of address space; 0 means 64 KiB (see STACKS) */
    size_t main_stack_size;    /* of the first thread of uthread_run_with; 0 means 1 MiB */
    int keep_priority;         /* not 0: a thread that uses up its slice keeps its priority */
    int io;                    /* one of UTHREAD_IO_ */
    int cpu_time_slices;       /* not 0: a slice counts the CPU time of its worker (see PREEMPTION) */
} uthread_config_t;

/* Runs main(argument) as the first user thread of a cooperative runtime. It returns when all threads
 * have ended. -EDEADLK: threads were left that can never run again; a message names them. They stay where
 * they are, so what they may use must stay as well. -EBUSY: the caller is a user thread. */
int uthread_run(void *(*main)(void *), void *argument);

/* The same with a configuration, which may be NULL; `value`, which may be NULL, receives the result. */
int uthread_run_with(const uthread_config_t *config, void *(*main)(void *), void *argument,
                     void **value);

/* Makes the caller the first user thread, on the stack that it has. 0: cooperative. The kernel thread
 * must not end before uthread_end(), except with its process. If the first thread can never run again,
 * the process is aborted with a message. -EBUSY: the caller is a user thread already. */
int uthread_init(unsigned int slice_us);
int uthread_init_with(const uthread_config_t *config);

/* Ends the runtime of uthread_init: waits for all other threads, and continues as a kernel thread.
 * Only in the first thread (-EPERM). -EDEADLK: threads were left that can never run again, as in
 * uthread_run. */
int uthread_end(void);

/* Counts of the running runtime. */
typedef struct uthread_statistics {
    uint64_t ticks_taken;
    uint64_t ticks_deferred;   /* they came where a thread must not be interrupted */
    uint64_t preemptions;      /* ticks after which another thread ran */
} uthread_statistics_t;

int uthread_statistics(uthread_statistics_t *statistics);

/* Explains an error number, negative or not. Never NULL. */
const char *uthread_strerror(int error);

/* ---- threads ------------------------------------------------------------------------------- */

typedef struct uthread_thread uthread_t;

/* A thread that uses up its slice falls by one priority, unless it holds a lock or the configuration
 * says keep_priority; every 100 ticks all threads return to the priority that they were given. */
enum {
    UTHREAD_GREEN = 1,         /* the lowest */
    UTHREAD_ORANGE = 2,        /* the default */
    UTHREAD_RED = 3            /* the highest */
};

/* All zeros: no name, the runtime's stack size, ORANGE. */
typedef struct uthread_attr {
    const char *name;          /* for messages; copied */
    size_t stack_size;         /* in bytes; rounded up to 16 KiB times a power of two, at most 512 MiB */
    int priority;
} uthread_attr_t;

/* Starts a thread. attr may be NULL. Without a place for the thread (NULL) it is detached. Else it must
 * be joined or detached once. -ENOMEM: no memory for a stack. */
int uthread_create(uthread_t **thread, const uthread_attr_t *attr, void *(*function)(void *),
                   void *argument);

/* Waits for a thread, and frees its handle. `value` may be NULL. -EDEADLK: the thread is the caller.
 * -EINVAL: another thread joins it, it was detached, or it was not created but came from uthread_self().
 * -ESRCH: it was joined before. A handle is never used again for another thread (before 2^31 more). */
int uthread_join(uthread_t *thread, void **value);

/* The same within a time; after -ETIMEDOUT the thread must still be joined or detached. */
int uthread_join_timed(uthread_t *thread, void **value, unsigned int microseconds);

/* Frees the handle; the thread, which may be the caller, runs on. */
int uthread_detach(uthread_t *thread);

/* The running thread; the handle is good until the thread is joined, or else until it ends. NULL
 * outside a user thread. */
uthread_t *uthread_self(void);

/* Its number, from 1 on; 0 outside a user thread. */
uint64_t uthread_id(void);

/* Lets another ready thread of at least this priority run. Outside a runtime it is sched_yield(2). */
int uthread_yield(void);

/* Ends the running thread, with destructors of C++. Locks that it holds stay locked. In the first thread
 * of uthread_init it waits for all others, and ends the process with 0. */
void uthread_exit(void *value) __attribute__((noreturn));

/* Waits until uthread_resume(). A resume that came before is remembered; several count as one. */
int uthread_suspend(void);
int uthread_suspend_timed(unsigned int microseconds);
int uthread_resume(uthread_t *thread);

/* Ends the current wait of the thread, or else its next one, with -ECANCELED (see CANCELLING). The thread
 * may be the caller, and may have ended. */
int uthread_cancel(uthread_t *thread);

/* For threads that compute for long: -ECANCELED if a request to cancel has come, which ends with this. */
int uthread_testcancel(void);

/* Unwinds the thread from its next wait (see TERMINATING). It may be the caller, and may have ended. */
int uthread_terminate(uthread_t *thread);

/* The value of a thread that was terminated. */
#define UTHREAD_TERMINATED ((void *)-1)

/* The caller is not terminated between the two. */
void uthread_terminate_disable(void);
void uthread_terminate_enable(void);

/* The priority in effect. */
int uthread_priority(uthread_t *thread);
int uthread_set_priority(uthread_t *thread, int priority);

/* Waits for at least this many us while other threads run. */
int uthread_sleep(unsigned int microseconds);

/* No other thread of this worker runs between the two. They nest; each disable needs one enable in the
 * same thread. */
void uthread_preempt_disable(void);
void uthread_preempt_enable(void);

/* 1 for a user thread that is not between the two, else 0. */
int uthread_may_wait(void);

/* Calls function() at the first call with this `once`, and never again; others wait for its end. If
 * the function ends its thread, the next caller calls it again. -EDEADLK: called in the function. */
typedef struct uthread_once {
    void *done;
} uthread_once_t;
#define UTHREAD_ONCE_INIT { 0 }

int uthread_once(uthread_once_t *once, void (*function)(void));

/* A pointer of each thread's own under a key; it is NULL until the thread sets it. At the end of a thread, the
 * destructor (or NULL for none) gets each pointer but NULL, the newest first. It runs in the thread, and may
 * wait, but must not end it or throw. A pointer that was set outlives its key. Destructors may set pointers
 * again, which are destroyed in turn, but not for ever: in the fourth round uthread_set fails with -EAGAIN. */
typedef struct uthread_key uthread_key_t;

uthread_key_t *uthread_key_create(void (*destructor)(void *value));
void uthread_key_destroy(uthread_key_t *key);
int uthread_set(uthread_key_t *key, void *value);
void *uthread_get(uthread_key_t *key);    /* NULL outside a user thread as well */

/* ---- locks --------------------------------------------------------------------------------- */

typedef struct uthread_lock uthread_lock_t;

enum {
    /* Running threads may take the lock before those that wait. The first of these is overtaken at most 256
     * times and for a millisecond, then the lock is handed over to it. */
    UTHREAD_PLAIN = 0,
    /* The lock is handed over in the order of coming, as with the protocols below. Many times slower where
     * threads of several workers share it. */
    UTHREAD_FIFO = 2,
    /* Protocols against priority inversion: the owner has at least the priority of each thread that waits. */
    UTHREAD_INHERIT = 1
};
/* The owner has at least this priority; locking by a thread above it is an error (-EINVAL). */
#define UTHREAD_CEILING(priority) (2 + (priority))

/* -EDEADLK: the caller holds the lock, or waits in a circle of threads; -EBUSY: trylock finds it locked;
 * -EPERM: the caller does not hold it. */
uthread_lock_t *uthread_lock_create(int protocol);
int uthread_lock_destroy(uthread_lock_t *lock);
int uthread_lock(uthread_lock_t *lock);
int uthread_trylock(uthread_lock_t *lock);
int uthread_lock_timed(uthread_lock_t *lock, unsigned int microseconds);
int uthread_unlock(uthread_lock_t *lock);

/* A lock whose waiters spin. The owner may be preempted. -EDEADLK: the caller holds it, or its owner can never run: the
 * runtime is cooperative, and the owner on the same worker; or all other threads wait, or spin as well, and nothing comes
 * from outside. */
typedef struct uthread_spinlock uthread_spinlock_t;

uthread_spinlock_t *uthread_spinlock_create(void);
int uthread_spinlock_destroy(uthread_spinlock_t *lock);
int uthread_spinlock_lock(uthread_spinlock_t *lock);
int uthread_spinlock_trylock(uthread_spinlock_t *lock);
int uthread_spinlock_unlock(uthread_spinlock_t *lock);

/* A lock that its owner may take again: it is free after as many unlocks. Condition variables do not take it. Errors as
 * of other locks. */
typedef struct uthread_reclock uthread_reclock_t;

uthread_reclock_t *uthread_reclock_create(void);
int uthread_reclock_destroy(uthread_reclock_t *lock);
int uthread_reclock_lock(uthread_reclock_t *lock);
int uthread_reclock_trylock(uthread_reclock_t *lock);
int uthread_reclock_lock_timed(uthread_reclock_t *lock, unsigned int microseconds);
int uthread_reclock_unlock(uthread_reclock_t *lock);

/* A lock that many readers hold at the same time, or one writer. Threads get it in the order of coming. A thread must
 * not lock it again while it holds it: a writer gets -EDEADLK, but a reader may wait for ever. -EBUSY: the calls that
 * try find it locked; -EPERM: another thread writes, or nobody holds it. */
typedef struct uthread_rwlock uthread_rwlock_t;

uthread_rwlock_t *uthread_rwlock_create(void);
int uthread_rwlock_destroy(uthread_rwlock_t *lock);
int uthread_rwlock_read(uthread_rwlock_t *lock);
int uthread_rwlock_tryread(uthread_rwlock_t *lock);
int uthread_rwlock_read_timed(uthread_rwlock_t *lock, unsigned int microseconds);
int uthread_rwlock_write(uthread_rwlock_t *lock);
int uthread_rwlock_trywrite(uthread_rwlock_t *lock);
int uthread_rwlock_write_timed(uthread_rwlock_t *lock, unsigned int microseconds);
int uthread_rwlock_unlock(uthread_rwlock_t *lock);

/* ---- condition variables -------------------------------------------------------------------- */

typedef struct uthread_cond uthread_cond_t;

uthread_cond_t *uthread_cond_create(void);
int uthread_cond_destroy(uthread_cond_t *cond);

/* All of these ask for the lock to be held by the caller (-EPERM), except uthread_cond_notify. With waiters that use another lock
 * they fail with -EINVAL, and the caller's lock has been released. */
int uthread_cond_wait(uthread_cond_t *cond, uthread_lock_t *lock);

/* Waits within a time for a signal, then for the lock: it is held after -ETIMEDOUT as well. */
int uthread_cond_wait_timed(uthread_cond_t *cond, uthread_lock_t *lock, unsigned int microseconds);

/* Hoare: the first waiter gets the lock and runs at once, and finds what the caller left: `if` is enough.
 * The caller gets the lock back before any thread from outside. */
int uthread_cond_signal(uthread_cond_t *cond, uthread_lock_t *lock);

/* Hoare, as the last action inside: signals and unlocks. */
int uthread_cond_signal_unlock(uthread_cond_t *cond, uthread_lock_t *lock);

/* All waiters run one after another before any thread from outside, once the caller unlocks. */
int uthread_cond_broadcast(uthread_cond_t *cond, uthread_lock_t *lock);

/* Mesa: one waiter, or all, queue for the lock and must check their condition again. With NULL in the place of
 * the lock, the caller need not hold it; what the waiters check must have changed while it was held. */
int uthread_cond_notify(uthread_cond_t *cond, uthread_lock_t *lock);
int uthread_cond_notify_all(uthread_cond_t *cond, uthread_lock_t *lock);

/* ---- semaphores, barriers, channels --------------------------------------------------------- */

typedef struct uthread_sem uthread_sem_t;

uthread_sem_t *uthread_sem_create(size_t permits);
int uthread_sem_destroy(uthread_sem_t *sem);
int uthread_sem_wait(uthread_sem_t *sem);
int uthread_sem_trywait(uthread_sem_t *sem);    /* -EAGAIN: no permit */
int uthread_sem_wait_timed(uthread_sem_t *sem, unsigned int microseconds);
int uthread_sem_post(uthread_sem_t *sem);       /* -EOVERFLOW: it has SIZE_MAX permits */

typedef struct uthread_barrier uthread_barrier_t;

/* Waits for this many threads; one of them gets 1, the others 0. */
uthread_barrier_t *uthread_barrier_create(size_t threads);
int uthread_barrier_destroy(uthread_barrier_t *barrier);
int uthread_barrier_wait(uthread_barrier_t *barrier);

/* After -ETIMEDOUT the caller no longer counts as one that waits. */
int uthread_barrier_wait_timed(uthread_barrier_t *barrier, unsigned int microseconds);

typedef struct uthread_channel uthread_channel_t;

/* A queue of pointers; with capacity 0 each sender waits for its receiver. After close, sending fails
 * with -EPIPE, and receiving as soon as the queue is empty. */
uthread_channel_t *uthread_channel_create(size_t capacity);
int uthread_channel_destroy(uthread_channel_t *channel);
int uthread_channel_send(uthread_channel_t *channel, void *value);
int uthread_channel_receive(uthread_channel_t *channel, void **value);
int uthread_channel_send_timed(uthread_channel_t *channel, void *value, unsigned int microseconds);
int uthread_channel_receive_timed(uthread_channel_t *channel, void **value, unsigned int microseconds);
int uthread_channel_trysend(uthread_channel_t *channel, void *value);        /* -EAGAIN: full */
int uthread_channel_tryreceive(uthread_channel_t *channel, void **value);    /* -EAGAIN: empty */
int uthread_channel_close(uthread_channel_t *channel);

/* ---- kernel threads outside and signal handlers (see FROM OUTSIDE) --------------------------- */

typedef struct uthread_external uthread_external_t;

/* A user thread opens its runtime. Any kernel thread may close the handle, also after the run. NULL outside a user
 * thread. */
uthread_external_t *uthread_external_open(void);
void uthread_external_close(uthread_external_t *external);

typedef struct uthread_poster uthread_poster_t;

/* Posts a semaphore of the caller's runtime from anywhere. It is also a handle as above, until it is destroyed, and
 * the semaphore may be destroyed before. NULL outside a user thread. */
uthread_poster_t *uthread_poster_create(uthread_sem_t *sem);
void uthread_poster_destroy(uthread_poster_t *poster);

/* Async-signal-safe (signal-safety(7)). -ESRCH: the run has ended, or went on in the parent of a fork. */
int uthread_poster_post(uthread_poster_t *poster);

/* ---- input and output ----------------------------------------------------------------------- */

/* As pread(2) and pwrite(2), while other threads run: bytes, or a negative error number. The buffer must
 * not be used by others until the return. */
ssize_t uthread_async_read(int fd, void *buffer, size_t bytes, int64_t offset);
ssize_t uthread_async_write(int fd, const void *buffer, size_t bytes, int64_t offset);

/* The same within a time. They return only when the kernel has finished with the buffer: a transfer that
 * the device has begun ends as it would without a limit, and then has succeeded. */
ssize_t uthread_async_read_timed(int fd, void *buffer, size_t bytes, int64_t offset,
                                 unsigned int microseconds);
ssize_t uthread_async_write_timed(int fd, const void *buffer, size_t bytes, int64_t offset,
                                  unsigned int microseconds);

/* As fsync(2), while other threads run. */
int uthread_fsync(int fd);
int uthread_fsync_timed(int fd, unsigned int microseconds);

/* Waits for a descriptor, like poll(2): the events that were found. */
enum {
    UTHREAD_READABLE = 1,
    UTHREAD_WRITABLE = 2,
    UTHREAD_ERROR = 4          /* found only */
};
int uthread_poll(int fd, int events);
int uthread_poll_timed(int fd, int events, unsigned int microseconds);

/* One of three: a channel to receive from (a value is there, or it is closed), one to send to (there is room, a receiver
 * waits, or it is closed), or, where both are NULL, a descriptor with its events. */
typedef struct uthread_choice {
    uthread_channel_t *receive;
    uthread_channel_t *send;
    int fd;
    int events;
} uthread_choice_t;

/* Waits until one of them is ready, and returns its place in the array, from 0 on. It changes nothing, and another
 * thread may be faster: use uthread_channel_tryreceive() and the like then, and select again. Those that are ready take
 * turns. On a channel without capacity, two threads that select on both sides do not meet. -EINVAL: there are none. */
int uthread_select(const uthread_choice_t *choices, size_t count);
int uthread_select_timed(const uthread_choice_t *choices, size_t count, unsigned int microseconds);

/* ---- sockets -------------------------------------------------------------------------------- */

/* As accept4(2) with SOCK_CLOEXEC, and connect(2), while other threads run. They make the descriptor fd non-blocking
 * (O_NONBLOCK). After -ETIMEDOUT or -ECANCELED, connecting goes on, and the same call waits for its end. */
int uthread_accept(int fd, struct sockaddr *address, socklen_t *length);
int uthread_accept_timed(int fd, struct sockaddr *address, socklen_t *length,
                         unsigned int microseconds);
int uthread_connect(int fd, const struct sockaddr *address, socklen_t length);
int uthread_connect_timed(int fd, const struct sockaddr *address, socklen_t length,
                          unsigned int microseconds);

/* As recv(2), recvfrom(2), send(2) and sendto(2), while other threads run, for all sockets, blocking or not: bytes, or a
 * negative error number. */
ssize_t uthread_recv(int fd, void *buffer, size_t bytes, int flags);
ssize_t uthread_recv_timed(int fd, void *buffer, size_t bytes, int flags,
                           unsigned int microseconds);
ssize_t uthread_recvfrom(int fd, void *buffer, size_t bytes, int flags, struct sockaddr *address,
                         socklen_t *length);
ssize_t uthread_recvfrom_timed(int fd, void *buffer, size_t bytes, int flags,
                               struct sockaddr *address, socklen_t *length,
                               unsigned int microseconds);
ssize_t uthread_send(int fd, const void *buffer, size_t bytes, int flags);
ssize_t uthread_send_timed(int fd, const void *buffer, size_t bytes, int flags,
                           unsigned int microseconds);
ssize_t uthread_sendto(int fd, const void *buffer, size_t bytes, int flags,
                       const struct sockaddr *address, socklen_t length);
ssize_t uthread_sendto_timed(int fd, const void *buffer, size_t bytes, int flags,
                             const struct sockaddr *address, socklen_t length,
                             unsigned int microseconds);

struct addrinfo;

/* As getaddrinfo(3), on a kernel thread of its own, while other threads run. Above 0: the name was not resolved;
 * gai_strerror(-result) explains it. */
int uthread_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                        struct addrinfo **result);
int uthread_getaddrinfo_timed(const char *node, const char *service, const struct addrinfo *hints,
                              struct addrinfo **result, unsigned int microseconds);

#ifdef __cplusplus
}
#endif
#endif
