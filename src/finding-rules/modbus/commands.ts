/** Rules for masters of Modbus: set-points and curves. */
import type { RuleTable } from '../../core/findings/rule.ts';
import { setpointRules } from '../setpoints.ts';
import { holdingBack, moving, needsMap } from './needs.ts';

export const commandRules = {
  curve_unordered: {
    severity: 'risk',
    basis: 'practice',
    clause: 'SunSpec models 705, 706 and 712: a device checks a stored curve when it is adopted',
    title: 'A curve was adopted that contradicts itself',
    situation: 'The peer adopts a stored set.',
    proof: 'The adoption failed because the points of the set fall back or none is in use.',
    consequence: 'The device keeps its old curve.',
    trap: 'A set that only this device cannot take, or that a fault refused, is not judged.',
    needs: needsMap,
    excusedBy: holdingBack,
  },
  adoption_result_unread: {
    severity: 'risk',
    basis: 'practice',
    clause: 'SunSpec models 705 to 712: AdptCrvRslt tells whether the set is in force',
    core: 'writing',
    title: 'The result of an adoption was not read',
    situation: 'The peer adopts a stored set.',
    proof: 'It did not read the result within the wait, and went on with other requests.',
    consequence: 'The adoption may have failed, and nobody knows.',
    trap: 'A read of the whole model has the result.',
    needs: needsMap,
    excusedBy: [...moving, ...holdingBack],
    params: { wait_s: { default: 30, min: 1, max: 600, unit: 's', title: 'Time for the read' } },
  },
  enable_forgotten: { ...setpointRules.enable_forgotten, needs: needsMap, excusedBy: [...moving, ...holdingBack] },
  no_reversion: { ...setpointRules.no_reversion, needs: needsMap, excusedBy: [...moving, ...holdingBack] },
  reversion_lapsed: { ...setpointRules.reversion_lapsed, needs: needsMap, excusedBy: [...moving, ...holdingBack] },
  heartbeat_late: { ...setpointRules.heartbeat_late, needs: needsMap, excusedBy: [...moving, ...holdingBack] },
  setpoint_churn: { ...setpointRules.setpoint_churn, needs: needsMap, excusedBy: [...moving, ...holdingBack] },
} as const satisfies RuleTable;
