/**
 * A head-end of IEEE 2030.5 for tests: a server over TLS with client certificates, or plain HTTP, whose resources a test
 * builds and changes while it runs, and which keeps every request. Paths are its own; a client must follow links.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { listen } from '../../../src/core/net/listen.ts';
import type { Identity } from '../../support/pki.ts';
import { documentOf, withLowerHex, withPrefix, withZeroHints } from './markup.ts';
import type { Control, Curve, DefaultControl, EndDevice, Fsa, MirrorPoint, Modes, Program, Rates } from './model.ts';
import type { ReadingRecord, Recorded, ResponseRecord, SubscriptionRecord } from './model.ts';
import { Notifier } from './notifier.ts';
import { answerOf } from './resources.ts';
import type { Answer } from './resources.ts';
import { parsed } from './bodies.ts';
import { pathMatches, Tricks } from './tricks.ts';
import type { Trick } from './tricks.ts';

export const bothSuites = 'ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-GCM-SHA256:@SECLEVEL=0';

export interface HeadEndOptions {
  /** null: plain HTTP */
  readonly tls: { readonly identity: Identity; readonly ca: string; readonly ciphers?: string } | null;
  /** its time, ms since the epoch */
  readonly nowMs: () => number;
  /** default: a free one */
  readonly port?: number;
}

/** 40 hex digits of a certificate, DER. */
export const lfdiOf = (der: Buffer): string =>
  createHash('sha256').update(der).digest('hex').slice(0, 40).toUpperCase();

/** The number that belongs to an LFDI, with its check digit. */
export function sfdiOf(lfdi: string): number {
  const digits = Number.parseInt(lfdi.slice(0, 9), 16);
  const sum = Array.from(String(digits)).reduce((total, digit) => total + Number(digit), 0);
  return digits * 10 + ((10 - (sum % 10)) % 10);
}

export interface ControlOptions {
  readonly modes: Modes;
  /** seconds from now; default 0 */
  readonly inS?: number;
  /** default 60 */
  readonly durationS?: number;
  readonly creationS?: number;
  readonly randomizeStartS?: number;
  readonly randomizeDurationS?: number;
  readonly deviceCategory?: string;
  /** default 03; null: absent */
  readonly responseRequired?: string | null;
  readonly replyTo?: string;
  readonly mRID?: string;
  readonly description?: string;
}

export class HeadEnd {
  readonly port: number;
  readonly origin: string;
  readonly requests: Recorded[] = [];
  readonly responses: ResponseRecord[] = [];
  readonly readings: ReadingRecord[] = [];
  /** by number of the mirror and mRID of the MirrorMeterReading */
  readonly readingTypes = new Map<string, Readonly<Record<string, number>>>();
  readonly mirrors: MirrorPoint[] = [];
  readonly subscriptions: SubscriptionRecord[] = [];
  readonly endDevices: EndDevice[] = [];
  readonly fsas: Fsa[] = [];
  readonly programs: Program[] = [];
  readonly rates: Rates = {
    dcap: 60,
    time: 60,
    fsas: 60,
    programs: 60,
    ders: 60,
    endDevices: 60,
    mirrors: 60,
    mirrorPost: 60,
  };
  readonly clock = { quality: 7, tzOffsetS: 36_000, dstOffsetS: 0, dstStartS: 0, dstEndS: 0, aheadS: 0 };
  /** paths of further Times, by what they are ahead of the first one, seconds */
  readonly otherTimes = new Map<string, number>();
  readonly style = { prefix: '', lowerHex: false, zeroHints: false };
  /** whether a POST of an EndDevice makes one; otherwise it is answered 403 */
  inBand = true;
  /** PIN of EndDevices that register themselves; null: they get no RegistrationLink */
  inBandPin: number | null = null;
  subscribable = false;
  /** whether subscribers are told of each change that a method of this object makes */
  notifies = false;
  /** items of a page, whatever a client asks for */
  largestPage = 255;
  /** whether controls stay in the list once they have ended */
  keepsEnded = false;
  /** bodies of `.well-known/csipaus` and the like, by path */
  readonly extraPages = new Map<string, string>();
  /** sees each request before it has its effect, and after its answer was made */
  observer: { before(recorded: Recorded): void; after(recorded: Recorded): void } | null = null;
  readonly #tricks = new Tricks();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();
  readonly #options: HeadEndOptions;
  readonly notifier: Notifier;
  #open = 0;
  #lastDevice = 0;
  #lastProgram = 0;
  #handshakes = 0;
  #nextId = 1;
  #mrids = 0;

  private constructor(server: Server, options: HeadEndOptions) {
    this.#server = server;
    this.#options = options;
    const address = server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    this.origin = `${options.tls === null ? 'http' : 'https'}://127.0.0.1:${this.port}`;
    this.notifier = new Notifier(options.tls);
  }

  static async open(options: HeadEndOptions): Promise<HeadEnd> {
    const { tls } = options;
    const server =
      tls === null
        ? createHttpServer()
        : createServer({
            ...tls.identity,
            ca: tls.ca,
            requestCert: true,
            rejectUnauthorized: true,
            minVersion: 'TLSv1.2',
            maxVersion: 'TLSv1.2',
            ecdhCurve: 'P-256',
            ciphers: tls.ciphers ?? bothSuites,
          });
    // a client never meets a connection that is just being closed
    server.keepAliveTimeout = 600_000;
    await listen(server, '127.0.0.1', options.port ?? 0);
    const headEnd = new HeadEnd(server, options);
    server.on('connection', (socket: Socket) => {
      headEnd.#sockets.add(socket);
      socket.on('close', () => headEnd.#sockets.delete(socket));
      socket.on('error', () => undefined);
      if (tls !== null) headEnd.#handshakes += 1;
    });
    for (const end of ['secureConnection', 'tlsClientError']) {
      server.on(end, () => {
        headEnd.#handshakes -= 1;
      });
    }
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      headEnd.#handle(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    return headEnd;
  }

  /** Its time, whole seconds. */
  get nowS(): number {
    return Math.floor(this.#options.nowMs() / 1000) + this.clock.aheadS;
  }

  /** Requests that have come and are not answered yet, handshakes and notifications under way. */
  get open(): number {
    return this.#open + this.#handshakes + this.notifier.open;
  }

  newId(): number {
    return this.#nextId++;
  }

  /** The same ones in each head-end: random offsets of clients depend on them. */
  newMrid(): string {
    this.#mrids += 1;
    return createHash('sha256').update(`mRID ${this.#mrids}`).digest('hex').slice(0, 32).toUpperCase();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.notifier.close();
    await closed;
  }

  /** Ends every connection at once. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  // what exists

  /** An EndDevice that exists without a request of the client. @param owner LFDI of the certificate that may see it */
  register(lfdi: string, { pin = null, owner = lfdi }: { pin?: number | null; owner?: string } = {}): EndDevice {
    const device: EndDevice = {
      id: (this.#lastDevice += 1),
      lfdi,
      sfdi: sfdiOf(lfdi),
      owner,
      changedS: this.nowS,
      enabled: true,
      pin,
      fsas: null,
      ders: [1],
      documents: new Map(),
      logEvents: [],
      without: new Set(),
    };
    this.endDevices.push(device);
    this.changed('/edev');
    return device;
  }

  deregister(device: EndDevice): void {
    this.endDevices.splice(this.endDevices.indexOf(device), 1);
    this.changed('/edev');
  }

  fsa(description = 'group', id = this.fsas.length + 1): Fsa {
    const fsa = { id, mRID: this.newMrid(), description };
    this.fsas.push(fsa);
    return fsa;
  }

  /** A DERProgram, by default in the first FunctionSetAssignments and for all EndDevices. */
  program(options: { primacy?: number; fsa?: Fsa; default?: Modes; endDevices?: readonly number[] } = {}): Program {
    const fsa = options.fsa ?? this.fsas[0] ?? this.fsa();
    const program: Program = {
      id: (this.#lastProgram += 1),
      mRID: this.newMrid(),
      primacy: options.primacy ?? 10,
      description: `program ${this.#lastProgram}`,
      fsaId: fsa.id,
      endDevices: options.endDevices === undefined ? null : new Set(options.endDevices),
      default: null,
      controls: [],
      curves: [],
    };
    this.programs.push(program);
    if (options.default !== undefined) this.setDefault(program, options.default);
    for (const { id } of this.endDevices) this.changed(`/edev/${id}/fsa/${fsa.id}/derp`);
    return program;
  }

  setDefault(program: Program, modes: Modes, settings: DefaultControl['settings'] = {}): void {
    program.default = { mRID: program.default?.mRID ?? this.newMrid(), modes, settings };
    for (const { id } of this.endDevices) this.changed(`/edev/${id}/derp/${program.id}/dderc`);
  }

  curve(program: Program, facts: Omit<Curve, 'id' | 'mRID'>): Curve {
    const curve = { ...facts, id: program.curves.length + 1, mRID: this.newMrid() };
    program.curves.push(curve);
    return curve;
  }

  /** A DERControl; by default it starts now, lasts a minute and wants responses. */
  control(program: Program, { modes, inS = 0, ...options }: ControlOptions): Control {
    const { responseRequired = '03' } = options;
    const control: Control = {
      id: this.newId(),
      mRID: options.mRID ?? this.newMrid(),
      description: options.description ?? 'control',
      creationS: options.creationS ?? this.nowS,
      startS: this.nowS + inS,
      durationS: options.durationS ?? 60,
      ...(options.randomizeStartS !== undefined && { randomizeStartS: options.randomizeStartS }),
      ...(options.randomizeDurationS !== undefined && { randomizeDurationS: options.randomizeDurationS }),
      ...(options.deviceCategory !== undefined && { deviceCategory: options.deviceCategory }),
      ...(responseRequired !== null && { responseRequired }),
      ...(options.replyTo !== undefined && { replyTo: options.replyTo }),
      modes,
      status: null,
      statusS: 0,
      potentiallySuperseded: false,
    };
    program.controls.push(control);
    this.#controlsChanged(program);
    return control;
  }

  /** @param status 2 cancelled, 3 cancelled with randomization, 4 superseded */
  end(control: Control, status: 2 | 3 | 4): void {
    control.status = status;
    control.statusS = this.nowS;
    const program = this.programs.find(({ controls }) => controls.includes(control));
    if (program !== undefined) this.#controlsChanged(program);
  }

  /** Takes a control out of its list without a word. */
  withdraw(program: Program, control: Control): void {
    program.controls.splice(program.controls.indexOf(control), 1);
  }

  #controlsChanged(program: Program): void {
    for (const { id } of this.endDevices) this.changed(`/edev/${id}/derp/${program.id}/derc`);
  }

  /** A resource is another one now: its subscribers are told if `notifies` is on. */
  changed(href: string): void {
    if (this.notifies) void this.notify(href);
  }

  /**
   * Tells the subscribers of a resource; with status 0 they get the resource.
   * @returns the statuses of their answers; 0 for one that could not be reached
   */
  notify(href: string, status = 0, withResource = true): Promise<readonly number[]> {
    const told = this.subscriptions.filter(({ resource }) => resource === href);
    return Promise.all(
      told.map((subscription) => {
        const page = withResource && status === 0 ? this.#resource(href, subscription) : null;
        return this.notifier.send(subscription, status, page);
      }),
    );
  }

  #resource(path: string, { limit, owner }: SubscriptionRecord): string | null {
    const query = new URLSearchParams({ l: String(limit) });
    const answer = answerOf(this, { method: 'GET', path, query, lfdi: owner, body: '', root: null });
    return answer.root ?? null;
  }

  // what the client did

  trick(method: string, path: string | RegExp, trick: Trick, times?: number): () => void {
    return this.#tricks.add(method, path, trick, times);
  }

  /** Requests so far. @param from index of the first one that counts */
  sent(method: string, path: string | RegExp, from = 0): Recorded[] {
    return this.requests.filter(
      (known) => known.index >= from && known.method === method && pathMatches(path, known.path),
    );
  }

  /** The first such request, once it is answered. */
  request(method: string, path: string | RegExp, from = 0): Promise<Recorded> {
    return this.until(() => this.sent(method, path, from).find(({ status }) => status !== 0));
  }

  response(mRID: string, status: number): Promise<ResponseRecord> {
    return this.until(() => this.responses.find((known) => known.mRID === mRID && known.status === status));
  }

  /** Statuses of the responses to a control, in the order in which they came. */
  statuses(mRID: string, lfdi?: string): number[] {
    return this.responses
      .filter((known) => known.mRID === mRID && (lfdi === undefined || known.lfdi === lfdi))
      .map(({ status }) => status);
  }

  /** Waits until a value is there; asks again at each request and answer. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #tell(): void {
    for (const look of [...this.#waiting]) look();
  }

  // HTTP

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open += 1;
    response.once('close', () => {
      this.#open -= 1;
      this.#tell();
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const url = new URL(request.url ?? '/', this.origin);
    const { socket, method = 'GET' } = request;
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    const recorded: Recorded = {
      index: this.requests.length,
      method,
      path: url.pathname,
      query: url.search,
      headers: request.headers,
      body,
      root: body === '' ? null : parsed(body).root,
      atS: this.nowS,
      lfdi: certificate === undefined ? null : lfdiOf(certificate.raw),
      cipher: socket instanceof TLSSocket ? `${socket.getProtocol()} ${socket.getCipher().name}` : null,
      status: 0,
    };
    this.requests.push(recorded);
    this.#tell();
    this.observer?.before(recorded);
    await this.#answer(recorded, url, response);
    this.observer?.after(recorded);
  }

  async #answer(recorded: Recorded, { pathname: path, searchParams: query }: URL, response: ServerResponse) {
    const { method, lfdi, body, root } = recorded;
    const trick = this.#tricks.take(method, path);
    if (trick?.kind === 'reset') {
      response.destroy();
      return;
    }
    if (trick?.kind === 'hold') await trick.until;
    if (trick?.kind === 'answer') {
      const { status, headers = {}, body: text = '' } = trick;
      this.#send(response, recorded, { status, headers, text });
    } else if (trick?.kind === 'redirect') {
      this.#send(response, recorded, { status: trick.status, headers: { Location: trick.to } });
    } else {
      this.#send(response, recorded, answerOf(this, { method, path, query, lfdi, body, root, recorded }), trick);
    }
  }

  #send(response: ServerResponse, recorded: Recorded, answer: Answer, trick?: Trick): void {
    let text = answer.text ?? (answer.root === undefined ? '' : this.styled(documentOf(answer.root)));
    if (trick?.kind === 'rewrite') text = trick.change(text);
    const headers: Record<string, string> = { ...answer.headers };
    if (text !== '') headers['Content-Type'] = 'application/sep+xml';
    recorded.status = answer.status;
    if (trick?.kind === 'http10') {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      response.socket?.end(`HTTP/1.0 ${answer.status} OK\r\n${lines.join('')}\r\n${text}`);
      return;
    }
    if (answer.status !== 204) headers['Content-Length'] = String(Buffer.byteLength(text));
    response.writeHead(answer.status, headers);
    if (trick?.kind === 'cut') {
      response.write(Buffer.from(text).subarray(0, trick.afterBytes), () => response.destroy());
    } else {
      response.end(recorded.method === 'HEAD' ? undefined : text);
    }
  }

  styled(xml: string): string {
    const { prefix, lowerHex, zeroHints } = this.style;
    let text = xml;
    if (zeroHints) text = withZeroHints(text);
    if (lowerHex) text = withLowerHex(text);
    return prefix === '' ? text : withPrefix(text, prefix);
  }
}
