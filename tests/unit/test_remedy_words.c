/* SPDX-License-Identifier: MIT
 *
 * Every remedy has a text that names an option or a command, and a meaning that names none. */
#include "cli/shell/command.h"
#include "unit.h"

static const enum dti_remedy none = DTI_REMEDY_NONE;

static bool names_option(const char *text)
{
    return strstr(text, "--") || strstr(text, "-o ");
}

static void every_remedy_names_an_option_and_no_meaning_does(void)
{
    char buffer[DTI_REMEDY_WORDS];
    for (unsigned i = none + 1; i < DTI_REMEDY_COUNT; i++) {
        const enum dti_remedy remedy = (enum dti_remedy)i;
        const char *const meaning = dti_remedy_advice(remedy);
        if (!CHECK(names_option(dti_remedy_words(buffer, remedy, "text")) ||
                   strstr(buffer, "'dtinfo ")))
            printf("no words: %s\n", meaning);
        CHECK(strlen(meaning) > 0 && !names_option(meaning));
    }
}

static void words_stand_behind_before_or_in_place_of_the_text(void)
{
    char buffer[DTI_REMEDY_WORDS];
    CHECK_STR(dti_remedy_words(buffer, none, "100% %s"), "100% %s");
    CHECK_STR(dti_remedy_words(buffer, DTI_REMEDY_KEEP, "100% %s"),
              "100% %s; --keep leaves it unchanged");
    CHECK_STR(dti_remedy_words(buffer, DTI_REMEDY_CORRECT_CAST, "'x' matches no tensor"),
              "--cast-only 'x' matches no tensor");
    CHECK_STR(dti_remedy_words(buffer, DTI_REMEDY_DROP_PACKING, "text"),
              "--packing is for codes of less than 8 bits, and there are none: leave it out");
}

static void an_error_is_cut_with_its_words(void)
{
    struct dti_error error;
    char buffer[DTI_ERROR_TEXT];
    (void)dti_fail_remedy(&error, DTI_USAGE, DTI_REMEDY_KEEP, "%0500d", 0);
    CHECK_STR(dti_error_words(buffer, &error) + 500, "; --keep le");
    CHECK_SIZE(strlen(buffer), DTI_ERROR_TEXT - 1);
}

UNIT_MAIN(every_remedy_names_an_option_and_no_meaning_does,
          words_stand_behind_before_or_in_place_of_the_text, an_error_is_cut_with_its_words)
