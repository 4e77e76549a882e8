/* SPDX-License-Identifier: MIT
 *
 * One request for a range of bytes and its answer, over one connection. */
#ifndef IO_NET_EXCHANGE_H
#define IO_NET_EXCHANGE_H

#include <stdint.h>

#include "io/net/address.h"
#include "io/net/curl.h"

enum { DTI_EXCHANGE_TAG = 256, DTI_EXCHANGE_WHY = 160, DTI_EXCHANGE_COMMIT = 41 };

/* What makes two answers parts of the same file. */
struct dti_exchange_file {
    uint64_t size;              /* UINT64_MAX: not known yet */
    char tag[DTI_EXCHANGE_TAG]; /* ETag, or else Last-Modified; "": it has none */
};

enum dti_exchange_end {
    DTI_EXCHANGE_DONE,     /* all bytes of the range that was announced are there */
    DTI_EXCHANGE_REDIRECT, /* location */
    DTI_EXCHANGE_AGAIN,    /* a failure that may pass */
    DTI_EXCHANGE_LATER,    /* no file there: what led here may lead elsewhere by now */
    DTI_EXCHANGE_REFUSED,
    DTI_EXCHANGE_NO_MEMORY,
};

/* A connection that is kept, with what it needs; zeros are one that has not been used. */
struct dti_exchange {
    void *handle; /* of libcurl */
    const struct dti_curl *curl;
    enum dti_host_place guard; /* `from` when its connections were made */
    /* asked */
    const struct dti_address *address;
    const char *token;        /* NULL: none is sent */
    enum dti_host_place from; /* of a redirect: the place of the first address; else NAMED */
    const struct dti_exchange_file *wanted;
    uint64_t offset;
    char *bytes;
    size_t room;
    /* answered */
    enum dti_host_place place; /* of the address that was connected to */
    size_t got;
    int status;           /* of HTTP; 0: no answer came */
    unsigned retry_after; /* seconds; 0: it does not say */
    struct dti_exchange_file file;
    struct dti_exchange_file linked;  /* the hub says it of what it redirects to */
    char commit[DTI_EXCHANGE_COMMIT]; /* that the hub reads the file of; "": it does not say */
    char location[DTI_ADDRESS_MOST + 1];
    char why[DTI_EXCHANGE_WHY]; /* of a failure: "the server answers 404 (not found)" */
    bool unreachable;           /* it was not even connected to */
    /* on the way */
    uint64_t first, last, length; /* of Content-Range and Content-Length; UINT64_MAX: not said */
    bool judged, fits, encoded, tagged;
    size_t head_bytes, head_lines, skipped;
    char error[DTI_CURL_ERROR_SIZE];
};

/* Asks for `room` bytes from offset and waits for the answer. */
enum dti_exchange_end dti_exchange_run(struct dti_exchange *exchange, const struct dti_curl *curl);

/* Whether the exchange may connect there; shared with tests. */
bool dti_exchange_may_connect(const struct dti_exchange *exchange, const struct sockaddr *address,
                              size_t length);
/* A line of an answer's head, without its end, and whether the body may follow; shared with tests.
 * What is wrong is in `why`. */
bool dti_exchange_take_line(struct dti_exchange *exchange, const char *line, size_t length);
bool dti_exchange_judge(struct dti_exchange *exchange);
void dti_exchange_reset(struct dti_exchange *exchange);

#endif
