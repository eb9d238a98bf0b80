// The same work on Boost.Fiber (one kernel thread, pooled stacks of 16 KiB).
#include <boost/fiber/all.hpp>
#include <chrono>
#include <cstdio>
#include <vector>

namespace fibers = boost::fibers;

constexpr int switches = 400'000, creations = 50'000, locks = 1'000'000, contenders = 99,
              locks_each = 10'000;

template <class Work>
void report(const char* metric, double operations, Work work) {
    work();
    auto begin = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    std::printf("%s %.2f\n", metric, time.count() / operations);
}

static fibers::pooled_fixedsize_stack stacks(16 << 10);

template <class Work>
void together(int n, Work work) {
    std::vector<fibers::fiber> all;
    for (int i = 0; i < n; ++i) all.emplace_back(std::allocator_arg, stacks, work);
    for (auto& fiber : all) fiber.join();
}

int main() {
    for (int n : {2, 1000})
        report(n == 2 ? "yield_2" : "yield_1000", switches, [n] {
            together(n, [n] { for (int i = 0; i < switches / n; ++i) boost::this_fiber::yield(); });
        });
    report("create", creations, [] {
        for (int i = 0; i < creations; ++i) fibers::fiber(std::allocator_arg, stacks, [] {}).join();
    });
    report("lock", locks, [] {
        fibers::mutex lock;
        for (int i = 0; i < locks; ++i) { lock.lock(); lock.unlock(); }
    });
    report("contended", double(contenders) * locks_each, [] {
        fibers::mutex lock;
        long total = 0;
        together(contenders, [&] {
            for (int i = 0; i < locks_each; ++i) { lock.lock(); ++total; lock.unlock(); }
        });
    });
}
