/** The rules of REST that scenarios are checked against; loaded with the code of scenarios. */
import { messageMembers as ofOcpp } from '../../api/charge-points/members.ts';
import { messageMembers as ofCsip } from '../../api/csip-client/reports.ts';
import { defaultApiLimits } from '../../api/http/context.ts';
import { createRequestCheck } from '../../api/http/perform.ts';
import { messageMembers as ofModbus } from '../../api/modbus.ts';
import { messageMembers as ofDnp3 } from '../../api/outstations.ts';
import { allRoutes } from '../../api/routes.ts';
import { commAlarmKinds } from '../../core/comm-alarms.ts';
import { catalogueRows } from '../../finding-rules/all.ts';
import { alarmKinds } from '../../der/device/alarms.ts';
import type { KnownNames } from '../../scenario/file/layout.ts';

/** Checks the form of requests to any operation. */
export const checkRequest = createRequestCheck(allRoutes, defaultApiLimits);

/** Members of messages and codes of alarms, as REST shows them. */
export function scenarioNames(): KnownNames {
  return {
    alarmCodes: [...Object.keys(alarmKinds), ...Object.keys(commAlarmKinds)],
    findingRules: [...catalogueRows.keys()],
    messageMembers: { modbus: ofModbus(), csip: ofCsip(), ocpp: ofOcpp(), dnp3: ofDnp3() },
  };
}
