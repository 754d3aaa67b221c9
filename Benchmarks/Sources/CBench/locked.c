// Counts locked instructions, for which callgrind has no event. The program runs under ptrace in
// single steps between the marks that it sets with a signal, and each instruction is decoded before
// it runs.
#include "cbench.h"
#if defined(__linux__) && defined(__x86_64__)
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

void cb_mark(void) { raise(SIGUSR2); }

/// A 'lock' prefix, or an 'xchg' with memory, which is locked without the prefix.
static bool is_locked(const unsigned char *code) {
  int i = 0;
  for (; i < 14; i++) {
    switch (code[i]) {
      case 0xf0: return true;
      case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
      case 0xf2: case 0xf3: continue;
    }
    break;
  }
  if ((code[i] & 0xf0) == 0x40) i++;
  return (code[i] == 0x86 || code[i] == 0x87) && (code[i + 1] & 0xc0) != 0xc0;
}

static bool is_locked_at(pid_t thread, unsigned long address) {
  enum { places = 1 << 16 };
  static struct { unsigned long address; bool is_locked; } seen[places];
  unsigned long place = (address ^ address >> 16) % places;
  if (seen[place].address != address) {
    unsigned long code[2];
    errno = 0;
    code[0] = ptrace(PTRACE_PEEKTEXT, thread, address, 0);
    code[1] = ptrace(PTRACE_PEEKTEXT, thread, address + 8, 0);
    seen[place].address = address;
    seen[place].is_locked = is_locked((const unsigned char *)code);
  }
  return seen[place].is_locked;
}

/// Steps from the first mark to the third. Returns false if the program ends earlier, or exceeds the
/// limit of steps.
static bool follow(pid_t child, uint64_t counts[2]) {
  enum { most = 512, most_steps = 2000000 };
  pid_t threads[most] = {child};
  int thread_count = 1, marks = 0, steps = 0;
  for (;;) {
    int status;
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return false;
    if (!WIFSTOPPED(status)) {
      if (thread == child) return false;
      continue;
    }
    int known = 0;
    while (known < thread_count && threads[known] != thread) known++;
    if (known == thread_count && thread_count < most) threads[thread_count++] = thread;
    int signal = WSTOPSIG(status);
    int event = status >> 16;
    if (!event && signal == SIGUSR2) {
      if (++marks == 3) return true;
      signal = 0;
      for (int i = 0; i < thread_count; i++)
        if (threads[i] != thread) ptrace(PTRACE_INTERRUPT, threads[i], 0, 0);
    } else if (event || signal == SIGTRAP) {
      signal = 0;
    }
    if (marks) {
      if (++steps > most_steps) return false;
      unsigned long address =
          ptrace(PTRACE_PEEKUSER, thread, offsetof(struct user_regs_struct, rip), 0);
      if (is_locked_at(thread, address)) counts[marks - 1]++;
    }
    ptrace(marks ? PTRACE_SINGLESTEP : PTRACE_CONT, thread, 0, (long)signal);
  }
}

bool cb_locked_instructions(char *const arguments[], uint64_t counts[2]) {
  counts[0] = counts[1] = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    unsetenv("LD_PRELOAD");
    freopen("/dev/null", "w", stdout);
    raise(SIGSTOP);
    execv(arguments[0], arguments);
    _exit(127);
  }
  int status;
  bool is_known = child > 0 && waitpid(child, &status, WUNTRACED) == child
    && ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) == 0;
  if (is_known) kill(child, SIGCONT);
  bool is_counted = is_known && follow(child, counts);
  if (child > 0) {
    kill(child, SIGKILL);
    // Wait for the other threads as well: the end of the process is reported after them.
    pid_t thread;
    do thread = waitpid(-1, &status, __WALL);
    while (thread > 0 && (thread != child || WIFSTOPPED(status)));
  }
  return is_counted;
}
#else
void cb_mark(void) {}
bool cb_locked_instructions(char *const arguments[], uint64_t counts[2]) { return false; }
#endif
