// Function-local static variables whose initializers lose the processor. Arguments: the slice in us and the number of
// workers, and for a way to end with an abort its name. Ends with 1 at the first broken promise.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"
#include "uthread.hpp"

enum { THREADS = 4, KERNEL_THREADS = 2, ROUNDS = 20, FAILURES = 3 };

template <typename T>
static T read(const T &shared) {
    return __atomic_load_n(&shared, __ATOMIC_SEQ_CST);
}

template <typename T>
static void set(T &shared, T value) {
    __atomic_store_n(&shared, value, __ATOMIC_SEQ_CST);
}

static void count(int &shared) { __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST); }

// Another user thread has the ball. A thread that waits for it computes, so only ticks let the other run.
static bool ball, over;

static void returns_balls() {
    while (!read(over)) set(ball, false);
}

static void is_preempted() {
    for (int round = 0; round < ROUNDS; round++) {
        set(ball, true);
        while (read(ball)) {
        }
    }
}

// An initializer has begun.
static bool begun;

static void wait_for_the_initializer() {
    while (!read(begun)) uthread_sleep(100);
    set(begun, false);
}

// All threads meet the variable while the first of them initializes it.
template <int FAILS>
struct shared {
    static inline int users, attempts;
    int value = 0;

    explicit shared(int expected) {
        int attempt = __atomic_add_fetch(&attempts, 1, __ATOMIC_SEQ_CST);
        while (read(users) < expected) {
        }
        is_preempted();
        if (attempt <= FAILS) throw std::runtime_error("not yet");
        value = 7;
    }

    static shared &instance(int expected) {
        static shared variable(expected);
        return variable;
    }

    static void use(int expected, int &failures) {
        count(users);
        for (;;) {
            try {
                CHECK(instance(expected).value == 7);
                return;
            } catch (const std::runtime_error &) {
                count(failures);
            }
        }
    }

    static void by_all(int kernel_threads) {
        int failures = 0, expected = THREADS + kernel_threads;
        auto user = [&] { use(expected, failures); };
        {
            std::vector<std::thread> outside;
            std::vector<uthread::thread> inside;
            for (int i = 0; i < kernel_threads; i++) outside.emplace_back(user);
            for (int i = 0; i < THREADS; i++) inside.emplace_back(user);
            for (auto &thread : inside) thread.join();
            for (auto &thread : outside) thread.join();
        }
        CHECK(failures == FAILS && attempts == FAILS + 1);
    }
};

// Threads of a lower priority can initialize what one of a higher priority waits for.
static bool urgent_waits;

struct base {
    base() {
        set(begun, true);
        while (!read(urgent_waits)) {
        }
        is_preempted();
    }
    static base &instance() {
        static base variable;
        return variable;
    }
};

static void by_a_low_priority() {
    uthread::thread low([] { base::instance(); }, {nullptr, 0, UTHREAD_GREEN});
    uthread::thread high([] {
        wait_for_the_initializer();
        set(urgent_waits, true);
        base::instance();
    }, {nullptr, 0, UTHREAD_RED});
}

// A request that comes in a wait for a variable ends the next wait of the thread.
static bool finishes;

template <int WAY>
struct held {
    held() {
        set(begun, true);
        while (!read(finishes)) uthread_yield();
    }
    static held &instance() {
        static held variable;
        return variable;
    }
};

template <int WAY>
static void requested(int (*request)(uthread_t *), int expected, bool ends) {
    bool waits = false, went_on = false;
    set(finishes, false);
    uthread::thread owner([] { held<WAY>::instance(); });
    wait_for_the_initializer();
    uthread_t *waiter;
    struct arguments {
        bool &waits, &went_on;
        int expected;
    } arguments{waits, went_on, expected};
    auto work = [](void *given) -> void * {
        auto &own = *static_cast<struct arguments *>(given);
        set(own.waits, true);
        held<WAY>::instance();
        CHECK(read(finishes) && uthread_sleep(LONG) == own.expected);
        own.went_on = true;
        return nullptr;
    };
    CHECK(uthread_create(&waiter, nullptr, work, &arguments) == 0);
    while (!read(waits)) uthread_yield();
    uthread_sleep(1000);
    CHECK(request(waiter) == 0);
    uthread_sleep(1000);
    set(finishes, true);
    void *value;
    CHECK(uthread_join(waiter, &value) == 0);
    CHECK(went_on != ends && value == (ends ? UTHREAD_TERMINATED : nullptr));
}

// A thread that is terminated in an initializer leaves the variable to the next one.
struct interrupted {
    interrupted() {
        if (read(finishes)) return;
        set(begun, true);
        uthread_sleep(LONG);
    }
    static interrupted &instance() {
        static interrupted variable;
        return variable;
    }
};

static void terminated_in_an_initializer() {
    set(finishes, false);
    uthread::thread owner([] { interrupted::instance(); });
    wait_for_the_initializer();
    owner.terminate();
    owner.join();
    set(finishes, true);
    interrupted::instance();
}

struct recursive {
    explicit recursive(int depth) { instance(depth + 1); }
    static recursive &instance(int depth) {
        static recursive variable(depth);
        return variable;
    }
};

static void meets_with_preemption_off() {
    set(finishes, false);
    uthread::thread owner([] { held<2>::instance(); });
    wait_for_the_initializer();
    uthread_preempt_disable();
    held<2>::instance();
}

int main(int count, char **arguments) {
    alarm(100);    // nothing here waits that long
    CHECK(count >= 3);
    uthread_config_t config{};
    config.slice_us = std::atoi(arguments[1]);
    config.workers = std::atoi(arguments[2]);
    config.keep_priority = 1;
    const char *way = count > 3 ? arguments[3] : "";
    if (std::strcmp(way, "recursion outside") == 0) recursive::instance(0);
    uthread::runtime runtime(config);
    if (std::strcmp(way, "recursion") == 0) recursive::instance(0);
    if (std::strcmp(way, "preemption off") == 0) meets_with_preemption_off();
    uthread::thread returns(returns_balls);
    shared<0>::by_all(0);
    shared<FAILURES>::by_all(KERNEL_THREADS);
    requested<0>(uthread_cancel, -ECANCELED, false);
    requested<1>(uthread_terminate, 0, true);
    terminated_in_an_initializer();
    returns.set_priority(UTHREAD_GREEN);
    by_a_low_priority();
    set(over, true);
    returns.join();
    std::puts("each was initialized once");
}
