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

// Writes the nanoseconds of each of `count` appends to a stream, one after another, and returns 0 on success.
int bare_appends(const char *url, const char *stream, int64_t count, int size, int64_t *nanoseconds);

// Writes the nanoseconds of each of `count` appends until an ordered consumer has received the message, and returns 0 on
// success.
int bare_confirmations(const char *url, const char *stream, int64_t count, int size, int64_t *nanoseconds);

// Returns the seconds for `count` appends without a wait for each answer, or < 0 after an error.
double bare_appends_in_flight(const char *url, const char *stream, int64_t count, int size);

// Returns the seconds for `count` puts of one key, one after another, or < 0 after an error.
double bare_puts(const char *url, const char *bucket, int64_t count, int size);

// Returns the allocated heap bytes.
size_t heap_bytes(void);

// Returns the processor time of this process in seconds.
double processor_seconds(void);

#endif
