// What stands beside the plane: curves, formulas, tables, proofs, numbers.

import * as Plot from "@observablehq/plot";
import { colours } from "./draw";
import type { Curve, Panel } from "./types";

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, text = "", className = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

export function rowsOf(head: string[], rows: string[][], strong: number | null = null): HTMLTableElement {
  const table = element("table");
  if (head.length) {
    const top = table.createTHead().insertRow();
    for (const word of head) top.append(Object.assign(element("th", word), { scope: "col" }));
  }
  const body = table.createTBody();
  rows.forEach((row, i) => {
    const line = body.insertRow();
    if (i === strong) line.className = "strong";
    for (const cell of row) line.append(element("td", cell));
  });
  return table;
}

export function show(panels: Panel[], home: HTMLElement): void {
  const width = Math.max(220, home.clientWidth - 24);
  home.replaceChildren(...panels.map((panel) => card(panel, width)));
}

function card(panel: Panel, width: number): HTMLElement {
  const section = element("section", "", `card ${panel.kind}`);
  const title = panel.kind === "proof" ? (panel.holds === null ? "Proof" : panel.holds ? "Proved" : "Not proved") : panel.title;
  section.append(element("h2", title));
  switch (panel.kind) {
    case "curve":
      section.append(chart(panel, width), ...names(panel));
      break;
    case "formula":
      for (const line of panel.lines) section.append(math(line));
      break;
    case "table":
      section.append(scrolled(rowsOf(panel.head, panel.rows, panel.strong)));
      break;
    case "proof":
      section.dataset.holds = String(panel.holds);
      section.append(element("p", panel.claim));
      if (Object.keys(panel.figures).length) section.append(scrolled(rowsOf([], Object.entries(panel.figures))));
  }
  return section;
}

function scrolled(table: HTMLTableElement): HTMLElement {
  const box = element("div", "", "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Table");
  box.append(table);
  return box;
}

function math(source: string): HTMLElement {
  const box = element("div", "", "math");
  box.tabIndex = 0; // a formula wider than the panel scrolls, by the keyboard as well
  const parsed = new DOMParser().parseFromString(source, "application/xml").documentElement;
  if (parsed.localName === "math") box.append(document.importNode(parsed, true));
  return box;
}

function names(curve: Curve): HTMLElement[] {
  if (curve.series.length < 2) return [];
  const list = element("ul", "", "names");
  const colour = colours();
  for (const one of curve.series) {
    const item = element("li", one.name);
    item.style.setProperty("--tone", colour(one.tone));
    if (one.dash) item.className = "dash";
    list.append(item);
  }
  return [list];
}

function chart(curve: Curve, width: number): HTMLElement {
  const colour = colours();
  const floor = curve.log ? 1e-300 : -Infinity;
  const marks: Plot.Markish[] = [];
  if (curve.at !== null) marks.push(Plot.ruleX([curve.at], { stroke: colour("accent"), strokeWidth: 1.5 }));
  for (const one of curve.series) {
    const data = one.x.map((x, i) => ({ x, y: one.y[i] })).filter((d) => d.x !== null && d.y !== null && d.y > floor);
    const style = { x: "x", y: "y", stroke: colour(one.tone) };
    marks.push(Plot.line(data, { ...style, strokeWidth: 2, strokeDasharray: one.dash ? "5 4" : undefined }));
    if (one.dots || data.length < 2) marks.push(Plot.dot(data, { x: "x", y: "y", fill: colour(one.tone), r: 3 }));
    marks.push(Plot.tip(data, Plot.pointerX({ x: "x", y: "y", fill: colour("paper"), stroke: colour("grid"), title: (d: { x: number; y: number }) => `${one.name}\n${curve.x} ${+d.x.toPrecision(5)}: ${+d.y.toPrecision(5)}` })));
  }
  const drawn = Plot.plot({
    width,
    height: Math.round(Math.min(260, Math.max(150, 0.55 * width))),
    marginLeft: 52,
    x: { label: curve.x, ticks: 5 },
    y: { label: curve.y, type: curve.log ? "log" : "linear", ticks: 5, tickFormat: curve.log ? "~g" : undefined, grid: true },
    marks,
  }) as unknown as SVGSVGElement;
  drawn.querySelectorAll("style").forEach((s) => s.remove()); // the policy allows no inline style; ours has its rules
  drawn.querySelectorAll("g[aria-label]").forEach((g) => g.removeAttribute("aria-label")); // the whole is one image
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `${curve.title}: ${curve.series.map((s) => s.name).join(", ")}`);
  const box = element("div", "", "chart");
  box.append(drawn);
  return box;
}
