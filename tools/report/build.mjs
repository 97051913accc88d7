// Bundles the page and writes it as a C file, cut in two where the results are inserted.
//
//     node build.mjs OUTPUT.c
//
// The same sources and packages give the same bytes. The policy in the page allows exactly its own script, by hash, and
// no connection: whatever stands in a result, nothing else runs and nothing is loaded.
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {build, transform} from "esbuild";

const folder = join(dirname(fileURLToPath(import.meta.url)), "source");
const output = process.argv[2];
if (process.argv.length !== 3) {
    console.error("usage: node build.mjs OUTPUT.c");
    process.exit(2);
}

const bundle = await build({
    entryPoints: [join(folder, "main.js")], bundle: true, minify: true, format: "iife", target: "es2021", charset: "utf8",
    legalComments: "none", write: false, logLevel: "warning", absWorkingDir: folder,
});
// "</script" may stand in the bundle only as text: as a regular expression or string it means the same with a backslash.
const script = bundle.outputFiles[0].text.trim().replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
const style = (await transform(readFileSync(join(folder, "page.css"), "utf8"), {loader: "css", minify: true})).code.trim();
const hash = createHash("sha256").update(script).digest("base64");
const parts = {
    policy: `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`,
    style, script, data: "@data@",
};
const page = readFileSync(join(folder, "page.html"), "utf8").replaceAll(/@(policy|style|script|data)@/g, (_, name) => parts[name]);
const marker = "@data@";
const [head, tail, more] = page.split(`id="results">${marker}`);
if (tail === undefined || more !== undefined) throw new Error("the place of the results does not stand once in the page");

function bytes(name, text) {
    const data = Buffer.from(text, "utf8");
    const lines = [];
    for (let at = 0; at < data.length; at += 32) lines.push("    " + [...data.subarray(at, at + 32)].join(","));
    return `static const unsigned char ${name}[${data.length}] = {\n${lines.join(",\n")}};\n`;
}
writeFileSync(output, `/* Made by tools/report/build.mjs; do not edit. */
#include "tools/report/page.h"

${bytes("head", head + 'id="results">')}
${bytes("tail", tail)}
const struct pim_page_template pim_page_template = {
    .head = head, .head_bytes = sizeof head, .tail = tail, .tail_bytes = sizeof tail};
`);
