/* SPDX-License-Identifier: MIT
 *
 * Compares copies with another file: finds the element that differs, for any width, position,
 * thread count and memory limit. */
#include "files/judge/judge.h"

#include <stdio.h>

#include "folder.h"
#include "unit.h"

enum { BYTES = 3 * 49152 + 48, NOWHERE = -1 };

static unsigned char data[BYTES];

/* One tensor, with one bit flipped. */
static void make(const char *path, const char *dtype, size_t elements, int place)
{
    static unsigned char file[BYTES + 256];
    char header[200];
    const int length = snprintf(
        header, sizeof header, "{\"w\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[0,%d]}}",
        dtype, elements, BYTES);
    memset(file, 0, 8);
    file[0] = (unsigned char)length;
    memcpy(file + 8, header, (size_t)length);
    memcpy(file + 8 + length, data, BYTES);
    if (place != NOWHERE)
        file[8 + length + place] ^= 0x40;
    file_make(path, file, (size_t)length + 8 + BYTES);
}

static void judge(const char *a, const char *b, const struct dti_judge_options *options,
                  struct dti_verdict *ret)
{
    struct dti_container *from = NULL, *to = NULL;
    struct dti_error error = {.text = ""};
    const struct dti_judge_copy copy = {.part = DTI_PART_CODES};
    memset(ret, 0, sizeof *ret);
    if (CHECK(dti_container_open(&from, a, NULL, &error) == DTI_OK) &&
        CHECK(dti_container_open(&to, b, NULL, &error) == DTI_OK))
        CHECK_U64(dti_judge_copies(from, to, &copy, 1, options, ret, &error), DTI_OK);
    ret->format = NULL; /* owned by the container */
    CHECK_STR(error.text, "");
    dti_container_free(from);
    dti_container_free(to);
}

static void every_place_is_found(void)
{
    static const struct {
        const char *dtype;
        unsigned bits;
    } types[] = {{"U8", 8}, {"BF16", 16}, {"F32", 32}, {"F64", 64}, {"F4", 4}, {"F6_E2M3", 6}};
    static const int places[] = {0, 1, 7, 49151, 49152, 98303, BYTES - 1};
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 37 >> 3);
    folder_enter();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const unsigned bits = types[i].bits, unit = bits == 6 ? 8 : bits; /* 6 bits cross bytes */
        make("a", types[i].dtype, BYTES * 8 / bits, NOWHERE);
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            struct dti_verdict verdict;
            struct dti_judge_options options = {.max_memory = k % 2 ? 1 : 0};
            make("b", types[i].dtype, BYTES * 8 / bits, places[k]);
            judge("a", "b", &options, &verdict);
            CHECK_U64(verdict.kind, DTI_VERDICT_BYTES);
            CHECK_U64(verdict.elements, BYTES * 8 / unit);
            CHECK_U64(verdict.differing, 1);
            CHECK_U64(verdict.first, ((unsigned)places[k] * 8 + 6) / unit);
            CHECK(verdict.expected != verdict.found);
            options.stop = true;
            judge("a", "b", &options, &verdict);
            CHECK_U64(verdict.kind, DTI_VERDICT_BYTES);
            CHECK_U64(verdict.first, ((unsigned)places[k] * 8 + 6) / unit);
            CHECK(places[k] >= 65536 ? verdict.alike >= 1 : verdict.alike < 1);
            judge("b", "b", &options, &verdict);
            CHECK_U64(verdict.kind, DTI_VERDICT_SAME);
        }
    }
    CHECK_U64(folder_leave(), 2);
}

static enum dti_status take(void *context, const void *bytes, size_t size, uint64_t offset,
                            struct dti_error *reterr)
{
    char *const text = context;
    memcpy(text + offset, bytes, size);
    return text[0] == '!' ? dti_fail(reterr, DTI_ANSWER_NO, "enough") : DTI_OK;
}

static void an_output_may_be_no_file(void)
{
    char text[8] = "";
    struct dti_error error = {.text = ""};
    struct dti_output_file *const output = dti_output_to(take, text);
    if (!CHECK(output != NULL))
        return;
    CHECK(dti_output_seekable(output));
    CHECK(!dti_output_is_file(output, 0, 0));
    CHECK(dti_output_write_at(output, "cd", 2, 2, &error) == DTI_OK);
    CHECK(dti_output_write_at(output, "ab", 2, 0, &error) == DTI_OK);
    CHECK_STR(text, "abcd");
    CHECK(dti_output_write_at(output, "!", 1, 0, &error) == DTI_ANSWER_NO);
    CHECK_STR(error.text, "enough");
    dti_output_discard(output);
}

UNIT_MAIN(every_place_is_found, an_output_may_be_no_file)
