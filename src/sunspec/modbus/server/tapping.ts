/** Reports requests and answers to the wire log, only while it has an observer. */
import type { Buffer } from 'node:buffer';
import { spanOf } from '../../../core/wire/modbus-pdu.ts';
import type { ModbusTap, TappedExchange } from '../../../core/wire/modbus-tap.ts';
import type { Framing } from '../framing/framing.ts';
import type { ModbusContext } from './context.ts';
import type { Asker } from './pdu.ts';
import { namesOf } from './report.ts';
import type { ModbusUnit } from './unit.ts';

/** Octets of a frame behind its PDU. */
const tailOctets = { mbap: 0, rtu: 2 } as const;

/** Reports the request at hand. @param unit its target, as faults identify it */
export function tapRequest(
  tap: ModbusTap,
  request: Framing,
  { foreignUnit }: Pick<ModbusContext, 'foreignUnit'>,
  unit: ModbusUnit | undefined,
  { peer }: Asker,
): TappedExchange {
  const { name: framing, buffer, headSize, pduStart, pduEnd, unitId } = request;
  const { functionCode, address, count } = spanOf(buffer, pduStart, pduEnd);
  // on a serial line the frame is between others, and may be an answer
  const isForeign = unit === undefined && framing === 'rtu';
  const broadcast = unit?.mute === true;
  const unserved = unit === undefined && foreignUnit === 'silent';
  return tap.request({
    kind: isForeign ? 'foreign' : 'request',
    direction: 'in',
    peer,
    deviceIndex: unit?.deviceIndex ?? null,
    raw: buffer.subarray(pduStart - headSize, pduEnd + tailOctets[framing]),
    framing,
    unitId,
    functionCode,
    address,
    count,
    broadcast,
    names: namesOf(unit, functionCode, address, count),
    unanswered: isForeign ? null : broadcast ? 'broadcast' : unserved ? 'unit_not_served' : 'suppressed',
  });
}

/** Reports an answer sent at once: the octets of `out` from `at` to `end`; empty if no answer is due. */
export function tapAnswer(tapped: TappedExchange, out: Buffer, at: number, end: number): void {
  if (end > at) tapped.answered(out.subarray(at, end));
  else tapped.ended();
}
