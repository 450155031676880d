// Wires the page together: what is clicked changes the state, what arrives is drawn.

import { remembered, takeToken, token } from "./address";
import { App, around } from "./app";
import { build, relevant } from "./controls";
import { exporting, help, tables } from "./dialogs";
import { colours, draw, Plane, short, type Picture } from "./draw";
import { Editor } from "./edit";
import { CanvasPen, SHAPES } from "./pen";
import { element, rowsOf, show } from "./panels";
import { Line } from "./socket";
import type { Given } from "./types";

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const canvas = by<HTMLCanvasElement>("canvas");
const tip = by("tip");
const scrubber = by<HTMLInputElement>("scrubber");
const loaded: { table: Given | null } = { table: null };
const SPEEDS = [0.5, 1, 2, 5, 15, 60]; // steps a second
let running = 0;
let builtFor = "";
let drawnPanels: unknown = null;

takeToken();
const line = new Line(token, (open) => void connected(open));
const app = new App(line, paint);
const editor = new Editor(app, canvas, plane, paint);
Object.assign(window, { certifitLab: { app } }); // the tests and the benchmark look in here

async function connected(open: boolean): Promise<void> {
  document.body.dataset.connected = String(open);
  if (!open) {
    by("problem").textContent = token()
      ? "No connection to the lab. Start certifit lab again and open the address that it prints; your points are kept."
      : "This page needs the address that certifit lab prints: it holds a token.";
    return;
  }
  by("problem").textContent = "";
  if (app.scenes.length) return app.request(false);
  const hello = await line.ask("hello");
  if (!hello.scenes) return;
  app.scenes = hello.scenes;
  app.limit = hello.limit ?? app.limit;
  const names = by<HTMLSelectElement>("scene");
  names.replaceChildren(...app.scenes.map((s) => new Option(s.title, s.name)));
  const before = await remembered();
  if (before) app.restore(before);
  else app.begin(app.scenes[0].name);
  const { given } = await line.ask("given");
  if (given && !before) {
    loaded.table = given;
    tables(app, by<HTMLDialogElement>("table"), loaded);
  } else loaded.table = given ?? null;
}

function plane(): Plane {
  return new Plane(app.state.view, canvas.clientWidth, canvas.clientHeight);
}

function picture(): Picture {
  const layers = [...(app.shown?.frame.layers ?? []), ...(app.probe?.layers ?? [])];
  const { view, points, axes } = app.state;
  return { view, points, axes, layers, ground: app.shown?.ground ?? [], classes: app.classes, cursor: editor.cursor };
}

let painting = 0;
function paint(): void {
  if (app.busy) document.body.dataset.busy = "true"; // at once; it is "false" only when the answer is drawn
  if (!painting) painting = requestAnimationFrame(() => {
    painting = 0;
    if (app.state) repaint();
  });
}

function repaint(): void {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const colour = colours();
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, width, height);
  draw(new CanvasPen(context), plane(), picture(), colour);
  words();
  hovering();
}

/** Everything that is not on the plane. */
function words(): void {
  const shown = app.shown;
  by<HTMLSelectElement>("scene").value = app.state.scene;
  if (builtFor !== app.state.scene) rebuild();
  relevant(app.scene.controls, app.state.params, by("controls"));
  by<HTMLButtonElement>("undo").disabled = !app.canUndo;
  by<HTMLButtonElement>("redo").disabled = !app.canRedo;
  document.body.dataset.busy = String(app.busy);
  if (line.open) text("problem", app.problem);
  text("caption", shown?.frame.caption ?? "");
  text("stop", shown?.frame.stop ?? "");
  const [step, steps] = [shown?.step ?? 0, shown?.steps ?? 1];
  scrubber.max = String(steps - 1);
  scrubber.value = String(step);
  scrubber.disabled = steps < 2;
  text("count", `step ${step} of ${steps - 1}`);
  for (const id of ["reset", "back"]) by<HTMLButtonElement>(id).disabled = step === 0;
  for (const id of ["step", "end"]) by<HTMLButtonElement>(id).disabled = step >= steps - 1;
  by("run").textContent = running ? "❚❚" : "▶▶";
  by("run").setAttribute("aria-label", running ? "Pause" : "Run");
  if (drawnPanels !== shown) {
    drawnPanels = shown;
    show(shown?.frame.panels ?? [], by("panels"));
    numbers(shown?.numbers ?? {});
  }
}

function text(id: string, value: string): void {
  const home = by(id);
  if (home.textContent !== value) home.textContent = value;
}

function numbers(found: Record<string, string>): void {
  const home = by("results");
  const rows = Object.entries(found);
  home.hidden = rows.length === 0;
  home.replaceChildren(element("h2", "Numbers"), rowsOf([], rows));
}

/** Controls, presets and labels of another scene. */
function rebuild(): void {
  builtFor = app.state.scene;
  const scene = app.scene;
  const presets = by<HTMLSelectElement>("preset");
  presets.replaceChildren(new Option("your own", ""), ...scene.presets.map((p) => new Option(p.name, p.name)));
  const same = scene.presets.find((p) => JSON.stringify(p.points) === JSON.stringify(app.state.points));
  presets.value = same?.name ?? "";
  build(scene.controls, app.state.params, by("controls"), (name, value, settled) => app.set(name, value, settled));
  labels();
  document.title = `${scene.title} · certifit lab`;
}

function labels(): void {
  const home = by("labels");
  const count = Math.max(app.scene.many ? Math.min(SHAPES.length, app.classes.length + 1) : app.scene.labels.length, 1);
  const made = Array.from({ length: count }, (_, k) => tool(app.classes[k] ?? `class ${k + 1}`, k));
  home.replaceChildren(...made, tool("erase", null));
}

function tool(words: string, label: number | null): HTMLButtonElement {
  const button = element("button", words);
  button.type = "button";
  button.setAttribute("role", "radio");
  button.setAttribute("aria-checked", String(label === null ? editor.erasing : !editor.erasing && editor.label === label));
  if (label !== null) button.dataset.tone = String(label % 8);
  button.addEventListener("click", () => {
    editor.erasing = label === null;
    if (label !== null) editor.label = label;
    labels();
  });
  return button;
}

function hovering(): void {
  const over = editor.hovered;
  tip.hidden = !over || !app.shown;
  if (!over || !app.shown) return;
  const [ax, ay] = app.state.axes;
  const lines: string[] = [];
  const digits = (v: number) => short(+v.toPrecision(5));
  if (over.point !== null && app.state.points[over.point]) {
    const [x, y, k] = app.state.points[over.point];
    const answer = app.shown.frame.answers[over.point];
    lines.push(`${ax} ${digits(x)}, ${ay} ${digits(y)}`);
    if (app.scene.labels.length > 1) lines.push(`label: ${app.classes[k] ?? k}`);
    if (answer?.predicted) lines.push(`predicted: ${answer.predicted}`);
    if (answer && answer.proved !== null) lines.push(answer.proved ? "proved" : "not proved");
    if (answer?.note) lines.push(answer.note);
  } else {
    lines.push(`${ax} ${digits(over.at[0])}, ${ay} ${digits(over.at[1])}`, ...(app.probe?.lines ?? []));
  }
  tip.replaceChildren(...lines.map((l) => element("div", l)));
  const [px, py] = over.pixel;
  const right = px > canvas.clientWidth / 2;
  tip.style.left = `${right ? px - tip.offsetWidth - 14 : px + 14}px`;
  tip.style.top = `${Math.min(py + 10, canvas.clientHeight - tip.offsetHeight - 4)}px`;
}

function advance(): void {
  if (!running) return;
  if (!app.busy && app.shown) {
    if (app.shown.step >= app.shown.steps - 1) return pause();
    app.goto(app.shown.step + 1);
  }
  running = window.setTimeout(advance, 1000 / SPEEDS[Number(by<HTMLInputElement>("speed").value)]);
}

function pause(): void {
  clearTimeout(running);
  running = 0;
  paint();
}

function run(): void {
  if (running) return pause();
  if (app.shown && app.shown.step >= app.shown.steps - 1) app.goto(0);
  running = window.setTimeout(advance, 0);
}

function click(id: string, work: () => void): void {
  by(id).addEventListener("click", work);
}

const step = (by: number) => app.goto((app.shown?.step ?? 0) + by);
const dialog = (id: string) => by<HTMLDialogElement>(id);
click("reset", () => app.goto(0));
click("back", () => step(-1));
click("step", () => step(1));
click("end", () => app.goto(null));
click("run", run);
click("undo", () => app.undo());
click("redo", () => app.redo());
click("clear", () => { app.mark(); app.state.points = []; app.request(false); });
click("fit-view", () => { app.mark(); app.state.view = around(app.state.points); app.request(false); });
click("open-help", () => help(app, dialog("help")));
click("open-table", () => tables(app, dialog("table"), loaded));
click("open-export", () => exporting(app, dialog("export"), picture));
click("theme", () => {
  const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = dark === "dark" ? "light" : "dark";
  drawnPanels = null;
  paint();
});
scrubber.addEventListener("input", () => app.goto(Number(scrubber.value)));
by<HTMLSelectElement>("scene").addEventListener("change", (e) => { pause(); app.begin((e.target as HTMLSelectElement).value); });
by<HTMLSelectElement>("preset").addEventListener("change", (e) => {
  const preset = app.scene.presets.find((p) => p.name === (e.target as HTMLSelectElement).value);
  if (!preset) return;
  builtFor = "";
  app.begin(app.state.scene, preset);
});
addEventListener("keydown", (e) => {
  const target = e.target as HTMLElement;
  if (/INPUT|SELECT|TEXTAREA/.test(target.tagName) || document.querySelector("dialog[open]")) return;
  const key = e.key.toLowerCase();
  const control = e.ctrlKey || e.metaKey;
  if (control && key === "z") e.shiftKey ? app.redo() : app.undo();
  else if (control && key === "y") app.redo();
  else if (control || e.altKey) return;
  else if (key === "n") step(1);
  else if (key === "p") step(-1);
  else if (key === "r") run();
  else if (key === "home") app.goto(0);
  else if (key === "end") app.goto(null);
  else if (key === "?") help(app, dialog("help"));
  else if (/^[1-8]$/.test(key) && by("labels").children[Number(key)]) (by("labels").children[Number(key) - 1] as HTMLElement).click();
  else return;
  e.preventDefault();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { drawnPanels = null; paint(); });
new ResizeObserver(() => { drawnPanels = null; paint(); }).observe(by("plane"));
addEventListener("hashchange", async () => {
  takeToken();
  const linked = await remembered();
  if (linked && app.scenes.length && JSON.stringify(linked) !== JSON.stringify(app.state)) {
    builtFor = "";
    app.restore(linked);
  }
});
