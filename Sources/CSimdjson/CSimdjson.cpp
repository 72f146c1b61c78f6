#include "CSimdjson.h"

#include <cstring>
#include <new>
#include <type_traits>

#include <simdjson.h>

namespace dom = simdjson::dom;

struct csj_parser {
    dom::parser parser;
    size_t size_max;

    csj_parser(size_t size_max_) : parser(size_max_), size_max(size_max_) {}
};

namespace {

// simdjson's elements and iterators are two plain words, so they pass through C by copy.
template <typename To, typename From>
To copied(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "simdjson changed the size of what it hands out");
    static_assert(std::is_trivially_copyable<From>::value && std::is_trivially_copyable<To>::value, "not plain");
    To to;
    std::memcpy(static_cast<void *>(&to), static_cast<const void *>(&from), sizeof(To));
    return to;
}

template <typename Iterator>
struct Range {
    Iterator position;
    Iterator end;
};

csj_status status(simdjson::error_code error) {
    switch (error) {
    case simdjson::SUCCESS: return csj_status_ok;
    case simdjson::CAPACITY: return csj_status_too_large;
    case simdjson::DEPTH_ERROR: return csj_status_too_deep;
    case simdjson::UTF8_ERROR: return csj_status_invalid_utf8;
    case simdjson::NUMBER_OUT_OF_RANGE: return csj_status_number_out_of_range;
    case simdjson::MEMALLOC: return csj_status_out_of_memory;
    default: return csj_status_invalid;
    }
}

csj_text text(std::string_view view) {
    return {reinterpret_cast<const uint8_t *>(view.data()), view.size()};
}

// The type is checked first, so that the unchecked readers (`value_unsafe`) always find a value of their type.
void read(const dom::element &element, csj_value *value) {
    switch (element.type()) {
    case dom::element_type::STRING:
        value->type = csj_type_string;
        value->string = text(element.get_string().value_unsafe());
        return;
    case dom::element_type::INT64:
        value->type = csj_type_integer;
        value->integer = element.get_int64().value_unsafe();
        return;
    case dom::element_type::UINT64:
        value->type = csj_type_unsigned;
        value->unsigned_integer = element.get_uint64().value_unsafe();
        return;
    case dom::element_type::DOUBLE:
        value->type = csj_type_number;
        value->number = element.get_double().value_unsafe();
        return;
    case dom::element_type::BOOL:
        value->type = csj_type_boolean;
        value->boolean = element.get_bool().value_unsafe();
        return;
    case dom::element_type::ARRAY:
        value->type = csj_type_array;
        value->node = copied<csj_node>(element);
        return;
    case dom::element_type::OBJECT:
        value->type = csj_type_object;
        value->node = copied<csj_node>(element);
        return;
    default:
        value->type = csj_type_null;
        return;
    }
}

template <typename Container>
csj_cursor begin(const simdjson::simdjson_result<Container> &result) {
    Container container;
    // A node of the other kind has no elements, so its cursor is at the end.
    if (simdjson::simdjson_result<Container>(result).get(container) != simdjson::SUCCESS) return csj_cursor{};
    return copied<csj_cursor>(Range<typename Container::iterator>{container.begin(), container.end()});
}

}  // namespace

extern "C" {

csj_parser *csj_parser_create(size_t size_max, size_t depth_max) {
    try {
        csj_parser *created = new (std::nothrow) csj_parser(size_max);
        if (!created) return nullptr;
        const size_t usual = 4096;
        if (created->parser.allocate(size_max < usual ? size_max : usual, depth_max) != simdjson::SUCCESS) {
            delete created;
            return nullptr;
        }
        return created;
    } catch (...) {
        return nullptr;
    }
}

void csj_parser_destroy(csj_parser *parser) { delete parser; }

csj_status csj_parse(csj_parser *parser, const uint8_t *bytes, size_t count, csj_value *root) {
    if (count > parser->size_max) return csj_status_too_large;
    if (!bytes || count == 0) return csj_status_invalid;
    try {
        dom::element element;
        const simdjson::error_code error = parser->parser.parse(bytes, count).get(element);
        if (error == simdjson::SUCCESS) read(element, root);
        return status(error);
    } catch (...) {
        return csj_status_invalid;
    }
}

csj_cursor csj_object_begin(csj_node node) { return begin(copied<dom::element>(node).get_object()); }

bool csj_object_next(csj_cursor *cursor, csj_text *key, csj_value *value) {
    auto range = copied<Range<dom::object::iterator>>(*cursor);
    if (!(range.position != range.end)) return false;
    *key = text(range.position.key());
    read(range.position.value(), value);
    ++range.position;
    *cursor = copied<csj_cursor>(range);
    return true;
}

csj_cursor csj_array_begin(csj_node node) { return begin(copied<dom::element>(node).get_array()); }

bool csj_array_next(csj_cursor *cursor, csj_value *value) {
    auto range = copied<Range<dom::array::iterator>>(*cursor);
    if (!(range.position != range.end)) return false;
    read(*range.position, value);
    ++range.position;
    *cursor = copied<csj_cursor>(range);
    return true;
}

}  // extern "C"
