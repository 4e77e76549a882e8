/* SPDX-License-Identifier: MIT
 *
 * Tests the option parser with a table of its own. */
#include <stdlib.h>

#include "cli/shell/option_parse.h"
#include "unit.h"

enum { ZERO = 10, NEAREST, NEAREST_AWAY };
enum { INF = 1, NAN_BIT = 2, RANGE = 4 };

static const struct dti_choice rounds[] = {{"nearest-even", NEAREST, "a"},
                                           {"nearest-away", NEAREST_AWAY, "b"},
                                           {"zero", ZERO, NULL},
                                           {"rtz", ZERO, ""},
                                           {0}};
static const struct dti_choice events[] = {
    {"inf", INF, "a"}, {"nan", NAN_BIT, "b"}, {"range", RANGE, "c"}, {0}};

struct args {
    bool exact;
    uint64_t digits;
    bool digits_given;
    const char *from, *via, *output;
    int round;
    bool round_given;
    int fail_on;
    struct dti_option_list set;
};

static const struct dti_option options[] = {
    OPT_FLAG('e', "exact", struct args, exact, "h"),
    OPT_UINT('d', "digits", struct args, digits, digits_given, 5, 100000, "N", "h"),
    OPT_TEXT('f', "from", struct args, from, "TEXT", "h", DTI_MORE(.alias = "of")),
    OPT_DTYPE(0, "via", struct args, via, "DTYPE", "h"),
    OPT_FILE('o', "output", struct args, output, "OUT", "h"),
    OPT_CHOICE('r', "round", struct args, round, round_given, "MODE", rounds, "h"),
    OPT_SET(0, "fail-on", struct args, fail_on, "EVENT", events, "h"),
    OPT_REPEATED(0, "set", struct args, set, "KEY", "h"),
    OPT_END,
};

struct globals {
    bool json, quiet, help;
};

static const struct dti_option global_options[] = {
    OPT_FLAG(0, "json", struct globals, json, "h"),
    OPT_FLAG('q', "quiet", struct globals, quiet, "h"),
    OPT_FLAG('h', "help", struct globals, help, "h"),
    OPT_END,
};

enum { WORDS = 16 };

/* A command line, split at blanks, and the result of parsing it. */
static struct {
    struct args args;
    struct globals globals;
    char text[256];
    char *words[WORDS];
    int operands;
    enum dti_help help;
    struct dti_error error;
} run;

static enum dti_status parse(const char *line)
{
    memset(&run, 0, sizeof run);
    snprintf(run.text, sizeof run.text, "%s", line);
    int count = 0;
    for (char *word = strtok(run.text, " "); word && count < WORDS; word = strtok(NULL, " "))
        run.words[count++] = word;
    return dti_options_parse(options, &run.args, global_options, &run.globals, run.words, count,
                             &run.operands, &run.help, &run.error);
}

/* The operands, joined by blanks. */
static const char *operands(void)
{
    static char joined[256];
    joined[0] = '\0';
    for (int i = 0; i < run.operands; i++) {
        strcat(joined, i > 0 ? " " : "");
        strcat(joined, run.words[i]);
    }
    return joined;
}

static void every_spelling_of_a_value_arrives(void)
{
    static const char *const lines[] = {"--digits=77", "--digits 77",   "-d77",          "-d 77",
                                        "-ed77",       "--digits 0x4d", "--digits=0X4D", "-qd 77"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CHECK(parse(lines[i]) == DTI_OK);
        CHECK_U64(run.args.digits, 77);
        CHECK(run.args.digits_given);
        CHECK_SIZE(run.operands, 0);
    }
    CHECK(parse("") == DTI_OK);
    CHECK(!run.args.digits_given);
}

static void each_kind_lands_in_its_field(void)
{
    CHECK(parse("-e --from=a=b --via bf16 -o out --round zero --fail-on inf,range --json -q") ==
          DTI_OK);
    CHECK(run.args.exact && run.globals.json && run.globals.quiet && run.help == DTI_HELP_NONE);
    CHECK_STR(run.args.from, "a=b");
    CHECK_STR(run.args.via, "bf16");
    CHECK_STR(run.args.output, "out");
    CHECK_I64(run.args.round, ZERO);
    CHECK(run.args.round_given);
    CHECK_I64(run.args.fail_on, INF | RANGE);
}

static void the_last_value_wins_but_sets_add_up(void)
{
    CHECK(parse("-r zero -r nearest-away --fail-on inf --fail-on nan") == DTI_OK);
    CHECK_I64(run.args.round, NEAREST_AWAY);
    CHECK_I64(run.args.fail_on, INF | NAN_BIT);
}

static void options_and_operands_mix_in_any_order(void)
{
    CHECK(parse("a -e b --digits 9 c -- -e --json d") == DTI_OK);
    CHECK_STR(operands(), "a b c -e --json d");
    CHECK(run.args.exact && !run.globals.json);
    CHECK(parse("- x") == DTI_OK);
    CHECK_STR(operands(), "- x");
    CHECK(parse("--") == DTI_OK);
    CHECK_SIZE(run.operands, 0);
}

static void negative_numbers_are_operands(void)
{
    CHECK(parse("-1.5 -.5 -inf -INF -Infinity -nan -NaN -0x1p-3 -0 -1/3 -e") == DTI_OK);
    CHECK_STR(operands(), "-1.5 -.5 -inf -INF -Infinity -nan -NaN -0x1p-3 -0 -1/3");
    CHECK(run.args.exact);
    CHECK(parse("-in") == DTI_UNKNOWN_OPTION);
    CHECK(parse("-na") == DTI_UNKNOWN_OPTION);
}

static void a_value_may_look_like_an_option(void)
{
    CHECK(parse("--from --json -o -q x") == DTI_OK);
    CHECK_STR(run.args.from, "--json");
    CHECK_STR(run.args.output, "-q");
    CHECK_STR(operands(), "x");
}

static void an_alias_is_the_option(void)
{
    CHECK(parse("--of a --of=b") == DTI_OK);
    CHECK_STR(run.args.from, "b");
    CHECK_STR(dti_option_given(options, &run.args, "exact from"), "from");
    CHECK(parse("--of") == DTI_USAGE);
    CHECK_STR(run.error.text, "--from needs a TEXT");
    CHECK(dti_option_find_long(options, "of", 2) == dti_option_find_long(options, "from", 4));
    CHECK(parse("--o a") == DTI_UNKNOWN_OPTION);
}

static void help_ends_the_parsing(void)
{
    CHECK(parse("-e --help --nonsense") == DTI_OK);
    CHECK(run.help == DTI_HELP_FULL && run.args.exact);
    CHECK(parse("-qhz") == DTI_OK);
    CHECK(run.help == DTI_HELP_SHORT && run.globals.quiet);
    CHECK(parse("--nonsense --help") == DTI_UNKNOWN_OPTION);
}

static void unknown_options_name_the_nearest(void)
{
    CHECK(parse("--ronud zero") == DTI_UNKNOWN_OPTION);
    CHECK_STR(run.error.text, "unknown option '--ronud'; did you mean '--round'?");
    CHECK_STR(run.error.argument, "--ronud");
    CHECK_STR(run.error.suggestions[0], "--round");
    CHECK(parse("--jsno=1") == DTI_UNKNOWN_OPTION);
    CHECK_STR(run.error.text, "unknown option '--jsno'; did you mean '--json'?");
    CHECK(parse("-z") == DTI_UNKNOWN_OPTION);
    CHECK_STR(run.error.text, "unknown option '-z'; --help lists the options");
    CHECK(parse("-json") == DTI_UNKNOWN_OPTION);
    CHECK_STR(run.error.text, "unknown option '-json'; did you mean '--json'?");
    CHECK(parse("--=x") == DTI_UNKNOWN_OPTION);
}

static void a_prefix_is_not_an_option(void)
{
    CHECK(parse("--dig 7") == DTI_UNKNOWN_OPTION);
    CHECK_STR(run.error.suggestions[0], "--digits");
    CHECK(parse("--digitss 7") == DTI_UNKNOWN_OPTION);
}

static void wrong_choices_name_all_right_ones(void)
{
    CHECK(parse("--round nearest") == DTI_USAGE);
    CHECK_STR(run.error.text,
              "--round takes one of nearest-even, nearest-away, zero; got 'nearest'");
    CHECK_STR(run.error.argument, "nearest");
    CHECK_STR(run.error.suggestions[0], "nearest-even");
    CHECK_STR(run.error.suggestions[1], "nearest-away");
    CHECK(parse("-r=zero") == DTI_USAGE);
    CHECK_STR(run.error.text, "-r takes one of nearest-even, nearest-away, zero; got '=zero'");
    CHECK(parse("--fail-on inf,nam") == DTI_USAGE);
    CHECK_STR(run.error.text, "--fail-on takes some of inf, nan, range; got 'nam'");
    CHECK(parse("--fail-on inf,") == DTI_USAGE);
    CHECK(parse("--fail-on=") == DTI_USAGE);
}

static void other_words_and_capitals_are_taken_but_not_shown(void)
{
    static const char *const lines[] = {"--round ZERO", "--round rtz", "-rRTZ"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        CHECK(parse(lines[i]) == DTI_OK);
        CHECK_I64(run.args.round, ZERO);
    }
    CHECK(parse("--fail-on INF") == DTI_OK);
    CHECK(parse("--round rt") == DTI_USAGE);
    CHECK(strstr(run.error.text, "rtz") == NULL);
}

static void numbers_outside_the_range_name_the_range(void)
{
    static const char *const wrong[] = {"x",
                                        "4",
                                        "100001",
                                        "5x",
                                        "0x",
                                        "-5",
                                        "+5",
                                        "5.0",
                                        "1e2",
                                        "18446744073709551616",
                                        "99999999999999999999999",
                                        "0x10000000000000005"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[64], want[128];
        snprintf(line, sizeof line, "--digits %s", wrong[i]);
        snprintf(want, sizeof want, "--digits takes a number from 5 to 100000; got '%s'", wrong[i]);
        CHECK(parse(line) == DTI_USAGE);
        CHECK_STR(run.error.text, want);
        CHECK(!run.args.digits_given);
    }
    CHECK(parse("--digits=") == DTI_USAGE);
    CHECK(parse("--digits 5") == DTI_OK);
    CHECK(parse("--digits 100000") == DTI_OK);
}

static void missing_and_unwanted_values_are_errors(void)
{
    CHECK(parse("--via") == DTI_USAGE);
    CHECK_STR(run.error.text, "--via needs a DTYPE");
    CHECK_STR(run.error.argument, "--via");
    CHECK(parse("x -eo") == DTI_USAGE);
    CHECK_STR(run.error.text, "-o needs an OUT");
    CHECK(parse("--json=yes") == DTI_USAGE);
    CHECK_STR(run.error.text, "--json takes no value");
}

static void messages_carry_no_control_characters(void)
{
    CHECK(parse("--\x1b[31m") == DTI_UNKNOWN_OPTION);
    CHECK(parse("-\x1b") == DTI_UNKNOWN_OPTION);
    CHECK(strchr(run.error.text, '\x1b') == NULL);
    CHECK(parse("-r \x1b[2J") == DTI_USAGE);
    CHECK(strchr(run.error.text, '\x1b') == NULL);
}

static void a_list_has_each_value_in_order(void)
{
    CHECK(parse("--set a --exact --set=b=c --set a") == DTI_OK);
    CHECK_SIZE(run.args.set.count, 3);
    CHECK_STR(run.args.set.items[0], "a");
    CHECK_STR(run.args.set.items[1], "b=c");
    CHECK_STR(run.args.set.items[2], "a");
    CHECK_STR(dti_option_given(options, &run.args, "digits set exact"), "set");
    CHECK(parse("--exact") == DTI_OK && run.args.set.count == 0);
    CHECK_STR(dti_option_given(options, &run.args, "set"), NULL);
    CHECK(parse("--set") == DTI_USAGE);
}

static void a_list_has_an_end(void)
{
    enum { MOST = DTI_OPTION_LIST_MOST };
    char word[] = "--set=x", *words[MOST + 1];
    struct args args = {.exact = false};
    struct dti_error error;
    int count;
    enum dti_help help;
    for (size_t i = 0; i <= MOST; i++)
        words[i] = word;
    CHECK(dti_options_parse(options, &args, NULL, NULL, words, MOST, &count, &help, &error) ==
          DTI_OK);
    CHECK_SIZE(args.set.count, MOST);
    args.set.count = 0;
    CHECK(dti_options_parse(options, &args, NULL, NULL, words, MOST + 1, &count, &help, &error) ==
          DTI_USAGE);
}

static void works_without_options_of_either_kind(void)
{
    char word[] = "--json", *words[] = {word};
    int count;
    enum dti_help help;
    struct dti_error error;
    CHECK(dti_options_parse(NULL, NULL, NULL, NULL, words, 1, &count, &help, &error) ==
          DTI_UNKNOWN_OPTION);
    CHECK(dti_options_parse(NULL, NULL, NULL, NULL, words, 0, &count, &help, NULL) == DTI_OK);
    CHECK_SIZE(count, 0);
}

static void knows_which_word_awaits_a_value(void)
{
    static const struct {
        const char *word;
        const char *awaits; /* long name, or NULL */
    } cases[] = {
        {"--round", "round"}, {"--round=zero", NULL}, {"-r", "round"},  {"-rzero", NULL},
        {"-er", "round"},     {"-e", NULL},           {"--json", NULL}, {"-eqd", "digits"},
        {"-eqd5", NULL},      {"--nonsense", NULL},   {"-z", NULL},     {"--", NULL},
        {"-", NULL},          {"-1", NULL},           {"round", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dti_option *option = NULL;
        const bool awaits =
            dti_option_awaits_value(options, global_options, cases[i].word, &option);
        CHECK(awaits == (cases[i].awaits != NULL));
        CHECK_STR(option ? dti_option_name(option) : NULL, cases[i].awaits);
    }
}

UNIT_MAIN(every_spelling_of_a_value_arrives, each_kind_lands_in_its_field,
          the_last_value_wins_but_sets_add_up, options_and_operands_mix_in_any_order,
          negative_numbers_are_operands, a_value_may_look_like_an_option, an_alias_is_the_option,
          help_ends_the_parsing, unknown_options_name_the_nearest, a_prefix_is_not_an_option,
          wrong_choices_name_all_right_ones, other_words_and_capitals_are_taken_but_not_shown,
          numbers_outside_the_range_name_the_range, missing_and_unwanted_values_are_errors,
          a_list_has_each_value_in_order, a_list_has_an_end, messages_carry_no_control_characters,
          works_without_options_of_either_kind, knows_which_word_awaits_a_value)
