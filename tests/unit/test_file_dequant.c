/* SPDX-License-Identifier: MIT
 *
 * Dequantized views: pieces of any size that start anywhere give the same numbers as the whole,
 * which equal the definition; and the tensors that a view shows. */
#include "files/dequant/dequant_parts.h"

#include "folder.h"
#include "gguf_make.h"
#include "unit.h"

enum { ROWS = 67, FILE_MAX = 1 << 18, ELEMENTS_MAX = 1 << 16 };

static uint64_t state;

static unsigned next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 40);
}

/* A part of a safetensors file with random bytes from low to high; with `wide`, only every wide-th
 * byte, and the others from 0 to 255. Parts of I64 use `values`. */
struct made_part {
    const char *name, *dtype, *shape;
    uint64_t bytes;
    unsigned low, high, wide;
    uint64_t values[2];
};

static unsigned char file[FILE_MAX];

static void make_safetensors(const char *path, const struct made_part *parts, size_t count)
{
    char *const head = (char *)file + 8;
    size_t length = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(
            head + length, FILE_MAX / 2,
            "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%llu,%llu]}",
            i > 0 ? "," : "{", parts[i].name, parts[i].dtype, parts[i].shape,
            (unsigned long long)at, (unsigned long long)(at + parts[i].bytes));
        at += (size_t)parts[i].bytes;
    }
    head[length++] = '}';
    for (unsigned i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)length >> (8 * i));
    unsigned char *byte = file + 8 + length;
    for (size_t i = 0; i < count; i++) {
        const struct made_part *const part = &parts[i];
        for (uint64_t k = 0; k < part->bytes; k++) {
            const bool chosen = part->wide == 0 || k % part->wide == part->wide - 1;
            const unsigned random = next();
            if (strcmp(part->dtype, "I64") == 0)
                *byte++ = (unsigned char)(part->values[k / 8 % 2] >> (8 * (k % 8)));
            else
                *byte++ = (unsigned char)(chosen ? part->low + random % (part->high - part->low + 1)
                                                 : random);
        }
    }
    file_make(path, file, (size_t)(byte - file));
}

struct viewed {
    struct dti_container *container;
    struct dti_file_dequant *dequant;
    struct dti_error error;
};

static enum dti_status view(struct viewed *ret, const char *path, enum dti_level level)
{
    const struct dti_file_dequant_request request = {.level = level};
    memset(ret, 0, sizeof *ret);
    const enum dti_status status = dti_container_open(&ret->container, path, NULL, &ret->error);
    if (!CHECK(status == DTI_OK))
        return status;
    return dti_file_dequant_new(&ret->dequant, ret->container, &request, &ret->error);
}

static void finish(struct viewed *viewed)
{
    dti_file_dequant_free(viewed->dequant);
    dti_container_free(viewed->container);
}

static enum dti_level best_level(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &level, NULL) == DTI_OK);
    return level;
}

/* Reads a tensor in pieces of at most `step` elements. */
static void read_pieces(const struct viewed *viewed, size_t tensor, uint64_t elements, size_t step,
                        float *numbers)
{
    struct dti_batch_source source = {.read = NULL};
    const struct dti_input *input = NULL;
    uint64_t offset = 0;
    struct dti_error error;
    if (!CHECK(dti_file_dequant_data(viewed->dequant, tensor, &source, &input, &offset, &error) ==
               DTI_OK) ||
        !CHECK(source.read != NULL))
        return;
    void *const scratch = malloc(source.scratch_bytes);
    if (!CHECK(scratch != NULL))
        return;
    struct dti_window window = {.way = DTI_WINDOW_UNDECIDED};
    for (uint64_t done = 0; done < elements;) {
        const uint64_t n = elements - done < step ? elements - done : step;
        CHECK(source.read(source.context, numbers + done, (size_t)n * 4, done * 4, &window, scratch,
                          &error) == DTI_OK);
        done += n;
    }
    dti_window_free(&window);
    free(scratch);
}

/* Compares pieces read at the best level with the whole read at the scalar level. */
static void check_pieces(const char *what, const char *path, const size_t *steps, size_t count)
{
    float *const whole = malloc(sizeof *whole * ELEMENTS_MAX);
    float *const parts = malloc(sizeof *parts * ELEMENTS_MAX);
    struct viewed plain, fast;
    if (!CHECK(whole && parts) || !CHECK(view(&plain, path, DTI_LEVEL_SCALAR) == DTI_OK))
        return;
    const struct dti_tensor *const tensor = &dti_file_dequant_container(plain.dequant)->tensors[0];
    CHECK(tensor->elements <= ELEMENTS_MAX && dti_file_dequant_count(plain.dequant) == 1);
    read_pieces(&plain, 0, tensor->elements, ELEMENTS_MAX, whole);
    CHECK(view(&fast, path, best_level()) == DTI_OK);
    for (size_t i = 0; i < count; i++) {
        memset(parts, 0xAA, sizeof *parts * ELEMENTS_MAX);
        read_pieces(&fast, 0, tensor->elements, steps[i], parts);
        if (!CHECK(memcmp(whole, parts, sizeof *whole * (size_t)tensor->elements) == 0))
            fprintf(stderr, "    %s in pieces of %zu\n", what, steps[i]);
    }
    finish(&plain);
    finish(&fast);
    free(whole);
    free(parts);
}

static const struct made_file {
    const char *what;
    struct made_part parts[4];
    size_t count;
} files[] = {
    {"int8 per tensor",
     {{"w", "I8", "[67,130]", 67 * 130, 0, 255, 0, {0}},
      {"w_scale", "F32", "[1]", 4, 0x3f, 0x40, 4, {0}}},
     2},
    {"int8 per row, zero points",
     {{"w", "I8", "[67,130]", 67 * 130, 0, 255, 0, {0}},
      {"w_scale", "F32", "[67,1]", 268, 0x3f, 0x40, 4, {0}},
      {"w_zero_point", "I8", "[67,1]", 67, 0, 255, 0, {0}}},
     3},
    {"uint16 per column",
     {{"w", "U16", "[67,130]", 67 * 260, 0, 255, 0, {0}},
      {"w_scale", "F32", "[1,130]", 520, 0x3f, 0x40, 4, {0}}},
     2},
    {"int8, groups in the middle",
     {{"w", "I8", "[5,12,130]", 5 * 12 * 130, 0, 255, 0, {0}},
      {"w_scale", "BF16", "[5,3,130]", 3900, 0x3f, 0x40, 2, {0}}},
     2},
    {"int4 in words, groups, zero points",
     {{"w_packed", "I32", "[67,18]", 67 * 72, 0, 255, 0, {0}},
      {"w_scale", "F32", "[67,7]", 1876, 0x3f, 0x40, 4, {0}},
      {"w_zero_point", "I32", "[9,7]", 252, 0, 255, 0, {0}},
      {"w_shape", "I64", "[2]", 16, 0, 0, 0, {67, 140}}},
     4},
    {"fp8 in rectangles",
     {{"w", "F8_E4M3", "[201,301]", 60501, 0, 0x7e, 0, {0}},
      {"w_scale_inv", "F32", "[2,3]", 24, 0x3f, 0x40, 4, {0}}},
     2},
    {"mxfp4, rows that end within a block",
     {{"w_packed", "U8", "[40,528]", 21120, 0, 255, 0, {0}},
      {"w_scale", "U8", "[40,33]", 1320, 100, 140, 0, {0}},
      {"w_shape", "I64", "[2]", 16, 0, 0, 0, {40, 1030}}},
     3},
    {"nvfp4 down columns",
     {{"w_packed", "U8", "[2,48,65]", 6240, 0, 255, 0, {0}},
      {"w_scale", "F8_E4M3", "[2,3,130]", 780, 1, 0x7e, 0, {0}},
      {"w_global_scale", "F32", "[1]", 4, 0x41, 0x42, 4, {0}}},
     3},
};

static void pieces_make_the_whole(void)
{
    static const size_t steps[] = {1, 7, 64, 1000, 2048, 16384, 16385};
    state = 20240620;
    folder_enter();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        make_safetensors("q", files[i].parts, files[i].count);
        check_pieces(files[i].what, "q", steps, sizeof steps / sizeof *steps);
    }
    (void)folder_leave();
}

static void pieces_of_gguf_make_the_whole(void)
{
    static const size_t steps[] = {31, 64, 1000, 2048, 16384, 16385, 20480};
    state = 20240621;
    folder_enter();
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        const struct dti_gguf_type *const type = dti_gguf_type_of((enum dti_gguf_blocks)i);
        const uint64_t blocks = type->elements <= 64 ? 13 : 3,
                       shape[2] = {type->elements * blocks, ROWS};
        const size_t bytes = (size_t)(ROWS * blocks * type->bytes);
        start(3, 1, 0);
        put_tensor("w", 2, shape, type->id, 0);
        put_data(bytes, 32);
        for (size_t k = made_length - bytes; k < made_length; k++)
            made[k] = (unsigned char)(next() % 0x70);
        file_make("q", made, made_length);
        check_pieces(type->name, "q", steps, sizeof steps / sizeof *steps);
    }
    (void)folder_leave();
}

static void a_view_shows_numbers_and_hides_parts(void)
{
    static const struct made_part parts[] = {
        {"a_packed", "U8", "[2,32]", 64, 0, 255, 0, {0}},
        {"a_scale", "U8", "[2,2]", 4, 100, 140, 0, {0}},
        {"b", "F32", "[3]", 12, 0, 0, 0, {0}},
        {"m.input_scale", "F32", "[1]", 4, 0, 0, 0, {0}},
        {"c", "I8", "[4]", 4, 0, 255, 0, {0}},
        {"logit_scale", "F32", "[1]", 4, 0, 0, 0, {0}},
        {"a_global_scale", "I64", "[1]", 8, 0, 0, 0, {0}},
    };
    struct viewed viewed;
    folder_enter();
    make_safetensors("q", parts, 6);
    if (CHECK(view(&viewed, "q", DTI_LEVEL_SCALAR) == DTI_OK)) {
        const struct dti_container *const shown = dti_file_dequant_container(viewed.dequant);
        const struct dti_dequant_form *const form = dti_file_dequant_form(viewed.dequant, 0);
        CHECK_SIZE(shown->tensor_count, 5);
        CHECK_STR(shown->tensors[0].name, "a");
        CHECK(shown->tensors[0].format->id == DTI_FP32 && shown->tensors[0].elements == 128);
        CHECK_U64(shown->tensors[0].bytes, 512);
        CHECK(form->is->dtype && strcmp(form->is->dtype, "mxfp4") == 0 &&
              dti_form_part_count(form) == 2);
        CHECK_U64(form->is->stored_bytes, 68);
        CHECK_U64(form->is->group[1], 32);
        CHECK(dti_file_dequant_form(viewed.dequant, 1)->is->dtype == NULL);
        CHECK_STR(shown->tensors[2].name, "m.input_scale");
        CHECK(dti_dequant_state_of(viewed.dequant, 2) == DTI_DEQUANT_KEPT);
        CHECK(dti_dequant_state_of(viewed.dequant, 4) == DTI_DEQUANT_PLAIN);
        CHECK(dti_dequant_fits(viewed.dequant, "a_sc*", 5) &&
              !dti_dequant_fits(viewed.dequant, "x", 1));
        finish(&viewed);
    }
    make_safetensors("q", parts, 7);
    CHECK(view(&viewed, "q", DTI_LEVEL_SCALAR) == DTI_BAD_INPUT);
    CHECK(strstr(viewed.error.text, "'a_scale': holds uint8") != NULL);
    finish(&viewed);
    (void)folder_leave();
}

/* Headers with huge shapes: nothing overflows, nothing is read. */
static void hostile_shapes_are_refused_or_harmless(void)
{
    static const struct made_part hostile[][3] = {
        {{"a", "I8", "[0,9223372036854775807]", 0, 0, 0, 0, {0}},
         {"a_scale", "F32", "[0,3]", 0, 0, 0, 0, {0}}},
        {{"a", "I8", "[0]", 0, 0, 0, 0, {0}}, {"a_scale", "F32", "[0]", 0, 0, 0, 0, {0}}},
        {{"a_packed", "U8", "[0,16]", 0, 0, 0, 0, {0}},
         {"a_scale", "U8", "[0,1]", 0, 0, 0, 0, {0}}},
        {{"a", "I8", "[]", 1, 0, 0, 0, {0}}, {"a_scale", "F32", "[]", 4, 0, 0, 0, {0}}},
        {{"a", "I8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", 2, 0, 0, 0, {0}},
         {"a_scale", "F32", "[1]", 4, 0, 0, 0, {0}}},
        {{"a_packed", "I32", "[1,1]", 4, 0, 0, 0, {0}},
         {"a_scale", "F32", "[1,1]", 4, 0, 0, 0, {0}},
         {"a_shape", "I64", "[2]", 16, 0, 0, 0, {UINT64_MAX, UINT64_MAX}}},
        {{"a_packed", "I32", "[1,1]", 4, 0, 0, 0, {0}},
         {"a_scale", "F32", "[1,1]", 4, 0, 0, 0, {0}},
         {"a_shape", "I64", "[2]", 16, 0, 0, 0, {0}}},
    };
    folder_enter();
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct viewed viewed;
        float numbers[4];
        make_safetensors("q", hostile[i], hostile[i][2].name ? 3 : 2);
        const enum dti_status status = view(&viewed, "q", best_level());
        CHECK(status == DTI_OK || (status == DTI_BAD_INPUT && viewed.error.text[0] != '\0'));
        if (status == DTI_OK && dti_file_dequant_count(viewed.dequant) > 0)
            read_pieces(&viewed, 0, dti_file_dequant_container(viewed.dequant)->tensors[0].elements,
                        4, numbers);
        finish(&viewed);
    }
    (void)folder_leave();
}

static bool has_specials(const struct viewed *viewed, size_t tensor, uint64_t nan, uint64_t inf)
{
    uint64_t nans, infs;
    dti_file_dequant_specials(viewed->dequant, tensor, &nans, &infs);
    return nans == nan && infs == inf;
}

/* Each by its tensor: of 24 codes that are NaN, and 16 that are infinite. */
static void nans_and_infinities_that_are_read_are_counted(void)
{
    static const struct made_part parts[] = {
        {"a", "F8_E4M3", "[3,8]", 24, 0x7f, 0x7f, 0, {0}},
        {"a_scale", "F32", "[1]", 4, 0x3f, 0x3f, 0, {0}},
        {"b", "F8_E5M2", "[2,8]", 16, 0x7c, 0x7c, 0, {0}},
        {"b_scale", "F32", "[1]", 4, 0x3f, 0x3f, 0, {0}},
    };
    struct viewed viewed;
    float numbers[24];
    folder_enter();
    make_safetensors("q", parts, 4);
    if (CHECK(view(&viewed, "q", best_level()) == DTI_OK)) {
        CHECK(has_specials(&viewed, 0, 0, 0) && has_specials(&viewed, 1, 0, 0));
        read_pieces(&viewed, 1, 16, 5, numbers);
        CHECK(has_specials(&viewed, 0, 0, 0) && has_specials(&viewed, 1, 0, 16));
        read_pieces(&viewed, 0, 24, 24, numbers);
        CHECK(has_specials(&viewed, 0, 24, 0) && has_specials(&viewed, 1, 0, 16));
    }
    finish(&viewed);
    (void)folder_leave();
}

UNIT_MAIN(pieces_make_the_whole, pieces_of_gguf_make_the_whole,
          a_view_shows_numbers_and_hides_parts, hostile_shapes_are_refused_or_harmless,
          nans_and_infinities_that_are_read_are_counted)
