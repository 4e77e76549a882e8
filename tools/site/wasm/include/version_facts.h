/* SPDX-License-Identifier: MIT
 *
 * What Meson knows of the program, for the page: it links no library and loads none. */
#define DTI_ZLIB_VERSION       "none"
#define DTI_LIBDEFLATE_VERSION "none"
#define DTI_NETTLE_VERSION     "none"
#define DTI_FLAGS              "-Oz"
#define DTI_LOADED
#define DTI_IS_STATIC true
