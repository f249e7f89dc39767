/** Parts that the pages of several kinds of devices have. */
import type { DeviceEntry } from '../../store/site';
import { timeOfDay } from '../../look/format';

/** Properties of the page of each kind of device. */
export interface PageProps {
  readonly device: DeviceEntry;
}

interface Source {
  readonly source: string;
  readonly source_detail: string | null;
  readonly changed_at: string | null;
}

const sourceNames: Readonly<Record<string, string>> = {
  rest: 'REST',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
  ev: 'vehicle',
};

/** Writers of these sources are told apart by their detail; that of the others is a port of no interest. */
const named: ReadonlySet<string> = new Set(['modbus', 'csip', 'ocpp', 'dnp3', 'scenario']);

/** The interface that set a value, and the time: `Modbus 10.0.0.21:50122, 12:04:07`. */
export function writerText({ source, source_detail: detail, changed_at: at }: Source): string {
  const name = sourceNames[source] ?? source.replaceAll('_', ' ');
  const time = at === null ? '' : `, ${timeOfDay(at)}`;
  return `${name}${detail !== null && named.has(source) ? ` ${detail}` : ''}${time}`;
}

/** @param by null: nobody since the start */
export function setBy(by: Source | null | undefined): string {
  return by ? `set by ${writerText(by)}` : 'as started';
}
