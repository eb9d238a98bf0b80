// Threads that others terminate, in C++: what runs on their way out.
#include <cxxabi.h>

#include <cstdio>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "check.h"
#include "uthread.hpp"

static std::string noted;

struct note {
    const char *name;
    ~note() { (noted += name) += ' '; }
};

// Rests on its way out, as destructors may.
struct rests {
    ~rests() {
        uthread_sleep(10);
        uthread_yield();
    }
};

template <typename Work>
static std::string terminated(Work work) {
    noted.clear();
    uthread::thread thread(work);
    for (int turn = 0; turn < 3; turn++) uthread::yield();
    thread.terminate();
    thread.join();
    return noted;
}

static void outer(void (*wait)()) {
    note last{"last"};
    rests rest;
    try {
        note first{"first"};
        wait();
        noted += "went-on ";
    } catch (const std::exception &) {
        noted += "exception ";
    } catch (...) {
        noted += "all ";
        CHECK(!std::current_exception());
        throw;
    }
}

// A library may tell forced unwinding from exceptions, and keep those.
static void tells_apart() {
    try {
        note first{"first"};
        uthread::suspend();
    } catch (abi::__forced_unwind &) {
        noted += "forced ";
        throw;
    } catch (...) {
        noted += "kept ";
    }
}

// The standard streams do so: they would keep an exception.
struct suspending_buffer : std::streambuf {
    int sync() override {
        uthread::suspend();
        return 0;
    }
};

static void unwinding() {
    CHECK(terminated([] { outer([] { uthread::suspend(); }); }) == "first all last ");
    CHECK(terminated([] { outer([] { for (;;) uthread::yield(); }); }) == "first all last ");
    CHECK(terminated([] { tells_apart(); }) == "first forced ");
    CHECK(terminated([] {
        note last{"last"};
        suspending_buffer buffer;
        std::ostream stream(&buffer);
        stream.flush();
        noted += "went-on ";
    }) == "last ");
    // A lock that a guard holds is free again.
    uthread::lock lock;
    uthread::condition condition;
    terminated([&] {
        uthread::guard<uthread::lock> guard(lock);
        condition.wait(lock);
    });
    CHECK(lock.try_lock());
    lock.unlock();
    // The destructor of a thread waits for it: it must not throw, and does not.
    CHECK(terminated([] {
        uthread::thread inner([] {
            uthread::sleep_for(std::chrono::milliseconds(2));
            noted += "inner ";
        });
    }) == "inner ");
    CHECK(terminated([] {
        uthread::thread inner([] { noted += "inner "; });
        note first{"first"};
        uthread::suspend();
    }).find("first") != std::string::npos);
    // In a catch block, and in a destructor that runs because of an exception, which comes first.
    CHECK(terminated([] {
        note last{"last"};
        try {
            throw 7;
        } catch (int) {
            note first{"first"};
            uthread::suspend();
        }
    }) == "first last ");
    CHECK(terminated([] {
        struct suspends {
            ~suspends() { noted += uthread_suspend() == -ECANCELED ? "cancelled " : "resumed "; }
        };
        try {
            suspends here;
            throw 7;
        } catch (int) {
            noted += "caught ";
        }
        uthread::suspend();
        noted += "went-on ";
    }) == "cancelled caught ");
}

// Each thread has its own exceptions, also if it waits or is preempted while it handles one.
static void exceptions(bool spins) {
    auto work = [spins](int number) {
        struct yields {
            int expected;
            ~yields() {
                CHECK(std::uncaught_exceptions() == expected);
                uthread_yield();
                CHECK(std::uncaught_exceptions() == expected);
            }
        };
        for (int turn = 0; turn < 100; turn++) {
            try {
                try {
                    yields first{1};
                    throw number;
                } catch (int outside) {
                    yields second{1};
                    try {
                        throw std::to_string(number);
                    } catch (const std::string &inside) {
                        if (spins) {
                            for (volatile int i = 0; i < 20000; i = i + 1) {
                            }
                        } else {
                            uthread::yield();
                        }
                        CHECK(inside == std::to_string(outside));
                    }
                    uthread::yield();
                    CHECK(outside == number && std::current_exception());
                    throw;
                }
            } catch (int outside) {
                CHECK(outside == number && std::uncaught_exceptions() == 0);
            }
            CHECK(!std::current_exception());
        }
    };
    std::vector<uthread::thread> threads;
    for (int number = 0; number < 10; number++) threads.emplace_back([=] { work(number); });
    try {
        throw 11;
    } catch (int) {
        for (auto &thread : threads) thread.join();
        CHECK(std::current_exception());
    }
}

int main(int count, char **) {
    if (count > 1) {    // keeps what it must rethrow
        uthread::runtime runtime;
        terminated([] {
            try {
                uthread::suspend();
            } catch (...) {
            }
        });
        return 0;
    }
    for (unsigned int slice_us : {0u, 1000u}) {
        uthread::runtime runtime(slice_us);
        unwinding();
        exceptions(slice_us > 0);
    }
    std::puts("all have unwound");
}
