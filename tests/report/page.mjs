// Looks at pages of pimsim report in headless Chromium: no error and no request, charts drawn, both themes, both widths
// without horizontal scrolling, print, pointer and keyboard, hostile names. Pictures go beside the pages.
//
//     node page.mjs CHROMIUM FOLDER          FOLDER holds what tests/report/browser made
import assert from "node:assert/strict";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {chromium} from "../../tools/report/node_modules/playwright-core/index.mjs";

const [executablePath, folder] = process.argv.slice(2);
const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]});
let checks = 0;
const check = (condition, what) => {
    checks += 1;
    assert.ok(condition, what);
};

// Opens a page; what it must not do is noted in `faults`.
async function open(name, width, colorScheme) {
    const context = await browser.newContext({viewport: {width, height: 900}, colorScheme, offline: true});
    context.setDefaultTimeout(120000); // machines may be busy
    const page = await context.newPage();
    const faults = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(message.text()); });
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => { if (!request.url().startsWith("file:") || !request.url().endsWith(`${name}.html`)) faults.push(request.url()); });
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes" &&
        [...document.querySelectorAll("figure .drawing")].every((place) => place.childElementCount > 0), null, {timeout: 120000});
    return {page, faults, close: () => context.close()};
}

// For each chart: how many marks, how many of them have a size, how many an accessible name; its title.
const charts = (page) => page.evaluate(() => [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
    const marks = [...figure.querySelectorAll(".mark")];
    return {name: figure.dataset.chart, title: figure.querySelector("h3").textContent, marks: marks.length,
            seen: marks.filter((mark) => { const box = mark.getBoundingClientRect(); return box.width + box.height > 0; }).length,
            named: marks.filter((mark) => (mark.getAttribute("aria-label") ?? "").length > 3).length,
            bad: /NaN|undefined|null|Infinity/.test(figure.textContent) || marks.some((mark) => /NaN|undefined|Infinity/.test(mark.outerHTML)),
            stops: marks.filter((mark) => mark.tabIndex === 0).length};
}));

// Texts of a chart that touch each other or leave it, and cells of tables that are wider than their column.
const crowded = (page) => page.evaluate(() => [...document.querySelectorAll("figure[data-chart]")].flatMap((figure) => {
    const edge = figure.getBoundingClientRect();
    const texts = [...figure.querySelectorAll("svg text")].map((text) => ({words: text.textContent, box: text.getBoundingClientRect()}))
        .filter(({words, box}) => words.trim().length > 0 && box.width > 0);
    return texts.flatMap(({words, box}, i) => [
        ...(box.left < edge.left || box.right > edge.right ? [`${figure.dataset.chart}: ${words} leaves it`] : []),
        ...texts.slice(i + 1).filter((other) => Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1 &&
            Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 2).map((other) => `${figure.dataset.chart}: ${words} on ${other.words}`)]);
}).concat([...document.querySelectorAll(".stacked :is(td, th)")].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => `cell ${cell.textContent}`)));

const EXPECTED = {
    run: {mesh: 256 + 960, steps: 20, phases: 126, estimate: 100, dram: 6, energy: 5},
    channel: {steps: 2, phases: 2, energy: 2},
    core: {mesh: 168, steps: 2, energy: 6},
    families: {mesh: 168, runs: 8, "energy-runs": 10},
    tile: {mesh: 256 + 480, steps: 22, phases: 22, estimate: 11, energy: 1},
    dense: {mesh: 33 * 32},
    tune: {convergence: 4, curve: 4},
    sweep: {curve: 16, "curve-small": 16, estimate: 2, heat: 16, pareto: 48},
    best: {curve: 4, "curve-small": 4, estimate: 2},
    systems: {"systems-latency": 2, "systems-throughput": 3, "systems-energy": 3, "systems-density": 2, "systems-front": 3, "systems-time": 6, "systems-energy-parts": 8},
    several: {mesh: 256 + 960, runs: 8, difference: 15, "energy-runs": 6, steps: 20, phases: 126, curve: 16},
    validate: {estimate: 100, steps: 20, phases: 126},
    hostile: {mesh: 256 + 960, phases: 126},
};

for (const [name, expected] of Object.entries(EXPECTED)) {
    for (const [width, theme] of [[1280, "light"], [400, "dark"]]) {
        const {page, faults, close} = await open(name, width, theme);
        const where = `${name}, ${width}, ${theme}`;
        const found = await charts(page);
        for (const [chart, least] of Object.entries(expected)) {
            const own = found.filter((one) => one.name === chart);
            check(own.length > 0, `${where}: no chart ${chart}`);
            for (const one of own) {
                check(one.marks >= least, `${where}: ${chart} has ${one.marks} marks, not ${least}`);
                check(one.seen >= 0.9 * one.marks, `${where}: ${chart}: only ${one.seen} of ${one.marks} marks have a size`);
                check(one.named === one.marks, `${where}: ${chart}: marks without a name`);
                check(one.stops === 1, `${where}: ${chart}: ${one.stops} stops of the tabulator key`);
            }
        }
        check(found.every((one) => one.title.length > 3 && !one.bad), `${where}: a chart shows what is no figure: ${JSON.stringify(found.filter((one) => one.bad))}`);
        const touching = await crowded(page);
        check(touching.length === 0 || name === "hostile", `${where}: ${touching.slice(0, 4).join("; ")}`);
        const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        check(size[0] <= size[1], `${where}: ${size[0]} pixels wide in ${size[1]}`);
        const luminance = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));
        check(theme === "dark" ? luminance < 200 : luminance > 600, `${where}: background of ${luminance}`);
        await page.screenshot({path: join(folder, `${name}-${width}-${theme}.png`), fullPage: true});
        check(faults.length === 0, `${where}: ${faults.join("; ")}`);
        await close();
    }
}

for (const name of ["run", "core", "channel"]) { // what a machine has is drawn, all of it, and nothing else
    const {page, close} = await open(name, 1280, "light");
    const parts = await page.locator("figure[data-chart=energy] .mark").evaluateAll((marks) => marks.map((mark) => mark.getAttribute("aria-label")));
    const sum = parts.reduce((total, label) => total + Number(label.match(/share: ([\d.]+)/)[1]), 0);
    check(Math.abs(sum - 100) < 0.06 * parts.length, `${name}: bars of energy add up to ${sum} %: ${parts.join("; ")}`);
    const text = await page.locator("main").textContent();
    check(name !== "core" || !/PE array|DRAM|ACU|SRAM|n\/a/.test(text.replace(/configuration of the run.*/s, "")), "a machine of cores shows components of nodes");
    check(name !== "channel" || !/PE array|ACU|SRAM/.test(text.replace(/configuration of the run.*/s, "")), "a machine of channels shows components of nodes");
    check(name === "core" || !/[Cc]rossbar|local memor/.test(text.replace(/configuration of the run.*/s, "")), "a machine of nodes shows components of cores");
    await close();
}

{ // systems: what each aim's best is, who refuses, and figures that are not known
    const {page, close} = await open("systems", 1280, "light");
    const text = await page.locator("main").textContent();
    check(/3 of 4 systems take squeezenet/.test(text), "how many systems take the network is not said");
    check(/squeezenet is not a vision transformer/.test(await page.locator("[data-chart=systems-refused]").textContent()), "no reason of a refusal");
    check(/nobody says/.test(await page.locator("[data-chart=systems-terms]").textContent()), "no reason of an area that is not known");
    check(/Without: banks/.test(await page.locator("[data-chart=systems-density]").textContent()), "a system without an area is passed over in silence");
    check(/shrink|28 nm/.test(text) && /Normalised/.test(text), "the rule is not printed");
    await close();
}

{ // several runs: each over a baseline, and where the difference comes from
    const {page, faults, close} = await open("several", 1280, "light");
    const figure = page.locator("figure[data-chart=difference]"), relative = page.locator("[data-chart=relative]");
    const labels = () => figure.locator(".mark").evaluateAll((marks) => marks.map((mark) => mark.getAttribute("aria-label")));
    const number = (text) => Number(text.replaceAll(",", "").replace("\u2212", "-"));
    const sum = (all) => all.reduce((total, label) => total + number(label.match(/difference: (\S+)\scycles/)[1]), 0);
    const whole = async () => number((await figure.locator("h3").textContent()).match(/takes ([\d,]+)\scycles/)[1]);
    check(/^narrow.json takes [\d,]+ cycles more \(\+/.test(await figure.locator("h3").textContent()), "the title does not say which run takes more");
    check(sum(await labels()) === await whole(), `differences add up to ${sum(await labels())}, the runs differ by ${await whole()}`);
    check(/narrow.json1\.\d+\u00d7/.test(await relative.textContent()), "no figure over that of the baseline");
    await figure.locator("select").nth(1).selectOption("0");
    await figure.locator("select").first().selectOption("1");
    check(/^run.json takes [\d,]+ cycles less/.test(await figure.locator("h3").textContent()), "another baseline changes nothing");
    check(sum(await labels()) === -await whole(), "differences do not change their sign with the baseline");
    check(/run.json0\.\d+\u00d7/.test(await relative.textContent()), "figures are not over those of the chosen baseline");
    check(faults.length === 0, faults.join("; "));
    await close();
}

{ // more nodes than have room for links: cells, and links as a colour of them
    const {page, close} = await open("dense", 1280, "light");
    const figure = page.locator("figure[data-chart=mesh]");
    check(await figure.locator(".mark").count() === 33 * 32, "links are drawn where there is no room for them");
    const labels = await figure.locator(".mark").evaluateAll((marks) => marks.map((mark) => mark.getAttribute("aria-label")));
    check(/busiest link out used: [1-9]/.test(labels[0]), `the first node sends: ${labels[0]}`);
    check(/busiest link out used: 0/.test(labels[500]), `a node that sends nothing: ${labels[500]}`);
    await close();
}

{ // a search: the best so far never gets worse
    const {page, close} = await open("tune", 1280, "light");
    const best = await page.locator("figure[data-chart=convergence] .mark").evaluateAll((marks) => marks.map((mark) => Number(mark.getAttribute("aria-label").match(/best so far: ([\d.,]+)/)[1].replaceAll(",", ""))));
    check(best.length === 4 && best.every((cost, i) => i === 0 || cost <= best[i - 1]), `the best so far: ${best.join(" ")}`);
    await close();
}

{ // keyboard and pointer, on the map
    const {page, faults, close} = await open("run", 1280, "light");
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.tagName);
    const tip = () => page.evaluate(() => { const one = document.querySelector(".tip"); return one && !one.hidden ? one.textContent : ""; });
    let presses = 0;
    for (; presses < 6 && !(await focused()).startsWith("Node (0,0)"); presses++) await page.keyboard.press("Tab");
    check(presses < 6, "the map is not reached by the tabulator key");
    check((await tip()).includes("PE array busy"), "no figures at the focus");
    await page.keyboard.press("ArrowRight");
    check((await focused()).startsWith("Link (0,0) \u2192 (1,0)") || (await focused()).startsWith("Link (1,0) \u2192 (0,0)"), `right of a node is ${await focused()}`);
    check(/utilization\d/.test(await tip()), "no figures of a link at the focus");
    await page.keyboard.press("End");
    check((await focused()).startsWith("Link"), "End does not lead to the last mark");
    await page.keyboard.press("Home");
    check((await focused()).startsWith("Node (0,0)"), "Home does not lead to the first mark");
    await page.keyboard.press("Escape");
    check(await tip() === "", "Escape leaves the figures");
    await page.keyboard.press("Tab"); // leaves the chart at once
    check(!(await focused()).startsWith("Node") && !(await focused()).startsWith("Link"), "a chart is more than one stop");
    await page.locator("figure[data-chart=phases] .mark").nth(200).hover();
    check(/estimate/.test(await tip()), "no figures under the pointer");
    const before = await page.locator("figure[data-chart=mesh] .ramp").nth(1).textContent();
    await page.locator("figure[data-chart=mesh] select").first().selectOption("3");
    check(await page.locator("figure[data-chart=mesh] .ramp").nth(1).textContent() !== before, "another activity changes nothing");
    await page.emulateMedia({media: "print", colorScheme: "dark"});
    check(await page.locator(".controls").first().isVisible() === false, "controls are printed");
    check(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 255, 255)", "print is not light");
    const pdf = await page.pdf({format: "A4", path: join(folder, "run.pdf"), printBackground: true});
    check(pdf.length > 20000, "nothing is printed");
    check(faults.length === 0, faults.join("; "));
    await close();
}

{ // links by the share of time they are blocked
    const {page, faults, close} = await open("blocked", 1280, "light");
    const figure = page.locator("figure[data-chart=mesh]");
    await figure.locator("select").nth(1).selectOption("blocked");
    const title = await figure.locator("h3").textContent();
    check(title.includes("is blocked 2.2"), `the busiest link is used 22 % and blocked a tenth of that: "${title}"`);
    check(/blocked: 2\.2/.test(await figure.locator(".mark[aria-label^='Link (0,1) \u2192 (0,0)']").getAttribute("aria-label")), "no blocked share in the figures of a link");
    check(faults.length === 0, faults.join("; "));
    await close();
}

{ // a sweep: metric, axis, curves
    const {page, faults, close} = await open("sweep", 1280, "light");
    const figure = page.locator("figure[data-chart=curve]");
    const heights = await page.locator("figure[data-chart=pareto] g[aria-label=\"y-axis tick label\"] text").allTextContents();
    check(heights.length > 2 && new Set(heights).size === heights.length, `values of an axis share a label: ${heights.join(" ")}`);
    const title = () => figure.locator("h3").textContent();
    const first = await title();
    check(first.startsWith("cycles:") && first.includes("knee"), `no knee in "${first}"`);
    check((await figure.locator("figcaption").textContent()).includes("farthest from the straight line"), "the rule of the knee is not stated");
    await figure.locator("select").nth(0).selectOption("noc.average_packet_latency");
    check((await title()).startsWith("noc.average_packet_latency:"), `another metric: "${await title()}"`);
    await figure.locator("select").nth(1).selectOption("dram.trcd_ns");
    await figure.locator("select").nth(2).selectOption("noc.flit_bits");
    check(await figure.locator(".mark").count() === 24, `${await figure.locator(".mark").count()} marks of 8 curves with 3 points`);
    check(await figure.locator(".swatches li").count() === 8, "the legend does not follow");
    await figure.locator("select").nth(2).selectOption("");
    check(await figure.locator(".mark").count() === 3, "one curve has not its 3 points");
    check(await figure.locator("select").count() === 6, "no choice for the axes that are fixed");
    await figure.locator("select").nth(0).selectOption("cycles");
    await figure.locator("select").nth(3).selectOption("1 14"); // dram.trcd_ns = 14, along which the curve goes
    check((await title()).includes("over that at dram.trcd_ns = 14"), `relative to a baseline: "${await title()}"`);
    const labels = await figure.locator(".mark").evaluateAll((marks) => marks.map((mark) => mark.getAttribute("aria-label")));
    check(/: 1(;|$)/.test(labels[1]) && !/: 1(;|$)/.test(labels[0]), `the baseline over itself is 1: ${labels.join(" | ")}`);
    check(faults.length === 0, faults.join("; "));
    await close();
}

{ // points whose search was beaten are hollow, and the legend, the figures and the table say what beat it
    const {page, faults, close} = await open("best", 1280, "light");
    const figure = page.locator("figure[data-chart=curve]");
    const found = await figure.locator(".mark").evaluateAll((marks) => marks.map((mark) => [/search: beaten by/.test(mark.getAttribute("aria-label")), mark.getAttribute("fill")]));
    const beaten = found.filter(([is]) => is).length;
    check(beaten > 0 && found.every(([is, fill]) => is === (fill === "var(--card)")), `not the beaten points are hollow: ${found.join(" | ")}`);
    check(await figure.locator(".swatch.hollow").count() === 1, "no legend of hollow points");
    check(await page.locator("details td", {hasText: /^beaten by /}).count() === beaten, "the table of points does not say whose search was beaten");
    await figure.locator("select").nth(0).selectOption("noc.average_packet_latency");
    check(await figure.locator(".swatch.hollow").count() === 1, "another metric has no legend of hollow points");
    check(faults.length === 0, faults.join("; "));
    await close();
}

for (const name of ["hostile", "little"]) {
    const {page, faults, close} = await open(name, 400, "light");
    check(await page.evaluate(() => window.broken) === undefined, `${name}: a name of a result ran`);
    check(await page.locator("img, iframe, body script:not(#results):not(:last-of-type)").count() === 0, `${name}: a name became markup`);
    if (name === "hostile") check((await page.locator(".lead").textContent()).includes("</script><script>window.broken=1"), "the name is not shown as it is");
    check(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${name}: horizontal scrolling`);
    check(faults.length === 0, `${name}: ${faults.join("; ")}`);
    await close();
}
await browser.close();
console.log(`${checks} checks`);
