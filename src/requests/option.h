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
#include <string.h>

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

/* What few options have. */
struct dti_option_more {
    const char *alias;     /* another long name, accepted but hidden; NULL for none */
    const char *group;     /* title of the rows from this one on, in help and manual; or NULL */
    const char *of_models; /* the option that should take a .gguf file given here; or NULL */
    const char *elsewhere; /* no setting of the library: what is there in its place; or NULL */
    const char *records;   /* DTI_OPTION_TEXT: completion offers the members of this list's elements
                            * in the command's documents */
};

/* Small, with few pointers: those of all commands are relocated at every start. */
struct dti_option {
    const char *words;                  /* long name, metavar and help, each ended by a NUL */
    const struct dti_option_more *more; /* or NULL */
    union {
        const struct dti_choice *choices; /* all but DTI_OPTION_UINT; of DTI_OPTION_TEXT: words of a
                                           * list that completion offers; or NULL */
        uint64_t maximum;                 /* DTI_OPTION_UINT */
    };
    uint16_t offset;
    uint16_t given_offset; /* of a bool that is set if the option was given, or DTI_NO_GIVEN */
    unsigned char kind;    /* enum dti_option_kind */
    unsigned char minimum; /* DTI_OPTION_UINT */
    char short_name;       /* 0 for none */
    bool matters;          /* what -h shows */
};

static inline const char *dti_option_name(const struct dti_option *option) /* the long one */
{
    return option->words;
}
static inline const char *dti_option_metavar(const struct dti_option *option) /* "": a flag */
{
    return option->words + strlen(option->words) + 1;
}
static inline const char *dti_option_help(const struct dti_option *option)
{
    const char *const metavar = dti_option_metavar(option);
    return metavar + strlen(metavar) + 1;
}
static inline const struct dti_option_more *dti_option_more(const struct dti_option *option)
{
    static const struct dti_option_more none = {.alias = NULL};
    return option->more ? option->more : &none;
}
/* The values that an option takes, or NULL if they are not those of a table. */
static inline const struct dti_choice *dti_option_choices(const struct dti_option *option)
{
    return option->kind == DTI_OPTION_UINT || option->kind == DTI_OPTION_TEXT ? NULL
                                                                              : option->choices;
}

#define DTI_NO_GIVEN                 UINT16_MAX
#define DTI_FIELD(type, field, want) _Generic(((type *)0)->field, want : offsetof(type, field))

/* A row. m: "" for a flag. The last argument, the help text, may be followed by further members:
 * .matters = true, DTI_MORE(.alias = "old-name", .group = "rounding"). */
#define DTI_OPTION(kind_, s, l, m, type, field, want, given, table, ...)                     \
    {                                                                                        \
        .kind = DTI_OPTION_##kind_, .short_name = s, .offset = DTI_FIELD(type, field, want), \
        .given_offset = given, table, .words = l "\0" m "\0" __VA_ARGS__                     \
    }
#define DTI_MORE(...)                       \
    .more = &(const struct dti_option_more) \
    {                                       \
        __VA_ARGS__                         \
    }
#define OPT_FLAG(s, l, type, field, ...) \
    DTI_OPTION(FLAG, s, l, "", type, field, bool, DTI_NO_GIVEN, .choices = NULL, __VA_ARGS__)
#define DTI_OPTION_WORDS(kind_, s, l, type, field, m, table, ...)                         \
    DTI_OPTION(kind_, s, l, m, type, field, const char *, DTI_NO_GIVEN, .choices = table, \
               __VA_ARGS__)
#define OPT_TEXT(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(TEXT, s, l, type, field, m, NULL, __VA_ARGS__)
#define OPT_REPEATED(s, l, type, field, m, ...)                                                   \
    DTI_OPTION(LIST, s, l, m, type, field, struct dti_option_list, DTI_NO_GIVEN, .choices = NULL, \
               __VA_ARGS__)
#define OPT_LIST(s, l, type, field, m, table, ...) \
    DTI_OPTION_WORDS(TEXT, s, l, type, field, m, table, __VA_ARGS__)
#define OPT_DTYPE(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(DTYPE, s, l, type, field, m, NULL, __VA_ARGS__)
/* A dtype, or one of a table. */
#define OPT_DTYPE_OR(s, l, type, field, m, table, ...) \
    DTI_OPTION_WORDS(DTYPE, s, l, type, field, m, table, __VA_ARGS__)
#define OPT_FILE(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(FILE, s, l, type, field, m, NULL, __VA_ARGS__)
#define OPT_GLOB(s, l, type, field, m, ...) \
    DTI_OPTION_WORDS(GLOB, s, l, type, field, m, NULL, __VA_ARGS__)
#define OPT_UINT(s, l, type, field, given, lo, hi, m, ...)                         \
    DTI_OPTION(UINT, s, l, m, type, field, uint64_t, DTI_FIELD(type, given, bool), \
               DTI_LIMITS(lo, hi), __VA_ARGS__)
#define DTI_LIMITS(lo, hi) .minimum = lo, .maximum = hi
#define OPT_CHOICE(s, l, type, field, given, m, table, ...)                                       \
    DTI_OPTION(CHOICE, s, l, m, type, field, int, DTI_FIELD(type, given, bool), .choices = table, \
               __VA_ARGS__)
#define OPT_SET(s, l, type, field, m, table, ...) \
    DTI_OPTION(SET, s, l, m, type, field, int, DTI_NO_GIVEN, .choices = table, __VA_ARGS__)
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
