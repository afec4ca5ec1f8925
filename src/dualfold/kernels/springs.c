/* Conjugate gradients for the stiffness matrix of a net of springs,

       (Hx)_i = Σ_e w_e (x_i − x_j) + c_e y_e (y_e · (x_i − x_j))  −  own_i x_i,

   over the edges e = {i, j} of point i, preconditioned by one symmetric sweep of Gauss and Seidel
   over the points: (D + U')D⁻¹(D + U) with D the blocks of H on its diagonal without `own`, and U
   what lies above them. Nothing of r × r is formed for an edge, so a step costs O(r) an
   edge and O(r²) a point. Sums have a fixed order in SPRING_LANES lanes. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { SPRING_LANES = 4 };
SHARED(SPRING_LANES);
/* What the last step found: go on, near enough, or a direction in which H does not grow. */
enum { SPRINGS_RUNNING = 0, SPRINGS_SOLVED = 1, SPRINGS_INDEFINITE = 2 };
SHARED(SPRINGS_INDEFINITE);
typedef double Lanes __attribute__((ext_vector_type(SPRING_LANES), aligned(8)));

typedef struct {
    int64_t n, r;
    const int64_t *start;
    const int32_t *neighbor, *edge;
    const double *w, *c, *y, *own, *inverse, *mass;
} Springs;

static inline __attribute__((always_inline)) double dot(int64_t count, const double *a,
                                                        const double *b) {
    Lanes sum = 0;
    for (int64_t k = 0; k < count; k += SPRING_LANES)
        sum += *(const Lanes *)(a + k) * *(const Lanes *)(b + k);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* out += f·a */
static inline __attribute__((always_inline)) void add(int64_t count, double f, const double *a,
                                                      double *out) {
    for (int64_t k = 0; k < count; k += SPRING_LANES)
        *(Lanes *)(out + k) += f * *(const Lanes *)(a + k);
}

/* out += w·z + c·y(y·z): what one neighbour's z pulls */
static inline __attribute__((always_inline)) void pull(const Springs *s, int64_t at,
                                                       const double *z, double *out) {
    const int64_t r = s->r, e = s->edge[at];
    const double *there = z + s->neighbor[at] * r, *y = s->y + e * r;
    const double along = s->c[e] * dot(r, y, there), w = s->w[e];
    for (int64_t k = 0; k < r; k += SPRING_LANES)
        *(Lanes *)(out + k) += w * *(const Lanes *)(there + k) + along * *(const Lanes *)(y + k);
}

static void product(const Springs *s, const double *x, double *out) {
    const int64_t r = s->r;
    for (int64_t i = 0; i < s->n; i++) {
        const double *here = x + i * r;
        double *row = out + i * r;
        for (int64_t k = 0; k < r; k++) row[k] = -s->own[i] * here[k];
        for (int64_t at = s->start[i]; at < s->start[i + 1]; at++) {
            const int64_t e = s->edge[at];
            const double *there = x + s->neighbor[at] * r, *y = s->y + e * r;
            const double along = s->c[e] * (dot(r, y, here) - dot(r, y, there)), w = s->w[e];
            for (int64_t k = 0; k < r; k += SPRING_LANES)
                *(Lanes *)(row + k) +=
                        w * (*(const Lanes *)(here + k) - *(const Lanes *)(there + k)) +
                        along * *(const Lanes *)(y + k);
        }
    }
}

/* z = the sweep forth and back applied to b, shifted so that Σ m_i z_i = 0. The lists of
   neighbours rise, so those before point i come first. */
static void sweep(const Springs *s, const double *b, double *z, double *sum) {
    const int64_t r = s->r;
    for (int64_t i = 0; i < s->n; i++) {
        const double *D = s->inverse + i * r * r;
        double *row = z + i * r;
        memcpy(sum, b + i * r, (size_t)r * sizeof *sum);
        for (int64_t at = s->start[i]; at < s->start[i + 1] && s->neighbor[at] < i; at++)
            pull(s, at, z, sum);
        memset(row, 0, (size_t)r * sizeof *row);
        for (int64_t k = 0; k < r; k++) add(r, sum[k], D + k * r, row);
    }
    double *middle = sum + r, total = 0;
    memset(middle, 0, (size_t)r * sizeof *middle);
    for (int64_t i = s->n - 1; i >= 0; i--) {
        const double *D = s->inverse + i * r * r;
        double *row = z + i * r;
        memset(sum, 0, (size_t)r * sizeof *sum);
        for (int64_t at = s->start[i + 1] - 1; at >= s->start[i] && s->neighbor[at] > i; at--)
            pull(s, at, z, sum);
        for (int64_t k = 0; k < r; k++) add(r, sum[k], D + k * r, row);
        add(r, s->mass[i], row, middle);
        total += s->mass[i];
    }
    for (int64_t i = 0; i < s->n; i++) add(r, -1 / total, middle, z + i * r);
}

/* At most `steps` steps towards the solution x of Hx = b among x with Σ m_i x_i = 0, from x = 0 and
   residual = b where `begin` is 1, else from where the last call stopped. r is a multiple of
   SPRING_LANES (else nothing is done). state: the residual's square in the norm of the preconditioner, now and at first,
   and what the last step found. Solved: the first is below `wanted` times the second. Returns the
   number of steps done. */
EXPORT int64_t spring_steps(
        int64_t n, int64_t m, int64_t r, int64_t steps, int64_t begin,
        const int64_t *start HOLDS(n + 1) RISING, const int32_t *neighbor HOLDS(start[n]) BELOW(n),
        const int32_t *edge HOLDS(start[n]) BELOW(m), const double *w HOLDS(m),
        const double *c HOLDS(m), const double *y HOLDS(m * r), const double *own HOLDS(n),
        const double *inverse HOLDS(n * r * r), const double *mass HOLDS(n), double wanted,
        double *state HOLDS(3), double *x HOLDS(n * r), double *residual HOLDS(n * r),
        double *direction HOLDS(n * r)) {
    (void)m; /* what the conditions of the arrays are about */
    const Springs s = {n, r, start, neighbor, edge, w, c, y, own, inverse, mass};
    const int64_t size = n * r;
    if (r % SPRING_LANES) return 0;
    double *z = malloc(((size_t)size + 2 * (size_t)r + 1) * sizeof *z);
    if (!z) return NO_MEMORY;
    double *sum = z + size;
    int64_t done = 0;
    if (begin) {
        sweep(&s, residual, z, sum);
        state[0] = state[1] = dot(size, residual, z), state[2] = SPRINGS_RUNNING;
        memcpy(direction, z, (size_t)size * sizeof *z);
        if (!(state[0] > 0)) state[2] = SPRINGS_SOLVED;
    }
    for (; done < steps && state[2] == SPRINGS_RUNNING; done++) {
        product(&s, direction, z);
        const double curvature = dot(size, direction, z);
        if (!(curvature > 0)) {
            state[2] = SPRINGS_INDEFINITE;
            break;
        }
        const double length = state[0] / curvature, before = state[0];
        add(size, length, direction, x);
        add(size, -length, z, residual);
        sweep(&s, residual, z, sum);
        state[0] = dot(size, residual, z);
        if (!(state[0] > wanted * state[1])) state[2] = SPRINGS_SOLVED;
        for (int64_t k = 0; k < size; k += SPRING_LANES)
            *(Lanes *)(direction + k) =
                    *(const Lanes *)(z + k) + state[0] / before * *(const Lanes *)(direction + k);
    }
    free(z);
    return done;
}
