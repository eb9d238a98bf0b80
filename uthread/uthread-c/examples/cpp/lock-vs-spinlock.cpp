// lock-vs-spinlock THREADS [SLICE_US]: what a lock and a spin lock cost threads that contend for it.
// Each thread enters once. Inside it adds one (simple), adds one and yields (simple_yield), or computes
// for some 20 us (complex).
#include "common.hpp"

namespace {
volatile long counter;

void simple() { counter = counter + 1; }

void simple_yield() {
    long before = counter;
    uthread::yield();    // another thread would see the old value, if it got in
    counter = before + 1;
}

void complex_work() {
    long before = counter;
    for (volatile int i = 0; i < 20000; i = i + 1) {
    }
    counter = before + 1;
}

// The report's Lock, which is handed over in the order of coming.
struct fifo_lock : uthread::mutex {
    fifo_lock() : mutex(UTHREAD_FIFO) {}
};

template <typename Lock>
long long measure(long count, void (*inside)()) {
    Lock lock;
    counter = 0;
    long long time = microseconds([&] {
        std::vector<uthread::thread> threads;
        start(threads, count, [&lock, inside](long) {
            uthread::guard<Lock> guard(lock);
            inside();
        });
        join(threads);
    });
    if (counter != count) {
        std::fprintf(stderr, "%ld threads have counted to %ld\n", count, static_cast<long>(counter));
        std::exit(1);
    }
    return time;
}
}    // namespace

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: %s THREADS [SLICE_US]\n", argv[0]);
        return 2;
    }
    long count = number(argv[1], "THREADS", 1, 10000);
    long slice_us = argc == 3 ? number(argv[2], "SLICE_US", 20, 1000000) : 1000;
    uthread::runtime runtime(static_cast<unsigned>(slice_us));
    struct {
        const char *name;
        void (*inside)();
    } rows[] = {{"simple", simple}, {"simple_yield", simple_yield}, {"complex", complex_work}};
    std::printf("%ld threads    Lock (us)  SpinLock (us)\n", count);
    measure<fifo_lock>(count, simple);    // makes the stacks, which later threads use again
    for (auto &row : rows) {
        long long lock_us = measure<fifo_lock>(count, row.inside);
        long long spin_lock_us = measure<uthread::spin_lock>(count, row.inside);
        std::printf("%-12s %10lld %14lld\n", row.name, lock_us, spin_lock_us);
    }
}
