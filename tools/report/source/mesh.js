// The network on chip as a map: nodes by activity, links by utilisation or by the share of time they were blocked.
import * as Plot from "@observablehq/plot";
import {chart, ramp, tracked} from "./chart.js";
import {choice, element, table} from "./dom.js";
import {cycles, figure, integer, isNumber, share} from "./format.js";
import {CLASSES, at, classBounds, classOf, placeLinks} from "./geometry.js";
import {engineName, enginesOf, kindOf, waitsAddUp} from "./family.js";
import {arraySize, networkCycles} from "./run-data.js";

// What the map says of links that carry flits, and of those that paths of tiles hold or packets are stored behind.
const ARROWS = {carried: "Arrows are links in each direction; traffic keeps right. ", held: "Arrows are links; one that is held in both directions stands once. "};
const USED = {carried: "A link is used when it carries a flit. ", held: "A link is used while a packet holds it. "};
const DENSE = 1024; // more units than this are cells of a heat map, which leave no room for links

// The share of time of the busiest link that leaves a unit.
function busiestOut(result, width) {
    const most = new Map();
    for (const link of result.links)
        if (isNumber(link.utilization)) most.set(link.from, Math.max(most.get(link.from) ?? 0, link.utilization));
    return (unit) => most.get(unit.y * width + unit.x);
}

// What a unit can be coloured by, [text, (unit, cycles of the run) -> share]: each engine that the result knows, and any of them.
const activitiesOf = (entry) => [
    ...enginesOf(entry.result).map((key) => [`${engineName(entry, key)} busy`, (unit, whole) => unit.busy_cycles?.[key] / whole]),
    ["any engine busy", (unit, whole) => 1 - unit.cycles_by?.waiting / whole],
];

// A wide arrow from tail to tip, `length` long, drawn upwards from the origin.
const ARROW = {draw(path, length, radius) {
    const half = radius, head = Math.min(length * 0.45, radius * 1.6);
    path.moveTo(-half * 0.62, 0);
    path.lineTo(-half * 0.62, -(length - head));
    path.lineTo(-half, -(length - head));
    path.lineTo(0, -length);
    path.lineTo(half, -(length - head));
    path.lineTo(half * 0.62, -(length - head));
    path.lineTo(half * 0.62, 0);
    path.closePath();
}};

function nodeLabel(node, activities, name) {
    const rows = activities.map(([text], i) => [text, share(node.activity[i])]);
    return {title: `${name} (${node.x},${node.y})${node.unit ? `, unit ${integer(node.unit.id)}` : ", without a unit"}`,
            rows: node.unit ? rows : []};
}

function linkLabel(link, width) {
    const rows = [["utilization", share(link.utilization)], ["flits", integer(link.flits)]];
    if (isNumber(link.blocked)) rows.push(["blocked", `${share(link.blocked)} of the time, ${cycles(link.blocked_cycles)}`]);
    else if (isNumber(link.blocked_cycles)) rows.push(["waited for by packets", `${cycles(link.blocked_cycles)}, added up`]);
    return {title: `Link ${at(link.from, width)} \u2192 ${at(link.to, width)}`, rows};
}

function nodesOf(result, activities, width, height) {
    const nodes = Array.from({length: width * height}, (_, i) =>
        ({x: i % width, y: Math.floor(i / width), unit: null, activity: activities.map(() => NaN)}));
    for (const unit of result.units) {
        const node = unit.x < width && unit.y < height ? nodes[unit.y * width + unit.x] : null;
        if (!node) continue;
        node.unit = unit;
        node.activity = activities.map(([, value]) => value(unit, result.cycles));
    }
    return nodes;
}

function drawMap(view, pixels, marks) {
    const {width, height, nodes, links, nodeBounds, linkBounds, dense} = view;
    const half = dense ? 0.5 : 0.27;
    const pitch = Math.min((pixels - 34) / width, 680 / height, 64);
    const nodeColour = (node) => {
        const value = node.activity[view.activity];
        return isNumber(value) ? `var(--cool-${classOf(nodeBounds, value)})` : "none";
    };
    const linkColour = (link) => {
        const value = link[view.measure];
        return isNumber(value) ? `var(--heat-${classOf(linkBounds, value)})` : "none";
    };
    const every = Math.ceil(Math.max(width, height) / 16);
    const ticks = (count) => Array.from({length: count}, (_, i) => i).filter((i) => i % every === 0);
    return Plot.plot({
        width: Math.ceil(pitch * width) + 34, height: Math.ceil(pitch * height) + 34, margin: 0, marginLeft: 28, marginTop: 28, marginRight: 6, marginBottom: 6,
        x: {domain: [-0.5, width - 0.5], axis: "top", ticks: ticks(width), tickFormat: (x) => String(x), tickSize: 0, label: null},
        y: {domain: [height - 0.5, -0.5], ticks: ticks(height), tickFormat: (y) => String(y), tickSize: 0, label: null},
        marks: [
            Plot.rect(nodes, {x1: (d) => d.x - half, x2: (d) => d.x + half, y1: (d) => d.y - half, y2: (d) => d.y + half, rx: dense ? 0 : pitch > 20 ? 3 : 1,
                fill: {value: nodeColour, scale: null}, stroke: "var(--node-edge)", strokeWidth: dense ? 0 : 0.75, render: tracked(marks, nodes, (node) => nodeLabel(node, view.activities, view.name))}),
            dense ? null : Plot.vector(links, {x: "x", y: "y", rotate: {value: "rotate", scale: null}, anchor: "middle", shape: ARROW, r: pitch * 0.11, length: {value: () => pitch * 0.42, scale: null},
                fill: {value: linkColour, scale: null}, stroke: "var(--node-edge)", strokeWidth: 0.4,
                render: tracked(marks, links, (link) => linkLabel(link, width))}),
        ],
    });
}

function mapTitle(view) {
    const known = view.links.filter((link) => isNumber(link[view.measure]));
    if (known.length === 0) return `${view.name}s by activity`;
    const most = known.reduce((best, link) => link[view.measure] > best[view.measure] ? link : best);
    const mean = known.reduce((total, link) => total + link[view.measure], 0) / known.length;
    if (!(most[view.measure] > 0))
        return view.measure === "blocked" ? "No link was ever blocked" : `${view.name}s by activity; no link carried a flit`;
    const what = view.measure === "blocked" ? "is blocked" : "is used";
    return `The ${view.measure === "blocked" ? "most blocked" : "busiest"} link, ${at(most.from, view.width)} \u2192 ${at(most.to, view.width)}, ${what} ${share(most[view.measure])} of the time; ` +
        `the mean link ${share(mean)}`;
}

export function meshChart(entry) {
    const {result} = entry;
    const [width, height] = arraySize(entry);
    if (width * height <= 0 || width * height > 16384) return null;
    // The links of channels are their own: what the list has is the network on chip, which they do not use.
    const links = result.channels ? [] : placeLinks(result.links, width, height, networkCycles(entry), !waitsAddUp(result));
    const dense = width * height > DENSE, words = kindOf(entry);
    const activities = [...activitiesOf(entry), ...(dense ? [["busiest link out used", busiestOut(result, width)]] : [])];
    const nodes = nodesOf(result, activities, width, height);
    const held = waitsAddUp(result);
    const blockedKnown = links.some((link) => isNumber(link.blocked));
    const view = {width, height, dense, nodes, links, activities, name: words.unit.replace(/^./, (first) => first.toUpperCase()), activity: 0, measure: "utilization"};
    const update = () => {
        const bound = (values) => classBounds(values.reduce((most, value) => isNumber(value) && value > most ? value : most, 0)).map((one) => Math.min(one, 1));
        view.nodeBounds = bound(nodes.map((node) => node.activity[view.activity]));
        view.linkBounds = bound(links.map((link) => link[view.measure]));
    };
    const format = (value) => `${figure(100 * value, 3)}\u00a0%`;
    const carried = !dense && links.some((link) => link.utilization > 0);
    const legends = () => [
        carried ? ramp(`links, ${view.measure === "blocked" ? "blocked" : "used"}`, "heat", view.linkBounds, format) : null,
        ramp(`${words.units}, ${activities[view.activity][0]}`, "cool", view.nodeBounds, format)].filter(Boolean);
    update();
    const changed = () => {
        update();
        made.setTitle(mapTitle(view));
        made.setLegend(...legends());
        made.redraw();
    };
    const controls = [choice(`${words.units.replace(/^./, (first) => first.toUpperCase())} show`, activities.map(([text], i) => [String(i), text]), "0", (value) => {
        view.activity = Number(value);
        changed();
    })];
    if (blockedKnown && carried)
        controls.push(choice("Links show", [["utilization", "utilisation"], ["blocked", "share of time blocked"]], "utilization", (value) => {
            view.measure = value;
            changed();
        }));
    const made = chart({
        name: "mesh", title: mapTitle(view), controls, legend: legends(),
        note: `Squares are ${words.units}, columns from left and rows from above, as (column,row). ` +
            (dense ? "So many of them leave no room for links: choose the busiest link out of each. " : links.length > 0 ? ARROWS[held ? "held" : "carried"] : "") +
            `${dense || links.length > 0 ? USED[held ? "held" : "carried"] : ""}${blockedKnown && carried ? "It is blocked when it carries nothing although a flit asks for it in vain. " : ""}` +
            `Each ramp has ${CLASSES} classes of equal size.`,
        draw: (pixels, marks) => drawMap(view, pixels, marks),
    });
    return made;
}

// The busiest links as a table beside the map.
export function busiestLinks(entry, rows = 12) {
    const [width] = arraySize(entry);
    const whole = networkCycles(entry);
    const busiest = entry.result.links.filter((link) => link.flits > 0).sort((a, b) => b.flits - a.flits).slice(0, rows);
    if (busiest.length === 0) return null;
    const blocked = busiest.some((link) => isNumber(link.blocked_cycles)), added = waitsAddUp(entry.result);
    return element("div", {class: "card", "data-chart": "busiest"}, element("h3", {}, "Busiest links"),
        table(`The ${integer(busiest.length)} links that carried most`, [{title: "Link"}, {title: "Flits", number: true}, {title: "Used", number: true},
            ...(blocked ? [{title: added ? "Waits, cycles added up" : "Blocked", number: true}] : [])],
            busiest.map((link) => [element("span", {class: "whole"}, `${at(link.from, width)} \u2192 ${at(link.to, width)}`), integer(link.flits), share(link.utilization),
                ...(blocked ? [added ? integer(link.blocked_cycles) : share(link.blocked_cycles / whole)] : [])])));
}
