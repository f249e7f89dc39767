/** Documents of a head-end: each function makes one resource of IEEE 2030.5-2018 from what the head-end knows. */
import { documentOf, element, leaf, link } from './markup.ts';
import type { Child } from './markup.ts';
import type { Control, Curve, DefaultControl, EndDevice, Fsa, Modes, ModeValue, Program, Rates } from './model.ts';

/** Order of the modes in DERControlBase; the last five belong to CSIP-AUS. */
const modeOrder = [
  ...['opModConnect', 'opModEnergize', 'opModFixedPFAbsorbW', 'opModFixedPFInjectW', 'opModFixedVar', 'opModFixedW'],
  ...['opModFreqDroop', 'opModFreqWatt', 'opModHFRTMayTrip', 'opModHFRTMustTrip', 'opModHVRTMayTrip'],
  ...['opModHVRTMomentaryCessation', 'opModHVRTMustTrip', 'opModLFRTMayTrip', 'opModLFRTMustTrip', 'opModLVRTMayTrip'],
  ...['opModLVRTMomentaryCessation', 'opModLVRTMustTrip', 'opModMaxLimW', 'opModTargetVar', 'opModTargetW'],
  ...['opModVoltVar', 'opModVoltWatt', 'opModWattPF', 'opModWattVar', 'rampTms'],
  ...['opModImpLimW', 'opModExpLimW', 'opModGenLimW', 'opModLoadLimW', 'opModStorageTargetW'],
];
const isCsipAus = (mode: string) => modeOrder.indexOf(mode) > modeOrder.indexOf('rampTms');
const isCurve = (value: ModeValue): value is Curve => typeof value === 'object' && 'curveType' in value;

export const now = (ms: number): number => Math.floor(ms / 1000);

function modeElement(mode: string, value: ModeValue, curveHref: (curve: Curve) => string): string {
  const name = isCsipAus(mode) ? `csipaus:${mode}` : mode;
  if (typeof value !== 'object') return leaf(name, value) ?? '';
  if (isCurve(value)) return element(name, { href: curveHref(value) });
  return element(
    name,
    {},
    Object.entries(value).map(([member, content]) => leaf(member, content)),
  );
}

/** A base with the modes in the order of the schema. */
function controlBase(modes: Modes, curveHref: (curve: Curve) => string): string {
  const unknown = Object.keys(modes).filter((mode) => !modeOrder.includes(mode));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: no control mode`);
  const present = modeOrder.filter((mode) => mode in modes);
  return element(
    'DERControlBase',
    {},
    present.map((mode) => modeElement(mode, modes[mode] as ModeValue, curveHref)),
  );
}

export const deviceCapability = (rates: Rates, endDevices: number, mirrors: number): string =>
  element('DeviceCapability', { href: '/dcap', pollRate: rates.dcap }, [
    link('TimeLink', '/tm'),
    link('EndDeviceListLink', '/edev', endDevices),
    link('MirrorUsagePointListLink', '/mup', mirrors),
  ]);

export interface TimeFacts {
  readonly currentS: number;
  readonly quality: number;
  readonly tzOffsetS: number;
  readonly dstOffsetS: number;
  readonly dstStartS: number;
  readonly dstEndS: number;
  readonly pollRate?: number | undefined;
}

export function time(href: string, facts: TimeFacts): string {
  const { currentS, dstStartS, dstEndS, dstOffsetS, tzOffsetS } = facts;
  const summer = currentS >= dstStartS && currentS < dstEndS;
  return element('Time', { href, pollRate: facts.pollRate }, [
    leaf('currentTime', currentS),
    leaf('dstEndTime', dstEndS),
    leaf('dstOffset', dstOffsetS),
    leaf('dstStartTime', dstStartS),
    leaf('localTime', currentS + tzOffsetS + (summer ? dstOffsetS : 0)),
    leaf('quality', facts.quality),
    leaf('tzOffset', tzOffsetS),
  ]);
}

/** `all` of each link of an EndDevice. */
export interface EndDeviceCounts {
  readonly ders: number;
  readonly fsas: number;
  readonly subscriptions: number;
  readonly logEvents: number;
}

export function endDevice(device: EndDevice, counts: EndDeviceCounts, rates: Rates, subscribable: number): string {
  const at = `/edev/${device.id}`;
  const linked = (name: string, path: string, all?: number): Child =>
    device.without.has(name) ? undefined : link(name, `${at}/${path}`, all);
  return element('EndDevice', { href: at, subscribable }, [
    linked('DERListLink', 'der', counts.ders),
    linked('DeviceInformationLink', 'di'),
    leaf('lFDI', device.lfdi),
    linked('LogEventListLink', 'lel', counts.logEvents),
    leaf('sFDI', device.sfdi),
    leaf('changedTime', device.changedS),
    leaf('enabled', device.enabled),
    linked('FunctionSetAssignmentsListLink', 'fsa', counts.fsas),
    leaf('postRate', rates.endDevicePost),
    device.pin === null ? undefined : linked('RegistrationLink', 'rg'),
    linked('SubscriptionListLink', 'sub', counts.subscriptions),
    linked('csipaus:ConnectionPointLink', 'cp'),
  ]);
}

export const registration = (href: string, registeredS: number, pin: number): string =>
  element('Registration', { href, pollRate: 3600 }, [leaf('dateTimeRegistered', registeredS), leaf('pIN', pin)]);

export const der = (at: string): string =>
  element('DER', { href: at }, [
    link('DERAvailabilityLink', `${at}/dera`),
    link('DERCapabilityLink', `${at}/dercap`),
    link('DERSettingsLink', `${at}/derg`),
    link('DERStatusLink', `${at}/ders`),
  ]);

export const functionSetAssignments = (at: string, fsa: Fsa, programs: number, subscribable: number): string =>
  element('FunctionSetAssignments', { href: at, subscribable }, [
    link('DERProgramListLink', `${at}/derp`, programs),
    link('TimeLink', fsa.timeHref ?? '/tm'),
    leaf('mRID', fsa.mRID),
    leaf('description', fsa.description),
    leaf('version', 0),
  ]);

export const program = (at: string, { mRID, ...known }: Program, controls: number, subscribable: number): string =>
  element('DERProgram', { href: at, subscribable }, [
    leaf('mRID', mRID),
    leaf('description', known.description),
    leaf('version', 0),
    known.default === null ? undefined : link('DefaultDERControlLink', `${at}/dderc`),
    link('DERControlListLink', `${at}/derc`, controls),
    link('DERCurveListLink', `${at}/dc`, known.curves.length),
    leaf('primacy', known.primacy),
  ]);

export function control(at: string, known: Control, nowS: number, replyTo: string, subscribable: number): string {
  const running = known.startS <= nowS ? 1 : 0;
  const asksResponse = known.responseRequired !== undefined;
  const attributes = {
    href: `${at}/derc/${known.id}`,
    replyTo: asksResponse ? (known.replyTo ?? replyTo) : undefined,
    responseRequired: known.responseRequired,
    subscribable,
  };
  return element('DERControl', attributes, [
    leaf('mRID', known.mRID),
    leaf('description', known.description),
    leaf('version', 0),
    leaf('creationTime', known.creationS),
    element('EventStatus', {}, [
      leaf('currentStatus', known.status ?? running),
      leaf('dateTime', known.status === null ? Math.max(known.creationS, running * known.startS) : known.statusS),
      leaf('potentiallySuperseded', known.potentiallySuperseded),
    ]),
    element('interval', {}, [leaf('duration', known.durationS), leaf('start', known.startS)]),
    leaf('randomizeDuration', known.randomizeDurationS),
    leaf('randomizeStart', known.randomizeStartS),
    controlBase(known.modes, ({ id }) => `${at}/dc/${id}`),
    leaf('deviceCategory', known.deviceCategory),
  ]);
}

export const defaultControl = (at: string, known: DefaultControl, subscribable: number): string =>
  element('DefaultDERControl', { href: `${at}/dderc`, subscribable }, [
    leaf('mRID', known.mRID),
    leaf('description', 'default'),
    leaf('version', 0),
    controlBase(known.modes, ({ id }) => `${at}/dc/${id}`),
    ...Object.entries(known.settings).map(([name, value]) => leaf(name, value)),
  ]);

export const curve = (at: string, known: Curve): string =>
  element('DERCurve', { href: `${at}/dc/${known.id}` }, [
    leaf('mRID', known.mRID),
    leaf('description', `curve ${known.id}`),
    leaf('version', 0),
    leaf('autonomousVRefEnable', known.autonomousVRefEnable),
    leaf('autonomousVRefTimeConstant', known.autonomousVRefTimeConstant),
    leaf('creationTime', 0),
    ...known.points.map(({ x, y, excitation }) =>
      element('CurveData', {}, [leaf('excitation', excitation), leaf('xvalue', x), leaf('yvalue', y)]),
    ),
    leaf('curveType', known.curveType),
    leaf('openLoopTms', known.openLoopTms),
    leaf('vRef', known.vRef),
    leaf('xMultiplier', known.xMultiplier),
    leaf('yMultiplier', known.yMultiplier),
    leaf('yRefType', known.yRefType),
  ]);

export interface ListFacts {
  readonly href: string;
  readonly pollRate?: number | undefined;
  readonly subscribable?: number | undefined;
}

/** One page of a list, by the query `s` (default 0) and `l` (default 1, at most `largestPage`). */
export function list(
  name: string,
  { href, pollRate, subscribable }: ListFacts,
  items: readonly string[],
  query: URLSearchParams,
  largestPage: number,
): string {
  const start = Number(query.get('s') ?? 0);
  const page = items.slice(start, start + Math.min(Number(query.get('l') ?? 1), largestPage));
  return element(name, { href, subscribable, all: items.length, results: page.length, pollRate }, page);
}

export const errorPage = (reasonCode: number): string =>
  documentOf(element('Error', {}, [leaf('reasonCode', reasonCode)]));
