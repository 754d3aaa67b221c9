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

/// Bytes of the heap that are handed out.
uint64_t cb_heap_in_use(void);

/// Gives back to the system what the heap keeps for later.
void cb_trim(void);

/// Of the library `Counting`; zero where it is not preloaded.
typedef struct { uint64_t mallocs, frees, retains, releases, locks, allocbytes; } cb_counts;
cb_counts cb_read_counts(void);
bool cb_have_counts(void);

/// Answers each `GET /N` on the loopback interface with so many kilobytes, for ever.
///
/// Returns the port.
uint16_t cb_serve(void);

/// Says to whoever counts the locked instructions of this program that a part ends here.
void cb_mark(void);

/// Runs a program that sets three marks, and counts the locked instructions of all of its threads
/// between the first and the second, and between the second and the third.
///
/// False if it sets fewer, or may not be watched, or where nobody knows how to.
bool cb_locked_instructions(char *const arguments[], uint64_t counts[2]);
