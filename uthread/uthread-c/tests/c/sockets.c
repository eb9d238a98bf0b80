/* Sockets, names, and waits for the first of several things: values, limits and requests to cancel. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uthread.h>

#include "check.h"

enum { SHORT = 1000, CLIENTS = 8, BYTES = 200000 };

static struct sockaddr_in place;

static int listener(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof place;
    place = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CHECK(bind(fd, (struct sockaddr *)&place, length) == 0 && listen(fd, CLIENTS) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&place, &length) == 0);
    return fd;
}

static int stream(void) { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static void *echo(void *argument) {
    int fd = (int)(long)argument;
    char block[1000];
    ssize_t bytes;
    while ((bytes = uthread_recv(fd, block, sizeof block, 0)) > 0)
        for (ssize_t sent = 0; sent < bytes;) {
            ssize_t more = uthread_send(fd, block + sent, bytes - sent, 0);
            CHECK(more > 0);
            sent += more;
        }
    CHECK(bytes == 0);
    close(fd);
    return NULL;
}

static void *serve(void *argument) {
    int fd = (int)(long)argument;
    for (int i = 0; i < CLIENTS; i++) {
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;
        int next = uthread_accept(fd, (struct sockaddr *)&peer, &length);
        CHECK(next >= 0 && peer.sin_family == AF_INET);
        CHECK(uthread_create(NULL, NULL, echo, (void *)(long)next) == 0);
    }
    return NULL;
}

static void *send_all(void *argument) {
    int fd = (int)(long)argument;
    static const char block[BYTES];
    for (size_t sent = 0; sent < BYTES;) {
        ssize_t more = uthread_send_timed(fd, block + sent, BYTES - sent, 0, LONG);
        CHECK(more > 0);
        sent += more;
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void *ask(void *unused) {
    (void)unused;
    int fd = stream();
    CHECK(uthread_connect(fd, (struct sockaddr *)&place, sizeof place) == 0);
    uthread_t *sender;
    CHECK(uthread_create(&sender, NULL, send_all, (void *)(long)fd) == 0);
    char block[1000];
    ssize_t bytes, all = 0;
    while ((bytes = uthread_recv_timed(fd, block, sizeof block, 0, LONG)) > 0) all += bytes;
    CHECK(bytes == 0 && all == BYTES);
    CHECK(uthread_join(sender, NULL) == 0);
    close(fd);
    return NULL;
}

static void clients(void) {
    int fd = listener();
    uthread_t *server, *all[CLIENTS];
    CHECK(uthread_create(&server, NULL, serve, (void *)(long)fd) == 0);
    for (int i = 0; i < CLIENTS; i++) CHECK(uthread_create(&all[i], NULL, ask, NULL) == 0);
    for (int i = 0; i < CLIENTS; i++) CHECK(uthread_join(all[i], NULL) == 0);
    CHECK(uthread_join(server, NULL) == 0);
    close(fd);
    int refused = stream();
    CHECK(uthread_connect(refused, (struct sockaddr *)&place, sizeof place) == -ECONNREFUSED);
    close(refused);
}

static void datagrams(void) {
    int ends[2] = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0)};
    struct sockaddr_in here[2], from;
    socklen_t length = sizeof from;
    for (int i = 0; i < 2; i++) {
        here[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        CHECK(bind(ends[i], (struct sockaddr *)&here[i], length) == 0);
        CHECK(getsockname(ends[i], (struct sockaddr *)&here[i], &length) == 0);
    }
    char text[8];
    CHECK(uthread_recvfrom_timed(ends[1], text, 8, 0, NULL, NULL, SHORT) == -ETIMEDOUT);
    CHECK(uthread_sendto(ends[0], "hello", 5, 0, (struct sockaddr *)&here[1], length) == 5);
    CHECK(uthread_recvfrom(ends[1], text, 8, 0, (struct sockaddr *)&from, &length) == 5);
    CHECK(from.sin_port == here[0].sin_port && memcmp(text, "hello", 5) == 0);
    CHECK(uthread_sendto_timed(ends[1], text, 5, 0, (struct sockaddr *)&from, length, LONG) == 5);
    CHECK(uthread_recv_timed(ends[0], text, 8, 0, LONG) == 5);
    close(ends[0]);
    close(ends[1]);
}

static int pair[2];

static void *waits_to_accept(void *argument) {
    CHECK(uthread_accept((int)(long)argument, NULL, NULL) == -ECANCELED);
    return NULL;
}

static void *waits_to_receive(void *unused) {
    char byte;
    (void)unused;
    CHECK(uthread_recv(pair[0], &byte, 1, 0) == -ECANCELED);
    return NULL;
}

static void *waits_to_select(void *argument) {
    CHECK(uthread_select(argument, 2) == -ECANCELED);
    return NULL;
}

static void cancelled(void *(*function)(void *), void *argument) {
    uthread_t *thread;
    CHECK(uthread_create(&thread, NULL, function, argument) == 0);
    CHECK(uthread_sleep(SHORT) == 0);
    CHECK(uthread_cancel(thread) == 0);
    CHECK(uthread_join(thread, NULL) == 0);
}

static void *sends(void *channel) {
    uthread_sleep(SHORT);
    CHECK(uthread_channel_send(channel, channel) == 0);
    return NULL;
}

static void *writes(void *unused) {
    (void)unused;
    uthread_sleep(SHORT);
    CHECK(uthread_send(pair[1], "x", 1, 0) == 1);
    return NULL;
}

static void limits_and_choices(void) {
    int fd = listener();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    char byte;
    CHECK(uthread_accept_timed(fd, NULL, NULL, SHORT) == -ETIMEDOUT);
    CHECK(uthread_recv_timed(pair[0], &byte, 1, 0, SHORT) == -ETIMEDOUT);
    CHECK(uthread_recv_timed(-1, &byte, 1, 0, SHORT) == -EBADF);

    uthread_channel_t *channel = uthread_channel_create(1), *full = uthread_channel_create(0);
    uthread_choice_t choices[] = {
        {.receive = channel},
        {.fd = pair[0], .events = UTHREAD_READABLE},
        {.send = full},
    };
    CHECK(uthread_select_timed(choices, 3, SHORT) == -ETIMEDOUT);
    CHECK(uthread_select(NULL, 0) == -EINVAL);
    uthread_choice_t both = {.receive = channel, .send = full};
    CHECK(uthread_select(&both, 1) == -EINVAL);
    cancelled(waits_to_accept, (void *)(long)fd);
    cancelled(waits_to_receive, NULL);
    cancelled(waits_to_select, choices);

    uthread_t *other;
    void *value;
    CHECK(uthread_create(&other, NULL, sends, channel) == 0);
    CHECK(uthread_select(choices, 3) == 0);
    CHECK(uthread_channel_tryreceive(channel, &value) == 0 && value == channel);
    CHECK(uthread_join(other, NULL) == 0);
    CHECK(uthread_create(&other, NULL, writes, NULL) == 0);
    CHECK(uthread_select(choices, 3) == 1);
    CHECK(uthread_recv(pair[0], &byte, 1, 0) == 1 && byte == 'x');
    CHECK(uthread_join(other, NULL) == 0);
    CHECK(uthread_channel_close(channel) == 0);
    CHECK(uthread_select(choices, 3) == 0);
    CHECK(uthread_channel_trysend(channel, &value) == -EPIPE);
    CHECK(uthread_channel_destroy(channel) == 0 && uthread_channel_destroy(full) == 0);
    close(pair[0]);
    close(pair[1]);
    close(fd);
}

static void names(void) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    CHECK(uthread_getaddrinfo("localhost", "80", &hints, &found) == 0);
    struct sockaddr_in *first = (struct sockaddr_in *)(void *)found->ai_addr;
    CHECK(first->sin_addr.s_addr == htonl(INADDR_LOOPBACK) && first->sin_port == htons(80));
    freeaddrinfo(found);
    CHECK(uthread_getaddrinfo_timed("127.0.0.1", NULL, NULL, &found, LONG) == 0);
    freeaddrinfo(found);
    hints.ai_flags = AI_NUMERICHOST;
    CHECK(uthread_getaddrinfo("no number", NULL, &hints, &found) == -EAI_NONAME);
}

static void *everything(void *unused) {
    (void)unused;
    clients();
    datagrams();
    limits_and_choices();
    names();
    return NULL;
}

int main(void) {
    char byte;
    CHECK(uthread_recv(0, &byte, 0, MSG_PEEK) < 0);
    for (int i = 0; i < 8; i++) {
        uthread_config_t config = {
            .slice_us = i & 1 ? 100 : 0,
            .workers = i & 2 ? 2 : 1,
            .io = i & 4 ? UTHREAD_IO_THREADS : UTHREAD_IO_AUTO,
        };
        CHECK(uthread_run_with(&config, everything, NULL, NULL) == 0);
    }
    puts("all was carried");
    return 0;
}
