/* SPDX-License-Identifier: MIT
 *
 * Error messages for invalid expressions: what is wrong, where, and what to write instead. The
 * parser itself only knows the language; common mistakes are handled here. */
#include "calc/parse/tree_parse.h"

#include "util/text/ascii.h"
#include "util/text/nearest.h"
#include "util/text/row_texts.h"

#define SIGN     "s"
#define FUNCTION "f"
#define NAME     "n"
#define KEYWORD  "k"
/* One of these; words separated by blanks; what to do. */
static const struct foreign_texts {
#define FOREIGN(sort, words, instead)    char DTI_ROW_TEXT[sizeof(sort words "\0" instead)];
#define FOREIGN_SIGN(text, instead)      FOREIGN(SIGN, text, instead)
#define FOREIGN_FUNCTION(names, instead) FOREIGN(FUNCTION, names, instead)
#define FOREIGN_NAME(names, instead)     FOREIGN(NAME, names, instead)
#define FOREIGN_KEYWORD(names, instead)  FOREIGN(KEYWORD, names, instead)
#include "calc/parse/foreign_words.def"
#undef FOREIGN
} foreign = {
#define FOREIGN(sort, words, instead) sort words "\0" instead,
#include "calc/parse/foreign_words.def"
#undef FOREIGN
#undef FOREIGN_SIGN
#undef FOREIGN_FUNCTION
#undef FOREIGN_NAME
#undef FOREIGN_KEYWORD
};
static const char *const foreign_end = (const char *)(&foreign + 1);

static const char dtype_last[] = "the dtype follows the expression";

static bool is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || dti_ascii_digit(c) || c == '_';
}

const char *dti_foreign_sign(const char *at, size_t left, size_t *ret_length)
{
    for (const char *row = (const char *)&foreign; row < foreign_end;
         row = dti_text_after(dti_text_after(row))) {
        const size_t length = strlen(row + 1);
        if (row[0] == SIGN[0] && length <= left && memcmp(at, row + 1, length) == 0) {
            *ret_length = length;
            return dti_text_after(row);
        }
    }
    return NULL;
}

static const char *foreign_word(const char *sort, const char *name, size_t length)
{
    for (const char *row = (const char *)&foreign; row < foreign_end;
         row = dti_text_after(dti_text_after(row))) {
        const char *list = row[0] == sort[0] ? row + 1 : "";
        for (size_t word; (word = strcspn(list, " ")) > 0; list += word + (list[word] == ' ')) {
            if (word == length && dti_ascii_equal_start(list, name, length))
                return dti_text_after(row);
        }
    }
    return NULL;
}

static bool is_dtype(const char *name, size_t length)
{
    enum { LONGEST = 32 };
    char text[LONGEST];
    struct dti_format format;
    if (length >= sizeof text)
        return false;
    memcpy(text, name, length);
    text[length] = '\0';
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

/* A suggestion for what was found in place of an operator. */
static const char *instead_of_operator(const struct dti_reader *r, bool at_end)
{
    const char *const found = r->source + r->start;
    switch (r->token) {
    case DTI_TOKEN_NAME:
        if (foreign_word(KEYWORD, found, r->length))
            return foreign_word(KEYWORD, found, r->length);
        return is_dtype(found, r->length) ? dtype_last : "write '*' for a product";
    case '(':
        return "write '*' for a product";
    case DTI_TOKEN_NUMBER:
        if (found[0] == '.' && r->length > 1 && !dti_ascii_digit(found[1]))
            return "functions are written as sum(x), not x.sum()";
        return at_end ? "a list is written as [1, 2]" : NULL;
    case ',':
        return at_end ? "a list is written as [1, 2]" : NULL;
    case '[':
        return "lists cannot be indexed";
    case '@':
        return "write 'matmul(a, b)' for a matrix product";
    case '=':
        return "only a name gets a value: 'x = 2; x*x'";
    case '^':
        return "write '(a^b)^c'";
    case ')':
    case ']':
        return at_end ? "no bracket is open" : NULL;
    default:
        return NULL;
    }
}

/* "a value is expected after '2 *', not ')'": quotes the characters before the position, and the
 * current token. */
enum dti_status dti_builder_unexpected(struct dti_builder *b, const char *wanted)
{
    enum { SHOWN = 24 };
    const struct dti_reader *const r = &b->reader;
    const size_t first = r->last_end > SHOWN ? r->last_end - SHOWN : 0;
    const char *const before = DTI_QUOTED(r->source + first, r->last_end - first);
    const char *const found = r->source + r->start;
    const char *instead = NULL;
    if (strncmp(wanted, "an operator", strlen("an operator")) == 0)
        instead = instead_of_operator(r, strcmp(wanted, "an operator") == 0);
    else if (strcmp(wanted, "an integer") == 0)
        instead = "write 'exp(b*log(a))' for any other power";
    else if (r->token == ']' && r->last_end > 0 && r->source[r->last_end - 1] == '[')
        instead = "a list has at least one element";
    if (r->token == DTI_TOKEN_END && r->last_end == 0)
        return dti_fail(b->error, DTI_BAD_VALUE,
                        "the expression is empty; write one, such as '256 + 1'");
    if (r->token == DTI_TOKEN_END)
        return dti_fail(b->error, DTI_BAD_VALUE, "%s is expected after %s", wanted, before);
    if (r->last_end == 0)
        return dti_fail_word(b->error, DTI_BAD_VALUE, found, r->length,
                             "%s is expected at the start, not %s", wanted,
                             DTI_QUOTED(found, r->length));
    return dti_fail_word(b->error, DTI_BAD_VALUE, found, r->length,
                         "%s is expected after %s, not %s%s%s", wanted, before,
                         DTI_QUOTED(found, r->length), instead ? "; " : "", instead ? instead : "");
}

enum dti_status dti_builder_wrong_count(struct dti_builder *b, const struct dti_calc_op_row *row,
                                        size_t count)
{
    char wanted[48], instead[96] = "", call[24];
    (void)snprintf(call, sizeof call, "%s(", row->name);
    const char *const usage = strstr(dti_calc_op_help(row), call);
    if (row->least == row->most)
        (void)snprintf(wanted, sizeof wanted, "%u argument%s", row->least,
                       row->least == 1 ? "" : "s");
    else
        (void)snprintf(wanted, sizeof wanted, "%u %s %u arguments", row->least,
                       row->most == row->least + 1 ? "or" : "to", row->most);
    if (usage)
        (void)snprintf(instead, sizeof instead, ": %s", usage);
    else if (row->least == 1 && row->most <= 2 && count > row->most)
        (void)snprintf(instead, sizeof instead, "; a list is one argument, as in '%s([1, 2, 3])'",
                       row->name);
    return dti_fail_word(b->error, DTI_BAD_VALUE, row->name, strlen(row->name),
                         "'%s' takes %s, not %zu%s", row->name, wanted, count, instead);
}

/* "np.sum", "math.pi", "x.npy": names with a dot come from other languages, or are files. */
static enum dti_status unknown_dotted(struct dti_builder *b, const char *name, size_t length)
{
    const char *const end = b->reader.source + b->reader.end;
    const char *last = name, *at = name;
    enum dti_calc_op op;
    while (at < end && (is_name_part(*at) || *at == '.')) {
        if (*at++ == '.')
            last = at;
    }
    const size_t whole = (size_t)(at - name), rest = (size_t)(at - last);
    const char *const quoted = DTI_QUOTED(name, whole);
    const bool call = at < end && *at == '(';
    const char *const instead = foreign_word(call ? FUNCTION : NAME, last, rest);
    if (instead)
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, whole, "%s is not defined; %s", quoted,
                             instead);
    if (dti_calc_op_find(last, rest, &op) || dti_builder_is_number(last, rest))
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, whole,
                             "%s is not defined; write %s without %s", quoted,
                             DTI_QUOTED(last, rest), DTI_QUOTED(name, whole - rest));
    if (is_dtype(last, rest))
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, whole, "%s is not defined; %s", quoted,
                             dtype_last);
    if (call)
        return dti_builder_unknown(b, true, last, rest);
    return dti_fail_word(b->error, DTI_BAD_VALUE, name, length,
                         "%s is not defined; write '@x.npy' for a file", quoted);
}

/* Suggests names of this expression that are spelled like an unknown one. */
static void suggest_names(const struct dti_builder *b, const char *name, size_t length)
{
    enum { SHORT = 32 };
    struct dti_nearest nearest;
    char words[DTI_ERROR_SUGGESTIONS * 8][SHORT];
    size_t used = 0;
    dti_nearest_init(&nearest, name, length);
    for (size_t i = b->name_base; i < b->name_count; i++) {
        if (used == sizeof words / sizeof words[0] || b->names[i].length >= SHORT)
            continue;
        memcpy(words[used], b->names[i].text, b->names[i].length);
        words[used][b->names[i].length] = '\0';
        dti_nearest_offer(&nearest, words[used++]);
    }
    if (nearest.count > 0)
        dti_fail_word(b->error, DTI_BAD_VALUE, name, length, "%s is not defined",
                      DTI_QUOTED(name, length));
    dti_nearest_suggest(&nearest, b->error);
}

static enum dti_status unknown_function(struct dti_builder *b, const char *name, size_t length)
{
    struct dti_nearest nearest;
    const char *instead = foreign_word(FUNCTION, name, length);
    const char *const quoted = DTI_QUOTED(name, length);
    for (size_t i = b->name_base; i < b->name_count; i++) {
        if (b->names[i].length == length && memcmp(b->names[i].text, name, length) == 0)
            return dti_fail_word(b->error, DTI_BAD_VALUE, name, length,
                                 "%s is a value, not a function; write '*' for a product", quoted);
    }
    if (!instead && is_dtype(name, length))
        instead = dtype_last;
    if (instead)
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, length, "unknown function %s; %s",
                             quoted, instead);
    dti_nearest_init(&nearest, name, length);
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++)
        dti_nearest_offer(&nearest, dti_calc_op_get(op)->name);
    dti_fail_word(b->error, DTI_BAD_VALUE, name, length, "unknown function %s", quoted);
    if (nearest.count == 0)
        b->error->remedy = DTI_REMEDY_LIST_FUNCTIONS;
    dti_nearest_suggest(&nearest, b->error);
    return DTI_BAD_VALUE;
}

enum dti_status dti_builder_unknown(struct dti_builder *b, bool function, const char *name,
                                    size_t length)
{
    const char *const after = name + length, *const end = b->reader.source + b->reader.end;
    const char *instead = foreign_word(NAME, name, length);
    if (function)
        return unknown_function(b, name, length);
    if (end - after > 1 && after[0] == '.' && is_name_part(after[1]))
        return unknown_dotted(b, name, length);
    if (!instead)
        instead = foreign_word(KEYWORD, name, length);
    if (!instead && is_dtype(name, length))
        instead = dtype_last;
    dti_fail_word(b->error, DTI_BAD_VALUE, name, length, "%s is not defined; %s",
                  DTI_QUOTED(name, length),
                  instead ? instead : "a name gets its value first: 'x = 2; x*x'");
    if (!instead)
        suggest_names(b, name, length);
    return DTI_BAD_VALUE;
}
