/** The client of IEEE 2030.5 that a configuration asks for. Nothing of it is loaded before it starts. */
import type { AdapterContext } from './context.ts';
import type { CsipClient } from '../../contract/csip-client.ts';
import { disabledCsipClient } from '../../contract/csip-disabled.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { CsipAdapter } from '../../csip/adapter.ts';

/** @returns null: CSIP is switched off */
export function composeCsip(context: AdapterContext): CsipAdapter | null {
  const { config, plant, clock, later, faults, commAlarms, remoteClock, store, wireLog, logBook } = context;
  const { csip: settings, seed } = config;
  if (settings === null) return null;
  const { host, port, tls, dcap } = settings.server;
  return new CsipAdapter({
    devices: () => plant.devices,
    commAlarms,
    endpoint: `${tls ? 'https' : 'http'}://${hostAndPort(host, port)}${dcap}`,
    async load() {
      const { assemble } = await import('../../csip/assembly.ts');
      return assemble({
        settings,
        seed,
        plant,
        clock,
        later,
        faults,
        commAlarms,
        remoteClock,
        store,
        wireLog,
        log: logBook.logger('CSIP'),
      });
    },
  });
}

/** What REST works with: the client of the adapter from its start on. */
export function csipClientOf(adapter: CsipAdapter | null): CsipClient {
  if (adapter === null) return disabledCsipClient;
  return new Proxy(disabledCsipClient, {
    get(_none, name) {
      const { client } = adapter;
      const member: unknown = Reflect.get(client, name);
      return typeof member === 'function' ? (member.bind(client) as unknown) : member;
    },
  });
}
