/* SPDX-License-Identifier: MIT
 *
 * The core behind a line protocol, so that a test in another language can run millions of
 * operations without the command line. One request per line on stdin, one answer per line on stdout
 * (a few verbs answer with more); words are separated by one blank. An invalid request is answered
 * "error REASON".
 *
 *   encode DTYPE ROUND OVERFLOW NAN SEED INDEX TEXT      0xCODE FLAGS
 *   matrix DTYPE SEED INDEX TEXT                         CODE:FLAGS for each ROUND x OVERFLOW
 *   convert SRC CODE DST ROUND OVERFLOW NAN SEED INDEX   0xCODE FLAGS
 *   sweep SRC FIRST LAST DST ROUND OVERFLOW              FIRST LAST CODE for each run of source
 *                                                        codes that are stored as the same CODE
 *   decode DTYPE CODE                                    CLASS SIGN HI LO EXPONENT
 *   text|shortest|exact|hexfloat DTYPE CODE              the spelling
 *   fixed|digits|scientific N DTYPE CODE                 the spelling
 *   next DTYPE CODE up|down                              0xCODE or none
 *   codes DTYPE FIRST LAST                               for each: CODE, CODE stored again, CLASS,
 *                                                        SIGN HI LO EXPONENT, next up, next down,
 *                                                        text, shortest, exact, hexfloat
 *   landmarks DTYPE                                      codes or none: max, lowest, smallest
 *                                                        normal, subnormal, inf, -inf, nan
 *   lowbits TEXT                                         0xBITS
 *   random SEED INDEX                                    0xBITS
 *
 * CODE, SEED and BITS are hexadecimal, INDEX and FLAGS decimal, HI and LO as in struct dti_value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number/number.h"
#include "core/number/spell.h"
#include "core/value.h"
#include "request.h"
#include "util/buffer.h"

static const char *const classes[] = {"zero", "finite", "inf", "nan"};

static void answer_outcome(const struct dti_format *format, const struct dti_value *value,
                           const struct dti_policy *policy, uint64_t index)
{
    struct dti_outcome outcome;
    dti_encode(format, value, policy, index, &outcome);
    printf("0x%" PRIx64 " %u\n", outcome.code, outcome.flags);
}

static void do_encode(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    struct dti_policy policy = policy_words(rq, 2);
    uint64_t index = number_word(rq, 6, 10);
    struct dti_value value = value_word(rq, 7);
    if (!rq->error)
        answer_outcome(format, &value, &policy, index);
}

static void do_matrix(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    policy.seed = number_word(rq, 2, 16);
    uint64_t index = number_word(rq, 3, 10);
    struct dti_value value = value_word(rq, 4);
    if (rq->error)
        return;
    for (unsigned r = 0; r < ROUND_COUNT; r++) {
        for (unsigned o = 0; o < OVERFLOW_COUNT; o++) {
            struct dti_outcome outcome;
            policy.round = (enum dti_round)r;
            policy.overflow = (enum dti_overflow)o;
            dti_encode(format, &value, &policy, index, &outcome);
            printf(r + o == 0 ? "%" PRIx64 ":%u" : " %" PRIx64 ":%u", outcome.code, outcome.flags);
        }
    }
    putchar('\n');
}

static void do_convert(struct request *rq)
{
    const struct dti_format *source = format_word(rq, 1);
    uint64_t code = number_word(rq, 2, 16);
    const struct dti_format *destination = format_word(rq, 3);
    struct dti_policy policy = policy_words(rq, 4);
    uint64_t index = number_word(rq, 8, 10);
    struct dti_value value;
    if (rq->error)
        return;
    dti_decode(source, code, &value);
    answer_outcome(destination, &value, &policy, index);
}

/* The core's own tight loop over all codes of a range: 2^32 of them take minutes, and an answer
 * has no more lines than the destination has codes. */
static void do_sweep(struct request *rq)
{
    const struct dti_format *source = format_word(rq, 1);
    uint64_t first = number_word(rq, 2, 16), last = number_word(rq, 3, 16);
    const struct dti_format *destination = format_word(rq, 4);
    struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    policy.round = round_word(rq, 5);
    policy.overflow = overflow_word(rq, 6);
    uint64_t start = first, stored = 0;
    if (last == UINT64_MAX)
        refuse(rq, "too long a range");
    for (uint64_t code = first; code <= last && !rq->error; code++) {
        struct dti_value value;
        struct dti_outcome outcome;
        dti_decode(source, code, &value);
        dti_encode(destination, &value, &policy, 0, &outcome);
        if (code != first && outcome.code != stored) {
            printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", start, code - 1, stored);
            start = code;
        }
        stored = outcome.code;
    }
    if (!rq->error)
        printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", start, last, stored);
}

static void put_value(const struct dti_value *value)
{
    printf("%s %c %" PRIx64 " %" PRIx64 " %" PRId32, classes[value->kind],
           value->negative ? '-' : '+', value->hi, value->lo, value->exponent);
}

static void put_code(bool found, uint64_t code)
{
    if (found)
        printf(" %" PRIx64, code);
    else
        fputs(" none", stdout);
}

/* The spelling that `how` names, preceded by a blank if `blank` is set. */
static void put_spelling(struct request *rq, const char *how, bool blank,
                         const struct dti_format *format, uint64_t code, size_t n)
{
    char text[DTI_TEXT_SIZE] = "";
    struct dti_buffer buffer;
    struct dti_value value;
    bool fits = true;
    dti_decode(format, code, &value);
    dti_buffer_init(&buffer);
    if (strcmp(how, "text") == 0)
        dti_spell_text(text, &value);
    else if (strcmp(how, "shortest") == 0)
        dti_spell_shortest(text, format, code);
    else if (strcmp(how, "hexfloat") == 0)
        dti_spell_hexfloat(text, &value);
    else if (strcmp(how, "digits") == 0)
        dti_spell_digits(text, &value, (unsigned)n);
    else if (strcmp(how, "scientific") == 0)
        dti_spell_scientific(text, &value, (unsigned)n);
    else if (strcmp(how, "fixed") == 0)
        fits = dti_spell_fixed(&buffer, &value, n);
    else
        fits = dti_spell_exact(&buffer, &value);
    if (!fits)
        refuse(rq, "no such spelling");
    else
        printf(blank ? " %s" : "%s", text[0] != '\0' ? text : buffer.data);
    dti_buffer_free(&buffer);
}

static void do_spelling(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    uint64_t code = number_word(rq, 2, 16);
    if (rq->error)
        return;
    put_spelling(rq, rq->words[0], false, format, code, 0);
    if (!rq->error)
        putchar('\n');
}

static void do_counted_spelling(struct request *rq)
{
    uint64_t n = number_word(rq, 1, 10);
    const struct dti_format *format = format_word(rq, 2);
    uint64_t code = number_word(rq, 3, 16);
    if (strcmp(rq->words[0], "fixed") != 0 && n > 17)
        refuse(rq, "too many digits");
    if (rq->error)
        return;
    put_spelling(rq, rq->words[0], false, format, code, (size_t)n);
    if (!rq->error)
        putchar('\n');
}

static void do_decode(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    uint64_t code = number_word(rq, 2, 16);
    struct dti_value value;
    if (rq->error)
        return;
    dti_decode(format, code, &value);
    put_value(&value);
    putchar('\n');
}

static void do_next(struct request *rq)
{
    static const char *const directions[] = {"down", "up"};
    const struct dti_format *format = format_word(rq, 1);
    uint64_t code = number_word(rq, 2, 16), next;
    bool up = choice_word(rq, 3, directions, 2) != 0;
    if (rq->error)
        return;
    if (dti_code_next(format, code, up, &next))
        printf("0x%" PRIx64 "\n", next);
    else
        puts("none");
}

static void put_code_line(struct request *rq, const struct dti_format *format, uint64_t code)
{
    static const char *const spellings[] = {"text", "shortest", "exact", "hexfloat"};
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    uint64_t up = 0, down = 0;
    dti_decode(format, code, &value);
    dti_encode(format, &value, &policy, 0, &outcome);
    printf("%" PRIx64 " %" PRIx64 " ", code, outcome.code);
    put_value(&value);
    bool ordered = value.kind != DTI_CLASS_NAN;
    bool has_up = ordered && dti_code_next(format, code, true, &up);
    bool has_down = ordered && dti_code_next(format, code, false, &down);
    put_code(has_up, up);
    put_code(has_down, down);
    for (unsigned s = 0; s < 4 && !rq->error; s++)
        put_spelling(rq, spellings[s], true, format, code, 0);
    if (!rq->error)
        putchar('\n');
}

static void do_codes(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    uint64_t first = number_word(rq, 2, 16), last = number_word(rq, 3, 16);
    if (first > last)
        refuse(rq, "no range");
    for (uint64_t code = first; !rq->error; code++) {
        put_code_line(rq, format, code);
        if (code == last)
            break;
    }
}

static void do_landmarks(struct request *rq)
{
    const struct dti_format *format = format_word(rq, 1);
    uint64_t code = 0;
    if (rq->error)
        return;
    bool found = dti_code_max(format, &code);
    put_code(found, code);
    found = dti_code_lowest(format, &code);
    put_code(found, code);
    found = dti_code_smallest_normal(format, &code);
    put_code(found, code);
    found = dti_code_smallest_subnormal(format, &code);
    put_code(found, code);
    found = dti_code_inf(format, false, &code);
    put_code(found, code);
    found = dti_code_inf(format, true, &code);
    put_code(found, code);
    found = dti_code_nan(format, &code);
    put_code(found, code);
    putchar('\n');
}

static void do_lowbits(struct request *rq)
{
    const char *text = word(rq, 1);
    struct dti_number number;
    struct dti_value fraction;
    uint64_t bits;
    if (rq->error)
        return;
    if (dti_number_parse(&number, text, strlen(text), NULL) != DTI_OK) {
        refuse(rq, "bad value");
        return;
    }
    if (dti_number_low_bits(&number, &bits, &fraction))
        printf("0x%" PRIx64 "\n", number.negative ? UINT64_C(0) - bits : bits);
    else
        refuse(rq, "out of memory");
    dti_number_free(&number);
}

static void do_random(struct request *rq)
{
    uint64_t seed = number_word(rq, 1, 16), index = number_word(rq, 2, 10);
    if (!rq->error)
        printf("0x%" PRIx32 "\n", dti_random_bits(seed, 0, index));
}

static const struct {
    const char *name;
    void (*answer)(struct request *rq);
} verbs[] = {
    {"encode", do_encode},
    {"matrix", do_matrix},
    {"convert", do_convert},
    {"sweep", do_sweep},
    {"decode", do_decode},
    {"text", do_spelling},
    {"shortest", do_spelling},
    {"exact", do_spelling},
    {"hexfloat", do_spelling},
    {"fixed", do_counted_spelling},
    {"digits", do_counted_spelling},
    {"scientific", do_counted_spelling},
    {"next", do_next},
    {"codes", do_codes},
    {"landmarks", do_landmarks},
    {"lowbits", do_lowbits},
    {"random", do_random},
};

static void answer_line(char *line)
{
    struct request rq = {{NULL}, 0, NULL};
    for (char *at = line; *at != '\0' && rq.count < WORDS_MAX;) {
        rq.words[rq.count++] = at;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    const char *verb = word(&rq, 0);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verb, verbs[i].name) == 0) {
            verbs[i].answer(&rq);
            verb = NULL;
            break;
        }
    }
    if (verb)
        refuse(&rq, "unknown request");
    if (rq.error)
        printf("error %s\n", rq.error);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        answer_line(line);
    }
    free(line);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
