/* SPDX-License-Identifier: MIT
 *
 * Work must grow linearly with the file, not quadratically. Counts byte and text comparisons: twice
 * as many tensors and metadata entries must need little more than twice as many. Unlike a time, the
 * count does not depend on the machine. */
#include "files/dequant/logical_tensors.h"
#include "files/rewrite/rewrite.h"

#include "folder.h"
#include "unit.h"

enum { SOME = 1500, TEXT_BYTES = 1 << 20 };

static _Atomic(uint64_t) compared;

/* Replaces the C library's function in everything linked into this program. */
int memcmp(const void *a, const void *b, size_t n)
{
    const volatile unsigned char *const one = a, *const other = b;
    compared++;
    for (size_t i = 0; i < n; i++) {
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    const volatile char *one = a, *other = b;
    compared++;
    while (*one != '\0' && *one == *other)
        one++, other++;
    return (unsigned char)*one - (unsigned char)*other;
}

static char text[TEXT_BYTES];
static size_t length;

static void put(const char *format, unsigned at, unsigned from, unsigned to)
{
    length += (size_t)snprintf(text + length, TEXT_BYTES - length, format, at, from, to);
}

/* A file of `count` tensors, each with its own metadata entry. pairs: codes with a scale, else
 * fp32, all of different shapes. */
static void make(const char *path, unsigned count, bool pairs)
{
    unsigned at = 0;
    length = 8;
    put("{\"__metadata__\":{\"dtinfo.quant.m.x\":\"int8 low\"", 0, 0, 0);
    for (unsigned i = 0; i < count; i++)
        put(",\"dtinfo.quant.m.%05u\":\"int8 low\"", i, 0, 0);
    put("}", 0, 0, 0);
    for (unsigned i = 0; i < count; i++) {
        if (pairs) {
            put(",\"m.%05u\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[%u,%u]}", i, at,
                at + 4);
            put(",\"m.%05u_scale\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%u,%u]}", i,
                at + 4, at + 8);
            at += 8;
        } else {
            put(",\"m.%05u\":{\"dtype\":\"F32\",\"shape\":[", i, 0, 0);
            put("%u],\"data_offsets\":[%u,%u]}", i + 1, at, at + 4 * (i + 1));
            at += 4 * (i + 1);
        }
    }
    put("}", 0, 0, 0);
    for (unsigned i = 0; i < 8; i++)
        text[i] = (char)((uint64_t)(length - 8) >> (8 * i));
    file_make(path, text, length);
    CHECK(truncate(path, (off_t)(length + at)) == 0);
}

static void dequantize(struct dti_container *container)
{
    const struct dti_file_dequant_request request = {.level = DTI_LEVEL_SCALAR};
    struct dti_file_dequant *dequant = NULL;
    struct dti_error error;
    if (CHECK(dti_file_dequant_new(&dequant, container, &request, &error) == DTI_OK))
        CHECK_SIZE(dti_file_dequant_count(dequant), container->tensor_count / 2);
    dti_file_dequant_free(dequant);
}

/* The view of inspect and other commands; opens the file again. */
static void look(struct dti_container *stored)
{
    struct dti_container *container = NULL;
    struct dti_error error;
    if (CHECK(dti_logical_open(&container, "q", &(struct dti_logical_options){.raw = false},
                               &error) == DTI_OK))
        CHECK_SIZE(container->tensor_count, stored->tensor_count / 2);
    dti_logical_close(container);
}

static void quantize(struct dti_container *container)
{
    const struct dti_rewrite_request request = {
        .recipe = DTI_RECIPE_QUANTIZE,
        .quantize = {.scheme = {.affine.affine = {.code = *dti_format_get(DTI_INT8),
                                                  .low = -127,
                                                  .high = 127}},
                     .dtype = "int8"},
        .level = DTI_LEVEL_SCALAR,
        .kind = DTI_CONTAINER_SAFETENSORS,
        .path = "out",
    };
    struct dti_rewrite *quant = NULL;
    struct dti_error error = {.text = ""};
    if (CHECK(dti_rewrite_new(&quant, container, &request, &error) == DTI_OK))
        CHECK_SIZE(quant->changed_count, container->tensor_count);
    dti_rewrite_free(quant);
}

static void cast(struct dti_container *container)
{
    const struct dti_rewrite_request request = {
        .cast = {.cast = {.dst = *dti_format_get(DTI_BF16)}, .ints = true},
        .level = DTI_LEVEL_SCALAR,
        .kind = DTI_CONTAINER_SAFETENSORS,
        .path = "out",
    };
    struct dti_rewrite *made = NULL;
    struct dti_error error;
    CHECK(dti_rewrite_new(&made, container, &request, &error) == DTI_OK);
    dti_rewrite_free(made);
}

/* Counts the comparisons for a file with this many tensors, including opening it. */
static uint64_t count(void (*work)(struct dti_container *), unsigned tensors, bool pairs)
{
    struct dti_container *container = NULL;
    struct dti_error error;
    make("q", tensors, pairs);
    compared = 0;
    if (CHECK(dti_container_open(&container, "q", NULL, &error) == DTI_OK))
        work(container);
    dti_container_free(container);
    return compared;
}

static void check_growth(const char *what, void (*work)(struct dti_container *), bool pairs)
{
    const uint64_t some = count(work, SOME, pairs), twice = count(work, 2 * SOME, pairs);
    CHECK(some > SOME);
    if (!CHECK(twice < some * 5 / 2))
        fprintf(stderr, "    %s: %llu comparisons for %d tensors, %llu for twice as many\n", what,
                (unsigned long long)some, (int)SOME, (unsigned long long)twice);
}

static void twice_as_many_tensors_take_twice_the_work(void)
{
    folder_enter();
    check_growth("dequantizing", dequantize, true);
    check_growth("looking at logical tensors", look, true);
    check_growth("quantizing", quantize, false);
    check_growth("casting", cast, true);
    (void)folder_leave();
}

UNIT_MAIN(twice_as_many_tensors_take_twice_the_work)
