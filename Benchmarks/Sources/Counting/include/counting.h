#pragma once
#include <stdint.h>

typedef struct { uint64_t mallocs, frees, retains, releases, locks, allocbytes; } counting_counts;
void cbcount_read(counting_counts *counts);
