// The documentation pages that the lab's help links to, as plain HTML beside the page: they open without a network.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { marked } from "marked";
import temml from "temml";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "..", "docs", "families");
const target = join(here, "..", "src", "certifit", "lab", "page", "docs", "families");

const STYLE = `:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
pre { background: color-mix(in srgb, currentColor 7%, transparent); padding: .7rem 1rem; border-radius: .4rem; overflow-x: auto; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
math { font-size: 1.05em; } .block { overflow-x: auto; margin: 1rem 0; }
`;

function math(text) {
  const set = (latex, display) => temml.renderToString(latex, { displayMode: display, throwOnError: false }).replaceAll(/ style="[^"]*"/g, "");
  return text
    .replaceAll(/\$\$([^$]+)\$\$/g, (_, latex) => `<div class="block">${set(latex.trim(), true)}</div>`)
    .replaceAll(/\$([^$\n]+)\$/g, (_, latex) => set(latex, false));
}

function page(markdown) {
  const body = markdown.replace(/^---\n[\s\S]*?\n---\n/, "").replaceAll(/^```\{picture\}[\s\S]*?^```\n/gm, "");
  // Code keeps its dollars: only the text between fences holds mathematics.
  const parts = body.split(/(^```[\s\S]*?^```$)/m).map((part, i) => (i % 2 ? part : math(part)));
  const html = marked.parse(parts.join("")).replaceAll(/<a href="[^"]*">([\s\S]*?)<\/a>/g, "$1");
  const title = (/^# (.*)$/m.exec(body) ?? ["", "certifit"])[1];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · certifit</title><link rel="stylesheet" href="../style.css"></head><body><main>${html}</main></body></html>\n`;
}

mkdirSync(target, { recursive: true });
writeFileSync(join(target, "..", "style.css"), STYLE);
for (const file of readdirSync(source).filter((f) => f.endsWith(".md"))) {
  writeFileSync(join(target, file.replace(/md$/, "html")), page(readFileSync(join(source, file), "utf8")));
}
