/* SPDX-License-Identifier: MIT
 *
 * The kernel table and the selection of a row. The results of kernels are not checked here. */
#include "kernels/kernel.h"

#include "unit.h"

static const enum dti_operation encodings[] = {DTI_OP_ENCODE_HUB32, DTI_OP_ENCODE_HUB64,
                                               DTI_OP_ENCODE_I64, DTI_OP_ENCODE_U64};

static const struct dti_format *row(size_t i)
{
    const struct dti_format *f = dti_format_get((enum dti_dtype)i);
    return f->kind == DTI_KIND_COMPLEX ? NULL : f;
}

/* Calls visit() for every operation, with every supported format and policy. */
typedef void visit_fn(enum dti_operation op, const struct dti_kernel_args *args, void *context);

static void visit_encodings(const struct dti_format *f, visit_fn *visit, void *context)
{
    for (int round = DTI_ROUND_NEAREST_EVEN; round <= DTI_ROUND_STOCHASTIC; round++)
        for (int overflow = DTI_OVERFLOW_NATIVE; overflow <= DTI_OVERFLOW_WRAP; overflow++) {
            const struct dti_policy policy = {.round = (enum dti_round)round,
                                              .overflow = (enum dti_overflow)overflow};
            struct dti_encoder encoder;
            dti_encoder_init(&encoder, f, &policy);
            const struct dti_kernel_args args = {.encoder = &encoder};
            for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
                if ((encodings[i] != DTI_OP_ENCODE_HUB32 || dti_encoder_takes_hub32(f)) &&
                    (encodings[i] != DTI_OP_ENCODE_HUB64 || dti_encoder_takes_hub64(f)))
                    visit(encodings[i], &args, context);
        }
}

static void visit_decodings(const struct dti_format *f, visit_fn *visit, void *context)
{
    struct dti_decoder decoder;
    dti_decoder_init(&decoder, f);
    const struct dti_kernel_args args = {.decoder = &decoder};
    if (dti_format_fits_hub32(f))
        visit(DTI_OP_DECODE_HUB32, &args, context);
    if (dti_format_fits_hub64(f))
        visit(DTI_OP_DECODE_HUB64, &args, context);
    if (dti_format_is_integer(f) && f->id != DTI_UINT64)
        visit(DTI_OP_DECODE_I64, &args, context);
    static struct dti_code_table table;
    const struct dti_policy policy = {.seed = 0};
    dti_code_table_init(&table, dti_format_get(DTI_FP8_E4M3FN), f, &policy);
    visit(DTI_OP_TABLE, &(const struct dti_kernel_args){.table = &table}, context);
}

static void visit_all(visit_fn *visit, void *context)
{
    for (size_t i = 0; i < DTI_DTYPE_COUNT; i++)
        if (row(i) != NULL) {
            visit_encodings(row(i), visit, context);
            visit_decodings(row(i), visit, context);
        }
    for (unsigned bits = 1; bits <= 8; bits++) {
        const struct dti_kernel_args args = {.bits = bits};
        if (bits < 8) {
            visit(DTI_OP_UNPACK, &args, context);
            visit(DTI_OP_PACK, &args, context);
        }
        if (bits == 2 || bits == 4 || bits == 8)
            visit(DTI_OP_SWAP, &args, context);
        visit(DTI_OP_COPY, &args, context);
    }
    const struct dti_kernel_args none = {.bits = 0};
    visit(DTI_OP_ODD_HUB64_HUB32, &none, context);
    visit(DTI_OP_ODD_I64_HUB64, &none, context);
    visit(DTI_OP_ODD_U64_HUB64, &none, context);
}

static void expect_found(enum dti_operation op, const struct dti_kernel_args *args, void *context)
{
    (void)context;
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        const struct dti_kernel *kernel = dti_kernel_find(op, args, (enum dti_level)level);
        if (!CHECK(kernel != NULL)) {
            printf("    for %s at %s\n", dti_operation_name(op),
                   dti_level_name((enum dti_level)level));
            return;
        }
        CHECK(kernel->op == op);
        CHECK(dti_level_includes((enum dti_level)level, kernel->level));
    }
}

static void something_is_found_for_everything_at_every_level(void)
{
    visit_all(expect_found, NULL);
}

static void mark_found(enum dti_operation op, const struct dti_kernel_args *args, void *context)
{
    bool *found = context;
    for (int level = 0; level < DTI_LEVEL_COUNT; level++) {
        const struct dti_kernel *kernel = dti_kernel_find(op, args, (enum dti_level)level);
        if (kernel != NULL)
            found[kernel - dti_kernels] = true;
    }
}

static void no_row_is_hidden_by_those_before_it(void)
{
    static bool found[1024];
    CHECK(dti_kernel_count <= sizeof found);
    visit_all(mark_found, found);
    for (size_t i = 0; i < dti_kernel_count; i++)
        if (!CHECK(found[i]))
            printf("    %s\n", dti_kernels[i].name);
}

static void names_are_unique_and_end_in_their_level(void)
{
    for (size_t i = 0; i < dti_kernel_count; i++) {
        const char *name = dti_kernels[i].name, *level = dti_level_name(dti_kernels[i].level);
        const size_t length = strlen(name), tail = strlen(level);
        CHECK(strncmp(name, "dti_", 4) == 0);
        CHECK(length > tail + 1 && name[length - tail - 1] == '_');
        CHECK_STR(name + length - tail, level);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(dti_kernels[k].name, name) != 0);
    }
}

static void only_encodings_have_policies(void)
{
    for (size_t i = 0; i < dti_kernel_count; i++) {
        const enum dti_operation op = dti_kernels[i].op;
        const bool encodes = op >= DTI_OP_ENCODE_HUB32 && op <= DTI_OP_ENCODE_U64;
        CHECK((dti_kernels[i].rounds != 0) == encodes);
        CHECK((dti_kernels[i].overflows != 0) == encodes);
    }
}

static bool fits(enum dti_kernel_domain domain, const char *name)
{
    const struct dti_kernel kernel = {.op = DTI_OP_DECODE_HUB64, .domain = domain};
    struct dti_format f = {.width = 0};
    struct dti_error error = {0};
    const char *note;
    struct dti_decoder decoder;
    CHECK(dti_format_lookup(name, &f, &note, &error) == DTI_OK);
    dti_decoder_init(&decoder, &f);
    return dti_kernel_fits(&kernel, DTI_OP_DECODE_HUB64,
                           &(const struct dti_kernel_args){.decoder = &decoder});
}

static void domains_take_their_formats(void)
{
    CHECK(fits(DTI_DOMAIN_ANY, "e9m5") && fits(DTI_DOMAIN_ANY, "bool"));
    CHECK(!fits(DTI_DOMAIN_ANY, "int64")); /* fp64 cannot represent it */
    CHECK(fits(DTI_DOMAIN_FP32, "fp32") && fits(DTI_DOMAIN_FP32, "e8m23"));
    CHECK(!fits(DTI_DOMAIN_FP32, "e8m23fn") && !fits(DTI_DOMAIN_FP32, "tf32"));
    CHECK(fits(DTI_DOMAIN_FP16, "e5m10") && !fits(DTI_DOMAIN_FP16, "e5m10b14"));
    CHECK(fits(DTI_DOMAIN_BF16, "bf16") && !fits(DTI_DOMAIN_BF16, "fp16"));
    CHECK(fits(DTI_DOMAIN_SMALL, "fp8_e4m3fn") && fits(DTI_DOMAIN_SMALL, "fp6_e2m3"));
    CHECK(!fits(DTI_DOMAIN_SMALL, "binary8p1se") && !fits(DTI_DOMAIN_SMALL, "binary8p3ue"));
    CHECK(!fits(DTI_DOMAIN_SMALL, "e4m4"));
    CHECK(fits(DTI_DOMAIN_INT8, "uint8") && !fits(DTI_DOMAIN_INT8, "bool"));
    CHECK(!fits(DTI_DOMAIN_INT8, "int4") && !fits(DTI_DOMAIN_INT8, "int16"));
}

static void a_row_is_passed_over_for_policies_it_lacks(void)
{
    const struct dti_kernel kernel = {.op = DTI_OP_ENCODE_HUB32,
                                      .domain = DTI_DOMAIN_ANY,
                                      .rounds = 1 << DTI_ROUND_ZERO,
                                      .overflows = 1 << DTI_OVERFLOW_SATURATE};
    struct dti_policy policy = {.round = DTI_ROUND_ZERO, .overflow = DTI_OVERFLOW_SATURATE};
    struct dti_encoder encoder;
    const struct dti_kernel_args args = {.encoder = &encoder};
    dti_encoder_init(&encoder, dti_format_get(DTI_FP16), &policy);
    CHECK(dti_kernel_fits(&kernel, DTI_OP_ENCODE_HUB32, &args));
    CHECK(!dti_kernel_fits(&kernel, DTI_OP_ENCODE_HUB64, &args));
    policy.overflow = DTI_OVERFLOW_NATIVE;
    dti_encoder_init(&encoder, dti_format_get(DTI_FP16), &policy);
    CHECK(!dti_kernel_fits(&kernel, DTI_OP_ENCODE_HUB32, &args));
    policy = (struct dti_policy){.round = DTI_ROUND_UP, .overflow = DTI_OVERFLOW_SATURATE};
    dti_encoder_init(&encoder, dti_format_get(DTI_FP16), &policy);
    CHECK(!dti_kernel_fits(&kernel, DTI_OP_ENCODE_HUB32, &args));
}

static void operations_have_names(void)
{
    for (int op = 0; op < DTI_OP_COUNT; op++)
        CHECK(dti_operation_name((enum dti_operation)op) != NULL);
    CHECK_STR(dti_operation_name(DTI_OP_ODD_U64_HUB64), "odd_u64_f64");
}

UNIT_MAIN(something_is_found_for_everything_at_every_level, no_row_is_hidden_by_those_before_it,
          names_are_unique_and_end_in_their_level, only_encodings_have_policies,
          domains_take_their_formats, a_row_is_passed_over_for_policies_it_lacks,
          operations_have_names)
