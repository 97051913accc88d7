// What all charts share: the frame with its title, redrawing at a new width, and figures under pointer and keyboard.
//
// Invariants
// 1. A chart is one stop of the tabulator key. Inside, the arrow keys go to the nearest mark in their direction, Home
//    and End to the first and last, Escape hides the figures.
// 2. What the pointer shows of a mark, its accessible name says too.
// 3. Colours are custom properties of the style sheet, so that theme and print need no drawing.
import {element, freshId} from "./dom.js";
import {AIMS, nearest} from "./geometry.js";

const tip = element("div", {class: "tip", "aria-hidden": "true", hidden: true});

function showTip(label, box) {
    tip.replaceChildren(element("strong", {}, label.title), element("dl", {},
        label.rows.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])));
    if (!tip.isConnected) document.body.append(tip);
    tip.hidden = false;
    const own = tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const left = Math.min(Math.max(4, box.left + box.width / 2 - own.width / 2), Math.max(4, wide - own.width - 4));
    const above = box.top - own.height - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above >= 4 ? above : box.bottom + 8}px`;
}

function hideTip() {
    tip.hidden = true;
}

// "title; name: value; ..." for assistive technology
const spoken = (label) => [label.title, ...label.rows.map(([name, value]) => `${name}: ${value}`)].join("; ");

// A render function for a mark of Plot that notes each of its elements in `marks` together with the label of its datum,
// {title, rows: [[name, value]]}.
export function tracked(marks, data, describe) {
    return (index, scales, values, dimensions, context, next) => {
        const group = next(index, scales, values, dimensions, context);
        [...group.children].forEach((child, i) => marks.push({element: child, label: describe(data[index[i]])}));
        return group;
    };
}

function bind(svg, marks) {
    const places = new Map();
    let centres = null, current = 0;
    marks.forEach((mark, i) => {
        places.set(mark.element, i);
        mark.element.classList.add("mark");
        mark.element.setAttribute("role", "img");
        mark.element.setAttribute("aria-label", spoken(mark.label));
        mark.element.setAttribute("tabindex", i === 0 ? "0" : "-1");
    });
    const placeOf = (target) => places.get(target.closest?.(".mark"));
    const show = (i) => showTip(marks[i].label, marks[i].element.getBoundingClientRect());
    const go = (i) => {
        marks[current].element.setAttribute("tabindex", "-1");
        current = i;
        marks[i].element.setAttribute("tabindex", "0");
        marks[i].element.focus();
    };
    svg.addEventListener("pointerover", (event) => {
        const i = placeOf(event.target);
        if (i !== undefined) show(i);
    });
    svg.addEventListener("pointerout", hideTip);
    svg.addEventListener("focusin", (event) => {
        const i = placeOf(event.target);
        if (i !== undefined) show(i);
    });
    svg.addEventListener("focusout", hideTip);
    svg.addEventListener("keydown", (event) => {
        const i = placeOf(event.target);
        if (i === undefined) return;
        let to = -1;
        if (event.key in AIMS) {
            centres ??= marks.map((mark) => {
                const box = mark.element.getBBox();
                const at = mark.element.transform.baseVal.consolidate()?.matrix;
                return [box.x + box.width / 2 + (at?.e ?? 0), box.y + box.height / 2 + (at?.f ?? 0)];
            });
            to = nearest(centres, i, AIMS[event.key]);
        } else if (event.key === "Home") {
            to = 0;
        } else if (event.key === "End") {
            to = marks.length - 1;
        } else if (event.key === "Escape") {
            hideTip();
            return;
        } else {
            return;
        }
        event.preventDefault();
        if (to >= 0) go(to);
    });
}

const cell = (value) => /[",\n]/.test(value) ? `"${value.replaceAll("\"", "\"\"")}"` : value;

// What the marks of a chart say, as CSV: a row each, a column for every name.
export function csvOf(labels) {
    const names = [...new Set(labels.flatMap((label) => label.rows.map(([name]) => name)))];
    return [["mark", ...names], ...labels.map((label) => {
        const values = new Map(label.rows);
        return [label.title, ...names.map((name) => values.get(name) ?? "")];
    })].map((row) => row.map((value) => cell(String(value).replaceAll("\u00a0", " ").replaceAll("\u2212", "-"))).join(",")).join("\n") + "\n";
}

// A button that saves the data behind the chart.
function downloadButton(name, labels) {
    const button = element("button", {type: "button", class: "save"}, "Data (CSV)");
    button.addEventListener("click", () => {
        const link = element("a", {download: `${name}.csv`, href: URL.createObjectURL(new Blob([csvOf(labels())], {type: "text/csv"}))});
        link.click();
        URL.revokeObjectURL(link.href);
    });
    return button;
}

// A figure: what is seen (title), the drawing, what it means (note). draw(width, marks) gives the SVG element of a chart
// and notes its marks. redraw() draws anew; setTitle(text) changes what is said.
export function chart({title, note, controls, legend, draw, name}) {
    const id = freshId("figure");
    const heading = element("h3", {id}, title);
    const place = element("div", {class: "drawing"});
    const legendPlace = element("div", {class: "legends"}, legend ?? []);
    let drawn = [];
    const body = element("figure", {class: "chart", "aria-labelledby": id, "data-chart": name}, heading,
        controls?.length ? element("div", {class: "controls"}, controls) : null, legendPlace, place,
        note ? element("figcaption", {}, note) : null, downloadButton(name, () => drawn.map((mark) => mark.label)));
    let width = 0;
    const redraw = () => {
        if (width <= 0) return;
        const marks = [];
        const focused = [...place.querySelectorAll(".mark")].indexOf(document.activeElement);
        const svg = draw(width, marks);
        drawn = marks;
        hideTip();
        if (!svg) {
            place.replaceChildren(element("p", {class: "nothing"}, "Nothing to draw: there are no figures for this."));
            return;
        }
        svg.setAttribute("role", "group");
        svg.setAttribute("tabindex", "-1"); // Chromium would make it a stop of its own
        svg.setAttribute("aria-label", `${heading.textContent}. Chart with ${marks.length} marks; arrow keys move.`);
        place.replaceChildren(svg);
        if (marks.length > 0) bind(svg, marks);
        if (focused >= 0) marks[focused]?.element.focus();
    };
    new ResizeObserver(([entry]) => {
        const now = Math.floor(entry.contentRect.width);
        if (now === width || now === 0) return;
        width = now;
        redraw();
    }).observe(place);
    return {
        node: body,
        redraw,
        setTitle(text) { heading.textContent = text; },
        setLegend(...nodes) { legendPlace.replaceChildren(...nodes); },
    };
}

// Swatches: [[colour, text]], with a name in front if there are several sets of them.
export function swatches(items, name) {
    return element("ul", {class: "swatches", "aria-label": name ?? "Legend"}, name ? element("li", {class: "set"}, name) : null, items.map(([colour, text]) =>
        element("li", {}, element("span", {class: "swatch", style: `background:${colour}`}), text)));
}

// A ramp of classes with the bounds between them.
export function ramp(title, prefix, bounds, format) {
    return element("div", {class: "ramp"}, element("span", {class: "ramp-title"}, title), element("span", {class: "ramp-scale"},
        element("span", {class: "ramp-end"}, format(0)),
        element("span", {class: "ramp-colours"}, bounds.map((bound, i) =>
            element("span", {style: `background:var(--${prefix}-${i})`, title: `to ${format(bound)}`}))),
        element("span", {class: "ramp-end"}, format(bounds[bounds.length - 1]))));
}
