/** What clients post to a head-end: responses, mirrors and readings. */
import type { Json } from '../../support/http.ts';
import { parsed } from './bodies.ts';
import type { HeadEnd } from './head-end.ts';
import { element, leaf } from './markup.ts';
import type { MirrorPoint, ResponseRecord } from './model.ts';
import type { Answer, Asked } from './resources.ts';

export function keepResponse(headEnd: HeadEnd, { body, path }: Asked): void {
  const { value } = parsed(body);
  headEnd.responses.push({
    mRID: String(value.subject).toUpperCase(),
    status: Number(value.status),
    lfdi: String(value.endDeviceLFDI).toUpperCase(),
    createdS: Number(value.createdDateTime),
    atS: headEnd.nowS,
    path,
  });
}

export const responsePage = ({ createdS, lfdi, status, mRID }: ResponseRecord): string =>
  element('Response', {}, [
    leaf('createdDateTime', createdS),
    leaf('endDeviceLFDI', lfdi),
    leaf('status', status),
    leaf('subject', mRID),
  ]);

export const mirrorPage = ({ id, mRID, roleFlags, deviceLfdi, postRate }: MirrorPoint): string =>
  element('MirrorUsagePoint', { href: `/mup/${id}` }, [
    leaf('mRID', mRID),
    leaf('roleFlags', roleFlags),
    leaf('serviceCategoryKind', 0),
    leaf('status', 1),
    leaf('deviceLFDI', deviceLfdi),
    leaf('postRate', postRate),
  ]);

export function keepMirror(headEnd: HeadEnd, { body, lfdi, root }: Asked): Answer {
  if (root !== 'MirrorUsagePoint') return { status: 400 };
  const { value } = parsed(body);
  const mRID = String(value.mRID).toUpperCase();
  let known = headEnd.mirrors.find((mirror) => mirror.mRID === mRID);
  const isNew = known === undefined;
  if (known === undefined) {
    known = {
      id: headEnd.newId(),
      mRID,
      roleFlags: String(value.roleFlags),
      deviceLfdi: String(value.deviceLFDI).toUpperCase(),
      owner: lfdi,
      xml: body,
      postRate: headEnd.rates.mirrorPost,
    };
    headEnd.mirrors.push(known);
  }
  for (const reading of (value.MirrorMeterReading ?? []) as Json[]) keepReading(headEnd, known.id, reading);
  return { status: isNew ? 201 : 204, headers: { Location: `/mup/${known.id}` } };
}

export function keepReadings(headEnd: HeadEnd, { body, root, lfdi }: Asked, id: number): Answer {
  const mirror = headEnd.mirrors.find((known) => known.id === id);
  if (mirror === undefined || (lfdi !== null && mirror.owner !== lfdi)) return { status: 404 };
  const { value } = parsed(body);
  const list = root === 'MirrorMeterReadingList' ? (value.MirrorMeterReading ?? []) : asList(value);
  for (const reading of list as Json[]) keepReading(headEnd, id, reading);
  return { status: 201, headers: { Location: `/mup/${id}/${headEnd.readings.length}` } };
}

/** The root of a document with one reading is in a list, too: its name is one that repeats. */
const asList = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

function keepReading(headEnd: HeadEnd, mup: number, reading: Json): void {
  const mRID = String(reading.mRID).toUpperCase();
  const key = `${mup} ${mRID}`;
  if (reading.ReadingType !== undefined) {
    const facts = Object.entries(reading.ReadingType).map(([name, value]) => [name, Number(value)] as const);
    headEnd.readingTypes.set(key, Object.fromEntries(facts));
  }
  const type = headEnd.readingTypes.get(key) ?? {};
  const keep = (single: Json, period: Json): void => {
    headEnd.readings.push({
      mup,
      mRID,
      type,
      value: Number(single.value),
      startS: period?.start === undefined ? null : Number(period.start),
      durationS: period?.duration === undefined ? null : Number(period.duration),
      atS: headEnd.nowS,
    });
  };
  for (const single of (reading.Reading ?? []) as Json[]) keep(single, single.timePeriod);
  for (const set of (reading.MirrorReadingSet ?? []) as Json[]) {
    for (const single of (set.Reading ?? []) as Json[]) keep(single, single.timePeriod ?? set.timePeriod);
  }
}
