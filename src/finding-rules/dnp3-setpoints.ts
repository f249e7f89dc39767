/** Rules for the set-points of the DER profile of DNP3, as `setpoints.ts` has them for registers. */
import type { RuleTable } from '../core/findings/rule.ts';
import { setpointRules } from './setpoints.ts';

const practice = 'practice: ';
const setpoints = 'AO87, AO88, AO93, AO203, AO210 or AO211';

export const dnp3SetpointRules = {
  enable_forgotten: {
    severity: 'remark',
    basis: 'practice',
    clause: `${practice}a set-point of AN2018 acts while its mode is enabled`,
    title: 'A set-point whose mode stays off',
    situation: `The master writes the set-point of a mode that is off: ${setpoints}.`,
    proof:
      'A minute later nobody had enabled the mode by BO17, BO18, BO27 or BO28, and the master went on with other requests.',
    consequence: 'The set-point does nothing.',
    trap: setpointRules.enable_forgotten.trap,
    isTimed: true,
    params: { wait_s: { default: 60, min: 5, max: 86_400, unit: 's', title: 'time for the enabling' } },
  },
  no_reversion: {
    severity: 'remark',
    basis: 'practice',
    clause: `${practice}a reversion time of 0 means none: AO85, AO92, AO202, AO209`,
    title: setpointRules.no_reversion.title,
    situation: 'The master enables a mode with a set-point, or writes the set-point of one that is on.',
    proof: setpointRules.no_reversion.proof,
    consequence: setpointRules.no_reversion.consequence,
    trap: setpointRules.no_reversion.trap,
    isTimed: true,
    params: { wait_s: { default: 60, min: 5, max: 86_400, unit: 's', title: 'time for the reversion time' } },
  },
  reversion_lapsed: {
    severity: 'risk',
    basis: 'practice',
    clause: setpointRules.reversion_lapsed.clause,
    title: setpointRules.reversion_lapsed.title,
    situation: 'The master renews the set-point of a mode that has a reversion time at least twice.',
    proof: setpointRules.reversion_lapsed.proof,
    consequence: setpointRules.reversion_lapsed.consequence,
    trap: setpointRules.reversion_lapsed.trap,
    mixesClocks: true,
    isTimed: true,
  },
  heartbeat_late: {
    severity: 'remark',
    basis: 'practice',
    clause: setpointRules.heartbeat_late.clause,
    title: setpointRules.heartbeat_late.title,
    situation: 'The master renews the set-point of a mode that has a reversion time five times.',
    proof: setpointRules.heartbeat_late.proof,
    consequence: setpointRules.heartbeat_late.consequence,
    trap: setpointRules.heartbeat_late.trap,
    mixesClocks: true,
    isTimed: true,
    params: setpointRules.heartbeat_late.params,
  },
  setpoint_churn: {
    severity: 'remark',
    basis: 'practice',
    clause: `${practice}some devices store each set-point (solaredge-modbus#232)`,
    title: setpointRules.setpoint_churn.title,
    situation: `The master writes a set-point whose mode has the reversion time 0: ${setpoints}.`,
    proof: setpointRules.setpoint_churn.proof,
    consequence: setpointRules.setpoint_churn.consequence,
    trap: setpointRules.setpoint_churn.trap,
    mixesClocks: true,
    params: setpointRules.setpoint_churn.params,
  },
} as const satisfies RuleTable;
