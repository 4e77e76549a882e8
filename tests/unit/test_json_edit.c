/* SPDX-License-Identifier: MIT
 *
 * Changes one member of an object in its text, compared with literal expected texts. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/json/json_edit.h"

/* value NULL: the member is removed. after NULL: refused with `problem`. */
static void check(const char *before, const char *value, const char *after, const char *problem)
{
    const size_t length = strlen(before);
    char *const exact = malloc(length > 0 ? length : 1); /* exact size: overreads are caught */
    if (!CHECK(exact))
        return;
    memcpy(exact, before, length);
    struct dti_buffer out;
    const char *why = NULL;
    dti_buffer_init(&out);
    CHECK(dti_json_set_member(exact, length, "q", value, &out, &why) == (after != NULL));
    if (after)
        CHECK_STR(out.data, after);
    else
        CHECK_STR(why, problem);
    dti_buffer_free(&out);
    free(exact);
}

static void a_new_member_comes_last_and_is_indented_as_the_others(void)
{
    check("{\n  \"a\": 1e-05,\n  \"b\": [1000000.0]\n}\n", "{\n  \"x\": 1,\n  \"y\": 2\n}",
          "{\n  \"a\": 1e-05,\n  \"b\": [1000000.0],\n  \"q\": {\n    \"x\": 1,\n    \"y\": 2\n  "
          "}\n}\n",
          NULL);
    check("{\r\n\t\"a\":{}}", "[\n  1\n]", "{\r\n\t\"a\":{},\r\n\t\"q\": [\n\t  1\n\t]}", NULL);
    check("{\n\n  \"a\": 1}", "[\n1]", "{\n\n  \"a\": 1,\n\n  \"q\": [\n  1]}", NULL);
    check("{\"a\": 1}", "{\n  \"x\": 1,\n  \"y\": 2\n}", "{\"a\": 1,\"q\": {\"x\": 1, \"y\": 2}}",
          NULL);
    check("{}", "1", "{\"q\": 1}", NULL);
    check(" { } ", "1", " {\"q\": 1 } ", NULL);
}

static void a_member_keeps_its_place(void)
{
    check("{\n  \"a\": 1,\n  \"q\"  :  null,\n  \"b\": 2\n}", "{\n  \"x\": 1\n}",
          "{\n  \"a\": 1,\n  \"q\"  :  {\n    \"x\": 1\n  },\n  \"b\": 2\n}", NULL);
    check("{\"q\":{\"q\":1},\"z\":0}", "2", "{\"q\":2,\"z\":0}", NULL);
    check("{\"\\u0071\": 1}", "2", "{\"\\u0071\": 2}", NULL);
    check("{\"q\"\r:\r\n1}", "2", "{\"q\"\r:\r\n2}", NULL);
}

static void what_python_writes_stays(void)
{
    check("{\n  \"a\": [0.0, Infinity],\n  \"q\": NaN,\n  \"b\": -Infinity\n}", "1",
          "{\n  \"a\": [0.0, Infinity],\n  \"q\": 1,\n  \"b\": -Infinity\n}", NULL);
    check("{\"a\": NaN, \"q\": Infinity}", NULL, "{\"a\": NaN}", NULL);
    check("{\"a\": nan}", "1", NULL, "a value is missing");
}

/* NaN, Infinity and -Infinity are numbers where they are allowed, but only in this spelling. */
static void what_python_writes_is_read(void)
{
    static const struct {
        const char *text, *problem; /* NULL: valid */
    } texts[] = {
        {"NaN", NULL},
        {"Infinity", NULL},
        {"-Infinity", NULL},
        {"[NaN,NaN]", NULL},
        {"{\"time_step_limit\": [0.0, Infinity], \"a\":-Infinity}", NULL},
        {"{NaN:1}", "the name of a member is missing"},
        {"nan", "a value is missing"},
        {"inf", "a value is missing"},
        {"-NaN", "a digit is missing"},
        {"Infinit", "a value is missing"},
        {"-Infinit", "a digit is missing"},
        {"+Infinity", "a value is missing"},
        {"Infinityx", "unexpected text after the value"},
        {"NaN1", "unexpected text after the value"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dti_json_reader reader;
        enum dti_json_token token;
        uint64_t number;
        dti_json_reader_init(&reader, texts[i].text, strlen(texts[i].text));
        reader.nonfinite = true;
        while (dti_json_next(&reader, &token) && token != DTI_JSON_END)
            CHECK(token != DTI_JSON_NUMBER || reader.token[0] == '0' ||
                  !dti_json_u64(&reader, &number));
        unit_check_str(reader.problem, texts[i].problem, texts[i].text, __FILE__, __LINE__);
        dti_json_reader_free(&reader);
    }
}

static void a_member_is_removed_with_its_comma(void)
{
    check("{\n  \"a\": 1,\n  \"q\": {\"x\": [1, 2]},\n  \"b\": 2\n}", NULL,
          "{\n  \"a\": 1,\n  \"b\": 2\n}", NULL);
    check("{\n  \"q\": 1,\n  \"b\": 2\n}", NULL, "{\n  \"b\": 2\n}", NULL);
    check("{\n  \"a\": 1,\n  \"q\": 2\n}", NULL, "{\n  \"a\": 1\n}", NULL);
    check("{\"q\": 2}", NULL, "{}", NULL);
    check("{\n  \"a\": {\"q\": 3}\n}", NULL, "{\n  \"a\": {\"q\": 3}\n}", NULL);
}

static void other_texts_are_refused(void)
{
    check("[1]", "2", NULL, "is not an object");
    check("{\"q\": 1, \"a\": 2, \"q\": 3}", "2", NULL, "has the member twice");
    check("{\"q\"", "2", NULL, "a colon is missing");
    check("{\"q\": 1} x", "2", NULL, "unexpected text after the value");
    check("", "2", NULL, "the text ends where a value is expected");
}

UNIT_MAIN(a_new_member_comes_last_and_is_indented_as_the_others, a_member_keeps_its_place,
          what_python_writes_stays, what_python_writes_is_read, a_member_is_removed_with_its_comma,
          other_texts_are_refused)
