/** A device over an ideal source whose every function can be set from a plan, through its registers. */
import { resolveProfile } from '../../src/config/profile/device-profile.ts';
import type { GridPatch } from '../../src/contract/environment.ts';
import type { SimDevice } from '../../src/der/device/device.ts';
import { dcFromAc } from '../../src/der/inverter/dc-link.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { ProfileSpec } from '../../src/der/device/template.ts';
import type { MapView, WritableMapView } from '../../src/sunspec/map/view.ts';
import { baseTickS, idealPlant, longestTickS } from './ideal-plant.ts';
import { IdealSource } from './ideal-source.ts';
import { amplePower, defaultHoldS, islandS, rampPassedS, rampS, restLimits, storePower } from './interaction-plan.ts';
import type { Kind, Limits, Pairs, Plan, Reactive, Stimulus, TripSide } from './interaction-plan.ts';
import { byTest } from './rig.ts';

export const ratedW = 100_000;
const vNomV = 480;
const settleS = 3;

export interface InteractionRigOptions {
  readonly kind?: Kind;
  /** all ratings times this */
  readonly scale?: number;
  readonly nominalHz?: number;
  /** 706, 705 and 711 RspTms, s */
  readonly responseS?: number;
  /** 704.WRmp and VarRmp, percent per second */
  readonly rampPctS?: number;
}

function profileOf(kind: Kind, scale: number): ProfileSpec {
  const w = ratedW * scale;
  const ratings = {
    WMaxRtg: w,
    VAMaxRtg: w,
    VarMaxInjRtg: 0.6 * w,
    VarMaxAbsRtg: 0.6 * w,
    VNomRtg: vNomV,
    AMaxRtg: (1.2 * w * Math.sqrt(3)) / vNomV,
    NorOpCatRtg: 'CAT_B',
    AbnOpCatRtg: 'CAT_3',
    ...(kind === 'store' && { WChaRteMaxRtg: w }),
  };
  const profile = resolveProfile(
    { models: { '702': ratings } },
    { assetType: kind === 'store' ? 'battery' : 'pv', phases: 'three', longitudeDeg: 0 },
    'test',
    [],
  );
  if (!profile) throw new Error('the ratings make no profile');
  return { ...profile, inverter: { ...profile.inverter, antiIslandingS: islandS } };
}

type AnyCurve = { ActPt: number | null; readonly Pt: readonly object[] };

/** Fills a curve; its further points stay as they are. */
export function fillCurve(curve: AnyCurve, x: string, y: string, pairs: Pairs): void {
  curve.ActPt = pairs.length;
  pairs.forEach(([at, value], i) => {
    Object.assign(curve.Pt[i]!, { [x]: at, [y]: value });
  });
}

export class InteractionRig {
  readonly kind: Kind;
  readonly scale: number;
  readonly nominalHz: number;
  readonly device: SimDevice;
  readonly map: MapView;
  readonly source: IdealSource;
  readonly #plant: SimPlant;
  readonly #responseS: number;
  readonly #rampPctS: number;
  #plan: Plan | null = null;

  constructor({
    kind = 'pv',
    scale = 1,
    nominalHz = 60,
    responseS = 0.2,
    rampPctS = 1000,
  }: InteractionRigOptions = {}) {
    this.kind = kind;
    this.scale = scale;
    this.nominalHz = nominalHz;
    this.#responseS = responseS;
    this.#rampPctS = rampPctS;
    const storeW = kind === 'store' ? storePower * this.ratedW : 0;
    this.source = new IdealSource(storeW, storeW);
    const { plant, device } = idealPlant({
      profile: profileOf(kind, scale),
      source: this.source,
      name: kind,
      deviceType: kind,
      nominalHz,
    });
    this.#plant = plant;
    this.device = device;
    this.map = device.bank.map;
  }

  get ratedW(): number {
    return ratedW * this.scale;
  }

  /** Output in per unit of the rating. */
  get p(): number {
    return this.map.m701.W! / this.ratedW;
  }

  get q(): number {
    return this.map.m701.Var! / this.ratedW;
  }

  set(change: (tx: WritableMapView) => void): void {
    this.device.bank.transact(byTest, change);
  }

  /** Passes simulated seconds in as few ticks as can be, or in ticks of `tickS`. */
  async run(seconds: number, tickS = longestTickS): Promise<void> {
    for (let left = Math.round(seconds * 1e6); left > 0; ) {
      const next = Math.min(left, Math.round(tickS * 1e6));
      this.#plant.setTime({ rate: next / 1e6 / baseTickS });
      await this.#plant.step(1);
      left -= next;
    }
  }

  patchGrid(patch: GridPatch): void {
    this.#plant.setGrid(patch);
  }

  grid({ v = 1, hz = 0, island = false }: Stimulus): void {
    const volts = typeof v === 'number' ? { voltagePu: v } : { voltageAPu: v[0], voltageBPu: v[1], voltageCPu: v[2] };
    this.#plant.setGrid({ ...volts, frequencyHz: this.nominalHz + hz, island });
  }

  /** Available power of a generator, or demand on a store; of rated. */
  power(pu: number): void {
    if (this.kind === 'pv') {
      this.supply(pu);
      return;
    }
    const mode = this.#plan?.setPoint?.mode ?? 'WATTS';
    const { WMax, WChaRteMax } = this.map.m702;
    const watts = Math.max(-WChaRteMax!, Math.min(WMax!, pu * this.ratedW));
    this.set((tx) => {
      Object.assign(tx.m704, {
        WSetMod: mode,
        ...(mode === 'WATTS' ? { WSet: watts } : { WSetPct: Math.max(-100, (100 * watts) / WMax!) }),
        WSetEna: 'ENABLED',
      });
    });
  }

  /** AC power that the source can give, of rated. */
  supply(pu: number): void {
    this.source.availableDcW = dcFromAc(pu * this.ratedW, this.ratedW, 1);
  }

  /** Writes a plan: everything off, the values, then the enables, reactive functions one by one. */
  configure(plan: Plan): void {
    this.#plan = plan;
    this.grid({});
    this.set((tx) => {
      this.#allOff(tx);
    });
    this.set((tx) => {
      this.#values(tx, plan);
    });
    this.set((tx) => {
      this.#limits(tx, plan.limits);
    });
    for (const f of plan.reactive)
      this.set((tx) => {
        this.#reactive(tx, f);
      });
  }

  /** Takes the device to rest and from there to `stimulus`. */
  async visit(stimulus: Stimulus): Promise<void> {
    const { returning, holdS = defaultHoldS, power = amplePower(this.kind) } = stimulus;
    this.grid({});
    this.power(power);
    this.set((tx) => {
      Object.assign(tx.m703, { ESDlyTms: 0, ESRmpTms: 0 });
    });
    await this.run(settleS);
    if (returning) await this.#comeBack(returning);
    this.grid(stimulus);
    await this.run(holdS);
  }

  async #comeBack(to: NonNullable<Stimulus['returning']>): Promise<void> {
    this.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await this.run(0.5);
    const [delayS, rampTimeS, passS] =
      to === 'waiting' ? [600, 0, settleS] : to === 'ramping' ? [0, rampS, rampPassedS] : [1, 2, 3 + settleS];
    this.set((tx) => {
      Object.assign(tx.m703, { ES: 'ENABLED', ESDlyTms: delayS, ESRmpTms: rampTimeS });
    });
    await this.run(passS);
  }

  #allOff(tx: WritableMapView): void {
    Object.assign(tx.m704, {
      WMaxLimPctEna: 'DISABLED',
      WSetEna: 'DISABLED',
      VarSetEna: 'DISABLED',
      PFWInjEna: 'DISABLED',
      AntiIslEna: 'DISABLED',
      ...(this.kind === 'store' && { PFWAbsEna: 'DISABLED' }),
    });
    for (const model of [tx.m705, tx.m706, tx.m707, tx.m708, tx.m709, tx.m710, tx.m711, tx.m712])
      model.Ena = 'DISABLED';
  }

  #values(tx: WritableMapView, plan: Plan): void {
    const { limitPct, setPoint, voltWatt, droop, trips } = plan;
    const rating = this.ratedW;
    // first at their ratings: the ranges of commands depend on them
    this.#limits(tx, restLimits);
    Object.assign(tx.m704, {
      WRmp: this.#rampPctS,
      VarRmp: this.#rampPctS,
      AntiIslEna: plan.antiIslanding ? 'ENABLED' : 'DISABLED',
    });
    if (limitPct !== null) Object.assign(tx.m704, { WMaxLimPct: limitPct, WMaxLimPctEna: 'ENABLED' });
    if (setPoint !== null) {
      const value = setPoint.mode === 'WATTS' ? { WSet: setPoint.value * rating } : { WSetPct: 100 * setPoint.value };
      Object.assign(tx.m704, { WSetMod: setPoint.mode, WSetEna: 'ENABLED', ...value });
    }
    if (voltWatt) {
      const set = tx.m706.Crv[1]!;
      Object.assign(set, { DeptRef: voltWatt.ofAvailable ? 'W_AVAL_PCT' : 'W_MAX_PCT', RspTms: this.#responseS });
      fillCurve(set, 'V', 'W', voltWatt.points);
      Object.assign(tx.m706, { AdptCrvReq: 2, Ena: 'ENABLED' });
    }
    if (droop) {
      const { overBandHz: DbOf, underBandHz: DbUf, overDroop, underDroop, minPct: PMin } = droop;
      const shift = 60 / this.nominalHz;
      Object.assign(tx.m711.Ctl[1]!, {
        DbOf,
        DbUf,
        KOf: overDroop * shift,
        KUf: underDroop * shift,
        PMin,
        RspTms: this.#responseS,
      });
      Object.assign(tx.m711, { AdptCtlReq: 2, Ena: 'ENABLED' });
    }
    for (const [side, thresholds] of Object.entries(trips))
      this.#trips(tx, side as TripSide, thresholds.must, thresholds.cease);
  }

  #limits(tx: WritableMapView, l: Limits): void {
    const rating = this.ratedW;
    Object.assign(tx.m702, {
      WMax: l.wMax * rating,
      VAMax: l.vaMax * rating,
      VarMaxInj: l.varInject * rating,
      VarMaxAbs: l.varAbsorb * rating,
      VNom: l.vNom * vNomV,
      AMax: (l.current * rating * Math.sqrt(3)) / vNomV,
      ...(this.kind === 'store' && { WChaRteMax: l.charge * rating }),
    });
  }

  #trips(tx: WritableMapView, side: TripSide, must: Pairs | null, cease: Pairs): void {
    const low = side.startsWith('low');
    const model = side === 'lowV' ? tx.m707 : side === 'highV' ? tx.m708 : side === 'lowF' ? tx.m709 : tx.m710;
    const volts = side.endsWith('V');
    const shifted = (pairs: Pairs): Pairs => (volts ? pairs : pairs.map(([x, s]) => [this.nominalHz + x, s] as const));
    // never reached: a curve needs a point
    const far: Pairs = [[volts ? (low ? 0 : 200) : low ? -10 : 10, 3600]];
    const set = model.Crv[1]!;
    fillCurve(set.MustTrip, volts ? 'V' : 'Hz', 'Tms', shifted(must ?? far));
    fillCurve(set.MomCess, volts ? 'V' : 'Hz', 'Tms', shifted(cease));
    Object.assign(model, { AdptCrvReq: 2, Ena: 'ENABLED' });
  }

  #reactive(tx: WritableMapView, f: Reactive): void {
    const { m704 } = tx;
    switch (f.name) {
      case 'pf_inject':
      case 'pf_absorb':
        Object.assign(f.name === 'pf_inject' ? m704.PFWInj : m704.PFWAbs, {
          PF: f.side.pf,
          Ext: f.side.over ? 'OVER_EXCITED' : 'UNDER_EXCITED',
        });
        m704[f.name === 'pf_inject' ? 'PFWInjEna' : 'PFWAbsEna'] = 'ENABLED';
        break;
      case 'constant_var': {
        const { VarMaxInj, VarMaxAbs } = this.map.m702;
        const vars = Math.max(-VarMaxAbs!, Math.min(VarMaxInj!, (f.pct / 100) * this.ratedW));
        Object.assign(m704, {
          VarSetMod: f.mode,
          VarSetPri: f.priority,
          ...(f.mode === 'VARS' ? { VarSet: vars } : { VarSetPct: f.pct }),
          VarSetEna: 'ENABLED',
        });
        break;
      }
      case 'volt_var': {
        const set = tx.m705.Crv[1]!;
        Object.assign(set, { DeptRef: shortName(f.base), Pri: f.priority, VRef: f.vRefPct, RspTms: this.#responseS });
        fillCurve(set, 'V', 'Var', f.points);
        Object.assign(tx.m705, { AdptCrvReq: 2, Ena: 'ENABLED' });
        break;
      }
      case 'watt_var': {
        const set = tx.m712.Crv[1]!;
        Object.assign(set, { DeptRef: shortName(f.base), Pri: f.priority });
        fillCurve(set, 'W', 'Var', f.points);
        Object.assign(tx.m712, { AdptCrvReq: 2, Ena: 'ENABLED' });
        break;
      }
    }
  }
}

/** 705 and 712 spell one base differently from 704. */
const shortName = (base: string) => (base === 'VAR_AVAIL_PCT' ? 'VAR_AVAL_PCT' : base);
