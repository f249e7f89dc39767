/** Operator commands: queued per device, started with a tick, completed when the device has reached the state. */
import { keptRecord, keptCount } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { originText, plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Logger } from '../../core/log/log.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { commandStates, operatorCommands } from '../../contract/plant.ts';
import type {
  CommandQueue,
  CommandRecord,
  CommandRequest,
  CommandState,
  OperatorCommand,
} from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';

/** number of records beyond which the oldest finished ones are dropped */
const maxRecords = 1000;
/** maximum of waiting and running commands of one device */
const maxOpen = 64;
/** simulated seconds beyond the usual time, after which a command fails */
const graceS = 60;

interface Entry {
  record: CommandRecord;
  readonly by: Origin;
  failAt: SimTime | null;
}

/** @throws SimError INTERNAL for a kept record that names no device, command or state */
function checkRecord({ id, deviceIndex, command, state }: CommandRecord): void {
  keptCount(deviceIndex, 'device of a command');
  if (typeof id !== 'string' || !operatorCommands.includes(command) || !commandStates.includes(state))
    throw new SimError('INTERNAL', 'a kept command is none');
}

const finished = (state: CommandState) => state === 'completed' || state === 'failed' || state === 'canceled';

/** True if the device has reached the state that a command leads to. */
function reached(device: Device, command: OperatorCommand): boolean {
  const state = device.bank.map.m701.InvSt;
  switch (command) {
    case 'start':
      return state === 'RUNNING' || state === 'THROTTLED' || state === 'SLEEPING';
    case 'stop':
      return state === 'OFF';
    case 'reset':
      return true;
  }
}

/** Simulated seconds that a command may take: the enter-service times and, for a stop, the ramp over the full range. */
function usualS({ bank, gradient }: Device, command: OperatorCommand): number {
  const { ESDlyTms, ESRndTms, ESRmpTms } = bank.map.m703;
  const rampS = command === 'stop' ? 100 / Math.min(gradient.w.pctPerS, gradient.var.pctPerS) : 0;
  return (ESDlyTms ?? 0) + (ESRndTms ?? 0) + (ESRmpTms ?? 0) + rampS;
}

export class OperatorQueue implements CommandQueue {
  readonly #wallMs: () => number;
  readonly #log: Pick<Logger, 'info'>;
  /** oldest first */
  readonly #entries: Entry[] = [];
  readonly #waiting = new Map<number, Entry[]>();
  /** entries per device, all of one kind: an opposite command cancels them */
  readonly #running = new Map<number, Entry[]>();
  #nextId = 1;

  constructor(wallMs: () => number, log: Pick<Logger, 'info'>) {
    this.#wallMs = wallMs;
    this.#log = log;
  }

  /** State that a restart keeps. The commands of a device wait and run in the order of their records. */
  kept(): Kept {
    return keptRecord(
      () => ({
        nextId: this.#nextId,
        entries: this.#entries.map(({ record, by, failAt }) => ({ record, by: plainOrigin(by), failAt })),
      }),
      ({ nextId, entries }) => {
        keptCount(nextId, 'id of the next command');
        for (const { record } of entries) checkRecord(record);
        this.#nextId = nextId;
        this.#waiting.clear();
        this.#running.clear();
        this.#entries.splice(0, this.#entries.length, ...entries);
        for (const entry of entries) {
          const { state, deviceIndex } = entry.record;
          if (finished(state)) continue;
          const open = state === 'queued' ? this.#waiting : this.#running;
          open.set(deviceIndex, [...(open.get(deviceIndex) ?? []), entry]);
        }
      },
    );
  }

  submit(request: CommandRequest, by: Origin): CommandRecord {
    const { command, deviceIndex } = request;
    this.#checkRoom(deviceIndex, 1);
    const queue = this.#waiting.get(deviceIndex) ?? [];
    const entry: Entry = {
      by,
      failAt: null,
      record: {
        id: String(this.#nextId++),
        command,
        deviceIndex,
        scope: command === 'reset' ? (request.scope ?? 'alarms') : null,
        state: 'queued',
        source: by.source,
        sourceDetail: by.peer ?? null,
        queuedAtMs: this.#wallMs(),
        startedAtMs: null,
        finishedAtMs: null,
        message: null,
      },
    };
    queue.push(entry);
    this.#waiting.set(deviceIndex, queue);
    this.#entries.push(entry);
    this.#dropOldRecords();
    return entry.record;
  }

  submitAll(requests: readonly CommandRequest[], by: Origin): readonly CommandRecord[] {
    const counts = new Map<number, number>();
    for (const { deviceIndex } of requests) counts.set(deviceIndex, (counts.get(deviceIndex) ?? 0) + 1);
    for (const [deviceIndex, count] of counts) this.#checkRoom(deviceIndex, count);
    return requests.map((request) => this.submit(request, by));
  }

  list({ deviceIndex, state }: { deviceIndex?: number; state?: CommandState } = {}): readonly CommandRecord[] {
    return this.#entries
      .map((entry) => entry.record)
      .filter(
        (record) =>
          (deviceIndex === undefined || record.deviceIndex === deviceIndex) &&
          (state === undefined || record.state === state),
      )
      .reverse();
  }

  get(id: string): CommandRecord | undefined {
    return this.#entries.find((entry) => entry.record.id === id)?.record;
  }

  /** Starts the waiting commands of a device in order. Called at the start of its tick. */
  begin(device: Device, instant: SimTime): void {
    if (this.#waiting.size === 0) return;
    const queue = this.#waiting.get(device.index);
    if (!queue) return;
    this.#waiting.delete(device.index);
    for (const entry of queue) this.#carryOut(entry, device, instant);
  }

  /** Completes commands whose state the device has reached, and fails overdue ones. Called at the end of its tick. */
  settle(device: Device, instant: SimTime): void {
    for (const entry of this.#running.get(device.index) ?? []) {
      if (reached(device, entry.record.command)) this.#finish(entry, 'completed', null, instant);
      else if (entry.failAt !== null && instant >= entry.failAt) {
        const state = device.bank.map.m701.InvSt?.toLowerCase() ?? 'unknown';
        this.#finish(entry, 'failed', `the device is still ${state}`, instant);
      }
    }
  }

  /** Cancels all open commands of a removed device. */
  cancelOf(deviceIndex: number, why: string): void {
    const open = [...(this.#waiting.get(deviceIndex) ?? []), ...(this.#running.get(deviceIndex) ?? [])];
    this.#waiting.delete(deviceIndex);
    for (const entry of open) this.#finish(entry, 'canceled', why);
  }

  /** Cancels all open commands when the simulator stops. */
  cancelAll(): void {
    this.#waiting.clear();
    for (const entry of this.#entries) {
      if (!finished(entry.record.state)) this.#finish(entry, 'canceled', 'the simulator stopped first');
    }
  }

  #checkRoom(deviceIndex: number, count: number): void {
    const open = (this.#waiting.get(deviceIndex)?.length ?? 0) + (this.#running.get(deviceIndex)?.length ?? 0);
    if (open + count > maxOpen) {
      throw new SimError(
        'COMMAND_QUEUE_FULL',
        `device ${deviceIndex} has ${open} of at most ${maxOpen} waiting or running commands; ${count} more given`,
      );
    }
  }

  #carryOut(entry: Entry, device: Device, instant: SimTime): void {
    const { command, scope } = entry.record;
    entry.record = { ...entry.record, state: 'running', startedAtMs: this.#wallMs() };
    this.#logProgress(entry, `begins, asked by ${originText(entry.by)}`, instant);
    try {
      device.command(command === 'reset' ? { kind: 'reset', scope: scope ?? 'alarms' } : { kind: command }, entry.by);
    } catch (error) {
      this.#finish(entry, 'failed', errorText(error), instant);
      return;
    }
    if (command === 'reset') {
      this.#finish(entry, 'completed', null, instant);
      return;
    }
    for (const other of this.#running.get(device.index) ?? []) {
      if (other.record.command !== command) this.#finish(other, 'canceled', `followed by ${command}`, instant);
    }
    entry.failAt = addSeconds(instant, usualS(device, command) + graceS);
    this.#running.set(device.index, [...(this.#running.get(device.index) ?? []), entry]);
  }

  #finish(entry: Entry, state: CommandState, message: string | null, at?: SimTime): void {
    const left = (this.#running.get(entry.record.deviceIndex) ?? []).filter((other) => other !== entry);
    if (left.length > 0) this.#running.set(entry.record.deviceIndex, left);
    else this.#running.delete(entry.record.deviceIndex);
    entry.record = { ...entry.record, state, message, finishedAtMs: this.#wallMs() };
    this.#logProgress(entry, message === null ? state : `${state}: ${message}`, at);
  }

  #logProgress({ record: { id, command, scope, deviceIndex } }: Entry, text: string, at?: SimTime): void {
    const name = scope === null ? command : `${command} (${scope})`;
    this.#log.info(`command ${id}, ${name}: ${text}`, deviceIndex, at);
  }

  /** Drops the oldest finished records; an open one is never dropped. */
  #dropOldRecords(): void {
    while (this.#entries.length > maxRecords) {
      const oldest = this.#entries.findIndex((entry) => finished(entry.record.state));
      if (oldest < 0) return;
      this.#entries.splice(oldest, 1);
    }
  }
}
