/* A second way to measure how processes talk and switch.
 *
 * usage: talk MEANS TASK SIZE HERE THERE
 *        talk ring NUMBER WORKING_SET HERE THERE
 *
 * MEANS: pipe, unix, tcp, eventfd, futex. TASK: trip (a message and one back) or stream (pipe, unix
 * and tcp). HERE and THERE are the processors of the two sides. Prints the median over many round
 * trips in ns, or the median over eleven samples of bytes a second. A ring passes a token through
 * NUMBER processes, each of which reads its working set; the median of a pass, less that of one
 * process that passes the token to itself.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIPS 2000
#define MOST_MEMBERS 128

static struct { int in, out; } here, there;
static _Atomic uint32_t *words;
static char *message;
static size_t size;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void must(int holds) {
    if (!holds) {
        perror("talk");
        exit(1);
    }
}

static void pin(const char *cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(cpu), &set);
    must(sched_setaffinity(0, sizeof set, &set) == 0);
}

static int child_on(const char *cpu) {
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(cpu);
    }
    return child == 0;
}

static void receive(int from) {
    for (size_t got = 0; got < size;) {
        ssize_t more = read(from, message + got, size - got);
        must(more > 0);
        got += more;
    }
}

static void send_to(int to) {
    for (size_t sent = 0; sent < size;) {
        ssize_t more = write(to, message + sent, size - sent);
        must(more > 0);
        sent += more;
    }
}

static void tell(int word, uint32_t value) {
    atomic_store_explicit(&words[word], value, memory_order_release);
    must(syscall(SYS_futex, &words[word], FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
}

static void hear(int word, uint32_t value) {
    for (uint32_t seen; (seen = atomic_load_explicit(&words[word], memory_order_acquire)) != value;)
        syscall(SYS_futex, &words[word], FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void connect_by(const char *means) {
    int one[2], other[2], on = 1;
    if (strcmp(means, "pipe") == 0) {
        must(pipe(one) == 0 && pipe(other) == 0);
        here.in = one[0], there.out = one[1], there.in = other[0], here.out = other[1];
    } else if (strcmp(means, "unix") == 0) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, one) == 0);
        here.in = here.out = one[0], there.in = there.out = one[1];
    } else if (strcmp(means, "eventfd") == 0) {
        here.in = there.out = eventfd(0, 0), here.out = there.in = eventfd(0, 0);
        must(here.in >= 0 && here.out >= 0);
    } else if (strcmp(means, "tcp") == 0) {
        struct sockaddr_in address = {.sin_family = AF_INET};
        socklen_t len = sizeof address;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        must(bind(listener, (void *)&address, len) == 0 && listen(listener, 1) == 0);
        must(getsockname(listener, (void *)&address, &len) == 0);
        here.in = here.out = socket(AF_INET, SOCK_STREAM, 0);
        must(connect(here.in, (void *)&address, len) == 0);
        there.in = there.out = accept(listener, NULL, NULL);
        must(there.in >= 0);
        setsockopt(here.in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(there.in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    } else {
        must(strcmp(means, "futex") == 0);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static double trips_ns(int futex, const char *cpu) {
    static double times[TRIPS];
    if (child_on(cpu)) {
        for (uint32_t round = 1;; round++) {
            if (futex) {
                hear(0, round);
                tell(1, round);
            } else {
                receive(there.in);
                send_to(there.out);
            }
        }
    }
    for (uint32_t round = 1; round <= TRIPS; round++) {
        double start = now_ns();
        if (futex) {
            tell(0, round);
            hear(1, round);
        } else {
            send_to(here.out);
            receive(here.in);
        }
        times[round - 1] = now_ns() - start;
    }
    return median(times, TRIPS);
}

static double stream(const char *cpu) {
    double rates[11];
    long count = 1;
    if (child_on(cpu))
        for (;;) send_to(there.out);
    for (int i = 0; i < 11;) {
        double start = now_ns();
        for (long n = 0; n < count; n++) receive(here.in);
        double wall_ns = now_ns() - start;
        if (wall_ns < 10e6) {
            count *= 2;
            continue;
        }
        rates[i++] = 1e9 * count * size / wall_ns;
    }
    return median(rates, 11);
}

/* One member: waits for the token, reads its working set (whole times 512 bytes) as fast as it can, and
 * passes the token on. */
typedef uint64_t line __attribute__((vector_size(64), may_alias));
static void work(const uint64_t *set, size_t bytes) {
    const line *lines = (const line *)set;
    line sums[8] = {0};
    for (size_t i = 0; i < bytes / sizeof *lines; i += 8)
        for (int k = 0; k < 8; k++) sums[k] ^= lines[i + k];
    __asm__ volatile("" : : "m"(sums));
}

static uint64_t *new_set(size_t bytes, int filling) {
    uint64_t *set = aligned_alloc(sizeof(line), bytes + sizeof(line));
    must(set != NULL);
    return memset(set, filling, bytes);
}

static double pass_ns(int number, size_t bytes, char **cpus) {
    static double times[10 * TRIPS];
    int pipes[MOST_MEMBERS][2], rounds = 10 * TRIPS / number;
    must(number >= 1 && number <= MOST_MEMBERS);
    for (int i = 0; i < number; i++) must(pipe(pipes[i]) == 0);
    for (int i = 1; i < number; i++)
        if (child_on(cpus[i % 2])) {
            uint64_t *set = new_set(bytes, i);
            for (char token; read(pipes[i][0], &token, 1) == 1;) {
                work(set, bytes);
                must(write(pipes[(i + 1) % number][1], &token, 1) == 1);
            }
            _exit(0);
        }
    uint64_t *set = new_set(bytes, 1);
    for (int round = 0; round < rounds; round++) {
        char token = 1;
        double start = now_ns();
        must(write(pipes[1 % number][1], &token, 1) == 1);
        must(read(pipes[0][0], &token, 1) == 1);
        work(set, bytes);
        times[round] = (now_ns() - start) / number;
    }
    return median(times, rounds);
}

int main(int argc, char **argv) {
    must(argc == 6);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(argv[4]);
    if (strcmp(argv[1], "ring") == 0) {
        double alone = pass_ns(1, atol(argv[3]), argv + 4);
        printf("%.2f\n", pass_ns(atoi(argv[2]), atol(argv[3]), argv + 4) - alone);
        return 0;
    }
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(words != MAP_FAILED);
    size = atol(argv[3]);
    message = calloc(1, size + 1);
    must(message != NULL);
    message[0] = 1;
    connect_by(argv[1]);
    if (strcmp(argv[2], "trip") == 0)
        printf("%.2f\n", trips_ns(strcmp(argv[1], "futex") == 0, argv[5]));
    else
        printf("%.0f\n", stream(argv[5]));
    return 0;
}
