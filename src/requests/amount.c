/* SPDX-License-Identifier: MIT
 *
 * Reading amounts. */
#include "requests/amount.h"

#include <stdio.h>
#include <string.h>

#include "util/checked.h"
#include "util/run/parallel.h"
#include "util/text/ascii.h"

static bool parse_bytes(const char *text, size_t length, uint64_t *ret_bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    uint64_t number, factor = 1;
    if (!dti_amount_digits(&text, &length, &number) || number == 0)
        return false;
    if (length > 0 && text[0] == ' ')
        text++, length--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, factor *= 1024) {
        if (length == strlen(units[i]) && dti_ascii_equal_start(text, units[i], length))
            return dti_mul_u64(number, factor, ret_bytes);
    }
    return false;
}

enum dti_status dti_amount_bytes(const char *option, const char *text, size_t length,
                                 uint64_t *ret_bytes, struct dti_error *reterr)
{
    static const char letters[] = "kKmMgGtT";
    char advice[48] = "";
    const char *unit = text;
    size_t unit_length = length;
    uint64_t number;
    if (parse_bytes(text, length, ret_bytes))
        return DTI_OK;
    if (dti_amount_digits(&unit, &unit_length, &number) && number > 0 && unit_length > 0 &&
        (unit_length == 1 || (unit_length == 2 && (unit[1] == 'B' || unit[1] == 'b')))) {
        const char *const letter = memchr(letters, unit[0], sizeof letters - 1);
        if (letter)
            (void)snprintf(advice, sizeof advice, ": write %llu%ciB", (unsigned long long)number,
                           letters[(size_t)(letter - letters) | 1]);
    }
    return dti_fail_word(reterr, DTI_USAGE, text, length,
                         "%s takes bytes, as in 4096,64KiB,1GiB; got %s%s", option,
                         DTI_QUOTED(text, length), advice);
}

enum dti_status dti_amount_threads(const char *text, size_t length, size_t *ret_threads,
                                   struct dti_error *reterr)
{
    const char *at = text;
    size_t rest = length;
    uint64_t number;
    if (length == 3 && memcmp(text, "all", 3) == 0) {
        *ret_threads = dti_cpu_count() < DTI_THREADS_MAX ? dti_cpu_count() : DTI_THREADS_MAX;
        return DTI_OK;
    }
    if (dti_amount_digits(&at, &rest, &number) && rest == 0 && number > 0 &&
        number <= DTI_THREADS_MAX) {
        *ret_threads = (size_t)number;
        return DTI_OK;
    }
    return dti_fail_word(reterr, DTI_USAGE, text, length,
                         "--threads takes a number from 1 to %d, or 'all'; got %s",
                         (int)DTI_THREADS_MAX, DTI_QUOTED(text, length));
}
