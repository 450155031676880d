// What Python sends. The page knows these shapes and no algorithm.

export type Tone = string;
export type Pair = [number, number];
export type Point = [number, number, number];
export type View = [number, number, number, number];

export interface Dots { kind: "dots"; at: Pair[]; tone: Tone; shape: "dot" | "cross" | "star" | "square"; size: number }
export interface Marks { kind: "marks"; rows: number[]; style: "ring" | "faint" | "hollow"; tone: Tone }
export interface Lines { kind: "lines"; paths: Pair[][]; tone: Tone; width: number; dash: boolean; name: string }
export interface Areas { kind: "areas"; polygons: Pair[][]; tone: Tone | Tone[]; strength: number; edge: boolean }
export interface Arrows { kind: "arrows"; start: Pair[]; end: Pair[]; tone: Tone; name: string }
export interface Labels { kind: "labels"; at: Pair[]; texts: string[]; tone: Tone }
export interface Raster {
  kind: "raster"; scale: "classes" | "diverging" | "sequential"; low: number; high: number;
  levels: number[]; strength: number; shape: Pair; raster: number;
}
export type Layer = Dots | Marks | Lines | Areas | Arrows | Labels | Raster;

export interface Series { name: string; x: (number | null)[]; y: (number | null)[]; tone: Tone; dash: boolean; dots: boolean }
export interface Curve { kind: "curve"; title: string; series: Series[]; x: string; y: string; log: boolean; at: number | null }
export interface Formula { kind: "formula"; title: string; lines: string[] }
export interface Table { kind: "table"; title: string; head: string[]; rows: string[][]; strong: number | null }
export interface Proof { kind: "proof"; claim: string; holds: boolean | null; figures: Record<string, string> }
export type Panel = Curve | Formula | Table | Proof;

export interface Answer { predicted: string; proved: boolean | null; note: string }
export interface Frame { layers: Layer[]; panels: Panel[]; caption: string; stop: string; answers: Answer[] }
export interface Probe { lines: string[]; layers: Layer[] }

export type When = [string, unknown[]] | null;
export interface Slider { kind: "slider"; name: string; label: string; low: number; high: number; start: number; step: number | null; log: boolean; when: When }
export interface Choice { kind: "choice"; name: string; label: string; options: string[]; start: string; when: When }
export interface Switch { kind: "switch"; name: string; label: string; start: boolean; when: When }
export type Control = Slider | Choice | Switch;

export interface Preset { name: string; points: Point[]; params: Record<string, unknown>; view: View | null; axes: Pair2 | null; classes: string[] }
export type Pair2 = [string, string];
export interface Scene {
  name: string; title: string; about: string; page: string; labels: string[]; many: boolean; axes: Pair2;
  controls: Control[]; presets: Preset[];
}

/** What a link holds: enough to make the page again, exactly. */
export interface State {
  scene: string;
  params: Record<string, unknown>;
  points: Point[];
  view: View;
  axes: Pair2;
  classes: string[];
  step: number | null; // null: always the last
}

export interface Reply {
  id: number | null;
  problem?: string;
  superseded?: boolean;
  rasters: number;
  frame?: Frame;
  step?: number;
  steps?: number;
  numbers?: Record<string, string>;
  quick?: boolean;
  probe?: Probe | null;
  script?: string;
  scenes?: Scene[];
  version?: string;
  limit?: number;
  given?: Given | null;
  table?: { columns: { name: string; kind: string }[]; rows: number; notes: string[] };
  points?: { points: Point[]; axes: Pair2; classes: string[]; notes: string[] };
  ground?: Float32Array[];
}

export interface Given { name: string; data: string; target: string | null }
