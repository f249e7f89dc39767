/** What REST sees of a 2.x station and asks of it. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { called, sharedFunctions } from '../station/functions.ts';
import type { Assembled } from './assembly.ts';
import { bootReasons } from './boot-reasons.ts';
import { createVariableView } from './variables/view.ts';

export function functionsOf(at: Assembled): OcppFunctions {
  const { registration, parts } = at;
  const variables = createVariableView(parts, at.variables, at.networkProfiles.checks);
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null && !(bootReasons as readonly string[]).includes(reason))
        throw new SimError('COMMAND_BAD_VALUE', `reason: allowed: ${bootReasons.join(', ')}`);
      return await called('BootNotification', (options) =>
        registration.boot({ ...options, ...(reason !== null && { reason }) }),
      );
    },
    configuration: (key) => variables.configuration(key),
    setConfiguration: (change) => variables.setConfiguration(change),
    derControls: () => at.derControl.entries(),
    authorize: (evseId, idToken, _by, type) => at.authorization.present(evseId, idToken, type),
  };
}
