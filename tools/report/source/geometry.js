// Places and scales: nothing here needs a page.
import {isNumber} from "./format.js";

export const AIMS = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};

// The mark nearest to `from` in a direction; sideways distance counts double, so that rows and columns are kept.
export function nearest(centres, from, [right, down]) {
    let best = -1, least = Infinity;
    centres.forEach(([x, y], i) => {
        const dx = x - centres[from][0], dy = y - centres[from][1];
        const ahead = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
        const distance = ahead + 2 * aside;
        if (i !== from && ahead > 0.5 && ahead >= aside * 0.5 && distance < least) {
            best = i;
            least = distance;
        }
    });
    return best;
}

export const CLASSES = 8;

// Upper bounds of CLASSES classes of equal size, in round steps, that cover 0 to `most`.
export function classBounds(most) {
    const least = (most > 0 ? most : 0.8) / CLASSES;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((factor) => factor * power).find((size) => size >= least * (1 - 1e-9));
    return Array.from({length: CLASSES}, (_, i) => Number((step * (i + 1)).toPrecision(12)));
}

export function classOf(bounds, value) {
    const found = bounds.findIndex((bound) => value <= bound * (1 + 1e-9));
    return found < 0 ? bounds.length - 1 : found;
}

// Ticks of a logarithmic axis within [low, high]: powers of ten, with 2 and 5 or every digit where there is room.
export function logTicks(low, high, room) {
    const ticksOf = (digits) => {
        const found = [];
        for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
            for (const digit of digits)
                if (digit * 10 ** power >= low && digit * 10 ** power <= high) found.push(Number((digit * 10 ** power).toPrecision(12)));
        return found;
    };
    const dense = [[1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
    return dense.map(ticksOf).find((ticks) => ticks.length <= room) ?? ticksOf([1]);
}

// Of ticks from left to right those whose texts do not touch; place: tick -> pixel of its middle, length: tick -> letters.
export function fittingTicks(ticks, place, length, letter = 6.6) {
    let free = -Infinity;
    return ticks.filter((tick) => {
        const half = length(tick) * letter / 2;
        if (place(tick) - half < free) return false;
        free = place(tick) + half + letter;
        return true;
    });
}

// Where the names of dots stand: for each dot {dx, dy, anchor} in pixels from its middle, or null where every place would touch
// another name, another dot or the edge. dots: [{x, y, name}], those that matter most first; y grows downwards.
export function placeNames(dots, width, height, letter = 6.6) {
    const taken = dots.map(({x, y}) => [x - 6, y - 6, x + 6, y + 6]);
    const free = (box, own) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height &&
        taken.every((other, i) => i === own || box[2] <= other[0] || other[2] <= box[0] || box[3] <= other[1] || other[3] <= box[1]);
    return dots.map(({x, y, name}, own) => {
        const length = name.length * letter;
        const places = [[8, 0, "start"], [-8, 0, "end"], [6, 13, "start"], [-6, 13, "end"], [6, -13, "start"], [-6, -13, "end"]];
        for (const [dx, dy, anchor] of places) {
            const left = anchor === "start" ? x + dx : x + dx - length;
            const box = [left, y + dy - 7, left + length, y + dy + 7];
            if (!free(box, own)) continue;
            taken.push(box);
            return {dx, dy, anchor};
        }
        return null;
    });
}

// A node as people read it.
export const at = (id, width) => `(${id % width},${Math.floor(id / width)})`;

// Links with their place on the map. Traffic keeps right: the two directions lie side by side. A link around the edge (of
// a torus) is drawn as a stub that leaves its node outwards, one that skips nodes as a stub in its direction, farther out.
// Its share of blocked time is known where blocked cycles are cycles of the link (`shares`).
export function placeLinks(links, width, height, whole, shares = true) {
    return links.map((link) => {
        const x = link.from % width, y = Math.floor(link.from / width);
        const dx = link.to % width - x, dy = Math.floor(link.to / width) - y;
        const near = Math.abs(dx) + Math.abs(dy) === 1;
        const around = !near && (Math.abs(dx) === width - 1 || Math.abs(dy) === height - 1);
        const right = (around ? -1 : 1) * Math.sign(dx), down = right !== 0 ? 0 : (around ? -1 : 1) * Math.sign(dy);
        const aside = near || around ? 0.13 : 0.32;
        return {...link, x: x + right * 0.5 - down * aside, y: y + down * 0.5 + right * aside,
            rotate: right === 1 ? 90 : right === -1 ? 270 : down === 1 ? 180 : 0,
            blocked: shares && isNumber(link.blocked_cycles) && whole > 0 ? link.blocked_cycles / whole : NaN};
    });
}
