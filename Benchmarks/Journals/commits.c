// Commits records of equal size to a bare file, to SQLite, or to LMDB, and prints the times as JSON.
//
//     commits CONTESTANT FOLDER COMMITS WRITERS BYTES
//
// Each commit is one record under an increasing number. The threads share a connection. `compare-journals` defines
// SQLITE and LMDB where their headers are installed.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef SQLITE
#include <sqlite3.h>
#endif
#ifdef LMDB
#include <lmdb.h>
#endif

static char path[4096];
static char *record;
static size_t size;
static long commits, writers;
static uint64_t *times;
static long next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*commit)(uint64_t number);

static void fail(const char *reason) {
  fprintf(stderr, "commits: %s\n", reason);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// A bare file.

static int file, is_synchronized;

static void commit_file(uint64_t number) {
  memcpy(record, &number, sizeof number);
  if (write(file, record, size) != (ssize_t)size) fail("not written");
  if (is_synchronized && fdatasync(file)) fail("not synchronized");
}

static void open_file(int synchronizes) {
  file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0) fail("not opened");
  is_synchronized = synchronizes;
  commit = commit_file;
}

// SQLite, with a write-ahead log.

#ifdef SQLITE
static sqlite3 *database;
static sqlite3_stmt *insertion;

static void check(int result) {
  if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) fail(sqlite3_errmsg(database));
}

static void commit_row(uint64_t number) {
  check(sqlite3_bind_int64(insertion, 1, (sqlite3_int64)number));
  check(sqlite3_bind_blob(insertion, 2, record, (int)size, SQLITE_STATIC));
  check(sqlite3_step(insertion));
  check(sqlite3_reset(insertion));
}

static void open_sqlite(const char *synchronous) {
  check(sqlite3_open(path, &database));
  check(sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL));
  check(sqlite3_exec(database, synchronous, NULL, NULL, NULL));
  check(sqlite3_exec(database, "CREATE TABLE commits (number INTEGER PRIMARY KEY, record BLOB)", NULL, NULL, NULL));
  check(sqlite3_prepare_v2(database, "INSERT INTO commits VALUES (?, ?)", -1, &insertion, NULL));
  commit = commit_row;
}
#endif

// LMDB.

#ifdef LMDB
static MDB_env *environment;
static MDB_dbi table;

static void check_lmdb(int result) {
  if (result) fail(mdb_strerror(result));
}

static void commit_entry(uint64_t number) {
  MDB_txn *transaction;
  MDB_val key = {sizeof number, &number}, data = {size, record};
  check_lmdb(mdb_txn_begin(environment, NULL, 0, &transaction));
  check_lmdb(mdb_put(transaction, table, &key, &data, MDB_APPEND));
  check_lmdb(mdb_txn_commit(transaction));
}

static void open_lmdb(unsigned flags) {
  MDB_txn *transaction;
  check_lmdb(mdb_env_create(&environment));
  check_lmdb(mdb_env_set_mapsize(environment, (size_t)4 << 30));
  check_lmdb(mdb_env_open(environment, path, MDB_NOSUBDIR | flags, 0600));
  check_lmdb(mdb_txn_begin(environment, NULL, 0, &transaction));
  check_lmdb(mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY, &table));
  check_lmdb(mdb_txn_commit(transaction));
  commit = commit_entry;
}
#endif

static void *commit_all(void *context) {
  (void)context;
  for (;;) {
    uint64_t start = now();
    pthread_mutex_lock(&lock);
    long number = next;
    if (number < commits) {
      next += 1;
      commit((uint64_t)number + 1);
    }
    pthread_mutex_unlock(&lock);
    if (number >= commits) return NULL;
    times[number] = now() - start;
  }
}

static int ascending(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static int select_contestant(const char *name) {
  if (!strcmp(name, "write")) return open_file(0), 1;
  if (!strcmp(name, "write-fdatasync")) return open_file(1), 1;
#ifdef SQLITE
  if (!strcmp(name, "sqlite-normal")) return open_sqlite("PRAGMA synchronous = NORMAL"), 1;
  if (!strcmp(name, "sqlite-full")) return open_sqlite("PRAGMA synchronous = FULL"), 1;
#endif
#ifdef LMDB
  if (!strcmp(name, "lmdb-nosync")) return open_lmdb(MDB_NOSYNC), 1;
  if (!strcmp(name, "lmdb")) return open_lmdb(0), 1;
#endif
  return 0;
}

int main(int count, char **arguments) {
  if (count != 6) fail("usage: commits CONTESTANT FOLDER COMMITS WRITERS BYTES");
  snprintf(path, sizeof path, "%s/%s", arguments[2], arguments[1]);
  commits = atol(arguments[3]);
  writers = atol(arguments[4]);
  size = (size_t)atol(arguments[5]);
  if (commits < 1 || writers < 1 || size < sizeof(uint64_t)) fail("a number is too small");
  record = malloc(size);
  times = calloc((size_t)commits, sizeof *times);
  pthread_t *threads = calloc((size_t)writers, sizeof *threads);
  if (!record || !times || !threads) fail("no memory");
  memset(record, 'x', size);
  if (!select_contestant(arguments[1])) fail("no such contestant");

  uint64_t start = now();
  for (long i = 0; i < writers; i++) {
    if (pthread_create(&threads[i], NULL, commit_all, NULL)) fail("no thread");
  }
  for (long i = 0; i < writers; i++) pthread_join(threads[i], NULL);
  double seconds = (double)(now() - start) / 1e9;

  qsort(times, (size_t)commits, sizeof *times, ascending);
  printf("{\"seconds\": %.6f, \"commits\": %ld, \"median\": %llu, \"p99\": %llu, \"longest\": %llu}\n", seconds, commits,
         (unsigned long long)times[commits / 2], (unsigned long long)times[commits - 1 - commits / 100],
         (unsigned long long)times[commits - 1]);
  return 0;
}
