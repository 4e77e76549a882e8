/* SPDX-License-Identifier: MIT
 *
 * Colour settings and the environment: which one takes precedence, and what is refused. */
#include <stdlib.h>

#include "cli/shell/environment.h"
#include "cli/shell/globals.h"
#include "unit.h"

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void colour_follows_the_order_of_precedence(void)
{
    static const struct {
        const char *no_color, *clicolor_force, *force_color, *term;
        enum dti_colour when;
        bool terminal, want;
    } cases[] = {
        {NULL, NULL, NULL, "xterm", DTI_COLOUR_AUTO, true, true},
        {NULL, NULL, NULL, "xterm", DTI_COLOUR_AUTO, false, false},
        {NULL, NULL, NULL, "dumb", DTI_COLOUR_AUTO, true, false},
        {NULL, NULL, NULL, NULL, DTI_COLOUR_AUTO, true, false},
        {NULL, NULL, NULL, "", DTI_COLOUR_AUTO, true, false},
        {"1", NULL, NULL, "xterm", DTI_COLOUR_AUTO, true, false},
        {"", NULL, NULL, "xterm", DTI_COLOUR_AUTO, true, true},
        {"1", "1", "1", "xterm", DTI_COLOUR_AUTO, true, false},
        {NULL, "1", NULL, NULL, DTI_COLOUR_AUTO, false, true},
        {NULL, NULL, "1", NULL, DTI_COLOUR_AUTO, false, true},
        {NULL, "0", "0", NULL, DTI_COLOUR_AUTO, false, false},
        {NULL, "", "", NULL, DTI_COLOUR_AUTO, false, false},
        {"1", NULL, NULL, NULL, DTI_COLOUR_ALWAYS, false, true},
        {NULL, "1", "1", "xterm", DTI_COLOUR_NEVER, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set("NO_COLOR", cases[i].no_color);
        set("CLICOLOR_FORCE", cases[i].clicolor_force);
        set("FORCE_COLOR", cases[i].force_color);
        set("TERM", cases[i].term);
        if (!CHECK(dti_colour_wanted(cases[i].when, cases[i].terminal) == cases[i].want))
            printf("  in case %zu\n", i);
    }
}

static void only_a_utf8_locale_has_box_characters(void)
{
    static const struct {
        const char *lc_all, *lc_ctype, *lang;
        bool want;
    } cases[] = {
        {NULL, NULL, NULL, false},          {"", "", "", false},
        {"C", NULL, "C.UTF-8", false},      {"C.UTF-8", NULL, NULL, true},
        {NULL, "de_DE.utf8", "C", true},    {"", "POSIX", "en_US.UTF-8", false},
        {"", "", "en_US.Utf-8@euro", true}, {NULL, "UTF-8", NULL, true},
        {NULL, NULL, "ja_JP.eucJP", false}, {NULL, NULL, "en_US.UTF-81", false},
        {NULL, NULL, "utf", false},         {NULL, NULL, "en_US.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set("LC_ALL", cases[i].lc_all);
        set("LC_CTYPE", cases[i].lc_ctype);
        set("LANG", cases[i].lang);
        if (!CHECK(dti_locale_is_utf8() == cases[i].want))
            printf("  in case %zu\n", i);
    }
}

static enum dti_status check(const char *entry, struct dti_error *error)
{
    char other[] = "HOME=/", near[] = "XDTINFO_=1", text[64];
    snprintf(text, sizeof text, "%s", entry);
    char *const environment[] = {other, near, text, NULL};
    return dti_environment_check(environment, error);
}

static void known_variables_with_known_values_pass(void)
{
    struct dti_error error;
    CHECK(check("DTINFO=1", &error) == DTI_OK);
    CHECK(check("DTINFO_CPU=avx2", &error) == DTI_OK);
    CHECK(check("DTINFO_CPU=none", &error) == DTI_OK);
    CHECK(dti_environment_check(NULL, &error) == DTI_OK);
}

static void nonsense_in_the_environment_is_named(void)
{
    struct dti_error error;
    CHECK(check("DTINFO_CPU=avx3", &error) == DTI_BAD_ENVIRONMENT);
    CHECK_STR(error.text,
              "environment variable DTINFO_CPU takes one of none, scalar, avx2, avx512, "
              "avx512vbmi, avx512bf16, amx, neon, neonfp16, neonbf16; got 'avx3'");
    CHECK_STR(error.argument, "avx3");
    CHECK_STR(error.suggestions[0], "avx2");
    CHECK(check("DTINFO_CPU=", &error) == DTI_BAD_ENVIRONMENT);
    CHECK(check("DTINFO_FOO=avx2", &error) == DTI_BAD_ENVIRONMENT);
    CHECK_STR(error.text,
              "unknown environment variable 'DTINFO_FOO'; the variables are DTINFO_CPU, "
              "DTINFO_CUDA_TIMEOUT, DTINFO_LIBCUDA, DTINFO_LIBCURL, DTINFO_LIBGMP, DTINFO_LIBMPFR, "
              "DTINFO_LIBNVML, DTINFO_READ");
    CHECK(check("DTINFO_", &error) == DTI_BAD_ENVIRONMENT);
    CHECK(check("DTINFO_CP\x1b=1", &error) == DTI_BAD_ENVIRONMENT);
    CHECK(strchr(error.text, '\x1b') == NULL);
}

static enum dti_output form(char *a, char *b)
{
    char *words[] = {a, b};
    struct dti_command_context cx;
    dti_command_context_init(&cx, words, 2, stdout, stderr);
    return cx.output;
}

static void the_form_of_errors_is_known_before_anything_is_parsed(void)
{
    char json[] = "--json", jsonl[] = "--jsonl", bad[] = "--bad", end[] = "--";
    CHECK(form(bad, json) == DTI_OUTPUT_JSON);
    CHECK(form(jsonl, bad) == DTI_OUTPUT_JSONL);
    CHECK(form(end, json) == DTI_OUTPUT_HUMAN);
    CHECK(form(json, end) == DTI_OUTPUT_JSON);
}

UNIT_MAIN(colour_follows_the_order_of_precedence, only_a_utf8_locale_has_box_characters,
          known_variables_with_known_values_pass, nonsense_in_the_environment_is_named,
          the_form_of_errors_is_known_before_anything_is_parsed)
