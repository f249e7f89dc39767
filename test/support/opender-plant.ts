/** The device of the OpenDER scenarios behind its registers: 100 kW, 100 kVA, 480 V, three phases, an ideal source. */
import { resolveProfile } from '../../src/config/profile/device-profile.ts';
import type { Origin } from '../../src/core/origin.ts';
import type { SimDevice } from '../../src/der/device/device.ts';
import { dcFromAc } from '../../src/der/inverter/dc-link.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { ProfileSpec } from '../../src/der/device/template.ts';
import type { MapView, WritableMapView } from '../../src/sunspec/map/view.ts';
import type {
  Choices,
  ModelSettings,
  Pair,
  Scenario,
  SettingValue,
  Storage,
  Voltage,
} from '../../scripts/compact-opender.ts';
import { baseTickS, idealPlant, longestTickS } from './ideal-plant.ts';
import { IdealSource } from './ideal-source.ts';

export const ratedKw = 100;
const ratedW = ratedKw * 1000;
/** the reference model's current limit, of nominal */
const currentLimit = 1.2;
const master: Origin = { source: 'modbus', peer: 'test' };
/** a store large enough never to be the limit */
const storeW = 2 * ratedW;
/** for settings without a counterpart in the reference model: fast enough to have no effect */
const fastestRamp = 1000;

type Points = Readonly<Record<string, SettingValue>>;
type WritableCurve = Record<string, unknown> & {
  readonly Pt?: readonly Record<string, unknown>[];
  ActPt?: number | null;
};

function profileOf({ device, settings, choices }: Scenario, base: ModelSettings): ProfileSpec {
  const rated = { ...base['702'], ...settings['702'] } as Record<string, number>;
  const ratings = {
    WMaxRtg: rated['WMax']!,
    VAMaxRtg: rated['VAMax']!,
    VarMaxInjRtg: rated['VarMaxInj']!,
    VarMaxAbsRtg: rated['VarMaxAbs']!,
    VNomRtg: rated['VNom']!,
    NorOpCatRtg: rated['NorOpCatRtg']!,
    AbnOpCatRtg: rated['AbnOpCatRtg']!,
    AMaxRtg: (currentLimit * rated['VAMax']! * Math.sqrt(3)) / rated['VNom']!,
    ...(device === 'BESS' && { WChaRteMaxRtg: rated['WChaRteMax']! }),
  };
  const profile = resolveProfile(
    { models: { '702': ratings } },
    { assetType: device === 'BESS' ? 'battery' : 'pv', phases: 'three', longitudeDeg: 0 },
    'test',
    [],
  );
  if (!profile) throw new Error('the ratings of the scenario make no profile');
  return withChoices(profile, choices);
}

const storageOf = (scenario: Scenario): Storage | null =>
  scenario.kind === 'series' ? (scenario.storage ?? null) : null;

function withChoices(profile: ProfileSpec & { readonly inverter?: object }, choices: Choices = {}): ProfileSpec {
  // the random part of the delay is not a parameter of the inverter; it is added to the delay
  const inverter = Object.entries(choices).filter(([name]) => name !== 'randomDelayS');
  const chosen = { ...profile, inverter: { ...profile.inverter, ...Object.fromEntries(inverter) } };
  return chosen;
}

function fillPoints(curve: WritableCurve, [xName, yName]: readonly [string, string], pairs: readonly Pair[]): void {
  curve.ActPt = pairs.length;
  pairs.forEach(([x, y], i) => Object.assign(curve.Pt![i]!, { [xName]: x, [yName]: y }));
}

const curveAxes: Readonly<Record<string, readonly [string, string]>> = {
  705: ['V', 'Var'],
  706: ['V', 'W'],
  707: ['V', 'Tms'],
  708: ['V', 'Tms'],
  709: ['Hz', 'Tms'],
  710: ['Hz', 'Tms'],
  712: ['W', 'Var'],
};

/** Stages a curve in set 2, as a master does, has it adopted and then enables the function. */
function writeCurve(model: Record<string, unknown>, id: string, { Ena, Pt, MustTrip, ...others }: Points): void {
  const sets = (model['Crv'] ?? model['Ctl']) as readonly WritableCurve[];
  const staged = sets[1]!;
  Object.assign(staged, others);
  if (Pt) fillPoints(staged, curveAxes[id]!, Pt as readonly Pair[]);
  if (MustTrip) fillPoints(staged['MustTrip'] as WritableCurve, curveAxes[id]!, MustTrip as readonly Pair[]);
  model[id === '711' ? 'AdptCtlReq' : 'AdptCrvReq'] = 2;
  if (Ena !== undefined) model['Ena'] = Ena;
}

function writePlain(model: Record<string, unknown>, points: Points): void {
  for (const [name, value] of Object.entries(points)) {
    if (typeof value === 'object') Object.assign(model[name] as object, value);
    else model[name] = value;
  }
}

/** Without the charging half of watt-var for a device that only delivers: its curve has no place for it. */
function fitting(id: string, points: Points, device: Scenario['device']): Points {
  if (id !== '712' || device === 'BESS' || !points['Pt']) return points;
  return { ...points, Pt: (points['Pt'] as readonly Pair[]).filter(([w]) => w > 0) };
}

export class OpenderRig {
  readonly device: SimDevice;
  readonly map: MapView;
  readonly #plant: SimPlant;
  readonly #source: IdealSource;
  readonly #scenario: Scenario;
  #microsLeft = 0;

  constructor(scenario: Scenario, base: ModelSettings) {
    this.#scenario = scenario;
    const storage = storageOf(scenario);
    this.#source = scenario.device === 'BESS' ? new IdealSource(storeW, storeW, storage) : new IdealSource(0);
    const { plant, device } = idealPlant({
      profile: profileOf(scenario, base),
      source: this.#source,
      name: scenario.id,
      deviceType: scenario.device,
      // the reference model has losses of charging only
      ...(storage && { efficiencyNominal: null }),
    });
    this.#plant = plant;
    this.device = device;
    this.map = device.bank.map;
  }

  /** Everything that the scenario sets before it begins. */
  configure(base: ModelSettings, wRampPctS = fastestRamp): void {
    const { settings, device, choices } = this.#scenario;
    this.write({ '704': { WRmp: wRampPctS, VarRmp: fastestRamp } });
    for (const [id, points] of Object.entries(base)) {
      if (id === '702') continue;
      this.write({ [id]: fitting(id, { ...points, ...settings[id] }, device) });
    }
    this.#limitRamp();
    if (choices?.randomDelayS === undefined) return;
    const delayS = (settings['703']?.['ESDlyTms'] ?? base['703']?.['ESDlyTms']) as number;
    this.write({ '703': { ESDlyTms: delayS + choices.randomDelayS, ESRndTms: 0 } });
  }

  /**
   * A ramp over the rating in this time is no whole percentage of WMax per second, so the reference of the ramp is the
   * current limit, set high enough not to limit the output.
   */
  #limitRamp(): void {
    const rampS = storageOf(this.#scenario)?.powerRampS ?? 0;
    if (rampS <= 0) return;
    const wRampPctS = Math.ceil(100 / rampS);
    const aMaxA = ((100 / (rampS * wRampPctS)) * ratedW * Math.sqrt(3)) / this.map.m702.VNom!;
    this.write({ '702': { AMax: aMaxA }, '704': { WRmp: wRampPctS, WRmpRef: 'A_MAX' } });
  }

  /** The content of the store as the scenario begins. */
  fill(): void {
    this.#source.soc = storageOf(this.#scenario)?.soc ?? 0;
  }

  /** State of charge, 0..1; null: the scenario has no content to run out of. */
  get soc(): number | null {
    return storageOf(this.#scenario) ? this.#source.soc : null;
  }

  write(settings: ModelSettings): void {
    this.device.bank.transact(master, (tx: WritableMapView) => {
      for (const [id, points] of Object.entries(settings)) {
        const model = tx[`m${id}` as keyof WritableMapView] as unknown as Record<string, unknown>;
        if (id in curveAxes || id === '711') writeCurve(model, id, points);
        else writePlain(model, points);
      }
    });
  }

  grid(v: Voltage | undefined, hz: number | undefined, rampS?: number): void {
    const volts =
      v === undefined
        ? {}
        : typeof v === 'number'
          ? { voltagePu: v }
          : { voltageAPu: v[0], voltageBPu: v[1], voltageCPu: v[2] };
    this.#plant.setGrid({
      ...volts,
      ...(hz !== undefined && { frequencyHz: hz }),
      ...(rampS !== undefined && { rampS }),
    });
  }

  get hz(): number {
    return this.#plant.grid().frequencyHz;
  }

  /** Available power of a PV device, demand on a store; of rated. */
  power(p: number): void {
    if (this.#scenario.device === 'PV') this.#source.availableDcW = dcFromAc(p * ratedW, ratedW, 1);
    else this.write({ '704': { WSetMod: 'WATTS', WSet: p * ratedW, WSetEna: 'ENABLED' } });
  }

  /** Passes whole microseconds in as few ticks as can be. */
  async pass(micros: number): Promise<void> {
    for (this.#microsLeft = micros; this.#microsLeft > 0; ) {
      const next = Math.min(this.#microsLeft, longestTickS * 1e6);
      this.#plant.setTime({ rate: next / 1e6 / baseTickS });
      await this.#plant.step(1);
      this.#microsLeft -= next;
    }
  }
}
