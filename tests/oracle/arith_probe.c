/* SPDX-License-Identifier: MIT
 *
 * Core operations behind a pipe, in batches. A request is a line
 *
 *   OPERATION DTYPE ROUND OVERFLOW SEED COUNT        SEED hexadecimal
 *
 * followed by COUNT records of three codes, 64 bits each in native byte order (operands that the
 * operation lacks are ignored). The answer is COUNT records of two words: the code, and enum
 * dti_flag with enum dti_arith_flag shifted left by eight bits. An invalid request ends the
 * program. Stochastic rounding uses element 0's bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/code/arith.h"
#include "request.h"

enum { CHUNK = 4096 };

static const char *const operations[] = {"add", "sub", "mul", "div",     "sqrt",
                                         "fma", "min", "max", "integral"};

static unsigned apply(unsigned operation, struct dti_value v[3], enum dti_round round)
{
    switch (operation) {
    case 0:
        return dti_value_add(&v[0], &v[0], &v[1], round);
    case 1:
        return dti_value_subtract(&v[0], &v[0], &v[1], round);
    case 2:
        return dti_value_multiply(&v[0], &v[0], &v[1]);
    case 3:
        return dti_value_divide(&v[0], &v[0], &v[1]);
    case 4:
        return dti_value_sqrt(&v[0], &v[0]);
    case 5:
        return dti_value_fma(&v[0], &v[0], &v[1], &v[2], round);
    case 6:
        dti_value_minimum(&v[0], &v[0], &v[1]);
        return 0;
    case 7:
        dti_value_maximum(&v[0], &v[0], &v[1]);
        return 0;
    default:
        dti_value_round_integral(&v[0], &v[0], round);
        return 0;
    }
}

static bool answer(struct request *rq)
{
    static uint64_t operands[CHUNK][3], answers[CHUNK][2];
    const unsigned operation =
        choice_word(rq, 0, operations, sizeof operations / sizeof operations[0]);
    const struct dti_format *const format = format_word(rq, 1);
    struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    policy.round = round_word(rq, 2);
    policy.overflow = overflow_word(rq, 3);
    policy.seed = number_word(rq, 4, 16);
    for (uint64_t left = number_word(rq, 5, 10); left > 0 && !rq->error;) {
        const size_t n = left < CHUNK ? (size_t)left : CHUNK;
        if (fread(operands, sizeof operands[0], n, stdin) != n)
            refuse(rq, "missing operands");
        for (size_t i = 0; i < n && !rq->error; i++) {
            struct dti_value v[3];
            struct dti_outcome outcome;
            for (unsigned k = 0; k < 3; k++)
                dti_decode(format, operands[i][k], &v[k]);
            const unsigned flags = apply(operation, v, policy.round);
            dti_encode(format, &v[0], &policy, 0, &outcome);
            answers[i][0] = outcome.code;
            answers[i][1] = outcome.flags | flags << 8;
        }
        if (fwrite(answers, sizeof answers[0], n, stdout) != n)
            refuse(rq, "cannot write");
        left -= n;
    }
    return !rq->error;
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    bool ok = true;
    while (ok && getline(&line, &capacity, stdin) > 0) {
        struct request rq = {{NULL}, 0, NULL};
        char *at = line;
        line[strcspn(line, "\n")] = '\0';
        while (*at != '\0' && rq.count < WORDS_MAX) {
            rq.words[rq.count++] = at;
            at += strcspn(at, " ");
            if (*at != '\0')
                *at++ = '\0';
        }
        ok = answer(&rq);
        if (!ok)
            fprintf(stderr, "arith_probe: %s\n", rq.error);
    }
    free(line);
    return ok && fflush(stdout) == 0 ? 0 : 1;
}
