/** Ports of sources whose readings are computed when they are read. */
import type { DcPort, SourceCondition } from './source.ts';

export const noConditions: ReadonlySet<SourceCondition> = new Set();

/** Getters by which a live port reads its values. */
interface PortReadings {
  readonly voltageV: () => number;
  readonly currentA: () => number;
  readonly powerW: () => number;
  /** default: the port never has any */
  readonly conditions?: () => ReadonlySet<SourceCondition>;
}

/** A port that reads its values at each access. */
export class LivePort implements DcPort {
  readonly type: DcPort['type'];
  readonly name: string;
  readonly #readings: PortReadings;

  constructor(type: DcPort['type'], name: string, readings: PortReadings) {
    this.type = type;
    this.name = name;
    this.#readings = readings;
  }

  get voltageV(): number {
    return this.#readings.voltageV();
  }

  get currentA(): number {
    return this.#readings.currentA();
  }

  get powerW(): number {
    return this.#readings.powerW();
  }

  get conditions(): ReadonlySet<SourceCondition> {
    return this.#readings.conditions?.() ?? noConditions;
  }
}
