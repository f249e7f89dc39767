/** Rows as protocols to come will have them: kinds that nothing of the product carries out. */
import { z } from 'zod';
import type { ActiveFault } from '../../src/core/faults/active-fault.ts';
import type { FaultRegistry } from '../../src/core/faults/registry.ts';
import type { ProtocolFaults } from '../../src/fault-kinds/protocols.ts';
import { faultKind, targetOf } from '../../src/fault-kinds/rows.ts';

export const callErrorFault = faultKind({
  protocol: 'ocpp',
  kind: 'call_error',
  layer: 'transport',
  summary: 'The station answers a call with an error.',
  targets: ['actions', 'connectors'],
  parameters: z.strictObject({
    code: z.enum(['GenericError', 'InternalError']).default('GenericError').meta({ description: 'Code of the error.' }),
    waits: z
      .array(
        z.strictObject({
          after_ms: z.number().min(0).max(1000).default(0).meta({ description: 'Wall ms after the call; default 0.' }),
          octets: z.int().min(1).max(100).meta({ description: 'Octets sent then.' }),
        }),
      )
      .max(3)
      .optional()
      .meta({ description: 'Pieces of the answer; default one.' }),
  }),
});

export const dropSocketFault = faultKind({
  protocol: 'ocpp',
  kind: 'drop_socket',
  layer: 'transport',
  summary: 'The connection of the station ends.',
  targets: [],
  parameters: z.strictObject({}),
});

export const noConfirmFault = faultKind({
  protocol: 'dnp3',
  kind: 'no_confirm',
  layer: 'transport',
  summary: 'A confirmation is ignored.',
  targets: ['functions'],
  parameters: z.strictObject({}),
});

export const madeUpProtocols: readonly ProtocolFaults[] = [
  {
    protocol: 'ocpp',
    name: 'OCPP',
    kinds: [callErrorFault, dropSocketFault],
    carriedOutBy: ['ocpp'],
    rest: {
      path: '/ocpp/{id}/fault',
      tag: 'EVSE / OCPP',
    },
  },
  {
    protocol: 'dnp3',
    name: 'DNP3',
    kinds: [noConfirmFault],
    carriedOutBy: ['dnp3'],
    rest: { path: '/dnp3/fault', tag: 'Controls' },
  },
];

/** The component of one station that would carry out `call_error`: its whole contact with faults. */
export class MadeUpStation {
  #faults: readonly ActiveFault[] = [];
  readonly #index: number;

  constructor(registry: FaultRegistry, deviceIndex: number) {
    this.#index = deviceIndex;
    registry.onChange(() => {
      this.#faults = registry.active.filter((fault) => fault.protocol === 'ocpp' && fault.concerns(deviceIndex));
    });
  }

  /** The error that answers a call; null: it is answered as ever. */
  answerTo(action: string, connector: number | null): string | null {
    for (const fault of this.#faults) {
      if (!fault.isOf(callErrorFault)) continue;
      const { actions, connectors } = targetOf(fault.facts.target);
      if (actions !== undefined && !actions.includes(action)) continue;
      if (connectors !== undefined && (connector === null || !connectors.includes(connector))) continue;
      if (fault.strikes(this.#index)) return fault.parameters.code;
    }
    return null;
  }
}
