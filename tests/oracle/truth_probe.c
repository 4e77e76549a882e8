/* SPDX-License-Identifier: MIT
 *
 * True values and correctly rounded functions, for the oracle tests. Requests are lines:
 *
 *   F OP POWER NUMBER           a function of a number: VALUE FLAGS
 *   Q OP BITS                   its quick bounds: the bits of two fp64 numbers, or "no"
 *   T PRECISION WORD...         an expression in postfix notation: numbers as dtinfo reads them,
 *                               names of operations, ^N for a power
 *   E PRECISION NUMBER WORD...  how far off a stored number is from that: two VALUEs, or "no"
 *   S PRECISION WORD...         the sum of the values that these words make
 *   D PRECISION WORD...         the dot product of the first half and the second
 *
 * A NUMBER is inf, -inf, nan, 0, -0 or [-]HEX:EXPONENT. A VALUE is such a word too, with 32 hex
 * digits and a trailing "+" if sticky. T, S and D answer
 *
 *   CLASS BITS EXACT TEXT VALUE LOW HIGH
 *
 * where LOW and HIGH are the bounds of an interval, as MPFR's base-16 digits, otherwise "-". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/truth/truth_parts.h"
#include "util/run/process_environment.h"

enum { STACK = 4096 };

static struct dti_value read_value(const char *text)
{
    struct dti_value value = {.kind = DTI_CLASS_FINITE, .negative = text[0] == '-'};
    const char *const size = text + value.negative;
    uint64_t significand = 0;
    int exponent = 0;
    if (strcmp(size, "inf") == 0)
        value.kind = DTI_CLASS_INF;
    else if (strcmp(size, "nan") == 0)
        value = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(3) << 62};
    else if (strcmp(size, "0") == 0)
        value.kind = DTI_CLASS_ZERO;
    else if (sscanf(size, "%" SCNx64 ":%d", &significand, &exponent) == 2)
        dti_value_set(&value, value.negative, significand, exponent);
    return value;
}

static void print_value(const struct dti_value *value)
{
    const char *const sign = value->negative ? "-" : "";
    if (value->kind == DTI_CLASS_NAN)
        printf("nan:%" PRIx64, value->hi);
    else if (value->kind == DTI_CLASS_INF)
        printf("%sinf", sign);
    else if (value->kind == DTI_CLASS_ZERO)
        printf("%s0", sign);
    else
        printf("%s%016" PRIx64 "%016" PRIx64 ":%" PRId32 "%s", sign, value->hi, value->lo,
               value->exponent - 127, value->sticky ? "+" : "");
}

static enum dti_calc_op operation(const char *name)
{
    for (int op = 0; op < DTI_CALC_OP_COUNT; op++) {
        if (strcmp(dti_calc_op_get((enum dti_calc_op)op)->name, name) == 0)
            return (enum dti_calc_op)op;
    }
    return DTI_CALC_OP_COUNT;
}

static void print_end(mpfr_srcptr x)
{
    mpfr_exp_t exponent;
    char *const digits = mpfr_get_str(NULL, &exponent, 16, 0, x, MPFR_RNDN);
    printf(" %s:%ld", digits, (long)exponent);
    mpfr_free_str(digits);
}

static void print_truth(const struct dti_calc_truth_list *list, size_t i)
{
    static const char *const classes[] = {"rational", "rational",  "interval",
                                          "infinite", "undefined", "undecided"};
    struct dti_buffer text;
    struct dti_value value;
    dti_buffer_init(&text);
    const struct dti_truth_element *const element = &list->elements[i];
    const bool told = dti_truth_text(list, i, &text);
    printf("%s %u %d %s ", classes[element->kind], dti_truth_bits(list, i),
           dti_truth_text_is_exact(list, i), told ? text.data : "-");
    dti_buffer_free(&text);
    if (dti_truth_value(list, i, &value))
        print_value(&value);
    else
        printf("-");
    if (element->kind == DTI_TRUTH_INTERVAL) {
        print_end(&element->as.interval->low);
        print_end(&element->as.interval->high);
    } else {
        printf(" - -");
    }
    printf("\n");
}

static void set_number(struct dti_calc_truth_list *list, size_t i, const char *text)
{
    struct dti_number number;
    struct dti_error error;
    if (dti_number_parse(&number, text, strlen(text), &error) != DTI_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    dti_truth_set_number(list, i, &number);
    dti_number_free(&number);
}

/* Returns the number of values on the stack. */
static size_t evaluate(struct dti_calc_truth_list *list, char **words, size_t count)
{
    size_t top = 0;
    for (size_t k = 0; k < count; k++) {
        const char *const text = words[k];
        const bool power = text[0] == '^';
        const enum dti_calc_op op = power ? DTI_CALC_POWER : operation(text);
        if (op == DTI_CALC_OP_COUNT) {
            set_number(list, top++, text);
            continue;
        }
        const size_t arity = power ? 1 : dti_calc_op_get(op)->most;
        top -= arity - 1;
        const size_t first = top - 1;
        const struct dti_truth_operand operands[] = {
            {list, first}, {list, first + 1}, {list, first + 2}};
        dti_truth_apply(list, first, op, power ? strtoll(text + 1, NULL, 10) : 0, operands);
    }
    return top;
}

enum { WORDS = 2 * STACK };

static void answer(char *line)
{
    static char *words[WORDS];
    size_t count = 0;
    for (char *word = strtok_r(line, " \n", &line); word && count < WORDS;
         word = strtok_r(NULL, " \n", &line))
        words[count++] = word;
    const char kind = words[0][0];
    struct dti_value value, other;
    if (kind == 'F') {
        const struct dti_value x = read_value(words[3]);
        const unsigned flags =
            dti_function_value(&value, operation(words[1]), strtoll(words[2], NULL, 10), &x);
        print_value(&value);
        printf(" %u\n", flags);
        return;
    }
    if (kind == 'Q') {
        const uint64_t bits = strtoull(words[2], NULL, 16);
        double x, ends[2];
        uint64_t codes[2];
        memcpy(&x, &bits, sizeof x);
        if (!dti_function_quick(operation(words[1]), x, &ends[0], &ends[1])) {
            printf("no\n");
            return;
        }
        memcpy(codes, ends, sizeof codes);
        printf("%016" PRIx64 " %016" PRIx64 "\n", codes[0], codes[1]);
        return;
    }
    const unsigned precision = (unsigned)strtoul(words[1], NULL, 10);
    struct dti_calc_truth_list *const list = dti_truth_new(STACK, precision);
    struct dti_calc_truth_list *const result = dti_truth_new(1, precision);
    const size_t first = kind == 'E' ? 3 : 2;
    const size_t top = evaluate(list, words + first, count - first);
    if (kind == 'E') {
        const struct dti_value stored = read_value(words[2]);
        if (dti_truth_error(list, 0, &stored, &value, &other)) {
            print_value(&value);
            printf(" ");
            print_value(&other);
            printf("\n");
        } else {
            printf("no\n");
        }
    } else if (kind == 'T') {
        dti_truth_copy(result, 0, list, 0);
        print_truth(result, 0);
    } else {
        const size_t terms = kind == 'D' ? top / 2 : top;
        dti_truth_sum(result, 0, list, 0, 1, kind == 'D' ? list : NULL, terms, 1, terms);
        print_truth(result, 0);
    }
    dti_truth_free(result);
    dti_truth_free(list);
}

int main(void)
{
    struct dti_error error;
    char *line = NULL;
    size_t size = 0;
    dti_environment_use(true);
    if (dti_multi_load(&error) != DTI_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    while (getline(&line, &size, stdin) > 0)
        answer(line);
    free(line);
    mpfr_free_cache();
    return 0;
}
