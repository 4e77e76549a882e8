/* SPDX-License-Identifier: MIT
 *
 * Transfers that fail and their messages; and the progress of those that succeed. */
#include "transfer_ends.h"

/* Transfers `size` bytes, all equal to `fill`, from a file and from a pipe. */
static void expect_elements(const struct dti_plan *plan, size_t size, unsigned char fill,
                            uint64_t elements, const char *want_error)
{
    struct array source = array_new(size);
    memset(source.bytes, fill, size);
    for (unsigned pipe_in = 0; pipe_in < 2; pipe_in++) {
        const struct how how = {.pipe_in = pipe_in == 1,
                                .step = 2,
                                .elements = DTI_UNTIL_END,
                                .block_bytes = 1,
                                .team = pipe_in};
        const enum dti_status status = transfer(plan, &source, &how, NULL);
        if (want_error) {
            CHECK(status == DTI_BAD_INPUT);
            CHECK_STR(error.text, want_error);
            CHECK(access("out", F_OK) != 0);
        } else if (CHECK(status == DTI_OK)) {
            CHECK_U64(transferred, elements);
            CHECK(unlink("out") == 0);
        }
    }
    free(source.bytes);
}

static void what_is_left_over_is_an_error_and_padding_must_be_zero(void)
{
    folder_enter();
    struct dti_plan *plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    expect_elements(plan, 7, 0, 0,
                    "'in': 7 bytes are 1 fp32 plus 3 extra bytes; wrong dtype, or truncated file?");
    expect_elements(
        plan, 8193, 0, 0,
        "'in': 8193 bytes are 2048 fp32 plus 1 extra byte; wrong dtype, or truncated file?");
    expect_elements(plan, 3, 0, 0,
                    "'in': 3 bytes are 0 fp32 plus 3 extra bytes; wrong dtype, or truncated file?");
    dti_plan_free(plan);
    for (unsigned high = 0; high < 2; high++) {
        const enum dti_packing packing = high ? DTI_PACKING_HIGH : DTI_PACKING_LOW;
        plan = plan_new("fp6_e3m2", packing, "fp6_e3m2", DTI_PACKING_BYTES);
        expect_elements(plan, 1, high ? 0xFC : 0x3F, 1, NULL);
        expect_elements(plan, 1, high ? 0x01 : 0x80, 0,
                        "'in': the last 2 bits are too few for another fp6_e3m2 and are not zero");
        expect_elements(plan, 2, high ? 0xF0 : 0x0F, 2, NULL);
        expect_elements(plan, 2, high ? 0x08 : 0x10, 0,
                        "'in': the last 4 bits are too few for another fp6_e3m2 and are not zero");
        expect_elements(plan, 3, 0xFF, 4, NULL);
        expect_elements(plan, 1537, high ? 0xFC : 0x3F, 2049, NULL);
        dti_plan_free(plan);
    }
    plan = plan_new("fp4_e2m1", DTI_PACKING_LOW, "fp4_e2m1", DTI_PACKING_BYTES);
    expect_elements(plan, 1, 0xFF, 2, NULL);
    dti_plan_free(plan);
    folder_leave();
}

static void elements_that_are_asked_for_must_be_there(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(DTI_TILE + 5, &source, &wanted);
    folder_enter();
    for (size_t team = 0; team < TEAMS; team++) {
        struct how how = {.elements = DTI_TILE + 6, .step = 100, .team = team, .block_bytes = 1};
        CHECK(transfer(plan, &source, &how, NULL) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "'in': 8212 bytes are too few for 2054 fp32");
        how.pipe_in = true;
        CHECK(transfer(plan, &source, &how, NULL) == DTI_BAD_INPUT);
        CHECK_STR(error.text, "'in' ended after 8212 bytes, too few for 2054 fp32");
        how.pipe_in = false;
        how.elements = UINT64_MAX / 2;
        CHECK(transfer(plan, &source, &how, NULL) == DTI_BAD_INPUT);
    }
    folder_leave();
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

static void the_first_of_several_errors_is_reported(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(MANY, &source, &wanted);
    folder_enter();
    for (unsigned round = 0; round < 100; round++) {
        struct dti_input input;
        struct dti_output_file *output = NULL;
        file_make("in", source.bytes, source.size);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(truncate("in", 3 * DTI_TILE * 4 + 10) == 0);
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        const struct dti_transfer request = {
            .input = &input, .elements = DTI_UNTIL_END, .output = output};
        const struct dti_transfer_options options = {.block_bytes = 1};
        uint64_t n = 0;
        CHECK(dti_transfer_run(plan, teams[round % TEAMS], &request, &options, NULL, &n, &error) ==
              DTI_BAD_INPUT);
        CHECK_STR(error.text, "'in' shrank while being read: it ends at byte 24586 of 90420");
        dti_output_discard(output);
        dti_input_close(&input);
    }
    CHECK_U64(folder_leave(), 1);
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

static uint64_t last_progress;

static void see_progress(void *context, uint64_t done)
{
    CHECK(done > last_progress && done <= *(const uint64_t *)context);
    last_progress = done;
}

static void progress_only_grows(void)
{
    struct dti_plan *const plan = plan_new("fp32", DTI_PACKING_LOW, "bf16", DTI_PACKING_LOW);
    struct array source, wanted;
    make_arrays(MANY, &source, &wanted);
    folder_enter();
    file_make("in", source.bytes, source.size);
    for (size_t team = 0; team < TEAMS; team++) {
        struct dti_input input;
        struct dti_output_file *output = NULL;
        uint64_t total = MANY, n = 0;
        last_progress = 0;
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        const struct dti_transfer request = {.input = &input,
                                             .elements = DTI_UNTIL_END,
                                             .output = output,
                                             .progress = see_progress,
                                             .progress_context = &total};
        const struct dti_transfer_options options = {.block_bytes = 1};
        CHECK(dti_transfer_run(plan, teams[team], &request, &options, NULL, &n, &error) == DTI_OK);
        CHECK(last_progress > 0);
        dti_output_discard(output);
        dti_input_close(&input);
    }
    folder_leave();
    free(source.bytes);
    free(wanted.bytes);
    dti_plan_free(plan);
}

UNIT_MAIN(make_teams, what_is_left_over_is_an_error_and_padding_must_be_zero,
          elements_that_are_asked_for_must_be_there, the_first_of_several_errors_is_reported,
          progress_only_grows, free_teams)
