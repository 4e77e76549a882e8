/* SPDX-License-Identifier: MIT
 *
 * Shared by the lookup and the parser of dtype names. */
#ifndef CORE_DTYPE_DTYPE_NAMES_H
#define CORE_DTYPE_DTYPE_NAMES_H

#include "dtinfo/dtype.h"

/* The dtype with that canonical name or name in another system, byte order marks and all, but
 * without a library's prefix; DTI_NONE when there is none. */
enum dti_dtype dti_dtype_find(const char *name);

/* "[u]eXmY[fn|fnuz][bBIAS]", "binaryKpP[s|u][e|f]", "intN" and "uintN", in lower case. quoted is
 * the name as it was given, for messages. */
enum dti_parse { DTI_PARSE_OTHER, DTI_PARSE_DONE, DTI_PARSE_FAILED };

#endif
