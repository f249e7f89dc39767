import { expect } from 'chai';
import { z } from 'zod';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { Issue } from '../../../src/core/errors.ts';
import type { FaultKind, FaultRequest } from '../../../src/core/faults/kinds.ts';
import { FaultRegistry } from '../../../src/core/faults/registry.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export const knock: FaultKind<{ code: number; loud: boolean }> = {
  protocol: 'modbus',
  kind: 'knock',
  layer: 'acceptance',
  summary: 'Knocks.',
  targets: ['points', 'functions'],
  parameters: z.strictObject({ code: z.int().min(1).max(9), loud: z.boolean().default(true) }),
};
export const stall: FaultKind<Record<string, never>> = {
  protocol: 'modbus',
  kind: 'stall',
  layer: 'transport',
  summary: 'Stalls.',
  targets: [],
  parameters: z.strictObject({}),
};
export const doze: FaultKind<Record<string, never>> = {
  protocol: 'device',
  kind: 'doze',
  layer: 'effect',
  summary: 'Dozes.',
  targets: ['points'],
  parameters: z.strictObject({}),
};

export const by = { source: 'rest', peer: '10.0.0.5:4711' } as const;
export const one = (extra: Partial<FaultRequest> = {}): FaultRequest => ({
  protocol: 'modbus',
  kind: 'knock',
  parameters: { code: 4 },
  ...extra,
});

/** A registry of two devices and three kinds, on clocks and timers that are moved by hand. */
export class RegistryRig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly lines: string[] = [];
  readonly registry: FaultRegistry;
  sim = simTimeFromMs(0);
  devices = [0, 1];

  constructor() {
    this.registry = this.open();
  }

  /** A further registry on the same clocks. */
  open(seed = 1, shapeOf?: (index: number) => unknown): FaultRegistry {
    const made = new FaultRegistry({
      wall: this.wall,
      sim: () => this.sim,
      seed,
      deviceIndexes: () => this.devices,
      log: {
        info: (line) => {
          this.lines.push(line);
        },
        error: (line) => {
          this.lines.push(`error: ${line}`);
        },
      },
      later: this.timers.later,
      ...(shapeOf && { shapeOf }),
    });
    made.define([knock, stall, doze]);
    return made;
  }

  /** Injects faults and returns the first of them. */
  first(requests: readonly FaultRequest[] = [one()], at = this.registry): ActiveFault {
    const [fault] = at.inject(requests, by);
    if (fault === undefined) throw new Error('nothing was injected');
    return fault;
  }
}

export function errorText(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as SimError).message;
  }
  throw new Error('nothing was thrown');
}

/** The issues of the error that a call throws; fails unless it is a `SimError` with this code. */
export function issuesOf(act: () => unknown, code = 'COMMAND_BAD_VALUE'): readonly Issue[] {
  try {
    act();
  } catch (error) {
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).code).to.equal(code);
    return (error as SimError).issues;
  }
  throw new Error('nothing was thrown');
}
