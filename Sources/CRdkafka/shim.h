#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <poll.h>
#include <sys/eventfd.h>

// Wraps the only necessary C function with variable arguments, because Swift cannot call such functions.
// `topic` is used when `handle` is null. On success librdkafka owns `headers`.
static inline rd_kafka_resp_err_t newswire_produce(
    rd_kafka_t *client, rd_kafka_topic_t *handle, const char *topic, int32_t partition, const void *key, size_t key_size,
    const void *value, size_t value_size, int64_t timestamp, rd_kafka_headers_t *headers, void *opaque) {
    if (handle)
        return rd_kafka_producev(
            client, RD_KAFKA_V_RKT(handle), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size),
            RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
    return rd_kafka_producev(
        client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_TIMESTAMP(timestamp),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(opaque), RD_KAFKA_V_END);
}
