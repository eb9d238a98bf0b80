/* Spins a counted number of iterations: spin COUNT. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long state = 1;
    for (unsigned long i = 0; i < count; i++) {
        /* A chain of dependent multiplications that no compiler folds. */
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        __asm__ volatile("" : "+r"(state));
    }
    return state == 0;
}
