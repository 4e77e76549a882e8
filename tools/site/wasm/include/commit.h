/* SPDX-License-Identifier: MIT
 *
 * The page names no commit: its site is built from a tree that git may not know. */
#define DTI_COMMIT ""
