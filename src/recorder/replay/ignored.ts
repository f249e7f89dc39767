/** Checks the names of `--ignore`, since a misspelt one would silently ignore nothing. */
import { SimError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { pointKinds } from './dnp3-objects.ts';
import { isIgnored, pointNames } from './points.ts';
import type { RecordedMessage } from './recording.ts';
import type { ReplayTarget } from './replay.ts';

const dnp3Point = new RegExp(`^(${pointKinds.join('|')}) \\d{1,5}$`);
/** A member or element, or its path. The new build may add members, so they are not checked. */
const member = /^[\w/[\].:-]+$/;

/** True if the recording has a point of this name, as with the map of another manufacturer. */
function isRecordedPoint(name: string, messages: readonly RecordedMessage[]): boolean {
  const text = JSON.stringify(name);
  return messages.some(({ protocol, details }) => protocol === 'modbus' && JSON.stringify(details).includes(text));
}

function isModbusPoint(name: string, messages: readonly RecordedMessage[]): boolean {
  const plain = name.replace(/\[\d+\]/g, '');
  return pointNames().some((each) => isIgnored(each, [plain])) || isRecordedPoint(name, messages);
}

/** @throws SimError CONFIG_INVALID for a name that is unknown in all replayed protocols */
export function checkIgnored(
  ignore: readonly string[],
  { modbus, dnp3, ocpp, csip }: ReplayTarget,
  messages: readonly RecordedMessage[],
): void {
  const isKnown = (name: string) =>
    (modbus !== undefined && isModbusPoint(name, messages)) ||
    (dnp3 !== undefined && dnp3Point.test(name)) ||
    ((ocpp !== undefined || csip !== undefined) && member.test(name));
  const unknown = ignore.find((name) => !isKnown(name));
  if (unknown === undefined) return;
  const near = modbus === undefined ? '' : didYouMean(unknown, pointNames());
  const words = `--ignore: nothing that is replayed has the name ${JSON.stringify(unknown)}${near}`;
  throw new SimError('CONFIG_INVALID', `${words}; derbench replay --help explains the arguments`);
}
