/* SPDX-License-Identifier: MIT
 *
 * Calls dti_file_ask() or dti_file_convert() once, with words of the command line, for a judge in
 * Python:
 *     requests_probe ask QUESTION PATH... [-- NAME=VALUE...]
 *     requests_probe convert VERB INPUT WHAT OUTPUT [-- NAME=VALUE...]
 * "null" is no text; NAME alone is a setting without a value. Standard output is the document;
 * standard error a line with the status, the remedy, the argument, whether there is a document, and
 * the text. NO_DOCUMENT in the environment asks for none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dtinfo.h>

enum { MOST = 64 };

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

int main(int count, char **words)
{
    struct dti_setting settings[MOST];
    struct dti_context_options options = {.size = sizeof options};
    struct dti_context *context = NULL;
    struct dti_error error;
    char *document = NULL;
    int end = 1;
    memset(&error, 0, sizeof error);
    while (end < count && strcmp(words[end], "--") != 0)
        end++;
    const size_t used = end < count ? read_settings(words + end + 1, count - end - 1, settings) : 0;
    if (end < 3 || dti_context_new(&context, &options, &error) != DTI_OK)
        return 99;
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
