/* SPDX-License-Identifier: MIT
 *
 * How this program was built: facts that Meson knows. */
#include "answers/common.h"

#include "commit.h"
#include "version_facts.h"

#if defined __clang__
#define COMPILER "clang " __clang_version__
#elif defined __GNUC__
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const struct dti_linked_library dti_linked_libraries[DTI_LINKED_LIBRARIES] = {
    {"zlib", DTI_ZLIB_VERSION},
    {"libdeflate", DTI_LIBDEFLATE_VERSION},
    {"nettle", DTI_NETTLE_VERSION},
};

void dti_version_fill(struct dti_version_answer *ret)
{
    static const char *const loaded[] = {DTI_LOADED NULL};
    *ret = (struct dti_version_answer){
        .commit = DTI_COMMIT[0] != '\0' ? DTI_COMMIT : NULL,
        .compiler = COMPILER,
        .flags = DTI_FLAGS,
        .is_static = DTI_IS_STATIC,
        .loaded = loaded,
        .loaded_count = sizeof loaded / sizeof *loaded - 1,
    };
    for (size_t i = 0; i < DTI_LEVEL_COUNT; i++) {
        if (dti_level_is_built((enum dti_level)i))
            ret->levels[ret->level_count++] = (enum dti_level)i;
    }
}
