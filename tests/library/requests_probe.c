/* SPDX-License-Identifier: MIT
 *
 * Calls dti_file_ask() or dti_file_convert() once, with words of the command line, for a judge in
 * Python:
 *     requests_probe ask QUESTION PATH... [-- NAME=VALUE...]
 *     requests_probe convert VERB INPUT WHAT OUTPUT [-- NAME=VALUE...]
 *     requests_probe threads INPUT FOLDER     converts and asks in several threads, of one context
 *     requests_probe nulls INPUT              NULL for whatever may be NULL, and for some that may
 * not "null" is no text; NAME alone is a setting without a value. Standard output is the document;
 * standard error a line with the status, the remedy, the argument, whether there is a document, and
 * the text. NO_DOCUMENT in the environment asks for none, THREADS
 * limits those of the context, DEVICE is its device. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dtinfo.h>

enum { MOST = 64, THREADS = 4, TIMES = 5 };

static const char *text_of(const char *word)
{
    return strcmp(word, "null") == 0 ? NULL : word;
}

static size_t read_settings(char **words, int count, struct dti_setting settings[MOST])
{
    size_t used = 0;
    for (int i = 0; i < count && used < MOST; i++) {
        char *const sign = strchr(words[i], '=');
        if (sign)
            *sign = '\0';
        settings[used].name = words[i];
        settings[used++].value = sign ? sign + 1 : "";
    }
    return used;
}

struct work {
    struct dti_context *context;
    const char *input, *folder;
    int number;
    bool good;
};

static void *work(void *argument)
{
    struct work *const own = argument;
    const struct dti_setting settings[] = {{"force", ""}, {"keep", "*norm*"}},
                             digest = {"fits", "fp16"};
    char output[512];
    (void)snprintf(output, sizeof output, "%s/%d.safetensors", own->folder, own->number);
    own->good = true;
    for (int i = 0; i < TIMES && own->good; i++) {
        char *document = NULL, *answer = NULL;
        const char *const path = output;
        own->good =
            dti_file_convert(own->context, "cast", own->input, "bf16", output, settings, 2,
                             &document, NULL) == DTI_OK &&
            dti_file_ask(own->context, "check", &path, 1, &digest, 1, &answer, NULL) == DTI_OK &&
            strstr(document, "dtinfo.cast_file/1") && strstr(answer, "dtinfo.check/1");
        dti_text_free(own->context, document);
        dti_text_free(own->context, answer);
    }
    return NULL;
}

/* One thread for each file; the exit code says whether all calls were good. */
static int run_threads(struct dti_context *context, const char *input, const char *folder)
{
    pthread_t threads[THREADS];
    struct work works[THREADS];
    int bad = 0;
    for (int i = 0; i < THREADS; i++) {
        works[i] = (struct work){.context = context, .input = input, .folder = folder, .number = i};
        if (pthread_create(&threads[i], NULL, work, &works[i]) != 0)
            return 98;
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        bad += !works[i].good;
    }
    return bad;
}

static int run_nulls(struct dti_context *context, const char *input)
{
    const struct dti_setting nameless = {NULL, "x"}, valueless = {"only", NULL};
    const struct dti_setting flag = {"no-nan", NULL}, dry = {"dry-run", NULL};
    const char *const none = NULL;
    int bad = 0;
    bad += dti_file_ask(context, "check", &input, 1, NULL, 0, NULL, NULL) != DTI_OK;
    bad += dti_file_ask(context, "check", &input, 1, &flag, 1, NULL, NULL) != DTI_OK;
    bad += dti_file_ask(context, "check", &input, 1, &nameless, 1, NULL, NULL) != DTI_USAGE;
    bad += dti_file_ask(context, "check", &input, 1, &valueless, 1, NULL, NULL) != DTI_USAGE;
    bad += dti_file_ask(context, "check", &none, 1, NULL, 0, NULL, NULL) != DTI_USAGE;
    bad += dti_file_ask(context, "check", NULL, 0, NULL, 0, NULL, NULL) != DTI_USAGE;
    bad += dti_file_ask(context, NULL, &input, 1, NULL, 0, NULL, NULL) != DTI_UNKNOWN_OPTION;
    bad += dti_file_convert(context, "cast", input, "bf16", NULL, &dry, 1, NULL, NULL) != DTI_OK;
    bad +=
        dti_file_convert(context, "cast", NULL, "bf16", "x.npy", NULL, 0, NULL, NULL) != DTI_USAGE;
    bad +=
        dti_file_convert(context, "quant", input, NULL, "x.npy", NULL, 0, NULL, NULL) != DTI_USAGE;
    bad += dti_file_convert(context, NULL, input, "bf16", "x.npy", NULL, 0, NULL, NULL) !=
           DTI_UNKNOWN_OPTION;
    return bad;
}

int main(int count, char **words)
{
    struct dti_setting settings[MOST];
    struct dti_context_options options = {.size = sizeof options};
    struct dti_context *context = NULL;
    struct dti_error error;
    char *document = NULL;
    int end = 1;
    memset(&error, 0, sizeof error);
    options.device = getenv("DEVICE");
    options.threads = getenv("THREADS") ? (size_t)(getenv("THREADS")[0] - '0') : 0;
    while (end < count && strcmp(words[end], "--") != 0)
        end++;
    const size_t used = end < count ? read_settings(words + end + 1, count - end - 1, settings) : 0;
    if (end < 3 || dti_context_new(&context, &options, &error) != DTI_OK)
        return 99;
    if (strcmp(words[1], "threads") == 0 || strcmp(words[1], "nulls") == 0) {
        const int bad = words[1][0] == 'n' ? run_nulls(context, words[2])
                        : end == 4         ? run_threads(context, words[2], words[3])
                                           : 97;
        dti_context_free(context);
        return bad;
    }
    enum dti_status status = DTI_BUG;
    if (strcmp(words[1], "ask") == 0)
        status = dti_file_ask(context, words[2], (const char *const *)(words + 3), (size_t)end - 3,
                              settings, used, &document, &error);
    else if (end == 6)
        status = dti_file_convert(context, words[2], text_of(words[3]), text_of(words[4]),
                                  text_of(words[5]), settings, used,
                                  getenv("NO_DOCUMENT") ? NULL : &document, &error);
    if (document)
        (void)fputs(document, stdout);
    const bool failed = status != DTI_OK;
    (void)fprintf(stderr, "%s\t%s\t%s\t%s\t%s\n", dti_status_code(status),
                  failed ? dti_remedy_word(error.remedy) : "none", failed ? error.argument : "",
                  document ? "document" : "none", failed ? error.text : "");
    dti_text_free(context, document);
    dti_context_free(context);
    return 0;
}
