// Colours by meaning, the same in every chart; the values are in page.css, for light and dark (Okabe and Ito's palette,
// which people with colour-blindness can tell apart).

export const SHARES = [
    ["matrix", "matrix work", "var(--matrix)"],
    ["vector", "vector work, no matrix work", "var(--vector)"],
    ["memory", "loads and stores alone", "var(--memory)"],
    ["network", "sends and receives alone", "var(--network)"],
    ["waiting", "no engine works", "var(--waiting)"],
];

export const SERIES = Array.from({length: 7}, (_, i) => `var(--series-${i})`);
