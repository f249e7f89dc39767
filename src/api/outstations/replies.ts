/** Replies of `dnp3`. */
import type { Dnp3MasterStatus, Dnp3Message, Dnp3OutstationStatus, Dnp3PointView } from '../../contract/dnp3.ts';
import { isoOrNull } from '../common/schemas.ts';
import type { StatusReply } from './schemas.ts';

const none = { served: 0, absent: 0 };

/** @param status null: DNP3 is off, or the device has no outstation */
export function statusReply(enabled: boolean, deviceIndex: number, status: Dnp3OutstationStatus | null): StatusReply {
  return {
    enabled,
    device_index: deviceIndex,
    link: {
      endpoint: status?.endpoint ?? null,
      listening: status?.listening ?? false,
      outstation: status?.address ?? null,
      connections: status?.connections ?? 0,
    },
    profile: status?.profile ?? null,
    masters: status?.masters.map(masterReply) ?? [],
    points: status?.points ?? { BI: none, BO: none, AI: none, AO: none, CTR: none },
    event_capacity: status?.eventCapacity ?? 0,
  };
}

function masterReply(master: Dnp3MasterStatus): StatusReply['masters'][number] {
  const { events, unsolicited } = master;
  return {
    address: master.address,
    connected: master.connected,
    peer: master.peer,
    certificate: master.certificate,
    connected_since: isoOrNull(master.connectedSinceMs),
    last_request_at: isoOrNull(master.lastRequestMs),
    iin: [...master.iin],
    events: { class_1: events.class1, class_2: events.class2, class_3: events.class3 },
    overflow: master.overflow,
    unsolicited: {
      configured: unsolicited.configured,
      null_confirmed: unsolicited.nullConfirmed,
      classes: [...unsolicited.classes],
    },
    select_pending: master.selectPending,
    clock_offset_s: master.clockOffsetS,
  };
}

export function pointReply(point: Dnp3PointView) {
  return {
    type: point.type,
    index: point.index,
    name: point.name,
    coverage: point.coverage,
    bound_to: point.boundTo,
    value: point.value,
    flags: point.flags,
    online: point.online,
    engineering_value: point.engineeringValue,
    unit: point.unit,
    multiplier: point.multiplier,
    class: point.class,
    deadband: point.deadband,
    min: point.min,
    max: point.max,
    read_back: point.readBack,
    iec61850: point.iec61850,
  };
}

export function messageReply(message: Dnp3Message) {
  return {
    id: message.id,
    timestamp: new Date(message.atMs).toISOString(),
    direction: message.direction,
    device_index: message.deviceIndex,
    peer: message.peer,
    function: message.function,
    sequence: message.sequence,
    iin: message.iin === null ? null : [...message.iin],
    objects: [...message.objects],
    hex: message.hex,
    truncated: message.truncated,
  };
}
