// One WebSocket to the server that this page came from. Answers come in the order of their numbers' requests.

import type { Reply } from "./types";

type Waiting = { resolve: (reply: Reply) => void };

export class Line {
  private socket: WebSocket | null = null;
  private next = 1;
  private waiting = new Map<number, Waiting>();
  private partial: { reply: Reply; ground: Float32Array[] } | null = null;

  constructor(private token: () => string, private heard: (open: boolean) => void) {
    this.connect();
  }

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  private connect(): void {
    const address = `ws://${location.host}/talk?token=${encodeURIComponent(this.token())}`;
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.heard(true);
    socket.onmessage = (event) => this.take(event.data as string | ArrayBuffer);
    socket.onclose = () => {
      this.partial = null;
      for (const one of this.waiting.values()) one.resolve({ id: null, superseded: true, rasters: 0 });
      this.waiting.clear();
      this.heard(false);
      setTimeout(() => this.connect(), 1500);
    };
    this.socket = socket;
  }

  private take(data: string | ArrayBuffer): void {
    if (typeof data === "string") this.partial = { reply: JSON.parse(data) as Reply, ground: [] };
    else this.partial?.ground.push(new Float32Array(data));
    if (!this.partial || this.partial.ground.length < this.partial.reply.rasters) return;
    const { reply, ground } = this.partial;
    this.partial = null;
    reply.ground = ground;
    if (reply.id === null) return;
    this.waiting.get(reply.id)?.resolve(reply);
    this.waiting.delete(reply.id);
  }

  ask(kind: string, what: object = {}): Promise<Reply> {
    if (!this.open) return Promise.resolve({ id: null, superseded: true, rasters: 0 });
    const id = this.next++;
    this.socket!.send(JSON.stringify({ id, kind, ...what }));
    return new Promise((resolve) => this.waiting.set(id, { resolve }));
  }
}
