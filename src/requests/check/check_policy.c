/* SPDX-License-Identifier: MIT
 *
 * The members of a rule are the rows of check's options, and stored as those are. */
#include "requests/check/check_policy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

/* Options of a run; all others are words of a rule. */
static const char *const of_runs[] = {"policy",  "format",     "baseline",
                                      "threads", "max-memory", "progress"};

static bool is_word(const struct dti_option *option)
{
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
        if (strcmp(dti_option_name(option), of_runs[i]) == 0)
            return false;
    }
    return true;
}

bool dti_check_policy_word_given(const struct check_args *args)
{
    for (const struct dti_option *row = dti_check_options; row->kind != DTI_OPTION_END; row++) {
        if (is_word(row) && dti_option_given(dti_check_options, args, dti_option_name(row)))
            return true;
    }
    return false;
}

enum { WORDS = 128 };

struct policy_reading {
    struct dti_check_policy *policy;
    const struct check_args *run;
    const char *label;
    struct dti_json_reader json;
    const char *counted; /* lines are counted up to here */
    size_t line;
    bool seen[WORDS]; /* members of the rule at hand, by row; files is the last */
    struct dti_error *reterr;
};

/* The line of the last token. */
static size_t line_of(struct policy_reading *reading, const char *at)
{
    for (; reading->counted < at; reading->counted++)
        reading->line += *reading->counted == '\n';
    return reading->line;
}

static enum dti_status fail_at(const char *label, size_t line, struct dti_error *reterr)
{
    struct dti_error why = *reterr;
    if (why.status == DTI_NO_MEMORY)
        return why.status;
    why.status = dti_fail(reterr, DTI_BAD_INPUT, "%s, line %zu: %s", label, line, why.text);
    memcpy(why.text, reterr->text, sizeof why.text);
    *reterr = why;
    return why.status;
}

enum dti_status dti_check_policy_fail(const char *path, size_t line, struct dti_error *reterr)
{
    return fail_at(DTI_QUOTED(path, strlen(path)), line, reterr);
}

/* The error is in reterr, and about the last token. */
static enum dti_status fail_here(struct policy_reading *reading)
{
    return fail_at(reading->label, line_of(reading, reading->json.token), reading->reterr);
}

/* The text is not JSON. */
static enum dti_status fail_json(struct policy_reading *reading)
{
    struct dti_json_reader *const json = &reading->json;
    if (json->string.failed)
        return dti_no_memory(reading->reterr);
    (void)dti_fail(reading->reterr, DTI_BAD_INPUT, "%s", json->problem);
    return fail_at(reading->label, line_of(reading, json->at), reading->reterr);
}

static enum dti_status wrong_value(struct policy_reading *reading, const char *key,
                                   const char *takes)
{
    (void)dti_fail(reading->reterr, DTI_BAD_INPUT, "'%s' takes %s", key, takes);
    return fail_here(reading);
}

/* A copy of a string, or of a number as it is written. */
static enum dti_status copy_text(struct policy_reading *reading, enum dti_json_token token,
                                 const char *key, const char **ret)
{
    const char *text = reading->json.token;
    size_t length = reading->json.token_length;
    if (token == DTI_JSON_STRING)
        dti_json_string_value(&reading->json, &text, &length);
    if (memchr(text, '\0', length))
        return wrong_value(reading, key, "no character U+0000");
    *ret = dti_pool_text(&reading->policy->texts, text, length);
    return *ret ? DTI_OK : dti_no_memory(reading->reterr);
}

/* What an option takes as JSON. */
static const char *takes(const struct dti_option *option)
{
    return option->kind == DTI_OPTION_FLAG   ? "true or false"
           : option->kind == DTI_OPTION_UINT ? "a number"
           : option->kind == DTI_OPTION_TEXT ? "a string or a number"
                                             : "a string";
}

static bool accepts(const struct dti_option *option, enum dti_json_token token)
{
    switch (token) {
    case DTI_JSON_TRUE:
    case DTI_JSON_FALSE:
        return option->kind == DTI_OPTION_FLAG;
    case DTI_JSON_NUMBER:
        return option->kind == DTI_OPTION_UINT || option->kind == DTI_OPTION_TEXT;
    case DTI_JSON_STRING:
        return option->kind != DTI_OPTION_UINT && option->kind != DTI_OPTION_FLAG;
    default:
        return false;
    }
}

static enum dti_status read_option(struct policy_reading *reading, struct dti_check_rule *rule,
                                   const struct dti_option *option)
{
    const char *const name = dti_option_name(option);
    char shown[64];
    const char *text = NULL;
    enum dti_json_token token;
    if (!dti_json_next(&reading->json, &token))
        return fail_json(reading);
    if (!accepts(option, token))
        return wrong_value(reading, name, takes(option));
    if (token == DTI_JSON_FALSE)
        return DTI_OK;
    enum dti_status status =
        token == DTI_JSON_TRUE ? DTI_OK : copy_text(reading, token, name, &text);
    if (status != DTI_OK)
        return status;
    (void)snprintf(shown, sizeof shown, "'%.40s'", name);
    status = dti_option_store(option, &rule->args, shown, text, reading->reterr);
    return status == DTI_OK ? status : fail_here(reading);
}

static enum dti_status read_files(struct policy_reading *reading, struct dti_check_rule *rule)
{
    enum dti_json_token token;
    if (!dti_json_next(&reading->json, &token))
        return fail_json(reading);
    if (token != DTI_JSON_STRING)
        return wrong_value(reading, "files", "a string");
    return copy_text(reading, token, "files", &rule->files);
}

/* "unknown word 'no-nans'; did you mean 'no-nan'?" rule: of a rule, else of the policy. */
static enum dti_status unknown_word(struct policy_reading *reading, const char *key, size_t length,
                                    bool rule)
{
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, key, length);
    dti_nearest_offer(&nearest, rule ? "files" : "rules");
    for (const struct dti_option *row = dti_check_options; rule && row->kind != DTI_OPTION_END;
         row++) {
        if (is_word(row))
            dti_nearest_offer(&nearest, dti_option_name(row));
    }
    (void)dti_fail_word(reading->reterr, DTI_BAD_INPUT, key, length, "unknown word %s",
                        DTI_QUOTED(key, length));
    dti_nearest_suggest(&nearest, reading->reterr);
    return fail_here(reading);
}

/* A member of a rule, after its key. */
static enum dti_status read_member(struct policy_reading *reading, struct dti_check_rule *rule)
{
    const char *key;
    size_t length;
    dti_json_string_value(&reading->json, &key, &length);
    const struct dti_option *const option = dti_option_find_long(dti_check_options, key, length);
    const bool files = dti_json_string_is(&reading->json, "files");
    if (!files && (!option || !is_word(option)))
        return unknown_word(reading, key, length, true);
    bool *const seen = &reading->seen[files ? WORDS - 1 : option - dti_check_options];
    assert(files || seen < reading->seen + WORDS - 1);
    if (*seen) {
        (void)dti_fail_word(reading->reterr, DTI_BAD_INPUT, key, length, "the rule has %s twice",
                            DTI_QUOTED(key, length));
        return fail_here(reading);
    }
    *seen = true;
    return files ? read_files(reading, rule) : read_option(reading, rule, option);
}

/* A rule, whose first token is read. */
static enum dti_status read_rule(struct policy_reading *reading, enum dti_json_token token)
{
    struct dti_check_policy *const policy = reading->policy;
    enum dti_status status = DTI_OK;
    if (token != DTI_JSON_OBJECT)
        return wrong_value(reading, "rules", "objects");
    if (policy->count == DTI_POLICY_RULES) {
        (void)dti_fail(reading->reterr, DTI_BAD_INPUT, "more than %d rules", (int)DTI_POLICY_RULES);
        return fail_here(reading);
    }
    struct dti_check_rule *const rule = &policy->rules[policy->count++];
    memset(reading->seen, 0, sizeof reading->seen);
    rule->line = line_of(reading, reading->json.token);
    rule->args.file.threads = reading->run->file.threads;
    rule->args.file.max_memory = reading->run->file.max_memory;
    rule->args.file.progress = reading->run->file.progress;
    rule->args.file.progress_given = reading->run->file.progress_given;
    while (status == DTI_OK) {
        if (!dti_json_next(&reading->json, &token))
            return fail_json(reading);
        if (token == DTI_JSON_OBJECT_END)
            break;
        status = read_member(reading, rule);
    }
    if (status == DTI_OK && !rule->files) {
        (void)dti_fail(reading->reterr, DTI_BAD_INPUT,
                       "the rule has no 'files', the pattern for names of files");
        return fail_at(reading->label, rule->line, reading->reterr);
    }
    return status;
}

static enum dti_status read_rules(struct policy_reading *reading)
{
    struct dti_check_policy *const policy = reading->policy;
    enum dti_json_token token;
    if (!dti_json_next(&reading->json, &token))
        return fail_json(reading);
    if (token != DTI_JSON_ARRAY)
        return wrong_value(reading, "rules", "a list");
    if (policy->rules) {
        (void)dti_fail(reading->reterr, DTI_BAD_INPUT, "the policy has 'rules' twice");
        return fail_here(reading);
    }
    policy->rules = dti_calloc(DTI_POLICY_RULES, sizeof *policy->rules);
    if (!policy->rules)
        return dti_no_memory(reading->reterr);
    for (enum dti_status status = DTI_OK; status == DTI_OK;) {
        if (!dti_json_next(&reading->json, &token))
            return fail_json(reading);
        if (token == DTI_JSON_ARRAY_END)
            return DTI_OK;
        status = read_rule(reading, token);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

/* The members of the policy: rules, and $schema, which editors read. */
static enum dti_status read_policy(struct policy_reading *reading)
{
    struct dti_json_reader *const json = &reading->json;
    enum dti_json_token token;
    const char *key;
    size_t length;
    enum dti_status status = DTI_OK;
    if (!dti_json_next(json, &token))
        return fail_json(reading);
    while (token == DTI_JSON_OBJECT && status == DTI_OK) {
        enum dti_json_token next;
        if (!dti_json_next(json, &next))
            return fail_json(reading);
        if (next == DTI_JSON_OBJECT_END)
            break;
        dti_json_string_value(json, &key, &length);
        if (dti_json_string_is(json, "rules"))
            status = read_rules(reading);
        else if (!dti_json_string_is(json, "$schema"))
            status = unknown_word(reading, key, length, false);
        else if (!dti_json_next(json, &next))
            return fail_json(reading);
        else if (next != DTI_JSON_STRING)
            status = wrong_value(reading, "$schema", "a string");
    }
    if (status != DTI_OK)
        return status;
    if (reading->policy->count == 0) {
        (void)dti_fail(reading->reterr, DTI_BAD_INPUT,
                       "a policy is an object with a list of 'rules', at least one");
        return fail_here(reading);
    }
    return dti_json_next(json, &token) ? DTI_OK : fail_json(reading);
}

enum dti_status dti_check_policy_parse(struct dti_check_policy *ret, const struct check_args *run,
                                       const char *label, const char *text, size_t length,
                                       struct dti_error *reterr)
{
    struct policy_reading *const reading = dti_calloc(1, sizeof *reading);
    *ret = (struct dti_check_policy){.rules = NULL};
    if (!reading)
        return dti_no_memory(reterr);
    *reading = (struct policy_reading){
        .policy = ret, .run = run, .label = label, .counted = text, .line = 1, .reterr = reterr};
    dti_json_reader_init(&reading->json, text, length);
    reading->json.comments = true;
    reading->json.token = text;
    const enum dti_status status = read_policy(reading);
    dti_json_reader_free(&reading->json);
    dti_free(reading);
    return status;
}

enum dti_status dti_check_policy_read(struct dti_check_policy *ret, const struct check_args *run,
                                      struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    enum dti_status status = dti_input_open(&input, run->policy, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    status = dti_input_read_all(&input, DTI_POLICY_SIZE, "a policy", &text, reterr);
    (void)dti_input_label(&input, label);
    dti_input_close(&input);
    if (status == DTI_OK)
        status = dti_check_policy_parse(ret, run, label, text.data, text.length, reterr);
    dti_buffer_free(&text);
    return status;
}

void dti_check_policy_free(struct dti_check_policy *policy)
{
    dti_free(policy->rules);
    dti_pool_free(&policy->texts);
}

static void put_word(struct dti_json *json, const struct dti_option *option)
{
    const struct dti_choice *choice = dti_option_choices(option);
    dti_json_object(json, dti_option_name(option));
    if (option->kind == DTI_OPTION_TEXT) {
        dti_json_array(json, "type");
        dti_json_string(json, NULL, "string");
        dti_json_string(json, NULL, "number");
        dti_json_end(json);
    } else {
        dti_json_string(json, "type",
                        option->kind == DTI_OPTION_FLAG   ? "boolean"
                        : option->kind == DTI_OPTION_UINT ? "integer"
                                                          : "string");
    }
    if (option->kind == DTI_OPTION_CHOICE) {
        assert(choice); /* this kind has some */
        dti_json_array(json, "enum");
        for (; choice->name; choice++)
            dti_json_string(json, NULL, choice->name);
        dti_json_end(json);
    }
    if (option->kind == DTI_OPTION_UINT) {
        dti_json_uint(json, "minimum", option->minimum);
        dti_json_uint(json, "maximum", option->maximum);
    }
    dti_json_string(json, "description", dti_option_help(option));
    dti_json_end(json);
}

static void put_rule(struct dti_json *json)
{
    dti_json_string(json, "type", "object");
    dti_json_array(json, "required");
    dti_json_string(json, NULL, "files");
    dti_json_end(json);
    dti_json_object(json, "properties");
    dti_json_object(json, "files");
    dti_json_string(json, "type", "string");
    dti_json_string(
        json, "description",
        "patterns, separated by commas; one has to match the path as given, or its last "
        "name");
    dti_json_end(json);
    for (const struct dti_option *row = dti_check_options; row->kind != DTI_OPTION_END; row++) {
        if (is_word(row))
            put_word(json, row);
    }
    dti_json_end(json);
    dti_json_bool(json, "additionalProperties", false);
}

void dti_check_policy_schema_put(struct dti_json *json)
{
    dti_json_object(json, "check_policy");
    dti_json_string(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    dti_json_string(json, "$id", "check-policy.schema.json");
    dti_json_string(json, "title", "policy of dtinfo check");
    dti_json_string(json, "description",
                    "a file for 'dtinfo check --policy': each rule has the options of check");
    dti_json_string(json, "type", "object");
    dti_json_array(json, "required");
    dti_json_string(json, NULL, "rules");
    dti_json_end(json);
    dti_json_object(json, "properties");
    dti_json_object(json, "$schema");
    dti_json_string(json, "type", "string");
    dti_json_end(json);
    dti_json_object(json, "rules");
    dti_json_string(json, "type", "array");
    dti_json_uint(json, "minItems", 1);
    dti_json_uint(json, "maxItems", DTI_POLICY_RULES);
    dti_json_object(json, "items");
    put_rule(json);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_bool(json, "additionalProperties", false);
    dti_json_end(json);
}
