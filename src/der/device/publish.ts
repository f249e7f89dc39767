/** Publishes the results of physics as measurements. Converts signs and units. */
import type { SimTime } from '../../core/time/clock.ts';
import type { DeviceDetail } from '../../contract/device.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import { functionTable, isReactivePowerFunction, throttleMask } from '../../sunspec/map/grid-support/functions.ts';
import type { MeasurementView } from '../../sunspec/map/view.ts';
import type { ControlFunction } from '../../contract/device.ts';
import { publishClassic } from '../classic/publish.ts';
import { alarmBits, portState, vendorText } from './alarms.ts';
import type { AlarmCode } from './alarms.ts';
import type { GridValues } from '../surroundings/environment.ts';
import { phaseCurrentA, phaseShares, terminalVoltages } from '../inverter/ac.ts';
import type { Inverter } from '../inverter/inverter.ts';
import { phaseOf } from '../inverter/energy.ts';
import { isAsleep } from '../inverter/output.ts';
import { isConnected } from '../inverter/service.ts';
import type { DcPort, DcSource, Phases } from '../source/source.ts';
import { publishStorage } from './storage-map.ts';

/** bits of 701.DERMode */
const gridFollowing = 1;
const clippedMode = 4;

/** bit of limits that belong to no function: ramps, apparent power, current, connection point */
const derated = throttleMask('DERATED');

type InverterState = 'OFF' | 'SLEEPING' | 'STARTING' | 'RUNNING' | 'THROTTLED' | 'SHUTTING_DOWN' | 'FAULT' | 'STANDBY';

/** 701.InvSt after the state table of docs/ARCHITECTURE.md. */
function inverterState(inverter: Inverter, source: DcSource, fault: boolean, throttled: boolean): InverterState {
  if (fault) return 'FAULT';
  switch (inverter.phase) {
    case 'in_service':
      if (source.starting) return 'STARTING';
      if (isAsleep(inverter, source)) return 'SLEEPING';
      return throttled ? 'THROTTLED' : 'RUNNING';
    case 'ramping':
      return 'STARTING';
    case 'waiting':
    case 'ceased':
      return 'STANDBY';
    case 'shutting_down':
      return 'SHUTTING_DOWN';
    case 'off':
      return 'OFF';
    case 'tripped':
      return 'FAULT';
  }
}

/** Writes 701.ThrotSrc and ThrotPct. */
function publishThrottling(map: MeasurementView, inverter: Inverter, throttled: boolean): void {
  const m = map.m701;
  let bits = 0;
  if (throttled) {
    for (const name of inverter.activeFunctions()) {
      const source = functionTable[name].throttle;
      if (source !== undefined && mayLimit(inverter, name)) bits |= throttleMask(source);
    }
    if (bits === 0) bits = derated;
  }
  m.ThrotSrc = bits;
  const { wMaxW, chargeMaxW } = inverter.settings;
  const maxW = inverter.pW < 0 && !inverter.ratings.generator ? chargeMaxW : wMaxW;
  m.ThrotPct = throttled && maxW > 0 ? (100 * Math.abs(inverter.pW)) / maxW : 100;
}

/** True if an active function may limit the power. */
function mayLimit({ apparentPowerLimited, ratings }: Inverter, name: ControlFunction): boolean {
  // a reactive function only if it needs the room on the circle
  if (isReactivePowerFunction(name)) return apparentPowerLimited;
  // a set-point is the task of a storage or a load, not a limit
  return name !== 'active_power' || ratings.generator;
}

/** Writes the points of 701 of each phase that the wiring has. @returns the sum of the currents, A */
function publishPhases(map: MeasurementView, inverter: Inverter, shares: Phases, lnV: Phases): number {
  const m = map.m701;
  const {
    pW,
    qVar,
    ratings: { wMaxRtgW },
  } = inverter;
  const { phaseLoads: loads } = inverter;
  const watts = (i: 0 | 1 | 2) => (loads === null ? pW * shares[i] : phaseOf(i, pW, shares[i], loads.watts));
  const vars = (i: 0 | 1 | 2) => (loads === null ? qVar * shares[i] : phaseOf(i, qVar, shares[i], loads.vars));
  const [w1, w2, w3] = [watts(0), watts(1), watts(2)];
  const [q1, q2, q3] = [vars(0), vars(1), vars(2)];
  const [s1, s2, s3] = [Math.hypot(w1, q1), Math.hypot(w2, q2), Math.hypot(w3, q3)];
  const [a1, a2, a3] = [phaseCurrentA(s1, lnV[0]), phaseCurrentA(s2, lnV[1]), phaseCurrentA(s3, lnV[2])];
  const [e1, e2, e3] = inverter.meter.phases;
  m.WL1 = w1;
  m.VAL1 = s1;
  m.VarL1 = q1;
  m.PFL1 = powerFactor(w1, s1, wMaxRtgW);
  m.AL1 = a1;
  m.VL1 = lnV[0];
  if (e1) {
    m.TotWhInjL1 = e1.whInjected;
    m.TotWhAbsL1 = e1.whAbsorbed;
    m.TotVarhInjL1 = e1.varhInjected;
    m.TotVarhAbsL1 = e1.varhAbsorbed;
  }
  if (!e2) return a1;
  m.WL2 = w2;
  m.VAL2 = s2;
  m.VarL2 = q2;
  m.PFL2 = powerFactor(w2, s2, wMaxRtgW);
  m.AL2 = a2;
  m.VL2 = lnV[1];
  m.TotWhInjL2 = e2.whInjected;
  m.TotWhAbsL2 = e2.whAbsorbed;
  m.TotVarhInjL2 = e2.varhInjected;
  m.TotVarhAbsL2 = e2.varhAbsorbed;
  if (!e3) return a1 + a2;
  m.WL3 = w3;
  m.VAL3 = s3;
  m.VarL3 = q3;
  m.PFL3 = powerFactor(w3, s3, wMaxRtgW);
  m.AL3 = a3;
  m.VL3 = lnV[2];
  m.TotWhInjL3 = e3.whInjected;
  m.TotWhAbsL3 = e3.whAbsorbed;
  m.TotVarhInjL3 = e3.varhInjected;
  m.TotVarhAbsL3 = e3.varhAbsorbed;
  return a1 + a2 + a3;
}

/** W / VA with the sign of W; 1 below a thousandth of the rating, where the quotient is noise. */
function powerFactor(pW: number, va: number, ratedW: number): number {
  return va < 1e-3 * ratedW ? 1 : pW / va;
}

function publishAc(map: MeasurementView, inverter: Inverter, grid: GridValues): void {
  const m = map.m701;
  const volts = terminalVoltages(inverter.ratings.wiring, map.m702.VNomRtg ?? 0, grid);
  const va = Math.hypot(inverter.pW, inverter.qVar);
  m.W = inverter.pW;
  m.VA = va;
  m.Var = inverter.qVar;
  m.PF = powerFactor(inverter.pW, va, inverter.ratings.wMaxRtgW);
  m.LNV = volts.meanLnV;
  m.Hz = grid.hz;
  if (volts.meanLlV !== null) {
    m.LLV = volts.meanLlV;
    m.VL1L2 = volts.ll[0];
  }
  if (inverter.ratings.wiring === 'three') {
    m.VL2L3 = volts.ll[1];
    m.VL3L1 = volts.ll[2];
  }
  m.A = publishPhases(map, inverter, phaseShares(inverter.ratings.wiring, grid), volts.ln);
  let whInjected = 0,
    whAbsorbed = 0,
    varhInjected = 0,
    varhAbsorbed = 0;
  for (const phase of inverter.meter.phases) {
    whInjected += phase.whInjected;
    whAbsorbed += phase.whAbsorbed;
    varhInjected += phase.varhInjected;
    varhAbsorbed += phase.varhAbsorbed;
  }
  m.TotWhInj = whInjected;
  m.TotWhAbs = whAbsorbed;
  m.TotVarhInj = varhInjected;
  m.TotVarhAbs = varhAbsorbed;
}

function publishDc(map: MeasurementView, inverter: Inverter, ports: readonly DcPort[]): void {
  const m = map.m714;
  let amps = 0,
    watts = 0,
    whInjected = 0,
    whAbsorbed = 0;
  ports.forEach((port, i) => {
    const energy = inverter.meter.ports[i];
    const p = m.Prt[i];
    if (!p || !energy) return;
    amps += port.currentA;
    watts += port.powerW;
    whInjected += energy.whInjected;
    whAbsorbed += energy.whAbsorbed;
    p.DCA = port.currentA;
    p.DCV = port.voltageV;
    p.DCW = port.powerW;
    p.DCWhInj = energy.whInjected;
    p.DCWhAbs = energy.whAbsorbed;
  });
  m.DCA = amps;
  m.DCW = watts;
  m.DCWhInj = whInjected;
  m.DCWhAbs = whAbsorbed;
}

function publishAlarms(map: MeasurementView, dcPorts: readonly DcPort[], alarms: readonly AlarmCode[]): void {
  const m = map.m701;
  const bits = alarmBits(alarms);
  if (m.Alrm !== bits || bits !== 0) m.MnAlrmInfo = vendorText(alarms);
  m.Alrm = bits;
  let ports = 0;
  dcPorts.forEach((port, i) => {
    const { bits: portBits, state } = portState(port);
    const registers = map.m714.Prt[i];
    if (!registers) return;
    registers.DCAlrm = portBits;
    registers.DCSta = state;
    if (portBits !== 0) ports += 2 ** i;
  });
  map.m714.PrtAlrms = ports;
}

export interface PublishInput {
  readonly inverter: Inverter;
  readonly source: DcSource;
  /** ports of the source, with finite values */
  readonly ports: readonly DcPort[];
  readonly detail: DeviceDetail;
  readonly grid: GridValues;
  readonly ambientC: number;
  readonly cabinetC: number;
  readonly now: SimTime;
  readonly heartbeat: number;
  readonly fault: boolean;
  readonly alarms: readonly AlarmCode[];
}

/** Publishes the state of a storage, if the source has one. */
export function publishDetail(map: MeasurementView, detail: DeviceDetail): void {
  const storage = storageIn(detail);
  if (storage) publishStorage(map, storage);
}

/** True if a function or a limit changes the power given by source and demand. */
function isLimited({ activePower, ceasedBy, apparentPowerLimited, ratings }: Inverter): boolean {
  if (apparentPowerLimited || ceasedBy !== null) return true;
  // a set-point is not a limit, as in `mayLimit`
  return activePower.held && !(!ratings.generator && activePower.decidedBy === 'active_power');
}

/**
 * Publishes one device.
 * @throws SimError MAP_BAD_VALUE for a value that is not finite, with the registers before it already written
 */
export function publish(map: MeasurementView, input: PublishInput): void {
  const { inverter, source, ports, grid, now } = input;
  publishAc(map, inverter, grid);
  publishDc(map, inverter, ports);
  const m = map.m701;
  const throttled = isLimited(inverter);
  m.St = inverter.phase === 'in_service' || inverter.phase === 'ramping' ? 'ON' : 'OFF';
  m.ConnSt = isConnected(inverter.phase) && !input.fault ? 'CONNECTED' : 'DISCONNECTED';
  m.InvSt = inverterState(inverter, source, input.fault, throttled);
  publishThrottling(map, inverter, throttled);
  // set for PV only: for another source at its rating the bit would depend on noise
  m.DERMode = gridFollowing + (inverter.clipped && source.array !== undefined ? clippedMode : 0);
  publishAlarms(map, ports, input.alarms);
  m.TmpAmb = input.ambientC;
  m.TmpCab = input.cabinetC;
  const voltVar = inverter.settings.voltVar.autoReference ? map.m705.Crv[0] : undefined;
  if (voltVar) voltVar.VRefAuto = inverter.reactivePower.vRefPct;
  map.m703.ESDlyRemTms = Math.ceil(inverter.enterDelayRemainingS(now));
  map.m715.DERHb = input.heartbeat;
  publishDetail(map, input.detail);
  if (map.m802) map.m802.Hb = input.heartbeat % 0xffff;
  publishClassic(map, inverter, now);
}
