/** Transfers of files over HTTP and HTTPS, with limits and time-outs. */
import { request as requestPlain } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { rootCertificates } from 'node:tls';
import { errorText } from '../../core/errors.ts';
import { guardedLookup, isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Later } from '../../core/time/timers.ts';

// Files that a station downloads and uploads for its central system, in any version.

/** Values of SupportedFileTransferProtocols. */
export const fileProtocols = ['HTTP', 'HTTPS'] as const;

/**
 * Why a transfer failed. `bad_location`: not a URL, or a URL that outbound rules refuse. `unsupported`: another
 * protocol, or the server offers no such method. `permission`: 401, 403. `bad_message`: the server rejects the request
 * as faulty. `too_large`: beyond the limit. `broken`: connection, time-out, other answers. `cancelled`: by the station.
 */
export type TransferFailure =
  | 'bad_location'
  | 'unsupported'
  | 'permission'
  | 'bad_message'
  | 'too_large'
  | 'broken'
  | 'cancelled';

/** The message has no credentials and no query of the location. */
export class TransferError extends Error {
  readonly failure: TransferFailure;

  constructor(failure: TransferFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** called with the octets in order, piece by piece */
  readonly chunk: (octets: Buffer) => void;
}

export interface Downloaded {
  /** last part of the path; empty: it has none */
  readonly name: string;
  readonly octets: number;
}

export interface UploadFile {
  readonly name: string;
  readonly octets: Buffer;
}

export interface FileTransfer {
  readonly protocols: readonly string[];
  /** One attempt. @throws TransferError */
  download(location: string, options: DownloadOptions): Promise<Downloaded>;
  /**
   * One attempt. A location that ends with `/`, or whose last part has no dot, is a folder, to which the file name is
   * appended; any other location is the file itself.
   * @throws TransferError
   */
  upload(location: string, file: UploadFile, signal: AbortSignal): Promise<void>;
}

// Locations of files from a central system.

const maxLength = 4096;

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

/** A location for logs: without user, password, query and fragment, which may all hold secrets. */
export function shownLocation(location: string): string {
  if (!URL.canParse(location)) return 'a location that is not a URL';
  const { protocol, host, pathname } = new URL(location);
  return host === '' ? `a location of ${protocol}` : `${protocol}//${host}${pathname}`;
}

/**
 * @param schemes permitted schemes, as `http:`
 * @param base URL that redirects to the location; absent: no redirect
 * @throws TransferError bad_location, unsupported
 */
function parsedLocation(location: string, schemes: readonly string[], base?: URL): URL {
  if (location.length > maxLength || !URL.canParse(location, base?.href))
    throw new TransferError('bad_location', 'the location is not a URL');
  const url = new URL(location, base?.href);
  if (!schemes.includes(url.protocol))
    throw new TransferError('unsupported', `transfers over ${url.protocol} are not supported`);
  if (isRefusedTarget(bareHost(url))) throw new TransferError('bad_location', `${bareHost(url)} ${refusedTargetText}`);
  return url;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** User and password of a URL; null: it has none. */
function credentialsOf({ username, password }: URL): { readonly user: string; readonly password: string } | null {
  return username === '' && password === '' ? null : { user: decoded(username), password: decoded(password) };
}

/** The last part of the path, decoded. */
export function fileNameOf(url: URL): string {
  return decoded(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
}

/** URL for the upload of a file of this name. */
export function uploadUrl(location: URL, name: string): URL {
  const lastPart = fileNameOf(location);
  if (lastPart.includes('.')) return location;
  const url = new URL(location);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(name)}`;
  return url;
}

// One file over HTTP or HTTPS.

interface HttpTransferOptions {
  readonly maxOctets: number;
  /** PEM of authorities trusted beside those of Node */
  readonly roots: () => readonly string[];
}

const schemes = ['http:', 'https:'];
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses of a server that does not support PUT. */
const noPut: ReadonlySet<number> = new Set([405, 501]);

const failureByStatus: Readonly<Record<number, TransferFailure>> = {
  400: 'bad_message',
  401: 'permission',
  403: 'permission',
  405: 'unsupported',
  411: 'bad_message',
  413: 'too_large',
  415: 'bad_message',
  422: 'bad_message',
  501: 'unsupported',
};

interface FileRequest {
  readonly url: URL;
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly body: UploadFile | null;
  readonly signal: AbortSignal;
}

function authorizationOf(url: URL): Record<string, string> {
  const credentials = credentialsOf(url);
  if (credentials === null) return {};
  const octets = Buffer.from(`${credentials.user}:${credentials.password}`);
  return { authorization: `Basic ${octets.toString('base64')}` };
}

function headersOf({ url, body }: FileRequest): Record<string, string> {
  if (body === null) return { accept: '*/*', ...authorizationOf(url) };
  return {
    'content-type': 'application/octet-stream',
    'content-length': String(body.octets.length),
    'content-disposition': `attachment; filename="${body.name}"`,
    ...authorizationOf(url),
  };
}

/** Sends a request. Resolves with the head of the answer. */
function answerOf(sent: FileRequest, options: HttpTransferOptions): Promise<IncomingMessage> {
  const { url, method, body, signal } = sent;
  const roots = options.roots();
  const common: RequestOptions = {
    method,
    signal,
    agent: false,
    headers: headersOf(sent),
    lookup: guardedLookup(signal),
    maxHeaderSize: 16 * 1024,
  };
  // user and password are in the header
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === 'https:'
        ? requestTls(bare, { ...common, ...(roots.length > 0 && { ca: [...rootCertificates, ...roots] }) })
        : requestPlain(bare, common);
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body?.octets);
  });
}

/** The target of a redirect; credentials are for the same origin only. @throws TransferError also for HTTPS to HTTP */
function redirected(from: URL, { headers }: IncomingMessage): URL {
  const url = parsedLocation(headers.location ?? '', schemes, from);
  if (from.protocol === 'https:' && url.protocol !== 'https:')
    throw new TransferError('bad_location', 'the server redirects from HTTPS to HTTP');
  if (url.origin === from.origin && url.username === '') {
    url.username = from.username;
    url.password = from.password;
  }
  return url;
}

function refusalOf(status: number): TransferError {
  return new TransferError(failureByStatus[status] ?? 'broken', `the server answers ${status}`);
}

/** Follows redirects. */
async function exchange(
  sent: FileRequest,
  options: HttpTransferOptions,
): Promise<{ url: URL; answer: IncomingMessage }> {
  let { url } = sent;
  for (let hops = 0; ; hops++) {
    const answer = await answerOf({ ...sent, url }, options);
    const status = answer.statusCode ?? 0;
    if (!redirects.has(status)) return { url, answer };
    answer.destroy();
    // 303 leads to a page about the upload; 301 and 302 change the method of a POST only by habit
    if (status === 303 && sent.body !== null) throw refusalOf(status);
    if (hops >= maxRedirects) throw new TransferError('broken', `more than ${maxRedirects} redirects`);
    url = redirected(url, answer);
  }
}

const isSuccess = ({ statusCode = 0 }: IncomingMessage) => statusCode >= 200 && statusCode < 300;

/** @throws TransferError, and what node:http throws */
async function httpDownload(
  location: string,
  { signal, chunk }: DownloadOptions,
  options: HttpTransferOptions,
): Promise<Downloaded> {
  const start = parsedLocation(location, schemes);
  const { url, answer } = await exchange({ url: start, method: 'GET', body: null, signal }, options);
  try {
    if (answer.statusCode !== 200) throw refusalOf(answer.statusCode ?? 0);
    const tooLarge = () => new TransferError('too_large', `the file has more than ${options.maxOctets} octets`);
    const announced = Number(answer.headers['content-length'] ?? 0);
    if (announced > options.maxOctets) throw tooLarge();
    let octets = 0;
    for await (const piece of answer as AsyncIterable<Buffer>) {
      octets += piece.length;
      if (octets > options.maxOctets) throw tooLarge();
      chunk(piece);
    }
    return { name: fileNameOf(start) || fileNameOf(url), octets };
  } finally {
    answer.destroy();
  }
}

/** Uploads by PUT, or by POST if the server does not support PUT. @throws TransferError, and what node:http throws */
async function httpUpload(
  location: string,
  file: UploadFile,
  signal: AbortSignal,
  options: HttpTransferOptions,
): Promise<void> {
  const url = uploadUrl(parsedLocation(location, schemes), file.name);
  /** @returns status of a refusal; 0: success */
  const attempt = async (method: 'PUT' | 'POST'): Promise<number> => {
    const { answer } = await exchange({ url, method, body: file, signal }, options);
    answer.destroy();
    return isSuccess(answer) ? 0 : (answer.statusCode ?? 1);
  };
  const putStatus = await attempt('PUT');
  const status = noPut.has(putStatus) ? await attempt('POST') : putStatus;
  if (status !== 0) throw refusalOf(status);
}

// Repeated attempts of a transfer, by `retries` and `retryInterval` of the message.

interface AttemptsOptions {
  readonly later: Later;
  readonly signal: AbortSignal;
  /** attempts after the first one; absent: the station chooses */
  readonly retries: number | undefined;
  /** s between attempts; absent: the station chooses */
  readonly retryIntervalS: number | undefined;
  /** called before each wait */
  readonly paused?: () => void;
  /** called after each wait */
  readonly resumed?: () => void;
}

const defaultRetries = 2;
const defaultIntervalS = 30;
/** Maximum, since a message may request millions. */
const maxRetries = 100;
const maxIntervalS = 86_400;

/** Failures that another attempt would not change. */
const finalFailures: ReadonlySet<TransferFailure> = new Set(['bad_location', 'unsupported', 'too_large', 'cancelled']);

const clamped = (value: number, high: number) => Math.min(Math.max(value, 0), high);

/**
 * Waits until `start` calls back or the signal ends it.
 * @param start calls back once; the returned function cancels it
 * @throws TransferError cancelled
 */
export function waitFor(signal: AbortSignal, start: (done: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelled = () => {
      end();
      reject(new TransferError('cancelled', 'the transfer was cancelled'));
    };
    const end = start(() => {
      signal.removeEventListener('abort', cancelled);
      resolve();
    });
    signal.addEventListener('abort', cancelled, { once: true });
    if (signal.aborted) cancelled();
  });
}

/** @throws TransferError of the last attempt */
export async function withRetries<T>(options: AttemptsOptions, act: () => Promise<T>): Promise<T> {
  const { later, signal, retries = defaultRetries, retryIntervalS = defaultIntervalS, paused, resumed } = options;
  const max = clamped(Math.floor(retries), maxRetries);
  for (let failed = 0; ; failed++) {
    try {
      return await act();
    } catch (error) {
      if (failed >= max || (error instanceof TransferError && finalFailures.has(error.failure))) throw error;
    }
    paused?.();
    await waitFor(signal, (done) => later(clamped(retryIntervalS, maxIntervalS) * 1000, done));
    resumed?.();
  }
}

export interface FileTransferOptions {
  readonly later: Later;
  /** PEM of authorities trusted beside those of Node: roots of the central system */
  readonly roots?: () => readonly string[];
  /** maximum of a download; default 64 MiB */
  readonly maxOctets?: number;
  /** ms without an octet received (download) or for all of it (upload) */
  readonly idleMs?: number;
  /** ms for one attempt in all */
  readonly totalMs?: number;
}

/** The TransferError for an error of node:http, whose texts have no credentials. */
function failureOf(error: unknown, endReason: TransferError | null): TransferError {
  if (error instanceof TransferError) return error;
  if (endReason !== null) return endReason;
  const refused = error instanceof Error && 'code' in error && error.code === 'ERR_REFUSED_TARGET';
  return new TransferError(refused ? 'bad_location' : 'broken', errorText(error));
}

/** Runs one attempt with time-outs on top of the signal of the caller. */
async function attempt<T>(
  { later, idleMs = 60_000, totalMs = 600_000 }: FileTransferOptions,
  signal: AbortSignal,
  act: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  let endReason: TransferError | null = null;
  const end = (error: TransferError) => {
    endReason ??= error;
    ending.abort();
  };
  const cancel = () => {
    end(new TransferError('cancelled', 'the transfer was cancelled'));
  };
  const late = () => {
    end(new TransferError('broken', 'the server takes too long'));
  };
  const endTotal = later(totalMs, late);
  let endIdle = later(idleMs, late);
  const alive = () => {
    endIdle();
    endIdle = later(idleMs, late);
  };
  signal.addEventListener('abort', cancel);
  try {
    if (signal.aborted) cancel();
    return await act(ending.signal, alive);
  } catch (error) {
    throw failureOf(error, endReason);
  } finally {
    endTotal();
    endIdle();
    signal.removeEventListener('abort', cancel);
  }
}

export function createFileTransfer(options: FileTransferOptions): FileTransfer {
  const limits = { maxOctets: options.maxOctets ?? 64 * 1024 * 1024, roots: options.roots ?? (() => []) };
  return {
    protocols: fileProtocols,
    download: (location, { signal, chunk }) =>
      attempt(options, signal, (ending, alive) => {
        const counted = (octets: Buffer) => {
          alive();
          chunk(octets);
        };
        return httpDownload(location, { signal: ending, chunk: counted }, limits);
      }),
    upload: (location, file, signal) =>
      attempt(options, signal, (ending) => httpUpload(location, file, ending, limits)),
  };
}
