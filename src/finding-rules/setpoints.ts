/** Rules for set-points with an enable and a reversion time, which Modbus and DNP3 share. */
import type { RuleTable } from '../core/findings/rule.ts';

export const setpointRules = {
  enable_forgotten: {
    severity: 'risk',
    basis: 'practice',
    clause: 'SunSpec models 704 and 123: a set-point acts while its enable point is ENABLED',
    core: 'writing',
    title: 'A set-point was written, and its function was not switched on',
    situation: 'The peer writes a set-point whose function is switched off.',
    proof: 'Nobody switched the function on within the wait, and the peer went on with other requests.',
    consequence: 'A device stores the value and does nothing, which looks like a device that ignores commands.',
    trap: 'A value that limits nothing, one that is written after the function was switched off, and an enable that was refused are right.',
    params: {
      wait_s: { default: 10, min: 1, max: 600, unit: 's', title: 'Time for the enable after the set-point' },
    },
  },
  no_reversion: {
    severity: 'remark',
    basis: 'practice',
    clause: 'SunSpec models 704 and 123: reversion time 0 means none',
    title: 'A limit is in force without a reversion time',
    situation: 'The peer puts a set-point in force at a device that has a reversion time for it.',
    proof: 'The reversion time was still 0 at the end of the wait, and the set-point was in force.',
    consequence: 'A device keeps the limit for ever if its head-end crashes or loses the connection.',
    trap: 'The reversion time may follow in a later request, and a value that limits nothing needs none.',
    params: {
      wait_s: { default: 10, min: 1, max: 600, unit: 's', title: 'Time for the reversion time after the set-point' },
    },
  },
  reversion_lapsed: {
    severity: 'risk',
    basis: 'practice',
    clause: 'evcc issue 33037: a hold ended unseen when its reversion time ran out',
    core: 'writing',
    title: 'A set-point was renewed only after its reversion time had run out',
    situation: 'The peer renews a set-point that has a reversion time at least twice.',
    proof: 'The reversion time ran out, and the peer then renewed the same value as if it had been in force.',
    consequence: 'A device runs without the limit in between, while the head-end believes that it is limited.',
    trap: 'A peer that stops renewing may end its command in this way, and one that writes once may mean a command of that length.',
    mixesClocks: true,
    isTimed: true,
  },
  heartbeat_late: {
    severity: 'remark',
    basis: 'practice',
    clause: 'Victron renews its limit at half of the reversion time',
    title: 'A set-point is renewed shortly before its reversion time runs out',
    situation: 'The peer renews a set-point that has a reversion time five times.',
    proof: 'The mean interval was above the share of the reversion time.',
    consequence: 'A device falls back when one message is lost or late.',
    trap: 'Reversion times of up to 5 s are not judged, since the steps of a clock decide there.',
    mixesClocks: true,
    isTimed: true,
    params: {
      share_pct: { default: 80, min: 10, max: 100, unit: '%', title: 'Share of the reversion time' },
    },
  },
  setpoint_churn: {
    severity: 'risk',
    basis: 'practice',
    clause: 'SolarEdge and Hoymiles inverters wear out their memory (home-assistant-solaredge-modbus issue 232)',
    core: 'writing',
    title: 'A set-point without a reversion time is written very often',
    situation: 'The peer writes a set-point.',
    proof:
      'It was written more often in 10 minutes than the rule allows, or with the same value, and its reversion time was 0.',
    consequence: 'Some devices store each value and wear out their memory within months.',
    trap: 'With a reversion time each write is a heartbeat, which no device stores.',
    mixesClocks: true,
    params: {
      writes: { default: 60, min: 2, max: 10_000, unit: null, title: 'Writes in 10 minutes' },
      identical: { default: 30, min: 2, max: 10_000, unit: null, title: 'Writes of the same value in 10 minutes' },
    },
  },
} as const satisfies RuleTable;
