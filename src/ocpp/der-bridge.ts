/** Makes DER controls of block R act: points of the map by holds, and the slope of commands. */
import type { Device } from '../contract/device.ts';
import type { ServiceTransition } from '../contract/grid-trace.ts';
import type { Plant } from '../contract/plant.ts';
import { slopeState } from '../contract/device.ts';
import { CommandHold } from '../core/command-hold.ts';
import type { ControlledValue } from '../core/command-hold.ts';
import type { SimTime } from '../core/time/clock.ts';
import { isSupported } from '../sunspec/map/grid-support/state.ts';
import { functionTable } from '../sunspec/map/grid-support/functions.ts';
import type { TripName } from '../sunspec/map/grid-support/functions.ts';
import { hasCurve, inRegisters, place } from '../sunspec/map/grid-support/wish.ts';
import { hasPoint, pointNumber, pointValue } from '../sunspec/map/bank.ts';
import { PointHolds, written } from '../sunspec/map/point-holds.ts';
import type { Written } from '../sunspec/map/point-holds.ts';
import type { DerCondition, DerPort, DerService, DerTrip, DerWanted } from './station/der-port.ts';

/** The plant as DER controls see it. */
export type DerPlant = Pick<Plant, 'onTick'>;

const tripNames: readonly TripName[] = ['lv_trip', 'hv_trip', 'lf_trip', 'hf_trip'];

/** Values of `GridTraceRow.service`. */
const services: Readonly<Record<string, DerService>> = {
  in_service: 'in_service',
  momentary_cessation: 'ceased',
  tripped: 'tripped',
  waiting: 'limited',
  ramping: 'limited',
};

const source = 'ocpp';

class StationDer implements DerPort {
  isSettled = true;
  readonly #device: Device;
  readonly #plant: DerPlant;
  readonly #points: PointHolds;
  readonly #slope: CommandHold<number | null>;
  readonly #restarted = new Set<() => void>();
  readonly #ends: readonly (() => void)[];

  constructor(device: Device, plant: DerPlant) {
    this.#device = device;
    this.#plant = plant;
    this.#points = new PointHolds(device.bank, source);
    this.#slope = new CommandHold(slopeState(device, 'wPctPerS'), source);
    this.#ends = [
      // registered after the listener of the holds
      device.bank.onReload(() => {
        this.#points.forget();
        this.#slope.forget();
        this.#tellRestart();
      }),
      device.onEvse(({ event }) => {
        if (event === 'power_up') this.#tellRestart();
      }),
    ];
  }

  get nominalHz(): number {
    return this.#device.trace.nominalHz;
  }

  has: DerPort['has'] = (name) => isSupported(this.#device.bank, functionTable[name]);
  hasPoint: DerPort['hasPoint'] = (model, path) => hasPoint(this.#device.bank, model, path);
  number: DerPort['number'] = (model, path) => pointNumber(this.#device.bank, model, path);

  text(model: number, path: string): string | null {
    const value = pointValue(this.#device.bank, model, path);
    return typeof value === 'string' ? value : null;
  }

  hasCurve: DerPort['hasCurve'] = (name, region) => hasCurve(this, name, region);
  place: DerPort['place'] = (wishes) => place(this, wishes);
  check: DerPort['check'] = ({ points }) => this.#points.check(inRegisters(this.#device.bank, points), 'default');

  follow(wanted: readonly DerWanted[]): ReadonlyMap<string, Written> {
    const values = new Map(
      wanted.map(({ id, settings }) => [
        id,
        new Map(inRegisters(this.#device.bank, settings.points).map(({ slot, value }) => [slot, value])),
      ]),
    );
    const results = new Map<string, Written>(wanted.map(({ id }) => [id, 'done']));
    for (const [id, result] of this.#points.follow(values)) results.set(id, result);
    const slope = slopeOf(wanted.filter(({ id }) => typeof results.get(id) !== 'object'));
    const slopeResult = written(() => {
      this.#slope.change(slope);
    });
    if (slope !== null && slopeResult !== 'done' && results.get(slope.id) === 'done')
      results.set(slope.id, slopeResult);
    this.isSettled =
      slopeResult !== 'waiting' &&
      ![...results.values()].includes('waiting') &&
      this.#points.ids.every((id) => values.has(id));
    return results;
  }

  isOverwritten(id: string): boolean {
    return this.#points.isOverwritten(id) || (this.#slope.id === id && this.#slope.overwritten);
  }

  condition(since: SimTime): DerCondition {
    const { trace, detailAt: at } = this.#device;
    const { active, reactive } = trace.decidedBy;
    const { frequencyHz, lowestPct, highestPct, service: word } = trace.now;
    const { nominalHz } = trace;
    const service = services[word] ?? 'out';
    const trip = lastTrip(trace.transitions, service === 'tripped' ? null : since);
    const [over, under] = ['DbOf', 'DbUf'].map((name) => this.number(711, `Ctl[0].${name}`) ?? 0);
    const withinDroopBand = frequencyHz <= nominalHz + (over ?? 0) && frequencyHz >= nominalHz - (under ?? 0);
    return {
      at,
      service,
      trip,
      active,
      reactive,
      frequencyHz,
      nominalHz,
      withinDroopBand,
      lowestPct,
      highestPct,
    };
  }

  onTick(listener: () => void): () => void {
    return this.#plant.onTick(listener);
  }

  onRestart(listener: () => void): () => void {
    this.#restarted.add(listener);
    return () => {
      this.#restarted.delete(listener);
    };
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#points.close();
    this.#restarted.clear();
  }

  #tellRestart(): void {
    for (const listener of this.#restarted) listener();
  }
}

function slopeOf(wanted: readonly DerWanted[]): ControlledValue<number> | null {
  for (const { id, settings } of wanted)
    if (settings.slopeWPctPerS !== undefined) return { id, value: settings.slopeWPctPerS };
  return null;
}

/** The last trip by voltage or frequency. @param since only one after it; null: whenever it was */
function lastTrip(transitions: readonly ServiceTransition[], since: SimTime | null): DerTrip | null {
  const last = transitions.findLast(({ to }) => to === 'tripped');
  const name = tripNames.find((each) => each === last?.cause);
  if (last === undefined || name === undefined || (since !== null && last.at <= since)) return null;
  return { name, at: last.at };
}

/**
 * The functions of grid support of a device; each call makes an owner of holds of its own.
 * @returns null: no vehicle gives power back here
 */
export function createDerPort(device: Device, plant: DerPlant): DerPort | null {
  const { detail } = device;
  const givesBack = detail.kind === 'evse' && detail.connectors.some(({ bidirectional }) => bidirectional);
  return givesBack ? new StationDer(device, plant) : null;
}
