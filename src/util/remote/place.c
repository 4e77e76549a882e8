/* SPDX-License-Identifier: MIT
 *
 * Where hosts are: blocks of IPv4 (RFC 6890, RFC 6598) and IPv6 (RFC 4291, RFC 4193, RFC 6052)
 * addresses that a server somewhere else must not send us to. */
#define _DEFAULT_SOURCE /* inet_pton() */
#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "util/remote/address.h"

struct block {
    uint32_t first;
    unsigned bits;
    enum dti_host_place place;
};

static const struct block blocks[] = {
    {0x00000000, 8, DTI_HOST_PRIVATE},  /* this network */
    {0x0a000000, 8, DTI_HOST_PRIVATE},  /* 10/8 */
    {0x64400000, 10, DTI_HOST_PRIVATE}, /* 100.64/10, of carriers */
    {0x7f000000, 8, DTI_HOST_LOOPBACK}, /* 127/8 */
    {0xa9fe0000, 16, DTI_HOST_LINK},    /* 169.254/16 */
    {0xac100000, 12, DTI_HOST_PRIVATE}, /* 172.16/12 */
    {0xc0000000, 24, DTI_HOST_PRIVATE}, /* 192.0.0/24 */
    {0xc0a80000, 16, DTI_HOST_PRIVATE}, /* 192.168/16 */
    {0xc6120000, 15, DTI_HOST_PRIVATE}, /* 198.18/15, of measurements */
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
    /* 2000::/3 is what is public of the rest: the others are local, multicast or reserved */
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
