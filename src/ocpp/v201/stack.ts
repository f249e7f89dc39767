/** OCPP 2.0.1 or 2.1 at work for one station, and its functions for REST. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { bootTable2 } from '../provisioning/registration.ts';
import { called, sharedFunctions } from '../station/functions.ts';
import { mergeHandlers } from '../station/stack.ts';
import type { StackOptions, VersionStack } from '../station/stack.ts';
import { createVersionStack } from '../station/version.ts';
import { assembleParts } from './assembly.ts';
import type { Assembled } from './assembly.ts';
import { createDispatch } from './dispatch.ts';
import type { Version2 } from './parts.ts';
import { bootReasons } from './provisioning/registration.ts';
import { createVariableView } from './variables/handlers.ts';

function functionsOf(at: Assembled): OcppFunctions {
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

export function createStack2(version: Version2, options: StackOptions): VersionStack {
  const at = assembleParts(version, options);
  const { registration, variables, networkProfiles, security } = at;
  return createVersionStack(at, {
    functions: functionsOf(at),
    bootTable: bootTable2,
    heartbeatIntervalS: () => variables.integer('OCPPCommCtrlr', 'HeartbeatInterval'),
    loadSettings: () => variables.load(),
    opened: () => {
      networkProfiles.opened();
    },
    failed: (failure) => {
      security.failed(failure);
      networkProfiles.failed();
    },
    retargeted: () => {
      networkProfiles.targetSet();
    },
    dispatch: (isEnding) =>
      createDispatch({ version, handlers: mergeHandlers(at.all), registration, finding: options.finding, isEnding }),
  });
}
