#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

extern __thread int64_t cb_tls_sum;
extern __thread int64_t cb_tls_count;
static inline void cb_tls_add(int64_t v) { cb_tls_sum += v; cb_tls_count += 1; }

static inline uint64_t cb_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/// The processor time of the calling thread.
static inline uint64_t cb_thread_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/// The allocated bytes of the heap.
uint64_t cb_heap_in_use(void);

/// Returns the free memory of the heap to the system.
void cb_trim(void);

/// The counters of the library `Counting`, or zero where it is not preloaded.
typedef struct { uint64_t mallocs, frees, retains, releases, locks, allocbytes; } cb_counts;
cb_counts cb_read_counts(void);
bool cb_have_counts(void);

/// Starts a server on the loopback interface that answers each `GET /N` with N kilobytes.
///
/// Returns the port.
uint16_t cb_serve(void);

/// Sets a mark for `cb_locked_instructions`.
void cb_mark(void);

/// Runs a program that sets three marks, and counts the locked instructions of all its threads between
/// the first and the second mark, and between the second and the third mark.
///
/// Returns false if the program sets fewer marks, or if the system does not allow tracing.
bool cb_locked_instructions(char *const arguments[], uint64_t counts[2]);
