/* SPDX-License-Identifier: MIT
 *
 * A table of rules: all regular expressions are matched at once, then the groups of the first one
 * that matches are found. */
#include "util/text/renames.h"

#include <stdint.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/regex.h"
#include "util/text/regexes.h"

struct rename_rule {
    struct dti_regex_program program;
    char *name; /* with references to groups */
    size_t length, line;
};

struct dti_renames {
    struct dti_regexes *set;
    struct rename_rule *rules;
    size_t count, capacity;
};

void dti_renames_free(struct dti_renames *renames)
{
    if (!renames)
        return;
    for (size_t i = 0; i < renames->count; i++) {
        dti_regex_program_free(&renames->rules[i].program);
        dti_free(renames->rules[i].name);
    }
    dti_regexes_free(renames->set);
    dti_free(renames->rules);
    dti_free(renames);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct rename_text {
    const char *text;
    size_t length;
};

static struct rename_text trimmed(const char *text, size_t length)
{
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    while (length > 0 && is_blank(*text)) {
        text++;
        length--;
    }
    return (struct rename_text){text, length};
}

/* Divides a line at its first tab, else at its first " -> ". */
static bool divide(struct rename_text line, struct rename_text *ret_regex,
                   struct rename_text *ret_name)
{
    static const char arrow[] = "->";
    const char *const tab = memchr(line.text, '\t', line.length);
    size_t at = tab ? (size_t)(tab - line.text) : 1, size = tab ? 1 : sizeof arrow - 1;
    while (!tab && at + size < line.length &&
           !(is_blank(line.text[at - 1]) && memcmp(line.text + at, arrow, size) == 0 &&
             is_blank(line.text[at + size])))
        at++;
    if (at + size >= line.length)
        return false;
    *ret_regex = trimmed(line.text, at);
    *ret_name = trimmed(line.text + at + size, line.length - at - size);
    return ret_regex->length > 0 && ret_name->length > 0;
}

/* Checks the references of a new name. */
static enum dti_status check_name(struct rename_text name, unsigned groups,
                                  struct dti_error *reterr)
{
    for (size_t i = 0; i < name.length; i++) {
        if (name.text[i] != '\\')
            continue;
        const char next = ++i < name.length ? name.text[i] : '\0';
        if (next == '\\')
            continue;
        if (next < '1' || next > '9')
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "in a new name a backslash comes before 1 to 9 or another backslash; "
                            "got %s",
                            DTI_QUOTED(name.text, name.length));
        if ((unsigned)(next - '0') > groups)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "the new name refers to group %c, and the regular expression has %u",
                            next, groups);
    }
    return DTI_OK;
}

static struct rename_rule *new_rule(struct dti_renames *renames)
{
    struct rename_rule *const rules =
        dti_grown(renames->rules, renames->count, &renames->capacity, sizeof *rules);
    if (!rules)
        return NULL;
    renames->rules = rules;
    struct rename_rule *const rule = &renames->rules[renames->count++];
    *rule = (struct rename_rule){.name = NULL};
    dti_regex_program_init(&rule->program);
    rule->program.captures = true;
    return rule;
}

static enum dti_status add_rule(struct dti_renames *renames, struct rename_text line, size_t number,
                                struct dti_error *reterr)
{
    struct rename_text regex, name;
    struct dti_error why;
    if (!divide(line, &regex, &name))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "expected a regular expression, '->' or a tab, and a name; got %s",
                        DTI_QUOTED(line.text, line.length));
    struct rename_rule *const rule = new_rule(renames);
    if (!rule)
        return dti_no_memory(reterr);
    enum dti_status status =
        dti_regexes_add(renames->set, DTI_REGEX_WHOLE, regex.text, regex.length, &why);
    if (status == DTI_OK)
        status =
            dti_regex_parse(&rule->program, DTI_REGEX_WHOLE, regex.text, regex.length, 0, &why);
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    if (status != DTI_OK)
        return dti_fail(reterr, status, "%s %s", DTI_QUOTED(regex.text, regex.length), why.text);
    status = check_name(name, rule->program.groups, reterr);
    if (status != DTI_OK)
        return status;
    rule->line = number;
    rule->length = name.length;
    rule->name = dti_malloc(name.length + 1);
    if (!rule->name)
        return dti_no_memory(reterr);
    memcpy(rule->name, name.text, name.length);
    return DTI_OK;
}

static enum dti_status read_lines(struct dti_renames *renames, const char *text, size_t length,
                                  const char *label, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    size_t number = 0;
    for (size_t at = 0, size; at < length && status == DTI_OK; at += size + 1) {
        const char *const end = memchr(text + at, '\n', length - at);
        size = end ? (size_t)(end - (text + at)) : length - at;
        const struct rename_text line = trimmed(text + at, size);
        struct dti_error why;
        number++;
        if (line.length == 0 || *line.text == '#')
            continue;
        status = add_rule(renames, line, number, &why);
        if (status == DTI_NO_MEMORY)
            return dti_no_memory(reterr);
        if (status != DTI_OK)
            (void)dti_fail(reterr, status, "%s, line %zu: %s", label, number, why.text);
    }
    if (status == DTI_OK && renames->count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: has no rules", label);
    return status;
}

enum dti_status dti_renames_read(struct dti_renames **ret, const char *text, size_t length,
                                 const char *label, struct dti_error *reterr)
{
    struct dti_renames *const renames = dti_calloc(1, sizeof *renames);
    if (renames)
        renames->set = dti_regexes_new();
    const enum dti_status status = renames && renames->set
                                       ? read_lines(renames, text, length, label, reterr)
                                       : dti_no_memory(reterr);
    if (status == DTI_OK)
        *ret = renames;
    else
        dti_renames_free(renames);
    return status;
}

/* Appends the new name with the references replaced. */
static void append(struct dti_buffer *ret, const struct rename_rule *rule, const char *name,
                   const struct dti_regex_groups *groups)
{
    for (size_t i = 0; i < rule->length; i++) {
        const bool escape = rule->name[i] == '\\';
        i += escape;
        if (!escape || rule->name[i] == '\\') {
            dti_buffer_append(ret, rule->name + i, 1);
            continue;
        }
        const unsigned group = (unsigned)(rule->name[i] - '0');
        if (groups->begin[group] != SIZE_MAX)
            dti_buffer_append(ret, name + groups->begin[group],
                              groups->end[group] - groups->begin[group]);
    }
}

enum dti_status dti_renames_apply(struct dti_renames *renames, const char *name, size_t length,
                                  struct dti_buffer *ret, size_t *ret_line,
                                  struct dti_error *reterr)
{
    const size_t before = ret->length;
    struct dti_regex_groups groups;
    const size_t *matches;
    size_t count;
    bool found;
    *ret_line = 0;
    enum dti_status status =
        dti_regexes_match(renames->set, name, length, &matches, &count, reterr);
    if (status != DTI_OK)
        return status;
    if (count == 0) {
        dti_buffer_append(ret, name, length);
        return ret->failed ? dti_no_memory(reterr) : DTI_OK;
    }
    const struct rename_rule *const rule = &renames->rules[matches[0]];
    status = dti_regex_capture(&rule->program, name, length, &groups, &found, reterr);
    if (status != DTI_OK)
        return status;
    if (!found)
        return dti_fail(reterr, DTI_BUG, "a regular expression matches in one way only");
    append(ret, rule, name, &groups);
    *ret_line = rule->line;
    if (!ret->failed && ret->length == before)
        return dti_fail(reterr, DTI_BAD_INPUT, "line %zu renames it to nothing", rule->line);
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}
