/* SPDX-License-Identifier: MIT
 *
 * Parses the words of a probe request into values. */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "core/number/number.h"

static const char *const rounds[] = {"nearest-even", "nearest-away", "zero",      "up",
                                     "down",         "odd",          "stochastic"};
static const char *const overflows[] = {"native", "saturate", "saturate-finite", "wrap"};
static const char *const nans[] = {"quiet", "canonical"};

void refuse(struct request *rq, const char *reason)
{
    if (!rq->error)
        rq->error = reason;
}

const char *word(struct request *rq, size_t i)
{
    if (i < rq->count)
        return rq->words[i];
    refuse(rq, "missing word");
    return "";
}

uint64_t number_word(struct request *rq, size_t i, int base)
{
    const char *text = word(rq, i);
    char *end;
    uint64_t number = strtoull(text, &end, base);
    if (end == text || *end != '\0')
        refuse(rq, "bad number");
    return number;
}

unsigned choice_word(struct request *rq, size_t i, const char *const *names, unsigned count)
{
    const char *text = word(rq, i);
    for (unsigned choice = 0; choice < count; choice++)
        if (strcmp(text, names[choice]) == 0)
            return choice;
    refuse(rq, "unknown choice");
    return 0;
}

/* Requests for one dtype come in long runs: caches the last result for a first dtype (words 1
 * and 2) and for a destination (words 3 and 4). */
const struct dti_format *format_word(struct request *rq, size_t i)
{
    static struct {
        char name[DTI_NAME_SIZE];
        struct dti_format format;
    } kept[2];
    size_t slot = i > 2;
    const char *name = word(rq, i);
    if (name[0] != '\0' && strcmp(name, kept[slot].name) == 0)
        return &kept[slot].format;
    kept[slot].name[0] = '\0';
    if (dti_format_lookup(name, &kept[slot].format, NULL, NULL) != DTI_OK)
        refuse(rq, "unknown dtype");
    else if (strlen(name) < DTI_NAME_SIZE)
        strcpy(kept[slot].name, name);
    return &kept[slot].format;
}

struct dti_value value_word(struct request *rq, size_t i)
{
    struct dti_value value;
    const char *text = word(rq, i);
    memset(&value, 0, sizeof value);
    struct dti_number number;
    if (rq->error)
        return value;
    if (dti_number_parse(&number, text, strlen(text), NULL) != DTI_OK) {
        refuse(rq, "bad value");
        return value;
    }
    if (!dti_number_value(&number, &value))
        refuse(rq, "out of memory");
    dti_number_free(&number);
    return value;
}

enum dti_round round_word(struct request *rq, size_t i)
{
    return (enum dti_round)choice_word(rq, i, rounds, ROUND_COUNT);
}

enum dti_overflow overflow_word(struct request *rq, size_t i)
{
    return (enum dti_overflow)choice_word(rq, i, overflows, OVERFLOW_COUNT);
}

struct dti_policy policy_words(struct request *rq, size_t i)
{
    struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    policy.round = round_word(rq, i);
    policy.overflow = overflow_word(rq, i + 1);
    policy.nan = (enum dti_nan)choice_word(rq, i + 2, nans, 2);
    policy.seed = number_word(rq, i + 3, 16);
    return policy;
}
