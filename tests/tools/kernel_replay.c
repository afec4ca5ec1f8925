/* Plays a tape of kernel calls (kernel_tape.py) and compares what C answers, bit for bit.
   kernel_replay.py writes the part that knows the kernels, calls.h, from their prototypes:
   NAMES, and call(which), which takes arguments from the tape and judges what was written. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char *tape;
static int64_t calls_equal, calls_other, wrong_in_call;
static double worst;

static int64_t whole(void) {
    int64_t value;
    memcpy(&value, tape, sizeof value);
    tape += sizeof value;
    return value;
}

static double real(void) {
    double value;
    memcpy(&value, tape, sizeof value);
    tape += sizeof value;
    return value;
}

/* An array in a block of exactly its size, so that a sanitizer sees the first byte beyond. */
static void *array(void) {
    const int64_t size = whole();
    if (size < 0) return NULL;
    void *block = malloc(size ? (size_t)size : 1);
    if (!block) abort();
    if (size) memcpy(block, tape, (size_t)size);
    tape += size;
    return block;
}

static void note(double given, double wanted) {
    const double size = wanted < 0 ? -wanted : wanted, off = given - wanted;
    const double share = (off < 0 ? -off : off) / (size > 1e-300 ? size : 1e-300);
    if (!(share <= worst)) worst = share;
    wrong_in_call++;
}

/* The written array against the tape's; kind is the type's first letter and its bytes. */
static void judge(const void *block, char letter, int bytes) {
    const int64_t size = whole();
    if (size < 0) return;
    const unsigned char *given = block;
    for (int64_t at = 0; at < size; at += bytes) {
        if (!memcmp(given + at, tape + at, (size_t)bytes)) continue;
        if (letter == 'f' && bytes == 8) {
            double a, b;
            memcpy(&a, given + at, 8), memcpy(&b, tape + at, 8);
            if (a == b || (a != a && b != b)) continue; /* 0 and -0, NaN and NaN */
            note(a, b);
        } else if (letter == 'f') {
            float a, b;
            memcpy(&a, given + at, 4), memcpy(&b, tape + at, 4);
            if (a == b || (a != a && b != b)) continue;
            note(a, b);
        } else {
            note(1, 0);
        }
    }
    tape += size;
}

static void judge_whole(int64_t given) {
    if (given != whole()) note(1, 0);
}

static void judge_real(double given) {
    const double wanted = real();
    if (given != wanted && (given == given || wanted == wanted)) note(given, wanted);
}

#include "calls.h"

int main(int count, char **words) {
    if (count < 2) return 2;
    FILE *file = fopen(words[1], "rb");
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    unsigned char *whole_tape = malloc((size_t)size + 1);
    if (!whole_tape || fread(whole_tape, 1, (size_t)size, file) != (size_t)size) return 2;
    fclose(file);
    tape = whole_tape + 16; /* the fingerprint of the sources */
    const int64_t calls = whole();
    const int judged = count < 3; /* a second word: only run, for calls that nobody recorded */
    for (int64_t at = 0; at < calls; at++) {
        const int64_t which = whole();
        if (!judged) fprintf(stderr, "call %" PRId64 " %s\n", at, NAMES[which]);
        wrong_in_call = 0, worst = 0;
        call(which, judged);
        if (judged) printf("%s %" PRId64 " %.3g\n", NAMES[which], wrong_in_call, worst);
        if (wrong_in_call) calls_other++;
        else calls_equal++;
    }
    free(whole_tape);
    printf("= %" PRId64 " equal %" PRId64 " other\n", calls_equal, calls_other);
    return 0;
}
