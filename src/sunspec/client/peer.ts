/** The other device: its address, the connection to it, and errors about it. */
import { SimError } from '../../core/errors.ts';
import type { ConnectTarget } from '../../core/net/connect.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { createClientContext } from '../../core/tls/client-context.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { ClientTarget } from '../../contract/sunspec-client.ts';
import { exceptionNames } from '../../core/wire/modbus.ts';

/** `tcp://127.0.0.1:8502`, `tls://...`, `serial:/dev/ttyUSB0` */
export function endpointOf(target: ClientTarget): string {
  return target.transport === 'rtu'
    ? `serial:${target.serial.path}`
    : `${target.transport}://${hostAndPort(target.host, target.port)}`;
}

/** Address and TLS options of the socket to a device. @throws SimError COMMAND_BAD_VALUE for unusable certificates */
export function connectTargetOf(target: Extract<ClientTarget, { host: string }>): ConnectTarget {
  const { host, port, timeoutMs } = target;
  if (target.transport === 'tcp') return { host, port, timeoutMs };
  const { checkHostname } = target.tls;
  return { host, port, timeoutMs, tls: { context: createClientContext(target.tls, 'sunspec', 'tls'), checkHostname } };
}

/** A target without certificates and keys, fit for display. */
export function withoutSecrets(target: ClientTarget): ClientTarget {
  return target.transport === 'tls' ? { ...target, tls: { ...target.tls, cert: '', key: '', rootCert: '' } } : target;
}

/**
 * Names of serial lines: Linux 8250 and compatible (`S`), USB (`USB`, `ACM`) and ARM (`AMA`), macOS, Windows. Other
 * names below /dev are files, consoles and terminals.
 */
const serialPath =
  /^(?:\/dev\/(?:tty(?:S|USB|ACM|AMA)\d+|serial\/by-(?:id|path)\/[\w.:@+-]+|(?:cu|tty)\.[\w.-]+)|COM\d{1,3})$/;
const ptyPath = /^\/dev\/pts\/\d+$/;

/**
 * @param ptys true: pseudo terminals, as those of a shell, count as serial lines
 * @throws SimError COMMAND_BAD_VALUE with the members of the request that cannot be the address of a device
 */
export function checkTarget(target: ClientTarget, ptys: boolean): void {
  if (target.transport === 'rtu') {
    const { path } = target.serial;
    const isPty = ptyPath.test(path);
    if (serialPath.test(path) || (isPty && ptys)) return;
    const detail = isPty
      ? 'is a pseudo terminal, possibly that of a shell; start the simulator with --client_pty yes to use it'
      : 'must be the name of a serial line, such as /dev/ttyUSB0, /dev/serial/by-id/... or COM3';
    throw new SimError('COMMAND_BAD_VALUE', `serial.path ${detail}`, [{ name: '/serial/path', detail }]);
  }
  if (!isRefusedTarget(target.host)) return;
  throw new SimError('COMMAND_BAD_VALUE', `${target.host} ${refusedTargetText}`, [
    { name: '/host', detail: refusedTargetText },
  ]);
}

/** `exception 2 (illegal data address)` */
export function exceptionText(code: number): string {
  return `exception ${code} (${exceptionNames[code] ?? 'not a code of the protocol'})`;
}

/** @param where the request in words, appended to the message */
export function exceptionError(code: number, where = ''): SimError {
  return new SimError('PEER_ERROR', exceptionText(code) + where, [], code);
}

/** The Modbus exception code of an error; null: another error. */
export function exceptionIn(error: unknown): number | null {
  return error instanceof SimError && error.code === 'PEER_ERROR' ? (error.protocolCode ?? null) : null;
}

/** The received octets do not answer the request. */
export class UnfitAnswer extends SimError {
  constructor(message: string) {
    super('PEER_ERROR', message);
  }
}

/** True if an error is about the device or the connection to it. */
export function isOfPeer(error: unknown): error is SimError {
  return error instanceof SimError && error.code.startsWith('PEER_');
}

export function peerError(message: string): SimError {
  return new SimError('PEER_ERROR', message);
}

export function peerTimeout(message: string): SimError {
  return new SimError('PEER_TIMEOUT', message);
}
