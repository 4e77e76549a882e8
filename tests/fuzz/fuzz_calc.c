/* SPDX-License-Identifier: MIT
 *
 * Expressions. Any text gives a one-line error or a well-formed tree. Short expressions are also
 * evaluated in a dtype, together with their true value: codes must fit, and every message about
 * them must be printable. */
#include <string.h>

#include "calc/calc.h"
#include "calc/evaluate/evaluate.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "1",           "0",
    "2.5",         "-3",
    "1/3",         "10k",
    "1e-8",        "1e400",
    "0x1p-149",    "inf",
    "nan",         "x",
    "x = ",        "y=2;",
    "; ",          " + ",
    " - ",         "*",
    "/",           "^2",
    "^-3",         "(",
    ")",           "[",
    "]",           ", ",
    "[1, 2, 3]",   "[[1,2],[3,4]]",
    "exp(",        "log(",
    "sin(",        "sqrt(",
    "gelu(",       "fma(1,",
    "min(",        "relu(",
    "sum(",        "prod(",
    "dot(",        "matmul(",
    "rowsum(",     "softmax(",
    "layernorm(",  "var(",
    "count(",      "linspace(0,1,",
    "arange(0,9,", "repeat(",
    "randn(",      "rand(2,",
    "@a.npy:t",    "@\"a b\"",
    NULL,
};

enum { TEXT_MAX = 2000, GENERATORS = 2, NODES = 200, POWER = 100 };

static bool is_short_number(const struct dti_calc_node *node)
{
    struct dti_value value;
    REQUIRE(dti_number_value(node->number, &value));
    return value.kind == DTI_CLASS_FINITE && value.exponent >= -1 && value.exponent < 5;
}

/* Whether evaluation is fast: few small lists, no high powers. */
static bool is_cheap(const struct dti_calc_tree *tree)
{
    size_t generators = 0;
    for (size_t i = 0; i < tree->node_count; i++) {
        const struct dti_calc_node *const n = &tree->nodes[i];
        if (n->power > POWER || n->power < -POWER)
            return false;
        if (n->kind != DTI_NODE_CALL || dti_calc_op_kind(n->op) != DTI_CALC_KIND_GENERATOR)
            continue;
        for (size_t j = 0; j < n->count; j++) {
            const struct dti_calc_node *const child = &tree->nodes[tree->children[n->first + j]];
            if (n->op != DTI_CALC_REPEAT &&
                (child->kind != DTI_NODE_NUMBER || !is_short_number(child)) &&
                !(child->kind == DTI_NODE_NUMBER && child->number->kind == DTI_CLASS_ZERO))
                return false;
            if (n->op == DTI_CALC_REPEAT && j == 1 && child->kind == DTI_NODE_NUMBER &&
                !is_short_number(child))
                return false;
        }
        generators++;
    }
    return generators <= GENERATORS && tree->node_count <= NODES;
}

static void is_one_line(const char *text)
{
    REQUIRE(text[0] != '\0');
    for (const char *c = text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_tree(const struct dti_calc_tree *tree)
{
    REQUIRE(tree->node_count <= DTI_CALC_NODES_MAX && tree->answer < tree->node_count);
    for (size_t i = 0; i < tree->node_count; i++) {
        const struct dti_calc_node *const n = &tree->nodes[i];
        REQUIRE(n->text + n->length <= strlen(tree->source) && n->length > 0);
        REQUIRE(n->within <= tree->node_count && (n->within == 0 || n->within > i + 1));
        for (size_t j = 0; j < n->count; j++)
            REQUIRE(tree->children[n->first + j] < i);
    }
}

static void check_result(const struct dti_calc_result *result)
{
    const struct dti_calc_array *const value = &result->value;
    struct dti_buffer text;
    uint64_t count = 1, different;
    size_t worst;
    for (unsigned i = 0; i < value->rank; i++)
        count *= value->shape[i];
    REQUIRE(count == value->count);
    for (size_t i = 0; i < value->count; i++)
        REQUIRE((dti_calc_code(value, i) & ~dti_low_bits(value->format.width)) == 0);
    dti_buffer_init(&text);
    if (result->went_wrong) {
        REQUIRE(result->events[result->first.kind] > 0);
        dti_calc_event_text(&text, &result->first_step, &result->first);
        REQUIRE(!text.failed);
        is_one_line(text.data);
    }
    if (dti_calc_worst(result, &worst, &different)) {
        struct dti_calc_true truth;
        REQUIRE(worst < value->count || value->count == 0);
        REQUIRE(different <= value->count);
        if (value->count > 0) {
            dti_calc_true_get(result, worst, &truth);
            (void)dti_calc_true_text(result, worst, &text);
        }
    }
    dti_buffer_free(&text);
}

static void run(const struct dti_calc_tree *tree, size_t size)
{
    static const enum dti_dtype dtypes[] = {DTI_FP16,     DTI_BF16, DTI_FP32, DTI_FP8_E4M3FN,
                                            DTI_FP8_E8M0, DTI_INT8, DTI_BOOL, DTI_FP4_E2M1};
    const struct dti_calc_options options = {
        .accumulates = size % 3 == 0,
        .accumulate = *dti_format_get(DTI_FP32),
        .flush = size % 5 == 0,
        .fma = size % 7 == 0,
        .order = (enum dti_calc_order)(size % 4),
        .block = 2,
        .steps = true,
        .policy = {.round = (enum dti_round)(size % 11 < 7 ? size % 11 : 0),
                   .overflow = (enum dti_overflow)(size % 13 < 4 ? size % 13 : 0)},
    };
    struct dti_calc_result result;
    struct dti_error error = {.status = DTI_OK};
    if (dti_calc_run(tree, dti_format_get(dtypes[size % 8]), &options, &result, &error) != DTI_OK) {
        is_one_line(error.text);
        return;
    }
    check_result(&result);
    dti_calc_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_calc_tree *tree;
    struct dti_error error = {.status = DTI_OK};
    if (size > TEXT_MAX)
        return 0;
    if (dti_calc_parse(&tree, (const char *)data, size, &error) != DTI_OK) {
        is_one_line(error.text);
        return 0;
    }
    check_tree(tree);
    if (is_cheap(tree))
        run(tree, size);
    dti_calc_tree_free(tree);
    return 0;
}
