/** The notifications of a process: one listener for all clients, with the certificate of the first one. */
import type { CsipPem } from '../../contract/csip-client.ts';
import { SimError } from '../../core/errors.ts';
import { clientMaterial } from '../../core/tls/client-context.ts';
import { TlsGate } from '../../core/tls/gate.ts';
import type { TlsMaterial } from '../../core/tls/material.ts';
import { recordExchange } from '../transport/messages.ts';
import type { CsipChannel } from '../transport/messages.ts';
import { NotificationListener } from './listener.ts';
import type { AnsweredRequest, NotificationListenerOptions } from './listener.ts';

export interface NotificationServiceOptions extends Omit<NotificationListenerOptions, 'gate' | 'onAnswer'> {
  /** Certificates in force, asked for again at each change; null: plain HTTP. */
  readonly pem: (() => CsipPem) | null;
  /** only `ECDHE-ECDSA-AES128-CCM8` */
  readonly strictCipher: boolean;
  readonly channel: CsipChannel;
}

/** The settings that name the certificates, for messages. */
const names = { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' };

export class NotificationService {
  readonly listener: NotificationListener;
  readonly #options: NotificationServiceOptions;
  readonly #gate: TlsGate<unknown> | null;

  /** @throws SimError CONFIG_INVALID for certificates that cannot be used */
  constructor(options: NotificationServiceOptions) {
    this.#options = options;
    const { pem } = options;
    // a chain that leads to the configured roots is all that is asked of a client
    const identify = () => null;
    this.#gate = pem === null ? null : new TlsGate(this.#material(pem()), { identify, rootCertName: names.rootCert });
    this.listener = new NotificationListener({
      ...options,
      gate: this.#gate,
      onAnswer: (answered) => this.#record(answered),
    });
  }

  /** Takes the certificates that are in force now, for connections from then on; unusable ones change nothing. */
  certificatesChanged(): void {
    const { pem, log } = this.#options;
    if (pem === null) return;
    try {
      this.#gate?.replace(this.#material(pem()));
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      log.warning(`notifications are received with the certificates so far: ${error.message}`);
    }
  }

  #material(pem: CsipPem): TlsMaterial {
    const made = clientMaterial(pem, this.#options.strictCipher ? 'csip_strict' : 'csip', names);
    if ('material' in made) return made.material;
    throw new SimError('CONFIG_INVALID', 'notifications cannot be received over TLS', made.issues);
  }

  #record({ peer, method, url, headers, body, status, durationMs }: AnsweredRequest): void {
    const { channel } = this.#options;
    if (!channel.active) return;
    recordExchange(channel, {
      ...{ direction: 'in', peer, deviceIndex: null, method, url: this.listener.base + url, status, durationMs },
      ...{ requestHeaders: headers, requestBody: body, responseHeaders: {}, responseBody: null, error: null },
    });
  }
}
