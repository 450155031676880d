// Sliders, choices and switches as a scene declares them.

import { element } from "./panels";
import type { Control, Slider } from "./types";

type Changed = (name: string, value: unknown, settled: boolean) => void;

export function build(controls: Control[], params: Record<string, unknown>, home: HTMLElement, changed: Changed): void {
  home.replaceChildren(element("h2", "Controls"));
  home.hidden = controls.length === 0;
  for (const control of controls) {
    const row = element("label", "", `control ${control.kind}`);
    row.dataset.name = control.name;
    row.append(element("span", control.label));
    if (control.kind === "slider") slider(row, control, params[control.name] as number, changed);
    else if (control.kind === "choice") {
      const box = element("select");
      for (const option of control.options) box.append(new Option(option, option));
      box.value = String(params[control.name]);
      box.addEventListener("change", () => changed(control.name, box.value, true));
      row.append(box);
    } else {
      const box = element("input");
      box.type = "checkbox";
      box.checked = Boolean(params[control.name]);
      box.addEventListener("change", () => changed(control.name, box.checked, true));
      row.append(box);
    }
    home.append(row);
  }
  relevant(controls, params, home);
}

/** Hide the controls that the others make pointless. */
export function relevant(controls: Control[], params: Record<string, unknown>, home: HTMLElement): void {
  for (const control of controls) {
    const row = home.querySelector<HTMLElement>(`[data-name="${control.name}"]`);
    if (row) row.hidden = control.when !== null && !control.when[1].includes(params[control.when[0]]);
  }
}

function slider(row: HTMLElement, control: Slider, value: number, changed: Changed): void {
  const box = element("input");
  const shown = element("output");
  const to = (v: number) => (control.log ? Math.log10(v) : v);
  const from = (v: number) => (control.log ? tidy(10 ** v, control.low, control.high) : v);
  box.type = "range";
  box.min = String(to(control.low));
  box.max = String(to(control.high));
  box.step = String(control.log ? (to(control.high) - to(control.low)) / 120 : (control.step ?? (control.high - control.low) / 100));
  box.value = String(to(value));
  const say = (v: number) => (shown.textContent = String(+v.toPrecision(3)).replace("-", "−"));
  say(value);
  const read = (settled: boolean) => () => {
    const v = from(Number(box.value));
    say(v);
    changed(control.name, v, settled);
  };
  box.addEventListener("input", read(false));
  box.addEventListener("change", read(true));
  row.append(box, shown);
}

/** Three digits are what the slider shows, so they are what it means. */
function tidy(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, +value.toPrecision(3)));
}
