/* SPDX-License-Identifier: MIT
 *
 * The plan for a file's tensors before anything is written, and what is written then. */
#include "files/rewrite/rewrite.h"

#include "folder.h"
#include "unit.h"

/* Three fp32, two int64, four fp4 packed two per byte, one complex64, one bf16. */
static const char tensors[] = "{\"f\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
                              "\"i\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[12,28]},"
                              "\"four\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[28,30]},"
                              "\"z\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[30,38]},"
                              "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[38,40]}}";

static void make_file(const char *name)
{
    unsigned char file[512] = {(unsigned char)(sizeof tensors - 1), (sizeof tensors - 1) >> 8};
    static const unsigned char data[40] = {
        0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0xc0, 0x7f, /* 1, -2, nan */
        7, 0, 0,    0,    0, 0, 0, 0,    8, 0, 0,    0,    0, 0,
        0, 0, 1,    2,    0, 0, 1, 0,    0, 0, 2,    0,    1, 0xff};
    memcpy(file + 8, tensors, sizeof tensors - 1);
    memcpy(file + 8 + sizeof tensors - 1, data, sizeof data);
    file_make(name, file, 8 + sizeof tensors - 1 + sizeof data);
}

struct asked {
    struct dti_container *container;
    struct dti_rewrite *cast;
    struct dti_error error;
    unsigned warnings;
    char last[128];
    enum dti_remedy remedy; /* of the last error */
};

static void warn(void *context, const struct dti_note *note)
{
    struct asked *const asked = context;
    asked->warnings++;
    (void)snprintf(asked->last, sizeof asked->last, "%s: %s", note->code, note->text);
    asked->remedy = note->remedy;
}

static enum dti_status ask(struct asked *ret, const struct dti_rewrite_request *how,
                           enum dti_dtype dst)
{
    struct dti_rewrite_request request = *how;
    memset(ret, 0, sizeof *ret);
    request.cast.cast.dst = *dti_format_get(dst);
    request.warn = warn;
    request.warn_context = ret;
    request.path = request.path ? request.path : "out";
    if (!CHECK(dti_container_open(&ret->container, "in", NULL, &ret->error) == DTI_OK))
        return ret->error.status;
    return dti_rewrite_new(&ret->cast, ret->container, &request, &ret->error);
}

static void finish(struct asked *asked)
{
    dti_rewrite_free(asked->cast);
    dti_container_free(asked->container);
}

static const struct dti_rewrite_request plain = {.kind = DTI_CONTAINER_SAFETENSORS};

static void check_fates(const struct asked *asked, const enum dti_fate *wanted, size_t count)
{
    CHECK_SIZE(asked->cast->tensor_count, count);
    for (size_t i = 0; i < asked->cast->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &asked->cast->tensors[i];
        CHECK(tensor->fate == wanted[tensor->source]);
        CHECK((tensor->way->plan != NULL) == (tensor->fate == DTI_FATE_CHANGED));
    }
}

static void floats_are_cast_and_the_rest_is_kept(void)
{
    static const enum dti_fate fates[] = {DTI_FATE_CHANGED, DTI_FATE_INTEGER, DTI_FATE_KEEP,
                                          DTI_FATE_COMPLEX, DTI_FATE_SAME};
    struct dti_rewrite_request request = plain;
    struct asked asked;
    folder_enter();
    make_file("in");
    request.keep = "fo*";
    CHECK(ask(&asked, &request, DTI_BF16) == DTI_OK);
    check_fates(&asked, fates, 5);
    CHECK_U64(asked.cast->input_bytes, 40);
    CHECK_U64(asked.cast->output_bytes, 34);
    CHECK_SIZE(asked.cast->changed_count, 1);
    CHECK_SIZE(asked.cast->plan_count, 1);
    CHECK(asked.warnings == 0);
    finish(&asked);
    CHECK_U64(folder_leave(), 1);
}

static void patterns_choose(void)
{
    static const enum dti_fate fates[] = {DTI_FATE_ONLY, DTI_FATE_CHANGED, DTI_FATE_ONLY, 0,
                                          DTI_FATE_CHANGED};
    struct dti_rewrite_request request = plain;
    struct asked asked;
    folder_enter();
    make_file("in");
    request.select = "[!z]*";
    request.only = "i,b";
    request.cast.ints = true;
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    check_fates(&asked, fates, 4);
    finish(&asked);
    request.only = "i,none";
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_USAGE);
    CHECK_STR(asked.error.text, "'none' matches no tensor");
    CHECK_STR(asked.error.argument, "none");
    CHECK(asked.error.remedy == DTI_REMEDY_ALLOW_CAST);
    dti_container_free(asked.container);
    request.allow_unmatched = true;
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK && asked.warnings == 1);
    CHECK_STR(asked.last, "idle_pattern: 'none' matches no tensor");
    CHECK(asked.remedy == DTI_REMEDY_CORRECT_CAST);
    finish(&asked);
    request.cast.ints = false;
    request.only = "i";
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK && asked.warnings == 1);
    CHECK_STR(asked.last, "nothing_cast: nothing is cast: all tensors keep their dtypes");
    CHECK(asked.remedy == DTI_REMEDY_NONE);
    finish(&asked);
    request.select = "none";
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_USAGE);
    CHECK_STR(asked.error.text, "'none' matches none of 5 tensors");
    CHECK(asked.error.remedy == DTI_REMEDY_CORRECT_SELECT);
    finish(&asked);
    CHECK_U64(folder_leave(), 1);
}

static void what_the_output_cannot_hold_is_named(void)
{
    struct dti_rewrite_request request = plain;
    struct asked asked;
    folder_enter();
    make_file("in");
    request.keep = "four";
    CHECK(ask(&asked, &request, DTI_TF32) == DTI_WRONG_KIND);
    CHECK(strstr(asked.error.text, "no name for tf32"));
    finish(&asked);
    request.keep = NULL;
    CHECK(ask(&asked, &request, DTI_BF16) == DTI_USAGE);
    CHECK(strstr(asked.error.text, "'four'") && asked.error.remedy == DTI_REMEDY_SAY_INPUT_PACKING);
    finish(&asked);
    request.select = "i";
    request.cast.ints = true;
    CHECK(ask(&asked, &request, DTI_FP4_E2M1) == DTI_USAGE);
    CHECK(asked.error.remedy == DTI_REMEDY_SAY_PACKING);
    finish(&asked);
    request.cast.packing_given = true;
    request.select = "f";
    CHECK(ask(&asked, &request, DTI_FP4_E2M1) == DTI_WRONG_KIND);
    CHECK(strstr(asked.error.text, "3 elements of fp4_e2m1 do not fill whole bytes"));
    finish(&asked);
    request = plain;
    request.kind = DTI_CONTAINER_NPY;
    CHECK(ask(&asked, &request, DTI_BF16) == DTI_USAGE);
    CHECK(asked.error.remedy == DTI_REMEDY_SAY_INPUT_PACKING); /* "four" cannot be unpacked */
    finish(&asked);
    request.select = "f,b";
    CHECK(ask(&asked, &request, DTI_BF16) == DTI_USAGE);
    CHECK_STR(asked.error.text, "'in' has 2 tensors, but an npy file holds only one");
    CHECK(asked.error.remedy == DTI_REMEDY_SELECT_ONE);
    finish(&asked);
    CHECK_U64(folder_leave(), 1);
}

static enum dti_status write_all(struct asked *asked, bool force)
{
    const struct dti_rewrite_options options = {.max_memory = 1};
    enum dti_status status = dti_new_files_check(&asked->cast->files, force, &asked->error);
    if (status == DTI_OK)
        status = dti_rewrite_open(asked->cast, force, &asked->error);
    if (status == DTI_OK)
        status = dti_rewrite_run(asked->cast, &options, &asked->error);
    if (status == DTI_OK)
        status = dti_new_files_commit(&asked->cast->files, &asked->error);
    return status;
}

static void the_new_file_holds_what_was_decided(void)
{
    static const unsigned char codes[] = {0x00, 0x3c, 0x00, 0xc0, 0x00, 0x7e};
    struct dti_rewrite_request request = plain;
    struct asked asked;
    folder_enter();
    make_file("in");
    request.kind = DTI_CONTAINER_RAW;
    request.select = "f";
    request.counted = true;
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    CHECK(write_all(&asked, false) == DTI_OK);
    CHECK(file_is("out", codes, sizeof codes));
    const struct dti_loss_summary *const loss = &dti_rewrite_outcome(asked.cast, 0)->loss;
    CHECK(loss->elements == 3 && loss->inexact == 0 && loss->nan_in == 1 && loss->compared == 2);
    finish(&asked);
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    CHECK(write_all(&asked, false) == DTI_WRITE_FAILED);
    finish(&asked);
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    CHECK(write_all(&asked, true) == DTI_OK);
    finish(&asked);
    CHECK_U64(folder_leave(), 2);
}

static void a_nan_without_a_code_leaves_nothing(void)
{
    struct dti_rewrite_request request = plain;
    struct asked asked;
    folder_enter();
    make_file("in");
    request.kind = DTI_CONTAINER_RAW;
    request.select = "f";
    CHECK(ask(&asked, &request, DTI_FP4_E2M1) == DTI_OK);
    CHECK(asked.cast->counts);
    CHECK(write_all(&asked, false) == DTI_NOT_REPRESENTABLE);
    CHECK_STR(asked.error.text, "'in': tensor 'f': element 2 is NaN; fp4_e2m1 has no NaN");
    CHECK(asked.error.remedy == DTI_REMEDY_SATURATE);
    finish(&asked);
    CHECK_U64(folder_leave(), 1);
}

struct taken {
    uint64_t codes[8];
    size_t count;
};

static enum dti_status take(void *context, const struct dti_format *format,
                            const struct dti_layout *layout, const void *codes, size_t n,
                            struct dti_error *reterr)
{
    struct taken *const taken = context;
    (void)reterr;
    for (size_t i = 0; i < n && taken->count < 8; i++)
        taken->codes[taken->count++] = dti_storage_get(format, layout, codes, i);
    return DTI_OK;
}

static void codes_are_handed_over_in_memory(void)
{
    const struct dti_rewrite_options options = {.max_memory = 0};
    struct dti_rewrite_request request = plain;
    struct asked asked;
    struct taken taken = {.count = 0};
    folder_enter();
    make_file("in");
    request.kind = DTI_CONTAINER_RAW;
    request.select = "i";
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    CHECK(dti_rewrite_each(asked.cast, &options, take, &taken, &asked.error) == DTI_OK);
    CHECK(taken.count == 2 && taken.codes[0] == 7 && taken.codes[1] == 8);
    finish(&asked);
    taken.count = 0;
    request.cast.ints = true;
    CHECK(ask(&asked, &request, DTI_FP16) == DTI_OK);
    CHECK(dti_rewrite_each(asked.cast, &options, take, &taken, &asked.error) == DTI_OK);
    CHECK(taken.count == 2 && taken.codes[0] == 0x4700 && taken.codes[1] == 0x4800);
    finish(&asked);
    CHECK_U64(folder_leave(), 1);
}

UNIT_MAIN(floats_are_cast_and_the_rest_is_kept, patterns_choose,
          what_the_output_cannot_hold_is_named, the_new_file_holds_what_was_decided,
          a_nan_without_a_code_leaves_nothing, codes_are_handed_over_in_memory)
