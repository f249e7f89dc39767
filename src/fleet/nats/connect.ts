/** The first connection to a server: options, the loop of attempts, and errors in words. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, credsAuthenticator, errors, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import type { Authenticator, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { errorText } from '../../core/errors.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { FleetCredentials, LinkOptions } from '../link-options.ts';
import { FleetError } from '../link.ts';

const attemptMs = 3000;
const betweenMs = 1000;

/** A server without an answer is noticed at the third ping, within 4.8 s, and attempts to return never end. */
const keepAlive = {
  pingInterval: 1600,
  maxPingOut: 2,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 50,
  reconnectJitterTLS: 50,
  timeout: attemptMs,
  // a server that starts again may refuse its users for a moment
  ignoreAuthErrorAbort: true,
  noAsyncTraces: true,
};

/** @throws FleetError `denied` */
function checkedServer(text: string, plain: boolean): { readonly host: string; readonly isTls: boolean } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '')
    throw new FleetError('denied', `"${text}" is no address of a NATS server: nats://host:port or tls://host:port`);
  if (url.username !== '' || url.password !== '')
    throw new FleetError('denied', 'the address of a NATS server must not have credentials: they come from files');
  const isTls = url.protocol === 'tls:';
  if (!isTls && !plain && !isLoopback(url.hostname))
    throw new FleetError('denied', `${text} would send everything in clear text: use tls://, or --fleet_plain yes`);
  return { host: url.host, isTls };
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** @throws FleetError `denied`: a file that cannot be read */
function contents(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new FleetError('denied', errorText(error), { cause: error });
  }
}

/** Public key of an nkey, for messages: never its seed. */
const trimmed = (seed: Uint8Array) => Buffer.from(Buffer.from(seed).toString('utf8').trim());

/** @throws FleetError `denied` */
function loginOf({ credsFile, nkeyFile, user, password, token }: FleetCredentials): NodeConnectionOptions {
  if (credsFile !== undefined) return { authenticator: readAnew(credsFile, credsAuthenticator) };
  if (nkeyFile !== undefined) return { authenticator: readAnew(nkeyFile, (seed) => nkeyAuthenticator(trimmed(seed))) };
  if (token !== undefined) return { token };
  if (user !== undefined) return password === undefined ? { user } : { user, pass: password };
  return {};
}

/** Reads a file for each connection, so that renewed credentials need no restart. */
function readAnew(file: string, make: (text: Uint8Array) => Authenticator): Authenticator {
  const first = contents(file);
  try {
    make(first)('nonce');
  } catch (error) {
    throw new FleetError('denied', `${file}: ${errorText(error)}`, { cause: error });
  }
  return (nonce) => make(contents(file))(nonce);
}

/** The user of a connection, for messages. */
export function userOf({ nkeyFile, user, credsFile }: FleetCredentials = {}): string {
  if (nkeyFile !== undefined) return nkeys.fromSeed(trimmed(contents(nkeyFile))).getPublicKey();
  return credsFile ?? user ?? '';
}

/** @throws FleetError `denied` */
export function connectionOptions(options: LinkOptions): NodeConnectionOptions {
  const servers = options.servers.map((server) => checkedServer(server, options.plain ?? false));
  const { tls = {}, credentials = {}, inboxPrefix } = options;
  for (const file of [tls.caFile, tls.certFile, tls.keyFile]) if (file !== undefined) contents(file);
  const wantsTls = servers.some(({ isTls }) => isTls) || Object.keys(tls).length > 0;
  return {
    ...keepAlive,
    ...loginOf(credentials),
    ...(wantsTls ? { tls } : {}),
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    servers: servers.map(({ host }) => host),
    name: options.name,
  };
}

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return '';
  const code = 'code' in error ? String(error.code) : '';
  return code === '' && error.cause !== undefined ? codeOf(error.cause) : code;
};

/** Errors that no further attempt changes: credentials and certificates. */
function refusalText(error: unknown): string | null {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
    return `the server refuses the credentials (${error.message})`;
  if (error instanceof errors.InvalidArgumentError) return error.message;
  const code = codeOf(error);
  const isOfTls = /^(ERR_(TLS|SSL|OSSL)|UNABLE_TO|CERT_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME)/.test(code);
  return isOfTls ? `TLS: ${errorText(error)} (${code})` : null;
}

/**
 * Connects, and tries again each second.
 *
 * @throws FleetError `denied`, or `offline` when the time is over
 */
export async function firstConnection(options: LinkOptions): Promise<NatsConnection> {
  const natsOptions = connectionOptions(options);
  const where = options.servers.join(', ');
  const endMs = systemClock.monotonicMs() + options.waitMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await connect(natsOptions);
    } catch (error) {
      const refusal = refusalText(error);
      if (refusal !== null) throw new FleetError('denied', `${where}: ${refusal}`, { cause: error });
      const text = errorText(error);
      if (systemClock.monotonicMs() + betweenMs > endMs)
        throw new FleetError('offline', `no NATS server at ${where} within ${options.waitMs / 1000} s: ${text}`, {
          cause: error,
        });
      if (attempt === 0) options.log.info(`waits for the NATS server at ${where}: ${text}`);
    }
    await delay(betweenMs);
  }
}
