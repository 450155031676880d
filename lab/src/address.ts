// The state in the address: JSON, deflated, in the alphabet of URLs. A link makes the page again exactly.

import type { State } from "./types";

const KEPT = "certifit-lab-state";
const TOKEN = "certifit-lab-token";

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const flow = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(flow).arrayBuffer());
}

export async function packed(state: State): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function unpacked(text: string): Promise<State | null> {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(raw, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(bytes)) as State;
    return Array.isArray(state.points) && typeof state.scene === "string" ? state : null;
  } catch {
    return null;
  }
}

function parts(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

/** The token of the printed address goes to this browser's memory and leaves the address, so that links do not hold it. */
export function takeToken(): void {
  const given = parts();
  const token = given.get("token");
  if (token === null) return;
  localStorage.setItem(TOKEN, token);
  given.delete("token");
  history.replaceState(null, "", given.size ? `#${given}` : location.pathname);
}

export function token(): string {
  return localStorage.getItem(TOKEN) ?? "";
}

/** What the address says; else what was on the page when it was last open. */
export async function remembered(): Promise<State | null> {
  const linked = parts().get("s");
  if (linked) return unpacked(linked);
  const kept = localStorage.getItem(KEPT);
  return kept ? unpacked(kept) : null;
}

let waiting: State | null = null;
let timer = 0;

export function remember(state: State): void {
  waiting = structuredClone(state);
  if (timer) return;
  timer = window.setTimeout(async () => {
    timer = 0;
    if (waiting) await write(waiting);
  }, 120);
}

async function write(state: State): Promise<void> {
  const text = await packed(state);
  history.replaceState(null, "", `#s=${text}`);
  try {
    localStorage.setItem(KEPT, text);
  } catch {
    // A full store only means that a restart of the browser forgets; the address still holds everything.
  }
}
