/** The telemetry stream of the page: a test is its other end. */
import { startLive } from '../../../src/ui/store/live';
import { startStream } from '../../../src/ui/store/stream';
import { startTimeline } from '../../../src/ui/store/timeline';
import type { TimelineEntry } from '../../../src/ui/store/timeline';
import { pass } from './clock.ts';
import { Daemon } from './daemon.ts';
import { settle } from './settle.ts';

class PageSocket {
  readonly address: string;
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  constructor(address: string) {
    this.address = address;
    (address.endsWith('/timeline') ? timelineSockets : sockets).push(this);
  }

  close(): void {
    this.onclose?.();
  }
}

/** Connections for telemetry that the page has opened, the newest last. */
export const sockets: PageSocket[] = [];
/** Those for the timeline. */
const timelineSockets: PageSocket[] = [];

let isStarted = false;

/** Starts the stream and what follows it, as the page does; the module is one for all tests of the process. */
export async function startPage(): Promise<void> {
  if (isStarted) return;
  isStarted = true;
  // the stream asks for the number of devices first
  void new Daemon();
  globalThis.WebSocket = PageSocket as unknown as typeof WebSocket;
  startStream();
  startTimeline();
  startLive(true);
  await settle();
}

function newest(): PageSocket {
  const socket = sockets.at(-1);
  if (socket === undefined) throw new Error('the page has opened no connection');
  return socket;
}

/** The daemon accepts the newest connection. */
export async function accept(): Promise<void> {
  newest().onopen?.();
  await settle();
}

/** The daemon sends the telemetry of a device or a fleet, and the screen draws it. */
export async function send(message: unknown): Promise<void> {
  newest().onmessage?.({ data: JSON.stringify(message) });
  await pass(20);
}

/** The daemon tells of a change, and the page draws what it has gathered. */
export async function sendEntry(entry: TimelineEntry): Promise<void> {
  timelineSockets.at(-1)?.onmessage?.({ data: JSON.stringify(entry) });
  await pass(300);
}

/** The connection ends. */
export async function end(): Promise<void> {
  newest().onclose?.();
  await settle();
}
