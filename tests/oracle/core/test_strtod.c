/* SPDX-License-Identifier: MIT
 *
 * Decimal and hexadecimal texts against the C library's strtod and strtof, which glibc rounds
 * correctly in the direction that fesetround() sets. Usage: test_strtod [COUNT] */
#include <fenv.h>
#include <float.h>
#include <stdbool.h>

#include "judged.h"

static const struct {
    int library;
    enum dti_round ours;
    const char *name;
} directions[] = {
    {FE_TONEAREST, DTI_ROUND_NEAREST_EVEN, "nearest-even"},
    {FE_TOWARDZERO, DTI_ROUND_ZERO, "zero"},
    {FE_UPWARD, DTI_ROUND_UP, "up"},
    {FE_DOWNWARD, DTI_ROUND_DOWN, "down"},
};

enum { TEXT_SIZE = 2048, SHAPES = 9 };

static double double_of(uint64_t code)
{
    double value;
    memcpy(&value, &code, sizeof value);
    return value;
}

static float float_of(uint32_t code)
{
    float value;
    memcpy(&value, &code, sizeof value);
    return value;
}

/* Exactly between two neighbouring doubles (a wider long double holds that) or floats, in full. */
static void put_midpoint(char *text, uint64_t *state)
{
    if (LDBL_MANT_DIG > DBL_MANT_DIG && random_below(state, 2) == 0) {
        uint64_t code = random_u64(state) >> 1;
        if (random_below(state, 3) == 0)
            code >>= 12 + random_below(state, 51); /* subnormals */
        if (code >= UINT64_C(0x7fefffffffffffff))
            code = UINT64_C(0x7feffffffffffffe);
        long double middle = ((long double)double_of(code) + double_of(code + 1)) / 2;
        snprintf(text, TEXT_SIZE, "%.*Le", 1100, middle);
    } else {
        uint32_t code = (uint32_t)(random_u64(state) >> 33);
        if (random_below(state, 3) == 0)
            code >>= 9 + random_below(state, 22);
        if (code >= UINT32_C(0x7f7fffff))
            code = UINT32_C(0x7f7ffffe);
        snprintf(text, TEXT_SIZE, "%.*e", 160, ((double)float_of(code) + float_of(code + 1)) / 2);
    }
    /* d.ddd5000e+XX: without the zeros, so that the last digit can be changed */
    char exponent[16], *e = strchr(text, 'e');
    snprintf(exponent, sizeof exponent, "%s", e);
    while (e[-1] == '0')
        e--;
    if (e[-1] != '.') {
        unsigned side = random_below(state, 3);
        if (side == 1) {
            e += sprintf(e, "%0*d", 1 + (int)random_below(state, 60), 1);
        } else if (side == 2) {
            e[-1]--;
            for (unsigned i = random_below(state, 60); i > 0; i--)
                *e++ = '9';
            *e++ = '9';
        }
    }
    strcpy(e, exponent);
}

static void put_text(char *text, uint64_t *state)
{
    char *at = text;
    unsigned shape = random_below(state, SHAPES);
    int exponent = (int)random_below(state, 680) - 345;
    if (shape == 0) {
        put_midpoint(text, state);
        return;
    }
    if (random_below(state, 2) == 0)
        *at++ = '-';
    switch (shape) {
    case 1: /* short */
        at = put_digits(at, 1 + random_below(state, 9), state);
        break;
    case 2: /* with a point */
        at = put_digits(at, 1 + random_below(state, 5), state);
        *at++ = '.';
        at = put_digits(at, 1 + random_below(state, 17), state);
        break;
    case 3: /* long */
        at = put_digits(at, 100 + random_below(state, 900), state);
        exponent -= 500;
        break;
    case 4: /* subnormal doubles */
        at = put_digits(at, 1 + random_below(state, 20), state);
        exponent = -310 - (int)random_below(state, 36);
        break;
    case 5: /* subnormal floats */
        at = put_digits(at, 1, state);
        *at++ = '.';
        at = put_digits(at, random_below(state, 30), state);
        exponent = -37 - (int)random_below(state, 11);
        break;
    case 6: /* around the overflow limits */
        at += sprintf(at, random_below(state, 2) == 0 ? "1.79769313486231%ue308" : "3.40282%ue38",
                      random_below(state, 1000000));
        *at = '\0';
        return;
    case 7: /* leading zeros, no exponent */
        at += sprintf(at, "0.%0*d", 1 + (int)random_below(state, 50), 0);
        at = put_digits(at, 1 + random_below(state, 40), state);
        *at = '\0';
        return;
    default: /* hexadecimal */
        at += sprintf(at, "0x%" PRIx64 ".%" PRIx64 "%" PRIx64 "p%d", random_u64(state) >> 40,
                      random_u64(state), random_u64(state) >> random_below(state, 64),
                      (int)random_below(state, 2300) - 1150);
        *at = '\0';
        return;
    }
    sprintf(at, "e%d", exponent);
}

/* Whether our code equals the library's in every direction. */
static bool agrees(const char *text)
{
    struct dti_value value = value_of(text);
    bool good = true;
    for (size_t d = 0; d < sizeof directions / sizeof directions[0]; d++) {
        uint64_t wide;
        uint32_t narrow;
        fesetround(directions[d].library);
        double a = strtod(text, NULL);
        float b = strtof(text, NULL);
        fesetround(FE_TONEAREST);
        memcpy(&wide, &a, sizeof wide);
        memcpy(&narrow, &b, sizeof narrow);
        uint64_t ours = code_of(dti_format_get(DTI_FP64), &value, directions[d].ours);
        if (ours != wide) {
            printf("fp64 %s: %#" PRIx64 ", strtod %#" PRIx64 ": %s\n", directions[d].name, ours,
                   wide, text);
            good = false;
        }
        ours = code_of(dti_format_get(DTI_FP32), &value, directions[d].ours);
        if (ours != narrow) {
            printf("fp32 %s: %#" PRIx64 ", strtof %#" PRIx32 ": %s\n", directions[d].name, ours,
                   narrow, text);
            good = false;
        }
    }
    return good;
}

int main(int argc, char **argv)
{
    static char text[TEXT_SIZE];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    unsigned long wrong = 0;
    uint64_t state = 20260629;
    if (sizeof(double) != 8 || sizeof(float) != 4 || fesetround(FE_UPWARD) != 0)
        return 77; /* no directed rounding on this machine */
    fesetround(FE_TONEAREST);
    for (unsigned long i = 0; i < count && wrong < 20; i++) {
        put_text(text, &state);
        if (!agrees(text))
            wrong++;
    }
    printf("%lu texts in 4 directions as fp64 and fp32, %lu different\n", count, wrong);
    return wrong || count == 0;
}
