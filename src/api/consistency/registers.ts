/** Quantities in registers: the truth of the map, and what a master reads of it over Modbus. */
import { Buffer } from 'node:buffer';
import type { Adapter } from '../../core/adapter.ts';
import type { RegisterWindow } from '../../contract/modbus-report.ts';
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { modbusReporters } from '../modbus/members.ts';
import { decodePoint } from './decode.ts';
import type { DecodedPoint, WordsOf } from './decode.ts';
import { Master } from './master.ts';
import type { Presented, Presenter, QuantityRow, RegisterPlace, Value } from './model.ts';
import type { Moment } from './moment.ts';
import { tidy } from './numbers.ts';

type Place = Required<Pick<RegisterPlace, 'point' | 'factor'>> & RegisterPlace;

function placesOf({ registers = [] }: QuantityRow): readonly Place[] {
  return registers.map((place) => (typeof place === 'string' ? { point: place, factor: 1 } : { factor: 1, ...place }));
}

/** The slot of a name such as `714.Prt[0].DCV` that the device implements. */
export function slotOf(layout: Layout, name: string): PointSlot | undefined {
  const dot = name.indexOf('.');
  const slot = layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
  return slot?.implemented === true ? slot : undefined;
}

function valueOf({ value }: DecodedPoint, { factor, words = {} }: Place, { unit, on = 'ENABLED' }: QuantityRow): Value {
  if (value === null) return null;
  if (typeof value === 'number') return tidy(value * factor);
  return unit === 'flag' ? value === on : (words[value] ?? value.toLowerCase());
}

interface Reading {
  readonly presenter: Presenter;
  readonly wordsOf: WordsOf;
  /** why a point cannot be read; null: it can */
  readonly problem: (slot: PointSlot) => string | null;
}

function presented(device: Device, row: QuantityRow, place: Place, moment: Moment, reading: Reading): Presented | null {
  const { layout } = device.bank;
  const slot = slotOf(layout, place.point);
  if (slot === undefined) return null;
  const { presenter, wordsOf, problem } = reading;
  const atMs = row.measured ? moment.tickMs : moment.nowMs;
  const common = { presenter, place: place.point, atMs, ...(place.isMagnitude && { isMagnitude: true as const }) };
  const none = (missing: string) => ({ ...common, value: null, missing, resolution: null, shown: [] });
  const lacking = problem(slot);
  if (lacking !== null) return none(lacking);
  try {
    const point = decodePoint(layout, slot, wordsOf);
    const value = valueOf(point, place, row);
    const { raw, exponent, resolution } = point;
    const multiplier = exponent === null ? null : Number(`1e${exponent}`);
    return {
      ...common,
      value,
      missing: value === null ? 'the register says "not implemented"' : null,
      resolution: resolution === null ? null : tidy(resolution * place.factor),
      shown: [
        { name: place.point, raw, multiplier, unit: slot.def.units ?? null, decimals: null, flags: null, listed: null },
      ],
    };
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return none(`the read is refused: ${error.message}`);
  }
}

/** The first register of a quantity as the map has it, without faults. */
export function trueRegister(device: Device, row: QuantityRow, moment: Moment): Presented | null {
  const { bank } = device;
  const wordsOf: WordsOf = (slot) => {
    const words = bank.raw(slot);
    const octets = Buffer.alloc(2 * words.length);
    words.forEach((word, i) => octets.writeUInt16BE(word, 2 * i));
    return octets;
  };
  const first = placesOf(row).find(({ point }) => slotOf(bank.layout, point) !== undefined);
  if (first === undefined) return null;
  return presented(device, row, first, moment, { presenter: 'registers', wordsOf, problem: () => null });
}

/** The registers of a device at the first listener for masters that serves it; null: none does. */
export function windowOf(adapters: readonly Adapter[], deviceIndex: number): RegisterWindow | null {
  for (const adapter of modbusReporters({ adapters })) {
    const window = adapter.registersOf?.(deviceIndex) ?? null;
    if (window !== null) return window;
  }
  return null;
}

/** What a master reads of a device now, faults of the map included. */
export class ModbusReader {
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #master: Master;

  constructor(device: Device, window: RegisterWindow, moment: Moment) {
    this.#device = device;
    this.#moment = moment;
    this.#master = new Master(device.bank.layout, window);
  }

  /** One for each register that has the quantity in the map of masters. */
  read(row: QuantityRow): readonly Presented[] {
    const { layout } = this.#device.bank;
    const hidden = new Set(layout.models.flatMap((model) => (model.hidden ? [model.def.id] : [])));
    const master = this.#master;
    return placesOf(row).flatMap((place) => {
      const slot = slotOf(layout, place.point);
      if (slot === undefined || hidden.has(slot.modelId)) return [];
      const reading: Reading = {
        presenter: 'modbus',
        wordsOf: master.wordsOf,
        problem: (of) => master.problem(of),
      };
      return presented(this.#device, row, place, this.#moment, reading) ?? [];
    });
  }
}
