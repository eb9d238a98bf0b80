// Time limits and cancelling in the wrappers.
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "check.h"
#include "uthread.hpp"

using namespace std::chrono_literals;

template <typename Work>
static bool is_cancelled(Work work) {
    uthread::thread thread(work);
    uthread::yield();
    thread.cancel();
    try {
        thread.join();
    } catch (const uthread::cancelled &) {
        return true;
    }
    return false;
}

static void limits() {
    uthread::lock lock;
    uthread::condition condition;
    uthread::semaphore permits(1);
    uthread::barrier barrier(2);
    uthread::channel<int> channel(1);
    int number = 7, *got = nullptr;
    CHECK(!uthread::suspend_for(1ms));
    {
        uthread::guard<uthread::lock> guard(lock, 1min);
        CHECK(guard);
        uthread::thread([&] {
            CHECK(!lock.try_lock_for(1ms));
            uthread::guard<uthread::lock> none(lock, 1ms);
            CHECK(!none);
        }).join();
        CHECK(!condition.wait_for(lock, 1ms));
    }
    CHECK(lock.try_lock());    // no guard has it any more
    lock.unlock();
    CHECK(permits.wait_for(1min) && !permits.wait_for(1ms));
    CHECK(!barrier.wait_for(1ms));
    CHECK(!channel.receive_for(got, 1ms) && channel.send_for(&number, 1min));
    CHECK(!channel.send_for(&number, -1ms) && channel.receive() == &number);
    channel.send(&number);
    CHECK(channel.receive_for(got, 1min) && got == &number);
    channel.close();
    try {
        channel.receive();
        CHECK(false);
    } catch (const uthread::error &error) {
        CHECK(error.code() == std::errc::broken_pipe);
    }
    uthread::thread sleeper([] { uthread::sleep_for(20ms); });
    CHECK(!sleeper.join_for(1ms) && sleeper.join_for(1min) && !sleeper.joinable());
}

static void cancelling() {
    uthread::lock lock;
    uthread::condition condition;
    bool unwound = false, joined = false;
    CHECK(is_cancelled([] { uthread::suspend(); }));
    CHECK(is_cancelled([] { uthread::sleep_for(2h); }));    // longer than an unsigned int of us
    CHECK(is_cancelled([] { uthread::suspend_for(2h); }));
    // The guard finds its lock held, although the wait was cancelled.
    CHECK(is_cancelled([&] {
        uthread::guard<uthread::lock> guard(lock);
        condition.wait(lock);
    }));
    CHECK(lock.try_lock());
    lock.unlock();
    // The destructor of a thread waits for it, and the request ends the next wait.
    CHECK(!is_cancelled([&] {
        {
            uthread::thread inner([&] {
                uthread::sleep_for(5ms);
                joined = true;
            });
        }
        CHECK(joined);
        try {
            uthread::suspend();
        } catch (const uthread::cancelled &) {
            unwound = true;
        }
    }));
    CHECK(unwound);
}

static int counts;

struct counted {
    counted() { ++counts; }
    ~counted() { --counts; }
};

static void values() {
    uthread::thread_ptr<counted> mine;
    uthread::thread thread([&] {
        CHECK(!mine.get());
        mine.reset(new counted);
        mine.reset(new counted);
        CHECK(counts == 1);
    });
    thread.join();
    CHECK(counts == 0 && !mine.get());
}

// The library's own locks in the guards of the standard library, and threads with arguments.
static void standard() {
    uthread::mutex first, second(UTHREAD_FIFO);
    uthread::spin_lock spin;
    long total = 0;
    auto add = [&](long times, const std::string &name, long &sum) {
        CHECK(name == "adds");
        for (long i = 0; i < times; i++) {
            std::scoped_lock both(first, second);
            std::lock_guard<uthread::spin_lock> spins(spin);
            sum++;
        }
    };
    {
        std::unique_lock<uthread::mutex> held(first);
        CHECK(held.owns_lock() && !std::unique_lock<uthread::mutex>(first, std::try_to_lock));
        uthread::thread one(add, 1000L, std::string("adds"), std::ref(total));
        uthread::thread other(add, 1000L, "adds", std::ref(total));
        held.unlock();
        one.join();
        other.join();
    }
    CHECK(total == 2000);
}

template <typename State>
static void reach(State state) {
    for (int turns = 0; !state() && turns < 1000000; turns++) uthread::yield();
    CHECK(state());
}

// Notifications by a thread that does not hold the lock, or holds it.
static void notifications() {
    uthread::mutex mutex;
    uthread::condition changed;
    int waiting = 0, units = 0;
    auto wait = [&] {
        std::lock_guard<uthread::mutex> held(mutex);
        waiting++;
        while (units == 0) changed.wait(mutex);
        units--;
    };
    for (bool holds : {false, true}) {
        uthread::thread one(wait), two(wait), three(wait);
        reach([&] { return waiting == 3; });
        std::unique_lock<uthread::mutex> held(mutex);
        units = 1;
        if (!holds) held.unlock();
        changed.notify();
        if (holds) held.unlock();
        reach([&] { return units == 0; });
        held.lock();
        units = 2;
        if (!holds) held.unlock();
        changed.notify_all();
        if (holds) held.unlock();
        one.join();
        two.join();
        three.join();
        waiting = 0;
    }
}

// A detached thread outlives its object, and what it was given is destroyed once, at its end.
static void detached() {
    uthread::semaphore go(0), ended(0);
    {
        auto given = std::make_shared<counted>();
        uthread::thread thread([&, given] {
            go.wait();
            CHECK(counts == 1);
            ended.post();
        });
        thread.detach();
        CHECK(!thread.joinable());
    }
    CHECK(counts == 1);
    go.post();
    ended.wait();
    reach([] { return counts == 0; });
    {
        uthread::thread ended_before([given = std::make_shared<counted>()] {});
        uthread::yield();
        ended_before.detach();
    }
    reach([] { return counts == 0; });
}

int main() {
    for (unsigned int slice_us : {0u, 1000u}) {
        uthread::runtime runtime(slice_us);
        limits();
        values();
        cancelling();
        standard();
        detached();
        notifications();
    }
    std::puts("limits and requests are kept");
}
