// Locks of readers and writers, recursive locks, waits for several things and sockets, as C++ has them.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include <uthread.hpp>

#include "check.h"

using namespace std::chrono_literals;

static void shared_locks() {
    uthread::shared_mutex mutex;
    int first = 0, second = 0;
    std::atomic<int> readers{0}, most{0};
    std::vector<uthread::thread> threads;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([&] {
            for (int round = 0; round < 50; round++) {
                std::unique_lock<uthread::shared_mutex> writes(mutex);
                CHECK(readers == 0);
                first++;
                uthread::yield();
                second++;
            }
        });
        threads.emplace_back([&] {
            for (int round = 0; round < 50; round++) {
                std::shared_lock<uthread::shared_mutex> reads(mutex);
                int now = ++readers;
                if (now > most) most = now;
                uthread::yield();
                CHECK(first == second);
                --readers;
            }
        });
    }
    threads.clear();
    CHECK(first == 150 && second == 150);
    mutex.lock_shared();
    CHECK(mutex.try_lock_shared() && !mutex.try_lock() && !mutex.try_lock_for(1ms));
    mutex.unlock_shared();
    mutex.unlock_shared();
    mutex.lock();
    uthread::thread([&] {
        CHECK(!mutex.try_lock_shared() && !mutex.try_lock_shared_for(1ms));
        bool refused = false;
        try {
            mutex.unlock();
        } catch (const uthread::error &error) {
            refused = error.code().value() == EPERM;
        }
        CHECK(refused);
    }).join();
    mutex.unlock();
}

static void recursive_locks() {
    uthread::recursive_mutex mutex;
    std::unique_lock<uthread::recursive_mutex> outer(mutex);
    {
        std::lock_guard<uthread::recursive_mutex> inner(mutex);
        uthread::thread([&] { CHECK(!mutex.try_lock() && !mutex.try_lock_for(1ms)); }).join();
    }
    CHECK(mutex.try_lock() && mutex.try_lock_for(1ms));
    mutex.unlock();
    mutex.unlock();
    uthread::thread([&] { CHECK(!mutex.try_lock()); }).join();
    outer.unlock();
    uthread::thread([&] {
        CHECK(mutex.try_lock());
        mutex.unlock();
    }).join();
}

static void sockets() {
    auto listener = uthread::socket::listen("127.0.0.1", "0");
    CHECK(!listener.accept_for(1ms));
    uthread::thread server([&] {
        auto stream = listener.accept();
        char text[8];
        CHECK(stream.recv(text, sizeof text) == 5);
        stream.send_all(text, 5);
    });
    auto stream = uthread::socket::connect("localhost", listener.port().c_str());
    stream.send_all("hello", 5);
    uthread::channel<int> channel(1);
    uthread::select select;
    auto value = select.receive(channel);
    auto readable = select.readable(stream);
    auto found = select.wait();
    CHECK(found == readable && found != value);
    char text[8];
    CHECK(stream.recv(text, sizeof text) == 5 && std::memcmp(text, "hello", 5) == 0);
    CHECK(stream.recv(text, sizeof text) == 0);
    server.join();
    int number = 7;
    channel.send(&number);
    uthread::select later;
    CHECK(later.send(channel) == 0 && later.receive(channel) == 1);
    CHECK(later.wait_for(1s) == 1);
    CHECK(channel.receive() == &number);
    uthread::select none;
    none.receive(channel);
    CHECK(none.wait_for(1ms) == -1);
}

int main() {
    for (unsigned int slice_us : {0u, 100u}) {
        uthread::runtime runtime(slice_us);
        shared_locks();
        recursive_locks();
        sockets();
    }
    std::puts("all was shared");
}
