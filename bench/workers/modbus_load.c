/*
 * Load generator: closed loop of FC3 requests over loopback, a fixed number outstanding on each connection. Checks
 * length, transaction id, function and octet count of every answer.
 * Arguments: port connections outstanding warmup_ms measure_ms. Prints one line of JSON.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { max_connections = 64, max_outstanding = 64, base = 40000, registers = 125, answer_length = 9 + 2 * registers,
       request_length = 12, max_samples = 16 * 1024 * 1024 };

typedef struct {
    int fd;
    uint16_t next_id, expected_id;
    uint64_t sent[max_outstanding];
    uint8_t in[max_outstanding * answer_length];
    size_t held;
} connection;

static connection links[max_connections];
static uint32_t *samples;
static size_t sampled;
static int measuring;

static void die(const char *what) {
    fprintf(stderr, "modbus_load: %s\n", what);
    exit(1);
}

static void die_of_system(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void ask(connection *c, int count, uint64_t now) {
    uint8_t out[max_outstanding * request_length];
    for (int i = 0; i < count; i++) {
        const uint8_t request[request_length] = {
            (uint8_t)(c->next_id >> 8), (uint8_t)c->next_id, 0, 0, 0, 6, 1, 3,
            base >> 8, base & 0xff, registers >> 8, registers & 0xff,
        };
        memcpy(out + i * request_length, request, request_length);
        c->sent[c->next_id % max_outstanding] = now;
        c->next_id++;
    }
    ssize_t length = (ssize_t)count * request_length;
    if (send(c->fd, out, (size_t)length, MSG_NOSIGNAL) != length) die_of_system("send");
}

static void check(connection *c, const uint8_t *a, uint64_t now) {
    const uint16_t id = (uint16_t)(a[0] << 8 | a[1]);
    if (id != c->expected_id || a[2] || a[3] || (a[4] << 8 | a[5]) != answer_length - 6 || a[7] != 3 || a[8] != 2 * registers) {
        die("wrong answer");
    }
    c->expected_id++;
    if (measuring && sampled < max_samples) samples[sampled++] = (uint32_t)(now - c->sent[id % max_outstanding]);
}

static void take(connection *c) {
    ssize_t got = recv(c->fd, c->in + c->held, sizeof c->in - c->held, 0);
    if (got <= 0) die("the server closed a connection");
    uint64_t now = now_ns();
    c->held += (size_t)got;
    /* an exception is shorter than an answer: it would be waited for for ever */
    if (c->held >= 9 && c->in[7] & 0x80) die("exception answer");
    int count = (int)(c->held / answer_length);
    for (int i = 0; i < count; i++) check(c, c->in + i * answer_length, now);
    c->held -= (size_t)count * answer_length;
    memmove(c->in, c->in + count * answer_length, c->held);
    if (count > 0) ask(c, count, now_ns());
}

static int by_value(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void run_until(int poll, uint64_t end) {
    struct epoll_event events[max_connections];
    while (now_ns() < end) {
        int count = epoll_wait(poll, events, max_connections, 2000);
        if (count == 0) die("no answer for 2 s");
        for (int i = 0; i < count; i++) take(events[i].data.ptr);
    }
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    int connections = atoi(argv[2]);
    int outstanding = atoi(argv[3]);
    if (connections < 1 || connections > max_connections || outstanding < 1 || outstanding > max_outstanding) return 2;
    samples = malloc(max_samples * sizeof *samples);
    int poll = epoll_create1(0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (int i = 0; i < connections; i++) {
        connection *c = &links[i];
        int on = 1;
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0) die_of_system("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
        epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event);
    }
    for (int i = 0; i < connections; i++) ask(&links[i], outstanding, now_ns());
    run_until(poll, now_ns() + (uint64_t)atoi(argv[4]) * 1000000u);
    measuring = 1;
    uint64_t begin = now_ns();
    run_until(poll, begin + (uint64_t)atoi(argv[5]) * 1000000u);
    double seconds = (double)(now_ns() - begin) / 1e9;
    if (sampled == 0) die("no answer was measured");
    qsort(samples, sampled, sizeof *samples, by_value);
    printf("{\"requests\":%zu,\"seconds\":%.6f,\"p50Us\":%.2f,\"p99Us\":%.2f,\"maxUs\":%.2f}\n", sampled, seconds,
           samples[sampled / 2] / 1e3, samples[(size_t)((double)sampled * 0.99)] / 1e3, samples[sampled - 1] / 1e3);
    return 0;
}
