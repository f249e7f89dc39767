/**
 * Readings of the metering mirror: averages of active and reactive power, voltages and frequency (CSIP) over a period,
 * and the stored energy at its end (CSIP-AUS). They come from the values of a meter at the ends of ticks. Power is
 * averaged from the energy counters, and the measured power only interpolates between two counts. Pure: no clock.
 */
import { createHash } from 'node:crypto';
import { phaseCodes } from './model.ts';
import type { MeterNow, MeterTotals, PhaseCode } from './model.ts';
import type { ReadingType } from '../xml/documents.ts';

/** A meter at one instant. */
export interface Sample {
  /** remote time, ms since the epoch */
  readonly atMs: number;
  /** simulated time, s */
  readonly simS: number;
  readonly meter: MeterNow;
}

/** Averages between two instants of remote time; powers are magnitudes by direction. */
export interface Period {
  /** ms since the epoch */
  readonly startMs: number;
  readonly endMs: number;
  readonly injectedW: number;
  readonly absorbedW: number;
  readonly injectedVar: number;
  readonly absorbedVar: number;
  readonly volts: ReadonlyMap<PhaseCode, number>;
  readonly hz: number | null;
  /** stored energy at the end of the period */
  readonly storedWh: number | null;
}

/** Value at which the 64-bit counters of the registers overflow, counts. */
const counterModulus = 2 ** 64;

/**
 * The rise of a counter. A counter that fell has overflowed if it stood in the upper half of its range, otherwise it
 * has been reset to 0.
 * @param modulus value of the overflow, in the unit of the counter
 */
export function risen(before: number, after: number, modulus: number): number {
  if (after >= before) return after - before;
  return before > modulus / 2 ? modulus - before + after : after;
}

/**
 * Energy at a finer resolution than its counter. Between counts it follows the power; where the two differ by more than
 * the rounding of the counter, the counter prevails.
 */
export class FineEnergy {
  /** estimate */
  #energy = 0;
  /** energy since the first count, by the counter */
  #counted = 0;
  #counter: number | null = null;
  /** bounds of the difference between true and estimated energy, by the rounding of the counter */
  #aheadMin = -Infinity;
  #aheadMax = Infinity;

  /**
   * @param energy integral of the power since the last call
   * @param counter present value in whole counts; null: no counter, the energy follows the power alone
   * @param count size of one count
   */
  add(energy: number, counter: number | null, count: number): void {
    this.#energy += energy;
    if (counter === null) return;
    if (this.#counter !== null) this.#counted += risen(this.#counter, counter, counterModulus * count);
    this.#counter = counter;
    this.#follow(count / 2);
  }

  #follow(half: number): void {
    const min = this.#counted - half - this.#energy;
    const max = this.#counted + half - this.#energy;
    const drift = min > this.#aheadMax ? min - this.#aheadMax : max < this.#aheadMin ? max - this.#aheadMin : 0;
    this.#energy += drift;
    this.#aheadMin = Math.max(this.#aheadMin, min - drift);
    this.#aheadMax = Math.min(this.#aheadMax, max - drift);
  }

  get total(): number {
    return this.#energy;
  }
}

/** The four directions of energy. */
type Direction = keyof MeterTotals;
const directions = ['injectedWh', 'absorbedWh', 'injectedVarh', 'absorbedVarh'] as const satisfies Direction[];

/** Mean of the positive part of a line from `from` to `to`. */
function meanAbove(from: number, to: number): number {
  if (from >= 0 && to >= 0) return (from + to) / 2;
  if (from <= 0 && to <= 0) return 0;
  const above = Math.max(from, to);
  return (above * above) / (2 * Math.abs(to - from));
}

/** Sums over the elapsed part of a period. */
interface Sums {
  startMs: number;
  simS: number;
  energy: Record<Direction, number>;
  /** weighted with remote time */
  readonly volts: Map<PhaseCode, number>;
  hz: number;
  weightMs: number;
  /** stored energy at the last sample */
  storedWh: number | null;
}

const emptySums = (startMs: number): Sums => ({
  startMs,
  simS: 0,
  energy: { injectedWh: 0, absorbedWh: 0, injectedVarh: 0, absorbedVarh: 0 },
  volts: new Map(),
  hz: 0,
  weightMs: 0,
  storedWh: null,
});

const minuteMs = 60_000;

/** Maximum step of remote time, periods; a longer one means that the clock was set. */
const maxStepPeriods = 10;

/** Averages of one meter. Periods follow each other without a gap unless the remote clock is set. */
export class Averager {
  readonly #fine = {
    injectedWh: new FineEnergy(),
    absorbedWh: new FineEnergy(),
    injectedVarh: new FineEnergy(),
    absorbedVarh: new FineEnergy(),
  };
  #last: Sample;
  #sums: Sums;
  #periodMs: number;
  readonly #wholeMinutes: boolean;
  /** start of the next period, before which samples do not count; null: a period is under way */
  #leadMs: number | null;

  /**
   * @param periodMs length of a period
   * @param wholeMinutes true: periods of whole minutes start at whole minutes, as CSIP-AUS requires
   */
  constructor(first: Sample, periodMs: number, wholeMinutes = false) {
    this.#last = first;
    this.#periodMs = periodMs;
    this.#wholeMinutes = wholeMinutes;
    this.#sums = emptySums(first.atMs);
    this.#leadMs = this.#leadTo(first.atMs);
    this.#count(first, 0);
  }

  /** end of the present period, or of the time before the first period, remote time */
  get dueMs(): number {
    const overdueMs = this.#leadTo(this.#last.atMs) ?? this.#last.atMs;
    return Math.max(this.#leadMs ?? this.#sums.startMs + this.#periodMs, overdueMs);
  }

  /** Start of the next period, remote time; null: at once. */
  #leadTo(atMs: number): number | null {
    const startsLater = this.#wholeMinutes && this.#periodMs % minuteMs === 0 && atMs % minuteMs !== 0;
    return startsLater ? Math.ceil(atMs / minuteMs) * minuteMs : null;
  }

  /** Applies to the present period too; if the new length has already passed, the period ends with the next sample. */
  set periodMs(ms: number) {
    this.#periodMs = ms;
  }

  /** @returns the periods that end by this sample, oldest first */
  add(sample: Sample): readonly Period[] {
    const ended: Period[] = [];
    const before = this.#last;
    const energy = this.#count(sample, sample.simS - before.simS);
    const simS = Math.max(0, sample.simS - before.simS);
    const stepMs = sample.atMs - before.atMs;
    if (stepMs > maxStepPeriods * this.#periodMs) {
      // the time before the clock was set becomes a separate period
      this.#gather(sample, energy, simS, 0, 1);
      if (before.atMs > this.#sums.startMs) ended.push(this.#end(before.atMs));
      this.#sums = emptySums(sample.atMs);
      this.#leadMs = this.#leadTo(sample.atMs);
    } else if (stepMs <= 0) {
      this.#gather(sample, energy, simS, 0, 1);
      this.#sums.startMs = Math.min(this.#sums.startMs, sample.atMs);
    } else {
      let doneMs = before.atMs;
      while (this.dueMs <= sample.atMs && this.dueMs > this.#sums.startMs) {
        const dueMs = this.dueMs;
        this.#gather(sample, energy, simS, dueMs - doneMs, (dueMs - doneMs) / stepMs);
        const isLead = this.#leadMs !== null;
        const period = this.#end(dueMs);
        if (!isLead) ended.push(period);
        doneMs = dueMs;
        this.#last = { ...before, atMs: doneMs };
      }
      this.#gather(sample, energy, simS, sample.atMs - doneMs, (sample.atMs - doneMs) / stepMs);
    }
    this.#last = sample;
    return ended;
  }

  /** Ends the present period at the last sample. @returns null if no time has passed in it */
  cut(): Period | null {
    return this.#last.atMs > this.#sums.startMs ? this.#end(this.#last.atMs) : null;
  }

  /** Energy since the last sample by direction. */
  #count({ meter }: Sample, simS: number): Record<Direction, number> {
    const hours = Math.max(0, simS) / 3600;
    const from = this.#last.meter;
    const byPower: Record<Direction, number> = {
      injectedWh: meanAbove(from.w, meter.w) * hours,
      absorbedWh: meanAbove(-from.w, -meter.w) * hours,
      injectedVarh: meanAbove(from.var, meter.var) * hours,
      absorbedVarh: meanAbove(-from.var, -meter.var) * hours,
    };
    const energy = { ...byPower };
    for (const direction of directions) {
      const fine = this.#fine[direction];
      const before = fine.total;
      const count = direction.endsWith('Varh') ? meter.countVarh : meter.countWh;
      fine.add(byPower[direction], meter.totals?.[direction] ?? null, count);
      energy[direction] = fine.total - before;
    }
    return energy;
  }

  /** Adds a share of the step to the sums. */
  #gather({ meter }: Sample, energy: Record<Direction, number>, simS: number, ms: number, share: number): void {
    const sums = this.#sums;
    sums.simS += simS * share;
    for (const direction of directions) sums.energy[direction] += energy[direction] * share;
    for (const [phase, volts] of meter.volts) sums.volts.set(phase, (sums.volts.get(phase) ?? 0) + volts * ms);
    sums.hz += (meter.hz ?? 0) * ms;
    sums.weightMs += ms;
    sums.storedWh = meter.storedWh;
  }

  #end(endMs: number): Period {
    const { startMs, simS, energy, volts, hz, weightMs, storedWh } = this.#sums;
    const { meter } = this.#last;
    this.#sums = emptySums(endMs);
    this.#leadMs = this.#leadTo(endMs);
    const power = (direction: Direction, meteredPower: number) =>
      // the power stays constant while simulated time stands still
      simS > 0 ? (energy[direction] * 3600) / simS : Math.max(0, meteredPower);
    return {
      startMs,
      endMs,
      injectedW: power('injectedWh', meter.w),
      absorbedW: power('absorbedWh', -meter.w),
      injectedVar: power('injectedVarh', meter.var),
      absorbedVar: power('absorbedVarh', -meter.var),
      volts: weightMs > 0 ? new Map([...volts].map(([phase, sum]) => [phase, sum / weightMs])) : meter.volts,
      hz: meter.hz === null ? null : weightMs > 0 ? hz / weightMs : meter.hz,
      storedWh: storedWh ?? meter.storedWh,
    };
  }
}

/** Conventions for the direction of power in readings. */
export interface ReadingConventions {
  /** `net`: one signed reading per quantity; `split`: one for each direction, never negative */
  readonly flow: 'net' | 'split';
  /** direction in which values of a net reading are positive */
  readonly positive: 'import' | 'export';
}

/** One MirrorMeterReading. */
export interface Quantity {
  /** part of the mRID, so it must never change */
  readonly key: string;
  /** at most 32 characters */
  readonly description: string;
  readonly type: ReadingType;
  /** value x 10^-multiplier of the type; null: the meter does not measure it */
  readonly value: (period: Period) => number | null;
}

/** FlowDirectionType. */
const forward = 1;
const reverse = 19;

/** Members of averaged readings: electricity, mean over the period. */
const averaged = { accumulationBehaviour: 12, commodity: 1, dataQualifier: 2 } as const;
/** KindType: power. */
const powerKind = 37;

const phaseNames: Readonly<Record<PhaseCode, string>> = { 129: 'L1', 65: 'L2', 33: 'L3' };

/** Rounded to units of 10^multiplier, without -0. */
function inUnits(value: number | null, multiplier: number): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 10 ** -multiplier) + 0;
}

interface PowerQuantity {
  readonly key: string;
  readonly description: string;
  readonly uom: number;
  readonly injected: (period: Period) => number;
  readonly absorbed: (period: Period) => number;
}

const powers: readonly PowerQuantity[] = [
  { key: 'W', description: 'Active power', uom: 38, injected: (p) => p.injectedW, absorbed: (p) => p.absorbedW },
  {
    key: 'var',
    description: 'Reactive power',
    uom: 63,
    injected: (p) => p.injectedVar,
    absorbed: (p) => p.absorbedVar,
  },
];

function powerQuantities({ flow, positive }: ReadingConventions): readonly Quantity[] {
  return powers.flatMap(({ key, description, uom, injected, absorbed }): Quantity[] => {
    const type = (flowDirection: number): ReadingType => ({
      ...averaged,
      flowDirection,
      kind: powerKind,
      powerOfTenMultiplier: 0,
      uom,
    });
    if (flow === 'net') {
      const sign = positive === 'export' ? 1 : -1;
      return [
        {
          key: `${key}/${positive}`,
          description: `${description}, ${positive} positive`,
          type: type(positive === 'export' ? reverse : forward),
          value: (period) => inUnits(sign * (injected(period) - absorbed(period)), 0),
        },
      ];
    }
    return [
      {
        key: `${key}/imported`,
        description: `${description}, imported`,
        type: type(forward),
        value: (period) => inUnits(absorbed(period), 0),
      },
      {
        key: `${key}/exported`,
        description: `${description}, exported`,
        type: type(reverse),
        value: (period) => inUnits(injected(period), 0),
      },
    ];
  });
}

/** Stored energy at the end of the period (CSIP-AUS 1.3). */
const storedEnergy: Quantity = {
  key: 'Wh/stored',
  description: 'Stored energy',
  type: {
    accumulationBehaviour: 12,
    commodity: 1,
    dataQualifier: 0,
    flowDirection: 0,
    kind: 12,
    powerOfTenMultiplier: 0,
    uom: 72,
  },
  value: ({ storedWh }) => inUnits(storedWh, 0),
};

/** The quantities that a meter with these phases and this stored energy measures. */
export function quantitiesOf(
  conventions: ReadingConventions,
  { volts, storedWh }: Pick<MeterNow, 'volts' | 'storedWh'>,
): readonly Quantity[] {
  const voltages = phaseCodes
    .filter((phase) => volts.has(phase))
    .map(
      (phase): Quantity => ({
        key: `V/${phase}`,
        description: `Voltage ${phaseNames[phase]}`,
        type: { ...averaged, flowDirection: 0, kind: 0, phase, powerOfTenMultiplier: -1, uom: 29 },
        value: ({ volts }) => inUnits(volts.get(phase) ?? null, -1),
      }),
    );
  return [
    ...powerQuantities(conventions),
    ...voltages,
    {
      key: 'Hz',
      description: 'Frequency',
      type: { ...averaged, flowDirection: 0, kind: 0, powerOfTenMultiplier: -3, uom: 33 },
      value: ({ hz }) => inUnits(hz, -3),
    },
    ...(storedWh === null ? [] : [storedEnergy]),
  ];
}

/** An mRID that survives restarts: 96 bits of a digest of its parts, then the 32 bits of the enterprise number. */
export function mridOf(penDigits: string, ...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256').update(parts.join('|')).digest('hex').slice(0, 24);
  return `${digest}${penDigits}`.toUpperCase();
}
