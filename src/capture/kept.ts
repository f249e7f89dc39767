/** A capture as JSON, for a store that outlives the process: rows are compressed device by device. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { captureStates } from '../contract/captures.ts';
import type { Capture, CaptureReport, DeviceRows } from '../contract/captures.ts';
import { SimError } from '../core/errors.ts';
import { isJsonObject } from '../core/json-object.ts';
import { isDateMs } from '../core/kept-dates.ts';
import type { SimTime } from '../core/time/clock.ts';
import { bytesOfRows, columnsFrom, octetsOf } from './columns.ts';

/** Memory of a device beside its rows. */
export const bytesOfDevice = 4096;

type Head = Pick<Capture, 'id' | 'state' | 'startedWallMs' | 'endS' | 'triggers' | 'scenario' | 'devicesLeftOut'>;

interface KeptRows {
  readonly device: number;
  readonly vNomPu: number;
  readonly count: number;
  /** octets of the columns, compressed, in base64 */
  readonly columns: string;
}

interface KeptCapture extends Head {
  /** simulated date, which a clock that follows the wall gives another instant in the next process */
  readonly startMs: number;
  readonly report: CaptureReport;
  readonly rows: readonly KeptRows[];
}

/** A capture of an earlier process: it has ended, and is pinned at first. */
export class EarlierCapture implements Capture {
  readonly id: number;
  readonly state: Capture['state'];
  readonly start: SimTime;
  readonly startedWallMs: number;
  readonly endS: number;
  readonly triggers: Capture['triggers'];
  readonly scenario: string | null;
  readonly devicesLeftOut: number;
  readonly rows: Capture['rows'];
  readonly bytes: number;
  pinned = true;
  readonly #report: CaptureReport;

  constructor({ report, ...head }: Head & Pick<Capture, 'start' | 'rows'> & { readonly report: CaptureReport }) {
    this.id = head.id;
    this.state = head.state;
    this.start = head.start;
    this.startedWallMs = head.startedWallMs;
    this.endS = head.endS;
    this.triggers = head.triggers;
    this.scenario = head.scenario;
    this.devicesLeftOut = head.devicesLeftOut;
    this.rows = head.rows;
    this.bytes = head.rows.reduce((sum, { columns }) => sum + bytesOfRows(columns.length) + bytesOfDevice, 0);
    this.#report = report;
  }

  report(): CaptureReport {
    return this.#report;
  }

  // oxlint-disable-next-line require-yield -- the report is there
  *reporting(): Generator<undefined, CaptureReport> {
    return this.#report;
  }
}

function keptRows({ deviceIndex, vNomPu, columns }: DeviceRows): KeptRows {
  const octets = octetsOf(columns);
  return {
    device: deviceIndex,
    vNomPu,
    count: columns.length,
    columns: deflateRawSync(octets, { level: 1 }).toString('base64'),
  };
}

/** The form of a capture that has ended, in parts. @param dateMs simulated date of an instant */
export function* keepingCapture(capture: Capture, dateMs: (t: SimTime) => number): Generator<undefined, KeptCapture> {
  const { id, state, start, startedWallMs, endS, triggers, scenario, devicesLeftOut } = capture;
  const report = yield* capture.reporting();
  const rows: KeptRows[] = [];
  for (const of of capture.rows) {
    rows.push(keptRows(of));
    yield;
  }
  return { id, state, startMs: dateMs(start), startedWallMs, endS, triggers, scenario, devicesLeftOut, report, rows };
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** True for a value that `keepingCapture` has made, as far as its members can tell. */
function isKeptCapture(value: unknown): value is KeptCapture {
  if (!isJsonObject(value)) return false;
  const { id, state, startMs, startedWallMs, endS, triggers, scenario, devicesLeftOut, report, rows } = value;
  return (
    [id, devicesLeftOut].every(isCount) &&
    (captureStates as readonly unknown[]).includes(state) &&
    [startMs, startedWallMs].every(isDateMs) &&
    typeof endS === 'number' &&
    (scenario === null || typeof scenario === 'string') &&
    isJsonObject(report) &&
    typeof report['summary'] === 'string' &&
    [triggers, report['marks'], report['thresholds'], report['verdicts'], rows].every(
      (list) => Array.isArray(list) && list.every(isJsonObject),
    )
  );
}

/** @throws Error for octets that are no columns */
function restoredRows({ device, vNomPu, count, columns }: KeptRows): DeviceRows {
  if (![device, count].every(isCount) || !(vNomPu > 0))
    throw new SimError('INTERNAL', 'a device, its nominal voltage or the number of its rows is none');
  const octets = inflateRawSync(Buffer.from(columns, 'base64'), { maxOutputLength: bytesOfRows(count) + 1 });
  return { deviceIndex: device, vNomPu, columns: columnsFrom(octets, count) };
}

/** @param simAt instant of a simulated date @throws Error for a value that is no kept capture */
export function restoredCapture(value: unknown, simAt: (dateMs: number) => SimTime): EarlierCapture {
  if (!isKeptCapture(value)) throw new SimError('INTERNAL', 'it is no capture');
  const { startMs, rows, ...head } = value;
  return new EarlierCapture({ ...head, start: simAt(startMs), rows: rows.map(restoredRows) });
}
