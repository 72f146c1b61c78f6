// The part of simdjson's DOM that Newswire reads events with, callable from C.
//
// Only one thread may use a parser at a time. Its texts, nodes and cursors belong to the parser and are valid until
// its next parse or its destruction.

#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csj_parser csj_parser;

typedef enum csj_status : uint8_t {
    csj_status_ok = 0,
    csj_status_too_large,
    csj_status_too_deep,
    csj_status_invalid_utf8,
    // A number exceeds 64 bits.
    csj_status_number_out_of_range,
    csj_status_out_of_memory,
    // Any other error: the bytes are not a JSON document.
    csj_status_invalid,
} csj_status;

typedef enum csj_type : uint8_t {
    csj_type_null = 0,
    csj_type_boolean,
    csj_type_integer,
    // An integer above INT64_MAX.
    csj_type_unsigned,
    csj_type_number,
    csj_type_string,
    csj_type_array,
    csj_type_object,
} csj_type;

// UTF-8, unescaped, not terminated. It may contain NUL.
typedef struct csj_text {
    const uint8_t *_Nullable bytes;
    size_t count;
} csj_text;

// An array or an object before iteration.
typedef struct csj_node {
    uint64_t words[2];
} csj_node;

typedef struct csj_value {
    csj_type type;
    union {
        bool boolean;
        int64_t integer;
        uint64_t unsigned_integer;
        double number;
        csj_text string;
        csj_node node;
    };
} csj_value;

// A position between the members of an object or the elements of an array, in document order.
typedef struct csj_cursor {
    uint64_t words[4];
} csj_cursor;

// Returns NULL if memory is short. Documents of more than `size_max` bytes or `depth_max` levels are refused.
csj_parser *_Nullable csj_parser_create(size_t size_max, size_t depth_max);
void csj_parser_destroy(csj_parser *_Nullable parser);

// Copies `bytes`, so the caller may release them after the call. Sets `root` only with `csj_status_ok`.
csj_status csj_parse(csj_parser *_Nonnull parser, const uint8_t *_Nullable bytes, size_t count,
                     csj_value *_Nonnull root);

// `node` must come from a value of type object (or array, for the array functions) of the latest parse.
csj_cursor csj_object_begin(csj_node node);
// Returns false at the end.
bool csj_object_next(csj_cursor *_Nonnull cursor, csj_text *_Nonnull key, csj_value *_Nonnull value);

csj_cursor csj_array_begin(csj_node node);
bool csj_array_next(csj_cursor *_Nonnull cursor, csj_value *_Nonnull value);

#ifdef __cplusplus
}
#endif

#endif
