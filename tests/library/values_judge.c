/* SPDX-License-Identifier: MIT
 *
 * Casts, texts and formats through the public functions alone. Reads questions with their answers,
 * one a line, from standard input (test_values.py and test_formats.py write them, from models of
 * their own), and prints each answer that differs. */
#include "line_judge.h"

enum { TEXT_ROOM = 1 << 16 };

/* "-", "0", "-0", "inf", "nan", or sign, 128 bits, "+" for sticky, and the exponent. */
static const char *value_text(char text[VALUE_TEXT], const struct dti_value *value)
{
    static const char *const names[] = {"0", "", "inf", "nan"};
    const char *const sign = value->negative ? "-" : "";
    if (value->kind == DTI_CLASS_FINITE)
        (void)snprintf(text, VALUE_TEXT, "%s%016" PRIx64 "%016" PRIx64 "%sp%" PRId32, sign,
                       value->hi, value->lo, value->sticky ? "+" : "", value->exponent);
    else
        (void)snprintf(text, VALUE_TEXT, "%s%s", value->kind == DTI_CLASS_NAN ? "" : sign,
                       names[value->kind]);
    return text;
}

static void check_value(const char *what, const struct dti_value *value, const char *want)
{
    char text[VALUE_TEXT];
    check(what, value_text(text, value), want);
}

static int word_of(const char *text, const char *words)
{
    int index = 0;
    for (const char *at = words; *at; index++) {
        const size_t length = strcspn(at, " ");
        if (strlen(text) == length && memcmp(at, text, length) == 0)
            return index;
        at += length + (at[length] == ' ');
    }
    return -1;
}

/* The spec of fields 2 to 7: dst, round, overflow, nan, seed, via. */
static void read_spec(struct dti_cast_spec *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->size = sizeof *ret;
    ret->dst = format_of(field[2]);
    ret->round_given = strcmp(field[3], "-") != 0;
    if (ret->round_given)
        ret->round = (enum dti_round)word_of(field[3], "nearest-even nearest-away zero up down odd "
                                                       "stochastic");
    ret->overflow = (enum dti_overflow)word_of(field[4], "native saturate saturate-finite wrap");
    ret->nan = (enum dti_nan)word_of(field[5], "quiet canonical");
    ret->seed = strtoull(field[6], NULL, 0);
    if (strcmp(field[7], "-") != 0) {
        ret->via[0] = format_of(field[7]);
        ret->via_count = 1;
    }
}

/* The stored number as a text, and back. */
static void check_texts(const struct dti_cast_spec *spec, const struct dti_cast_facts *facts,
                        const char *exact)
{
    static char text[TEXT_ROOM];
    const enum dti_spelling spellings[] = {DTI_SPELL_SHORTEST, DTI_SPELL_EXACT, DTI_SPELL_HEX};
    struct dti_cast_spec plain = {.size = sizeof plain, .dst = spec->dst};
    struct dti_error error;
    for (size_t i = 0; i < 3; i++) {
        struct dti_cast_facts again = {.size = sizeof again};
        const size_t length =
            dti_value_spell(context, &facts->stored, spec->dst, spellings[i], text, sizeof text);
        if (length == 0 || length >= sizeof text || strlen(text) != length)
            check("the text", text, "a text");
        else if (dti_value_cast(context, &plain, text, length, NULL, &again, &error) != DTI_OK)
            check("reading the text", error.text, text);
        else if (facts->stored.kind != DTI_CLASS_NAN)
            check_u64("what the text reads back", again.code, field[9]);
        if (spellings[i] == DTI_SPELL_EXACT)
            check("the exact text", text, exact);
    }
}

/* cast TEXT dst round overflow nan seed via | given code flags direction stored step error relative
 * ulps below above exact-text value? */
static void judge_cast(void)
{
    struct dti_cast_spec spec;
    struct dti_cast_facts facts = {.size = sizeof facts}, again = {.size = sizeof again};
    struct dti_value value;
    struct dti_error error;
    char text[VALUE_TEXT];
    read_spec(&spec);
    const char *const number = field[1];
    if (dti_value_cast(context, &spec, number, SIZE_MAX, NULL, &facts, &error) != DTI_OK ||
        dti_value_read(context, number, strlen(number), &value, &error) != DTI_OK) {
        check("the status", error.text, "success");
        return;
    }
    check_value("given", &facts.given, field[8]);
    check_value("what was read", &value, field[8]);
    check_u64("the code", facts.code, field[9]);
    check_u64("flags", facts.flags, field[10]);
    check_int("exact", facts.exact, strtoul(field[10], NULL, 16) & 1 ? "0" : "1");
    check_int("direction", facts.direction, field[11]);
    check_value("stored", &facts.stored, field[12]);
    check("step", facts.step.kind == DTI_CLASS_ZERO ? "-" : value_text(text, &facts.step),
          field[13]);
    check("error", facts.has_error ? value_text(text, &facts.error) : "-", field[14]);
    check("relative", facts.has_error ? value_text(text, &facts.relative) : "-", field[15]);
    check("ulps", facts.has_error ? value_text(text, &facts.ulps) : "-", field[16]);
    check_int("has_below", facts.has_below, strcmp(field[17], "-") == 0 ? "0" : "1");
    check_int("has_above", facts.has_above, strcmp(field[18], "-") == 0 ? "0" : "1");
    if (facts.has_below)
        check_u64("below", facts.below_code, field[17]);
    if (facts.has_above)
        check_u64("above", facts.above_code, field[18]);
    dti_value_of_code(spec.dst, facts.code, &value);
    check_value("the value of the code", &value, field[12]);
    check_texts(&spec, &facts, field[19]);
    if (strcmp(field[20], "whole") != 0)
        return;
    if (dti_value_cast(context, &spec, NULL, 0, &facts.given, &again, &error) != DTI_OK)
        check("the status of the value", error.text, "success");
    facts.size = again.size;
    check_u64("the value's code", again.code, field[9]);
    check_u64("the value's flags", again.flags, field[10]);
    check("the value's error", again.has_error ? value_text(text, &again.error) : "-", field[14]);
    check("the value's ulps", again.has_error ? value_text(text, &again.ulps) : "-", field[16]);
}

/* holds src dst | 0 or 1 */
static void judge_holds(void)
{
    check_int("holds", dti_format_holds(format_of(field[2]), format_of(field[1])), field[3]);
}

/* alias dtype system index | name or - */
static void judge_alias(void)
{
    const char *const name =
        dti_format_alias(format_of(field[1]), field[2], (size_t)strtoul(field[3], NULL, 10));
    check("the alias", name ? name : "-", field[4]);
}

/* find name | dtype */
static void judge_find(void)
{
    check("the format", dti_format_name(format_of(field[1])), field[2]);
    check_int("one address", format_of(field[1]) == format_of(field[2]), "1");
}

/* fail name | status, suggestion */
static void judge_failure(void)
{
    const struct dti_format *format;
    struct dti_error error;
    const enum dti_status status = dti_format_find(context, field[1], &format, NULL, &error);
    check("the status", status == DTI_OK ? "ok" : dti_status_code(status), field[2]);
    if (status != DTI_OK)
        check("the suggestion", error.suggestions[0], field[3]);
}

struct member {
    const char *name;
    enum { NUMBER, CODE, VALUE, FLAG, BIAS } type;
    size_t offset;
};
#define MEMBER(name, type)                                  \
    {                                                       \
#name, type, offsetof(struct dti_format_info, name) \
    }
static const struct member members[] = {
    MEMBER(bits, NUMBER),
    MEMBER(container_bits, NUMBER),
    MEMBER(packs, FLAG),
    MEMBER(exponent_bits, NUMBER),
    MEMBER(mantissa_bits, NUMBER),
    MEMBER(bias, BIAS),
    MEMBER(is_signed, FLAG),
    MEMBER(has_inf, FLAG),
    MEMBER(has_nan, FLAG),
    MEMBER(has_minus_zero, FLAG),
    MEMBER(has_subnormals, FLAG),
    MEMBER(has_nan_code, FLAG),
    MEMBER(max, VALUE),
    MEMBER(lowest, VALUE),
    MEMBER(smallest_normal, VALUE),
    MEMBER(smallest_subnormal, VALUE),
    MEMBER(eps, VALUE),
    MEMBER(epsneg, VALUE),
    MEMBER(step_at_max, VALUE),
    MEMBER(overflow_from, VALUE),
    MEMBER(overflow_inclusive, FLAG),
    MEMBER(to_zero_up_to, VALUE),
    MEMBER(to_zero_inclusive, FLAG),
    MEMBER(max_code, CODE),
    MEMBER(lowest_code, CODE),
    MEMBER(smallest_normal_code, CODE),
    MEMBER(smallest_subnormal_code, CODE),
    MEMBER(nan_code, CODE),
    MEMBER(integers_up_to, CODE),
    MEMBER(min_exponent, BIAS),
    MEMBER(max_exponent, BIAS),
    MEMBER(precision, NUMBER),
    MEMBER(digits10, NUMBER),
    MEMBER(max_digits10, NUMBER),
    MEMBER(nan_codes, CODE),
    MEMBER(inf_codes, CODE),
    MEMBER(finite_codes, CODE),
};

static void check_member(const struct dti_format_info *info, const struct member *member,
                         const char *want)
{
    const unsigned char *const at = (const unsigned char *)info + member->offset;
    struct dti_value value;
    uint64_t code;
    unsigned number;
    int32_t bias;
    bool flag;
    switch (member->type) {
    case NUMBER:
        memcpy(&number, at, sizeof number);
        check_int(member->name, number, want);
        break;
    case CODE:
        memcpy(&code, at, sizeof code);
        check_u64(member->name, code, want);
        break;
    case VALUE:
        memcpy(&value, at, sizeof value);
        check_value(member->name, &value, want);
        break;
    case FLAG:
        memcpy(&flag, at, sizeof flag);
        check_int(member->name, flag, want);
        break;
    case BIAS:
        memcpy(&bias, at, sizeof bias);
        check_int(member->name, bias, want);
        break;
    }
}

/* info dtype member=want ... */
static void judge_info(void)
{
    struct dti_format_info info = {.size = sizeof info};
    dti_format_describe(format_of(field[1]), &info);
    for (size_t i = 2; i < field_count; i++) {
        char *const equals = strchr(field[i], '=');
        size_t at = 0;
        const size_t count = sizeof members / sizeof *members;
        *equals = '\0';
        while (at < count && strcmp(members[at].name, field[i]) != 0)
            at++;
        if (at == count)
            check("the member", field[i], "known");
        else
            check_member(&info, &members[at], equals + 1);
    }
}

int main(void)
{
    static const struct judge_kind kinds[] = {
        {"cast", 21, judge_cast},   {"holds", 4, judge_holds}, {"alias", 5, judge_alias},
        {"fail", 4, judge_failure}, {"find", 3, judge_find},   {"info", 3, judge_info},
    };
    return judge_lines(kinds, sizeof kinds / sizeof *kinds);
}
