/** A fault registry with clocks that a test moves, and the kinds of the catalogue. */
import { addSeconds, simTimeFromMs } from '../../src/core/time/clock.ts';
import type { ActiveFault } from '../../src/core/faults/active-fault.ts';
import type { FaultKind, FaultRequest } from '../../src/core/faults/kinds.ts';
import { FaultRegistry } from '../../src/core/faults/registry.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import { HandWall } from './wall.ts';

/** Members of a fault besides kind and parameters. */
export type FaultExtras = Omit<FaultRequest, 'protocol' | 'kind' | 'parameters'>;

export class FaultBench {
  readonly wall = new HandWall();
  readonly registry: FaultRegistry;
  readonly lines: string[] = [];
  sim = simTimeFromMs(Date.UTC(2030, 5, 1, 12));

  /** @param deviceIndexes of the devices there are */
  constructor(deviceIndexes: readonly number[] = [0], seed = 7) {
    this.registry = new FaultRegistry({
      wall: this.wall,
      sim: () => this.sim,
      seed,
      deviceIndexes: () => deviceIndexes,
      later: () => () => undefined,
      log: {
        info: (line) => {
          this.lines.push(line);
        },
        error: (line) => {
          this.lines.push(line);
        },
      },
    });
    this.registry.define(faultKinds);
  }

  /** Injects one fault. */
  inject(kind: FaultKind, parameters: Readonly<Record<string, unknown>> = {}, extras: FaultExtras = {}): ActiveFault {
    const [fault] = this.registry.inject([{ protocol: kind.protocol, kind: kind.kind, parameters, ...extras }], {
      source: 'rest',
      peer: 'test',
    });
    if (fault === undefined) throw new Error('no fault');
    return fault;
  }

  /** Advances both clocks, and ends faults whose duration is over. */
  pass(seconds: number): void {
    this.wall.advance(seconds * 1000);
    this.sim = addSeconds(this.sim, seconds);
    this.registry.expire();
  }
}
