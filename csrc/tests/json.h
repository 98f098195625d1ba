/* json.h: reads a JSON text of the core by paths of member names and indices: "counters/L1/fences", "states/0/text". */
#ifndef GPC_TESTS_JSON_H
#define GPC_TESTS_JSON_H

#include "harness.h"

/* The first character after the value that begins here. */
static inline const char *
json_end(const char *at)
{
    uint32_t depth = 0;
    do {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++) {
                at += *at == '\\' && at[1];
            }
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        } else if (depth == 0) {
            return at + strcspn(at, ",]} \n");
        }
        at += *at != 0;
    } while (depth && *at);
    return at;
}

static inline const char *
json_skip(const char *at)
{
    return at + strspn(at, " \n,:");
}

/* The next member's value of the object or array: `at` is behind its bracket, or behind a member. NULL: it has no more.
 * `*name`: the member's name, in quotes; NULL in an array. */
static inline const char *
json_next(const char *at, bool object, const char **name)
{
    at = json_skip(at);
    *name = NULL;
    if (object && *at == '"') {
        *name = at;
        at = json_skip(json_end(at));
    }
    return *at == 0 || *at == '}' || *at == ']' ? NULL : at;
}

/* The value of the object's member of that name, or of the array's of that index; NULL: it has none. */
static inline const char *
json_member(const char *value, const char *key, size_t length)
{
    bool object = *value == '{';
    const char *name, *at = object || *value == '[' ? json_next(value + 1, object, &name) : NULL;
    for (unsigned long i = 0; at; i++, at = json_next(json_end(at), object, &name)) {
        if (object ? strncmp(name + 1, key, length) == 0 && name[1 + length] == '"' : strtoul(key, NULL, 10) == i) {
            return at;
        }
    }
    return NULL;
}

/* The value at the path; NULL: it is not there. */
static inline const char *
json_find(const char *json, const char *path)
{
    const char *at = json;
    while (at && *path) {
        size_t length = strcspn(path, "/");
        at = json_member(at, path, length);
        path += length + (path[length] == '/');
    }
    return at;
}

/* The number at the path; without one the test fails. */
static inline uint64_t
json_number(const char *json, const char *path)
{
    const char *at = json ? json_find(json, path) : NULL;
    if (!at || *at < '0' || *at > '9') {
        harness_fail(__FILE__, __LINE__, path);
        return 0;
    }
    return strtoull(at, NULL, 10);
}

/* The number of members of the object or array at the path; without one the test fails. */
static inline uint32_t
json_count(const char *json, const char *path)
{
    const char *at = json ? json_find(json, path) : NULL, *name;
    uint32_t count = 0;
    if (!at || (*at != '{' && *at != '[')) {
        harness_fail(__FILE__, __LINE__, path);
        return 0;
    }
    for (at = json_next(at + 1, *at == '{', &name); at; at = json_next(json_end(at), name != NULL, &name)) {
        count++;
    }
    return count;
}

/* Whether the value at the path is this string, without control characters. */
static inline bool
json_is(const char *json, const char *path, const char *text)
{
    const char *at = json ? json_find(json, path) : NULL;
    if (!at || *at++ != '"') {
        return false;
    }
    for (; *text; text++, at++) {
        at += *at == '\\';
        if (*at != *text) {
            return false;
        }
    }
    return *at == '"';
}

#endif
