/* Sums over all pairs by a tree: points far away push as their centroid does, and the error of
   that is bounded.

   Points are sorted by Morton keys beforehand. A node is a range of m of them with its centroid c,
   the largest distance R from it, the sum S of squared distances and T ≥ |Σ(z − c)|, which is not
   0 because c is rounded. Nodes are in preorder; past[i] is the node after those below i, so that
   walks need no stack. With f(z) = 1/(1 + |y − z|²), whose first three derivatives are at most
   2/(1 + r²)^1.5, 6/(1 + r²)² and 72/(1 + r²)^2.5 at distance r, and q = |y − c| − R,

       |Σf(z) − m·f(c)| ≤ 2T/(1 + q²)^1.5 + 3S/(1 + q²)²,
       |Σg(z) − m·g(c)| ≤ 3T/(1 + q²)² + 18S/(1 + q²)^2.5   for the push g = ½∇f. */
#include "kernels.h"
#include <math.h>

enum { TREE_LEAF = 8, TREE_LANES = 8, TREE_MOST = 3, NODE_NUMBERS = 6 };
SHARED(NODE_NUMBERS);

typedef struct {
    int64_t width, count;
    const int64_t *key;
    const double *points;
    int64_t *range, *past;
    double *numbers;
} Tree;

static void measure(Tree *tree, int64_t node, int64_t first, int64_t last) {
    double *numbers = tree->numbers + node * NODE_NUMBERS, far = 0, squares = 0;
    for (int64_t c = 0; c < tree->width; c++) {
        double sum = 0;
        for (int64_t i = first; i < last; i++) sum += tree->points[i * tree->width + c];
        numbers[c] = sum / (double)(last - first);
    }
    double off[TREE_MOST] = {0}, leftover = 0;
    for (int64_t i = first; i < last; i++) {
        double square = 0;
        for (int64_t c = 0; c < tree->width; c++) {
            const double d = tree->points[i * tree->width + c] - numbers[c];
            square += d * d, off[c] += d;
        }
        squares += square;
        if (square > far) far = square;
    }
    for (int64_t c = 0; c < tree->width; c++) leftover += fabs(off[c]);
    /* A sum of m differences is right to m units of Σ|z − c| ≤ √(m·S) in each coordinate. */
    const double m = (double)(last - first), unit = 1.2e-16 * (m + 8) * (double)tree->width;
    numbers[TREE_MOST] = sqrt(far), numbers[TREE_MOST + 1] = squares;
    numbers[TREE_MOST + 2] = leftover + unit * sqrt(m * squares);
}

/* The node of the points first .. last-1, whose keys agree above `level` digits. */
static void grow(Tree *tree, int64_t first, int64_t last, int64_t level) {
    const int64_t node = tree->count++;
    tree->range[2 * node] = first, tree->range[2 * node + 1] = last;
    measure(tree, node, first, last);
    while (level > 0 && tree->key[first] >> ((level - 1) * tree->width) ==
                            tree->key[last - 1] >> ((level - 1) * tree->width))
        level--; /* nothing to part here */
    if (last - first > TREE_LEAF && level > 0) {
        const int64_t shift = (level - 1) * tree->width;
        for (int64_t begin = first, end; begin < last; begin = end) {
            for (end = begin + 1;
                 end < last && tree->key[end] >> shift == tree->key[begin] >> shift;) end++;
            grow(tree, begin, end, level - 1);
        }
    }
    tree->past[node] = tree->count;
}

/* points: n × width, sorted by key; a digit of a key has `width` bits, and there are `levels` of
   them. range, past, numbers: room for 2n nodes. Returns how many there are. */
EXPORT int64_t grow_tree(
        int64_t n, int64_t width, int64_t levels, const int64_t *key HOLDS(n) RISING,
        const double *points HOLDS(n * width), int64_t *range HOLDS(4 * n),
        int64_t *past HOLDS(2 * n), double *numbers HOLDS(2 * n * NODE_NUMBERS)) {
    if (n < 1 || width > TREE_MOST) return 0;
    Tree tree = {width, 0, key, points, range, past, numbers};
    grow(&tree, 0, n, levels);
    return tree.count;
}

/* The sums of TREE_LANES points that lie together, which walk the tree as one. */
typedef struct {
    int64_t first, last;
    double y[TREE_MOST][TREE_LANES], phi[TREE_LANES], push[TREE_MOST][TREE_LANES];
    double off[TREE_LANES], off_push[TREE_LANES], centre[TREE_MOST], radius;
} Group;

static inline __attribute__((always_inline)) void add_point(
        Group *group, const int64_t width, const double *z, double mass, int64_t skip) {
    for (int l = 0; l < TREE_LANES; l++) {
        double apart[TREE_MOST], square = 1;
        for (int64_t d = 0; d < width; d++) {
            apart[d] = group->y[d][l] - z[d];
            square += apart[d] * apart[d];
        }
        const double k = l == skip ? 0 : 1 / square;
        group->phi[l] += mass * k;
        for (int64_t d = 0; d < width; d++) group->push[d][l] += mass * k * k * apart[d];
    }
}

static inline __attribute__((always_inline)) void add_bounds(
        Group *group, const int64_t width, const double *node) {
    const double R = node[TREE_MOST], S = node[TREE_MOST + 1], T = node[TREE_MOST + 2];
    for (int l = 0; l < TREE_LANES; l++) {
        double square = 0;
        for (int64_t d = 0; d < width; d++)
            square += (group->y[d][l] - node[d]) * (group->y[d][l] - node[d]);
        /* k = 1/(1 + q²), times S and T before its own powers: those of wide maps underflow. */
        const double q = sqrt(square) - R, k = q > 0 ? 1 / (1 + q * q) : 1, root = sqrt(k);
        group->off[l] += k * (2 * T * root + 3 * (S * k));
        group->off_push[l] += k * (3 * T * k + 18 * (S * k) * root);
    }
}

static inline __attribute__((always_inline)) void walk(
        Group *group, const int64_t width, int64_t nodes, double angle, int32_t bounds,
        const double *points, const int64_t *range, const int64_t *past, const double *numbers) {
    for (int64_t node = 0; node < nodes;) {
        const double *c = numbers + node * NODE_NUMBERS, R = c[TREE_MOST];
        const int64_t first = range[2 * node], last = range[2 * node + 1];
        double square = 0;
        for (int64_t d = 0; d < width; d++)
            square += (group->centre[d] - c[d]) * (group->centre[d] - c[d]);
        /* Seen from the whole group, and none of it inside. */
        const double least = 2 * R / angle + group->radius;
        if (least * least < square && (last <= group->first || first >= group->last)) {
            add_point(group, width, c, (double)(last - first), -1);
            if (bounds) add_bounds(group, width, c);
            node = past[node] > node ? past[node] : node + 1; /* forth, whatever it was given */
        } else {
            if (past[node] == node + 1) /* a leaf */
                for (int64_t j = first; j < last; j++)
                    add_point(group, width, points + j * width, 1, j - group->first);
            node++;
        }
    }
}

/* Points first .. first+lanes-1 as a group; lanes beyond them are the first one again. */
static Group gathered(const double *points, int64_t width, int64_t first, int64_t lanes) {
    Group group = {.first = first, .last = first + lanes};
    double far = 0;
    for (int64_t d = 0; d < width; d++) {
        for (int l = 0; l < TREE_LANES; l++)
            group.y[d][l] = points[(first + (l < lanes ? l : 0)) * width + d];
        for (int64_t l = 0; l < lanes; l++) group.centre[d] += group.y[d][l] / (double)lanes;
    }
    for (int64_t l = 0; l < lanes; l++) {
        double square = 0;
        for (int64_t d = 0; d < width; d++)
            square += (group.y[d][l] - group.centre[d]) * (group.y[d][l] - group.centre[d]);
        if (square > far) far = square;
    }
    group.radius = sqrt(far);
    return group;
}

/* φ and push of the sorted points first .. last-1, without themselves; off, off_push: bounds of
   their errors (of the push: of its length), where `bounds` is not 0. `first` is a multiple of
   TREE_LANES, so that groups do not depend on how the work is shared. */
EXPORT void tree_repulsion(
        int64_t first, int64_t last, int64_t n, int64_t width, int64_t nodes, double angle,
        int32_t bounds, const double *points HOLDS(n * width),
        const int64_t *range HOLDS(2 * nodes) BELOW(n + 1),
        const int64_t *past HOLDS(nodes) BELOW(nodes + 1),
        const double *numbers HOLDS(nodes * NODE_NUMBERS), double *phi HOLDS(last),
        double *push HOLDS(last * width), double *off HOLDS(last), double *off_push HOLDS(last)) {
    (void)n;
    for (; first < last; first += TREE_LANES) {
        const int64_t lanes = last - first < TREE_LANES ? last - first : TREE_LANES;
        Group group = gathered(points, width, first, lanes);
        switch (width) {
        case 1: walk(&group, 1, nodes, angle, bounds, points, range, past, numbers); break;
        case 2: walk(&group, 2, nodes, angle, bounds, points, range, past, numbers); break;
        default: walk(&group, 3, nodes, angle, bounds, points, range, past, numbers);
        }
        for (int64_t l = 0; l < lanes; l++) {
            phi[first + l] = group.phi[l];
            off[first + l] = group.off[l], off_push[first + l] = group.off_push[l];
            for (int64_t d = 0; d < width; d++) push[(first + l) * width + d] = group.push[d][l];
        }
    }
}
