/** The charge points that a configuration asks for. Nothing of them is loaded before they start. */
import type { AdapterContext } from './context.ts';
import type { OcppStations } from '../../contract/ocpp.ts';
import { disabledOcpp } from '../../contract/ocpp-disabled.ts';
import { OcppAdapter } from '../../ocpp/adapter.ts';

/** @returns null: OCPP is switched off */
export function composeOcpp(context: AdapterContext): OcppAdapter | null {
  const { config, plant, clock, later, faults, commAlarms, remoteClock, store, wireLog, logBook, chargePointId } =
    context;
  const { ocpp: settings, seed } = config;
  if (settings === null) return null;
  return new OcppAdapter({
    devices: () => plant.devices,
    commAlarms,
    endpoint: settings.url,
    async load() {
      const { assemble } = await import('../../ocpp/assembly.ts');
      return assemble({
        settings,
        seed,
        plant,
        clock,
        later,
        faults,
        commAlarms,
        remoteClock,
        store,
        wireLog,
        logBook,
        chargePointId,
      });
    },
  });
}

/** What REST works with: the stations of the adapter from its start on. */
export function ocppStationsOf(adapter: OcppAdapter | null): OcppStations {
  if (adapter === null) return disabledOcpp;
  return {
    enabled: true,
    get list() {
      return adapter.stations.list;
    },
    get totals() {
      return adapter.stations.totals;
    },
    station: (id) => adapter.stations.station(id),
    ofDevice: (index) => adapter.stations.ofDevice(index),
  };
}
