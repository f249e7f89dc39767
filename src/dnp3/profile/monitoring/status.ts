/** Alarms, operating states and protection: BI0 to BI24 and BI52 to BI63. */
import type { TripFunction } from '../../../sunspec/map/grid-support/functions.ts';
import { batteryOf, bindings, computed, numberReader } from '../bind.ts';
import type { InputSource, PartContext, PointBindings, PointName } from '../types.ts';

type Inputs = readonly (readonly [PointName, InputSource | null])[];

const live = { live: true } as const;

function alarms({ port }: PartContext): Inputs {
  const { device } = port;
  const has = (severity: string) => device.alarms.some((alarm) => alarm.severity === severity);
  const code = (...codes: readonly string[]) => device.alarms.some((alarm) => codes.includes(alarm.code));
  const storage = (...codes: readonly string[]) =>
    batteryOf(port) !== null ? computed(() => code(...codes), 'alarms of the battery', live) : null;
  return [
    ['BI0', computed(() => device.alarms.some(({ source }) => source === 'comm'), 'alarms of communication', live)],
    ['BI1', computed(() => has('error'), 'alarms of severity error', live)],
    ['BI2', computed(() => has('warning'), 'alarms of severity warning', live)],
    ['BI3', computed(() => has('info'), 'alarms of severity info', live)],
    ['BI5', storage('soc_high')],
    ['BI6', storage('soc_low')],
    ['BI8', storage('over_temp')],
  ];
}

/** State of charge at the limits of the usable range. */
function chargeEnds({ port }: PartContext): Inputs {
  const limits = () => batteryOf(port);
  if (limits() === null || !port.has('713.SoC')) return [];
  const socPct = numberReader(port, '713.SoC');
  const soc = () => socPct() ?? 0;
  return [
    ['BI4', computed(() => soc() >= (limits()?.socMaxPct ?? 100), '713.SoC', live)],
    ['BI7', computed(() => soc() <= (limits()?.socMinPct ?? 0), '713.SoC', live)],
  ];
}

function states({ port, settings }: PartContext): Inputs {
  const { device } = port;
  const inverterState = port.reader('701.InvSt');
  const operatingState = port.reader('701.St');
  const enterService = port.reader('703.ES');
  const activeW = numberReader(port, '701.W');
  const inverter = (state: string) => inverterState() === state;
  const isOn = () => operatingState() === 'ON';
  // on its way down power flows, whatever 701.St says
  const isConnected = () => isOn() || inverter('SHUTTING_DOWN');
  const isWaiting = () => !isOn() && device.enterService.state === 'waiting';
  const idleW = 0.002 * (port.number('702.WMaxRtg') ?? 0);
  const w = () => activeW() ?? 0;
  const mayStart = () => enterService() !== 'DISABLED' && device.activeTrips.length === 0 && !settings.flag('BO0');
  const state = (read: () => boolean, bound: string) => computed(read, bound, live);
  return [
    ['BI10', state(() => device.localControl, '715.LocRemCtl')],
    ['BI12', state(() => isWaiting() || (isOn() && inverter('STARTING')), '701.InvSt')],
    ['BI13', state(() => inverter('SHUTTING_DOWN'), '701.InvSt')],
    ['BI14', state(() => isOn() && !inverter('STARTING') && !inverter('SHUTTING_DOWN'), '701.St')],
    ['BI15', state(() => !isConnected() && !isWaiting(), '701.St, 701.InvSt')],
    ['BI18', state(() => isConnected() && Math.abs(w()) <= idleW, '701.St, 701.W')],
    ['BI19', state(() => isConnected() && w() > idleW, '701.St, 701.W')],
    ['BI20', state(() => isConnected() && w() < -idleW, '701.St, 701.W')],
    ['BI21', state(() => !isConnected() && mayStart(), '701.St, 703.ES')],
    ['BI22', state(() => !isConnected() && !mayStart(), '701.St, 703.ES')],
    ['BI23', state(() => device.switchClosed, 'disconnect switch')],
    // the switch of the simulator has no travel time
    ['BI24', computed(() => false, 'disconnect switch')],
  ];
}

interface Protection {
  readonly name: TripFunction;
  readonly alarm: string;
  /** blocked, started, operated */
  readonly inputs: readonly [PointName, PointName, PointName];
}

const protections: readonly Protection[] = [
  { name: 'hv_trip', alarm: 'ac_over_volt', inputs: ['BI52', 'BI53', 'BI54'] },
  { name: 'lv_trip', alarm: 'ac_under_volt', inputs: ['BI55', 'BI56', 'BI57'] },
  { name: 'hf_trip', alarm: 'over_frequency', inputs: ['BI58', 'BI59', 'BI60'] },
  { name: 'lf_trip', alarm: 'under_frequency', inputs: ['BI61', 'BI62', 'BI63'] },
];

function protection({ port }: PartContext): Inputs {
  const { device } = port;
  return protections
    .filter(({ name }) => port.supports(name))
    .flatMap(({ name, alarm, inputs: [blocked, started, operated] }) => [
      [blocked, computed(() => !port.isEnabled(name), port.enablePoint(name), live)] as const,
      [started, computed(() => device.activeTrips.includes(name), 'timers of the function', live)] as const,
      [operated, computed(() => device.alarms.some(({ code }) => code === alarm), '701.Alrm', live)] as const,
    ]);
}

/** The part of alarms and states. */
export function statusPart(context: PartContext): PointBindings {
  return bindings([...alarms(context), ...chargeEnds(context), ...states(context), ...protection(context)]);
}
