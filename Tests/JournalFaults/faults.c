// Logs the system calls of a journal with their bytes, and makes one of them fail.
//
// A test builds this library with clang and preloads it. FAULTS_FOLDER is the journal's folder. FAULTS_LOG is the file
// of the log. The call with the number FAULTS_AT fails with the code FAULTS_CODE, or writes FAULTS_BYTES bytes at most
// (half of them if 0). A negative code is a signal before the call. Bytes that are written to a file named `notes` are
// no call, but are logged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define BEGIN pthread_mutex_lock(&lock)
#define END(result) do { int code = errno; pthread_mutex_unlock(&lock); errno = code; return result; } while (0)

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int calls, is_note;

static int is_journal(const char *path) {
  const char *folder = getenv("FAULTS_FOLDER");
  is_note = path && strlen(path) > 6 && !strcmp(path + strlen(path) - 6, "/notes");
  return folder && path && !strncmp(path, folder, strlen(folder));
}

static int is_journals(int file) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  return is_journal(path);
}

// Returns 0, or the code with which this call fails. Shortens a write.
static int fault(size_t *bytes) {
  const char *at = getenv("FAULTS_AT"), *code = getenv("FAULTS_CODE"), *count = getenv("FAULTS_BYTES");
  if (is_note || ++calls != (at ? atoi(at) : -1)) return 0;
  if (code && atoi(code) < 0) raise(-atoi(code));
  if (code) return errno = atoi(code);
  size_t most = count && atoi(count) ? (size_t)atoi(count) : bytes ? (*bytes + 1) / 2 : 0;
  if (bytes && *bytes > most) *bytes = most;
  return 0;
}

// A record: the kind, the inode, a number, the length of the bytes, and the bytes.
static void record(char kind, uint64_t inode, uint64_t number, const void *bytes, uint64_t count) {
  static int log = -1;
  const char *path = getenv("FAULTS_LOG");
  if (!path) return;
  if (log < 0) log = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  uint64_t head[4] = {(uint64_t)kind, inode, number, count};
  if (NEXT(write)(log, head, sizeof head) < 0 || NEXT(write)(log, bytes, count) < 0) abort();
}

static struct stat stat_of(int file) { struct stat status = {0}; fstat(file, &status); return status; }

static void record_names(char kind, const char *one, const char *two) {
  char names[2 * 4096];
  int length = snprintf(names, sizeof names, "%s\n%s", one, two ? two : "");
  struct stat status = {0};
  stat(two ? two : one, &status);
  record(kind, status.st_ino, 0, names, length);
}

static ssize_t written(int file, const void *bytes, size_t count, off_t place, int is_append) {
  BEGIN;
  int is_ours = is_journals(file), note = is_note;
  if (is_ours && fault(&count)) END(-1);
  if (is_append && is_ours) place = stat_of(file).st_size;
  ssize_t result = is_append ? NEXT(write)(file, bytes, count) : NEXT(pwrite)(file, bytes, count, place);
  if (is_ours && result > 0) record(note ? 'n' : 'w', stat_of(file).st_ino, place, bytes, result);
  END(result);
}

ssize_t write(int file, const void *bytes, size_t count) { return written(file, bytes, count, 0, 1); }
ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) { return written(file, bytes, count, place, 0); }

static int synced(int file, int (*call)(int)) {
  BEGIN;
  int is_ours = is_journals(file);
  int result = is_ours && fault(NULL) ? -1 : call(file);
  if (is_ours && errno != EINTR) record(result == 0 ? 's' : 'f', stat_of(file).st_ino, 0, "", 0);
  END(result);
}
int fdatasync(int file) { errno = 0; return synced(file, NEXT(fdatasync)); }
int fsync(int file) { errno = 0; return synced(file, NEXT(fsync)); }

int ftruncate(int file, off_t size) {
  BEGIN;
  int is_ours = is_journals(file);
  int result = is_ours && fault(NULL) ? -1 : NEXT(ftruncate)(file, size);
  if (is_ours && result == 0) record('t', stat_of(file).st_ino, size, "", 0);
  END(result);
}

#define NAMED(name, kind, one, two, ...) \
  BEGIN; int result = is_journal(one) && fault(NULL) ? -1 : NEXT(name)(__VA_ARGS__); \
  if (is_journal(one) && result == 0) record_names(kind, one, two); \
  END(result);
int rename(const char *one, const char *two) { NAMED(rename, 'r', one, two, one, two) }
int link(const char *one, const char *two) { NAMED(link, 'l', one, two, one, two) }
int unlink(const char *one) { NAMED(unlink, 'u', one, NULL, one) }
int mkdir(const char *one, mode_t mode) { NAMED(mkdir, 'm', one, NULL, one, mode) }
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = va_arg(list, int);
  int exists = access(path, F_OK) == 0;
  BEGIN;
  int result = is_journal(path) && fault(NULL) ? -1 : NEXT(open)(path, flags, mode);
  if (is_journal(path) && result >= 0 && !exists && !is_note) record_names('c', path, NULL);
  END(result);
}
int open64(const char *, int, ...) __attribute__((alias("open")));
