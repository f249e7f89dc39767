/** The filter of devices: text, index ranges, states and kinds, all of which must hold. */
import type { Condition } from '../condition';
import { isHeld } from '../condition';

type Test = (condition: Condition) => boolean;

/** `20-35`: devices of these indexes. */
function rangeTest(from: number, to: number): Test {
  return ({ device: { device_index: index } }) => index >= from && index <= to;
}

/** `:tripped`: devices in this state; `:limited` and `:alarms` go by the limit and the alarms. */
function stateTest(word: string): Test {
  if (word === 'limited') return isHeld;
  if (word === 'alarms') return ({ device }) => device.alarm_count > 0;
  return ({ state }) => state.replaceAll(' ', '-').startsWith(word);
}

function textTest(text: string): Test {
  return ({
    device: { device_index: index, name, device_type: type, device_profile_name: profile, asset_type: kind },
  }) => `${index} ${name} ${type} ${profile ?? ''} ${kind}`.toLowerCase().includes(text);
}

function testOf(token: string): Test {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(token) ?? [];
  if (from !== undefined && to !== undefined) return rangeTest(Number(from), Number(to));
  return token.startsWith(':') ? stateTest(token.slice(1)) : textTest(token);
}

/** The devices that a filter picks. @param filter such as `roof 20-35 :tripped`; empty: all */
export function filtered<C extends Condition>(conditions: readonly C[], filter: string): readonly C[] {
  const tests = filter.toLowerCase().split(/\s+/).filter(Boolean).map(testOf);
  return conditions.filter((condition) => tests.every((test) => test(condition)));
}
