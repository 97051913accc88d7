# Draws a log of commands (`pimsim dram --commands`, `pimsim bitserial --commands`) as SVG: a line for each bank with its
# open rows, and the data bus if there are data.
#
#     awk -F, -v cl=16 -v cwl=12 -v burst=4 -f docs/models/dram-timeline.awk commands.csv > timeline.svg
#
# One channel and one rank; cl, cwl, burst: tCL, tCWL and the cycles of a column access; scale: pixels of a cycle (9);
# until: cycles that are drawn (all). Rows from `reserved` on are named r0, r1, ...

function row_name(row) {
    return reserved != "" && row >= reserved ? "r" (row - reserved) : row
}
function text(x, y, fill, anchor, label) {
    printf "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"%s\">%s</text>\n", x, y, fill, anchor, label
}
function box(x, y, width, height, fill, opacity) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" fill-opacity=\"%s\"/>\n", x, y, width, \
        height, fill, opacity
}
BEGIN {
    count = lines = data = spans = end = seconds = 0
    scale = scale ? scale : 9
    until = until ? until : 1000000
    colour["ACT"] = "#2e7d32"; colour["ACT2"] = "#00838f"; colour["PRE"] = colour["PREA"] = "#8a1f1f"
    colour["RD"] = colour["RDA"] = "#3a6ea5"; colour["WR"] = colour["WRA"] = "#b5651d"
    colour["REF"] = colour["REFpb"] = "#6a1b9a"
}
FNR == 1 || $1 > until { next }
{
    bank = $5 < 0 ? "all banks" : "group " $5 ", bank " $6
    if (!(bank in line)) {
        line[bank] = lines
        name[lines++] = bank
    }
    cycle[count] = $1
    command[count] = $2
    seconds += $2 == "ACT2"
    place[count] = line[bank]
    label[count] = $2 ~ /^ACT/ ? $2 " " row_name($7) : $2 ~ /^(RD|WR)/ ? $2 " " $8 : $2
    if ($2 == "ACT")
        since[bank] = $1
    if ($2 == "PRE" && bank in since) {
        span_line[spans] = line[bank]
        span_from[spans] = since[bank]
        span_to[spans++] = $1
        delete since[bank]
    }
    if ($2 ~ /^(RD|WR)/) {
        first[data] = $1 + ($2 ~ /^RD/ ? cl : cwl)
        what[data] = colour[$2]
        end = first[data] + burst > end ? first[data] + burst : end
        data++
    }
    end = $1 > end ? $1 : end
    count++
}
END {
    left = 120; height = 44
    for (bank in since) {
        span_line[spans] = line[bank]
        span_from[spans] = since[bank]
        span_to[spans++] = end + 2
    }
    width = left + scale * (end + 2) + 40
    rows = lines + (data > 0)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" ", width, height * rows + 36, width
    printf "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", height * rows + 36
    print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    for (i = 0; i <= end; i += 10) {
        x = left + scale * i
        printf "<line x1=\"%d\" y1=\"20\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>", x, x, height * rows + 28
        text(x, 14, "#555", "middle", i)
    }
    text(4, 14, "#555", "start", "cycle")
    for (i = 0; i < lines; i++)
        text(4, height * i + 42, "black", "start", name[i])
    if (data > 0)
        text(4, height * lines + 42, "black", "start", "data bus")
    for (i = 0; i < spans; i++)
        box(left + scale * span_from[i], height * span_line[i] + 33, scale * (span_to[i] - span_from[i]), 10, "#2e7d32", 0.18)
    for (i = 0; i < count; i++) {
        x = left + scale * cycle[i]
        y = height * place[i] + 28
        box(x, y, scale > 3 ? scale : 3, 20, colour[command[i]], 1)
        # Of two activations that are near to one another the first is named above, the second below.
        if (seconds && command[i] ~ /^ACT/)
            text(x, command[i] == "ACT" ? y - 2 : y + 31, colour[command[i]], "start", label[i])
        else
            text(x + scale + 2, y + 14, colour[command[i]], "start", label[i])
    }
    for (i = 0; i < data; i++)
        printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\" stroke=\"white\"/>\n", \
            left + scale * first[i], height * lines + 28, scale * burst, what[i]
    print "</svg>"
}
