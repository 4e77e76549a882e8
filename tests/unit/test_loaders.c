/* SPDX-License-Identifier: MIT
 *
 * Rules of programs that load models: that rows are whole, and what they say of a release. */
#include "files/loaders/loaders.h"

#include <string.h>

#include "files/stored/layouts.h"
#include "unit.h"

static bool is_release(const char *text)
{
    struct dti_loader_release release;
    return dti_loader_release_read(text, strlen(text), &release);
}

/* Whether a release is older than another; both may be empty. */
static bool in_order(const char *older, const char *newer)
{
    struct dti_loader_release a, b;
    return older[0] == '\0' || newer[0] == '\0' ||
           (dti_loader_release_read(older, strlen(older), &a) &&
            dti_loader_release_read(newer, strlen(newer), &b) &&
            dti_loader_release_compare(&a, &b) < 0);
}

static void rows_are_whole(void)
{
    struct dti_loader_rule rule;
    size_t count = 0, kinds[DTI_LOADERS] = {0};
    for (; dti_loader_rule(count, &rule); count++) {
        const char *const releases[] = {rule.lacks, rule.has, rule.gone};
        CHECK(rule.subject[0] != '\0' && rule.source[0] != '\0');
        CHECK(rule.verdict == DTI_LOADER_LOADS || rule.note[0] != '\0');
        CHECK(rule.verdict == DTI_LOADER_LOADS || (rule.lacks[0] == '\0' && rule.gone[0] == '\0'));
        CHECK(rule.gone[0] == '\0' || rule.note[0] != '\0');
        for (size_t i = 0; i < 3; i++)
            CHECK(releases[i][0] == '\0' || is_release(releases[i]));
        CHECK(in_order(rule.lacks, rule.has) && in_order(rule.has, rule.gone));
        CHECK(in_order(rule.lacks, dti_loaders[rule.loader].examined));
        kinds[rule.loader] += rule.topic == DTI_LOADER_KIND;
    }
    CHECK(count > 50);
    for (size_t i = 0; i < DTI_LOADERS; i++) {
        CHECK(kinds[i] > 0 && is_release(dti_loaders[i].examined));
        CHECK(dti_loader_named(dti_loaders[i].name, strlen(dti_loaders[i].name)) == i);
    }
    CHECK(dti_loader_named("vll", 3) == DTI_LOADERS);
}

/* The first word of each pattern for layouts is a layout that dtinfo reads. */
static void layouts_exist(void)
{
    struct dti_loader_rule rule;
    for (size_t i = 0; dti_loader_rule(i, &rule); i++) {
        const char *pattern = rule.subject;
        while (rule.topic == DTI_LOADER_LAYOUT && pattern) {
            const size_t length = strcspn(pattern, " *,");
            bool found = false;
            for (size_t k = 0; dti_layout_name(k); k++)
                found = found || (strncmp(dti_layout_name(k), pattern, length) == 0 && length > 0);
            CHECK(found);
            pattern = strchr(pattern, ',');
            pattern = pattern ? pattern + 1 : NULL;
        }
    }
}

static void releases_are_numbers(void)
{
    static const char *const wrong[] = {"",       ".",  "v",  "1.",        "1..2",
                                        "1.2rc1", "a1", "-1", "1.2.3.4.5", "99999999999"};
    struct dti_loader_release a, b;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!is_release(wrong[i]));
    CHECK(dti_loader_release_read("v0.28", 5, &a) && dti_loader_release_read("0.28.0", 6, &b));
    CHECK(dti_loader_release_compare(&a, &b) == 0);
    CHECK(dti_loader_release_read("b6451", 5, &a) && a.number[0] == 6451 && a.given);
    CHECK(dti_loader_release_read("0.9.2", 5, &a) && dti_loader_release_read("0.10.1", 6, &b));
    CHECK(dti_loader_release_compare(&a, &b) < 0 && dti_loader_release_compare(&b, &a) > 0);
}

/* A made-up letter a verdict: (l)oads, (r)efuses, (m)isreads, (?). */
static char verdict(enum dti_loader loader, const char *text, enum dti_loader_topic topic,
                    const char *subject, enum dti_loader_ground *ret_ground)
{
    struct dti_loader_release release = {.given = false};
    struct dti_loader_ruling ruling;
    if (text[0] != '\0' && !dti_loader_release_read(text, strlen(text), &release))
        return '!';
    dti_loader_judge(&ruling, loader, &release, topic, subject);
    *ret_ground = ruling.ground;
    return "?lrm"[ruling.verdict];
}

static void releases_decide(void)
{
    static const struct {
        enum dti_loader loader;
        const char *release;
        enum dti_loader_topic topic;
        const char *subject;
        char verdict;
        enum dti_loader_ground ground;
    } rows[] = {
        {DTI_LOADER_LLAMA_CPP, "", DTI_LOADER_GGUF, "llama mxfp4", 'l', DTI_LOADER_RULED},
        {DTI_LOADER_LLAMA_CPP, "6090", DTI_LOADER_GGUF, "llama mxfp4", 'r', DTI_LOADER_TOO_OLD},
        {DTI_LOADER_LLAMA_CPP, "b6091", DTI_LOADER_GGUF, "llama mxfp4", '?', DTI_LOADER_UNDATED},
        {DTI_LOADER_LLAMA_CPP, "6451", DTI_LOADER_GGUF, "llama mxfp4", 'l', DTI_LOADER_RULED},
        {DTI_LOADER_LLAMA_CPP, "", DTI_LOADER_GGUF, "llama not ggml's", 'r', DTI_LOADER_RULED},
        {DTI_LOADER_LLAMA_CPP, "", DTI_LOADER_GGUF, "llama int64", '?', DTI_LOADER_NO_RULE},
        {DTI_LOADER_LLAMA_CPP, "1", DTI_LOADER_KIND, "safetensors", 'r', DTI_LOADER_RULED},
        {DTI_LOADER_VLLM, "0.5.4", DTI_LOADER_KIND, "gguf", 'r', DTI_LOADER_TOO_OLD},
        {DTI_LOADER_VLLM, "0.6.0", DTI_LOADER_KIND, "gguf", '?', DTI_LOADER_UNDATED},
        {DTI_LOADER_VLLM, "0.23.1", DTI_LOADER_KIND, "gguf", 'l', DTI_LOADER_RULED},
        {DTI_LOADER_VLLM, "0.24", DTI_LOADER_KIND, "gguf", 'r', DTI_LOADER_GONE},
        {DTI_LOADER_VLLM, "", DTI_LOADER_KIND, "gguf", 'r', DTI_LOADER_GONE},
        {DTI_LOADER_VLLM, "99", DTI_LOADER_LAYOUT, "modelopt nvfp4 group", 'l', DTI_LOADER_RULED},
        {DTI_LOADER_VLLM, "", DTI_LOADER_LAYOUT, "modelopt int8 tensor", 'r', DTI_LOADER_RULED},
        {DTI_LOADER_VLLM, "", DTI_LOADER_LAYOUT, "gptq uint4 group", '?', DTI_LOADER_RULED},
        {DTI_LOADER_VLLM, "", DTI_LOADER_METHOD, "exl3", 'r', DTI_LOADER_RULED},
        {DTI_LOADER_TRANSFORMERS, "", DTI_LOADER_LAYOUT, "modelopt fp8_e4m3fn tensor", 'm',
         DTI_LOADER_RULED},
        {DTI_LOADER_TRANSFORMERS, "5.23", DTI_LOADER_LAYOUT, "modelopt fp8_e4m3fn tensor", '?',
         DTI_LOADER_UNDATED},
        {DTI_LOADER_COMFYUI, "", DTI_LOADER_LAYOUT, "gptq uint4 group", '?', DTI_LOADER_NO_RULE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum dti_loader_ground ground = DTI_LOADER_NO_RULE;
        CHECK(verdict(rows[i].loader, rows[i].release, rows[i].topic, rows[i].subject, &ground) ==
              rows[i].verdict);
        CHECK(ground == rows[i].ground);
    }
}

UNIT_MAIN(rows_are_whole, layouts_exist, releases_are_numbers, releases_decide)
