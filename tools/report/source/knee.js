// The knee of a curve, by the rule of Kneedle (V. Satopaa et al., "Finding a 'Kneedle' in a Haystack", 2011), without its
// smoothing: both axes as drawn are scaled to 0..1, and the knee is the point farthest from the straight line between the
// first and the last point.

export const LEAST_POINTS = 4;
export const LEAST_DISTANCE = 0.1;

// Index of the knee of points [[x, y]] with rising x, or -1: fewer than LEAST_POINTS, no distance of at least
// LEAST_DISTANCE (a nearly straight line), or one that is not on a curve that only rises or only falls (tolerance: 2 % of
// the range). `logarithmic` is how x is drawn.
export function findKnee(points, logarithmic) {
    if (points.length < LEAST_POINTS) return -1;
    const xs = points.map(([x]) => logarithmic ? Math.log(x) : x), ys = points.map(([, y]) => y);
    const low = Math.min(...ys), range = Math.max(...ys) - low, span = xs[xs.length - 1] - xs[0];
    if (!(range > 0) || !(span > 0)) return -1;
    const rises = ys[ys.length - 1] > ys[0] ? 1 : -1;
    for (let i = 1; i < ys.length; i++)
        if (rises * (ys[i] - ys[i - 1]) < -0.02 * range) return -1;
    let best = -1, most = LEAST_DISTANCE;
    for (let i = 1; i + 1 < points.length; i++) {
        const along = (xs[i] - xs[0]) / span;
        const chord = ys[0] + along * (ys[ys.length - 1] - ys[0]);
        const distance = Math.abs(ys[i] - chord) / range / Math.SQRT2;
        if (distance > most) {
            most = distance;
            best = i;
        }
    }
    return best;
}
