/** Monitors that a station has by itself, and what a component in trouble tells. */
import type { StationPort } from '../../station/port.ts';
import type { Place, VariableStore } from '../variables/model.ts';
import type { Monitor, MonitorKind } from './model.ts';

interface Made {
  readonly kind: MonitorKind;
  readonly component: string;
  readonly places: readonly Place[];
  readonly severity: number;
}

/** Ids below are those of the station itself. */
export const firstCustomId = 100_000;

/** Each connector first, and the station last: a problem of all connectors is one of the station, with theirs as its cause. */
export function factoryMonitors(
  variables: Pick<VariableStore, 'find'>,
  { connectorIds }: Pick<StationPort, 'connectorIds'>,
): readonly Monitor[] {
  const connectors = connectorIds.map((evseId) => ({ evseId, connectorId: 1 }));
  const made: readonly Made[] = [
    { kind: 'PreconfiguredMonitor', component: 'Connector', places: connectors, severity: 3 },
    { kind: 'HardWiredMonitor', component: 'ChargingStation', places: [{}], severity: 2 },
  ];
  return made
    .flatMap(({ kind, component, places, severity }) =>
      places.flatMap((place) => {
        const found = variables.find(component, 'Problem', place);
        return found === undefined ? [] : [{ kind, found, severity }];
      }),
    )
    .map((each, i) => ({ ...each, id: i + 1, type: 'Delta', value: 1, transaction: false, stream: null }));
}

export interface Trouble {
  readonly techCode?: string;
  readonly techInfo?: string;
}

/** Whether a component has a problem now. The station has one where no connector works, or the grid keeps it from power. */
export function hasProblem(device: Pick<StationPort, 'detail' | 'connector'>, { evseId }: Place): boolean {
  if (evseId !== undefined) return device.connector(evseId).errorCode !== 'NoError';
  const { connectors, externalLimit } = device.detail;
  const noneWorks = connectors.length > 0 && connectors.every(({ status }) => status === 'faulted');
  return noneWorks || externalLimit?.decidedBy === 'cessation';
}

/** What the device says about the problem of a component; empty where it has none. */
export function troubleOf(device: Pick<StationPort, 'detail' | 'connector'>, { evseId }: Place): Trouble {
  if (evseId === undefined)
    return device.detail.externalLimit?.decidedBy === 'cessation'
      ? { techInfo: 'the grid is outside of its limits' }
      : {};
  const { errorCode, errorInfo, vendorErrorCode } = device.connector(evseId);
  if (errorCode === 'NoError') return {};
  const isKnown = (text: string | null): text is string => text !== null && text !== '';
  return {
    techCode: (isKnown(vendorErrorCode) ? vendorErrorCode : errorCode).slice(0, 50),
    ...(isKnown(errorInfo) && { techInfo: errorInfo.slice(0, 500) }),
  };
}
