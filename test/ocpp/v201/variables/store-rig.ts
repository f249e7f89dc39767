/** The rig of 2.x with the real device model, over rows of the test or of the product. */
import { silentLogger } from '../../../../src/core/log/log.ts';
import type { ConnectorRating } from '../../../../src/ocpp/station/port.ts';
import type { Network, NetworkAccess } from '../../../../src/ocpp/station/connection.ts';
import type { StationParts } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import type { VariableFacts, VariableRow, VariableStore } from '../../../../src/ocpp/v201/variables/model.ts';
import { variableRows } from '../../../../src/ocpp/v201/variables/table.ts';
import { createVariables } from '../../../../src/ocpp/v201/variables/variables.ts';
import { rig } from '../rig.ts';
import type { Rig } from '../rig.ts';

function ratingOf(connectorId: number, type: 'ac' | 'dc'): ConnectorRating {
  return {
    connectorId,
    type,
    phases: 3,
    nominalVoltageV: 230,
    maxPowerW: 22_000,
    maxCurrentA: 32,
    bidirectional: connectorId === 2,
    supplyPhases: [1, 2, 3],
    attachedCable: false,
  };
}

/** EVSE 1 with alternating current, EVSE 2 with direct current in both directions. */
export function factsOf(version: Version2, securityProfile: VariableFacts['securityProfile'] = 1): VariableFacts {
  return {
    version,
    nameplate: { vendor: 'Vendor', model: 'Model', serialNumber: 'SN1', firmwareVersion: '1.0' },
    ratings: [ratingOf(1, 'ac'), ratingOf(2, 'dc')],
    stationRating: ratingOf(0, 'ac'),
    evseIds: [1, 2],
    securityProfile,
  };
}

export interface FakeNetwork extends Network {
  access: NetworkAccess;
  slot: number | null;
  password: Buffer | null;
  hasConnected: boolean;
  /** a user has given another address, of which network profiles have not taken note */
  isAddressNew: boolean;
  /** The user has given an address. */
  give(url: string): void;
  readonly done: string[];
}

export function fakeNetwork(access: Partial<NetworkAccess> = {}): FakeNetwork {
  const done: string[] = [];
  /** null: in use */
  let settings: NetworkAccess | null = null;
  const network: FakeNetwork = {
    done,
    access: { url: 'ws://first.example', guarded: false, securityProfile: 1, password: null, ...access },
    slot: null,
    password: null,
    hasConnected: false,
    isAddressNew: false,
    get settings() {
      return settings ?? network.access;
    },
    give: (url) => {
      network.access = { ...network.access, url };
      network.slot = settings = null;
    },
    takeAddress: () => {
      const isNew = network.isAddressNew;
      network.isAddressNew = false;
      return isNew;
    },
    setAccess: (next, slot) => {
      settings = slot === null ? null : network.settings;
      network.access = next;
      network.slot = slot;
      done.push(`access ${next.url}`);
    },
    setBackOff: ({ waitMinimumMs, randomRangeMs, repeatTimes }) => {
      done.push(`back-off ${waitMinimumMs}+${randomRangeMs} ms, ${repeatTimes} doublings`);
    },
    setWildcards: (allowed) => {
      done.push(`wildcards ${allowed}`);
    },
    setMessageTimeout: (seconds) => {
      done.push(`time-out ${seconds} s`);
    },
  };
  return network;
}

export interface StoreRig extends Omit<Rig, 'variables'> {
  readonly parts: StationParts;
  readonly variables: VariableStore;
}

export interface StoreRigOptions {
  readonly version?: Version2;
  readonly rows?: readonly VariableRow[];
  readonly securityProfile?: VariableFacts['securityProfile'];
}

export function storeRig({
  version = 'ocpp2.1',
  rows = variableRows,
  securityProfile,
}: StoreRigOptions = {}): StoreRig {
  const base = rig({ version });
  const variables = createVariables({
    facts: factsOf(version, securityProfile),
    rows,
    slot: base.store.slot('variables'),
    shared: base.store.slot('network-variables'),
    log: silentLogger,
  });
  return { ...base, variables, parts: { ...base.parts, variables } };
}

/** Writes of the store that are under way. */
export const written = (): Promise<unknown> => new Promise((done) => setImmediate(done));
