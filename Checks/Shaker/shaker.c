// Stops the threads of the tests at arbitrary instructions and starts Swift tasks late, as a busy machine does, but a
// thousand times as often. One run then reveals unjustified assumptions of a test. Loaded with LD_PRELOAD on Linux by
// `.ci/run shake`.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// An unused signal that is not queued.
#define STOP SIGSTKFLT

static int everyMicroseconds, longestMicroseconds, oneTaskOf;

static unsigned random_below(unsigned limit) {
  static __thread unsigned state;
  if (!state) state = (unsigned)syscall(SYS_gettid) * 2654435761u ^ (unsigned)time(NULL);
  state = state * 1664525u + 1013904223u;
  return limit ? (state >> 8) % limit : 0;
}

static void sleep_for(unsigned microseconds) {
  struct timespec pause = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
  nanosleep(&pause, NULL);
}

static void stop(int number) {
  (void)number;
  int before = errno;
  sleep_for(random_below(longestMicroseconds));
  errno = before;
}

// Stops one thread at a time, in random order.
static void *shake(void *unused) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  int own = (int)syscall(SYS_gettid);
  while (1) {
    sleep_for(1 + random_below(2 * everyMicroseconds));
    DIR *folder = opendir("/proc/self/task");
    if (!folder) continue;
    int threads[4096], count = 0;
    struct dirent *entry;
    while (count < 4096 && (entry = readdir(folder))) {
      int thread = atoi(entry->d_name);
      if (thread > 0 && thread != own) threads[count++] = thread;
    }
    closedir(folder);
    if (count) syscall(SYS_tgkill, getpid(), threads[random_below(count)], STOP);
  }
  return unused;
}

typedef __attribute__((swiftcall)) void (*Enqueue)(void *job);

struct late {
  void *job;
  Enqueue enqueue;
};

static void *start_late(void *argument) {
  struct late late = *(struct late *)argument;
  free(argument);
  sleep_for(random_below(longestMicroseconds));
  late.enqueue(late.job);
  return NULL;
}

// A delay is legal, because Swift tasks start in no defined order.
static __attribute__((swiftcall)) void enqueue_late(void *job, Enqueue enqueue) {
  struct late *late = random_below(oneTaskOf) ? NULL : malloc(sizeof *late);
  pthread_t thread;
  if (late) {
    *late = (struct late){job, enqueue};
    if (!pthread_create(&thread, NULL, start_late, late)) {
      pthread_detach(thread);
      return;
    }
    free(late);
  }
  enqueue(job);
}

// MINIREX_SHAKE has three numbers: the microseconds between two stops, the longest stop in microseconds, and n, if one
// of n tasks starts late. Only test processes and their copies are affected.
__attribute__((constructor)) static void begin(void) {
  const char *asked = getenv("MINIREX_SHAKE");
  char program[4096] = "";
  if (!asked || readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !strstr(program, ".xctest")) return;
  char *rest;
  everyMicroseconds = (int)strtol(asked, &rest, 10);
  longestMicroseconds = *rest == ',' ? (int)strtol(rest + 1, &rest, 10) : 0;
  oneTaskOf = *rest == ',' ? (int)strtol(rest + 1, &rest, 10) : 0;
  if (everyMicroseconds <= 0 || longestMicroseconds <= 0 || oneTaskOf <= 0) {
    static const char advice[] = "MINIREX_SHAKE requires three numbers above 0, for example 100,2000,8.\n";
    if (write(2, advice, sizeof advice - 1) < 0) {}
    _exit(2);
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = stop;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigaction(STOP, &action, NULL);
  void **hook = dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  if (hook) *hook = (void *)enqueue_late;
  pthread_t thread;
  if (!pthread_create(&thread, NULL, shake, NULL)) pthread_detach(thread);
}
