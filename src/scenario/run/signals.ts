/** Reads signals of a running simulator. */
import { positionOf } from '../../contract/snapshot.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { Signal, SignalValue } from '../model.ts';
import type { Symbols } from './compare.ts';
import type { ScenarioDevice, ScenarioHost } from './host.ts';

/** Reads one signal repeatedly. */
export interface SignalReader {
  readonly signal: Signal;
  /** null: unknown or none */
  readonly unit: string | null;
  readonly symbols: Symbols;
  /** The present value; a promise if a request is needed. Null: not available. */
  read(): SignalValue | Promise<SignalValue>;
  /** reason why the last value was null, if known */
  readonly lack?: string | null;
}

function deviceOf({ plant }: ScenarioHost, index: number): ScenarioDevice | undefined {
  return plant.devices.find((device) => device.index === index);
}

function slotOf(device: ScenarioDevice | undefined, point: string): PointSlot | undefined {
  return device?.bank.layout.named(point);
}

function pointReader(host: ScenarioHost, signal: Extract<Signal, { readonly kind: 'point' }>): SignalReader {
  const { device: index, point } = signal;
  // a later device with the same index has another map
  let device = deviceOf(host, index);
  let slot = slotOf(device, point);
  return {
    signal,
    get unit() {
      return slot?.def.units ?? null;
    },
    get symbols() {
      return slot?.def.type.startsWith('enum') === true ? slot.def.symbols : undefined;
    },
    get lack() {
      return device === undefined ? `there is no device ${index}` : null;
    },
    read() {
      if (device === undefined || !host.plant.devices.includes(device)) {
        device = deviceOf(host, index);
        slot = slotOf(device, point);
      }
      return device === undefined || slot === undefined ? null : device.bank.value(slot);
    },
  };
}

function memberOf(value: unknown, steps: readonly string[]): SignalValue {
  let at: unknown = value;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return null;
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  if (Array.isArray(at)) return at.length;
  return typeof at === 'number' || typeof at === 'string' || typeof at === 'boolean' ? at : null;
}

function snapshotReader(host: ScenarioHost, signal: Extract<Signal, { readonly kind: 'snapshot' }>): SignalReader {
  const steps = signal.member.split('.');
  return {
    signal,
    unit: null,
    symbols: undefined,
    read() {
      const { published } = host.plant.latest;
      return memberOf(published[positionOf(published, signal.device)]?.snapshot, steps);
    },
  };
}

function answerReader(host: ScenarioHost, signal: Extract<Signal, { readonly kind: 'answer' }>): SignalReader {
  const steps = signal.pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let lack: string | null = null;
  return {
    signal,
    unit: null,
    symbols: undefined,
    get lack() {
      return lack;
    },
    async read() {
      const { status, body } = await host.perform(signal.request);
      lack = status < 400 ? null : `it was answered with ${status}: ${(body as { readonly detail: string }).detail}`;
      return status < 400 ? memberOf(body, steps) : null;
    },
  };
}

export function signalReader(host: ScenarioHost, signal: Signal): SignalReader {
  switch (signal.kind) {
    case 'point':
      return pointReader(host, signal);
    case 'snapshot':
      return snapshotReader(host, signal);
    case 'answer':
      return answerReader(host, signal);
  }
}

/** The readers of one run, one for each signal. */
export class Signals {
  readonly #host: ScenarioHost;
  readonly #readers = new Map<string, SignalReader>();
  /** readers by signal object, for fast access at every tick */
  readonly #readersBySignal = new Map<Signal, SignalReader>();
  /** values by mark and signal */
  readonly #marks = new Map<string, Map<string, SignalValue>>();

  constructor(host: ScenarioHost) {
    this.#host = host;
  }

  reader(signal: Signal): SignalReader {
    const existing = this.#readersBySignal.get(signal);
    if (existing !== undefined) return existing;
    const key = JSON.stringify(signal);
    const reader = this.#readers.get(key) ?? signalReader(this.#host, signal);
    this.#readers.set(key, reader);
    this.#readersBySignal.set(signal, reader);
    return reader;
  }

  /** Remembers the present values of signals under a name. */
  async mark(name: string, signals: readonly Signal[]): Promise<void> {
    const values = new Map<string, SignalValue>();
    this.#marks.set(name, values);
    for (const signal of signals) values.set(JSON.stringify(signal), await this.reader(signal).read());
  }

  hasMark(name: string): boolean {
    return this.#marks.has(name);
  }

  /** The difference from the value at a mark. null: not both are numbers. */
  difference(signal: Signal, mark: string, value: SignalValue): SignalValue {
    const markValue = this.#marks.get(mark)?.get(JSON.stringify(signal));
    return typeof value === 'number' && typeof markValue === 'number' ? value - markValue : null;
  }
}
