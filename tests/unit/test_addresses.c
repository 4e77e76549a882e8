/* SPDX-License-Identifier: MIT
 *
 * Address queries as typed on the command line. */
#include <string.h>

#include "cli/shell/addresses.h"
#include "io/net/names.h"
#include "io/net/remote.h"
#include "unit.h"

static void queries_are_kept_apart(void)
{
    char first[] = "--input=https://h/a?sig=1", again[] = "https://h/a?sig=1",
         other[] = "-ihttps://h/a?sig=2", login[] = "https://me:secret@h/a", word[] = "what?",
         file[] = "hf://o/m/a?b",
         sum[] = "sum(@\"https://h/b?sig=3&x='(\":w) + @'https://h/a?sig=1':v * @'https://h/c'",
         login_inside[] = "1 + @'https://me:secret@h/a'", at[] = "@\"https://h\":w + @x/y",
         open[] = "@\"https://h/d?sig=4";
    struct dti_error error;
    CHECK(dti_addresses_take_query(first, &error) == DTI_OK);
    CHECK_STR(first, "--input=https://h/a");
    CHECK(dti_addresses_take_query(again, &error) == DTI_OK);
    CHECK_STR(again, "https://h/a");
    CHECK_STR(dti_remote_whole(again), "https://h/a?sig=1");
    CHECK(dti_addresses_take_query(other, &error) == DTI_USAGE);
    CHECK(!strstr(error.text, "sig"));
    CHECK(dti_addresses_take_query(login, &error) == DTI_USAGE);
    CHECK(!strstr(error.text, "secret"));
    CHECK(dti_addresses_take_query(word, &error) == DTI_OK);
    CHECK_STR(word, "what?");
    CHECK(dti_addresses_take_query(file, &error) == DTI_OK);
    CHECK_STR(file, "hf://o/m/a?b");
    CHECK(dti_addresses_take_query(sum, &error) == DTI_OK);
    CHECK_STR(sum, "sum(@\"https://h/b\":w) + @'https://h/a':v * @'https://h/c'");
    CHECK_STR(dti_remote_whole("https://h/b"), "https://h/b?sig=3&x='(");
    CHECK(dti_addresses_take_query(login_inside, &error) == DTI_USAGE);
    CHECK(!strstr(error.text, "secret"));
    CHECK(dti_addresses_take_query(at, &error) == DTI_OK);
    CHECK(dti_addresses_take_query(open, &error) == DTI_OK);
    CHECK_STR(open, "@\"https://h/d");
    CHECK(dti_is_address("hf://x") && !dti_is_address("https:") && !dti_is_address("x://y"));
}

UNIT_MAIN(queries_are_kept_apart)
