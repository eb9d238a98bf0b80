// uthread for C++17: objects that clean up after themselves, over uthread.h, whose manual holds.
#ifndef UTHREAD_HPP
#define UTHREAD_HPP

#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "uthread.h"

namespace uthread {

// An error number of the library as an exception.
class error : public std::system_error {
public:
    explicit error(int number)
        : std::system_error(-number, std::generic_category(), uthread_strerror(number)) {}
};

inline int check(int result) {
    if (result < 0) throw error(result);
    return result;
}

namespace detail {
// What exit() throws: destructors run, and the thread ends.
struct exit_request {};

template <typename T>
T *created(T *object) {
    if (!object) throw std::bad_alloc();
    return object;
}

// What a thread does, and what became of it.
struct task {
    virtual ~task() = default;
    virtual void work() = 0;
    std::exception_ptr failure;

    // Holds preemption off from the end of the unwinding on: the C++ library keeps the exceptions that
    // are being handled for the kernel thread, so no other thread may run inside a catch block.
    struct last_destroyed {
        bool unwinds = true;
        ~last_destroyed() {
            if (unwinds) uthread_preempt_disable();
        }
    };

    static void *run(void *self) {
        auto *mine = static_cast<task *>(self);
        try {
            last_destroyed last;
            mine->work();
            last.unwinds = false;
            return nullptr;
        } catch (const exit_request &) {
        } catch (...) {
            mine->failure = std::current_exception();
            if (!mine->failure) {    // uthread_exit, which is no exception of C++
                uthread_preempt_enable();
                throw;
            }
        }
        uthread_preempt_enable();
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

// The runtime of a scope: its creator becomes the first user thread.
class runtime {
public:
    explicit runtime(unsigned int slice_us = 0) { check(uthread_init(slice_us)); }
    explicit runtime(const uthread_config_t &config) { check(uthread_init_with(&config)); }
    ~runtime() { uthread_end(); }
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
};

// A thread that is joined at the end of its scope. join() throws what the thread threw.
class thread {
public:
    thread() = default;

    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, thread>>>
    explicit thread(F &&function, const uthread_attr_t &attr = {})
        : task_(std::make_unique<detail::task_of<std::decay_t<F>>>(std::forward<F>(function))) {
        check(uthread_create(&handle_, &attr, detail::task::run, task_.get()));
    }

    thread(thread &&other) noexcept
        : task_(std::move(other.task_)), handle_(std::exchange(other.handle_, nullptr)) {}
    thread &operator=(thread &&other) noexcept {
        finish();
        task_ = std::move(other.task_);
        handle_ = std::exchange(other.handle_, nullptr);
        return *this;
    }
    ~thread() { finish(); }

    bool joinable() const noexcept { return handle_; }
    uthread_t *get() const noexcept { return handle_; }
    void resume() const { check(uthread_resume(handle_)); }
    void set_priority(int priority) const { check(uthread_set_priority(handle_, priority)); }
    int priority() const { return check(uthread_priority(handle_)); }

    void join() {
        check(uthread_join(std::exchange(handle_, nullptr), nullptr));
        if (auto failure = std::exchange(task_->failure, nullptr)) std::rethrow_exception(failure);
    }

private:
    void finish() noexcept {
        if (handle_) uthread_join(std::exchange(handle_, nullptr), nullptr);
    }

    std::unique_ptr<detail::task> task_;
    uthread_t *handle_ = nullptr;
};

inline void yield() { check(uthread_yield()); }
inline void suspend() { check(uthread_suspend()); }

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

class lock {
public:
    explicit lock(int protocol = UTHREAD_PLAIN)
        : raw_(detail::created(uthread_lock_create(protocol))) {}
    ~lock() { uthread_lock_destroy(raw_); }
    lock(const lock &) = delete;
    lock &operator=(const lock &) = delete;

    void acquire() { check(uthread_lock(raw_)); }
    bool try_lock() { return uthread_trylock(raw_) == 0; }
    void unlock() { check(uthread_unlock(raw_)); }
    uthread_lock_t *get() const noexcept { return raw_; }

private:
    uthread_lock_t *raw_;
};

class spin_lock {
public:
    spin_lock() : raw_(detail::created(uthread_spinlock_create())) {}
    ~spin_lock() { uthread_spinlock_destroy(raw_); }
    spin_lock(const spin_lock &) = delete;
    spin_lock &operator=(const spin_lock &) = delete;

    void acquire() { check(uthread_spinlock_lock(raw_)); }
    bool try_lock() { return uthread_spinlock_trylock(raw_) == 0; }
    void unlock() { check(uthread_spinlock_unlock(raw_)); }

private:
    uthread_spinlock_t *raw_;
};

// Holds a lock or a spin lock in its scope.
template <typename Lock>
class guard {
public:
    explicit guard(Lock &lock) : lock_(lock) { lock_.acquire(); }
    ~guard() { lock_.unlock(); }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;

private:
    Lock &lock_;
};

class condition {
public:
    condition() : raw_(detail::created(uthread_cond_create())) {}
    ~condition() { uthread_cond_destroy(raw_); }
    condition(const condition &) = delete;
    condition &operator=(const condition &) = delete;

    void wait(lock &held) { check(uthread_cond_wait(raw_, held.get())); }
    void signal(lock &held) { check(uthread_cond_signal(raw_, held.get())); }
    void broadcast(lock &held) { check(uthread_cond_broadcast(raw_, held.get())); }
    void notify(lock &held) { check(uthread_cond_notify(raw_, held.get())); }
    void notify_all(lock &held) { check(uthread_cond_notify_all(raw_, held.get())); }

private:
    uthread_cond_t *raw_;
};

class semaphore {
public:
    explicit semaphore(size_t permits) : raw_(detail::created(uthread_sem_create(permits))) {}
    ~semaphore() { uthread_sem_destroy(raw_); }
    semaphore(const semaphore &) = delete;
    semaphore &operator=(const semaphore &) = delete;

    void wait() { check(uthread_sem_wait(raw_)); }
    bool try_wait() { return uthread_sem_trywait(raw_) == 0; }
    void post() { check(uthread_sem_post(raw_)); }

private:
    uthread_sem_t *raw_;
};

}    // namespace uthread
#endif
