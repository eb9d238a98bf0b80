// Several senders and receivers share a channel until it is closed. Arguments: the slice in us and the number of workers.
// Ends with 1 at the first broken promise.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "check.h"
#include "uthread.hpp"

enum { SENDERS = 4, RECEIVERS = 3, VALUES = 100, ROUNDS = 30 };

static void carries_everything(std::size_t capacity) {
    uthread::channel<long> channel(capacity);
    std::atomic<long> sum{0};
    std::atomic<int> ended{0};
    static long one = 1;
    std::vector<uthread::thread> senders, receivers;
    for (int i = 0; i < SENDERS; i++) {
        senders.emplace_back([&] {
            for (int value = 0; value < VALUES; value++) channel.send(&one);
        });
    }
    for (int i = 0; i < RECEIVERS; i++) {
        receivers.emplace_back([&] {
            try {
                for (;;) sum += *channel.receive();
            } catch (const uthread::error &error) {
                CHECK(error.code().value() == EPIPE);
                ended++;
            }
        });
    }
    for (auto &sender : senders) sender.join();
    channel.close();
    for (auto &receiver : receivers) receiver.join();
    CHECK(sum == SENDERS * VALUES && ended == RECEIVERS);
}

int main(int count, char **arguments) {
    alarm(60);    // nothing here waits that long
    CHECK(count == 3);
    uthread_config_t config{};
    config.slice_us = std::atoi(arguments[1]);
    config.workers = std::atoi(arguments[2]);
    uthread::runtime runtime(config);
    for (std::size_t capacity : {0, 1, 16})
        for (int round = 0; round < ROUNDS; round++) carries_everything(capacity);
    std::puts("all was carried");
}
