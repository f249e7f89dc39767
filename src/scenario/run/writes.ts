/** Writes to the registers of all devices. */
import type { ScenarioDevice, ScenarioPlant } from './host.ts';
import type { WriteEvent } from './journal.ts';

/** Calls `onWrite` after each write, also to devices that join later. @returns function that removes the listeners */
export function followWrites(plant: ScenarioPlant, onWrite: (write: WriteEvent) => void): () => void {
  const follow = ({ index, bank }: ScenarioDevice) =>
    bank.onChange((change) => {
      onWrite({ kind: 'write', device: index, change });
    });
  const ends = plant.devices.map(follow);
  ends.push(
    plant.onDevices((change) => {
      if (change.added !== null) ends.push(follow(change.added));
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}
