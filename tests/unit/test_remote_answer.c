/* SPDX-License-Identifier: MIT
 *
 * Response headers, valid and hostile; and memory that runs out before there is an answer. */
#include "io/net/exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "io/input.h"
#include "tally.h"
#include "unit.h"

static const struct dti_exchange_file unknown = {.size = UINT64_MAX};

/* A request for 100 bytes at offset 1000. The lines end with newlines. */
static bool take(struct dti_exchange *exchange, const char *head)
{
    *exchange = (struct dti_exchange){.offset = 1000, .room = 100, .wanted = &unknown};
    dti_exchange_reset(exchange);
    while (*head != '\0') {
        const size_t length = strcspn(head, "\n") + 1;
        if (!dti_exchange_take_line(exchange, head, length))
            return false;
        head += length;
    }
    return dti_exchange_judge(exchange);
}

#define OK    "HTTP/1.1 206 Partial Content\r\n"
#define RANGE "Content-Range: bytes 1000-1099/5000\r\n"

static void good_heads_are_read(void)
{
    struct dti_exchange exchange;
    CHECK(take(&exchange, OK RANGE "ETag: \"a\"\r\nContent-Length: 100\r\n\r\n"));
    CHECK_U64(exchange.file.size, 5000);
    CHECK_STR(exchange.file.tag, "\"a\"");
    CHECK(take(&exchange, OK "CONTENT-RANGE:bytes 1000-1000/1001\n"));
    CHECK_U64(exchange.last, 1000);
    CHECK(take(&exchange, OK RANGE "Last-Modified: x\r\nETag: W/\"b\"  \r\n"));
    CHECK_STR(exchange.file.tag, "W/\"b\"");
    CHECK(take(&exchange, OK RANGE "ETag: b\nLast-Modified: x\r\n"));
    CHECK_STR(exchange.file.tag, "b");
    CHECK(take(&exchange,
               "HTTP/1.1 200 Connection established\r\nX-Linked-Size: 7\r\n\r\n" OK RANGE));
    CHECK(exchange.linked.size == UINT64_MAX);
    CHECK(take(&exchange, OK RANGE "Content-Encoding: identity\n"));
    CHECK(!take(&exchange, "HTTP/1.1 302 Found\r\nLocation: /x\r\nX-Linked-Size: 7\r\n"));
    CHECK_STR(exchange.location, "/x");
    CHECK_U64(exchange.linked.size, 7);
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
    CHECK(take(&exchange, OK RANGE "X-Repo-Commit: " COMMIT "\r\n"));
    CHECK_STR(exchange.commit, COMMIT);
    CHECK(!take(&exchange, "HTTP/1.1 503 x\r\nRetry-After: 99999999\r\n"));
    CHECK_U64(exchange.retry_after, 1000000);
    CHECK(!take(&exchange, "HTTP/1.1 416 x\r\nContent-Range: bytes */0\r\n"));
    CHECK_U64(exchange.file.size, 0);
}

static void bad_heads_are_refused(void)
{
    static const struct {
        const char *head, *why;
    } rows[] = {
        {OK, "the server does not say which bytes it sends"},
        {OK RANGE RANGE, "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1000-1099/1099\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1000-999/5000\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1000-1099/*\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes -1-1099/5000\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1000-1099/5000x\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1000-1099/18446744073709556616\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: 1000-1099/5000\n",
         "the server sends a Content-Range that is not valid"},
        {OK "Content-Range:\n", "the server sends a Content-Range that is not valid"},
        {OK "Content-Range: bytes 1001-1099/5000\n",
         "the server sends other bytes than it was asked for"},
        {OK "Content-Range: bytes 1000-1100/5000\n",
         "the server sends other bytes than it was asked for"},
        {OK RANGE "Content-Length: 99\n",
         "the server's Content-Length contradicts its Content-Range"},
        {OK RANGE "Content-Length: 100\nContent-Length: 101\n",
         "the server sends a Content-Length that is not valid"},
        {OK RANGE "Content-Length: +100\n", "the server sends a Content-Length that is not valid"},
        {OK RANGE "Content-Encoding: gzip\n",
         "the server encodes what it sends, though it was asked not to"},
        {OK RANGE "Content-Encoding: identity, gzip\n",
         "the server encodes what it sends, though it was asked not to"},
#define NO_COMMIT "the server sends an X-Repo-Commit that is not a commit: 40 hexadecimal digits"
        {OK RANGE "X-Repo-Commit: " COMMIT "8\n", NO_COMMIT},
        {OK RANGE "X-Repo-Commit: 0123456789abcdef0123456789abcdef0123456\n", NO_COMMIT},
        {OK RANGE "X-Repo-Commit: 0123456789abcdef0123456789abcdef0123456g\n", NO_COMMIT},
        {OK RANGE "X-Repo-Commit: 0123456789abcdef0123456789abcdef012345/.\n", NO_COMMIT},
        {OK RANGE "X-Repo-Commit: ../../evil\n", NO_COMMIT},
        {OK RANGE "X-Repo-Commit:\n", NO_COMMIT},
        {"HTTP/1.1 200 OK\n" RANGE, "the server does not serve ranges; download it first"},
        {"HTTP/1.1\n", "the server does not answer as HTTP servers do"},
        {"HTTP/1.1 999 x\n", "the server does not answer as HTTP servers do"},
        {"HTTP/1.1 20 x\n", "the server does not answer as HTTP servers do"},
    };
    struct dti_exchange exchange;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(!take(&exchange, rows[i].head));
        CHECK_STR(exchange.why, rows[i].why);
    }
}

static void another_file_is_noticed(void)
{
    static const struct dti_exchange_file wanted = {.size = 5000, .tag = "a"};
    static const struct {
        const char *range, *tag;
        bool same;
    } rows[] = {{RANGE, "ETag: a\n", true},
                {RANGE, "ETag: b\n", false},
                {RANGE, "", false},
                {RANGE, "ETag: aa\n", false},
                {"Content-Range: bytes 1000-1099/5001\n", "ETag: a\n", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const lines[] = {OK, rows[i].range, rows[i].tag};
        struct dti_exchange exchange = {.offset = 1000, .room = 100, .wanted = &wanted};
        dti_exchange_reset(&exchange);
        for (size_t line = 0; line < 3; line++)
            CHECK(dti_exchange_take_line(&exchange, lines[line], strlen(lines[line])));
        CHECK(dti_exchange_judge(&exchange) == rows[i].same);
        CHECK_STR(exchange.why, rows[i].same ? "" : "it changed on the server while it was read");
    }
}

static void heads_are_bounded(void)
{
    struct dti_exchange exchange;
    CHECK(!take(&exchange, OK)); /* take() resets the exchange */
    exchange.why[0] = '\0';
    unsigned lines = 0;
    while (lines < 1000 && dti_exchange_take_line(&exchange, "X: y\r\n", 6))
        lines++;
    CHECK_U64(lines, 255);
    CHECK_STR(exchange.why, "the server sends too long a head");
    char line[400];
    memset(line, 'x', sizeof line);
    memcpy(line, "ETag: ", 6);
    CHECK(!take(&exchange, OK));
    exchange.judged = false;
    exchange.why[0] = '\0';
    CHECK(!dti_exchange_take_line(&exchange, line, sizeof line));
    CHECK_STR(exchange.why, "the server sends too long a head");
}

/* The IP address that a name resolves to is known only when connecting (SSRF protection). */
static void connections_go_where_they_may(void)
{
    static const struct {
        const char *start, *place;
        enum dti_host_place from;
        bool good;
    } rows[] = {
        {"https://h/", "10.0.0.1", DTI_HOST_NAMED, true},
        {"https://h/", "127.0.0.1", DTI_HOST_NAMED, true},
        {"https://h/", "8.8.8.8", DTI_HOST_PUBLIC, true},
        {"https://h/", "10.0.0.1", DTI_HOST_PUBLIC, false},
        {"https://h/", "127.0.0.1", DTI_HOST_PUBLIC, false},
        {"https://h/", "169.254.169.254", DTI_HOST_PUBLIC, false},
        {"https://h/", "169.254.169.254", DTI_HOST_LOOPBACK, false},
        {"https://h/", "127.0.0.1", DTI_HOST_LOOPBACK, true},
        {"https://h/", "10.0.0.1", DTI_HOST_PRIVATE, true},
        {"http://localhost/", "127.0.0.1", DTI_HOST_NAMED, true},
        {"http://localhost/", "8.8.8.8", DTI_HOST_NAMED, false},
        {"http://localhost/", "10.0.0.1", DTI_HOST_LOOPBACK, false},
    };
    static const char *const proxies[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        unsetenv(proxies[i]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dti_address address;
        struct sockaddr_in place = {.sin_family = AF_INET};
        struct sockaddr generic;
        if (!CHECK(!dti_address_parse(&address, rows[i].start)))
            continue;
        const struct dti_exchange exchange = {.address = &address, .from = rows[i].from};
        CHECK(inet_pton(AF_INET, rows[i].place, &place.sin_addr) == 1);
        memcpy(&generic, &place, sizeof generic);
        CHECK(dti_exchange_may_connect(&exchange, &generic, sizeof place) == rows[i].good);
        dti_address_free(&address);
    }
}

/* Without libcurl, or whatever answers at that port: only the lack of memory counts. */
static enum dti_status ask_nobody(struct dti_error *reterr)
{
    struct dti_input input;
    const enum dti_status status =
        dti_input_open_file(&input, "http://127.0.0.1:1/x.safetensors", reterr);
    if (status == DTI_OK)
        dti_input_close(&input);
    return status == DTI_NO_MEMORY ? status : DTI_OK;
}

static void memory_that_runs_out_is_told(void)
{
    tally_fail_each(ask_nobody);
}

UNIT_MAIN(good_heads_are_read, bad_heads_are_refused, another_file_is_noticed, heads_are_bounded,
          connections_go_where_they_may, memory_that_runs_out_is_told)
