/**
 * Values of a grid outside, as requests give them. They are checked by hand: a schema takes a millisecond for three
 * columns of 1,000 numbers, a quarter of what a trial of as many devices takes.
 */
import type { Column, ExchangeNow, OutsideColumns } from '../../contract/exchange.ts';
import { memo } from '../../core/lazy.ts';
import { givenText } from '../../core/nearest.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { z } from '../description/zod.ts';
import { invalidAll } from '../http/errors.ts';

/** Maximum number of attached devices. */
export const maxAttached = 10_000;
/** Issues of values that an answer lists, in the order of members and places. */
const maxListed = 20;

/** The values of a column. */
interface Item<T> {
  readonly fits: (value: unknown, place: number) => value is T;
  /** completes `must be` */
  readonly words: (place: number) => string;
}

type Range = readonly [min: number, max: number];
const perUnit: Range = [0, 2];
const hertz: Range = [40, 70];
const degrees: Range = [-180, 180];

const numberIn = ([min, max]: Range): Item<number> => ({
  fits: (value): value is number => typeof value === 'number' && value >= min && value <= max,
  words: () => `a number from ${min} to ${max}`,
});

/** Volts of the devices in their order. */
const voltsOf = ({ devices }: ExchangeNow): Item<number> => {
  const maxAt = (place: number) => 2 * (devices[place]?.nominalLnV ?? 0);
  return {
    fits: (value, place): value is number => typeof value === 'number' && value >= 0 && value <= maxAt(place),
    words: (place) => `a number from 0 to ${maxAt(place)} V`,
  };
};

const flag: Item<boolean | 0 | 1> = {
  fits: (value): value is boolean | 0 | 1 => typeof value === 'boolean' || value === 0 || value === 1,
  words: () => 'true, false, 0 or 1',
};

const listOf = <T>(items: T) => ({ type: 'array' as const, items, minItems: 1, maxItems: maxAttached });
const columnWords = 'One value for all devices, or one for each; absent: unchanged.';

function numberColumn([minimum, maximum]: Range, words: string) {
  const number = { type: 'number' as const, minimum, maximum };
  const description = `${words} ${columnWords}`;
  return z
    .unknown()
    .optional()
    .openapi({ description, anyOf: [number, listOf(number)] });
}

function flagColumn(words: string) {
  const either = [{ type: 'boolean' as const }, { type: 'integer' as const, enum: [0, 1] }];
  const description = `${words} ${columnWords}`;
  return z
    .unknown()
    .optional()
    .openapi({ description, anyOf: [...either, listOf({ anyOf: either })] });
}

export const valuesShape = memo(() => ({
  va_pu: numberColumn(perUnit, 'Voltage of phase a, per unit of nominal; without `vb_pu` and `vc_pu` of all phases.'),
  vb_pu: numberColumn(perUnit, 'Voltage of phase b.'),
  vc_pu: numberColumn(perUnit, 'Voltage of phase c.'),
  v_v: z
    .unknown()
    .optional()
    .openapi({
      description: 'Volts line to neutral of phases a, b and c in place of the members per unit.',
      ...listOf(listOf({ type: 'number' as const, minimum: 0 })),
      minItems: 3,
      maxItems: 3,
    }),
  frequency_hz: numberColumn(hertz, 'Frequency, Hz.'),
  angle_deg: numberColumn(degrees, 'Angle of the positive sequence, degrees.'),
  outage: flagColumn('True or 1: the grid is gone, as at 0 V on all phases.'),
  island: flagColumn('True or 1: the mains have failed, and local load holds voltage and frequency.'),
}));

export type ValuesBody = z.output<z.ZodObject<ReturnType<typeof valuesShape>>>;

/** Checks the columns of one request, and collects what is wrong with them. */
class ColumnCheck {
  readonly #devices: number;
  readonly #issues: ProblemIssue[] = [];
  #count = 0;

  constructor(devices: number) {
    this.#devices = devices;
  }

  refuse(name: string, detail: string): void {
    this.#count += 1;
    if (this.#issues.length < maxListed) this.#issues.push({ in: 'body', name, detail });
  }

  column<T>(name: string, value: unknown, item: Item<T>): Column<T> | undefined {
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return this.list(name, value, item);
    if (item.fits(value, 0)) return value;
    this.refuse(name, `must be ${item.words(0)}, or a list; given ${givenText(value)}`);
    return undefined;
  }

  /** @returns undefined if a part is wrong */
  list<T>(name: string, list: readonly unknown[], item: Item<T>): readonly T[] | undefined {
    let isRight = list.length === this.#devices;
    if (!isRight) this.refuse(name, `has ${list.length} values; ${this.#devices} devices are attached`);
    for (let place = 0; place < list.length; place += 1) {
      if (item.fits(list[place], place)) continue;
      isRight = false;
      this.refuse(`${name}/${place}`, `must be ${item.words(place)}; given ${givenText(list[place])}`);
    }
    return isRight ? (list as readonly T[]) : undefined;
  }

  /** @throws HttpProblem `validation` */
  end(): void {
    if (this.#count > 0) throw invalidAll(this.#issues, this.#count);
  }
}

const truths = (column: Column<boolean | 0 | 1> | undefined): Column<boolean> | undefined =>
  column === undefined ? undefined : typeof column === 'object' ? column.map(Boolean) : Boolean(column);

const setOnly = (columns: { readonly [K in keyof OutsideColumns]?: OutsideColumns[K] | undefined }): OutsideColumns =>
  Object.fromEntries(Object.entries(columns).filter(([, column]) => column !== undefined));

type Voltages = Pick<OutsideColumns, 'aPu' | 'bPu' | 'cPu'>;

function fromVolts(volts: unknown, exchange: ExchangeNow, check: ColumnCheck): Voltages {
  if (!Array.isArray(volts) || volts.length !== 3 || !volts.every(Array.isArray)) {
    check.refuse('/v_v', 'must be three lists, of phases a, b and c');
    return {};
  }
  const item = voltsOf(exchange);
  const [aPu = [], bPu = [], cPu = []] = (volts as readonly (readonly unknown[])[]).map((phase, n) =>
    check.list(`/v_v/${n}`, phase, item)?.map((volt, place) => volt / (exchange.devices[place]?.nominalLnV ?? 1)),
  );
  return { aPu, bPu, cPu };
}

function voltagesOf(body: ValuesBody, exchange: ExchangeNow, check: ColumnCheck) {
  const { va_pu: a, vb_pu: b, vc_pu: c, v_v: volts } = body;
  const isPerUnit = a !== undefined || b !== undefined || c !== undefined;
  if (volts !== undefined && isPerUnit) check.refuse('/v_v', 'cannot be given together with va_pu, vb_pu or vc_pu');
  if (volts !== undefined) return fromVolts(volts, exchange, check);
  const aPu = check.column('/va_pu', a, numberIn(perUnit));
  if (b === undefined && c === undefined) return { aPu, bPu: aPu, cPu: aPu };
  return { aPu, bPu: check.column('/vb_pu', b, numberIn(perUnit)), cPu: check.column('/vc_pu', c, numberIn(perUnit)) };
}

/**
 * The columns of a request.
 * @throws HttpProblem `validation` with one issue for each wrong list or value, the first 20
 */
export function columnsOf(body: ValuesBody, exchange: ExchangeNow): OutsideColumns {
  const check = new ColumnCheck(exchange.devices.length);
  const columns = {
    ...voltagesOf(body, exchange, check),
    frequencyHz: check.column('/frequency_hz', body.frequency_hz, numberIn(hertz)),
    angleDeg: check.column('/angle_deg', body.angle_deg, numberIn(degrees)),
    outage: truths(check.column('/outage', body.outage, flag)),
    island: truths(check.column('/island', body.island, flag)),
  };
  check.end();
  return setOnly(columns);
}
