/* SPDX-License-Identifier: MIT
 *
 * A public description of a cast of arrays as a request. */
#ifndef LIBRARY_CAST_REQUEST_H
#define LIBRARY_CAST_REQUEST_H

#include "convert/plan.h"
#include "library/cast_spec.h"

/* Checks and translates: everything that can be wrong about a spec is found here. What has no
 * effect is left out (packing of what does not pack, a seed without stochastic rounding), so that
 * equal casts have equal requests. *ret_parts: elements of the request in each of the caller's, 2
 * if both formats are complex. Fails with DTI_USAGE, DTI_WRONG_KIND, DTI_UNKNOWN_OPTION. */
enum dti_status dti_cast_request_take(const struct dti_cast_spec *given, struct dti_request *ret,
                                      unsigned *ret_parts, struct dti_error *reterr);

/* Whether two requests are one cast. */
bool dti_request_equal(const struct dti_request *a, const struct dti_request *b);
/* Equal for equal requests; casts that differ in the seed alone have one, too. */
uint32_t dti_request_hash(const struct dti_request *request);

#endif
