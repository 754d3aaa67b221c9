// The declarations of Darwin that the package uses, with Darwin's types and values. A name that is not here does not
// exist for the package on Apple platforms. Add one only if Apple's headers have it, with their signature.
#ifndef CDARWIN_H
#define CDARWIN_H

#pragma clang assume_nonnull begin

// Linux has structures of the same names, which Dispatch and Foundation load.
#define NAMED(name) __attribute__((swift_name(#name))) darwin_##name

typedef __SIZE_TYPE__ size_t;
typedef long ssize_t;
typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;

typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef uint32_t id_t;
typedef int32_t pid_t;
typedef int64_t off_t;
typedef int64_t blkcnt_t;
typedef int32_t blksize_t;
typedef uint32_t sigset_t;
typedef uint32_t socklen_t;
typedef uint8_t sa_family_t;
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
typedef unsigned int nfds_t;
typedef long time_t;
typedef int32_t suseconds_t;
typedef uint32_t useconds_t;

// errno.h
int *__error(void);
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define EXDEV 18
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define ENOTSUP 45
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ECONNABORTED 53
#define EHOSTUNREACH 65
#define ENOSYS 78
#define EPROTO 100
#define EOPNOTSUPP 102

// fcntl.h, unistd.h
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_ACCMODE 0x0003
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_TRUNC 0x0400
#define O_EXCL 0x0800
#define O_EVTONLY 0x8000
#define O_NOCTTY 0x20000
#define O_DIRECTORY 0x100000
#define O_CLOEXEC 0x1000000
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define FD_CLOEXEC 1
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define SEEK_SET 0
#define SEEK_END 2
#define F_OK 0
#define R_OK 4
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
int access(const char *path, int mode);
int close(int descriptor);
int dup(int descriptor);
int fchmod(int descriptor, mode_t mode);
int fchown(int descriptor, uid_t owner, gid_t group);
int flock(int descriptor, int operation);
int fsync(int descriptor);
int ftruncate(int descriptor, off_t length);
int isatty(int descriptor);
int link(const char *old, const char *new_name);
off_t lseek(int descriptor, off_t offset, int whence);
int pipe(int *descriptors);
ssize_t pread(int descriptor, void *_Nullable bytes, size_t count, off_t offset);
ssize_t pwrite(int descriptor, const void *_Nullable bytes, size_t count, off_t offset);
ssize_t read(int descriptor, void *_Nullable bytes, size_t count);
int rename(const char *old, const char *new_name);
int rmdir(const char *path);
int unlink(const char *path);
int usleep(useconds_t microseconds);
ssize_t write(int descriptor, const void *_Nullable bytes, size_t count);
pid_t getpid(void);
int gethostname(char *name, size_t size);
uid_t getuid(void);
uid_t geteuid(void);

// sys/stat.h
struct NAMED(timespec) {
  time_t tv_sec;
  long tv_nsec;
};
struct NAMED(stat) {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct darwin_timespec st_atimespec;
  struct darwin_timespec st_mtimespec;
  struct darwin_timespec st_ctimespec;
  struct darwin_timespec st_birthtimespec;
  off_t st_size;
  blkcnt_t st_blocks;
  blksize_t st_blksize;
  uint32_t st_flags;
  uint32_t st_gen;
};
// time.h
enum NAMED(clockid_t) { _CLOCK_REALTIME = 0, _CLOCK_THREAD_CPUTIME_ID = 16 };
int clock_gettime(enum darwin_clockid_t clock, struct darwin_timespec *time);
time_t time(time_t *_Nullable time);

int fstat(int descriptor, struct darwin_stat *status);
int lstat(const char *path, struct darwin_stat *status);
int stat(const char *path, struct darwin_stat *status);
int mkdir(const char *path, mode_t mode);

// dirent.h
typedef struct darwin_DIR {
  int descriptor;
} DIR;
struct NAMED(dirent) {
  uint64_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen;
  uint16_t d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
#define DT_DIR 4
#define DT_REG 8
#define AT_SYMLINK_NOFOLLOW 0x0020
int closedir(DIR *folder);
int dirfd(DIR *folder);
int fstatat(int folder, const char *name, struct darwin_stat *status, int flags);
DIR *_Nullable opendir(const char *path);
struct darwin_dirent *_Nullable readdir(DIR *folder);

// poll.h
struct NAMED(pollfd) {
  int fd;
  short events;
  short revents;
};
#define POLLIN 0x0001
#define POLLOUT 0x0004
int poll(struct darwin_pollfd *_Nullable descriptors, nfds_t count, int milliseconds);

// signal.h
union NAMED(__sigaction_u) {
  void (*_Nullable __sa_handler)(int);
  void (*_Nullable __sa_sigaction)(int, void *_Nullable, void *_Nullable);
};
struct NAMED(sigaction) {
  union darwin___sigaction_u __sigaction_u;
  sigset_t sa_mask;
  int sa_flags;
};
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGKILL 9
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGWINCH 28
#define SIGUSR1 30
#define SIGUSR2 31
#define SA_ONSTACK 0x0001
#define SA_RESTART 0x0002
int kill(pid_t process, int signal);
int sigaction(int signal, const struct darwin_sigaction *_Nullable action, struct darwin_sigaction *_Nullable old);
int sigemptyset(sigset_t *set);

// sys/wait.h
enum NAMED(idtype_t) { P_ALL, P_PID, P_PGID };
typedef struct __siginfo {
  int si_signo;
  int si_errno;
  int si_code;
  pid_t si_pid;
  uid_t si_uid;
  int si_status;
  void *_Nullable si_addr;
} siginfo_t;
#define WNOHANG 0x01
#define WEXITED 0x04
#define WNOWAIT 0x20
int waitid(enum darwin_idtype_t type, id_t process, siginfo_t *_Nullable info, int options);
pid_t waitpid(pid_t process, int *_Nullable status, int options);

// spawn.h
typedef void *_Nullable posix_spawnattr_t;
typedef void *_Nullable posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETPGROUP 0x0002
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
int posix_spawn(
    pid_t *_Nullable process, const char *path, const posix_spawn_file_actions_t *_Nullable actions,
    const posix_spawnattr_t *_Nullable attributes, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nullable environment);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int old, int number);
int posix_spawn_file_actions_addopen(
    posix_spawn_file_actions_t *actions, int number, const char *path, int flags, mode_t mode);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawnattr_destroy(posix_spawnattr_t *attributes);
int posix_spawnattr_init(posix_spawnattr_t *attributes);
int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags);
int posix_spawnattr_setsigmask(posix_spawnattr_t *attributes, const sigset_t *mask);

// sys/socket.h, netinet/in.h, arpa/inet.h
struct NAMED(sockaddr) {
  uint8_t sa_len;
  sa_family_t sa_family;
  char sa_data[14];
};
struct NAMED(in_addr) {
  in_addr_t s_addr;
};
struct NAMED(sockaddr_in) {
  uint8_t sin_len;
  sa_family_t sin_family;
  in_port_t sin_port;
  struct darwin_in_addr sin_addr;
  char sin_zero[8];
};
struct NAMED(iovec) {
  void *_Nullable iov_base;
  size_t iov_len;
};
#define AF_UNIX 1
#define AF_INET 2
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_SNDBUF 0x1001
#define SO_TYPE 0x1008
#define SO_NOSIGPIPE 0x1022
#define SOMAXCONN 128
#define MSG_DONTWAIT 0x80
#define SHUT_WR 1
#define SHUT_RDWR 2
int accept(int listener, struct darwin_sockaddr *_Nullable address, socklen_t *_Nullable size);
int bind(int socket, const struct darwin_sockaddr *_Nullable address, socklen_t size);
int connect(int socket, const struct darwin_sockaddr *_Nullable address, socklen_t size);
int getsockname(int socket, struct darwin_sockaddr *_Nullable address, socklen_t *_Nullable size);
int getsockopt(int socket, int level, int option, void *_Nullable value, socklen_t *_Nullable size);
int inet_pton(int family, const char *text, void *address);
int listen(int socket, int backlog);
ssize_t recv(int socket, void *_Nullable bytes, size_t count, int flags);
ssize_t send(int socket, const void *_Nullable bytes, size_t count, int flags);
int setsockopt(int socket, int level, int option, const void *_Nullable value, socklen_t size);
int shutdown(int socket, int how);
int socket(int family, int type, int protocol);
int socketpair(int family, int type, int protocol, int *descriptors);

// pthread.h
typedef struct _opaque_pthread_t *pthread_t;
struct _opaque_pthread_t {
  long __sig;
};
typedef unsigned long pthread_key_t;
typedef struct _opaque_pthread_attr_t {
  long __sig;
} pthread_attr_t;
typedef struct _opaque_pthread_mutex_t {
  long __sig;
} pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t {
  long __sig;
} pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t {
  long __sig;
} pthread_cond_t;
typedef struct _opaque_pthread_condattr_t {
  long __sig;
} pthread_condattr_t;
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *_Nullable attributes);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_create(
    pthread_t _Nullable *_Nonnull thread, const pthread_attr_t *_Nullable attributes,
    void *_Nullable (*_Nonnull start)(void *_Nonnull), void *_Nullable argument);
int pthread_detach(pthread_t thread);
void *_Nullable pthread_getspecific(pthread_key_t key);
int pthread_key_create(pthread_key_t *key, void (*_Nullable destructor)(void *_Nonnull));
int pthread_main_np(void);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *_Nullable attributes);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
pthread_t pthread_self(void);
int pthread_setspecific(pthread_key_t key, const void *_Nullable value);
int sched_yield(void);

// copyfile.h
typedef uint32_t copyfile_flags_t;
typedef struct _copyfile_state *copyfile_state_t;
#define COPYFILE_ACL (1 << 0)
#define COPYFILE_XATTR (1 << 2)
int fcopyfile(int from, int to, copyfile_state_t _Nullable state, copyfile_flags_t flags);

// stdlib.h, string.h
void free(void *_Nullable memory);
void *_Nullable memchr(const void *bytes, int byte, size_t count);
int memcmp(const void *one, const void *other, size_t count);
void *memcpy(void *target, const void *source, size_t count);
char *_Nullable strdup(const char *text);
char *strerror(int number);
size_t strlen(const char *text);

#pragma clang assume_nonnull end

#endif
