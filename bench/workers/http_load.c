/*
 * Load generator: closed loop of GET requests over loopback on keep-alive connections, one outstanding on each. Checks
 * status and length of every answer.
 * Arguments: port path connections warmup_ms measure_ms. Prints one line of JSON.
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

enum { max_connections = 256, max_answer = 1 << 20, max_request = 1024, max_samples = 16 * 1024 * 1024 };

typedef struct {
    int fd;
    uint64_t sent;
    size_t held;
    /* length of the answer under way; 0 while its head is not complete */
    size_t whole;
    char in[max_answer + 1];
} connection;

static connection links[max_connections];
static char request[max_request];
static size_t request_length;
static uint32_t *samples;
static size_t sampled;
static int measuring;

static void die(const char *what) {
    fprintf(stderr, "http_load: %s\n", what);
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

static void ask(connection *c) {
    c->sent = now_ns();
    if (send(c->fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length) die_of_system("send");
}

static void read_head(connection *c) {
    static const char ok[] = "HTTP/1.1 200 ", length_name[] = "\r\nContent-Length: ";
    c->in[c->held] = 0;
    const char *end = strstr(c->in, "\r\n\r\n");
    if (end == NULL) return;
    if (strncmp(c->in, ok, sizeof ok - 1) != 0) die("the status is not 200");
    const char *length = strstr(c->in, length_name);
    if (length == NULL || length > end) die("no Content-Length");
    c->whole = (size_t)(end - c->in) + 4 + strtoul(length + sizeof length_name - 1, NULL, 10);
    if (c->whole > max_answer) die("the answer is too long");
}

static void take(connection *c) {
    ssize_t got = recv(c->fd, c->in + c->held, max_answer - c->held, 0);
    if (got <= 0) die("the server closed a connection");
    c->held += (size_t)got;
    if (c->whole == 0) read_head(c);
    if (c->whole == 0 || c->held < c->whole) return;
    if (c->held > c->whole) die("the answer is longer than it says");
    if (measuring && sampled < max_samples) samples[sampled++] = (uint32_t)(now_ns() - c->sent);
    c->held = c->whole = 0;
    ask(c);
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
    int connections = atoi(argv[3]);
    if (connections < 1 || connections > max_connections) return 2;
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAccept: application/json\r\n\r\n", argv[2], argv[1]);
    if (length < 0 || (size_t)length >= sizeof request) return 2;
    request_length = (size_t)length;
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
    for (int i = 0; i < connections; i++) ask(&links[i]);
    run_until(poll, now_ns() + (uint64_t)atoi(argv[4]) * 1000000u);
    measuring = 1;
    uint64_t begin = now_ns();
    run_until(poll, begin + (uint64_t)atoi(argv[5]) * 1000000u);
    double seconds = (double)(now_ns() - begin) / 1e9;
    if (sampled == 0) die("no answer was measured");
    qsort(samples, sampled, sizeof *samples, by_value);
    printf("{\"requests\":%zu,\"seconds\":%.6f,\"p50Us\":%.2f,\"p99Us\":%.2f}\n", sampled, seconds,
           samples[sampled / 2] / 1e3, samples[(size_t)((double)sampled * 0.99)] / 1e3);
    return 0;
}
