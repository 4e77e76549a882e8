/* SPDX-License-Identifier: MIT
 *
 * Addresses of files, and which of them may be asked for. */
#ifndef IO_NET_ADDRESS_H
#define IO_NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

enum { DTI_ADDRESS_HOST = 256, DTI_ADDRESS_MOST = 8192 };

/* Where a host is. */
enum dti_host_place {
    DTI_HOST_NAMED, /* a name: its address is not known yet */
    DTI_HOST_PUBLIC,
    DTI_HOST_LOOPBACK,
    DTI_HOST_PRIVATE,
    DTI_HOST_LINK, /* addresses that are valid on one link: services of cloud machines */
};

struct dti_address {
    char *url; /* as it is requested */
    bool secure;
    char host[DTI_ADDRESS_HOST]; /* in lower case, without the brackets of IPv6 */
    unsigned port;
    enum dti_host_place place;
};

/* What the functions below return when memory ran out. */
extern const char dti_address_no_memory[];

/* Reads https://host[:port][/path][?query], or the same with http:// for this machine. NULL, or why
 * it is refused: "contains a user name"; *ret is not to be freed then. */
const char *dti_address_parse(struct dti_address *ret, const char *text);
/* Where a server sends us on to from an address. It must not lead from https to http. */
const char *dti_address_redirected(struct dti_address *ret, const struct dti_address *from,
                                   const char *location);
/* hf://org/model[@revision]/file at an endpoint, such as https://huggingface.co. commit: what
 * stands in place of the revision, or NULL. */
const char *dti_address_of_hf(struct dti_address *ret, const char *text, const char *endpoint,
                              const char *commit);
/* Appends a path, whose letters are escaped as an address needs it. */
void dti_address_escape(struct dti_buffer *text, const char *path);
void dti_address_free(struct dti_address *address);

bool dti_address_same_host(const struct dti_address *a, const struct dti_address *b);

/* The place of an IPv4 or IPv6 address in words, DTI_HOST_NAMED if it is none; and in bytes. */
enum dti_host_place dti_host_place_of(const char *text);
enum dti_host_place dti_host_place_v4(const unsigned char bytes[4]);
enum dti_host_place dti_host_place_v6(const unsigned char bytes[16]);
/* Whether a file that is at the place `from` may send us to the place `to`. */
bool dti_host_may_lead(enum dti_host_place from, enum dti_host_place to);

#endif
