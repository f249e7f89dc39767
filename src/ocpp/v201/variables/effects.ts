/** Effects of general variables on the device and the connection; all others are read by their parts. */
import { errorText } from '../../../core/errors.ts';
import type { Network } from '../../station/connection.ts';
import type { StationParts } from '../parts.ts';
import { stamp } from '../parts.ts';
import type { Variables } from './model.ts';

interface EffectOptions extends Pick<StationParts, 'device' | 'log' | 'connection' | 'variables' | 'clock'> {
  readonly network: Pick<Network, 'setBackOff' | 'setMessageTimeout'>;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

interface VariableEffects {
  /** Puts the values in force at the start. */
  apply(): void;
  /** BasicAuthPassword as it is in force, after another one has failed. Null: the password of the settings. */
  restorePassword(password: Buffer | null): void;
  stop(): void;
}

const behaviourVariables = [
  ['TxCtrlr', 'EVConnectionTimeOut'],
  ['TxCtrlr', 'StopTxOnEVSideDisconnect'],
  ['OCPPCommCtrlr', 'UnlockOnEVSideDisconnect'],
] as const;

const backOffVariables = ['RetryBackOffWaitMinimum', 'RetryBackOffRandomRange', 'RetryBackOffRepeatTimes'] as const;

function behaviourOf(variables: Variables, autoAuthorize: boolean) {
  return {
    kind: 'evse.behaviour',
    connectionTimeoutS: variables.integer('TxCtrlr', 'EVConnectionTimeOut'),
    // a vehicle may wait for its token as long as it likes: EVConnectionTimeOut is about the cable alone (E03)
    authorizationTimeoutS: null,
    endOnEvDisconnect: variables.boolean('TxCtrlr', 'StopTxOnEVSideDisconnect'),
    unlockOnEvDisconnect: variables.boolean('OCPPCommCtrlr', 'UnlockOnEVSideDisconnect'),
    autoAuthorize,
  } as const;
}

function backOffOf(variables: Variables) {
  const [waitMinimumS, randomRangeS, repeatTimes] = [
    variables.integer('OCPPCommCtrlr', 'RetryBackOffWaitMinimum'),
    variables.integer('OCPPCommCtrlr', 'RetryBackOffRandomRange'),
    variables.integer('OCPPCommCtrlr', 'RetryBackOffRepeatTimes'),
  ];
  return { waitMinimumMs: waitMinimumS * 1000, randomRangeMs: randomRangeS * 1000, repeatTimes };
}

export function createVariableEffects(options: EffectOptions): VariableEffects {
  const { device, log, connection, variables, clock, network, autoAuthorize } = options;
  let isRestoring = false;
  const behave = (): void => {
    try {
      device.command(behaviourOf(variables, autoAuthorize));
    } catch (error) {
      log.warning(`variables have no effect at the device: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const setPassword = (text: string): void => {
    if (text !== '' && !isRestoring) connection.setPassword(Buffer.from(text, 'utf8'));
  };
  const setPings = (): void => {
    connection.setPingInterval(variables.integer('OCPPCommCtrlr', 'WebSocketPingInterval'));
  };
  const setBackOff = (): void => {
    network.setBackOff(backOffOf(variables));
  };
  const setTimeout = (): void => {
    network.setMessageTimeout(variables.integer('OCPPCommCtrlr', 'MessageTimeout[Default]'));
  };
  const ends = [
    ...behaviourVariables.map(([component, variable]) => variables.onChange(component, variable, behave)),
    ...backOffVariables.map((variable) => variables.onChange('OCPPCommCtrlr', variable, setBackOff)),
    variables.onChange('OCPPCommCtrlr', 'WebSocketPingInterval', setPings),
    variables.onChange('OCPPCommCtrlr', 'MessageTimeout[Default]', setTimeout),
    variables.onChange('SecurityCtrlr', 'BasicAuthPassword', setPassword),
  ];
  variables.provide('ClockCtrlr', 'DateTime', () => stamp(clock.nowMs()));
  return {
    apply: () => {
      behave();
      setPings();
      setBackOff();
      setTimeout();
      setPassword(variables.text('SecurityCtrlr', 'BasicAuthPassword'));
    },
    restorePassword: (password) => {
      isRestoring = true;
      variables.set('SecurityCtrlr', 'BasicAuthPassword', password?.toString('utf8') ?? '');
      isRestoring = false;
    },
    stop: () => {
      for (const end of ends) end();
    },
  };
}
