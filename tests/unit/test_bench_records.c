/* SPDX-License-Identifier: MIT
 *
 * Reads `bench` documents back and compares two of them. The documents are fixed; nothing is
 * measured. */
#include <math.h>
#include <stdlib.h>

#include "answers/bench/bench_answer.h"
#include "cli/bench/bench_job.h"
#include "cli/shell/standard.h"
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

static enum dti_status read_as(struct dti_bench_records *ret, const char *text,
                               const struct dti_document *schema, const char *benchmark)
{
    *ret = (struct dti_bench_records){.count = 0};
    return dti_bench_records_read(ret, text, strlen(text), schema, benchmark, "'f'", &error);
}

static enum dti_status read_casts(struct dti_bench_records *ret, const char *text)
{
    return read_as(ret, text, &dti_schema_bench, "cast");
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void subjects_alone_become_records(void)
{
    struct dti_bench_records records;
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
    struct dti_bench_records records;
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
    struct dti_bench_records records;
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
    struct dti_bench_records records;
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
    CHECK(read_as(&records, text, &dti_schema_bench_table, "matmul") == DTI_OK);
    CHECK_SIZE(records.count, 3);
    CHECK_STR(records.rows[0].label,
              "matmul bf16, 1x2048x1024, cuda:1, 1 thread, with allocation, onednn");
    CHECK_STR(records.rows[1].label,
              "matmul copy, 64 bytes, 1 thread, with allocation, string move");
    CHECK_STR(records.rows[2].label,
              "matmul first touch, 3 elements, 4 threads near, with allocation, "
              "4 KiB pages");
    dti_bench_records_free(&records);
}

static void a_document_of_another_kind_is_refused(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"schema\":\"dtinfo.finfo/1\"}",
         "'f': expected the schema dtinfo.bench/1, got 'dtinfo.finfo/1'"},
        {"[]", "'f': expected the schema dtinfo.bench/1, got none"},
        {"{\"schema\":7}", "'f': expected the schema dtinfo.bench/1, got none"},
        {"{\"schema\":\"dtinfo.bench/1\",\"benchmark\":\"x\\u001b\"}",
         "'f': expected the benchmark cast, got 'x\\x1b'"},
        {"", "'f' is not a JSON document: byte 0: the text ends where a value is expected"},
        {"{\"schema\"", NULL},
        {"{}x", NULL},
        {HEAD "\"results\":[]}\n{\"schema\n", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dti_bench_records records;
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
        struct dti_bench_records records;
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

/* An interval is invalid if it does not contain the median. */
static void an_interval_must_hold_its_median(void)
{
    struct dti_bench_records records;
    CHECK(read_casts(&records, HEAD "\"results\":[" RESULT(CAST("1", "1.5", "2")) "]}") == DTI_OK);
    CHECK(records.count == 1 && !records.rows[0].time.has_interval);
    dti_bench_records_free(&records);
}

static void long_texts_and_paths_are_cut(void)
{
    enum { SIZE = 4096 };
    struct dti_bench_records records;
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

/* Paths that end before, at and after the end of their fixed-size buffer. */
static void paths_of_any_length_are_passed_over(void)
{
    for (size_t length = 40; length < 80; length++) {
        struct dti_bench_records records;
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
    struct dti_bench_records records;
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
    struct dti_bench_comparison tenth = {.gate = true, .allowed = 0.1},
                                fifth = {.gate = true, .allowed = 0.2}, none = {.gate = true},
                                open = {.allowed = 0.1};
    struct dti_bench_figure ratio = figure(1.2, 1.02, 1.4);
    CHECK(dti_bench_is_regression(&tenth, &ratio));
    CHECK(!dti_bench_is_regression(&fifth, &ratio));
    CHECK(!dti_bench_is_regression(&open, &ratio));
    ratio.low = 1.005; /* not certainly slower */
    CHECK(!dti_bench_is_regression(&tenth, &ratio));
    ratio = figure(1.2, 0, 0);
    CHECK(!dti_bench_is_regression(&tenth, &ratio));
    ratio = figure(0.5, 0.4, 0.6);
    CHECK(!dti_bench_is_regression(&none, &ratio));
}

/* A run that is written as a document and read back gives the same records as its structs. */
static void documents_and_structs_agree(void)
{
    double seconds[2 * 7];
    enum dti_bench_place places[7] = {DTI_BENCH_ALONE};
    uint64_t passes[2] = {1, 1}, discarded[2] = {0, 0};
    double round_trips[7] = {0};
    static struct dti_bench_table table;
    table.bench = (struct dti_bench){.candidates = 2,
                                     .rounds = 7,
                                     .seconds = seconds,
                                     .places = places,
                                     .passes = passes,
                                     .discarded = discarded,
                                     .round_trips = round_trips};
    for (size_t i = 0; i < 14; i++)
        seconds[i] = 1e-5 / 3 * (double)(100 + i);
    for (size_t i = 0; i < 7; i++)
        places[i] = DTI_BENCH_ALONE;
    CHECK(dti_bench_add_item(&table, "matmul", "cuda:1") &&
          dti_bench_add_item(&table, "peak", "cuda:1"));
    table.items[1].limit = true;
    (void)snprintf(table.items[0].dtype, sizeof table.items[0].dtype, "bf16");
    (void)snprintf(table.items[0].engine, sizeof table.items[0].engine, "onednn 2.6.3");
    const struct dti_bench_setup setup = {
        .kind = &dti_bench_kind_matmul, .cache = "cold", .with_alloc = true, .cpus = 1};
    const struct dti_bench_request request = {.m = 1, .n = 2048, .k = 1024};
    const struct dti_bench_result result = {.setup = &setup,
                                            .request = &request,
                                            .device = "cuda:1",
                                            .threads = 3,
                                            .table = &table,
                                            .place = DTI_BENCH_ALONE};
    struct dti_bench_records direct = {.count = 0}, read;
    CHECK(dti_bench_records_add(&direct, &result, &error) == DTI_OK);

    char *text = NULL;
    size_t length = 0;
    FILE *const file = open_memstream(&text, &length);
    struct dti_json *const json = dti_json_new();
    if (!CHECK(file && json))
        return;
    dti_bench_begin(json, &setup);
    dti_bench_put(json, &result);
    dti_bench_end(json, &setup, NULL);
    const struct dti_sink sink = dti_sink_to_file(file);
    CHECK(dti_json_write(json, &sink, &error) == DTI_OK && fclose(file) == 0);
    CHECK(read_as(&read, text, &dti_schema_bench_table, "matmul") == DTI_OK);
    dti_json_free(json);
    free(text);

    CHECK_SIZE(direct.count, 1);
    CHECK_SIZE(read.count, 1);
    CHECK_STR(direct.rows[0].label,
              "matmul bf16, 1x2048x1024, cuda:1, 3 threads, cold, with allocation, onednn");
    CHECK_STR(read.rows[0].label, direct.rows[0].label);
    const struct dti_bench_figure *const a = &direct.rows[0].time, *const b = &read.rows[0].time;
    CHECK(a->median == b->median && a->low == b->low && a->high == b->high);
    CHECK(a->has_interval && b->has_interval);
    dti_bench_records_free(&direct);
    dti_bench_records_free(&read);
}

/* Limits of the tree that the JSON recogniser does not have. */
static void trees_have_limits(void)
{
    struct dti_bench_records records;
    char digits[128] = "[";
    memset(digits + 1, '1', 61);
    digits[62] = ']';
    CHECK(read_casts(&records, digits) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'f' is not a JSON document: byte 62: a number is too long");
    const size_t values = ((size_t)1 << 22) + 8;
    char *const text = malloc(2 * values + 2);
    if (!CHECK(text))
        return;
    for (size_t i = 0; i < values; i++)
        memcpy(text + 2 * i, i == 0 ? "[1" : ",1", 2);
    memcpy(text + 2 * values, "]", 2);
    CHECK(read_casts(&records, text) == DTI_BAD_INPUT);
    CHECK(strstr(error.text, "there are too many values"));
    free(text);
}

static void records_match_by_label(void)
{
    struct dti_bench_record then_rows[3] = {{.label = "a"}, {.label = "b"}, {.label = "c"}};
    struct dti_bench_record now_rows[3] = {{.label = "c"}, {.label = "x"}, {.label = "a"}};
    struct dti_bench_records then = {.rows = then_rows, .count = 3},
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
          too_many_results_are_refused, trees_have_limits, documents_and_structs_agree,
          ratio_has_the_interval_of_both, regression_is_sure_and_large, records_match_by_label,
          percentages_are_read_exactly)
