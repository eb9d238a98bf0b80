// A file over loopback by the calls that a transfer is made of and nothing else: no checksum, no
// protocol, no progress. What a tool takes beyond this is its own.
//
// usage: cc -O2 -pthread -o bare bench/transfer/bare.c && ./bare FROM TO read|sendfile one|two
//
// The sender reads blocks into a buffer and sends them, or has the kernel send them. The receiver
// sleeps until bytes that are worth a call are there (SO_RCVLOWAT), takes what there is and writes it;
// or it takes whole blocks, and another thread writes them. Room on the device is reserved ahead. FROM must be a file with a size; TO is replaced.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, WORTH_A_CALL = 128 << 10, BUFFERS = 4, LEAST_RESERVED = 1 << 20, MOST_RESERVED = 64 << 20 };

static off_t size;
static int target;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

// Memory that begins where a page does.
static char *block(void) {
    char *memory = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    return memory;
}

static size_t next_block(off_t offset) { return size - offset < BLOCK ? (size_t)(size - offset) : BLOCK; }

// A congestion control that does not pace, where the system allows it.
static void unpace(int connection) { setsockopt(connection, IPPROTO_TCP, TCP_CONGESTION, "reno", 4); }

static void send_all(int connection, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent = send(connection, bytes, len, 0);
        if (sent < 0) fail("send");
        bytes += sent;
        len -= (size_t)sent;
    }
}

static void sender(int source, int connection, int by_kernel) {
    char *buffer = block();
    for (off_t offset = 0; offset < size;) {
        if (by_kernel) {
            if (sendfile(connection, source, &offset, next_block(offset)) <= 0) fail("sendfile");
        } else {
            ssize_t count = pread(source, buffer, BLOCK, offset);
            if (count <= 0) fail("read");
            send_all(connection, buffer, (size_t)count);
            offset += count;
        }
    }
}

static void sleep_until(int connection, size_t bytes) {
    int wake_at = (int)bytes;
    setsockopt(connection, SOL_SOCKET, SO_RCVLOWAT, &wake_at, sizeof wake_at);
    struct pollfd ready = {connection, POLLIN, 0};
    poll(&ready, 1, -1);
    wake_at = 1;
    setsockopt(connection, SOL_SOCKET, SO_RCVLOWAT, &wake_at, sizeof wake_at);
}

static void receive(int connection, char *bytes, size_t len) {
    sleep_until(connection, len);
    while (len > 0) {
        ssize_t count = recv(connection, bytes, len, MSG_WAITALL);
        if (count <= 0) fail("receive");
        bytes += count;
        len -= (size_t)count;
    }
}

static void put(const char *bytes, size_t len, off_t offset) {
    static off_t reserved;
    while (reserved < offset + (off_t)len) {
        off_t more = reserved < LEAST_RESERVED ? LEAST_RESERVED : reserved;
        if (more > MOST_RESERVED) more = MOST_RESERVED;
        if (more > size - reserved) more = size - reserved;
        // A file system without it finds room as bytes come.
        fallocate(target, FALLOC_FL_KEEP_SIZE, reserved, more);
        reserved += more;
    }
    if (pwrite(target, bytes, len, offset) != (ssize_t)len) fail("write");
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *buffers[BUFFERS];
    // How many blocks came, and how many of them are written.
    off_t received, written;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

// Waits until there is a block to write, or room for one more; counts one when it is done.
static void await(int is_writer) {
    pthread_mutex_lock(&queue.lock);
    while (is_writer ? queue.received == queue.written : queue.received - queue.written == BUFFERS)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static void count(off_t *blocks) {
    pthread_mutex_lock(&queue.lock);
    *blocks += 1;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static void *writer(void *unused) {
    (void)unused;
    for (off_t offset = 0; offset < size; offset += BLOCK) {
        await(1);
        put(queue.buffers[queue.written % BUFFERS], next_block(offset), offset);
        count(&queue.written);
    }
    return NULL;
}

static void receive_and_write(int connection) {
    char *buffer = block();
    for (off_t offset = 0; offset < size;) {
        size_t most = next_block(offset);
        sleep_until(connection, most < WORTH_A_CALL ? most : WORTH_A_CALL);
        ssize_t count = recv(connection, buffer, most, 0);
        if (count <= 0) fail("receive");
        put(buffer, (size_t)count, offset);
        offset += count;
    }
}

static void receive_for_writer(int connection) {
    for (int i = 0; i < BUFFERS; i++) queue.buffers[i] = block();
    pthread_t other;
    if ((errno = pthread_create(&other, NULL, writer, NULL)) != 0) fail("thread");
    for (off_t offset = 0; offset < size; offset += BLOCK) {
        await(0);
        receive(connection, queue.buffers[queue.received % BUFFERS], next_block(offset));
        count(&queue.received);
    }
    pthread_join(other, NULL);
}

int main(int count_of_arguments, char **arguments) {
    if (count_of_arguments != 5) {
        fprintf(stderr, "usage: %s FROM TO read|sendfile one|two\n", arguments[0]);
        return 2;
    }
    int source = open(arguments[1], O_RDONLY);
    struct stat known;
    if (source < 0 || fstat(source, &known) != 0) fail(arguments[1]);
    size = known.st_size;
    target = open(arguments[2], O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (target < 0) fail(arguments[2]);

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (struct sockaddr *)&address, len) != 0 || listen(door, 1) != 0) fail("listen");
    getsockname(door, (struct sockaddr *)&address, &len);

    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int connection = accept(door, NULL, NULL);
        if (connection < 0) fail("accept");
        if (strcmp(arguments[4], "two") == 0)
            receive_for_writer(connection);
        else
            receive_and_write(connection);
        return 0;
    }
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, len) != 0) fail("connect");
    unpace(connection);
    sender(source, connection, strcmp(arguments[3], "sendfile") == 0);
    int status;
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
}
