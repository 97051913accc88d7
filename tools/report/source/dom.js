// Elements made of texts and nothing else: no string ever becomes markup, so names in results may hold anything.

// element("p", {class: "note"}, "text", child, ...); null children are left out.
export function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        made.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined) continue;
        made.append(child);
    }
    return made;
}

let numbers = 0;
export function freshId(prefix) {
    numbers += 1;
    return `${prefix}-${numbers}`;
}

// A labelled choice: options are [value, text]; calls back with the value.
export function choice(label, options, value, changed) {
    const id = freshId("choice");
    const select = element("select", {id}, options.map(([key, text]) => element("option", {value: key}, text)));
    select.value = value;
    select.addEventListener("change", () => changed(select.value));
    return element("span", {class: "choice"}, element("label", {for: id}, label), select);
}

// A name without blanks may be broken behind each of its parts.
export function breakable(name) {
    const parts = name.includes(" ") ? [name] : name.split(/(?<=[/._])/);
    return element("span", {}, parts.flatMap((part, i) => i === 0 ? [part] : [element("wbr"), part]));
}

// columns: [{title, number: bool, wide: bool}], rows of cells (text, or an element). `stacked`: on a narrow page the first cell of a
// row stands above the others, and a wide one below them; roles are told because that layout would lose them.
export function table(caption, columns, rows, stacked = false) {
    const role = (name) => stacked ? name : null;
    const kind = (column) => [column.number && "number", column.wide && "wide"].filter(Boolean).join(" ") || null;
    const head = element("tr", {role: role("row")}, columns.map((column) =>
        element("th", {scope: "col", role: role("columnheader"), class: kind(column)}, column.title)));
    const body = rows.map((cells) => element("tr", {role: role("row")}, cells.map((cell, i) =>
        i === 0 ? element("th", {scope: "row", role: role("rowheader")}, cell)
                : element("td", {role: role("cell"), class: kind(columns[i])}, cell))));
    return element("div", {class: stacked ? "table stacked" : "table", tabindex: "0", role: "region", "aria-label": caption},
        element("table", {role: role("table")}, element("caption", {}, caption), element("thead", {role: role("rowgroup")}, head),
            element("tbody", {role: role("rowgroup")}, body)));
}
