"""Tables as text and CSV, and a page with tables and bar charts, from the standard library alone."""

import csv
import html
import os

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #667; --line: #d8dce2; --a: #0b62a8; --b: #d98200;
  --c: #2e8b57; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e8eb; --soft: #99a; --line: #333a42;
  --a: #58a6ff; --b: #f0a83c; --c: #57c98a; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper);
  color: var(--ink); }
h2 { margin-top: 2.5rem; font-size: 1.15rem; } p.note { color: var(--soft); }
div.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th.words, td.words { text-align: left; } summary { cursor: pointer; } svg text { fill: var(--ink); font-size: 12px; }
"""


def show(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


class Report:
    def __init__(self, title, folder):
        self.title, self.folder, self.parts = title, folder, []
        os.makedirs(folder, exist_ok=True)

    def table(self, name, title, header, rows, notes=(), words=(0,)):
        """One table: printed, written to NAME.csv, put on the page. `words`: columns of words, which begin at the left."""
        cells = [[show(v) for v in row] for row in rows]
        widths = [max(len(r[i]) for r in [header] + cells) for i in range(len(header))]
        print(f"\n{title}")
        for row in [header] + cells:
            texts = [c.ljust(w) if i in words else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
            print(("  " + "  ".join(texts)).rstrip())
        for note in notes:
            print("  " + note)
        with open(os.path.join(self.folder, name + ".csv"), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header] + [["" if v is None else v for v in r] for r in rows])
        lines = [f'<h2 id="{name}">{html.escape(title)}</h2><div class="scroll"><table><tr>']
        side = ['class="words"' if i in words else "" for i in range(len(header))]
        lines += [f"<th {side[i]}>{html.escape(h)}</th>" for i, h in enumerate(header)]
        for row in cells:
            lines.append("</tr><tr>" + "".join(f"<td {side[i]}>{html.escape(c)}</td>" for i, c in enumerate(row)))
        lines.append("</tr></table></div>")
        lines += [f'<p class="note">{html.escape(n)}</p>' for n in notes]
        self.parts.append("".join(lines))

    def bars(self, title, labels, series, unit):
        """Horizontal bars: `series` is [(name, values)], at most three; None leaves a bar out."""
        height, left, width = 16 * len(series) + 10, 150, 560
        top = max((v for _, values in series for v in values if v), default=1)
        total = height * len(labels) + 30
        out = [f'<svg role="img" aria-label="{html.escape(title)}" viewBox="0 0 {left + width + 90} {total}" width="100%">']
        for s, (name, _) in enumerate(series):
            color = "abc"[s]
            out.append(f'<rect x="{left + 130 * s}" y="2" width="12" height="12" fill="var(--{color})"/>'
                       f'<text x="{left + 130 * s + 17}" y="13">{html.escape(name)}</text>')
        for i, label in enumerate(labels):
            y = 26 + i * height
            out.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{html.escape(label)}</text>')
            for s, (name, values) in enumerate(series):
                if values[i] is None:
                    continue
                size, at = values[i] / top * width, y + 16 * s
                out.append(f'<rect x="{left}" y="{at}" width="{size:.1f}" height="13" fill="var(--{"abc"[s]})">'
                           f'<title>{html.escape(label)}, {html.escape(name)}: {show(values[i])} {unit}</title></rect>'
                           f'<text x="{left + size + 5:.1f}" y="{at + 11}">{show(values[i])}</text>')
        self.parts.append("".join(out) + "</svg>")

    def folded(self, title, path):
        """A table that a CSV file holds, folded."""
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file)) or [[]]
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        self.parts.append(f'<details><summary>{html.escape(title)}</summary><div class="scroll"><table><tr>'
                          + "".join(f"<th>{html.escape(h)}</th>" for h in head) + f"</tr>{cells}</table></div></details>")

    def heading(self, text):
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def write(self):
        path = os.path.join(self.folder, "index.html")
        page = (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                f"<title>{html.escape(self.title)}</title><style>{STYLE}</style><h1>{html.escape(self.title)}</h1>"
                + "\n".join(self.parts) + "</html>\n")
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(page)
        os.replace(path + ".part", path)
        print(f"\npage: {path}")
