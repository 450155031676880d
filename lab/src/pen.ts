// Drawing with the same strokes on a canvas and into an SVG file.

export interface Stroke { colour: string; width: number; dash?: boolean; alpha?: number }

export interface Pen {
  lines(paths: [number, number][][], stroke: Stroke): void;
  area(path: [number, number][], fill: string, alpha: number, edge?: Stroke): void;
  shape(path: string, x: number, y: number, size: number, fill: string | null, stroke: Stroke | null): void;
  text(words: string, x: number, y: number, colour: string, options?: { size?: number; anchor?: "start" | "middle" | "end"; halo?: string }): void;
  image(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

// Unit shapes around the origin, one for each class, so that colour is not the only sign.
export const SHAPES = [
  "M1 0A1 1 0 1 1 -1 0A1 1 0 1 1 1 0Z",
  "M-.9 -.9H.9V.9H-.9Z",
  "M0 -1.15L1.05 .8H-1.05Z",
  "M0 -1.2L1.1 0L0 1.2L-1.1 0Z",
  "M0 1.15L1.05 -.8H-1.05Z",
  "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
  "M-.55 -1H.55L1.1 0L.55 1H-.55L-1.1 0Z",
  "M0 -1.2L1.14 -.37L.7 .97H-.7L-1.14 -.37Z",
];
export const STAR = "M0 -1.5L.37 -.5L1.43 -.46L.6 .2L.88 1.21L0 .62L-.88 1.21L-.6 .2L-1.43 -.46L-.37 -.5Z";
export const CROSS = "M-1 -1L1 1M1 -1L-1 1";

export class CanvasPen implements Pen {
  constructor(private c: CanvasRenderingContext2D) {}

  private stroke(s: Stroke): void {
    this.c.strokeStyle = s.colour;
    this.c.lineWidth = s.width;
    this.c.globalAlpha = s.alpha ?? 1;
    this.c.setLineDash(s.dash ? [4 * s.width, 3 * s.width] : []);
  }

  lines(paths: [number, number][][], stroke: Stroke): void {
    this.stroke(stroke);
    this.c.lineJoin = this.c.lineCap = "round";
    this.c.beginPath();
    for (const path of paths) path.forEach(([x, y], i) => (i ? this.c.lineTo(x, y) : this.c.moveTo(x, y)));
    this.c.stroke();
    this.c.globalAlpha = 1;
  }

  area(path: [number, number][], fill: string, alpha: number, edge?: Stroke): void {
    this.c.beginPath();
    path.forEach(([x, y], i) => (i ? this.c.lineTo(x, y) : this.c.moveTo(x, y)));
    this.c.closePath();
    this.c.globalAlpha = alpha;
    this.c.fillStyle = fill;
    this.c.fill();
    this.c.globalAlpha = 1;
    if (!edge) return;
    this.stroke(edge);
    this.c.stroke();
    this.c.globalAlpha = 1;
  }

  shape(path: string, x: number, y: number, size: number, fill: string | null, stroke: Stroke | null): void {
    this.c.save();
    this.c.translate(x, y);
    this.c.scale(size, size);
    const form = new Path2D(path);
    if (fill) {
      this.c.fillStyle = fill;
      this.c.fill(form);
    }
    if (stroke) {
      this.stroke({ ...stroke, width: stroke.width / size });
      this.c.stroke(form);
    }
    this.c.restore();
    this.c.globalAlpha = 1;
  }

  text(words: string, x: number, y: number, colour: string, o: { size?: number; anchor?: "start" | "middle" | "end"; halo?: string } = {}): void {
    this.c.font = `${o.size ?? 12}px ${FONT}`;
    this.c.textAlign = o.anchor === "middle" ? "center" : (o.anchor ?? "start");
    this.c.textBaseline = "middle";
    if (o.halo) {
      this.c.setLineDash([]);
      this.c.lineJoin = "round";
      this.c.lineWidth = 4;
      this.c.strokeStyle = o.halo;
      this.c.strokeText(words, x, y);
    }
    this.c.fillStyle = colour;
    this.c.fillText(words, x, y);
  }

  image(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.c.imageSmoothingEnabled = true;
    this.c.imageSmoothingQuality = "high";
    this.c.drawImage(picture, x, y, width, height);
  }
}

const escape = (words: string) =>
  words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const n = (value: number) => +value.toFixed(2);

export class SvgPen implements Pen {
  private parts: string[] = [];

  constructor(private width: number, private height: number) {}

  private stroke(s: Stroke): string {
    const dash = s.dash ? ` stroke-dasharray="${4 * s.width} ${3 * s.width}"` : "";
    return `stroke="${s.colour}" stroke-width="${s.width}" stroke-opacity="${s.alpha ?? 1}" stroke-linejoin="round" stroke-linecap="round"${dash}`;
  }

  private path(points: [number, number][]): string {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${n(x)} ${n(y)}`).join("");
  }

  lines(paths: [number, number][][], stroke: Stroke): void {
    this.parts.push(`<path d="${paths.map((p) => this.path(p)).join("")}" fill="none" ${this.stroke(stroke)}/>`);
  }

  area(path: [number, number][], fill: string, alpha: number, edge?: Stroke): void {
    this.parts.push(`<path d="${this.path(path)}Z" fill="${fill}" fill-opacity="${alpha}" ${edge ? this.stroke(edge) : ""}/>`);
  }

  shape(path: string, x: number, y: number, size: number, fill: string | null, stroke: Stroke | null): void {
    const line = stroke ? this.stroke({ ...stroke, width: stroke.width / size }) : "";
    this.parts.push(`<path d="${path}" transform="translate(${n(x)} ${n(y)}) scale(${n(size)})" fill="${fill ?? "none"}" ${line}/>`);
  }

  text(words: string, x: number, y: number, colour: string, o: { size?: number; anchor?: "start" | "middle" | "end"; halo?: string } = {}): void {
    const halo = o.halo ? ` stroke="${o.halo}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"` : "";
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" fill="${colour}" font-size="${o.size ?? 12}" text-anchor="${o.anchor ?? "start"}" dominant-baseline="central"${halo}>${escape(words)}</text>`,
    );
  }

  image(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.parts.push(`<image href="${picture.toDataURL()}" x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" preserveAspectRatio="none"/>`);
  }

  finished(ground: string): string {
    const box = `0 0 ${this.width} ${this.height}`;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" width="${this.width}" height="${this.height}" font-family="${escape(FONT)}"><rect width="100%" height="100%" fill="${ground}"/>${this.parts.join("")}</svg>`;
  }
}
