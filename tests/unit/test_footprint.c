/* SPDX-License-Identifier: MIT
 *
 * Memory footprints of arrays and of training, compared with hand-computed numbers. */
#include "core/dtype/training.h"

#include "unit.h"

static struct dti_stored stored(const char *name)
{
    struct dti_stored ret = {.block = dti_block_lookup(name)};
    struct dti_error error = {0};
    const char *note;
    if (!ret.block)
        CHECK(dti_format_lookup(name, &ret.format, &note, &error) == DTI_OK);
    CHECK_STR(dti_stored_name(&ret), name);
    return ret;
}

/* UINT64_MAX if it does not fit. */
static struct dti_footprint rows_of(const char *name, uint64_t rows, uint64_t row)
{
    const struct dti_stored as = stored(name);
    const uint64_t shape[] = {rows, row};
    struct dti_extent extent;
    struct dti_footprint footprint = {.bytes = UINT64_MAX};
    if (dti_extent_of(shape, 2, &extent))
        (void)dti_footprint_of(&as, &extent, &footprint);
    return footprint;
}

static uint64_t bytes_of(const char *name, uint64_t n)
{
    return rows_of(name, 1, n).bytes;
}

static void dtypes_take_their_bits_and_the_last_byte_is_filled_up(void)
{
    CHECK_U64(bytes_of("fp32", 3), 12);
    CHECK_U64(bytes_of("bf16", UINT64_C(176000000000)), UINT64_C(352000000000));
    CHECK_U64(bytes_of("tf32", 3), 12);
    CHECK_U64(bytes_of("int4", 3), 2);
    CHECK_U64(bytes_of("fp6_e3m2", 3), 3);
    CHECK_U64(bytes_of("fp6_e3m2", 4), 3);
    CHECK_U64(bytes_of("int1", 9), 2);
    CHECK_U64(bytes_of("bool", 9), 9);
    CHECK_U64(bytes_of("e5m6", 3), 6);
    CHECK_U64(bytes_of("complex64", 3), 24);
    CHECK_U64(bytes_of("complex128", 3), 48);
}

static void rows_are_packed_together_in_a_dtype_but_not_in_blocks(void)
{
    CHECK_U64(rows_of("int4", 3, 3).bytes, 5);
    const struct dti_footprint blocks = rows_of("mxfp4", 3, 33);
    CHECK_U64(blocks.blocks, 6);
    CHECK_U64(blocks.bytes, 6 * 17);
    CHECK_U64(blocks.scale_bytes, 6);
    CHECK_U64(blocks.padding, 3 * 31);
}

static void each_block_format_has_the_bytes_of_its_definition(void)
{
    static const struct {
        const char *name;
        unsigned bytes, scales; /* of 128 elements */
    } rows[] = {{"mxfp8_e4m3", 132, 4}, {"mxfp8_e5m2", 132, 4}, {"mxfp6_e3m2", 100, 4},
                {"mxfp6_e2m3", 100, 4}, {"mxfp4", 68, 4},       {"mxint8", 132, 4},
                {"nvfp4", 76, 12},      {"nf4", 72, 8},         {"bnb_fp4", 72, 8},
                {"q8_0", 136, 8},       {"q4_0", 72, 8}};
    CHECK_SIZE(sizeof rows / sizeof *rows, dti_block_format_count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dti_footprint footprint = rows_of(rows[i].name, 1, 128);
        CHECK_U64(footprint.bytes, rows[i].bytes);
        CHECK_U64(footprint.scale_bytes, rows[i].scales);
        CHECK_U64(footprint.padding, 0);
    }
}

static void shapes_are_multiplied_and_scalars_are_one(void)
{
    static const uint64_t shape[] = {32, 1024, 4096}, large[] = {UINT64_MAX, 2},
                          none[] = {UINT64_MAX, 2, 0};
    struct dti_extent extent = {.elements = 7, .row = 7};
    CHECK(!dti_extent_of(large, 2, &extent));
    CHECK_U64(extent.elements, 7);
    CHECK(dti_extent_of(shape, 3, &extent));
    CHECK_U64(extent.elements, 134217728);
    CHECK_U64(extent.row, 4096);
    CHECK(dti_extent_of(NULL, 0, &extent));
    CHECK_U64(extent.elements, 1);
    CHECK_U64(extent.row, 1);
    CHECK(dti_extent_of(none, 3, &extent));
    CHECK_U64(extent.elements, 0);
    struct dti_footprint footprint;
    const struct dti_stored nvfp4 = stored("nvfp4");
    CHECK(dti_footprint_of(&nvfp4, &extent, &footprint));
    CHECK_U64(footprint.bytes, 0);
}

static void what_64_bits_do_not_tell_is_refused(void)
{
    CHECK_U64(bytes_of("uint8", UINT64_MAX), UINT64_MAX);
    CHECK_U64(bytes_of("bf16", UINT64_MAX / 2), UINT64_MAX - 1);
    CHECK_U64(bytes_of("bf16", UINT64_MAX / 2 + 1), UINT64_MAX);
    CHECK_U64(bytes_of("complex64", UINT64_MAX / 2 + 1), UINT64_MAX);
    CHECK_U64(bytes_of("int4", UINT64_MAX), UINT64_C(1) << 63);
    CHECK_U64(bytes_of("mxfp8_e4m3", UINT64_MAX - 31), UINT64_MAX);
    CHECK_U64(bytes_of("mxfp4", UINT64_MAX), UINT64_MAX);
    CHECK_U64(rows_of("mxfp4", UINT64_C(1) << 60, 1).bytes, UINT64_MAX);
    struct dti_footprint sum = {.bytes = UINT64_MAX, .blocks = 1};
    const struct dti_footprint one = {.bytes = 1, .blocks = 1};
    CHECK(!dti_footprint_add(&sum, &one));
    CHECK_U64(sum.blocks, 1);
}

/* Bytes of one part for n parameters. */
static uint64_t part_of(enum dti_training training, const char *weights,
                        enum dti_training_part part, uint64_t n)
{
    const struct dti_stored as = stored(weights);
    const struct dti_extent extent = {.elements = n, .row = n};
    struct dti_training_plan plan;
    struct dti_footprint sums[DTI_TRAINING_PARTS] = {{.bytes = 0}};
    dti_training_defaults(&plan, training, &as);
    CHECK(dti_training_add(&plan, &extent, sums));
    CHECK(dti_training_has(&plan, part) == (sums[part].bytes > 0));
    return sums[part].bytes;
}

static void optimizers_keep_what_they_are_known_for(void)
{
    static const struct {
        enum dti_training training;
        unsigned states; /* bytes per parameter, without scales */
    } rows[] = {{DTI_TRAINING_ADAM, 8}, {DTI_TRAINING_ADAMW, 8},    {DTI_TRAINING_MOMENTUM, 4},
                {DTI_TRAINING_SGD, 0},  {DTI_TRAINING_ADAM8BIT, 2}, {DTI_TRAINING_MOMENTUM8BIT, 1}};
    const uint64_t n = 1 << 20;
    CHECK_SIZE(sizeof rows / sizeof *rows, DTI_TRAINING_COUNT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dti_training_row *const row = dti_training_get(rows[i].training);
        const uint64_t scales = row->block > 0 ? row->states * (n / 256) * 4 : 0;
        CHECK_U64(part_of(rows[i].training, "fp32", DTI_TRAINING_STATE_1, n) +
                      part_of(rows[i].training, "fp32", DTI_TRAINING_STATE_2, n),
                  rows[i].states * n + scales);
    }
}

static void small_tensors_have_states_of_32_bits(void)
{
    CHECK_U64(part_of(DTI_TRAINING_ADAM8BIT, "fp32", DTI_TRAINING_STATE_1, 4095), 4 * 4095);
    CHECK_U64(part_of(DTI_TRAINING_ADAM8BIT, "fp32", DTI_TRAINING_STATE_1, 4096), 4096 + 16 * 4);
    CHECK_U64(part_of(DTI_TRAINING_ADAM8BIT, "fp32", DTI_TRAINING_STATE_1, 4097), 4097 + 17 * 4);
}

static void narrow_weights_have_a_copy_of_32_bits(void)
{
    static const struct {
        const char *weights;
        unsigned gradients, master; /* bytes for 64 parameters */
    } rows[] = {{"fp64", 512, 0},       {"fp32", 256, 0},      {"tf32", 256, 0},
                {"bf16", 128, 256},     {"fp16", 128, 256},    {"fp8_e4m3fn", 128, 256},
                {"int8", 128, 256},     {"int32", 128, 256},   {"mxfp4", 128, 256},
                {"fp8_e8m0", 128, 256}, {"fp6_e3m2", 128, 256}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_U64(part_of(DTI_TRAINING_SGD, rows[i].weights, DTI_TRAINING_GRADIENTS, 64),
                  rows[i].gradients);
        CHECK_U64(part_of(DTI_TRAINING_SGD, rows[i].weights, DTI_TRAINING_MASTER, 64),
                  rows[i].master);
    }
}

UNIT_MAIN(dtypes_take_their_bits_and_the_last_byte_is_filled_up,
          rows_are_packed_together_in_a_dtype_but_not_in_blocks,
          each_block_format_has_the_bytes_of_its_definition,
          shapes_are_multiplied_and_scalars_are_one, what_64_bits_do_not_tell_is_refused,
          optimizers_keep_what_they_are_known_for, small_tensors_have_states_of_32_bits,
          narrow_weights_have_a_copy_of_32_bits)
