import { DEFAULT_CIPHERS } from 'node:tls';
import { SimError } from '../../core/errors.ts';
import type { ConnectTarget } from '../../core/net/connect.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { createClientContext } from '../../core/tls/client-context.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { ClientTarget } from '../../contract/sunspec-client.ts';

/** `tcp://127.0.0.1:8502`, `tls://...`, `serial:/dev/ttyUSB0` */
export function endpointOf(target: ClientTarget): string {
  return target.transport === 'rtu'
    ? `serial:${target.serial.path}`
    : `${target.transport}://${hostAndPort(target.host, target.port)}`;
}

/** Secure SunSpec Modbus asks for this suite as well, which is not among those that the runtime offers by itself. */
const ciphers = `${DEFAULT_CIPHERS}:ECDHE-ECDSA-AES128-CCM8`;

/** Where the socket to a device goes. @throws SimError COMMAND_BAD_VALUE for certificates that cannot be used */
export function connectTargetOf(target: Extract<ClientTarget, { host: string }>): ConnectTarget {
  const { host, port, timeoutMs } = target;
  if (target.transport === 'tcp') return { host, port, timeoutMs };
  const { checkHostname } = target.tls;
  return { host, port, timeoutMs, tls: { context: createClientContext(target.tls, ciphers, 'tls'), checkHostname } };
}

/** A target as it may be shown: certificates and keys leave this place on no way but the connection. */
export function withoutSecrets(target: ClientTarget): ClientTarget {
  return target.transport === 'tls' ? { ...target, tls: { ...target.tls, cert: '', key: '', rootCert: '' } } : target;
}

/** Lines are named as the system names them; a path of anything else could be a file, and /dev/tty1 is the console of someone. */
const serialPath =
  /^(?:\/dev\/(?:tty[A-Za-z][\w.-]*|cu\.[\w.-]+|pts\/\d+|serial\/by-(?:id|path)\/[\w.:@+-]+)|COM\d{1,3})$/;

/** @throws SimError COMMAND_BAD_VALUE with the members of the request that name no place where a device can be */
export function checkTarget(target: ClientTarget): void {
  if (target.transport === 'rtu') {
    if (serialPath.test(target.serial.path)) return;
    const detail = 'must be the name of a serial line, such as /dev/ttyUSB0, /dev/pts/3 or COM3';
    throw new SimError('COMMAND_BAD_VALUE', `serial.path ${detail}`, [{ name: '/serial/path', detail }]);
  }
  if (!isRefusedTarget(target.host)) return;
  throw new SimError('COMMAND_BAD_VALUE', `${target.host} ${refusedTargetText}`, [
    { name: '/host', detail: refusedTargetText },
  ]);
}
