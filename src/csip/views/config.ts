/** Settings that REST changes at run time. */
import { isIP } from 'node:net';
import type { CsipConfigPatch } from '../../contract/csip-client.ts';
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { Clients, Connection } from '../clients.ts';

const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[\w.-]{1,253}$/.test(text) && URL.canParse(`http://${text}`));

export class Configurator {
  readonly #clients: Clients;
  #changedBy: Provenance | null = null;

  constructor(clients: Clients) {
    this.#clients = clients;
  }

  /** null: unchanged since the start */
  get changedBy(): Provenance | null {
    return this.#changedBy;
  }

  /**
   * Changes all clients; certificates change for one connection only.
   * @throws SimError COMMAND_BAD_VALUE with JSON pointers, COMMAND_CONFLICT if the address for notifications is taken;
   *   nothing is changed then
   */
  async apply(patch: CsipConfigPatch, connection: Connection, by: Origin): Promise<void> {
    const { inForce, options } = this.#clients;
    const { server: started } = options.settings;
    const host = patch.serverHost ?? inForce.server.host;
    if (!isHost(host)) {
      const detail = 'is no IP address or host name';
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${detail}`, [{ name: '/server_host', detail }]);
    }
    const port = patch.serverPort ?? inForce.server.port;
    const tls = patch.tls ?? inForce.server.tls;
    // an address from flags may be anywhere; one of a request follows the rules of outgoing connections
    const anywhere = host === started.host && port === started.port;
    if (!anywhere && isRefusedTarget(host))
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${refusedTargetText}`, [
        { name: '/server_host', detail: refusedTargetText },
      ]);
    const { certPem, keyPem, rootCertPem } = patch;
    const texts = {
      ...(certPem !== undefined && { cert: certPem }),
      ...(keyPem !== undefined && { key: keyPem }),
      ...(rootCertPem !== undefined && { rootCert: rootCertPem }),
    };
    const before = this.#connected();
    // steps that may fail come first
    const endListening = await this.#listening(patch.subscribe ?? inForce.subscribe);
    try {
      if (Object.keys(texts).length > 0) connection.credentials.use(texts);
    } catch (error) {
      await endListening();
      throw error;
    }
    inForce.server = { host, port, tls };
    inForce.anywhere = anywhere;
    this.#takeConduct(patch);
    const { plant, clock } = options;
    this.#changedBy = { ...by, at: plant.time.sim, wallMs: clock.nowMs() };
    if (this.#connected() !== before) await this.#clients.restart();
    else if (patch.pollRateS !== undefined || patch.useServerTime !== undefined)
      for (const { client } of this.#clients.connections) void client.rediscover();
  }

  /** Starts or stops listening for notifications. @returns undoes it */
  async #listening(wanted: boolean): Promise<() => Promise<void>> {
    const { notifications, connections } = this.#clients;
    const [first] = connections;
    if (!wanted || first === undefined || notifications.base !== null) return () => Promise.resolve();
    try {
      await notifications.open(first.credentials);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'LISTEN_FAILED') throw error;
      throw new SimError('COMMAND_CONFLICT', error.message, error.issues);
    }
    return () => notifications.close();
  }

  /** Settings that need a new connection when they change. */
  #connected(): string {
    const { server, dcap, revision, postRateS, pin, subscribe } = this.#clients.inForce;
    return JSON.stringify([server, dcap, revision, postRateS, pin, subscribe]);
  }

  #takeConduct(patch: CsipConfigPatch): void {
    const { inForce, options } = this.#clients;
    const { rates } = options.settings;
    inForce.dcap = patch.dcap ?? inForce.dcap;
    inForce.revision = patch.revision ?? inForce.revision;
    if (patch.pollRateS !== undefined) inForce.pollRateS = patch.pollRateS ?? rates.pollS;
    if (patch.postRateS !== undefined) inForce.postRateS = patch.postRateS ?? rates.postS;
    inForce.useServerTime = patch.useServerTime ?? inForce.useServerTime;
    inForce.subscribe = patch.subscribe ?? inForce.subscribe;
    if (patch.pin !== undefined) inForce.pin = patch.pin;
  }
}
