// What the example programs share: arguments, time, and groups of threads.
#ifndef COMMON_HPP
#define COMMON_HPP

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <uthread.hpp>

// A whole number from the command line, within bounds; ends the program with 2 where it is none.
inline long number(const char *text, const char *name, long least, long most) {
    char *end = nullptr;
    errno = 0;
    long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        std::fprintf(stderr, "%s must be a number from %ld to %ld, not \"%s\"\n", name, least, most, text);
        std::exit(2);
    }
    return value;
}

// The time that `work` takes, in microseconds.
template <typename Work>
long long microseconds(Work &&work) {
    auto start = std::chrono::steady_clock::now();
    work();
    auto passed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
}

// Starts `count` threads that call work(index).
template <typename Work>
void start(std::vector<uthread::thread> &threads, long count, Work work) {
    for (long index = 0; index < count; index++)
        threads.emplace_back([work, index] { work(index); });
}

inline void join(std::vector<uthread::thread> &threads) {
    for (auto &thread : threads) thread.join();
    threads.clear();
}

#endif
