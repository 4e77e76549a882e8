/* SPDX-License-Identifier: MIT
 *
 * Numbers and expressions through the public functions: what callers can do wrong, sizes of
 * structs, casts as libraries do them, pictures, and threads. */
#include <dtinfo.h>
#include <pthread.h>
#include <time.h>

#include "unit.h"

static struct dti_context *context;
static struct dti_error error;

static const struct dti_format *format_of(const char *name)
{
    const struct dti_format *format = NULL;
    if (!context)
        CHECK(dti_context_new(&context, NULL, &error) == DTI_OK);
    CHECK(dti_format_find(context, name, &format, NULL, &error) == DTI_OK);
    return format;
}

static enum dti_status cast(const struct dti_cast_spec *spec, const char *text,
                            struct dti_cast_facts *ret)
{
    *ret = (struct dti_cast_facts){.size = sizeof *ret};
    return dti_value_cast(context, spec, text, SIZE_MAX, NULL, ret, &error);
}

static void formats_have_one_address(void)
{
    const char *note = "";
    const struct dti_format *format;
    size_t rows = 0, stacks = 0;
    CHECK(format_of("e5m3") == format_of("E5M3b15"));
    CHECK(format_of("torch.half") == format_of("fp16"));
    CHECK(dti_format_find(context, "e4m3", &format, &note, &error) == DTI_OK);
    CHECK_STR(dti_format_name(format), "fp8_e4m3fn");
    CHECK(note && strstr(note, "e4m3 means fp8_e4m3fn"));
    CHECK(dti_format_find(context, "bf16", &format, &note, &error) == DTI_OK && !note);
    for (format = dti_format_next(NULL); format; format = dti_format_next(format))
        rows += format_of(dti_format_name(format)) == format;
    CHECK_SIZE(rows, 73);
    CHECK(dti_format_next(format_of("e5m3")) == NULL);
    while (dti_stack_word(stacks))
        stacks++;
    CHECK_SIZE(stacks, 20);
    CHECK_STR(dti_stack_word(0), "torch");
    CHECK(dti_stack_word(SIZE_MAX) == NULL);
}

static void structs_have_the_size_that_the_caller_knows(void)
{
    union {
        struct dti_format_info info;
        unsigned char bytes[sizeof(struct dti_format_info)];
    } small;
    memset(&small, 0xAB, sizeof small);
    small.info.size = offsetof(struct dti_format_info, max_code);
    dti_format_describe(format_of("fp16"), &small.info);
    CHECK_U64(small.info.bits, 16);
    CHECK_U64(small.info.size, offsetof(struct dti_format_info, max_code));
    CHECK_U64(small.bytes[offsetof(struct dti_format_info, max_code)], 0xAB);

    struct {
        struct dti_cast_spec spec;
        uint64_t more;
    } newer = {.spec = {.size = sizeof newer, .dst = format_of("bf16")}};
    struct dti_cast_facts facts;
    CHECK(cast(&newer.spec, "1", &facts) == DTI_OK);
    newer.more = 1;
    CHECK(cast(&newer.spec, "1", &facts) == DTI_USAGE);
    CHECK_STR(error.text,
              "struct dti_cast_spec has members that version 0.1.0 of the library lacks");
}

static void wrong_arguments_are_named(void)
{
    struct dti_cast_facts facts;
    struct dti_cast_spec spec = {.size = sizeof spec, .dst = format_of("bf16")};
    spec.round = (enum dti_round)7;
    CHECK(cast(&spec, "1", &facts) == DTI_USAGE);
    CHECK_STR(error.text, "dti_cast_spec.round is 7, which is no enumerator");
    spec.round = (enum dti_round) - 1;
    CHECK(cast(&spec, "1", &facts) == DTI_USAGE);
    spec = (struct dti_cast_spec){.size = sizeof spec, .dst = format_of("bf16"), .via_count = 5};
    CHECK(cast(&spec, "1", &facts) == DTI_USAGE);
    spec = (struct dti_cast_spec){.size = sizeof spec};
    CHECK(cast(&spec, "1", &facts) == DTI_USAGE);
    spec = (struct dti_cast_spec){
        .size = sizeof spec, .dst = format_of("bf16"), .like = "torch", .nan = DTI_NAN_CANONICAL};
    CHECK(cast(&spec, "1", &facts) == DTI_USAGE);
    spec = (struct dti_cast_spec){.size = sizeof spec, .dst = format_of("complex64")};
    CHECK(cast(&spec, "1", &facts) == DTI_WRONG_KIND);
    CHECK_STR(error.text, "complex64 is complex; cast its parts one by one, to fp32");
    spec.dst = format_of("fp32");
    CHECK(cast(&spec, "1,5", &facts) == DTI_BAD_VALUE);
    CHECK(cast(&spec, "", &facts) == DTI_BAD_VALUE);
    CHECK(cast(&spec, "1+2j", &facts) == DTI_BAD_VALUE);

    const struct dti_value odd = {.kind = DTI_CLASS_FINITE, .hi = 1};
    const struct dti_value wild = {.kind = (enum dti_class)9};
    char text[64];
    CHECK(dti_value_cast(context, &spec, NULL, 0, &odd, &facts, &error) == DTI_BAD_VALUE);
    CHECK(dti_value_cast(context, &spec, NULL, 0, &wild, &facts, NULL) == DTI_BAD_VALUE);
    CHECK(dti_value_cast(context, &spec, NULL, 0, NULL, &facts, NULL) == DTI_BAD_VALUE);
    CHECK_SIZE(dti_value_spell(context, &odd, NULL, DTI_SPELL_HEX, text, sizeof text), 0);
    CHECK_SIZE(dti_value_picture(context, spec.dst, 0, &wild, 0, false, text, sizeof text), 0);
}

static void libraries_cast_as_they_do(void)
{
    struct dti_cast_facts facts;
    struct dti_cast_spec spec = {.size = sizeof spec, .like = "torch"};
    spec.dst = format_of("uint8");
    CHECK(cast(&spec, "300", &facts) == DTI_OK && facts.code == 44);
    CHECK(cast(&spec, "300.5", &facts) == DTI_NOT_REPRESENTABLE);
    CHECK(strstr(error.text, "what torch stores is not known: undefined for NaN") != NULL);
    spec.dst = format_of("fp8_e4m3fn");
    CHECK(cast(&spec, "1e9", &facts) == DTI_OK && facts.code == 0x7e);
    spec.like = "torch-2.12";
    CHECK(cast(&spec, "1e9", &facts) == DTI_OK && facts.code == 0x7f);
    spec.like = "numpy";
    CHECK(cast(&spec, "1", &facts) == DTI_WRONG_KIND);
    CHECK_STR(error.text, "numpy has no fp8_e4m3fn");
    spec.like = "pytorch";
    CHECK(cast(&spec, "1", &facts) == DTI_UNKNOWN_OPTION);
    CHECK_STR(error.suggestions[0], "torch");
    /* twice rounded, by way of fp32: 1 + 2^-8 + 2^-30 is above the tie of bf16 */
    spec = (struct dti_cast_spec){.size = sizeof spec, .dst = format_of("bf16")};
    CHECK(cast(&spec, "0x1.010000004p0", &facts) == DTI_OK && facts.code == 0x3f81);
    spec.like = "ml_dtypes";
    CHECK(cast(&spec, "0x1.010000004p0", &facts) == DTI_OK && facts.code == 0x3f80);
}

static void texts_are_cut_like_those_of_snprintf(void)
{
    struct dti_value value;
    char text[32];
    CHECK(dti_value_read(context, "0.1rest", 3, &value, &error) == DTI_OK && value.sticky);
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_SHORTEST, text, sizeof text), 3);
    CHECK_STR(text, "0.1");
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_EXACT, text, sizeof text), 0);
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_HEX, text, sizeof text), 0);
    CHECK_SIZE(dti_value_spell(context, &value, format_of("fp16"), DTI_SPELL_SHORTEST, text, 32),
               0);
    dti_value_of_code(format_of("fp16"), 0x2e66, &value);
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_EXACT, NULL, 0), 15);
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_EXACT, text, 8), 15);
    CHECK_STR(text, "0.09997");
    CHECK_SIZE(dti_value_spell(context, &value, format_of("fp16"), DTI_SPELL_SHORTEST, text, 8), 3);
    CHECK_STR(text, "0.1");
    CHECK_SIZE(dti_value_spell(context, &value, NULL, DTI_SPELL_HEX, text, sizeof text), 10);
    CHECK_STR(text, "0x1.998p-4");
    CHECK(dti_value_read(context, "123456789012345678901234567890e400", SIZE_MAX, &value, &error) ==
          DTI_OK);
    CHECK(dti_value_spell(context, &value, NULL, DTI_SPELL_SHORTEST, text, sizeof text) > 0);
    CHECK_STR(text, "1.234567890123456789e+429");
}

static void pictures_show_fields_and_neighbours(void)
{
    char text[1024];
    struct dti_value given;
    CHECK(dti_value_read(context, "0.1", SIZE_MAX, &given, &error) == DTI_OK);
    (void)dti_value_picture(context, format_of("bf16"), 0x3dcd, NULL, 0, false, text, sizeof text);
    CHECK_STR(text, "0 01111011 1001101\ns eeeeeeee mmmmmmm\n");
    (void)dti_value_picture(context, format_of("int8"), 0x102, NULL, 0, false, text, sizeof text);
    CHECK_STR(text, "00000010\n");
    (void)dti_value_picture(context, format_of("hif8"), 2, NULL, 0, true, text, sizeof text);
    CHECK_STR(text, "0 0000 010\ns dddd mmm\n");
    (void)dti_value_picture(context, format_of("bf16"), 0x3dcd, &given, 0, true, text, sizeof text);
    CHECK_STR(text, "0 01111011 1001101\ns eeeeeeee mmmmmmm\n\n"
                    "0.099609375                               chosen -> 0.10009765625\n"
                    "|-------------------------------+------------------*------------@\n"
                    "                                                  0.1\n");
    const size_t length =
        dti_value_picture(context, format_of("bf16"), 0x3dcd, &given, 40, true, text, sizeof text);
    CHECK_SIZE(length, 38); /* no room for the line */
    CHECK_SIZE(dti_value_picture(context, format_of("complex64"), 0, NULL, 0, true, text, 9), 0);
    CHECK_STR(text, "");
}

/* The digits of powers of two are those of mpmath 1.3. */
static void numbers_beyond_all_formats_are_quick(void)
{
    static const struct {
        const char *given, *line, *spelled;
    } rows[] = {
        {"1e999999999", "over 1e+5000000 (not to scale)\n", NULL},
        {"-1e999999999", "under -1e+5000000 (not to scale)\n", NULL},
        {"1e-999999999", "under 1e-5000000\n", NULL},
        {"-1e-999999999", "over -1e-5000000\n", NULL},
        {"0x1p16000000", "8.5236125295216584e+4816479 (not to scale)\n",
         "8.5236125295216584e+4816479"},
        {"-0x1p-16000000", "-1.1732114717046149e-4816480\n", "-1.1732114717046149e-4816480"},
    };
    char text[1024];
    struct dti_cast_facts facts = {.size = sizeof facts};
    const struct dti_cast_spec spec = {.size = sizeof spec, .dst = format_of("bf16")};
    const clock_t start = clock();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(cast(&spec, rows[i].given, &facts) == DTI_OK);
        (void)dti_value_picture(context, spec.dst, facts.code, &facts.given, 0, true, text,
                                sizeof text);
        CHECK(strstr(text, rows[i].line) != NULL);
        if (rows[i].spelled) {
            (void)dti_value_spell(context, &facts.given, NULL, DTI_SPELL_SHORTEST, text,
                                  sizeof text);
            CHECK_STR(text, rows[i].spelled);
        }
    }
    CHECK((clock() - start) / CLOCKS_PER_SEC < 2);
}

/* An allocator that counts blocks and fails from a given one on. */
struct budget {
    size_t left, live;
};

static void *allocate(void *of, void *block, size_t size, size_t alignment)
{
    struct budget *const budget = (struct budget *)of;
    (void)alignment; /* of malloc(): no arrays are cast here */
    if (size == 0) {
        budget->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (budget->left == 0)
        return NULL;
    budget->left--;
    void *const made = realloc(block, size);
    budget->live += made && !block;
    return made;
}

enum { LONG = 3000 };

/* All that needs memory; the first status that is not success. */
static enum dti_status use(struct dti_context *used)
{
    static char digits[LONG + 1], text[LONG + 8];
    const struct dti_format *format = NULL, *fp64 = NULL;
    struct dti_cast_facts facts = {.size = sizeof facts};
    struct dti_calc_output output = {.size = sizeof output};
    memset(digits, '7', LONG);
    (void)snprintf(text, sizeof text, "%s/%s", digits, digits + LONG - 2);
    enum dti_status status = dti_format_find(used, "e17m40", &format, NULL, &error);
    if (status == DTI_OK)
        status = dti_format_find(used, "fp64", &fp64, NULL, &error);
    if (status != DTI_OK)
        return status;
    const struct dti_cast_spec spec = {.size = sizeof spec, .dst = format};
    status = dti_value_cast(used, &spec, text, SIZE_MAX, NULL, &facts, &error);
    if (status != DTI_OK)
        return status;
    if (dti_value_spell(used, &facts.stored, NULL, DTI_SPELL_EXACT, text, sizeof text) == 0 ||
        dti_value_picture(used, format, facts.code, &facts.given, 0, true, text, 1) == 0)
        return DTI_NO_MEMORY;
    const double numbers[] = {1, 2, 3};
    const struct dti_operand x = {
        .size = sizeof x, .name = "x", .format = fp64, .rank = 1, .shape = {3}, .codes = numbers};
    const struct dti_calc_spec calc = {.size = sizeof calc,
                                       .format = format,
                                       .operands = &x,
                                       .operand_count = 1,
                                       .truth = !UNIT_LEAKS_COUNT};
    status = dti_calc_evaluate(used, "softmax(x / 3) + [1, 2, 1e999999]", SIZE_MAX, &calc, &output,
                               &error);
    if (status == DTI_OK)
        dti_calc_free(used, &output);
    return status;
}

static void memory_may_run_out_anywhere(void)
{
    size_t failed = 0;
    for (size_t most = 0; most < 4000; most++) {
        struct budget budget = {.left = SIZE_MAX};
        struct dti_context *own = NULL;
        const struct dti_context_options options = {
            .size = sizeof options, .allocate = allocate, .allocate_context = &budget};
        if (!CHECK(dti_context_new(&own, &options, &error) == DTI_OK))
            return;
        budget.left = most;
        const enum dti_status status = use(own);
        dti_context_free(own);
        if (!CHECK_SIZE(budget.live, 0))
            return;
        if (status == DTI_UNAVAILABLE || status == DTI_OK)
            break; /* without libmpfr */
        if (!CHECK_U64(status, DTI_NO_MEMORY))
            return;
        failed++;
    }
    CHECK(failed > 30 && failed < 4000);
}

/* Each thread makes formats, casts and computes with the one context. */
static void *work(void *argument)
{
    size_t *const wrong = (size_t *)argument;
    for (int i = 0; i < 300; i++) {
        char name[16];
        const struct dti_format *format = NULL;
        struct dti_cast_facts facts = {.size = sizeof facts};
        struct dti_calc_output output = {.size = sizeof output};
        (void)snprintf(name, sizeof name, "int%d", 3 + i % 60);
        *wrong += dti_format_find(context, name, &format, NULL, NULL) != DTI_OK;
        const struct dti_cast_spec spec = {.size = sizeof spec, .dst = format};
        *wrong += dti_value_cast(context, &spec, "2.5", SIZE_MAX, NULL, &facts, NULL) != DTI_OK ||
                  facts.code != 2;
        const struct dti_calc_spec calc = {.size = sizeof calc, .format = format, .truth = true};
        *wrong +=
            dti_calc_evaluate(context, "1 + 1 + 1", SIZE_MAX, &calc, &output, NULL) != DTI_OK ||
            *(const uint8_t *)output.codes != 3;
        dti_calc_free(context, &output);
    }
    return NULL;
}

static void threads_share_a_context(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    size_t wrong[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, &wrong[i]) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_SIZE(wrong[i], 0);
    }
    dti_context_free(context);
    context = NULL;
}

/* A caller that only looks at the status gives no error. */
static void errors_are_optional(void)
{
    const char *const sample = UNIT_SAMPLE;
    struct dti_quantizer *quantizer = NULL;
    const struct dti_format *format = NULL;
    const uint64_t shape[] = {2, 64};
    CHECK(format_of("fp32") != NULL);
    CHECK(dti_format_find(context, "fp9", &format, NULL, NULL) == DTI_UNKNOWN_DTYPE);
    const struct dti_quantize_spec spec = {
        .size = sizeof spec, .format = "q4_kk", .rank = 2, .shape = shape};
    CHECK(dti_quantizer_new(&quantizer, context, &spec, NULL) == DTI_UNKNOWN_DTYPE);
    CHECK(dti_file_convert(context, "quant", sample, "fp9", "unmade.safetensors", NULL, 0, NULL,
                           NULL) == DTI_UNKNOWN_DTYPE);
    CHECK(dti_file_convert(context, "cast", sample, "fp9", "unmade.safetensors", NULL, 0, NULL,
                           NULL) == DTI_UNKNOWN_DTYPE);
    CHECK(dti_file_ask(context, "check", &sample, 1, &(struct dti_setting){"fits", "fp9"}, 1, NULL,
                       NULL) == DTI_UNKNOWN_DTYPE);
    dti_context_free(context);
    context = NULL;
}

#define TESTS                                                                      \
    formats_have_one_address, structs_have_the_size_that_the_caller_knows,         \
        wrong_arguments_are_named, libraries_cast_as_they_do,                      \
        texts_are_cut_like_those_of_snprintf, pictures_show_fields_and_neighbours, \
        numbers_beyond_all_formats_are_quick, memory_may_run_out_anywhere,         \
        threads_share_a_context, errors_are_optional
#define NAMES(...)    #__VA_ARGS__
#define NAMES_OF(...) NAMES(__VA_ARGS__)

int main(void)
{
    static void (*const tests[])(void) = {TESTS};
    return unit_run(tests, sizeof tests / sizeof tests[0], NAMES_OF(TESTS));
}
