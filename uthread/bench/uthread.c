// The same work through the interface of C.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uthread.h>

enum {
    SWITCHES = 400000, CREATIONS = 50000, LOCKS = 1000000, LOCKS_EACH = 10000, ITEMS = 400000,
    CAPACITY = 16, ROUNDS = 200000, MOST = 1000, ECHOES = 20000, MESSAGE_BYTES = 64
};

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

// The only metric to measure, or null.
static const char *wanted;

static void report(const char *metric, double operations, void (*work)(void)) {
    if (wanted && strcmp(wanted, metric) != 0) return;
    work();
    double begin = now_ns();
    work();
    printf("%s %.2f\n", metric, (now_ns() - begin) / operations);
}

static void check(int result) {
    if (result < 0) {
        fprintf(stderr, "%s\n", uthread_strerror(result));
        exit(1);
    }
}

static void *nothing(void *unused) { return unused; }

static void together(int threads, void *(*work)(void *), void *argument) {
    static uthread_t *all[MOST];
    for (int i = 0; i < threads; i++) check(uthread_create(&all[i], NULL, work, argument));
    for (int i = 0; i < threads; i++) check(uthread_join(all[i], NULL));
}

static void *yields(void *each) {
    for (int i = 0; i < *(int *)each; i++) check(uthread_yield());
    return NULL;
}

static void two(void) {
    int each = SWITCHES / 2;
    together(2, yields, &each);
}

static void thousand(void) {
    int each = SWITCHES / 1000;
    together(1000, yields, &each);
}

static void create(void) {
    for (int i = 0; i < CREATIONS; i++) together(1, nothing, NULL);
}

static uthread_lock_t *lock;
static uthread_cond_t *changed;
static uthread_channel_t *channel;
static long total;

static void enter(int times) {
    for (int i = 0; i < times; i++) {
        check(uthread_lock(lock));
        total++;
        check(uthread_unlock(lock));
    }
}

static void alone(void) { enter(LOCKS); }

static void *enters(void *unused) {
    enter(LOCKS_EACH);
    return unused;
}

static void ten(void) { together(10, enters, NULL); }

static void ninety_nine(void) { together(99, enters, NULL); }

static void *sends(void *unused) {
    for (int i = 0; i < ITEMS; i++) check(uthread_channel_send(channel, &total));
    return unused;
}

static void transfer(void) {
    uthread_t *sender;
    check(uthread_create(&sender, NULL, sends, NULL));
    for (int i = 0; i < ITEMS; i++) {
        void *value;
        check(uthread_channel_receive(channel, &value));
    }
    check(uthread_join(sender, NULL));
}

// Takes every other turn.
static void take_turns(long mine) {
    check(uthread_lock(lock));
    for (int i = 0; i < ROUNDS; i++) {
        while (total % 2 != mine) check(uthread_cond_wait(changed, lock));
        total++;
        check(uthread_cond_notify(changed, lock));
    }
    check(uthread_unlock(lock));
}

static void *second(void *unused) {
    take_turns(1);
    return unused;
}

static void turns(void) {
    uthread_t *other;
    total = 0;
    check(uthread_create(&other, NULL, second, NULL));
    take_turns(0);
    check(uthread_join(other, NULL));
}

static void send_all(int fd, const char *message) {
    for (int done = 0; done < MESSAGE_BYTES;) {
        int sent = uthread_send(fd, message + done, MESSAGE_BYTES - done, 0);
        check(sent);
        done += sent;
    }
}

// 0 if the other side has closed.
static int receive_all(int fd, char *message) {
    for (int done = 0; done < MESSAGE_BYTES;) {
        int received = uthread_recv(fd, message + done, MESSAGE_BYTES - done, 0);
        check(received);
        if (received == 0) return 0;
        done += received;
    }
    return 1;
}

static void send_at_once(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void *echoes(void *listener) {
    int fd = uthread_accept(*(int *)listener, NULL, NULL);
    check(fd);
    send_at_once(fd);
    char message[MESSAGE_BYTES];
    while (receive_all(fd, message)) send_all(fd, message);
    close(fd);
    return NULL;
}

static void echo(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    uthread_t *server;
    if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &bytes)) {
        perror("no socket");
        exit(1);
    }
    check(uthread_create(&server, NULL, echoes, &listener));
    check(uthread_connect(fd, (struct sockaddr *)&address, bytes));
    send_at_once(fd);
    char message[MESSAGE_BYTES] = "";
    for (int i = 0; i < ECHOES; i++) {
        send_all(fd, message);
        receive_all(fd, message);
    }
    close(fd);
    check(uthread_join(server, NULL));
    close(listener);
}

static void *on_one_worker(void *unused) {
    report("yield_2", SWITCHES, two);
    report("yield_1000", SWITCHES, thousand);
    report("create", CREATIONS, create);
    report("lock", LOCKS, alone);
    report("contended", 99.0 * LOCKS_EACH, ninety_nine);
    report("channel", ITEMS, transfer);
    report("mesa", ROUNDS, turns);
    report("echo", ECHOES, echo);
    return unused;
}

static void *on_two_workers(void *unused) {
    report("ten_2", 10.0 * LOCKS_EACH, ten);
    report("contended_2", 99.0 * LOCKS_EACH, ninety_nine);
    return unused;
}

static void run(unsigned int workers, void *(*work)(void *)) {
    uthread_config_t config = {.slice_us = 1000, .workers = workers, .keep_priority = 1};
    lock = uthread_lock_create(UTHREAD_PLAIN);
    changed = uthread_cond_create();
    channel = uthread_channel_create(CAPACITY);
    check(uthread_run_with(&config, work, NULL, NULL));
    check(uthread_channel_destroy(channel));
    check(uthread_cond_destroy(changed));
    check(uthread_lock_destroy(lock));
}

int main(int count, char **arguments) {
    if (count > 1) wanted = arguments[1];
    run(1, on_one_worker);
    run(2, on_two_workers);
    return 0;
}
