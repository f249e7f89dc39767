/** OCPP 1.6 at work for one station, and its functions for REST. */
import type { OcppFunctions } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { mergeHandlers } from '../station/stack.ts';
import { called, sharedFunctions } from '../station/functions.ts';
import type { VersionStack } from '../station/stack.ts';
import { createVersionStack } from '../station/version.ts';
import { assembleParts } from './assembly.ts';
import { maxIdTagLength } from './authorization/tokens.ts';
import type { Assembled, Stack16Options } from './assembly.ts';
import { createDispatch } from './dispatch.ts';
import { bootTable16 } from '../provisioning/registration.ts';

export type { Stack16Options } from './assembly.ts';

function functionsOf(at: Assembled): OcppFunctions {
  const { registration, keys, configuration } = at;
  return {
    ...sharedFunctions(at),
    boot: async (reason) => {
      if (reason !== null) throw new SimError('COMMAND_BAD_VALUE', 'reason: BootNotification of 1.6 has none');
      return await called('BootNotification', (options) => registration.boot(options));
    },
    configuration: (key) => keys.view(key),
    setConfiguration: ({ name, value }) => {
      configuration.setLocal(name, value);
      return keys.view(name);
    },
    derControls() {
      throw new SimError('COMMAND_NOT_APPLICABLE', 'OCPP 1.6 has no DER controls');
    },
    authorize: (connectorId, idToken) => {
      if (idToken.length > maxIdTagLength)
        throw new SimError('COMMAND_BAD_VALUE', `id_token: an idTag of 1.6 has at most ${maxIdTagLength} characters`);
      return at.authorization.present(connectorId, idToken);
    },
  };
}

/** A profile that has failed is in force no more. */
function noteProfile({ keys, parts }: Assembled): void {
  const profile = String(parts.connection.securityProfile);
  if (keys.text('SecurityProfile') !== profile) keys.set('SecurityProfile', profile);
}

export function createStack16(options: Stack16Options): VersionStack {
  const at = assembleParts(options);
  const { registration, keys, effects, security } = at;
  registration.onAccepted(at.smartCharging.refresh);
  return createVersionStack(at, {
    functions: functionsOf(at),
    bootTable: bootTable16,
    heartbeatIntervalS: () => keys.integer('HeartbeatInterval'),
    loadSettings: () => keys.load(),
    loaded: () => {
      effects.applyProfile();
    },
    opened: () => {
      noteProfile(at);
    },
    failed: (failure) => {
      security.failed(failure);
    },
    dispatch: (isEnding) =>
      createDispatch({ handlers: mergeHandlers(at.all), registration, finding: options.finding, isEnding }),
  });
}
