/* What threads share with the rest of the process: jumps, handlers of signals, functions of the C library that need
 * much stack, and the ways in which a process ends. The argument names the way. Ends with 1 at the first broken
 * promise. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "uthread.h"

static volatile int stop, handled;

static void *spins(void *value) {
    while (!stop) {
    }
    return value;
}
static void *stops(void *value) {
    CHECK(uthread_sleep(20000) == 0);
    stop = 1;
    return value;
}

/* Only ticks let the second thread run. */
static void ticks_come(void) {
    uthread_t *spinner, *stopper;
    stop = 0;
    CHECK(uthread_create(&stopper, NULL, stops, NULL) == 0 && uthread_create(&spinner, NULL, spins, NULL) == 0);
    CHECK(uthread_join(spinner, NULL) == 0 && uthread_join(stopper, NULL) == 0);
}

static void *jumps(void *value) {
    jmp_buf place;
    if (setjmp(place) == 0) {
        CHECK(uthread_yield() == 0);
        longjmp(place, 1);
    }
    return value;
}

static void handles(int signal) {
    volatile char frame[8000];
    memset((void *)frame, signal, sizeof frame);
    handled++;
}
static void *raises(void *value) {
    for (int i = 0; i < 100; i++) CHECK(raise(SIGUSR1) == 0 && uthread_yield() == 0);
    return value;
}

/* On a stack of the default size. */
static void *calls_the_library(void *value) {
    char path[PATH_MAX], number[400];
    regex_t pattern;
    struct addrinfo *addresses, hints = {.ai_flags = AI_NUMERICHOST};
    CHECK(realpath("/usr/../usr/.", path) && strcmp(path, "/usr") == 0);
    CHECK(snprintf(number, sizeof number, "%.40Lf", 1e300L) == 342);
    CHECK(regcomp(&pattern, "(a|b)*c(d|e)+", REG_EXTENDED) == 0 && regexec(&pattern, "ababcdede", 0, NULL, 0) == 0);
    regfree(&pattern);
    CHECK(getaddrinfo("127.0.0.1", "80", &hints, &addresses) == 0);
    freeaddrinfo(addresses);
    return value;
}

static void *adds(void *sum) {
    double total = 0;
    for (int i = 1; i < 2000000; i++) total += 1.0 / i;
    *(double *)sum = total;
    return NULL;
}

static void goes_on(void) {
    uthread_t *thread[4];
    void *(*const functions[])(void *) = {jumps, raises, calls_the_library};
    struct sigaction action = {.sa_handler = handles};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    /* The library's own signal may be ignored and blocked before it starts. */
    sigset_t all;
    signal(SIGURG, SIG_IGN);
    sigfillset(&all);
    CHECK(sigprocmask(SIG_BLOCK, &all, NULL) == 0 && uthread_init(100) == 0);
    ticks_come();
    CHECK(sigprocmask(SIG_UNBLOCK, &all, NULL) == 0);
    for (int i = 0; i < 3; i++) CHECK(uthread_create(&thread[i], NULL, functions[i], NULL) == 0);
    for (int i = 0; i < 3; i++) CHECK(uthread_join(thread[i], NULL) == 0);
    CHECK(handled == 100);
    double sums[4];
    for (int i = 0; i < 4; i++) CHECK(uthread_create(&thread[i], NULL, adds, &sums[i]) == 0);
    for (int i = 0; i < 4; i++) CHECK(uthread_join(thread[i], NULL) == 0 && sums[i] == sums[0]);
    CHECK(uthread_end() == 0);
    puts("all went on");
}

static void *exits(void *code) { exit((int)(long)code); }
static void *ends_late(void *value) {
    CHECK(uthread_sleep(20000) == 0);
    puts("the last thread");
    return value;
}
static void *reads_nowhere(void *value) { return (void *)(long)*(volatile int *)((long)value + 8); }
static void *sends_a_fault(void *way) {
    if (strcmp(way, "raise") == 0) raise(SIGSEGV);
    kill(getpid(), SIGSEGV);
    CHECK(uthread_sleep(20000) == 0);
    return NULL;
}
static void on_fault(int signal) { _exit(signal == SIGSEGV ? 9 : 1); }

int main(int count, char **arguments) {
    alarm(60);    /* nothing here waits that long */
    uthread_t *thread;
    const char *way = count > 1 ? arguments[1] : "";
    if (!*way) {
        goes_on();
        return 0;
    }
    if (strcmp(way, "ignored") == 0) CHECK(signal(SIGSEGV, SIG_IGN) != SIG_ERR);
    if (strcmp(way, "handler before") == 0) CHECK(signal(SIGSEGV, on_fault) != SIG_ERR);
    CHECK(uthread_init(1000) == 0);
    if (strcmp(way, "handler after") == 0) CHECK(signal(SIGSEGV, on_fault) != SIG_ERR);
    if (strcmp(way, "exit") == 0) CHECK(uthread_create(&thread, NULL, exits, (void *)5) == 0);
    else if (strcmp(way, "return") == 0 || strcmp(way, "last thread") == 0)
        CHECK(uthread_create(&thread, NULL, ends_late, NULL) == 0);
    else if (strncmp(way, "handler", 7) == 0) CHECK(uthread_create(&thread, NULL, reads_nowhere, NULL) == 0);
    else CHECK(uthread_create(&thread, NULL, sends_a_fault, (void *)way) == 0);
    if (strcmp(way, "return") == 0) return 4;
    if (strcmp(way, "last thread") == 0) uthread_exit(NULL);
    uthread_join(thread, NULL);
    return 1;
}
