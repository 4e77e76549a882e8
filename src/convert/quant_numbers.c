/* SPDX-License-Identifier: MIT
 *
 * Loads and stores the numbers and codes of a tile. Arrays may be packed, and a tile may start
 * inside a byte. */
#include <assert.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"

/* The packing of an array's elements. */
struct array_packing {
    unsigned bits;
    bool high_first;
    const struct dti_kernel *pack, *unpack;
};

static unsigned shift_of(const struct array_packing *p, uint64_t at)
{
    const unsigned offset = (unsigned)(at % 8) * p->bits % 8;
    return p->high_first ? 16 - p->bits - offset : offset;
}

/* Stores one element, which may span two bytes. Bits of later elements are kept with `among`,
 * otherwise zeroed. */
static void put_one(const struct array_packing *p, unsigned char *packed, uint64_t at,
                    unsigned code, bool among)
{
    const uint64_t byte = at / 8 * p->bits + at % 8 * p->bits / 8;
    const unsigned offset = (unsigned)(at % 8) * p->bits % 8;
    const unsigned shift = shift_of(p, at), mask = (unsigned)dti_low_bits(p->bits);
    const bool two = offset + p->bits > 8;
    unsigned char *const low = packed + byte;
    /* combine both bytes; the first one is the low or the high byte */
    unsigned word = offset > 0 || among ? (p->high_first ? low[0] * 256U : low[0]) : 0;
    if (two && among)
        word |= p->high_first ? low[1] : low[1] * 256U;
    word = (word & ~(mask << shift)) | (code & mask) << shift;
    low[0] = (unsigned char)(p->high_first ? word >> 8 : word);
    if (two)
        low[1] = (unsigned char)(p->high_first ? word : word >> 8);
}

static void put_packed(const struct array_packing *p, unsigned char *packed, uint64_t at,
                       const unsigned char *bytes, size_t n, bool among)
{
    const struct dti_kernel_args args = {.bits = p->bits, .high_first = p->high_first};
    size_t done = 0;
    for (; done < n && (at + done) % 8 != 0; done++)
        put_one(p, packed, at + done, bytes[done], among);
    const size_t rest = n - done, direct = among ? rest / 8 * 8 : rest;
    if (direct > 0)
        p->pack->run(&args, packed + (at + done) / 8 * p->bits, bytes + done, direct);
    for (done += direct; done < n; done++)
        put_one(p, packed, at + done, bytes[done], among);
}

static unsigned get_one(const struct array_packing *p, const unsigned char *packed, uint64_t at)
{
    const uint64_t byte = at / 8 * p->bits + at % 8 * p->bits / 8;
    const unsigned offset = (unsigned)(at % 8) * p->bits % 8;
    const bool two = offset + p->bits > 8;
    const unsigned first = packed[byte], second = two ? packed[byte + 1] : 0;
    const unsigned word = p->high_first ? first * 256 + second : first + second * 256;
    return word >> shift_of(p, at) & (unsigned)dti_low_bits(p->bits);
}

static void get_packed(const struct array_packing *p, unsigned char *bytes,
                       const unsigned char *packed, uint64_t at, size_t n)
{
    const struct dti_kernel_args args = {.bits = p->bits, .high_first = p->high_first};
    size_t done = 0;
    for (; done < n && (at + done) % 8 != 0; done++)
        bytes[done] = (unsigned char)get_one(p, packed, at + done);
    if (done < n)
        p->unpack->run(&args, bytes + done, packed + (at + done) / 8 * p->bits, n - done);
}

static struct array_packing packing_of(const struct dti_quant_plan *plan)
{
    return (struct array_packing){.bits = plan->code_bits,
                                  .high_first = plan->request.order == DTI_BLOCK_HIGH,
                                  .pack = plan->pack,
                                  .unpack = plan->unpack};
}

void dti_quant_put(const struct dti_quant_plan *plan, unsigned char *codes, uint64_t at,
                   const unsigned char *containers, size_t n, bool among)
{
    if (plan->code_bits < 8) {
        const struct array_packing packing = packing_of(plan);
        put_packed(&packing, codes, at, containers, n, among);
    } else {
        memcpy(codes + at * plan->container, containers, n * plan->container);
    }
}

void dti_quant_get(const struct dti_quant_plan *plan, unsigned char *containers,
                   const unsigned char *codes, uint64_t at, size_t n)
{
    if (plan->code_bits < 8) {
        const struct array_packing packing = packing_of(plan);
        get_packed(&packing, containers, codes, at, n);
    } else {
        memcpy(containers, codes + at * plan->container, n * plan->container);
    }
}

const float *dti_quant_load(const struct dti_quant_plan *plan, const void *numbers, size_t at,
                            size_t n, float *buffer)
{
    const unsigned char *const from = numbers;
    if (plan->plain)
        return (const float *)(const void *)(from + 4 * at);
    /* start at a whole byte */
    const size_t before = plan->number_bits < 8 ? at % 8 : 0, begin = at - before;
    const size_t offset =
        plan->number_bits < 8 ? begin / 8 * plan->number_bits : begin * (plan->number_bits / 8);
    const enum dti_status status = dti_plan_run(plan->load, buffer, from + offset, n + before, 0,
                                                DTI_STORES_CACHED, NULL, NULL);
    assert(status == DTI_OK); /* only stack rules can fail */
    (void)status;
    return buffer + before;
}

void dti_quant_store(const struct dti_quant_plan *plan, void *numbers, size_t at, const float *x,
                     size_t n, unsigned char *bytes)
{
    const bool packed = plan->number_bits < 8;
    unsigned char *const to =
        packed ? bytes : (unsigned char *)numbers + at * (plan->number_bits / 8);
    const enum dti_status status =
        dti_plan_run(plan->store, to, x, n, 0, DTI_STORES_CACHED, NULL, NULL);
    assert(status == DTI_OK);
    (void)status;
    if (!packed)
        return;
    const struct array_packing packing = {
        .bits = plan->number_bits,
        .high_first = plan->request.layout.packing == DTI_PACKING_HIGH,
        .pack = plan->pack_numbers,
    };
    put_packed(&packing, numbers, at, bytes, n, false);
}
