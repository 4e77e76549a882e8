/* SPDX-License-Identifier: MIT
 *
 * Policies of check. Any text gives a one-line error with its line, or rules that have patterns. */
#include <string.h>

#include "fuzz.h"
#include "requests/check/check_policy.h"

const char *const dti_fuzz_words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\n",
    "//",
    "/*",
    "*/",
    "{\"rules\":[",
    "{\"files\":\"*\",",
    "\"files\":\"a,b\"",
    "\"$schema\":\"\",",
    "\"rules\":",
    "\"no-nan\":true,",
    "\"no-inf\":false,",
    "\"max-abs\":1e3,",
    "\"bits\":4,",
    "\"bits\":17,",
    "\"fits\":\"bf16\",",
    "\"dtype\":\"bf16,fp32:*\",",
    "\"endian\":\"big\",",
    "\"like\":\"vllm\",",
    "\"only\":\"\\u0000\",",
    "\"no-nans\":1",
    "\"threads\":1",
    "null",
    "-1",
    "]}",
    NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct check_args run = {.only = NULL};
    struct dti_check_policy policy;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status =
        dti_check_policy_parse(&policy, &run, "'x'", (const char *)data, size, &error);
    if (status == DTI_OK) {
        REQUIRE(policy.count > 0 && policy.count <= DTI_POLICY_RULES);
        for (size_t i = 0; i < policy.count; i++)
            REQUIRE(policy.rules[i].files && policy.rules[i].line > 0 &&
                    policy.rules[i].args.file.bits <= 16 && !policy.rules[i].args.policy);
    } else {
        REQUIRE(status == DTI_BAD_INPUT && error.status == status);
        REQUIRE(strncmp(error.text, "'x', line ", 10) == 0);
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    dti_check_policy_free(&policy);
    return 0;
}
