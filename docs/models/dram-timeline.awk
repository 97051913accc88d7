# Draws a log of `pimsim dram --commands` as SVG: a line for each bank, and the data bus.
#
#     awk -F, -v cl=16 -v cwl=12 -v burst=4 -f docs/models/dram-timeline.awk commands.csv > timeline.svg
#
# One channel and one rank; cl, cwl, burst: tCL, tCWL and the cycles of a column access.

NR == 1 { next }
{
    bank = $5 < 0 ? "all banks" : "group " $5 ", bank " $6
    if (!(bank in line)) {
        line[bank] = lines++
        name[line[bank]] = bank
    }
    cycle[count] = $1
    command[count] = $2
    place[count] = line[bank]
    label[count] = $2 == "ACT" ? "ACT " $7 : $2 ~ /^(RD|WR)/ ? $2 " " $8 : $2
    if ($2 ~ /^(RD|WR)/) {
        first[data] = $1 + ($2 ~ /^RD/ ? cl : cwl)
        what[data] = $2 ~ /^RD/ ? "#3a6ea5" : "#b5651d"
        end = first[data] + burst > end ? first[data] + burst : end
        data++
    }
    end = $1 + 6 > end ? $1 + 6 : end
    count++
}
END {
    scale = 9; left = 120; height = 30
    width = left + scale * (end + 2)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" ", width, height * (lines + 2)
    printf "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
    for (i = 0; i <= end; i += 10) {
        x = left + scale * i
        printf "<line x1=\"%d\" y1=\"20\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>", x, x, height * (lines + 2)
        printf "<text x=\"%d\" y=\"14\" text-anchor=\"middle\" fill=\"#555\">%d</text>\n", x, i
    }
    for (i = 0; i < lines; i++)
        printf "<text x=\"4\" y=\"%d\">%s</text>\n", height * (i + 1) + 14, name[i]
    printf "<text x=\"4\" y=\"%d\">data</text>\n", height * (lines + 1) + 14
    for (i = 0; i < count; i++) {
        x = left + scale * cycle[i]
        y = height * (place[i] + 1)
        fill = command[i] == "ACT" ? "#2e7d32" : command[i] ~ /^(RD|RDA)$/ ? "#3a6ea5" : \
            command[i] ~ /^(WR|WRA)$/ ? "#b5651d" : command[i] ~ /^REF/ ? "#6a1b9a" : "#8a1f1f"
        printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"/>", x, y, scale, fill
        printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x + scale + 1, y + 14, fill, label[i]
    }
    for (i = 0; i < data; i++)
        printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\" stroke=\"white\"/>\n", \
            left + scale * first[i], height * (lines + 1), scale * burst, what[i]
    print "</svg>"
}
