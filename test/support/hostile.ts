import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { problemTable } from '../../src/core/http/problem.ts';
import type { ProblemCode } from '../../src/core/http/problem.ts';
import type { Json } from './http.ts';

/** One answer of a connection, cut out of the bytes by its own length. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A body in chunks, and the bytes behind it. */
function unchunked(bytes: Buffer): { readonly body: Buffer; readonly rest: Buffer } {
  const chunks: Buffer[] = [];
  for (let rest = bytes; ; ) {
    const line = rest.indexOf('\r\n');
    const size = rest.subarray(0, line).toString('latin1');
    expect(size, 'size of a chunk').to.match(/^[0-9a-f]+$/i);
    const [from, to] = [line + 2, line + 2 + Number.parseInt(size, 16)];
    expect(rest.subarray(to, to + 2).toString(), 'end of a chunk').to.equal('\r\n');
    chunks.push(rest.subarray(from, to));
    rest = rest.subarray(to + 2);
    if (to === from) return { body: Buffer.concat(chunks), rest };
  }
}

/** Splits a byte stream into answers; an incomplete answer fails. `heads`: the requests were HEAD. */
export function cutAnswers(bytes: Buffer, heads = false): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    expect(end, `an answer without end of headers: ${rest.toString('latin1').slice(0, 200)}`).to.be.greaterThan(0);
    const [first = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    expect(first).to.match(/^HTTP\/1\.1 \d{3} [A-Za-z ]+$/);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        expect(line, 'a header line').to.match(/^[A-Za-z-]+: [\x20-\x7e]*$/);
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
      }),
    );
    const status = Number(first.slice(9, 12));
    const bare = heads || status === 204 || status === 304 || status < 200;
    const behind = rest.subarray(end + 4);
    const length = bare ? 0 : Number(headers['content-length']);
    const whole =
      !bare && headers['transfer-encoding'] === 'chunked'
        ? unchunked(behind)
        : { body: behind.subarray(0, length), rest: behind.subarray(length) };
    if (headers['transfer-encoding'] === undefined) expect(whole.body.length, 'bytes of the body').to.equal(length);
    if (status >= 200) answers.push({ status, headers, text: whole.body.toString() });
    rest = whole.rest;
  }
  return answers;
}

/** Sends raw bytes; resolves with everything received once the server has closed the connection. */
export function talk(port: number, bytes: Buffer | string): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    // a server that closes during a write resets the connection: the bytes before that count
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => {
      resolve(Buffer.concat(chunks));
    });
    socket.write(bytes);
  });
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const traces =
  /node_modules|express|swagger-ui-dist|\bzod\b|node:internal|\.[cm]?[jt]s:\d|\bat .+:\d+:\d+|\/home\/|\/work\/|\/usr\/|Error:/i;
const problemMembers = ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'errors'];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Checks the rules for every answer. @returns the problem of an error, else undefined */
export function expectSound({ status, headers, text }: WireAnswer, heads = false): Json {
  expect(headers['x-request-id']).to.match(uuid);
  expect(headers).to.include({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['content-security-policy']).to.match(/^default-src '(none|self)'.*frame-ancestors 'none'/);
  for (const name of [
    'server',
    'x-powered-by',
    'set-cookie',
    'etag',
    'last-modified',
    'access-control-allow-origin',
    'access-control-allow-private-network',
  ]) {
    expect(headers).not.to.have.property(name);
  }
  expect(status).to.be.within(200, 599);
  if (status < 400) return undefined;
  expect(headers['content-type'], 'type of an error').to.equal('application/problem+json');
  expect(headers['content-security-policy']).to.equal("default-src 'none'; frame-ancestors 'none'");
  if (heads) return undefined;
  expect(text).not.to.match(traces);
  const problem: Json = JSON.parse(text);
  expect(problemMembers).to.include.members(Object.keys(problem));
  const { title, status: standard } = problemTable[problem.code as ProblemCode];
  expect(problem).to.include({
    title,
    status,
    type: `urn:derbench:problem:${problem.code}`,
    request_id: headers['x-request-id'],
  });
  expect(standard).to.equal(status);
  expect(problem.detail).to.be.a('string').with.length.within(5, 2000);
  expect(problem.instance).to.be.a('string').with.length.at.most(1024);
  expect(problem.errors !== undefined).to.equal(problem.code === 'validation');
  for (const fault of problem.errors ?? []) {
    expect(['in', 'name', 'detail', 'allowed']).to.include.members(Object.keys(fault));
    expect(fault.in).to.be.oneOf(['body', 'query', 'path']);
  }
  if (status === 405) expect(headers).to.have.property('allow');
  return problem;
}

/** The one answer to one request, sound in every respect. */
export async function only(
  port: number,
  bytes: Buffer | string,
  heads = false,
): Promise<WireAnswer & { readonly problem: Json }> {
  const answers = cutAnswers(await talk(port, bytes), heads);
  expect(answers).to.have.length(1);
  return { ...answers[0]!, problem: expectSound(answers[0]!, heads) };
}

export interface Wire {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Buffer;
}

/** Bytes of a request that asks for the connection to be closed after it; `undefined` takes a header away. */
export function wire(target: string, { method, headers = {}, body }: Wire = {}): Buffer {
  const all: Record<string, string | readonly string[] | undefined> = {
    Host: 'localhost',
    Connection: 'close',
    ...(body !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const head = `${method ?? (body === undefined ? 'GET' : 'POST')} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body ?? '')]);
}
