/** Checks of the test definitions against what a head-end has received; each answers what is wrong, or null. */
import type { Json } from '../../support/http.ts';
import { parsed } from '../../csip/head-end/bodies.ts';
import type { HeadEnd } from '../../csip/head-end/head-end.ts';
import type { Control, ReadingRecord } from '../../csip/head-end/model.ts';
import type { Parameters, Typed, Value } from './definitions.ts';
import { resolved } from './expression.ts';
import type { Names } from './expression.ts';

export interface Checked {
  readonly headEnd: HeadEnd;
  /** controls by their tag */
  readonly tags: ReadonlyMap<string, Control>;
  /** steps that are not done */
  readonly unfinished: () => readonly string[];
  readonly names: Names;
}

type Check = (checked: Checked, parameters: Parameters) => string | null;

/** The enterprise number of the client. */
export const pen = 40_732;

/** The last document that the client has put, by the end of its path. */
export function lastDocument(headEnd: HeadEnd, end: string): Json {
  const put = headEnd.requests.findLast(
    ({ method, path, status }) => method === 'PUT' && path.endsWith(end) && status < 300,
  );
  return put === undefined ? null : parsed(put.body).value;
}

/** A member of a document as a number; undefined without it. */
export function numberOf(document: Json, member: string): number | undefined {
  const found: Json = document?.[member];
  if (found === undefined) return undefined;
  const { value, displacement, multiplier } = found as Readonly<Record<string, string | undefined>>;
  const amount = value ?? displacement;
  return amount === undefined ? Number(found) : Number(amount) * 10 ** Number(multiplier ?? 0);
}

const documentCheck =
  (end: string): Check =>
  ({ headEnd, names }, parameters) => {
    const document = lastDocument(headEnd, end);
    if (document === null) return `nothing was written to ${end}`;
    for (const [name, wanted] of Object.entries(parameters)) {
      const wrong = memberCheck(document, name, wanted, names);
      if (wrong !== null) return wrong;
    }
    return null;
  };

/** Bits of a number in hex: all of a mask, none of it, or a single one. */
function areBits(text: string, form: string, wanted: Value): boolean {
  if (form === 'set' || form === 'unset') {
    const mask = BigInt(`0x${String(wanted)}`);
    const bits = text === '' ? 0n : BigInt(`0x${text}`);
    return (bits & mask) === (form === 'set' ? mask : 0n);
  }
  const bit = (Number.parseInt(text, 16) >> Number(form.slice(3))) & 1;
  return text !== '' && Boolean(bit) === wanted;
}

function memberCheck(document: Json, name: string, wanted: Value, names: Names): string | null {
  const [, member, form] = /^(\w+?)(?:_(set|unset|bit\d))?$/.exec(name) ?? [];
  if (member === undefined) return `${name} is not understood`;
  const found: Json = document[member];
  const text = String(found?.value ?? found ?? '');
  if (form !== undefined) return areBits(text, form, wanted) ? null : `${member} is ${text}`;
  const own: Names = (known) => (known === 'this' ? numberOf(document, member) : names(known));
  if (typeof wanted === 'string' && found === undefined) return `${member} is missing`;
  const value = resolved(wanted, own);
  if (typeof wanted === 'string') return value === true ? null : `${member} is not as ${wanted} wants it`;
  if (typeof value === 'boolean') return (found !== undefined) === value ? null : `${member} is ${text || 'missing'}`;
  const number = member === 'genConnectStatus' || member === 'alarmStatus' ? Number.parseInt(text, 16) : Number(text);
  return number === value ? null : `${member} is ${text}`;
}

/** MirrorUsagePoint.roleFlags of CSIP-AUS. */
const siteRole = 0x03;
const derRole = 0x49;
const endsWithPen = new RegExp(`${String(pen).padStart(8, '0')}$`);

/** Whole minutes, and mRIDs that end with the enterprise number. @param stored energy has no duration */
function formWrong(found: readonly ReadingRecord[], mirrorIds: readonly string[], stored: boolean): string | null {
  const odd = found.find(
    ({ startS, durationS }) => (startS ?? 1) % 60 !== 0 || (!stored && (durationS ?? 1) % 60 !== 0),
  );
  if (odd !== undefined) return `a reading of ${String(odd.durationS)} s begins at ${String(odd.startS)}`;
  const mrid = [...mirrorIds, ...found.map(({ mRID }) => mRID)].find((each) => !endsWithPen.test(each));
  return mrid === undefined ? null : `mRID ${mrid}`;
}

/** Watts as the definitions count them: of a site positive when it imports, of a DER when it generates. */
function level({ value, type }: ReadingRecord, site: boolean): number {
  const amount = value * 10 ** (type['powerOfTenMultiplier'] ?? 0);
  const imported = type['flowDirection'] === 19 ? -amount : amount;
  return site ? imported : -imported;
}

const readings =
  (site: boolean | null, uom: number): Check =>
  ({ headEnd, names }, parameters) => {
    const roles = site === null ? [siteRole, derRole] : [site ? siteRole : derRole];
    const mirrors = headEnd.mirrors.filter(({ roleFlags }) => roles.includes(Number.parseInt(roleFlags, 16)));
    const stored = uom === 72;
    const wanted = stored ? { uom, kind: 12, dataQualifier: 0 } : { uom, dataQualifier: 2 };
    let found = headEnd.readings.filter(
      ({ mup, type }) =>
        mirrors.some(({ id }) => id === mup) && Object.entries(wanted).every(([name, value]) => type[name] === value),
    );
    if (found.length < Number(parameters['minimum_count'] ?? 1)) return `${found.length} readings`;
    const form = formWrong(
      found,
      mirrors.map(({ mRID }) => mRID),
      stored,
    );
    if (form !== null) return form;
    const { window_seconds: windowS, latest_reading_only: latest } = parameters;
    if (typeof windowS === 'number') found = found.filter(({ atS }) => atS > headEnd.nowS - windowS);
    if (latest === true) found = found.slice(-1);
    const least = resolved(parameters['minimum_level'], names);
    const most = resolved(parameters['maximum_level'], names);
    const wrong = found
      .map((reading) => level(reading, site === true))
      .find((amount) => amount < Number(least ?? -Infinity) || amount > Number(most ?? Infinity));
    return wrong === undefined ? null : `a reading of ${wrong} is not within ${String(least)} and ${String(most)}`;
  };

function pollCheck({ headEnd }: Checked, parameters: Parameters): string | null {
  const interval = Number(parameters['poll_interval_seconds']);
  const method = String(parameters['request_type_str']);
  for (const endpoint of parameters['endpoints'] as readonly string[]) {
    const pages = headEnd.sent(method, endpoint).filter(({ query }) => !/[?&]s=[1-9]/.test(query));
    const times = pages.map(({ atS }) => atS);
    const missed = times.slice(1).filter((atS, index) => atS - (times[index] ?? 0) > 1.5 * interval).length;
    if (times.length < 2) return `${endpoint}: ${times.length} requests`;
    if (missed > Math.floor(times.length / 5)) return `${endpoint}: ${missed} of ${times.length} polls came too late`;
  }
  return null;
}

const resourcePaths: Readonly<Record<string, RegExp>> = {
  DERControlList: /\/derc$/,
  DERControl: /\/derc\/\d+$/,
};

function requestCheck({ headEnd }: Checked, parameters: Parameters): string | null {
  const names = parameters['resources'] as readonly string[];
  const counts = names.map((name) => {
    const path = resourcePaths[name];
    if (path === undefined) throw new Error(`${name}: not supported`);
    return headEnd.sent('GET', path).filter(({ query }) => !/[?&]s=[1-9]/.test(query)).length;
  });
  const count = counts.reduce((sum, each) => sum + each, 0);
  const { minimum_count: least = 0, maximum_count: most = Infinity } = parameters;
  return count >= Number(least) && count <= Number(most) ? null : `${count} requests of ${names.join()}`;
}

function responseCheck({ headEnd, tags }: Checked, parameters: Parameters): string | null {
  const { latest, status, all, subject_tag: tag, exists = true } = parameters;
  const mRID = typeof tag === 'string' ? tags.get(tag)?.mRID : undefined;
  const about = `${String(status)} to ${String(tag ?? 'any control')}`;
  if (all === true) {
    const silent = headEnd.programs
      .flatMap(({ controls }) => controls)
      .find((control) => !headEnd.responses.some((known) => known.mRID === control.mRID && known.status === status));
    return silent === undefined ? null : `no response ${String(status)} to ${silent.mRID}`;
  }
  const toIt = headEnd.responses.filter((known) => tag === undefined || known.mRID === mRID);
  const candidates = latest === true ? toIt.slice(-1) : toIt;
  return candidates.some((known) => status === undefined || known.status === status) === exists
    ? null
    : `${exists === true ? 'no' : 'a'} response ${about}`;
}

function endDeviceCheck({ headEnd }: Checked, parameters: Parameters): string | null {
  const device = headEnd.endDevices.at(-1);
  if (device === undefined) return 'there is no EndDevice';
  const registering = headEnd.sent('POST', '/edev').find(({ status }) => status === 201);
  const { has_connection_point_id: point, deviceCategory_anyset: category, check_lfdi: lfdi } = parameters;
  if (point === true && lastDocument(headEnd, '/cp')?.connectionPointId === undefined) return 'no connection point';
  if (lfdi === true && !/^[0-9A-F]{40}$/.test(device.lfdi)) return `LFDI ${device.lfdi}`;
  if (lfdi === true && device.owner !== device.lfdi && !endsWithPen.test(device.lfdi)) return `LFDI ${device.lfdi}`;
  if (typeof category === 'string' || typeof category === 'number') {
    const sent = registering === undefined ? '0' : String(parsed(registering.body).value.deviceCategory ?? '0');
    if ((Number.parseInt(sent, 16) & Number.parseInt(String(category), 16)) === 0) return `deviceCategory ${sent}`;
  }
  return null;
}

const checks: Readonly<Record<string, Check>> = {
  'all-steps-complete': ({ unfinished }, { ignored_steps: ignored }) => {
    const left = unfinished().filter((name) => !Array.isArray(ignored) || !ignored.includes(name));
    return left.length === 0 ? null : `not done: ${left.join(', ')}`;
  },
  'all-notifications-transmitted': ({ headEnd: { notifier } }) => {
    if (notifier.sent.length === 0) return 'nobody was notified';
    const failed = notifier.sent.filter(({ status }) => status < 200 || status >= 300).length;
    return failed === 0 ? null : `${failed} notifications were refused`;
  },
  'end-device-contents': endDeviceCheck,
  'end-device-count': ({ headEnd }, { minimum_count: least = 0, maximum_count: most = Infinity }) => {
    // the aggregator is not counted
    const count = headEnd.endDevices.filter(
      ({ owner, lfdi }) => headEnd.endDevices.length === 1 || owner !== lfdi,
    ).length;
    return count >= Number(least) && count <= Number(most) ? null : `${count} EndDevices`;
  },
  'der-settings-contents': documentCheck('/derg'),
  'der-capability-contents': documentCheck('/dercap'),
  'der-status-contents': documentCheck('/ders'),
  'readings-voltage': readings(null, 29),
  'readings-site-active-power': readings(true, 38),
  'readings-site-reactive-power': readings(true, 63),
  'readings-der-active-power': readings(false, 38),
  'readings-der-reactive-power': readings(false, 63),
  'readings-der-stored-energy': readings(false, 72),
  'subscription-contents': ({ headEnd }, { subscribed_resource: wanted }) =>
    headEnd.subscriptions.some(({ resource }) => resource === wanted) ? null : `no subscription to ${String(wanted)}`,
  'response-contents': responseCheck,
  'all-polls-at-correct-time': pollCheck,
  'resource-requests': requestCheck,
};

export const supportsCheck = ({ type, parameters = {} }: Typed): boolean =>
  type in checks &&
  !(
    type === 'resource-requests' &&
    (parameters['resources'] as readonly string[]).some((name) => !(name in resourcePaths))
  );

/** What is wrong, or null. */
export function check(checked: Checked, { type, parameters = {} }: Typed): string | null {
  const wrong = checks[type]?.(checked, parameters) ?? null;
  return wrong === null ? null : `${type}: ${wrong}`;
}
