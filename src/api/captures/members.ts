/** Captures in replies. */
import {
  captureBounds,
  captureMarkKinds,
  captureStates,
  captureTriggerKinds,
  performanceCategories,
  verdictWords,
} from '../../contract/captures.ts';
import type {
  Capture,
  CaptureBook,
  CaptureMark,
  CaptureReport,
  CaptureThreshold,
  CaptureTrigger,
  CaptureVerdict,
} from '../../contract/captures.ts';
import { assetTypes } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { tripFunctions } from '../../sunspec/map/grid-support/functions.ts';
import { count, flag, integer, list, measured, member, members, nested, text, time, word } from '../common/members.ts';
import { deviceIndex, sourceSchema } from '../common/schemas.ts';
import { z } from '../description/zod.ts';

export interface Context {
  readonly plant: Plant;
}

/** Context of answers that show captures, whose reports were made before in parts. */
export interface ReportContext extends Context {
  readonly reports: ReadonlyMap<Capture, CaptureReport>;
}

export const reportOf = (of: Capture, { reports }: ReportContext) => reports.get(of) ?? of.report();

const fromBegin = 'Seconds from the begin of the capture, simulated.';
const functionWord = word(tripFunctions);
const category = word(performanceCategories);

/** Three decimals: powers are kept with seven digits. */
const kw = nested({ schema: () => z.number(), reply: (value: number) => Math.round(value * 1000) / 1000 + 0 });

const scalar = z.union([z.number(), z.string(), z.boolean(), z.null()]);
const bodyValue = z.union([scalar, z.record(z.string(), scalar)]);

const call = members<NonNullable<CaptureTrigger['call']>>()(null, () => ({
  path: text('Path behind `/api/sim`, with its query.'),
  body: member(() => z.record(z.string(), bodyValue))('Body of the POST.'),
}));

const trigger = members<CaptureTrigger>()('CaptureTrigger', () => ({
  kind: word(captureTriggerKinds)(
    '`threshold`: voltage or frequency of a device has passed a trip threshold; `request`: capture now.',
  ),
  t_s: measured(fromBegin),
  title: text('In words.'),
  device_index: member(() => deviceIndex).orNull('Null: the whole site.'),
  source: member(() => sourceSchema).orNull('Null: a device did it by itself.', ({ by }) => by?.source),
  source_detail: text.orNull('Peer, or name of the scenario; null: none.', ({ by }) => by?.peer),
  repeat: nested(call).orNull('The request that does the same again; null: there is none.', (of) => of.call),
}));

const mark = members<CaptureMark>()('CaptureMark', () => ({
  number: integer('From 1 on, in the order of time.'),
  kind: word(captureMarkKinds)('`device_back`: the last device is at its power before.'),
  t_s: measured(fromBegin),
  devices: list(member(() => deviceIndex)())('Devices that it is about; none: the grid.'),
  text: text('In words.'),
}));

const threshold = members<CaptureThreshold>()('CaptureThreshold', () => ({
  function: functionWord('Function that has the threshold.'),
  action: word(['trip', 'cessation'])('`cessation`: the output is zero while it is exceeded.'),
  quantity: word(['voltage', 'frequency'])('Quantity that it limits.'),
  value: measured('Percent of 702.VNom, or Hz.'),
  time_s: measured('Time for which it may be exceeded.', ({ timeS }) => timeS),
  category: category.orNull('Abnormal category; null: the devices do not state it.'),
  devices: list(member(() => deviceIndex)())('Devices that have it.'),
  text: text('For a chart.'),
}));

const verdict = members<CaptureVerdict>()('CaptureVerdict', () => ({
  device_index: member(() => deviceIndex)(),
  name: text('Name at the begin.'),
  asset_type: word(assetTypes)('Kind of the device.'),
  rating_kw: kw('The larger of its ratings for both directions.', ({ ratingKw }) => ratingKw),
  verdict: word(verdictWords)(
    '`against_the_rule`: tripped inside what its category must ride through, or not tripped where it must; ' +
      '`rode_through`: also with momentary cessation; `interrupted`: a charger stopped charging; ' +
      '`ceased_and_came_back`: left service without a trip; `still_out`: the same, and not back.',
  ),
  reason: text('Why, in words.'),
  function: functionWord.orNull('Null: no function decided it.'),
  category: category.orNull('702.AbnOpCatRtg.'),
  clause: text.orNull('Clause and table of IEEE 1547-2018.'),
  margin_s: measured.orNull(
    'Time left to the trip, negative: time for which the disturbance lasted beyond it; null: no threshold was exceeded.',
    ({ marginS }) => marginS,
  ),
  before_kw: kw('Active power before.', ({ beforeKw }) => beforeKw),
  during_kw: kw(
    'Active power that was farthest from that before, until grid and device are back.',
    ({ duringKw }) => duringKw,
  ),
  after_kw: kw('Active power at the end.', ({ afterKw }) => afterKw),
  back_after_s: measured.orNull(
    'Seconds from the return of the grid until the power was that before; null: not back, or never away.',
    ({ backAfterS }) => backAfterS,
  ),
}));

/** Members of every answer. */
export const presentMembers = () => ({
  tick: count((_of: unknown, { plant }: Context) => plant.latest.tick),
  sim_time: time('Simulated time of the answer.', (_of: unknown, { plant }: Context) => plant.dateMs(plant.now)),
});

const headMembers = () => ({
  id: integer('Counts up by 1.'),
  title: text('The first disturbance.', ({ triggers }: Capture) => triggers[0]?.title ?? ''),
  state: word(captureStates)('`cut`: a bound ended it before every device was back.'),
  pinned: flag('True: it is not dropped for newer ones.'),
  started_at: time('Simulated time of its zero.', ({ start }: Capture, { plant }: Context) => plant.dateMs(start)),
  started_wall_at: time('Wall time of its begin.', ({ startedWallMs }: Capture) => startedWallMs),
  end_s: measured('Seconds of its last row.', ({ endS }: Capture) => endS),
  device_index: member(() => deviceIndex).orNull(
    'Device of the first disturbance; null: the whole site.',
    ({ triggers }: Capture) => triggers[0]?.deviceIndex,
  ),
  scenario: text.orNull('Scenario that ran at its begin; null: none.'),
  triggers: list(trigger)('The disturbances in their order; those nearer than 2 s share a capture.'),
  devices: count('Devices with rows.', ({ rows }: Capture) => rows.length),
  devices_left_out: count('Devices in its scope that were too many to be recorded.'),
  rows: count('Rows of all devices.', ({ rows }: Capture) =>
    rows.reduce((sum, { columns }) => sum + columns.length, 0),
  ),
  bytes: count('Memory of its rows.'),
  summary: text(
    'What the devices did, in a sentence.',
    (of: Capture, context: ReportContext) => reportOf(of, context).summary,
  ),
});

export const captureHead = members<Capture, ReportContext>()('CaptureHead', headMembers);

export const capture = members<Capture, ReportContext>()('Capture', () => ({
  ...presentMembers(),
  ...headMembers(),
  marks: list(mark)('Numbered marks, in the order of time.', (of, context) => reportOf(of, context).marks),
  thresholds: list(threshold)(
    'Thresholds that the devices had at the begin.',
    (of, context) => reportOf(of, context).thresholds,
  ),
  verdicts: list(verdict)('What each device did.', (of, context) => reportOf(of, context).verdicts),
}));

type ListedCaptures = Pick<CaptureBook, 'capacity' | 'bytes' | 'list'>;

export const captureList = members<ListedCaptures, ReportContext>()('Captures', () => ({
  ...presentMembers(),
  capacity: count('Maximum number that is kept (setting `captures`); 0: off.'),
  bytes: count('Memory of all of them.'),
  max_bytes: count('Above it the oldest that is not pinned is dropped.', () => captureBounds.bytes),
  captures: list(captureHead)('Newest first.', (book) => book.list.toReversed()),
}));
