/** Converts DERPrograms and DERControls for the schedule of events. */
import type { ResolvedControl } from '../control/model.ts';
import { modesIn } from '../control/modes.ts';
import type { EventStatusNow, ListedControl, ListedDefault } from '../events/model.ts';
import type { Received } from '../xml/document.ts';
import type { DERControl, DERControlBase, DefaultDERControl } from '../xml/documents.ts';
import { resolved } from './reader.ts';

export type Curves = ResolvedControl['curves'];

/** EventStatus.currentStatus, IEEE 2030.5-2018 8.8; a reserved number counts as scheduled. */
const statuses: readonly EventStatusNow[] = [
  'scheduled',
  'active',
  'cancelled',
  'cancelled with randomization',
  'superseded',
];

/** An mRID for comparison: servers write its digits in either case. */
export const sameCase = (mrid: string): string => mrid.toUpperCase();

/** HexBinary as a number. null: invalid. */
function hexNumber(text: string | undefined): number | null {
  return text !== undefined && /^[0-9A-Fa-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : null;
}

/** The `href` of every curve to which the modes link, as written. */
export function curveHrefsOf(base: Received<DERControlBase>): readonly string[] {
  const hrefs = Object.values(base).flatMap((value) =>
    typeof value === 'object' && 'href' in value && typeof value.href === 'string' ? [value.href] : [],
  );
  return [...new Set(hrefs)];
}

/** The curves that one control uses. */
function curvesFor(base: Received<DERControlBase>, curves: Curves): Curves {
  return new Map(curveHrefsOf(base).map((href) => [href, curves.get(href) ?? null]));
}

/** Location of a control. */
export interface Place {
  /** URI of the document that contains it */
  readonly url: string;
  /** seconds that the clock of its FSA is ahead of that of the server */
  readonly aheadS: number;
}

/** @returns null for a control without mRID or interval, which can be neither carried out nor answered */
export function listedControl(control: Received<DERControl>, curves: Curves, place: Place): ListedControl | null {
  const { mRID, interval, EventStatus: status, replyTo, DERControlBase: base = {} } = control;
  if (mRID === undefined || mRID === '' || interval?.start === undefined || interval.duration === undefined)
    return null;
  const there = (seconds: number) => seconds - place.aheadS;
  return {
    mrid: sameCase(mRID),
    href: control.href === undefined ? null : resolved(control.href, place.url),
    description: control.description ?? null,
    version: control.version ?? null,
    creationS: there(control.creationTime ?? 0),
    startS: there(interval.start),
    durationS: interval.duration,
    randomizeStartS: control.randomizeStart ?? 0,
    randomizeDurationS: control.randomizeDuration ?? 0,
    status: statuses[status?.currentStatus ?? 0] ?? 'scheduled',
    statusS: status?.dateTime === undefined ? null : there(status.dateTime),
    potentiallySuperseded: status?.potentiallySuperseded ?? false,
    deviceCategory: hexNumber(control.deviceCategory),
    responseRequired: hexNumber(control.responseRequired) ?? 0,
    replyTo: replyTo === undefined ? null : resolved(replyTo, place.url),
    modes: modesIn(base),
    control: { base, curves: curvesFor(base, curves) },
  };
}

export function listedDefault(document: Received<DefaultDERControl>, curves: Curves, url: string): ListedDefault {
  const { DERControlBase: base = {} } = document;
  // setES..., setGradW, setSoftGradW
  const settings = Object.fromEntries(Object.entries(document).filter(([name]) => name.startsWith('set')));
  return {
    mrid: document.mRID === undefined ? null : sameCase(document.mRID),
    href: document.href === undefined ? url : resolved(document.href, url),
    description: document.description ?? null,
    modes: modesIn(base),
    control: { base, curves: curvesFor(base, curves), settings },
  };
}
