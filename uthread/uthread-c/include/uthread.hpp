// uthread for C++17: objects that clean up after themselves, over uthread.h, whose manual holds.
#ifndef UTHREAD_HPP
#define UTHREAD_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <netdb.h>
#include <unistd.h>

#include "uthread.h"

namespace uthread {

// An error number of the library as an exception.
class error : public std::system_error {
public:
    explicit error(int number)
        : std::system_error(-number, std::generic_category(), uthread_strerror(number)) {}
};

// A wait that thread::cancel() has ended. A thread that does not catch it ends, and join() throws it.
class cancelled : public error {
public:
    cancelled() : error(-ECANCELED) {}
};

inline int check(int result) {
    if (result == -ECANCELED) throw cancelled();
    if (result < 0) throw error(result);
    return result;
}

namespace detail {
// False for an attempt that found what it wanted in use. All else that fails is thrown.
inline bool succeeded(int result, int in_use) { return result != in_use && check(result) == 0; }

// What exit() throws: destructors run, and the thread ends.
struct exit_request {};

template <typename T>
T *created(T *object) {
    if (!object) throw std::bad_alloc();
    return object;
}

// The end of an object: an error that nobody could see otherwise is thrown, unless another exception is on its
// way already.
inline void destroyed(int result) {
    if (result < 0 && !std::uncaught_exceptions()) throw error(result);
}

// Calls wait(us) with parts of the limit that an unsigned int can hold; false if the time was up.
template <typename Wait>
bool within(std::chrono::microseconds limit, Wait wait) {
    auto left = std::max<long long>(limit.count(), 0);
    for (;;) {
        auto part = std::min<long long>(left, UINT_MAX);
        auto result = wait(static_cast<unsigned int>(part));
        if (result != -ETIMEDOUT) {
            check(result);
            return true;
        }
        left -= part;
        if (left == 0) return false;
    }
}

// Writes what a thread threw to the standard error, where nobody could catch it.
inline void report(const std::exception_ptr &failure) noexcept {
    try {
        std::rethrow_exception(failure);
    } catch (const cancelled &) {
    } catch (const std::exception &lost) {
        std::fprintf(stderr, "uthread: a thread that nobody joined threw: %s\n", lost.what());
    } catch (...) {
        std::fputs("uthread: a thread that nobody joined threw what is no std::exception\n", stderr);
    }
}

// What a thread does, and what became of it.
struct task {
    virtual ~task() {
        if (failure) report(failure);
    }
    virtual void work() = 0;
    std::exception_ptr failure;
    // Until the thread has begun, which then keeps the task to its end.
    std::shared_ptr<task> kept;

    static void *run(void *self) {
        auto mine = std::move(static_cast<task *>(self)->kept);
        try {
            mine->work();
        } catch (const exit_request &) {
        } catch (...) {
            mine->failure = std::current_exception();
            // uthread_exit and uthread_terminate, which are no exceptions of C++
            if (!mine->failure) throw;
        }
        return nullptr;
    }
};

template <typename F>
struct task_of final : task {
    F function;
    explicit task_of(F function) : function(std::move(function)) {}
    void work() override { function(); }
};
}    // namespace detail

// The thread is not terminated in this scope: a request waits for its end.
class no_terminate {
public:
    no_terminate() { uthread_terminate_disable(); }
    ~no_terminate() { uthread_terminate_enable(); }
    no_terminate(const no_terminate &) = delete;
    no_terminate &operator=(const no_terminate &) = delete;
};

// The runtime of a scope: its creator becomes the first user thread.
class runtime {
public:
    explicit runtime(unsigned int slice_us = 0) { check(uthread_init(slice_us)); }
    explicit runtime(const uthread_config_t &config) { check(uthread_init_with(&config)); }
    ~runtime() { uthread_end(); }
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
};

// A thread that is joined at the end of its scope, unless it was detached. join() throws what the thread threw, and
// so does the end of the scope if nobody has called join(); where it must not wait, it throws an error. If another
// exception ends the scope, or the thread was detached, what it threw is written to the standard error.
class thread {
public:
    thread() = default;

    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, thread>>>
    explicit thread(F &&function, const uthread_attr_t &attr = {})
        : task_(std::make_shared<detail::task_of<std::decay_t<F>>>(std::forward<F>(function))) {
        task_->kept = task_;
        auto result = uthread_create(&handle_, &attr, detail::task::run, task_.get());
        if (result < 0) task_->kept.reset();
        check(result);
    }

    // Calls the function with copies of the arguments.
    template <typename F, typename First, typename... Rest,
              typename = std::enable_if_t<!std::is_same_v<std::decay_t<First>, uthread_attr_t>>>
    thread(F &&function, First &&first, Rest &&...rest)
        : thread([call = std::decay_t<F>(std::forward<F>(function)),
                  arguments = std::tuple<std::decay_t<First>, std::decay_t<Rest>...>(
                      std::forward<First>(first), std::forward<Rest>(rest)...)]() mutable {
              std::apply(std::move(call), std::move(arguments));
          }) {}

    thread(thread &&other) noexcept
        : task_(std::move(other.task_)), handle_(std::exchange(other.handle_, nullptr)) {}
    thread &operator=(thread &&other) {
        finish();
        task_ = std::move(other.task_);
        handle_ = std::exchange(other.handle_, nullptr);
        return *this;
    }
    ~thread() noexcept(false) { finish(); }

    bool joinable() const noexcept { return handle_; }
    uthread_t *get() const noexcept { return handle_; }
    void resume() const { check(uthread_resume(handle_)); }
    void set_priority(int priority) const { check(uthread_set_priority(handle_, priority)); }
    int priority() const { return check(uthread_priority(handle_)); }
    void cancel() const { check(uthread_cancel(handle_)); }
    // Unwinds the thread from its next wait; join() throws nothing of that.
    void terminate() const { check(uthread_terminate(handle_)); }

    void join() {
        check(uthread_join(handle_, nullptr));
        joined();
    }

    // False if the thread has not ended in all that time; then it can be joined again.
    bool join_for(std::chrono::microseconds limit) {
        auto join = [&](unsigned int us) { return uthread_join_timed(handle_, nullptr, us); };
        if (!detail::within(limit, join)) return false;
        joined();
        return true;
    }

    // The thread runs on by itself, and its function is destroyed at its end.
    void detach() {
        check(uthread_detach(handle_));
        handle_ = nullptr;
        task_.reset();
    }

private:
    void joined() {
        handle_ = nullptr;
        if (auto failure = std::exchange(task_->failure, nullptr)) std::rethrow_exception(failure);
    }

    // The thread uses the task, so this waits even if the caller is cancelled. Then the request ends
    // the caller's next wait.
    void finish() {
        if (!handle_) return;
        auto failure = wait();
        if (!failure) return;
        if (!std::uncaught_exceptions()) std::rethrow_exception(failure);
        detail::report(failure);
    }

    std::exception_ptr wait() noexcept {
        no_terminate until_joined;
        auto *handle = std::exchange(handle_, nullptr);
        bool cancelled = false;
        int result;
        while ((result = uthread_join(handle, nullptr)) == -ECANCELED) cancelled = true;
        if (cancelled) uthread_cancel(uthread_self());
        // Where the caller may not wait: the thread has ended with its runtime, or it still uses what it borrows.
        if (result == -EPERM && task_.use_count() > 1) {
            uthread_detach(handle);
            return std::make_exception_ptr(error(result));
        }
        return std::exchange(task_->failure, nullptr);
    }

    std::shared_ptr<detail::task> task_;
    uthread_t *handle_ = nullptr;
};

inline void yield() { check(uthread_yield()); }
inline void suspend() { check(uthread_suspend()); }

// False if nobody resumed the thread in all that time.
inline bool suspend_for(std::chrono::microseconds limit) {
    return detail::within(limit, uthread_suspend_timed);
}

inline void sleep_for(std::chrono::microseconds duration) {
    // A sleep that has lasted has not failed: it goes on with the next part.
    detail::within(duration, [](unsigned int us) {
        auto result = uthread_sleep(us);
        return result == 0 ? -ETIMEDOUT : result;
    });
}

// Ends a thread that was started as uthread::thread.
[[noreturn]] inline void exit() { throw detail::exit_request{}; }

// No other thread of the worker runs in its scope.
class no_preempt {
public:
    no_preempt() { uthread_preempt_disable(); }
    ~no_preempt() { uthread_preempt_enable(); }
    no_preempt(const no_preempt &) = delete;
    no_preempt &operator=(const no_preempt &) = delete;
};

// For std::lock_guard, std::unique_lock and std::scoped_lock as well.
class mutex {
public:
    explicit mutex(int protocol = UTHREAD_PLAIN)
        : raw_(detail::created(uthread_lock_create(protocol))) {}
    ~mutex() noexcept(false) { detail::destroyed(uthread_lock_destroy(raw_)); }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    void lock() { check(uthread_lock(raw_)); }
    bool try_lock() { return detail::succeeded(uthread_trylock(raw_), -EBUSY); }
    // False if the lock was not free in all that time, here and in the waits below.
    bool try_lock_for(std::chrono::microseconds limit) {
        return detail::within(limit, [&](unsigned int us) { return uthread_lock_timed(raw_, us); });
    }
    void unlock() { check(uthread_unlock(raw_)); }
    uthread_lock_t *get() const noexcept { return raw_; }

private:
    uthread_lock_t *raw_;
};

// The name that the C interface has for it.
using lock = mutex;

class spin_lock {
public:
    spin_lock() : raw_(detail::created(uthread_spinlock_create())) {}
    ~spin_lock() noexcept(false) { detail::destroyed(uthread_spinlock_destroy(raw_)); }
    spin_lock(const spin_lock &) = delete;
    spin_lock &operator=(const spin_lock &) = delete;

    void lock() { check(uthread_spinlock_lock(raw_)); }
    bool try_lock() { return detail::succeeded(uthread_spinlock_trylock(raw_), -EBUSY); }
    void unlock() { check(uthread_spinlock_unlock(raw_)); }

private:
    uthread_spinlock_t *raw_;
};

// Readers hold it at the same time, a writer alone. For std::shared_lock, std::unique_lock and the like.
class shared_mutex {
public:
    shared_mutex() : raw_(detail::created(uthread_rwlock_create())) {}
    ~shared_mutex() noexcept(false) { detail::destroyed(uthread_rwlock_destroy(raw_)); }
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void lock() { check(uthread_rwlock_write(raw_)); }
    bool try_lock() { return detail::succeeded(uthread_rwlock_trywrite(raw_), -EBUSY); }
    bool try_lock_for(std::chrono::microseconds limit) {
        return detail::within(
            limit, [&](unsigned int us) { return uthread_rwlock_write_timed(raw_, us); });
    }
    void unlock() { check(uthread_rwlock_unlock(raw_)); }
    void lock_shared() { check(uthread_rwlock_read(raw_)); }
    bool try_lock_shared() { return detail::succeeded(uthread_rwlock_tryread(raw_), -EBUSY); }
    bool try_lock_shared_for(std::chrono::microseconds limit) {
        return detail::within(
            limit, [&](unsigned int us) { return uthread_rwlock_read_timed(raw_, us); });
    }
    void unlock_shared() { check(uthread_rwlock_unlock(raw_)); }

private:
    uthread_rwlock_t *raw_;
};

// Its owner may lock it again.
class recursive_mutex {
public:
    recursive_mutex() : raw_(detail::created(uthread_reclock_create())) {}
    ~recursive_mutex() noexcept(false) { detail::destroyed(uthread_reclock_destroy(raw_)); }
    recursive_mutex(const recursive_mutex &) = delete;
    recursive_mutex &operator=(const recursive_mutex &) = delete;

    void lock() { check(uthread_reclock_lock(raw_)); }
    bool try_lock() { return detail::succeeded(uthread_reclock_trylock(raw_), -EBUSY); }
    bool try_lock_for(std::chrono::microseconds limit) {
        return detail::within(
            limit, [&](unsigned int us) { return uthread_reclock_lock_timed(raw_, us); });
    }
    void unlock() { check(uthread_reclock_unlock(raw_)); }

private:
    uthread_reclock_t *raw_;
};

// Holds a lock or a spin lock in its scope. With a limit it may hold nothing: ask it as a bool.
template <typename Lock>
class guard {
public:
    explicit guard(Lock &lock) : lock_(lock) { lock_.lock(); }
    guard(Lock &lock, std::chrono::microseconds limit)
        : lock_(lock), holds_(lock_.try_lock_for(limit)) {}
    ~guard() {
        if (holds_) lock_.unlock();
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    explicit operator bool() const noexcept { return holds_; }

private:
    Lock &lock_;
    bool holds_ = true;
};

class condition {
public:
    condition() : raw_(detail::created(uthread_cond_create())) {}
    ~condition() noexcept(false) { detail::destroyed(uthread_cond_destroy(raw_)); }
    condition(const condition &) = delete;
    condition &operator=(const condition &) = delete;

    // The lock is held afterwards, also if the time was up or the wait was cancelled.
    void wait(mutex &held) { check(uthread_cond_wait(raw_, held.get())); }
    bool wait_for(mutex &held, std::chrono::microseconds limit) {
        return detail::within(limit, [&](unsigned int us) {
            return uthread_cond_wait_timed(raw_, held.get(), us);
        });
    }
    void signal(mutex &held) { check(uthread_cond_signal(raw_, held.get())); }
    void broadcast(mutex &held) { check(uthread_cond_broadcast(raw_, held.get())); }
    void notify(mutex &held) { check(uthread_cond_notify(raw_, held.get())); }
    void notify_all(mutex &held) { check(uthread_cond_notify_all(raw_, held.get())); }
    // The caller need not hold the lock.
    void notify() { check(uthread_cond_notify(raw_, nullptr)); }
    void notify_all() { check(uthread_cond_notify_all(raw_, nullptr)); }

private:
    uthread_cond_t *raw_;
};

// A pointer of each thread's own, first null; what it points to is deleted at the end of the thread.
template <typename T>
class thread_ptr {
public:
    thread_ptr() : raw_(detail::created(uthread_key_create(destroy))) {}
    ~thread_ptr() { uthread_key_destroy(raw_); }
    thread_ptr(const thread_ptr &) = delete;
    thread_ptr &operator=(const thread_ptr &) = delete;

    T *get() const { return static_cast<T *>(uthread_get(raw_)); }
    T &operator*() const { return *get(); }
    T *operator->() const { return get(); }
    void reset(T *value = nullptr) {
        T *old = get();
        check(uthread_set(raw_, value));
        delete old;
    }

private:
    static void destroy(void *value) { delete static_cast<T *>(value); }
    uthread_key_t *raw_;
};

class semaphore {
public:
    explicit semaphore(size_t permits) : raw_(detail::created(uthread_sem_create(permits))) {}
    ~semaphore() noexcept(false) { detail::destroyed(uthread_sem_destroy(raw_)); }
    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;

    void wait() { check(uthread_sem_wait(raw_)); }
    bool try_wait() { return detail::succeeded(uthread_sem_trywait(raw_), -EAGAIN); }
    bool wait_for(std::chrono::microseconds limit) {
        return detail::within(limit, [&](unsigned int us) { return uthread_sem_wait_timed(raw_, us); });
    }
    void post() { check(uthread_sem_post(raw_)); }

private:
    uthread_sem_t *raw_;
};

class barrier {
public:
    explicit barrier(size_t threads) : raw_(detail::created(uthread_barrier_create(threads))) {}
    ~barrier() noexcept(false) { detail::destroyed(uthread_barrier_destroy(raw_)); }
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    void wait() { check(uthread_barrier_wait(raw_)); }
    bool wait_for(std::chrono::microseconds limit) {
        return detail::within(
            limit, [&](unsigned int us) { return uthread_barrier_wait_timed(raw_, us); });
    }

private:
    uthread_barrier_t *raw_;
};

// A queue of pointers to T. send() and receive() throw error(-EPIPE) after close().
template <typename T>
class channel {
public:
    explicit channel(size_t capacity) : raw_(detail::created(uthread_channel_create(capacity))) {}
    ~channel() noexcept(false) { detail::destroyed(uthread_channel_destroy(raw_)); }
    channel(const channel &) = delete;
    channel &operator=(const channel &) = delete;

    void send(T *value) { check(uthread_channel_send(raw_, value)); }
    bool send_for(T *value, std::chrono::microseconds limit) {
        return detail::within(limit, [&](unsigned int us) {
            return uthread_channel_send_timed(raw_, value, us);
        });
    }
    T *receive() {
        void *value = nullptr;
        check(uthread_channel_receive(raw_, &value));
        return static_cast<T *>(value);
    }
    // False if nothing came in all that time.
    bool receive_for(T *&value, std::chrono::microseconds limit) {
        void *got = nullptr;
        auto receive = [&](unsigned int us) { return uthread_channel_receive_timed(raw_, &got, us); };
        if (!detail::within(limit, receive)) return false;
        value = static_cast<T *>(got);
        return true;
    }
    void close() { check(uthread_channel_close(raw_)); }

    uthread_channel_t *get() const noexcept { return raw_; }

private:
    uthread_channel_t *raw_;
};

// A socket, which is closed at the end of its scope. Errors are thrown, also those of names, as std::runtime_error.
class socket {
public:
    explicit socket(int fd = -1) noexcept : fd_(fd) {}
    socket(socket &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    socket &operator=(socket &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~socket() {
        if (fd_ >= 0) ::close(fd_);
    }

    // A TCP connection to the first address of the host that answers.
    static socket connect(const char *host, const char *service) {
        return opened(host, service, 0, [](int fd, const addrinfo &place) {
            return uthread_connect(fd, place.ai_addr, place.ai_addrlen);
        });
    }

    // A TCP socket that accepts connections; with the service "0" the system chooses the port.
    static socket listen(const char *host, const char *service, int backlog = 128) {
        return opened(host, service, AI_PASSIVE, [=](int fd, const addrinfo &place) {
            int on = 1;
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            bool listens = ::bind(fd, place.ai_addr, place.ai_addrlen) == 0 && ::listen(fd, backlog) == 0;
            return listens ? 0 : -errno;
        });
    }

    socket accept() const { return socket(check(uthread_accept(fd_, nullptr, nullptr))); }
    // Nothing if nobody came in all that time.
    std::optional<socket> accept_for(std::chrono::microseconds limit) const {
        int next = -1;
        auto came = detail::within(limit, [&](unsigned int us) {
            return next = uthread_accept_timed(fd_, nullptr, nullptr, us);
        });
        if (!came) return std::nullopt;
        return socket(next);
    }

    // 0: the other side sends no more.
    size_t recv(void *buffer, size_t bytes) const {
        return checked(uthread_recv(fd_, buffer, bytes, 0));
    }
    size_t send(const void *bytes, size_t count) const {
        return checked(uthread_send(fd_, bytes, count, MSG_NOSIGNAL));
    }
    void send_all(const void *bytes, size_t count) const {
        auto *next = static_cast<const char *>(bytes);
        for (size_t sent = 0; sent < count;) sent += send(next + sent, count - sent);
    }

    // The port of this side, as a service.
    std::string port() const {
        sockaddr_storage place{};
        socklen_t length = sizeof place;
        char service[NI_MAXSERV] = "";
        auto *address = reinterpret_cast<sockaddr *>(&place);
        if (getsockname(fd_, address, &length) != 0) throw error(-errno);
        getnameinfo(address, length, nullptr, 0, service, sizeof service, NI_NUMERICSERV);
        return service;
    }

    int get() const noexcept { return fd_; }

private:
    static size_t checked(ssize_t result) {
        if (result < 0) check(static_cast<int>(result));
        return static_cast<size_t>(result);
    }

    // A socket for the first address with which open() succeeds.
    template <typename Open>
    static socket opened(const char *host, const char *service, int flags, Open open) {
        addrinfo hints{}, *list = nullptr;
        hints.ai_flags = flags;
        hints.ai_socktype = SOCK_STREAM;
        auto resolved = check(uthread_getaddrinfo(host, service, &hints, &list));
        if (resolved > 0) throw std::runtime_error(gai_strerror(-resolved));
        std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(list, freeaddrinfo);
        int result = -EADDRNOTAVAIL;
        for (auto *place = list; place; place = place->ai_next) {
            socket made(::socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, 0));
            result = made.fd_ < 0 ? -errno : open(made.fd_, *place);
            if (result == 0) return made;
        }
        check(result);
        return socket();
    }

    int fd_;
};

// A wait for the first of several channels and descriptors. Each has a number, in the order of adding.
class select {
public:
    template <typename T>
    int receive(const channel<T> &channel) {
        return add({channel.get(), nullptr, -1, 0});
    }
    template <typename T>
    int send(const channel<T> &channel) {
        return add({nullptr, channel.get(), -1, 0});
    }
    int readable(const socket &socket) { return poll(socket.get(), UTHREAD_READABLE); }
    int poll(int fd, int events) { return add({nullptr, nullptr, fd, events}); }

    // The number of one that is ready.
    int wait() const { return check(uthread_select(choices_.data(), choices_.size())); }
    // -1 if none was ready in all that time.
    int wait_for(std::chrono::microseconds limit) const {
        int found = -1;
        auto came = detail::within(limit, [&](unsigned int us) {
            return found = uthread_select_timed(choices_.data(), choices_.size(), us);
        });
        return came ? found : -1;
    }

private:
    int add(uthread_choice_t choice) {
        choices_.push_back(choice);
        return static_cast<int>(choices_.size()) - 1;
    }
    std::vector<uthread_choice_t> choices_;
};
}    // namespace uthread
#endif
