/* SPDX-License-Identifier: MIT
 *
 * Shared by the lookup and the parser of dtype names. */
#ifndef CORE_DTYPE_DTYPE_NAMES_H
#define CORE_DTYPE_DTYPE_NAMES_H

#include "core/dtype/dtype.h"

/* Finds a dtype by its canonical name or its name in another system, including byte order marks,
 * but without a library prefix; DTI_NONE if there is none. */
enum dti_dtype dti_dtype_find(const char *name);

/* Parses "[u]eXmY[fn|fnuz][bBIAS]", "binaryKpP[s|u][e|f]", "intN" and "uintN", in lower case.
 * quoted: the original name, for messages. */
enum dti_parse { DTI_PARSE_OTHER, DTI_PARSE_DONE, DTI_PARSE_FAILED };

#endif
