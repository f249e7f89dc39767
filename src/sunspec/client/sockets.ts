/** Sockets of ours under the library: it neither bounds the time of a connection nor knows TLS. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { SimError } from '../../core/errors.ts';
import { guardedLookup } from '../../core/net/outbound.ts';
import type { ClientTarget, ClientTls } from '../../contract/sunspec-client.ts';
import { peerError, peerTimeout, socketErrorText } from './errors.ts';
import { endpointOf } from './target.ts';

type NetTarget = Extract<ClientTarget, { host: string }>;

const keepAliveMs = 60_000;
/** Secure SunSpec Modbus asks for this suite as well, which is not among those that the runtime offers by itself. */
const ciphers = `${DEFAULT_CIPHERS}:ECDHE-ECDSA-AES128-CCM8`;

function connectFailed(target: NetTarget, error: NodeJS.ErrnoException): SimError {
  return peerError(`cannot connect to ${endpointOf(target)}: ${socketErrorText(error)}`);
}

/** @throws SimError COMMAND_BAD_VALUE; the texts themselves are never in it */
function contextOf({ cert, key, rootCert }: ClientTls): SecureContext {
  const fault = (name: string, detail: string) =>
    new SimError('COMMAND_BAD_VALUE', `tls.${name} ${detail}`, [{ name: `/tls/${name}`, detail }]);
  const made = <T>(make: () => T, name: string, detail: string): T => {
    try {
      return make();
    } catch {
      throw fault(name, detail);
    }
  };
  const certificate = 'is not a certificate in PEM';
  made(() => new X509Certificate(rootCert), 'root_cert', certificate);
  made(() => new X509Certificate(cert), 'cert', certificate);
  made(() => createPrivateKey(key), 'key', 'is not an unencrypted private key in PEM');
  return made(
    () => createSecureContext({ ca: rootCert, cert, key, minVersion: 'TLSv1.2', ciphers }),
    'key',
    'does not belong to tls.cert',
  );
}

function begin(target: NetTarget): Socket {
  const { host, port } = target;
  if (target.transport === 'tcp') return connectTcp({ host, port, lookup: guardedLookup, noDelay: true });
  return connectTls({
    host,
    port,
    lookup: guardedLookup,
    secureContext: contextOf(target.tls),
    ...(!target.tls.checkHostname && { checkServerIdentity: () => undefined }),
  });
}

/** @throws SimError COMMAND_BAD_VALUE for certificates that are none */
export function checkSecrets(target: ClientTarget): void {
  if (target.transport === 'tls') contextOf(target.tls);
}

/**
 * A connected socket, for TLS after the handshake.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT; COMMAND_BAD_VALUE for certificates that are none
 */
export function openSocket(target: NetTarget, signal: AbortSignal): Promise<Socket> {
  const socket = begin(target);
  return new Promise((resolve, reject) => {
    const fail = (error: SimError) => {
      clearTimeout(limit);
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      reject(error);
    };
    const giveUp = () => {
      fail(peerError('the attempt to connect was given up'));
    };
    const limit = setTimeout(() => {
      fail(peerTimeout(`no connection to ${endpointOf(target)} within ${target.timeoutMs / 1000} s`));
    }, target.timeoutMs);
    const onError = (error: NodeJS.ErrnoException) => {
      fail(connectFailed(target, error));
    };
    const onClose = () => {
      fail(peerError(`cannot connect to ${endpointOf(target)}: the other end closed the connection`));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    socket.on('error', onError);
    socket.once('close', onClose);
    socket.once(target.transport === 'tls' ? 'secureConnect' : 'connect', () => {
      clearTimeout(limit);
      signal.removeEventListener('abort', giveUp);
      socket.off('close', onClose);
      socket.setKeepAlive(true, keepAliveMs);
      socket.setNoDelay(true);
      // `onError` stays: what goes wrong before the link listens must not end the process
      resolve(socket);
    });
    if (signal.aborted) giveUp();
  });
}
