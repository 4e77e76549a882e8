/* SPDX-License-Identifier: MIT
 *
 * Option rows: of the command line, and of the library, whose settings they are. A row is constant
 * data: its value is stored at an offset in the command's argument struct, checked against the
 * field's type at compile time. Help, completion, the man pages and the tests read the same rows.
 */
#ifndef REQUESTS_OPTION_H
#define REQUESTS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum dti_option_kind {
    DTI_OPTION_END, /* closes a list */
    DTI_OPTION_FLAG,
    DTI_OPTION_UINT,   /* unsigned 64-bit decimal or 0x hexadecimal */
    DTI_OPTION_TEXT,   /* any text */
    DTI_OPTION_DTYPE,  /* a dtype's name, kept as text; completion offers dtypes */
    DTI_OPTION_FILE,   /* a file's name, kept as text */
    DTI_OPTION_GLOB,   /* patterns for names of tensors, kept as text; completion offers names from
                        * the file operand */
    DTI_OPTION_CHOICE, /* one of a table, stored as int */
    DTI_OPTION_SET,    /* several of a table, comma-separated; their values are or-ed */
    DTI_OPTION_LIST,   /* any text, each time the option is given */
};

/* The values of a DTI_OPTION_LIST, in order. */
enum { DTI_OPTION_LIST_MOST = 256 };
struct dti_option_list {
    const char *items[DTI_OPTION_LIST_MOST];
    size_t count;
};

struct dti_choice {
    const char *name; /* NULL closes a table */
    int value;
    const char *help; /* or NULL; "": an accepted but hidden synonym of a choice above it */
};
static inline bool dti_choice_shown(const struct dti_choice *choice)
{
    return choice->name && !(choice->help && choice->help[0] == '\0');
}

/* Ignores the case of letters. */
const struct dti_choice *dti_choice_find(const struct dti_choice *choices, const char *name,
                                         size_t length); /* NULL if there is none */
/* "nearest-even, zero" */
enum { DTI_CHOICES_SIZE = 256 };
const char *dti_choices_list(char list[DTI_CHOICES_SIZE], const struct dti_choice *choices);
/* Adds names similar to a word to the error's suggestions, not to its text. */
void dti_choices_suggest(const struct dti_choice *choices, const char *word, size_t length,
                         struct dti_error *reterr);

struct dti_option {
    unsigned char kind; /* enum dti_option_kind */
    char short_name;    /* 0 for none */
    bool matters;       /* what -h shows */
    uint16_t offset;
    uint16_t given_offset; /* of a bool that is set if the option was given, or DTI_NO_GIVEN */
    const char *long_name, *metavar, *help;
    const char *alias; /* another long name, accepted but hidden; NULL for none */
    const char *group; /* title of the rows from this one on, in help and manual; or NULL */
    const struct dti_choice *choices;
    const char *of_models; /* the option that should take a .gguf file given here; or NULL */
    const struct dti_choice *offers; /* DTI_OPTION_TEXT: words of a list that completion offers */
    const char *elsewhere; /* no setting of the library: what is there in its place; or NULL */
    const char *records;   /* DTI_OPTION_TEXT: completion offers the members of this list's elements
                            * in the command's documents */
    uint64_t minimum, maximum; /* DTI_OPTION_UINT */
};

#define DTI_NO_GIVEN                 UINT16_MAX
#define DTI_FIELD(type, field, want) _Generic(((type *)0)->field, want : offsetof(type, field))

/* A row. The last argument, the help text, may be followed by further members: .matters = true,
 * .alias = "old-name", .group = "rounding". */
#define DTI_OPTION(kind_, s, l, m, type, field, want, ...)                         \
    {                                                                              \
        .kind = DTI_OPTION_##kind_, .short_name = s, .long_name = l, .metavar = m, \
        .offset = DTI_FIELD(type, field, want), __VA_ARGS__                        \
    }
#define OPT_FLAG(s, l, type, field, ...)                                          \
    DTI_OPTION(FLAG, s, l, NULL, type, field, bool, .given_offset = DTI_NO_GIVEN, \
               .help = __VA_ARGS__)
#define DTI_OPTION_WORDS(kind_, s, l, type, field, m, ...) \
    DTI_OPTION(kind_, s, l, m, type, field, const char *, .given_offset = DTI_NO_GIVEN, __VA_ARGS__)
#define OPT_TEXT(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(TEXT, s, l, type, field, m, .help = __VA_ARGS__)
#define OPT_REPEATED(s, l, type, field, m, ...)                                                  \
    DTI_OPTION(LIST, s, l, m, type, field, struct dti_option_list, .given_offset = DTI_NO_GIVEN, \
               .help = __VA_ARGS__)
#define OPT_LIST(s, l, type, field, m, table, ...) \
    DTI_OPTION_WORDS(TEXT, s, l, type, field, m, .offers = table, .help = __VA_ARGS__)
#define OPT_DTYPE(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(DTYPE, s, l, type, field, m, .help = __VA_ARGS__)
/* A dtype, or one of a table. */
#define OPT_DTYPE_OR(s, l, type, field, m, table, ...) \
    DTI_OPTION_WORDS(DTYPE, s, l, type, field, m, .choices = table, .help = __VA_ARGS__)
#define OPT_FILE(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(FILE, s, l, type, field, m, .help = __VA_ARGS__)
#define OPT_GLOB(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(GLOB, s, l, type, field, m, .help = __VA_ARGS__)
#define OPT_UINT(s, l, type, field, given, lo, hi, m, ...)                                         \
    DTI_OPTION(UINT, s, l, m, type, field, uint64_t, .given_offset = DTI_FIELD(type, given, bool), \
               .minimum = lo, .maximum = hi, .help = __VA_ARGS__)
#define OPT_CHOICE(s, l, type, field, given, m, table, ...)                                     \
    DTI_OPTION(CHOICE, s, l, m, type, field, int, .given_offset = DTI_FIELD(type, given, bool), \
               .choices = table, .help = __VA_ARGS__)
#define OPT_SET(s, l, type, field, m, table, ...)                                              \
    DTI_OPTION(SET, s, l, m, type, field, int, .given_offset = DTI_NO_GIVEN, .choices = table, \
               .help = __VA_ARGS__)
#define OPT_END                \
    {                          \
        .kind = DTI_OPTION_END \
    }

/* The row with that long name or alias, or NULL. */
const struct dti_option *dti_option_find_long(const struct dti_option *options, const char *name,
                                              size_t length);

/* The long name of the first given option of a list such as "min max scale", or NULL. args: the
 * parsed arguments. */
const char *dti_option_given(const struct dti_option *options, const void *args, const char *names);

/* Stores a value at the row's offsets in args: a number or a word is read, a text must live as long
 * as args; a flag takes NULL. shown: the option in errors, "--round". Fails with DTI_USAGE. */
enum dti_status dti_option_store(const struct dti_option *option, void *args, const char *shown,
                                 const char *value, struct dti_error *reterr);

#endif
