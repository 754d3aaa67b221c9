#define _GNU_SOURCE
#include "cbench.h"
#include <dlfcn.h>
#include <string.h>
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
