/**
 * The messages of a shard about one tick. A part is the length of its head as uint32, the head as JSON, columns of
 * numbers, and the JSON texts of its devices one after the other. Numbers are little-endian, as on every platform that
 * runs a fleet.
 */
import { assetTypes } from '../contract/device.ts';
import type { AssetType } from '../contract/device.ts';
import type { ClaimSums, RatingSums } from '../contract/fleet-site.ts';
import { inverterStates } from '../contract/snapshot.ts';
import { FleetError } from './link.ts';

/** The server refuses longer messages. */
const maxMessageBytes = 1024 * 1024;
const maxParts = 1024;
const maxHeadBytes = 4096;
/** Bytes of the columns and texts of a part, which is less than 512 KiB with its head. */
const partBytes = 512 * 1024 - maxHeadBytes - 4;

/** Severities of a column; the code is the position. */
export const severityCodes = ['none', 'info', 'warning', 'error'] as const;

/** Powers of one kind of devices: what they inject and absorb, W. */
export type KindPowers = readonly [injectW: number, absorbW: number];

/** Sums over the site of a shard at the end of a tick, W. */
export interface TickSite {
  readonly generationW: number;
  readonly consumptionW: number;
  readonly loadW: number;
  readonly kinds: Readonly<Partial<Record<AssetType, KindPowers>>>;
  readonly ratings: RatingSums;
  /** null: the shard knows of no limits of its fleet */
  readonly claims: ClaimSums | null;
}

export interface TickHead {
  readonly v: 1;
  /** of the process of the shard, from its lease */
  readonly session: string;
  /** revision of the lease when it was first written */
  readonly epoch: number;
  readonly tick: number;
  readonly simUs: number;
  readonly wallMs: number;
  /** from 0 */
  readonly part: number;
  readonly parts: number;
  /** true: the first tick after the connection was made or came back */
  readonly first: boolean;
  /** devices of the part */
  readonly count: number;
  readonly tookMs: number;
  readonly lateSlots: number;
  /** numbers that no tick of the process has had: a late shard may join slots in one tick */
  readonly unused: number;
  readonly rateEffective: number;
  /** absent: the shard is of a version that knows no limits of its fleet */
  readonly site?: TickSite;
}

/** Members of the head that are the same in all parts of a tick. */
export type TickStampHead = Omit<TickHead, 'v' | 'part' | 'parts' | 'count'>;

/** Device of a tick as it is sent. */
export interface TickDevice {
  readonly index: number;
  readonly powerW: number;
  readonly reactiveVar: number;
  /** greatest active power that it could absorb and inject now */
  readonly absorbW: number;
  readonly injectW: number;
  /** percent; NaN: it has no storage */
  readonly soc: number;
  /** position in `inverterStates` */
  readonly inverterState: number;
  /** position of its worst alarm in `severityCodes` */
  readonly alarmSeverity: number;
  /** text of the snapshot */
  readonly json: Uint8Array;
}

/** Part of a tick as it is received; one value of each column per device, indexes strictly ascending. */
export interface TickPart {
  readonly head: TickHead;
  readonly index: Uint32Array;
  readonly powerW: Float64Array;
  readonly reactiveVar: Float64Array;
  readonly absorbW: Float64Array;
  readonly injectW: Float64Array;
  readonly soc: Float64Array;
  readonly inverterState: Uint8Array;
  readonly alarmSeverity: Uint8Array;
  /** texts of the snapshots, views of the message */
  readonly json: readonly Buffer[];
}

const floatNames = ['powerW', 'reactiveVar', 'absorbW', 'injectW', 'soc'] as const;
const byteNames = ['inverterState', 'alarmSeverity'] as const;
/** index, length, and the columns above */
const bytesPerDevice = 2 * 4 + floatNames.length * 8 + byteNames.length;

/** Devices of each part: a part ends before the device that would exceed the limit. At least one part, even if empty. */
function partsOf<T extends Pick<TickDevice, 'json'>>(devices: readonly T[], limit: number): (readonly T[])[] {
  const parts: T[][] = [[]];
  let size = 0;
  for (const device of devices) {
    const more = bytesPerDevice + device.json.length;
    if (size > 0 && size + more > limit) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(device);
    size += more;
  }
  return parts;
}

function encodePart(head: TickHead, devices: readonly TickDevice[]): Buffer {
  const headBytes = Buffer.from(JSON.stringify(head));
  const { length: count } = devices;
  const texts = devices.reduce((sum, { json }) => sum + json.length, 0);
  const message = Buffer.allocUnsafe(4 + headBytes.length + count * bytesPerDevice + texts);
  let at = message.writeUInt32LE(headBytes.length, 0);
  at += headBytes.copy(message, at);
  for (const { index } of devices) at = message.writeUInt32LE(index, at);
  for (const { json } of devices) at = message.writeUInt32LE(json.length, at);
  for (const name of floatNames) for (const device of devices) at = message.writeDoubleLE(device[name], at);
  for (const name of byteNames) for (const device of devices) at = message.writeUInt8(device[name], at);
  for (const { json } of devices) {
    message.set(json, at);
    at += json.length;
  }
  return message;
}

/**
 * The messages of a tick, each made when it is asked for.
 *
 * @param devices in the order of their indexes
 * @param deviceOf the columns of a device
 * @param limit bytes of columns and texts of a part, unless a single device is longer
 */
export function* tickMessages<T extends Pick<TickDevice, 'json'>>(
  stamp: TickStampHead,
  devices: readonly T[],
  deviceOf: (device: T) => TickDevice,
  limit = partBytes,
): Generator<Buffer, void> {
  const parts = partsOf(devices, limit);
  for (const [part, inPart] of parts.entries())
    yield encodePart({ v: 1, ...stamp, part, parts: parts.length, count: inPart.length }, inPart.map(deviceOf));
}

/** All messages of a tick at once. */
export const encodeTick = (stamp: TickStampHead, devices: readonly TickDevice[], limit?: number): Buffer[] => [
  ...tickMessages(stamp, devices, (device) => device, limit),
];

const refused = (reason: string) => new FleetError('refused', `the tick message ${reason}`);

type HeadCheck = (value: unknown) => boolean;
const isCount: HeadCheck = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFinite: HeadCheck = (value) => Number.isFinite(value);
const isSize: HeadCheck = (value) => Number.isFinite(value) && (value as number) >= 0;

const hasSizes = (value: unknown, names: readonly string[]) =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => isSize((value as Readonly<Record<string, unknown>>)[name]));

const ratingNames: readonly (keyof RatingSums)[] = ['maxInjectW', 'maxAbsorbW'];
const claimNames: readonly (keyof ClaimSums)[] = [
  ...ratingNames,
  'injectW',
  'absorbW',
  'reachInjectW',
  'reachAbsorbW',
  'sleepW',
  'minLoadW',
  'maxLoadW',
];

const isSite: HeadCheck = (value) => {
  const { kinds, ratings, claims } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    hasSizes(value, ['generationW', 'consumptionW', 'loadW']) &&
    hasSizes(ratings, ratingNames) &&
    (claims === null || hasSizes(claims, claimNames)) &&
    typeof kinds === 'object' &&
    Object.entries(kinds ?? {}).every(
      ([kind, powers]) => (assetTypes as readonly string[]).includes(kind) && hasSizes(powers, ['0', '1']),
    )
  );
};

const headChecks: Readonly<Record<keyof Omit<TickHead, 'site'>, HeadCheck>> = {
  v: (value) => value === 1,
  session: (value) => typeof value === 'string' && value.length > 0 && value.length <= 64,
  epoch: isCount,
  tick: isCount,
  simUs: (value) => Number.isSafeInteger(value),
  wallMs: isFinite,
  part: isCount,
  parts: (value) => isCount(value) && (value as number) >= 1 && (value as number) <= maxParts,
  first: (value) => typeof value === 'boolean',
  count: isCount,
  tookMs: isSize,
  lateSlots: isCount,
  unused: isCount,
  rateEffective: isSize,
};

function readHead(message: Buffer, end: number): TickHead {
  let value: unknown;
  try {
    value = JSON.parse(message.toString('utf8', 4, end));
  } catch {
    throw refused('has a head that is no JSON');
  }
  if (typeof value !== 'object' || value === null) throw refused('has a head that is no object');
  const head = value as Readonly<Record<string, unknown>>;
  for (const [name, fits] of Object.entries(headChecks)) {
    if (!Object.hasOwn(head, name) || !fits(head[name])) throw refused(`has no valid "${name}" in its head`);
  }
  if (head['site'] !== undefined && !isSite(head['site'])) throw refused('has no valid "site" in its head');
  const checked = value as TickHead;
  if (checked.part >= checked.parts) throw refused(`is part ${checked.part} of ${checked.parts}`);
  return checked;
}

/** A copy of some bytes, whose buffer begins with them: typed arrays want an aligned beginning. */
const copied = (message: Buffer, from: number, length: number): ArrayBuffer => {
  const copy = new ArrayBuffer(length);
  new Uint8Array(copy).set(message.subarray(from, from + length));
  return copy;
};

function checkIndexes(index: Uint32Array): void {
  let last = -1;
  for (const each of index) {
    if (each <= last) throw refused(`has device ${each} behind ${last}`);
    last = each;
  }
}

function checkCodes(codes: Uint8Array, words: readonly string[], name: string): void {
  const unknown = codes.find((code) => code >= words.length);
  if (unknown !== undefined) throw refused(`has ${unknown} as ${name}`);
}

function textsOf(message: Buffer, begin: number, lengths: Uint32Array): Buffer[] {
  const texts: Buffer[] = [];
  let at = begin;
  for (const length of lengths) {
    if (length < 2 || at + length > message.length) throw refused('has texts that do not add up to its length');
    texts.push(message.subarray(at, at + length));
    at += length;
  }
  if (at !== message.length) throw refused('has texts that do not add up to its length');
  return texts;
}

/**
 * Reads a part. The texts are views of the message; they are not parsed.
 *
 * @throws FleetError `refused` for a message that does not add up, and nothing else
 */
export function decodeTick(bytes: Uint8Array): TickPart {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (message.length > maxMessageBytes) throw refused(`is longer than ${maxMessageBytes} bytes`);
  if (message.length < 4) throw refused('is shorter than the length of its head');
  const headLength = message.readUInt32LE(0);
  const headEnd = 4 + headLength;
  if (headLength > maxHeadBytes || headEnd > message.length) throw refused(`has a head of ${headLength} bytes`);
  const head = readHead(message, headEnd);
  const { count } = head;
  const columnsEnd = headEnd + count * bytesPerDevice;
  if (columnsEnd > message.length) throw refused(`is too short for ${count} devices`);
  const floatsAt = headEnd + count * 8;
  const bytesAt = floatsAt + count * floatNames.length * 8;
  const floats = (position: number) => new Float64Array(copied(message, floatsAt + position * count * 8, count * 8));
  const codes = (position: number) => new Uint8Array(copied(message, bytesAt + position * count, count));
  const part: TickPart = {
    head,
    index: new Uint32Array(copied(message, headEnd, count * 4)),
    powerW: floats(0),
    reactiveVar: floats(1),
    absorbW: floats(2),
    injectW: floats(3),
    soc: floats(4),
    inverterState: codes(0),
    alarmSeverity: codes(1),
    json: textsOf(message, columnsEnd, new Uint32Array(copied(message, headEnd + count * 4, count * 4))),
  };
  checkIndexes(part.index);
  checkCodes(part.inverterState, inverterStates, 'inverter state');
  checkCodes(part.alarmSeverity, severityCodes, 'severity');
  return part;
}
