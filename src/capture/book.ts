/** The captures of a process: begins one at each disturbance, and drops the oldest. */
import { captureBounds } from '../contract/captures.ts';
import type { Capture, CaptureBook, CaptureTrigger } from '../contract/captures.ts';
import type { Device } from '../contract/device.ts';
import type { GridChange } from '../contract/environment.ts';
import type { Disturbance, Plant, TickEvent } from '../contract/plant.ts';
import type { RunReport } from '../contract/scenarios.ts';
import { SimError } from '../core/errors.ts';
import { plainOrigin } from '../core/origin.ts';
import type { Origin } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import { failedIn } from './fast-run.ts';
import type { EarlierCapture } from './kept.ts';
import { Recording } from './recording.ts';
import { deviceTrigger, gridTrigger, isDisturbance, lastingS } from './triggers.ts';

export interface CaptureOptions {
  readonly plant: Plant;
  readonly nowMs: () => number;
  /** the scenario under way; null: none */
  readonly run: () => RunReport | null;
  /** called when nothing more is recorded in a capture that is kept */
  readonly onEnd?: (capture: Capture) => void;
  /** pinned captures of an earlier process, oldest first; default: none */
  readonly earlier?: readonly EarlierCapture[];
  /** Keeps pinned captures that have ended for the next process, and no other ones; default: none are kept. */
  readonly keep?: (pinned: readonly Capture[]) => Promise<void>;
  /** default: those of the product */
  readonly bounds?: Partial<Readonly<Record<'bytes' | 'devices', number>>>;
}

/** A trigger at an instant of a capture, which may not exist yet. */
type TriggerAt = (secondsAt: (t: SimTime) => number) => CaptureTrigger;

type DeviceDisturbance = Exclude<Disturbance, { readonly kind: 'grid' }>;

/** A run makes its report anew for each reader. */
const isSameRun = (a: RunReport | undefined, b: RunReport): boolean =>
  a !== undefined && a.name === b.name && a.startedAtMs === b.startedAtMs;

export class Captures implements CaptureBook {
  readonly #options: CaptureOptions;
  readonly #bounds: { readonly bytes: number; readonly devices: number };
  /** of an earlier process */
  #earlier: readonly EarlierCapture[];
  #kept: Recording[] = [];
  /** fast runs of scenarios, by the captures that began in them */
  readonly #runs = new WeakMap<Recording, RunReport>();
  #lastId: number;
  #capacity = 0;
  /** the pinned captures are kept as they were at the last change of them */
  #pinsAreKept = Promise.resolve();
  #unfollow: (() => void) | null = null;
  /** follows ticks while a capture is under way */
  #endTicks: (() => void) | null = null;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#bounds = { ...captureBounds, ...options.bounds };
    this.#earlier = options.earlier ?? [];
    this.#lastId = Math.max(0, ...this.#earlier.map(({ id }) => id));
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Keeps at most so many captures from now on; 0 switches them off. */
  set capacity(capacity: number) {
    this.#capacity = capacity;
    if (capacity === 0) {
      this.#unfollow?.();
      this.#unfollow = null;
      for (const { id } of this.list) this.remove(id);
    } else {
      this.#unfollow ??= this.#follow();
      this.#makeRoom();
    }
  }

  #follow(): () => void {
    const { plant } = this.#options;
    const ends = [
      plant.onDisturbance((disturbance) => {
        if (disturbance.kind === 'grid') this.#gridChanged(disturbance);
        else this.#deviceDisturbed(disturbance);
      }),
      plant.onDevices(({ removed }) => {
        if (removed) for (const capture of this.#kept) capture.deviceGone(removed);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  get bytes(): number {
    return this.list.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get list(): readonly (EarlierCapture | Recording)[] {
    return [...this.#earlier, ...this.#kept];
  }

  get(id: number): EarlierCapture | Recording {
    const capture = this.list.find((each) => each.id === id);
    if (!capture) throw new SimError('UNKNOWN_RESOURCE', `there is no capture ${id}`);
    return capture;
  }

  start(by: Origin, deviceIndex?: number): Capture {
    const { plant } = this.#options;
    if (this.#capacity === 0) throw new SimError('COMMAND_CONFLICT', 'captures are off: the setting captures is 0');
    const { now } = plant;
    return this.#record(now, this.#scope(deviceIndex ?? null), (secondsAt) => ({
      kind: 'request',
      tS: secondsAt(now),
      title: 'Capture now',
      deviceIndex: deviceIndex ?? null,
      by: plainOrigin(by),
      call: null,
    }));
  }

  pin(id: number, pinned: boolean): Capture {
    const capture = this.get(id);
    const others = this.list.filter((each) => each !== capture && each.pinned).length;
    // one place stays for the next capture
    const max = Math.min(captureBounds.pinned, this.#capacity - 1);
    if (pinned && others >= max)
      throw new SimError(
        'COMMAND_CONFLICT',
        max === 0
          ? 'only one capture is kept, and the next one takes its place; the setting captures keeps more'
          : `at most ${max} captures may be pinned; unpin or delete one of them`,
      );
    capture.pinned = pinned;
    this.#keepPinned();
    return capture;
  }

  pinsAreKept(): Promise<void> {
    return this.#pinsAreKept;
  }

  #keepPinned(): void {
    const pinned = this.list.filter((each) => each.pinned && each.state !== 'recording');
    this.#pinsAreKept = this.#options.keep?.(pinned) ?? Promise.resolve();
  }

  remove(id: number): Capture {
    const capture = this.get(id);
    this.#drop(capture);
    this.#rest();
    return capture;
  }

  #drop(capture: EarlierCapture | Recording): void {
    this.#earlier = this.#earlier.filter((each) => each !== capture);
    this.#kept = this.#kept.filter((each) => each !== capture);
    if (capture instanceof Recording) capture.end('cut');
    if (capture.pinned) this.#keepPinned();
  }

  #gridChanged(change: GridChange): void {
    if (!isDisturbance(change)) return;
    const { plant } = this.#options;
    const { at } = change.by;
    const capture = this.#record(at, this.#scope(change.deviceIndex), (secondsAt) =>
      gridTrigger(change, secondsAt(at), plant.gridEvents),
    );
    const { durationRemainingS, event } = change.after;
    capture.gridChanged(at, lastingS(change), durationRemainingS !== null || event !== null);
  }

  #deviceDisturbed(disturbance: DeviceDisturbance): void {
    const { plant } = this.#options;
    const { deviceIndex, at, kind } = disturbance;
    const device = plant.device(deviceIndex);
    const fine = this.#fine;
    if (kind !== 'alarm' && fine?.has(deviceIndex)) return;
    // devices that were too many join when they trip
    if (kind === 'threshold' && this.#kept.some((capture) => capture.leavesOut(deviceIndex))) return;
    const waiting = this.#kept.findLast((capture) => capture.expects(deviceIndex, at));
    if (waiting) {
      if (!fine) waiting.resume(at);
      return;
    }
    // a crossing by a device that has no other grid than the others is one of all of them
    const isCommon = kind === 'threshold' && plant.grid(deviceIndex).source === 'csv';
    this.#record(at, isCommon ? this.#scope(null, device) : [device], (secondsAt) =>
      deviceTrigger(disturbance, secondsAt(at), device.name),
    );
  }

  /** The capture that records sub-steps; at most one does. */
  get #fine(): Recording | undefined {
    return this.#kept.find(({ isFine }) => isFine);
  }

  /** @param deviceIndex null: the whole site @param certain is among them in any case */
  #scope(deviceIndex: number | null, certain?: Device): readonly Device[] {
    const { plant } = this.#options;
    if (deviceIndex !== null) return [plant.device(deviceIndex)];
    return certain ? [certain, ...plant.devices.filter((each) => each !== certain)] : plant.devices;
  }

  /** Adds a disturbance to the capture under way, or begins one. */
  #record(at: SimTime, devices: readonly Device[], triggerAt: TriggerAt): Recording {
    const fine = this.#fine;
    const shared = fine?.hasRoomAt(at) ? fine : null;
    if (fine && !shared) fine.endSubStepsAt(at);
    const capture = shared ?? this.#begin(at);
    capture.disturb(
      at,
      triggerAt((t) => capture.secondsAt(t)),
    );
    const room = Math.max(this.#bounds.devices - capture.rows.length, devices.length === 1 ? 1 : 0);
    const joining = devices.filter(({ index }) => !capture.has(index));
    capture.join(joining.slice(0, room));
    capture.devicesLeftOut = Math.max(capture.devicesLeftOut, joining.length - room);
    this.#makeRoom();
    return capture;
  }

  #begin(start: SimTime): Recording {
    const { nowMs, run, plant } = this.#options;
    const report = run();
    const capture = new Recording({
      id: (this.#lastId += 1),
      start,
      wallMs: nowMs(),
      scenario: report && report.name,
    });
    this.#kept.push(capture);
    if (report?.pace === 'fast') this.#runs.set(capture, report);
    capture.resume(start);
    this.#endTicks ??= plant.onTick((event) => {
      this.#tick(event);
    });
    return capture;
  }

  #tick({ sim }: TickEvent): void {
    const { plant, onEnd } = this.#options;
    const recording = this.#kept.filter(({ state }) => state === 'recording');
    for (const capture of recording) {
      const fine = this.#fine;
      capture.tick(sim, plant, !fine || fine === capture);
    }
    this.#makeRoom();
    for (const capture of recording)
      if (capture.state !== 'recording' && this.#kept.includes(capture)) onEnd?.(capture);
    if (recording.some(({ pinned, state }) => pinned && state !== 'recording')) this.#keepPinned();
    this.#rest();
  }

  /** Follows no ticks while no capture is under way. */
  #rest(): void {
    if (this.#kept.some(({ state }) => state === 'recording')) return;
    this.#endTicks?.();
    this.#endTicks = null;
  }

  #makeRoom(): void {
    this.#dropOfFastRuns();
    while (this.list.length > this.#capacity || this.bytes > this.#bounds.bytes) {
      const newest = this.#kept.at(-1);
      const oldest = this.list.find((capture) => capture !== newest && !capture.pinned) ?? null;
      if (oldest) this.#drop(oldest);
      else if (newest?.state === 'recording' && this.bytes > this.#bounds.bytes) newest.end('cut');
      else return;
    }
  }

  /** Of a fast run, those of failed steps and the last ones stay. */
  #dropOfFastRuns(): void {
    const report = this.#kept.map((capture) => this.#runs.get(capture)).findLast((each) => each !== undefined);
    if (!report) return;
    const ofRun = this.#kept.filter((capture) => isSameRun(this.#runs.get(capture), report) && !capture.pinned);
    if (ofRun.length <= captureBounds.ofFastRun) return;
    const hasFailed = failedIn(report);
    const { plant } = this.#options;
    for (const capture of ofRun.slice(0, -captureBounds.ofFastRun)) {
      const beginS = (plant.dateMs(capture.start) - report.simStartMs) / 1000;
      if (!hasFailed(beginS, beginS + capture.endS)) this.#drop(capture);
    }
  }
}
