/* SPDX-License-Identifier: MIT
 *
 * The device x dtype matrix: rows of known devices as documented by their vendors, and consistency
 * of the table's rows. */
#include "devices/machine/capability.h"

#include "unit.h"

static void letters_are_in_order(void)
{
    CHECK(dti_capability_letter(DTI_CAPABLE_SOFTWARE) == '-');
    CHECK(dti_capability_letter(DTI_CAPABLE_CONVERSION) == 'c');
    CHECK(dti_capability_letter(DTI_CAPABLE_MATRIX) == 'n');
    CHECK(dti_capability_letter(DTI_CAPABLE_ARITHMETIC) == 'N');
    CHECK_STR(dti_capability_name(DTI_CAPABLE_MATRIX), "matrix");
    CHECK_SIZE(dti_capability_dtype_count, 12);
}

/* fp64 fp32 tf32 bf16 fp16 e5m2 e4m3fn e3m2 e2m3 e2m1 int8 int4 */
static void gpus_are_as_the_ptx_manual_has_them(void)
{
    static const struct {
        unsigned major, minor;
        const char *letters;
    } rows[] = {
        {7, 5, "NN--N-----nn"},  {8, 0, "NNnNN-----nn"},  {8, 6, "NNnNN-----nn"},
        {8, 7, "NNnNN-----nn"},  {8, 9, "NNnNNnn---nn"},  {9, 0, "NNnNNnn---n-"},
        {10, 0, "NNnNNnnnnnn-"}, {10, 3, "NNnNNnnnnnn-"}, {11, 0, "NNnNNnnnnnn-"},
        {12, 0, "NNnNNnnnnnn-"}, {12, 1, "NNnNNnnnnnn-"}, {99, 9, "NNnNNnnnnnn-"},
        {6, 0, "NN--N-------"},  {5, 2, "NN--c-------"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char letters[16] = "";
        for (size_t j = 0; j < dti_capability_dtype_count; j++) {
            const char *source;
            const enum dti_capability capability =
                dti_gpu_capability(rows[i].major, rows[i].minor, dti_capability_dtypes[j], &source);
            letters[j] = dti_capability_letter(capability);
            CHECK((capability == DTI_CAPABLE_SOFTWARE) == (source[0] == '\0'));
        }
        if (!CHECK_STR(letters, rows[i].letters))
            printf("compute %u.%u\n", rows[i].major, rows[i].minor);
    }
}

static void more_instructions_are_never_less_capable(void)
{
    for (size_t i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        for (size_t j = 0; j < DTI_INSTRUCTION_COUNT; j++) {
            struct dti_machine one, both;
            const char *source;
            memset(&one, 0, sizeof one);
            one.has[i] = true;
            both = one;
            both.has[j] = true;
            for (size_t k = 0; k < dti_capability_dtype_count; k++) {
                const enum dti_dtype dtype = dti_capability_dtypes[k];
                const enum dti_capability least = dti_cpu_capability(&one, dtype, &source);
                CHECK((least == DTI_CAPABLE_SOFTWARE) == (source[0] == '\0'));
                CHECK(dti_cpu_capability(&both, dtype, &source) >= least);
            }
        }
    }
}

static void instruction_sets_have_names_of_their_own(void)
{
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        const enum dti_instruction a = (enum dti_instruction)i;
        CHECK(dti_instruction_name(a)[0] != '\0' && dti_instruction_meaning(a)[0] != '\0');
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(dti_instruction_name(a), dti_instruction_name((enum dti_instruction)j)) !=
                  0);
    }
}

UNIT_MAIN(letters_are_in_order, gpus_are_as_the_ptx_manual_has_them,
          more_instructions_are_never_less_capable, instruction_sets_have_names_of_their_own)
