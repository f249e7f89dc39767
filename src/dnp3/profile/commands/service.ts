/** Connect switch, cease to energize, return to service and entering service: BO0 to BO5, AO6 to AO17. */
import type { PointPath } from '../../../sunspec/map/point-path.ts';
import { bindings, ownState, registerOutput, settingOutput, success, timerOrigin, writing } from '../bind.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { delayed, orLog, reversion } from './delayed.ts';

/** The disconnect switch. AN2018 table 29 */
function connectSwitch(context: PartContext): OutputTarget {
  const { port, settings } = context;
  const wait = delayed(context, 'BO5');
  const back = reversion(port);
  settings.onReset(() => {
    wait.cancel();
    back.cancel();
  });
  return {
    read: () => port.device.switchClosed,
    check: (closed) => (closed === true && settings.flag('BO0') ? controlStatus.blocked : success),
    operate(closed, by) {
      const isClose = closed === true;
      if (isClose && settings.flag('BO0')) return controlStatus.blocked;
      return wait.run(settings.number('AO16'), () => {
        const before = port.device.switchClosed;
        port.command({ kind: 'switch', closed: isClose }, by);
        back.begin(settings.number('AO17'), () => {
          // somebody else may have moved it since
          if (port.device.switchClosed !== isClose || before === isClose) return;
          orLog(context, 'BO5', () => port.command({ kind: 'switch', closed: before }, timerOrigin));
        });
        return success;
      });
    },
    live: true,
    bound: 'disconnect switch',
  };
}

const operation: PointPath = '715.OpCtl';

/** Cease to energize (BO2) and return to service (BO1). AN2018 table 30 */
function operations(context: PartContext): readonly (readonly [PointName, OutputTarget])[] {
  const { port, settings } = context;
  const wait = delayed(context, 'BO2');
  const back = reversion(port);
  settings.onReset(() => {
    wait.cancel();
    back.cancel();
  });
  const write = (value: 'START' | 'STOP') => [{ point: operation, value }];
  const mayStop = () => settings.flag('BO4');
  const mayStart = () => port.value('703.ES') !== 'DISABLED' && !settings.flag('BO0');
  const order =
    (value: 'START' | 'STOP', isPermitted: () => boolean): OutputTarget['check'] =>
    (on, by) => {
      // both are orders: there is nothing to be taken back
      if (on !== true) return controlStatus.notSupported;
      if (!isPermitted()) return controlStatus.blocked;
      port.check(write(value), by);
      return success;
    };
  const checkStop = order('STOP', mayStop);
  const checkStart = order('START', mayStart);
  return [
    [
      'BO1',
      {
        read: () => port.value(operation) === 'START',
        check: checkStart,
        operate(on, by) {
          const status = checkStart(on, by);
          if (status !== success) return status;
          wait.cancel();
          back.cancel();
          port.write(write('START'), by);
          return success;
        },
        bound: operation,
      },
    ],
    [
      'BO2',
      {
        read: () => port.value(operation) === 'STOP',
        check: checkStop,
        operate(on, by) {
          const status = checkStop(on, by);
          if (status !== success) return status;
          return wait.run(settings.number('AO13'), () => {
            port.write(write('STOP'), by);
            back.begin(settings.number('AO15'), () => {
              if (port.value(operation) === 'STOP')
                orLog(context, 'BO2', () => port.write(write('START'), timerOrigin));
            });
            return success;
          });
        },
        bound: operation,
      },
    ],
  ];
}

/** Stops the device and keeps masters from starting or connecting it again. */
function lockout(context: PartContext): OutputTarget {
  const { port, settings, changed } = context;
  settings.declare('BO0', false);
  return {
    read: () => settings.flag('BO0'),
    check: () => success,
    operate(on, by) {
      if (on === true && port.has(operation)) port.write([{ point: operation, value: 'STOP' }], by);
      settings.set('BO0', on);
      changed();
      return success;
    },
    bound: `${ownState}, ${operation}`,
  };
}

/** Settings of 703 by output. The voltages are percent of 702.VNom in both. */
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
export function servicePart(context: PartContext): PointBindings {
  const { port } = context;
  const permission = port.has('703.ES')
    ? writing(port, {
        read: () => port.value('703.ES') === 'ENABLED',
        writes: (on) => [{ point: '703.ES', value: on === true ? 'ENABLED' : 'DISABLED' }],
        bound: '703.ES',
      })
    : null;
  const stops = port.has(operation);
  return bindings(
    [],
    [
      ['BO0', lockout(context)],
      ...(stops ? operations(context) : []),
      ['BO3', permission],
      ['BO4', stops ? settingOutput(context, 'BO4', true) : null],
      ['BO5', connectSwitch(context)],
      ...enterService.map(([name, point]) => [name, registerOutput(port, { point })] as const),
      ['AO13', stops ? settingOutput(context, 'AO13', 0) : null],
      ['AO15', stops ? settingOutput(context, 'AO15', 0) : null],
      ['AO16', settingOutput(context, 'AO16', 0)],
      ['AO17', settingOutput(context, 'AO17', 0)],
    ],
  );
}
