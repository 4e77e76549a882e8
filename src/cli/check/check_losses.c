/* SPDX-License-Identifier: MIT
 *
 * The assertions on what a cast would lose: one for each bound and each dtype of --as. */
#include <string.h>

#include "cli/check/check_job.h"
#include "dtinfo/number.h"

enum dti_status dti_check_too_many(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "more than %d assertions; use two commands",
                    (int)DTI_CHECK_ASSERTIONS);
}

/* The fp64 next to a number. */
static enum dti_status read_bound(const char *option, const char *text, const char *takes,
                                  double most, bool negative, double *ret, struct dti_error *reterr)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    double bound = 0;
    const enum dti_status status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status == DTI_NO_MEMORY)
        return status;
    if (status == DTI_OK) {
        dti_encode(dti_format_get(DTI_FP64), &value, &nearest, 0, &outcome);
        memcpy(&bound, &outcome.code, sizeof bound);
    }
    if (status != DTI_OK || value.class == DTI_CLASS_NAN || bound > most ||
        (bound < 0 && !negative))
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text), "--%s takes %s; got %s", option,
                             takes, DTI_QUOTED(text, strlen(text)));
    *ret = bound;
    return DTI_OK;
}

enum dti_status dti_check_losses_read(struct dti_check_request *request,
                                      const struct check_loss_args *args, struct dti_error *reterr)
{
    const struct {
        enum dti_check_kind kind;
        const char *text, *takes;
        double most;
        bool negative;
    } bounds[] = {
        {DTI_CHECK_MAX_TO_ZERO, args->max_to_zero, "a share from 0 to 1, as in 0.01", 1, false},
        {DTI_CHECK_MAX_ERROR, args->max_error, "a nonnegative number", HUGE_VAL, false},
        {DTI_CHECK_MIN_SQNR, args->min_sqnr, "a number of dB, as in 20", HUGE_VAL, true},
    };
    const struct dti_reading *const reading = &request->reading;
    bool any = false;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const char *const name = dti_check_name(bounds[i].kind);
        double bound = 0;
        if (!bounds[i].text)
            continue;
        any = true;
        if (!args->as)
            return dti_fail(reterr, DTI_USAGE,
                            "--%s is about a cast; give the target dtype with --as DTYPE", name);
        const enum dti_status status =
            read_bound(name, bounds[i].text, bounds[i].takes, bounds[i].most, bounds[i].negative,
                       &bound, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t as = 0; as < reading->as_count; as++) {
            if (request->assertion_count == DTI_CHECK_ASSERTIONS)
                return dti_check_too_many(reterr);
            request->assertions[request->assertion_count++] =
                (struct dti_check_assertion){.kind = bounds[i].kind,
                                             .argument = bounds[i].text,
                                             .format = reading->as[as],
                                             .as = as,
                                             .bound = bound};
        }
    }
    if (args->as && !any)
        return dti_fail(reterr, DTI_USAGE,
                        "--as is for --max-to-zero, --max-error and --min-sqnr; give one of them");
    return DTI_OK;
}
