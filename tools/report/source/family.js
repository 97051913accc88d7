// What results say of the hardware they come from: its components, engines and counts. Components are those of the
// result, whatever family it is of; the tables here only give known ones a name and a colour.
import {isNumber, keyWords} from "./format.js";

// Name and colour of a component of `energy_pj`.
const COMPONENTS = new Map(Object.entries({
    pe: ["PE array", "var(--matrix)"], crossbar: ["crossbars", "var(--matrix)"],
    acu: ["ACU", "var(--vector)"], vector: ["vector units", "var(--vector)"],
    sram: ["SRAM buffers", "var(--sram)"], local: ["local memories", "var(--sram)"],
    dram: ["DRAM", "var(--memory)"], global: ["global memory", "var(--memory)"],
    noc: ["NoC", "var(--network)"], interconnect: ["interconnect", "var(--series-1)"],
    chip_link: ["links between chips", "var(--series-3)"], clocked: ["clocked power", "var(--series-6)"], static: ["static power", "var(--waiting)"],
}));
const OTHERS = ["var(--series-5)", "var(--series-6)", "var(--series-4)", "var(--series-2)"];

// Names of units and engines of a kind of hardware (`array.kind`).
const KINDS = {
    node: {unit: "node", units: "nodes", engines: {pe: "PE array", acu: "ACU", dram: "loads and stores", noc: "network interface"}},
    core: {unit: "core", units: "cores", engines: {pe: "crossbars", acu: "vector units", dram: "memory engine", noc: "network interface"}},
    channel: {unit: "channel", units: "channels", engines: {pe: "banks that compute", acu: "transposer", dram: "moves of rows", noc: "messages"}},
    tile: {unit: "tile", units: "tiles", engines: {pe: "crossbars", acu: "vector work", noc: "sends"}},
};
// Tiles whose packets hold whole paths, or are stored: what a link has instead of blocked cycles is what packets waited for
// it, added up over packets. Routers of flits (wormhole) tell of themselves.
export const waitsAddUp = (result) => Boolean(result.tiles) && result.tiles.switching !== "wormhole";

const UNKNOWN = {unit: "unit", units: "units", engines: {}};

export function kindOf(entry) {
    return KINDS[entry.hardware?.kind ?? (entry.result.cores ? "core" : entry.result.channels ? "channel" : entry.result.tiles ? "tile" : entry.hardware ? "" : "node")] ?? UNKNOWN;
}

export const engineName = (entry, key) => kindOf(entry).engines[key] ?? keyWords(key);

// Engines of the units of a result, in its order: every key of their busy cycles.
export const enginesOf = (result) => [...new Set(result.units.flatMap((unit) => Object.keys(unit.busy_cycles ?? {})))];

// Components that have an energy in one of the results, [{key, text, colour}], in the order of the results. What none
// of them has does not exist on this hardware, or is not modelled.
export function componentsOf(energies) {
    const keys = [...new Set(energies.flatMap((one) => Object.keys(one)))]
        .filter((key) => key !== "total" && energies.some((one) => isNumber(one[key]) && one[key] !== 0));
    let others = 0;
    const found = keys.map((key) => {
        const [text, colour] = COMPONENTS.get(key) ?? [keyWords(key), OTHERS[others++ % OTHERS.length]];
        return {key, text, colour};
    });
    return energies.some((one) => Math.abs(unnamed(one)) > 1e-6 * Math.abs(one.total ?? 0))
        ? [...found, {key: null, text: "not told apart", colour: "var(--bad)"}] : found;
}

// What the components of an energy leave of its total: 0 unless the result is of another version.
function unnamed(one) {
    const parts = Object.entries(one).reduce((sum, [key, value]) => key !== "total" && isNumber(value) ? sum + value : sum, 0);
    return (one.total ?? 0) - parts;
}

export const energyOf = (one, component) => component.key === null ? unnamed(one) : one[component.key] ?? 0;

// Counts of a result that no chart shows: the numbers of its own groups, [[name, value, key]].
const CHARTED = new Set(["energy_pj", "simulator", "inputs"]);
export function countsOf(result) {
    const list = [];
    const walk = (path, value) => {
        if (isNumber(value)) list.push([keyWords(path), value, path]);
        else if (value && typeof value === "object" && !Array.isArray(value))
            for (const [key, inner] of Object.entries(value)) walk(`${path}.${key}`, inner);
    };
    for (const [key, value] of Object.entries(result))
        if (!CHARTED.has(key) && value && typeof value === "object" && Object.values(value).some((one) => one !== 0 && one !== null)) walk(key, value);
    return list;
}
