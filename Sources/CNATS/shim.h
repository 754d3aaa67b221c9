#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#if !__has_include(<nats/nats.h>)
#error "The trait NATS needs libnats. On Debian, run: apt-get install libnats-dev. On macOS: brew install cnats."
#else

#include <nats/nats.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// `epoll_event` is packed and has a union inside, so Swift does not touch it.
static inline int cnats_poll_change(int poll, int operation, int socket, uint32_t events, uint64_t id) {
  struct epoll_event event = {.events = events, .data = {.u64 = id}};
  return epoll_ctl(poll, operation, socket, &event);
}

static inline int cnats_poll_wait(int poll, uint64_t *ids, uint32_t *events, int room, int milliseconds) {
  struct epoll_event found[64];
  int count = epoll_wait(poll, found, room < 64 ? room : 64, milliseconds);
  for (int i = 0; i < count; i++) {
    ids[i] = found[i].data.u64;
    events[i] = found[i].events;
  }
  return count;
}

// The headers show these calls of the system only with `_GNU_SOURCE`.
extern int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags);
extern int dup3(int old, int number, int flags);
#endif

#endif

#endif
