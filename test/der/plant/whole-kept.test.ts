/** A mixed plant, and one that is built anew and restored from its state, go on alike. */
import { expect } from 'chai';
import fc from 'fast-check';
import { HoldBook } from '../../../src/api/holds/book.ts';
import type { DeviceCommand } from '../../../src/contract/device.ts';
import type { GridEventName } from '../../../src/contract/environment.ts';
import { defaultMapShape } from '../../../src/contract/map-layout.ts';
import type { ChainEntry, MapShape } from '../../../src/contract/map-layout.ts';
import type { OperatorCommand } from '../../../src/contract/plant.ts';
import type { SitePatch } from '../../../src/contract/site.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { FaultRequest } from '../../../src/core/faults/kinds.ts';
import { keptList, keptParts } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { Origin, Source } from '../../../src/core/origin.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { parseVisits } from '../../../src/der/surroundings/visits.ts';
import { configuredDevices } from '../../support/configured.ts';
import type { ConfiguredDevice } from '../../support/configured.ts';
import { cuts, expectSameJson, throughFile } from '../../support/continuation.ts';
import { pick } from '../../support/depth.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { holdsAsync } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { assignPresent, deviceActs, presentValues } from '../device/kept-rig.ts';
import type { Act as DeviceAct } from '../device/kept-rig.ts';
import { deviceFaults } from '../faults/kept-acts.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'EVSE'];
const stationIndex = 5;

/** From noon on; the last row is beyond every run. */
const vehicles = [
  'time_s,connector,stay_s,soc_pct,battery_capacity_kwh,max_charge_kw',
  '43100,1,112,40,60,11',
  '43215,1,9,20,40,7',
  '43228,1,300,50,75,11',
].join('\n');

const chain: readonly ChainEntry[] = [
  { model: 103 },
  { model: 123 },
  { meter: 213, of: 'site' },
  { meter: 213, of: 'load' },
];

/** Devices with meters in their maps, with both generations of models, and with a plan of vehicles. */
const devices: readonly ConfiguredDevice[] = types.map((type, index) => {
  const [device] = configuredDevices('--device_type', type);
  if (!device) throw new Error(`no device of type ${type}`);
  const map: MapShape = { ...defaultMapShape, ...(index === 0 ? { chain } : { layout: 'both' as const }) };
  const visits = index === stationIndex ? parseVisits(vehicles, 'cars.csv', 'hold') : device.series.visits;
  return { ...device, profile: { ...device.profile, map }, series: { ...device.series, visits } };
});

const configuration: TestPlantOptions = {
  devices,
  gridProfile: 'time_s,voltage_pu,frequency_hz\n0,1,60\n43230,0.99,59.97\n200000,1.02,60.1\n',
  feeder: { scr: 8, xOverR: 2 },
  meter: { float: true },
  weatherSource: 'clear_sky',
  clouds: 'broken',
  seed: 11,
  tickIntervalS: 0.7,
};

/** A device that is restored, tried and restored again, as at the start of the simulator. */
function keptWithRehearsal(device: SimDevice): Kept {
  const kept = device.kept();
  return {
    save: () => kept.save(),
    restore(saved) {
      kept.restore(saved);
      device.rehearse(configuration.tickIntervalS ?? 1);
      kept.restore(saved);
    },
  };
}

/** A plant with its faults, and with the holds of REST. */
class Process extends FaultyRig {
  readonly holds: HoldBook;

  constructor(options: TestPlantOptions) {
    super(options);
    this.holds = new HoldBook(this.plant);
  }

  kept(): Kept {
    const { faults, plant, holds } = this;
    return keptParts({
      faults: faults.kept(),
      plant: plant.kept(keptList(plant.devices.map(keptWithRehearsal))),
      holds: holds.kept(),
    });
  }
}

type Act =
  | { readonly kind: 'device'; readonly device: number; readonly act: DeviceAct }
  | {
      readonly kind: 'site';
      readonly patch: SitePatch;
      readonly by: Source;
      readonly members: readonly number[] | null;
    }
  | { readonly kind: 'operator'; readonly command: OperatorCommand; readonly device: number }
  | { readonly kind: 'station'; readonly command: DeviceCommand }
  | { readonly kind: 'event'; readonly name: GridEventName | null; readonly device: number | undefined }
  | { readonly kind: 'rate'; readonly rate: number }
  | { readonly kind: 'fault'; readonly request: FaultRequest }
  | { readonly kind: 'clear'; readonly fault: string }
  | {
      readonly kind: 'hold';
      readonly device: number;
      readonly id: string;
      readonly values: Readonly<Record<string, AnyPointValue>>;
      readonly seconds: number;
    }
  | { readonly kind: 'end'; readonly device: number; readonly id: string };

interface Step {
  readonly acts: readonly Act[];
  readonly ticks: number;
}

/** Carries out an act; its refusal is the same for equal plants. */
function attempt(process: Process, act: Act): void {
  try {
    carryOut(process, act);
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
  }
}

const byRest: Origin = { source: 'rest', peer: 'client' };

function carryOut({ plant, faults, holds }: Process, act: Act): void {
  switch (act.kind) {
    case 'device':
      carryOutAt(plant, act.device, act.act);
      break;
    case 'site':
      plant.setSite(act.patch, { source: act.by }, act.members === null ? {} : { devices: act.members });
      break;
    case 'operator':
      plant.commands.submit({ command: act.command, deviceIndex: act.device }, byRest);
      break;
    case 'station':
      plant.device(stationIndex).command(act.command, byRest);
      break;
    case 'event':
      if (act.name === null) plant.stopGridEvent(act.device, byRest);
      else plant.startGridEvent(act.name, {}, act.device, byRest);
      break;
    case 'rate':
      plant.setTime({ rate: act.rate }, byRest);
      break;
    case 'fault':
      faults.inject([act.request], byRest);
      break;
    case 'clear':
      faults.clear({ kind: act.fault });
      break;
    case 'hold': {
      const device = plant.device(act.device);
      const values = presentValues(device, act.values);
      if (values.length > 0) holds.begin(device, { id: act.id, values, lasts: { seconds: act.seconds } }, byRest);
      break;
    }
    case 'end':
      holds.end(plant.device(act.device), act.id, byRest);
      break;
  }
}

function carryOutAt(plant: SimPlant, index: number, act: DeviceAct): void {
  const device = plant.device(index);
  // the first device has changes of the common surroundings
  const scope = index === 0 ? undefined : index;
  switch (act.kind) {
    case 'write':
      assignPresent(device, act.values, act.by);
      break;
    case 'command':
      device.command(act.command, act.by);
      break;
    case 'grid':
      plant.setGrid(act.patch, scope, byRest);
      break;
    case 'weather':
      plant.setSurroundings(act.patch, scope, byRest);
      break;
    case 'site': {
      const limitW = (boundW: number) => (Number.isFinite(boundW) ? Math.abs(boundW) : null);
      plant.setSite({ import: limitW(act.floorW), export: limitW(act.ceilingW) }, byRest, { devices: [index] });
      break;
    }
    case 'curve':
      device.bank.image();
      break;
  }
}

const indexesOf = (plant: SimPlant) => plant.devices.map(({ index }) => index);

/** All that others see of a plant. */
function seen({ plant, faults, holds }: Process): Readonly<Record<string, unknown>> {
  const { latest, meter } = plant;
  const indexes = indexesOf(plant);
  return {
    faults: faults.active.map((fault) => [
      fault.facts.id,
      fault.occasions,
      fault.strikeCount,
      faults.remainingS(fault),
    ]),
    endedFaults: faults.ended.map(({ fault, end }) => [fault.facts.id, fault.strikeCount, end]),
    holds: [...holds.list().records],
    alarms: plant.devices.map(({ alarms, statusMessage }) => [alarms, statusMessage]),
    off: [...plant.silentDevices].sort((a, b) => a - b),
    images: plant.devices.map(({ bank }) => bank.image().toString('hex')),
    snapshots: latest.published.map(({ json, detail }) => [json.toString(), JSON.stringify(detail)]),
    latest: [latest.tick, latest.sim, latest.wallMs],
    time: plant.time,
    meter: meter && [meter.now, meter.bank.image().toString('hex')],
    site: [plant.siteScopes, indexes.map((index) => plant.siteCut(index))],
    commands: plant.commands.list(),
    surroundings: indexes.map((index) => [plant.grid(index), plant.surroundings(index)]),
    writers: plant.devices.map(({ bank, overrides }) => [
      bank.lastWrite && { ...bank.lastWrite, slot: bank.lastWrite.slot.index },
      overrides,
    ]),
    sessions: plant.device(stationIndex).chargingSessions(),
  };
}

const deviceIndexes = fc.nat({ max: types.length - 1 });
const limitW = fc.option(fc.constantFrom(0, 2500, 8000, 20_000));
const connectorId = 1;
const stationCommands: readonly DeviceCommand[] = [
  { kind: 'evse.plug', connectorId },
  { kind: 'evse.unplug', connectorId },
  { kind: 'evse.start', connectorId },
  { kind: 'evse.stop', connectorId },
  { kind: 'evse.limit', connectorId, powerW: 3000 },
  { kind: 'evse.energy_limit', connectorId, energyWh: 20 },
  { kind: 'evse.suspend', connectorId, by: 'ev' },
  { kind: 'evse.resume', connectorId, by: 'ev' },
];

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('device' as const), device: deviceIndexes, act: deviceActs }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('site' as const),
      patch: fc.record({ export: limitW, import: limitW, generation: limitW, load: limitW }),
      by: fc.constantFrom<Source>('rest', 'csip', 'modbus'),
      members: fc.constantFrom(null, null, [0, 1], [2, 3, 5]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('operator' as const),
      command: fc.constantFrom<OperatorCommand>('start', 'stop', 'reset'),
      device: deviceIndexes,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('station' as const), command: fc.constantFrom(...stationCommands) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      name: fc.constantFrom<GridEventName | null>(null, 'sag', 'swell'),
      device: fc.option(deviceIndexes, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rate' as const), rate: fc.constantFrom(1, 2, 5) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('fault' as const), request: deviceFaults([0, 1, 2, 3, 4, 5]) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clear' as const),
      fault: fc.constantFrom('late_effect', 'adoption', 'reboot', 'second_limiter'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      device: deviceIndexes,
      id: fc.constantFrom('a', 'b'),
      values: fc.constantFrom<Readonly<Record<string, AnyPointValue>>>(
        { '704.WMaxLimPct': 45, '704.WMaxLimPctEna': 'ENABLED' },
        { '704.WMaxLimPct': 65, '705.Ena': 'ENABLED' },
        { '703.ES': 'DISABLED' },
      ),
      seconds: fc.constantFrom(2.9, 6, 60),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('end' as const), device: deviceIndexes, id: fc.constantFrom('a', 'b') }),
  },
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ acts: fc.array(acts, { maxLength: 4 }), ticks: fc.constantFrom(1, 1, 2, 5) }),
  { minLength: 4, maxLength: 12 },
);

/** The site has a limit from the start, and the vehicle charges, so that both are under way at many cuts. */
const limited: Step = {
  acts: [
    { kind: 'site', patch: { export: 12_000, import: 9000 }, by: 'rest', members: null },
    { kind: 'station', command: { kind: 'evse.start', connectorId } },
  ],
  ticks: 3,
};

/** A plant that begins at another instant than the one whose state it takes over. */
function restored(from: Process, wall: HandWall): Process {
  const process = new Process({ ...configuration, wall, date: '2026-08-01', time: '03:00:00' });
  process.kept().restore(throughFile(from.kept().save()));
  return process;
}

/** Carries out a step in each process, tick by tick. */
async function drive(processes: readonly Process[], wall: HandWall, step: Step, after: (tick: number) => void) {
  for (const process of processes) for (const act of step.acts) attempt(process, act);
  for (let tick = 0; tick < step.ticks; tick += 1) {
    wall.advance(700);
    for (const { plant } of processes) await plant.step(1, byRest);
    after(tick);
  }
}

const byMaster: Origin = { source: 'modbus', peer: '192.0.2.1:502' };

/** The device with this limit reboots with the first tick. */
const atLimit = { point: '704.WMaxLimPct', equals: 50 + stationIndex };

/** Simulated seconds before and after the restart: an hour; some minutes where tests are to be quick. */
const spanS = pick({ quick: 120, ci: 600, full: 3600 });

/** Faults that last over the restart. */
const longFaults: readonly FaultRequest[] = [
  { protocol: 'device', kind: 'ignore_effect', group: [0, 1], target: { points: ['704'] } },
  { protocol: 'device', kind: 'late_effect', deviceIndex: 2, parameters: { delay_s: 1.5 * spanS } },
  { protocol: 'device', kind: 'enable_edge', deviceIndex: 3 },
  { protocol: 'device', kind: 'adoption', deviceIndex: 0, parameters: { result: 'stuck' } },
  {
    protocol: 'device',
    kind: 'silent_revert',
    deviceIndex: 4,
    parameters: { after_s: 1.25 * spanS },
    target: { points: ['704'] },
  },
  { protocol: 'device', kind: 'second_limiter', parameters: { limit_pct: 35 }, probability: 0.6 },
  { protocol: 'device', kind: 'alarm', parameters: { codes: ['over_temp'] }, every: 3, durationS: 1.4 * spanS },
  {
    protocol: 'device',
    kind: 'reboot',
    deviceIndex: 5,
    parameters: { off_s: 0.95 * spanS, forget: false },
    when: atLimit,
  },
];

describe('the state of a plant over a restart', () => {
  it('six kinds of devices at a limited site go on where they were, tick by tick', async () => {
    const atCuts = { sharedLimit: 0, session: 0, hold: 0, fault: 0 };
    await holdsAsync(
      'a plant goes on',
      [steps, cuts],
      async (list, cut) => {
        const course = [limited, ...list];
        const before = Math.max(1, Math.round(cut * course.length));
        const wall = new HandWall();
        const first = new Process({ ...configuration, wall });
        const { plant } = first;
        for (const step of course.slice(0, before)) await drive([first], wall, step, () => undefined);
        if (indexesOf(plant).some((index) => plant.siteCut(index) !== null)) atCuts.sharedLimit += 1;
        if (
          plant
            .device(stationIndex)
            .chargingSessions()
            .some(({ endedAtS }) => endedAtS === null)
        )
          atCuts.session += 1;
        if ([...first.holds.list().records].some(({ end }) => end === null)) atCuts.hold += 1;
        if (first.faults.active.length > 0) atCuts.fault += 1;
        const second = restored(first, wall);
        const same = (when: string, except: readonly string[] = []) => {
          const expected = seen(first);
          for (const [part, value] of Object.entries(seen(second)))
            if (!except.includes(part)) expectSameJson(value, expected[part], `${part} ${when}`);
          expectSameJson(second.kept().save(), first.kept().save(), `state ${when}`);
        };
        // a fault that strikes at the end of a tick shows in the next snapshots, or in those after a restart
        same('after the restart', ['snapshots']);
        for (const [at, step] of [...course.slice(before), { acts: [], ticks: 8 }].entries()) {
          await drive([first, second], wall, step, (tick) => {
            same(`after step ${before + at}, tick ${tick}`);
          });
        }
      },
      { runs: 5 },
    );
    // few courses cannot have everything
    const counts = pick({ quick: [], ci: [], full: Object.entries(atCuts) });
    for (const [what, count] of counts) expect(count, `cuts with a ${what}`).to.be.above(0);
  });

  it('long afterwards their registers are those of a plant that went on, under faults of every kind and holds', async () => {
    const wall = new HandWall();
    const longTicks: TestPlantOptions = { ...configuration, clouds: 'clear', tickIntervalS: 0.1, wall };
    const first = new Process(longTicks);
    for (const request of longFaults) first.faults.inject([request], byRest);
    for (const device of first.plant.devices) {
      const values = presentValues(device, { '704.WMaxLimPct': 70, '704.WMaxLimPctEna': 'ENABLED' });
      first.holds.begin(device, { id: 'long', values, lasts: { seconds: 1.4 * spanS } }, byRest);
      assignPresent(device, { '704.WMaxLimPct': 50 + device.index, '704.WMaxLimPctEna': 'ENABLED' }, byMaster);
    }
    await first.run(spanS);
    const second = new Process({ ...longTicks, time: '03:00:00' });
    second.kept().restore(throughFile(first.kept().save()));
    for (const process of [first, second]) await process.run(spanS);
    const expected = seen(first);
    for (const [part, value] of Object.entries(seen(second))) expectSameJson(value, expected[part], part);
    expectSameJson(second.kept().save(), first.kept().save(), 'state');
    const counts = first.faults.active.map(({ strikeCount }) => strikeCount);
    expect(counts.filter((count) => count > 0).length, 'faults that have struck').to.be.above(4);
    expect(Array.from(first.holds.list().records, ({ end }) => end?.reason)).to.deep.equal(Array(6).fill('expired'));
  });
});
