/** The protocols with faults, one row each, and the whole catalogue. */
import type { CommName } from '../core/adapter.ts';
import type { FaultKind, FaultProtocol } from '../core/faults/kinds.ts';
import { csipFaults } from './csip.ts';
import { dnp3Faults } from './dnp3.ts';
import { deviceEffectFaults } from './device-effect.ts';
import { modbusAcceptanceFaults, modbusReadingFaults, modbusStructureFaults } from './modbus-map.ts';
import { modbusTransportFaults } from './modbus-transport.ts';
import { ocppFaults } from './ocpp.ts';

/** Common members of faults in requests and files; parameters and targets depend on the kind. */
export interface FlatFault {
  readonly protocol?: FaultProtocol | undefined;
  readonly kind: string;
  readonly device?: number | 'all' | 'meter' | null | undefined;
  readonly [parameter: string]: unknown;
}

/** The REST path for the faults of one protocol. */
export interface FaultPath {
  /** Path after the prefix. `{id}` is the identity of a charging station, to which the path is restricted. */
  readonly path: string;
  readonly tag: 'Controls' | 'CSIP Client' | 'EVSE / OCPP' | 'DNP3';
}

/** The faults of one protocol. Requests, files, schemas, REST and its description derive from these rows. */
export interface ProtocolFaults {
  readonly protocol: FaultProtocol;
  /** for use in sentences */
  readonly name: string;
  /** in the order of the catalogue */
  readonly kinds: readonly FaultKind[];
  /** adapters that carry out the faults; null: the devices do */
  readonly carriedOutBy: readonly CommName[] | null;
  /** null: only at `faults` */
  readonly rest: FaultPath | null;
}

/** All protocols with faults. */
export const protocolFaults: readonly ProtocolFaults[] = [
  {
    protocol: 'modbus',
    name: 'Modbus',
    kinds: [...modbusTransportFaults, ...modbusAcceptanceFaults, ...modbusReadingFaults, ...modbusStructureFaults],
    // the proxy of another manufacturer's map carries out none
    carriedOutBy: ['modbus_tcp', 'modbus_rtu'],
    rest: {
      path: '/modbus/fault',
      tag: 'Controls',
    },
  },
  {
    protocol: 'csip',
    name: 'CSIP',
    kinds: csipFaults,
    carriedOutBy: ['csip'],
    rest: {
      path: '/csip/fault',
      tag: 'CSIP Client',
    },
  },
  {
    protocol: 'ocpp',
    name: 'OCPP',
    kinds: ocppFaults,
    carriedOutBy: ['ocpp'],
    rest: {
      path: '/ocpp/{id}/fault',
      tag: 'EVSE / OCPP',
    },
  },
  {
    protocol: 'dnp3',
    name: 'DNP3',
    kinds: dnp3Faults,
    carriedOutBy: ['dnp3'],
    rest: {
      path: '/dnp3/fault',
      tag: 'DNP3',
    },
  },
  {
    protocol: 'device',
    name: 'devices',
    kinds: deviceEffectFaults,
    carriedOutBy: null,
    rest: null,
  },
];

/**
 * The protocol row of a fault if none of the adapters that carry it out is enabled.
 * @param adapters enabled in this process
 */
export function switchedOff(
  rows: readonly ProtocolFaults[],
  protocol: FaultProtocol,
  adapters: readonly { readonly comm: CommName }[],
): ProtocolFaults | null {
  const row = rows.find((each) => each.protocol === protocol);
  const { carriedOutBy = null } = row ?? {};
  if (row === undefined || carriedOutBy === null) return null;
  return adapters.some(({ comm }) => carriedOutBy.includes(comm)) ? null : row;
}

/** Every kind in the order of the catalogue. */
export const faultKinds: readonly FaultKind[] = protocolFaults.flatMap(({ kinds }) => kinds);
