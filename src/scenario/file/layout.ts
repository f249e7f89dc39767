/** Checks what a scenario says of registers against the devices that it will run on. */
import type { Plant } from '../../contract/plant.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Device } from '../../contract/device.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { Condition, CsipEventTest, Scenario, Signal } from '../model.ts';
import { allExpectations, allSteps } from '../model-parts.ts';
import { placeText } from '../place.ts';
import type { Place } from '../place.ts';

function suggestion(device: Device, point: string): string {
  const model = Number(point.slice(0, point.indexOf('.')));
  const names = device.bank.layout.slots
    .filter(({ modelId }) => modelId === model)
    .map((slot) => `${model}.${pointName(slot)}`);
  return names.length === 0 ? `; it has no model ${model}` : didYouMean(point, names);
}

function pointIssue({ devices }: Plant, index: number, point: string): string | null {
  const device = devices.find((each) => each.index === index);
  if (device === undefined) {
    const known = devices.map((each) => each.index);
    return `there is no device ${index}; indexes are ${known.join(', ')}`;
  }
  const dot = point.indexOf('.');
  const slot = device.bank.layout.slot(Number(point.slice(0, dot)), point.slice(dot + 1));
  if (slot === undefined) return `device ${index} has no point ${point}${suggestion(device, point)}`;
  return slot.implemented ? null : `device ${index} does not implement ${point}, which never has a value`;
}

function signalsOf(condition: Condition): readonly Signal[] {
  if (condition.kind === 'all' || condition.kind === 'any') return condition.conditions.flatMap(signalsOf);
  return condition.kind === 'value' ? [condition.test.signal] : [];
}

function eventTestsOf(condition: Condition): readonly CsipEventTest[] {
  if (condition.kind === 'all' || condition.kind === 'any') return condition.conditions.flatMap(eventTestsOf);
  return condition.kind === 'csip_event' ? [condition.test] : [];
}

/** Events that cannot come. */
function eventIssues({ steps, rules, finally: last }: Scenario, hasCsip: boolean): readonly Issue[] {
  if (hasCsip) return [];
  const all = [...steps, ...rules, ...rules.flatMap((rule) => rule.steps), ...last];
  const waiting = all.filter(({ trigger }) => trigger.kind === 'when' && eventTestsOf(trigger.condition).length > 0);
  return waiting.map(({ place }) => ({
    name: placeText(place),
    detail: 'waits for an event of IEEE 2030.5, and the client is switched off (csip_client_enable)',
  }));
}

/**
 * Points, devices and events that are not there. A scenario that adds devices may name them before.
 * @param hasCsip whether the simulator has a client of IEEE 2030.5
 */
export function layoutIssues(scenario: Scenario, plant: Plant, hasCsip: boolean): readonly Issue[] {
  const steps = allSteps(scenario);
  const addsDevices = steps.some(({ actions }) => actions.some(({ request }) => request.path === '/devices'));
  const known = new Set(plant.devices.map(({ index }) => index));
  const found: { readonly place: Place; readonly signal: Signal }[] = [
    ...allExpectations(scenario).flatMap(({ place, subject }) =>
      subject.kind === 'value' ? [{ place, signal: subject.test.signal }] : [],
    ),
    ...[...steps, ...scenario.rules].flatMap(({ place, trigger }) =>
      trigger.kind === 'when' ? signalsOf(trigger.condition).map((signal) => ({ place, signal })) : [],
    ),
  ];
  const ofPoints = found.flatMap(({ place, signal }) => {
    if (signal.kind !== 'point' || (addsDevices && !known.has(signal.device))) return [];
    const detail = pointIssue(plant, signal.device, signal.point);
    return detail === null ? [] : [{ name: placeText(place), detail }];
  });
  return [...ofPoints, ...eventIssues(scenario, hasCsip)];
}

/** Why the devices of a plant are not those that a scenario brings along; null: they are, as far as their types tell. */
export function deviceMismatch({ devices }: Readonly<Record<string, unknown>>, plant: Plant): string | null {
  if (!Array.isArray(devices)) return null;
  const wanted = (devices as readonly { readonly device_type?: string; readonly count?: number }[]).flatMap(
    ({ device_type: type, count = 1 }) => Array.from({ length: count }, () => type ?? ''),
  );
  const present = plant.devices.map(({ deviceType }) => deviceType);
  const fits = wanted.length <= present.length && wanted.every((type, n) => type === '' || type === present[n]);
  return fits
    ? null
    : `the scenario is for ${wanted.join(', ')}, and the devices are ${present.join(', ')}; derbench run starts a simulator of its own`;
}
