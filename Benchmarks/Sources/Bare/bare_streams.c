#ifdef NATS
#include "bare.h"

#include <nats/nats.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

typedef struct {
  natsOptions *options;
  natsConnection *connection;
  jsCtx *js;
} Context;

// Opens a connection, and creates the stream if it does not exist.
static natsStatus open_stream(Context *context, const char *url, const char *stream, bool at_once) {
  natsStatus status = natsOptions_Create(&context->options);
  if (status == NATS_OK) status = natsOptions_SetURL(context->options, url);
  if (status == NATS_OK) status = natsOptions_SetSendAsap(context->options, at_once);
  if (status == NATS_OK) status = natsConnection_Connect(&context->connection, context->options);
  if (status == NATS_OK) status = natsConnection_JetStream(&context->js, context->connection, NULL);
  if (status == NATS_OK && stream) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = &stream;
    config.SubjectsLen = 1;
    status = js_AddStream(NULL, context->js, &config, NULL, NULL);
  }
  return status;
}

static void close_stream(Context *context) {
  jsCtx_Destroy(context->js);
  natsConnection_Destroy(context->connection);
  natsOptions_Destroy(context->options);
}

int bare_appends(const char *url, const char *stream, int64_t count, int size, int64_t *nanoseconds) {
  Context context = {0};
  char *payload = calloc(1, size);
  natsStatus status = open_stream(&context, url, stream, true);
  for (int64_t i = 0; i < count && status == NATS_OK; i++) {
    int64_t began = now();
    status = js_Publish(NULL, context.js, stream, payload, size, NULL, NULL);
    nanoseconds[i] = now() - began;
  }
  close_stream(&context);
  free(payload);
  return status == NATS_OK ? 0 : -1;
}

static void has_arrived(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
  natsMsg_Destroy(message);
  sem_post(closure);
}

int bare_confirmations(const char *url, const char *stream, int64_t count, int size, int64_t *nanoseconds) {
  Context context = {0};
  natsSubscription *subscription = NULL;
  sem_t arrived;
  sem_init(&arrived, 0, 0);
  char *payload = calloc(1, size);
  natsStatus status = open_stream(&context, url, stream, true);
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverNew;
  if (status == NATS_OK)
    status = js_Subscribe(&subscription, context.js, stream, has_arrived, &arrived, NULL, &options, NULL);
  for (int64_t i = 0; i < count && status == NATS_OK; i++) {
    int64_t began = now();
    status = js_PublishAsync(context.js, stream, payload, size, NULL);
    if (status == NATS_OK) sem_wait(&arrived);
    nanoseconds[i] = now() - began;
  }
  natsSubscription_Destroy(subscription);
  close_stream(&context);
  free(payload);
  return status == NATS_OK ? 0 : -1;
}

double bare_appends_in_flight(const char *url, const char *stream, int64_t count, int size) {
  Context context = {0};
  char *payload = calloc(1, size);
  natsStatus status = open_stream(&context, url, stream, false);
  int64_t began = now();
  for (int64_t i = 0; i < count && status == NATS_OK; i++)
    status = js_PublishAsync(context.js, stream, payload, size, NULL);
  if (status == NATS_OK) status = js_PublishAsyncComplete(context.js, NULL);
  double seconds = (now() - began) / 1e9;
  close_stream(&context);
  free(payload);
  return status == NATS_OK ? seconds : -1;
}

double bare_puts(const char *url, const char *bucket, int64_t count, int size) {
  Context context = {0};
  kvStore *store = NULL;
  char *payload = calloc(1, size);
  natsStatus status = open_stream(&context, url, NULL, true);
  if (status == NATS_OK && js_KeyValue(&store, context.js, bucket) != NATS_OK) {
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = bucket;
    status = js_CreateKeyValue(&store, context.js, &config);
  }
  int64_t began = now();
  for (int64_t i = 0; i < count && status == NATS_OK; i++)
    status = kvStore_Put(NULL, store, "key", payload, size);
  double seconds = (now() - began) / 1e9;
  kvStore_Destroy(store);
  close_stream(&context);
  free(payload);
  return status == NATS_OK ? seconds : -1;
}

#endif
