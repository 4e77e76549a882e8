/* SPDX-License-Identifier: MIT
 *
 * The table of layouts, and shapes of parts that do not occur in small files. */
#include "files/stored/quant_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/stored/quant_marks.h"
#include "files/stored/quant_state.h"
#include "files/stored/scale_tiles.h"
#include "unit.h"

static struct dti_quant_stored stored_of(const char *dtype, unsigned rank, const uint64_t *shape)
{
    return (struct dti_quant_stored){
        .row = dti_quant_row_find(DTI_LAYOUT_COMPRESSED_TENSORS, dtype),
        .rank = rank,
        .axis = rank > 0 ? rank - 1 : 0,
        .shape = shape,
    };
}

static void every_row_has_a_dtype_and_names(void)
{
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        const struct dti_quant_row *const row = &dti_quant_rows[i];
        const struct dti_block_format *const block = row->block;
        const char *const name = dti_quant_row_name(row);
        struct dti_format format;
        CHECK(dti_block_lookup(name) == block);
        CHECK(block ||
              (dti_format_lookup(name, &format, NULL, NULL) == DTI_OK && format.id == row->number));
        CHECK(dti_quant_row_bits(row) >= 2 && dti_quant_row_bits(row) <= 16);
        CHECK(dti_quant_row_find(row->layout, name) == row);
        CHECK(dti_quant_suffix(row, DTI_PART_CODES) && dti_quant_suffix(row, DTI_PART_SCALE));
        /* an exponent is stored as a byte, other scales as themselves */
        if (block)
            CHECK(row->scale == (dti_quant_layout_has_stems(row->layout) ||
                                         (block->scale == DTI_FP8_E8M0 && !dti_quant_mark(row))
                                     ? DTI_UINT8
                                     : block->scale));
        CHECK(!dti_quant_mark(row) == !dti_quant_layout_marks(row->layout));
    }
}

static bool is_side(const char *name, size_t *ret_length)
{
    return dti_quant_is_side_name(name, strlen(name), ret_length);
}

static void the_longest_suffix_is_the_one_that_counts(void)
{
    size_t length = 0;
    CHECK(is_side("w_scale", &length) && length == 1);
    CHECK(is_side("w_global_scale", &length) && length == 1);
    CHECK(is_side("w_scale_2", &length) && length == 1);
    CHECK(is_side("a.w_zero_point", &length) && length == 3);
    CHECK(is_side("w.nested_absmax", &length) && length == 1);
    CHECK(is_side("w.quant_state.bitsandbytes__nf4", &length) && length == 1);
    CHECK(is_side("w.quant_state.bitsandbytes__fp4", &length) && length == 1);
    CHECK(!is_side("w.quant_state.bitsandbytes__int8", &length));
    CHECK(!is_side("_scale", &length) && !is_side("w_packed", &length) && !is_side("w", &length));
    CHECK(!is_side("", &length) && !is_side("scale", &length));
}

static void what_is_told_is_read_back(void)
{
    const uint64_t shape[] = {2, 64};
    uint64_t group = 1;
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        for (unsigned high = 0; high < 2; high++) {
            struct dti_quant_stored stored = stored_of("int8", 2, shape);
            char text[DTI_QUANT_ENTRY_SIZE];
            const char *dtype = NULL;
            bool was_high = false;
            stored.row = &dti_quant_rows[i];
            stored.high = high != 0;
            const bool needed = dti_quant_needs_entry(&stored);
            dti_quant_entry(&stored, text);
            CHECK(dti_quant_entry_parse(text, strlen(text), &dtype, &was_high, &group));
            CHECK_STR(dtype, dti_quant_row_name(stored.row));
            CHECK_U64(group, 0);
            CHECK(was_high == (high && stored.row->packing == DTI_QUANT_BITS));
            CHECK(needed ==
                  (!dti_quant_layout_is_read_elsewhere(stored.row->layout) &&
                   (was_high || strcmp(dtype, "mxfp6_e3m2") == 0 || strcmp(dtype, "bnb_fp4") == 0 ||
                    strcmp(dtype, "uint8") == 0 ||  /* without zero points */
                    strcmp(dtype, "nvfp4") == 0))); /* without a scale of the tensor */
        }
    }
    const char *dtype = NULL;
    bool high = false;
    const char *const others[] = {"",           "int8",       "int8 ",      "int8 lo",
                                  "int8 lower", "int9 low",   "low",        "int4 low ",
                                  "int4 low 0", "int4 low x", "int4 low32", "int4 low 12345678901"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!dti_quant_entry_parse(others[i], strlen(others[i]), &dtype, &high, &group));
}

static void groups_with_a_bias_are_parts_of_a_module(void)
{
    static const enum dti_dtype sources[] = {DTI_FP32, DTI_FP16, DTI_BF16, DTI_FP64};
    static const enum dti_dtype numbers[] = {DTI_FP32, DTI_FP16, DTI_BF16, DTI_FP32};
    const uint64_t shape[] = {5, 192};
    for (unsigned bits = 2; bits <= 8; bits++) {
        for (unsigned i = 0; i < 4 && bits != 7; i++) {
            char dtype[8], text[DTI_QUANT_ENTRY_SIZE], wanted[16];
            const char *suffix;
            struct dti_quant_part_shape parts[DTI_PART_COUNT];
            struct dti_quant_stored stored = stored_of("int8", 2, shape);
            (void)snprintf(dtype, sizeof dtype, "uint%u", bits);
            (void)snprintf(wanted, sizeof wanted, "affine %u 64", bits);
            stored.row = dti_quant_row_find(DTI_LAYOUT_MLX, dtype);
            stored.per = DTI_PER_GROUP;
            stored.group = 64;
            stored.axis = 1;
            stored.biases = true;
            stored.zero_points = false;
            stored.number = dti_format_get(sources[i]);
            CHECK(stored.row && dti_quant_row_bits(stored.row) == bits);
            CHECK(dti_quant_parts(&stored, parts, NULL) == DTI_OK);
            CHECK(parts[DTI_PART_CODES].dtype == DTI_UINT32);
            CHECK_U64(parts[DTI_PART_CODES].shape[1], 6 * bits);
            CHECK(parts[DTI_PART_SCALE].dtype == numbers[i] && parts[DTI_PART_SCALE].rank == 2);
            CHECK_U64(parts[DTI_PART_SCALE].shape[0], 5);
            CHECK_U64(parts[DTI_PART_SCALE].shape[1], 3);
            CHECK(memcmp(&parts[DTI_PART_BIAS], &parts[DTI_PART_SCALE], sizeof *parts) == 0);
            CHECK(!parts[DTI_PART_ZERO_POINT].there && !parts[DTI_PART_SHAPE].there);
            CHECK(dti_quant_needs_entry(&stored));
            dti_quant_entry(&stored, text);
            CHECK_STR(text, wanted);
            CHECK_U64(dti_quant_part_stem(stored.row, DTI_PART_CODES, 8, &suffix), 8);
            CHECK_U64(dti_quant_part_stem(stored.row, DTI_PART_BIAS, 8, &suffix), 1); /* a.weight */
            CHECK_STR(suffix, ".biases");
        }
    }
}

/* The number of words for codes stored one after another. */
static uint64_t count_words(uint64_t columns, unsigned bits, bool whole)
{
    uint64_t words = 0;
    unsigned left = 0;
    for (uint64_t i = 0; i < columns; i++) {
        if (left < bits) {
            words++;
            left = whole ? 32 : left + 32;
        }
        left -= bits;
    }
    return words;
}

static void widths_that_words_leave_open_are_told(void)
{
    static const struct {
        const char *dtype;
        unsigned bits;
    } narrow[] = {{"int2", 2}, {"int4", 4}};
    for (uint64_t columns = 1; columns < 140; columns++) {
        for (unsigned i = 0; i < 2; i++) {
            const struct dti_quant_stored stored = stored_of(narrow[i].dtype, 1, &columns);
            const uint64_t words = count_words(columns, narrow[i].bits, false);
            bool open = false;
            for (unsigned bits = 1; bits <= 8; bits++)
                open = open ||
                       (bits != narrow[i].bits && (count_words(columns, bits, false) == words ||
                                                   count_words(columns, bits, true) == words));
            CHECK(dti_quant_needs_entry(&stored) == open);
        }
    }
}

/* 96 numbers with 2 scales: groups of 48, or of 64 and 32. */
static void groups_that_scales_leave_open_are_told(void)
{
    static const struct {
        uint64_t shape[2];
        uint32_t group;
        bool open;
    } cases[] = {
        {{4, 96}, 48, true},   {{4, 96}, 32, false},  {{4, 96}, 96, false}, {{4, 384}, 96, false},
        {{4, 62}, 31, true},   {{4, 64}, 32, false},  {{1, 64}, 32, true},  {{1, 64}, 64, false},
        {{1, 400}, 100, true}, {{4, 400}, 80, false},
    };
    char text[DTI_QUANT_ENTRY_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dti_quant_stored stored = stored_of("int8", 2, cases[i].shape);
        const char *dtype = NULL;
        uint64_t group = 0;
        bool high = true;
        stored.per = DTI_PER_GROUP;
        stored.group = cases[i].group;
        dti_quant_entry(&stored, text);
        if (!CHECK(dti_quant_needs_entry(&stored) == cases[i].open))
            fprintf(stderr, "    case %zu: %s\n", i, text);
        CHECK(dti_quant_entry_parse(text, strlen(text), &dtype, &high, &group) && !high);
        CHECK_U64(group, cases[i].open ? cases[i].group : 0);
    }
}

/* 62 numbers of 4 bits in 8 words and 2 groups: groups of 31 or of 32. */
static void groups_of_filled_rows_are_told(void)
{
    static const char *const names[] = {"uint2", "int2", "int4", "uint4"};
    char text[DTI_QUANT_ENTRY_SIZE];
    const uint64_t columns[] = {62, 64}; /* no other width needs as many words */
    for (int i = 0; i < 8; i++) {
        struct dti_quant_stored stored = stored_of(names[i / 2], 1, &columns[i % 2]);
        const char *dtype = NULL;
        uint64_t group = 0;
        bool high = true;
        stored.per = DTI_PER_GROUP;
        stored.group = 32;
        stored.pad = true;
        CHECK(dti_quant_needs_entry(&stored) == (i % 2 == 0));
        dti_quant_entry(&stored, text);
        CHECK(dti_quant_entry_parse(text, strlen(text), &dtype, &high, &group) && !high);
        CHECK_U64(group, i % 2 == 0 ? 32 : 0);
        CHECK(dti_quant_hides_groups(&stored) == (i % 2 == 0));
    }
}

static void shapes_beyond_64_bits_are_refused(void)
{
    const uint64_t huge[] = {UINT64_MAX, 0}, last[] = {0, UINT64_MAX};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_error error;
    struct dti_quant_stored stored = stored_of("int4", 2, huge);
    stored.per = DTI_PER_CHANNEL;
    stored.axis = 0;
    stored.zero_points = true;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK);
    CHECK_U64(parts[DTI_PART_ZERO_POINT].shape[0], (UINT64_MAX - 7) / 8 + 1);
    stored = stored_of("mxfp4", 2, last);
    stored.per = DTI_PER_GROUP;
    stored.group = 32;
    stored.pad = true;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = stored_of("int4", 2, last);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
}

static void ranks_that_do_not_fit_are_refused(void)
{
    uint64_t shape[DTI_QUANT_RANK_MAX + 1] = {0};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_error error;
    struct dti_quant_stored stored = stored_of("int8", DTI_QUANT_RANK_MAX + 1, shape);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = stored_of("int8", DTI_QUANT_RANK_MAX, shape);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK);
    stored = stored_of("mxfp8_e4m3", 0, shape);
    stored.per = DTI_PER_GROUP;
    stored.group = 32;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = stored_of("mxfp4", 0, shape);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
}

static struct dti_quant_stored flat_of(const char *dtype, unsigned rank, const uint64_t *shape)
{
    struct dti_quant_stored stored = stored_of(dtype, rank, shape);
    stored.row = dti_quant_row_find(DTI_LAYOUT_BITSANDBYTES, dtype);
    stored.group = 64;
    stored.per = DTI_PER_GROUP;
    return stored;
}

static void flattened_tensors_have_blocks_that_cross_rows(void)
{
    const uint64_t shape[] = {257, 255};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored = flat_of("bnb_fp4", 2, shape);
    CHECK(dti_quant_parts(&stored, parts, NULL) == DTI_OK);
    CHECK(parts[DTI_PART_CODES].rank == 2 && parts[DTI_PART_CODES].shape[0] == 32768 &&
          parts[DTI_PART_CODES].shape[1] == 1 && parts[DTI_PART_CODES].dtype == DTI_UINT8);
    CHECK(parts[DTI_PART_SCALE].shape[0] == 1024 && parts[DTI_PART_SCALE].dtype == DTI_FP32);
    CHECK(parts[DTI_PART_MAP].shape[0] == 16 && !parts[DTI_PART_NESTED_SCALE].there);
    CHECK(!parts[DTI_PART_NESTED_MAP].there && !parts[DTI_PART_SHAPE].there);
    stored.nested = true;
    CHECK(dti_quant_parts(&stored, parts, NULL) == DTI_OK);
    CHECK(parts[DTI_PART_SCALE].shape[0] == 1024 && parts[DTI_PART_SCALE].dtype == DTI_UINT8);
    CHECK(parts[DTI_PART_NESTED_SCALE].shape[0] == 4 && parts[DTI_PART_NESTED_MAP].shape[0] == 256);
}

static void states_are_as_long_as_they_were_planned(void)
{
    static const float offsets[] = {0,      1,           0.1F,       0x1p-149F, 0x1.fffffep127F,
                                    1e16F,  0x1.8p-126F, 1e-5F,      123456.7F, 0x1.234568p-140F,
                                    1e-44F, 9999.999F,   3.0517e-5F, 2.5F,      0x1.fffffcp-127F};
    const uint64_t shape[] = {2, 65};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    char text[DTI_QUANT_STATE_SIZE_MAX];
    struct dti_quant_stored stored = flat_of("nf4", 2, shape);
    const size_t plain = dti_quant_state_text(&stored, 0, text);
    CHECK_U64(plain, strlen(text));
    CHECK_STR(text, "{\"quant_type\": \"nf4\", \"blocksize\": 64, \"dtype\": \"float32\", "
                    "\"shape\": [2, 65]}");
    stored.number = dti_format_get(DTI_BF16);
    stored.nested = true;
    CHECK(dti_quant_parts(&stored, parts, NULL) == DTI_OK);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        const uint64_t length = dti_quant_state_text(&stored, offsets[i], text);
        CHECK_U64(length, parts[DTI_PART_STATE].shape[0]);
        CHECK_U64(length, strlen(text));
        const char *const at = strstr(text, "\"nested_offset\": ");
        CHECK(at && strtof(at + strlen("\"nested_offset\": "), NULL) >= offsets[i] &&
              strtof(at + strlen("\"nested_offset\": "), NULL) <= offsets[i]);
    }
    (void)dti_quant_state_text(&stored, 2, text);
    CHECK(strstr(text, "\"dtype\": \"bfloat16\"") && strstr(text, "\"nested_offset\": 2.0}  "));
}

static void the_longest_state_fits(void)
{
    uint64_t shape[DTI_QUANT_RANK_MAX];
    char text[DTI_QUANT_STATE_SIZE_MAX];
    for (unsigned i = 0; i < DTI_QUANT_RANK_MAX; i++)
        shape[i] = UINT64_MAX;
    struct dti_quant_stored stored = flat_of("bnb_fp4", DTI_QUANT_RANK_MAX, shape);
    stored.nested = true;
    CHECK(dti_quant_state_text(&stored, 0x1.8p-126F, text) < sizeof text);
}

static struct dti_quant_stored marked_of(const char *dtype, unsigned rank, const uint64_t *shape)
{
    struct dti_quant_stored stored = stored_of(dtype, rank, shape);
    stored.row = dti_quant_row_find(DTI_LAYOUT_COMFY, dtype);
    stored.per = stored.row->block ? DTI_PER_GROUP : DTI_PER_TENSOR;
    stored.group = stored.row->block ? stored.row->block->length : 0;
    stored.tensor_scale = stored.row->block && stored.row->block->family == DTI_BLOCKS_NV;
    return stored;
}

static bool is_shape(const struct dti_quant_part_shape *part, uint64_t rows, uint64_t columns)
{
    return part->there && part->rank == 2 && part->shape[0] == rows && part->shape[1] == columns;
}

static void marked_matrices_have_scales_in_tiles(void)
{
    const uint64_t small[] = {5, 20}, even[] = {256, 128}, stack[] = {3, 128, 64};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_error error;
    char text[DTI_QUANT_MARK_SIZE];
    struct dti_quant_stored stored = marked_of("nvfp4", 2, small);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored.pad = true;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK);
    CHECK(is_shape(&parts[DTI_PART_CODES], 16, 16) && is_shape(&parts[DTI_PART_SCALE], 128, 4));
    CHECK(parts[DTI_PART_TENSOR_SCALE].there && parts[DTI_PART_TENSOR_SCALE].rank == 0);
    CHECK(!parts[DTI_PART_SHAPE].there && dti_quant_is_filled_up(&stored, parts));
    CHECK_U64(dti_quant_mark_text(&stored, true, text), parts[DTI_PART_STATE].shape[0]);
    CHECK_STR(text, "{\"format\": \"nvfp4\", \"orig_shape\": [5, 20]}");
    stored = marked_of("mxfp8_e4m3", 2, even);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK);
    CHECK(is_shape(&parts[DTI_PART_CODES], 256, 128) && is_shape(&parts[DTI_PART_SCALE], 256, 4));
    CHECK(parts[DTI_PART_SCALE].dtype == DTI_FP8_E8M0 && !dti_quant_is_filled_up(&stored, parts));
    stored = marked_of("nvfp4", 3, stack);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK && parts[DTI_PART_SCALE].rank == 3);
    stored = marked_of("int8", 2, small);
    stored.per = DTI_PER_CHANNEL;
    stored.axis = 0;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_OK);
    CHECK(is_shape(&parts[DTI_PART_CODES], 5, 20) && is_shape(&parts[DTI_PART_SCALE], 5, 1));
}

static void what_a_mark_cannot_say_is_refused(void)
{
    const uint64_t even[] = {128, 64}, stack[] = {3, 64, 64}, huge[] = {UINT64_MAX, 16};
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_error error;
    struct dti_quant_stored stored = marked_of("fp8_e4m3fn", 2, even);
    stored.per = DTI_PER_CHANNEL;
    stored.axis = 0;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = marked_of("int8", 1, even);
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = marked_of("nvfp4", 2, even);
    stored.axis = 0;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = marked_of("nvfp4", 3, stack);
    stored.pad = true;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
    stored = marked_of("nvfp4", 2, huge);
    stored.pad = true;
    CHECK(dti_quant_parts(&stored, parts, &error) == DTI_WRONG_KIND);
}

static void a_tile_has_each_scale_once(void)
{
    unsigned char seen[2 * DTI_TILE_BYTES] = {0};
    for (uint64_t row = 0; row < DTI_TILE_ROWS; row++) {
        for (uint64_t column = 0; column < 2 * DTI_TILE_COLUMNS; column++)
            seen[dti_tile_offset(row, column)]++;
    }
    for (size_t i = 0; i < sizeof seen; i++)
        CHECK_U64(seen[i], 1);
    CHECK_U64(dti_tile_offset(33, 6), DTI_TILE_BYTES + 16 + 4 + 2);
}

UNIT_MAIN(every_row_has_a_dtype_and_names, the_longest_suffix_is_the_one_that_counts,
          what_is_told_is_read_back, groups_with_a_bias_are_parts_of_a_module,
          widths_that_words_leave_open_are_told, groups_that_scales_leave_open_are_told,
          groups_of_filled_rows_are_told, shapes_beyond_64_bits_are_refused,
          ranks_that_do_not_fit_are_refused, flattened_tensors_have_blocks_that_cross_rows,
          states_are_as_long_as_they_were_planned, the_longest_state_fits,
          marked_matrices_have_scales_in_tiles, what_a_mark_cannot_say_is_refused,
          a_tile_has_each_scale_once)
