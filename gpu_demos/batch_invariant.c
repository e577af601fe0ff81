// y = x Wᵀ for few tokens: every weight comes from memory once however many tokens there are, and what a token gets does
// not depend on the others. Built and called by batch_invariant.py. x: (m, k), w: (n, k), y: (m, n), all three float or,
// with half = 1, all three bfloat16, with sums in float; k a multiple of 8. Returns 0, or 1 without memory.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef float floats __attribute__((vector_size(32)));
typedef uint32_t words __attribute__((vector_size(32)));
typedef uint16_t halves __attribute__((vector_size(16)));
#define INLINE static inline __attribute__((always_inline))
enum { LINE = 64 };  // bytes that come from memory at once

INLINE floats load(const char *from, int64_t at, int half) {
  floats f;
  if (half) {  // bfloat16 is the upper half of a float
    halves h;
    memcpy(&h, from + 2 * at, sizeof h);
    return (floats)(__builtin_convertvector(h, words) << 16);
  }
  memcpy(&f, from + 4 * at, sizeof f);
  return f;
}

INLINE void store(char *to, int64_t at, float value, int half) {
  if (!half) {
    memcpy(to + 4 * at, &value, sizeof value);
    return;
  }
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  int nan = (bits & 0x7fffffff) > 0x7f800000;
  uint16_t kept = nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;  // to nearest, ties to even
  memcpy(to + 2 * at, &kept, sizeof kept);
}

// One fixed order of additions: eight partial sums along k, then this tree.
INLINE float sum(floats v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

// `rows` rows of w against `tokens` rows of x. Both are constants wherever this is called, so that the sums stay in
// registers: sixteen of them on a processor with AVX2, hence at most twelve sums. What is computed next, four rows on,
// is asked for meanwhile.
INLINE void tile(char *y, const float *x, const char *w, int64_t n, int64_t k, int half, int rows, int tokens) {
  const int size = half ? 2 : 4;
  floats sums[4][6];
  for (int r = 0; r < rows; r++)
    for (int t = 0; t < tokens; t++) sums[r][t] = (floats){0};
  for (int64_t i = 0; i < k; i += 8) {
    floats weight[4];
    for (int r = 0; r < rows; r++) {
      weight[r] = load(w, r * k + i, half);
      if (i * size % LINE == 0) __builtin_prefetch(w + (r * k + i + 4 * k) * size);
    }
    for (int t = 0; t < tokens; t++) {
      floats value = load((const char *)x, t * k + i, 0);
      for (int r = 0; r < rows; r++) sums[r][t] += weight[r] * value;
    }
  }
  for (int r = 0; r < rows; r++)
    for (int t = 0; t < tokens; t++) store(y, t * n + r, sum(sums[r][t]), half);
}

// Four rows of w against all tokens, six at a time: after the first six the four rows lie in a near cache.
INLINE void four_rows(char *y, const float *x, const char *w, int64_t m, int64_t n, int64_t k, int half) {
  const int size = half ? 2 : 4;
  const char *w2 = w + 2 * k * size;
  for (; m >= 6; m -= 6, x += 6 * k, y += 6 * n * size) {
    tile(y, x, w, n, k, half, 2, 6);
    tile(y + 2 * size, x, w2, n, k, half, 2, 6);
  }
  switch (m) {
    case 1: tile(y, x, w, n, k, half, 4, 1); break;
    case 2: tile(y, x, w, n, k, half, 4, 2); break;
    case 3: tile(y, x, w, n, k, half, 4, 3); break;
    case 4: tile(y, x, w, n, k, half, 2, 4), tile(y + 2 * size, x, w2, n, k, half, 2, 4); break;
    case 5: tile(y, x, w, n, k, half, 2, 5), tile(y + 2 * size, x, w2, n, k, half, 2, 5); break;
  }
}

int linear(char *y, const char *x, const char *w, int64_t m, int64_t n, int64_t k, int half) {
  const int size = half ? 2 : 4;
  float *wide = (float *)x;
  if (half) {
    wide = malloc(4 * m * k);
    if (!wide) return 1;
    for (int64_t i = 0; i < m * k; i += 8) {
      floats f = load(x, i, 1);
      memcpy(wide + i, &f, sizeof f);
    }
  }
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < n / 4 * 4; row += 4)
    if (half) four_rows(y + row * size, wide, w + row * k * size, m, n, k, 1);
    else four_rows(y + row * size, wide, w + row * k * size, m, n, k, 0);
  for (int64_t row = n / 4 * 4; row < n; row++)  // at most three
    for (int64_t t = 0; t < m; t++) {
      char *to = y + (t * n + row) * size;
      if (half) tile(to, wide + t * k, w + row * k * size, n, k, 1, 1, 1);
      else tile(to, wide + t * k, w + row * k * size, n, k, 0, 1, 1);
    }
  if (half) free(wide);
  return 0;
}
