import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { configOf } from '../support/configured.ts';
import { modbusEndpoint } from '../support/running-app.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

interface Scanned {
  readonly base: number | null;
  readonly models: readonly { readonly id: number; readonly error: string }[];
}

/** A scan must find each map whole, whatever it copes with on the way. */
describeWith(['pysunspec2'], 'scans profiles after devices in the field', () => {
  for (const [name, found] of [
    ['Field-Float-8kW-3Phase-EU', '40000: 1 113 120 121 122 123 160'],
    ['Field-ReadOnly-10kW-3Phase-EU', '40000: 1 103'],
    ['Field-Mixed-12kW-3Phase-EU', '40000: 1 123 701 702 703 704 705 706 707 708 709 710 711 712 713 714 715'],
    ['Field-Meters-10kW-3Phase-EU', '40000: 1 103 1 203 1 203'],
    ['Field-HybridDC-10kVA-3Phase-EU', '40000: 1 103 120 121 122 123 160 124'],
    ['Field-Gateway-3kW-1Phase-EU', '0: 1 101 160'],
  ] as const) {
    it(name, async () => {
      const pv = name.includes('1Phase') ? 'PV-1Phase' : 'PV-3Phase';
      const type = name.includes('Hybrid') ? 'HybridDC-3Phase' : pv;
      const app = createApp(configOf('-wp', '0', '-p', '0', '-d', type, '-f', name), {
        logBook: createLogBook({ write: () => undefined }),
      });
      await app.start();
      const master = new PythonPeer('sunspec_master', modbusEndpoint(app, 0).port);
      try {
        await master.ask('scan');
        const { base, models } = (await master.ask('found')) as Scanned;
        expect(`${base}: ${models.map(({ id, error }) => `${id}${error}`).join(' ')}`).to.equal(found);
      } finally {
        await master.stop();
        await app.stop();
      }
    });
  }
});
