/** A scenario from a capture: its disturbance as steps, and what the devices did as the expectation. */
import type { Capture, CaptureTrigger, DeviceRows } from '../../contract/captures.ts';
import { SimError } from '../../core/errors.ts';
import type { TimelineCall } from '../../core/timeline/entry.ts';
import type { RequestCheck } from '../file/whole.ts';
import { membersOf, obstacleOf } from './requests.ts';
import { plainOffset } from './timeline.ts';
import { makingText } from './yaml.ts';
import type { Part } from './yaml.ts';

/** Time before the disturbance, s. */
const beforeS = 1;
/** Time that a run may take longer than the capture, s. */
const spareS = 10;
/** Changes of the grid that make a step: percent of VNom, and Hz. */
const minPct = 0.05;
const minHz = 0.002;
/** Maximum number of steps of the course of the grid. */
const maxCourse = 300;

type Check = RequestCheck;

function callOf({ call }: CaptureTrigger): TimelineCall | null {
  if (call === null) return null;
  const { pathname, searchParams } = new URL(call.path, 'http://localhost');
  return { method: 'POST', path: pathname, query: Object.fromEntries(searchParams), body: call.body };
}

function step(atS: number, name: string, call: TimelineCall, check: Check): Part {
  const obstacle = obstacleOf(call, check);
  if (obstacle !== null) return { comment: `${name}: not a step (${obstacle})` };
  return { step: { at: plainOffset(Math.max(0, beforeS + atS)), name, ...membersOf(call) } };
}

/** Voltage and frequency of the grid as the rows have them, for a disturbance that nobody asked for. */
function courseParts(
  { vNomPu, columns: { tS, gridVPct, fHz, length } }: DeviceRows,
  device: number | null,
  check: Check,
): readonly Part[] {
  const parts: Part[] = [];
  let [pct, hz] = [gridVPct[0] ?? 100, fHz[0] ?? 0];
  for (let row = 1; row < length; row += 1) {
    const [nextPct, nextHz] = [gridVPct[row] ?? pct, fHz[row] ?? hz];
    if (Math.abs(nextPct - pct) < minPct && Math.abs(nextHz - hz) < minHz) continue;
    if (parts.length === maxCourse) {
      parts.push({
        comment: `the grid after ${plainOffset(tS[row - 1] ?? 0)} s is left out: it has more than ${maxCourse} steps`,
      });
      break;
    }
    [pct, hz] = [nextPct, nextHz];
    const body = { voltage_pu: Number(((pct / 100) * vNomPu).toFixed(4)), frequency_hz: Number(hz.toFixed(3)) };
    const query = device === null ? {} : { device: String(device) };
    // the values of a row hold from the row before
    const atS = tS[row - 1] ?? 0;
    parts.push(step(atS, 'the grid as it was', { method: 'POST', path: '/controls/grid', query, body }, check));
  }
  return parts;
}

const whyNoCall: Readonly<Partial<Record<CaptureTrigger['kind'], string>>> = {
  trip: 'a device did it by itself',
  alarm: 'a device did it by itself',
  request: 'it was captured without a disturbance',
};

/** In parts: it yields when other work may run. @throws SimError COMMAND_CONFLICT while the capture records */
export function* captureDraft(capture: Capture, check: Check): Generator<undefined, string> {
  const { id, state, triggers, rows, endS } = capture;
  if (state === 'recording') throw new SimError('COMMAND_CONFLICT', `capture ${id} still records`);
  const { verdicts, summary } = yield* capture.reporting();
  const [first] = triggers;
  const repeated = triggers.flatMap((trigger): readonly Part[] => {
    const call = callOf(trigger);
    if (call !== null) return [step(trigger.tS, trigger.title, call, check)];
    const why = whyNoCall[trigger.kind] ?? 'nobody asked for it';
    return [{ comment: `${trigger.title}: not a step (${why})` }];
  });
  // a threshold of one device may be passed by the grid of all
  const device = rows.length === 1 ? (first?.deviceIndex ?? null) : null;
  const ofDevice = rows.find(({ deviceIndex }) => deviceIndex === (device ?? deviceIndex));
  const isRepeated = repeated.some((part) => 'step' in part);
  const course = isRepeated || ofDevice === undefined ? [] : courseParts(ofDevice, device, check);
  const did = verdicts.map(({ name, verdict, reason }) => ({
    comment: `${name}: ${verdict.replaceAll('_', ' ')} (${reason})`,
  }));
  const hasSteps = isRepeated || course.some((part) => 'step' in part);
  const end = {
    name: 'the devices do the same',
    when: {
      get: 'captures',
      pointer: '/captures/0/state',
      equals: state,
      timeout: Math.ceil(endS) + spareS,
    },
    expect: { get: 'captures', pointer: '/captures/0/summary', equals: summary },
  };
  const title = first?.title ?? `Capture ${id}`;
  return yield* makingText(
    {
      name: title.slice(0, 100),
      description: `From capture ${id}. For the devices of the simulator that captured it.`,
    },
    [...repeated, ...course, ...did],
    hasSteps ? [end] : [],
  );
}
