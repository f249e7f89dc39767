import { expect } from 'chai';
import type { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import { Acceptance } from '../../../src/sunspec/faults/acceptance.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { exceptionOf } from '../../../src/sunspec/modbus/server/unit.ts';
import { FaultBench } from '../../support/faults.ts';
import type { FaultExtras } from '../../support/faults.ts';
import { byModbus, createTestBank, words } from '../../support/map.ts';

/** A bank behind the acceptance layer; `pass` moves both. */
export function createRig(start?: (map: WritableMapView) => void) {
  const map = createTestBank(start === undefined ? {} : { start });
  const faults = new FaultBench();
  const lines: string[] = [];
  const acceptance = new Acceptance({
    deviceIndex: 0,
    bank: map.bank,
    later: (delayS, act) => map.scheduler.at(addSeconds(map.clock.sim(), delayS), act),
    again: (timer, act) => map.scheduler.again(timer, act),
    log: {
      info: (line) => {
        lines.push(line);
      },
    },
  });
  const addressOf = (name: string) => map.slot(Number(name.slice(0, 3)), name.slice(4)).address;
  return {
    ...map,
    lines,
    acceptance,
    faults,
    addressOf,
    inject: (kind: FaultKind, parameters = {}, extras: FaultExtras = {}): ActiveFault =>
      faults.inject(kind, parameters, extras),
    /** Writes whole registers from a point on. */
    write(name: string, ...values: number[]) {
      acceptance.writeThrough(faults.registry.active, addressOf(name), words(...values), byModbus);
    },
    pass(seconds: number) {
      map.pass(seconds);
      faults.pass(seconds);
    },
  };
}

export type AcceptanceRig = ReturnType<typeof createRig>;

/** Code that a refusal is answered with; undefined where the write is accepted. */
export function answeredWith(action: () => void): number | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return exceptionOf(error);
  }
}

/** Fails unless an action is refused and leaves every register as it was. */
export function expectRefused(rig: AcceptanceRig, code: number, action: () => void): void {
  const before = rig.dump();
  const commits = rig.changes.length;
  expect(answeredWith(action)).to.equal(code);
  expect(rig.dump().equals(before)).to.equal(true);
  expect(rig.changes.length).to.equal(commits);
}
