/** Live memory of a Node.js process that runs with `--inspect`: its inspector collects all garbage first. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { within } from './tally.ts';

const limitMs = 20_000;

interface Evaluated {
  readonly id: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
  readonly error?: { readonly message: string };
}

/** The address that Node.js prints; null: the process runs without an inspector. */
export function inspectorUrl(output: string): string | null {
  return /^Debugger listening on (ws:\S+)$/m.exec(output)?.[1] ?? null;
}

/** Result of a command of the inspector. @throws Error that the inspector reports */
async function resultOf(socket: WebSocket, id: number, method: string, params: object = {}): Promise<Evaluated> {
  socket.send(JSON.stringify({ id, method, params }));
  for (;;) {
    const [data] = (await once(socket, 'message')) as [Buffer];
    const reply = JSON.parse(data.toString()) as Evaluated;
    if (reply.id !== id) continue;
    if (reply.error !== undefined) throw new Error(`${method}: ${reply.error.message}`);
    return reply;
  }
}

/** Objects and buffers that are in use, MB. The process stands still for some tenths of a second. */
export async function liveMb(url: string): Promise<number> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  try {
    await within(limitMs, url, once(socket, 'open'));
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())';
    // the second collection frees what finalizers have released
    for (const id of [1, 2]) await within(limitMs, url, resultOf(socket, id, 'HeapProfiler.collectGarbage'));
    const { result } = await within(limitMs, url, resultOf(socket, 3, 'Runtime.evaluate', { expression }));
    const octets = result?.result?.value;
    if (typeof octets !== 'number') throw new Error('the process says nothing of its memory');
    return octets / 1e6;
  } finally {
    socket.terminate();
  }
}
