// test-async-io: a thread writes "hello world" into a file and reads it back, while the first thread runs.
#include "common.hpp"

#include <string>

int main() {
    std::FILE *file = std::tmpfile();
    if (!file) {
        std::perror("a file for the transfers");
        return 1;
    }
    uthread::runtime runtime;
    const std::string text = "hello world";
    std::string back(text.size(), ' ');
    ssize_t written = 0, read = 0;
    bool done = false;
    uthread::thread transfer([&] {
        written = uthread_async_write(fileno(file), text.data(), text.size(), 0);
        uthread::check(uthread_fsync(fileno(file)));
        read = uthread_async_read(fileno(file), back.data(), back.size(), 0);
        done = true;
    });
    uthread::yield();    // the transfer begins; this thread goes on while it lasts
    if (done) {
        std::fprintf(stderr, "the transfer has blocked the first thread\n");
        return 1;
    }
    std::puts("Waiting for io");
    transfer.join();
    if (written != static_cast<ssize_t>(text.size()) || read != written) {
        std::fprintf(stderr, "written %zd, read %zd of %zu bytes\n", written, read, text.size());
        return 1;
    }
    std::printf("Result: %s\n", back.c_str());
    std::fclose(file);
}
