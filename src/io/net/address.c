/* SPDX-License-Identifier: MIT
 *
 * Parses addresses strictly: of the many spellings that other programs accept, only one is valid
 * here. A numeric host has its usual form, nothing is escaped needlessly, and there are no user
 * names.
 *
 * SSRF blocklist: IPv4 blocks (RFC 6890, RFC 6598) and IPv6 blocks (RFC 4291, RFC 4193, RFC
 * 6052) that a public server must not redirect us to. */
#define _DEFAULT_SOURCE /* inet_pton() */
#include "io/net/address.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/text/ascii.h"

struct block {
    uint32_t first;
    unsigned bits;
    enum dti_host_place place;
};

static const struct block blocks[] = {
    {0x00000000, 8, DTI_HOST_PRIVATE},  /* this network */
    {0x0a000000, 8, DTI_HOST_PRIVATE},  /* 10/8 */
    {0x64400000, 10, DTI_HOST_PRIVATE}, /* 100.64/10, carrier-grade NAT */
    {0x7f000000, 8, DTI_HOST_LOOPBACK}, /* 127/8 */
    {0xa9fe0000, 16, DTI_HOST_LINK},    /* 169.254/16, link-local */
    {0xac100000, 12, DTI_HOST_PRIVATE}, /* 172.16/12 */
    {0xc0000000, 24, DTI_HOST_PRIVATE}, /* 192.0.0/24 */
    {0xc0a80000, 16, DTI_HOST_PRIVATE}, /* 192.168/16 */
    {0xc6120000, 15, DTI_HOST_PRIVATE}, /* 198.18/15, benchmarking */
    {0xe0000000, 3, DTI_HOST_PRIVATE},  /* multicast, reserved, broadcast */
};

enum dti_host_place dti_host_place_v4(const unsigned char bytes[4])
{
    const uint32_t address =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if ((address ^ blocks[i].first) >> (32 - blocks[i].bits) == 0)
            return blocks[i].place;
    }
    return DTI_HOST_PUBLIC;
}

enum dti_host_place dti_host_place_v6(const unsigned char bytes[16])
{
    static const unsigned char zeros[16], mapped[12] = {[10] = 0xff, [11] = 0xff},
                                          nat[12] = {0x00, 0x64, 0xff, 0x9b};
    if (memcmp(bytes, zeros, 15) == 0 && bytes[15] <= 1)
        return bytes[15] == 1 ? DTI_HOST_LOOPBACK : DTI_HOST_PRIVATE;
    if (memcmp(bytes, mapped, 12) == 0 || memcmp(bytes, nat, 12) == 0 ||
        memcmp(bytes, zeros, 12) == 0)
        return dti_host_place_v4(bytes + 12);
    if (bytes[0] == 0x20 && bytes[1] == 0x02) /* 6to4 */
        return dti_host_place_v4(bytes + 2);
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
        return DTI_HOST_LINK;
    /* only 2000::/3 of the rest is public: everything else is local, multicast or reserved */
    return bytes[0] >> 5 == 1 ? DTI_HOST_PUBLIC : DTI_HOST_PRIVATE;
}

enum dti_host_place dti_host_place_of(const char *text)
{
    unsigned char bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1)
        return dti_host_place_v4(bytes);
    if (inet_pton(AF_INET6, text, bytes) == 1)
        return dti_host_place_v6(bytes);
    return DTI_HOST_NAMED;
}

bool dti_host_may_lead(enum dti_host_place from, enum dti_host_place to)
{
    return to == DTI_HOST_PUBLIC || to == DTI_HOST_NAMED || to == from;
}

const char dti_address_no_memory[] = "out of memory";

static bool is_letter(char c)
{
    const char lower = dti_ascii_lower(c);
    return lower >= 'a' && lower <= 'z';
}

static bool is_word(char c) /* RFC 3986: unreserved */
{
    return is_letter(c) || dti_ascii_digit(c) || (c != '\0' && strchr("-._~", c));
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Accepts printable ASCII only; a percent sign must be followed by two hexadecimal digits. */
static const char *check_letters(const char *text)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    const size_t length = strlen(text);
    if (length > DTI_ADDRESS_MOST)
        return "the address is too long";
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= ' ' || text[i] > '~' || strchr("\"<>\\^`{|}", text[i]))
            return "the address contains characters that must be written as %XX";
        if (text[i] == '%' &&
            (length - i < 3 || !strchr(hex, text[i + 1]) || !strchr(hex, text[i + 2])))
            return "the address contains a % that no two hexadecimal digits follow";
    }
    return NULL;
}

static const char *read_port(struct dti_address *address, const char *text, size_t length)
{
    unsigned port = 0;
    if (length == 0 || length > 5)
        return "the port is not a number from 1 to 65535";
    for (size_t i = 0; i < length; i++) {
        if (!dti_ascii_digit(text[i]))
            return "the port is not a number from 1 to 65535";
        port = 10 * port + (unsigned)(text[i] - '0');
    }
    address->port = port;
    return port == 0 || port > 65535 ? "the port is not a number from 1 to 65535" : NULL;
}

/* Reads a host name or an IP address in its usual form. Other forms (127.1, 0x7f000001) hide
 * which host they mean. */
static const char *read_host(struct dti_address *address, const char *text, size_t length,
                             bool bracketed)
{
    if (length == 0 || length >= DTI_ADDRESS_HOST)
        return "the address has no host";
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(text[i]) && !dti_ascii_digit(text[i]) &&
            !strchr(bracketed ? ":." : "-._", text[i]))
            return "the host contains characters that no host has";
        address->host[i] = dti_ascii_lower(text[i]);
    }
    address->host[length] = '\0';
    while (!bracketed && length > 1 && address->host[length - 1] == '.')
        address->host[--length] = '\0';
    address->place = dti_host_place_of(address->host);
    if (!bracketed && (strcmp(address->host, "localhost") == 0 ||
                       dti_text_ends(address->host, length, ".localhost")))
        address->place = DTI_HOST_LOOPBACK;
    const char *const dot = strrchr(address->host, '.');
    const char *const last = dot ? dot + 1 : address->host;
    const bool named = address->place == DTI_HOST_NAMED;
    if (bracketed && (named || !strchr(address->host, ':')))
        return "the host in brackets is not an IPv6 address";
    if (named && (dti_ascii_digit(*last) || *last == '\0'))
        return "the host is not an IPv4 address of four numbers";
    return NULL;
}

/* "host", "host:port", "[::1]:port" */
static const char *read_authority(struct dti_address *address, const char *text, size_t length)
{
    const bool bracketed = length > 0 && *text == '[';
    if (memchr(text, '@', length))
        return "the address contains a user name or a password";
    const char *const end = text + length;
    const char *const close = bracketed ? memchr(text, ']', length) : NULL;
    if (bracketed && !close)
        return "the host in brackets is not an IPv6 address";
    const char *const colon = bracketed ? close + 1 : memchr(text, ':', length);
    const char *const host = text + bracketed;
    const char *const host_end = bracketed ? close : colon ? colon : end;
    const char *why = read_host(address, host, (size_t)(host_end - host), bracketed);
    address->port = address->secure ? 443 : 80;
    if (!why && colon && colon < end && *colon != ':')
        why = "the host in brackets is not an IPv6 address";
    if (!why && colon && colon < end)
        why = read_port(address, colon + 1, (size_t)(end - colon - 1));
    return why;
}

static char *join(const struct dti_address *address, const char *rest)
{
    const bool v6 = strchr(address->host, ':') != NULL;
    const bool usual = address->port == (address->secure ? 443U : 80U);
    const size_t size = strlen(address->host) + strlen(rest) + 32;
    char port[16] = "";
    if (!usual)
        (void)snprintf(port, sizeof port, ":%u", address->port);
    char *const url = dti_malloc(size);
    if (url)
        (void)snprintf(url, size, "%s://%s%s%s%s%s%s", address->secure ? "https" : "http",
                       v6 ? "[" : "", address->host, v6 ? "]" : "", port, rest[0] == '/' ? "" : "/",
                       rest);
    return url;
}

const char *dti_address_parse(struct dti_address *ret, const char *text)
{
    struct dti_address address = {.secure = starts(text, "https://")};
    const char *why = check_letters(text);
    if (why)
        return why;
    if (!address.secure && !starts(text, "http://"))
        return "only https:// and hf:// addresses are read; download the file first";
    text += strlen(address.secure ? "https://" : "http://");
    const size_t length = strcspn(text, "/?#");
    why = read_authority(&address, text, length);
    if (why)
        return why;
    if (strchr(text, '#'))
        return "the address contains a #, which must be written as %23";
    if (!address.secure && address.place != DTI_HOST_LOOPBACK)
        return "http:// is not encrypted and is for this machine alone; use https://";
    address.url = join(&address, text + length);
    if (!address.url)
        return dti_address_no_memory;
    *ret = address;
    return NULL;
}

/* Length of the prefix of url that a relative location keeps. */
static size_t kept_length(const char *url, const char *location)
{
    const char *const host = strstr(url, "//") + 2;
    const size_t authority = (size_t)(host - url) + strcspn(host, "/");
    const size_t path = strcspn(url, "?");
    if (starts(location, "//"))
        return (size_t)(host - url) - 2;
    if (*location == '/')
        return authority;
    if (*location == '?')
        return path;
    size_t folder = path;
    while (folder > authority + 1 && url[folder - 1] != '/')
        folder--;
    return folder;
}

/* Whether it starts with a scheme: "http:" of "http://host", but not a colon in a path. */
static bool has_scheme(const char *location)
{
    size_t length = 0;
    while (is_letter(location[length]) || (length > 0 && dti_ascii_digit(location[length])) ||
           (length > 0 && location[length] != '\0' && strchr("+-.", location[length])))
        length++;
    return length > 0 && location[length] == ':';
}

const char *dti_address_redirected(struct dti_address *ret, const struct dti_address *from,
                                   const char *location)
{
    struct dti_buffer text;
    struct dti_address address;
    dti_buffer_init(&text);
    if (!has_scheme(location))
        dti_buffer_append(&text, from->url, kept_length(from->url, location));
    dti_buffer_append(&text, location, strcspn(location, "#"));
    for (size_t i = 0; i < text.length && i < 8 && text.data[i] != ':'; i++)
        text.data[i] = dti_ascii_lower(text.data[i]);
    const char *why = NULL;
    if (text.failed)
        why = dti_address_no_memory;
    else if (from->secure && !starts(text.data, "https:"))
        why = "the server redirects to an address that is not https://";
    else
        why = dti_address_parse(&address, text.data);
    dti_buffer_free(&text);
    if (!why)
        *ret = address;
    return why;
}

/* Appends one part of a hub address, up to any of the characters in `end`. */
static const char *add_part(struct dti_buffer *text, const char **at, const char *end)
{
    const size_t length = strcspn(*at, end);
    bool dots = true;
    for (size_t i = 0; i < length; i++) {
        if (!is_word((*at)[i]) || (*at)[i] == '~')
            return "expected hf://org/model/file or hf://org/model@revision/file";
        dots = dots && (*at)[i] == '.';
    }
    if (dots)
        return "expected hf://org/model/file or hf://org/model@revision/file";
    dti_buffer_append(text, *at, length);
    *at += length;
    return NULL;
}

void dti_address_escape(struct dti_buffer *text, const char *path)
{
    for (; *path != '\0'; path++) {
        if (is_word(*path) || *path == '/')
            dti_buffer_append(text, path, 1);
        else
            dti_buffer_print(text, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

/* Appends the file's path, percent-encoded. */
static const char *add_file(struct dti_buffer *text, const char *file)
{
    for (const char *part = file; *part != '\0';) {
        const size_t length = strcspn(part, "/");
        if (length == 0 || (length <= 2 && strspn(part, ".") >= length))
            return "the path of the file contains an empty part, . or ..";
        part += length + (part[length] == '/');
    }
    const size_t length = strlen(file);
    if (length == 0 || file[length - 1] == '/')
        return "name a file of the model, as in hf://org/model/model.safetensors";
    dti_address_escape(text, file);
    return NULL;
}

/* Appends the revision after "@", if any. step: "/resolve/" */
static const char *add_revision(struct dti_buffer *text, const char **at, const char *step,
                                const char *commit)
{
    const size_t start = text->length + strlen(step);
    dti_buffer_puts(text, step);
    const char *why = NULL;
    if (**at == '@') {
        (*at)++;
        why = add_part(text, at, "/");
    } else {
        dti_buffer_puts(text, "main");
    }
    if (!why && commit && !text->failed) {
        text->length = start;
        dti_buffer_puts(text, commit);
    }
    return why;
}

/* Appends the endpoint, the path of an interface, and "org/model". */
static const char *add_model(struct dti_buffer *url, const char **at, const char *endpoint,
                             const char *interface)
{
    if (starts(*at, "datasets/") || starts(*at, "spaces/"))
        return "only files of models are read from the hub";
    dti_buffer_puts(url, endpoint);
    while (url->length > 0 && url->data[url->length - 1] == '/')
        url->data[--url->length] = '\0';
    dti_buffer_puts(url, interface);
    const char *why = add_part(url, at, "/");
    if (!why && **at == '/') {
        (*at)++;
        dti_buffer_puts(url, "/");
        why = add_part(url, at, "/@");
    }
    return why;
}

static const char *finish(struct dti_address *ret, struct dti_buffer *url, const char *why)
{
    if (!why)
        why = url->failed ? dti_address_no_memory : dti_address_parse(ret, url->data);
    dti_buffer_free(url);
    return why;
}

const char *dti_address_of_hf(struct dti_address *ret, const char *text, const char *endpoint,
                              const char *commit)
{
    struct dti_buffer url;
    const char *at = text + strlen("hf://");
    if (strlen(text) > DTI_ADDRESS_MOST / 4)
        return "the address is too long";
    dti_buffer_init(&url);
    const char *why = add_model(&url, &at, endpoint, "/");
    if (!why)
        why = add_revision(&url, &at, "/resolve/", commit);
    dti_buffer_puts(&url, "/");
    if (!why)
        why = *at == '/' ? add_file(&url, at + 1)
                         : "name a file of the model, as in hf://org/model/model.safetensors";
    return finish(ret, &url, why);
}

const char *dti_address_of_hub(struct dti_address *ret, const char *text, const char *endpoint)
{
    struct dti_buffer url;
    const char *at = text + strlen("hf://");
    if (strlen(text) > DTI_ADDRESS_MOST / 4)
        return "the address is too long";
    dti_buffer_init(&url);
    const char *why = add_model(&url, &at, endpoint, "/api/models/");
    if (!why)
        why = add_revision(&url, &at, "/revision/", NULL);
    return finish(ret, &url, why);
}

void dti_address_free(struct dti_address *address)
{
    dti_free(address->url);
    address->url = NULL;
}

bool dti_address_same_host(const struct dti_address *a, const struct dti_address *b)
{
    return a->secure == b->secure && a->port == b->port && strcmp(a->host, b->host) == 0;
}
