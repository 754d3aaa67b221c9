#ifdef NATS
#include "bare.h"

#include <malloc.h>
#include <nats/nats.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

size_t heap_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static double seconds_of(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

static natsConnection *connect_to(const char *url, bool at_once) {
  natsOptions *options = NULL;
  natsConnection *connection = NULL;
  natsOptions_Create(&options);
  natsOptions_SetURL(options, url);
  natsOptions_SetSendAsap(options, at_once);
  natsConnection_Connect(&connection, options);
  natsOptions_Destroy(options);
  return connection;
}

typedef struct {
  int64_t left;
  sem_t done;
} Counter;

static void count_down(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
  Counter *counter = closure;
  natsMsg_Destroy(message);
  if (--counter->left == 0) sem_post(&counter->done);
}

double bare_messages(const char *url, int64_t count, int size) {
  natsConnection *sender = connect_to(url, false), *receiver = connect_to(url, false);
  natsSubscription *subscription = NULL;
  Counter counter = {.left = count};
  char *payload = calloc(1, size);
  if (!sender || !receiver) return -1;
  sem_init(&counter.done, 0, 0);
  natsConnection_Subscribe(&subscription, receiver, "bench", count_down, &counter);
  natsSubscription_SetPendingLimits(subscription, -1, -1);
  natsConnection_Flush(receiver);
  int64_t began = now();
  for (int64_t i = 0; i < count; i++) natsConnection_Publish(sender, "bench", payload, size);
  sem_wait(&counter.done);
  double seconds = (now() - began) / 1e9;
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(sender);
  natsConnection_Destroy(receiver);
  free(payload);
  return seconds;
}

static void answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
  natsConnection_Publish(connection, natsMsg_GetReply(message), natsMsg_GetData(message), natsMsg_GetDataLength(message));
  natsMsg_Destroy(message);
}

int bare_requests(const char *url, int64_t count, int64_t *nanoseconds) {
  natsConnection *asking = connect_to(url, true), *answering = connect_to(url, true);
  natsSubscription *subscription = NULL;
  char payload[16] = {0};
  if (!asking || !answering) return -1;
  natsConnection_Subscribe(&subscription, answering, "bench", answer, NULL);
  natsConnection_Flush(answering);
  for (int64_t i = 0; i < count; i++) {
    natsMsg *message = NULL;
    int64_t began = now();
    if (natsConnection_Request(&message, asking, "bench", payload, sizeof payload, 5000) != NATS_OK) return -1;
    nanoseconds[i] = now() - began;
    natsMsg_Destroy(message);
  }
  natsSubscription_Destroy(subscription);
  natsConnection_Destroy(asking);
  natsConnection_Destroy(answering);
  return 0;
}

static void ignore(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
  natsMsg_Destroy(message);
}

double bare_subscription(const char *url, int64_t count) {
  natsOptions *options = NULL;
  natsConnection *connection = NULL;
  natsOptions_Create(&options);
  natsOptions_SetURL(options, url);
  // As in the bridge: one thread per subscription would be 10,000 threads.
  natsOptions_UseGlobalMessageDelivery(options, true);
  natsConnection_Connect(&connection, options);
  natsOptions_Destroy(options);
  natsSubscription **subscriptions = calloc(count, sizeof *subscriptions);
  if (!connection || !subscriptions) return -1;
  char subject[32];
  natsConnection_Flush(connection);
  size_t before = heap_bytes();
  for (int64_t i = 0; i < count; i++) {
    snprintf(subject, sizeof subject, "bench.%lld", (long long)i);
    natsConnection_Subscribe(&subscriptions[i], connection, subject, ignore, NULL);
  }
  natsConnection_Flush(connection);
  double bytes = (double)(heap_bytes() - before) / count;
  for (int64_t i = 0; i < count; i++) natsSubscription_Destroy(subscriptions[i]);
  free(subscriptions);
  natsConnection_Destroy(connection);
  return bytes;
}

#endif
