/* SPDX-License-Identifier: MIT
 *
 * cJSON, which keeps documents as trees. */
#include <cjson/cJSON.h>

#include "dtinfo/json.h"

const char *dti_json_library_version(void)
{
    return cJSON_Version();
}
