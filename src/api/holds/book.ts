/** Holds that requests have begun, with their ends on the simulated clock, and records of ended holds. */
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { plainProvenance } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { Holds } from '../../sunspec/map/holds.ts';
import type { EndedHold, HoldValue } from '../../sunspec/map/holds.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { pointName } from '../../sunspec/map/view.ts';

/** Limits of the holds of REST. */
export const holdLimits = {
  perDevice: 64,
  /** points in one request; points that the hold adds do not count */
  points: 64,
  durationS: 30 * 86_400,
  /** records kept of ended holds of one device */
  endedPerDevice: 64,
  /** records kept of ended holds of all devices */
  ended: 1024,
} as const;

export const endReasons = ['ended', 'expired', 'reset', 'device_removed'] as const;
export type EndReason = (typeof endReasons)[number];

export interface HoldPointRecord {
  readonly name: string;
  readonly value: AnyPointValue;
  readonly base: AnyPointValue;
  readonly overwritten: boolean;
  readonly added: boolean;
}

export interface HoldEnd {
  readonly reason: EndReason;
  readonly at: SimTime;
  /** the request that ended the hold; null: the hold ended without a request */
  readonly by: Provenance | null;
  /** names of points */
  readonly restored: readonly string[];
  readonly left: readonly string[];
  readonly handedOver: readonly string[];
}

/** One hold at present, or at its end. */
export interface HoldRecord {
  readonly id: string;
  readonly deviceIndex: number;
  readonly points: readonly HoldPointRecord[];
  readonly begunBy: Provenance;
  readonly endsAt: SimTime;
  /** its time is over, and its end waits for the return of a device that is off */
  readonly waiting: boolean;
  /** null: the hold has not ended */
  readonly end: HoldEnd | null;
}

export interface HoldRequest {
  readonly id: string;
  /** at least one */
  readonly values: readonly HoldValue[];
  /** `until` as an instant; otherwise seconds from the begin */
  readonly lasts: { readonly seconds: number } | { readonly until: SimTime };
}

interface Running {
  readonly id: string;
  readonly begunBy: Provenance;
  readonly endsAt: SimTime;
  readonly points: readonly HoldPointRecord[];
  waiting: boolean;
  cancel: () => void;
}

/** End of a hold; `by` null: without a request. */
interface Ending {
  readonly reason: EndReason;
  readonly at: SimTime;
  readonly by: Provenance | null;
}

interface DeviceHolds {
  readonly device: Device;
  readonly holds: Holds;
  /** oldest first */
  readonly running: Map<string, Running>;
}

type BookPlant = Pick<Plant, 'at' | 'devices' | 'onDevices' | 'onPower' | 'time'>;

const names = (slots: readonly PointSlot[]) => slots.map(pointName);

export class HoldBook {
  readonly #plant: BookPlant;
  readonly #devices = new Map<number, DeviceHolds>();
  /** newest first */
  #ended: HoldRecord[] = [];
  #following = false;

  constructor(plant: BookPlant) {
    this.#plant = plant;
  }

  /**
   * Active holds by device, the oldest of each first, then ended ones, newest first. The list is that of the call; the
   * points of an active hold are read at its turn, since there may be many thousands.
   * @param index absent: all devices
   */
  list(index?: number): { readonly count: number; readonly records: Iterable<HoldRecord> } {
    const active = [...this.#devices.values()]
      .filter(({ device }) => index === undefined || device.index === index)
      .flatMap((of) => Array.from(of.running.values(), (running) => ({ of, running })));
    const ended = this.#ended.filter(({ deviceIndex }) => index === undefined || deviceIndex === index);
    return { count: active.length + ended.length, records: recordsOf(active, ended) };
  }

  /** Checks as `begin` does, and begins nothing. @throws SimError as `begin` */
  check(device: Device, { id, values }: Pick<HoldRequest, 'id' | 'values'>, by: Origin): void {
    this.#withRoom(device).holds.check({ begin: { id, source: by.source, values } });
  }

  /**
   * Begins a hold, which ends at its instant on the simulated clock.
   * @throws SimError COMMAND_CONFLICT for an id in use, a device that is off, and one hold too many; the errors of `Holds.change`
   */
  begin(device: Device, { id, values, lasts }: HoldRequest, by: Origin): HoldRecord {
    const of = this.#withRoom(device);
    of.holds.change({ begin: { id, source: by.source, values } });
    const { sim, wallMs } = this.#plant.time;
    // the instant of the commit: in a tick under way the device may be ahead of the clock
    const firstWrite = values[0] && device.bank.provenance(values[0].slot);
    const at = firstWrite?.at ?? sim;
    const endsAt = 'until' in lasts ? lasts.until : addSeconds(at, lasts.seconds);
    const running: Running = {
      id,
      begunBy: plainProvenance({ ...by, at, wallMs }),
      endsAt,
      points: pointsOf(of.holds, id),
      waiting: false,
      cancel: () => undefined,
    };
    this.#start(of, running);
    return recordOf(of, running);
  }

  /** Adds a hold in force, and sets the timer of its end unless the end waits already. */
  #start(of: DeviceHolds, running: Running): void {
    const { id, endsAt } = running;
    if (!running.waiting)
      running.cancel = this.#plant.at(endsAt, () => {
        this.#expire(of, running, endsAt);
      });
    of.running.set(id, running);
  }

  /**
   * State that a restart keeps, restored after the plant; holds of devices that are no more, or start anew, are dropped.
   * An end that was due while no process ran follows with the next tick.
   */
  kept(): Kept {
    return keptRecord(
      () => ({
        devices: Array.from(this.#devices.values(), ({ device, holds, running }) => ({
          index: device.index,
          holds: holds.kept().save(),
          running: Array.from(running.values(), ({ id, begunBy, endsAt, points, waiting }) => ({
            id,
            begunBy,
            endsAt,
            points,
            waiting,
          })),
        })),
        ended: this.#ended,
      }),
      ({ devices, ended }) => {
        this.#ended = ended;
        for (const { index, holds, running } of devices) {
          const device = this.#plant.devices.find((each) => each.index === index);
          if (!device?.bank.restored) continue;
          const of = this.#of(device);
          of.holds.kept().restore(holds);
          for (const { cancel } of of.running.values()) cancel();
          of.running.clear();
          for (const hold of running) this.#start(of, { ...hold, cancel: () => undefined });
        }
      },
    );
  }

  /** @throws SimError UNKNOWN_RESOURCE, COMMAND_CONFLICT while the device is off */
  end(device: Device, id: string, by: Origin): HoldRecord {
    const of = this.#devices.get(device.index);
    const running = of?.running.get(id);
    if (!of || !running) {
      throw new SimError('UNKNOWN_RESOURCE', `There is no hold ${id} in force at device ${device.index}.`);
    }
    const { sim, wallMs } = this.#plant.time;
    return this.#end(of, running, { reason: 'ended', at: sim, by: plainProvenance({ ...by, at: sim, wallMs }) });
  }

  /** The holds of a device that can have one more. @throws SimError COMMAND_CONFLICT */
  #withRoom(device: Device): DeviceHolds {
    const of = this.#of(device);
    if (of.running.size < holdLimits.perDevice) return of;
    throw new SimError(
      'COMMAND_CONFLICT',
      `Device ${device.index} has ${holdLimits.perDevice} holds, the maximum: end one.`,
    );
  }

  /** The holds of a device. The first call also subscribes the book to the plant. */
  #of(device: Device): DeviceHolds {
    if (!this.#following) this.#follow();
    const existing = this.#devices.get(device.index);
    if (existing) return existing;
    const of: DeviceHolds = { device, holds: new Holds(device.bank, 'rest'), running: new Map() };
    of.holds.onReset((_ids, at) => {
      for (const running of [...of.running.values()]) this.#endWithoutWrite(of, running, 'reset', at);
    });
    this.#devices.set(device.index, of);
    return of;
  }

  #follow(): void {
    this.#following = true;
    this.#plant.onPower(({ index, down, at }) => {
      const of = down ? undefined : this.#devices.get(index);
      if (!of) return;
      for (const running of [...of.running.values()]) if (running.waiting) this.#expire(of, running, at);
    });
    this.#plant.onDevices(({ removed }) => {
      const of = removed && this.#devices.get(removed.index);
      if (!of) return;
      for (const running of [...of.running.values()])
        this.#endWithoutWrite(of, running, 'device_removed', this.#plant.time.sim);
      of.holds.close();
      this.#devices.delete(removed.index);
    });
  }

  #expire(of: DeviceHolds, running: Running, at: SimTime): void {
    try {
      this.#end(of, running, { reason: 'expired', at, by: null });
    } catch (error) {
      if (!(error instanceof SimError && error.code === 'COMMAND_CONFLICT')) throw error;
      // the device is off: the end is carried out when it is back
      running.waiting = true;
    }
  }

  /** @throws SimError COMMAND_CONFLICT while the device is off */
  #end(of: DeviceHolds, running: Running, over: Ending): HoldRecord {
    const points = pointsOf(of.holds, running.id);
    const [ended] = of.holds.change({ end: [running.id] });
    return this.#keep(of, running, points, { ...over, ended });
  }

  /** Ends a hold without a write. */
  #endWithoutWrite(of: DeviceHolds, running: Running, reason: EndReason, at: SimTime): void {
    // a reset has written every point
    const points = running.points.map((point) => ({ ...point, overwritten: reason === 'reset' }));
    this.#keep(of, running, points, { reason, at, by: null, ended: undefined });
  }

  #keep(
    { device, running: all }: DeviceHolds,
    running: Running,
    points: readonly HoldPointRecord[],
    { reason, at, by, ended }: Ending & { readonly ended: EndedHold | undefined },
  ): HoldRecord {
    running.cancel();
    all.delete(running.id);
    const { id, begunBy, endsAt } = running;
    const record: HoldRecord = {
      id,
      deviceIndex: device.index,
      points,
      begunBy,
      endsAt,
      waiting: false,
      end: {
        reason,
        at,
        by,
        restored: names(ended?.restored ?? []),
        left: names(ended?.left ?? []),
        handedOver: names(ended?.handedOver ?? []),
      },
    };
    let ofDevice = 0;
    this.#ended = [record, ...this.#ended]
      .filter(({ deviceIndex }) => deviceIndex !== device.index || (ofDevice += 1) <= holdLimits.endedPerDevice)
      .slice(0, holdLimits.ended);
    return record;
  }
}

function pointsOf(holds: Holds, id: string): HoldPointRecord[] {
  return holds.points(id).map(({ slot, ...point }) => ({ name: pointName(slot), ...point }));
}

function* recordsOf(
  active: readonly { readonly of: DeviceHolds; readonly running: Running }[],
  ended: readonly HoldRecord[],
): Generator<HoldRecord> {
  for (const { of, running } of active) yield recordOf(of, running);
  yield* ended;
}

function recordOf({ device, holds, running: all }: DeviceHolds, running: Running): HoldRecord {
  const { id, begunBy, endsAt, waiting } = running;
  // a hold that has ended meanwhile is shown with the points of its begin
  const points = all.get(id) === running ? pointsOf(holds, id) : running.points;
  return { id, deviceIndex: device.index, points, begunBy, endsAt, waiting, end: null };
}
