// sync-vs-async IO_THREADS LENGTH COMPUTE_THREADS LOAD: threads that write and read back LENGTH bytes of
// a file each, by system calls that block all threads and by those of this library, next to threads that
// add LOAD random numbers each.
#include "common.hpp"

#include <cstdint>
#include <cstring>
#include <unistd.h>

namespace {
ssize_t checked(ssize_t result, const char *what) {
    if (result <= 0) {
        std::fprintf(stderr, "%s: %s\n", what, result ? uthread_strerror(static_cast<int>(result)) : "end of file");
        std::exit(1);
    }
    return result;
}

ssize_t negative_errno(ssize_t result) { return result < 0 ? -errno : result; }

void write_and_read(int file, long thread, size_t length, bool async) {
    std::vector<char> text(length, static_cast<char>('a' + thread % 26)), back(length);
    auto offset = static_cast<off_t>(static_cast<size_t>(thread) * length);
    for (size_t done = 0; done < length;) {
        off_t at = offset + static_cast<off_t>(done);
        done += static_cast<size_t>(checked(
            async ? uthread_async_write(file, &text[done], length - done, at)
                  : negative_errno(pwrite(file, &text[done], length - done, at)), "write"));
    }
    for (size_t done = 0; done < length;) {
        off_t at = offset + static_cast<off_t>(done);
        done += static_cast<size_t>(checked(
            async ? uthread_async_read(file, &back[done], length - done, at)
                  : negative_errno(pread(file, &back[done], length - done, at)), "read"));
    }
    if (text != back) {
        std::fprintf(stderr, "thread %ld reads something else than it wrote\n", thread);
        std::exit(1);
    }
}

uint64_t sum_of_random_numbers(long thread, long load) {
    uint64_t state = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(thread + 1), sum = 0;
    for (long i = 0; i < load; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        sum += state % 100;
    }
    return sum;
}

long long measure(long io, size_t length, long compute, long load, bool async, uint64_t &sum) {
    std::FILE *file = std::tmpfile();
    if (!file) {
        std::perror("a file for the transfers");
        std::exit(1);
    }
    std::vector<uint64_t> sums(static_cast<size_t>(compute));
    long long time = microseconds([&] {
        std::vector<uthread::thread> threads;
        start(threads, io, [=](long thread) { write_and_read(fileno(file), thread, length, async); });
        start(threads, compute, [&sums, load](long thread) {
            sums[static_cast<size_t>(thread)] = sum_of_random_numbers(thread, load);
        });
        join(threads);
    });
    sum = 0;
    for (uint64_t part : sums) sum += part;
    std::fclose(file);
    return time;
}
}    // namespace

int main(int argc, char **argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s IO_THREADS LENGTH COMPUTE_THREADS LOAD\n", argv[0]);
        return 2;
    }
    long io = number(argv[1], "IO_THREADS", 0, 10000);
    auto length = static_cast<size_t>(number(argv[2], "LENGTH", 1, 1000000000));
    long compute = number(argv[3], "COMPUTE_THREADS", 0, 10000);
    long load = number(argv[4], "LOAD", 1, 10000000000);
    uthread::runtime runtime(1000);
    uint64_t sum[2];
    std::printf("sync  %lld us\n", measure(io, length, compute, load, false, sum[0]));
    std::printf("async %lld us\n", measure(io, length, compute, load, true, sum[1]));
    if (sum[0] != sum[1]) {
        std::fprintf(stderr, "the same numbers have two sums\n");
        return 1;
    }
    std::printf("sum   %llu\n", static_cast<unsigned long long>(sum[0]));
}
