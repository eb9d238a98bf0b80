// The same work on libdill (one kernel thread).
#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SWITCHES = 400000, CREATIONS = 50000, ECHOES = 20000, MESSAGE_BYTES = 64, PORT = 28471 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static coroutine void nothing(void) {}

static coroutine void yields(int each) {
    for (int i = 0; i < each; ++i) yield();
}

static void together(int threads) {
    int all = bundle();
    for (int i = 0; i < threads; ++i) bundle_go(all, yields(SWITCHES / threads));
    bundle_wait(all, -1);
    hclose(all);
}

static void two(void) { together(2); }

static void thousand(void) { together(1000); }

static void create(void) {
    for (int i = 0; i < CREATIONS; ++i) hclose(go(nothing()));
}

static void check(int result) {
    if (result < 0) {
        perror("libdill");
        exit(1);
    }
}

// Both sides buffer, and libdill sets TCP_NODELAY.
static coroutine void echoes(int listener) {
    int connection = tcp_accept(listener, NULL, -1);
    check(connection);
    char message[MESSAGE_BYTES];
    while (brecv(connection, message, sizeof message, -1) == 0) check(bsend(connection, message, sizeof message, -1));
    tcp_close(connection, -1);
}

static void echo(void) {
    struct ipaddr address;
    check(ipaddr_local(&address, "127.0.0.1", PORT, IPADDR_IPV4));
    int listener = tcp_listen(&address, 10);
    check(listener);
    int server = go(echoes(listener));
    int connection = tcp_connect(&address, -1);
    check(connection);
    char message[MESSAGE_BYTES] = "";
    for (int i = 0; i < ECHOES; ++i) {
        check(bsend(connection, message, sizeof message, -1));
        check(brecv(connection, message, sizeof message, -1));
    }
    tcp_close(connection, -1);
    hclose(server);
    hclose(listener);
}

static void report(const char *metric, double operations, void (*work)(void)) {
    work();
    double begin = now_ns();
    work();
    printf("%s %.2f\n", metric, (now_ns() - begin) / operations);
}

int main(void) {
    report("yield_2", SWITCHES, two);
    report("yield_1000", SWITCHES, thousand);
    report("create", CREATIONS, create);
    report("echo", ECHOES, echo);
    return 0;
}
