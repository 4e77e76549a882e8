/* SPDX-License-Identifier: MIT
 *
 * Text to operand: a number, or a complex number in Python's form (1+2j, -3j). */
#include "answers/cast.h"

#include <string.h>

static bool is_integer_literal(const char *text, size_t length)
{
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+');
    bool prefixed = length > start + 1 && text[start] == '0' &&
                    strchr("xXbB", text[start + 1]) != NULL && text[start + 1] != '\0';
    const char exponent = prefixed ? 'p' : 'e', special = prefixed ? 'p' : 'n'; /* inf and nan */
    for (size_t i = start; i < length; i++) {
        const char letter = (char)(text[i] | 0x20);
        if (text[i] == '.' || text[i] == '/' || letter == exponent || letter == special)
            return false;
    }
    return true;
}

/* Whether the number that ends before `end` is hexadecimal: then an e is a digit. */
static bool ends_hexadecimal(const char *text, size_t end)
{
    size_t start = end;
    while (start > 0 && text[start - 1] != '+' && text[start - 1] != '-')
        start--;
    return end - start > 1 && text[start] == '0' && (text[start + 1] | 0x20) == 'x';
}

/* Where the imaginary part of "a+bj" starts: the last sign that is not an exponent's. 0 when all of
 * it is imaginary. */
static size_t imaginary_start(const char *text, size_t length)
{
    for (size_t i = length; i-- > 1;) {
        char before = (char)(text[i - 1] | 0x20);
        bool exponent = before == 'p' || (before == 'e' && !ends_hexadecimal(text, i));
        if ((text[i] == '+' || text[i] == '-') && !exponent)
            return i;
    }
    return 0;
}

static enum dti_status parse_component(struct dti_cast_operand *operand, size_t component,
                                       const char *text, size_t length, struct dti_error *reterr)
{
    enum dti_status status = dti_number_parse(&operand->number[component], text, length, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_number_value(&operand->number[component], &operand->value[component]))
        return DTI_OK;
    dti_number_free(&operand->number[component]);
    memset(&operand->number[component], 0, sizeof operand->number[component]);
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

enum dti_status dti_cast_operand_parse(struct dti_cast_operand *ret, const char *text,
                                       size_t length, uint64_t index, struct dti_error *reterr)
{
    enum dti_status status;
    ret->text = text;
    ret->length = length;
    ret->index = index;
    ret->integer_literal = is_integer_literal(text, length);
    ret->components = 1;
    memset(&ret->number[0], 0, sizeof ret->number[0]);
    memset(&ret->number[1], 0, sizeof ret->number[1]);

    if (length > 2 && text[0] == '(' && text[length - 1] == ')') { /* as Python prints it */
        text++;
        length -= 2;
    }
    bool complex = length > 0 && (text[length - 1] | 0x20) == 'j';
    if (!complex)
        return parse_component(ret, 0, text, length, reterr);

    size_t split = imaginary_start(text, length - 1);
    const char *imaginary = text + split;
    size_t count = length - 1 - split;
    char unit[3] = {'1', '\0', '\0'}; /* "j" and "-j" */
    if (count == 0 || (count == 1 && (imaginary[0] == '+' || imaginary[0] == '-'))) {
        if (count == 1)
            memcpy(unit, (char[]){imaginary[0], '1', '\0'}, sizeof unit);
        imaginary = unit;
        count = strlen(unit);
    }
    ret->components = 2;
    status = parse_component(ret, 0, split > 0 ? text : "0", split > 0 ? split : 1, reterr);
    if (status == DTI_OK)
        status = parse_component(ret, 1, imaginary, count, reterr);
    if (status == DTI_OK)
        return DTI_OK;
    dti_cast_operand_free(ret);
    if (status == DTI_BAD_VALUE) {
        (void)dti_fail_word(reterr, DTI_BAD_VALUE, ret->text, ret->length,
                            "%s is not a number; a complex one is written 1+2j",
                            DTI_QUOTED(ret->text, ret->length));
    }
    return status;
}

void dti_cast_operand_free(struct dti_cast_operand *operand)
{
    for (size_t i = 0; i < operand->components; i++)
        dti_number_free(&operand->number[i]);
}
