#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

// The baseline: bare libnats, with its fastest options for each measurement.

// Returns the seconds for `count` messages of `size` bytes between two connections, or < 0 after an error.
double bare_messages(const char *url, int64_t count, int size);

// Writes the nanoseconds of each of `count` requests, and returns 0 on success.
int bare_requests(const char *url, int64_t count, int64_t *nanoseconds);

// Returns the heap bytes per subscription, for `count` of them, or < 0 after an error.
double bare_subscription(const char *url, int64_t count);

// Returns the allocated heap bytes.
size_t heap_bytes(void);

// Returns the processor time of this process in seconds.
double processor_seconds(void);

#endif
