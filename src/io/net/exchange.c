/* SPDX-License-Identifier: MIT
 *
 * One request over a libcurl connection, which follows no redirects, keeps no cookies, and
 * connects only where our policy allows.
 *
 * Parses the response headers: what they state about the body, and whether it is the requested
 * range. They are untrusted. */
#include "io/net/exchange.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/process_environment.h"
#include "util/run/thread.h"
#include "util/text/ascii.h"

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

/* Reads decimal digits of a number below 2^63 and advances past them. */
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

/* Parses "bytes 0-65535/1000000" or "bytes 0-9/10". */
static bool read_range(struct dti_exchange *exchange, const char *at, const char *end)
{
    const char *begin = at;
    uint64_t first, last, size;
    const bool good = skip(&at, end, "bytes ") && read_number(&at, end, &first) &&
                      skip(&at, end, "-") && read_number(&at, end, &last) && skip(&at, end, "/") &&
                      read_number(&at, end, &size) && at == end && first <= last && last < size;
    if (exchange->status == 416) { /* empty file: only the size is given */
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

/* Validates the commit before it becomes part of addresses. */
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
        if (read_number(&at, end, &number) && at == end) /* Retry-After as a date is ignored */
            exchange->retry_after = number < 1000000 ? (unsigned)number : 1000000;
    }
    return true;
}

/* Parses "HTTP/1.1 206 Partial Content". Resets earlier headers, which came from a proxy or an
 * interim response (1xx). */
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
    const char *const colon = memchr(line, ':', length);
    if (!colon || exchange->judged) /* judged: trailers after the body */
        return true;
    const char *value = colon + 1;
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

/* A document's length need not be announced. */
static bool judge_whole(struct dti_exchange *exchange)
{
    if (exchange->encoded)
        return refuse(exchange, "the server encodes what it sends, though it was asked not to");
    if (exchange->length != UINT64_MAX && exchange->length > exchange->room)
        return refuse(exchange, "the server's answer is too large");
    exchange->first = 0;
    exchange->last = exchange->room - 1;
    return true;
}

bool dti_exchange_judge(struct dti_exchange *exchange)
{
    if (exchange->judged)
        return exchange->fits;
    exchange->judged = true;
    if (exchange->whole && exchange->status == 200)
        exchange->fits = judge_whole(exchange);
    else if (exchange->status == 206 && !exchange->whole)
        exchange->fits = judge_range(exchange);
    else if (exchange->status == 200)
        (void)refuse(exchange, "the server does not serve ranges; download it first");
    return exchange->fits;
}

/* Low-speed limit. Without it a slow server could stall us almost forever: 64 KiB at 1 byte/s
 * take 18 hours. Below the limit, STALL_SECONDS transfer less than PROGRESS of fetch.c, so each
 * such attempt counts as a failure. */
enum { STALL_SECONDS = 30, STALL_BYTES = 30, SKIP_MOST = 16 << 10 };

static size_t on_head(char *line, size_t one, size_t count, void *context)
{
    struct dti_exchange *const exchange = context;
    const size_t length = one * count;
    return dti_exchange_take_line(exchange, line, length) ? length : 0;
}

static size_t on_body(char *bytes, size_t one, size_t count, void *context)
{
    struct dti_exchange *const exchange = context;
    const size_t size = one * count;
    if (!dti_exchange_judge(exchange)) { /* skip a short error body to keep the connection alive */
        exchange->skipped += size;
        return exchange->why[0] == '\0' && exchange->skipped <= SKIP_MOST ? size : 0;
    }
    const uint64_t span = exchange->last - exchange->first + 1;
    if (size > span - exchange->got) {
        (void)snprintf(exchange->why, sizeof exchange->why,
                       exchange->whole ? "the server's answer is too large"
                                       : "the server sends more bytes than it announced");
        return 0;
    }
    memcpy(exchange->bytes + exchange->got, bytes, size);
    exchange->got += size;
    return size;
}

static enum dti_host_place place_of(const struct sockaddr *address, size_t length)
{
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return dti_host_place_v4((const unsigned char *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return dti_host_place_v6((const unsigned char *)&v6.sin6_addr);
    }
    return DTI_HOST_PRIVATE;
}

/* Whether the environment sets a proxy for https://. The peer address is then the proxy's. */
static bool has_proxy(void)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = dti_environment(names[i]);
        if (value && *value)
            return true;
    }
    return false;
}

bool dti_exchange_may_connect(const struct dti_exchange *exchange, const struct sockaddr *address,
                              size_t length)
{
    const enum dti_host_place place = place_of(address, length);
    if (!exchange->address->secure)
        return place == DTI_HOST_LOOPBACK;
    return exchange->from == DTI_HOST_NAMED || has_proxy() ||
           dti_host_may_lead(exchange->from, place);
}

static int on_socket(void *context, int purpose, struct dti_curl_sockaddr *address)
{
    struct dti_exchange *const exchange = context;
    (void)purpose;
    if (dti_exchange_may_connect(exchange, &address->addr, address->addrlen))
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    (void)snprintf(exchange->why, sizeof exchange->why,
                   exchange->address->secure
                       ? "the server redirects to an address of a private network"
                       : "http:// is not encrypted and is for this machine alone");
    return DTI_CURL_SOCKET_BAD;
}

/* Called while a request runs, also when nothing arrives: whether to give it up. */
static int on_progress(void *context, int64_t down_all, int64_t down, int64_t up_all, int64_t up)
{
    (void)context, (void)down_all, (void)down, (void)up_all, (void)up;
    return dti_interrupted();
}

/* Drops a connection that was made under another policy. */
static bool prepare(struct dti_exchange *exchange, const struct dti_curl *curl)
{
    if (exchange->handle && exchange->guard != exchange->from) {
        exchange->curl->easy_cleanup(exchange->handle);
        exchange->handle = NULL;
    }
    exchange->guard = exchange->from;
    exchange->curl = curl;
    if (!exchange->handle)
        exchange->handle = curl->easy_init();
    exchange->got = exchange->head_bytes = exchange->head_lines = exchange->skipped = 0;
    exchange->why[0] = exchange->error[0] = '\0';
    exchange->unreachable = false;
    exchange->place = exchange->address->place;
    dti_exchange_reset(exchange);
    return exchange->handle != NULL;
}

static bool set_fixed(struct dti_exchange *exchange, const struct dti_curl *curl)
{
    void *const handle = exchange->handle;
    const char *bundle = dti_environment("CURL_CA_BUNDLE"), *const folder =
                                                                dti_environment("SSL_CERT_DIR");
    if (!bundle || !*bundle)
        bundle = dti_environment("SSL_CERT_FILE");
    int bad = curl->easy_setopt(handle, DTI_CURLOPT_NOSIGNAL, 1L);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_HTTP_VERSION, (long)DTI_CURL_HTTP_1_1);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_CONNECTTIMEOUT, (long)STALL_SECONDS);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_USERAGENT, "dtinfo/" DTI_VERSION);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_ERRORBUFFER, exchange->error);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_HEADERFUNCTION, on_head);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_HEADERDATA, (void *)exchange);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_WRITEFUNCTION, on_body);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_WRITEDATA, (void *)exchange);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_OPENSOCKETFUNCTION, on_socket);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_OPENSOCKETDATA, (void *)exchange);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_NOPROGRESS, dti_interruptible() ? 0L : 1L);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_XFERINFOFUNCTION, on_progress);
    if (bundle && *bundle)
        bad |= curl->easy_setopt(handle, DTI_CURLOPT_CAINFO, bundle);
    if (folder && *folder)
        bad |= curl->easy_setopt(handle, DTI_CURLOPT_CAPATH, folder);
    /* optional: older libcurl versions lack it */
    (void)curl->easy_setopt(handle, DTI_CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    return bad == 0;
}

/* With a proxy set, a redirect target is requested only through it, even if no_proxy lists its
 * host, unless it is in the same kind of network as the first address. */
static bool set_address(struct dti_exchange *exchange, const struct dti_curl *curl, void *list)
{
    void *const handle = exchange->handle;
    const bool all_through = exchange->from != DTI_HOST_NAMED &&
                             exchange->from != exchange->address->place && has_proxy();
    char range[64];
    (void)snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, exchange->offset,
                   exchange->offset + exchange->room - 1);
    int bad = curl->easy_setopt(handle, DTI_CURLOPT_URL, exchange->address->url);
    bad |=
        curl->easy_setopt(handle, DTI_CURLOPT_RANGE, exchange->whole ? (const char *)NULL : range);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_HTTPHEADER, list);
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_PROXY,
                             exchange->address->secure ? (const char *)NULL : "");
    bad |= curl->easy_setopt(handle, DTI_CURLOPT_NOPROXY, all_through ? "" : (const char *)NULL);
    return bad == 0;
}

static void *make_head(const struct dti_exchange *exchange, const struct dti_curl *curl)
{
    static const char begin[] = "Authorization: Bearer ";
    void *const list = curl->slist_append(NULL, "Accept-Encoding: identity");
    if (!exchange->token || !list)
        return list;
    const size_t size = sizeof begin + strlen(exchange->token);
    char *const line = dti_malloc(size);
    if (line)
        (void)snprintf(line, size, "%s%s", begin, exchange->token);
    void *const both = line ? curl->slist_append(list, line) : NULL;
    dti_free(line);
    if (!both)
        curl->slist_free_all(list);
    return both;
}

static int perform(struct dti_exchange *exchange, const struct dti_curl *curl)
{
    struct dti_pipe_guard guard;
    dti_pipe_guard_begin(&guard);
    const int result = curl->easy_perform(exchange->handle);
    dti_pipe_guard_end(&guard);
    return result;
}

static enum dti_exchange_end fail(struct dti_exchange *exchange, enum dti_exchange_end end,
                                  const char *why)
{
    if (exchange->why[0] == '\0')
        (void)snprintf(exchange->why, sizeof exchange->why, "%s", why);
    return end;
}

/* Maps a libcurl error: no response, or a truncated one. */
static enum dti_exchange_end end_of_result(struct dti_exchange *exchange,
                                           const struct dti_curl *curl, int result)
{
    if (exchange->why[0] != '\0')
        return DTI_EXCHANGE_REFUSED;
    switch (result) {
    case DTI_CURLE_OUT_OF_MEMORY:
    case DTI_CURLE_FAILED_INIT:
        return DTI_EXCHANGE_NO_MEMORY;
    case DTI_CURLE_COULDNT_RESOLVE_PROXY:
        return fail(exchange, DTI_EXCHANGE_REFUSED, "the name of the proxy is not known");
    case DTI_CURLE_COULDNT_RESOLVE_HOST:
        return fail(exchange, DTI_EXCHANGE_REFUSED, "the name of the host is not known");
    case DTI_CURLE_SSL_CERTPROBLEM:
    case DTI_CURLE_SSL_CIPHER:
    case DTI_CURLE_PEER_FAILED_VERIFICATION:
    case DTI_CURLE_SSL_ISSUER_ERROR:
    case DTI_CURLE_SSL_INVALIDCERTSTATUS:
        return fail(exchange, DTI_EXCHANGE_REFUSED, "the server's certificate is not trusted");
    case DTI_CURLE_SSL_CACERT_BADFILE:
        return fail(exchange, DTI_EXCHANGE_REFUSED,
                    "the certificates of CURL_CA_BUNDLE or SSL_CERT_FILE cannot be read");
    case DTI_CURLE_OPERATION_TIMEDOUT:
        return fail(exchange, DTI_EXCHANGE_AGAIN,
                    "the server sent less than 30 bytes a second, for 30 seconds");
    case DTI_CURLE_COULDNT_CONNECT:
        exchange->unreachable = true;
        return fail(exchange, DTI_EXCHANGE_AGAIN, "the server cannot be reached");
    default:
        (void)snprintf(exchange->why, sizeof exchange->why, "the connection failed: %s",
                       curl->easy_strerror(result));
        return DTI_EXCHANGE_AGAIN;
    }
}

static enum dti_exchange_end end_of_status(struct dti_exchange *exchange)
{
    static const struct {
        int status;
        enum dti_exchange_end end;
        const char *words;
    } rows[] = {
        {400, DTI_EXCHANGE_REFUSED, "bad request"},
        {401, DTI_EXCHANGE_LATER, "not authorized"},
        {403, DTI_EXCHANGE_LATER, "forbidden"},
        {404, DTI_EXCHANGE_LATER, "not found"},
        {408, DTI_EXCHANGE_AGAIN, "request timeout"},
        {410, DTI_EXCHANGE_LATER, "gone"},
        {416, DTI_EXCHANGE_REFUSED, "range not satisfiable"},
        {429, DTI_EXCHANGE_AGAIN, "too many requests"},
        {500, DTI_EXCHANGE_AGAIN, "internal server error"},
        {502, DTI_EXCHANGE_AGAIN, "bad gateway"},
        {503, DTI_EXCHANGE_AGAIN, "service unavailable"},
        {504, DTI_EXCHANGE_AGAIN, "gateway timeout"},
    };
    const int status = exchange->status;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].status == status) {
            (void)snprintf(exchange->why, sizeof exchange->why, "the server answers %d (%s)",
                           status, rows[i].words);
            return rows[i].end;
        }
    }
    (void)snprintf(exchange->why, sizeof exchange->why, "the server answers %d", status);
    return DTI_EXCHANGE_REFUSED;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* An empty file has no valid range: status 416 with its size. */
static bool is_empty(struct dti_exchange *exchange)
{
    return exchange->status == 416 && exchange->file.size == 0 && exchange->offset == 0 &&
           exchange->wanted->size == UINT64_MAX;
}

static enum dti_exchange_end conclude(struct dti_exchange *exchange, const struct dti_curl *curl,
                                      int result)
{
    const char *connected = NULL;
    if (exchange->place == DTI_HOST_NAMED &&
        curl->easy_getinfo(exchange->handle, DTI_CURLINFO_PRIMARY_IP, &connected) == DTI_CURLE_OK &&
        connected)
        exchange->place = has_proxy() ? DTI_HOST_PUBLIC : dti_host_place_of(connected);
    if (exchange->status == 0 || exchange->why[0] != '\0')
        return end_of_result(exchange, curl, result);
    if (is_redirect(exchange->status))
        return exchange->location[0] != '\0'
                   ? DTI_EXCHANGE_REDIRECT
                   : fail(exchange, DTI_EXCHANGE_REFUSED, "the server redirects to no address");
    if (is_empty(exchange))
        return DTI_EXCHANGE_DONE;
    if (exchange->status != 206 && exchange->status != 200)
        return end_of_status(exchange);
    if (!dti_exchange_judge(exchange))
        return DTI_EXCHANGE_REFUSED;
    if (result != DTI_CURLE_OK)
        return end_of_result(exchange, curl, result);
    if (exchange->whole) /* libcurl has checked the length */
        return DTI_EXCHANGE_DONE;
    if (exchange->got < exchange->last - exchange->first + 1)
        return fail(exchange, DTI_EXCHANGE_AGAIN, "the server sends fewer bytes than it announced");
    return DTI_EXCHANGE_DONE;
}

enum dti_exchange_end dti_exchange_run(struct dti_exchange *exchange, const struct dti_curl *curl)
{
    void *const list = make_head(exchange, curl);
    enum dti_exchange_end end = DTI_EXCHANGE_NO_MEMORY;
    if (list && prepare(exchange, curl) && set_fixed(exchange, curl) &&
        set_address(exchange, curl, list))
        end = conclude(exchange, curl, perform(exchange, curl));
    if (exchange->handle)
        (void)curl->easy_setopt(exchange->handle, DTI_CURLOPT_HTTPHEADER, (void *)NULL);
    curl->slist_free_all(list);
    return end;
}

void dti_exchange_free(struct dti_exchange *exchange)
{
    if (exchange && exchange->handle)
        exchange->curl->easy_cleanup(exchange->handle);
    dti_free(exchange);
}
