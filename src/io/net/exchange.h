/* SPDX-License-Identifier: MIT
 *
 * One request for a byte range and its response, over one connection. */
#ifndef IO_NET_EXCHANGE_H
#define IO_NET_EXCHANGE_H

#include <stdint.h>

#include "io/net/address.h"
#include "io/net/curl.h"

enum { DTI_EXCHANGE_TAG = 256, DTI_EXCHANGE_WHY = 160, DTI_EXCHANGE_COMMIT = 41 };

/* Identifies a file version: two responses with equal values are parts of the same file. */
struct dti_exchange_file {
    uint64_t size;              /* UINT64_MAX: not known yet */
    char tag[DTI_EXCHANGE_TAG]; /* ETag, or else Last-Modified; "": neither */
};

enum dti_exchange_end {
    DTI_EXCHANGE_DONE,     /* all bytes of the announced range have arrived */
    DTI_EXCHANGE_REDIRECT, /* see `location` */
    DTI_EXCHANGE_AGAIN,    /* a failure that may be temporary */
    DTI_EXCHANGE_LATER, /* no such file; if a redirect led here, the start may redirect elsewhere by
                           now */
    DTI_EXCHANGE_REFUSED,
    DTI_EXCHANGE_NO_MEMORY,
};

/* A persistent connection and its request state. Zeroed means unused. */
struct dti_exchange {
    void *handle; /* libcurl easy handle */
    const struct dti_curl *curl;
    enum dti_host_place guard; /* value of `from` when its connections were made */
    /* request */
    const struct dti_address *address;
    const char *token;        /* NULL: send none */
    enum dti_host_place from; /* for a redirect: kind of network of the first address; else NAMED */
    const struct dti_exchange_file *wanted;
    uint64_t offset;
    char *bytes;
    size_t room;
    bool whole; /* not a range: a document of unknown size, at most `room` bytes */
    /* response */
    enum dti_host_place place; /* kind of network of the peer */
    size_t got;
    int status;           /* HTTP status; 0: no response */
    unsigned retry_after; /* seconds; 0: not stated */
    struct dti_exchange_file file;
    struct dti_exchange_file linked;  /* of the redirect target, as the hub states it */
    char commit[DTI_EXCHANGE_COMMIT]; /* commit that the hub serves the file from; "": not stated */
    char location[DTI_ADDRESS_MOST + 1];
    char why[DTI_EXCHANGE_WHY]; /* on failure: "the server answers 404 (not found)" */
    bool unreachable;           /* could not connect at all */
    /* parser state */
    uint64_t first, last, length; /* Content-Range and Content-Length; UINT64_MAX: absent */
    bool judged, fits, encoded, tagged;
    size_t head_bytes, head_lines, skipped;
    char error[DTI_CURL_ERROR_SIZE];
};

/* Requests `room` bytes at offset, or the whole document, and waits for the response. */
enum dti_exchange_end dti_exchange_run(struct dti_exchange *exchange, const struct dti_curl *curl);

/* NULL is fine. */
void dti_exchange_free(struct dti_exchange *exchange);

/* Whether the exchange may connect to this address; exposed for tests. */
bool dti_exchange_may_connect(const struct dti_exchange *exchange, const struct sockaddr *address,
                              size_t length);
/* Takes one response header line, with or without its terminator; judges whether to accept the
 * body. Exposed for tests. On refusal, `why` has the reason. */
bool dti_exchange_take_line(struct dti_exchange *exchange, const char *line, size_t length);
bool dti_exchange_judge(struct dti_exchange *exchange);
void dti_exchange_reset(struct dti_exchange *exchange);

#endif
