/** Connect switch, cease to energize, return to service and entering service: BO0 to BO5, AO6 to AO17. */
import type { CommandState } from '../../../core/command-hold.ts';
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import type { DevicePort } from '../../device-port.ts';
import { bindings, stateWithoutRegister, registerOutput, settingOutput, success, writing } from '../bind.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { delayed, timedChange, presentWPct, varPct } from './mode.ts';
import type { Ramps } from './mode.ts';

/** Outputs with an effect on the device, and their pending acts. */
interface Orders {
  readonly outputs: readonly (readonly [PointName, OutputTarget])[];
  /** cancels waiting commands and reversions */
  readonly cancel: () => void;
}

/** Position of the disconnect switch. */
function switchState({ device, command }: DevicePort): CommandState<boolean> {
  return {
    read: () => device.switchClosed,
    write: (closed, by) => {
      command({ kind: 'switch', closed }, by);
    },
    mark: () => device.overrides.find(({ name }) => name === 'switch'),
  };
}

/** The disconnect switch. AN2018 table 29 */
function connectSwitch(context: PartContext): Orders {
  const { port, settings } = context;
  const wait = delayed(context, 'BO5');
  const isLockedOut = () => settings.flag('BO0');
  const position = timedChange(context, 'BO5', switchState(port), { mayGoBack: () => !isLockedOut() });
  const check = (closed: number | boolean) => (closed === true && isLockedOut() ? controlStatus.blocked : success);
  wait.carriesOut(({ value: closed, by }) => {
    // checked again: the time window may have passed since
    const status = check(closed);
    if (status === success) position.change(closed === true, by, settings.number('AO17'));
    return status;
  });
  const output: OutputTarget = {
    read: () => port.device.switchClosed,
    check,
    operate(closed, by) {
      const status = check(closed);
      return status === success ? wait.run(settings.number('AO16'), { value: closed, by }) : status;
    },
    live: true,
    bound: 'disconnect switch',
  };
  return {
    outputs: [['BO5', output]],
    cancel() {
      wait.cancel();
      position.forget();
    },
  };
}

const operation: PointPath = '715.OpCtl';

type Operation = 'START' | 'STOP';
const operationWrites = (value: Operation) => [{ point: operation, value }];

function operationState(port: DevicePort): CommandState<Operation> {
  return {
    read: () => (port.value(operation) === 'STOP' ? 'STOP' : 'START'),
    write: (value, by) => {
      port.write(operationWrites(value), by);
    },
    mark: () => port.writer(operation),
  };
}

/** An output that accepts true alone. */
function order(
  port: DevicePort,
  value: Operation,
  isPermitted: () => boolean,
  carryOut: OutputTarget['operate'],
): OutputTarget {
  const check: OutputTarget['check'] = (on, by) => {
    if (on !== true) return controlStatus.notSupported;
    if (!isPermitted()) return controlStatus.blocked;
    port.check(operationWrites(value), by);
    return success;
  };
  return {
    read: () => port.value(operation) === value,
    check,
    operate(on, by) {
      const status = check(on, by);
      return status === success ? carryOut(on, by) : status;
    },
    bound: operation,
  };
}

/** Cease to energize (BO2), return to service (BO1) and the permission to stop (BO4). AN2018 table 30 */
function operations(context: PartContext, ramps: Ramps): Orders {
  const { port, settings } = context;
  const state = operationState(port);
  const mayStop = () => settings.flag('BO4');
  const mayStart = () => port.value('703.ES') !== 'DISABLED' && !settings.flag('BO0');
  const wait = delayed(context, 'BO2');
  const stopped = timedChange(context, 'BO2', state, { mayGoBack: mayStart });
  const cancel = () => {
    wait.cancel();
    stopped.forget();
  };
  const start = order(port, 'START', mayStart, (_, by) => {
    cancel();
    state.write('START', by);
    return success;
  });
  wait.carriesOut(({ by }) => {
    // checked again: the time window may have passed since
    if (!mayStop()) return controlStatus.blocked;
    stopped.change('STOP', by, settings.number('AO15'));
    ramps.begin('AO14', 'wPctPerS', { fromPct: presentWPct(port), toPct: 0 }, by);
    ramps.begin('AO14', 'varPctPerS', { fromPct: varPct(port, port.number('701.Var') ?? 0), toPct: 0 }, by);
    return success;
  });
  const stop = order(port, 'STOP', mayStop, (value, by) => wait.run(settings.number('AO13'), { value, by }));
  return {
    outputs: [
      ['BO1', start],
      ['BO2', stop],
      ['BO4', permissionToStop(context, () => wait.cancel())],
    ],
    cancel,
  };
}

/** The permission to stop (BO4); its withdrawal cancels a waiting stop. */
function permissionToStop(context: PartContext, withdrawn: () => void): OutputTarget {
  const setting = settingOutput(context, 'BO4', true);
  return {
    ...setting,
    operate(on, by) {
      if (on !== true) withdrawn();
      return setting.operate(on, by);
    },
  };
}

/**
 * The lockout (BO0): stops the device, and keeps masters from starting or connecting it. Another protocol may still
 * start the device, which ends the lockout: a running device is not locked out.
 */
function lockout(context: PartContext, cancelOrders: () => void): OutputTarget {
  const { port, settings, changed } = context;
  const canStop = port.has(operation);
  settings.declare('BO0', false);
  context.onSettings(() => {
    if (canStop && settings.flag('BO0') && port.value(operation) !== 'STOP') settings.set('BO0', false);
  });
  const check: OutputTarget['check'] = (on, by) => {
    if (on === true && canStop) port.check(operationWrites('STOP'), by);
    return success;
  };
  return {
    read: () => settings.flag('BO0'),
    check,
    operate(on, by) {
      if (on === true) {
        if (canStop) port.write(operationWrites('STOP'), by);
        cancelOrders();
      }
      settings.set('BO0', on);
      changed();
      return success;
    },
    bound: canStop ? `${stateWithoutRegister}, ${operation}` : stateWithoutRegister,
  };
}

/** Settings of 703 by output. The voltages are percent of 702.VNom in 703 and in the profile. */
const enterService: readonly (readonly [PointName, PointPath])[] = [
  ['AO6', '703.ESVHi'],
  ['AO7', '703.ESVLo'],
  ['AO8', '703.ESHzHi'],
  ['AO9', '703.ESHzLo'],
  ['AO10', '703.ESDlyTms'],
  ['AO11', '703.ESRndTms'],
  ['AO12', '703.ESRmpTms'],
];

/** The part of switch and service. */
export function servicePart(context: PartContext, ramps: Ramps): PointBindings {
  const { port } = context;
  const permission = port.has('703.ES')
    ? writing(port, {
        read: () => port.value('703.ES') === 'ENABLED',
        writes: (on) => [{ point: '703.ES', value: on === true ? 'ENABLED' : 'DISABLED' }],
        bound: '703.ES',
      })
    : null;
  const canStop = port.has(operation);
  const orders = [connectSwitch(context), ...(canStop ? [operations(context, ramps)] : [])];
  const cancelOrders = () => {
    for (const { cancel } of orders) cancel();
    ramps.end();
  };
  return bindings(
    [],
    [
      ['BO0', lockout(context, cancelOrders)],
      ['BO3', permission],
      ...orders.flatMap(({ outputs }) => outputs),
      ...enterService.map(([name, point]) => [name, registerOutput(port, { point })] as const),
      ['AO13', canStop ? settingOutput(context, 'AO13', 0) : null],
      ['AO14', canStop ? ramps.output('AO14', 'wPctPerS') : null],
      ['AO15', canStop ? settingOutput(context, 'AO15', 0) : null],
      ['AO16', settingOutput(context, 'AO16', 0)],
      ['AO17', settingOutput(context, 'AO17', 0)],
    ],
  );
}
