// The page's state, and the conversation about it: one request in flight, the newest wins.

import { remember } from "./address";
import { Line } from "./socket";
import type { Frame, Pair2, Point, Preset, Probe, Reply, Scene, State, View } from "./types";

export interface Shown {
  frame: Frame;
  ground: Float32Array[];
  step: number;
  steps: number;
  numbers: Record<string, string>;
  quick: boolean;
}

interface Edit { points: Point[]; view: View; axes: Pair2; classes: string[] }

export class App {
  state!: State;
  shown: Shown | null = null;
  probe: Probe | null = null;
  problem = "";
  scenes: Scene[] = [];
  limit = 2000;
  latencies: number[] = []; // of answered frames, in milliseconds; the benchmark reads them
  private undone: Edit[] = [];
  private done: Edit[] = [];
  private inFlight = false;
  private wanted: { quick: boolean } | null = null;

  constructor(readonly line: Line, private changed: () => void) {}

  get scene(): Scene {
    return this.scenes.find((s) => s.name === this.state.scene) ?? this.scenes[0];
  }

  get classes(): string[] {
    return this.state.classes.length ? this.state.classes : this.scene.labels;
  }

  begin(scene: string, preset?: Preset): void {
    const found = this.scenes.find((s) => s.name === scene) ?? this.scenes[0];
    const from = preset ?? found.presets[0];
    const params = Object.fromEntries(found.controls.map((c) => [c.name, c.start as unknown]));
    this.state = {
      scene: found.name,
      params: { ...params, ...from.params },
      points: structuredClone(from.points),
      view: from.view ?? around(from.points),
      axes: from.axes ?? found.axes,
      classes: from.classes,
      step: null,
    };
    this.undone = [];
    this.done = [];
    this.shown = null;
    this.request(false);
  }

  /** A state from a link or from last time; a scene that is not there any more gives the first one. */
  restore(state: State): void {
    const found = this.scenes.find((s) => s.name === state.scene);
    if (!found) return this.begin(this.scenes[0].name);
    const known = new Set(found.controls.map((c) => c.name));
    const starts = Object.fromEntries(found.controls.map((c) => [c.name, c.start as unknown]));
    const params = Object.fromEntries(Object.entries(state.params ?? {}).filter(([name]) => known.has(name)));
    this.state = { ...state, params: { ...starts, ...params } };
    this.request(false);
  }

  /** Remember the points as they are, before they change. */
  mark(): void {
    this.done.push(this.edit());
    if (this.done.length > 200) this.done.shift();
    this.undone = [];
  }

  private edit(): Edit {
    const { points, view, axes, classes } = this.state;
    return structuredClone({ points, view, axes, classes });
  }

  get canUndo(): boolean { return this.done.length > 0; }
  get canRedo(): boolean { return this.undone.length > 0; }

  undo(): void { this.exchange(this.done, this.undone); }
  redo(): void { this.exchange(this.undone, this.done); }

  private exchange(from: Edit[], to: Edit[]): void {
    const edit = from.pop();
    if (!edit) return;
    to.push(this.edit());
    Object.assign(this.state, edit);
    this.request(false);
  }

  set(name: string, value: unknown, settled: boolean): void {
    this.state.params[name] = value;
    this.request(!settled);
  }

  goto(step: number | null): void {
    const last = (this.shown?.steps ?? 1) - 1;
    this.state.step = step === null ? null : Math.max(0, Math.min(step, last));
    this.request(false);
  }

  asked(quick: boolean): object {
    const { scene, params, points, view, step, axes } = this.state;
    return { scene, params, points, view, step, axes, classes: this.classes, quick };
  }

  request(quick: boolean): void {
    this.wanted = { quick };
    remember(this.state);
    this.changed();
    void this.pump();
  }

  private async pump(): Promise<void> {
    if (this.inFlight || !this.wanted || !this.line.open) return;
    const { quick } = this.wanted;
    this.wanted = null;
    this.inFlight = true;
    const start = performance.now();
    const reply = await this.line.ask("frame", this.asked(quick));
    this.inFlight = false;
    this.take(reply);
    if (quick) this.latencies.push(performance.now() - start);
    this.changed();
    void this.pump();
  }

  private take(reply: Reply): void {
    if (reply.superseded) return;
    this.problem = reply.problem ?? "";
    if (reply.frame) {
      this.shown = {
        frame: reply.frame, ground: reply.ground ?? [], step: reply.step ?? 0, steps: reply.steps ?? 1,
        numbers: reply.numbers ?? {}, quick: reply.quick ?? false,
      };
    } else if (reply.problem) this.shown = null;
  }

  get busy(): boolean {
    return this.inFlight || this.wanted !== null;
  }
}

export function around(points: Point[]): View {
  if (!points.length) return [-4, 4, -3, 3];
  const side = (i: 0 | 1): [number, number] => {
    const values = points.map((p) => p[i]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = high > low ? 0.15 * (high - low) : Math.max(1, 0.1 * Math.abs(high));
    return [+(low - room).toPrecision(6), +(high + room).toPrecision(6)];
  };
  const [x0, x1] = side(0);
  const [y0, y1] = side(1);
  return [x0, x1, y0, y1];
}

/** Round to a thousandth of the view: what a pointer means, and a short address. */
export function rounded(value: number, span: number): number {
  const digits = Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(span))));
  return +value.toFixed(digits);
}
