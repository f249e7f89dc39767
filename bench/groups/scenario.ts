/** A day of ticks as a scenario with ten assertions, by the same ticks alone. */
import type { Group } from '../support/group.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

interface Measured {
  readonly bareS: number;
  readonly scenarioS: number;
}

const site = inCheckout('bench/scenario-site.yaml');
const cases = [
  { name: 'PV and battery', flags: ['--config', site], atMost: 1.6 },
  {
    name: 'ten devices, REST, Modbus, OCPP and DNP3 on',
    flags: ['--config', inCheckout('bench/scenario-fleet.yaml')],
    atMost: 3,
  },
];

export const scenarioGroup: Group = {
  name: 'scenario',
  async run({ rounds, quick }, progress) {
    const results: Measured[] = [];
    for (const { name, flags } of cases) {
      progress(`scenario: ${name}`);
      const worker = inCheckout('bench/workers/scenario.mjs');
      results.push(await runJson<Measured>(process.execPath, [worker, String(quick ? 1 : rounds), ...flags]));
    }
    return [
      {
        title: 'scenario: s for a day of 57,600 ticks',
        head: ['', 'bare ticks', 'scenario'],
        rows: cases.map(({ name }, n) => [
          name,
          figure(results[n]?.bareS ?? null),
          figure(results[n]?.scenarioS ?? null),
        ]),
      },
      aimTable(
        'scenario',
        cases.map(({ name, atMost }, n) => {
          const { bareS, scenarioS } = results[n] ?? { bareS: NaN, scenarioS: NaN };
          return aimRow(`${name}, scenario/bare ticks`, scenarioS / bareS, '', { atMost });
        }),
      ),
    ];
  },
};
