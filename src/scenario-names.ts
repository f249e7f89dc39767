/** Names in scenarios that the interface and the devices define. */
import { messageMembers as ofOcpp } from './api/charge-points/members.ts';
import { messageMembers as ofCsip } from './api/csip-client/report-schemas.ts';
import { messageMembers as ofModbus } from './api/modbus/message-schemas.ts';
import { messageMembers as ofDnp3 } from './api/outstations/schemas.ts';
import { commAlarmKinds } from './core/comm-alarms.ts';
import { alarmKinds } from './der/device/alarms.ts';
import type { KnownNames } from './scenario/file/layout.ts';

/** Members of messages and codes of alarms, as the interface shows them. */
export function scenarioNames(): KnownNames {
  return {
    alarmCodes: [...Object.keys(alarmKinds), ...Object.keys(commAlarmKinds)],
    messageMembers: { modbus: ofModbus(), csip: ofCsip(), ocpp: ofOcpp(), dnp3: ofDnp3() },
  };
}
