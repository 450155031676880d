// Help, tables and export.

import { around, type App } from "./app";
import { colours, draw, Plane, type Picture } from "./draw";
import { CanvasPen, SvgPen } from "./pen";
import { element, rowsOf } from "./panels";
import type { Given, Reply } from "./types";

const KEYS = [
  ["N, P", "one step forward, one back"],
  ["Home, End", "first step, last step"],
  ["R", "run or pause"],
  ["1 to 8", "which label a click draws"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ["arrows, Enter", "on the plane: move the cross, draw a point"],
  ["G, Delete", "on the plane: take or drop the nearest point, remove it"],
];

function open(dialog: HTMLDialogElement, title: string, ...parts: (HTMLElement | string)[]): void {
  const close = element("button", "Close");
  close.type = "button";
  close.addEventListener("click", () => dialog.close());
  const head = element("h2", title);
  head.id = `${dialog.id}-title`;
  dialog.replaceChildren(head, ...parts, close);
  if (!dialog.open) dialog.showModal();
}

export function help(app: App, dialog: HTMLDialogElement): void {
  const link = element("a", "Read more in the documentation");
  link.href = `./docs/${app.scene.page}.html`;
  link.target = "_blank";
  link.rel = "noopener";
  open(dialog, app.scene.title, element("p", app.scene.about), link, element("h3", "Keys"), rowsOf([], KEYS));
}

function download(name: string, content: Blob): void {
  const link = element("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function csv(app: App): string {
  const cell = (v: unknown) => (/[",\n\r]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  const head = [...app.state.axes, "label"].map(cell).join(",");
  const rows = app.state.points.map(([x, y, k]) => [x, y, app.classes[k] ?? k].map(cell).join(","));
  return [head, ...rows, ""].join("\n");
}

export function exporting(app: App, dialog: HTMLDialogElement, picture: () => Picture): void {
  const list = element("div", "", "row");
  const name = `certifit-${app.scene.name}`;
  const said = element("p");
  const button = (words: string, work: () => void | Promise<void>) => {
    const made = element("button", words);
    made.type = "button";
    made.addEventListener("click", () => void work());
    list.append(made);
  };
  button("PNG", async () => download(`${name}.png`, await png(picture())));
  button("SVG", () => download(`${name}.svg`, new Blob([svg(picture())], { type: "image/svg+xml" })));
  button("CSV of the points", () => download(`${name}.csv`, new Blob([csv(app)], { type: "text/csv" })));
  button("Python script", async () => {
    const reply = await app.line.ask("script", app.asked(false));
    if (reply.script) download(`${name}.py`, new Blob([reply.script], { type: "text/x-python" }));
    said.textContent = reply.problem ?? "";
  });
  button("Copy link", async () => {
    await navigator.clipboard.writeText(location.href);
    said.textContent = "The link makes this page again, on any computer where the lab runs.";
  });
  open(dialog, "Export", element("p", "The picture, the points, or a script that prints the same numbers."), list, said);
}

export function svg(picture: Picture): string {
  const pen = new SvgPen(960, 720);
  const colour = colours();
  draw(pen, new Plane(picture.view, 960, 720), picture, colour);
  return pen.finished(colour("paper"));
}

async function png(picture: Picture): Promise<Blob> {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1920, height: 1440 });
  const context = canvas.getContext("2d")!;
  const colour = colours();
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, 1920, 1440);
  context.scale(2, 2);
  draw(new CanvasPen(context), new Plane(picture.view, 960, 720), picture, colour);
  return new Promise((resolve, reject) => canvas.toBlob((b) => (b ? resolve(b) : reject(new Error("no picture")))));
}

async function base64(data: Blob): Promise<string> {
  const bytes = new Uint8Array(await data.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/** Load or paste a table, choose two columns or the first two principal components. */
export function tables(app: App, dialog: HTMLDialogElement, loaded: { table: Given | null }): void {
  const file = Object.assign(element("input"), { type: "file", accept: ".csv,.tsv,.txt,.parquet,.arrow,.feather,.xlsx,.xls,.ods" });
  const paste = Object.assign(element("textarea"), { rows: 4, placeholder: "age,weight,ill\n61,82.5,yes\n…" });
  const read = Object.assign(element("button", "Read pasted text"), { type: "button" });
  const said = element("p", "", "said");
  said.setAttribute("role", "status");
  const choice = element("div", "", "choice");
  const use = async (given: Given) => {
    const reply = await app.line.ask("table", { name: given.name, data: given.data });
    said.textContent = reply.problem ?? [`${given.name}: ${reply.table?.rows} rows.`, ...(reply.table?.notes ?? [])].join(" ");
    choice.replaceChildren();
    if (!reply.table) return;
    loaded.table = given;
    columns(app, dialog, given, reply, choice, said);
  };
  file.addEventListener("change", async () => {
    if (file.files?.[0]) await use({ name: file.files[0].name, data: await base64(file.files[0]), target: null });
  });
  read.addEventListener("click", async () => use({ name: "pasted.csv", data: await base64(new Blob([paste.value])), target: null }));
  const labelled = (words: string, box: HTMLElement) => {
    const row = element("label", "", "stacked");
    row.append(element("span", words), box);
    return row;
  };
  open(dialog, "Your own table", labelled("A file from this computer", file), labelled("or pasted text", paste), read, said, choice);
  if (loaded.table) void use(loaded.table);
}

function columns(app: App, dialog: HTMLDialogElement, given: Given, reply: Reply, home: HTMLElement, said: HTMLElement): void {
  const all = reply.table!.columns;
  const numeric = all.filter((c) => c.kind === "number" || c.kind === "date");
  const picker = (words: string, options: string[], chosen: string | undefined) => {
    const row = element("label", "", "stacked");
    const box = element("select");
    for (const option of options) box.append(new Option(option, option));
    if (chosen !== undefined && options.includes(chosen)) box.value = chosen;
    row.append(element("span", words), box);
    home.append(row);
    return box;
  };
  const classes = app.scene.labels.length > 1;
  const guess = given.target ?? all.find((c) => c.kind === "category")?.name ?? all.at(-1)?.name;
  const others = numeric.filter((c) => c.name !== guess || !classes).map((c) => c.name);
  const x = picker("across", numeric.map((c) => c.name), others[0]);
  const y = picker("up", numeric.map((c) => c.name), classes ? others[1] : (given.target ?? others[1]));
  const target = classes ? picker("classes", all.map((c) => c.name), guess) : null;
  const both = element("label", "", "control");
  const components = Object.assign(element("input"), { type: "checkbox" });
  both.append(element("span", "first two principal components of all columns"), components);
  const show = Object.assign(element("button", "Show"), { type: "button" });
  home.append(both, show);
  show.addEventListener("click", async () => {
    const choice = { x: x.value, y: y.value, target: target?.value ?? null, components: components.checked };
    const found = await app.line.ask("table", { name: given.name, data: given.data, choice, scene: app.state.scene });
    said.textContent = found.problem ?? "";
    if (!found.points) return;
    app.mark();
    const { points, axes, classes: names, notes } = found.points;
    Object.assign(app.state, { points, axes, classes: names, view: around(points), step: null });
    app.request(false);
    said.textContent = notes.join(" ");
    if (!notes.length) dialog.close();
  });
}
