/* SPDX-License-Identifier: MIT
 *
 * Transfers between files and pipes, with blocks and teams of every size: always the same bytes and
 * the same loss. */
#include "transfer_ends.h"

static void every_way_gives_the_same_bytes(void)
{
    static const size_t lengths[] = {0, 1, DTI_TILE - 1, DTI_TILE, DTI_TILE + 1, MANY};
    static const uint64_t blocks[] = {0, 1, 3 * DTI_TILE * 4};
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    folder_enter();
    bool good = true;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct array source, wanted;
        make_arrays(lengths[i], &source, &wanted);
        for (unsigned ways = 0; ways < 4 * 3 * TEAMS && good; ways++) {
            const struct how how = {.pipe_in = ways % 2 == 1,
                                    .pipe_out = ways / 2 % 2 == 1,
                                    .step = 4093,
                                    .team = ways / 4 % TEAMS,
                                    .block_bytes = blocks[ways / 4 / TEAMS],
                                    .elements = ways % 3 == 0 ? lengths[i] : DTI_UNTIL_END};
            good = CHECK(transfer(plan, &source, &how, NULL) == DTI_OK) &&
                   CHECK_U64(transferred, lengths[i]) &&
                   CHECK(file_is("out", wanted.bytes, wanted.size));
        }
        free(source.bytes);
        free(wanted.bytes);
    }
    folder_leave();
    dti_plan_free(plan);
}

static void bytes_that_arrive_one_by_one_are_elements_all_the_same(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(2 * DTI_TILE + 5, &source, &wanted);
    folder_enter();
    for (size_t team = 0; team < TEAMS; team++) {
        const struct how how = {.pipe_in = true,
                                .pipe_out = true,
                                .step = 1,
                                .team = team,
                                .block_bytes = 1,
                                .elements = DTI_UNTIL_END};
        CHECK(transfer(plan, &source, &how, NULL) == DTI_OK);
        CHECK(file_is("out", wanted.bytes, wanted.size));
    }
    folder_leave();
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

static void make_packed(size_t n, unsigned bits, bool high, struct array *ret_packed,
                        struct array *ret_bytes)
{
    *ret_packed = array_new((n * bits + 7) / 8);
    *ret_bytes = array_new(n);
    memset(ret_packed->bytes, 0, ret_packed->size);
    for (size_t i = 0; i < n; i++) {
        const unsigned code = ((unsigned)i * 37 + 11) & ((1U << bits) - 1);
        ret_bytes->bytes[i] = (unsigned char)code;
        for (unsigned bit = 0; bit < bits; bit++) {
            /* counted from the lowest bit of the code, or from the highest */
            const size_t at = i * bits + bit;
            const unsigned set = high ? code >> (bits - 1 - bit) & 1 : code >> bit & 1;
            const unsigned shift = (unsigned)(high ? 7 - at % 8 : at % 8);
            ret_packed->bytes[at / 8] |= (unsigned char)(set << shift);
        }
    }
}

static void packed_elements_cross_blocks(void)
{
    folder_enter();
    for (unsigned ways = 0; ways < 4 * TEAMS; ways++) {
        const unsigned bits = ways % 2 == 0 ? 4 : 6;
        const bool high = ways / 2 % 2 == 1;
        const char *const name = bits == 4 ? "fp4_e2m1" : "fp6_e3m2";
        struct dti_plan *const plan =
            plan_new(name, high ? DTI_PACKING_HIGH : DTI_PACKING_LOW, name, DTI_PACKING_BYTES);
        struct array packed, bytes;
        make_packed(MANY - 1, bits, high, &packed, &bytes); /* ends at a byte boundary */
        for (unsigned pipes = 0; pipes < 4; pipes++) {
            const struct how how = {.pipe_in = pipes % 2 == 1,
                                    .pipe_out = pipes / 2 == 1,
                                    .step = 1000,
                                    .team = ways / 4,
                                    .block_bytes = 1,
                                    .elements = DTI_UNTIL_END};
            CHECK(transfer(plan, &packed, &how, NULL) == DTI_OK);
            CHECK_U64(transferred, MANY - 1);
            CHECK(file_is("out", bytes.bytes, bytes.size));
        }
        free(packed.bytes);
        free(bytes.bytes);
        dti_plan_free(plan);
    }
    folder_leave();
}

static void a_part_of_a_file_goes_into_the_middle_of_another(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(MANY, &source, &wanted);
    folder_enter();
    file_make("in", source.bytes, source.size);
    for (size_t team = 0; team < TEAMS; team++) {
        struct dti_input input;
        struct dti_output_file *output = NULL;
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        CHECK(dti_output_write_at(output, "head", 4, 0, &error) == DTI_OK);
        const struct dti_transfer request = {.input = &input,
                                             .input_offset = 40,
                                             .elements = MANY - 20,
                                             .output = output,
                                             .output_offset = 4};
        const struct dti_transfer_options options = {.block_bytes = 1};
        uint64_t n = 0;
        CHECK(dti_transfer_run(plan, teams[team], &request, &options, NULL, &n, &error) == DTI_OK);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
        dti_input_close(&input);
        struct array out = array_new(4 + 2 * (MANY - 20));
        memcpy(out.bytes, "head", 4);
        memcpy(out.bytes + 4, wanted.bytes + 20, out.size - 4);
        CHECK(file_is("out", out.bytes, out.size));
        free(out.bytes);
    }
    folder_leave();
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

static void the_loss_is_that_of_the_whole_array(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(MANY, &source, &wanted);
    /* one element of every tile is off by a quarter of a step: 2^-9 at 1 */
    const float off = 1.001953125F, one = 1;
    const size_t tiles = (MANY + DTI_TILE - 1) / DTI_TILE;
    for (size_t tile = 0; tile < tiles; tile++)
        memcpy(source.bytes + 4 * (tile * DTI_TILE + 3), tile > 1 ? &off : &one, 4);
    folder_enter();
    for (unsigned ways = 0; ways < 2 * TEAMS; ways++) {
        const struct how how = {.pipe_in = ways % 2 == 1,
                                .step = 4096,
                                .team = ways / 2,
                                .block_bytes = 1,
                                .elements = DTI_UNTIL_END};
        struct dti_loss loss;
        dti_loss_init(&loss);
        CHECK(transfer(plan, &source, &how, &loss) == DTI_OK);
        CHECK_U64(loss.elements, MANY);
        CHECK_U64(loss.inexact, tiles - 2);
        CHECK_U64(loss.max_index, 2 * DTI_TILE + 3);
        CHECK(loss.max_absolute == 0.001953125);
        CHECK(dti_exact_sum_value(&loss.sum_absolute) == (double)(tiles - 2) * 0.001953125);
    }
    folder_leave();
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

UNIT_MAIN(make_teams, every_way_gives_the_same_bytes,
          bytes_that_arrive_one_by_one_are_elements_all_the_same, packed_elements_cross_blocks,
          a_part_of_a_file_goes_into_the_middle_of_another, the_loss_is_that_of_the_whole_array,
          free_teams)
