// Colours by meaning, the same in every chart; the values are in page.css, for light and dark (Okabe and Ito's palette,
// which people with colour-blindness can tell apart).

export const SHARES = [
    ["matrix", "PE array works", "var(--matrix)"],
    ["vector", "ACU works, array does not", "var(--vector)"],
    ["memory", "loads and stores alone", "var(--memory)"],
    ["network", "sends and receives alone", "var(--network)"],
    ["waiting", "no engine works", "var(--waiting)"],
];

export const COMPONENTS = [
    ["pe", "PE array", "var(--matrix)"],
    ["acu", "ACU", "var(--vector)"],
    ["sram", "SRAM buffers", "var(--sram)"],
    ["dram", "DRAM", "var(--memory)"],
    ["noc", "NoC", "var(--network)"],
    ["static", "static", "var(--waiting)"],
];

export const SERIES = Array.from({length: 7}, (_, i) => `var(--series-${i})`);
