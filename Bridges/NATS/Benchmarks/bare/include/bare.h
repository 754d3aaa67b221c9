#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

// What libnats does by itself, with the options that make it fastest for each.

// Seconds until `count` messages of `size` bytes have come from one connection to another; < 0 is an error.
double bare_messages(const char *url, int64_t count, int size);

// Writes the nanoseconds that each of `count` requests has taken; 0 is success.
int bare_requests(const char *url, int64_t count, int64_t *nanoseconds);

// Bytes of the heap that each of `count` subscriptions takes; < 0 is an error.
double bare_subscription(const char *url, int64_t count);

// What the heap has given out.
size_t heap_bytes(void);

// What this process has used of the processors.
double processor_seconds(void);

#endif
