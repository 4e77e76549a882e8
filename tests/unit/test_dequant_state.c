/* SPDX-License-Identifier: MIT
 *
 * Flattened tensors with more scales than are kept in memory: pieces that start anywhere, compared
 * with the definition. */
#include <math.h>

#include "files/dequant/dequant_parts.h"
#include "kernels/quant/nested_scales.h"

#include "folder.h"
#include "unit.h"

enum { SCALES = DTI_DEQUANT_WINDOW + 300, NESTED = (SCALES + 255) / 256, PIECES = 200 };

static uint64_t state;

static unsigned next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 40);
}

/* The content of the file. */
struct flat {
    unsigned block;
    uint64_t n;
    unsigned char *codes;
    unsigned char scales[SCALES];
    float own[NESTED], map[DTI_NESTED_CODES];
};

static size_t put_part(char *head, size_t used, const char *name, const char *dtype,
                       unsigned long long count, size_t *at, size_t bytes)
{
    const unsigned long long begin = *at;
    *at += bytes;
    return used + (size_t)sprintf(head + used,
                                  "%c\"w%s\":{\"dtype\":\"%s\",\"shape\":[%llu],"
                                  "\"data_offsets\":[%llu,%llu]}",
                                  used > 0 ? ',' : '{', name, dtype, count, begin,
                                  (unsigned long long)*at);
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static void make_file(const struct flat *flat)
{
    static const char form[] =
        "{\"quant_type\": \"nf4\", \"blocksize\": %u, \"dtype\": \"float16\", "
        "\"shape\": [1, %llu], \"nested_blocksize\": 256, "
        "\"nested_dtype\": \"float32\", \"nested_offset\": 0.75}";
    char head[2048], text[512];
    const size_t bytes = (size_t)(flat->n + 1) / 2;
    const size_t length =
        (size_t)snprintf(text, sizeof text, form, flat->block, (unsigned long long)flat->n);
    size_t at = 0, used = put_part(head, 0, "", "I8", bytes, &at, bytes);
    used = put_part(head, used, ".absmax", "U8", SCALES, &at, SCALES);
    used = put_part(head, used, ".quant_map", "F32", 16, &at, 64);
    used = put_part(head, used, ".nested_absmax", "F32", NESTED, &at, sizeof flat->own);
    used = put_part(head, used, ".nested_quant_map", "F32", 256, &at, sizeof flat->map);
    used = put_part(head, used, ".quant_state.bitsandbytes__nf4", "U8", length, &at, length);
    head[used++] = '}';
    unsigned char *const file = malloc(8 + used + at), *to = file;
    if (!CHECK(file != NULL))
        return;
    for (unsigned i = 0; i < 8; i++)
        *to++ = (unsigned char)((uint64_t)used >> (8 * i));
    const void *const parts[] = {head,      flat->codes, flat->scales, dti_nf4_table,
                                 flat->own, flat->map,   text};
    const size_t sizes[] = {used, bytes, SCALES, 64, sizeof flat->own, sizeof flat->map, length};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(to, parts[i], sizes[i]);
        to += sizes[i];
    }
    file_make("q", file, (size_t)(to - file));
    free(file);
}

static float number_of(const struct flat *flat, uint64_t at)
{
    const unsigned code = at % 2 == 0 ? flat->codes[at / 2] >> 4 : flat->codes[at / 2] & 15;
    const size_t block = (size_t)(at / flat->block);
    const float product = flat->map[flat->scales[block]] * flat->own[block / 256];
    const float scale = product + 0.75F;
    float number;
    memcpy(&number, &dti_nf4_table[code], sizeof number);
    return number * scale;
}

static void check_pieces(const struct flat *flat, enum dti_level level)
{
    static float numbers[3 * DTI_DEQUANT_CHUNK];
    const struct dti_file_dequant_request request = {.level = level};
    struct dti_batch_source source = {.read = NULL};
    const struct dti_input *input = NULL;
    struct dti_container *container;
    struct dti_file_dequant *dequant;
    struct dti_error error;
    uint64_t offset;
    struct dti_window window = {.way = DTI_WINDOW_UNDECIDED};
    if (!CHECK(dti_container_open(&container, "q", NULL, &error) == DTI_OK))
        return;
    if (!CHECK(dti_file_dequant_new(&dequant, container, &request, &error) == DTI_OK)) {
        dti_container_free(container);
        return;
    }
    CHECK_U64(dti_file_dequant_container(dequant)->tensors[0].elements, flat->n);
    CHECK(dti_file_dequant_data(dequant, 0, &source, &input, &offset, &error) == DTI_OK);
    void *const scratch = malloc(source.scratch_bytes);
    for (unsigned i = 0; i < PIECES && CHECK(scratch != NULL); i++) {
        const uint64_t first = i == 0 ? 0 : (uint64_t)next() * 7919 % flat->n;
        uint64_t n = 1 + next() % (i % 2 == 0 ? 3 * DTI_DEQUANT_CHUNK : 200);
        n = n < flat->n - first ? n : flat->n - first;
        CHECK(source.read(source.context, numbers, (size_t)n * 4, first * 4, &window, scratch,
                          &error) == DTI_OK);
        uint64_t wrong = 0;
        for (uint64_t k = 0; k < n; k++) {
            const float wanted = number_of(flat, first + k);
            wrong += !(numbers[k] >= wanted && numbers[k] <= wanted);
        }
        CHECK_U64(wrong, 0);
    }
    free(scratch);
    dti_window_free(&window);
    dti_file_dequant_free(dequant);
    dti_container_free(container);
}

static void pieces_of_nested_scales_are_as_defined(void)
{
    static const unsigned blocks[] = {32, 64, 128};
    static struct flat flat;
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    if (!is_little_endian())
        return; /* the test writes the file in host byte order */
    state = 20261123;
    folder_enter();
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        flat.block = blocks[i];
        flat.n = (uint64_t)SCALES * blocks[i] - 5;
        flat.codes = malloc((size_t)(flat.n + 1) / 2);
        if (!CHECK(flat.codes != NULL))
            break;
        for (uint64_t k = 0; k < (flat.n + 1) / 2; k++)
            flat.codes[k] = (unsigned char)next();
        for (size_t k = 0; k < SCALES; k++)
            flat.scales[k] = (unsigned char)next();
        for (size_t k = 0; k < NESTED; k++)
            flat.own[k] = (float)(1 + next() % 1000) / 1024;
        for (size_t k = 0; k < DTI_NESTED_CODES; k++)
            flat.map[k] = (float)(next() % 2001) / 1000 - 1;
        make_file(&flat);
        check_pieces(&flat, DTI_LEVEL_SCALAR);
        check_pieces(&flat, level);
        free(flat.codes);
    }
    (void)folder_leave();
}

UNIT_MAIN(pieces_of_nested_scales_are_as_defined)
