// Each thread has its own exceptions: those that it handles, those that unwind it, and pointers to them that it gives to
// others. The argument is the slice in us. Ends with 1 at the first broken promise.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "uthread.hpp"

enum { THREADS = 20, ROUNDS = 200 };

struct yields_while_unwinding {
    ~yields_while_unwinding() {
        CHECK(std::uncaught_exceptions() == 1);
        uthread_yield();
        CHECK(std::uncaught_exceptions() == 1);
    }
};

static void unwinds_and_handles(int number) {
    try {
        yields_while_unwinding yields;
        throw std::runtime_error(std::to_string(number));
    } catch (const std::exception &error) {
        uthread_yield();
        CHECK(error.what() == std::to_string(number) && std::current_exception());
    }
}

static void has_none() {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(std::uncaught_exceptions() == 0 && !std::current_exception());
        uthread_yield();
    }
}

static void handles_one_inside_another() {
    for (int i = 0; i < ROUNDS; i++) {
        try {
            throw 1;
        } catch (...) {
            uthread_yield();
            try {
                throw 2;
            } catch (int inner) {
                uthread_yield();
                CHECK(inner == 2);
            }
            try {
                throw;
            } catch (int outer) {
                CHECK(outer == 1);
            }
        }
    }
}

static void computes_with_the_library() {
    int in = 0, out = 0;
    for (int i = 0; i < ROUNDS; i++) {
        try {
            std::vector<int> values(100);
            in += values.at(i % 200) == 0;
        } catch (const std::out_of_range &) {
            out++;
        }
        std::ostringstream text;
        text << i * 1.5;
        CHECK(!text.str().empty());
    }
    CHECK(in == ROUNDS / 2 && out == ROUNDS / 2);
}

int main(int count, char **arguments) {
    alarm(60);    // nothing here waits that long
    uthread::runtime runtime(count > 1 ? std::atoi(arguments[1]) : 0);
    std::vector<uthread::thread> threads;
    for (int i = 0; i < THREADS; i++) {
        threads.emplace_back(unwinds_and_handles, i);
        threads.emplace_back(has_none);
        threads.emplace_back(handles_one_inside_another);
        threads.emplace_back(computes_with_the_library);
    }
    for (auto &thread : threads) thread.join();
    std::exception_ptr given;
    uthread::thread([&] {
        try {
            throw 5;
        } catch (...) {
            given = std::current_exception();
        }
    }).join();
    uthread::thread([&] {
        try {
            std::rethrow_exception(given);
        } catch (int value) {
            CHECK(value == 5);
        }
    }).join();
    std::cout << "each thread has its own" << std::endl;
}
