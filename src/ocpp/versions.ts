/** The versions that stations speak, one row each. */
import type { OcppVersion } from '../contract/ocpp-settings.ts';
import type { Version } from './station/stack.ts';
import { createStack16 } from './v16/stack.ts';
import { createStack2 } from './v201/stack.ts';

export const versions: Readonly<Record<OcppVersion, Version>> = {
  'ocpp1.6j': { subprotocol: 'ocpp1.6', makeStack: createStack16 },
  'ocpp2.0.1j': { subprotocol: 'ocpp2.0.1', makeStack: (options) => createStack2('ocpp2.0.1', options) },
  'ocpp2.1': { subprotocol: 'ocpp2.1', makeStack: (options) => createStack2('ocpp2.1', options) },
};
