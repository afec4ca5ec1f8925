/* Shortest paths from LANES sources at once. Included by geodesics.c with NAME(x); LANES,
   16 or 1; and RANKED(better, by), the lanes whose least ranks a node that waits. */

#if LANES == 1
typedef double NAME(Lanes);
typedef int64_t NAME(Bits);
#define LANE(lanes, l) (lanes)
#define ANY(bits) (bits)
#else
typedef double NAME(Lanes) __attribute__((ext_vector_type(LANES)));
/* What a comparison gives: 64-bit integers, `long` here and `long long` there. */
typedef __typeof__((NAME(Lanes)){0} < (NAME(Lanes)){0}) NAME(Bits);
#define LANE(lanes, l) (lanes)[l]
#define ANY(bits) __builtin_reduce_or(bits)
#endif

typedef struct {
    NAME(Lanes) *distance; /* by node: the best known from each source */
    double *key;           /* by waiting node: its rank */
    int32_t *near;         /* ring of waiting nodes ranked under the threshold */
    int32_t *far;          /* the other waiting nodes, in no order */
    int32_t *place;        /* where a node stands in `far`, or IDLE, or NEAR */
    int32_t n, first, near_count, far_count;
    double threshold;
    int64_t visits;
} NAME(Search);

/* The least lane. Bits of numbers >= 0 are ordered as the numbers are, and a minimum
   of integers folds in halves where one of floats must go lane by lane. */
static inline double NAME(least)(NAME(Lanes) lanes) {
#if LANES == 1
    return lanes;
#else
    const union { NAME(Lanes) real; NAME(Bits) bits; } all = {lanes};
    const union { int64_t bits; double real; } least = {__builtin_reduce_min(all.bits)};
    return least.real;
#endif
}

/* A node got better values and waits to pass them on. */
static inline void NAME(wait)(NAME(Search) *s, int32_t node, double key) {
    const int32_t place = s->place[node];
    if (place != IDLE && s->key[node] <= key) return;
    s->key[node] = key;
    if (place == NEAR) return;
    if (key < s->threshold) {
        if (place >= 0) { /* it leaves the far ones; the last of them fills its place */
            const int32_t last = s->far[--s->far_count];
            s->far[place] = last, s->place[last] = place;
        }
        const int64_t end = (int64_t)s->first + s->near_count++;
        s->near[end < s->n ? end : end - s->n] = node;
        s->place[node] = NEAR;
    } else if (place == IDLE) {
        s->place[node] = s->far_count, s->far[s->far_count++] = node;
    }
}

/* Nothing near is left: the threshold moves `width` past the least key. */
static void NAME(advance)(NAME(Search) *s, double width) {
    double least = INFINITY;
    for (int32_t f = 0; f < s->far_count; f++)
        if (s->key[s->far[f]] < least) least = s->key[s->far[f]];
    s->threshold = least + width;
    if (!(s->threshold > least)) s->threshold = INFINITY; /* the width drowned in rounding */
    int32_t kept = 0;
    s->first = 0;
    for (int32_t f = 0; f < s->far_count; f++) {
        const int32_t node = s->far[f];
        if (s->key[node] < s->threshold)
            s->near[s->near_count++] = node, s->place[node] = NEAR;
        else
            s->far[kept] = node, s->place[node] = kept++;
    }
    s->far_count = kept;
}

static void NAME(spread)(NAME(Search) *s, const int64_t *indptr, const int32_t *indices,
                         const double *lengths, double width) {
    while (s->near_count || s->far_count) {
        if (!s->near_count) NAME(advance)(s, width);
        const int32_t node = s->near[s->first];
        s->first = s->first + 1 < s->n ? s->first + 1 : 0;
        s->near_count--, s->place[node] = IDLE, s->visits++;
        const NAME(Lanes) from = s->distance[node];
        for (int64_t e = indptr[node]; e < indptr[node + 1]; e++) {
            NAME(Lanes) *to = s->distance + indices[e];
            const NAME(Lanes) by = from + lengths[e];
            const NAME(Bits) better = by < *to;
            if (!ANY(better)) continue;
            *to = better ? by : *to;
            NAME(wait)(s, indices[e], NAME(least)(RANKED(better, by)));
        }
    }
}

/* out[into[i]][v] = the distance from sources[i] to v, for `count` sources. The
   graph and the sources are in the numbering of `patches`; places[v] is where v is in
   it. Returns how often nodes were visited (LANES sources at a visit), 0 when memory ran
   out. */
EXPORT int64_t NAME(geodesics)(
        int32_t n, const int64_t *indptr HOLDS(n + 1), const int32_t *indices HOLDS(indptr[n]),
        const double *lengths HOLDS(indptr[n]), const int32_t *places HOLDS(n), double width,
        const int32_t *sources HOLDS(count) BELOW(n),
        const int64_t *into HOLDS(count) BELOW(COUNT(out) / n), int64_t count,
        double *out HOLDS(n)) {
    const size_t nodes = (size_t)n, align = sizeof(NAME(Lanes));
    char *room = malloc((nodes + 1) * align);
    NAME(Search) s = {.n = n};
    s.key = malloc(nodes * sizeof(double));
    s.near = malloc(3 * nodes * sizeof(int32_t));
    const int32_t ok = room && s.key && s.near;
    if (ok) {
        s.distance = (NAME(Lanes) *)(room + (align - (uintptr_t)room % align) % align);
        s.far = s.near + n, s.place = s.far + n;
        for (int32_t v = 0; v < n; v++) s.place[v] = IDLE;
    }
    for (int64_t begin = 0; ok && begin < count; begin += LANES) {
        const int lanes = count - begin < LANES ? (int)(count - begin) : LANES;
        for (int32_t v = 0; v < n; v++) s.distance[v] = (NAME(Lanes))INFINITY;
        s.threshold = width;
        double *rows[LANES];
        for (int l = 0; l < lanes; l++) {
            LANE(s.distance[sources[begin + l]], l) = 0;
            NAME(wait)(&s, sources[begin + l], 0);
            rows[l] = out + into[begin + l] * n;
        }
        NAME(spread)(&s, indptr, indices, lengths, width);
        for (int32_t v = 0; v < n; v++) {
            const NAME(Lanes) found = s.distance[places[v]];
            for (int l = 0; l < lanes; l++) rows[l][v] = LANE(found, l);
        }
    }
    free(room), free(s.key), free(s.near);
    return ok ? s.visits : 0;
}

#undef LANE
#undef ANY
