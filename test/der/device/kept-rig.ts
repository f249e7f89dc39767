/** One device without a plant, and random acts on it. */
import fc from 'fast-check';
import type { DeviceCommand, InverterParameters } from '../../../src/contract/device.ts';
import type { GridPatch, SurroundingsPatch } from '../../../src/contract/environment.ts';
import { defaultMapShape } from '../../../src/contract/map-layout.ts';
import type { MapShape } from '../../../src/contract/map-layout.ts';
import { SimError } from '../../../src/core/errors.ts';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { SimDevice } from '../../../src/der/device/device.ts';
import { createTemplate } from '../../../src/der/device/template.ts';
import type { DeviceTemplate } from '../../../src/der/device/template.ts';
import { Environment } from '../../../src/der/surroundings/environment.ts';
import type { FeederSpec } from '../../../src/der/surroundings/grid/feeder.ts';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import { SeriesWeather, weatherColumns } from '../../../src/der/surroundings/weather.ts';
import type { PointSlot } from '../../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { configuredDevices } from '../../support/configured.ts';
import { KeptSource } from '../../support/kept-source.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const nominalHz = 60;

export interface KeptRigOptions {
  /** as `--device_type` takes it */
  readonly type: string;
  readonly map?: Partial<MapShape>;
  readonly inverter?: Partial<InverterParameters>;
  readonly feeder?: FeederSpec | null;
  /** true: the source of the type in place of one of the test */
  readonly realSource?: boolean;
}

const templates = new Map<string, DeviceTemplate>();

function templateOf({ type, map = {}, inverter = {}, realSource = false }: KeptRigOptions): DeviceTemplate {
  const key = JSON.stringify({ type, map, inverter, realSource });
  const cached = templates.get(key);
  if (cached) return cached;
  const { profile } = configuredDevices('--device_type', type)[0]!;
  const changed = {
    ...profile,
    map: { ...defaultMapShape, ...map },
    inverter: { ...profile.inverter, ...inverter },
  };
  const usual = createTemplate(changed, 'three', nominalHz, start, 0, { withSimModels: true });
  const template = realSource
    ? usual
    : { ...usual, createSource: () => new KeptSource(1.1 * usual.ratings.wMaxW, usual.storage !== null) };
  templates.set(key, template);
  return template;
}

interface Change {
  readonly at: SimTime;
  readonly grid?: GridPatch;
  readonly weather?: SurroundingsPatch;
}

export type Act =
  | { readonly kind: 'write'; readonly values: Readonly<Record<string, AnyPointValue>>; readonly by: Origin }
  | { readonly kind: 'command'; readonly command: DeviceCommand; readonly by: Origin }
  | { readonly kind: 'grid'; readonly patch: GridPatch }
  | { readonly kind: 'weather'; readonly patch: SurroundingsPatch }
  | { readonly kind: 'site'; readonly floorW: number; readonly ceilingW: number }
  | { readonly kind: 'curve' };

export interface Step {
  readonly acts: readonly Act[];
  readonly tickS: number;
}

/** Values of the points that the map of a device has. */
export function presentValues(
  { bank }: Pick<SimDevice, 'bank'>,
  values: Readonly<Record<string, AnyPointValue>>,
): { readonly slot: PointSlot; readonly value: AnyPointValue }[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const slot = bank.layout.named(name);
    return slot ? [{ slot, value }] : [];
  });
}

/** Writes values by name, of points that the map of the device has. @throws SimError as `RegisterBank.assign` */
export function assignPresent(
  device: Pick<SimDevice, 'bank'>,
  values: Readonly<Record<string, AnyPointValue>>,
  by: Origin,
): void {
  device.bank.assign(by, presentValues(device, values));
}

/** The surroundings follow from the changes made to them, which the rig keeps beside the device. */
export class KeptRig {
  readonly device: SimDevice;
  readonly #environment: Environment;
  #now: SimTime = start;
  #ticks = 0;
  #changes: readonly Change[] = [];
  #snapshot = '';
  #refusals = 0;

  constructor(options: KeptRigOptions) {
    const text = 'time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s\n0,600,20,1\n86400,600,20,1\n';
    const still = new SeriesWeather(parseSeries(text, { name: 'weather', end: 'loop', columns: weatherColumns }));
    this.#environment = new Environment(
      {
        nominalHz,
        gridProfile: null,
        weather: { csv: () => still, clear_sky: () => ({ irradianceAt: () => 0, airTemperatureAt: () => 20 }) },
        weatherSource: 'csv',
        seriesTime: () => 0,
      },
      start,
    );
    this.device = new SimDevice(
      { index: 0, name: 'kept', deviceType: options.type, profileName: null, serialNumber: 'T', version: '0' },
      templateOf(options),
      {
        clock: { sim: () => this.#now, wallMs: () => 1e12 + 1000 * this.#ticks },
        environment: this.#environment,
        seed: 7,
        rate: () => 1,
        log: silentLogger,
        feeder: options.feeder ?? null,
      },
      start,
    );
  }

  kept(): Kept {
    return keptParts({
      rig: keptRecord(
        () => ({
          now: this.#now,
          ticks: this.#ticks,
          changes: this.#changes,
          snapshot: this.#snapshot,
          refusals: this.#refusals,
        }),
        ({ changes, ...members }) => {
          for (const change of changes) this.#change(change);
          ({ now: this.#now, ticks: this.#ticks, snapshot: this.#snapshot, refusals: this.#refusals } = members);
        },
      ),
      device: this.device.kept(),
    });
  }

  step({ acts, tickS }: Step): void {
    for (const act of acts) this.#attempt(act);
    this.#now = addSeconds(this.#now, tickS);
    this.#ticks += 1;
    this.device.advance(this.#now);
    const published = this.device.publish({
      tick: this.#ticks,
      timestamp: `${this.#now}`,
      wallTime: '',
      clockTime: '12:00:00',
    });
    this.#snapshot = JSON.stringify([published.snapshot, published.detail]);
  }

  /** Carries out an act, or counts its refusal. */
  #attempt(act: Act): void {
    try {
      this.#carryOut(act);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      this.#refusals += 1;
    }
  }

  #carryOut(act: Act): void {
    const { device } = this;
    const { bank } = device;
    switch (act.kind) {
      case 'write': {
        assignPresent(device, act.values, act.by);
        break;
      }
      case 'command':
        device.command(act.command, act.by);
        break;
      case 'grid':
        this.#change({ at: this.#now, grid: act.patch });
        break;
      case 'weather':
        this.#change({ at: this.#now, weather: act.patch });
        break;
      case 'site':
        device.siteShare.admit(act.floorW, act.ceilingW);
        break;
      case 'curve':
        bank.image();
        break;
    }
  }

  #change(change: Change): void {
    const { at, grid, weather } = change;
    if (grid) this.#environment.setGrid(grid, at);
    if (weather) this.#environment.setSurroundings(weather, at);
    this.#changes = [...this.#changes, change];
  }

  /** All that others see of the device. */
  get seen(): unknown {
    const { device } = this;
    const { bank, siteShare } = device;
    return {
      image: bank.image().toString('hex'),
      writers: bank.layout.slots.map((slot) => bank.provenance(slot) ?? null),
      lastWrite: bank.lastWrite && { ...bank.lastWrite, slot: bank.lastWrite.slot.index },
      snapshot: this.#snapshot,
      refusals: this.#refusals,
      alarms: device.alarms,
      functions: [...device.activeFunctions],
      trips: [device.activeTrips, device.startedTrips],
      service: device.enterService,
      status: device.statusMessage,
      available: device.available,
      gradient: device.gradient,
      overrides: device.overrides,
      switchClosed: device.switchClosed,
      localControl: device.localControl,
      startedAt: device.startedAt,
      detailAt: device.detailAt,
      trace: device.trace.now,
      transitions: device.trace.transitions,
      decidedBy: device.trace.decidedBy,
      site: [siteShare.powerW, siteShare.loadW, siteShare.demandW, siteShare.reachW(2), siteShare.maxInjectW],
    };
  }
}

const byMaster: Origin = { source: 'modbus', peer: '192.0.2.1:502' };
const byRest: Origin = { source: 'rest' };

/** Writes that begin, replace or end something that lasts: reversions, adoptions, windows, ramps. */
const timedWrites: readonly Readonly<Record<string, AnyPointValue>>[] = [
  {
    '704.WMaxLimPct': 40,
    '704.WMaxLimPctRvrtTms': 6,
    '704.WMaxLimPctEnaRvrt': 'DISABLED',
    '704.WMaxLimPctEna': 'ENABLED',
  },
  { '704.WMaxLimPct': 75 },
  {
    '704.WSetMod': 'WATTS',
    '704.WSet': 3000,
    '704.WSetRvrtTms': 6,
    '704.WSetEnaRvrt': 'DISABLED',
    '704.WSetEna': 'ENABLED',
  },
  { '705.Crv[1].VRefAutoEna': 'ENABLED', '705.Crv[1].VRefAutoTms': 300, '705.Crv[1].RspTms': 4, '705.AdptCrvReq': 2 },
  { '705.RvrtTms': 5, '705.RvrtCrv': 2, '705.Ena': 'ENABLED' },
  { '711.Ctl[1].RspTms': 3, '711.AdptCtlReq': 2 },
  { '707.AdptCrvReq': 2 },
  { '123.WMaxLimPct': 25, '123.WMaxLimPct_WinTms': 8, '123.WMaxLimPct_RmpTms': 6, '123.WMaxLim_Ena': 'ENABLED' },
  { '123.WMaxLimPct': 60, '123.WMaxLimPct_WinTms': 0, '123.WMaxLimPct_RmpTms': 9, '123.WMaxLim_Ena': 'ENABLED' },
  { '123.VArPct_Mod': 'VArMax', '123.VArMaxPct': 20, '123.VArPct_WinTms': 5, '123.VArPct_Ena': 'ENABLED' },
  { '123.OutPFSet': -0.92, '123.OutPFSet_RmpTms': 7, '123.OutPFSet_Ena': 'ENABLED' },
  { '123.Conn_WinTms': 5, '123.Conn_RvrtTms': 3, '123.Conn': 'DISCONNECT' },
  { '123.Conn_WinTms': 0, '123.Conn_RvrtTms': 4, '123.Conn': 'DISCONNECT' },
  { '124.StorCtl_Mod': 3, '124.InWRte': 30, '124.OutWRte': 50, '124.InOutWRte_RvrtTms': 4 },
  { '124.InOutWRte_WinTms': 6, '124.InOutWRte_RvrtTms': 9, '124.StorCtl_Mod': 3, '124.OutWRte': 20 },
];

/** Other settings. */
const writes: readonly Readonly<Record<string, AnyPointValue>>[] = [
  { '704.WMaxLimPctEna': 'DISABLED' },
  { '704.WSetMod': 'WATTS', '704.WSet': -4000, '704.WSetRvrtTms': 0, '704.WSetEna': 'ENABLED' },
  { '704.WSetEna': 'DISABLED' },
  { '704.WRmp': 2 },
  { '704.WRmp': 20 },
  { '704.VarRmp': 5 },
  { '704.VarSetMod': 'VAR_MAX_PCT', '704.VarSetPct': 30, '704.VarSetEna': 'ENABLED' },
  { '704.PFWInj.PF': 0.9, '704.PFWInj.Ext': 'UNDER_EXCITED', '704.PFWInjEna': 'ENABLED' },
  { '704.VarSetEna': 'DISABLED', '704.PFWInjEna': 'DISABLED' },
  { '705.Ena': 'ENABLED' },
  { '705.Ena': 'DISABLED' },
  { '706.Ena': 'ENABLED' },
  { '711.Ena': 'ENABLED' },
  { '712.Ena': 'ENABLED' },
  { '702.WMax': 8000 },
  { '123.Conn_WinTms': 0, '123.Conn': 'CONNECT' },
  { '124.InOutWRte_WinTms': 0, '124.StorCtl_Mod': 0 },
  { '802.SoCRsvMin': 15 },
];

const commands: readonly DeviceCommand[] = [
  { kind: 'gradient', wPctPerS: 3, varPctPerS: 2 },
  { kind: 'gradient', wPctPerS: null },
  { kind: 'reset', scope: 'alarms' },
  { kind: 'pv.shading', shading: { shadedShare: 0.4, irradianceShare: 0.3 } },
];

const grids: readonly GridPatch[] = [
  { voltagePu: 0.75, durationS: 1.5 },
  { voltagePu: 1.08 },
  { voltagePu: 1 },
  { voltageAPu: 0.97, voltageBPu: 1.03, voltageCPu: 1 },
  { frequencyHz: 60.6, rampS: 4 },
  { frequencyHz: 59.2 },
  { frequencyHz: 60 },
];

const weathers: readonly SurroundingsPatch[] = [
  { irradianceWm2: 150 },
  { irradianceWm2: 900, rampS: 8 },
  { irradianceWm2: 1200 },
  { ambientTemperatureC: 45 },
  { loadKw: 3 },
];

/** Grids that no device stands for long. */
const roughGrids: readonly GridPatch[] = [
  { voltagePu: 0.4, durationS: 4 },
  { voltagePu: 1.19, durationS: 3 },
  { frequencyHz: 61.5, durationS: 2 },
  { frequencyHz: 56, durationS: 3 },
  { phaseAngleDeg: 40, durationS: 2 },
  { island: true, durationS: 1.2 },
  { outage: true, durationS: 2 },
];

/** Acts that take a device out of service, or out of the reach of masters, and those that bring it back. */
const interruptions: readonly Act[] = [
  { kind: 'write', values: { '703.ES': 'DISABLED' }, by: byMaster },
  { kind: 'write', values: { '703.ES': 'ENABLED' }, by: byMaster },
  { kind: 'write', values: { '715.OpCtl': 'STOP' }, by: byRest },
  { kind: 'write', values: { '715.OpCtl': 'START' }, by: byRest },
  { kind: 'command', command: { kind: 'switch', closed: false }, by: byRest },
  { kind: 'command', command: { kind: 'switch', closed: true }, by: byRest },
  { kind: 'command', command: { kind: 'local', local: true }, by: byRest },
  { kind: 'command', command: { kind: 'local', local: false }, by: byRest },
  { kind: 'command', command: { kind: 'start' }, by: byRest },
  { kind: 'command', command: { kind: 'reset', scope: 'device' }, by: byRest },
  ...roughGrids.map((patch): Act => ({ kind: 'grid', patch })),
];

const by = fc.constantFrom(byMaster, byRest);

/** Acts on one device or on its surroundings. */
export const deviceActs: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('write' as const), values: fc.constantFrom(...timedWrites), by }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('write' as const), values: fc.constantFrom(...writes), by }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('command' as const), command: fc.constantFrom(...commands), by }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('grid' as const), patch: fc.constantFrom(...grids) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('weather' as const), patch: fc.constantFrom(...weathers) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('site' as const),
      floorW: fc.constantFrom(-Infinity, -2000, 0),
      ceilingW: fc.constantFrom(Infinity, 4000, 1000),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'curve' }) },
  { weight: 1, arbitrary: fc.constantFrom(...interruptions) },
);

/** The first acts of each run: what happens later begins and ends within a run. */
const quickReturn: Act = {
  kind: 'write',
  values: { '703.ESDlyTms': 1, '703.ESRndTms': 2, '703.ESRmpTms': 5, '704.WRmp': 10, '704.VarRmp': 10 },
  by: byRest,
};

/** Ticks of different lengths, with up to three acts before each. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.record({ acts: fc.array(deviceActs, { maxLength: 3 }), tickS: fc.constantFrom(0.1, 0.5, 1, 1, 1.5, 3) }), {
    minLength: 10,
    maxLength: 24,
  })
  .map((list) => [{ acts: [quickReturn], tickS: 1 }, ...list]);

const write = (values: Readonly<Record<string, AnyPointValue>>): Act => ({ kind: 'write', values, by: byMaster });
const at = (...acts: readonly Act[]): Step => ({ acts, tickS: 1 });
const idle = (count: number, tickS = 1): readonly Step[] => Array<Step>(count).fill({ acts: [], tickS });
const scenario = (...list: readonly Step[]): readonly Step[] => [at(quickReturn), ...list];

/** Runs in which something particular is under way at most instants. */
export const scenarios: readonly (readonly Step[])[] = [
  // the disconnect switch within its window, and its reversion
  scenario(at(write({ '123.Conn_WinTms': 12, '123.Conn_RvrtTms': 6, '123.Conn': 'DISCONNECT' })), ...idle(30)),
  scenario(at(write({ '123.Conn_RvrtTms': 8, '123.Conn': 'DISCONNECT' })), ...idle(12)),
  // bounds of a storage within their window, and their reversion
  scenario(
    at(write({ '704.WSetMod': 'WATTS', '704.WSet': 6000, '704.WSetEna': 'ENABLED', '704.WRmp': 100 })),
    ...idle(3),
    at(write({ '124.InOutWRte_WinTms': 20, '124.InOutWRte_RvrtTms': 8, '124.StorCtl_Mod': 3, '124.OutWRte': 20 })),
    ...idle(30),
  ),
  // classic faces within their window, one of which a later write replaces
  scenario(
    at(write({ '123.WMaxLimPct': 30, '123.WMaxLimPct_WinTms': 15, '123.WMaxLim_Ena': 'ENABLED' })),
    at(write({ '123.VArPct_Mod': 'VArMax', '123.VArMaxPct': 20, '123.VArPct_WinTms': 9, '123.VArPct_Ena': 'ENABLED' })),
    ...idle(6),
    at(write({ '704.WMaxLimPct': 70 })),
    ...idle(8),
    at(write({ '123.WMaxLimPct': 45, '123.WMaxLimPct_RmpTms': 6, '123.WMaxLimPct_WinTms': 0 })),
    ...idle(8),
  ),
  // the form in which a classic setting was written comes back with an equal one
  scenario(
    at(write({ '123.VArPct_Mod': 'WMax', '123.VArWMaxPct': 10, '123.VArPct_Ena': 'ENABLED' })),
    ...idle(2),
    at(write({ '704.VarSetMod': 'VARS', '704.VarSet': 500 })),
    ...idle(2),
    at(write({ '704.VarSetMod': 'W_MAX_PCT', '704.VarSetPct': 10 })),
    ...idle(2),
  ),
  // an adoption, and a reversion to a stored set
  scenario(
    at(
      write({ '705.Crv[1].RspTms': 7, '705.AdptCrvReq': 2, '705.RvrtTms': 6, '705.RvrtCrv': 2, '705.Ena': 'ENABLED' }),
    ),
    ...idle(10),
  ),
  // a curve that is shown no more, and one that is
  scenario({ acts: [{ kind: 'curve' }], tickS: 1 }, at({ kind: 'weather', patch: { irradianceWm2: 300 } }), ...idle(3)),
  // the cabinet after a rise of the air
  scenario(
    at({ kind: 'weather', patch: { ambientTemperatureC: 45 } }),
    ...idle(5),
    at({ kind: 'weather', patch: { loadKw: 2 } }),
  ),
  // local control
  scenario(...idle(2), at({ kind: 'command', command: { kind: 'local', local: true }, by: byRest }), ...idle(6)),
  // everything at rest
  scenario(...idle(20, 3)),
];
