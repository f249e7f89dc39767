/** Steps of an exchange with a grid outside, beside the same steps within the process and one request for each device. */
import type { Group } from '../support/group.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

/** Processor ms of the server for each step; `Wall`: wall ms of the client. */
interface Measured {
  readonly inside: number;
  readonly apart: number;
  readonly exchange: number;
  readonly exchangeWall: number;
  readonly trial: number;
  readonly read: number;
  readonly put: number;
  readonly today: number;
  readonly todayWall: number;
  readonly toInside: number;
  readonly toApart: number;
  readonly trialToStep: number;
  readonly todayToExchange: number;
}

/** Devices, and steps of a batch, also of a quick run: a shorter one would measure code that is not compiled yet. */
const sizes = [
  [1, 1000],
  [50, 100],
  [1000, 10],
] as const;

/** Aims of a step by the exchange beside the same step within the process. */
const stepAims = (
  devices: number,
  { toInside, toApart }: Measured,
  aims: { readonly inside: number; readonly apart: number } | undefined,
) =>
  aims === undefined
    ? []
    : [
        aimRow(`exchange/in-process, ${devices} devices`, toInside, '', { atMost: aims.inside }),
        aimRow(`exchange/apart, ${devices} devices`, toApart, '', { atMost: aims.apart }),
      ];

export const exchangeGroup: Group = {
  name: 'exchange',
  async run({ rounds }, progress) {
    const results: (readonly [devices: number, Measured])[] = [];
    for (const [devices, steps] of sizes) {
      progress(`exchange: ${devices} devices`);
      const args = [devices, steps, rounds].map(String);
      results.push([
        devices,
        await runJson<Measured>(process.execPath, [inCheckout('bench/workers/exchange.mjs'), ...args]),
      ]);
    }
    const aimsOf: Readonly<Record<number, { readonly inside: number; readonly apart: number }>> = {
      50: { inside: 1.5, apart: 1.3 },
      1000: { inside: 1.35, apart: 1.15 },
    };
    return [
      {
        title: 'exchange: CPU ms of the server for a step of 1 s, all voltages moving',
        head: ['devices', 'in-process', 'apart', 'exchange', 'trial', 'read', 'put, us/device', 'N + 2 requests'],
        rows: results.map(([devices, m]) => [
          String(devices),
          ...[m.inside, m.apart, m.exchange, m.trial, m.read, (1000 * m.put) / devices, m.today].map(figure),
        ]),
        notes: ['apart: in-process, with 2 ms between the steps, as a solver leaves the caches of the processor'],
      },
      {
        title: 'exchange: ratios',
        head: ['devices', 'exchange/in-process', 'exchange/apart', 'trial/step', 'N + 2 requests/exchange, wall'],
        rows: results.map(([devices, m]) => [
          String(devices),
          ...[m.toInside, m.toApart, m.trialToStep, m.todayToExchange].map(figure),
        ]),
      },
      aimTable(
        'exchange',
        results.flatMap(([devices, m]) => [
          ...stepAims(devices, m, aimsOf[devices]),
          aimRow(`put, ${devices} devices`, (1000 * m.put) / devices, ' us/device', { atMost: 3 }),
          ...(devices === 1000 ? [aimRow(`trial/step, ${devices} devices`, m.trialToStep, '', { atMost: 0.1 })] : []),
          ...(devices === 50
            ? [aimRow(`N + 2 requests/exchange, ${devices} devices, wall`, m.todayToExchange, '', { atLeast: 10 })]
            : []),
        ]),
      ),
    ];
  },
};
