/* For all programs here, in C and in C++. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <unistd.h>

/* Ends the program with 1 at a broken promise. */
#define CHECK(promise)                                                                            \
    do {                                                                                          \
        if (!(promise)) {                                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);                 \
            _exit(1);                                                                             \
        }                                                                                         \
    } while (0)

/* A limit in us that no test reaches. */
enum { LONG = 60000000 };

#endif
