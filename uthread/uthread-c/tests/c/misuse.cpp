// Misuse in C++ is an exception, and no exception is lost. Ends with 1 at the first broken promise.
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "check.h"
#include "uthread.hpp"

// The error number of what `work` throws; 0 if it throws nothing.
template <typename F>
static int error_of(F work) {
    try {
        work();
    } catch (const uthread::error &error) {
        return error.code().value();
    }
    return 0;
}

template <typename F>
static std::string thrown_by(F work) {
    try {
        work();
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

static void throws_up() { throw std::runtime_error("of a thread"); }

// An attempt outside a runtime has not found the object in use.
static void attempts_outside() {
    uthread::mutex mutex;
    uthread::spin_lock spins;
    uthread::shared_mutex shared;
    uthread::recursive_mutex recursive;
    uthread::semaphore permits(1);
    CHECK(error_of([&] { mutex.try_lock(); }) == EPERM && error_of([&] { spins.try_lock(); }) == EPERM);
    CHECK(error_of([&] { shared.try_lock(); }) == EPERM && error_of([&] { shared.try_lock_shared(); }) == EPERM);
    CHECK(error_of([&] { recursive.try_lock(); }) == EPERM && error_of([&] { permits.try_wait(); }) == EPERM);
}

int main() {
    attempts_outside();
    uthread::runtime runtime;
    uthread::semaphore most(std::numeric_limits<size_t>::max());
    CHECK(error_of([&] { most.post(); }) == EOVERFLOW);
    uthread_attr_t large{};
    large.stack_size = std::numeric_limits<size_t>::max();
    CHECK(error_of([&] { uthread::thread thread([] {}, large); }) == EINVAL);
    uthread::lock lock;
    uthread::condition condition;
    CHECK(error_of([&] { condition.wait(lock); }) == EPERM);
    uthread::mutex low(UTHREAD_CEILING(UTHREAD_GREEN));
    CHECK(error_of([&] { low.try_lock(); }) == EINVAL);
    CHECK(lock.try_lock() && !lock.try_lock());
    lock.unlock();
    CHECK(most.try_wait());
    most.post();

    // A semaphore for which a thread waits.
    auto *awaited = new uthread::semaphore(0);
    uthread::thread waits([&] { error_of([&] { awaited->wait(); }); });
    uthread::yield();
    CHECK(error_of([&] { awaited->~semaphore(); }) == EBUSY);
    awaited->post();
    waits.join();
    delete awaited;

    CHECK(thrown_by([] { uthread::thread thread(throws_up); }) == "of a thread");
    CHECK(thrown_by([] {
              uthread::thread thread(throws_up);
              thread = uthread::thread([] {});
          }) == "of a thread");
    CHECK(thrown_by([] {
              uthread::thread thread(throws_up);
              thread.join();
          }) == "of a thread");
    CHECK(error_of([] {
              uthread::no_preempt off;
              uthread::thread thread([] {});
          }) == EPERM);
    // Two at once: the first goes on, and the other is written.
    CHECK(thrown_by([] {
              uthread::thread thread(throws_up);
              throw std::runtime_error("of the scope");
          }) == "of the scope");
    // Nobody joins it: what it threw is written.
    uthread::thread detached(throws_up);
    detached.detach();
    CHECK(!detached.joinable() && error_of([&] { detached.detach(); }) == EINVAL);
    uthread::yield();
    std::puts("misuse is thrown");
}
