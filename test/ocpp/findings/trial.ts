/** Trials of a rule at its judge: a wrong central system, a right one, and one that only seems wrong. */
import type { OcppRule } from '../../../src/finding-rules/ocpp.ts';
import type { OcppSubprotocol } from '../../../src/ocpp/rpc/model.ts';
import type { JudgeRig } from './rig.ts';

export type Act = (rig: JudgeRig) => void;

export interface Trial {
  readonly version?: OcppSubprotocol;
  readonly wrong: Act;
  /** of the first case */
  readonly text: string;
  readonly right: Act;
  readonly trap: Act;
}

export const times = (count: number, act: (n: number) => void) => {
  for (let n = 1; n <= count; n += 1) act(n);
};

/** Twice a call of the central system; the second one breaks a rule. */
export const second =
  (rule: OcppRule): Act =>
  (rig) => {
    rig.call('Reset');
    rig.call('Reset', {}, rule);
  };
