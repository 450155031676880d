// The plane: axes, layers in their order, the drawn points, the legend.

import { ticks } from "d3-array";
import { CROSS, SHAPES, STAR, type Pen } from "./pen";
import type { Layer, Pair, Pair2, Point, Raster, Tone, View } from "./types";

export interface Picture {
  view: View;
  points: Point[];
  layers: Layer[];
  ground: Float32Array[];
  axes: Pair2;
  classes: string[];
  cursor?: Pair | null;
}

export type Colours = (tone: Tone) => string;

/** Colours by their meaning, as the style sheet has them for a light or a dark page. */
export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  return (tone) => style.getPropertyValue(`--${tone}`).trim() || style.getPropertyValue("--ink").trim();
}

export class Plane {
  constructor(readonly view: View, readonly width: number, readonly height: number) {}

  at([x, y]: Pair): Pair {
    const [x0, x1, y0, y1] = this.view;
    return [((x - x0) / (x1 - x0)) * this.width, (1 - (y - y0) / (y1 - y0)) * this.height];
  }

  from([px, py]: Pair): Pair {
    const [x0, x1, y0, y1] = this.view;
    return [x0 + (px / this.width) * (x1 - x0), y0 + (1 - py / this.height) * (y1 - y0)];
  }
}

export function dotSize(width: number): number {
  return Math.max(4, Math.min(9, width / 150));
}

export function draw(pen: Pen, plane: Plane, picture: Picture, colour: Colours): void {
  const u = dotSize(plane.width);
  const behind = picture.layers.filter((l) => l.kind === "raster");
  const areas = picture.layers.filter((l) => l.kind === "areas");
  for (const layer of behind) raster(pen, plane, layer as Raster, picture.ground, colour);
  for (const layer of areas) one(pen, plane, layer, picture, colour, u);
  axes(pen, plane, picture.axes, colour);
  for (const layer of picture.layers) if (layer.kind === "lines" || layer.kind === "arrows") one(pen, plane, layer, picture, colour, u);
  points(pen, plane, picture, colour, u);
  for (const layer of picture.layers) if (layer.kind === "dots" || layer.kind === "labels" || layer.kind === "marks") one(pen, plane, layer, picture, colour, u);
  legend(pen, plane, picture, colour);
  if (picture.cursor) {
    const [x, y] = plane.at(picture.cursor);
    pen.lines([[[x - 14, y], [x + 14, y]], [[x, y - 14], [x, y + 14]]], { colour: colour("accent"), width: 2 });
  }
}

function one(pen: Pen, plane: Plane, layer: Layer, picture: Picture, colour: Colours, u: number): void {
  switch (layer.kind) {
    case "lines":
      pen.lines(layer.paths.map((p) => p.map((q) => plane.at(q))), { colour: colour(layer.tone), width: layer.width, dash: layer.dash });
      break;
    case "areas":
      layer.polygons.forEach((p, i) => {
        const tone = colour(Array.isArray(layer.tone) ? layer.tone[i % layer.tone.length] : layer.tone);
        pen.area(p.map((q) => plane.at(q)), tone, layer.strength, layer.edge ? { colour: tone, width: 1.2, alpha: 0.7 } : undefined);
      });
      break;
    case "arrows":
      layer.start.forEach((s, i) => arrow(pen, plane.at(s), plane.at(layer.end[i]), colour(layer.tone)));
      break;
    case "dots": {
      const form = layer.shape === "star" ? STAR : layer.shape === "cross" ? CROSS : SHAPES[layer.shape === "square" ? 1 : 0];
      for (const p of layer.at) {
        const [x, y] = plane.at(p);
        const line = { colour: layer.shape === "cross" ? colour(layer.tone) : colour("paper"), width: layer.shape === "cross" ? 2.5 : 1.5 };
        pen.shape(form, x, y, u * layer.size, layer.shape === "cross" ? null : colour(layer.tone), line);
      }
      break;
    }
    case "labels":
      layer.at.forEach((p, i) => {
        const [x, y] = plane.at(p);
        pen.text(layer.texts[i], x, y, colour(layer.tone), { anchor: "middle", halo: colour("paper"), size: Math.max(11, plane.width / 62) });
      });
      break;
    case "marks":
      if (layer.style !== "ring") break;
      for (const row of layer.rows) {
        const p = picture.points[row];
        if (!p) continue;
        const [x, y] = plane.at([p[0], p[1]]);
        pen.shape(SHAPES[0], x, y, u * 1.9, null, { colour: colour(layer.tone), width: 2.5 });
      }
  }
}

function points(pen: Pen, plane: Plane, picture: Picture, colour: Colours, u: number): void {
  const styles = new Map<number, string>();
  for (const layer of picture.layers) if (layer.kind === "marks" && layer.style !== "ring") for (const r of layer.rows) styles.set(r, layer.style);
  picture.points.forEach((p, i) => {
    const [x, y] = plane.at([p[0], p[1]]);
    const tone = colour(`class${p[2] % 8}`);
    const form = SHAPES[p[2] % SHAPES.length];
    const style = styles.get(i);
    if (style === "hollow") pen.shape(form, x, y, u, colour("paper"), { colour: tone, width: 2 });
    else if (style === "faint") pen.shape(form, x, y, u * 0.7, null, { colour: tone, width: 1, alpha: 0.5 });
    else pen.shape(form, x, y, u, tone, { colour: colour("paper"), width: 1.2 });
  });
}

function arrow(pen: Pen, [x0, y0]: Pair, [x1, y1]: Pair, colour: string): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1e-6) return;
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(11, 0.6 * length);
  const foot: Pair = [x1 - 0.8 * head * dx, y1 - 0.8 * head * dy];
  pen.lines([[[x0, y0], foot]], { colour, width: 2 });
  const side = 0.45 * head;
  pen.area([[x1, y1], [x1 - head * dx + side * dy, y1 - head * dy - side * dx], [x1 - head * dx - side * dy, y1 - head * dy + side * dx]], colour, 1);
}

function axes(pen: Pen, plane: Plane, names: Pair2, colour: Colours): void {
  const [x0, x1, y0, y1] = plane.view;
  const grid = { colour: colour("grid"), width: 1 };
  const size = Math.max(11, Math.min(18, plane.width / 75));
  const count = Math.max(3, Math.min(9, plane.width / 90));
  for (const x of ticks(x0, x1, count)) {
    const [px] = plane.at([x, 0]);
    pen.lines([[[px, 0], [px, plane.height]]], { ...grid, width: x === 0 ? 2 : 1 });
    if (px > 26 && px < plane.width - 26) pen.text(short(x), px, plane.height - size * 0.85, colour("muted"), { anchor: "middle", halo: colour("paper"), size });
  }
  for (const y of ticks(y0, y1, count * 0.75)) {
    const [, py] = plane.at([0, y]);
    pen.lines([[[0, py], [plane.width, py]]], { ...grid, width: y === 0 ? 2 : 1 });
    if (py > 34 && py < plane.height - 26) pen.text(short(y), 6, py, colour("muted"), { halo: colour("paper"), size });
  }
  pen.text(names[0], plane.width - 8, plane.height - size * 2.1, colour("ink"), { anchor: "end", halo: colour("paper"), size });
  pen.text(names[1], 8, size * 1.1, colour("ink"), { halo: colour("paper"), size });
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(1).replace("-", "−");
  return String(+value.toPrecision(6)).replace("-", "−");
}

function legend(pen: Pen, plane: Plane, picture: Picture, colour: Colours): void {
  const size = Math.max(11, Math.min(18, plane.width / 75));
  let y = size * 1.1;
  for (const layer of picture.layers) {
    if ((layer.kind !== "lines" && layer.kind !== "arrows") || !layer.name) continue;
    if (layer.kind === "lines" && layer.paths.length === 0) continue;
    const right = plane.width - 8;
    const stroke = { colour: colour(layer.tone), width: layer.kind === "lines" ? Math.min(3, layer.width) : 2, dash: layer.kind === "lines" && layer.dash };
    pen.lines([[[right - 26, y], [right, y]]], stroke);
    pen.text(layer.name, right - 32, y, colour("ink"), { anchor: "end", halo: colour("paper"), size });
    y += size * 1.45;
  }
}

function rgb(colour: string): [number, number, number] {
  const hex = colour.replace("#", "");
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)) as [number, number, number];
}

function raster(pen: Pen, plane: Plane, layer: Raster, ground: Float32Array[], colour: Colours): void {
  const values = ground[layer.raster];
  const [rows, columns] = layer.shape;
  if (!values) return;
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(columns, rows);
  const palette = Array.from({ length: 8 }, (_, k) => rgb(colour(`class${k}`)));
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const value = values[r * columns + c];
      const out = 4 * ((rows - 1 - r) * columns + c); // the first row is at the bottom
      const [tone, alpha] = shade(value, layer, palette);
      image.data.set([...tone, Math.round(255 * layer.strength * alpha)], out);
    }
  }
  context.putImageData(image, 0, 0);
  pen.image(canvas, 0, 0, plane.width, plane.height);
  for (const level of layer.levels) {
    const middle = level === (layer.low + layer.high) / 2;
    const found = segments(values, rows, columns, level).map((s) => s.map(([c, r]) => [((c + 0.5) / columns) * plane.width, (1 - (r + 0.5) / rows) * plane.height] as Pair));
    pen.lines(found, { colour: colour("ink"), width: middle ? 2.5 : 1, alpha: middle ? 1 : 0.45 });
  }
}

function shade(value: number, layer: Raster, palette: [number, number, number][]): [[number, number, number], number] {
  if (!Number.isFinite(value)) return [[128, 128, 128], 0];
  if (layer.scale === "classes") return [palette[Math.round(value) % 8], 1];
  const t = Math.max(0, Math.min(1, (value - layer.low) / (layer.high - layer.low || 1)));
  if (layer.scale === "sequential") return [palette[0], t];
  return t < 0.5 ? [palette[0], 1 - 2 * t] : [palette[1], 2 * t - 1];
}

/** Level lines of a grid by marching squares. */
function segments(v: Float32Array, rows: number, columns: number, level: number): Pair[][] {
  const out: Pair[][] = [];
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      const [a, b, d, e] = [v[r * columns + c], v[r * columns + c + 1], v[(r + 1) * columns + c], v[(r + 1) * columns + c + 1]];
      const cuts: Pair[] = [];
      const cut = (p: number, q: number, at: (t: number) => Pair) => {
        if (p < level !== q < level) cuts.push(at((level - p) / (q - p)));
      };
      cut(a, b, (t) => [c + t, r]);
      cut(b, e, (t) => [c + 1, r + t]);
      cut(d, e, (t) => [c + t, r + 1]);
      cut(a, d, (t) => [c, r + t]);
      for (let i = 0; i + 1 < cuts.length; i += 2) out.push([cuts[i], cuts[i + 1]]);
    }
  }
  return out;
}
