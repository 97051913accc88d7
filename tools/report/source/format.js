// Figures as people read them: thousands separators, SI prefixes, units, never a bare "NaN".
//
// Invariants
// 1. A number that is not there (null, undefined, NaN) is "n/a", never 0.
// 2. Between a figure and its unit is a space that does not break.
// 3. The language of the browser has no influence: the same result gives the same page.

const SPACE = "\u00a0";
const whole = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

export const NOTHING = "n/a";

export function isNumber(value) {
    return typeof value === "number" && Number.isFinite(value);
}

// 1,106,896
export function integer(value) {
    return isNumber(value) ? whole.format(value) : NOTHING;
}

// A figure with as many digits as make sense: integers whole, others with `digits` significant ones.
export function figure(value, digits = 4) {
    if (!isNumber(value)) return NOTHING;
    if (Number.isInteger(value) || Math.abs(value) >= 10 ** digits) return whole.format(value);
    return new Intl.NumberFormat("en-US", {maximumSignificantDigits: digits}).format(value);
}

export function unit(text, name) {
    return text === NOTHING || !name ? text : text + SPACE + name;
}

export function cycles(value) {
    return unit(integer(value), "cycles");
}

// Of a share between 0 and 1; one that would round to 0 has two significant digits instead.
export function share(value, digits = 1) {
    if (isNumber(value) && value > 0 && 100 * value < 0.5 * 10 ** -digits) return figure(100 * value, 2) + SPACE + "%";
    return isNumber(value) ? (100 * value).toFixed(digits) + SPACE + "%" : NOTHING;
}

// Of a figure that is in percent already, with its sign.
export function signedPercent(value, digits = 1) {
    if (!isNumber(value)) return NOTHING;
    const text = Math.abs(value).toFixed(digits);
    const sign = Number(text) === 0 ? "" : value > 0 ? "+" : "\u2212";
    return sign + text + SPACE + "%";
}

const PREFIXES = [
    [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"],
    [1e-12, "p"],
];

// si(0.0214, "J") is "21.4 mJ"
export function si(value, name, digits = 4) {
    if (!isNumber(value)) return NOTHING;
    if (value === 0) return "0" + SPACE + name;
    const size = Math.abs(value);
    const [factor, prefix] = PREFIXES.find(([least]) => size >= least * 0.9999999) ?? PREFIXES[PREFIXES.length - 1];
    return figure(value / factor, digits) + SPACE + prefix + name;
}

export const energy = (picojoules) => isNumber(picojoules) ? si(picojoules * 1e-12, "J") : NOTHING;
export const time = (nanoseconds) => isNumber(nanoseconds) ? si(nanoseconds * 1e-9, "s") : NOTHING;

// For axes: 1.2M, 300k, 25, 0.4
export function compact(value, digits = 3) {
    if (!isNumber(value)) return NOTHING;
    if (value === 0) return "0";
    const size = Math.abs(value);
    for (const [factor, prefix] of PREFIXES.slice(0, 5))
        if (size >= factor) return figure(value / factor, typeof digits === "number" && digits > 3 ? digits : 3) + prefix;
    return figure(value, Math.max(3, digits));
}

// Axis ticks of a metric: scaled units for energy and time, and as many digits as tell neighbours apart.
export function tickText(metric, low, high) {
    const size = Math.max(Math.abs(low), Math.abs(high));
    // Of a metric that is 0 everywhere 0 / 0 has no logarithm.
    const digits = size > 0 ? Math.min(7, Math.max(2, Math.ceil(Math.log10(size / ((high - low) / 8 || size))) + 1)) : 2;
    if (metric.unit === "pJ") return (value) => value === 0 ? "0" : si(value * 1e-12, "J", digits);
    if (metric.unit === "ns") return (value) => value === 0 ? "0" : si(value * 1e-9, "s", digits);
    return (value) => compact(value, digits);
}

// "noc.link_utilization_mean" is "NoC: link utilization, mean" in titles.
const WORDS = new Map([["noc", "NoC"], ["dram", "DRAM"], ["pe", "PE array"], ["acu", "ACU"], ["sram", "SRAM"]]);
export function keyWords(key) {
    return key.split(".").map((part) => WORDS.get(part) ?? part.replaceAll("_", " ")).join(": ");
}

// The unit of a statistic or a key of the hardware, from its name and the pages that define both; "" is a plain
// number.
export function unitOf(key) {
    if (key === "complete") return "";
    if (/(^|\.)energy_pj(\.|$)/.test(key) || /_pj$/.test(key)) return "pJ";
    if (/_percent$/.test(key)) return "%";
    if (/_ns$/.test(key)) return "ns";
    if (/_khz$/.test(key)) return "kHz";
    if (/(bits_per_cycle)$/.test(key)) return "bits per cycle";
    if (/_bits$/.test(key)) return "bits";
    if (/^dram\..*_cycles$/.test(key)) return "memory cycles";
    if (/^noc\..*_latency$/.test(key)) return "network cycles";
    if (/cycles$/.test(key) || key.startsWith("unit_cycles_by.")) return "logic cycles";
    if (/(^|[._])bytes([._]|$)/.test(key)) return "bytes";
    if (/(^|[._])macs$/.test(key)) return "MACs";
    if (/(^|[._])flits$/.test(key)) return "flits";
    return "";
}

// A long name for an axis: its end tells more than its beginning.
export function shorten(name, most = 26) {
    return name.length > most ? "\u2026" + name.slice(1 - most) : name;
}
