/**
 * Several devices as one DER. CSIP-AUS tests a site with several DERs by one DER of its EndDevice (procedures MUL-01,
 * MUL-02, MUL-03): ratings and powers are sums, a state is that of the most active device, and a limit of voltage or of
 * grid protection is the narrowest.
 */
import type { DERAvailability, DERCapability, DERSettings, DERStatus } from '../xml/documents.ts';
import type { DeviceReports, MeterNow } from './model.ts';
import { StateTimes } from './status.ts';
import { hexBits, perCent, powerFactor, present, signed16, unsigned16 } from './units.ts';
import type { Scaled } from './units.ts';

/** DERType: virtual or mixed DER. */
const mixedType = 1;
/** inverterStatus, most active first: running, throttled, starting, stopping, standby, sleeping, fault, off. */
const byActivity = [4, 5, 3, 6, 8, 2, 7, 1] as const;
const worstFirst = ['FAULT', 'ALARM', 'OK'] as const;

type Listed<T> = readonly (T | undefined)[];

const defined = <T>(values: Listed<T>): readonly T[] => values.flatMap((value) => (value === undefined ? [] : [value]));

/** Combines the values of the devices that have one; undefined: none has. */
function combined(values: Listed<number>, choose: (...values: number[]) => number): number | undefined {
  const all = defined(values);
  return all.length === 0 ? undefined : choose(...all);
}
const minOf = (values: Listed<number>) => combined(values, Math.min);
const maxOf = (values: Listed<number>) => combined(values, Math.max);
const total = (values: Listed<number>) => combined(values, (...all) => all.reduce((sum, value) => sum + value, 0));

const unscaled = ({ multiplier, value }: Partial<Scaled>) => Number(`${value ?? 0}e${multiplier ?? 0}`);
const allUnscaled = (values: Listed<Partial<Scaled>>) => values.map((each) => each && unscaled(each));
const signedSum = (values: Listed<Partial<Scaled>>) => signed16(total(allUnscaled(values)));
const magnitudeSum = (values: Listed<Partial<Scaled>>) => unsigned16(total(allUnscaled(values)));
const minMagnitude = (values: Listed<Partial<Scaled>>) => unsigned16(minOf(allUnscaled(values)));
const maxMagnitude = (values: Listed<Partial<Scaled>>) => unsigned16(maxOf(allUnscaled(values)));

/** The lowest power factor that every device can keep. */
function commonFactor(values: Listed<{ readonly displacement: number; readonly multiplier: number }>) {
  return powerFactor(maxOf(values.map((each) => each && unscaled({ ...each, value: each.displacement }))));
}

/** Bits that are set for any device. */
function anyBits(values: Listed<string>): string | undefined {
  const [first, ...others] = defined(values);
  if (first === undefined) return undefined;
  const bits = others.reduce((sum, hex) => sum | BigInt(`0x${hex}`), BigInt(`0x${first}`));
  return hexBits(Number(bits), first.length / 2);
}

/** Weighted mean of the values; without weights all count alike. */
function mean(values: Listed<number>, weights: Listed<number>): number | undefined {
  const weighed = values.flatMap((value, i) => (value === undefined ? [] : [{ value, weight: weights[i] ?? 0 }]));
  if (weighed.length === 0) return undefined;
  const sum = weighed.reduce((all, { weight }) => all + weight, 0);
  if (sum <= 0) return weighed.reduce((all, { value }) => all + value, 0) / weighed.length;
  return weighed.reduce((all, { value, weight }) => all + value * weight, 0) / sum;
}

const hundredthsOf = (value: number | undefined) => perCent(value === undefined ? undefined : value / 100);

function capabilityOf(all: readonly DERCapability[]): DERCapability {
  const of = <Name extends keyof DERCapability>(name: Name) => all.map((each) => each[name]);
  const [type = mixedType, ...otherTypes] = of('type');
  return {
    modesSupported: anyBits(of('modesSupported')) ?? hexBits(0, 4),
    rtgMaxW: signedSum(of('rtgMaxW')) ?? { multiplier: 0, value: 0 },
    type: otherTypes.every((other) => other === type) ? type : mixedType,
    ...present({
      modesSupported2: anyBits(of('modesSupported2')),
      rtgAbnormalCategory: minOf(of('rtgAbnormalCategory')),
      rtgMaxA: magnitudeSum(of('rtgMaxA')),
      rtgMaxAh: magnitudeSum(of('rtgMaxAh')),
      rtgMaxChargeRateVA: magnitudeSum(of('rtgMaxChargeRateVA')),
      rtgMaxChargeRateW: signedSum(of('rtgMaxChargeRateW')),
      rtgMaxDischargeRateVA: magnitudeSum(of('rtgMaxDischargeRateVA')),
      rtgMaxDischargeRateW: signedSum(of('rtgMaxDischargeRateW')),
      rtgMaxV: minMagnitude(of('rtgMaxV')),
      rtgMaxVA: magnitudeSum(of('rtgMaxVA')),
      rtgMaxVar: signedSum(of('rtgMaxVar')),
      rtgMaxVarNeg: signedSum(of('rtgMaxVarNeg')),
      rtgMaxWh: magnitudeSum(of('rtgMaxWh')),
      rtgMinPFOverExcited: commonFactor(of('rtgMinPFOverExcited')),
      rtgMinPFUnderExcited: commonFactor(of('rtgMinPFUnderExcited')),
      rtgMinV: maxMagnitude(of('rtgMinV')),
      rtgNormalCategory: minOf(of('rtgNormalCategory')),
      rtgOverExcitedPF: commonFactor(of('rtgOverExcitedPF')),
      rtgOverExcitedW: signedSum(of('rtgOverExcitedW')),
      rtgReactiveSusceptance: magnitudeSum(of('rtgReactiveSusceptance')),
      rtgUnderExcitedPF: commonFactor(of('rtgUnderExcitedPF')),
      rtgUnderExcitedW: signedSum(of('rtgUnderExcitedW')),
      rtgVNom: defined(of('rtgVNom'))[0],
      doeModesSupported: anyBits(of('doeModesSupported')),
      vppModesSupported: anyBits(of('vppModesSupported')),
    }),
  };
}

function settingsOf(all: readonly DERSettings[], updatedS: number): DERSettings {
  const of = <Name extends keyof DERSettings>(name: Name) => all.map((each) => each[name]);
  return {
    setGradW: minOf(of('setGradW')) ?? 0,
    setMaxW: signedSum(of('setMaxW')) ?? { multiplier: 0, value: 0 },
    updatedTime: updatedS,
    ...present({
      modesEnabled: anyBits(of('modesEnabled')),
      modesEnabled2: anyBits(of('modesEnabled2')),
      setESDelay: maxOf(of('setESDelay')),
      setESHighFreq: minOf(of('setESHighFreq')),
      setESHighVolt: minOf(of('setESHighVolt')),
      setESLowFreq: maxOf(of('setESLowFreq')),
      setESLowVolt: maxOf(of('setESLowVolt')),
      setESRampTms: maxOf(of('setESRampTms')),
      setESRandomDelay: maxOf(of('setESRandomDelay')),
      setSoftGradW: minOf(of('setSoftGradW')),
      setMaxA: magnitudeSum(of('setMaxA')),
      setMaxAh: magnitudeSum(of('setMaxAh')),
      setMaxChargeRateVA: magnitudeSum(of('setMaxChargeRateVA')),
      setMaxChargeRateW: signedSum(of('setMaxChargeRateW')),
      setMaxDischargeRateVA: magnitudeSum(of('setMaxDischargeRateVA')),
      setMaxDischargeRateW: signedSum(of('setMaxDischargeRateW')),
      setMaxV: minMagnitude(of('setMaxV')),
      setMaxVA: magnitudeSum(of('setMaxVA')),
      setMaxVar: signedSum(of('setMaxVar')),
      setMaxVarNeg: signedSum(of('setMaxVarNeg')),
      setMaxWh: magnitudeSum(of('setMaxWh')),
      setMinPFOverExcited: commonFactor(of('setMinPFOverExcited')),
      setMinPFUnderExcited: commonFactor(of('setMinPFUnderExcited')),
      setMinV: maxMagnitude(of('setMinV')),
      setMinWh: magnitudeSum(of('setMinWh')),
      setVNom: defined(of('setVNom'))[0],
      setVRef: defined(of('setVRef'))[0],
      doeModesEnabled: anyBits(of('doeModesEnabled')),
      vppModesEnabled: anyBits(of('vppModesEnabled')),
    }),
  };
}

function statusOf(all: readonly DERStatus[], ratedWh: Listed<number>, times: StateTimes, readingS: number): DERStatus {
  type Stated = { readonly [Name in keyof DERStatus as Name extends `${string}tatus` ? Name : never]: DERStatus[Name] };
  const of = <Name extends Exclude<keyof Stated, 'alarmStatus'>>(name: Name) =>
    all.map((each) => each[name]?.value as NonNullable<DERStatus[Name]>['value'] | undefined);
  const stated = <T>(name: string, value: T | undefined) => times.stated(name, value, readingS);
  const inverters = of('inverterStatus');
  const words = of('manufacturerStatus');
  return {
    readingTime: readingS,
    ...present({
      alarmStatus: anyBits(all.map(({ alarmStatus }) => alarmStatus)),
      connectStatus: stated('connect', anyBits(of('connectStatus'))),
      genConnectStatus: stated('gen', anyBits(of('genConnectStatus'))),
      storConnectStatus: stated('stor', anyBits(of('storConnectStatus'))),
      inverterStatus: stated(
        'inverter',
        byActivity.find((state) => inverters.includes(state)),
      ),
      // 1 is remote: controls act on some device
      localControlModeStatus: stated('local', maxOf(of('localControlModeStatus'))),
      manufacturerStatus: stated(
        'manufacturer',
        worstFirst.find((word) => words.includes(word)),
      ),
      operationalModeStatus: stated('operational', maxOf(of('operationalModeStatus'))),
      stateOfChargeStatus: stated('soc', hundredthsOf(mean(of('stateOfChargeStatus'), ratedWh))),
      storageModeStatus: stated('storage', minOf(of('storageModeStatus'))),
    }),
  };
}

function availabilityOf(
  all: readonly DERAvailability[],
  settings: readonly DERSettings[],
  readingS: number,
): DERAvailability {
  const of = <Name extends keyof DERAvailability>(name: Name) => all.map((each) => each[name]);
  const seconds = (value: number | undefined) => (value === undefined ? undefined : Math.floor(value));
  const maxW = allUnscaled(settings.map(({ setMaxW }) => setMaxW));
  const maxChargeW = allUnscaled(settings.map(({ setMaxChargeRateW }) => setMaxChargeRateW));
  return {
    readingTime: readingS,
    ...present({
      availabilityDuration: seconds(mean(of('availabilityDuration'), allUnscaled(of('statWAvail')))),
      maxChargeDuration: seconds(mean(of('maxChargeDuration'), maxChargeW)),
      reserveChargePercent: hundredthsOf(mean(of('reserveChargePercent'), maxChargeW)),
      reservePercent: hundredthsOf(mean(of('reservePercent'), maxW)),
      statVarAbsorbAvail: magnitudeSum(of('statVarAbsorbAvail')),
      statVarAvail: signedSum(of('statVarAvail')),
      statWAbsorbAvail: magnitudeSum(of('statWAbsorbAvail')),
      statWAvail: signedSum(of('statWAvail')),
    }),
  };
}

/** Sums of the powers and energies of all devices, with the voltages and the frequency of the first. */
function meterOf(all: readonly MeterNow[]): MeterNow {
  const sum = (of: (meter: MeterNow) => number) => all.reduce((value, meter) => value + of(meter), 0);
  const totals = all.flatMap((meter) => meter.totals ?? []);
  const stored = all.flatMap((meter) => meter.storedWh ?? []);
  const sumOf = (name: keyof NonNullable<MeterNow['totals']>) => totals.reduce((value, each) => value + each[name], 0);
  return {
    w: sum(({ w }) => w),
    var: sum((meter) => meter.var),
    totals:
      totals.length < all.length
        ? null
        : {
            injectedWh: sumOf('injectedWh'),
            absorbedWh: sumOf('absorbedWh'),
            injectedVarh: sumOf('injectedVarh'),
            absorbedVarh: sumOf('absorbedVarh'),
          },
    countWh: Math.max(...all.map(({ countWh }) => countWh)),
    countVarh: Math.max(...all.map(({ countVarh }) => countVarh)),
    storedWh: stored.length === 0 ? null : stored.reduce((value, each) => value + each, 0),
    volts: all[0]?.volts ?? new Map(),
    hz: all[0]?.hz ?? null,
  };
}

/**
 * The reports of several devices as those of one DER; facts of a single device come from the first.
 * @param first the first of `all`
 * @param reportsState false for a device without power: it reports no state, but keeps its ratings
 */
export function createTogether(
  first: DeviceReports,
  all: readonly DeviceReports[],
  reportsState: (deviceIndex: number) => boolean,
): DeviceReports {
  const times = new StateTimes();
  const reporting = () => {
    const reports = all.filter(({ deviceIndex }) => reportsState(deviceIndex));
    return reports.length > 0 ? reports : all;
  };
  let previousWrites: readonly (object | null)[] = [];
  let write: object = {};
  return {
    deviceIndex: first.deviceIndex,
    deviceCategory: all.reduce((bits, each) => bits | each.deviceCategory, 0),
    capability: () => capabilityOf(all.map((each) => each.capability())),
    settings: (updatedS) =>
      settingsOf(
        all.map((each) => each.settings(updatedS)),
        updatedS,
      ),
    status: (readingS) => {
      const reports = reporting();
      const ratedWh = allUnscaled(reports.map((each) => each.capability().rtgMaxWh));
      return statusOf(
        reports.map((each) => each.status(readingS)),
        ratedWh,
        times,
        readingS,
      );
    },
    availability: (readingS) => {
      const reports = reporting();
      const settings = reports.map((each) => each.settings(readingS));
      return availabilityOf(
        reports.map((each) => each.availability(readingS)),
        settings,
        readingS,
      );
    },
    information: (installedS) => first.information(installedS),
    deviceStatus: (changedS) => first.deviceStatus(changedS),
    powerStatus: (changedS) => first.powerStatus(changedS),
    meter: () => meterOf(all.map((each) => each.meter())),
    marks: () => {
      const marks = all.map((each) => each.marks());
      const currentWrites = marks.map((each) => each.write);
      if (
        currentWrites.length !== previousWrites.length ||
        currentWrites.some((each, i) => each !== previousWrites[i])
      ) {
        previousWrites = currentWrites;
        write = {};
      }
      const states = marks
        .map(({ states: state }, i) => `${state} ${reportsState(all[i]?.deviceIndex ?? 0)}`)
        .join(', ');
      return { states, write };
    },
    get alarms() {
      return new Set(all.flatMap((each) => [...each.alarms]));
    },
  };
}
