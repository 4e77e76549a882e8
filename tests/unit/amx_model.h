/* SPDX-License-Identifier: MIT
 *
 * A software model of the AMX tile instructions, under the names of their intrinsics, so that
 * kernels can run on machines without them. Written from Intel SDM vol. 2 (LDTILECFG, TILELOADD,
 * TILESTORED, TILEZERO, TILERELEASE, TDPBF16PS, TDPBSSD) and vol. 1, chapter 18. Where the manual
 * specifies an exception (tiles that are not configured, shapes that do not match), the model
 * counts a fault. */
#ifndef DTINFO_TESTS_AMX_MODEL_H
#define DTINFO_TESTS_AMX_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AMX_TILES = 8, AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_CONFIG_BYTES = 64 };

struct amx_tile {
    size_t rows, row_bytes; /* 0: not configured */
    unsigned char data[AMX_ROWS][AMX_ROW_BYTES];
};

static struct {
    bool is_in_use; /* between LDTILECFG and TILERELEASE */
    struct amx_tile tiles[AMX_TILES];
    unsigned configurations, releases, products, faults;
} amx;

static inline void amx_loadconfig(const void *memory)
{
    unsigned char config[AMX_CONFIG_BYTES];
    memcpy(config, memory, sizeof config);
    memset(amx.tiles, 0, sizeof amx.tiles);
    amx.configurations++;
    amx.is_in_use = config[0] != 0;
    amx.faults += config[0] > 1; /* palettes */
    for (size_t i = 2; i < 16; i++)
        amx.faults += config[i] != 0; /* reserved */
    for (size_t t = 0; t < 16; t++) {
        const size_t row_bytes = config[16 + 2 * t] + (size_t)256 * config[17 + 2 * t];
        const size_t rows = config[48 + t];
        if (t >= AMX_TILES || rows > AMX_ROWS || row_bytes > AMX_ROW_BYTES) {
            amx.faults += rows > 0 || row_bytes > 0;
            continue;
        }
        amx.faults += (rows == 0) != (row_bytes == 0);
        amx.tiles[t].rows = rows;
        amx.tiles[t].row_bytes = row_bytes;
    }
}

static inline void amx_release(void)
{
    memset(amx.tiles, 0, sizeof amx.tiles);
    amx.is_in_use = false;
    amx.releases++;
}

/* The tile. Counts a fault if it is not usable. */
static inline struct amx_tile *amx_tile(size_t number)
{
    struct amx_tile *const tile = &amx.tiles[number];
    amx.faults += !amx.is_in_use || tile->rows == 0;
    return tile;
}

static inline void amx_zero(size_t number)
{
    struct amx_tile *const tile = amx_tile(number);
    memset(tile->data, 0, sizeof tile->data);
}

/* Rows shorter than 64 bytes and missing rows are filled with zeros. */
static inline void amx_load(size_t number, const void *base, size_t stride)
{
    struct amx_tile *const tile = amx_tile(number);
    memset(tile->data, 0, sizeof tile->data);
    for (size_t i = 0; i < tile->rows; i++)
        memcpy(tile->data[i], (const unsigned char *)base + i * stride, tile->row_bytes);
}

static inline void amx_store(size_t number, void *base, size_t stride)
{
    const struct amx_tile *const tile = amx_tile(number);
    for (size_t i = 0; i < tile->rows; i++)
        memcpy((unsigned char *)base + i * stride, tile->data[i], tile->row_bytes);
}

static inline bool amx_fit(const struct amx_tile *c, const struct amx_tile *a,
                           const struct amx_tile *b)
{
    const bool fit = c != a && c != b && a != b && c->rows == a->rows &&
                     c->row_bytes == b->row_bytes && a->row_bytes == 4 * b->rows &&
                     c->row_bytes % 4 == 0;
    amx.faults += !fit;
    amx.products++;
    return fit;
}

/* Emulates DAZ and FTZ. */
static inline float amx_flush(float x)
{
    return fabsf(x) < 0x1p-126F ? copysignf(0, x) : x;
}

static inline float amx_fma(float x, float y, float z)
{
    return amx_flush(fmaf(amx_flush(x), amx_flush(y), amx_flush(z)));
}

/* fmaf() rounds to fp32 even where float arithmetic has excess precision. */
static inline float amx_sum(float x, float y)
{
    return amx_fma(x, 1, y);
}

static inline float amx_number_of_bf16(const unsigned char *code)
{
    uint16_t upper;
    float number;
    memcpy(&upper, code, sizeof upper);
    const uint32_t bits = (uint32_t)upper << 16;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline void amx_dpbf16ps(size_t to, size_t from_a, size_t from_b)
{
    struct amx_tile *const c = amx_tile(to), *const a = amx_tile(from_a),
                           *const b = amx_tile(from_b);
    if (!amx_fit(c, a, b))
        return;
    for (size_t m = 0; m < c->rows; m++) {
        float even[AMX_ROW_BYTES / 4] = {0}, odd[AMX_ROW_BYTES / 4] = {0};
        for (size_t k = 0; k < a->row_bytes / 4; k++) {
            const float x = amx_number_of_bf16(a->data[m] + 4 * k);
            const float y = amx_number_of_bf16(a->data[m] + 4 * k + 2);
            for (size_t n = 0; n < c->row_bytes / 4; n++) {
                even[n] = amx_fma(x, amx_number_of_bf16(b->data[k] + 4 * n), even[n]);
                odd[n] = amx_fma(y, amx_number_of_bf16(b->data[k] + 4 * n + 2), odd[n]);
            }
        }
        for (size_t n = 0; n < c->row_bytes / 4; n++) {
            float sum;
            memcpy(&sum, c->data[m] + 4 * n, sizeof sum);
            sum = amx_sum(sum, amx_sum(even[n], odd[n]));
            memcpy(c->data[m] + 4 * n, &sum, sizeof sum);
        }
    }
}

static inline void amx_dpbssd(size_t to, size_t from_a, size_t from_b)
{
    struct amx_tile *const c = amx_tile(to), *const a = amx_tile(from_a),
                           *const b = amx_tile(from_b);
    if (!amx_fit(c, a, b))
        return;
    for (size_t m = 0; m < c->rows; m++) {
        for (size_t n = 0; n < c->row_bytes / 4; n++) {
            uint32_t sum;
            memcpy(&sum, c->data[m] + 4 * n, sizeof sum);
            for (size_t k = 0; k < a->row_bytes; k++) {
                int8_t x, y;
                memcpy(&x, a->data[m] + k, 1);
                memcpy(&y, b->data[k / 4] + 4 * n + k % 4, 1);
                sum += (uint32_t)(x * y);
            }
            memcpy(c->data[m] + 4 * n, &sum, sizeof sum);
        }
    }
}

#define _tile_loadconfig amx_loadconfig
#define _tile_release    amx_release
#define _tile_zero       amx_zero
#define _tile_loadd      amx_load
#define _tile_stored     amx_store
#define _tile_dpbf16ps   amx_dpbf16ps
#define _tile_dpbssd     amx_dpbssd

#endif
