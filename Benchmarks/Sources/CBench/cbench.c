#define _GNU_SOURCE
#include "cbench.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <malloc.h>
#else
#include <malloc/malloc.h>
#endif

__thread int64_t cb_tls_sum, cb_tls_count;

#ifdef __linux__
void cb_trim(void) { malloc_trim(0); }
uint64_t cb_heap_in_use(void) {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}
#else
void cb_trim(void) { malloc_zone_pressure_relief(NULL, 0); }
uint64_t cb_heap_in_use(void) {
  malloc_statistics_t s;
  malloc_zone_statistics(NULL, &s);
  return s.size_in_use;
}
#endif

typedef void (*reader)(cb_counts *);
static reader find_reader(void) {
  static reader found;
  static bool tried;
  if (!tried) {
    tried = true;
    found = (reader)dlsym(RTLD_DEFAULT, "cbcount_read");
  }
  return found;
}
bool cb_have_counts(void) { return find_reader() != 0; }
cb_counts cb_read_counts(void) {
  cb_counts c;
  memset(&c, 0, sizeof c);
  reader read = find_reader();
  if (read) read(&c);
  return c;
}

static bool write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

static void *answer(void *argument) {
  static const char body[65536];
  int fd = (int)(intptr_t)argument;
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char request[8192];
  for (;;) {
    size_t length = 0;
    do {
      ssize_t count = read(fd, request + length, sizeof request - 1 - length);
      if (count <= 0) {
        close(fd);
        return NULL;
      }
      length += (size_t)count;
      request[length] = 0;
    } while (!strstr(request, "\r\n\r\n"));
    size_t left = 1024 * strtoul(request + strlen("GET /"), NULL, 10);
    char head[128];
    int size = snprintf(
        head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", left);
    bool sent = write_all(fd, head, (size_t)size);
    while (sent && left > 0) {
      size_t part = left < sizeof body ? left : sizeof body;
      sent = write_all(fd, body, part);
      left -= part;
    }
  }
}

static void *serve(void *argument) {
  int listener = (int)(intptr_t)argument;
  for (;;) {
    int fd = accept(listener, NULL, NULL);
    pthread_t thread;
    if (fd >= 0 && pthread_create(&thread, NULL, answer, (void *)(intptr_t)fd) == 0)
      pthread_detach(thread);
  }
}

uint16_t cb_serve(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  pthread_t thread;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 16) != 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
      pthread_create(&thread, NULL, serve, (void *)(intptr_t)listener) != 0)
    abort();
  return ntohs(address.sin_port);
}
