/* SPDX-License-Identifier: MIT
 *
 * The head of an answer: what it says of the bytes that follow, and whether they are those that
 * were asked for. Nothing in it is trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dtinfo/ascii.h"
#include "util/remote/exchange.h"

enum { HEAD_BYTES = 64 << 10, HEAD_LINES = 256 };

static bool refuse(struct dti_exchange *exchange, const char *why)
{
    if (exchange->why[0] == '\0')
        (void)snprintf(exchange->why, sizeof exchange->why, "%s", why);
    return false;
}

void dti_exchange_reset(struct dti_exchange *exchange)
{
    exchange->status = 0;
    exchange->retry_after = 0;
    exchange->file = (struct dti_exchange_file){.size = UINT64_MAX};
    exchange->linked = exchange->file;
    exchange->location[0] = exchange->commit[0] = '\0';
    exchange->first = exchange->last = exchange->length = UINT64_MAX;
    exchange->judged = exchange->fits = exchange->encoded = exchange->tagged = false;
}

/* Digits alone, below 2^63. Moves on behind them. */
static bool read_number(const char **at, const char *end, uint64_t *ret)
{
    uint64_t number = 0;
    const char *const begin = *at;
    while (*at < end && dti_ascii_digit(**at)) {
        if (number > (INT64_MAX - 9) / 10)
            return false;
        number = 10 * number + (uint64_t)(*(*at)++ - '0');
    }
    *ret = number;
    return *at > begin;
}

static bool skip(const char **at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(end - *at) < length || !dti_ascii_equal_start(*at, word, length))
        return false;
    *at += length;
    return true;
}

/* "bytes 0-65535/1000000", "bytes 0-9/10" */
static bool read_range(struct dti_exchange *exchange, const char *at, const char *end)
{
    const char *begin = at;
    uint64_t first, last, size;
    const bool good = skip(&at, end, "bytes ") && read_number(&at, end, &first) &&
                      skip(&at, end, "-") && read_number(&at, end, &last) && skip(&at, end, "/") &&
                      read_number(&at, end, &size) && at == end && first <= last && last < size;
    if (exchange->status == 416) { /* of an empty file, where the size alone is said */
        if (skip(&begin, end, "bytes *") && skip(&begin, end, "/") &&
            read_number(&begin, end, &size) && begin == end)
            exchange->file.size = size;
        return true;
    }
    if (!good || exchange->first != UINT64_MAX)
        return refuse(exchange, "the server sends a Content-Range that is not valid");
    exchange->first = first;
    exchange->last = last;
    exchange->file.size = size;
    return true;
}

static bool keep_text(struct dti_exchange *exchange, char *ret, size_t size, const char *value,
                      size_t length)
{
    if (length >= size)
        return refuse(exchange, "the server sends too long a head");
    memcpy(ret, value, length);
    ret[length] = '\0';
    return true;
}

/* It becomes part of addresses. */
static bool keep_commit(struct dti_exchange *exchange, const char *value, size_t length)
{
    bool good = length == DTI_EXCHANGE_COMMIT - 1;
    for (size_t i = 0; i < length && good; i++)
        good = dti_ascii_digit(value[i]) || (value[i] >= 'a' && value[i] <= 'f') ||
               (value[i] >= 'A' && value[i] <= 'F');
    return good ? keep_text(exchange, exchange->commit, sizeof exchange->commit, value, length)
                : refuse(exchange, "the server sends an X-Repo-Commit that is not a commit: 40 "
                                   "hexadecimal digits");
}

static bool take_field(struct dti_exchange *exchange, const char *name, size_t name_length,
                       const char *value, size_t length)
{
    const char *at = value, *const end = value + length;
    uint64_t number;
    char key[32] = "";
    if (name_length >= sizeof key)
        return true;
    for (size_t i = 0; i < name_length; i++)
        key[i] = dti_ascii_lower(name[i]);
    if (strcmp(key, "content-range") == 0)
        return read_range(exchange, value, end);
    if (strcmp(key, "content-length") == 0) {
        if (!read_number(&at, end, &number) || at != end ||
            (exchange->length != UINT64_MAX && exchange->length != number))
            return refuse(exchange, "the server sends a Content-Length that is not valid");
        exchange->length = number;
    } else if (strcmp(key, "content-encoding") == 0) {
        exchange->encoded = !(skip(&at, end, "identity") && at == end) && length > 0;
    } else if (strcmp(key, "etag") == 0) {
        exchange->tagged = true;
        return keep_text(exchange, exchange->file.tag, DTI_EXCHANGE_TAG, value, length);
    } else if (strcmp(key, "last-modified") == 0 && !exchange->tagged) {
        return keep_text(exchange, exchange->file.tag, DTI_EXCHANGE_TAG, value, length);
    } else if (strcmp(key, "x-linked-etag") == 0) {
        return keep_text(exchange, exchange->linked.tag, DTI_EXCHANGE_TAG, value, length);
    } else if (strcmp(key, "x-linked-size") == 0) {
        if (read_number(&at, end, &number) && at == end)
            exchange->linked.size = number;
    } else if (strcmp(key, "x-repo-commit") == 0) {
        return keep_commit(exchange, value, length);
    } else if (strcmp(key, "location") == 0) {
        return keep_text(exchange, exchange->location, sizeof exchange->location, value, length);
    } else if (strcmp(key, "retry-after") == 0) {
        if (read_number(&at, end, &number) && at == end) /* a date is not followed */
            exchange->retry_after = number < 1000000 ? (unsigned)number : 1000000;
    }
    return true;
}

/* "HTTP/1.1 206 Partial Content": what came before was of a proxy, or on the way (1xx). */
static bool take_status(struct dti_exchange *exchange, const char *line, size_t length)
{
    const char *at = memchr(line, ' ', length);
    uint64_t number;
    dti_exchange_reset(exchange);
    if (!at || (at++, !read_number(&at, line + length, &number)) || number < 100 || number > 599)
        return refuse(exchange, "the server does not answer as HTTP servers do");
    exchange->status = (int)number;
    return true;
}

bool dti_exchange_take_line(struct dti_exchange *exchange, const char *line, size_t length)
{
    exchange->head_bytes += length;
    exchange->head_lines++;
    if (exchange->head_bytes > HEAD_BYTES || exchange->head_lines > HEAD_LINES)
        return refuse(exchange, "the server sends too long a head");
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r' ||
                          line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0)
        return take_status(exchange, line, length);
    const char *const colon = memchr(line, ':', length), *value = colon + 1;
    if (!colon || exchange->judged) /* judged: after the body */
        return true;
    while (value < line + length && (*value == ' ' || *value == '\t'))
        value++;
    return take_field(exchange, line, (size_t)(colon - line), value,
                      (size_t)(line + length - value));
}

static bool is_other(const struct dti_exchange *exchange)
{
    const struct dti_exchange_file *const wanted = exchange->wanted;
    return wanted->size != UINT64_MAX &&
           (wanted->size != exchange->file.size || strcmp(wanted->tag, exchange->file.tag) != 0);
}

static bool judge_range(struct dti_exchange *exchange)
{
    const uint64_t span = exchange->last - exchange->first + 1;
    if (exchange->encoded)
        return refuse(exchange, "the server encodes what it sends, though it was asked not to");
    if (exchange->first == UINT64_MAX)
        return refuse(exchange, "the server does not say which bytes it sends");
    if (is_other(exchange))
        return refuse(exchange, "it changed on the server while it was read");
    if (exchange->first != exchange->offset || span > exchange->room)
        return refuse(exchange, "the server sends other bytes than it was asked for");
    if (exchange->length != UINT64_MAX && exchange->length != span)
        return refuse(exchange, "the server's Content-Length contradicts its Content-Range");
    return true;
}

bool dti_exchange_judge(struct dti_exchange *exchange)
{
    if (exchange->judged)
        return exchange->fits;
    exchange->judged = true;
    if (exchange->status == 206)
        exchange->fits = judge_range(exchange);
    else if (exchange->status == 200)
        (void)refuse(exchange, "the server does not serve ranges; download it first");
    return exchange->fits;
}
