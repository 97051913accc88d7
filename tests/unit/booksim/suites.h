#ifndef PIMSIM_TESTS_UNIT_BOOKSIM_SUITES_H
#define PIMSIM_TESTS_UNIT_BOOKSIM_SUITES_H

#include "tests/unit/test_main.h"

Suite *text_suite(void);  /* files of BookSim 2: what is read, and what is refused */
Suite *lists_suite(void); /* packet lists measured on BookSim 2, with their configurations as it read them */
Suite *requests_suite(void); /* requests with replies, and batches */

#endif
