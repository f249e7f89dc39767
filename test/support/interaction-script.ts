/** Random but repeatable actions on a device: settings inside their ranges, commands, grid, source and time. */
import fc from 'fast-check';
import { SimError } from '../../src/core/errors.ts';
import { ranges } from '../../src/sunspec/map/rules.ts';
import type { Bound } from '../../src/sunspec/map/rules.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { fillCurve } from './interaction-rig.ts';
import type { InteractionRig } from './interaction-rig.ts';
import type { Pairs } from './interaction-plan.ts';
import { byTest } from './rig.ts';

type Pick = { readonly point: string; readonly share: number };
type Curve = {
  readonly id: 705 | 706 | 712;
  readonly points: Pairs;
  readonly base: string;
  readonly priority: string;
  readonly responseS: number;
  readonly on: boolean;
};

export type Act =
  /** points at a share of the way through their range */
  | { readonly kind: 'points'; readonly picks: readonly Pick[] }
  | { readonly kind: 'words'; readonly point: string; readonly word: string }
  | ({ readonly kind: 'curve' } & Curve)
  | {
      readonly kind: 'droop';
      readonly on: boolean;
      readonly bandHz: number;
      readonly droop: number;
      readonly responseS: number;
      readonly minPct: number;
    }
  | {
      readonly kind: 'grid';
      readonly v: readonly [number, number, number];
      readonly hz: number;
      readonly island: boolean;
      readonly rampS: number;
    }
  | { readonly kind: 'source'; readonly pu: number }
  | { readonly kind: 'switch'; readonly closed: boolean }
  | { readonly kind: 'reset' };

export interface ScriptStep {
  readonly act: Act;
  readonly seconds: number;
}

const real = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const share = fc.oneof(fc.constantFrom(0, 0.5, 1), real(0, 1));
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

const numberPoints = [
  '702.WMax',
  '702.VAMax',
  '702.VarMaxInj',
  '702.VarMaxAbs',
  '702.AMax',
  '704.WMaxLimPct',
  '704.WSet',
  '704.WSetPct',
  '704.VarSet',
  '704.VarSetPct',
  '704.PFWInj.PF',
  '704.PFWAbs.PF',
  '704.WRmp',
  '704.VarRmp',
];
const enables = [
  '704.WMaxLimPctEna',
  '704.WSetEna',
  '704.VarSetEna',
  '704.PFWInjEna',
  '704.PFWAbsEna',
  '704.AntiIslEna',
  '705.Ena',
  '706.Ena',
  '711.Ena',
  '712.Ena',
];
const words: readonly (readonly [string, readonly string[]])[] = [
  ...enables.map((point) => [point, ['ENABLED', 'ENABLED', 'DISABLED']] as const),
  ['704.WSetMod', ['W_MAX_PCT', 'WATTS']],
  ['704.VarSetMod', ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT', 'VA_MAX_PCT', 'VARS']],
  ['704.VarSetPri', ['ACTIVE', 'REACTIVE']],
  ['704.PFWInj.Ext', ['OVER_EXCITED', 'UNDER_EXCITED']],
  ['704.PFWAbs.Ext', ['OVER_EXCITED', 'UNDER_EXCITED']],
  ['703.ES', ['ENABLED', 'ENABLED', 'DISABLED']],
  ['715.OpCtl', ['START', 'START', 'STOP', 'ENTER_STANDBY']],
];

const points: fc.Arbitrary<Act> = fc
  .array(fc.record({ point: pick(...numberPoints), share }), { minLength: 1, maxLength: 3 })
  .map((picks) => ({ kind: 'points', picks }));
const word: fc.Arbitrary<Act> = pick(...words).chain(([point, of]) =>
  pick(...of).map((chosen) => ({ kind: 'words', point, word: chosen })),
);
const service: fc.Arbitrary<Act> = fc
  .array(fc.record({ point: pick('703.ESDlyTms', '703.ESRmpTms'), share: real(0, 2e-4) }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((picks) => ({ kind: 'points', picks }));

const rising = (min: number, max: number) =>
  fc
    .uniqueArray(fc.integer({ min: 2 * min, max: 2 * max }), { minLength: 2, maxLength: 4 })
    .map((xs) => xs.sort((a, b) => a - b).map((x) => x / 2));
const curve: fc.Arbitrary<Act> = pick<705 | 706 | 712>(705, 706, 712).chain((id) =>
  fc
    .record({
      xs: id === 712 ? rising(5, 100) : rising(92, 109),
      ys: fc.array(fc.integer({ min: id === 706 ? 0 : -100, max: 100 }), { minLength: 4, maxLength: 4 }),
      base:
        id === 706 ? pick('W_MAX_PCT', 'W_AVAL_PCT') : pick('W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAL_PCT', 'VA_MAX_PCT'),
      priority: pick('ACTIVE', 'REACTIVE'),
      responseS: pick(0, 0.5, 1, 5, 10),
      on: pick(true, true, false),
    })
    .map(({ xs, ys, ...others }) => {
      const order = id === 712 ? ys : [...ys].sort((a, b) => b - a);
      return { kind: 'curve' as const, id, points: xs.map((x, i) => [x, order[i]!] as const), ...others };
    }),
);
const droop: fc.Arbitrary<Act> = fc.record({
  kind: fc.constant('droop' as const),
  on: pick(true, true, false),
  bandHz: pick(0.017, 0.036, 0.3),
  droop: pick(0.02, 0.05),
  responseS: pick(0.2, 1, 5),
  minPct: pick(0, 20, -100),
});
const pu = fc.oneof(
  { weight: 4, arbitrary: real(0.9, 1.1) },
  { weight: 1, arbitrary: pick(0, 0.2, 0.47, 0.6, 0.88, 1.12, 1.25) },
);
const grid = (ramps: readonly number[]): fc.Arbitrary<Act> =>
  fc.record({
    kind: fc.constant('grid' as const),
    v: fc.oneof(
      pu.map((v) => [v, v, v] as const),
      fc.tuple(pu, pu, pu),
      fc.constant([1, 1, 1] as const),
    ),
    hz: fc.oneof(pick(0, 0, -0.6, 0.6, 1.5, 2.1, -3.6), real(-1.1, 1.1)),
    island: pick(false, false, false, true),
    rampS: pick(...ramps),
  });
const source: fc.Arbitrary<Act> = fc
  .oneof(pick(0, 0.03, 0.12, 1.2), real(0, 1.2))
  .map((value) => ({ kind: 'source', pu: value }));
const others: fc.Arbitrary<Act> = fc.oneof(
  fc.boolean().map((closed) => ({ kind: 'switch' as const, closed })),
  fc.constant({ kind: 'reset' as const }),
);

const act = (ramps: readonly number[]) =>
  fc.oneof(
    { weight: 5, arbitrary: points },
    { weight: 6, arbitrary: word },
    { weight: 3, arbitrary: curve },
    { weight: 2, arbitrary: droop },
    { weight: 6, arbitrary: grid(ramps) },
    { weight: 2, arbitrary: source },
    { weight: 1, arbitrary: service },
    { weight: 1, arbitrary: others },
  );

/** Microseconds are whole, so that two rigs have their ticks at the same instants. */
const seconds = pick(0.02, 0.25, 1, 3, 12);

/** @param ramps durations of changes of the grid, s */
export const scripts = (maxLength: number, ramps: readonly number[] = [0, 0, 0, 2]): fc.Arbitrary<ScriptStep[]> =>
  fc.array(fc.record({ act: act(ramps), seconds }), { minLength: 1, maxLength });

const slotOf = (rig: InteractionRig, point: string) => {
  const dot = point.indexOf('.');
  return rig.device.bank.layout.slot(Number(point.slice(0, dot)), point.slice(dot + 1));
};

function valueAt(rig: InteractionRig, point: string): number | string | null {
  const slot = slotOf(rig, point);
  return slot?.implemented ? rig.device.bank.value(slot) : null;
}

function bound(rig: InteractionRig, limit: Bound | undefined): number {
  if (typeof limit !== 'string') return limit ?? 0;
  const negative = limit.startsWith('-');
  const value = Number(valueAt(rig, negative ? limit.slice(1) : limit) ?? 0);
  return negative ? -value : value;
}

/**
 * Least maximum, of its rating: the register rounds a smaller one to 0, which is refused, or up to a whole unit, as the
 * rating has it.
 */
const minMaximum = 0.001;
const maxima: readonly string[] = ['702.WMax', '702.VAMax', '702.AMax'];

function picked(rig: InteractionRig, { point, share: part }: Pick): number {
  const rule = ranges[point]!;
  const range = typeof rule === 'function' ? rule((other) => valueAt(rig, other)) : rule;
  const high = bound(rig, range.max);
  const low = maxima.includes(point) ? minMaximum * high : bound(rig, range.min);
  return low + part * (high - low);
}

function assign(rig: InteractionRig, values: readonly (readonly [string, AnyPointValue])[]): void {
  const known = values.flatMap(([point, value]) => {
    const slot = slotOf(rig, point);
    return slot?.implemented ? [{ slot, value }] : [];
  });
  try {
    rig.device.bank.assign(byTest, known);
  } catch (error) {
    // points of one write may exclude each other; any error but a refusal is a bug
    if (!(error instanceof SimError) || !error.code.startsWith('MAP_')) throw error;
  }
}

function adopt(tx: WritableMapView, { id, points: pairs, base, priority, responseS, on }: Curve): void {
  const model = { 705: tx.m705, 706: tx.m706, 712: tx.m712 }[id];
  const [x, y] = { 705: ['V', 'Var'], 706: ['V', 'W'], 712: ['W', 'Var'] }[id] as [string, string];
  Object.assign(model.Crv[1]!, {
    DeptRef: base,
    ...(id !== 706 && { Pri: priority }),
    ...(id !== 712 && { RspTms: responseS }),
  });
  fillCurve(model.Crv[1]!, x, y, pairs);
  Object.assign(model, { AdptCrvReq: 2, Ena: on ? 'ENABLED' : 'DISABLED' });
}

export function apply(rig: InteractionRig, step: Act): void {
  switch (step.kind) {
    case 'points':
      assign(
        rig,
        step.picks.map((chosen) => [chosen.point, picked(rig, chosen)] as const),
      );
      break;
    case 'words':
      assign(rig, [[step.point, step.word]]);
      break;
    case 'curve':
      rig.set((tx) => {
        adopt(tx, step);
      });
      break;
    case 'droop':
      rig.set((tx) => {
        Object.assign(tx.m711.Ctl[1]!, {
          DbOf: step.bandHz,
          DbUf: step.bandHz,
          KOf: step.droop,
          KUf: step.droop,
          RspTms: step.responseS,
          PMin: step.minPct,
        });
        Object.assign(tx.m711, { AdptCtlReq: 2, Ena: step.on ? 'ENABLED' : 'DISABLED' });
      });
      break;
    case 'grid': {
      const [voltageAPu, voltageBPu, voltageCPu] = step.v;
      rig.patchGrid({
        voltageAPu,
        voltageBPu,
        voltageCPu,
        frequencyHz: rig.nominalHz + step.hz,
        island: step.island,
        rampS: step.rampS,
      });
      break;
    }
    case 'source':
      rig.supply(step.pu);
      break;
    case 'switch':
      rig.device.command({ kind: 'switch', closed: step.closed }, byTest);
      break;
    case 'reset':
      rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
      break;
  }
}
