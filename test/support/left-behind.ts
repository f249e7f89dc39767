/** What protocols could leave in a running simulator: settings of registers with their writers, and subscriptions. */
import type { App } from '../../src/app/start-stop.ts';
import type { Json } from './http.ts';

/** Models of measurements, the heartbeat, and requests to adopt a curve with their results. */
const passing = (modelId: number, path: string): boolean =>
  [701, 713, 714].includes(modelId) || path === 'DERHb' || path.startsWith('Adpt');

/** Every setting of a device with the source of its last writer; absent: as at the start. */
export function settingsOf({ plant }: App, index: number): Json {
  const { bank } = plant.device(index);
  return Object.fromEntries(
    bank.layout.slots
      .filter(({ modelId, path }) => !passing(modelId, path))
      .map((slot) => [`${slot.modelName}.${slot.path}`, [bank.value(slot), bank.provenance(slot)?.source ?? null]]),
  );
}

type Subscribe = (...args: never[]) => () => void;

/** Counts the subscriptions at objects from here on, by name. */
export class Subscriptions {
  readonly counts: Record<string, number> = {};

  constructor({ plant, faults }: App) {
    this.#count('plant', plant, ['onTick', 'onPower', 'onDevices']);
    this.#count('faults', faults, ['onChange']);
    for (const device of plant.devices) {
      this.#count('device', device, ['onEvse']);
      this.#count('bank', device.bank, ['onChange', 'onReload']);
    }
  }

  #count<T extends object>(name: string, at: T, methods: readonly (keyof T & string)[]): void {
    for (const method of methods) {
      const key = `${name}.${method}`;
      this.counts[key] ??= 0;
      const subscribe = (at[method] as Subscribe).bind(at);
      const counted: Subscribe = (...args) => {
        this.counts[key] = (this.counts[key] ?? 0) + 1;
        const end = subscribe(...args);
        let hasEnded = false;
        return () => {
          if (!hasEnded) this.counts[key] = (this.counts[key] ?? 0) - 1;
          hasEnded = true;
          end();
        };
      };
      Object.defineProperty(at, method, { value: counted });
    }
  }
}
