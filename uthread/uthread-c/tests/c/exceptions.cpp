// Exceptions, destructors and exits in user threads.
#include <cstdio>
#include <stdexcept>

#include "uthread.hpp"

struct note {
    const char *name;
    ~note() { std::printf("destroyed: %s\n", name); }
};

int main() {
    uthread::runtime runtime(1000);
    uthread::thread throws([] {
        note note{"throws"};
        throw std::runtime_error("boom");
    });
    try {
        throws.join();
    } catch (const std::exception &error) {
        std::printf("caught: %s\n", error.what());
    }
    uthread::thread exits([] {
        note note{"exits"};
        uthread::exit();
    });
    exits.join();
    uthread::thread exits_in_c([] {
        note note{"exits in C"};
        uthread_exit(nullptr);
    });
    exits_in_c.join();
    try {
        uthread::lock lock;
        lock.lock();
        lock.lock();
    } catch (const uthread::error &error) {
        std::printf("error %d\n", error.code().value());
    }
    uthread::thread last([] { std::printf("the last thread\n"); });
    (void)last.get();
    uthread_exit(nullptr);    // waits for it, and ends with 0
}
