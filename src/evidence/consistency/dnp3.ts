/** Quantities as points of an outstation: the values that its next answer would have. */
import type { Device } from '../../contract/device.ts';
import type { Dnp3Outstations, Dnp3PointView } from '../../contract/dnp3.ts';
import { pointValue } from '../../sunspec/map/bank.ts';
import { shownAs, tidy } from './model.ts';
import type { Dnp3Place, Moment, Presented, QuantityRow, Value } from './model.ts';

const nameOf = ({ type, index }: Dnp3PointView) => `${type}${index}`;

function firstRegister({ registers: [first] = [] }: QuantityRow): string | undefined {
  return typeof first === 'object' ? first.point : first;
}

/** The binding of the point, as the outstation names it. */
function boundOf(row: QuantityRow, { bound }: Dnp3Place): string | undefined {
  return bound ?? firstRegister(row);
}

export class Dnp3Reader {
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #points: readonly Dnp3PointView[];

  /** @param rows quantities that will be read */
  constructor(outstations: Dnp3Outstations, device: Device, moment: Moment, rows: readonly QuantityRow[]) {
    this.#device = device;
    this.#moment = moment;
    // an outstation has a thousand points
    const bound = new Set(rows.flatMap((row) => (row.dnp3 && boundOf(row, row.dnp3)) ?? []));
    this.#points = outstations.points(device.index, { coverage: 'served', bound });
  }

  read(row: QuantityRow): Presented | null {
    const { dnp3: place } = row;
    if (place === undefined || this.#showsOther(place)) return null;
    const view = this.#find(place, boundOf(row, place));
    if (view === undefined) return null;
    const { factor = 1, isInverse = false } = place;
    const { value: raw, engineeringValue, multiplier, unit, flags, online } = view;
    const isBinary = view.type === 'BI';
    let value: Value = null;
    if (online && raw !== null) value = isBinary ? (raw !== 0) !== isInverse : tidy((engineeringValue ?? 0) * factor);
    const number = typeof value === 'number';
    return {
      presenter: 'dnp3',
      place: nameOf(view),
      value,
      missing: value === null ? 'the point is not online' : null,
      resolution: number ? tidy(Math.abs(multiplier * factor)) : null,
      ...(view.type === 'CTR' && { floors: true as const }),
      // measurements are compared at the end of a tick, all else before each answer
      atMs: row.measured ? this.#moment.tickMs : this.#moment.nowMs,
      shown: [shownAs(nameOf(view), raw, { multiplier: isBinary ? null : multiplier, unit, flags })],
    };
  }

  /** The point of the built-in map, or with a map from a file the one that is bound alike. */
  #find({ point }: Dnp3Place, bound: string | undefined): Dnp3PointView | undefined {
    const type = point.replace(/\d+$/, '');
    const alike = this.#points.filter((view) => view.type === type && view.boundTo === bound);
    return alike.find((view) => nameOf(view) === point) ?? alike[0];
  }

  #showsOther({ unless }: Dnp3Place): boolean {
    if (unless === undefined) return false;
    const [point, symbol] = unless;
    const dot = point.indexOf('.');
    return pointValue(this.#device.bank, Number(point.slice(0, dot)), point.slice(dot + 1)) === symbol;
  }
}
