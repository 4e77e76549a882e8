/* SPDX-License-Identifier: MIT
 *
 * Reading amounts: see amounts.h. */
#include "answers/amounts.h"

#include "util/checked.h"
#include "util/run/parallel.h"

/* Input bytes that are worth a thread. */
enum { BYTES_PER_THREAD = 512 << 10 };

bool dti_amount_digits(const char **text, size_t *length, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *at = *text;
    const char *const end = at + *length;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (!dti_mul_u64(number, 10, &number) ||
            !dti_add_u64(number, (uint64_t)(*at - '0'), &number))
            return false;
    }
    if (at == *text)
        return false;
    *text = at;
    *length = (size_t)(end - at);
    *ret_number = number;
    return true;
}

static void skip_blanks(const char **text, size_t *length)
{
    while (*length > 0 && **text == ' ')
        (*text)++, (*length)--;
}

bool dti_shape_parse(const char *text, size_t length, uint64_t shape[DTI_SHAPE_RANK_MAX],
                     unsigned *ret_rank)
{
    unsigned rank = 0;
    skip_blanks(&text, &length);
    if (length > 0 && (*text == '[' || *text == '(')) {
        if (length < 2 || text[length - 1] != (*text == '[' ? ']' : ')'))
            return false;
        text++, length -= 2;
        skip_blanks(&text, &length);
    }
    while (length > 0) {
        if (rank == DTI_SHAPE_RANK_MAX || !dti_amount_digits(&text, &length, &shape[rank]))
            return false;
        rank++;
        skip_blanks(&text, &length);
        if (length == 0)
            break;
        if (*text != ',' && *text != 'x')
            return false;
        const bool comma = *text == ',';
        text++, length--;
        skip_blanks(&text, &length);
        if (length == 0 && !(comma && rank == 1)) /* "(5,)" is how Python writes one dimension */
            return false;
    }
    *ret_rank = rank;
    return true;
}

size_t dti_amount_useful_threads(uint64_t bytes)
{
    const size_t cpus = dti_cpu_count();
    const size_t most = cpus < DTI_THREADS_MAX ? cpus : DTI_THREADS_MAX;
    const uint64_t useful = bytes / BYTES_PER_THREAD + 1;
    return useful < most ? (size_t)useful : most;
}
