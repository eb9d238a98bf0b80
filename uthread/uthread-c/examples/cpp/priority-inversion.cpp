// priority-inversion: C (GREEN) holds a lock for longer than a slice, A (RED) waits for it, and B (ORANGE)
// only computes. The lock has a ceiling, so that B cannot delay A: C finishes first, then A, then B.
// With "none" as argument the lock has no protocol: B comes before A.
#include "common.hpp"

#include <cstring>
#include <string>

namespace {
void compute() {    // several slices
    for (volatile int i = 0; i < 10000000; i = i + 1) {
    }
}

uthread_attr_t named(const char *name, int priority) {
    uthread_attr_t attr = {};
    attr.name = name;
    attr.priority = priority;
    return attr;
}
}    // namespace

int main(int argc, char **argv) {
    bool none = argc == 2 && std::strcmp(argv[1], "none") == 0;
    if (argc > 2 || (argc == 2 && !none)) {
        std::fprintf(stderr, "usage: %s [none]\n", argv[0]);
        return 2;
    }
    uthread_config_t config = {};
    config.slice_us = 1000;
    config.keep_priority = 1;
    uthread::runtime runtime(config);
    uthread_set_priority(uthread_self(), UTHREAD_RED);

    uthread::lock lock(none ? UTHREAD_FIFO : UTHREAD_CEILING(UTHREAD_RED));
    uthread::semaphore locked(0);
    char order[4] = "";
    int finished = 0;
    auto finish = [&](char name) {
        uthread::no_preempt here;
        order[finished++] = name;
    };

    uthread::thread c([&] {
        uthread::guard<uthread::lock> guard(lock);
        locked.post();
        compute();
        finish('C');
    }, named("C", UTHREAD_GREEN));
    locked.wait();
    uthread::thread a([&] {
        uthread::guard<uthread::lock> guard(lock);
        compute();
        finish('A');
    }, named("A", UTHREAD_RED));
    uthread::thread b([&] {
        compute();
        finish('B');
    }, named("B", UTHREAD_ORANGE));
    a.join();
    b.join();
    c.join();
    std::printf("the order of finishing is %c, %c, %c\n", order[0], order[1], order[2]);
}
