/** Measurements of the classic models, derived from those of the current models in the same tick. */
import type { SimTime } from '../../core/time/clock.ts';
import { microsPerSecond } from '../../core/time/clock.ts';
import { acc32Amount } from '../../sunspec/map/codec.ts';
import type { MeasurementView } from '../../sunspec/map/view.ts';
import { m122 } from '../../sunspec/models/m122.ts';
import { isConnected } from '../inverter/service.ts';
import { availablePower } from '../inverter/power-bounds.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { Settings } from '../inverter/settings.ts';
import type { TripKind } from '../inverter/trip.ts';
import { forEachInput } from './chain.ts';

type Integer = NonNullable<MeasurementView['m103']>;
type Float = NonNullable<MeasurementView['m113']>;
type State = Integer['St'];

const states = {
  OFF: 'OFF',
  SLEEPING: 'SLEEPING',
  STARTING: 'STARTING',
  RUNNING: 'MPPT',
  THROTTLED: 'THROTTLED',
  SHUTTING_DOWN: 'SHUTTING_DOWN',
  FAULT: 'FAULT',
  STANDBY: 'STANDBY',
} as const satisfies Record<NonNullable<MeasurementView['m701']['InvSt']>, State>;

/** Alarms that 701 and the classic models have at the same bits; the last bit of 701 has no counterpart. */
const alarmBits = 0xffff;
/** Alarms of ports that 714 and 160 have at the same bits. */
const portBits = 0x70_f0eb;
/** The year 2000, from which 122.Tms counts, s since 1970. */
const year2000S = 946_684_800;

/** Percent; negative if one of active and reactive power is injected and the other absorbed, as classic models have it. */
function powerFactorPct({ m701: { PF, W, Var } }: MeasurementView): number {
  const sign = (Var ?? 0) * (W ?? 0) < 0 ? -1 : 1;
  return sign * 100 * Math.abs(PF ?? 1);
}

/** Values of an input without a port. */
const emptyInput = { DCA: 0, DCV: 0, DCW: 0, DCWhInj: 0, DCWhAbs: 0, DCAlrm: 0, DCSta: 'OFF' } as const;

/** An energy as shown by a 32-bit counter. @param sf exponent of ten of its scale factor */
export function counterValue(wh: number | null, sf: number | null): number {
  return acc32Amount(wh ?? 0, 10 ** (sf ?? 0));
}

/** Points with the same meaning in the integer and the float form. */
function publishInverter(map: MeasurementView, m: Integer | Float): void {
  const { m701 } = map;
  m.A = Math.abs(m701.A ?? 0);
  m.AphA = Math.abs(m701.AL1 ?? 0);
  m.AphB = Math.abs(m701.AL2 ?? 0);
  m.AphC = Math.abs(m701.AL3 ?? 0);
  m.PPVphAB = m701.VL1L2;
  m.PPVphBC = m701.VL2L3;
  m.PPVphCA = m701.VL3L1;
  m.PhVphA = m701.VL1 ?? 0;
  m.PhVphB = m701.VL2 ?? 0;
  m.PhVphC = m701.VL3 ?? 0;
  m.W = m701.W ?? 0;
  m.Hz = m701.Hz ?? 0;
  m.VA = m701.VA;
  m.VAr = m701.Var;
  m.PF = powerFactorPct(map);
  m.DCW = map.m714.DCW;
  const [port] = map.m714.Prt;
  m.DCA = port?.DCA ?? 0;
  m.DCV = port?.DCV ?? 0;
  m.TmpCab = m701.TmpCab ?? 0;
  m.St = states[m701.InvSt ?? 'OFF'];
  m.Evt1 = (m701.Alrm ?? 0) & alarmBits;
}

function publishInputs(map: MeasurementView): void {
  const { m160: m } = map;
  if (!m) return;
  const { DCWH_SF: wattHoursSf } = m;
  const state = states[map.m701.InvSt ?? 'OFF'];
  let events = 0;
  forEachInput(map, (input, port, sign) => {
    const shown = port ?? emptyInput;
    const { DCA, DCV, DCW, DCAlrm, DCSta } = shown;
    const portEvents = (DCAlrm ?? 0) & portBits;
    if (map.m714.PrtAlrms) events |= portEvents;
    input.DCA = Math.max(0, sign * (DCA ?? 0));
    input.DCV = DCV;
    input.DCW = Math.max(0, sign * (DCW ?? 0));
    input.DCWH = counterValue(sign < 0 ? shown.DCWhAbs : shown.DCWhInj, wattHoursSf);
    input.DCSt = DCSta === 'ERROR' ? 'FAULT' : DCSta === 'OFF' ? 'OFF' : state;
    input.DCEvt = portEvents;
  });
  m.Evt = events;
}

type Control = keyof Extract<(typeof m122.points)[number], { name: 'StActCtl' }>['symbols'];
const controlBits: Readonly<Record<string, number>> =
  m122.points.find(
    (point): point is Extract<(typeof m122.points)[number], { name: 'StActCtl' }> => point.name === 'StActCtl',
  )?.symbols ?? {};

function enabledControls(settings: Settings): readonly Control[] {
  const { maxPowerPct, setPointW, constantVar, pfInject, pfAbsorb, voltVar, droop, voltWatt } = settings;
  const rows: readonly (readonly [Control, boolean])[] = [
    ['FixedW', maxPowerPct !== null || setPointW !== null],
    ['FixedVAR', constantVar.enabled],
    ['FixedPF', pfInject.enabled || pfAbsorb.enabled],
    ['Volt-VAr', voltVar.enabled],
    ['Freq-Watt-Param', droop.enabled],
    ['Volt-Watt', voltWatt.enabled],
  ];
  return rows.filter(([, enabled]) => enabled).map(([control]) => control);
}

/** 122.StActCtl by settings object: each change of settings creates a new one. */
const activeBits = new WeakMap<Settings, number>();

function activeControls(settings: Settings): number {
  let bits = activeBits.get(settings);
  if (bits === undefined) {
    bits = enabledControls(settings).reduce((sum, control) => sum + 2 ** (controlBits[control] ?? 0), 0);
    activeBits.set(settings, bits);
  }
  return bits;
}

/** The bits of 122.RtSt. */
const rideThrough: Readonly<Record<TripKind, number>> = {
  lowVoltage: 1,
  highVoltage: 2,
  lowFrequency: 4,
  highFrequency: 8,
};

const [connected, available, operating] = [1, 2, 4];

function publishStatus(map: MeasurementView, inverter: Inverter, instant: SimTime, hasStorage: boolean): void {
  const { m122: m, m701 } = map;
  if (!m) return;
  const isOn = isConnected(inverter.phase);
  const possible = availablePower(inverter);
  const state =
    (isOn ? connected : 0) + (possible.injectW > 0 ? available : 0) + (isOn && inverter.pW !== 0 ? operating : 0);
  m.PVConn = hasStorage && inverter.ratings.portCount < 2 ? 0 : state;
  m.StorConn = hasStorage ? state : 0;
  m.ECPConn = isOn ? 1 : 0;
  m.ActWh = m701.TotWhInj;
  m.ActVArhQ1 = m701.TotVarhInj;
  m.ActVArhQ4 = m701.TotVarhAbs;
  m.VArAval = possible.injectVar;
  m.WAval = possible.injectW;
  m.StActCtl = activeControls(inverter.settings);
  m.Tms = Math.max(0, Math.floor(instant / microsPerSecond) - year2000S);
  let riding = 0;
  for (const kind of inverter.protection.pendingTrips) riding |= rideThrough[kind];
  m.RtSt = riding;
}

function publishStorage(map: MeasurementView): void {
  const { m124: m, m802 } = map;
  if (!m || !m802) return;
  m.ChaState = m802.SoC;
  m.InBatV = m802.V;
  m.ChaSt = m802.ChaSt;
  m.MinRsvPct = m802.SoCRsvMin;
}

/**
 * Publishes the classic models of a map from the current ones of the same tick; does nothing without classic models.
 */
export function publishClassic(map: MeasurementView, inverter: Inverter, instant: SimTime): void {
  const integer = map.m103 ?? map.m102 ?? map.m101;
  if (integer) {
    // the models for one, two and three phases have the same points, some not implemented
    publishInverter(map, integer as Integer);
    integer.WH = counterValue(map.m701.TotWhInj, integer.WH_SF);
  }
  const float = map.m113 ?? map.m112 ?? map.m111;
  if (float) {
    publishInverter(map, float as Float);
    float.WH = map.m701.TotWhInj ?? 0;
  }
  if (!integer && !float) return;
  publishInputs(map);
  publishStatus(map, inverter, instant, map.m802 !== undefined);
  publishStorage(map);
}
