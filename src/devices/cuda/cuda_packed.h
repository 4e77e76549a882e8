/* SPDX-License-Identifier: MIT
 *
 * Table lookups and packed codes. A table of 256 codes is in the shared memory of a thread
 * block. Packed codes are processed in groups of eight elements, one group per thread. */
#ifndef DEVICES_CUDA_CUDA_PACKED_H
#define DEVICES_CUDA_CUDA_PACKED_H

#include "devices/cuda/cuda_chunk.h"
#include "kernels/cast/lanes_packed.h"

enum { DTI_TABLE_CODES = 256, DTI_GROUP = 8 };

/* A table's containers as low and high halves; high only for containers of 8 bytes. */
struct dti_shared_table {
    uint32_t low[DTI_TABLE_CODES], high[DTI_TABLE_CODES];
};

/* Loads the table with all threads of a block. Returns the bytes per container. */
DTI_LANE unsigned dti_table_fetch(struct dti_shared_table *shared, uint64_t table,
                                  const struct dti_thread *thread)
{
    const unsigned to =
        (unsigned)dti_load_aligned(table + offsetof(struct dti_code_table, container), 4);
    const uint64_t words = table + offsetof(struct dti_code_table, word);
    for (uint32_t code = thread->in_block; code < DTI_TABLE_CODES; code += thread->block_size) {
        const uint64_t word = dti_load_aligned(words + 8 * code, 8);
        shared->low[code] = (uint32_t)word;
        if (to == 8)
            shared->high[code] = (uint32_t)(word >> 32);
    }
    dti_block_wait();
    return to;
}

/* Looks up `per` one-byte codes in words; writes containers of `to` bytes. Both are constants. */
DTI_LANE void dti_table_look_up(const struct dti_shared_table *table, const uint32_t in[DTI_WORDS],
                                uint32_t out[DTI_WORDS], unsigned per, unsigned to)
{
    DTI_FLAT
    for (unsigned i = 0; i < DTI_WORDS; i++)
        out[i] = 0;
    DTI_FLAT
    for (unsigned i = 0; i < per; i++) {
        const uint32_t code = dti_word_get(in, 1, i);
        if (to == 8) {
            out[2 * i] = table->low[code];
            out[2 * i + 1] = table->high[code];
        } else {
            dti_word_put(out, to, i, table->low[code]);
        }
    }
}

/* Converts chunks c, c + step, ...: `count` of them, a constant. */
DTI_LANE void dti_table_move(const struct dti_gpu_cast_args *args,
                             const struct dti_shared_table *table, uint64_t c, uint64_t step,
                             unsigned count, unsigned to)
{
    const unsigned per = 16 / to;
    uint32_t in[DTI_CHUNKS_AT_ONCE][DTI_WORDS], out[DTI_WORDS];
    DTI_FLAT
    for (unsigned k = 0; k < count; k++)
        dti_load(args->src + (c + k * step) * per, per, in[k]);
    DTI_FLAT
    for (unsigned k = 0; k < count; k++) {
        dti_table_look_up(table, in[k], out, per, to);
        dti_store(args->dst + (c + k * step) * 16, 16, out);
    }
}

DTI_LANE void dti_table_codes(const struct dti_gpu_cast_args *args, const struct dti_thread *thread,
                              const struct dti_shared_table *table, unsigned to)
{
    const unsigned per = 16 / to;
    const bool aligned = args->src % per == 0 && args->dst % 16 == 0;
    const uint64_t chunks = aligned ? args->n / per : 0, step = thread->count;
    const uint64_t most = (DTI_CHUNKS_AT_ONCE - 1) * step;
    uint64_t c = thread->index;
    for (; c + most < chunks; c += DTI_CHUNKS_AT_ONCE * step)
        dti_table_move(args, table, c, step, DTI_CHUNKS_AT_ONCE, to);
    for (; c < chunks; c += step)
        dti_table_move(args, table, c, step, 1, to);
    for (uint64_t i = chunks * per + thread->index; i < args->n; i += step) {
        const uint64_t code = dti_load_number(args->src + i, 1);
        const uint64_t high = to == 8 ? table->high[code] : 0;
        dti_store_number(args->dst + i * to, to, high << 32 | table->low[code]);
    }
}

DTI_LANE void dti_run_table(const struct dti_gpu_cast_args *args, const struct dti_thread *thread,
                            struct dti_shared_table *table)
{
    switch (dti_table_fetch(table, args->table, thread)) {
    case 1:
        dti_table_codes(args, thread, table, 1);
        break;
    case 2:
        dti_table_codes(args, thread, table, 2);
        break;
    case 4:
        dti_table_codes(args, thread, table, 4);
        break;
    default:
        dti_table_codes(args, thread, table, 8);
        break;
    }
}

/* Loads 1 to 8 bytes as a little-endian number. */
DTI_LANE uint64_t dti_bytes_load(uint64_t from, unsigned bytes)
{
    uint64_t word = 0;
    if (bytes == 4 || bytes == 8)
        return bytes == 4 ? dti_load_number(from, 4) : dti_load_number(from, 8);
    for (unsigned i = 0; i < bytes; i++)
        word |= dti_load_aligned(from + i, 1) << 8 * i;
    return word;
}

DTI_LANE void dti_bytes_store(uint64_t to, unsigned bytes, uint64_t word)
{
    if (bytes == 4) {
        dti_store_number(to, 4, word);
    } else if (bytes == 8) {
        dti_store_number(to, 8, word);
    } else {
        for (unsigned i = 0; i < bytes; i++)
            dti_store_aligned(to + i, 1, word >> 8 * i);
    }
}

/* Elements in the group: eight, or the remainder. */
DTI_LANE unsigned dti_group_size(const struct dti_gpu_cast_args *args, uint64_t group)
{
    const uint64_t left = args->n - group * DTI_GROUP;
    return left < DTI_GROUP ? (unsigned)left : DTI_GROUP;
}

/* Bytes of that many packed codes. */
DTI_LANE unsigned dti_group_bytes(const struct dti_gpu_cast_args *args, unsigned elements)
{
    return (elements * args->bits + 7) / 8;
}

/* Unpacks a group of codes, one per byte. */
DTI_LANE uint64_t dti_group_unpack(const struct dti_gpu_cast_args *args, uint64_t group,
                                   unsigned elements)
{
    const unsigned bits = args->bits;
    const uint64_t word = dti_bytes_load(args->src + group * bits, dti_group_bytes(args, elements));
    if (args->high_first == 0)
        return dti_lane_spread(word, bits);
    return dti_swapped(dti_lane_spread(dti_swapped(word, 8) >> (64 - 8 * bits), bits), 8);
}

DTI_LANE void dti_group_pack(const struct dti_gpu_cast_args *args, uint64_t group,
                             unsigned elements, uint64_t codes)
{
    const unsigned bits = args->bits;
    uint64_t word = 0;
    if (args->high_first == 0)
        word = dti_lane_press(codes, bits);
    else
        word = dti_swapped(dti_lane_press(dti_swapped(codes, 8), bits) << (64 - 8 * bits), 8);
    dti_bytes_store(args->dst + group * bits, dti_group_bytes(args, elements), word);
}

DTI_LANE void dti_run_unpack(const struct dti_gpu_cast_args *args, const struct dti_thread *thread)
{
    const uint64_t groups = (args->n + DTI_GROUP - 1) / DTI_GROUP;
    for (uint64_t group = thread->index; group < groups; group += thread->count) {
        const unsigned elements = dti_group_size(args, group);
        dti_bytes_store(args->dst + group * DTI_GROUP, elements,
                        dti_group_unpack(args, group, elements));
    }
}

DTI_LANE void dti_run_pack(const struct dti_gpu_cast_args *args, const struct dti_thread *thread)
{
    const uint64_t groups = (args->n + DTI_GROUP - 1) / DTI_GROUP;
    for (uint64_t group = thread->index; group < groups; group += thread->count) {
        const unsigned elements = dti_group_size(args, group);
        dti_group_pack(args, group, elements,
                       dti_bytes_load(args->src + group * DTI_GROUP, elements));
    }
}

/* Stores unpacked codes in containers of `to` bytes, a constant. */
DTI_LANE void dti_unpack_codes(const struct dti_gpu_cast_args *args,
                               const struct dti_thread *thread,
                               const struct dti_shared_table *table, unsigned to)
{
    const uint64_t groups = (args->n + DTI_GROUP - 1) / DTI_GROUP;
    const unsigned bytes = to == 1 ? 8 : 16, per = bytes / to;
    const bool aligned = args->dst % bytes == 0;
    for (uint64_t group = thread->index; group < groups; group += thread->count) {
        const unsigned elements = dti_group_size(args, group);
        const uint64_t codes = dti_group_unpack(args, group, elements);
        const uint64_t dst = args->dst + group * DTI_GROUP * to;
        if (aligned && elements == DTI_GROUP) {
            DTI_FLAT
            for (unsigned part = 0; part < DTI_GROUP / per; part++) {
                const uint64_t own = codes >> 8 * part * per;
                const uint32_t in[DTI_WORDS] = {(uint32_t)own, (uint32_t)(own >> 32), 0, 0};
                uint32_t out[DTI_WORDS];
                dti_table_look_up(table, in, out, per, to);
                dti_store(dst + part * bytes, bytes, out);
            }
        } else {
            for (unsigned i = 0; i < elements; i++) {
                const unsigned code = codes >> 8 * i & 0xff;
                const uint64_t high = to == 8 ? table->high[code] : 0;
                dti_store_number(dst + i * to, to, high << 32 | table->low[code]);
            }
        }
    }
}

DTI_LANE void dti_run_unpack_table(const struct dti_gpu_cast_args *args,
                                   const struct dti_thread *thread, struct dti_shared_table *table)
{
    switch (dti_table_fetch(table, args->table, thread)) {
    case 1:
        dti_unpack_codes(args, thread, table, 1);
        break;
    case 2:
        dti_unpack_codes(args, thread, table, 2);
        break;
    case 4:
        dti_unpack_codes(args, thread, table, 4);
        break;
    default:
        dti_unpack_codes(args, thread, table, 8);
        break;
    }
}

DTI_LANE void dti_run_table_pack(const struct dti_gpu_cast_args *args,
                                 const struct dti_thread *thread, struct dti_shared_table *table)
{
    const uint64_t groups = (args->n + DTI_GROUP - 1) / DTI_GROUP;
    (void)dti_table_fetch(table, args->table, thread);
    for (uint64_t group = thread->index; group < groups; group += thread->count) {
        const unsigned elements = dti_group_size(args, group);
        const uint64_t own = dti_bytes_load(args->src + group * DTI_GROUP, elements);
        uint64_t codes = 0;
        DTI_FLAT
        for (unsigned i = 0; i < DTI_GROUP; i++)
            codes |= i < elements ? (uint64_t)table->low[own >> 8 * i & 0xff] << 8 * i : 0;
        dti_group_pack(args, group, elements, codes);
    }
}

/* Rounds fp32 to packed small floats, to nearest even. */
DTI_LANE void dti_run_small_pack(const struct dti_gpu_cast_args *args,
                                 const struct dti_thread *thread)
{
    const uint64_t groups = (args->n + DTI_GROUP - 1) / DTI_GROUP;
    const struct dti_near near = dti_near_of(&args->encoder);
    const bool minus_zero = args->encoder.zero[1] != 0, aligned = args->src % 16 == 0;
    for (uint64_t group = thread->index; group < groups; group += thread->count) {
        const unsigned elements = dti_group_size(args, group);
        const uint64_t src = args->src + group * DTI_GROUP * 4;
        uint32_t in[2][DTI_WORDS] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
        if (aligned && elements == DTI_GROUP) {
            dti_load(src, 16, in[0]);
            dti_load(src + 16, 16, in[1]);
        } else {
            DTI_FLAT
            for (unsigned i = 0; i < DTI_GROUP; i++)
                if (i < elements)
                    in[i / 4][i % 4] = (uint32_t)dti_load_number(src + 4 * i, 4);
        }
        uint64_t codes = 0;
        DTI_FLAT
        for (unsigned i = 0; i < DTI_GROUP; i++) {
            const uint32_t bits = in[i / 4][i % 4];
            const bool ordinary = (bits & UINT32_C(0x7fffffff)) < UINT32_C(0x7f800000);
            const uint64_t code = ordinary ? dti_near_small(&near, bits, minus_zero)
                                           : dti_encode_special(&args->encoder, bits);
            codes |= i < elements ? code << 8 * i : 0;
        }
        dti_group_pack(args, group, elements, codes);
    }
}

#endif
