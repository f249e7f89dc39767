/** A day of ticks as a scenario with ten assertions, by the same ticks alone. */
import { join } from 'node:path';
import { CentralProcess } from '../support/central.ts';
import type { Group } from '../support/group.ts';
import { HeadEndProcess } from '../support/head-end.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

/** Processor seconds of a day, medians. */
interface Measured {
  /** bare ticks without any protocol but REST and Modbus; null: not measured */
  readonly aloneS: number | null;
  readonly bareS: number;
  readonly scenarioS: number;
}

const siteName = 'PV and battery';
const fleetName = 'ten devices, all protocols on';
const measure = (rounds: number, flags: readonly string[]) =>
  runJson<Measured>(process.execPath, [inCheckout('bench/workers/scenario.mjs'), String(rounds), ...flags]);

/** Ten devices whose protocols all have another end that answers. */
async function fleet(rounds: number): Promise<Measured> {
  const [headEnd, central] = [new HeadEndProcess(1), new CentralProcess()];
  try {
    const file = (name: string) => join(headEnd.directory, name);
    const port = String(await headEnd.port());
    const devices = ['--config', inCheckout('bench/scenario-fleet.yaml')];
    const csip = ['--csip_enable', 'yes', '--csip_website_port', '0', '--csip_server_port', port];
    const identity = ['--csip_identity', 'site', '--csip_cert', file('device0.pem'), '--csip_key', file('device0.key')];
    const root = ['--csip_root_cert', file('root.pem')];
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', await central.url('ours')];
    const dnp3 = ['--dnp3_enable', 'yes', '--dnp3_port', '0'];
    const all = [...devices, ...csip, ...identity, ...root, ...ocpp, ...dnp3];
    const measured = await measure(rounds, [...all, '--bare', ...devices]);
    const { requests, refused } = await headEnd.counts();
    if (requests === 0 || refused > 0) throw new Error(`${requests} requests of IEEE 2030.5, ${refused} refused`);
    return measured;
  } finally {
    await Promise.all([headEnd.stop(), central.stop()]);
  }
}

const row = (name: string, { aloneS, bareS, scenarioS }: Measured) => [name, ...[aloneS, bareS, scenarioS].map(figure)];

export const scenarioGroup: Group = {
  name: 'scenario',
  async run({ rounds, quick }, progress) {
    const count = quick ? 1 : rounds;
    progress(`scenario: ${siteName}`);
    const small = await measure(count, ['--config', inCheckout('bench/scenario-site.yaml')]);
    progress(`scenario: ${fleetName}`);
    const large = await fleet(count);
    return [
      {
        title: 'scenario: CPU s for a day of 57,600 ticks',
        head: ['', 'bare ticks, REST and Modbus', 'bare ticks', 'scenario'],
        rows: [row(siteName, small), row(fleetName, large)],
      },
      aimTable('scenario', [
        aimRow(`${siteName}, scenario/bare ticks`, small.scenarioS / small.bareS, '', { atMost: 1.6 }),
        aimRow(`${fleetName}, scenario/bare ticks`, large.scenarioS / large.bareS, '', { atMost: 3 }),
        aimRow(`${fleetName}, scenario/bare ticks without them`, large.scenarioS / (large.aloneS ?? NaN), '', {
          atMost: 3,
        }),
      ]),
    ];
  },
};
