/** Ports: names of addresses, listening, and the reasons why a port or a serial line cannot be opened. */
import { isIPv6 } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { errorText, SimError, shortageTexts } from '../errors.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'not permitted to use this port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EAFNOSUPPORT: 'this machine does not support that kind of address',
  ...shortageTexts,
  ERR_SOCKET_BAD_PORT: 'a port is a number from 0 to 65535',
};

/** `host:port`, an IPv6 address in brackets. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `address:port` of the other end, without the prefix of an IPv4 address on an IPv6 socket. */
export function peerOf(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return hostAndPort(addressOf(socket), socket.remotePort ?? 0);
}

/** Address of the other side without its port. */
export function addressOf({ remoteAddress = 'unknown' }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
}

function listenFailed(host: string, port: number, cause: unknown, what: string | undefined): SimError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const detail = errorText(cause);
  const reason = reasons[code] ?? detail;
  const name = hostAndPort(host, port);
  const whose = what === undefined ? '' : `${what}: `;
  const failure = new SimError('LISTEN_FAILED', `${whose}cannot listen on ${name}: ${reason}`, [
    { name, detail: reason },
  ]);
  return Object.assign(failure, { cause });
}

/**
 * Remedy for a port in use by another process, or not permitted; empty for other failures.
 * @param flag the setting of the port, which accepts 0
 * @param zero meaning of 0
 */
export function portRemedy({ cause }: Error, flag: string, zero = 'any free one'): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'EADDRINUSE' || code === 'EACCES' ? `; ${flag} takes another port, or 0 for ${zero}` : '';
}

/** A failure to listen, with the remedy. @param zero see `portRemedy` */
export function withRemedy(error: unknown, flag: string, zero?: string): unknown {
  if (!(error instanceof SimError)) return error;
  const { code, message, issues, cause } = error;
  return Object.assign(new SimError(code, message + portRemedy(error, flag, zero), issues), { cause });
}

/**
 * Binds a server of `node:net` or `node:http` and resolves with its address.
 * @param port 0: any free port
 * @param what protocol or device, first in the error text
 * @throws SimError LISTEN_FAILED with host, port and the reason as text
 */
export function listen(server: Server, host: string, port: number, what?: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const bound = () => {
      server.off('error', fail);
      resolve(server.address() as AddressInfo);
    };
    const fail = (cause: unknown) => {
      // a server that is bound by a later attempt must not collect the listeners of failed ones
      server.off('listening', bound).off('error', fail);
      reject(listenFailed(host, port, cause, what));
    };
    server.once('error', fail);
    try {
      server.listen({ host, port }, bound);
    } catch (cause) {
      // for a port out of range `listen` throws within the call
      fail(cause);
    }
  });
}

/** Texts of the serial port library, with their meaning for the user. */
const serialReasons: readonly (readonly [RegExp, string])[] = [
  [/no such file|file not found|does not exist/i, 'there is no such device'],
  [/permission denied|access denied/i, 'no permission to use it'],
  [/lock|busy/i, 'another program uses it'],
  [/inappropriate ioctl|not a tty|no such device or address|is a directory/i, 'it is not a serial port'],
];

/** Why a serial port cannot be opened, in words for the user: one of `serialReasons`, or the message of the library. */
export function serialReason(cause: unknown): string {
  const words = firstLine(cause);
  return serialReasons.find(([pattern]) => pattern.test(words))?.[1] ?? words;
}

/** The first line of the message of an error. */
export function firstLine(cause: unknown): string {
  const [line = ''] = errorText(cause).split('\n');
  return line;
}

/** The host of a listener for people: that at which others reach it, where it is bound to all addresses. */
export const shownHost = (bound: string, advertised: string | null | undefined): string =>
  bound === '0.0.0.0' || bound === '::' ? (advertised ?? bound) : bound;

/** True if no two listeners on one port can have these addresses. The address `::` takes IPv4 too. */
export function addressesMeet(one: string, other: string): boolean {
  const covers = (every: string, address: string) => every === '::' || (every === '0.0.0.0' && !isIPv6(address));
  return one === other || covers(one, other) || covers(other, one);
}
