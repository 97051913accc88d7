// Indices of the points [x, y], less being better in both, that no other point dominates: none is at least as good in both
// and better in one. Equal points are on the front together. In the order of x.
export function paretoFront(points) {
    const order = points.map((_, i) => i).sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1]);
    const front = [];
    let least = Infinity, at = NaN;
    for (const i of order) {
        const [x, y] = points[i];
        if (y < least) {
            least = y;
            at = x;
            front.push(i);
        } else if (y === least && x === at) {
            front.push(i);
        }
    }
    return front;
}
