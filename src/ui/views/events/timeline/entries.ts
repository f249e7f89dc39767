/** Entries of the timeline filtered by the address, and as words. */
import { words } from '../../../look/format';
import { param } from '../../../store/route';
import type { TimelineEntry } from '../../../store/timeline';

const sourceNames: Readonly<Record<string, string>> = {
  rest: 'REST',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

export const simulator = 'simulator';

/** The writer without its address, as the filter has it. */
export const writerOf = ({ by }: Pick<TimelineEntry, 'by'>): string => by?.source ?? simulator;

export const writerName = (writer: string): string => sourceNames[writer] ?? words(writer);

/** `Modbus 10.0.0.21:50123`; a client of REST has another port with each request, and a page no address worth reading. */
export function writerText(entry: Pick<TimelineEntry, 'by'>): string {
  const { by } = entry;
  const name = writerName(writerOf(entry));
  if (by === null || by.source_detail === null || by.source === 'dashboard') return name;
  return `${name} ${by.source === 'rest' ? by.source_detail.replace(/:\d+$/, '') : by.source_detail}`;
}

export const levels = ['info', 'warn', 'bad'] as const;

/** Settings of the filter in the address. */
export const filterNames = ['kind', 'on', 'writer', 'level', 'find'] as const;

type FilterName = (typeof filterNames)[number];

/** Conditions for entries of the list; null: all. */
export type Filter = Readonly<Record<FilterName, string | null>>;

export const filterOfAddress = (): Filter =>
  Object.fromEntries(filterNames.map((name) => [name, param(name)])) as Filter;

/** @param nameOf name of a device, for the text */
export function meets(entry: TimelineEntry, filter: Filter, nameOf: (index: number) => string): boolean {
  const { kind, on, writer, level, find } = filter;
  if (kind !== null && entry.kind !== kind) return false;
  if (on !== null && !entry.devices.includes(Number(on))) return false;
  if (writer !== null && writerOf(entry) !== writer) return false;
  if (level !== null && levels.indexOf(entry.level) < levels.findIndex((each) => each === level)) return false;
  if (find === null) return true;
  const text = [entry.title, entry.text, writerText(entry), ...entry.devices.map(nameOf)].join(' ').toLowerCase();
  return text.includes(find.toLowerCase());
}
