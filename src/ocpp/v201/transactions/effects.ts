/** Variables of TxCtrlr that the device carries out: EVConnectionTimeOut and StopTxOnEVSideDisconnect. */
import { errorText } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';

const effective = ['EVConnectionTimeOut', 'StopTxOnEVSideDisconnect'] as const;

export interface TxEffects {
  /** Puts the values in force. */
  apply(): void;
  stop(): void;
}

export function createTxEffects({
  device,
  variables,
  log,
}: Pick<StationParts, 'device' | 'variables' | 'log'>): TxEffects {
  const apply = (): void => {
    try {
      device.command({
        kind: 'evse.behaviour',
        connectionTimeoutS: variables.integer('TxCtrlr', 'EVConnectionTimeOut'),
        // 2.x times out the vehicle, never the token
        authorizationTimeoutS: null,
        endOnEvDisconnect: variables.boolean('TxCtrlr', 'StopTxOnEVSideDisconnect'),
      });
    } catch (error) {
      log.warning(`variables of TxCtrlr have no effect at the device: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const ends = effective.map((variable) => variables.onChange('TxCtrlr', variable, apply));
  return {
    apply,
    stop: () => {
      for (const end of ends) end();
    },
  };
}
