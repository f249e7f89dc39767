/** Courses of devices made up from spans of voltage, frequency, power and state. */
import type { CurveTrip } from '../../src/contract/abnormal-conditions.ts';
import type { ServiceWord } from '../../src/contract/grid-trace.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { Columns } from '../../src/capture/columns.ts';
import type { Course, ServiceChange } from '../../src/capture/course.ts';
import type { DeviceFacts } from '../../src/capture/facts.ts';

export interface Span {
  /** end of the span, s; it begins at the end of the one before */
  readonly toS: number;
  readonly vPct?: number;
  readonly hz?: number;
  readonly kw?: number;
  readonly possibleKw?: number;
  readonly state?: ServiceWord;
  readonly ramp?: true;
}

export function columnsOf(spans: readonly Span[]): Columns {
  const columns = new Columns();
  for (const { toS, vPct = 100, hz = 60, kw = 100, possibleKw = 100, state = 'in_service', ramp = false } of spans) {
    const step = {
      at: 0 as SimTime,
      activePowerW: kw * 1000,
      reactivePowerVar: 0,
      availableW: possibleKw * 1000,
      lowestVoltagePct: vPct,
      highestVoltagePct: vPct,
      frequencyHz: hz,
      gridVoltagePct: vPct,
      service: state,
      ramps: ramp,
    };
    columns.add(toS, step, false);
  }
  return columns;
}

const limit = (name: CurveTrip, value: number, seconds: number) => ({ name, value, seconds });

/** Facts of a device of 100 kW with the default trips of category III. */
export const plainFacts: DeviceFacts = {
  index: 0,
  name: 'Carport',
  assetType: 'pv',
  ratingW: 100_000,
  nominalHz: 60,
  vNomPu: 1,
  category: 'CAT_3',
  trips: [
    limit('lv_trip', 50, 2),
    limit('lv_trip', 88, 21),
    limit('hv_trip', 120, 0.16),
    limit('hv_trip', 110, 13),
    limit('lf_trip', 56.5, 0.16),
    limit('lf_trip', 58.5, 300),
    limit('hf_trip', 62, 0.16),
    limit('hf_trip', 61.2, 300),
  ],
  cessations: [limit('lv_trip', 50, 0.083), limit('hv_trip', 110, 0.083)],
  isEmpty: false,
};

interface Given {
  readonly facts?: Partial<DeviceFacts>;
  readonly changes?: readonly ServiceChange[];
  readonly gridBackS?: number;
  /** power and state of the second before; default 100 kW in service */
  readonly before?: Pick<Span, 'kw' | 'possibleKw' | 'state'>;
}

/** The spans after a second without a disturbance. */
export function courseOf(spans: readonly Span[], { facts, changes = [], gridBackS = 0, before }: Given = {}): Course {
  return {
    facts: { ...plainFacts, ...facts },
    columns: columnsOf([{ toS: -1, ...before }, { toS: 0, ...before }, ...spans]),
    changes,
    gridBackS,
  };
}

/** A trip at `tS`. */
export const tripAt = (tS: number, cause: string | null = 'lv_trip'): ServiceChange => ({
  tS,
  from: 'in_service',
  to: 'tripped',
  cause,
});
