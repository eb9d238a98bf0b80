/* Calls of the C library that wait, which the kernel does not restart after a signal: none is interrupted while slices
 * count CPU time. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <uthread.h>

#include "check.h"

enum { MS = 20, ROUNDS = 5 };

static atomic_int stop, turns;

static void *compute(void *unused) {
    (void)unused;
    while (!stop) turns++;
    return NULL;
}

/* The time in some ms. */
static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += MS * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static void wait_in_each_call(int ends[2], int epoll) {
    struct pollfd poller = {ends[0], POLLIN, 0};
    struct epoll_event event;
    struct timeval moment = {0, MS * 1000};
    struct timespec time = {0, MS * 1000000};
    fd_set set;
    sem_t semaphore;
    sigset_t none;
    char byte;

    CHECK(poll(&poller, 1, MS) == 0);
    CHECK(ppoll(&poller, 1, &time, NULL) == 0);
    CHECK(epoll_wait(epoll, &event, 1, MS) == 0);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    CHECK(select(ends[0] + 1, &set, NULL, NULL, &moment) == 0);
    CHECK(nanosleep(&time, NULL) == 0);
    CHECK(usleep(MS * 1000) == 0);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
    sem_init(&semaphore, 0, 0);
    struct timespec end = soon(CLOCK_REALTIME);
    CHECK(sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT);
    moment = (struct timeval){0, MS * 1000};
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment) == 0);
    CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    sigemptyset(&none);
    sigaddset(&none, SIGUSR1);
    CHECK(sigtimedwait(&none, NULL, &time) == -1 && errno == EAGAIN);
}

int main(void) {
    uthread_config_t config = {.slice_us = 1000, .keep_priority = 1, .cpu_time_slices = 1};
    CHECK(uthread_init_with(&config) == 0);
    uthread_t *other;
    CHECK(uthread_create(&other, NULL, compute, NULL) == 0);
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    for (int round = 0; round < ROUNDS; round++) wait_in_each_call(ends, epoll);
    /* A thread that computes does get ticks. */
    while (turns == 0);
    stop = 1;
    CHECK(uthread_join(other, NULL) == 0);
    CHECK(uthread_end() == 0);
    puts("no call was interrupted");
    return 0;
}
