/** Cost of a device tick: physics, registers, snapshot and JSON, in-process. */
import type { BenchOptions, Group } from '../support/group.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

interface Measured {
  readonly tickUs: number;
  readonly stepUs: number;
  readonly registersUs: number;
  readonly snapshotUs: number;
  readonly jsonUs: number;
}

interface Case {
  readonly name: string;
  readonly devices: number;
  readonly simSeconds: number;
  readonly flags: readonly string[];
}

const tickS = 1.5;
const fast = 60;
const constantSun = ['--dc_profile', inCheckout('bench/series/constant-sun.csv')];
const both = ['--map_layout', 'both'];
const clouds = ['--irradiance_source', 'clear_sky', '--clouds', 'scattered'];

function casesOf(devices: number): Case[] {
  const many = devices === 1 ? '1 device' : `${devices} devices`;
  return [
    { name: `${many}, settled`, devices, simSeconds: tickS, flags: constantSun },
    {
      name: `${many}, settled, both generations of models`,
      devices,
      simSeconds: tickS,
      flags: [...constantSun, ...both],
    },
    { name: `${many}, bundled clear day`, devices, simSeconds: tickS, flags: [] },
    { name: `${many}, moving clouds`, devices, simSeconds: tickS, flags: clouds },
    { name: `${many}, settled, rate ${fast}`, devices, simSeconds: tickS * fast, flags: constantSun },
    { name: `${many}, moving clouds, rate ${fast}`, devices, simSeconds: tickS * fast, flags: clouds },
  ];
}

const cases = [...casesOf(1), ...casesOf(1000)];

function measure({ devices, simSeconds, flags }: Case, { quick }: BenchOptions): Promise<Measured> {
  const worker = inCheckout('bench/workers/tick.mjs');
  return runJson<Measured>(process.execPath, [
    worker,
    String(devices),
    quick ? '200' : '1000',
    String(simSeconds),
    ...flags,
  ]);
}

export const tickGroup: Group = {
  name: 'tick',
  async run(options, progress) {
    const results = new Map(cases.map((one) => [one, [] as Measured[]]));
    for (let round = 1; round <= options.rounds; round += 1) {
      progress(`tick: round ${round} of ${options.rounds}`);
      for (const [one, rounds] of results) rounds.push(await measure(one, options));
    }
    const value = (one: Case, of: (m: Measured) => number) => medianOf(results.get(one) ?? [], of);
    const rows = cases.map((one) => [
      one.name,
      ...[
        value(one, (m) => m.tickUs),
        value(one, (m) => m.stepUs),
        value(one, (m) => m.registersUs),
        value(one, (m) => m.snapshotUs),
        value(one, (m) => m.jsonUs),
        value(one, (m) => m.tickUs) / one.simSeconds,
      ].map(figure),
    ]);
    const settled = cases.filter(({ simSeconds, flags }) => simSeconds === tickS && flags === constantSun);
    return [
      {
        title: 'tick: us per device and tick',
        head: ['', 'whole tick', 'step', 'registers', 'snapshot', 'JSON', 'per simulated s'],
        rows,
        notes: [
          'the phases are timed apart from the whole tick and need not add up to it',
          'no peer: the figures are absolute',
        ],
      },
      aimTable(
        'tick',
        settled.map((one) =>
          aimRow(
            one.name,
            value(one, (m) => m.tickUs),
            ' us',
            { atMost: 15 },
          ),
        ),
      ),
      aimTable(
        'tick with both generations of models, by that with the current one',
        settled.map((one) => {
          const twin = cases.find(({ devices, flags }) => devices === one.devices && flags.includes('both')) ?? one;
          const ratio = value(twin, (m) => m.tickUs) / value(one, (m) => m.tickUs);
          return aimRow(one.name, ratio, '', { atMost: 1.25 });
        }),
      ),
    ];
  },
};
