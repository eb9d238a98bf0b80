// Mutexes, condition variables and pthread_once of the C library, used by user threads that are preempted while they
// hold them, and by kernel threads. Arguments: the slice in us and the number of workers. Ends with 1 at the first
// broken promise.
#include <pthread.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"
#include "uthread.hpp"

enum { USER_THREADS = 4, KERNEL_THREADS = 2, ROUNDS = 30 };

template <typename F>
static void by_all(F work) {
    std::vector<std::thread> outside;
    std::vector<uthread::thread> inside;
    for (int i = 0; i < KERNEL_THREADS; i++) outside.emplace_back(work);
    for (int i = 0; i < USER_THREADS; i++) inside.emplace_back(work);
    for (auto &thread : inside) thread.join();
    for (auto &thread : outside) thread.join();
}

// Long enough for ticks, and for the shortest slices for switches.
static void computes() {
    for (volatile int i = 0; i < 300000; i++) {
    }
}

template <typename Mutex>
static void one_is_inside() {
    Mutex mutex;
    int inside = 0, turns = 0;
    by_all([&] {
        for (int i = 0; i < ROUNDS; i++) {
            std::lock_guard guard(mutex);
            CHECK(++inside == 1);
            computes();
            CHECK(inside-- == 1);
            turns++;
        }
    });
    CHECK(turns == ROUNDS * (USER_THREADS + KERNEL_THREADS));
}

static void a_recursive_mutex_belongs_to_a_user_thread() {
    std::recursive_timed_mutex mutex;
    mutex.lock();
    mutex.lock();
    uthread::thread other([&] {
        CHECK(!mutex.try_lock() && !mutex.try_lock_for(std::chrono::milliseconds(2)));
    });
    other.join();
    mutex.unlock();
    uthread::thread another([&] { CHECK(!mutex.try_lock()); });
    another.join();
    mutex.unlock();
    uthread::thread last([&] {
        CHECK(mutex.try_lock());
        mutex.unlock();
    });
    last.join();
}

// The next thread in the place of one that has ended does not get in.
static void what_a_thread_leaves_stays_locked() {
    std::recursive_mutex mutex;
    uthread::thread([&] { mutex.lock(); }).join();
    for (int i = 0; i < 3; i++) uthread::thread([&] { CHECK(!mutex.try_lock()); }).join();
}

static void misuse_is_found() {
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK);
    uthread::thread other([&] {
        CHECK(pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_trylock(&mutex) == EBUSY);
    });
    other.join();
    CHECK(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
}

// A queue between user threads and kernel threads, in both directions.
static void everything_arrives() {
    std::mutex mutex;
    std::condition_variable changed;
    int queued = 0, sent = 0, received = 0;
    auto send = [&] {
        for (int i = 0; i < ROUNDS; i++) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return queued < 2; });
            queued++, sent++;
            changed.notify_all();
        }
    };
    auto receive = [&] {
        for (int i = 0; i < ROUNDS; i++) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return queued > 0; });
            queued--, received++;
            changed.notify_all();
        }
    };
    std::thread sends_outside(send), receives_outside(receive);
    uthread::thread sends(send), receives(receive);
    sends.join(), receives.join();
    sends_outside.join(), receives_outside.join();
    CHECK(queued == 0 && sent == 2 * ROUNDS && received == sent);
    std::unique_lock lock(mutex);
    auto now = std::chrono::steady_clock::now();
    CHECK(!changed.wait_until(lock, now + std::chrono::milliseconds(2), [] { return false; }));
    CHECK(!changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(2),
                              [] { return false; }));
    CHECK(std::chrono::steady_clock::now() >= now + std::chrono::milliseconds(2));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int attempts, value;

static void initializes() {
    for (int i = 0; i < ROUNDS; i++) computes();
    if (++attempts < 3) throw std::runtime_error("not yet");
    value = 7;
}

static void once_is_once() {
    by_all([] {
        for (;;) {
            try {
                CHECK(pthread_once(&once, initializes) == 0 && value == 7);
                return;
            } catch (const std::runtime_error &) {
            }
        }
    });
    CHECK(attempts == 3);
}

static pthread_once_t half_done = PTHREAD_ONCE_INIT;
static bool begun, goes_on;

static void is_interrupted() {
    __atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&goes_on, __ATOMIC_SEQ_CST)) uthread_yield();
}

// The child of a fork does not wait for a thread that is not there: it calls the function again.
static void a_child_begins_once_more() {
    uthread::thread other([] { CHECK(pthread_once(&half_done, is_interrupted) == 0); });
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST)) uthread_yield();
    pid_t child = fork();
    CHECK(child >= 0);
    __atomic_store_n(&goes_on, true, __ATOMIC_SEQ_CST);
    if (child == 0) {
        alarm(60);
        CHECK(pthread_once(&half_done, is_interrupted) == 0);
        _exit(0);
    }
    other.join();
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// A request in a wait for a mutex ends the next wait.
static void a_request_is_kept() {
    std::mutex mutex;
    bool wants = false;
    mutex.lock();
    uthread::thread waiter([&] {
        __atomic_store_n(&wants, true, __ATOMIC_SEQ_CST);
        std::lock_guard guard(mutex);
        CHECK(uthread_sleep(LONG) == -ECANCELED);
    });
    while (!__atomic_load_n(&wants, __ATOMIC_SEQ_CST)) uthread_sleep(100);
    CHECK(uthread_cancel(waiter.get()) == 0);
    uthread_sleep(1000);
    mutex.unlock();
    waiter.join();
}

// What threads without preemption hold for a moment, all of them can have.
static void without_preemption() {
    std::mutex mutex;
    int count = 0;
    by_all([&] {
        for (int i = 0; i < 1000; i++) {
            uthread_preempt_disable();
            mutex.lock();
            count++;
            mutex.unlock();
            uthread_preempt_enable();
        }
    });
    CHECK(count == 1000 * (USER_THREADS + KERNEL_THREADS));
}

int main(int count, char **arguments) {
    alarm(100);    // nothing here waits that long
    CHECK(count == 3);
    uthread_config_t config{};
    config.slice_us = std::atoi(arguments[1]);
    config.workers = std::atoi(arguments[2]);
    config.keep_priority = 1;
    uthread::runtime runtime(config);
    one_is_inside<std::mutex>();
    one_is_inside<std::recursive_mutex>();
    one_is_inside<std::timed_mutex>();
    a_recursive_mutex_belongs_to_a_user_thread();
    what_a_thread_leaves_stays_locked();
    misuse_is_found();
    everything_arrives();
    once_is_once();
    a_child_begins_once_more();
    a_request_is_kept();
    without_preemption();
    std::puts("one at a time");
}
