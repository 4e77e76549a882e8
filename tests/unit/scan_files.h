/* SPDX-License-Identifier: MIT
 *
 * Tensors in files for the tests of scans, in their stored form and as numbers, and the
 * configurations of a scan. */
#ifndef DTINFO_TESTS_SCAN_FILES_H
#define DTINFO_TESTS_SCAN_FILES_H

#include "files/scan/scan.h"
#include "folder.h"

enum { MANY = 40 * DTI_TILE + 77, TEAMS = 3, MEMORIES = 3 };

static struct dti_error error;
static struct dti_team *teams[TEAMS]; /* the first is NULL: no team */
static const uint64_t memories[MEMORIES] = {0, 1, 300000};
static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

/* A dtype with its storage layout. */
struct lying {
    const char *name;
    struct dti_layout layout;
};

static const struct lying lyings[] = {
    {"fp32", {DTI_PACKING_LOW, false}},     {"fp32", {DTI_PACKING_LOW, true}},
    {"bf16", {DTI_PACKING_LOW, false}},     {"fp16", {DTI_PACKING_LOW, true}},
    {"fp64", {DTI_PACKING_LOW, false}},     {"fp8_e4m3fn", {DTI_PACKING_LOW, false}},
    {"fp4_e2m1", {DTI_PACKING_LOW, false}}, {"fp6_e3m2", {DTI_PACKING_HIGH, false}},
    {"int32", {DTI_PACKING_LOW, false}},    {"int64", {DTI_PACKING_LOW, true}},
    {"uint64", {DTI_PACKING_LOW, false}},   {"bool", {DTI_PACKING_LOW, false}},
    {"tf32", {DTI_PACKING_LOW, false}},     {"int4", {DTI_PACKING_LOW, false}},
};
enum { LYINGS = sizeof lyings / sizeof lyings[0] };

static struct dti_format format_of(const char *name)
{
    struct dti_format format;
    if (!CHECK(dti_format_lookup(name, &format, NULL, NULL) == DTI_OK))
        exit(1);
    return format;
}

/* Codes of numbers between -2 and 2 with a few random codes, or (near_one) of numbers from 1 up to
 * 2. */
static void make_codes(const struct dti_format *format, bool near_one, uint64_t *codes, size_t n)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = random_word();
        struct dti_value value;
        struct dti_outcome outcome = {.code = word & dti_low_bits(format->width)};
        if (near_one)
            dti_value_set(&value, false, word >> 9 | UINT64_C(1) << 63, -63);
        else
            dti_value_set(&value, word >> 63 != 0, word << 1 | 1, -63);
        if (dti_format_is_float(format) && (near_one || random_word() >> 55 != 0))
            dti_encode(format, &value, &nearest, 0, &outcome);
        codes[i] = format->kind == DTI_KIND_BOOL ? outcome.code & 1 : outcome.code;
    }
}

static void write_codes(const char *name, const struct lying *lying, const uint64_t *codes,
                        size_t n)
{
    const struct dti_format format = format_of(lying->name);
    uint64_t size = 0;
    CHECK(dti_format_bytes(&format, &lying->layout, n, &size));
    unsigned char *const bytes = calloc((size_t)size + 1, 1);
    if (!bytes)
        exit(1);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(&format, &lying->layout, bytes, i, codes[i]);
    file_make(name, bytes, (size_t)size);
    free(bytes);
}

static struct dti_container *open_raw(const char *name, const struct lying *lying, size_t n)
{
    const uint64_t shape[1] = {n};
    const struct dti_raw raw = {.format = format_of(lying->name),
                                .layout = lying->layout,
                                .shaped = true,
                                .rank = 1,
                                .shape = shape};
    const struct dti_container_options options = {.raw = &raw};
    struct dti_container *container = NULL;
    if (!CHECK(dti_container_open(&container, name, &options, &error) == DTI_OK)) {
        printf("  %s\n", error.text);
        exit(1);
    }
    return container;
}

/* Converts a code to the hub's format. */
static uint64_t to_hub(const struct dti_format *hub, const struct dti_format *format, uint64_t code)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome = {.code = code};
    if (hub && hub->id != format->id) {
        dti_decode(format, code, &value);
        dti_encode(hub, &value, &nearest, 0, &outcome);
    }
    return outcome.code;
}

static void put_numbers(const struct dti_format *hub, const struct dti_format *format,
                        const uint64_t *codes, size_t n, void *numbers)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t code = to_hub(hub, format, codes[i]);
        const uint32_t narrow = (uint32_t)code;
        if (hub && hub->width == 32)
            memcpy((unsigned char *)numbers + i * 4, &narrow, 4);
        else
            memcpy((unsigned char *)numbers + i * 8, &code, 8);
    }
}

/* Cycles through teams, memory limits and levels. */
static struct dti_scan_options options_of(unsigned way)
{
    enum dti_level level = (enum dti_level)(way % DTI_LEVEL_COUNT);
    if (!dti_level_present(level))
        level = DTI_LEVEL_SCALAR;
    return (struct dti_scan_options){
        .team = teams[way % TEAMS], .level = level, .max_memory = memories[way / TEAMS % MEMORIES]};
}
enum { WAYS = TEAMS * MEMORIES * 2 };

static void make_teams(void)
{
    CHECK(dti_team_new(&teams[1], 2, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[2], 7, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
}

static void free_teams(void)
{
    for (size_t i = 0; i < TEAMS; i++)
        dti_team_free(teams[i]);
}

#endif
