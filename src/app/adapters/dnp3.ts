/** The outstations that a configuration asks for. Nothing of them is loaded before they start. */
import type { AdapterContext } from './context.ts';
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import { disabledDnp3 } from '../../contract/dnp3-disabled.ts';
import { Dnp3Adapter } from '../../dnp3/adapter.ts';

/** @returns null: DNP3 is switched off */
export function composeDnp3(context: AdapterContext): Dnp3Adapter | null {
  const { config, plant } = context;
  const { dnp3: settings, seed } = config;
  if (settings === null) return null;
  return new Dnp3Adapter({
    settings,
    devices: () => plant.devices,
    async load() {
      const { assemble } = await import('../../dnp3/assembly.ts');
      return assemble({ ...context, settings, seed });
    },
  });
}

/** What REST works with: the outstations of the adapter from its start on. */
export function dnp3OutstationsOf(adapter: Dnp3Adapter | null): Dnp3Outstations {
  if (adapter === null) return disabledDnp3;
  return {
    enabled: true,
    get totals() {
      return adapter.outstations.totals;
    },
    outstation: (index) => adapter.outstations.outstation(index),
    points: (index, filter) => adapter.outstations.points(index, filter),
    deviceProfile: (index) => adapter.outstations.deviceProfile(index),
    messages: (filter) => adapter.outstations.messages(filter),
    record: (on, by) => adapter.outstations.record(on, by),
    get recording() {
      return adapter.outstations.recording;
    },
  };
}
