// The same work on State Threads (one kernel thread).
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <st.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum {
    SWITCHES = 400000, CREATIONS = 50000, LOCKS = 1000000, LOCKS_EACH = 10000, MOST = 1000, ECHOES = 20000,
    MESSAGE_BYTES = 64
};

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void report(const char *metric, double operations, void (*work)(void)) {
    work();
    double begin = now_ns();
    work();
    printf("%s %.2f\n", metric, (now_ns() - begin) / operations);
}

static void check(int good) {
    if (!good) {
        perror("State Threads");
        exit(1);
    }
}

static void *nothing(void *unused) { return unused; }

static void together(int threads, void *(*work)(void *), void *argument) {
    static st_thread_t all[MOST];
    for (int i = 0; i < threads; i++) check((all[i] = st_thread_create(work, argument, 1, 0)) != NULL);
    for (int i = 0; i < threads; i++) check(st_thread_join(all[i], NULL) == 0);
}

// A sleep of no time is its way to yield.
static void *yields(void *each) {
    for (int i = 0; i < *(int *)each; i++) st_usleep(0);
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

static st_mutex_t lock;
static long total;

static void enter(int times) {
    for (int i = 0; i < times; i++) {
        check(st_mutex_lock(lock) == 0);
        total++;
        check(st_mutex_unlock(lock) == 0);
    }
}

static void alone(void) { enter(LOCKS); }

static void *enters(void *unused) {
    enter(LOCKS_EACH);
    return unused;
}

static void ninety_nine(void) { together(99, enters, NULL); }

static st_netfd_t opened(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    st_netfd_t connection = st_netfd_open_socket(fd);
    check(connection != NULL);
    return connection;
}

static void *echoes(void *listener) {
    st_netfd_t connection = st_accept(listener, NULL, NULL, ST_UTIME_NO_TIMEOUT);
    check(connection != NULL);
    int on = 1;
    setsockopt(st_netfd_fileno(connection), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char message[MESSAGE_BYTES];
    while (st_read_fully(connection, message, sizeof message, ST_UTIME_NO_TIMEOUT) == sizeof message)
        check(st_write(connection, message, sizeof message, ST_UTIME_NO_TIMEOUT) == sizeof message);
    st_netfd_close(connection);
    return NULL;
}

static void echo(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(fd, (struct sockaddr *)&address, bytes) == 0 && listen(fd, 1) == 0);
    check(getsockname(fd, (struct sockaddr *)&address, &bytes) == 0);
    st_netfd_t listener = opened(fd);
    st_thread_t server = st_thread_create(echoes, listener, 1, 0);
    st_netfd_t connection = opened(socket(AF_INET, SOCK_STREAM, 0));
    check(st_connect(connection, (struct sockaddr *)&address, bytes, ST_UTIME_NO_TIMEOUT) == 0);
    char message[MESSAGE_BYTES] = "";
    for (int i = 0; i < ECHOES; i++) {
        check(st_write(connection, message, sizeof message, ST_UTIME_NO_TIMEOUT) == sizeof message);
        check(st_read_fully(connection, message, sizeof message, ST_UTIME_NO_TIMEOUT) == sizeof message);
    }
    st_netfd_close(connection);
    check(st_thread_join(server, NULL) == 0);
    st_netfd_close(listener);
}

int main(void) {
    st_set_eventsys(ST_EVENTSYS_ALT);
    check(st_init() == 0);
    lock = st_mutex_new();
    report("yield_2", SWITCHES, two);
    report("yield_1000", SWITCHES, thousand);
    report("create", CREATIONS, create);
    report("lock", LOCKS, alone);
    report("contended", 99.0 * LOCKS_EACH, ninety_nine);
    report("echo", ECHOES, echo);
    return 0;
}
