/* SPDX-License-Identifier: MIT
 *
 * Compiles a pattern's text to NFA nodes in one pass. A repeated piece is parsed again for each
 * copy; the node limit bounds that. */
#include <string.h>

#include "util/text/regex_build.h"

/* \d and so on; false if the letter is not one of them. */
static bool named_set(char letter, struct dti_regex_characters *ret)
{
    *ret = (struct dti_regex_characters){.others = false};
    switch (letter) {
    case 'd':
    case 'D':
        dti_regex_include(ret, '0', '9');
        break;
    case 'w':
    case 'W':
        dti_regex_include(ret, '0', '9');
        dti_regex_include(ret, 'A', 'Z');
        dti_regex_include(ret, 'a', 'z');
        dti_regex_include(ret, '_', '_');
        break;
    case 's':
    case 'S':
        dti_regex_include(ret, '\t', '\r');
        dti_regex_include(ret, 0x1c, ' ');
        break;
    default:
        return false;
    }
    if (letter < 'a')
        dti_regex_invert(ret);
    return true;
}

/* The character after a backslash, where it stands for one character. */
static unsigned char escaped(struct dti_regex_parser *parser)
{
    static const char letters[] = "atnvfr", meant[] = "\a\t\n\v\f\r";
    const char letter = *parser->at++;
    const char *const found = letter != '\0' ? strchr(letters, letter) : NULL;
    char what[] = "the escape '\\?'";
    if (found)
        return (unsigned char)meant[found - letters];
    if (letter >= '1' && letter <= '9')
        dti_regex_unsupported(parser, "a reference to a group");
    what[sizeof what - 3] = letter;
    if (letter == '0' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))
        dti_regex_unsupported(parser, what);
    return (unsigned char)letter;
}

static bool ends_after_backslash(struct dti_regex_parser *parser)
{
    if (++parser->at < parser->end)
        return false;
    dti_regex_fail(parser, "is not a regular expression: it ends with a backslash");
    return true;
}

/* Reads one character of a set. For a class such as \d, adds its characters and sets *ret_one to
 * false. */
static unsigned char set_member(struct dti_regex_parser *parser, struct dti_regex_characters *set,
                                bool *ret_one)
{
    struct dti_regex_characters named;
    *ret_one = true;
    if (parser->at == parser->end) {
        dti_regex_fail(parser, "is not a regular expression: a set is not closed");
        return 0;
    }
    if ((unsigned char)*parser->at >= 0x80)
        dti_regex_unsupported(parser, "a set with characters outside ASCII");
    if (*parser->at != '\\')
        return (unsigned char)*parser->at++;
    if (ends_after_backslash(parser))
        return 0;
    if ((unsigned char)*parser->at >= 0x80)
        dti_regex_unsupported(parser, "a set with characters outside ASCII");
    if (!named_set(*parser->at, &named))
        return escaped(parser);
    parser->at++;
    *ret_one = false;
    set->ascii[0] |= named.ascii[0];
    set->ascii[1] |= named.ascii[1];
    set->others = set->others || named.others;
    return 0;
}

static struct dti_regex_piece read_set(struct dti_regex_parser *parser)
{
    struct dti_regex_characters set = {.others = false};
    bool one, other;
    const bool negated = parser->at < parser->end && *parser->at == '^';
    parser->at += negated;
    for (const char *const first = parser->at; parser->status == DTI_OK;) {
        if (parser->at > first && parser->at < parser->end && *parser->at == ']')
            break;
        const unsigned char low = set_member(parser, &set, &one);
        unsigned char high = low;
        if (parser->end - parser->at >= 2 && parser->at[0] == '-' && parser->at[1] != ']') {
            parser->at++;
            high = set_member(parser, &set, &other);
            if (!one || !other || high < low)
                dti_regex_fail(parser,
                               "is not a regular expression: a range in a set has no order");
        }
        if (one && parser->status == DTI_OK)
            dti_regex_include(&set, low, high);
    }
    if (parser->status != DTI_OK)
        return (struct dti_regex_piece){.in = 0};
    parser->at++;
    if (negated)
        dti_regex_invert(&set);
    return dti_regex_characters(parser, &set);
}

static struct dti_regex_piece read_alternatives(struct dti_regex_parser *parser);

/* Notes where a group begins and ends. */
static struct dti_regex_piece saved(struct dti_regex_parser *parser, struct dti_regex_piece piece,
                                    unsigned number)
{
    const struct dti_regex_piece begin =
        dti_regex_single(parser, DTI_NODE_SAVE, (uint8_t)(2 * number), 0);
    const struct dti_regex_piece end =
        dti_regex_single(parser, DTI_NODE_SAVE, (uint8_t)(2 * number + 1), 0);
    return dti_regex_then(parser, dti_regex_then(parser, begin, piece), end);
}

/* After the parenthesis. Extensions that start with (? and the like are refused by name. */
static struct dti_regex_piece read_group(struct dti_regex_parser *parser)
{
    static const struct {
        const char *begin, *what;
    } others[] = {
        {"?=", "a lookahead"},     {"?!", "a lookahead"},   {"?<", "a lookbehind"},
        {"?>", "an atomic group"}, {"?P", "a named group"}, {"?(", "a condition"},
        {"?#", "a comment"},       {"?", "flags"},
    };
    const size_t left = (size_t)(parser->end - parser->at);
    unsigned number = 0;
    if (left >= 2 && memcmp(parser->at, "?:", 2) == 0) {
        parser->at += 2;
    } else if (left == 0 || *parser->at != '?') {
        number = parser->program->captures ? ++parser->program->groups : 0;
        if (number >= DTI_REGEX_GROUPS)
            dti_regex_unsupported(parser, "more than 9 groups");
    } else {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            const size_t length = strlen(others[i].begin);
            if (left >= length && memcmp(parser->at, others[i].begin, length) == 0)
                dti_regex_unsupported(parser, others[i].what);
        }
    }
    if (++parser->depth > DTI_REGEX_DEPTH)
        dti_regex_unsupported(parser, "more than 50 groups within each other");
    if (parser->status != DTI_OK)
        return (struct dti_regex_piece){.in = 0};
    struct dti_regex_piece piece = read_alternatives(parser);
    parser->depth--;
    if (parser->at == parser->end)
        dti_regex_fail(parser, "is not a regular expression: a group is not closed");
    else
        parser->at++;
    return number > 0 ? saved(parser, piece, number) : piece;
}

/* Reads one character of the text, which may be several bytes. */
static struct dti_regex_piece read_literal(struct dti_regex_parser *parser)
{
    const unsigned char first = (unsigned char)*parser->at++;
    struct dti_regex_piece piece = dti_regex_single(parser, DTI_NODE_BYTE, first, 0);
    while (first >= 0xc0 && parser->at < parser->end && ((unsigned char)*parser->at & 0xc0) == 0x80)
        piece = dti_regex_then(
            parser, piece,
            dti_regex_single(parser, DTI_NODE_BYTE, (unsigned char)*parser->at++, 0));
    return piece;
}

/* Reads a repeatable item. *ret_place: it is a position in the text, which cannot be repeated. */
static struct dti_regex_piece read_one(struct dti_regex_parser *parser, bool *ret_place)
{
    const char c = *parser->at;
    struct dti_regex_characters set = {.ascii = {~(UINT64_C(1) << '\n'), UINT64_MAX},
                                       .others = true};
    *ret_place = c == '^' || c == '$';
    if (c == '\\') {
        if (ends_after_backslash(parser))
            return (struct dti_regex_piece){.in = 0};
        if (named_set(*parser->at, &set)) {
            parser->at++;
            return dti_regex_characters(parser, &set);
        }
        return (unsigned char)*parser->at >= 0x80
                   ? read_literal(parser)
                   : dti_regex_single(parser, DTI_NODE_BYTE, escaped(parser), 0);
    }
    if (c != '.' && c != '[' && c != '(' && !*ret_place)
        return read_literal(parser);
    parser->at++;
    return c == '.'   ? dti_regex_characters(parser, &set)
           : c == '[' ? read_set(parser)
           : c == '(' ? read_group(parser)
                      : dti_regex_single(parser, c == '^' ? DTI_NODE_BEGIN : DTI_NODE_END, 0, 0);
}

enum { ENDLESS = DTI_REGEX_REPEAT + 1 };

/* Reads digits, at most ENDLESS; fallback: the value if there are none. */
static unsigned read_number(const char **at, const char *end, unsigned fallback)
{
    unsigned number = 0;
    if (*at == end || **at < '0' || **at > '9')
        return fallback;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        number = number * 10 + (unsigned)(**at - '0');
        number = number < ENDLESS ? number : ENDLESS;
    }
    return number;
}

/* * + ? {m} {m,} {,n} {m,n}; false if there is none: a brace is then literal. */
static bool read_repeat(struct dti_regex_parser *parser, unsigned *ret_least, unsigned *ret_most)
{
    const char *at = parser->at;
    if (at == parser->end || !strchr("*+?{", *at) || *at == '\0')
        return false;
    *ret_least = *at == '+' ? 1 : 0;
    *ret_most = *at == '?' ? 1 : ENDLESS;
    if (*at++ == '{') {
        if (at < parser->end && *at == '}')
            return false;
        const char *const digits = at;
        *ret_least = read_number(&at, parser->end, 0);
        const bool empty = at == digits;
        *ret_most = empty ? ENDLESS : *ret_least;
        bool large = *ret_least == ENDLESS;
        if (at < parser->end && *at == ',') {
            const char *const more = ++at;
            *ret_most = read_number(&at, parser->end, ENDLESS);
            large = large || (at > more && *ret_most == ENDLESS);
        }
        if (at == parser->end || *at != '}')
            return false;
        at++;
        if (large)
            dti_regex_unsupported(parser, "a repetition of more than 1000 times");
        else if (*ret_most < *ret_least)
            dti_regex_fail(parser,
                           "is not a regular expression: a repetition has its limits reversed");
    }
    if (at < parser->end && *at == '+')
        dti_regex_unsupported(parser, "a possessive repetition");
    const bool lazy = at < parser->end && *at == '?';
    if (lazy && parser->program->captures)
        dti_regex_unsupported(parser, "a lazy repetition");
    at += lazy; /* matches the same names */
    parser->at = at;
    return true;
}

/* Makes copies of the item at `from`; one has been read already. groups: how many came before it.
 */
static struct dti_regex_piece repeat(struct dti_regex_parser *parser, struct dti_regex_piece first,
                                     const char *from, unsigned groups, unsigned least,
                                     unsigned most)
{
    const char *const after = parser->at;
    struct dti_regex_piece all = dti_regex_nothing(parser);
    const unsigned count = most != ENDLESS ? most : least > 0 ? least : 1;
    bool place;
    for (unsigned i = 0; i < count && parser->status == DTI_OK; i++) {
        parser->at = from;
        parser->program->groups = i > 0 ? groups : parser->program->groups; /* the same numbers */
        struct dti_regex_piece copy = i == 0 ? first : read_one(parser, &place);
        if (most == ENDLESS && i + 1 == count) { /* the last copy repeats without a limit */
            const uint32_t in = copy.in;
            copy = dti_regex_loop(parser, copy);
            copy.in = least > 0 ? in : copy.in;
        } else if (i >= least) {
            copy = dti_regex_either(parser, copy, dti_regex_nothing(parser));
        }
        all = dti_regex_then(parser, all, copy);
    }
    parser->at = after;
    return all;
}

static bool in_sequence(const struct dti_regex_parser *parser)
{
    return parser->status == DTI_OK && parser->at < parser->end && *parser->at != '|' &&
           *parser->at != ')';
}

/* Reads the next item of a sequence with its repetition. *repeated: the previous item had one. */
static struct dti_regex_piece read_item(struct dti_regex_parser *parser, bool *repeated)
{
    const char *const from = parser->at;
    const unsigned groups = parser->program->groups;
    unsigned least, most;
    bool fixed; /* it cannot be repeated */
    if (read_repeat(parser, &least, &most)) {
        dti_regex_fail(parser, *repeated
                                   ? "is not a regular expression: a repetition is repeated"
                                   : "is not a regular expression: there is nothing to repeat");
        return (struct dti_regex_piece){.in = 0};
    }
    const struct dti_regex_piece piece = read_one(parser, &fixed);
    *repeated = !fixed && parser->status == DTI_OK && read_repeat(parser, &least, &most);
    return *repeated ? repeat(parser, piece, from, groups, least, most) : piece;
}

static struct dti_regex_piece read_sequence(struct dti_regex_parser *parser)
{
    struct dti_regex_piece all = dti_regex_nothing(parser);
    bool repeated = false;
    while (in_sequence(parser))
        all = dti_regex_then(parser, all, read_item(parser, &repeated));
    return all;
}

static struct dti_regex_piece read_alternatives(struct dti_regex_parser *parser)
{
    struct dti_regex_piece all = read_sequence(parser);
    while (parser->status == DTI_OK && parser->at < parser->end && *parser->at == '|') {
        parser->at++;
        all = dti_regex_either(parser, all, read_sequence(parser));
    }
    return all;
}

static const struct dti_regex_characters any = {.ascii = {UINT64_MAX, UINT64_MAX}, .others = true};

static void accept(struct dti_regex_parser *parser, uint32_t after, enum dti_regex_kind kind,
                   uint32_t id)
{
    const uint32_t node = dti_regex_add_node(parser, DTI_NODE_ACCEPT, id);
    dti_regex_branch(parser, after, node);
    if (parser->status == DTI_OK)
        parser->program->nodes[node].value = (uint8_t)kind;
}

/* Top-level alternatives are compiled like separate patterns. */
static void read_regex(struct dti_regex_parser *parser, enum dti_regex_kind kind, uint32_t id)
{
    const uint32_t root = dti_regex_root(parser, 0);
    bool more = true;
    while (more && parser->status == DTI_OK) {
        uint32_t after = root;
        bool repeated = false;
        while (in_sequence(parser)) {
            const struct dti_regex_mark mark = dti_regex_mark(parser);
            const char *const from = parser->at;
            const struct dti_regex_piece piece = read_item(parser, &repeated);
            after = dti_regex_share(parser, after, mark, from, piece);
        }
        accept(parser, after, kind, id);
        more = parser->at < parser->end && *parser->at == '|';
        parser->at += more;
    }
}

/* The whole pattern at once: its alternatives stay in order, which decides what groups match. */
static void read_captures(struct dti_regex_parser *parser, enum dti_regex_kind kind, uint32_t id)
{
    const uint32_t root = dti_regex_root(parser, 0);
    const struct dti_regex_piece piece = read_alternatives(parser);
    dti_regex_branch(parser, root, piece.in);
    accept(parser, piece.out, kind, id);
}

/* WILDCARD: * and ? are wildcards. END: all characters are literal, after any prefix. */
static void read_wildcards(struct dti_regex_parser *parser, enum dti_regex_kind kind, uint32_t id)
{
    const bool end = kind == DTI_REGEX_END;
    uint32_t after = dti_regex_root(parser, end ? 1 : 2);
    struct dti_regex_mark mark = dti_regex_mark(parser);
    if (end)
        after = dti_regex_share(parser, after, mark, parser->at,
                                dti_regex_loop(parser, dti_regex_characters(parser, &any)));
    while (parser->status == DTI_OK && parser->at < parser->end) {
        const char *const from = parser->at;
        const bool star = !end && *from == '*', any_one = star || (!end && *from == '?');
        mark = dti_regex_mark(parser);
        if (!end && *from == '[')
            dti_regex_unsupported(parser, "a set in a wildcard pattern");
        parser->at += any_one;
        struct dti_regex_piece piece =
            any_one ? dti_regex_characters(parser, &any) : read_literal(parser);
        piece = star ? dti_regex_loop(parser, piece) : piece;
        after = dti_regex_share(parser, after, mark, from, piece);
    }
    accept(parser, after, kind, id);
}

enum dti_status dti_regex_parse(struct dti_regex_program *program, enum dti_regex_kind kind,
                                const char *text, size_t length, uint32_t id,
                                struct dti_error *reterr)
{
    struct dti_regex_parser parser = {
        .program = program, .at = text, .end = text + length, .reterr = reterr};
    const uint32_t before = program->count;
    program->bytes += length;
    if (program->captures)
        read_captures(&parser, kind, id);
    else if (kind == DTI_REGEX_WILDCARD || kind == DTI_REGEX_END)
        read_wildcards(&parser, kind, id);
    else
        read_regex(&parser, kind, id);
    if (parser.at < parser.end)
        dti_regex_fail(&parser, "is not a regular expression: a parenthesis closes nothing");
    for (uint32_t i = before; i < program->count && parser.status != DTI_OK; i++) {
        if (program->nodes[i].kind == DTI_NODE_ACCEPT)
            program->nodes[i].kind = DTI_NODE_JOIN;
    }
    return parser.status;
}
