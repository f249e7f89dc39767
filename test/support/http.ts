import { connect } from 'node:net';
import { request } from 'node:http';
import type { Agent } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function parseAnswer(bytes: Buffer): RawAnswer {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(first.split(' ')[1]), headers, text: bytes.subarray(end + 4).toString() };
}

/** Sends raw bytes; resolves with the answer that arrived before the server closed the connection. */
export async function rawExchange(port: number, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  return parseAnswer(await rawBytes(port, ...parts));
}

/** As `rawExchange`, for several answers. */
export function rawBytes(port: number, ...parts: (string | Buffer)[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (error) => {
      if (chunks.length === 0) reject(error);
    });
    socket.on('close', () => {
      resolve(Buffer.concat(chunks));
    });
    for (const part of parts) socket.write(part);
  });
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** an object is sent as JSON */
  readonly body?: unknown;
  /** keeps the connection for the next request */
  readonly agent?: Agent;
}

/** Parsed JSON, whose members a test reads as it likes. */
export type Json = ReturnType<typeof JSON.parse>;

export interface JsonAnswer extends RawAnswer {
  readonly json: Json;
}

/** One request on its own connection; unlike `fetch` it lets a test set every header, `Host` included. */
export function ask(port: number, path: string, { method, headers, body, agent }: Ask = {}): Promise<JsonAnswer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: agent ?? false,
        method: method ?? (text === undefined ? 'GET' : 'POST'),
        headers: {
          ...(text !== undefined && {
            'Content-Type': 'application/json',
            'Content-Length': String(Buffer.byteLength(text)),
          }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          const type = response.headers['content-type'] ?? '';
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            text: answer,
            json: /[/+]json\b/.test(type) && answer !== '' ? JSON.parse(answer) : undefined,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}
