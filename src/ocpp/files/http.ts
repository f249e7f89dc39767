/** One file over HTTP or HTTPS. */
import { request as requestPlain } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as requestTls } from 'node:https';
import { rootCertificates } from 'node:tls';
import { guardedLookup } from '../../core/net/outbound.ts';
import { credentialsOf, fileNameOf, parsedLocation, uploadUrl } from './locations.ts';
import { TransferError } from './model.ts';
import type { Downloaded, DownloadOptions, TransferFailure, UploadFile } from './model.ts';

export interface HttpTransferOptions {
  readonly maxOctets: number;
  /** PEM of authorities trusted beside those of Node */
  readonly roots: () => readonly string[];
}

const schemes = ['http:', 'https:'];
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The server has no PUT there. */
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

interface Sent {
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

function headersOf({ url, body }: Sent): Record<string, string> {
  if (body === null) return { accept: '*/*', ...authorizationOf(url) };
  return {
    'content-type': 'application/octet-stream',
    'content-length': String(body.octets.length),
    'content-disposition': `attachment; filename="${body.name}"`,
    ...authorizationOf(url),
  };
}

/** Resolves with the head of the answer. */
function answerOf(sent: Sent, options: HttpTransferOptions): Promise<IncomingMessage> {
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
  // without user and password: they went into the header
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

/** The target of a redirect; credentials stay with their origin, and TLS is not left. */
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
async function exchange(sent: Sent, options: HttpTransferOptions): Promise<{ url: URL; answer: IncomingMessage }> {
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
export async function httpDownload(
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

/** PUT, and POST where the server has no PUT. @throws TransferError, and what node:http throws */
export async function httpUpload(
  location: string,
  file: UploadFile,
  signal: AbortSignal,
  options: HttpTransferOptions,
): Promise<void> {
  const url = uploadUrl(parsedLocation(location, schemes), file.name);
  const attempt = async (method: 'PUT' | 'POST'): Promise<number> => {
    const { answer } = await exchange({ url, method, body: file, signal }, options);
    answer.destroy();
    return isSuccess(answer) ? 0 : (answer.statusCode ?? 1);
  };
  const put = await attempt('PUT');
  const refused = noPut.has(put) ? await attempt('POST') : put;
  if (refused !== 0) throw refusalOf(refused);
}
