/** Cost of limits of connection points: sharing at every simulated second, in-process. */
import type { Group } from '../support/group.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { medianOf } from '../support/stats.ts';
import { figure } from '../support/table.ts';

interface Measured {
  readonly us: number;
}

const devices = 1000;
const tickLengthsS = [1.5, 90];
const cases = [
  ['none', 'no limit'],
  ['open', 'a limit of the site that does not bind'],
  ['binding', 'a limit of the site that binds'],
  ['devices', 'limits of every device'],
  ['nested', 'limits of every device, of 100 groups and of the site'],
] as const;

export const siteGroup: Group = {
  name: 'site',
  async run({ rounds, quick }, progress) {
    const results = new Map<string, Measured[]>();
    const keyOf = (name: string, tickS: number) => `${name} ${tickS}`;
    for (let round = 1; round <= rounds; round += 1) {
      progress(`site: round ${round} of ${rounds}`);
      for (const tickS of tickLengthsS)
        for (const [name] of cases) {
          const args = [devices, quick ? 200 : 1000, tickS, name].map(String);
          const measured = await runJson<Measured>(process.execPath, [inCheckout('bench/workers/site.mjs'), ...args]);
          results.set(keyOf(name, tickS), [...(results.get(keyOf(name, tickS)) ?? []), measured]);
        }
    }
    const us = (name: string, tickS: number) => medianOf(results.get(keyOf(name, tickS)) ?? [], (m) => m.us);
    return [
      {
        title: `site: us per device and simulated second, ${devices} devices`,
        head: ['', ...tickLengthsS.flatMap((tickS) => [`ticks of ${tickS} s`, 'to no limit'])],
        rows: cases.map(([name, title]) => [
          title,
          ...tickLengthsS.flatMap((tickS) => [figure(us(name, tickS)), figure(us(name, tickS) / us('none', tickS))]),
        ]),
        notes: ['processor time; no peer: the figures are absolute'],
      },
    ];
  },
};
