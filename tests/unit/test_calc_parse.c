/* SPDX-License-Identifier: MIT
 *
 * Parses expressions to trees, and checks the messages for invalid texts. */
#include "calc/parse/tree.h"
#include "unit.h"
#include "util/buffer.h"

static void put(struct dti_buffer *buffer, const struct dti_calc_tree *tree, size_t node)
{
    const struct dti_calc_node *const n = &tree->nodes[node];
    if (n->kind == DTI_NODE_NUMBER || n->kind == DTI_NODE_FILE) {
        dti_buffer_append(buffer, tree->source + n->text, n->length);
        return;
    }
    dti_buffer_puts(buffer, n->kind == DTI_NODE_LIST ? "[" : "(");
    if (n->kind == DTI_NODE_CALL || n->kind == DTI_NODE_CAST)
        dti_buffer_puts(buffer, dti_calc_op_get(n->op)->name);
    for (size_t i = 0; i < n->count; i++) {
        if (i > 0 || n->kind != DTI_NODE_LIST)
            dti_buffer_puts(buffer, " ");
        put(buffer, tree, tree->children[n->first + i]);
    }
    if (n->op == DTI_CALC_POWER && n->kind == DTI_NODE_CALL) {
        char power[32];
        (void)snprintf(power, sizeof power, " %" PRId64, n->power);
        dti_buffer_puts(buffer, power);
    }
    dti_buffer_puts(buffer, n->kind == DTI_NODE_LIST ? "]" : ")");
}

static void is_read_as(const char *text, const char *want)
{
    struct dti_calc_tree *tree;
    struct dti_error error;
    struct dti_buffer got;
    if (dti_calc_parse(&tree, text, strlen(text), &error) != DTI_OK) {
        CHECK_STR(error.text, want);
        return;
    }
    dti_buffer_init(&got);
    put(&got, tree, tree->answer);
    CHECK_STR(got.data, want);
    dti_buffer_free(&got);
    dti_calc_tree_free(tree);
}

static void operators_bind_as_in_mathematics(void)
{
    is_read_as("1 + 2*3", "(+ 1 (* 2 3))");
    is_read_as("(1 + 2)*3", "(* (+ 1 2) 3)");
    is_read_as("1 - 2 - 3", "(- (- 1 2) 3)");
    is_read_as("8/4/2", "(/ (/ 8 4) 2)");
    is_read_as("1/3", "(/ 1 3)");
    is_read_as("-2^2", "(neg (^ 2 2))");
    is_read_as("2^-3", "(^ 2 -3)");
    is_read_as("(-2)^2", "(^ -2 2)");
    is_read_as("2*-3", "(* 2 -3)");
    is_read_as("+1 - +2", "(- +1 +2)");
    is_read_as("--5", "(neg -5)");
    is_read_as("-(5)", "(neg 5)");
    is_read_as("x = 2; -x", "(neg 2)");
    is_read_as(" 1\t+\n2 ", "(+ 1 2)");
}

static void numbers_have_suffixes_and_signs(void)
{
    is_read_as("10k*1.5M", "(* 10k 1.5M)");
    is_read_as("-1e-8", "-1e-8");
    is_read_as("0x1p-149 + 0b101", "(+ 0x1p-149 0b101)");
    is_read_as("1_000 - inf", "(- 1_000 inf)");
    is_read_as("-nan", "-nan");
    is_read_as("1e5-3", "(- 1e5 3)");
    is_read_as(".5 + 5.", "(+ .5 5.)");
}

static void suffixes_are_powers_of_a_thousand(void)
{
    struct dti_calc_tree *tree;
    struct dti_value value, want;
    static const struct {
        const char *text, *same;
    } rows[] = {{"10k", "10000"}, {"1.5M", "1500000"}, {"2G", "2e9"}, {"3T", "3e12"}, {"0k", "0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(dti_calc_parse(&tree, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_value(tree->nodes[tree->answer].number, &value));
        CHECK(dti_value_parse(&want, rows[i].same, strlen(rows[i].same), NULL) == DTI_OK);
        CHECK_I64(value.exponent, want.exponent);
        CHECK_U64(value.hi, want.hi);
        dti_calc_tree_free(tree);
    }
}

static void names_are_the_nodes_they_were_given(void)
{
    is_read_as("x = 1e4; x*x - inf", "(- (* 1e4 1e4) inf)");
    is_read_as("x = 1; x = x + 1; x", "(+ 1 1)");
    is_read_as("a = 1; b = 2; a", "1");
    struct dti_calc_tree *tree;
    CHECK(dti_calc_parse(&tree, "x = 3; x*x", 10, NULL) == DTI_OK);
    CHECK_SIZE(tree->node_count, 2);
    dti_calc_tree_free(tree);
}

static void calls_lists_and_files_nest(void)
{
    is_read_as("fma(1, 2, [3, 4])", "(fma 1 2 [3 4])");
    is_read_as("[[1, 2], [3, -4]]", "[[1 2] [3 -4]]");
    is_read_as("min(3) + max(1, 2)", "(+ (min 3) (max 1 2))");
    is_read_as("@a-b/c.npy*2", "(* @a-b/c.npy 2)");
    is_read_as("@w.safetensors:l.0.w + 1", "(+ @w.safetensors:l.0.w 1)");
    struct dti_calc_tree *tree;
    const char *const quoted = "@\"my, file\":'a b'";
    CHECK(dti_calc_parse(&tree, quoted, strlen(quoted), NULL) == DTI_OK);
    CHECK_STR(tree->nodes[0].path, "my, file");
    CHECK_STR(tree->nodes[0].tensor, "a b");
    dti_calc_tree_free(tree);
}

static void composites_are_expanded(void)
{
    is_read_as("mean([1, 2])", "(mean (/ (sum (mean [1 2])) (count (mean [1 2]))))");
    struct dti_calc_tree *tree;
    const char *const text = "softmax(3)";
    CHECK(dti_calc_parse(&tree, text, strlen(text), NULL) == DTI_OK);
    const struct dti_calc_node *const answer = &tree->nodes[tree->answer];
    CHECK(answer->kind == DTI_NODE_CAST && answer->op == DTI_CALC_SOFTMAX && answer->within == 0);
    CHECK_SIZE(answer->length, strlen(text));
    const struct dti_calc_node *const body = &tree->nodes[tree->children[answer->first]];
    CHECK(strncmp(tree->source + body->text, "e / rowsum(e)", body->length) == 0);
    CHECK_SIZE(body->within, tree->answer + 1);
    dti_calc_tree_free(tree);
}

static void messages_say_where_and_what(void)
{
    is_read_as("", "the expression is empty; write one, such as '256 + 1'");
    is_read_as("  ", "the expression is empty; write one, such as '256 + 1'");
    is_read_as("1 +", "a number, a name or '(' is expected after '1 +'");
    is_read_as(")", "a number, a name or '(' is expected at the start, not ')'");
    is_read_as("(1 + 2", "')' is missing after '(1 + 2'");
    is_read_as("exp(1", "')' is missing after 'exp(1'");
    is_read_as("[1, 2", "']' is missing after '[1, 2'");
    is_read_as("1 2", "an operator is expected after '1', not '2'; a list is written as [1, 2]");
    is_read_as("1)", "an operator is expected after '1', not ')'; no bracket is open");
    is_read_as("sofmax(1)", "unknown function 'sofmax'; did you mean 'softmax'?");
    is_read_as("foo = 1; fo", "'fo' is not defined; did you mean 'foo'?");
    is_read_as("x*2", "'x' is not defined; a name gets its value first: 'x = 2; x*x'");
    is_read_as("exp + 1", "'exp' is a function; write 'exp(...)'");
    is_read_as("exp = 1; 2", "'exp' has a meaning of its own; choose another name");
    is_read_as("inf = 1; 2", "'inf' has a meaning of its own; choose another name");
    is_read_as("x = 1", "'; EXPR' is missing after 'x = 1'");
    is_read_as("x = 1;", "a number, a name or '(' is expected after 'x = 1;'");
    is_read_as("2**3", "'**' is not known; write '^'");
    is_read_as("2 \xc3\x97 3", "'\xc3\x97' is not known; write '*'");
    is_read_as("7 % 2", "'%' is not known; write 'a - b*floor(a/b)'");
    is_read_as("1\x1b[31m", "'\\x1b' is not part of an expression");
    is_read_as("2x", "'2x' is neither a number nor a name; write 2*... for a product");
    is_read_as("10K", "unknown suffix in '10K'; the suffixes are k, M, G and T");
    is_read_as("2^0.5", "the exponent '0.5' is not an integer up to 1000000000; write 'sqrt(x)' or "
                        "'exp(b*log(a))'");
    is_read_as(
        "2^x",
        "an integer is expected after '2^', not 'x'; write 'exp(b*log(a))' for any other power");
    is_read_as("2^3^4",
               "an operator other than '^' is expected after '2^3', not '^'; write '(a^b)^c'");
    is_read_as("fma(1, 2)", "'fma' takes 3 arguments, not 2");
    is_read_as("sin()", "'sin' takes 1 argument, not 0");
    is_read_as(
        "min(1, 2, 3)",
        "'min' takes 1 or 2 arguments, not 3; a list is one argument, as in 'min([1, 2, 3])'");
    is_read_as("arange(1)", "'arange' takes 2 or 3 arguments, not 1: arange(a, b, step)");
    is_read_as("randn(1, 1, 1, 1, 1, 1, 1, 1, 1)", "'randn' takes 1 to 8 arguments, not 9");
    is_read_as("1e4.0", "'1e4.0' is not a number; unexpected '.0'");
    is_read_as("x = 1; x == 1",
               "'==' is not known; write the difference, 'a - b', for a comparison");
    is_read_as("x = 1; x =-1; x", "-1");
    is_read_as("x = 1; x += 1", "'+=' is not known; write 'x = x + 1; x'");
    is_read_as("2 x", "an operator is expected after '2', not 'x'; write '*' for a product");
    is_read_as("x = 2; x(3)", "'x' is a value, not a function; write '*' for a product");
    is_read_as("np.sum(3)", "'np.sum' is not defined; write 'sum' without 'np.'");
    is_read_as("np.std(3)", "'np.std' is not defined; write 'sqrt(var(x))'");
    is_read_as("np.foo(3)", "unknown function 'foo'");
    is_read_as("w.npy + 1", "'w.npy' is not defined; write '@x.npy' for a file");
    is_read_as("float16(1)", "unknown function 'float16'; the dtype follows the expression");
    is_read_as("PI", "'PI' is not defined; write '3.14159265358979323846'");
    is_read_as("@", "a path is expected after '@'");
    is_read_as("@a:", "a tensor's name is expected after ':'");
    is_read_as("@\"a", "the quotation mark in '\"a' is not closed");
    is_read_as("a = 1; softmax(b)",
               "'b' is not defined; a name gets its value first: 'x = 2; x*x'");
}

/* The correction that an error message suggests must itself be a valid expression. */
static void is_good_advice(const char *message)
{
    char text[128];
    struct dti_calc_tree *tree;
    struct dti_error error;
    const char *const first = strstr(message, "write '");
    if (!first)
        return;
    const char *const expression = first + strlen("write '");
    (void)snprintf(text, sizeof text, "x = 2; a = x; b = x; n = 3; %.*s",
                   (int)strcspn(expression, "'"), expression);
    if (dti_calc_parse(&tree, text, strlen(text), &error) == DTI_OK)
        dti_calc_tree_free(tree);
    else
        CHECK_STR(error.text, expression);
}

/* Each of the blank-separated words must get this advice. */
static void are_foreign(const char *words, const char *form, const char *instead)
{
    for (size_t length; (length = strcspn(words, " ")) > 0;
         words += length + (words[length] == ' ')) {
        char text[64];
        struct dti_calc_tree *tree;
        struct dti_error error;
        (void)snprintf(text, sizeof text, "%.*s%s", (int)length, words, form);
        CHECK(dti_calc_parse(&tree, text, strlen(text), &error) == DTI_BAD_VALUE);
        CHECK_STR(error.text + strlen(error.text) - strlen(instead), instead);
        is_good_advice(error.text);
    }
}

static void words_of_other_languages_are_known(void)
{
#define FOREIGN_FUNCTION(names, instead) are_foreign(names, "(1, 2)", instead);
#define FOREIGN_NAME(names, instead)     are_foreign(names, " + 1", instead);
#define FOREIGN_KEYWORD(names, instead)  are_foreign(names, " 1", instead);
#include "calc/parse/foreign_words.def"
#undef FOREIGN_FUNCTION
#undef FOREIGN_NAME
#undef FOREIGN_KEYWORD
#define FOREIGN_SIGN(text, instead) is_read_as("1 " text " 2", "'" text "' is not known; " instead);
#include "calc/parse/foreign_words.def"
#undef FOREIGN_SIGN
}

static void sizes_are_bounded(void)
{
    enum { LONG = 5000 };
    char text[2 * LONG + 4];
    memset(text, '(', LONG);
    text[LONG] = '\0';
    is_read_as(text, "the expression is nested more than 200 levels deep");
    memset(text, '-', LONG);
    is_read_as(text, "the expression is nested more than 200 levels deep");
    for (size_t i = 0; i < LONG; i++)
        memcpy(text + 2 * i, "1+", 2);
    memcpy(text + 2 * LONG, "1", 2);
    is_read_as(text,
               "the expression has more than 4096 parts; read long lists from a file: @list.npy");
    struct dti_error error;
    struct dti_calc_tree *tree;
    char *const huge = calloc(DTI_CALC_TEXT_MAX + 2, 1);
    CHECK(huge && dti_calc_parse(&tree, huge, DTI_CALC_TEXT_MAX + 1, &error) == DTI_BAD_VALUE);
    CHECK_STR(error.text, "the expression has 1048577 characters; the limit is 1048576");
    free(huge);
    CHECK(dti_calc_parse(&tree, "1\0002", 3, &error) == DTI_BAD_VALUE);
    CHECK_STR(error.text, "'\\x00' is not part of an expression");
}

UNIT_MAIN(operators_bind_as_in_mathematics, numbers_have_suffixes_and_signs,
          suffixes_are_powers_of_a_thousand, names_are_the_nodes_they_were_given,
          calls_lists_and_files_nest, composites_are_expanded, messages_say_where_and_what,
          words_of_other_languages_are_known, sizes_are_bounded)
