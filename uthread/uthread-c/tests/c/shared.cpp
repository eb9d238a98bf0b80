// Threads share the count of a std::shared_ptr, in a process that starts no kernel thread of its own. Ends with 1 at
// the first broken promise.
#include <memory>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define IS_SINGLE_THREADED __libc_single_threaded
#else
#define IS_SINGLE_THREADED 0
#endif
#include <sys/wait.h>

#include "check.h"
#include "uthread.hpp"

static auto owner = std::make_shared<int>(7);

static uint64_t preemptions() {
    uthread_statistics_t statistics;
    CHECK(uthread_statistics(&statistics) == 0);
    return statistics.preemptions;
}

static void shares() {
    auto share = [] {
        for (auto before = preemptions(); preemptions() < before + 50;) {
            for (int turn = 0; turn < 1000; turn++) {
                auto copy = owner;
                auto other = copy;
            }
        }
    };
    CHECK(!IS_SINGLE_THREADED);
    bool stop = false;
    uthread::thread spins([&] {
        while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) preemptions();
    });
    uthread::thread one(share), two(share);
    one.join(), two.join();
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    spins.join();
    CHECK(owner.use_count() == 1);
}

int main() {
    alarm(60);    // nothing here waits that long
    uthread_config_t config{};
    config.slice_us = 100;
    config.keep_priority = 1;
    {
        uthread::runtime runtime(config);
        shares();
    }
    std::fflush(stdout);
    auto child = fork();
    if (child == 0) {
        CHECK(!IS_SINGLE_THREADED);
        uthread::runtime runtime(config);
        shares();
        _exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    std::puts("every share was counted");
}
