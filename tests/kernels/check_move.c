/* SPDX-License-Identifier: MIT
 *
 * Rows that move codes without changing values: unpack, pack, swap, copy. The expected result is
 * computed here bit by bit from the definition in storage.h. */
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { COUNT = 3 * DTI_TILE, BYTES_MAX = COUNT * 8 };

static uint8_t source[BYTES_MAX], wanted[BYTES_MAX];

void put_packed(uint8_t *packed, size_t i, unsigned bits, bool high_first, unsigned code)
{
    for (unsigned bit = 0; bit < bits; bit++) {
        const size_t at = i * bits + (high_first ? bits - 1 - bit : bit);
        const unsigned place = (unsigned)(high_first ? 7 - at % 8 : at % 8);
        packed[at / 8] = (uint8_t)(packed[at / 8] | (code >> bit & 1) << place);
    }
}

static bool run(struct check *check, const struct dti_kernel *row,
                const struct dti_kernel_args *args, unsigned src_bits, unsigned dst_bits)
{
    char what[64];
    snprintf(what, sizeof what, "%u bits or bytes, %s first", args->bits,
             args->high_first ? "high" : "low");
    const struct trial trial = {.name = row->name,
                                .run = row->run,
                                .args = *args,
                                .source = source,
                                .wanted = wanted,
                                .count = COUNT,
                                .src_bits = src_bits,
                                .dst_bits = dst_bits,
                                .what = what};
    return trial_run(check, &trial, true);
}

static bool check_packing(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    const bool unpacks = row->op == DTI_OP_UNPACK;
    uint8_t *bytes = unpacks ? wanted : source, *packed = unpacks ? source : wanted;
    for (unsigned turn = 0; turn < 14; turn++) {
        const struct dti_kernel_args args = {.bits = 1 + turn / 2, .high_first = turn % 2 != 0};
        if (!dti_kernel_fits(row, row->op, &args))
            continue;
        memset(packed, 0, BYTES_MAX);
        for (size_t i = 0; i < COUNT; i++) {
            bytes[i] = (uint8_t)(check_random(check) & dti_low_bits(args.bits));
            put_packed(packed, i, args.bits, args.high_first, bytes[i]);
        }
        ++*runs;
        if (!run(check, row, &args, unpacks ? args.bits : 8, unpacks ? 8 : args.bits))
            return false;
    }
    return true;
}

static bool check_bytes(struct check *check, const struct dti_kernel *row, size_t *runs)
{
    for (unsigned bytes = row->op == DTI_OP_SWAP ? 2 : 1; bytes <= 8; bytes *= 2) {
        const struct dti_kernel_args args = {.bits = bytes};
        if (!dti_kernel_fits(row, row->op, &args))
            continue;
        for (size_t i = 0; i < COUNT * bytes; i++) {
            const size_t swapped = i - i % bytes + (bytes - 1 - i % bytes);
            source[i] = (uint8_t)check_random(check);
            wanted[row->op == DTI_OP_SWAP ? swapped : i] = source[i];
        }
        ++*runs;
        if (!run(check, row, &args, bytes * 8, bytes * 8))
            return false;
    }
    return true;
}

bool check_move_row(struct check *check, const struct dti_kernel *row)
{
    size_t runs = 0;
    const bool packs = row->op == DTI_OP_UNPACK || row->op == DTI_OP_PACK;
    check->told = 0;
    const bool passed = packs ? check_packing(check, row, &runs) : check_bytes(check, row, &runs);
    if (passed && runs == 0)
        check_fail(check, "%s: its row fits nothing that there is", row->name);
    return passed && runs > 0;
}
