// Pointer and keyboard on the plane: draw, move, remove, look.

import { rounded, type App } from "./app";
import type { Plane } from "./draw";
import type { Pair } from "./types";

export class Editor {
  label = 0;
  erasing = false;
  cursor: Pair | null = null;
  hovered: { point: number | null; at: Pair; pixel: Pair } | null = null;
  private grabbed: number | null = null;
  private marked = false;
  private carried = false;
  private asking = false;
  private wanted: Pair | null = null;

  constructor(private app: App, private canvas: HTMLCanvasElement, private plane: () => Plane, private changed: () => void) {
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.up(e));
    canvas.addEventListener("pointercancel", (e) => this.up(e));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("blur", () => {
      this.cursor = null;
      this.carried = false;
      this.changed();
    });
  }

  private pixel(e: PointerEvent): Pair {
    const box = this.canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  private nearest([px, py]: Pair, within: number): number | null {
    let best: number | null = null;
    let least = within;
    this.app.state.points.forEach((p, i) => {
      const [x, y] = this.plane().at([p[0], p[1]]);
      const distance = Math.hypot(x - px, y - py);
      if (distance <= least) [best, least] = [i, distance];
    });
    return best;
  }

  private place(at: Pair): Pair {
    const [x0, x1, y0, y1] = this.app.state.view;
    return [rounded(at[0], x1 - x0), rounded(at[1], y1 - y0)];
  }

  private down(e: PointerEvent): void {
    const pixel = this.pixel(e);
    const near = this.nearest(pixel, e.pointerType === "touch" ? 22 : 12);
    this.canvas.setPointerCapture(e.pointerId);
    if (this.erasing || e.button === 2) return this.remove(near);
    if (e.button !== 0) return;
    this.grabbed = near;
    this.marked = false;
    if (near === null) this.add(this.plane().from(pixel));
  }

  private add(at: Pair): void {
    if (this.app.state.points.length >= this.app.limit) return;
    this.app.mark();
    this.app.state.points.push([...this.place(at), this.label]);
    this.app.request(false);
  }

  private remove(which: number | null): void {
    if (which === null) return;
    this.app.mark();
    this.app.state.points.splice(which, 1);
    this.hovered = null;
    this.app.request(false);
  }

  private shift(which: number, at: Pair, quick: boolean): void {
    const point = this.app.state.points[which];
    if (!point) return;
    if (!this.marked) this.app.mark();
    this.marked = true;
    [point[0], point[1]] = this.place(at);
    this.app.request(quick);
  }

  private move(e: PointerEvent): void {
    const pixel = this.pixel(e);
    const at = this.plane().from(pixel);
    if (this.grabbed !== null && e.buttons) {
      this.hovered = null;
      return this.shift(this.grabbed, at, true);
    }
    this.hovered = { point: this.nearest(pixel, 12), at, pixel };
    if (this.hovered.point === null) this.look(at);
    else this.app.probe = null;
    this.changed();
  }

  private up(e: PointerEvent): void {
    if (this.grabbed !== null && this.marked) this.app.request(false);
    if (this.grabbed !== null && !this.marked && e.pointerType === "touch") {
      const pixel = this.pixel(e);
      this.hovered = { point: this.grabbed, at: this.plane().from(pixel), pixel };
      this.changed();
    }
    this.grabbed = null;
    this.marked = false;
  }

  private leave(): void {
    this.hovered = null;
    this.app.probe = null;
    this.wanted = null;
    this.changed();
  }

  /** Ask the scene what is here; the newest place wins. */
  private look(at: Pair): void {
    this.wanted = at;
    if (!this.asking) void this.ask();
  }

  private async ask(): Promise<void> {
    this.asking = true;
    while (this.wanted) {
      const [x, y] = this.wanted;
      this.wanted = null;
      if (this.app.busy || !this.app.shown) break;
      const reply = await this.app.line.ask("probe", { ...this.app.asked(false), x, y });
      if (this.hovered && this.hovered.point === null) {
        this.app.probe = reply.probe ?? null;
        this.changed();
      }
    }
    this.asking = false;
  }

  private key(e: KeyboardEvent): void {
    const [x0, x1, y0, y1] = this.app.state.view;
    const by = e.shiftKey ? 0.1 : 0.02;
    const steps: Record<string, Pair> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] };
    const [cx, cy] = this.cursor ?? [(x0 + x1) / 2, (y0 + y1) / 2];
    if (e.key in steps) {
      const [dx, dy] = steps[e.key];
      this.cursor = [Math.min(x1, Math.max(x0, cx + dx * (x1 - x0))), Math.min(y1, Math.max(y0, cy + dy * (y1 - y0)))];
      if (this.carried && this.grabbed !== null) this.shift(this.grabbed, this.cursor, true);
    } else if (e.key === "Enter") this.add([cx, cy]);
    else if (e.key === "Delete" || e.key === "Backspace") this.remove(this.nearest(this.plane().at([cx, cy]), 40));
    else if (e.key.toLowerCase() === "g" && !e.ctrlKey && !e.metaKey) this.carry([cx, cy]);
    else return;
    e.preventDefault();
    e.stopPropagation();
    this.changed();
  }

  private carry(at: Pair): void {
    if (this.carried) {
      this.carried = this.marked = false;
      this.grabbed = null;
      this.app.request(false);
      return;
    }
    this.grabbed = this.nearest(this.plane().at(at), 40);
    this.carried = this.grabbed !== null;
    const point = this.grabbed === null ? null : this.app.state.points[this.grabbed];
    if (point) this.cursor = [point[0], point[1]];
  }
}
