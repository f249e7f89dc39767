import { expect } from 'chai';
import fc from 'fast-check';
import type { FaultRequest } from '../../../src/core/faults/kinds.ts';
import { SimError } from '../../../src/core/errors.ts';
import { keptList, keptParts } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { cuts, expectSameJson, throughFile } from '../../support/continuation.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byModbus } from '../../support/map.ts';
import { holdsAsync } from '../../support/property.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';
import { assignPresent } from '../device/kept-rig.ts';
import { deviceFaults } from './kept-acts.ts';

type Values = Readonly<Record<string, AnyPointValue>>;

type Act =
  | { readonly kind: 'inject'; readonly request: FaultRequest }
  | { readonly kind: 'write'; readonly values: Values }
  | { readonly kind: 'clear'; readonly fault?: string }
  | { readonly kind: 'reset' };

type Step = readonly Act[];

const tickS = 0.9;

/** Two devices with faults; a step has one tick. */
class KeptFaults extends FaultyRig {
  constructor(wall: HandWall, extra: object = {}) {
    super({
      types: ['PV-3Phase', 'Batt-3Phase'],
      wall,
      tickIntervalS: tickS,
      inverter: { adoptionS: 0 },
      models: { 703: { ESDlyTms: 1, ESRndTms: 0, ESRmpTms: 2 } },
      ...extra,
    });
  }

  kept(): Kept {
    const { faults, plant } = this;
    return keptParts({
      faults: faults.kept(),
      plant: plant.kept(keptList(plant.devices.map((device) => device.kept()))),
    });
  }

  attempt(act: Act): void {
    try {
      this.#carryOut(act);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
    }
  }

  #carryOut(act: Act): void {
    switch (act.kind) {
      case 'inject':
        this.faults.inject([act.request], byTest);
        break;
      case 'write':
        for (const device of this.plant.devices) assignPresent(device, act.values, byModbus);
        break;
      case 'clear':
        this.faults.clear(act.fault === undefined ? {} : { kind: act.fault });
        break;
      case 'reset':
        this.device.command({ kind: 'reset', scope: 'device' }, byTest);
        break;
    }
  }

  get seen(): Readonly<Record<string, unknown>> {
    const { plant, faults } = this;
    return {
      images: plant.devices.map(({ bank }) => bank.image().toString('hex')),
      snapshots: plant.latest.published.map(({ json }) => json.toString()),
      alarms: plant.devices.map(({ alarms, statusMessage }) => [alarms, statusMessage]),
      off: [...plant.silentDevices].sort((a, b) => a - b),
      faults: faults.active.map((fault) => [
        fault.facts.id,
        fault.occasions,
        fault.strikeCount,
        faults.remainingS(fault),
      ]),
      ended: faults.ended.map(({ fault, end }) => [fault.facts.id, fault.strikeCount, end]),
    };
  }
}

const writes: readonly Values[] = [
  { '704.WMaxLimPct': 40, '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WMaxLimPct': 85, '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WMaxLimPctEna': 'DISABLED' },
  { '704.WMaxLimPct': 60 },
  { '704.VarSetMod': 'VAR_MAX_PCT', '704.VarSetPct': 30, '704.VarSetEna': 'ENABLED' },
  { '705.Crv[1].RspTms': 4, '705.AdptCrvReq': 2 },
  { '705.AdptCrvReq': 2, '705.Ena': 'ENABLED' },
];

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('inject' as const), request: deviceFaults([0, 1]) }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), values: fc.constantFrom(...writes) }) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Act>(
          { kind: 'clear' },
          { kind: 'clear', fault: 'adoption' },
          { kind: 'clear', fault: 'reboot' },
          { kind: 'clear', fault: 'late_effect' },
          { kind: 'reset' },
        ),
      },
    ),
    { maxLength: 3 },
  ),
  { minLength: 8, maxLength: 16 },
);

const inject = (kind: string, parameters: FaultRequest['parameters'] = {}, extra: Partial<FaultRequest> = {}): Act => ({
  kind: 'inject',
  request: { protocol: 'device', kind, parameters, ...extra },
});
const write = (values: Values): Act => ({ kind: 'write', values });
const limit = (pct: number) => write({ '704.WMaxLimPct': pct, '704.WMaxLimPctEna': 'ENABLED' });
const idle = (count: number): readonly Step[] => Array<Step>(count).fill([]);

/** Runs in which a fault of each kind is under way at most cuts. */
const scenarios: readonly (readonly Step[])[] = [
  [[limit(80), inject('ignore_effect')], [limit(30)], ...idle(4), [{ kind: 'clear' }], ...idle(2)],
  // a lost write stays lost when the count is spent
  [[limit(80), inject('ignore_effect', {}, { count: 1 })], [limit(30)], ...idle(4), [limit(50)], ...idle(2)],
  [[inject('late_effect', { delay_s: 4 })], [limit(30)], [limit(60)], ...idle(8)],
  [[inject('late_effect', { delay_s: 6 }, { count: 1 })], [limit(30)], ...idle(8)],
  [
    [limit(80), inject('enable_edge')],
    [limit(30)],
    ...idle(3),
    [write({ '704.WMaxLimPctEna': 'DISABLED' })],
    [limit(30)],
  ],
  [
    [inject('adoption', { result: 'stuck' })],
    [write({ '705.AdptCrvReq': 2 })],
    ...idle(4),
    [{ kind: 'clear' }],
    ...idle(2),
  ],
  [[limit(30), inject('silent_revert', { after_s: 5 })], ...idle(8), [limit(40)], ...idle(7)],
  [[inject('silent_revert', { after_s: 6 }, { count: 2 })], [limit(30)], ...idle(8)],
  [[inject('second_limiter', { limit_pct: 30 }, { probability: 0.5 })], ...idle(8)],
  [[inject('second_limiter', { limit_pct: 30 }, { count: 5 })], ...idle(8)],
  [[limit(30), inject('reboot', { off_s: 5 })], ...idle(10)],
  [[limit(30), inject('reboot', { off_s: 5, forget: false }, { count: 1, deviceIndex: 0 })], ...idle(10)],
  [
    [limit(80), inject('reboot', { off_s: 3 }, { when: { point: '704.WMaxLimPct', below: 50 } })],
    ...idle(2),
    [limit(40)],
    ...idle(6),
    [{ kind: 'clear' }],
    ...idle(3),
  ],
  [[inject('alarm', { codes: ['ground_fault'] }, { probability: 0.4, durationS: 6 })], ...idle(9)],
  [[inject('alarm', { codes: ['over_temp'] }, { every: 2, count: 3 })], ...idle(8)],
];

/** Beginnings of members of the state that a fault has under way, with how a test names them. */
const marks = {
  'held points': '"held":[{',
  'delayed writes': '"underWay":[{"due"',
  'stuck adoptions': '"stuck":[{',
  reboots: '"powerUp":{',
  limits: '"presentLimitPct":30',
  'false alarms': '"presentCodes":["',
  reversions: '"enable":',
  'last strikes': '"lapsing":true',
  'effects of spent faults': '"spent":[{',
  'ends by duration': '"end":{',
} as const;

async function checkGoesOn(list: readonly Step[], cut: number, atCut: (saved: string) => void): Promise<void> {
  const wall = new HandWall();
  const run = async (rig: KeptFaults, step: Step) => {
    for (const act of step) rig.attempt(act);
    await rig.plant.step(1, byTest);
  };
  const before = Math.max(1, Math.round(cut * list.length));
  const first = new KeptFaults(wall);
  for (const step of list.slice(0, before)) {
    wall.advance(1000 * tickS);
    await run(first, step);
  }
  const saved = first.kept().save();
  atCut(JSON.stringify(saved));
  const second = new KeptFaults(wall, { time: '03:00:00' });
  second.kept().restore(throughFile(saved));
  const same = (when: string, except: readonly string[] = []) => {
    const expected = first.seen;
    for (const [part, value] of Object.entries(second.seen))
      if (!except.includes(part)) expectSameJson(value, expected[part], `${part} ${when}`);
    expectSameJson(second.kept().save(), first.kept().save(), `state ${when}`);
  };
  // a fault that strikes at the end of a tick shows in the snapshots of the next tick, or in those after a restart
  same('after the restart', ['snapshots']);
  for (const [at, step] of list.slice(before).entries()) {
    wall.advance(1000 * tickS);
    await run(first, step);
    await run(second, step);
    same(`after step ${before + at}`);
  }
}

describe('faults of devices over a restart', () => {
  it('go on where they were, in every kind', async () => {
    const counts = new Map<string, number>();
    await holdsAsync(
      'faults of devices go on',
      [steps, cuts],
      (list, cut) =>
        checkGoesOn(list, cut, (saved) => {
          for (const [name, mark] of Object.entries(marks))
            if (saved.includes(mark)) counts.set(name, (counts.get(name) ?? 0) + 1);
        }),
      {
        runs: 40,
        examples: scenarios.flatMap((run) => [0.25, 0.6].map((cut): [typeof run, number] => [run, cut])),
      },
    );
    for (const name of Object.keys(marks)) expect(counts.get(name) ?? 0, `cuts with ${name}`).to.be.above(0);
  });

  it('begin where the registry has kept them later than their device', async () => {
    const wall = new HandWall();
    const first = new KeptFaults(wall);
    const { plant } = first;
    const devices = throughFile(plant.kept(keptList(plant.devices.map((device) => device.kept()))).save());
    first.attempt(inject('second_limiter', { limit_pct: 20 }));
    const second = new KeptFaults(wall);
    second.faults.kept().restore(throughFile(first.faults.kept().save()));
    second.plant.kept(keptList(second.plant.devices.map((device) => device.kept()))).restore(devices);
    second.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await second.run(30);
    expect(second.w / second.map.m702.WMax!).to.be.closeTo(0.2, 0.01);
  });

  it('release their points where the registry has dropped them', async () => {
    const wall = new HandWall();
    const first = new KeptFaults(wall);
    first.attempt(limit(80));
    first.attempt(inject('ignore_effect'));
    first.attempt(limit(30));
    await first.run(1);
    const second = new KeptFaults(wall);
    const { plant } = first;
    const devices = throughFile(plant.kept(keptList(plant.devices.map((device) => device.kept()))).save());
    second.plant.kept(keptList(second.plant.devices.map((device) => device.kept()))).restore(devices);
    const slot = second.device.bank.layout.named('704.WMaxLimPct')!;
    expect([second.value('704.WMaxLimPct'), second.device.heldValue(slot)]).to.deep.equal([30, undefined]);
  });
});
