/* SPDX-License-Identifier: MIT
 *
 * --device of a cast: where arrays and files are cast, and what cross-checks values. A value is
 * always cast exactly; a device given by name casts it too and must agree. */
#ifndef REQUESTS_CAST_DEVICE_H
#define REQUESTS_CAST_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/cross_check.h"
#include "convert/runner.h"
#include "files/rewrite/rewrite.h"

struct dti_cast_device {
    struct dti_device_choice choice;
    struct dti_runner *runner;      /* NULL: the CPU */
    char begun[DTI_DEVICE_ID_SIZE]; /* the device at the start of the work; "" before */
    bool asks;                      /* single numbers: the device is a cross-check */
    /* a cross-check: */
    uint64_t numbers, asked;
    const char *why_not; /* why one of them was not checked, or NULL */
    const char *why_cpu; /* why none was checked: --device auto */
    /* arrays and files: */
    size_t plans, plans_there; /* how many plans there are, and how many run on the device */
    const char *why_plans;     /* why one of them does not */
    char reason[768];          /* dti_cast_device_reason() */
};

/* For arrays and files. Fails with DTI_UNAVAILABLE if a device given by name is missing.
 */
enum dti_status dti_cast_device_open(struct dti_cast_device *device, struct dti_error *reterr);
/* For single numbers; with `auto` they are not worth loading a driver. */
enum dti_status dti_cast_device_open_cross_check(struct dti_cast_device *device,
                                                 struct dti_error *reterr);

/* Gives an array's plan to the device; counts the plans of a file that were given to it. */
enum dti_status dti_cast_device_take(struct dti_cast_device *device, struct dti_plan *plan,
                                     struct dti_error *reterr);
void dti_cast_device_plans(struct dti_cast_device *device, const struct dti_rewrite *cast);
/* Number of threads that should supply blocks: `wanted`, unless it is 0 and a device does the
 * work. */
size_t dti_cast_device_threads(const struct dti_cast_device *device, size_t wanted);

/* Checks n numbers, starting with element `index`. */
enum dti_status dti_cast_device_ask(struct dti_cast_device *device,
                                    struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, struct dti_error *reterr);

/* "cuda:0", or "cpu", also after falling back from the device. */
const char *dti_cast_device_name(const struct dti_cast_device *device);
/* Why the CPU did some or all of the work; NULL if there is no reason to report. */
const char *dti_cast_device_reason(struct dti_cast_device *device);

#endif
