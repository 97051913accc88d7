#define _POSIX_C_SOURCE 200809L
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <stdlib.h>

const char *pimsim_source_path(char *buffer, size_t size, const char *relative)
{
    const char *root = getenv("PIMSIM_SOURCE_DIR");
    (void)snprintf(buffer, size, "%s/%s", root ? root : ".", relative);
    return buffer;
}

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);

/*
 * Check writes the place of every assertion that holds into a file, for the report of a crash; in the long
 * loops of a test that is most of the time. So the first thousand places of a test are written and then every
 * thousandth; the linker's --wrap leads every call here (tests/CMakeLists.txt).
 */
void __wrap__mark_point(const char *file, int line)
{
    static unsigned marks;
    marks++;
    if (marks < 1000 || marks % 1000 == 0)
        __real__mark_point(file, line);
}

int main(void)
{
    (void)setenv("CK_DEFAULT_TIMEOUT", "0", 0); /* a loaded machine fails nothing; ctest ends what hangs */
    SRunner *runner = srunner_create(NULL);
    pimsim_suites(runner);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    if (run == 0) {
        fprintf(stderr, "no check ran: is CK_RUN_SUITE misspelt?\n");
        return EXIT_FAILURE;
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
