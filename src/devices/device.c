/* SPDX-License-Identifier: MIT
 *
 * Parses device names. */
#include "devices/device.h"

#include <string.h>

enum { NUMBER_MAX = 1023 };

static bool parse_number(const char *text, unsigned *ret)
{
    unsigned number = 0;
    if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
        return false;
    for (; *text != '\0'; text++) {
        if ((*text < '0' || *text > '9'))
            return false;
        number = number * 10 + (unsigned)(*text - '0');
        if (number > NUMBER_MAX)
            return false;
    }
    *ret = number;
    return true;
}

enum dti_status dti_device_choice_parse(struct dti_device_choice *ret, const char *text,
                                        struct dti_error *reterr)
{
    static const struct {
        const char *name;
        enum dti_device_kind kind;
    } words[] = {
        {"cpu", DTI_DEVICE_CPU},
        {"cuda", DTI_DEVICE_CUDA},
        {"auto", DTI_DEVICE_AUTO},
        {"all", DTI_DEVICE_ALL},
    };
    struct dti_device_choice choice = {DTI_DEVICE_CPU, 0};
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].name) == 0) {
            choice.kind = words[i].kind;
            text = NULL;
        }
    }
    if (!text) {
        *ret = choice;
        return DTI_OK;
    }
    if (strncmp(text, "cuda:", 5) == 0 && parse_number(text + 5, &choice.number)) {
        choice.kind = DTI_DEVICE_CUDA;
        *ret = choice;
        return DTI_OK;
    }
    char quoted[DTI_QUOTE_SIZE];
    enum dti_status status;
    if (strcmp(text, "mps") == 0)
        status = dti_fail(reterr, DTI_UNAVAILABLE,
                          "device 'mps' is not available: Metal exists on macOS only; use cpu");
    else
        status = dti_fail(reterr, DTI_USAGE, "unknown device %s; use cpu, cuda, cuda:N or auto",
                          dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return status;
}
