/* SPDX-License-Identifier: MIT
 *
 * Random matrices of grouped integers, laid out bit by bit in the layouts of GPTQ, AWQ,
 * compressed-tensors and MLX. */
#ifndef DTINFO_TESTS_WORD_LAYOUTS_H
#define DTINFO_TESTS_WORD_LAYOUTS_H

#include "util/little_endian.h"

#include "folder.h"
#include "unit.h"

enum { MOST = 1 << 16, GROUPS_MOST = 1 << 12, BYTES_MOST = 1 << 18, PARTS = 4 };

static uint64_t state;

static inline unsigned next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33);
}

/* Rows of codes; scales are powers of two, in fp16. */
struct matrix {
    size_t rows, columns, length;
    unsigned bits;
    bool symmetric;
};
static unsigned char codes[MOST], zeros[GROUPS_MOST], exponents[GROUPS_MOST];

static inline size_t groups_of(const struct matrix *matrix)
{
    return (matrix->columns + matrix->length - 1) / matrix->length;
}

static inline void fill(const struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->rows * matrix->columns; i++)
        codes[i] = (unsigned char)(next() & ((1U << matrix->bits) - 1));
    for (size_t i = 0; i < matrix->rows * groups_of(matrix); i++) {
        zeros[i] = (unsigned char)(matrix->symmetric ? 1U << (matrix->bits - 1)
                                                     : next() % ((1U << matrix->bits) - 1) + 1);
        exponents[i] = (unsigned char)(next() % 7 + 6);
    }
}

/* A part, with its name and dtype in the file. */
struct part {
    const char *name, *dtype;
    unsigned rank;
    size_t shape[2], size;
    unsigned char bytes[BYTES_MOST];
};

enum layout { GPTQ, GPTQ_V2, AWQ, PACKED, INT8, MLX, LAYOUTS };

static inline struct part *begin(struct part *part, const char *name, const char *dtype,
                                 size_t item, size_t rows, size_t columns)
{
    part->name = name;
    part->dtype = dtype;
    part->rank = columns > 0 ? 2 : 1;
    part->shape[0] = rows;
    part->shape[1] = columns;
    part->size = rows * (columns > 0 ? columns : 1) * item;
    memset(part->bytes, 0, part->size);
    return part;
}

static inline void put_bits(unsigned char *bytes, size_t bit, unsigned value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++, bit++)
        bytes[bit / 8] |= (unsigned char)((value >> i & 1U) << bit % 8);
}

/* Writes a field of a bit stream that runs down column `column` through rows of words. */
static inline void put_down(unsigned char *words, size_t columns, size_t column, size_t field,
                            unsigned value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        const size_t bit = field * bits + i;
        put_bits(words + (bit / 32 * columns + column) * 4, bit % 32, value >> i & 1U, 1);
    }
}

static inline void put_lane(unsigned char *row, size_t field, unsigned value)
{
    static const unsigned char place[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    put_bits(row, (field / 8 * 8 + place[field % 8]) * 4, value, 4);
}

/* fp16: -zero x 2^(exponent - 15), or 2^(exponent - 15) if zero is 0. */
static inline unsigned half(unsigned exponent, unsigned zero)
{
    unsigned top = 0;
    while (zero >> top > 1)
        top++;
    if (zero == 0)
        return exponent << 10;
    return 0x8000 | (exponent + top) << 10 | (zero - (1U << top)) << (10 - top);
}

static inline void put_scales(struct part *part, const struct matrix *matrix, bool turned,
                              bool biases)
{
    const size_t groups = groups_of(matrix);
    for (size_t n = 0; n < matrix->rows; n++) {
        for (size_t g = 0; g < groups; g++) {
            const size_t from = n * groups + g, to = turned ? g * matrix->rows + n : from;
            dti_little_put(part->bytes + 2 * to, 2,
                           half(exponents[from], biases ? zeros[from] : 0));
        }
    }
}

static inline size_t words_of(size_t fields, unsigned bits)
{
    return (fields * bits + 31) / 32;
}

/* Writes the parts of a matrix in a layout; returns their number. */
static inline size_t lay_out(enum layout layout, const struct matrix *matrix,
                             struct part parts[PARTS])
{
    const size_t rows = matrix->rows, columns = matrix->columns, groups = groups_of(matrix);
    const unsigned bits = matrix->bits;
    const bool turned = layout <= AWQ;
    const size_t along = words_of(columns, bits), down = words_of(rows, bits);
    struct part *const words = begin(&parts[0],
                                     turned             ? "a.qweight"
                                     : layout == PACKED ? "a.weight_packed"
                                                        : "a.weight",
                                     layout == MLX    ? "U32"
                                     : layout == INT8 ? "I8"
                                                      : "I32",
                                     layout == INT8 ? 1 : 4,
                                     layout == AWQ ? columns
                                     : turned      ? along
                                                   : rows,
                                     layout == INT8  ? columns
                                     : layout == AWQ ? down
                                     : turned        ? rows
                                                     : along);
    for (size_t n = 0; n < rows; n++) {
        for (size_t k = 0; k < columns; k++) {
            const unsigned code = codes[n * columns + k];
            if (layout == AWQ)
                put_lane(words->bytes + k * down * 4, n, code);
            else if (turned)
                put_down(words->bytes, rows, n, k, code, bits);
            else if (layout == INT8)
                words->bytes[n * columns + k] = (unsigned char)(code - 128);
            else
                put_bits(words->bytes + n * along * 4, k * bits, code, bits);
        }
    }
    if (layout == MLX) {
        put_scales(begin(&parts[1], "a.scales", "F16", 2, rows, groups), matrix, false, false);
        put_scales(begin(&parts[2], "a.biases", "F16", 2, rows, groups), matrix, false, true);
        return 3;
    }
    struct part *const scales =
        begin(&parts[turned ? 2 : 1], turned ? "a.scales" : "a.weight_scale", "F16", 2,
              turned ? groups : rows, turned ? rows : groups);
    put_scales(scales, matrix, turned, false);
    size_t count = turned ? 3 : 2;
    if (turned || !matrix->symmetric) {
        struct part *const packed =
            begin(&parts[turned ? 1 : 2], turned ? "a.qzeros" : "a.weight_zero_point",
                  layout == INT8 ? "I8" : "I32", layout == INT8 ? 1 : 4,
                  turned           ? groups
                  : layout == INT8 ? rows
                                   : down,
                  turned ? down : groups);
        count = 3;
        for (size_t n = 0; n < rows; n++) {
            for (size_t g = 0; g < groups; g++) {
                const unsigned zero = zeros[n * groups + g];
                if (layout == AWQ)
                    put_lane(packed->bytes + g * down * 4, n, zero);
                else if (turned)
                    put_bits(packed->bytes + g * down * 4, n * bits, zero - (layout == GPTQ), bits);
                else if (layout == INT8)
                    packed->bytes[n * groups + g] = (unsigned char)(zero - 128);
                else
                    put_down(packed->bytes, groups, g, n, zero, bits);
            }
        }
    }
    if (layout <= GPTQ_V2) {
        struct part *const order = begin(&parts[count++], "a.g_idx", "I32", 4, columns, 0);
        for (size_t k = 0; k < columns; k++)
            dti_little_put(order->bytes + 4 * k, 4, k / matrix->length);
    } else if (layout == PACKED) {
        struct part *const shape = begin(&parts[count++], "a.weight_shape", "I64", 8, 2, 0);
        dti_little_put(shape->bytes, 8, rows);
        dti_little_put(shape->bytes + 8, 8, columns);
    }
    return count;
}

static inline bool has(enum layout layout, const struct matrix *matrix)
{
    const unsigned bits = matrix->bits;
    const bool words = matrix->columns * bits % 32 == 0 && matrix->rows * bits % 32 == 0;
    const bool whole = matrix->columns % matrix->length == 0;
    switch (layout) {
    case GPTQ:
    case GPTQ_V2:
        return words && (bits == 2 || bits == 3 || bits == 4 || bits == 8);
    case AWQ:
        return bits == 4 && matrix->rows % 8 == 0 && whole;
    case PACKED:
        return (bits == 2 || bits == 4 || bits == 8) && whole;
    case INT8:
        return bits == 8 && whole;
    default:
        return whole && (matrix->length == 32 || matrix->length == 64 || matrix->length == 128);
    }
}

static inline void write_file(const struct part *parts, size_t count)
{
    static unsigned char file[PARTS * BYTES_MOST];
    char *const head = (char *)file + 8;
    size_t length = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        char shape[64];
        snprintf(shape, sizeof shape, parts[i].rank == 2 ? "[%zu,%zu]" : "[%zu]", parts[i].shape[0],
                 parts[i].shape[1]);
        length += (size_t)snprintf(
            head + length, 1024,
            "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
            i > 0 ? "," : "{", parts[i].name, parts[i].dtype, shape, at, at + parts[i].size);
        at += parts[i].size;
    }
    head[length++] = '}';
    dti_little_put(file, 8, length);
    at = 8 + length;
    for (size_t i = 0; i < count; i++) {
        memcpy(file + at, parts[i].bytes, parts[i].size);
        at += parts[i].size;
    }
    file_make("x.safetensors", file, at);
}

static inline void write_config(enum layout layout, const struct matrix *matrix)
{
    char text[512];
    int size;
    if (layout == MLX)
        size = snprintf(text, sizeof text, "{\"quantization\":{\"group_size\":%zu,\"bits\":%u}}",
                        matrix->length, matrix->bits);
    else if (layout <= AWQ)
        size = snprintf(text, sizeof text,
                        "{\"quantization_config\":{\"quant_method\":\"%s\",\"bits\":%u,"
                        "\"group_size\":%zu%s}}",
                        layout == AWQ ? "awq" : "gptq", matrix->bits, matrix->length,
                        layout == GPTQ_V2 ? ",\"checkpoint_format\":\"gptq_v2\"" : "");
    else
        size = snprintf(text, sizeof text,
                        "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\","
                        "\"format\":\"%s\",\"config_groups\":{\"g\":{\"targets\":[\"Linear\"],"
                        "\"weights\":{\"num_bits\":%u,\"group_size\":%zu,\"symmetric\":%s}}}}}",
                        layout == INT8 ? "int-quantized" : "pack-quantized", matrix->bits,
                        matrix->length, matrix->symmetric ? "true" : "false");
    file_make("config.json", text, (size_t)size);
}

#endif
