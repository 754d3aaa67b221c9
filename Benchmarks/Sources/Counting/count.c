#define _GNU_SOURCE
#include "counting.h"

// Replaces functions of the C library and the Swift runtime when preloaded (LD_PRELOAD). glibc only.
#ifdef __GLIBC__
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t mallocs, frees, retains, releases, locks, allocbytes;
static void one(_Atomic uint64_t *n) { atomic_fetch_add_explicit(n, 1, memory_order_relaxed); }
static void allocated(size_t bytes) {
  one(&mallocs);
  atomic_fetch_add_explicit(&allocbytes, bytes, memory_order_relaxed);
}

void cbcount_read(counting_counts *c) {
  c->mallocs = mallocs;
  c->frees = frees;
  c->retains = retains;
  c->releases = releases;
  c->locks = locks;
  c->allocbytes = allocbytes;
}

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { allocated(n); return __libc_malloc(n); }
void free(void *p) { if (p) one(&frees); __libc_free(p); }
void *realloc(void *p, size_t n) { allocated(n); return __libc_realloc(p, n); }
void *calloc(size_t a, size_t b) { allocated(a * b); return __libc_calloc(a, b); }
void *memalign(size_t a, size_t n) { allocated(n); return __libc_memalign(a, n); }
void *aligned_alloc(size_t a, size_t n) { allocated(n); return __libc_memalign(a, n); }
int posix_memalign(void **out, size_t a, size_t n) {
  allocated(n);
  *out = __libc_memalign(a, n);
  return *out ? 0 : 12;
}

void *swift_retain(void *o) {
  static void *(*next)(void *);
  one(&retains);
  if (!next) next = (void *(*)(void *))dlsym(RTLD_NEXT, "swift_retain");
  return next(o);
}

// An empty optional passes a null pointer, whose release has no effect.
void swift_release(void *o) {
  static void (*next)(void *);
  if (o) one(&releases);
  if (!next) next = (void (*)(void *))dlsym(RTLD_NEXT, "swift_release");
  next(o);
}

int pthread_mutex_lock(pthread_mutex_t *m) {
  static int (*next)(pthread_mutex_t *);
  one(&locks);
  if (!next) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  return next(m);
}
#else
void cbcount_read(counting_counts *c) { *c = (counting_counts){0}; }
#endif
