/* SPDX-License-Identifier: MIT
 *
 * Documents of `bench` read back, and two of them compared: fixed documents, no measurement. */
#include <math.h>
#include <stdlib.h>

#include "cli/bench/bench_comparison.h"
#include "unit.h"

#define HEAD "{\"schema\":\"dtinfo.bench/1\",\"benchmark\":\"cast\","
#define OPTIONS                                                                                   \
    "\"options\":{\"data\":\"normal\",\"cache\":\"hot\",\"round\":\"nearest-even\",\"overflow\":" \
    "\"native\"},"
#define RESULT(candidates)                                                                   \
    "{\"src\":\"fp32\",\"dst\":\"bf16\",\"elements\":1024,\"src_bytes\":4096,\"threads\":1," \
    "\"device\":\"cpu\",\"place\":\"alone\",\"candidates\":[" candidates "]}"
#define CAST(median, low, high)                                                                   \
    "{\"role\":\"cast\",\"loss_report\":false,\"median_seconds\":" median ",\"low_seconds\":" low \
    ",\"high_seconds\":" high "}"
#define COPY     "{\"role\":\"copy\",\"loss_report\":false,\"median_seconds\":1e-9}"
#define CAST_TXT "cast fp32 -> bf16, 4096 bytes, 1 thread"

static struct dti_error error;

static enum dti_status read_as(struct bench_records *ret, const char *text, const char *schema,
                               const char *benchmark)
{
    *ret = (struct bench_records){.count = 0};
    return dti_bench_records_read(ret, text, strlen(text), schema, benchmark, "'f'", &error);
}

static enum dti_status read_casts(struct bench_records *ret, const char *text)
{
    return read_as(ret, text, "dtinfo.bench/1", "cast");
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void subjects_alone_become_records(void)
{
    struct bench_records records;
    const char *const text =
        HEAD OPTIONS "\"host\":{\"model\":\"CPU 1\",\"level\":\"avx2\"},"
                     "\"results\":[" RESULT(CAST("0.5", "0.25", "0.75") "," COPY) "]}\n";
    CHECK(read_casts(&records, text) == DTI_OK);
    CHECK_SIZE(records.count, 1);
    CHECK_STR(records.rows[0].label, CAST_TXT);
    CHECK_STR(records.model, "CPU 1");
    CHECK_STR(records.level, "avx2");
    CHECK(near(records.rows[0].time.median, 0.5) && records.rows[0].time.has_interval);
    CHECK(near(records.rows[0].time.low, 0.25) && near(records.rows[0].time.high, 0.75));
    dti_bench_records_free(&records);
}

static void members_may_come_in_any_order(void)
{
    struct bench_records records;
    const char *const text = "{\"results\":[{\"candidates\":[" CAST(
        "0.5", "null",
        "null") "],\"threads\":2,"
                "\"src_bytes\":64,\"place\":\"far\",\"dst\":\"e4m3\",\"src\":\"fp64\",\"extra\":{"
                "\"src\":1,"
                "\"role\":[\"x\"]}}],\"options\":{\"cache\":\"cold\",\"data\":\"bits\","
                "\"overflow\":\"saturate\","
                "\"round\":\"up\"},\"benchmark\":\"cast\",\"schema\":\"dtinfo.bench/1\"}";
    CHECK(read_casts(&records, text) == DTI_OK);
    CHECK_SIZE(records.count, 1);
    CHECK_STR(records.rows[0].label,
              "cast fp64 -> e4m3, 64 bytes, 2 threads far, cold, bits, up, saturate");
    CHECK(!records.rows[0].time.has_interval);
    dti_bench_records_free(&records);
}

static void each_line_may_be_a_document(void)
{
    struct bench_records records;
    const char *const text = HEAD OPTIONS
        "\"results\":[" RESULT(CAST("1", "1", "1")) "]}\n\n" HEAD "\"results\":[" RESULT(
            CAST("2", "2", "2") "," CAST("3", "3", "3")) "]}\n";
    CHECK(read_casts(&records, text) == DTI_OK);
    CHECK_SIZE(records.count, 3);
    CHECK_STR(records.rows[0].label, CAST_TXT);
    CHECK_STR(records.rows[1].label, CAST_TXT " #2");
    CHECK_STR(records.rows[2].label, CAST_TXT " #3");
    dti_bench_records_free(&records);
}

static void tables_are_told_by_dtype_engine_and_size(void)
{
    struct bench_records records;
    const char *const text =
        "{\"schema\":\"dtinfo.bench_table/"
        "1\",\"benchmark\":\"matmul\",\"options\":{\"cache\":\"hot\","
        "\"with_alloc\":true},\"results\":[{\"device\":\"cuda:1\",\"m\":1,\"n\":2048,\"k\":1024,"
        "\"elements\":null,\"threads\":1,\"place\":\"alone\",\"candidates\":["
        "{\"role\":\"matmul\",\"limit\":false,\"dtype\":\"bf16\",\"engine\":\"onednn 2.6.3\","
        "\"median_seconds\":1e-3},"
        "{\"role\":\"peak\",\"limit\":true,\"dtype\":\"bf16\",\"median_seconds\":1e-3}]},"
        "{\"size_bytes\":64,\"threads\":1,\"candidates\":[{\"role\":\"copy\",\"limit\":false,"
        "\"engine\":\"string move\",\"median_seconds\":1}]},"
        "{\"elements\":3,\"threads\":4,\"place\":\"near\",\"candidates\":[{\"role\":\"first "
        "touch\","
        "\"limit\":false,\"engine\":\"4 KiB pages\",\"median_seconds\":1}]}]}";
    CHECK(read_as(&records, text, "dtinfo.bench_table/1", "matmul") == DTI_OK);
    CHECK_SIZE(records.count, 3);
    CHECK_STR(records.rows[0].label,
              "matmul bf16, 1x2048x1024, cuda:1, 1 thread, with memory, onednn");
    CHECK_STR(records.rows[1].label, "matmul copy, 64 bytes, 1 thread, with memory, string move");
    CHECK_STR(records.rows[2].label, "matmul first touch, 3 elements, 4 threads near, with memory, "
                                     "4 KiB pages");
    dti_bench_records_free(&records);
}

static void a_document_of_another_kind_is_refused(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"schema\":\"dtinfo.finfo/1\"}",
         "'f': its schema is 'dtinfo.finfo/1'; wanted is dtinfo.bench/1"},
        {"[]", "'f': its schema is not told; wanted is dtinfo.bench/1"},
        {"{\"schema\":7}", "'f': its schema is not told; wanted is dtinfo.bench/1"},
        {"{\"schema\":\"dtinfo.bench/1\",\"benchmark\":\"x\\u001b\"}",
         "'f': its benchmark is 'x\\x1b'; wanted is cast"},
        {"", "'f' is not a JSON document: byte 0: the text ends where a value is missing"},
        {"{\"schema\"", NULL},
        {"{}x", NULL},
        {HEAD "\"results\":[]}\n{\"schema\n", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench_records records;
        CHECK(read_casts(&records, rows[i].text) == DTI_BAD_INPUT);
        if (rows[i].message)
            CHECK_STR(error.text, rows[i].message);
        dti_bench_records_free(&records);
    }
}

static void what_is_no_time_is_left_out(void)
{
    static const char *const medians[] = {"0",      "-1",    "null", "1e400",
                                          "1e-400", "\"1\"", "[1]",  "1e10"};
    for (size_t i = 0; i < sizeof medians / sizeof *medians; i++) {
        struct bench_records records;
        char text[512];
        (void)snprintf(text, sizeof text,
                       HEAD "\"results\":[{\"candidates\":[{\"role\":\"cast\","
                            "\"median_seconds\":%s}]}]}",
                       medians[i]);
        CHECK(read_casts(&records, text) == DTI_OK);
        CHECK_SIZE(records.count, 0);
        dti_bench_records_free(&records);
    }
}

/* An interval that does not hold the median is none. */
static void an_interval_must_hold_its_median(void)
{
    struct bench_records records;
    CHECK(read_casts(&records, HEAD "\"results\":[" RESULT(CAST("1", "1.5", "2")) "]}") == DTI_OK);
    CHECK(records.count == 1 && !records.rows[0].time.has_interval);
    dti_bench_records_free(&records);
}

static void long_texts_and_paths_are_cut(void)
{
    enum { SIZE = 4096 };
    struct bench_records records;
    char *const text = malloc(SIZE + 256);
    char word[SIZE / 2];
    if (!CHECK(text))
        return;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    (void)snprintf(text, SIZE + 256,
                   HEAD "\"%s\":{\"%s\":1},\"results\":[{\"src\":\"%.900s\",\"dst\":\"b\","
                        "\"candidates\":[{\"role\":\"cast\",\"median_seconds\":1}]}]}",
                   "k", word, word);
    CHECK(read_casts(&records, text) == DTI_OK);
    CHECK(records.count == 1 && strlen(records.rows[0].label) < 128);
    dti_bench_records_free(&records);
    free(text);
}

/* A path that grows to the very end of what is kept of it. */
static void paths_of_any_length_are_passed_over(void)
{
    for (size_t length = 40; length < 80; length++) {
        struct bench_records records;
        char text[512], key[96];
        memset(key, 'k', length);
        key[length] = '\0';
        (void)snprintf(text, sizeof text, HEAD "\"%s\":{\"k\":{\"\":[{\"a\":1}]}},\"results\":[]}",
                       key);
        CHECK(read_casts(&records, text) == DTI_OK);
        CHECK_SIZE(records.count, 0);
        dti_bench_records_free(&records);
    }
}

static void too_many_results_are_refused(void)
{
    struct bench_records records;
    static const char one[] = "{},";
    const size_t size = 9000 * (sizeof one - 1) + 128;
    char *const text = malloc(size);
    if (!CHECK(text))
        return;
    size_t length = (size_t)snprintf(text, size, HEAD "\"results\":[");
    for (int i = 0; i < 8999; i++, length += sizeof one - 1)
        memcpy(text + length, one, sizeof one);
    (void)snprintf(text + length, size - length, "{}]}");
    CHECK(read_casts(&records, text) == DTI_BAD_INPUT);
    CHECK(strstr(error.text, "too many results"));
    dti_bench_records_free(&records);
    free(text);
}

static struct dti_bench_figure figure(double median, double low, double high)
{
    return (struct dti_bench_figure){
        .samples = 11, .median = median, .low = low, .high = high, .has_interval = low > 0};
}

static void ratio_has_the_interval_of_both(void)
{
    struct dti_bench_figure ratio;
    const struct dti_bench_figure then = figure(2, 1, 4), now = figure(3, 2, 5);
    dti_bench_compare_times(&ratio, &then, &now);
    CHECK(near(ratio.median, 1.5));
    CHECK(near(ratio.low, 0.5) && near(ratio.high, 5) && ratio.has_interval);
    const struct dti_bench_figure unsure = figure(2, 0, 0);
    dti_bench_compare_times(&ratio, &unsure, &now);
    CHECK(!ratio.has_interval && dti_bench_judge(&ratio) == DTI_BENCH_CANNOT_TELL);
}

static void regression_is_sure_and_large(void)
{
    struct dti_bench_figure ratio = figure(1.2, 1.02, 1.4);
    CHECK(dti_bench_is_regression(&ratio, 0.1));
    CHECK(!dti_bench_is_regression(&ratio, 0.2));
    ratio.low = 1.005; /* not surely slower */
    CHECK(!dti_bench_is_regression(&ratio, 0.1));
    ratio = figure(1.2, 0, 0);
    CHECK(!dti_bench_is_regression(&ratio, 0.1));
    ratio = figure(0.5, 0.4, 0.6);
    CHECK(!dti_bench_is_regression(&ratio, 0));
}

static void records_match_by_label(void)
{
    struct bench_record then_rows[3] = {{.label = "a"}, {.label = "b"}, {.label = "c"}};
    struct bench_record now_rows[3] = {{.label = "c"}, {.label = "x"}, {.label = "a"}};
    struct bench_records then = {.rows = then_rows, .count = 3},
                         now = {.rows = now_rows, .count = 3};
    CHECK_SIZE(dti_bench_match(&then, &now), 2);
    CHECK_SIZE(now_rows[0].partner, 2);
    CHECK(now_rows[1].partner == SIZE_MAX);
    CHECK_SIZE(now_rows[2].partner, 0);
    CHECK(then_rows[1].partner == SIZE_MAX);
    CHECK_SIZE(then_rows[2].partner, 0);
}

static void percentages_are_read_exactly(void)
{
    static const struct {
        const char *text;
        double share;
    } good[] = {{"10%", 0.1}, {"2.5%", 0.025}, {"0%", 0}, {"10000%", 100}, {"0.125%", 0.00125}};
    static const char *const bad[] = {"",        "10",     "%",   "-1%",  "10 %",
                                      "1.2345%", "10001%", "1.%", "1e1%", "99999999999999999999%",
                                      "10%%"};
    double share;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(dti_bench_parse_regression(good[i].text, &share, &error) == DTI_OK);
        CHECK(share == good[i].share);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(dti_bench_parse_regression(bad[i], &share, &error) == DTI_USAGE);
}

UNIT_MAIN(subjects_alone_become_records, members_may_come_in_any_order, each_line_may_be_a_document,
          tables_are_told_by_dtype_engine_and_size, a_document_of_another_kind_is_refused,
          what_is_no_time_is_left_out, an_interval_must_hold_its_median,
          long_texts_and_paths_are_cut, paths_of_any_length_are_passed_over,
          too_many_results_are_refused, ratio_has_the_interval_of_both,
          regression_is_sure_and_large, records_match_by_label, percentages_are_read_exactly)
