/* SPDX-License-Identifier: MIT
 *
 * Addresses of files, and the SSRF policy: which of them may be requested. */
#ifndef IO_NET_ADDRESS_H
#define IO_NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

enum { DTI_ADDRESS_HOST = 256, DTI_ADDRESS_MOST = 8192 };

/* The kind of network a host is in. */
enum dti_host_place {
    DTI_HOST_NAMED, /* a host name, not resolved yet */
    DTI_HOST_PUBLIC,
    DTI_HOST_LOOPBACK,
    DTI_HOST_PRIVATE,
    DTI_HOST_LINK, /* link-local: metadata services of cloud machines */
};

struct dti_address {
    char *url; /* as requested */
    bool secure;
    char host[DTI_ADDRESS_HOST]; /* lower case; IPv6 without the brackets */
    unsigned port;
    enum dti_host_place place;
};

/* Returned by the functions below if memory ran out. */
extern const char dti_address_no_memory[];

/* Parses https://host[:port][/path][?query], or http:// for this machine only. Returns NULL, or
 * why it is refused: "contains a user name"; then *ret must not be freed. */
const char *dti_address_parse(struct dti_address *ret, const char *text);
/* Resolves a redirect location against an address. Must not go from https to http. */
const char *dti_address_redirected(struct dti_address *ret, const struct dti_address *from,
                                   const char *location);
/* Resolves hf://org/model[@revision]/file at an endpoint such as https://huggingface.co. commit:
 * replaces the revision, or NULL. */
const char *dti_address_of_hf(struct dti_address *ret, const char *text, const char *endpoint,
                              const char *commit);
/* Resolves hf://org/model[@revision] to the hub's description of that model. */
const char *dti_address_of_hub(struct dti_address *ret, const char *text, const char *endpoint);
/* Appends a path, percent-encoded. */
void dti_address_escape(struct dti_buffer *text, const char *path);
void dti_address_free(struct dti_address *address);

bool dti_address_same_host(const struct dti_address *a, const struct dti_address *b);

/* Classifies an IPv4 or IPv6 address given as text (DTI_HOST_NAMED if it is neither) or as
 * bytes. */
enum dti_host_place dti_host_place_of(const char *text);
enum dti_host_place dti_host_place_v4(const unsigned char bytes[4]);
enum dti_host_place dti_host_place_v6(const unsigned char bytes[16]);
/* Whether a file on a host of kind `from` may redirect us to a host of kind `to`. */
bool dti_host_may_lead(enum dti_host_place from, enum dti_host_place to);

#endif
