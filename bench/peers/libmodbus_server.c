/* Peer: libmodbus with 1000 registers from 40000, one thread, select() over its connections. Arguments: port. */
#include <errno.h>
#include <modbus.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { base = 40000, count = 1000 };

static void take(modbus_t *context, modbus_mapping_t *map, int fd, fd_set *all) {
    uint8_t query[MODBUS_TCP_MAX_ADU_LENGTH];
    modbus_set_socket(context, fd);
    int length = modbus_receive(context, query);
    if (length > 0) {
        modbus_reply(context, query, length, map);
    } else if (length < 0) {
        close(fd);
        FD_CLR(fd, all);
    }
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    signal(SIGPIPE, SIG_IGN);
    modbus_t *context = modbus_new_tcp("127.0.0.1", atoi(argv[1]));
    modbus_mapping_t *map = modbus_mapping_new_start_address(0, 0, 0, 0, base, count, 0, 0);
    if (!context || !map) return 1;
    int listener = modbus_tcp_listen(context, 64);
    if (listener < 0) {
        fprintf(stderr, "listen: %s\n", modbus_strerror(errno));
        return 1;
    }
    fd_set all, ready;
    FD_ZERO(&all);
    FD_SET(listener, &all);
    int highest = listener;
    for (;;) {
        ready = all;
        if (select(highest + 1, &ready, NULL, NULL, NULL) < 0) return 1;
        for (int fd = 0; fd <= highest; fd++) {
            if (!FD_ISSET(fd, &ready)) continue;
            if (fd != listener) {
                take(context, map, fd, &all);
                continue;
            }
            int client = accept(listener, NULL, NULL);
            if (client < 0) continue;
            int on = 1;
            setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            FD_SET(client, &all);
            if (client > highest) highest = client;
        }
    }
}
